/*
 * Pollux: its means, its matrices against all there are, what repair leaves,
 * and single decisions.
 */
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "policy/elastic/pollux_search.h"
#include "support/desk.h"
#include "support/property.h"
#include "support/scene.h"

/* ---- a search by hand */

enum { JOBS_MAX = 12, NODES_MAX_HERE = 24 };

struct bench {
	struct pollux_search search;
	struct arena arena;
	uint8_t node_type[NODES_MAX_HERE + 8];
	uint32_t may_use[JOBS_MAX], least[JOBS_MAX * 2], most[JOBS_MAX * 2];
	double factor[JOBS_MAX], slope[JOBS_MAX];
};

/* Grows with devices, ever less; over nodes a part of it is lost. */
static double drawn_speedup(void *ctx, uint32_t row, uint32_t type, uint32_t nodes, uint32_t gpus)
{
	const struct bench *b = ctx;

	return (1 + type) * exp(b->slope[row] * log(gpus)) * (nodes > 1 ? 0.8 : 1);
}

static void bench_init(struct bench *b, uint32_t jobs, uint32_t nodes, uint32_t types)
{
	*b = (struct bench){ 0 };
	b->search = (struct pollux_search){
		.jobs = jobs,
		.nodes = nodes,
		.types = types,
		.capacity = arena_array(&b->arena, uint64_t, genetic_width(nodes)),
		.base = arena_array(&b->arena, uint64_t, (size_t)jobs * genetic_width(nodes)),
		.node_type = b->node_type,
		.may_use = b->may_use,
		.least = b->least,
		.most = b->most,
		.factor = b->factor,
		.avoid = true,
		.p = -1,
		.scale = 1,
		.floor = 1e-3,
		.speedup = drawn_speedup,
		.ctx = b,
	};
	for (uint32_t j = 0; j < jobs; j++) {
		b->may_use[j] = ~UINT32_C(0);
		b->factor[j] = 1;
		b->slope[j] = 0.7;
		for (uint32_t t = 0; t < types; t++) {
			b->least[j * types + t] = 1;
			b->most[j * types + t] = 64;
		}
	}
}

static void set_capacity(struct bench *b, uint32_t node, uint32_t gpus)
{
	genetic_cells(b->search.capacity)[node] = (uint8_t)gpus;
}

/* Searches and returns the best matrix, in memory of `g`. */
static const struct genome *solve(struct bench *b, struct genetic *g, uint32_t generations,
	struct rng *rng)
{
	struct genetic_options how = { .population = 60, .generations = generations, .crossover = 0.9 };
	struct genetic_problem problem;

	pollux_search_prepare(&b->search, &b->arena);
	problem = pollux_search_problem(&b->search);
	genetic_begin(g, b->search.jobs, b->search.nodes, how.population);
	return genetic_run(g, &problem, &how, rng);
}

static uint32_t cell(const struct bench *b, const uint64_t *words, uint32_t job, uint32_t node)
{
	return ((const uint8_t *)(words + (size_t)job * genetic_width(b->search.nodes)))[node];
}

/* ---- what the paper says */

static void means_are_those_of_the_paper(void **state)
{
	static const struct {
		double values[2], p, mean;
	} rows[] = {
		{ { 2, 1 }, -1, 4.0 / 3 }, { { 2, 1 }, 1, 1.5 }, { { 1.5, 1.5 }, -1, 1.5 },
		{ { 1.5, 1.5 }, 1, 1.5 }, { { 1.5, 1.5 }, -3, 1.5 },
		{ { 2, 1 }, 0, 1.4142135623730951 },
		{ { 2, 1 }, -20, 1.035264874476 }, /* near the least of them */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		double got = pollux_mean(rows[i].values, 2, rows[i].p);

		if (!(fabs(got - rows[i].mean) < 1e-9))
			fail_msg("row %zu: %.12g, expected %.12g", i, got, rows[i].mean);
	}
}

static void restarts_cost_the_young_more(void **state)
{
	(void)state;
	assert_true(fabs(pollux_restart_factor(600, 2, 30) - 540.0 / 630) < 1e-12);
	assert_true(pollux_restart_factor(60, 2, 30) == 0);
	assert_true(pollux_restart_factor(60, 3, 30) == 0);
	assert_true(pollux_restart_factor(0, 0, 0) == 1);
	assert_true(pollux_restart_factor(1000, 0, 30) > pollux_restart_factor(100, 0, 30));
}

