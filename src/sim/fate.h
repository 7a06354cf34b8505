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

void fate_draw(struct fate *fate, double until_s, uint64_t seed, uint32_t number);
/* All run as long as was said, and nobody comes. */
void fate_as_said(struct fate *fate);

#endif
