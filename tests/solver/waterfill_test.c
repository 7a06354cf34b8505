#include "solver/waterfill.h"

#include <math.h>
#include <string.h>

#include "solver/lp.h"
#include "support/property.h"

enum { JOBS = 12, TYPES = 4, ENTITIES = 4 };

struct instance {
	struct waterfill program;
	double rate[JOBS * TYPES], gang[JOBS], capacity[TYPES], weight[JOBS], entity_weight[ENTITIES];
	uint32_t entity[JOBS];
	bool in_order[ENTITIES];
};

/* ---- the same thing, level by level with CLP */

struct naive {
	const struct waterfill *program;
	double level[JOBS], weight[JOBS];
	bool stopped[JOBS];
};

/*
 * Columns: z, then x by job and type.  Rows: rate of each job at least its level, plus its weight over
 * its gang times z; shares; capacities.
 */
static struct lp *program_of(const struct naive *n)
{
	const struct waterfill *p = n->program;
	struct lp *lp = lp_create();

	lp_maximise(lp, true);
	lp_add_column(lp, 1, 0, 1e6, false);
	for (uint32_t v = 0; v < p->jobs * p->types; v++)
		lp_add_column(lp, 0, 0, INFINITY, false);
	for (uint32_t i = 0; i < p->jobs; i++) {
		uint32_t rate = lp_add_row(lp, n->level[i] - 1e-9, INFINITY),
			 share = lp_add_row(lp, -INFINITY, 1);

		lp_set(lp, rate, 0, -n->weight[i] / p->gang[i]);
		for (uint32_t w = 0; w < p->types; w++) {
			lp_set(lp, rate, 1 + i * p->types + w, p->rate[i * p->types + w]);
			lp_set(lp, share, 1 + i * p->types + w, 1);
		}
	}
	for (uint32_t w = 0; w < p->types; w++) {
		uint32_t row = lp_add_row(lp, -INFINITY, p->capacity[w]);

		for (uint32_t i = 0; i < p->jobs; i++)
			lp_set(lp, row, 1 + i * p->types + w, p->gang[i]);
	}
	return lp;
}

static double highest(struct lp *lp)
{
	enum lp_status status = lp_solve(lp, (struct lp_limits){ 0 });

	assert_int_equal(status, LP_OPTIMAL);
	return lp_objective(lp);
}

static double own_weight(const struct naive *n, uint32_t i)
{
	return n->program->weight ? n->program->weight[i] : 1;
}

static double weight_now(const struct naive *n, uint32_t i)
{
	const struct waterfill *p = n->program;
	double sum = 0;

	if (n->stopped[i] || own_weight(n, i) <= 0)
		return 0;
	if (!p->entities)
		return own_weight(n, i);
	for (uint32_t j = 0; j < p->jobs; j++) {
		if (n->stopped[j] || p->entity[j] != p->entity[i])
			continue;
		if (p->in_order[p->entity[i]] && j < i)
			return 0;
		sum += own_weight(n, j);
	}
	return p->entity_weight[p->entity[i]] *
		(p->in_order[p->entity[i]] ? 1 : own_weight(n, i) / sum);
}

/* The most a job can have if everyone keeps its level. */
static double most_for(const struct naive *n, uint32_t job)
{
	const struct waterfill *p = n->program;
	struct lp *lp = program_of(n);
	double most;

	lp_set_column(lp, 0, 0, 0);
	lp_set_cost(lp, 0, 0);
	for (uint32_t w = 0; w < p->types; w++)
		lp_set_cost(lp, 1 + job * p->types + w, p->rate[job * p->types + w]);
	most = highest(lp);
	lp_destroy(lp);
	return most;
}

static bool one_level(struct naive *n)
{
	double z, sum = 0;
	struct lp *lp;
	bool any = false;

	for (uint32_t i = 0; i < n->program->jobs; i++)
		sum += n->weight[i] = weight_now(n, i);
	if (sum <= 0)
		return false;
	lp = program_of(n);
	z = highest(lp);
	lp_destroy(lp);
	for (uint32_t i = 0; i < n->program->jobs; i++)
		n->level[i] += z * n->weight[i] / n->program->gang[i];
	for (uint32_t i = 0; i < n->program->jobs; i++) {
		if (n->weight[i] <= 0 || most_for(n, i) > n->level[i] * (1 + 1e-5) + 1e-5)
			continue;
		n->stopped[i] = true;
		any = true;
	}
	return any;
}

static void naive_solve(struct naive *n, const struct waterfill *program)
{
	*n = (struct naive){ .program = program };
	for (uint32_t i = 0; i < program->jobs; i++)
		n->stopped[i] = own_weight(n, i) <= 0;
	while (one_level(n))
		;
}

/* ---- checks */

