/*
 * The hands of a world: they say what there is to run on, launch attempts, stop
 * them, and tell how they ended, whether the daemon lived all the while or not.
 *
 * Worlds are tables of functions: live/local (this machine) and live/slurm (a
 * Slurm cluster).  Nothing here decides anything or knows the engine.
 *
 * What happens is told by the callbacks of the configuration, from hands_poll()
 * alone; they may call anything here but hands_close().
 */
#ifndef LIVE_HANDS_H
#define LIVE_HANDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/lineage.h"
#include "live/machine.h"

struct hands;

/* The text of an attempt that had more memory than it may have begins with it. */
#define ENDING_OUT_OF_MEMORY "out of memory"
/* The text of one that was ended by its time limit. */
#define ENDING_TIME_OVER "its time limit was over"

/* How an attempt ended. */
struct ending {
	uint32_t job, attempt;
	bool known; /* false: whoever ran it is gone and left no word (reboot, killed) */
	bool bounced; /* it never began, and not for what it is: the world was not as expected.  To be tried again */
	int code;       /* exit status, or -1; 127 or 126 with `text` if it could not start */
	int signal;     /* that killed it, or 0 */
	bool asked;     /* it had been asked to stop before it ended, by us or by the clock */
	bool timed_out; /* because its time was over */
	bool over_memory; /* it had more than it may have, see launch.mem_watch; it was killed for that */
	bool node_failed;  /* its node died under it */
	double begun_s;    /* seconds since 1970; 0: the command never began */
	double ended_s;    /* when nothing of it was left */
	double asked_s;    /* when the stop reached it; 0: never */
	double cpu_s;      /* user and system, of all its processes */
	int64_t rss_bytes; /* largest: of one process, or of all together where memory is watched */
	char text[256]; /* why it could not start ("python3: not found") or was killed by us or the kernel, else "" */
};

/* CLAIM_FOREIGN: another record's attempt runs in its place, see hands_clear(). */
enum claim { CLAIM_RUNS, CLAIM_ENDED, CLAIM_NEVER, CLAIM_FOREIGN };

/* An attempt and the devices it was given, as places in the machine's list. */
struct holding {
	uint32_t job, attempt;
	const uint32_t *devices;
	uint32_t n;
};

/* What is needed to run one; all borrowed for the call. */
struct launch {
	uint32_t job, attempt;   /* attempt 0: none yet, see hands_expect() */
	const uint32_t *devices; /* as places in the machine's list */
	uint32_t ndevices;
	const char *name;
	const char *key;         /* that it was submitted under; NULL: none */
	const char *const *argv; /* NULL-terminated */
	const char *script; /* run this text with argv as its arguments; NULL: argv is the command */
	const char *const *env; /* complete */
	const char *cwd;
	const char *out, *err_out; /* absolute, NULL: in the attempt's directory */
	bool out_append;           /* others write to the same files: they are never emptied */
	int64_t out_cap;     /* most bytes of kept output of all attempts together; 0: no limit */
	int64_t out_reserve; /* bytes of the disk that kept output leaves free */
	uid_t uid;           /* runs as this user; only root can be anyone else */
	gid_t gid;
	int stop_signal;
	double grace_s;
	const char *checkpoint; /* shell command before the signal, STINT_PID is the command's; it has grace_s, too; NULL: none */
	double time_s;     /* seconds this attempt may take from its claim; 0: no limit */
	double cpus;       /* for the cgroup, 0: no limit */
	int64_t mem_bytes; /* likewise */
	bool mem_watch; /* killed when all its processes together have more, cgroup or not, and says so */
	int64_t tasks_max;          /* processes and threads; 0: no limit */
	uint32_t gpus;              /* that it asks for; 0: CPUs only */
	bool requeue;               /* may run again */
	int32_t pty_rows, pty_cols; /* on a terminal of this size; 0: on none */
	uint64_t seq;               /* last event of the record when it was ordered */
};

