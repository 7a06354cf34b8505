/*
 * The guard: parent of one attempt's command, from the claim to the last word.
 *
 * It understands four signals of the daemon: GUARD_STOP stops in order, GUARD_KILL kills
 * now, GUARD_PASS hands on the signal whose number is its value, GUARD_HOLD keeps kept
 * output from growing (value 1) or lets it grow again (0).  It is deaf to all others
 * and ends when its attempt is over and that is written down.
 */
#ifndef LIVE_LOCAL_GUARD_H
#define LIVE_LOCAL_GUARD_H

#include <signal.h>
#include <stdnoreturn.h>

#include "live/local/attempt.h"

#define GUARD_STOP SIGTERM
#define GUARD_KILL SIGUSR1
#define GUARD_PASS (SIGRTMIN + 5)
#define GUARD_HOLD (SIGRTMIN + 6)

/* Exit status of the guard itself. */
int guard_run(int order_fd, int report_fd);

/* ---- the command's side, for the guard alone */

/* Why it could not start; travels through a pipe in one piece. */
struct failure {
	int code; /* as a shell would exit: 126, 127 */
	char text[256];
};

struct command {
	const struct order *order;
	const struct cgroup *group;
	const char *const *argv;
	const char *const *env;
	int out, err_out; /* files in the attempt's directory, -1: opened at the job's own paths */
	int oom_score;    /* to be restored */
	const char *terminal; /* path of the one it runs on, as leader of a session; NULL: none */
	bool is_checkpoint;   /* the checkpoint command, beside the job's own */
	pid_t guard;
};

/* In the child: becomes the user, opens, enters, executes.  On failure writes one `struct failure` to `tell`. */
noreturn void command_become(const struct command *command, int tell);

#endif
