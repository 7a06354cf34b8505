/*
 * Reading an HTTP/1.1 answer as it comes in, strictly and within limits.  No
 * sockets here, so that it can be fuzzed.
 */
#ifndef API_REPLY_H
#define API_REPLY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/text.h"

enum { REPLY_LINE_MAX = 16 * 1024, REPLY_HEAD_MAX = 64 * 1024 };

enum reply_state {
	REPLY_STATUS,
	REPLY_HEADER,
	REPLY_LENGTH, /* a body of known length */
	REPLY_REST,   /* a body until the connection ends */
	REPLY_CHUNK,
	REPLY_CHUNK_DATA,
	REPLY_CHUNK_END,
	REPLY_TRAILER,
	REPLY_DONE,
};

/* Zeroed is valid: waits for a status line. */
struct reply {
	enum reply_state state;
	int status;
	bool keep;              /* the connection can be used again */
	char content_type[128]; /* "" if there is none */
	int64_t attempt;        /* X-Stint-Attempt, 0: none */
	uint64_t body_bytes;    /* so far */
	uint64_t body_max;      /* 0: no limit */
	/* private */
	struct buf line;
	uint64_t left; /* of the body or chunk */
	size_t head;   /* bytes of headers so far */
	bool chunked, has_length, one_one;
};

void reply_fini(struct reply *reply);

/* Bytes of the body; nonzero ends the reading with that value (< 0: an ERR_ code). */
typedef int reply_body(void *ctx, const struct reply *reply, const char *bytes, size_t n);

/*
 * Takes bytes.  Returns how many it used: all of them, or fewer once it is REPLY_DONE; ERR_FORMAT for
 * what is no answer; or what body() returned, in `*stop`.
 */
ssize_t reply_feed(struct reply *reply, const char *bytes, size_t n, reply_body *body, void *ctx,
	int *stop, struct err *err);
/* The connection has ended: 0 if that ends the body, else ERR_FORMAT. */
int reply_end(struct reply *reply, struct err *err);

/* ---- server-sent events */

struct sse {
	struct buf line, id, kind, data;
	bool any;
};

typedef int sse_event(void *ctx, uint64_t id, const char *kind, const char *data);
/* Calls see() for every whole event; returns what it returned if that is not 0, ERR_FORMAT for too long ones. */
int sse_feed(struct sse *sse, const char *bytes, size_t n, sse_event *see, void *ctx);
void sse_fini(struct sse *sse);

#endif