static void check_rows(const struct waterfill *p, const double *x, const double *level)
{
	for (uint32_t i = 0; i < p->jobs; i++) {
		double share = 0, rate = 0;

		for (uint32_t w = 0; w < p->types; w++) {
			assert_true(x[i * p->types + w] >= 0);
			share += x[i * p->types + w];
			rate += p->rate[i * p->types + w] * x[i * p->types + w];
		}
		assert_true(share <= 1 + 1e-9);
		if (rate < level[i] * (1 - 1e-7) - 1e-12)
			print_message("job %u of %u, %u types: level %.12g, rate %.12g\n", i,
				p->jobs, p->types, level[i], rate);
		assert_true(rate >= level[i] * (1 - 1e-7) - 1e-12);
	}
	for (uint32_t w = 0; w < p->types; w++) {
		double used = 0;

		for (uint32_t i = 0; i < p->jobs; i++)
			used += p->gang[i] * x[i * p->types + w];
		assert_true(used <= p->capacity[w] * (1 + 1e-9));
	}
}

static void check(const struct waterfill *p)
{
	double x[JOBS * TYPES], level[JOBS];
	struct waterfill_answer a = { .x = x, .level = level };
	struct naive n;
	bool equal = true;

	assert_true(waterfill_solve(p, &a));
	check_rows(p, x, level);
	naive_solve(&n, p);
	for (uint32_t i = 0; i < p->jobs; i++)
		equal = equal && fabs(level[i] - n.level[i]) <= 2e-5 * (1 + n.level[i]);
	for (uint32_t i = 0; i < p->jobs && !equal; i++)
		print_message("job %u: want %.9g, got %.9g\n", i, n.level[i], level[i]);
	assert_true(equal);
	assert_true(a.stages <= p->types + 1);
}

static double any_rate(struct rng *rng, uint32_t kind)
{
	if (kind == 0)
		return rng_between(rng, 0.2, 4);
	if (kind == 1)
		return (double)(1 + rng_below(rng, 3));
	return rng_below(rng, 2) ? rng_between(rng, 0.5, 2) : 0;
}

static void draw(struct instance *in, struct rng *rng, bool grouped)
{
	uint32_t jobs = 1 + (uint32_t)rng_below(rng, grouped ? 8 : 10),
		 types = 1 + (uint32_t)rng_below(rng, TYPES);
	uint32_t kind = (uint32_t)rng_below(rng, 3);
	double level = rng_between(rng, 0.1, 1.5);

	in->program = (struct waterfill){ .jobs = jobs,
		.types = types,
		.rate = in->rate,
		.gang = in->gang,
		.capacity = in->capacity,
		.weight = rng_below(rng, 2) ? in->weight : NULL };
	for (uint32_t i = 0; i < jobs; i++) {
		in->gang[i] = (double)(1 << rng_below(rng, 3));
		in->weight[i] = (double)(1 + rng_below(rng, 3));
		in->entity[i] = (uint32_t)rng_below(rng, ENTITIES);
		for (uint32_t w = 0; w < types; w++)
			in->rate[i * types + w] = any_rate(rng, kind);
	}
	for (uint32_t w = 0; w < types; w++)
		in->capacity[w] = floor(2.5 * jobs * level / types * rng_between(rng, 0, 2) * 2) / 2;
	for (uint32_t e = 0; e < ENTITIES; e++) {
		in->entity_weight[e] = (double)(1 + rng_below(rng, 3));
		in->in_order[e] = rng_below(rng, 2);
	}
	if (!grouped)
		return;
	in->program.entities = ENTITIES;
	in->program.entity = in->entity;
	in->program.entity_weight = in->entity_weight;
	in->program.in_order = in->in_order;
}

static void agrees_level_by_level(void **state)
{
	struct rng rng = property("water filling against CLP");
	static struct instance in;

	(void)state;
	for (size_t i = 0; i < rounds(700); i++) {
		draw(&in, &rng, false);
		check(&in.program);
	}
}

static void agrees_with_entities(void **state)
{
	struct rng rng = property("water filling of entities against CLP");
	static struct instance in;

	(void)state;
	for (size_t i = 0; i < rounds(700); i++) {
		draw(&in, &rng, true);
		check(&in.program);
	}
}

/* ---- examples */

