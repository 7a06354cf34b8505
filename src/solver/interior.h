/*
 * An interior point method on a homogeneous self-dual embedding (Domahidi,
 * Chu, Boyd, ECC 2013).
 *
 *     minimise c'x   subject to   G x + s = h,  s in K
 *
 * where K is a product of half lines and of rotated second-order cones of three
 * rows.  The answer lies in the middle of the optimal face, not at a corner.
 * What G looks like is the shape's: it multiplies by it and solves the Newton
 * system.  Equilibration, starting point, step rules and stopping tests are
 * here, once for every shape.
 *
 * Rows: first `lines` half lines (s >= 0), then the cones in three planes: row
 * lines + p * cones + i is part p of cone i, and (s0, s1, s2) is in the cone
 * when 2 s0 s1 >= s2^2 and s0, s1 >= 0.
 */
#ifndef SOLVER_INTERIOR_H
#define SOLVER_INTERIOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

enum interior_status {
	INTERIOR_OPTIMAL,
	INTERIOR_INFEASIBLE, /* proved by a certificate */
	INTERIOR_UNBOUNDED,  /* likewise */
	INTERIOR_STALLED, /* no better answer to be had; `residual` says how good the best one is */
};

/* One vector per variable and one per row. */
struct interior_pair {
	double *x; /* [n] */
	double *y; /* [lines + 3 * cones] */
};

/* The matrix D of the Newton system, and how much it is regularised. */
struct interior_scaling {
	const double *d;  /* [lines] its diagonal on the half lines */
	const double *w2; /* [6][cones] its symmetric 3 x 3 blocks: 00, 01, 02, 11, 12, 22 */
	/*
	 * The same blocks without the cancellation that sums of their entries suffer:
	 * eta2 * (2 w w' - J), where J (a, b, c) = (b, a, -c) and w'Jw = 1.
	 */
	const double *w;    /* [3][cones] */
	const double *eta2; /* [cones] */
	double delta;
};

/* How the shape multiplies and solves.  All parts are required; no two arguments overlap. */
struct interior_shape {
	/*
	 * The largest absolute entries of each row and column of G as it is now.
	 * For the first two rows of a cone: those of their sum and difference,
	 * (row 0 +- row 1) / sqrt 2, which is what the cone looks like unrotated.
	 */
	void (*maxima)(const void *self, double *row, double *column);
	/*
	 * Divides G's entry (r, v) by row[r] * column[v].  All three rows of a cone
	 * have the same divisor.
	 */
	void (*divide)(void *self, const double *row, const double *column);
	/* gx = G x and gty = G' y, with G as divided. */
	void (*multiply)(const void *self, const double *x, const double *y, double *gx, double *gty);
	/* Prepares solve(), which may be called several times for it; false: it broke down. */
	bool (*factor)(void *self, const struct interior_scaling *scaling);
	/*
	 * For each k < count <= 2, with a = side[k].x, b = side[k].y: finds answer[k] with
	 *     G' y + delta x = a,   G x - (D + delta) y = b
	 */
	void (*solve)(void *self, uint32_t count, const struct interior_pair *side,
		const struct interior_pair *answer);
};

struct interior_problem {
	const struct interior_shape *shape;
	void *self; /* the shape's; its G is as the caller wrote it, and equilibrated afterwards */
	uint32_t n, lines, cones;
	const double *c; /* [n] */
	/*
	 * [lines + cones] Each half line, and then each cone, stands for that many
	 * equal ones, as where alike variables and rows are one; G, c and h are then
	 * those along the unit vectors in which all alike are equal, and the method
	 * takes the steps it would take on the whole.  NULL: 1.
	 */
	const double *many;
	const double *h;  /* [lines + 3 * cones], rotated like the rows */
	double delta;     /* regularisation: 1e-10 for large linear programs, 7e-8 else */
	bool refine_true; /* one refinement against the system without delta, not the one with */
	struct arena *work; /* all memory comes from here; nothing is left in it that the caller needs */
};

struct interior_answer {
	enum interior_status status;
	uint32_t iterations;
	double residual; /* the largest relative error left: of a row, of the duals, or between the two */
	double objective;
	double *x; /* [n], given by the caller */
	double *y; /* [lines + 3 * cones] the rows' duals, >= 0; given by the caller or NULL */
};

/*
 * x and y are written, in the caller's units, where the status is OPTIMAL or
 * STALLED.  The residual is measured on the problem as given, before equilibration.
 */
void interior_solve(const struct interior_problem *problem, struct interior_answer *answer);

#endif
