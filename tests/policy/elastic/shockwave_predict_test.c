/*
 * Shockwave's guesses, by hand.
 */
#include "policy/elastic/shockwave_predict.h"

#include "support/property.h"

/* Ten epochs, two regimes, three seen of the first: (8, 5) of 13, less what was seen. */
static void a_posterior_by_hand(void **state)
{
	struct forecast f = {
		.regimes = 2,
		.epochs = 10,
		.ended = 2,
		.epoch_s = { 10, 6 },
		.seen = { 3, 0 },
	};
	double epochs[REGIMES_MAX];

	(void)state;
	forecast_epochs(&f, epochs);
	assert_float_equal(epochs[0], 80.0 / 13 - 3, 1e-9);
	assert_float_equal(epochs[1], 50.0 / 13, 1e-9);
	assert_float_equal(forecast_left_s(&f), 54.615, 1e-3);
	assert_float_equal(forecast_mean_s(&f), 10, 1e-12);
}

static void one_regime_is_certain(void **state)
{
	struct forecast f = { .regimes = 1, .epochs = 10, .epoch_s = { 7 }, .seen = { 1 } };

	(void)state;
	assert_float_equal(forecast_left_s(&f), 63, 1e-9); /* the epoch begun counts as seen */
	f.ended = 10;
	f.seen[0] = 10;
	assert_float_equal(forecast_left_s(&f), 1, 0);
}

static void an_equal_part(void **state)
{
	(void)state;
	assert_float_equal(equal_share(4, 8), 0.5, 0);
	assert_float_equal(equal_share(4, 4), 1, 0);
	assert_float_equal(equal_share(4, 3), 1, 0);
}

/* 100 s for two rounds, then 200 s for one. */
static void fair_ends_follow_slowly(void **state)
{
	struct estimates e = { 0 };

	(void)state;
	estimates_add(&e, 5, 100);
	assert_float_equal(estimates_target_s(&e, 5, 0.9), 100, 1e-9);
	estimates_add(&e, 7, 200);
	assert_float_equal(estimates_target_s(&e, 7, 0.9), 0.9 * 100 + 0.1 * 200, 1e-9);
	assert_float_equal(estimates_target_s(&e, 8, 0.9), 0.9 * 400 / 3 + 0.1 * 200, 1e-9);
}

static void late_jobs_weigh_more(void **state)
{
	const struct urgency u = { 1, 2, 10, 1e6 };

	(void)state;
	assert_float_equal(urgency_weight(&u, 1, false), 1, 0);
	assert_float_equal(urgency_weight(&u, 2, false), 4, 1e-9);
	assert_float_equal(urgency_weight(&u, 2, true), 1024, 1e-9);
	assert_float_equal(urgency_weight(&u, 1e300, true), 1e6, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_posterior_by_hand),
		cmocka_unit_test(one_regime_is_certain),
		cmocka_unit_test(an_equal_part),
		cmocka_unit_test(fair_ends_follow_slowly),
		cmocka_unit_test(late_jobs_weigh_more),
	};

	return cmocka_run_group_tests_name("policy/shockwave_predict", tests, NULL, NULL);
}
