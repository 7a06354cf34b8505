/*
 * Gavel's objectives on random settings: what must hold whatever the speeds,
 * and nothing better found by CLP or on a grid.
 */
#include "policy/hetero/setting.h"

/* ---- random settings */

static struct setting draw(struct rng *rng, uint32_t jobs_max, uint32_t types_max)
{
	struct setting s = { .jobs = pick(rng, jobs_max), .types = pick(rng, types_max) };
	bool ties = one_of_two(rng), gangs = one_of_two(rng);

	for (uint32_t w = 0; w < s.types; w++)
		s.capacity[w] = (gangs ? 3 : 0) + pick(rng, 4);
	for (uint32_t i = 0; i < s.jobs; i++) {
		s.gang[i] = gangs ? 1 << rng_below(rng, 3) : 1;
		s.work[i] = pick(rng, 20) * 50;
		for (uint32_t w = 0; w < s.types; w++) {
			s.speed[i][w] = ties ? pick(rng, 3) : rng_between(rng, .1, 10);
			if (w > 0 && rng_below(rng, 10) == 0)
				s.speed[i][w] = 0;
		}
	}
	return s;
}

/* Columns of x, by job and type, and the rows every share must keep. */
static struct lp *shares_lp(const struct setting *s)
{
	struct lp *lp = lp_create();

	for (uint32_t v = 0; v < s->jobs * s->types; v++)
		lp_add_column(lp, 0, 0, 1, false);
	for (uint32_t i = 0; i < s->jobs; i++) {
		uint32_t row = lp_add_row(lp, -INFINITY, 1);

		for (uint32_t w = 0; w < s->types; w++)
			lp_set(lp, row, i * s->types + w, 1);
	}
	for (uint32_t w = 0; w < s->types; w++) {
		uint32_t row = lp_add_row(lp, -INFINITY, s->capacity[w]);

		for (uint32_t i = 0; i < s->jobs; i++)
			lp_set(lp, row, i * s->types + w, gang_of(s, i));
	}
	return lp;
}

/* unit * rate of job i - z >= least; z a column or UINT32_MAX. */
static void lp_rate_row(struct lp *lp, const struct setting *s, uint32_t i, double unit, uint32_t z,
	double least)
{
	uint32_t row = lp_add_row(lp, least, INFINITY);

	for (uint32_t w = 0; w < s->types; w++) {
		if (s->speed[i][w] > 0)
			lp_set(lp, row, i * s->types + w, s->speed[i][w] * unit);
	}
	if (z != UINT32_MAX)
		lp_set(lp, row, z, -1);
}

static double lp_finish(struct lp *lp)
{
	double objective = NAN;

	if (lp_solve(lp, (struct lp_limits){ 0 }) == LP_OPTIMAL)
		objective = lp_objective(lp);
	lp_destroy(lp);
	return objective;
}

/* The best least level, a level being unit * rate. */
static double lp_max_min(const struct setting *s, const double *unit)
{
	struct lp *lp = shares_lp(s);
	uint32_t z = lp_add_column(lp, 1, 0, INFINITY, false);

	lp_maximise(lp, true);
	for (uint32_t i = 0; i < s->jobs; i++)
		lp_rate_row(lp, s, i, unit[i], z, 0);
	return lp_finish(lp);
}

static double lp_sum(const struct setting *s, const double *weight)
{
	struct lp *lp = shares_lp(s);

	lp_maximise(lp, true);
	for (uint32_t i = 0; i < s->jobs; i++) {
		for (uint32_t w = 0; w < s->types; w++)
			lp_set_cost(lp, i * s->types + w, s->speed[i][w] * weight[i]);
	}
	return lp_finish(lp);
}

/* An interior point ends a little beside the rows, and its shares are used as they are. */
#define INTERIOR 1e-7
#define EXACT 1e-9

static void keeps_rows(const struct setting *s, const struct answer *a, double within)
{
	for (uint32_t i = 0; i < s->jobs; i++) {
		double sum = 0;

		for (uint32_t w = 0; w < s->types; w++) {
			assert_true(a->x[i][w] >= 0);
			sum += a->x[i][w];
		}
		if (!(sum <= 1 + within))
			fail_msg("job %u has 1 + %g of the time", i, sum - 1);
	}
	for (uint32_t w = 0; w < s->types; w++) {
		double sum = 0;

		for (uint32_t i = 0; i < s->jobs; i++)
			sum += gang_of(s, i) * a->x[i][w];
		if (!(sum / s->capacity[w] <= 1 + within))
			fail_msg("type %u is used 1 + %g times", w, sum / s->capacity[w] - 1);
	}
}

