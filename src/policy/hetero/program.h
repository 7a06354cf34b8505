/*
 * What a share policy looks at, as matrices: jobs (and pairs of jobs) by
 * device types; and the answer, the share of time that each shall spend on
 * each type.
 *
 * Columns are the types that have devices up, by name.  Rows are active jobs
 * that can run on one of them, in order of arrival.
 *
 * Where jobs may have other devices than they ask for, or their gangs depend on
 * the type, rows have configurations, too (configs.h).
 */
#ifndef POLICY_HETERO_PROGRAM_H
#define POLICY_HETERO_PROGRAM_H

#include "model/round.h"
#include "placement/plan.h"
#include "policy/hetero/configs.h"

/* Two jobs of equal size that may run on the same devices at once. */
struct program_pair {
	uint32_t a, b; /* rows, a < b */
};

enum { PROGRAM_SEEN = 64 };

struct program {
	const struct round *round;
	uint32_t jobs, types;
	uint32_t type[TYPES_MAX]; /* by column: the cluster's type */
	double capacity[TYPES_MAX];
	uint32_t *id; /* by row: the job */
	double *speed; /* [jobs][types] steps per second of the whole job as asked; 0: cannot run there */
	double *gang; /* devices it takes; where that depends on the type, the most */
	double *weight;
	double *left; /* steps */
	double *age_s;
	uint32_t seen[PROGRAM_SEEN]; /* while it is built: 1 + a row of such a model and gang, 0 none */
	uint32_t pairs;
	struct program_pair *pair;
	double *pair_speed;     /* [pairs][types][2], of a and of b; 0 and 0: cannot */
	uint32_t config_rows;   /* rows that have configurations: the first so many; 0: none */
	uint32_t *config_start; /* [config_rows + 1] where those of a row begin */
	struct config *config;  /* those that need more devices than are up have speed 0 */
};

/* The answer.  Everything lives in the arena of the round. */
struct shares {
	double *x;                 /* [jobs][types]; of configurations, the sum by their devices */
	double *config_x;          /* by the program's configurations; NULL: x says it all */
	double *pair_x;            /* [pairs][types]; NULL: no pairs */
	struct program_pair *pair; /* which these are; NULL: the program's, all of them */
	uint32_t pairs;
	double value; /* of the objective, in its own units */
	double *price; /* [types] by how much one more device would better the value; NULL: the objective has none */
	double *level; /* [jobs] what the objective compares, e.g. normalised speed; NULL: nothing */
	bool *tight;   /* [jobs] it holds the value down; NULL: not known */
	const char *fallback; /* why something simpler than the objective was used; NULL: it was not */
};

/* Takes the active jobs of the round.  `pack`: with every pair of equal size. */
void program_init(struct program *program, const struct round *round, const struct plan *plan,
	bool pack);

/* The same with configurations, if there are others than the columns. */
void program_init_configs(struct program *program, const struct round *round,
	const struct plan *plan, bool pack, const struct config_rules *rules);

/* The columns alone, for an empty program. */
void program_types(struct program *program, const struct round *round, const struct plan *plan);

/* The column of a type of the cluster; -1: it has no devices up. */
int program_column(const struct program *program, uint32_t type);

/* A zeroed answer for the program. */
void shares_init(struct shares *shares, const struct program *program);

/* Speed of `job` and `other` when both run at once on the same devices of a type; 0, 0: they cannot. */
void program_pair_speed(const struct round *round, const struct job *job, const struct job *other,
	uint32_t type, double out[2]);

/* The pairs that the answer speaks of. */
uint32_t shares_pairs(const struct program *program, const struct shares *shares);
struct program_pair shares_pair(const struct program *program, const struct shares *shares, uint32_t i);

/* Sum over types of speed times share: steps per second on the long run, pairs included. */
double program_rate(const struct program *program, const struct shares *shares, uint32_t row);

/* Devices of a column that a job has for itself, on average over time. */
double program_used(const struct program *program, const struct shares *shares, uint32_t row,
	uint32_t column);

/*
 * Time on every type in proportion to weights: over the weighted devices that all ask for, or (per_job) over the
 * weighted number of jobs; nobody has more than all of the time.
 */
void program_proportional(const struct program *program, bool per_job, struct shares *shares);

/* What a job would get of a cluster cut in equal parts for `m` jobs: x[types]. */
void program_isolated(const struct program *program, uint32_t row, uint32_t m, double *x);

#endif
