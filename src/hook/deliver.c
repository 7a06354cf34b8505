/*
 * Plain HTTP by ourselves, https by curl, commands as they are.
 */
#include "hook/deliver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/sha256.h"
#include "base/vec.h"
#include "hook/post.h"

void delivery_number(char id[DELIVERY_DIGITS + 1])
{
	unsigned char bytes[DELIVERY_DIGITS / 2];

	/* So few bytes come whole or, before the kernel has any to give, after a wait. */
	while (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		continue;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(id + 2 * i, 3, "%02x", bytes[i]);
}

void delivery_fini(struct delivery *delivery)
{
	free(delivery->event);
	free(delivery->body);
	*delivery = (struct delivery){ 0 };
}

void reception_fini(struct reception *reception)
{
	buf_fini(&reception->why);
	buf_fini(&reception->answer);
}

void delivery_sign(const char *secret, long timestamp, const char *body, char out[SIGNATURE_SIZE])
{
	uint8_t digest[SHA256_BYTES];
	struct hmac hmac;
	char stamp[32];

	snprintf(stamp, sizeof(stamp), "%ld.", timestamp);
	hmac_begin(&hmac, secret, strlen(secret));
	hmac_add(&hmac, stamp, strlen(stamp));
	hmac_add(&hmac, body, strlen(body));
	hmac_end(&hmac, digest);
	memcpy(out, "sha256=", 7);
	sha256_hex(digest, out + 7);
}

/* ---- webhooks */

/* What is sent besides the body: `line` puts one header where it belongs. */
static void put_headers(const struct hook *hook, const struct delivery *d,
	void (*line)(struct buf *out, const char *header, const char *value), struct buf *out)
{
	char stamp[32], signature[SIGNATURE_SIZE];
	long now = (long)time(NULL);

	snprintf(stamp, sizeof(stamp), "%ld", now);
	line(out, "User-Agent", "stint/" STINT_VERSION);
	line(out, "Content-Type", "application/json");
	line(out, "X-Stint-Event", d->event);
	line(out, "X-Stint-Delivery", d->id);
	line(out, "X-Stint-Timestamp", stamp);
	if (!hook->secret)
		return;
	delivery_sign(hook->secret, now, d->body, signature);
	line(out, "X-Stint-Signature", signature);
}

/* Whether it was taken, and whether it is worth asking again. */
static void judge(int status, struct reception *out)
{
	out->status = status;
	if (status >= 200 && status < 300) {
		out->verdict = DELIVERED;
		return;
	}
	out->verdict = status == 408 || status == 429 || status >= 500 ? NOT_NOW : NEVER;
	buf_printf(&out->why, "it answered %d", status);
	if (status >= 300 && status < 400)
		buf_str(&out->why, ", and redirects are not followed: write the new address");
}

static void http_line(struct buf *out, const char *header, const char *value)
{
	buf_printf(out, "%s: %s\r\n", header, value);
}

static void write_request(const struct hook *hook, const struct delivery *d, struct buf *out)
{
	bool six = strchr(hook->host, ':');

	buf_printf(out, "POST %s HTTP/1.1\r\nHost: %s%s%s", hook->path, six ? "[" : "", hook->host,
		six ? "]" : "");
	if (strcmp(hook->port, "80") != 0)
		buf_printf(out, ":%s", hook->port);
	buf_str(out, "\r\nConnection: close\r\n");
	put_headers(hook, d, http_line, out);
	buf_printf(out, "Content-Length: %zu\r\n\r\n%s", strlen(d->body), d->body);
}

static void deliver_http(const struct hook *hook, const struct delivery *d, const atomic_bool *stop,
	struct reception *out)
{
	struct buf request = { 0 };
	struct post post = {
		.host = hook->host,
		.port = hook->port,
		.request = &request,
		.timeout_s = hook->timeout_s,
		.answer_max = ANSWER_KEPT,
		.stop = stop,
	};
	struct err err = { 0 };
	int status;

	write_request(hook, d, &request);
	if (post_send(&post, &status, &out->answer, &err) == 0) {
		judge(status, out);
	} else {
		out->verdict = NOT_NOW;
		buf_str(&out->why, err.text);
	}
	buf_fini(&request);
}

/* A value in curl's configuration. */
static void curl_option(struct buf *out, const char *name, const char *before, const char *value)
{
	buf_printf(out, "%s = \"%s", name, before);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			buf_char(out, '\\');
		buf_char(out, *value);
	}
	buf_str(out, "\"\n");
}

