/*
 * A policy: who runs now.  One file, one table entry, one line in policies.def.
 *
 * decide() is pure: it reads the round and edits the plan; its own memory is
 * its state (options first) and job_state.  No clock, no I/O, no globals.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "base/err.h"
#include "base/option.h"
#include "model/compat.h"
#include "model/figure.h"
#include "model/round.h"
#include "placement/plan.h"

struct program;
struct shares;

enum policy_traits {
	POLICY_PREEMPTS = 1 << 0,  /* may stop a running job */
	POLICY_ESTIMATES = 1 << 1, /* looks at believed run times */
	POLICY_RANDOM = 1 << 2,    /* uses the generator */
	POLICY_SHARES = 1 << 3,    /* may put two jobs on the same devices */
	POLICY_MIXES = 1 << 4,     /* may give a job devices of several types */
	POLICY_AHEAD = 1 << 5,     /* looks at jobs that wait for others (model/family.h) */
	POLICY_POOLS = 1 << 6, /* may give a job devices of nodes other than its process runs on */
	POLICY_RENTS = 1 << 7, /* rents nodes and gives them back; rentable ones are not there before */
	POLICY_QUOTAS = 1 << 8, /* keeps quotas itself, without the admission rule */
};

/* What submissions may say that not every policy goes by. */
enum policy_uses {
	USES_PRIORITY = 1 << 0,
	USES_WEIGHT = 1 << 1, /* the job's own */
	USES_DEADLINE = 1 << 2,
	USES_RANGE = 1 << 3, /* fewest and most devices */
};

/* What a job is called elsewhere. */
struct renumbering {
	uint32_t (*number)(const void *ctx, uint32_t job); /* JOB_NONE: it is not there */
	const void *ctx;
};

struct policy {
	const char *name;
	const char *summary; /* one line */
	const char *origin;  /* the paper, or NULL: folklore */
	const char *family;  /* order, fair, hetero, … */
	unsigned traits;
	unsigned uses; /* what it goes by of what submissions may say (enum policy_uses) */
	const struct option *options; /* NULL: none */
	size_t state_size;
	size_t job_state_size; /* zeroed bytes per job, in round.job_state; 0: none */
	/* Checks options together and prepares the state.  NULL: nothing to do. */
	int (*init)(void *self, struct err *err);
	/* Which of `uses` it goes by under the options it has.  NULL: all, whatever they are. */
	unsigned (*uses_now)(const void *self);
	/* Releases what init or decide took.  NULL: nothing to do. */
	void (*fini)(void *self);
	/* Seconds between decisions: it decides at multiples of this only.  NULL or 0: at every event. */
	double (*period_s)(const void *self);
	/*
	 * The shares of time it would choose now (policy/hetero/program.h), without changing what it will
	 * decide; everything in the arena of the round.  NULL: it does not work by shares.
	 */
	int (*shares)(void *self, const struct round *round, const struct plan *plan,
		struct program *program, struct shares *shares, struct err *err);
	/* Numbers about the run so far; returns how many.  NULL: none. */
	uint32_t (*figures)(const void *self, struct figure out[FIGURES_MAX]);
	/*
	 * Which published simulator's rules the world shall follow too (model/compat.h): its answer to the
	 * option `compat`.  NULL: none.
	 */
	enum compat (*compat)(const void *self);
	/* Whether it knows no types: what a job shows of itself on one counts for all.  NULL: it knows them. */
	bool (*typeless)(const void *self);
	/*
	 * Seconds that a change of size costs a measured job under it where nobody set it by hand: some resize
	 * without a checkpoint.  NULL or NAN: as much as a restart.
	 */
	double (*resize_s)(const void *self);
	/*
	 * Asked of a job that admission lets in: false refuses it for good, with the reason (what would
	 * make it fit).  A job whose id is JOB_NONE is only asked about, beside those of round.asked:
	 * nothing may change.  One that is not welcome may be let in all the same, without a promise.
	 * NULL: everybody is welcome.
	 */
	bool (*welcome)(void *self, const struct round *round, const struct job *job,
		struct reason *why);
	/*
	 * `n` of the nodes on loan (round.on_loan) go back now: writes which, each once.  Jobs with
	 * enough devices elsewhere go on with these, others are stopped.  NULL: those with the fewest jobs.
	 */
	void (*recall)(void *self, const struct round *round, uint32_t n, uint32_t *nodes);
	/*
	 * What it remembers beyond the totals of jobs that have not ended, as bytes (malloc'ed; returns how many), and
	 * another state of the same options that begins with these: for trials of what it would decide.  `memory` is
	 * its bytes per job.  NULL: nothing, or trials begin without.
	 */
	size_t (*remember)(const void *self, const struct job *jobs, uint32_t njobs,
		const void *memory, void **out);
	void (*resume)(void *self, const void *bytes, size_t n);
	/*
	 * Its bytes per job go to such trials as they are, but for the numbers of other jobs in them: these have others
	 * there.  policy_carry where there are no such numbers; NULL: trials begin with zeros.
	 */
	void (*carry)(void *memory, const struct renumbering *renumbering);
	/* What a daemon would need that none has, if it can decide in simulations only.  NULL: it can decide live, too. */
	const char *simulated_for;
	/* Who decides in trials and forecasts, where this one cannot: it only follows somebody.  NULL: itself. */
	const char *stand_in;
	/* Edits the plan.  Required. */
	int (*decide)(void *self, const struct round *round, struct plan *plan, struct err *err);
};

extern const struct policy *const policies[]; /* NULL-terminated, by name */
extern const struct policy policy_observed;   /* found by its name, and not among them */
/* For policy.carry: nothing has to change. */
void policy_carry(void *memory, const struct renumbering *renumbering);
/* What submissions say that it goes by; `self` has its options. */
unsigned policy_uses(const struct policy *policy, const void *self);
const struct policy *policy_find(const char *name, struct err *err); /* NULL with "did you mean" */

#endif
