/*
 * Who waits for whom: a graph of numbered things (jobs, stages), its order, its
 * levels, and what is wrong with it where it goes round in circles.
 *
 * Everything lives in the arena it was built with.
 */
#ifndef MODEL_DAG_H
#define MODEL_DAG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/text.h"
#include "model/job.h"

/* `after` must wait until `before` has ended. */
struct dag_edge {
	uint32_t before, after;
};

struct dag {
	uint32_t n, nedges;
	uint32_t *first_pred, *preds; /* preds[first_pred[i] .. first_pred[i + 1]]: what i waits for */
	uint32_t *first_succ, *succs; /* the other way round */
	uint32_t *order;              /* each behind what it waits for, the lowest number first */
	uint32_t norder;              /* fewer than n: the others are in circles or behind one */
};

/* Edges to things that are not there (n or more) do not count; an edge given twice counts twice. */
void dag_build(struct dag *dag, struct arena *arena, uint32_t n, const struct dag_edge *edges,
	uint32_t nedges);
/* Of jobs by number and the list that job.first_dep points into (NULL: nobody waits). */
void dag_of_jobs(struct dag *dag, struct arena *arena, const struct job *jobs, uint32_t n,
	const uint32_t *deps);

static inline bool dag_is_acyclic(const struct dag *dag)
{
	return dag->norder == dag->n;
}

/*
 * A shortest circle: each of out[0 .. returned) waits for the next, the last for the first, which is the
 * lowest number among them.  0: there is none.  Of graphs so large that looking from everywhere would take
 * minutes it is the shortest of those seen.
 */
uint32_t dag_cycle(const struct dag *dag, struct arena *arena, uint32_t **out);

/* By thing, of acyclic ones: how many stand before it on the longest way to it. */
void dag_depths(const struct dag *dag, uint32_t *depth);
/* Its own time and the longest of what follows it: the bottom level.  Returns the longest of all. */
double dag_bottom(const struct dag *dag, const double *time_s, double *bottom_s);
/* By thing: the lowest number of those it hangs together with.  Returns how many such parts there are. */
uint32_t dag_parts(const struct dag *dag, uint32_t *part);

struct dag_shape {
	uint32_t dags;    /* parts of two and more */
	uint32_t jobs;    /* in these */
	uint32_t depth;   /* levels of the deepest */
	uint32_t width;   /* the most of one part that stand on one level */
	double longest_s; /* the longest way through any, by their times; NAN without times */
};
/* Of acyclic ones; `time_s` may be NULL. */
struct dag_shape dag_shape_of(const struct dag *dag, struct arena *arena, const double *time_s);

#endif
