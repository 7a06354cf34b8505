/*
 * Lexicographic max-min shares by water filling.
 *
 * The water rises: each job's rate grows with the weight it has, over its
 * gang, until the job cannot have more without someone else having less.  Then
 * it keeps its level and the others go on.  Jobs may belong to entities: an
 * entity has a weight, which its jobs that still rise share by their own
 * weights, or which the first of them has alone.
 *
 * No integer program is needed.  A type whose price is above 0 is full of jobs
 * that have stopped; whoever still rises uses the other types alone, so that
 * how far it could get there is known beforehand.  There are at most as many
 * stages as types, whatever the number of levels.
 */
#ifndef SOLVER_WATERFILL_H
#define SOLVER_WATERFILL_H

#include <stdbool.h>
#include <stdint.h>

struct waterfill {
	uint32_t jobs, types;
	const double *rate;     /* [jobs][types] >= 0; 0: cannot run there */
	const double *gang;     /* [jobs] > 0 */
	const double *capacity; /* [types] >= 0 */
	const double *weight;   /* [jobs] >= 0; NULL: 1.  A job without weight stays at 0 */

	uint32_t entities;           /* 0: every job is for itself */
	const uint32_t *entity;      /* [jobs] */
	const double *entity_weight; /* [entities] >= 0 */
	const bool *in_order; /* [entities] its first job that rises has all the weight; NULL: none */
};

/* Why a job stopped. */
enum waterfill_stop {
	WATERFILL_AT_SPEED, /* it has the fastest type with room, all the time */
	WATERFILL_CROWDED,  /* the types it would need are full */
};

struct waterfill_answer {
	double *x;       /* [jobs][types], given by the caller */
	double *level;   /* [jobs] rate reached, given by the caller */
	double *height;  /* [jobs] of the water when it stopped, given by the caller or NULL */
	uint32_t *stage; /* [jobs] in which it stopped, given by the caller or NULL */
	enum waterfill_stop *stop; /* [jobs], given by the caller or NULL */

	double *prices; /* [types], given by the caller or NULL: at the stage in which the type became full;
			   * what one more device would have added to the height; 0: it never did */
	uint32_t *full; /* [types] stage in which it became full, given by the caller or NULL; UINT32_MAX: never */
	uint32_t stages;
	uint32_t levels;      /* different heights at which jobs stopped */
	uint32_t programs;    /* max-min programs solved */
	uint32_t evaluations; /* of everyone's cheapest mix in these */
};

/* False: the shares do not give every job its level, which rounding alone can bring about. */
bool waterfill_solve(const struct waterfill *program, struct waterfill_answer *answer);

#endif
