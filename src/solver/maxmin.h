/*
 * Max-min shares by prices: Stint's own way, for many jobs.
 *
 *     maximise z >= least  subject to  sum_w rate_iw x_iw >= base_i + weight_i z
 *                                  sum_w x_iw <= 1,  sum_i gang_i x_iw <= capacity_w,  x >= 0
 *
 * For prices of the types and a level z the cheapest mix of a job is closed
 * form, so the search is over one price per type.  Jobs with equal rows are
 * one: what counts is how many different jobs there are.
 */
#ifndef SOLVER_MAXMIN_H
#define SOLVER_MAXMIN_H

#include <stdbool.h>
#include <stdint.h>

struct maxmin {
	uint32_t jobs, types;   /* types < 255 */
	const double *rate;     /* [jobs][types] >= 0; 0: cannot run there */
	const double *gang;     /* [jobs] > 0 */
	const double *capacity; /* [types] >= 0 */
	const double *base;     /* [jobs] >= 0, what a job keeps whatever z is; NULL: 0 */
	const double *weight;   /* [jobs] >= 0, its part in z; NULL: 1 */
	double least;           /* <= 0, mostly 0; a need below 0 counts as 0 */
};

struct maxmin_answer {
	double z;     /* what x really gives */
	double bound; /* proved: no x gives more */
	double gap;   /* (bound - z) / bound; 0 where the bound is not above 0 */
	double *x; /* [jobs][types], given by the caller or NULL; keeps shares and capacities exactly */
	double *prices; /* [types], given by the caller or NULL: what one more device would add to z;
			 * all 0 where a job's fastest type is the limit */
	uint32_t evaluations; /* of everyone's cheapest mix */
	uint32_t kinds;       /* of different jobs */
};

/*
 * False: there is no answer, because a job with a weight or a base can run nowhere or the bases
 * cannot be kept; in the second case the prices prove it: the needs at the least z cost more than
 * the capacities are worth.  Without any weight z is 0.
 */
bool maxmin_solve(const struct maxmin *program, struct maxmin_answer *answer);

/*
 * Finish-time fairness: minimise z subject to
 *     age_i + work_i / (sum_w speed_iw x_iw) <= z * limit_i,  sum_w x_iw <= 1,  capacities, x >= 0
 */
struct maxmin_finish {
	uint32_t jobs, types;
	const double *speed;              /* [jobs][types] */
	const double *age, *work, *limit; /* [jobs]; limit > 0 */
	const double *gang;               /* [jobs] */
	const double *capacity;           /* [types] */
};

/* The bound is below z here, and prices tell how much one more device would take off z.  False: a job
 * with work can run nowhere. */
bool maxmin_finish(const struct maxmin_finish *program, struct maxmin_answer *answer);

#endif
