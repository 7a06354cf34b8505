/*
 * Phase 2: list scheduling in all resources at once.
 */

#include "base/heap.h"
#include "model/moldable.h"

struct listing {
	const struct moldable *m;
	const uint32_t *chosen;
	const double *order;
	uint32_t free[MOLDABLE_DIMS];
	uint32_t *waits; /* by job: for how many that have not ended */
	uint32_t *queue; /* may start, in order */
	uint32_t nqueue;
	struct heap ends;
};

static const struct moldable_point *point_of(const struct listing *l, uint32_t job)
{
	return &l->m->jobs[job].points[l->chosen[job]];
}

/* Who comes first: by place in the order, then by number. */
static bool comes_before(const struct listing *l, uint32_t a, uint32_t b)
{
	double first = l->order[a], second = l->order[b];

	return first < second || (first == second && a < b);
}

static void enqueue(struct listing *l, uint32_t job)
{
	uint32_t i = l->nqueue++;

	for (; i > 0; i--) {
		uint32_t ahead = l->queue[i - 1];

		if (comes_before(l, ahead, job))
			break;
		l->queue[i] = ahead;
	}
	l->queue[i] = job;
}

static bool fits(const struct listing *l, uint32_t job)
{
	for (uint32_t d = 0; d < l->m->dims; d++)
		if (point_of(l, job)->need[d] > l->free[d])
			return false;
	return true;
}

static void take(struct listing *l, uint32_t job, int sign)
{
	for (uint32_t d = 0; d < l->m->dims; d++)
		l->free[d] += (uint32_t)(-sign * (int64_t)point_of(l, job)->need[d]);
}

/* The whole queue, not its head alone. */
static void start_all(struct listing *l, double now_s, double *start_s)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < l->nqueue; i++) {
		uint32_t job = l->queue[i];

		if (!fits(l, job)) {
			l->queue[kept++] = job;
			continue;
		}
		take(l, job, 1);
		start_s[job] = now_s;
		heap_put(&l->ends, job, now_s + point_of(l, job)->time_s, job);
	}
	l->nqueue = kept;
}

static void end_one(struct listing *l, uint32_t job)
{
	const struct dag *dag = l->m->dag;

	take(l, job, -1);
	for (uint32_t k = dag->first_succ[job]; k < dag->first_succ[job + 1]; k++)
		if (--l->waits[dag->succs[k]] == 0)
			enqueue(l, dag->succs[k]);
}

static const double *by_bottom(const struct moldable *m, const uint32_t *chosen, struct arena *arena)
{
	double *time_s = arena_array(arena, double, m->njobs);
	double *order = arena_array(arena, double, m->njobs);

	for (uint32_t j = 0; j < m->njobs; j++)
		time_s[j] = m->jobs[j].points[chosen[j]].time_s;
	dag_bottom(m->dag, time_s, order);
	for (uint32_t j = 0; j < m->njobs; j++)
		order[j] = -order[j];
	return order;
}

double moldable_list(const struct moldable *m, const uint32_t *chosen, const double *order,
	struct arena *arena, double *start_s)
{
	struct listing l = {
		.m = m,
		.chosen = chosen,
		.order = order ? order : by_bottom(m, chosen, arena),
		.waits = arena_array(arena, uint32_t, m->njobs),
		.queue = arena_array(arena, uint32_t, m->njobs),
	};
	double now_s = 0;

	for (uint32_t d = 0; d < m->dims; d++)
		l.free[d] = m->capacity[d];
	for (uint32_t j = 0; j < m->njobs; j++) {
		l.waits[j] = m->dag->first_pred[j + 1] - m->dag->first_pred[j];
		if (!l.waits[j])
			enqueue(&l, j);
	}
	start_all(&l, 0, start_s);
	while (l.ends.n) {
		now_s = heap_top(&l.ends)->key;
		while (l.ends.n && heap_top(&l.ends)->key == now_s)
			end_one(&l, heap_pop(&l.ends).id);
		start_all(&l, now_s, start_s);
	}
	heap_fini(&l.ends);
	return now_s;
}