/* An attempt that runs and is not this record's. */
struct foreign_attempt {
	uint32_t job, attempt;
	struct lineage_point of; /* the record it was begun by; no id: from before there were any */
	pid_t guard;
	uid_t uid; /* as whom it runs; (uid_t)-1: not known */
	double begun_s;
	char devices[256]; /* as its grant names them: "0,1", "cpu-3" */
	bool elsewhere;    /* it runs in another state directory, of which this one is a copy */
};

/* Somebody submitted a job to the world itself. */
struct arrival {
	const char *key; /* by which the world knows it again: "slurm:4711@1763366400" */
	uid_t uid;
	gid_t gid;
	const char *tenant;
	json_t *submission; /* schema submission/1, without a key; borrowed */
	double at_s;        /* seconds since 1970 */
};

struct hands_config {
	const char *state_dir; /* absolute; STATE/jobs is made */
	/* The record that attempts belong to, borrowed as long as the hands live; NULL: there is none. */
	const struct lineage *lineage;
	uint64_t seq; /* its last event now */
	bool adopt_unmarked; /* claims that say nothing of a record are this one's: its first daemon that has an id */
	/* Attempts of other records that run: "7/2 9/1" as hands_foreign() had them last; NULL: look for them. */
	const char *foreign;
	void *ctx;
	/* What became of a pending launch: NULL if it worked, else what hands_launch() would have answered. */
	void (*launched)(void *ctx, uint32_t job, uint32_t attempt, const struct err *failed);
	/* The command of the attempt runs. */
	void (*begun)(void *ctx, uint32_t job, uint32_t attempt, double at_s);
	void (*ended)(void *ctx, const struct ending *ending);
	/* It shall be taken in, and hands_taken() called with its number; told again until then. */
	void (*arrived)(void *ctx, const struct arrival *arrival);
	/* An input of the core about a job that is here: "cancel", "hold", "release", "update", "outside", ….  Takes `body`. */
	void (*told)(void *ctx, const char *input, uint32_t job, json_t *body);
	/* hands_refresh() has something to say. */
	void (*changed)(void *ctx);
	/* Something for people: LEVEL is of base/log.h. */
	void (*say)(void *ctx, int level, const char *text);
};

/* What an attempt under way has used so far; `known` false where that cannot be told. */
struct hands_use {
	uint32_t job, attempt;
	pid_t guard;  /* whose descendants they are; -1: there is none */
	double cpu_s; /* user and system, of all its processes */
	bool known;
};