static void the_least_level_is_the_best_there_is(void **state)
{
	struct rng rng = property("max-min: value as by the simplex method, rows kept");

	(void)state;
	for (size_t round = 0; round < rounds(150); round++) {
		struct setting s = draw(&rng, round % 2 ? JOBS_MAX : 4, round % 2 ? TYPES : 2);
		double unit[JOBS_MAX], best;

		for (uint32_t i = 0; i < s.jobs; i++) {
			s.weight[i] = round % 3 ? 1 : pick(&rng, 5);
			unit[i] = unit_of(&s, i);
		}
		best = lp_max_min(&s, unit);
		for (size_t k = 0; k < COUNT(both); k++) {
			struct answer a = ask(&s, both[k]);

			assert_near(a.value / best, 1, 1e-6);
			keeps_rows(&s, &a, INTERIOR);
			for (uint32_t i = 0; i < s.jobs; i++)
				assert_true(unit[i] * rate_of(&s, &a, i) >= best * (1 - 3e-6));
		}
	}
}

/* On two jobs and two types every share can be tried. */
static void no_point_of_a_grid_is_better(void **state)
{
	enum { STEPS = 12 };
	struct rng rng = property("max-min: no shares on a grid are better");

	(void)state;
	for (size_t round = 0; round < rounds(40); round++) {
		struct setting s = {
			.jobs = 2,
			.types = 2,
			.capacity = { 1, 1 },
		};
		double best = 0;

		for (uint32_t i = 0; i < 2; i++)
			for (uint32_t w = 0; w < 2; w++)
				s.speed[i][w] = rng_between(&rng, .1, 10);
		for (uint32_t g = 0; g < (STEPS + 1) * (STEPS + 1); g++) {
			double v = (double)(g % (STEPS + 1)) / STEPS,
			       k = (double)(g / (STEPS + 1)) / STEPS;
			struct answer a = { .x = { { v, k }, { 1 - v, 1 - k } } };

			if (v + k <= 1 + 1e-12 && 2 - v - k <= 1 + 1e-12)
				best = fmax(best,
					fmin(unit_of(&s, 0) * rate_of(&s, &a, 0),
						unit_of(&s, 1) * rate_of(&s, &a, 1)));
		}
		assert_true(ask(&s, "gavel:").value >= best - 1e-7);
	}
}

static void everybody_gains_by_sharing(void **state)
{
	struct rng rng = property("max-min: nobody is worse off than on its equal part");

	(void)state;
	for (size_t round = 0; round < rounds(100); round++) {
		struct setting s = draw(&rng, JOBS_MAX, TYPES);
		double devices = 0;

		for (uint32_t w = 0; w < s.types; w++)
			devices += s.capacity[w];
		for (size_t k = 0; k < COUNT(both); k++)
			assert_true(ask(&s, both[k]).value >= fmin(1, devices / s.jobs) * (1 - 1e-6));
	}
}

static void units_of_speed_do_not_matter(void **state)
{
	struct rng rng = property("max-min: a job's speeds times anything");

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		struct setting s = draw(&rng, JOBS_MAX, TYPES), other = s;

		for (uint32_t i = 0; i < s.jobs; i++) {
			double factor = rng_between(&rng, .01, 100);

			for (uint32_t w = 0; w < s.types; w++)
				other.speed[i][w] *= factor;
		}
		for (size_t k = 0; k < COUNT(both); k++) {
			/* not shares: of those that are equally good rounding may choose others */
			assert_near(ask(&s, both[k]).value / ask(&other, both[k]).value, 1, 1e-7);
		}
	}
}

/*
 * Jobs that are alike have alike shares, so that none envies another of its kind.  Jobs that are not
 * may prefer each other's: in the first example the first would rather have what the second has.
 */
