/*
 * ParSync: the worked examples, and the plan and the choice word for word.
 */
#include "model/parsync.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "support/property.h"

/* ---- the plan */

static void two_schedulers_four_partitions(void **state)
{
	static const uint32_t want[4][2] = { { 0, 2 }, { 1, 3 }, { 2, 0 }, { 3, 1 } };
	struct parsync_plan plan = { .schedulers = 2, .partitions = 4, .period_s = 1 };

	(void)state;
	for (uint64_t k = 0; k < 12; k++)
		for (uint32_t s = 0; s < 2; s++)
			assert_int_equal(parsync_partition(&plan, s, k), want[k % 4][s]);
}

static void staleness_of_the_worked_example(void **state)
{
	struct parsync_plan plan = { .schedulers = 2, .partitions = 4, .period_s = 2 };

	(void)state;
	/* After step 5 the second scheduler has just refreshed 3, and 0 is next. */
	assert_true(parsync_staleness_s(&plan, 1, 5, 3) == 0);
	assert_true(parsync_staleness_s(&plan, 1, 5, 2) == 0.5);
	assert_true(parsync_staleness_s(&plan, 1, 5, 1) == 1);
	assert_true(parsync_staleness_s(&plan, 1, 5, 0) == 1.5); /* G (1 - 1/P) */
}

static struct parsync_plan random_plan(struct rng *rng)
{
	uint32_t schedulers = 1 + (uint32_t)rng_below(rng, 12);

	return (struct parsync_plan){
		.schedulers = schedulers,
		.partitions = schedulers + (uint32_t)rng_below(rng, 20),
		.period_s = rng_between(rng, 0.1, 10),
	};
}

static void nobody_refreshes_what_another_does(void **state)
{
	struct rng rng = property("in a step every partition is refreshed by one scheduler at most");

	(void)state;
	for (size_t round = 0; round < rounds(200); round++) {
		struct parsync_plan plan = random_plan(&rng);
		uint64_t k = rng_below(&rng, UINT64_C(1) << 40);
		uint64_t seen = 0;

		assert_int_equal(parsync_check(&plan, NULL), 0);
		for (uint32_t s = 0; s < plan.schedulers; s++) {
			uint64_t bit = UINT64_C(1) << parsync_partition(&plan, s, k);

			assert_false(seen & bit);
			seen |= bit;
		}
	}
}

static void everything_once_in_a_period(void **state)
{
	struct rng rng = property("each scheduler refreshes each partition once in a period");

	(void)state;
	for (size_t round = 0; round < rounds(200); round++) {
		struct parsync_plan plan = random_plan(&rng);
		uint32_t s = (uint32_t)rng_below(&rng, plan.schedulers);
		uint64_t from = rng_below(&rng, 1000), seen = 0;

		for (uint64_t k = from; k < from + plan.partitions; k++)
			seen |= UINT64_C(1) << parsync_partition(&plan, s, k);
		assert_int_equal(__builtin_popcountll(seen), plan.partitions);
		assert_true(parsync_step_s(&plan, plan.partitions * 7) == 7 * plan.period_s);
	}
}

static void staleness_is_the_time_since_the_last_refresh(void **state)
{
	struct rng rng = property("staleness is counted from the last step that refreshed it");

	(void)state;
	for (size_t round = 0; round < rounds(200); round++) {
		struct parsync_plan plan = random_plan(&rng);
		uint32_t s = (uint32_t)rng_below(&rng, plan.schedulers);
		uint32_t p = (uint32_t)rng_below(&rng, plan.partitions);
		uint64_t k = plan.partitions + rng_below(&rng, 100), last = k;
		double got = parsync_staleness_s(&plan, s, k, p), most;

		while (parsync_partition(&plan, s, last) != p)
			last--;
		assert_true(fabs(got - parsync_step_s(&plan, k - last)) < 1e-12);
		most = plan.period_s * (1 - 1.0 / plan.partitions);
		assert_true(got <= most + 1e-12);
	}
}

static void partitions_are_near_equal(void **state)
{
	struct rng rng = property("partitions cover all machines and differ by one at most");

	(void)state;
	for (size_t round = 0; round < rounds(200); round++) {
		uint32_t n = 1 + (uint32_t)rng_below(&rng, 50);
		uint32_t items = n + (uint32_t)rng_below(&rng, 1000000);

		assert_int_equal(parsync_first(items, n, 0), 0);
		assert_int_equal(parsync_first(items, n, n), items);
		for (uint32_t p = 0; p < n; p++) {
			uint32_t size = parsync_first(items, n, p + 1) - parsync_first(items, n, p);

			assert_true(size == items / n || size == items / n + 1);
		}
	}
}

