/*
 * Errors as problem JSON (RFC 9457), with `exit`: the command line's exit code.
 */
#ifndef API_PROBLEM_H
#define API_PROBLEM_H

#include "base/text.h"

/* Replaces what is in `out`. */
void problem_write(struct buf *out, int status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Status 503 for a connection that is one too many: `limit` names the reason and `retry_after_s` the pause.  The
 * request was not carried out.
 */
#define PROBLEM_CONNECTIONS "connections"
void problem_write_full(struct buf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

const char *problem_title(int status);
/* 2 usage, 3 not found, 4 refused, 5 can never run, 6 unreachable, 7 timed out, 1 whatever else. */
int problem_exit(int status);

#endif
