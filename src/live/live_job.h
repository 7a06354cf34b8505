/*
 * A job as the daemon keeps it while it has not ended: what scheduling needs of
 * the submission, where it stands, and its totals.  The command itself stays in
 * the record until it is launched.
 *
 * Its status is one JSON object; a job made from a status is the same job.
 */
#ifndef LIVE_LIVE_JOB_H
#define LIVE_LIVE_JOB_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/members.h"
#include "base/text.h"
#include "base/vec.h"
#include "live/submission.h"
#include "model/cluster.h"
#include "model/job.h"

enum live_state {
	LIVE_PENDING,
	LIVE_CONFIGURING, /* has devices; its command has not begun */
	LIVE_RUNNING,
	LIVE_COMPLETING, /* was asked to stop */
	LIVE_COMPLETED,  /* this and what follows is over */
	LIVE_FAILED,
	LIVE_CANCELLED,
	LIVE_TIMEOUT,
	LIVE_PREEMPTED, /* and must not run again */
	LIVE_NODE_FAIL,
	LIVE_STATES
};

/* Slurm's words: "PENDING", … */
const char *live_state_name(enum live_state state);
int live_state_of(const char *name); /* -1: none */

/* What keeps a job from being considered at all. */
enum gate {
	GATE_OPEN,
	GATE_USER,       /* held by its user */
	GATE_DEPENDENCY, /* job `gate_job` */
	GATE_NEVER, /* what it waited for cannot happen any more, or it does not fit this machine as it is now */
	GATE_BEGIN,    /* its begin time */
	GATE_ARRAY,    /* enough others of its array run */
	GATE_STOPPING, /* its last attempt has not ended yet */
};

/* What its last reports said. */
struct live_progress {
	double step, total; /* NAN: never said */
	double per_s;       /* NAN: not known yet */
	double at_s;
	double first_step, first_s; /* of this attempt; NAN before */
	double loss;                /* NAN: not said */
	bool resizable;             /* it can change size without a restart */
	bool seen;                  /* its speed has shown, in this attempt or before */
	/* Metrics that elastic policies go by; NAN: not said. */
	double batch, max_batch; /* total batch now; the largest it would use by itself */
	double sync_s;           /* of a step: synchronising between devices */
	double grad_sqr, grad_var;
};

/* How fast it was on so many devices. */
struct live_speed {
	char type[48]; /* by name: numbers of types change with the machine */
	uint32_t nodes, gpus;
	double batch;  /* 0: it did not say */
	double step_s; /* of one of its steps */
	double sync_s; /* NAN: it did not say */
};

enum { LIVE_SPEEDS_MAX = 32, LIVE_AVOID_MAX = 16 };

/* Attempts that failed soon after they began, by device of this cluster. */
struct live_failure {
	uint32_t node, device, times;
};

struct live_job {
	/* what is looked at when all jobs are gone through: side by side, in one line of the processor's cache */
	uint32_t id;
	uint32_t engine_id; /* JOB_NONE: not in the engine */
	enum live_state state;
	enum gate gate;
	uint32_t gate_job;
	bool held;

	uint32_t uid, gid;
	char *name, *user, *tenant, *model, *key, *types,
		*comment; /* model, key, types, comment may be NULL */
	uint64_t submit_seq;
	int64_t submitted_bytes; /* its part of what was submitted, as the record holds it; 0: by an older version */
	double arrival_s;

	/* asked */
	double time_s, estimate_s;  /* 0: not said */
	double deadline_s, begin_s; /* in the core's time; INFINITY, 0: none */
	double grace_s;
	int stop_signal;
	bool requeue;
	bool pty; /* runs on a terminal: once, whatever its end is */
	int32_t retries;
	uint32_t array_id, array_index, array_limit; /* id 0: of no array */
	struct dependency *after;
	uint32_t nafter;
	double cpus_asked; /* changed since it was submitted; NAN: as it was submitted */
	bool cpu_only;     /* asked for no devices: runs on CPU slots */
	bool allow_idle;   /* may hold devices and do nothing */
	int64_t mem_most; /* its memory is a label: with more than base.mem_bytes it is killed, and gets this; 0: it is not */

