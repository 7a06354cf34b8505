/*
 * Share programs with pairs: two jobs of equal gang size may run on the same
 * devices at the same time, each slower than alone.
 *
 * Entries are single jobs and pairs of jobs; x_cw is the share of time that
 * entry c runs on type w.  With value_i(x) = sum of value * x over all entries
 * with job i in them,
 *
 *     minimise   sum cost_cw x_cw + z_cost z
 *     subject to scale_ir value_i(x) >= g_ir z + least_ir    rows r of job i, 0..2 of them
 *                sum of x_cw over all entries with i <= 1
 *                sum_c gang_c x_cw <= capacity_w
 *                x >= 0
 *
 * Jobs that are alike in everything may be one "job" with a count: its x are
 * then sums over all its jobs, its rows and its limit of 1 hold count times,
 * and a pair of it with itself is a pair of two different ones.
 */
#ifndef SOLVER_PAIRS_H
#define SOLVER_PAIRS_H

#include "solver/interior.h"

#define PAIR_NONE UINT32_MAX

struct pair_entry {
	uint32_t a, b; /* b: PAIR_NONE for a single job; equal to a only where count[a] >= 2 */
};

struct pair_program {
	uint32_t jobs, types, entries;
	const struct pair_entry *entry;
	const double *value;    /* [entries][types][2]: what a share is worth to a and to b, >= 0 */
	const double *gang;     /* [jobs]; equal in a pair */
	const double *capacity; /* [types] */
	const uint32_t *count;  /* [jobs], >= 1; NULL: all 1 */

	uint32_t rows;       /* of each job about its value: 0, 1 or 2 */
	const double *scale; /* [jobs][rows], >= 0; NULL: 1 */
	const double *g;     /* [jobs][rows]; NULL: there is no z */
	const double *least; /* [jobs][rows]; NULL: 0 */

	const double *cost; /* [entries][types]; NULL: 0 */
	double z_cost;      /* -1 to maximise z */
};

struct pair_answer {
	enum interior_status status;
	uint32_t iterations;
	double residual; /* largest relative violation left: primal, dual or gap */
	double objective;
	double z;
	double *x; /* [entries][types], given by the caller */
};

/*
 * The point that an interior point method ends in: the middle of the optimal
 * face, with the small positive residues such a method leaves in the x that are
 * zero at the optimum, clipped to [0, 1].  Takes all entries as variables, those
 * without value too.  With counts it takes the same steps to the same point as
 * with every job written out, in a fraction of the time, which grows with
 * (2 jobs of one gang size)^3; memory with its square and with the entries.
 *
 * Where it ends with a residual above 1e-6, the answer is pricing_solve()'s.
 * x, objective and z are written where the status is OPTIMAL or STALLED.
 */
void pairs_solve(const struct pair_program *program, struct pair_answer *answer);

/* The same by the simplex method, counts too: a corner of the optimal face.  Slow from some 100 jobs on. */
void pairs_solve_simplex(const struct pair_program *program, struct pair_answer *answer);

/* The largest violation of a row, limit, capacity or bound, relative to 1 + the terms that meet in it. */
double pairs_violation(const struct pair_program *program, const double *x, double z);

#endif