/* One world.  Those that may be NULL do nothing then. */
struct hands_table {
	const char *name; /* "local" */
	void (*close)(struct hands *hands);
	int (*fd)(const struct hands *hands);
	int (*poll)(struct hands *hands, struct err *err);
	int (*discover)(struct hands *hands, struct machine *out, struct err *err);
	int (*refresh)(struct hands *hands, struct machine *machine);
	int (*busy)(const struct hands *hands, const struct machine *machine, uint32_t device); /* or NULL */
	int (*expect)(struct hands *hands, const struct launch *launch, struct err *err); /* or NULL */
	void (*expected_all)(struct hands *hands); /* or NULL */
	void (*taken)(struct hands *hands, const char *key, uint32_t job, const char *why); /* or NULL */
	void (*forget)(struct hands *hands, uint32_t job); /* or NULL */
	int (*launch)(struct hands *hands, const struct launch *launch, struct err *err);
	int (*stop)(struct hands *hands, uint32_t job, uint32_t attempt, bool now, struct err *err);
	int (*signal)(struct hands *hands, uint32_t job, uint32_t attempt, int signal, struct err *err);
	int (*limit)(struct hands *hands, uint32_t job, uint32_t attempt, double cpus,
		int64_t mem_bytes, struct err *err); /* or NULL */
	int (*hold_output)(struct hands *hands, uint32_t job, uint32_t attempt, bool hold,
		struct err *err); /* or NULL: kept output is not bounded */
	int (*claim)(struct hands *hands, const struct holding *of, bool void_it, enum claim *out,
		struct ending *ending, struct err *err);
	int (*clear)(struct hands *hands, uint32_t job, uint32_t attempt, struct err *err); /* or NULL */
	const struct foreign_attempt *(*foreign)(const struct hands *hands, size_t *n); /* or NULL */
	int (*end_foreign)(struct hands *hands, uint32_t job, uint32_t attempt, bool now,
		struct err *err); /* or NULL */
	int (*adopt_foreign)(struct hands *hands, uint32_t job, uint32_t attempt,
		struct err *err); /* or NULL */
	bool (*newest)(const struct hands *hands, struct lineage_point *out, uint32_t *job,
		uint32_t *attempt); /* or NULL */
	void (*find_guards)(const struct hands *hands, struct hands_use *of, size_t n); /* or NULL */
	char *(*output)(const struct hands *hands, uint32_t job, uint32_t attempt, bool err_out); /* or NULL */
	char *(*alias)(const struct hands *hands, uint32_t job); /* or NULL */
	uint32_t (*running)(const struct hands *hands);
	const char *(*kind)(const struct hands *hands);
	bool sets_devices;  /* it tells jobs itself which devices are theirs */
	bool in_place;      /* jobs can be told of another size while they run */
	bool has_terminals; /* launch.pty_rows is heeded: see HANDS_TERMINAL */
};

/* The socket in the attempt's directory that hands out its terminal, see live/local/guard_pty.h. */
#define HANDS_TERMINAL "terminal"

/* What every world's hands begin with. */
struct hands {
	const struct hands_table *table;
	struct hands_config config; /* its directory is copied */
};

/* For worlds: the beginning of theirs, which hands_close() frees. */
void hands_init(struct hands *hands, const struct hands_table *table,
	const struct hands_config *config);
/* A directory that jobs of others can pass and not list; 0 if it is there. */
int hands_make_path(const char *path, struct err *err);

/* Lets everything run on.  Takes NULL. */
void hands_close(struct hands *hands);

/* One descriptor that is readable when hands_poll() has something to do. */
int hands_fd(const struct hands *hands);
int hands_poll(struct hands *hands, struct err *err);

/* What there is to run on; release with machine_fini(). */
int hands_discover(struct hands *hands, struct machine *out, struct err *err);
/*
 * Looks again, or says what it has seen meanwhile.  Returns what changed (MACHINE_UP, MACHINE_NEW).  Devices keep
 * their places; those that are not there any more are not up.
 */
int hands_refresh(struct hands *hands, struct machine *machine);
/* Per cent of the last moments in which a device, by its place, computed; -1: nobody can tell. */
int hands_busy(const struct hands *hands, const struct machine *machine, uint32_t device);

/*
 * A job that waits and will be launched some day, with `attempt` 0: a world that keeps a queue of its own gets to
 * know it.  Said again after a restart for every job that is alive; then hands_expected_all().
 */
int hands_expect(struct hands *hands, const struct launch *launch, struct err *err);
void hands_expected_all(struct hands *hands);
/* The answer to arrived().  Job 0: it is not taken in, and `why`; the world does with it as it likes. */
void hands_taken(struct hands *hands, const char *key, uint32_t job, const char *why);
/* The job has ended or was cancelled: nothing of it shall run or wait any more. */
void hands_forget(struct hands *hands, uint32_t job);

/* Makes the attempt's directory, for what is to lie there before it starts. */
int hands_make_dir(struct hands *hands, uint32_t job, uint32_t attempt, struct err *err);
/*
 * Starts an attempt that was never launched before.  ERR_REFUSED if it has been claimed already; ERR_IO where the
 * world does not let us (no memory, no processes, disk full): nothing has started then and it may be tried
 * again with the same attempt.  LAUNCH_PENDING: the guard was started, and launched() tells whether it claimed the
 * attempt; until then the attempt counts as running and may be stopped.  A world with a queue of its own answers 0 and tells
 * later how it went.
 */
