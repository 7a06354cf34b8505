/*
 * A job: what was asked for, what is believed of it, and where it stands.
 *
 * The truth (how much work it really is) is not here: the simulator keeps it
 * (model/trace.h), and nature does when the job is real.  Policies read jobs;
 * the engine alone writes the fields below "state".
 *
 * Work is counted in steps.  A job that is known only by its run time has
 * steps of one second at nominal speed.
 */
#ifndef MODEL_JOB_H
#define MODEL_JOB_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "model/grant.h"

#define JOB_NONE UINT32_MAX

struct adaptation;

enum job_class {
	JOB_GUARANTEED,
	JOB_OPPORTUNISTIC,
};

enum job_state {
	JOB_FUTURE,  /* not submitted yet */
	JOB_HELD,    /* submitted; admission or a dependency holds it back */
	JOB_PENDING, /* may run, does not */
	JOB_RUNNING,
	JOB_FINISHED,
	JOB_REJECTED,   /* refused at submission */
	JOB_UNFINISHED, /* the run ended before it did */
	JOB_WITHDRAWN,  /* taken back: cancelled, failed or held by whoever asked for it */
};

/* Why a job does not run, as the policy said it (rule 6 of the design). */
enum why {
	WHY_NONE,
	WHY_NEW,        /* nobody has decided yet */
	WHY_BUSY,       /* needs `need` devices, `have` are free */
	WHY_FRAGMENTED, /* enough are free, but not where the placer wants them */
	WHY_BEHIND,     /* `other` is ahead and does not fit; the queue keeps its order */
	WHY_RESERVED,   /* would delay the reservation of `other` */
	WHY_OUTRANKED,  /* runs if it comes before `other`, which holds the devices */
	WHY_SHARE,      /* its tenant is above its share */
	WHY_ROUND,      /* waits for the next round */
	WHY_TURN,       /* others are owed the devices first */
	WHY_ADMISSION,  /* held back by admission */
	WHY_DEPENDENCY, /* `other` has not ended */
	WHY_NODE_LOST,  /* its node failed */
	WHY_DOWN,       /* needs `need` devices, nodes with `have` are up */
	WHY_TOO_LARGE,  /* needs `need` devices, no type ever has more than `have` */
	WHY_NO_TYPE,    /* no device type here is one it can run on */
	WHY_NO_HOST,    /* no nodes have the CPUs and memory, or lie as the placer wants */
	WHY_ORPHANED,   /* `other`, which it follows, will never finish */
	WHY_YIELDED,    /* it gave its devices back by itself */
	WHY_DEADLINE, /* its deadline cannot be promised; `need` devices at once would do (0: none), or the deadline `at_s` */
	WHY_RECALLED, /* its node was borrowed and went back */
	WHY_DRAINED,  /* needs `need` devices, `have` are up and not drained */
	WHY_AVOIDS,   /* `have` are free where it failed before; it waits for `need` others */
	WHY_OUTSIDE,  /* whoever schedules outside has not started it */
	WHY_QUOTA, /* its tenant has `have` devices left of its quota (and of what it may borrow), it needs `need` */
	WHY_CELLS, /* its tenant's cells have `have` devices left that lie as it wants them, it needs `need` */
	WHY_CLOSER,    /* it waits for a closer place until at_s */
	WHY_RECLAIMED, /* it had borrowed devices that `other` had a right to */
	WHY_COUNT
};

struct reason {
	enum why why;
	int32_t need, have;
	uint32_t other; /* a job, or JOB_NONE */
	double at_s; /* WHY_DEADLINE: the earliest deadline that could be kept; WHY_ROUND, WHY_CLOSER: when it is, if known; else 0 */
	/*
	 * WHY_SHARE: what its tenant has over what it should have, and the same of the tenant of `other`; 0: not known.
	 * WHY_TURN: seconds that it is owed, and that `other` is, which goes first.
	 * WHY_QUOTA: devices that its tenant (or one above) has or asks for, of how many at most; 0: others keep theirs;
	 * below 0: it may have none at all.
	 * WHY_RECLAIMED: devices that its tenant had, of how many guaranteed.
	 */
	double share, against;
};

