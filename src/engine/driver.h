/*
 * The world the engine schedules: simulated, this machine, or Slurm.
 *
 * The engine reads no clock; it waits for the next event.  A simulator
 * answers at once and jumps there, a live driver blocks until it is true.
 * All parts are required but the last.
 */
#ifndef ENGINE_DRIVER_H
#define ENGINE_DRIVER_H

#include "base/err.h"
#include "model/event.h"
#include "model/job.h"
#include "model/round.h"

enum act {
	ACT_START,  /* begin (or resume) `job` on `grant` */
	ACT_STOP,   /* save and stop it; it keeps what it has done */
	ACT_CHANGE, /* go on with other devices: a migration or a resize */
	ACT_RENEW,  /* go on where it is, on other terms (batch, share, turn) or in other company */
};

struct action {
	enum act act;
	double now_s;
	const struct job *job;          /* before the action */
	const struct grant *grant;      /* the devices it shall have; NULL for ACT_STOP */
	const struct neighbour *beside; /* who shares its devices from now on */
	uint32_t nbeside;
	/* of a start or a stop that is not the policy's doing: the rule that keeps promises, and why a job must go */
	const char *rule; /* NULL: it is the policy's */
	struct reason why;
	/* answered by the driver */
	double done;    /* steps that are safe now */
	double ready_s; /* when it makes its next step (not for ACT_STOP) */
	double rate;    /* steps per second expected or observed there */
	double efficiency; /* what a sample is worth there, against one of the model's initial batch; 1: as much */
	bool seamless; /* it went on without being restarted */
	double turn_steps; /* for a grant that is a turn: the steps it will have made when the turn ends */
};

struct driver {
	const char *name;
	/* The next event not after `until_s`, or EV_TIMER at `until_s`; EV_END if nothing will come and until_s is infinite. */
	int (*wait)(void *self, double until_s, struct event *event, struct err *err);
	/* Carries out one action.  Stops come before the starts that need their devices. */
	int (*act)(void *self, struct action *action, struct err *err);
	/* Whether no job will be submitted any more. */
	bool (*over)(void *self);
	/* Whoever lends nodes brings one up: EV_NODE_UP with value 1 follows in its time.  NULL: nobody does. */
	int (*rent)(void *self, uint32_t node, double now_s, struct err *err);
	/* A node failed under `job`, which still shows what it held; answers the steps that survive in `done`. */
	int (*lost)(void *self, const struct job *job, double now_s, double *done, struct err *err);
	/*
	 * Jobs that will be submitted once others have ended, until the next call; `njobs` are in the engine.
	 * Returns how many.  NULL: they are submitted before, or nobody knows.
	 */
	uint32_t (*later)(void *self, uint32_t njobs, const struct later **out);
};

#endif
