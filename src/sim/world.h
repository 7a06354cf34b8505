/*
 * The simulated world: who arrives when, how long work really takes, which
 * nodes fail.  It keeps the truth that policies do not see.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "base/heap.h"
#include "base/rng.h"
#include "base/vec.h"
#include "engine/driver.h"
#include "model/rate.h"
#include "sim/pace.h"
#include "sim/sim.h"

enum { PACES_MAX = 4 };

struct node_event {
	double at_s;
	uint32_t node;
	bool up;
};

/* A job that somebody leads. */
struct led {
	uint8_t by;     /* 1 + index in world.paces, 0: it goes at one speed */
	bool last;      /* it ends with its present stretch */
	bool late;      /* which ends after the decision at until_s */
	double until_s; /* the end of that */
	double work;    /* its steps in all */
	double safe;    /* of these, behind it when it got its devices */
	double ran_s;   /* seconds it had made steps by then */
	struct job job; /* as it was then */
};

struct world {
	const struct sim_config *config;
	struct rates truth;
	uint32_t type_of[32]; /* bit of the cluster for each type the trace names, 0: not there */
	struct arena gangs;   /* of jobs whose gang depends on the type */
	uint32_t next;        /* job of the trace to arrive next */
	struct job arriving;  /* as told to the engine */
	struct heap ends;     /* running jobs by when they finish */
	VEC(struct node_event) scripted; /* failures from a file, by time */
	size_t next_scripted;
	struct heap fates; /* drawn: nodes by when they next fail or are repaired */
	struct heap boots; /* nodes that were rented, by when they are up */
	VEC(bool) down;    /* by node, for the drawn ones */
	struct rng failure_rng;
	size_t next_loan; /* step of the loan to come */
	bool borrowing;   /* what is lent has been told once */
	uint64_t order;   /* breaks ties between ends: first started first */
	/* Who leads jobs that change their speed, asked in this order. */
	struct {
		const struct pace *pace;
		void *self;
	} paces[PACES_MAX];
	uint32_t npaces;
	VEC(struct led) led; /* by job; empty if there are no paces */
};

/* Somebody who leads jobs, from before the first event. */
void world_add_pace(struct world *world, const struct pace *pace, void *self);

extern const struct driver sim_driver;

int world_init(struct world *world, const struct sim_config *config, struct err *err);
void world_fini(struct world *world);

#endif