enum { LAUNCH_PENDING = 1 };
int hands_launch(struct hands *hands, const struct launch *launch, struct err *err);
/* Signal, grace, kill; `now`: the kill alone.  Asking twice changes nothing but `now`.  0 too if it is over already. */
int hands_stop(struct hands *hands, uint32_t job, uint32_t attempt, bool now, struct err *err);
/* Any signal to the command itself (resize notices, the user's own). */
int hands_signal(struct hands *hands, uint32_t job, uint32_t attempt, int signal, struct err *err);
/* Another bound on its CPUs and memory from now on (0: as it is), where the world bounds them at all. */
int hands_limit(struct hands *hands, uint32_t job, uint32_t attempt, double cpus, int64_t mem_bytes,
	struct err *err);

/* Whether the world can do the next. */
bool hands_can_hold_output(const struct hands *hands);
/*
 * Output that is kept of the attempt does not grow while `hold`: what is written beyond its size is cut with a mark.
 * ERR_MISSING: no guard of the attempt is known, or none any more.
 */
int hands_hold_output(struct hands *hands, uint32_t job, uint32_t attempt, bool hold, struct err *err);

/*
 * After a restart, for every attempt that was ordered and is not known to have ended: finds out what
 * became of it.  CLAIM_RUNS: ended() will be told as if we had launched it.  CLAIM_ENDED: `ending` is
 * filled (not known where nobody left a word).  CLAIM_NEVER: it never began; with `void_it` it never will,
 * else it may still be launched.
 */
int hands_claim(struct hands *hands, const struct holding *of, bool void_it, enum claim *out,
	struct ending *ending, struct err *err);

/*
 * Before a launch: what another record left in the attempt's directory is moved aside.  ERR_REFUSED while an
 * attempt of another record runs there: nothing may be launched, and neither may that one be taken for ours.
 */
int hands_clear(struct hands *hands, uint32_t job, uint32_t attempt, struct err *err);

/* Attempts of other records that run.  Their devices are not up until they have ended. */
const struct foreign_attempt *hands_foreign(const struct hands *hands, size_t *n);
/* Stops one as hands_stop() does.  ERR_MISSING: there is none. */
int hands_end_foreign(struct hands *hands, uint32_t job, uint32_t attempt, bool now, struct err *err);
/* It is this record's from now on: hands_claim() finds it. */
int hands_adopt_foreign(struct hands *hands, uint32_t job, uint32_t attempt, struct err *err);
/* The claim of this record that is furthest on, as far as was looked at; false: none was found. */
bool hands_newest(const struct hands *hands, struct lineage_point *out, uint32_t *job,
	uint32_t *attempt);
/* The largest number below STATE/jobs, 0: none. */
uint32_t hands_last_dir(const struct hands *hands);

/* Whose guards they are; then, by any thread and without the hands, what they have used: that looks at every process there is. */
void hands_find_guards(const struct hands *hands, struct hands_use *of, size_t n);
void hands_measure(struct hands_use *of, size_t n);

/* "STATE/jobs/7/2", malloc'ed; and the file where output goes unless the job says otherwise. */
char *hands_dir(const struct hands *hands, uint32_t job, uint32_t attempt);
char *hands_output(const struct hands *hands, uint32_t job, uint32_t attempt, bool err_out);
/* What the world calls the job ("4711"), malloc'ed; NULL: nothing else than we do. */
char *hands_alias(const struct hands *hands, uint32_t job);
/* Attempts under way, and how the world keeps them apart ("v2", "v1", "none", "slurm"). */
uint32_t hands_running(const struct hands *hands);
const char *hands_kind(const struct hands *hands);

#endif
