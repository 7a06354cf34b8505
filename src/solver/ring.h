/*
 * The widest ring: a closed tour through given vertices of a complete graph
 * whose narrowest edge is as wide as can be.
 *
 * Vertices are bits, w[i * n + j] is the width of an edge.  Of two vertices the
 * ring is their edge; one alone has none.
 */
#ifndef SOLVER_RING_H
#define SOLVER_RING_H

#include <stdint.h>

/* The narrowest edge of the widest ring through all of `set`; 0 for fewer than two. */
double ring_widest(const double *w, uint32_t n, uint64_t set);
/* The same of the best of all sets of k vertices. */
double ring_widest_of(const double *w, uint32_t n, uint32_t k);

#endif
