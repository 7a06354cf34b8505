/*
 * Multiple-choice knapsack: of each group at most one item, the most value in
 * all, weights within the capacity.
 *
 * Exact, by dynamic programming over groups and capacity in
 * O(capacity x items).  Of choices of equal value the one with less weight is
 * taken; of those the one in which the earlier group has the larger item.
 */
#ifndef SOLVER_KNAPSACK_H
#define SOLVER_KNAPSACK_H

#include <stdint.h>

#include "base/mem.h"

#define KNAPSACK_NONE UINT32_MAX

struct knapsack_item {
	uint32_t weight; /* above 0 */
	double value;    /* items of 0 or less are never taken */
};

/* Items of one group, in any order. */
struct knapsack_group {
	const struct knapsack_item *items;
	uint32_t n;
};

/*
 * Writes the chosen item of each group (KNAPSACK_NONE: none) and returns the value.  `scratch` is used for
 * groups x capacity words and more; what it holds stays.
 */
double knapsack_solve(const struct knapsack_group *groups, uint32_t ngroups, uint32_t capacity,
	struct arena *scratch, uint32_t *chosen);

#endif
