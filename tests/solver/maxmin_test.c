#include "solver/maxmin.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "support/property.h"
#include "solver/lp.h"

enum { JOBS = 40, TYPES = 8 };

/* A small program with room for its parts. */
struct instance {
	struct maxmin program;
	double rate[JOBS * TYPES], gang[JOBS], capacity[TYPES], base[JOBS], weight[JOBS];
	double x[JOBS * TYPES], prices[TYPES];
};

static void attach(struct instance *in, uint32_t jobs, uint32_t types)
{
	in->program = (struct maxmin){
		.jobs = jobs,
		.types = types,
		.rate = in->rate,
		.gang = in->gang,
		.capacity = in->capacity,
	};
}

static bool counts(const struct maxmin *p)
{
	for (uint32_t i = 0; p->weight && i < p->jobs; i++) {
		if (p->weight[i] > 0)
			return true;
	}
	return !p->weight;
}

/*
 * Rows of the reference program: per job its rate and its share, then the capacities.  Column 0 is z.
 * Rates are in `unit`s: CLP's tolerance is absolute.
 */
static struct lp *reference_of(const struct maxmin *p, double unit)
{
	struct lp *lp = lp_create();

	lp_maximise(lp, true);
	lp_add_column(lp, 1, 0, counts(p) ? INFINITY : 0, false);
	for (uint32_t v = 0; v < p->jobs * p->types; v++)
		lp_add_column(lp, 0, 0, INFINITY, false);
	for (uint32_t i = 0; i < p->jobs; i++) {
		uint32_t rate = lp_add_row(lp, p->base ? p->base[i] / unit : 0, INFINITY);
		uint32_t share = lp_add_row(lp, -INFINITY, 1);

		lp_set(lp, rate, 0, p->weight ? -p->weight[i] : -1);
		for (uint32_t w = 0; w < p->types; w++) {
			lp_set(lp, rate, 1 + i * p->types + w, p->rate[i * p->types + w] / unit);
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

static bool reference(const struct maxmin *p, double unit, double *z)
{
	struct lp *lp = reference_of(p, unit);
	enum lp_status status = lp_solve(lp, (struct lp_limits){ 0 });

	*z = status == LP_OPTIMAL ? lp_objective(lp) * unit : 0;
	lp_destroy(lp);
	assert_true(status == LP_OPTIMAL || status == LP_INFEASIBLE);
	return status == LP_OPTIMAL;
}

static double rate_of(const struct maxmin *p, const double *x, uint32_t i)
{
	double rate = 0;

	for (uint32_t w = 0; w < p->types; w++)
		rate += p->rate[i * p->types + w] * x[i * p->types + w];
	return rate;
}

static void check_rows(const struct maxmin *p, const struct maxmin_answer *a)
{
	for (uint32_t i = 0; i < p->jobs; i++) {
		double share = 0,
		       need = (p->base ? p->base[i] : 0) + (p->weight ? p->weight[i] : 1) * a->z;

		for (uint32_t w = 0; w < p->types; w++) {
			assert_true(a->x[i * p->types + w] >= 0);
			share += a->x[i * p->types + w];
		}
		assert_true(share <= 1 + 1e-12);
		assert_true(rate_of(p, a->x, i) >= need * (1 - 1e-9));
	}
	for (uint32_t w = 0; w < p->types; w++) {
		double used = 0;

		for (uint32_t i = 0; i < p->jobs; i++)
			used += p->gang[i] * a->x[i * p->types + w];
		assert_true(used <= p->capacity[w] * (1 + 1e-12));
	}
}

static bool someone_runs_nowhere(const struct maxmin *p)
{
	for (uint32_t i = 0; i < p->jobs; i++) {
		double fastest = 0;

		for (uint32_t w = 0; w < p->types; w++)
			fastest = fmax(fastest, p->capacity[w] > 0 ? p->rate[i * p->types + w] : 0);
		if (fastest <= 0 && (!p->weight || p->weight[i] > 0))
			return true;
	}
	return false;
}

static double cost_of_point(const struct maxmin *p, const double *prices, uint32_t i, uint32_t w)
{
	return w < p->types ? prices[w] * p->gang[i] : 0;
}

static double rate_at(const struct maxmin *p, uint32_t i, uint32_t w)
{
	return w < p->types && p->capacity[w] > 0 ? p->rate[i * p->types + w] : 0;
}

/* The least cost of a rate, from all pairs; infinite if no type is that fast. */
static double least_cost(const struct maxmin *p, const double *prices, uint32_t i, double need)
{
	double least = need > 0 ? INFINITY : 0;

	for (uint32_t a = 0; a <= p->types && need > 0; a++) {
		for (uint32_t b = 0; b <= p->types; b++) {
			double slow = rate_at(p, i, a), fast = rate_at(p, i, b), t;

			if (slow >= need || fast < need)
				continue;
			t = (need - slow) / (fast - slow);
			least = fmin(least,
				(1 - t) * cost_of_point(p, prices, i, a) +
					t * cost_of_point(p, prices, i, b));
		}
	}
	return least;
}

/* The prices prove that no allocation reaches z: everyone's cheapest way costs more than there is. */
static bool out_of_reach(const struct maxmin *p, const double *prices, double z)
{
	double cost = 0, there = 0;

	for (uint32_t i = 0; i < p->jobs; i++) {
		double need = (p->base ? p->base[i] : 0) + (p->weight ? p->weight[i] : 1) * z;

		cost += least_cost(p, prices, i, need);
	}
	for (uint32_t w = 0; w < p->types; w++)
		there += prices[w] * p->capacity[w];
	return cost > there;
}

static void check_against_reference(struct instance *in)
{
	struct maxmin_answer a = { .x = in->x, .prices = in->prices };
	double want;
	bool found = maxmin_solve(&in->program, &a);
	double unit = found && a.z > 1e-9 ? a.z / 100 : 1;
	bool there = reference(&in->program, unit, &want) && !someone_runs_nowhere(&in->program);

	if (there != found)
		printf("jobs %u types %u: reference %d %.12g, found %d %.12g\n", in->program.jobs,
			in->program.types, there, want, found, a.z);
	assert_int_equal(there, found);
	if (!found)
		return;
	check_rows(&in->program, &a);
	if (fabs(a.z - want) > 1e-4 * want + 1e-5 || a.gap > 1e-7)
		printf("jobs %u types %u: want %.12g, got %.12g, gap %g, %u evaluations\n",
			in->program.jobs, in->program.types, want, a.z, a.gap, a.evaluations);
	assert_true(a.gap <= 1e-7 || a.bound < 1e-9);
	assert_true(out_of_reach(&in->program, in->prices, a.bound * (1 + 1e-9) + 1e-11));
	assert_true(fabs(a.z - want) <= 1e-4 * want + 1e-5);
}

static double any_rate(struct rng *rng, uint32_t kind)
{
	if (kind == 0)
		return rng_between(rng, 0.1, 10);
	if (kind == 1)
		return (double)(1 + rng_below(rng, 3));
	if (kind == 2)
		return rng_below(rng, 3) ? rng_between(rng, 0.5, 2) : 0;
	if (kind == 3)
		return 1;
	return rng_lognormal(rng, 0, 1.5);
}

static void draw(struct instance *in, struct rng *rng)
{
	static const double levels[] = { 0.02, 0.1, 0.3, 0.7, 1, 1.5, 4, 20 };
	uint32_t jobs = 1 + (uint32_t)rng_below(rng, JOBS),
		 types = 1 + (uint32_t)rng_below(rng, TYPES);
	uint32_t kind = (uint32_t)rng_below(rng, 5);
	double demand = 0, level = levels[rng_below(rng, COUNT(levels))];

	attach(in, jobs, types);
	for (uint32_t i = 0; i < jobs; i++) {
		in->gang[i] = (double)(1 << rng_below(rng, 4));
		demand += in->gang[i];
		for (uint32_t w = 0; w < types; w++)
			in->rate[i * types + w] = any_rate(rng, kind);
		if (i && rng_below(rng, 4) == 0)
			memcpy(in->rate + i * types, in->rate, types * sizeof(double));
	}
	for (uint32_t w = 0; w < types; w++) {
		in->capacity[w] = demand * level / types * rng_between(rng, 0.2, 2);
		if (rng_below(rng, 2))
			in->capacity[w] = floor(in->capacity[w]);
	}
}

static void agrees_with_the_reference(void **state)
{
	struct rng rng = property("max-min against CLP");
	static struct instance in;

	(void)state;
	for (size_t i = 0; i < rounds(3000); i++) {
		draw(&in, &rng);
		check_against_reference(&in);
	}
}

static void add_bases_and_weights(struct instance *in, struct rng *rng)
{
	double share = rng_between(rng, 0, 1.2);

	for (uint32_t i = 0; i < in->program.jobs; i++) {
		in->weight[i] = rng_below(rng, 3) ? rng_between(rng, 0.2, 5) : 0;
		in->base[i] = rng_below(rng, 2) ? share * rate_of(&in->program, in->x, i) : 0;
	}
	in->weight[0] = 1;
	in->program.base = in->base;
	in->program.weight = in->weight;
}

/* Bases are taken from an answer, so that many are just possible and some are not. */
static void keeps_bases_and_weights(void **state)
{
	struct rng rng = property("bases and weights against CLP");
	static struct instance in;

	(void)state;
	for (size_t i = 0; i < rounds(3000); i++) {
		struct maxmin_answer a = { .x = in.x };

		draw(&in, &rng);
		if (!maxmin_solve(&in.program, &a))
			continue;
		add_bases_and_weights(&in, &rng);
		check_against_reference(&in);
	}
}

static void the_paper_example(void **state)
{
	/* Three jobs, one device of each of two types; each row over its equal share. */
	const double rate[] = { 4 / (5.0 / 3), 1 / (5.0 / 3), 2, 1, 1.5, 1.5 };
	const double gang[] = { 1, 1, 1 }, capacity[] = { 1, 1 };
	double x[6], prices[2];
	struct maxmin p = { .jobs = 3, .types = 2, .rate = rate, .gang = gang, .capacity = capacity };
	struct maxmin_answer a = { .x = x, .prices = prices };

	(void)state;
	assert_true(maxmin_solve(&p, &a));
	assert_float_equal(a.z, 1.2, 1e-9);
	assert_float_equal(x[0], 0.5, 1e-9);
	assert_float_equal(x[2], 0.5, 1e-9);
	assert_float_equal(x[3], 0.2, 1e-9);
	assert_float_equal(x[5], 0.8, 1e-9);
	assert_float_equal(prices[0] + prices[1], a.z, 1e-9);
}

static void prices_tell_what_a_device_adds(void **state)
{
	const double rate[] = { 3, 1, 1, 2, 2, 2 }, gang[] = { 1, 1, 1 }, capacity[] = { 0.6, 0.9 };
	double more[] = { 0.6, 0.9 }, prices[2];
	struct maxmin p = { .jobs = 3, .types = 2, .rate = rate, .gang = gang, .capacity = capacity };
	struct maxmin_answer a = { .prices = prices };

	(void)state;
	assert_true(maxmin_solve(&p, &a));
	p.capacity = more;
	for (int w = 0; w < 2; w++) {
		struct maxmin_answer b = { 0 };

		memcpy(more, capacity, sizeof(more));
		more[w] += 1e-4;
		assert_true(maxmin_solve(&p, &b));
		assert_float_equal((b.z - a.z) / 1e-4, prices[w], 1e-4);
	}
}

static const struct {
	const char *what;
	double rate[4], capacity[2], base[2], weight[2];
	bool possible;
	double z;
} rows[] = {
	{ "plenty for both: the slower one limits", { 2, 1, 3, 3 }, { 9, 9 }, { 0 }, { 1, 1 }, true, 2 },
	{ "one type is missing", { 2, 1, 3, 3 }, { 0, 2 }, { 0 }, { 1, 1 }, true, 1 },
	{ "nothing at all", { 2, 1, 3, 3 }, { 0, 0 }, { 0 }, { 1, 1 }, false, 0 },
	{ "a job that runs nowhere", { 0, 0, 1, 1 }, { 2, 2 }, { 0 }, { 1, 1 }, false, 0 },
	{ "it may if nobody asks it to", { 0, 0, 1, 1 }, { 2, 2 }, { 0 }, { 0, 1 }, true, 1 },
	{ "equal halves", { 1, 1, 1, 1 }, { 0.5, 0.5 }, { 0 }, { 1, 1 }, true, 0.5 },
	{ "weights divide", { 1, 1, 1, 1 }, { 0.5, 0.5 }, { 0 }, { 1, 3 }, true, 0.25 },
	{ "a base comes first", { 1, 1, 1, 1 }, { 0.5, 0.5 }, { 0.75, 0 }, { 0, 1 }, true, 0.25 },
	{ "a base that takes it all", { 1, 1, 1, 1 }, { 0.5, 0.5 }, { 1, 0 }, { 0, 1 }, true, 0 },
	{ "a base that is too much", { 1, 1, 1, 1 }, { 0.5, 0.4 }, { 1, 0 }, { 0, 1 }, false, 0 },
	{ "nobody counts", { 1, 1, 1, 1 }, { 1, 1 }, { 0.5, 0.5 }, { 0, 0 }, true, 0 },
};

static void small_cases(void **state)
{
	const double gang[] = { 1, 1 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		double x[4];
		struct maxmin p = {
			.jobs = 2,
			.types = 2,
			.rate = rows[i].rate,
			.gang = gang,
			.capacity = rows[i].capacity,
			.base = rows[i].base,
			.weight = rows[i].weight,
		};
		struct maxmin_answer a = { .x = x };
		bool possible = maxmin_solve(&p, &a);

		if (possible != rows[i].possible || (possible && fabs(a.z - rows[i].z) > 1e-9))
			print_message("%s: %d, z %.12g\n", rows[i].what, possible, a.z);
		assert_int_equal(possible, rows[i].possible);
		if (!possible)
			continue;
		assert_float_equal(a.z, rows[i].z, 1e-9);
		check_rows(&p, &a);
	}
}

static void many_jobs_are_close_to_the_bound(void **state)
{
	struct rng rng = property("large programs prove themselves");
	static const uint32_t sizes[][2] = { { 2048, 3 }, { 2048, 8 }, { 20000, 4 } };

	(void)state;
	for (size_t s = 0; s < COUNT(sizes); s++) {
		uint32_t jobs = sizes[s][0], types = sizes[s][1];
		double *rate = mem_alloc(sizeof(double) * jobs * types),
		       *gang = mem_alloc(sizeof(double) * jobs);
		double *x = mem_alloc(sizeof(double) * jobs * types), capacity[TYPES];
		struct maxmin p = { .jobs = jobs,
			.types = types,
			.rate = rate,
			.gang = gang,
			.capacity = capacity };
		struct maxmin_answer a = { .x = x };

		for (uint32_t v = 0; v < jobs * types; v++)
			rate[v] = rng_between(&rng, 0.2, 2);
		for (uint32_t i = 0; i < jobs; i++)
			gang[i] = (double)(1 << rng_below(&rng, 4));
		for (uint32_t w = 0; w < types; w++)
			capacity[w] = jobs * rng_between(&rng, 0.1, 0.5);
		assert_true(maxmin_solve(&p, &a));
		assert_true(a.gap <= 1e-9);
		check_rows(&p, &a);
		free(rate);
		free(gang);
		free(x);
	}
}

static void equal_jobs_are_one(void **state)
{
	enum { MANY = 1000 };
	static double rate[MANY * 2], gang[MANY], x[MANY * 2];
	const double capacity[] = { 300, 100 };
	struct maxmin p = { .jobs = MANY, .types = 2, .rate = rate, .gang = gang, .capacity = capacity };
	struct maxmin_answer a = { .x = x };

	(void)state;
	for (int i = 0; i < MANY; i++) {
		rate[2 * i] = 1 + i % 3;
		rate[2 * i + 1] = 2;
		gang[i] = 1 + i % 2;
	}
	assert_true(maxmin_solve(&p, &a));
	assert_int_equal(a.kinds, 3);
	check_rows(&p, &a);
}

struct finishing {
	struct maxmin_finish program;
	double speed[JOBS * TYPES], age[JOBS], work[JOBS], limit[JOBS], gang[JOBS], capacity[TYPES];
	double x[JOBS * TYPES], prices[TYPES];
};

static void draw_finishing(struct finishing *in, struct rng *rng)
{
	uint32_t jobs = 1 + (uint32_t)rng_below(rng, JOBS), types = 1 + (uint32_t)rng_below(rng, 4);
	uint32_t kind = (uint32_t)rng_below(rng, 2);
	double level = rng_between(rng, 0.05, 3);

	in->program = (struct maxmin_finish){ jobs, types, in->speed, in->age, in->work, in->limit,
		in->gang, in->capacity };
	for (uint32_t i = 0; i < jobs; i++) {
		in->gang[i] = (double)(1 << rng_below(rng, 3));
		in->work[i] = rng_below(rng, 20) ? rng_between(rng, 1, 1000) : 0;
		in->age[i] = rng_below(rng, 3) ? rng_between(rng, 0, 1000) : 0;
		in->limit[i] = rng_between(rng, 100, 3000);
		for (uint32_t w = 0; w < types; w++)
			in->speed[i * types + w] = any_rate(rng, kind);
	}
	for (uint32_t w = 0; w < types; w++)
		in->capacity[w] = 2.0 * jobs * level / types * rng_between(rng, 0.2, 2) + 0.1;
}

/* Whether everyone can be in time for z, by CLP: a program with bases alone. */
static bool in_time(const struct finishing *in, double z)
{
	double base[JOBS], weight[JOBS] = { 0 }, ignored;
	const struct maxmin_finish *p = &in->program;
	struct maxmin q = { p->jobs, p->types, p->speed, p->gang, p->capacity, base, weight, 0 };

	for (uint32_t i = 0; i < p->jobs; i++) {
		double left = z * p->limit[i] - p->age[i];

		if (left < 0 || (left <= 0 && p->work[i] > 0))
			return false;
		base[i] = p->work[i] > 0 ? p->work[i] / left : 0;
	}
	return reference(&q, 1, &ignored);
}

static void finishes_fairly(void **state)
{
	struct rng rng = property("finish-time fairness against CLP");
	static struct finishing in;

	(void)state;
	for (size_t i = 0; i < rounds(1000); i++) {
		struct maxmin_answer a = { .x = in.x, .prices = in.prices };

		draw_finishing(&in, &rng);
		assert_true(maxmin_finish(&in.program, &a));
		if (a.gap > 1e-7)
			print_message("z %.12g, bound %.12g\n", a.z, a.bound);
		assert_true(a.gap <= 1e-7);
		assert_true(in_time(&in, a.z * (1 + 1e-6)));
		if (a.z > 0)
			assert_false(in_time(&in, a.bound * (1 - 1e-4)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_the_reference),
		cmocka_unit_test(keeps_bases_and_weights),
		cmocka_unit_test(finishes_fairly),
		cmocka_unit_test(the_paper_example),
		cmocka_unit_test(prices_tell_what_a_device_adds),
		cmocka_unit_test(small_cases),
		cmocka_unit_test(many_jobs_are_close_to_the_bound),
		cmocka_unit_test(equal_jobs_are_one),
	};

	return cmocka_run_group_tests_name("solver/maxmin", tests, NULL, NULL);
}
