/*
 * What happens, for whoever follows: the last few thousand notices, each with
 * its number in the record.  Thread-safe.
 */
#ifndef DAEMON_STREAM_H
#define DAEMON_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum { STREAM_KEEPS = 8192 };

struct stream;

struct stream *stream_create(uint64_t last_seq);
void stream_destroy(struct stream *stream);

/* `seq` grows from call to call.  `json` is one line, copied. */
void stream_push(struct stream *stream, uint64_t seq, const char *kind, const char *json);
/* Notices up to `seq` are gone, and with them all that are here: more follow than are kept, and none of them has a reader. */
void stream_skip(struct stream *stream, uint64_t seq);
/* Whether a follower has readers. */
bool stream_has_readers(struct stream *stream);

/*
 * Adds everything after `*seq` to `out` as server-sent events ("id: 7\nevent: start\ndata: {…}\n\n"),
 * at most `max` bytes or one event, and moves `*seq` on.  If notices after `*seq` are gone, one event "lost" says so
 * first.  False: there is nothing new.
 */
bool stream_read(struct stream *stream, uint64_t *seq, size_t max, struct buf *out);
uint64_t stream_last(struct stream *stream);

/*
 * wake() is called (from any thread, keep it short) whenever something was pushed.  It must not call
 * back into the stream.  After stream_unfollow() it is not running and is not called again.
 */
struct stream_follower {
	void (*wake)(void *ctx);
	bool (*has_readers)(void *ctx); /* under the rules of wake(); NULL: always */
	void *ctx;
	struct stream_follower *next;
};
void stream_follow(struct stream *stream, struct stream_follower *follower);
void stream_unfollow(struct stream *stream, struct stream_follower *follower);

#endif
