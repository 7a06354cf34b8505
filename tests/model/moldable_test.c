#include "model/moldable.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "support/property.h"

/* ---- the spec's small examples */

static void test_parameters(void **state)
{
	static const struct {
		uint32_t dims;
		double rho, ratio;
	} rows[] = { { 1, .4401, 5.162 }, { 2, .3573, 7.834 }, { 3, .3122, 10.261 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_true(fabs(moldable_rho(rows[i].dims) - rows[i].rho) < 5.1e-5);
		assert_true(fabs(moldable_ratio(rows[i].dims, MOLDABLE_LP) - rows[i].ratio) < 5.1e-4);
	}
	assert_int_equal(moldable_cap(4), 2);
	assert_int_equal(moldable_cap(7), 3);
	assert_true(fabs(moldable_ratio(2, MOLDABLE_INDEPENDENT) - 4.236) < 1e-3);
}

static void test_area(void **state)
{
	struct moldable m = { .dims = 2, .capacity = { 4, 8 } };

	(void)state;
	assert_true(moldable_area(&m, &(struct moldable_point){ 3, { 2, 4 } }) == 1.5);
}

/* P=(4,4): who takes (3,1) or (2,4) is cut to (2,1) and (2,2), which are in the table. */
static void test_cap(void **state)
{
	static const struct moldable_point a[] = { { 1, { 3, 1 } }, { 1.5, { 2, 1 } } };
	static const struct moldable_point b[] = { { 1, { 2, 4 } }, { 2, { 2, 2 } } };
	static const struct moldable_job jobs[] = { { a, 1 }, { b, 1 }, { a, 2 }, { b, 2 } };
	struct moldable m = { .dims = 2, .capacity = { 4, 4 }, .njobs = 4, .jobs = jobs };
	struct dag_edge edges[] = { { 0, 1 }, { 1, 2 }, { 2, 3 } };
	struct arena arena = { 0 };
	struct moldable_plan plan;
	struct dag dag;

	(void)state;
	/* In a chain everything is critical: all wish for their fastest. */
	dag_build(&dag, &arena, 4, edges, 3);
	m.dag = &dag;
	moldable_allocate(&m, 100, &arena, &plan);
	assert_int_equal(plan.wished[2], 0);
	assert_int_equal(plan.chosen[2], 1);
	assert_int_equal(plan.wished[3], 0);
	assert_int_equal(plan.chosen[3], 1);
	/* Those whose table has nothing below the cap keep what they have, and nothing is proved. */
	assert_int_equal(plan.chosen[0], 0);
	assert_false(plan.proved);
	arena_fini(&arena);
}

static void test_list(void **state)
{
	static const struct moldable_point p[] = { { 2, { 2, 1 } }, { 1, { 2, 2 } }, { 1, { 2, 2 } } };
	struct moldable_job jobs[] = { { &p[0], 1 }, { &p[1], 1 }, { &p[2], 1 } };
	struct moldable m = { .dims = 2, .capacity = { 4, 4 }, .njobs = 3, .jobs = jobs };
	struct dag_edge edges[] = { { 0, 2 } };
	uint32_t chosen[] = { 0, 0, 0 };
	struct arena arena = { 0 };
	struct dag dag;
	double start[3];

	(void)state;
	dag_build(&dag, &arena, 3, edges, 1);
	m.dag = &dag;
	assert_true(moldable_list(&m, chosen, NULL, &arena, start) == 3);
	assert_true(start[0] == 0 && start[1] == 0 && start[2] == 2);
	arena_fini(&arena);
}

/* Used (2,2) of (4,4): the first in the queue needs all and waits, the second starts. */
static void test_not_head_of_line(void **state)
{
	static const struct moldable_point p[] = { { 5, { 2, 2 } }, { 1, { 4, 4 } }, { 1, { 1, 1 } } };
	struct moldable_job jobs[] = { { &p[0], 1 }, { &p[1], 1 }, { &p[2], 1 } };
	struct moldable m = { .dims = 2, .capacity = { 4, 4 }, .njobs = 3, .jobs = jobs };
	double order[] = { 0, 1, 2 }, start[3];
	uint32_t chosen[] = { 0, 0, 0 };
	struct arena arena = { 0 };
	struct dag dag;

	(void)state;
	dag_build(&dag, &arena, 3, NULL, 0);
	m.dag = &dag;
	assert_true(moldable_list(&m, chosen, order, &arena, start) == 6);
	assert_true(start[1] == 5 && start[2] == 0);
	arena_fini(&arena);
}

/* ---- random instances that are as the proof wants them */

struct drawn {
	struct moldable m;
	struct dag dag;
	struct moldable_job *jobs;
};

enum { LEVELS = 4 };

/* Levels of a resource, the cap among them, so that all cuts are in the table. */
static uint32_t draw_levels(struct rng *rng, uint32_t capacity, uint32_t out[LEVELS])
{
	uint32_t n = 0, cap = moldable_cap(capacity);

	out[n++] = 1;
	if (cap > 1)
		out[n++] = cap;
	while (n < LEVELS && rng_uniform(rng) < 0.6) {
		uint32_t more = out[n - 1] + 1 + (uint32_t)rng_below(rng, capacity);

		if (more > capacity)
			break;
		out[n++] = more;
	}
	return n;
}

/* Amdahl in each resource: what is left alone, and work that each resource divides. */
static void draw_job(struct rng *rng, const struct moldable *m, struct arena *arena,
	struct moldable_job *out)
{
	uint32_t levels[MOLDABLE_DIMS][LEVELS], n[MOLDABLE_DIMS], all = 1;
	double alone = rng_uniform(rng) < 0.3 ? 0 : rng_uniform(rng), share[MOLDABLE_DIMS];
	double scale = rng_lognormal(rng, 0, rng_uniform(rng) < 0.5 ? 0.1 : 2);
	struct moldable_point *points;

	for (uint32_t d = 0; d < m->dims; d++) {
		n[d] = draw_levels(rng, m->capacity[d], levels[d]);
		share[d] = rng_uniform(rng) < 0.2 ? 0 : 5 * rng_uniform(rng);
		all *= n[d];
	}
	points = arena_array(arena, struct moldable_point, all);
	for (uint32_t i = 0; i < all; i++) {
		double time = alone + 1e-3;
		uint32_t rest = i;

		for (uint32_t d = 0; d < m->dims; d++, rest /= n[d - 1]) {
			points[i].need[d] = levels[d][rest % n[d]];
			time += share[d] / points[i].need[d];
		}
		points[i].time_s = scale * time;
	}
	*out = (struct moldable_job){ points, all };
}

static void draw(struct rng *rng, uint32_t njobs, uint32_t dims, double edges_per_job,
	struct arena *arena, struct drawn *out)
{
	uint32_t nedges = 0, most = (uint32_t)(njobs * edges_per_job);
	struct dag_edge *edges = arena_array(arena, struct dag_edge, most + 1);

	out->m = (struct moldable){ .dims = dims, .njobs = njobs };
	for (uint32_t d = 0; d < dims; d++)
		out->m.capacity[d] = MOLDABLE_LEAST + (uint32_t)rng_below(rng, 30);
	out->jobs = arena_array(arena, struct moldable_job, njobs);
	for (uint32_t j = 0; j < njobs; j++)
		draw_job(rng, &out->m, arena, &out->jobs[j]);
	for (uint32_t e = 0; e < most && njobs > 1; e++) {
		uint32_t a = (uint32_t)rng_below(rng, njobs), b = (uint32_t)rng_below(rng, njobs);

		if (a != b)
			edges[nedges++] = (struct dag_edge){ a < b ? a : b, a < b ? b : a };
	}
	dag_build(&out->dag, arena, njobs, edges, nedges);
	out->m.jobs = out->jobs;
	out->m.dag = &out->dag;
}

static double end_of(const struct moldable *m, const uint32_t *chosen, const double *start, uint32_t j)
{
	return start[j] + m->jobs[j].points[chosen[j]].time_s;
}

/* Used of a resource just after a moment. */
static uint32_t used_at(const struct moldable *m, const uint32_t *chosen, const double *start,
	uint32_t d, double at)
{
	uint32_t used = 0;

	for (uint32_t j = 0; j < m->njobs; j++)
		if (start[j] <= at && at < end_of(m, chosen, start, j))
			used += m->jobs[j].points[chosen[j]].need[d];
	return used;
}

static void assert_schedule(const struct moldable *m, const uint32_t *chosen, const double *start)
{
	for (uint32_t j = 0; j < m->njobs; j++) {
		for (uint32_t k = m->dag->first_pred[j]; k < m->dag->first_pred[j + 1]; k++)
			assert_true(end_of(m, chosen, start, m->dag->preds[k]) <= start[j]);
		for (uint32_t d = 0; d < m->dims; d++) {
			assert_true(used_at(m, chosen, start, d, start[j]) <= m->capacity[d]);
			assert_true(m->jobs[j].points[chosen[j]].need[d] <=
				moldable_cap(m->capacity[d]));
		}
	}
}

/* At each end, whoever could start and has not does not fit. */
static void assert_greedy(const struct moldable *m, const uint32_t *chosen, const double *start)
{
	for (uint32_t e = 0; e < m->njobs; e++) {
		double at = end_of(m, chosen, start, e);

		for (uint32_t j = 0; j < m->njobs; j++) {
			bool ready = start[j] > at, fits = true;

			for (uint32_t k = m->dag->first_pred[j]; k < m->dag->first_pred[j + 1]; k++)
				ready &= end_of(m, chosen, start, m->dag->preds[k]) <= at;
			for (uint32_t d = 0; d < m->dims && ready; d++)
				fits &= used_at(m, chosen, start, d, at) +
						m->jobs[j].points[chosen[j]].need[d] <=
					m->capacity[d];
			assert_false(ready && fits);
		}
	}
}

static void test_bound(void **state)
{
	struct rng rng = property("makespan <= ratio(d) * L_min, capacity and precedence hold");
	struct arena arena = { 0 };
	double worst[MOLDABLE_DIMS + 1] = { 0 };
	size_t proved = 0, n = rounds(6000);

	(void)state;
	for (size_t round = 0; round < n; round++) {
		uint32_t dims = 1 + (uint32_t)rng_below(&rng, 4);
		uint32_t njobs = 1 + (uint32_t)rng_below(&rng, rng_uniform(&rng) < 0.9 ? 15 : 60);
		double edges = rng_uniform(&rng) < 0.2 ? 0 : 2 * rng_uniform(&rng), makespan;
		struct moldable_plan plan;
		struct drawn drawn;
		double *start;

		draw(&rng, njobs, dims, edges, &arena, &drawn);
		moldable_allocate(&drawn.m, 1000, &arena, &plan);
		if (!plan.proved)
			fail_msg("nothing is proved: %s", plan.why);
		start = arena_array(&arena, double, njobs);
		makespan = moldable_list(&drawn.m, plan.chosen, NULL, &arena, start);
		assert_schedule(&drawn.m, plan.chosen, start);
		if (njobs <= 15)
			assert_greedy(&drawn.m, plan.chosen, start);
		if (makespan > plan.ratio * plan.least_s * (1 + 1e-6))
			fail_msg("%g is more than %g times %g (%u resources, %u jobs)", makespan,
				plan.ratio, plan.least_s, dims, njobs);
		worst[dims] = fmax(worst[dims], makespan / plan.least_s);
		proved += plan.proved;
		arena_reset(&arena);
	}
	printf("%zu instances; worst makespan / L_min by resources: %.2f %.2f %.2f %.2f (bounds %.2f %.2f %.2f %.2f)\n",
		proved, worst[1], worst[2], worst[3], worst[4], moldable_ratio(1, MOLDABLE_LP),
		moldable_ratio(2, MOLDABLE_LP), moldable_ratio(3, MOLDABLE_LP),
		moldable_ratio(4, MOLDABLE_LP));
	arena_fini(&arena);
}

/* ---- series-parallel graphs */

/* Jobs from..to fall into two parts, one after the other or side by side. */
static uint32_t draw_series(struct rng *rng, uint32_t from, uint32_t to, struct dag_edge *edges,
	uint32_t n)
{
	uint32_t cut;

	if (to - from < 2)
		return n;
	cut = from + 1 + (uint32_t)rng_below(rng, to - from - 1);
	n = draw_series(rng, from, cut, edges, n);
	n = draw_series(rng, cut, to, edges, n);
	if (rng_below(rng, 2))
		return n;
	for (uint32_t i = from; i < cut; i++)
		for (uint32_t j = cut; j < to; j++)
			edges[n++] = (struct dag_edge){ i, j };
	return n;
}

/* Each waits for one before it, or, the other way round, one waits for several. */
static uint32_t draw_tree(struct rng *rng, uint32_t njobs, bool joins, struct dag_edge *edges)
{
	uint32_t n = 0;

	for (uint32_t j = 1; j < njobs; j++) {
		uint32_t other = (uint32_t)rng_below(rng, j);

		edges[n++] = joins ? (struct dag_edge){ njobs - 1 - j, njobs - 1 - other }
				   : (struct dag_edge){ other, j };
	}
	return n;
}

static void redraw_edges(struct rng *rng, struct arena *arena, struct drawn *d)
{
	uint32_t n = d->m.njobs, nedges, form = (uint32_t)rng_below(rng, 4);
	struct dag_edge *edges = arena_array(arena, struct dag_edge, (size_t)n * n);

	nedges = form < 2 ? draw_series(rng, 0, n, edges, 0) : draw_tree(rng, n, form == 2, edges);
	dag_build(&d->dag, arena, n, edges, nedges);
}

static double longest(const struct moldable *m, const uint32_t *chosen, double *area, struct arena *arena)
{
	double *time_s = arena_array(arena, double, m->njobs);

	*area = 0;
	for (uint32_t j = 0; j < m->njobs; j++) {
		time_s[j] = m->jobs[j].points[chosen[j]].time_s;
		*area += moldable_area(m, &m->jobs[j].points[chosen[j]]);
	}
	return dag_bottom(m->dag, time_s, arena_array(arena, double, m->njobs));
}

static void test_series(void **state)
{
	struct rng rng = property(
		"series-parallel: area and path of the wish <= 1.1 L, makespan <= 1.1 (phi d + 1) L");
	struct arena arena = { 0 };
	double worst[MOLDABLE_DIMS + 1] = { 0 };
	size_t series = 0;

	(void)state;
	for (size_t round = 0; round < rounds(2000); round++) {
		uint32_t dims = 1 + (uint32_t)rng_below(&rng, 4);
		uint32_t njobs = 2 + (uint32_t)rng_below(&rng, rng_uniform(&rng) < 0.9 ? 15 : 60);
		struct moldable_plan plan;
		struct drawn drawn;
		double *start, makespan, area, path;

		draw(&rng, njobs, dims, 0, &arena, &drawn);
		redraw_edges(&rng, &arena, &drawn);
		moldable_allocate(&drawn.m, 1000, &arena, &plan);
		if (plan.way == MOLDABLE_INDEPENDENT)
			continue;
		assert_int_equal(plan.way, MOLDABLE_SERIES);
		assert_true(plan.proved);
		assert_true(fabs(plan.ratio - 1.1 * moldable_ratio(dims, MOLDABLE_INDEPENDENT)) < 1e-9);
		path = longest(&drawn.m, plan.wished, &area, &arena);
		assert_true(fmax(path, area) <= (1 + MOLDABLE_EPS) * plan.least_s * (1 + 1e-6));
		start = arena_array(&arena, double, njobs);
		makespan = moldable_list(&drawn.m, plan.chosen, NULL, &arena, start);
		assert_schedule(&drawn.m, plan.chosen, start);
		assert_true(makespan <= plan.ratio * plan.least_s * (1 + 1e-6));
		worst[dims] = fmax(worst[dims], makespan / plan.least_s);
		series++;
		arena_reset(&arena);
	}
	printf("%zu series-parallel ones; worst makespan / L_min %.2f %.2f %.2f %.2f (bounds %.2f %.2f %.2f %.2f)\n",
		series, worst[1], worst[2], worst[3], worst[4], moldable_ratio(1, MOLDABLE_SERIES),
		moldable_ratio(2, MOLDABLE_SERIES), moldable_ratio(3, MOLDABLE_SERIES),
		moldable_ratio(4, MOLDABLE_SERIES));
	assert_true(series > rounds(2000) / 2);
	arena_fini(&arena);
}

/* Which graphs are such. */
static void test_what_is_series_parallel(void **state)
{
	static const struct {
		const char *what;
		struct dag_edge edges[8];
		uint32_t n;
		enum moldable_way way;
	} rows[] = {
		{ "nobody waits", { { 0, 0 } }, 0, MOLDABLE_INDEPENDENT },
		{ "a chain", { { 0, 1 }, { 1, 2 }, { 2, 3 } }, 3, MOLDABLE_SERIES },
		{ "a fork and a join", { { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 } }, 4, MOLDABLE_SERIES },
		{ "with an edge that follows from others", { { 0, 1 }, { 1, 2 }, { 0, 2 } }, 3,
			MOLDABLE_SERIES },
		{ "a tree, and one by itself", { { 0, 1 }, { 0, 2 } }, 2, MOLDABLE_SERIES },
		{ "all of a layer before all of the next",
			{ { 0, 2 }, { 0, 3 }, { 1, 2 }, { 1, 3 } }, 4, MOLDABLE_SERIES },
		{ "an N", { { 0, 2 }, { 1, 2 }, { 1, 3 } }, 3, MOLDABLE_LP },
	};
	static const struct moldable_point point = { 1, { 1 } };
	struct moldable_job jobs[4];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct moldable m = { .dims = 1, .capacity = { 8 }, .njobs = 4, .jobs = jobs };
		struct arena arena = { 0 };
		struct moldable_plan plan;
		struct dag dag;

		for (int j = 0; j < 4; j++)
			jobs[j] = (struct moldable_job){ &point, 1 };
		dag_build(&dag, &arena, 4, rows[i].edges, rows[i].n);
		m.dag = &dag;
		moldable_allocate(&m, 100, &arena, &plan);
		if (plan.way != rows[i].way)
			fail_msg("%s", rows[i].what);
		arena_fini(&arena);
	}
}

