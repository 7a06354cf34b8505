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
	uint32_t jobs, types; /* at least one, types at most 64 */
	uint32_t rows;        /* private rows per job: 1..3 */
	const double *v;      /* [jobs][rows][types] */
	const double *g;      /* [jobs][rows]; NULL: there is no z */
	const double *h;      /* [jobs][rows] */
	const double *cost;   /* [jobs][types]; NULL: zero */
	double z_cost;
	const double *gang;     /* [jobs] */
	const double *capacity; /* [types] */
	/*
	 * [jobs] how many alike jobs each stands for, at least 1; NULL: 1.  All else
	 * is of one of them; the answer is that of the program with every one
	 * written out, where alike jobs have equal shares.
	 */
	const uint32_t *count;
};

struct arrow_answer {
	enum interior_status status;
	uint32_t iterations;
	double residual;  /* the largest relative violation left, primal, dual or gap */
	double objective; /* of the whole */
	double z;
	/* Given by the caller: */
	double *x; /* [jobs][types] of a single job, as the method left it, clipped to [0, 1] */
	double *prices;     /* [types] what one more device would be worth; or NULL */
	double *row_duals;  /* [jobs][rows] of a single job; or NULL */
	struct arena *work; /* memory for the solve, the caller's to reset afterwards; or NULL */
};

/*
 * Writes the answer where its status is OPTIMAL, or STALLED with a residual
 * below 1e-6; else only status, iterations and residual.
 */
void arrow_solve(const struct arrow *program, struct arrow_answer *answer);

/*
 * Finish-time fairness: minimise z subject to
 *
 *     (age_i + work_i / sum_w speed_iw x_iw) / limit_i <= z
 *     sum_w x_iw <= 1,  sum_i gang_i x_iw <= capacity_w,  x >= 0
 *
 * as a cone program: q_i stands for what is at least 1 / sum_w speed_iw x_iw.
 */
struct arrow_finish {
	uint32_t jobs, types;             /* at least one, types at most 64 */
	const double *speed;              /* [jobs][types], each job's largest > 0 */
	const double *age, *work, *limit; /* [jobs] age >= 0, the others > 0 */
	const double *gang;               /* [jobs] */
	const double *capacity;           /* [types] */
	const uint32_t *count;            /* [jobs] as in struct arrow; or NULL */
};

/* Like arrow_solve(); there are two rows: sum_w x_iw <= 1 and the one with z. */
void arrow_solve_finish(const struct arrow_finish *program, struct arrow_answer *answer);

#endif
