/*
 * Matching of greatest weight in any graph.
 *
 * Edmonds' blossom method with prices for vertices and odd sets, one search
 * per pair: vertices x edges x log steps at most.  Weights are rounded to whole
 * multiples of 2^-44 of the power of two above the greatest, and from there on
 * everything is exact: weights that are whole numbers below 2^44 are not rounded at all.
 *
 * An answer is given only if the prices prove it.  Should they ever not, the
 * program is solved as an integer program (solver/lp.h) instead.
 */
#ifndef SOLVER_MATCHING_H
#define SOLVER_MATCHING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MATCHING_MOST_VERTICES = 16384 };

#define MATCHING_ALONE UINT32_MAX

struct matching_edge {
	uint32_t a, b; /* different vertices; there may be several edges between two */
	double weight; /* finite, at least 0 */
};

struct matching {
	uint32_t vertices; /* at most MATCHING_MOST_VERTICES */
	const struct matching_edge *edges;
	size_t n_edges;
	bool most_pairs; /* as many pairs as possible; weight decides among those only */
};

/*
 * Fills mate_of by vertex: the other of its pair, or MATCHING_ALONE.  The
 * answer depends on the problem alone; which of several equal ones it is, is
 * not promised.  False, and nothing is written, if neither method can prove
 * an answer, which is not known to happen.
 */
bool matching_solve(const struct matching *m, uint32_t *mate_of);

#endif