/* ---- tiny ones, by trying everything */

/* Each in this order as early as all resources and what it waits for allow; INFINITY: the order is none. */
static double serial(const struct moldable *m, const uint32_t *chosen, const uint32_t *order)
{
	double start[8], makespan = 0;
	bool placed[8] = { false };

	for (uint32_t i = 0; i < m->njobs; i++) {
		uint32_t j = order[i];
		const struct moldable_point *p = &m->jobs[j].points[chosen[j]];
		double earliest = 0, best = INFINITY;

		for (uint32_t k = m->dag->first_pred[j]; k < m->dag->first_pred[j + 1]; k++) {
			if (!placed[m->dag->preds[k]])
				return INFINITY;
			earliest = fmax(earliest, end_of(m, chosen, start, m->dag->preds[k]));
		}
		for (uint32_t c = 0; c <= i; c++) {
			double at = c < i ? end_of(m, chosen, start, order[c]) : earliest;
			bool fits = at >= earliest && at < best;

			/* What is used changes where somebody starts. */
			for (uint32_t o = 0; o <= i && fits; o++) {
				double look = o < i ? fmax(at, start[order[o]]) : at;

				for (uint32_t d = 0; d < m->dims && look < at + p->time_s; d++) {
					uint32_t used = p->need[d];

					for (uint32_t q = 0; q < i; q++)
						if (start[order[q]] <= look &&
							look < end_of(m, chosen, start, order[q]))
							used += m->jobs[order[q]]
									.points[chosen[order[q]]]
									.need[d];
					fits &= used <= m->capacity[d];
				}
			}
			if (fits)
				best = at;
		}
		start[j] = best;
		placed[j] = true;
		makespan = fmax(makespan, end_of(m, chosen, start, j));
	}
	return makespan;
}

