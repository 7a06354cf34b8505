/*
 * The smallest value of a smooth function of a few numbers that lie between
 * bounds: limited-memory quasi-Newton steps with projection (L-BFGS-B).
 *
 * It is meant for small fits that are done thousands of times: no allocation,
 * and the approximate Hessian is kept whole, which is cheap up to
 * BOUNDED_MAX numbers.  What it finds is a local minimum.
 */
#ifndef SOLVER_BOUNDED_H
#define SOLVER_BOUNDED_H

#include <stdint.h>

#define BOUNDED_MAX 16u

struct bounded_problem {
	uint32_t n; /* 1 .. BOUNDED_MAX */
	/* low[i] == high[i] pins a number; INFINITY and -INFINITY leave it free. */
	double low[BOUNDED_MAX], high[BOUNDED_MAX];
	/* Value at x; fills the gradient. */
	double (*value)(const void *self, const double *x, double *gradient);
	const void *self;
};

struct bounded_options {
	double value_tolerance;    /* ends when a step gains less than this times max(|value|, 1) */
	double gradient_tolerance; /* ends when no entry of the projected gradient is larger */
	uint32_t steps_max;        /* 0: 15000 */
};

struct bounded_result {
	double value;
	uint32_t steps, evaluations;
};

/* `x` is where to begin (moved between the bounds if it is not), and receives the best point found. */
struct bounded_result bounded_minimise(const struct bounded_problem *problem,
	const struct bounded_options *options, double *x);

#endif
