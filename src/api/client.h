/*
 * Talking to the daemon: blocking HTTP/1.1 over its unix socket, or over TCP
 * with the token.  One connection, kept and used again; one thread.
 *
 * Codes: ERR_UNREACHABLE nobody listens, ERR_REFUSED the socket is not for us,
 * ERR_TIMEOUT no answer in time, ERR_FORMAT what came is no answer, ERR_IO the
 * connection broke: whether the request was carried out is not known then.
 */
#ifndef API_CLIENT_H
#define API_CLIENT_H

#include <jansson.h>
#include <stdint.h>

#include "api/reply.h"
#include "base/err.h"
#include "base/text.h"

struct client;

/* Either a socket or a URL. */
struct client_where {
	const char *socket; /* path */
	const char *url;    /* "http://127.0.0.1:4321" */
	const char *token;  /* with a URL */
};

/* Connects at the first request, so only a malformed URL fails here. */
int client_open(const struct client_where *where, struct client **out, struct err *err);
void client_close(struct client *client);

struct client_ask {
	const char *method; /* "GET" */
	const char *path;   /* "/v1/jobs?state=all", escaped: see url_encode() in route.h */
	const json_t *body; /* for POST; NULL: {} */
	double timeout_s;   /* without a byte from the daemon; 0: 30; < 0: for ever */
	/*
	 * The body of a good answer (below 300) as it comes in, instead of in `body`; nonzero ends
	 * the request with that value.  NULL: all of it, at most 256 MiB.
	 */
	reply_body *see;
	void *ctx;
};

/* Zeroed is valid. */
struct client_answer {
	int status;
	struct buf body; /* as it came */
	json_t *json;    /* if it is JSON */
};

/*
 * 0 for every answer, also one that says no: see `status`.  Asks again for some seconds, with growing pauses, while
 * the daemon has no room for the connection.  `out` is the caller's: client_answer_fini().
 */
int client_request(struct client *client, const struct client_ask *ask, struct client_answer *out,
	struct err *err);
void client_answer_fini(struct client_answer *answer);

/* 0 if the status is below 400; else an ERR_ code by the problem's `exit`, and its detail as text. */
int client_check(const struct client_answer *answer, struct err *err);
/* Both in one: asks, and a problem is an error. */
int client_do(struct client *client, const char *method, const char *path, const json_t *body,
	json_t **out, struct err *err);

/*
 * Follows GET /v1/events after number `after` (UINT64_MAX: from now on) until see() returns nonzero, which is
 * returned, or the connection ends: ERR_IO or ERR_TIMEOUT (no heartbeat for 45 s).
 */
int client_events(struct client *client, uint64_t after, sse_event *see, void *ctx, struct err *err);

#endif
