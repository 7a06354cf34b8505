/*
 * An interior point method on a homogeneous self-dual embedding.
 *
 *     minimise c'x   subject to   G x + s = h,  s in K
 *
 * where K is a product of half lines and of second-order cones of three rows.
 * The answer lies in the middle of the optimal face, not at a corner.  What G
 * looks like is the caller's: it multiplies by it and solves the Newton system
 *
 *     G' dy = a,   G dx - D dy = b
 *
 * D is diagonal on the half lines.  The loop, starting point, step rules and
 * stopping tests are here, once for every shape.
 */
#ifndef SOLVER_INTERIOR_H
#define SOLVER_INTERIOR_H

#include <stdbool.h>
#include <stdint.h>

enum interior_status {
	INTERIOR_OPTIMAL,
	INTERIOR_INFEASIBLE, /* proved by a certificate */
	INTERIOR_UNBOUNDED,  /* likewise */
	INTERIOR_STALLED,    /* no better answer to be had; see `residual` for how good the best one is */
};

/* How the shape multiplies and solves.  All parts are required. */
struct interior_shape {
	void (*times)(const void *self, const double *x, double *out);            /* G x */
	void (*transposed_times)(const void *self, const double *y, double *out); /* G' y */
	/* Prepares solve() for the diagonal d (and the scaling of cones); false: it broke down. */
	bool (*factor)(void *self, const double *d);
	void (*solve)(void *self, const double *a, const double *b, double *dx, double *dy);
};

#endif