	/* where it stands */
	struct job base;  /* asked and totals, as of when it was last outside the engine */
	uint32_t attempt; /* ordered last; 0: none */
	uint32_t failed;  /* attempts that failed by themselves */
	uint32_t lost;    /* attempts that ended with their device or guard */
	uint32_t yields;  /* times in a row that it saved and left after a short while */
	double used_s;  /* of its time limit: its commands ran so long in attempts that are over */
	double begun_s; /* of the present attempt, NAN */
	double first_begun_s; /* of the first */
	double end_s;
	int code, signal; /* of the last attempt that ended; -1, 0: none yet */
	char *end_text;   /* in words, or NULL */
	struct live_progress progress;
	double first_batch; /* that it ever reported, which its steps count in; NAN: none */
	VEC(struct live_speed) speeds; /* the oldest first, each configuration once */
	VEC(struct live_failure) failed_on;
	struct slot avoid[LIVE_AVOID_MAX]; /* what base.avoid points to */
	VEC(struct node_share) pins; /* where somebody else runs it; what base.pins points to */
	char *outside_reason;        /* why it does not, in their words; NULL */
	double idle_since_s; /* it was warned of holding devices and doing nothing; NAN: it was not */
	char *reclaimed;     /* why it is held, if that was not a user's wish; NULL */
	bool paused;         /* begin_s ends a pause; else it is a moment that its user gave */
	bool unpromised;     /* its deadline could not be promised when it came to the engine */
	bool silent;         /* ran for long and did not show its speed */
	bool learnt;         /* other speeds are believed of it than the engine was told */
	bool changed;        /* its status is to be noted */
	bool outside;        /* listed by the core as such */
};

/* From what was asked.  `born_s` is the core's zero in seconds since 1970.  Types are not bound yet. */
struct live_job *live_job_create(uint32_t id, const struct submission *what, double born_s,
	double now_s);
void live_job_destroy(struct live_job *job);

/*
 * The input "update": {"priority","weight","time_s","deadline_s"}, and of its size all of {"gpus","min_gpus","max_gpus",
 * "nodes","cpu_only","cpus","cpus_asked","mem_bytes","mem_most"}, {"name"}, {"after":[[kind,job],...]}.  What is not there
 * stays.  Returns whether what it needs to run may have changed.  `old_name` is the caller's to free once the engine has
 * forgotten the job, NULL: it has the name it had.
 */
bool live_job_change(struct live_job *job, const json_t *body, char **old_name);
/* Reads {"after":[[kind,job],...]}; what was there is not freed. */
void live_job_get_after(struct live_job *job, const json_t *status);

/* The types it may use as bits of this cluster; CPU slots only for those that asked for no device. */
uint32_t live_job_types(const struct live_job *job, const struct cluster *cluster);

/* As people call it: "7", or "7_3" of an array, whose first element has the number of the whole. */
enum { LIVE_NAME_SIZE = 32 };
const char *live_name(const struct live_job *job, char out[LIVE_NAME_SIZE]);

static inline bool live_ended(const struct live_job *job)
{
	return job->state >= LIVE_COMPLETED;
}

/*
 * Seconds that its commands made steps, of one that has ended; 0: none of them began.  The core counts from when it
 * hears that a command began: one that was over by then has what its guard measured, or the shortest time there is.
 */
static inline double live_job_ran_s(const struct live_job *job)
{
	double shortest_s = isnan(job->first_begun_s) ? 0 : 1e-6;

	return job->base.ran_s > 0 ? job->base.ran_s : fmax(job->used_s, shortest_s);
}

/* Seconds of its time limit that are used: by earlier attempts, and by the present one up to now. */
static inline double live_used_s(const struct live_job *job, double now_s)
{
	return job->used_s + (isnan(job->begun_s) ? 0 : fmax(0, now_s - job->begun_s));
}

/* Seconds that it can still run by its time limit and its grace; INFINITY: it has no limit. */
static inline double live_most_s(const struct live_job *job, double now_s)
{
	return job->time_s > 0
		? fmax(0, job->time_s + fmax(0, job->grace_s) - live_used_s(job, now_s))
		: INFINITY;
}

/*
 * How it ended, for people: "exit 3", "signal 9 (KILL)", "timed out after 2h", "out of memory: …".  Nothing of a job that
 * completed or has not ended.
 */
void live_job_ending(const struct live_job *job, struct buf *out);

/* ---- devices it fails on */

/* One of its attempts failed there.  Whether it avoids more than before with this limit (0: none). */
bool live_job_fail_on(struct live_job *job, const struct grant *grant, int32_t limit);
/* On how many devices it failed. */
size_t live_job_failed_places(const struct live_job *job);
/* Forgets that it failed on these; whether it had. */
bool live_job_forgive(struct live_job *job, uint32_t node, uint64_t devices);
/* Sets base.avoid.  Not while an engine has the job. */
void live_job_avoid(struct live_job *job, const struct cluster *cluster, int32_t limit);

/* ---- jobs that another scheduler runs */

/* Where it runs there, as [["node",2],…] of this cluster; nowhere if that is empty.  Not while an engine has the job. */
int live_job_pin(struct live_job *job, const json_t *on, const struct cluster *cluster,
	struct err *err);

/* Everything but `name`, `tenant` etc. of the record's own columns is inside too: the status is enough. */
void live_job_status(const struct live_job *job, struct buf *out);
/* The part of it that its steps took, as the member "speeds"; nothing if nothing was measured. */
void live_job_speeds(const struct live_job *job, struct json *j);
int live_job_from_status(const json_t *status, struct live_job **out, struct err *err);

#endif
