/*
 * How many devices each job shall have, made into a plan: what policies that
 * reckon in numbers of devices share.
 */
#ifndef POLICY_ELASTIC_PORTION_H
#define POLICY_ELASTIC_PORTION_H

#include "policy/policy.h"

struct portion {
	const struct job *job;
	uint32_t type;
	uint32_t gpus; /* 0: it waits */
	bool firm;     /* neither more nor fewer will do */
};

/*
 * Takes back changes that are not worth what they cost, before the plan is made:
 *	whoever is still being started or restored stays as it is, else it might never make a step;
 *	whoever would get more, or go to another type, does so only if that pays (`costs`) until its next
 *	change, which is believed to come as soon as those before came.
 * Devices that others were to start with, or keep, or are firm about, it gives up all the same.  Wakes the
 * policy when the answer may be another.
 */
void portions_calm(const struct round *round, struct plan *plan, struct portion *at, uint32_t n,
	bool costs);

/*
 * Edits the plan so that it runs them.  Who keeps its number on its type keeps its devices; who shrinks
 * gives back the devices that lie most apart; the rest are placed, the largest first.  A job for which the
 * placer finds no room so gets fewer devices, or another type.  What is left goes to those that wait, in
 * the order given, each as few as it takes; whoever still waits is told why.
 */
void portions_run(const struct round *round, struct plan *plan, const struct portion *at, uint32_t n);

/* Says why `job` waits: there is no room even for the fewest devices it takes. */
void portion_wait(const struct round *round, struct plan *plan, const struct job *job);

/* Fewer devices of those that it has, the fewest of a node first to go.  False: it cannot be. */
bool portion_shrink(const struct round *round, struct plan *plan, const struct job *job, uint32_t gpus);

#endif