static double all_orders(const struct moldable *m, const uint32_t *chosen, uint32_t *order, uint32_t from)
{
	double best = INFINITY;

	if (from == m->njobs)
		return serial(m, chosen, order);
	for (uint32_t i = from; i < m->njobs; i++) {
		uint32_t kept = order[from];

		order[from] = order[i];
		order[i] = kept;
		best = fmin(best, all_orders(m, chosen, order, from + 1));
		order[i] = order[from];
		order[from] = kept;
	}
	return best;
}

static double optimum(const struct moldable *m, uint32_t *chosen, uint32_t from, double *least)
{
	double best = INFINITY;

	if (from == m->njobs) {
		uint32_t order[8];
		double time[8], bottom[8], area = 0;

		for (uint32_t j = 0; j < m->njobs; j++) {
			order[j] = j;
			time[j] = m->jobs[j].points[chosen[j]].time_s;
			area += moldable_area(m, &m->jobs[j].points[chosen[j]]);
		}
		*least = fmin(*least, fmax(area, dag_bottom(m->dag, time, bottom)));
		return all_orders(m, chosen, order, 0);
	}
	for (chosen[from] = 0; chosen[from] < m->jobs[from].n; chosen[from]++)
		best = fmin(best, optimum(m, chosen, from + 1, least));
	return best;
}

