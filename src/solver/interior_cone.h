/*
 * Rotated second-order cones of three rows inside the interior point method:
 * 2 a b >= c^2, a, b >= 0.  Turned by 45 degrees they are the usual ones; the
 * rotated form is kept because a and b may differ by many orders of magnitude,
 * and a sum and a difference of the two would not keep the smaller.
 *
 * Vectors are in planes: part p of cone i is at [p * cones + i].
 */
#ifndef SOLVER_INTERIOR_CONE_H
#define SOLVER_INTERIOR_CONE_H

#include <stdint.h>

#include "base/mem.h"

/* The Nesterov-Todd scaling W of every cone: W y = W^-1 s = lambda. */
struct cone_set {
	uint32_t cones;
	double *w2;     /* [6] W^2: 00, 01, 02, 11, 12, 22 */
	double *w;      /* [3] W^2 = eta2 (2 w w' - J) */
	double *eta2;   /* [1] */
	double *v;      /* [3] W = sqrt(eta2) (2 v v' - J) */
	double *lambda; /* [3] in unrotated coordinates, as the next */
	double *target; /* [3] what W^-1 ds + W dy shall be, negated */
};

void cone_init(struct cone_set *set, uint32_t cones, struct arena *work);

/*
 * Below, `many` is how many equal cones each stands for, all along their common
 * unit vector; NULL: 1.
 */

/* How far s is outside, the worst cone; negative: how far inside the one nearest to the border. */
double cone_outside(const double *s, const double *many, uint32_t cones);
/* Adds the identity times `by` to every cone. */
void cone_shift(double *s, const double *many, uint32_t cones, double by);

/* W = 1, for the starting point. */
void cone_unit(struct cone_set *set);
/* W of s and y; both must be inside. */
void cone_scale(struct cone_set *set, const double *s, const double *y);

/*
 * Of the affine step dy: 1 / the largest step, or 0 when there is no limit.
 * Keeps the second-order term for cone_correct().
 */
double cone_affine(struct cone_set *set, const double *dy);
/* side = by * side + (what the corrected right side has in place of s), side being (s - residual). */
void cone_correct(struct cone_set *set, const double *many, double centre, double by,
	const double *s, double *side);
/* ds of the corrected step dy, and 1 / the largest step. */
double cone_step(struct cone_set *set, const double *dy, double *ds);

/* out += W^2 y */
void cone_add_w2(const struct cone_set *set, const double *y, double *out);

#endif
