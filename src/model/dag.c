#include "model/dag.h"

#include <math.h>

/* Looking for the shortest circle ends after so many steps: seconds. */
#define CYCLE_STEPS 300000000

static bool counts(const struct dag_edge *e, uint32_t n)
{
	return e->before < n && e->after < n;
}

/* Lists of neighbours: `first` has n + 2 places, filled two ahead so that filling moves each start to its place. */
static void fill_lists(uint32_t n, const struct dag_edge *edges, uint32_t nedges, bool succs,
	uint32_t *first, uint32_t *list)
{
	for (uint32_t i = 0; i < nedges; i++)
		if (counts(&edges[i], n))
			first[(succs ? edges[i].before : edges[i].after) + 2]++;
	for (uint32_t i = 2; i < n + 2; i++)
		first[i] += first[i - 1];
	for (uint32_t i = 0; i < nedges; i++) {
		const struct dag_edge *e = &edges[i];

		if (counts(e, n))
			list[first[(succs ? e->before : e->after) + 1]++] = succs ? e->after
										  : e->before;
	}
}

/* Takes away what waits for nobody until nothing is left, or circles. */
static void put_in_order(struct dag *dag, struct arena *arena)
{
	uint32_t *waits = arena_array(arena, uint32_t, dag->n);
	uint32_t level = 0;

	for (uint32_t i = 0; i < dag->n; i++) {
		waits[i] = dag->first_pred[i + 1] - dag->first_pred[i];
		if (!waits[i])
			dag->order[dag->norder++] = i;
	}
	for (; level < dag->norder; level++) {
		uint32_t i = dag->order[level];

		for (uint32_t k = dag->first_succ[i]; k < dag->first_succ[i + 1]; k++)
			if (--waits[dag->succs[k]] == 0)
				dag->order[dag->norder++] = dag->succs[k];
	}
}

void dag_build(struct dag *dag, struct arena *arena, uint32_t n, const struct dag_edge *edges,
	uint32_t nedges)
{
	uint32_t good = 0;

	for (uint32_t i = 0; i < nedges; i++)
		good += counts(&edges[i], n);
	*dag = (struct dag){
		.n = n,
		.nedges = good,
		.first_pred = arena_array(arena, uint32_t, (size_t)n + 2),
		.preds = arena_array(arena, uint32_t, good),
		.first_succ = arena_array(arena, uint32_t, (size_t)n + 2),
		.succs = arena_array(arena, uint32_t, good),
		.order = arena_array(arena, uint32_t, n),
	};
	fill_lists(n, edges, nedges, false, dag->first_pred, dag->preds);
	fill_lists(n, edges, nedges, true, dag->first_succ, dag->succs);
	put_in_order(dag, arena);
}

void dag_of_jobs(struct dag *dag, struct arena *arena, const struct job *jobs, uint32_t n,
	const uint32_t *deps)
{
	struct dag_edge *edges;
	uint32_t nedges = 0;
	size_t most = 0;

	for (uint32_t i = 0; deps && i < n; i++)
		most += jobs[i].ndeps;
	edges = arena_array(arena, struct dag_edge, most);
	for (uint32_t i = 0; deps && i < n; i++)
		for (uint32_t k = 0; k < jobs[i].ndeps; k++)
			edges[nedges++] = (struct dag_edge){ deps[jobs[i].first_dep + k], i };
	dag_build(dag, arena, n, edges, nedges);
}

/* ---- circles */

/* What dag_cycle() works with: which are in circles perhaps, and a search from one of them. */
struct search {
	const struct dag *dag;
	bool *in;       /* not in order, and something in a circle waits for it */
	uint32_t *next; /* on the way back to where the search began */
	uint32_t *seen; /* by thing: the search that saw it last, from 1 */
	uint32_t *dist;
	uint32_t *line; /* things to look at */
	uint64_t steps;
};

