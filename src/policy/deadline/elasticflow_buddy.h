/*
 * Packing by powers of two: where every node of a type has 2^k devices and
 * every job a power of two, the largest first always fit if there are enough
 * devices in all.  Who can stay stays; only if somebody does not fit then are
 * jobs moved together.
 */
#ifndef POLICY_DEADLINE_ELASTICFLOW_BUDDY_H
#define POLICY_DEADLINE_ELASTICFLOW_BUDDY_H

#include "policy/elastic/portion.h"

/*
 * Puts the portions of a type into the plan, `tight` ones (by portion) where they are.  Does nothing where
 * nodes or portions are not powers of two; whoever could not be put so is not in the plan as it should be.
 */
void buddy_run(const struct round *round, struct plan *plan, uint32_t type,
	const struct portion *portions, const bool *tight, uint32_t n);

#endif