static const struct {
	const char *what;
	double capacity;
	double entity_weight[2];
	bool in_order[2];
	double weight[5];
	double want[5]; /* jobs 0..1 are of the first entity, 2..4 of the second */
} rows[] = {
	{ "entities share by weight, jobs equally", 3, { 1, 2 }, { 0 }, { 1, 1, 1, 1, 1 },
		{ 0.5, 0.5, 2 / 3.0, 2 / 3.0, 2 / 3.0 } },
	{ "jobs share by their weight", 3, { 1, 2 }, { 0 }, { 1, 3, 1, 1, 2 },
		{ 0.25, 0.75, 0.5, 0.5, 1 } },
	{ "what an entity cannot use goes to the other", 4.5, { 3, 1 }, { 0 }, { 1, 1, 1, 1, 1 },
		{ 1, 1, 2.5 / 3, 2.5 / 3, 2.5 / 3 } },
	{ "what a job cannot use stays in its entity", 2, { 1, 1 }, { 0 }, { 1, 1, 8, 1, 1 },
		{ 0.5, 0.5, 0.8, 0.1, 0.1 } },
	{ "also if it is at its limit", 2.8, { 1, 1 }, { 0 }, { 1, 1, 8, 1, 1 },
		{ 0.7, 0.7, 1, 0.2, 0.2 } },
	{ "the first job of an entity has all of it", 2, { 1, 1 }, { true, false },
		{ 1, 1, 1, 1, 1 }, { 1, 0, 1 / 3.0, 1 / 3.0, 1 / 3.0 } },
	{ "then the second", 3, { 1, 1 }, { true, false }, { 1, 1, 1, 1, 1 }, { 1, 0.5, 0.5, 0.5, 0.5 } },
	{ "both in order", 3, { 1, 2 }, { true, true }, { 1, 1, 1, 1, 1 }, { 1, 0, 1, 1, 0 } },
	{ "both in order, more", 4.5, { 1, 2 }, { true, true }, { 1, 1, 1, 1, 1 }, { 1, 0.5, 1, 1, 1 } },
	{ "an entity without weight gets nothing", 3, { 0, 1 }, { 0 }, { 1, 1, 1, 1, 1 },
		{ 0, 0, 1, 1, 1 } },
	{ "enough for all", 9, { 1, 2 }, { 0 }, { 1, 1, 1, 1, 1 }, { 1, 1, 1, 1, 1 } },
	{ "nothing for all", 0, { 1, 2 }, { 0 }, { 1, 1, 1, 1, 1 }, { 0, 0, 0, 0, 0 } },
};

static void entities(void **state)
{
	const double rate[] = { 1, 1, 1, 1, 1 }, gang[] = { 1, 1, 1, 1, 1 };
	const uint32_t entity[] = { 0, 0, 1, 1, 1 };

	(void)state;
	for (size_t r = 0; r < COUNT(rows); r++) {
		double x[5], level[5];
		struct waterfill p = {
			.jobs = 5,
			.types = 1,
			.rate = rate,
			.gang = gang,
			.capacity = &rows[r].capacity,
			.weight = rows[r].weight,
			.entities = 2,
			.entity = entity,
			.entity_weight = rows[r].entity_weight,
			.in_order = rows[r].in_order,
		};
		struct waterfill_answer a = { .x = x, .level = level };

		waterfill_solve(&p, &a);
		for (int i = 0; i < 5; i++) {
			if (fabs(level[i] - rows[r].want[i]) > 1e-8)
				print_message("%s: job %d has %.9g\n", rows[r].what, i, level[i]);
			assert_float_equal(level[i], rows[r].want[i], 1e-8);
		}
		check_rows(&p, x, level);
	}
}

/* Two types; the second entity's jobs can only use the slower one. */
static void entities_on_two_types(void **state)
{
	const double rate[] = { 2, 1, 2, 1, 0, 1, 0, 1 }, gang[] = { 1, 1, 1, 1 },
		     capacity[] = { 1, 1 };
	const uint32_t entity[] = { 0, 0, 1, 1 };
	const double weight[] = { 1, 2 };
	double x[8], level[4], prices[2];
	uint32_t full[2], stage[4];
	struct waterfill p = {
		.jobs = 4,
		.types = 2,
		.rate = rate,
		.gang = gang,
		.capacity = capacity,
		.entities = 2,
		.entity = entity,
		.entity_weight = weight,
	};
	struct waterfill_answer a = { .x = x, .level = level, .prices = prices, .full = full, .stage = stage };

	(void)state;
	waterfill_solve(&p, &a);
	/* At height 1/2 the slower type is full; the faster one has room for the others until they have it all. */
	assert_float_equal(level[2], 0.5, 1e-8);
	assert_float_equal(level[3], 0.5, 1e-8);
	assert_float_equal(level[0], 1, 1e-8);
	assert_float_equal(level[1], 1, 1e-8);
	assert_int_equal(full[1], 0);
	assert_int_equal(full[0], 1);
	assert_int_equal(stage[2], 0);
	assert_int_equal(stage[0], 1);
	assert_float_equal(prices[1], 0.5, 1e-6); /* one device more, and two jobs of weight 2 in all rise */
}

