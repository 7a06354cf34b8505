/*
 * What one future has in store: how much work every job of a snapshot is, and
 * who comes later.  The same seed and number give the same fate, so that two
 * futures can differ in one thing alone.
 */
#ifndef SIM_FATE_H
#define SIM_FATE_H

#include "sim/habits.h"

struct fate {
	const struct snapshot *from;
	double *work; /* by job */
	struct future_arrival *arrivals;
	uint32_t narrivals, most;
};

/* Keeps `from`. */
void fate_init(struct fate *fate, const struct snapshot *from);
void fate_fini(struct fate *fate);

void fate_draw(struct fate *fate, const struct habits *habits, double until_s, uint64_t seed,
	uint32_t number);
/* All run as long as was said, and nobody comes. */
void fate_as_said(struct fate *fate);

#endif