static void senseless_plans_are_refused(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(parsync_check(&(struct parsync_plan){ 8, 4, 1 }, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "make it 8 partitions or more"));
	assert_int_equal(parsync_check(&(struct parsync_plan){ 0, 4, 1 }, &err), ERR_USAGE);
	assert_int_equal(parsync_check(&(struct parsync_plan){ 1, 4, 0 }, &err), ERR_USAGE);
	assert_int_equal(parsync_check(&(struct parsync_plan){ 1, 4, NAN }, &err), ERR_USAGE);
	assert_int_equal(parsync_check(&(struct parsync_plan){ 4, 4, 1 }, &err), 0);
}

/* ---- conflicts */

static const struct {
	const char *what;
	double slots, requests, want;
} rejections[] = {
	{ "two on four", 4, 2, 0.25 },
	{ "ten on a hundred", 100, 10, 0.4382075008805735 },
	{ "one alone", 7, 1, 0 },
	{ "nobody", 7, 0, 0 },
	{ "all but one on a single slot", 1, 5, 4 },
	{ "all where there is none", 0, 5, 5 },
	/* m (m - 1) / 2S, for digits that a plain power loses */
	{ "two on very many", 1e12, 2, 1e-12 },
};

static void expected_rejections(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rejections); i++) {
		double got = parsync_expected_rejections(rejections[i].slots, rejections[i].requests);

		if (fabs(got - rejections[i].want) > 1e-12)
			fail_msg("%s: %.17g", rejections[i].what, got);
	}
}

static void rejections_as_drawn(void **state)
{
	struct rng rng = property("requests drawn at random are refused as often as expected");
	uint32_t slots = 20, requests = 15, draws = 20000;
	double refused = 0;

	(void)state;
	for (uint32_t i = 0; i < draws; i++) {
		uint64_t taken = 0;

		for (uint32_t k = 0; k < requests; k++) {
			uint64_t bit = UINT64_C(1) << rng_below(&rng, slots);

			refused += (taken & bit) != 0;
			taken |= bit;
		}
	}
	assert_true(fabs(refused / draws - parsync_expected_rejections(slots, requests)) < 0.1);
}

/* ---- the choice */

static const uint8_t best_first[] = { 0, 1, 2, 3, 4, 5 };

static void quality_goes_far_and_latency_stays_near(void **state)
{
	struct parsync_sight sight;
	struct parsync_pick pick = { 9, 9 };

	(void)state;
	parsync_sight_init(&sight, 4, 3);
	assert_false(parsync_choose(&sight, PARSYNC_QUALITY, best_first, 0, &pick));
	assert_false(parsync_choose(&sight, PARSYNC_LATENCY, best_first, 0, &pick));
	assert_int_equal(pick.partition, 9); /* untouched */

	parsync_sight_set(&sight, 2, 0, true); /* the best, seen long ago */
	parsync_sight_set(&sight, 1, 1, true);
	parsync_sight_set(&sight, 1, 2, true);
	assert_true(parsync_choose(&sight, PARSYNC_QUALITY, best_first, 1, &pick));
	assert_int_equal(pick.partition, 2);
	assert_int_equal(pick.kind, 0);
	assert_true(parsync_choose(&sight, PARSYNC_LATENCY, best_first, 1, &pick));
	assert_int_equal(pick.partition, 1);
	assert_int_equal(pick.kind, 1);

	parsync_sight_set(&sight, 3, 0, true); /* as good as 2; seen before it if 2 is the freshest */
	parsync_choose(&sight, PARSYNC_QUALITY, best_first, 2, &pick);
	assert_int_equal(pick.partition, 2);
	parsync_choose(&sight, PARSYNC_QUALITY, best_first, 1, &pick);
	assert_int_equal(pick.partition, 3); /* 1, 0, 3, 2 is the order of freshness */
	parsync_sight_fini(&sight);
}

/* By looking at every pair. */
static bool choose_slowly(const bool *there, uint32_t partitions, uint32_t kinds,
	enum parsync_rule rule, const uint8_t *order, uint32_t freshest, struct parsync_pick *out)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t age = 0; age < partitions; age++) {
		uint32_t p = (freshest + partitions - age) % partitions;

		for (uint32_t r = 0; r < kinds; r++) {
			uint64_t key = rule == PARSYNC_QUALITY ? (uint64_t)r * partitions + age
							       : (uint64_t)age * kinds + r;

			if (!there[(size_t)p * kinds + order[r]] || key >= least)
				continue;
			least = key;
			*out = (struct parsync_pick){ p, order[r] };
		}
	}
	return least != UINT64_MAX;
}