/* Leaves what stands in circles or between two of them: nothing before and nothing behind. */
static uint32_t trim(struct search *s, struct arena *arena)
{
	const struct dag *dag = s->dag;
	uint32_t *waiters = arena_array(arena, uint32_t, dag->n), left = dag->n - dag->norder, n = 0;

	for (uint32_t i = 0; i < dag->n; i++)
		s->in[i] = true;
	for (uint32_t k = 0; k < dag->norder; k++)
		s->in[dag->order[k]] = false;
	for (uint32_t i = 0; i < dag->n; i++) {
		for (uint32_t k = dag->first_succ[i]; k < dag->first_succ[i + 1]; k++)
			waiters[i] += s->in[dag->succs[k]];
		if (s->in[i] && !waiters[i])
			s->line[n++] = i;
	}
	for (uint32_t at = 0; at < n; at++) {
		uint32_t i = s->line[at];

		s->in[i] = false;
		left--;
		for (uint32_t k = dag->first_pred[i]; k < dag->first_pred[i + 1]; k++)
			if (s->in[dag->preds[k]] && --waiters[dag->preds[k]] == 0)
				s->line[n++] = dag->preds[k];
	}
	return left;
}

/* The shortest circle through `from` of things not below it, if it is shorter than `best`; else `best`. */
static uint32_t circle_through(struct search *s, uint32_t from, uint32_t best, uint32_t *last)
{
	const struct dag *dag = s->dag;
	uint32_t n = 0;

	s->line[n++] = from;
	s->seen[from] = from + 1;
	s->dist[from] = 0;
	for (uint32_t at = 0; at < n; at++) {
		uint32_t i = s->line[at];

		if (s->dist[i] + 1 >= best)
			return best;
		/* From each to those that wait for it: next[] leads back the way it was waited for. */
		for (uint32_t k = dag->first_succ[i]; k < dag->first_succ[i + 1]; k++) {
			uint32_t to = dag->succs[k];

			s->steps++;
			if (to == from) {
				*last = i;
				return s->dist[i] + 1;
			}
			if (!s->in[to] || to < from || s->seen[to] == from + 1)
				continue;
			s->seen[to] = from + 1;
			s->dist[to] = s->dist[i] + 1;
			s->next[to] = i;
			s->line[n++] = to;
		}
	}
	return best;
}

/* `from` waits for `last`, which waits for the one it was reached from, and so on. */
static void write_circle(const struct search *s, uint32_t from, uint32_t last, uint32_t n, uint32_t *out)
{
	out[0] = from;
	for (uint32_t k = 1; k < n; k++, last = s->next[last])
		out[k] = last;
}

uint32_t dag_cycle(const struct dag *dag, struct arena *arena, uint32_t **out)
{
	struct search s = { .dag = dag };
	uint32_t best = UINT32_MAX, last = 0;

	if (dag_is_acyclic(dag))
		return 0;
	s.in = arena_array(arena, bool, dag->n);
	s.next = arena_array(arena, uint32_t, dag->n);
	s.seen = arena_array(arena, uint32_t, dag->n);
	s.dist = arena_array(arena, uint32_t, dag->n);
	s.line = arena_array(arena, uint32_t, dag->n);
	*out = arena_array(arena, uint32_t, dag->n);
	trim(&s, arena);
	for (uint32_t i = 0;
		i < dag->n && best > 1 && (s.steps < CYCLE_STEPS || best == UINT32_MAX); i++) {
		uint32_t n = s.in[i] ? circle_through(&s, i, best, &last) : best;

		if (n < best)
			write_circle(&s, i, last, n, *out);
		best = n;
		s.in[i] = false; /* circles through it have been seen */
	}
	return best;
}

/* ---- levels */

void dag_depths(const struct dag *dag, uint32_t *depth)
{
	for (uint32_t k = 0; k < dag->norder; k++) {
		uint32_t i = dag->order[k];

		depth[i] = 0;
		for (uint32_t p = dag->first_pred[i]; p < dag->first_pred[i + 1]; p++)
			if (depth[dag->preds[p]] + 1 > depth[i])
				depth[i] = depth[dag->preds[p]] + 1;
	}
}