static double of_the_example(void *ctx, uint32_t row, uint32_t type, uint32_t nodes, uint32_t gpus)
{
	(void)ctx, (void)row, (void)type, (void)nodes;
	return gpus == 1 ? 1 : 1.6;
}

static void two_equal_jobs_have_one_device_each(void **state)
{
	struct rng rng = property("two jobs, two devices");
	struct genetic g = { 0 };
	struct bench b;
	const struct genome *best;

	(void)state;
	bench_init(&b, 2, 1, 1);
	set_capacity(&b, 0, 2);
	b.search.speedup = of_the_example;
	best = solve(&b, &g, 30, &rng);
	assert_int_equal(cell(&b, best->words, 0, 0), 1);
	assert_int_equal(cell(&b, best->words, 1, 0), 1);
	assert_true(fabs(best->objective[0] - 1) < 1e-12);
	genetic_fini(&g);
	arena_fini(&b.arena);
}

/* ---- against all matrices */

struct oracle {
	struct bench *b;
	uint64_t *words;
	double best;
};

static bool allowed(const struct bench *b, const uint64_t *words)
{
	const struct pollux_search *s = &b->search;

	for (uint32_t n = 0; n < s->nodes; n++) {
		uint32_t gpus = 0, distributed = 0;

		for (uint32_t j = 0; j < s->jobs; j++) {
			const uint64_t *row = words + (size_t)j * s->width;

			gpus += cell(b, words, j, n);
			distributed += cell(b, words, j, n) && pollux_row_nodes(row, s->width) > 1;
		}
		if (gpus > genetic_cells(s->capacity)[n] || (s->avoid && distributed > 1))
			return false;
	}
	for (uint32_t j = 0; j < s->jobs; j++) {
		const uint64_t *row = words + (size_t)j * s->width;
		uint32_t gpus = pollux_row_gpus(row, s->width), type = UINT32_MAX;

		for (uint32_t n = 0; n < s->nodes; n++) {
			if (!cell(b, words, j, n))
				continue;
			if (type != UINT32_MAX && type != s->node_type[n])
				return false;
			type = s->node_type[n];
		}
		if (gpus > 0 &&
			(gpus < s->least[j * s->types + type] ||
				gpus > s->most[j * s->types + type] || !(s->may_use[j] >> type & 1)))
			return false;
		if (s->widest && pollux_row_nodes(row, s->width) > s->widest)
			return false;
	}
	return true;
}

static void try_all(struct oracle *o, uint32_t at)
{
	const struct pollux_search *s = &o->b->search;
	uint32_t job = at / s->nodes, node = at % s->nodes;

	if (at == s->jobs * s->nodes) {
		if (allowed(o->b, o->words))
			o->best = fmax(o->best, pollux_search_fitness(&o->b->search, o->words));
		return;
	}
	for (uint32_t gpus = 0; gpus <= genetic_cells(s->capacity)[node]; gpus++) {
		genetic_cells(o->words + (size_t)job * s->width)[node] = (uint8_t)gpus;
		try_all(o, at + 1);
	}
	genetic_cells(o->words + (size_t)job * s->width)[node] = 0;
}

static void draw_bench(struct bench *b, struct rng *rng, uint32_t jobs, uint32_t nodes, uint32_t gpus)
{
	uint32_t types = 1 + (uint32_t)rng_below(rng, 2);

	bench_init(b, jobs, nodes, types);
	b->search.avoid = rng_below(rng, 4) > 0;
	b->search.p = rng_below(rng, 3) ? -1 : rng_between(rng, -3, 1);
	for (uint32_t n = 0; n < nodes; n++) {
		set_capacity(b, n, 1 + (uint32_t)rng_below(rng, gpus));
		b->node_type[n] = (uint8_t)rng_below(rng, types);
	}
	for (uint32_t j = 0; j < jobs; j++) {
		b->slope[j] = rng_between(rng, 0.3, 1);
		b->may_use[j] = (uint32_t)rng_below(rng, 8) ? 3 : (uint32_t)rng_below(rng, types + 1);
		for (uint32_t t = 0; t < types; t++) {
			b->least[j * types + t] = rng_below(rng, 3) ? 1 : pick(rng, 3);
			b->most[j * types + t] = b->least[j * types + t] + (uint32_t)rng_below(rng, 6);
		}
	}
}

