/*
 * Habits: what jobs that have ended tell of those that have not, and of those
 * still to come.
 *
 * How long a job takes is drawn from how such jobs went before: the more is known
 * of it, the closer.  What it has done already counts: it never takes less.
 *
 *	it reports steps     its own total, and a little
 *	it has an estimate   the estimate times how estimates about as long came out, of its
 *	                     tenant or of all
 *	neither              how long jobs of its tenant, or of all, ran
 *
 * Who comes is drawn as stretches of the past, one after the other, so that
 * bursts stay bursts; from the same time of day where the past is long enough.
 */
#ifndef SIM_HABITS_H
#define SIM_HABITS_H

#include "base/names.h"
#include "base/rng.h"
#include "base/vec.h"
#include "sim/future.h"

enum { HABITS_MAX = 4000 }; /* the last so many count */

/* A job of the past.  It is a copy without anything it points to. */
struct habit {
	struct job job; /* as asked, work_est as believed when it came; tenant by the number here */
	double work;    /* steps it really was */
	bool estimated; /* work_est was told by somebody */
	uint32_t sequence; /* of when it was added */
};

struct habits {
	VEC(struct habit) past; /* by arrival once settled */
	struct names tenants;
	uint32_t next; /* sequence */
	bool settled;
	/* for drawing: of all, then of each tenant */
	struct habit_values *runs;     /* sorted */
	struct habit_guesses *guesses; /* by estimate */
};

/* A zeroed one is valid and empty. */
void habits_fini(struct habits *habits);

/* One that has ended.  `tenant` may be NULL. */
void habits_add(struct habits *habits, const struct job *job, const char *tenant, double work,
	bool estimated);

/* After the last was added, before anything is drawn. */
void habits_settle(struct habits *habits);

enum { HABITS_LIKELY = 64 };

/* What a job of the snapshot may be in all, in steps: as many as likely as others, rising; at least what it has done. */
void habits_likely_work(const struct habits *habits, const struct snapshot *snapshot,
	const struct snapshot_job *one, struct rng *rng, double out[HABITS_LIKELY]);
/* The number of its tenant among the habits'; NAME_NONE: none is known. */
uint32_t habits_tenant(const struct habits *habits, const struct snapshot *snapshot,
	const struct job *job);

/*
 * Those who come after the snapshot: at most `most`, none later than `until_s`, by arrival.
 * Returns how many.
 */
uint32_t habits_draw_arrivals(const struct habits *habits, const struct snapshot *snapshot,
	double until_s, struct rng *rng, struct future_arrival *out, uint32_t most);

#endif