static void test_optimum(void **state)
{
	struct rng rng = property(
		"L_min <= min over allocations of max(A, C) <= T_opt, makespan <= ratio * T_opt");
	struct arena arena = { 0 };
	double worst = 0;
	size_t done = 0;

	(void)state;
	while (done < rounds(300)) {
		uint32_t dims = 1 + (uint32_t)rng_below(&rng, 2),
			 njobs = 1 + (uint32_t)rng_below(&rng, 4);
		double makespan, best, least = INFINITY, start[8], tries = 1;
		struct moldable_plan plan;
		struct drawn drawn;
		uint32_t chosen[8];

		draw(&rng, njobs, dims, rng_uniform(&rng) < 0.3 ? 0 : 1.5, &arena, &drawn);
		if (done % 3 == 0 && njobs > 1)
			redraw_edges(&rng, &arena, &drawn);
		for (uint32_t j = 0; j < njobs; j++)
			tries *= drawn.jobs[j].n * (j + 1);
		if (tries > 2e5)
			continue;
		moldable_allocate(&drawn.m, 1000, &arena, &plan);
		makespan = moldable_list(&drawn.m, plan.chosen, NULL, &arena, start);
		best = optimum(&drawn.m, chosen, 0, &least);
		assert_true(plan.least_s <= least * (1 + 1e-6));
		if (plan.way == MOLDABLE_INDEPENDENT)
			assert_true(fabs(plan.least_s - least) <= 1e-9 * least);
		if (plan.way == MOLDABLE_SERIES)
			assert_true(plan.least_s >= least / (1 + MOLDABLE_EPS) * (1 - 1e-9));
		assert_true(least <= best * (1 + 1e-9));
		assert_true(best <= makespan * (1 + 1e-9));
		assert_true(makespan <= plan.ratio * best);
		worst = fmax(worst, makespan / best);
		arena_reset(&arena);
		done++;
	}
	printf("%zu tiny instances; worst makespan / T_opt %.2f\n", done, worst);
	arena_fini(&arena);
}

