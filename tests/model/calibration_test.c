/*
 * Intervals that were too narrow, or too wide, become such that eight of ten
 * outcomes lie in them.
 */
#include "model/calibration.h"

#include <math.h>

#include "support/property.h"

/* ---- quantiles */

static void a_quantile_lies_between_its_neighbours(void **state)
{
	const double values[] = { 1, 2, 4, 8, 16 };

	(void)state;
	assert_true(quantile_of(values, 5, 0) == 1);
	assert_true(quantile_of(values, 5, 0.5) == 4);
	assert_true(quantile_of(values, 5, 1) == 16);
	assert_float_equal(quantile_of(values, 5, 0.125), 1.5, 1e-12);
	assert_float_equal(quantile_of(values, 5, 0.9), 12.8, 1e-12);
	assert_true(quantile_of(values, 1, 0) == 1 && quantile_of(values, 1, 1) == 1);
	for (double p = 0; p <= 1; p += 0.25)
		assert_true(isnan(quantile_of(values, 0, p)));
}

static void infinities_are_no_numbers_to_reckon_with(void **state)
{
	const double late[] = { 1, 2, INFINITY, INFINITY }, early[] = { -INFINITY, -INFINITY, 3 };
	const double both[] = { -INFINITY, INFINITY };

	(void)state;
	assert_float_equal(quantile_of(late, 4, 0.3), 1.9, 1e-12);
	assert_true(isinf(quantile_of(late, 4, 0.4)) && isinf(quantile_of(late, 4, 0.9)));
	assert_true(quantile_of(early, 3, 0.1) == -INFINITY);
	assert_true(quantile_of(early, 3, 0.7) == -INFINITY);
	assert_true(quantile_of(early, 3, 1) == 3);
	assert_true(quantile_of(both, 2, 0.5) == INFINITY);
}

static void moments_are_of_values_in_any_order(void **state)
{
	double values[] = { 10, 0, 9, 1, 8, 2, 7, 3, 6, 4, 5 };
	struct moments m = moments_of(values, 11), none = moments_of(values, 0);

	(void)state;
	assert_float_equal(m.p10, 1, 1e-12);
	assert_float_equal(m.p50, 5, 1e-12);
	assert_float_equal(m.p90, 9, 1e-12);
	assert_true(isnan(none.p10) && isnan(none.p50) && isnan(none.p90));
}

/* ---- outcomes */

static void an_outcome_is_placed_among_the_moments(void **state)
{
	struct moments raw = { 600, 3600, 7200 }, said = { 300, 3600, 9000 };
	struct score in = calibration_judge(&raw, &said, 7000, 3600);
	struct score early = calibration_judge(&raw, &said, NAN, 100);
	struct score late = calibration_judge(&raw, &said, NAN, 9002);
	struct score clock = calibration_judge(&raw, &said, NAN, 9001);

	(void)state;
	assert_true(in.place == 0 && in.error_s == 0 && in.covered);
	assert_float_equal(in.plain_s, 3400, 1e-9);
	assert_true(early.place < -1 && !early.covered && isnan(early.plain_s));
	assert_true(late.place > 1 && !late.covered && clock.covered);
	assert_float_equal(late.error_s, 9002 - 3600, 1e-9);
	/* beyond the forecast is as far as forecasts go */
	said = raw = (struct moments){ 10, INFINITY, INFINITY };
	late = calibration_judge(&raw, &said, INFINITY, 1000);
	assert_true(isfinite(late.place) && isfinite(late.error_s) && isfinite(late.plain_s));
	assert_true(late.covered);
}

static void the_oldest_outcome_is_forgotten(void **state)
{
	struct calibration c = { 0 };

	(void)state;
	for (int i = 0; i < CALIBRATION_MAX + 50; i++)
		calibration_add(&c,
			&(struct score){ .error_s = i, .plain_s = NAN, .covered = i >= 50 });
	assert_int_equal(c.n, CALIBRATION_MAX);
	assert_int_equal(c.next, 50);
	assert_true(c.at[49].error_s == CALIBRATION_MAX + 49 && c.at[50].error_s == 50);
	assert_true(calibration_track(&c).coverage == 1);
}

