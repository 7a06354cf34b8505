/*
 * Who has logged in at the page: sessions, codes that begin one, and the
 * protocol, in which no secret is ever sent.
 *
 * A cookie goes to every port of a host, and a header to whatever program has
 * the port at that moment.  So both sides show that they know a secret instead: the
 * token, or the second part of a code of `stint open`.  With H(key, text) for
 * HMAC-SHA256 in hex and keys as the text they are written in:
 *
 *	page    nonce, and the code's first part if there is one
 *	server  challenge, proof = H(secret, "stint server\nHOST\nNONCE\nCHALLENGE")
 *	page    nonce, challenge, answer = H(secret, "stint page\n...")
 *	server  the session's id; its key is H(secret, "stint session\n...")
 *
 * Every request then has X-Stint-Session: ID H(key, "METHOD\nTARGET").  HOST is
 * the Host header: a program at another port that passes everything on gets no
 * proof that the page takes.  "localhost" is two addresses, of which another program
 * may have one, so logging in needs an address that is a number.
 *
 * Sessions are in memory: they end with the daemon, and with them the worth of
 * all that was sent to its port after it.  Not thread-safe.
 */
#ifndef API_SESSION_H
#define API_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "api/gate.h"
#include "base/err.h"
#include "base/sha256.h"
#include "daemon/daemon.h"

enum {
	SESSIONS_MAX = 32, /* the oldest goes */
	SESSION_CODES_MAX = 8,
	SESSION_S = 7 * 86400,
	SESSION_CODE_S = 120,
	SESSION_CHALLENGE_S = 60,
	SESSION_ID_DIGITS = 32,
	CODE_ID_DIGITS = 16, /* the first part of a code, which is sent */
	CHALLENGE_DIGITS = 16 + SHA256_DIGITS,
};

struct session {
	char id[SESSION_ID_DIGITS + 1];
	char key[SHA256_DIGITS + 1];
	struct caller caller;
	double until_s;
};

struct session_code {
	char text[TOKEN_DIGITS + 1];
	struct caller caller; /* of the session that it begins */
	double until_s;
};

/* Zeroed and sessions_start()ed is valid: nobody. */
struct sessions {
	struct session at[SESSIONS_MAX]; /* the oldest first */
	uint32_t n;
	struct session_code codes[SESSION_CODES_MAX];
	uint32_t ncodes;
	char run[TOKEN_DIGITS + 1]; /* a secret of this run: who made a challenge */
};

int sessions_start(struct sessions *sessions, struct err *err);

/* ---- the protocol */

/* What both sides know of a login under way.  Text is borrowed. */
struct login_talk {
	const char *host, *nonce, *challenge;
	const char *about; /* the code's first part, a session's id, or "" */
};

/* Nothing is kept of it: a flood of them pushes nobody out. */
void sessions_challenge(const struct sessions *sessions, const struct login_talk *talk,
	double now_s, char out[CHALLENGE_DIGITS + 1]);
/* Whether talk->challenge is one of ours to that nonce, and not too old. */
bool sessions_challenged(const struct sessions *sessions, const struct login_talk *talk, double now_s);
/* H(secret, "WHAT\nHOST\nNONCE\nCHALLENGE"). */
void login_sign(const char *secret, const char *what, const struct login_talk *talk,
	char out[SHA256_DIGITS + 1]);
/* H(key, "METHOD\nTARGET"). */
void session_sign(const char *key, const char *method, const char *target, char out[SHA256_DIGITS + 1]);
/* Equal, in a time that does not depend on where they differ. */
bool sign_same(const char *given, const char want[SHA256_DIGITS + 1]);

/* ---- sessions */

/* A new one; the result lives until the next call. */
int sessions_begin(struct sessions *sessions, const char key[SHA256_DIGITS + 1],
	const struct caller *caller, double now_s, const struct session **out, struct err *err);
/* By its id, or NULL. */
const struct session *sessions_find(const struct sessions *sessions, const char *id, double now_s);
/* Whom the header "ID SIGNATURE" stands for, or NULL. */
const struct session *sessions_know(const struct sessions *sessions, const char *header,
	const char *method, const char *target, double now_s);
void sessions_end(struct sessions *sessions, const char *header);

/* ---- codes */

/* A code that logs in once, for an address to be opened. */
int sessions_code(struct sessions *sessions, const struct caller *caller, double now_s,
	const char **out, struct err *err);
/* The code whose first part this is, or NULL. */
const struct session_code *sessions_find_code(const struct sessions *sessions, const char *id,
	double now_s);
void sessions_drop_code(struct sessions *sessions, const char *id);

#endif