/* Too many jobs for the program: nothing is claimed, and the schedule is one all the same. */
static void test_greedy(void **state)
{
	struct rng rng = property("a guess is marked as one, and its bound is a lower one");
	struct arena arena = { 0 };

	(void)state;
	for (size_t round = 0; round < rounds(200); round++) {
		struct moldable_plan plan, exact;
		struct drawn drawn;
		double *start;

		draw(&rng, 20, 2, 1, &arena, &drawn);
		moldable_allocate(&drawn.m, 10, &arena, &plan);
		moldable_allocate(&drawn.m, 100, &arena, &exact);
		if (exact.way == MOLDABLE_INDEPENDENT)
			continue;
		assert_int_equal(plan.way, MOLDABLE_GREEDY);
		assert_false(plan.proved);
		assert_true(isinf(plan.ratio));
		assert_true(plan.least_s <= exact.least_s * (1 + 1e-6));
		start = arena_array(&arena, double, 20);
		moldable_list(&drawn.m, plan.chosen, NULL, &arena, start);
		assert_schedule(&drawn.m, plan.chosen, start);
		arena_reset(&arena);
	}
	arena_fini(&arena);
}

/* What the program costs; figures for doc/tasks.md. */
static void test_cost(void **state)
{
	struct rng rng = property("cost of phase 1");
	static const uint32_t sizes[] = { 50, 100, 200, 400, 1000 };
	struct arena arena = { 0 };

	(void)state;
	if (!getenv("SOAK") && !getenv("COST"))
		return;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct moldable_plan plan;
		struct drawn drawn;
		clock_t before;

		draw(&rng, sizes[i], 1, 1.5, &arena, &drawn);
		before = clock();
		moldable_allocate(&drawn.m, 10000, &arena, &plan);
		printf("%u jobs: %.1f ms\n", sizes[i],
			(double)(clock() - before) * 1e3 / CLOCKS_PER_SEC);
		arena_reset(&arena);
	}
	arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parameters),
		cmocka_unit_test(test_area),
		cmocka_unit_test(test_cap),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_not_head_of_line),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_series),
		cmocka_unit_test(test_what_is_series_parallel),
		cmocka_unit_test(test_optimum),
		cmocka_unit_test(test_greedy),
		cmocka_unit_test(test_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
