/*
 * A POST over plain HTTP with a limit on all of it: a receiver that sends a byte
 * a minute is as slow as one that sends none.
 */
#ifndef HOOK_POST_H
#define HOOK_POST_H

#include <stdatomic.h>

#include "base/err.h"
#include "base/text.h"

struct post {
	const char *host, *port;
	const struct buf *request; /* head and body, as sent */
	double timeout_s;
	size_t answer_max;       /* of the answer's body; the rest is thrown away */
	const atomic_bool *stop; /* NULL: never */
};

/* 0: there was an answer, whatever it says.  ERR_UNREACHABLE, ERR_TIMEOUT, ERR_IO, ERR_FORMAT. */
int post_send(const struct post *post, int *status, struct buf *answer, struct err *err);

#endif
