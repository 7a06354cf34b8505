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
	double done;       /* steps behind it at its start */
	double rate;       /* steps per second in it */
	double until_s;    /* when it ends */
	bool last;         /* the job ends with it */
	bool late;         /* it ends after whoever decides at until_s has done so */
	double efficiency; /* what a sample is worth in it; 0: not known */
	/* Where steps are of another batch from now on: steps in all, the regime of job.adapts, the believed speed. */
	double work; /* 0: all as before */
	uint32_t regime;
	double nominal_rate;
};

struct pace {
	const char *name;
	/* Whether it leads this job (by id and model); asked once, at its arrival. */
	bool (*leads)(void *self, const struct job *job);
	/*
	 * Tells the scheduler of a job it leads, before its arrival: types, nominal_rate, costs as they shall
	 * be believed.  Returns its steps in all.  NULL: everything as the trace has it.
	 */
	double (*enter)(void *self, struct job *job);
	/*
	 * Seconds before the first step after `action`; NAN: as the job's own costs say; negative: it does
	 * not notice, and goes on with what it is about.
	 */
	double (*cost_s)(void *self, const struct action *action);
	/* It makes steps from action->ready_s on. */
	int (*begin)(void *self, const struct action *action, struct stretch *out, struct err *err);
	/* Its stretch ended at `now_s`, it was not the last. */
	int (*next)(void *self, const struct job *job, double now_s, struct stretch *out,
		struct err *err);
	/* It stops now; returns the steps behind it. */
	double (*stop)(void *self, const struct job *job, double now_s);
};

#endif
