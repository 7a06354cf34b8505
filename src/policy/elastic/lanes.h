/*
 * Which type each job is to be on, for policies that count devices of one
 * type: their papers know but one, so each type is a cluster of its own to
 * them, a lane.
 *
 * A job goes where an even share with those who are there makes it fastest,
 * not where it would be fastest alone.  An elastic job that runs changes its
 * lane if it is believed to be over sooner by that although it restarts; gangs
 * that run stay, and so does who is restarting.
 *
 * In a lane nobody has less than its least nor more than it gains by, and
 * between these all have the same; where not even the least of all fit they
 * take turns, each as fast as its part of the time is long.
 */
#ifndef POLICY_ELASTIC_LANES_H
#define POLICY_ELASTIC_LANES_H

#include "model/round.h"

struct lanes {
	const struct round *round;
	const uint32_t *room; /* devices to be shared, by type */
	/* Most devices of the type that the policy would give the job; NULL: what the job takes. */
	uint32_t (*most)(const void *self, const struct round *round, const struct job *job,
		uint32_t type);
	const void *self;
	bool blind; /* not to look at run times: it will run for as long again as it is old */
};

/*
 * Types of `n` jobs, those before choosing first: in goes the one that a job has, TYPES_MAX if it has none,
 * out comes the one it shall have, TYPES_MAX if there is none that it fits on.
 */
void lanes_choose(const struct lanes *lanes, const struct job *const *jobs, uint32_t n,
	uint32_t *types);

#endif