struct job {
	/* asked: set once, by the trace or the submitter */
	uint32_t id;       /* dense, in order of submission */
	const char *label; /* the trace's own id */
	const char *name;  /* may be NULL */
	uint32_t tenant;   /* index in the trace's names, NAME_NONE if none */
	uint32_t model;    /* likewise */
	double arrival_s;
	int32_t gpus;                 /* a fixed gang, or what it would like */
	int32_t min_gpus, max_gpus;   /* equal to gpus when it is not elastic */
	uint32_t nodes;               /* that it runs on, as many devices on each; 0: as it comes */
	const uint16_t *gpus_by_type; /* its gang where that depends on the type; see job_gpus_on() */
	const uint32_t *units; /* by type, where it runs in multiples of so many devices only; see job_unit_on() */
	uint32_t types;   /* bit per cluster type it may use; 0: any */
	uint32_t class_;  /* enum job_class */
	double weight;    /* 1 unless said */
	int32_t priority; /* larger runs first where a policy looks at it */
	int32_t batch;    /* total batch size, 0: unknown */
	const struct adaptation *adapts; /* how its batch changes as it trains (model/regime.h); NULL: not at all */
	double deadline_s; /* INFINITY: none */
	double limit_s;    /* it is ended once it has held devices for so long; 0: never */
	double cpus;       /* of the whole job, spread evenly over its devices; 0: none */
	int64_t mem_bytes; /* likewise */
	const struct slot *avoid; /* devices it shall not be put on where there are others: it failed there */
	uint32_t navoid;
	const struct node_share *pins; /* where somebody else runs it now, for policies that follow; NULL: nowhere */
	uint32_t npins;
	double share;          /* of each device's compute, below 1; 0: whole devices */
	int64_t gpu_mem_bytes; /* of each device, where it shares them; 0: not said */
	double util; /* part of each device's compute that it keeps busy when alone; 0: not said */
	double moves_Bps; /* between its host and each device while it runs alone beside its host; 0: not said */
	double calls_ps; /* likewise: calls a second that wait for the device's answer */
	int32_t stays;   /* 1: it cannot be moved, nor stopped for somebody's convenience */
	uint32_t first_dep, ndeps; /* in the trace's list: jobs that must finish first */
	double start_cost_s;       /* before the first step of the first start */
	double resume_cost_s;      /* save and restore around a preemption or migration */
	double resize_cost_s;
	double checkpoint_every_s; /* a lost node costs at most this much; 0: only on preemption */
	bool by_steps;             /* work is in real steps; else in seconds at nominal speed */
	bool trained; /* its efficiency is of measured training; else it is 1 and says nothing */
	bool stop_loses; /* being stopped costs it what it did since it last saved; it has not shown otherwise */
	uint8_t measured_on; /* 1 + the cluster type where its run time was measured; 0: the first it may use */

	/* belief: what the scheduler was told or has learnt */
	double work_est;     /* steps in all */
	double nominal_rate; /* steps per second when it runs as asked */
	double epochs; /* the user's maximum, 0: unknown; progress is seen in whole epochs if set */

	/* state: the engine writes */
	enum job_state state;
	struct reason reason;      /* why it does not run now */
	const struct grant *grant; /* NULL unless it runs; borrowed from the plan */
	uint32_t attempts;         /* starts so far */
	uint32_t preemptions, migrations, resizes, failures;
	uint32_t restarts; /* after its first start: starts, moves and resizes that it noticed */
	uint32_t company;  /* other jobs on its devices now */
	double lent_gpus;  /* of its devices, what belongs to them: half of one that two share */
	double start_s;    /* first start; NAN before */
	double finish_s;   /* NAN before */
	double held_s;     /* when the present grant began; NAN unless running */
	double ready_s;    /* when it began (or begins) to make steps on it */
	double counted_s;  /* the totals below hold everything up to here; NAN unless running */
	double rate;       /* steps per second observed on it */
	double efficiency; /* what a sample is worth now, against one of its model's initial batch */
	double turn_end_s; /* when its turn ends and it makes no more steps; INFINITY: it has no turns */
	double turn_steps;   /* that count then, whatever the rate says */
	double wait_since_s; /* when it last began to wait */
	uint32_t regime; /* of those it adapts to: its present batch, in which steps are counted */

	/* totals up to the last change of its grant; use the functions below for "now" */
	double done;     /* steps */
	double saved;    /* of these, what outlives a kill: as told with its last checkpoint */
	double ran_s;    /* seconds making steps */
	double served_s; /* GPU-seconds making steps; a device shared by two counts half for each */
	double waited_s; /* seconds without devices */
	double overhead_s; /* seconds holding devices without making steps */
	double occupied_s; /* GPU-seconds holding devices, making steps or not; shared ones as in served_s */
	double eff_s;      /* integral of the efficiency over served_s */
	double worth_s;    /* its steps in GPU-seconds of running as asked */
	double lost_s;     /* seconds of work done again after failures */
	double lost_gpu_s; /* the same in GPU-seconds */
	double fair_s;     /* seconds it would take alone on its fair part of the cluster */
};