static void equals_are_treated_alike(void **state)
{
	struct rng rng = property("jobs that are alike reach the same");
	static const char *const policies_of[] = { "gavel:", "gavel:compat=gavel",
		"gavel:water_filling=1", "gavel:water_filling=1,compat=gavel",
		"gavel:objective=makespan", "gavel:objective=finish-time" };

	(void)state;
	for (size_t round = 0; round < rounds(30); round++) {
		struct setting s = draw(&rng, 4, TYPES);
		uint32_t n = s.jobs;

		for (uint32_t i = n; i < 2 * n; i++) {
			memcpy(s.speed[i], s.speed[i - n], sizeof(s.speed[i]));
			s.gang[i] = s.gang[i - n];
			s.work[i] = s.work[i - n];
		}
		s.jobs = 2 * n;
		for (size_t k = 0; k < COUNT(policies_of); k++) {
			struct answer a = ask(&s, policies_of[k]);

			for (uint32_t i = 0; i < n; i++)
				assert_near(rate_of(&s, &a, i) / best_speed(&s, i),
					rate_of(&s, &a, i + n) / best_speed(&s, i), 1e-4);
		}
	}
}

/* How far job i can be raised while all others keep what they have, but for a part `slack` of it. */
static double lp_most(const struct setting *s, const struct answer *a, uint32_t i, double slack)
{
	struct lp *lp = shares_lp(s);

	lp_maximise(lp, true);
	for (uint32_t w = 0; w < s->types; w++)
		lp_set_cost(lp, i * s->types + w, s->speed[i][w] / best_speed(s, i));
	for (uint32_t k = 0; k < s->jobs; k++)
		lp_rate_row(lp, s, k, 1 / best_speed(s, k), UINT32_MAX,
			rate_of(s, a, k) / best_speed(s, k) * (1 - slack));
	return lp_finish(lp);
}

static void water_filling_leaves_nothing(void **state)
{
	struct rng rng = property("water filling: nobody can have more");

	(void)state;
	for (size_t round = 0; round < rounds(40); round++) {
		struct setting s = draw(&rng, 8, TYPES);
		struct answer a = ask(&s, "gavel:water_filling=1");
		double unit[JOBS_MAX];

		keeps_rows(&s, &a, EXACT);
		for (uint32_t i = 0; i < s.jobs; i++)
			unit[i] = unit_of(&s, i);
		assert_near(a.value / lp_max_min(&s, unit), 1, 1e-6);
		for (uint32_t i = 0; i < s.jobs; i++)
			assert_near(lp_most(&s, &a, i, 1e-9),
				rate_of(&s, &a, i) / best_speed(&s, i), 1e-5);
	}
}

/* What the objective leaves over is not left idle: nobody can be raised there either. */
static void max_min_leaves_nothing(void **state)
{
	struct rng rng = property("max-min by default: nobody can have more");

	(void)state;
	for (size_t round = 0; round < rounds(40); round++) {
		struct setting s = draw(&rng, 8, TYPES);
		struct answer a = ask(&s, "gavel:");

		for (uint32_t i = 0; i < s.jobs; i++)
			assert_near(lp_most(&s, &a, i, 1e-6),
				rate_of(&s, &a, i) / best_speed(&s, i), 1e-3);
	}
}

static void the_makespan_is_the_least_there_is(void **state)
{
	struct rng rng = property("makespan: as by the simplex method, and longer with more jobs");

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		struct setting s = draw(&rng, 8, TYPES);
		double unit[JOBS_MAX], last_s = 0;
		uint32_t n = s.jobs;

		for (s.jobs = 1; s.jobs <= n; s.jobs++) {
			struct answer a = ask(&s, "gavel:objective=makespan");
			double best_s;

			for (uint32_t i = 0; i < s.jobs; i++)
				unit[i] = 1 / work_of(&s, i);
			best_s = 1 / lp_max_min(&s, unit);
			assert_near(a.value / best_s, 1, 1e-6);
			keeps_rows(&s, &a, INTERIOR);
			assert_true(a.value >= last_s * (1 - 1e-6));
			last_s = a.value;
		}
		s.jobs = n;
		{
			/* By halving intervals, the published way: within five per cent, and never better. */
			struct answer a = ask(&s, "gavel:objective=makespan,compat=gavel");

			assert_true(a.value >= last_s * (1 - 1e-6));
			assert_true(a.value <= fmax(last_s * 1.06, 107));
		}
	}
}

