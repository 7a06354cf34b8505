#include "model/noise.h"

#include <math.h>

#include "support/property.h"

#define assert_near(a, b, most) assert_true(fabs((a) - (b)) <= (most))

static void the_two_batch_estimate(void **state)
{
	struct noise noise = { 0 };

	(void)state;
	assert_true(isnan(noise_scale(&noise)));
	assert_true(noise_feel(&noise, 32, 10, 128, 4));
	assert_near(noise.sqr, 2, 1e-12);
	assert_near(noise.var, 256, 1e-9);
	assert_near(noise_scale(&noise), 128, 1e-9);
	/* The latest counts 0.6, numerator and denominator each for itself. */
	assert_true(noise_feel(&noise, 32, 12, 128, 6));
	assert_near(noise.sqr, 0.6 * 4 + 0.4 * 2, 1e-12);
	assert_near(noise.var, 256, 1e-9);
}

static void what_cannot_be_is_left_out(void **state)
{
	struct noise noise = { 0 };

	(void)state;
	noise_feel(&noise, 32, 10, 128, 4);
	assert_false(noise_feel(&noise, 32, 10, 32, 4));  /* one worker */
	assert_false(noise_feel(&noise, 32, 10, 128, 1)); /* the true gradient would be negative */
	assert_false(noise_feel(&noise, 32, 4, 128, 10)); /* so would its variance */
	assert_near(noise_scale(&noise), 128, 1e-9);
}

static void longer_gradients_change_nothing(void **state)
{
	struct rng rng = property("gradients times c");

	(void)state;
	for (size_t i = 0; i < rounds(200); i++) {
		double big = rng_between(&rng, 1, 5), small = rng_between(&rng, big, 3 * big);
		double c = rng_between(&rng, 0.1, 10);
		struct noise a = { 0 }, b = { 0 };

		if (!noise_feel(&a, 32, small, 128, big))
			continue;
		assert_true(noise_feel(&b, 32, c * small, 128, c * big));
		assert_near(noise_scale(&b) / noise_scale(&a), 1, 1e-9);
	}
}

static void workers_follow_the_noise(void **state)
{
	static const struct {
		double scale;
		uint32_t now, least, most, workers;
	} rows[] = {
		{ 128, 4, 1, 16, 4 },
		{ 400, 4, 1, 16, 8 }, /* 12.5 is 13, and twice is the limit */
		{ 400, 8, 1, 16, 13 },
		{ 0, 4, 1, 16, 2 },
		{ 0, 5, 1, 16, 3 }, /* half, rounded up */
		{ 1e9, 12, 1, 16, 16 },
		{ 1e9, 16, 4, 16, 16 },
		{ 0, 1, 1, 16, 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct noise_limits limits = { .least = rows[i].least, .most = rows[i].most };

		assert_int_equal(noise_workers(rows[i].scale, 32, rows[i].now, &limits),
			rows[i].workers);
	}
}

static void batches_have_limits(void **state)
{
	struct noise_limits limits = { .least = 1, .most = 64, .least_batch = 128, .most_batch = 256 };

	(void)state;
	assert_int_equal(noise_workers(1, 32, 4, &limits), 4);
	assert_int_equal(noise_workers(1e6, 32, 6, &limits), 8);
}

static void statistics_are_steps(void **state)
{
	struct noise noise = { 0 };

	(void)state;
	assert_false(noise_feel_gradient(&noise, (struct gradient){ 0 }, 64));
	assert_true(isnan(noise_scale(&noise)));
	assert_true(noise_feel_gradient(&noise, (struct gradient){ .sqr = 2, .var = 4 }, 64));
	assert_near(noise_scale(&noise), 128, 1e-9);
	assert_true(noise_feel_gradient(&noise, (struct gradient){ .sqr = 1, .var = 4 }, 64));
	assert_near(noise_scale(&noise), 64 * 4 / (0.6 * 1 + 0.4 * 2), 1e-9);
}

/* Micro test c: gradients as long alone as together have no noise, and half of the workers do. */
static void no_noise(void **state)
{
	struct noise_limits limits = { .least = 1, .most = 16, .least_batch = 32 };
	struct noise noise = { 0 };

	(void)state;
	assert_true(noise_feel(&noise, 32, 7, 128, 7));
	assert_near(noise_scale(&noise), 0, 0);
	assert_int_equal(noise_workers(noise_scale(&noise), 32, 4, &limits), 2);
	assert_int_equal(noise_workers(noise_scale(&noise), 32, 2, &limits), 1);
	assert_int_equal(noise_workers(noise_scale(&noise), 32, 1, &limits), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_two_batch_estimate),
		cmocka_unit_test(what_cannot_be_is_left_out),
		cmocka_unit_test(longer_gradients_change_nothing),
		cmocka_unit_test(workers_follow_the_noise),
		cmocka_unit_test(batches_have_limits),
		cmocka_unit_test(statistics_are_steps),
		cmocka_unit_test(no_noise),
	};

	return cmocka_run_group_tests_name("model/noise", tests, NULL, NULL);
}
