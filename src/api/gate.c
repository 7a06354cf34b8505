/*
 * Host, Origin, token, rate.
 */
#include "api/gate.h"

#include <arpa/inet.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

/* Cuts ":PORT" off; false if it is not our port. */
static bool cut_port(struct slice *host, uint16_t port)
{
	const char *colon = memrchr(host->at, ':', host->n);
	const char *bracket = memrchr(host->at, ']', host->n);
	struct slice digits;
	int64_t given;

	if (!colon || (bracket && bracket > colon))
		return port == 80;
	digits = (struct slice){ colon + 1, (size_t)(host->at + host->n - colon) - 1 };
	host->n = (size_t)(colon - host->at);
	if (!digits.n || digits.n > 5 || strspn(digits.at, "0123456789") < digits.n)
		return false;
	return slice_int(digits, &given) && given == port;
}

static bool is_number(struct slice host)
{
	char text[64];
	unsigned char address[16];
	bool six = host.n > 2 && host.at[0] == '[' && host.at[host.n - 1] == ']';

	if (host.n >= sizeof(text))
		return false;
	memcpy(text, host.at + six, host.n - 2 * (size_t)six);
	text[host.n - 2 * (size_t)six] = '\0';
	return inet_pton(six ? AF_INET6 : AF_INET, text, address) == 1;
}

bool gate_host(const char *host, uint16_t port, bool exposed)
{
	struct slice name;

	if (!host)
		return false;
	name = slice_of(host);
	if (!cut_port(&name, port))
		return false;
	if (slice_is_nocase(name, "localhost") || slice_is(name, "127.0.0.1") ||
		slice_is(name, "[::1]"))
		return true;
	return exposed && is_number(name);
}

bool gate_origin(const char *origin, const char *host)
{
	static const char scheme[] = "http://";

	if (!origin)
		return true;
	return host && !strncasecmp(origin, scheme, sizeof(scheme) - 1) &&
		!strcasecmp(origin + sizeof(scheme) - 1, host);
}

bool gate_same(const char *given, const char token[TOKEN_DIGITS + 1])
{
	volatile unsigned char differ = 0;

	if (strlen(given) != TOKEN_DIGITS)
		return false;
	for (int i = 0; i < TOKEN_DIGITS; i++)
		differ = (unsigned char)(differ | (given[i] ^ token[i]));
	return !differ;
}

bool gate_token(const char *authorization, const char token[TOKEN_DIGITS + 1])
{
	static const char scheme[] = "Bearer ";

	return authorization && !strncasecmp(authorization, scheme, sizeof(scheme) - 1) &&
		gate_same(authorization + sizeof(scheme) - 1, token);
}

bool gate_rate_take(struct gate_rate *rate, uint64_t peer, double now_s)
{
	size_t i = peer % GATE_BUCKETS;
	double drained;

	if (rate->rate <= 0)
		return true;
	drained = fmax(0, now_s - rate->buckets[i].at_s) * rate->rate;
	rate->buckets[i].level = fmax(0, rate->buckets[i].level - drained);
	rate->buckets[i].at_s = now_s;
	if (rate->buckets[i].level + 1 > rate->burst)
		return false;
	rate->buckets[i].level++;
	return true;
}
