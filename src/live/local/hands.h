/*
 * The hands of this machine: they launch attempts, stop them, and tell how they
 * ended, whether the daemon lived all the while or not.
 *
 * Each attempt has a directory STATE/jobs/JOB/ATTEMPT and a guard: a small process
 * of its own (stint-guard) that is the job's parent.  The guard claims the
 * directory, starts the command, passes on the stop, counts the grace, kills what
 * is left and writes down how it ended.  So a job needs the daemon neither to run
 * nor to be stopped in order, and a daemon that comes back finds everything in
 * files:
 *
 *	begun   made once, by link(2): whoever makes it owns the attempt.  The guard
 *	        writes who it is; a daemon that finds none may write "void" instead,
 *	        and then that attempt can never start
 *	ended   how it ended; made by rename(2), so it is whole or not there
 *	script  the text that is run, if it was given as text
 *	stdout, stderr   unless the job has paths of its own
 *
 * A guard that is killed takes its command with it; what else it left is killed by the
 * daemon before the ending (not known) is told, found by its control group, its session
 * or STINT_DIR in its environment.  Where jobs run as other users the directory and its
 * notes are root's, and the user's are the script and the output.
 *
 * Nothing here decides anything or knows the engine.
 */
#ifndef LIVE_LOCAL_HANDS_H
#define LIVE_LOCAL_HANDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct hands;

/* How an attempt ended. */
struct ending {
	uint32_t job, attempt;
	bool known;        /* false: the guard is gone and left no word (reboot, killed) */
	int code;          /* exit status, or -1; 127 or 126 with `text` if it could not start */
	int signal;        /* that killed it, or 0 */
	bool asked;        /* it had been asked to stop before it ended, by us or by the clock */
	bool timed_out;    /* because its time was over */
	double begun_s;    /* seconds since 1970; 0: the command never began */
	double ended_s;    /* when nothing of it was left */
	double asked_s;    /* when the stop reached it; 0: never */
	double cpu_s;      /* user and system, of all its processes */
	int64_t rss_bytes; /* largest */
	char text[256];    /* why it could not start ("python3: not found"), else "" */
};

enum claim { CLAIM_RUNS, CLAIM_ENDED, CLAIM_NEVER };

/* What the guard needs; all borrowed for the call. */
struct launch {
	uint32_t job, attempt;
	const char *const *argv; /* NULL-terminated */
	const char *script; /* run this text with argv as its arguments; NULL: argv is the command */
	const char *const *env; /* complete */
	const char *cwd;
	const char *out, *err_out; /* absolute, NULL: in the attempt's directory */
	uid_t uid;                 /* runs as this user; only root can be anyone else */
	gid_t gid;
	int stop_signal;
	double grace_s;
	const char *checkpoint; /* shell command before the signal, STINT_PID is the command's; it has grace_s, too; NULL: none */
	double time_s;     /* seconds this attempt may take from when it began; 0: no limit */
	double cpus;       /* for the cgroup, 0: no limit */
	int64_t mem_bytes; /* likewise */
	int64_t tasks_max; /* processes and threads; 0: no limit */
};

struct hands_config {
	const char *state_dir; /* absolute; STATE/jobs is made */
	const char *guard;     /* path of stint-guard */
	bool cgroups;          /* use them if they can be had */
	void *ctx;
	/* Both are called from hands_poll() only. */
	void (*begun)(void *ctx, uint32_t job, uint32_t attempt, double at_s); /* the command runs */
	void (*ended)(void *ctx, const struct ending *ending);
};

int hands_open(const struct hands_config *config, struct hands **out, struct err *err);
/* Lets everything run on. */
void hands_close(struct hands *hands);

/* One descriptor that is readable when hands_poll() has something to do. */
int hands_fd(const struct hands *hands);
/* Calls begun() and ended() for what has happened; they may call anything here but hands_close(). */
int hands_poll(struct hands *hands, struct err *err);

/* Makes the attempt's directory, for what is to lie there before it starts. */
int hands_make_dir(struct hands *hands, uint32_t job, uint32_t attempt, struct err *err);
/*
 * Starts an attempt that was never launched before.  ERR_REFUSED if its directory has been claimed
 * already; ERR_IO where the machine does not let us (no memory, no processes, disk full): nothing has
 * started then and it may be tried again with the same attempt.
 */
int hands_launch(struct hands *hands, const struct launch *launch, struct err *err);
/* Signal, grace, kill; `now`: the kill alone.  Asking twice changes nothing but `now`.  0 too if it is over already. */
int hands_stop(struct hands *hands, uint32_t job, uint32_t attempt, bool now, struct err *err);
/* Any signal to the command itself (resize notices, the user's own). */
int hands_signal(struct hands *hands, uint32_t job, uint32_t attempt, int signal, struct err *err);

/*
 * After a restart, for every attempt that was ordered and is not known to have ended: finds out what
 * became of it.  CLAIM_RUNS: ended() will be told as if we had launched it.  CLAIM_ENDED: `ending` is
 * filled (not known where the guard is gone without a word).  CLAIM_NEVER: it never began; with `void_it` it never will, else it may still be launched.
 */
int hands_claim(struct hands *hands, uint32_t job, uint32_t attempt, bool void_it, enum claim *out,
	struct ending *ending, struct err *err);

/* What an attempt under way has used so far; `known` false where that cannot be told. */
struct hands_use {
	uint32_t job, attempt;
	pid_t guard;  /* whose descendants they are; -1: there is none */
	double cpu_s; /* user and system, of all its processes */
	bool known;
};
/* Whose guards they are; then, by any thread and without the hands, what they have used: that looks at every process there is. */
void hands_find_guards(const struct hands *hands, struct hands_use *of, size_t n);
void hands_measure(struct hands_use *of, size_t n);

/* "STATE/jobs/7/2", malloc'ed; and the file where output goes unless the job says otherwise. */
char *hands_dir(const struct hands *hands, uint32_t job, uint32_t attempt);
char *hands_output(const struct hands *hands, uint32_t job, uint32_t attempt, bool err_out);
/* Attempts under way, and whether cgroups are in use ("v2", "v1", "none"). */
uint32_t hands_running(const struct hands *hands);
const char *hands_cgroups(const struct hands *hands);

#endif