double dag_bottom(const struct dag *dag, const double *time_s, double *bottom_s)
{
	double longest = 0;

	for (uint32_t k = dag->norder; k-- > 0;) {
		uint32_t i = dag->order[k];
		double below = 0;

		for (uint32_t p = dag->first_succ[i]; p < dag->first_succ[i + 1]; p++)
			below = fmax(below, bottom_s[dag->succs[p]]);
		bottom_s[i] = time_s[i] + below;
		longest = fmax(longest, bottom_s[i]);
	}
	return longest;
}

static uint32_t root_of(uint32_t *part, uint32_t i)
{
	while (part[i] != i) {
		part[i] = part[part[i]];
		i = part[i];
	}
	return i;
}

uint32_t dag_parts(const struct dag *dag, uint32_t *part)
{
	uint32_t parts = dag->n;

	for (uint32_t i = 0; i < dag->n; i++)
		part[i] = i;
	for (uint32_t i = 0; i < dag->n; i++) {
		for (uint32_t k = dag->first_pred[i]; k < dag->first_pred[i + 1]; k++) {
			uint32_t a = root_of(part, i), b = root_of(part, dag->preds[k]);

			parts -= a != b;
			if (a < b)
				part[b] = a;
			else
				part[a] = b;
		}
	}
	for (uint32_t i = 0; i < dag->n; i++)
		part[i] = root_of(part, i);
	return parts;
}

/* The most that stand on one level of one part: counted by level, one part after the other. */
static uint32_t widest(const struct dag *dag, struct arena *arena, const uint32_t *part,
	const uint32_t *depth)
{
	uint32_t *first = arena_array(arena, uint32_t, (size_t)dag->n + 2);
	uint32_t *members = arena_array(arena, uint32_t, dag->n);
	uint32_t *on_level = arena_array(arena, uint32_t, (size_t)dag->n + 1), most = 0;

	for (uint32_t i = 0; i < dag->n; i++)
		first[part[i] + 2]++;
	for (uint32_t i = 2; i < dag->n + 2; i++)
		first[i] += first[i - 1];
	for (uint32_t i = 0; i < dag->n; i++)
		members[first[part[i] + 1]++] = i;
	for (uint32_t p = 0; p < dag->n; p++) {
		if (first[p + 1] - first[p] < 2)
			continue;
		for (uint32_t k = first[p]; k < first[p + 1]; k++) {
			uint32_t n = ++on_level[depth[members[k]]];

			most = n > most ? n : most;
		}
		for (uint32_t k = first[p]; k < first[p + 1]; k++)
			on_level[depth[members[k]]] = 0;
	}
	return most;
}

struct dag_shape dag_shape_of(const struct dag *dag, struct arena *arena, const double *time_s)
{
	uint32_t *part = arena_array(arena, uint32_t, dag->n);
	uint32_t *depth = arena_array(arena, uint32_t, dag->n);
	double *bottom = arena_array(arena, double, dag->n);
	struct dag_shape shape = { .longest_s = NAN };

	dag_parts(dag, part);
	dag_depths(dag, depth);
	for (uint32_t i = 0; i < dag->n; i++) {
		bool lone = dag->first_pred[i] == dag->first_pred[i + 1] &&
			dag->first_succ[i] == dag->first_succ[i + 1];

		if (lone)
			continue;
		shape.jobs++;
		shape.dags += part[i] == i;
		shape.depth = depth[i] + 1 > shape.depth ? depth[i] + 1 : shape.depth;
	}
	shape.width = widest(dag, arena, part, depth);
	if (time_s && shape.jobs) {
		dag_bottom(dag, time_s, bottom);
		shape.longest_s = 0;
		for (uint32_t i = 0; i < dag->n; i++)
			if (dag->first_succ[i] < dag->first_succ[i + 1])
				shape.longest_s = fmax(shape.longest_s, bottom[i]);
	}
	return shape;
}