static void a_track_is_shares_and_medians(void **state)
{
	struct calibration c = { 0 };
	struct track t = calibration_track(&c);

	(void)state;
	assert_true(t.n == 0 && isnan(t.coverage) && isnan(t.median_error_s) && isnan(t.plain_error_s));
	calibration_add(&c, &(struct score){ .error_s = 10, .plain_s = NAN, .covered = true });
	assert_true(isnan(calibration_track(&c).plain_error_s));
	calibration_add(&c, &(struct score){ .error_s = 30, .plain_s = 5, .covered = true });
	calibration_add(&c, &(struct score){ .error_s = 20, .plain_s = 7 });
	t = calibration_track(&c);
	assert_int_equal(t.n, 3);
	assert_float_equal(t.coverage, 2 / 3.0, 1e-12);
	assert_true(t.median_error_s == 20 && t.plain_error_s == 6);
}

/* ---- corrections */

static void what_is_beyond_stays_beyond(void **state)
{
	struct correction twice = { 2 };
	struct moments never = { 5, INFINITY, INFINITY }, perhaps = { 60, 600, INFINITY };
	struct moments same = correction_apply(&twice, &never), m = correction_apply(&twice, &perhaps);

	(void)state;
	assert_true(same.p10 == 5 && isinf(same.p50) && isinf(same.p90));
	assert_true(m.p10 >= 0 && m.p10 < 60 && m.p50 == 600 && isinf(m.p90));
}

static void corrected_moments_are_in_order(void **state)
{
	struct rng rng = property("moments in order");

	(void)state;
	for (size_t i = 0; i < rounds(2000); i++) {
		struct correction by = { 0.5 + 4.5 * rng_uniform(&rng) };
		struct moments raw = { .p10 = 1e5 * rng_uniform(&rng) }, m;

		raw.p50 = raw.p10 + rng_below(&rng, 2) * 1e5 * rng_uniform(&rng);
		raw.p90 = raw.p50 + rng_below(&rng, 2) * 1e5 * rng_uniform(&rng);
		m = correction_apply(&by, &raw);
		assert_true(0 <= m.p10 && m.p10 <= m.p50 && m.p50 <= m.p90 && m.p50 == raw.p50);
	}
}

/* Of forecasts whose intervals are `wide` times as wide as they should be: the share of the last half that held. */
static double coverage_when(double wide, struct rng *rng)
{
	enum { SERIES = 4000 };
	struct calibration c = { 0 };
	uint32_t held = 0;

	for (int i = 0; i < SERIES; i++) {
		double middle = rng_lognormal(rng, 8, 1), spread = 0.3 + rng_uniform(rng);
		struct moments raw = { middle * exp(-1.2816 * spread * wide), middle,
			middle * exp(1.2816 * spread * wide) };
		struct correction by = calibration_correction(&c);
		struct moments said = correction_apply(&by, &raw);
		struct score score = calibration_judge(&raw, &said, NAN,
			middle * rng_lognormal(rng, 0, spread));

		calibration_add(&c, &score);
		held += i >= SERIES / 2 && score.covered;
	}
	return held / (SERIES / 2.0);
}

static void eight_of_ten_hold_in_the_end(void **state)
{
	static const double widths[] = { 0.3, 0.5, 1, 1.7 };
	struct rng rng = property("coverage");

	(void)state;
	for (size_t i = 0; i < COUNT(widths); i++) {
		double coverage = coverage_when(widths[i], &rng);

		if (fabs(coverage - 0.8) > 0.04)
			fail_msg("%g times as wide: %g of the intervals held", widths[i], coverage);
	}
}

static void without_outcomes_futures_are_believed(void **state)
{
	struct calibration c = { 0 };

	(void)state;
	assert_float_equal(calibration_correction(&c).wider, 1, 0.15);
	/* One that was far off is no reason for panic, and no number of them for absurdity. */
	calibration_add(&c, &(struct score){ .place = 1e9 });
	assert_true(calibration_correction(&c).wider < 1.3);
	for (int i = 0; i < CALIBRATION_MAX; i++)
		calibration_add(&c, &(struct score){ .place = -1e9 });
	assert_true(calibration_correction(&c).wider == 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quantile_lies_between_its_neighbours),
		cmocka_unit_test(infinities_are_no_numbers_to_reckon_with),
		cmocka_unit_test(moments_are_of_values_in_any_order),
		cmocka_unit_test(an_outcome_is_placed_among_the_moments),
		cmocka_unit_test(the_oldest_outcome_is_forgotten),
		cmocka_unit_test(a_track_is_shares_and_medians),
		cmocka_unit_test(what_is_beyond_stays_beyond),
		cmocka_unit_test(corrected_moments_are_in_order),
		cmocka_unit_test(eight_of_ten_hold_in_the_end),
		cmocka_unit_test(without_outcomes_futures_are_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
