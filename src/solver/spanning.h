/*
 * The tree over all points whose edges are shortest in sum (Prim).
 */
#ifndef SOLVER_SPANNING_H
#define SOLVER_SPANNING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * `length` is n x n and symmetric, INFINITY: no edge.  parent[i] is the point that `i` hangs on, 0 for
 * itself; of equal edges the one of the lowest points.  False: the points are not all connected.
 */
bool spanning_tree(const double *length, uint32_t n, uint32_t *parent);

#endif
