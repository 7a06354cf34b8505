/*
 * Those who lead the jobs of a run that do not go at one speed, as the policy
 * and its compatibility ask: the trainer with the agents it tells, and whoever
 * leads jobs through their regimes.
 */
#ifndef SIM_SCHOOL_H
#define SIM_SCHOOL_H

#include "engine/engine.h"
#include "sim/regimes.h"
#include "sim/sim.h"
#include "sim/trainer.h"
#include "sim/world.h"

struct school {
	struct agents *agents; /* NULL: nothing is known of how models train */
	struct trainer *trainer;
	struct regimes *regimes;
	bool oracle; /* policies know how models train; by published rules they never do */
};

/* Keeps what the configuration points to. */
void school_open(struct school *school, const struct sim_config *config,
	const struct chosen_policy *policy);
/* They lead the jobs of this world, which must not move afterwards; the school is closed after it. */
void school_join(struct school *school, struct world *world, const struct chosen_policy *policy);
void school_close(struct school *school);

#endif