/* At the first moment no job has an age, so that ratios are those of rates on equal parts. */
static void the_worst_finish_time_is_the_best_there_is(void **state)
{
	struct rng rng = property("finish-time fairness: as by the simplex method");

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		struct setting s = draw(&rng, JOBS_MAX, TYPES);
		double unit[JOBS_MAX], best;

		for (uint32_t i = 0; i < s.jobs; i++) {
			double sum = 0, rate = 0;

			for (uint32_t w = 0; w < s.types; w++) {
				sum += s.capacity[w] / (s.jobs * gang_of(&s, i));
				rate += s.speed[i][w] * s.capacity[w] / (s.jobs * gang_of(&s, i));
			}
			unit[i] = fmax(sum, 1) / rate;
		}
		best = lp_max_min(&s, unit);
		for (size_t k = 0; k < 2; k++) {
			struct answer a = ask(&s,
				k ? "gavel:objective=finish-time,compat=gavel"
				  : "gavel:objective=finish-time");

			assert_string_equal(a.fallback, "");
			assert_near(a.value * best, 1, 1e-5);
			keeps_rows(&s, &a, INTERIOR);
		}
	}
}

static void sums_are_the_largest_there_are(void **state)
{
	struct rng rng = property("throughput, cost, fifo: as by the simplex method");

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		struct setting s = draw(&rng, JOBS_MAX, TYPES);
		double weight[JOBS_MAX];
		struct answer a;

		for (uint32_t i = 0; i < s.jobs; i++)
			weight[i] = 1;
		a = ask(&s, "gavel:objective=throughput");
		assert_near(a.value / lp_sum(&s, weight), 1, 1e-6);
		keeps_rows(&s, &a, INTERIOR);
		for (uint32_t i = 0; i < s.jobs; i++)
			weight[i] = 1 / best_speed(&s, i);
		assert_near(ask(&s, "gavel:objective=throughput,normalise=1").value / lp_sum(&s, weight),
			1, 1e-6);
		assert_near(ask(&s, "gavel:objective=cost").value / lp_sum(&s, weight), 1, 1e-6);
		for (uint32_t i = 0; i < s.jobs; i++)
			weight[i] = (s.jobs - i) / best_speed(&s, i);
		assert_near(ask(&s, "gavel:objective=fifo").value / lp_sum(&s, weight), 1, 1e-6);
	}
}

/* Pairs can only add: two that keep most of their speed side by side are worth more than one. */
static void pairs_can_only_add(void **state)
{
	struct rng rng = property("packing: never worse than alone");

	(void)state;
	for (size_t round = 0; round < rounds(30); round++) {
		struct setting s = draw(&rng, 6, TYPES);
		double alone = ask(&s, "gavel:").value;

		assert_true(ask(&s, "gavel:packing=1").value >= alone * (1 - 1e-6));
		assert_true(ask(&s, "gavel:packing=1,compat=gavel").value >= alone * (1 - 1e-6));
	}
}

/* One more device of a type adds what its price says, for small parts of a device at least. */
static void prices_tell_what_a_device_adds(void **state)
{
	struct rng rng = property(
		"max-min: prices times capacities are the value, or jobs are at their speed");

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		struct setting s = draw(&rng, JOBS_MAX, TYPES);
		struct answer a = ask(&s, "gavel:");
		double worth = 0;

		assert_true(a.has_price);
		for (uint32_t w = 0; w < s.types; w++) {
			assert_true(a.price[w] >= 0);
			worth += a.price[w] * s.capacity[w];
		}
		/* the rest of the value is what the limit of all of a job's time is worth */
		assert_true(worth <= a.value * (1 + 1e-6));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_least_level_is_the_best_there_is),
		cmocka_unit_test(no_point_of_a_grid_is_better),
		cmocka_unit_test(everybody_gains_by_sharing),
		cmocka_unit_test(units_of_speed_do_not_matter),
		cmocka_unit_test(equals_are_treated_alike),
		cmocka_unit_test(water_filling_leaves_nothing),
		cmocka_unit_test(max_min_leaves_nothing),
		cmocka_unit_test(the_makespan_is_the_least_there_is),
		cmocka_unit_test(the_worst_finish_time_is_the_best_there_is),
		cmocka_unit_test(sums_are_the_largest_there_are),
		cmocka_unit_test(pairs_can_only_add),
		cmocka_unit_test(prices_tell_what_a_device_adds),
	};

	return cmocka_run_group_tests_name("policy/hetero/gavel", tests, NULL, NULL);
}