static void curl_header(struct buf *out, const char *header, const char *value)
{
	char *before = mem_printf("%s: ", header);

	curl_option(out, "header", before, value);
	free(before);
}

/* All on its standard input: everybody sees a program's arguments, and an address may be a secret. */
static void write_curl(const struct hook *hook, const struct delivery *d, struct buf *out)
{
	curl_option(out, "url", "", hook->webhook);
	put_headers(hook, d, curl_header, out);
	buf_str(out, "header = \"Expect:\"\n");
	curl_option(out, "data-binary", "", d->body);
}

static void end_of_curl(const struct hook *hook, const struct child_end *end, struct reception *out)
{
	int status = end->out.n ? (int)strtol(end->out.at, NULL, 10) : 0;

	if (end->code == 0 && status > 0) {
		judge(status, out);
		return;
	}
	out->verdict = NOT_NOW;
	if (end->err.n)
		buf_add(&out->why, end->err.at, strcspn(end->err.at, "\n"));
	else
		child_end_text(end, hook->timeout_s, &out->why);
}

static void deliver_https(const struct hook *hook, const struct delivery *d,
	const atomic_bool *stop, struct reception *out)
{
	char most[32];
	const char *argv[] = { "curl", "-q", "--config", "-", "--silent", "--show-error",
		"--globoff", "--proto", "=https", "--output", "/dev/null", "--write-out",
		"%{http_code}", "--max-time", most, NULL };
	struct buf config = { 0 };
	struct child_ask ask = {
		.argv = argv,
		.out_max = ANSWER_KEPT,
		.timeout_s = hook->timeout_s + 1, /* curl says better why */
		.stop = stop,
	};
	struct child_end end;
	struct err err = { 0 };

	snprintf(most, sizeof(most), "%.3f", hook->timeout_s);
	write_curl(hook, d, &config);
	ask.input = config.at;
	ask.ninput = config.n;
	if (child_run(&ask, &end, &err) == 0) {
		end_of_curl(hook, &end, out);
		child_end_fini(&end);
	} else {
		out->verdict = NOT_NOW;
		buf_str(&out->why, err.text);
	}
	buf_fini(&config);
}

/* ---- commands */

static void keep_said(const struct child_end *end, struct buf *out)
{
	buf_add(out, end->out.at, end->out.n);
	buf_add(out, end->err.at, end->err.n);
}

static void end_of_command(const struct hook *hook, const struct child_end *end, struct reception *out)
{
	keep_said(end, &out->answer);
	if (end->code == 0 && !end->timed_out && !end->stopped) {
		out->verdict = DELIVERED;
		return;
	}
	out->verdict = NOT_NOW;
	child_end_text(end, hook->timeout_s, &out->why);
	if (out->answer.n)
		buf_printf(&out->why, "; it said: %.500s", out->answer.at);
}

static void deliver_command(const struct hook *hook, const struct delivery *d,
	const atomic_bool *stop, struct reception *out)
{
	char *event = mem_printf("STINT_EVENT=%s", d->event);
	char *id = mem_printf("STINT_DELIVERY=%s", d->id);
	VEC(const char *) env = { 0 };
	struct child_ask ask = {
		.argv = hook->command,
		.input = d->body,
		.ninput = strlen(d->body),
		.out_max = ANSWER_KEPT,
		.timeout_s = hook->timeout_s,
		.stop = stop,
	};
	struct child_end end;
	struct err err = { 0 };

	for (char **word = environ; *word; word++)
		vec_push(&env, *word);
	vec_push(&env, event);
	vec_push(&env, id);
	vec_push(&env, NULL);
	ask.env = env.at;
	if (child_run(&ask, &end, &err) == 0) {
		end_of_command(hook, &end, out);
		child_end_fini(&end);
	} else {
		out->verdict = NOT_NOW;
		buf_str(&out->why, err.text);
	}
	vec_fini(&env);
	free(event);
	free(id);
}

void deliver(const struct hook *hook, const struct delivery *d, const atomic_bool *stop,
	struct reception *out)
{
	*out = (struct reception){ 0 };
	if (!hook->webhook)
		deliver_command(hook, d, stop, out);
	else if (hook->https)
		deliver_https(hook, d, stop, out);
	else
		deliver_http(hook, d, stop, out);
}