static void tells_who_stopped_where(void **state)
{
	const double rate[] = { 1, 0, 2, 2, 4, 0, 8, 8 }, gang[] = { 1, 1, 1, 1 },
		     capacity[] = { 1.5, 4 };
	double x[8], level[4], height[4];
	enum waterfill_stop stop[4];
	uint32_t full[2];
	struct waterfill p = { .jobs = 4, .types = 2, .rate = rate, .gang = gang, .capacity = capacity };
	struct waterfill_answer a = { .x = x, .level = level, .height = height, .stop = stop, .full = full };

	(void)state;
	waterfill_solve(&p, &a);
	/* Job 0 has its whole device, which leaves a half for job 2; the others have the second type. */
	assert_float_equal(level[0], 1, 1e-8);
	assert_float_equal(level[1], 2, 1e-8);
	assert_float_equal(level[2], 2, 1e-8);
	assert_float_equal(level[3], 8, 1e-8);
	assert_int_equal(stop[0], WATERFILL_AT_SPEED);
	assert_int_equal(stop[3], WATERFILL_AT_SPEED);
	assert_float_equal(height[3], 8, 1e-8);
	assert_int_equal(a.levels, 3);
}

/* ---- many jobs: nobody can have more without someone at its height or below having less */

static double most_above(const struct waterfill *p, const double *level, const double *height,
	uint32_t job)
{
	struct lp *lp = lp_create();
	double most;

	lp_maximise(lp, true);
	for (uint32_t v = 0; v < p->jobs * p->types; v++) {
		bool own = v / p->types == job;

		lp_add_column(lp, own ? p->rate[v] : 0, 0, INFINITY, false);
	}
	for (uint32_t i = 0; i < p->jobs; i++) {
		bool keeps = i != job && height[i] <= height[job] * (1 + 1e-7);
		uint32_t rate = lp_add_row(lp, keeps ? level[i] * (1 - 1e-8) : 0, INFINITY);
		uint32_t share = lp_add_row(lp, -INFINITY, 1);

		for (uint32_t w = 0; w < p->types; w++) {
			lp_set(lp, rate, i * p->types + w, p->rate[i * p->types + w]);
			lp_set(lp, share, i * p->types + w, 1);
		}
	}
	for (uint32_t w = 0; w < p->types; w++) {
		uint32_t row = lp_add_row(lp, -INFINITY, p->capacity[w]);

		for (uint32_t i = 0; i < p->jobs; i++)
			lp_set(lp, row, i * p->types + w, p->gang[i]);
	}
	most = highest(lp);
	lp_destroy(lp);
	return most;
}

static void nobody_can_have_more(void **state)
{
	enum { MANY = 100 };
	struct rng rng = property("water filling of many jobs");
	static double rate[MANY * TYPES], gang[MANY], x[MANY * TYPES], level[MANY], height[MANY];
	double capacity[TYPES];

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		uint32_t types = 2 + (uint32_t)rng_below(&rng, TYPES - 1),
			 kind = (uint32_t)rng_below(&rng, 3);
		struct waterfill p = { .jobs = MANY,
			.types = types,
			.rate = rate,
			.gang = gang,
			.capacity = capacity };
		struct waterfill_answer a = { .x = x, .level = level, .height = height };
		double load = rng_between(&rng, 0.1, 1.5);

		for (uint32_t v = 0; v < MANY * types; v++)
			rate[v] = any_rate(&rng, kind);
		for (uint32_t i = 0; i < MANY; i++)
			gang[i] = (double)(1 << rng_below(&rng, 3));
		for (uint32_t w = 0; w < types; w++)
			capacity[w] = 2.3 * MANY * load / types * rng_between(&rng, 0, 2);
		waterfill_solve(&p, &a);
		check_rows(&p, x, level);
		for (int k = 0; k < 4; k++) {
			uint32_t job = (uint32_t)rng_below(&rng, MANY);
			double most = most_above(&p, level, height, job);

			/* CLP may fall short of every row by 1e-7, all of which one job may get. */
			if (most > level[job] * 1.01 + 0.01)
				print_message("job %u: %.9g, could have %.9g\n", job, level[job], most);
			assert_true(most <= level[job] * 1.01 + 0.01);
		}
	}
}

static void nobody_at_all(void **state)
{
	const double capacity[] = { 1 };
	double none[1];
	struct waterfill p = { .jobs = 0, .types = 1, .rate = none, .gang = none, .capacity = capacity };
	struct waterfill_answer a = { .x = none, .level = none };

	(void)state;
	waterfill_solve(&p, &a);
	assert_int_equal(a.stages, 0);
	assert_int_equal(a.levels, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_level_by_level),
		cmocka_unit_test(agrees_with_entities),
		cmocka_unit_test(entities),
		cmocka_unit_test(entities_on_two_types),
		cmocka_unit_test(tells_who_stopped_where),
		cmocka_unit_test(nobody_can_have_more),
		cmocka_unit_test(nobody_at_all),
	};

	return cmocka_run_group_tests_name("solver/waterfill", tests, NULL, NULL);
}
