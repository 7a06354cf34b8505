/*
 * Who may come in over TCP: the checks that keep web pages, other users and
 * floods out.
 *
 * A web page can make a browser send requests to this machine, also under a
 * name of its own that it lets point here.  So a request must name us as Host,
 * come from no other Origin, and carry the token, which no page can know.
 */
#ifndef API_GATE_H
#define API_GATE_H

#include <stdbool.h>
#include <stdint.h>

enum { TOKEN_DIGITS = 64 };

/*
 * "localhost", "127.0.0.1" or "[::1]" with our port (which may be missing if it is 80).  `exposed`: any
 * address written as a number too; names never, since anyone's name can point here.
 */
bool gate_host(const char *host, uint16_t port, bool exposed);
/* Absent (NULL), or "http://" and the Host of the same request, which gate_host() let in. */
bool gate_origin(const char *origin, const char *host);
/* All digits equal, in a time that does not depend on how many are. */
bool gate_same(const char *given, const char token[TOKEN_DIGITS + 1]);
/* "Bearer " and the token, in a time that does not depend on how much of it is right. */
bool gate_token(const char *authorization, const char token[TOKEN_DIGITS + 1]);

enum { GATE_BUCKETS = 256 };

/* How much each peer may ask: `rate` per second, `burst` at once.  Zeroed is valid. */
struct gate_rate {
	double rate, burst; /* rate 0: no limit */
	struct {
		double level, at_s; /* level: what was asked and has not drained yet */
	} buckets[GATE_BUCKETS];
};

/* Peers whose hash falls into one bucket share it. */
bool gate_rate_take(struct gate_rate *rate, uint64_t peer, double now_s);

#endif
