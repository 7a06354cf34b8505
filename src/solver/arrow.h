/*
 * Share programs: many jobs with a few private rows each, tied together by a
 * few capacities and one common level z.
 *
 *     minimise   sum c_iw x_iw + c_z z
 *     subject to V_i x_i + g_i z <= h_i     k rows for each job i
 *                sum_i gang_i x_iw <= capacity_w
 *                x >= 0
 *
 * Solved by an interior point method whose steps cost O(jobs * types * (types + k)).
 */
#ifndef SOLVER_ARROW_H
#define SOLVER_ARROW_H

#include "solver/interior.h"

struct arrow {
	uint32_t jobs, types;
	uint32_t rows;          /* private rows per job: 1..3 */
	const double *v;        /* [jobs][rows][types] */
	const double *g;        /* [jobs][rows]; NULL: there is no z */
	const double *h;        /* [jobs][rows] */
	const double *cost;     /* [jobs][types]; NULL: zero */
	double z_cost;
	const double *gang;     /* [jobs] */
	const double *capacity; /* [types] */
};

struct arrow_answer {
	enum interior_status status;
	uint32_t iterations;
	double residual; /* the largest relative violation left, primal, dual or gap */
	double objective;
	double z;
	double *x;        /* [jobs][types], given by the caller; as the method left it, clipped to [0, 1] */
	double *prices;   /* [types], given by the caller or NULL: what one more device would be worth */
	double *row_duals; /* [jobs][rows], given by the caller or NULL */
};

/* Writes the answer where its status is OPTIMAL, or STALLED with a residual below 1e-6; status else only. */
void arrow_solve(const struct arrow *program, struct arrow_answer *answer);

/*
 * Finish-time fairness: minimise z subject to
 *     age_i + work_i / (sum_w speed_iw x_iw) <= z * limit_i,  sum_w x_iw <= 1,  capacities, x >= 0
 */
struct arrow_finish {
	uint32_t jobs, types;
	const double *speed; /* [jobs][types] */
	const double *age, *work, *limit; /* [jobs] */
	const double *gang;     /* [jobs] */
	const double *capacity; /* [types] */
};

void arrow_solve_finish(const struct arrow_finish *program, struct arrow_answer *answer);

#endif
