/*
 * Jobs that do not go at one speed: a table of functions that tells the world,
 * stretch by stretch, how such a job goes on.
 *
 * The world asks begin() when the job gets devices (or other ones, or other
 * terms), next() when a stretch has ended, stop() when it loses them.  Between
 * these it goes at the rate told.  sim/trainer.c is one (goodput by epoch and
 * batch), sim/regimes.c another (batch sizes that change by epoch).
 */
#ifndef SIM_PACE_H
#define SIM_PACE_H

#include "engine/driver.h"

struct stretch {
	double done;    /* steps behind it at its start */
	double rate;    /* steps per second in it */
	double until_s; /* when it ends */
	bool last;      /* the job ends with it */
};

struct pace {
	const char *name;
	/* Whether it leads this job (by id and model); asked once, at its arrival. */
	bool (*leads)(void *self, const struct job *job);
	/* Seconds before the first step after `action`; NAN: as the job's own costs say. */
	double (*cost_s)(void *self, const struct action *action);
	/* It makes steps from action->ready_s on. */
	int (*begin)(void *self, const struct action *action, struct stretch *out, struct err *err);
	/* Its stretch ended at `now_s`, it was not the last. */
	int (*next)(void *self, const struct job *job, double now_s, struct stretch *out, struct err *err);
	/* It stops now; returns the steps behind it. */
	double (*stop)(void *self, const struct job *job, double now_s);
};

#endif
