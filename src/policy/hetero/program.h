/*
 * What a share policy looks at, as matrices: jobs (and pairs of jobs) by
 * device types; and the answer, the share of time that each shall spend on
 * each type.
 *
 * Columns are the types that have devices up, by name.  Rows are active jobs
 * that can run on one of them, in order of arrival.
 */
#ifndef POLICY_HETERO_PROGRAM_H
#define POLICY_HETERO_PROGRAM_H

#include "model/round.h"
#include "placement/plan.h"

/* Two jobs of equal size that may run on the same devices at once. */
struct program_pair {
	uint32_t a, b; /* rows, a < b */
};

struct program {
	const struct round *round;
	uint32_t jobs, types;
	uint32_t type[TYPES_MAX]; /* by column: the cluster's type */
	double capacity[TYPES_MAX];
	uint32_t *id; /* by row: the job */
	double *speed; /* [jobs][types] steps per second of the whole job as asked; 0: cannot run there */
	double *gang; /* devices it takes */
	double *weight;
	double *left; /* steps */
	double *age_s;
	uint32_t pairs;
	struct program_pair *pair;
	double *pair_speed; /* [pairs][types][2], of a and of b; 0 and 0: cannot */
};

/* The answer.  Everything lives in the arena of the round. */
struct shares {
	double *x;                 /* [jobs][types] */
	double *pair_x;            /* [pairs][types]; NULL: no pairs */
	struct program_pair *pair; /* which these are; NULL: the program's, all of them */
	uint32_t pairs;
	double value; /* of the objective, in its own units */
	double *price; /* [types] what one more device would add to the value; NULL: the objective has none */
	double *level; /* [jobs] what the objective compares, e.g. normalised speed; NULL: nothing */
	bool *tight;   /* [jobs] it holds the value down; NULL: not known */
	const char *fallback; /* why something simpler than the objective was used; NULL: it was not */
};

/* Takes the active jobs of the round.  `pack`: with every pair of equal size. */
void program_init(struct program *program, const struct round *round, const struct plan *plan,
	bool pack);

/* The columns alone, for an empty program. */
void program_types(struct program *program, const struct round *round, const struct plan *plan);

/* A zeroed answer for the program. */
void shares_init(struct shares *shares, const struct program *program);

/* Speed of `job` and `other` when both run at once on the same `gpus` devices of a type; 0, 0: they cannot. */
void program_pair_speed(const struct round *round, const struct job *job, const struct job *other,
	uint32_t type, double out[2]);

/* The pairs that the answer speaks of. */
uint32_t shares_pairs(const struct program *program, const struct shares *shares);
struct program_pair shares_pair(const struct program *program, const struct shares *shares, uint32_t i);

/* Sum over types of speed times share: steps per second on the long run, pairs included. */
double program_rate(const struct program *program, const struct shares *shares, uint32_t row);

/* What a job would get of a cluster cut in equal parts for `m` jobs: x[types]. */
void program_isolated(const struct program *program, uint32_t row, uint32_t m, double *x);

#endif
