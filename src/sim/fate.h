/*
 * What one future has in store: how much work every job of a snapshot is, and
 * who comes later.  The same seed and number give the same fate, so that two
 * futures can differ in one thing alone.
 *
 * Jobs of a tenant err together: whoever starts twenty runs of one experiment is
 * wrong about all of them.  So what each job is drawn to be depends in part on a
 * number that its tenant has in this future.
 */
#ifndef SIM_FATE_H
#define SIM_FATE_H

#include "model/calibration.h"
#include "sim/habits.h"

struct fate {
	const struct snapshot *from;
	const struct habits *habits;
	double *likely;   /* HABITS_LIKELY of each job */
	uint32_t *tenant; /* by job: its tenant's number; NAME_NONE: it stands alone */
	double *work;     /* by job */
	struct future_arrival *arrivals;
	uint32_t narrivals, most;
};

/* Keeps both; the habits are settled. */
void fate_init(struct fate *fate, const struct snapshot *from, const struct habits *habits,
	uint64_t seed);
void fate_fini(struct fate *fate);

/* No future goes further than this from now. */
#define FATE_HORIZON_S (30 * 86400.0)

/* How many futures are run, and how long that may take. */
struct fate_course {
	uint32_t wanted;         /* as many if there is time */
	uint32_t least;          /* as many also beyond the budget, up to four times of it */
	double budget_s;         /* of the clock; 0: as long as it takes */
	const atomic_bool *stop; /* gives up when it is set; NULL: never */
	uint64_t seed;
	double until_s;
};

/* Runs what is drawn; gives up at `last_s` of clock_wall_s() with ERR_TIMEOUT, 0: never. */
typedef int fate_run(void *ctx, double last_s, struct err *err);

/* Draws one future after the other and has it run.  Returns how many were, at least one; < 0: ERR_*. */
int fate_run_all(struct fate *fate, const struct fate_course *course, fate_run *run, void *ctx,
	struct err *err);
/* When a course that begins now gives up, for fate_run. */
double fate_last_s(const struct fate_course *course);
/*
 * `said` of the end of a job, but no later than its time limit and grace after `start`, or than the futures had it:
 * they know of preemptions.  Corrections make intervals wider than that.
 */
struct moments fate_within_limit(const struct moments *said, const struct moments *raw,
	const struct moments *start, const struct snapshot_job *one);
bool fate_stopped(const struct fate_course *course);

void fate_draw(struct fate *fate, double until_s, uint64_t seed, uint32_t number);
/* All run as long as was said, and nobody comes. */
void fate_as_said(struct fate *fate);

#endif
