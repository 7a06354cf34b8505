/*
 * Running another program to its end, from any thread: what it reads is given,
 * what it writes is kept, and neither its time nor its output is without limit.
 */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/text.h"

struct child_ask {
	const char *const *argv; /* NULL after the last; a name without a slash is looked for in $PATH */
	const char *const *env; /* NULL: our own */
	const char *input;      /* its standard input; NULL: nothing */
	size_t ninput;
	size_t out_max; /* of standard output and of standard error each; the rest is thrown away */
	double timeout_s;
	const atomic_bool *stop; /* as soon as it is true the program is killed; NULL: never */
};

struct child_end {
	int code;                /* -1: a signal ended it */
	int signal;              /* 0: none */
	bool timed_out, stopped; /* why it was killed, with whatever it had started */
	bool out_cut;            /* there was more on standard output */
	struct buf out, err;
};

/*
 * 0: it ran, however it ended; release `end` with child_end_fini().  ERR_MISSING: there is no such program.
 * What it leaves behind in the background is not waited for.
 */
int child_run(const struct child_ask *ask, struct child_end *end, struct err *err);
void child_end_fini(struct child_end *end);
/* Whether there is such a program, found as above. */
bool child_is_there(const char *program);
/* "exit code 3", "signal 9", "no end after 10 s": for people. */
void child_end_text(const struct child_end *end, double timeout_s, struct buf *out);

#endif
