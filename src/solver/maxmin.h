/*
 * Max-min shares by prices: Stint's own way, for many jobs.
 *
 *     maximise z  subject to  sum_w rate_iw x_iw >= z,  sum_w x_iw <= 1,
 *                             sum_i gang_i x_iw <= capacity_w,  x >= 0
 *
 * For prices of the types and a level z the cheapest mix of a job is closed
 * form; the search is over one price per type.  Jobs with equal rows are one.
 */
#ifndef SOLVER_MAXMIN_H
#define SOLVER_MAXMIN_H

#include <stdbool.h>
#include <stdint.h>

struct maxmin {
	uint32_t jobs, types;
	const double *rate;     /* [jobs][types], in units in which all jobs shall be equal; 0: cannot run there */
	const double *gang;     /* [jobs] */
	const double *capacity; /* [types] */
	const double *least;    /* [jobs] level a job must keep whatever z is (water filling); NULL: 0 */
	const bool *fixed;      /* [jobs] it only keeps its `least`, z does not count for it; NULL: none */
};

struct maxmin_answer {
	double z;
	double gap;     /* proved: z is within this much, relatively, of the best */
	double *x;      /* [jobs][types], given by the caller */
	double *prices; /* [types], given by the caller or NULL; what one more device would add to z */
	uint32_t evaluations;
};

/* False: there is no answer (a job can run nowhere, or `least` cannot be kept). */
bool maxmin_solve(const struct maxmin *program, struct maxmin_answer *answer);

#endif
