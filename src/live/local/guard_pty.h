/*
 * The terminal of a job (stint run --pty), the guard's side.
 *
 * The guard makes a pseudo-terminal and a socket (SOCK_SEQPACKET) in the attempt's directory.  The
 * first client that connects as the job's user or as root gets the terminal's other end (SCM_RIGHTS), and
 * keeps the connection as long as it is there.  From then on no other process has that end: a client that
 * goes away, however it does, hangs up the job.
 */
#ifndef LIVE_LOCAL_GUARD_PTY_H
#define LIVE_LOCAL_GUARD_PTY_H

#include <stdbool.h>

#include "live/hands.h"

struct guard_pty {
	int master;     /* -1: there is none, or the client has it */
	int listener;   /* -1: no client is waited for */
	int client;     /* connection of the client that has it, or -1 */
	double until_s; /* monotonic; when a client that has not come is no longer waited for */
	char slave[64]; /* path of the job's end; "": the job has no terminal */
	const char *hung_up; /* why, for the ending; NULL: it was not */
};

#define GUARD_PTY_NONE \
	{ \
		.master = -1, .listener = -1, .client = -1 \
	}

/* False: errno says why. */
bool guard_pty_open(struct guard_pty *pty, int dir, const struct launch *launch);
/*
 * Forks a child that leads a session.  It does when this returns: a child that has a group of its own already cannot, and
 * one that has none yet gets no signals.
 */
pid_t guard_pty_fork(void);
/* Looks at the client.  True: it is gone or never came, and the terminal was hung up just now. */
bool guard_pty_see(struct guard_pty *pty, int dir, uid_t uid);
/* The command is over: a client that is on its way gets what it has written, unless `signals` says stop. */
void guard_pty_linger(struct guard_pty *pty, int dir, uid_t uid, int signals);
void guard_pty_close(struct guard_pty *pty, int dir);

#endif
