/*
 * Where Lyra puts workers, and which borrowed nodes it gives back.
 */
#ifndef POLICY_ELASTIC_LYRA_PLACE_H
#define POLICY_ELASTIC_LYRA_PLACE_H

#include "policy/elastic/portion.h"

/* Whether a node is not on loan. */
bool node_is_home(const struct round *round, uint32_t node);

/*
 * Puts portions into the plan, `base` of their devices on nodes that stay, the others on nodes on loan, as
 * far as there are such; best fit, the largest first; who runs keeps what it can.  Does nothing where no
 * node is on loan or jobs take parts of devices: whoever is not in the plan as it should be is the caller's.
 */
void lyra_place(const struct round *round, struct plan *plan, const struct portion *portions,
	const uint32_t *base, uint32_t n);

/* Which `n` of the nodes on loan go back; returns how many of them preempt nobody. */
uint32_t lyra_choose_returns(const struct round *round, uint32_t n, uint32_t *nodes);

#endif
