/*
 * Cutting a small graph in two parts of given sizes so that little is cut.
 *
 * By Fiduccia and Mattheyses: vertices move to the other side, the best first, each once, and the best
 * moment on the way is kept; again until nothing is gained.  From several beginnings.
 */
#ifndef SOLVER_BISECT_H
#define SOLVER_BISECT_H

#include <stdint.h>

/* Weight of the edges between `side` and the rest of `set`; w[i * n + j] is that of an edge, the same both ways. */
double bisect_cut(const double *w, uint32_t n, uint64_t set, uint64_t side);
/* `size` of the vertices of `set` that have little to do with the others; of cuts that are equal the lowest. */
uint64_t bisect(const double *w, uint32_t n, uint64_t set, uint32_t size);

#endif