static void shuffle(struct rng *rng, uint8_t *order, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		order[i] = (uint8_t)i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)rng_below(rng, i);
		uint8_t other = order[k];

		order[k] = order[i - 1];
		order[i - 1] = other;
	}
}

static void compare_choices(struct rng *rng)
{
	uint32_t partitions = 1 + (uint32_t)rng_below(rng, 200);
	uint32_t kinds = 1 + (uint32_t)rng_below(rng, PARSYNC_KINDS_MAX);
	bool *there = mem_alloc(mem_array_size((size_t)partitions * kinds, sizeof(bool)));
	uint8_t order[PARSYNC_KINDS_MAX];
	struct parsync_sight sight;

	parsync_sight_init(&sight, partitions, kinds);
	for (uint32_t i = 0; i < 60; i++) {
		uint32_t p = (uint32_t)rng_below(rng, partitions), q = (uint32_t)rng_below(rng, kinds);
		uint32_t freshest = (uint32_t)rng_below(rng, partitions);
		bool *at = &there[(size_t)p * kinds + q];

		*at = rng_below(rng, 3) == 0;
		parsync_sight_set(&sight, p, q, *at);
		shuffle(rng, order, kinds);
		for (int rule = 0; rule < 2; rule++) {
			struct parsync_pick got = { 0 }, want = { 0 };
			bool any = choose_slowly(there, partitions, kinds, rule, order, freshest,
				&want);

			assert_int_equal(parsync_choose(&sight, rule, order, freshest, &got), any);
			assert_int_equal(got.partition, want.partition);
			assert_int_equal(got.kind, want.kind);
		}
	}
	parsync_sight_fini(&sight);
	free(there);
}

static void choices_are_those_of_a_full_scan(void **state)
{
	struct rng rng = property("choices are those of a look at every partition and kind");

	(void)state;
	for (size_t round = 0; round < rounds(60); round++)
		compare_choices(&rng);
}

/* ---- adapting */

static const struct {
	const char *what;
	enum parsync_rule now;
	double delay, want;
} delays[] = {
	{ "quick: quality stays", PARSYNC_QUALITY, 1.0, PARSYNC_QUALITY },
	{ "a little slow: it stays", PARSYNC_QUALITY, 1.4, PARSYNC_QUALITY },
	{ "at the limit it stays", PARSYNC_QUALITY, 1.5, PARSYNC_QUALITY },
	{ "slow: it goes", PARSYNC_QUALITY, 1.6, PARSYNC_LATENCY },
	{ "a little slow: it stays away", PARSYNC_LATENCY, 1.4, PARSYNC_LATENCY },
	{ "at the lower limit too", PARSYNC_LATENCY, 1.2, PARSYNC_LATENCY },
	{ "quick again: it is back", PARSYNC_LATENCY, 1.1, PARSYNC_QUALITY },
	{ "nothing happened: it is back", PARSYNC_LATENCY, 0, PARSYNC_QUALITY },
};

static void adapting_has_hysteresis(void **state)
{
	struct parsync_limits wrong = { .window_s = 1, .leave = 1.1, .back = 1.2 };

	(void)state;
	for (size_t i = 0; i < COUNT(delays); i++)
		if (parsync_adapt(delays[i].now, delays[i].delay * 8, 8, &parsync_limits_usual) !=
			(enum parsync_rule)delays[i].want)
			fail_msg("%s", delays[i].what);
	assert_int_equal(parsync_limits_check(&parsync_limits_usual, NULL), 0);
	assert_int_equal(parsync_limits_check(&wrong, NULL), ERR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_schedulers_four_partitions),
		cmocka_unit_test(staleness_of_the_worked_example),
		cmocka_unit_test(nobody_refreshes_what_another_does),
		cmocka_unit_test(everything_once_in_a_period),
		cmocka_unit_test(staleness_is_the_time_since_the_last_refresh),
		cmocka_unit_test(partitions_are_near_equal),
		cmocka_unit_test(senseless_plans_are_refused),
		cmocka_unit_test(expected_rejections),
		cmocka_unit_test(rejections_as_drawn),
		cmocka_unit_test(quality_goes_far_and_latency_stays_near),
		cmocka_unit_test(choices_are_those_of_a_full_scan),
		cmocka_unit_test(adapting_has_hysteresis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
