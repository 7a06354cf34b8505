/*
 * Least squares whose unknowns may not be negative (Lawson and Hanson, 1974).
 *
 * Rows are given one by one and folded into a triangle by rotations, so that
 * any number of measurements takes the same small room and no heap memory.
 */
#ifndef SOLVER_NNLS_H
#define SOLVER_NNLS_H

#include <stdint.h>

#define NNLS_MAX 8 /* unknowns */

struct nnls {
	uint32_t n;
	double rows[NNLS_MAX][NNLS_MAX + 1]; /* a triangle, and the right-hand side */
	double rest;                         /* squared error that no x takes away */
};

/* `n` unknowns, no rows. */
void nnls_init(struct nnls *problem, uint32_t n);
/* row . x should be `rhs`. */
void nnls_add(struct nnls *problem, const double *row, double rhs);
/*
 * The x >= 0 of least squared error, which is returned.  Where several are best (columns that depend on
 * each other) it is one of few unknowns above 0: columns that add nothing stay 0.
 */
double nnls_solve(const struct nnls *problem, double *x);

#endif
