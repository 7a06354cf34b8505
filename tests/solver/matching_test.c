#include "solver/matching.h"

#include <math.h>

#include "base/clock.h"
#include "base/mem.h"
#include "solver/lp.h"
#include "support/property.h"

enum { FEW = 10 };

/* The mates agree, and every pair has an edge; the weight of the heaviest edges between pairs. */
static double weigh(const struct matching *m, const uint32_t *mate_of, uint32_t *pairs)
{
	double *best = mem_alloc(m->vertices * sizeof(*best) + 1), sum = 0;

	for (uint32_t v = 0; v < m->vertices; v++)
		best[v] = -1;
	for (size_t e = 0; e < m->n_edges; e++) {
		uint32_t a = m->edges[e].a;

		if (mate_of[a] == m->edges[e].b)
			best[a] = best[mate_of[a]] = fmax(best[a], m->edges[e].weight);
	}
	*pairs = 0;
	for (uint32_t v = 0; v < m->vertices; v++) {
		if (mate_of[v] == MATCHING_ALONE)
			continue;
		assert_true(mate_of[v] < m->vertices && mate_of[mate_of[v]] == v);
		assert_true(best[v] >= 0);
		*pairs += v < mate_of[v];
		sum += v < mate_of[v] ? best[v] : 0;
	}
	free(best);
	return sum;
}

/* ---- small ones, against all of them */

struct best {
	uint32_t pairs;
	double weight;
};

static bool better(const struct matching *m, struct best a, struct best b)
{
	if (m->most_pairs && a.pairs != b.pairs)
		return a.pairs > b.pairs;
	return a.weight > b.weight;
}

static void try_all(const struct matching *m, size_t e, uint32_t used, struct best now,
	struct best *best)
{
	for (; e < m->n_edges; e++) {
		uint32_t ends = 1u << m->edges[e].a | 1u << m->edges[e].b;

		if (!(used & ends))
			try_all(m, e + 1, used | ends,
				(struct best){ now.pairs + 1, now.weight + m->edges[e].weight }, best);
	}
	if (better(m, now, *best))
		*best = now;
}

struct graph {
	struct matching m;
	struct matching_edge edges[FEW * FEW];
};

static double draw_weight(struct rng *rng, uint64_t kind)
{
	if (kind == 0)
		return rng_uniform(rng);
	if (kind == 1)
		return (double)rng_below(rng, 3);
	return kind == 2 ? (double)rng_below(rng, 100) : 7;
}

static void draw_graph(struct graph *g, struct rng *rng)
{
	uint32_t n = (uint32_t)rng_below(rng, FEW + 1);
	uint64_t kind = rng_below(rng, 4);
	double density = rng_between(rng, 0.1, 0.8);
	size_t edges = 0;

	for (uint32_t a = 0; a < n; a++) {
		for (uint32_t b = 0; b < a; b++) {
			if (rng_uniform(rng) < density)
				g->edges[edges++] = (struct matching_edge){ a, b,
					draw_weight(rng, kind) };
		}
	}
	if (edges && rng_below(rng, 4) == 0) {
		g->edges[edges] = g->edges[rng_below(rng, edges)];
		g->edges[edges++].weight += 1;
	}
	g->m = (struct matching){ n, g->edges, edges, rng_below(rng, 2) };
}

static void small_ones_against_all(void **state)
{
	struct rng rng = property("small graphs against all matchings");

	(void)state;
	for (size_t i = 0; i < rounds(8000); i++) {
		struct best best = { 0 };
		uint32_t mate_of[FEW], pairs;
		struct graph g;
		double weight;

		draw_graph(&g, &rng);
		try_all(&g.m, 0, 0, best, &best);
		assert_true(matching_solve(&g.m, mate_of));
		weight = weigh(&g.m, mate_of, &pairs);
		assert_true(fabs(weight - best.weight) < 1e-9);
		if (g.m.most_pairs)
			assert_int_equal(pairs, best.pairs);
	}
}

/* ---- known ones */

