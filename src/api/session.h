/*
 * Who has logged in at the page.
 *
 * A session is two secrets: one in a cookie that no script can read, one that
 * the page keeps and sends as X-Stint-Key.  Browsers send cookies to every port
 * of a host, so whoever listens at another port of this machine may get to see
 * the first; a script that slips into a page sees only the second.  It takes both.
 *
 * Sessions are kept in STATE/sessions, so that a daemon that is started anew
 * knows them, and are void once the token is another.  Not thread-safe.
 */
#ifndef API_SESSION_H
#define API_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "api/gate.h"
#include "base/err.h"

enum {
	SESSIONS_MAX = 32, /* the oldest goes */
	SESSION_CODES_MAX = 8,
	SESSION_S = 7 * 86400,
	SESSION_CODE_S = 120,
};

struct session {
	char id[TOKEN_DIGITS + 1], key[TOKEN_DIGITS + 1];
	double until_s; /* by the clock on the wall, which a restart does not move */
};

struct session_code {
	char text[TOKEN_DIGITS + 1];
	double until_s;
};

/* Zeroed is valid: nobody, and not kept. */
struct sessions {
	struct session at[SESSIONS_MAX]; /* the oldest first */
	uint32_t n;
	struct session_code codes[SESSION_CODES_MAX];
	uint32_t ncodes;
	char *path;
	uint64_t token; /* a hash of the one they belong to */
};

/* What DIR/sessions has of this token. */
void sessions_load(struct sessions *sessions, const char *dir, const char *token, double now_s);
void sessions_fini(struct sessions *sessions);

/* A new one; the result lives until the next call. */
int sessions_begin(struct sessions *sessions, double now_s, const struct session **out,
	struct err *err);
bool sessions_know(const struct sessions *sessions, const char *id, const char *key, double now_s);
void sessions_end(struct sessions *sessions, const char *id);

/* A code that logs in once, for an address to be opened. */
int sessions_code(struct sessions *sessions, double now_s, const char **out, struct err *err);
/* Whether it is one; it is not any more. */
bool sessions_use_code(struct sessions *sessions, const char *code, double now_s);

#endif
