/*
 * Moldable jobs under precedence: choose how much of each resource every job
 * gets before it starts, then start them one after the other (Perotin, Sun and
 * Raghavan, ICPP 2021).
 *
 *	phase 1	fractional times that minimise the greater of mean work and critical path, by a linear program; each
 *		job then takes the slowest allocation that is at most 1/rho times as slow, and at most mu of anything
 *		(graphs that are series-parallel: points near the best, and at most mu of anything)
 *	phase 2	list scheduling: at each end walk the whole queue and start what fits
 *
 * The makespan is then at most moldable_ratio() times the program's value, which
 * no schedule beats, where moldable_plan.proved says so.
 */
#ifndef MODEL_MOLDABLE_H
#define MODEL_MOLDABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "model/dag.h"

#define MOLDABLE_EPS 0.1 /* how near MOLDABLE_SERIES comes */

enum {
	MOLDABLE_DIMS = 4,
	MOLDABLE_LEAST = 7, /* units of each resource that the proof needs */
};

/* An allocation: so much of each resource for so long. */
struct moldable_point {
	double time_s;
	uint32_t need[MOLDABLE_DIMS];
};

struct moldable_job {
	const struct moldable_point *points; /* what it can be given, in any order; at least one */
	uint32_t n;
};

struct moldable {
	uint32_t dims;
	uint32_t capacity[MOLDABLE_DIMS];
	uint32_t njobs;
	const struct moldable_job *jobs;
	const struct dag *dag; /* acyclic, of the jobs */
};

enum moldable_way {
	MOLDABLE_LP, /* phase 1 as above */
	MOLDABLE_SERIES, /* a series-parallel graph, such as trees: near enough to the best, without rounding */
	MOLDABLE_INDEPENDENT, /* nobody waits for anybody: exactly, without rounding */
	MOLDABLE_GREEDY,      /* a guess: nothing is proved */
};

struct moldable_plan {
	enum moldable_way way;
	double least_s;   /* no schedule is shorter */
	uint32_t *chosen; /* by job: the point it gets */
	uint32_t *wished; /* the same before nobody gets more than a part of anything */
	double ratio;     /* the makespan is at most so many times least_s … */
	bool proved;      /* … as all that the proof needs is so; else see `why` */
	const char *why;  /* what is missing; NULL: nothing */
};

double moldable_mu(void);           /* 1 - 1/phi */
double moldable_rho(uint32_t dims); /* of MOLDABLE_LP */
double moldable_ratio(uint32_t dims, enum moldable_way way);
uint32_t moldable_cap(uint32_t capacity); /* the most that a job gets of a resource */
/* Its share of all resources, times how long: what it takes of the cluster. */
double moldable_area(const struct moldable *m, const struct moldable_point *point);

/*
 * Phase 1, in the arena.  Where nobody waits for anybody it is MOLDABLE_INDEPENDENT; of more than `lp_most`
 * jobs, or where the program is not solved, MOLDABLE_GREEDY; of series-parallel graphs MOLDABLE_SERIES.
 */
void moldable_allocate(const struct moldable *m, uint32_t lp_most, struct arena *arena,
	struct moldable_plan *out);

/*
 * Phase 2 with the chosen points: when each job starts; returns the makespan.  `order` is who comes first,
 * smaller first and then by number; NULL: the longest way to the end first.  Every chosen point must fit.
 */
double moldable_list(const struct moldable *m, const uint32_t *chosen, const double *order,
	struct arena *arena, double *start_s);

#endif
