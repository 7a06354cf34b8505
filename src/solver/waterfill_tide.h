/*
 * The tide: what each job needs at each height of the water while nobody is
 * crowded out, given where it is and the most it could have.  For the files of
 * water filling only.
 *
 * Inside an entity the weight of a job that stops goes to those that still
 * rise, so needs are piecewise linear in the height; the heights at which a
 * job stops are the marks.
 */
#ifndef SOLVER_WATERFILL_TIDE_H
#define SOLVER_WATERFILL_TIDE_H

#include "solver/waterfill.h"

struct tide {
	const struct waterfill *program;
	uint32_t entities;
	uint32_t *first; /* [entities + 1] into order */
	uint32_t *order; /* [jobs] by entity, inside in the order of stopping */
	double *rise;    /* [jobs] by place in order: its entity's rise when it stops */
	double *stops;   /* [jobs] by place in order: height at which it stops */
	double *heavier; /* [jobs] by place in order: weight of those from here on */
	double *marks;   /* [jobs] all heights at which jobs stop, ascending */
};

void tide_init(struct tide *tide, const struct waterfill *program);
void tide_fini(struct tide *tide);

/* Plots it from height 0 on for jobs at `level` that may rise up to `limit`. */
void tide_plot(struct tide *tide, const double *level, const double *limit);

/* Everyone's need at a height, and how fast it grows from there. */
void tide_needs(const struct tide *tide, const double *level, const double *limit, double height,
	double *need, double *growth);

#endif