/* How much of it is behind us at `now_s`, running or not. */
double job_done(const struct job *job, double now_s);  /* steps */
double job_ran_s(const struct job *job, double now_s); /* seconds */
double job_served_s(const struct job *job, double now_s); /* GPU-seconds: two-dimensional attained service */
double job_occupied_s(const struct job *job, double now_s); /* GPU-seconds, restarts included */
double job_waited_s(const struct job *job, double now_s);
/* Seconds for which it may still hold devices; INFINITY: it has no limit. */
double job_limit_left_s(const struct job *job, double now_s);
/* Seconds of work that stopping it now would throw away. */
double job_at_stake_s(const struct job *job, double now_s);

/* Believed run time as asked: in all, and what is left.  The latter is negative once the belief has proved too short. */
double job_run_s(const struct job *job);
double job_remaining_s(const struct job *job, double now_s);

/*
 * Devices of a type that make one replica of it: pipelines of hybrid-parallel models are several, and
 * such a job takes multiples of them only (its gpus, min_gpus and max_gpus as rounded below).
 */
static inline uint32_t job_unit_on(const struct job *job, uint32_t type)
{
	return job->units && job->units[type] > 1 ? job->units[type] : 1;
}

/* So many devices as the type can be had of: rounded up to whole units, down where that is more than it takes. */
uint32_t job_rounded_on(const struct job *job, uint32_t type, uint32_t gpus);

/*
 * Devices it runs on if they are of `type`: `gpus`, unless a model too large for one device of some
 * types makes that depend on the type.  gpus_by_type is NULL, or has TYPES_MAX numbers (0: `gpus`) by
 * type of the trace and, once it is submitted, of the cluster; such a job is not elastic.
 */
static inline uint32_t job_gpus_on(const struct job *job, uint32_t type)
{
	if (job->gpus_by_type && job->gpus_by_type[type])
		return job->gpus_by_type[type];
	return job->units ? job_rounded_on(job, type, (uint32_t)job->gpus) : (uint32_t)job->gpus;
}

/* The fewest and the most of one type; equal unless it is elastic. */
static inline uint32_t job_least_on(const struct job *job, uint32_t type)
{
	if (job->gpus_by_type)
		return job_gpus_on(job, type);
	return job->units ? job_rounded_on(job, type, (uint32_t)job->min_gpus)
			  : (uint32_t)job->min_gpus;
}

static inline uint32_t job_most_on(const struct job *job, uint32_t type)
{
	if (job->gpus_by_type)
		return job_gpus_on(job, type);
	return job->units ? job_rounded_on(job, type, (uint32_t)job->max_gpus)
			  : (uint32_t)job->max_gpus;
}

static inline bool job_may_use(const struct job *job, uint32_t type)
{
	return job->types == 0 || (job->types >> type & 1);
}

/* Whether it takes but a part of each of its devices, so that others of that kind may have the rest. */
static inline bool job_is_fraction(const struct job *job)
{
	return job->share > 0 && job->share < 1;
}

/* GPU-seconds of service that a second of running as asked counts for. */
static inline double job_width(const struct job *job)
{
	return job_is_fraction(job) ? job->gpus * job->share : job->gpus;
}

static inline bool job_active(const struct job *job)
{
	return job->state == JOB_PENDING || job->state == JOB_RUNNING;
}

static inline bool job_ended(const struct job *job)
{
	return job->state >= JOB_FINISHED;
}

/* What is believed of the job and what it has saved, as `from` has it; nothing of where it stands. */
void job_take_belief(struct job *job, const struct job *from);

/* Whether it finished by its deadline; rounding is nobody's fault. */
bool job_met_deadline(const struct job *job);

/* Sets the fields of a job that nothing is known of: one device, weight 1, no deadline, not started. */
void job_init(struct job *job);

/* "pending", "running", … */
const char *job_state_name(enum job_state state);
/* A short word for a cause ("busy"), and what it means in a few. */
const char *why_name(enum why why);
const char *why_meaning(enum why why);
/* `other` is how the job it speaks of is called, e.g. "job 7"; NULL: "another job". */
void reason_text(const struct reason *reason, const char *other, struct buf *out);
/* The same at a moment, from which times are told. */
void reason_text_at(const struct reason *reason, const char *other, double now_s, struct buf *out);

#endif