static void small_ones_are_solved(void **state)
{
	struct rng rng = property("the best of all allowed matrices is found");
	struct genetic g = { 0 };

	(void)state;
	for (size_t round = 0; round < rounds(40); round++) {
		static const uint32_t shapes[][2] = { { 2, 2 }, { 3, 2 }, { 2, 3 }, { 4, 2 },
			{ 2, 4 }, { 1, 5 }, { 5, 1 } };
		const uint32_t *shape = shapes[round % COUNT(shapes)];
		struct bench b;
		struct oracle o = { .b = &b, .best = -INFINITY };
		const struct genome *best;

		draw_bench(&b, &rng, shape[0], shape[1], shape[0] * shape[1] > 6 ? 2 : 3);
		best = solve(&b, &g, 100, &rng);
		o.words = arena_array(&b.arena, uint64_t, (size_t)shape[0] * b.search.width);
		try_all(&o, 0);
		assert_true(allowed(&b, best->words));
		if (!(best->objective[0] >= o.best * (1 - 1e-12)))
			fail_msg("round %zu, %u jobs, %u nodes: found %.9g, best %.9g", round,
				shape[0], shape[1], best->objective[0], o.best);
		arena_fini(&b.arena);
	}
	genetic_fini(&g);
}

/* ---- properties */

static void all_members_are_allowed(void **state)
{
	struct rng rng = property(
		"capacities, limits, types, one distributed job on a node; worth as computed anew");
	struct genetic g = { 0 };

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		struct bench b;

		draw_bench(&b, &rng, pick(&rng, JOBS_MAX), pick(&rng, NODES_MAX_HERE), 8);
		if (rng_below(&rng, 3) == 0)
			b.search.widest = 2;
		/* What is now may be anything: nodes fail. */
		for (uint32_t j = 0; j < b.search.jobs; j++) {
			b.factor[j] = rng_uniform(&rng);
			genetic_cells(b.search.base +
				(size_t)j *
					genetic_width(b.search.nodes))[rng_below(&rng, b.search.nodes)] =
				(uint8_t)rng_below(&rng, 9);
		}
		solve(&b, &g, 6, &rng);
		for (uint32_t i = 0; i < g.n; i++) {
			double anew = pollux_search_fitness(&b.search, g.members[i].words);

			if (!allowed(&b, g.members[i].words))
				fail_msg("round %zu: member %u is not allowed", round, i);
			assert_true(g.members[i].objective[0] == anew);
		}
		arena_fini(&b.arena);
	}
	genetic_fini(&g);
}

static void names_of_jobs_do_not_matter(void **state)
{
	struct rng rng = property("fitness is the same in any order of jobs");
	struct genetic g = { 0 };

	(void)state;
	for (size_t round = 0; round < rounds(30); round++) {
		uint32_t jobs = 2 + (uint32_t)rng_below(&rng, 8), order[JOBS_MAX];
		struct bench b, c;
		const struct genome *best;
		uint64_t *words;

		draw_bench(&b, &rng, jobs, 5, 4);
		best = solve(&b, &g, 5, &rng);
		c = b;
		c.search.ctx = &c;
		c.search.factor = c.factor;
		words = arena_array(&b.arena, uint64_t, (size_t)jobs * b.search.width);
		for (uint32_t j = 0; j < jobs; j++)
			order[j] = (j + 1 + (uint32_t)round) % jobs;
		for (uint32_t j = 0; j < jobs; j++) {
			c.slope[order[j]] = b.slope[j];
			memcpy(words + (size_t)order[j] * b.search.width,
				best->words + (size_t)j * b.search.width,
				b.search.width * sizeof(*words));
		}
		pollux_search_prepare(&c.search, &b.arena);
		assert_true(fabs(pollux_search_fitness(&c.search, words) / best->objective[0] - 1) <
			1e-12);
		arena_fini(&b.arena);
	}
	genetic_fini(&g);
}

/* ---- decisions */

static struct job *elastic_job(struct desk *desk, double arrival_s, int max)
{
	struct job *job = desk_job(desk, arrival_s, 1, 1000, 0);

	job->min_gpus = 1;
	job->max_gpus = max;
	return job;
}

static uint32_t gpus_of(const struct desk *desk, uint32_t job)
{
	const struct grant *grant = plan_grant(&desk->plan, job);

	return grant ? grant->gpus : 0;
}