static void known_graphs(void **state)
{
	static const struct matching_edge triangle[] = { { 0, 1, 5 }, { 1, 2, 6 }, { 2, 0, 7 } };
	static const struct matching_edge path[] = { { 0, 1, 2 }, { 1, 2, 5 }, { 2, 3, 2 } };
	static const struct matching_edge zero[] = { { 0, 1, 0 }, { 1, 2, 0 }, { 2, 3, 0 } };
	/* Two triangles with a bridge: both circles must shrink. */
	static const struct matching_edge twins[] = { { 0, 1, 4 }, { 1, 2, 4 }, { 2, 0, 4 },
		{ 2, 3, 1 }, { 3, 4, 4 }, { 4, 5, 4 }, { 5, 3, 4 } };
	static const struct {
		const char *what;
		struct matching m;
		double weight;
		uint32_t pairs;
	} rows[] = {
		{ "the heaviest side of a triangle", { 3, triangle, 3, false }, 7, 1 },
		{ "the middle outweighs the ends", { 4, path, 3, false }, 5, 1 },
		{ "two light pairs when pairs count", { 4, path, 3, true }, 4, 2 },
		{ "weightless edges count as pairs", { 4, zero, 3, true }, 0, 2 },
		{ "two triangles and a bridge", { 6, twins, 7, false }, 9, 3 },
		{ "a part of the graph without edges", { 9, triangle, 3, true }, 7, 1 },
		{ "no edges", { 5, NULL, 0, true }, 0, 0 },
		{ "no vertices", { 0, NULL, 0, false }, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint32_t mate_of[9], pairs;
		double weight;

		assert_true(matching_solve(&rows[i].m, mate_of));
		weight = weigh(&rows[i].m, mate_of, &pairs);
		if (weight != rows[i].weight || pairs != rows[i].pairs)
			fail_msg("%s: weight %g, %u pairs", rows[i].what, weight, pairs);
	}
}

/* ---- larger ones */

static double by_program(const struct matching *m)
{
	struct lp *lp = lp_create();
	double objective;

	lp_maximise(lp, true);
	for (uint32_t v = 0; v < m->vertices; v++)
		lp_add_row(lp, -INFINITY, 1);
	for (size_t e = 0; e < m->n_edges; e++) {
		uint32_t x = lp_add_column(lp, m->edges[e].weight, 0, 1, true);

		lp_set(lp, m->edges[e].a, x, 1);
		lp_set(lp, m->edges[e].b, x, 1);
	}
	assert_int_equal(lp_solve(lp, (struct lp_limits){ 0 }), LP_OPTIMAL);
	objective = lp_objective(lp);
	lp_destroy(lp);
	return objective;
}

static struct matching draw_large(struct rng *rng, uint32_t n, double density, uint64_t kind,
	bool most_pairs)
{
	struct matching_edge *edges = mem_alloc(mem_array_size((size_t)n * n / 2, sizeof(*edges)));
	size_t count = 0;

	for (uint32_t a = 0; a < n; a++) {
		for (uint32_t b = 0; b < a; b++) {
			if (rng_uniform(rng) < density)
				edges[count++] = (struct matching_edge){ a, b, draw_weight(rng, kind) };
		}
	}
	return (struct matching){ n, edges, count, most_pairs };
}

static void medium_ones_against_integer_programs(void **state)
{
	struct rng rng = property("graphs against integer programs");

	(void)state;
	for (size_t i = 0; i < rounds(24); i++) {
		struct matching m = draw_large(&rng, 20 + (uint32_t)rng_below(&rng, 21), 0.2, i % 4,
			false);
		uint32_t mate_of[40], pairs;

		assert_true(matching_solve(&m, mate_of));
		assert_true(fabs(weigh(&m, mate_of, &pairs) - by_program(&m)) < 1e-6);
		free((void *)m.edges);
	}
}

/*
 * Too large to try, but answers prove themselves: a failed proof would end in
 * an integer program of thousands of columns and in no time to do it.
 */
static void large_ones_prove_themselves(void **state)
{
	struct rng rng = property("large graphs");
	static uint32_t mate_of[400];

	(void)state;
	for (size_t i = 0; i < rounds(40); i++) {
		uint32_t n = 100 + (uint32_t)rng_below(&rng, 101), pairs;
		double density = i % 2 ? 0.03 : 1;
		struct matching m = draw_large(&rng, n, density, i / 2 % 4, i % 3 == 0);

		assert_true(matching_solve(&m, mate_of));
		weigh(&m, mate_of, &pairs);
		if (density == 1 && m.most_pairs)
			assert_int_equal(pairs, n / 2);
		free((void *)m.edges);
	}
}

static void speed(void **state)
{
	struct rng rng = property("256 vertices, every edge");
	static uint32_t mate_of[256];

	(void)state;
	for (int kind = 0; kind < 3; kind++) {
		struct matching m = draw_large(&rng, 256, 1, (uint64_t)kind, false);
		double began = clock_cpu_s();

		assert_true(matching_solve(&m, mate_of));
		printf("[   TIME   ] %.1f ms\n", (clock_cpu_s() - began) * 1e3);
		free((void *)m.edges);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_ones_against_all),
		cmocka_unit_test(known_graphs),
		cmocka_unit_test(medium_ones_against_integer_programs),
		cmocka_unit_test(large_ones_prove_themselves),
		cmocka_unit_test(speed),
	};

	return cmocka_run_group_tests_name("solver/matching", tests, NULL, NULL);
}
