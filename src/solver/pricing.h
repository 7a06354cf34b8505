/*
 * Pairs by pricing: the default way, for many jobs.
 *
 * Of all the pairs only some hundreds are worth anything.  A program with the
 * single jobs and a few pairs is solved by the simplex method; the prices it
 * ends with tell of every other pair whether it would help, those that would
 * help most are added, and so on until a bound proves that no pair can help.
 *
 * Jobs that are alike should be given as one with a count: 500 jobs of 26
 * models are then 26 jobs.  Sharing evenly among those that are alike loses
 * nothing, and pricing_spread() says who shares with whom.
 */
#ifndef SOLVER_PRICING_H
#define SOLVER_PRICING_H

#include "solver/pairs.h"

/*
 * A corner of the optimal face.  OPTIMAL: x keeps limits and capacities to
 * rounding, and `residual`, the larger of the violation of other rows and the
 * proved distance from the best objective, relative to that or to a thousandth of
 * the most that a share is worth, is at most 1e-6, mostly far below.  INFEASIBLE and UNBOUNDED are proved.  STALLED: the simplex method
 * failed; where the residual is finite there is an answer that good.
 * `iterations` counts the programs solved.
 */
void pricing_solve(const struct pair_program *program, struct pair_answer *answer);

/* Two of an entry's jobs, or one, and which part of the entry's shares is theirs. */
struct pair_part {
	uint32_t a, b; /* numbers among the entry's a and b, below their counts; b: PAIR_NONE for a single */
	double part;
};

/*
 * Spreads an entry over the jobs it stands for, so that all of one kind have
 * equal sums.  Writes at most count[a] + count[b] parts, which add up to 1.
 * What a pair of alike jobs is worth must be the same for both.
 */
uint32_t pricing_spread(const struct pair_program *program, uint32_t entry, struct pair_part *parts);

#endif