static void equal_jobs_share_the_cluster(void **state)
{
	struct desk desk;

	(void)state;
	desk_init(&desk, "2x4");
	for (int i = 0; i < 4; i++)
		elastic_job(&desk, i, 8);
	desk_decide(&desk, "pollux:patience=0", 60);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(gpus_of(&desk, i), 2);
		assert_int_equal(plan_grant(&desk.plan, i)->nslots, 1);
	}
	desk_fini(&desk);
}

static void who_is_left_out_is_told(void **state)
{
	struct desk desk;
	uint32_t out = 0;

	(void)state;
	desk_init(&desk, "1x2");
	for (int i = 0; i < 3; i++)
		elastic_job(&desk, i, 2);
	desk_decide(&desk, "pollux", 60);
	/* Who of the equals that is, the search draws. */
	assert_int_equal(strlen(desk_who(&desk)), 2);
	while (out < 2 && gpus_of(&desk, out))
		out++;
	assert_int_equal(desk_reason(&desk, out).why, WHY_BUSY);
	assert_int_equal(desk_reason(&desk, out).need, 1);
	assert_int_equal(desk_reason(&desk, out).have, 0);
	desk_fini(&desk);
}

static void more_jobs_than_are_searched_wait_for_their_turn(void **state)
{
	struct desk desk;

	(void)state;
	desk_init(&desk, "1x4");
	for (int i = 0; i < 3; i++)
		elastic_job(&desk, i, 4);
	desk_decide(&desk, "pollux:most_jobs=2", 60);
	assert_string_equal(desk_who(&desk), "AB");
	assert_int_equal(desk_reason(&desk, 2).why, WHY_TURN);
	desk_fini(&desk);
}

/* A gang that spans nodes is found though a mutation changes single cells. */
static void gangs_are_placed_whole(void **state)
{
	struct desk desk;

	(void)state;
	desk_init(&desk, "3x4");
	desk_job(&desk, 0, 12, 1000, 0);
	desk_decide(&desk, "pollux", 60);
	assert_int_equal(gpus_of(&desk, 0), 12);
	desk_fini(&desk);
}

static void a_young_job_is_not_moved_for_little(void **state)
{
	struct desk desk;

	(void)state;
	desk_init(&desk, "2x2");
	elastic_job(&desk, 0, 2);
	desk_run(&desk, 0, 50);
	desk_decide(&desk, "pollux:restart_s=90", 60);
	/* Alone it could have two; at its age a restart leaves it 0.4 of that. */
	assert_int_equal(gpus_of(&desk, 0), 1);
	desk_fini(&desk);
	desk_init(&desk, "2x2");
	elastic_job(&desk, 0, 2);
	desk_run(&desk, 0, 50);
	desk_decide(&desk, "pollux:restart_s=90", 6000);
	assert_int_equal(gpus_of(&desk, 0), 2);
	desk_fini(&desk);
}

static void the_first_round_of_the_published_one_is_idle(void **state)
{
	struct desk desk;

	(void)state;
	desk_init(&desk, "1x2");
	elastic_job(&desk, 0, 2);
	desk_decide(&desk, "pollux:compat=osdi21", 0);
	assert_string_equal(desk_who(&desk), "");
	assert_int_equal(desk_reason(&desk, 0).why, WHY_ROUND);
	desk_decide(&desk, "pollux:compat=osdi21", 60);
	assert_string_equal(desk_who(&desk), "A");
	desk_fini(&desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(means_are_those_of_the_paper),
		cmocka_unit_test(restarts_cost_the_young_more),
		cmocka_unit_test(two_equal_jobs_have_one_device_each),
		cmocka_unit_test(small_ones_are_solved),
		cmocka_unit_test(all_members_are_allowed),
		cmocka_unit_test(names_of_jobs_do_not_matter),
		cmocka_unit_test(equal_jobs_share_the_cluster),
		cmocka_unit_test(who_is_left_out_is_told),
		cmocka_unit_test(more_jobs_than_are_searched_wait_for_their_turn),
		cmocka_unit_test(gangs_are_placed_whole),
		cmocka_unit_test(a_young_job_is_not_moved_for_little),
		cmocka_unit_test(the_first_round_of_the_published_one_is_idle),
	};

	return cmocka_run_group_tests_name("policy/elastic/pollux", tests, NULL, NULL);
}
