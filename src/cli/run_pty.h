/*
 * stint run --pty: the job's terminal is this one.
 *
 * The guard of the job hands out its pseudo-terminal by a socket (live/local/guard_pty.h).  Bytes are copied between that and our
 * own terminal, which is raw meanwhile: Ctrl-C and the like reach the job as they are typed.
 */
#ifndef CLI_RUN_PTY_H
#define CLI_RUN_PTY_H

#include <stdatomic.h>

#include "cli/command.h"
#include "live/submission.h"

/* Asks for a terminal of our size and kind.  ERR_USAGE where standard input is none, or the job cannot have one. */
int run_pty_ask(struct submission *s, struct err *err);

struct run_pty {
	int master;     /* the job's terminal */
	int connection; /* to its guard: closing it hangs up the job */
	int resized;    /* signalfd of SIGWINCH, which is blocked before threads begin */
};

#define RUN_PTY_NONE \
	{ \
		.master = -1, .connection = -1, .resized = -1 \
	}

/*
 * Waits for the job to start and takes its terminal.  0 too if the job is over, or `*stop` is not 0: no terminal was
 * taken then.
 */
int run_pty_attach(struct run_pty *pty, const struct args *args, const char *job,
	const atomic_int *stop, struct err *err);
/* Copies until the job has closed its terminal.  False: our own went away. */
bool run_pty_copy(struct run_pty *pty);
void run_pty_close(struct run_pty *pty);

/* Our terminal as it was, from any thread and more than once. */
void run_pty_restore(void);
/* Whether it is raw. */
bool run_pty_is_raw(void);

#endif
