/*
 * Jobs whose batch size changes by epoch (model/regime.h), in the simulated
 * world.
 *
 * A job that runs on changes its batch, and with it its speed, at the epoch
 * for which that was profiled.  One that runs by turns does so between them.
 *
 * With COMPAT_SHOCKWAVE all jobs that say how they adapt (or that they do not)
 * live by the rules of the published simulator: a change is asked for at the
 * end of a turn and made at the end of the next, starting after a pause costs
 * 20 s of a turn, a job is ended by force when it has run half as long again as
 * profiled, and one that comes out of a change with nothing left to do has to
 * be scheduled five times before that is noticed.
 */
#ifndef SIM_REGIMES_H
#define SIM_REGIMES_H

#include "model/compat.h"
#include "model/rate.h"
#include "sim/pace.h"

struct regimes;

/* Keeps `truth`. */
struct regimes *regimes_create(const struct rates *truth, enum compat compat);
void regimes_destroy(struct regimes *regimes);

extern const struct pace regimes_pace;

#endif
