#include "model/optimus_fit.h"

#include <math.h>
#include <string.h>

#include "support/property.h"

#define assert_near(a, b, most) assert_true(fabs((a) - (b)) <= (most))

/* ---- loss */

static const struct loss_fit_options plain = { 0 };

static struct loss_curve fit(const struct loss_point *points, uint32_t n,
	const struct loss_fit_options *options)
{
	struct loss_curve curve;
	struct err err;

	if (loss_fit(points, n, options, &curve, &err) < 0)
		fail_msg("%s", err.text);
	return curve;
}

static void three_points_exactly(void **state)
{
	static const struct loss_point points[] = { { 0, 1 }, { 1, 0.5 }, { 3, 0.25 } };
	struct loss_curve curve = fit(points, 3, &(struct loss_fit_options){ .grid = 100 });

	(void)state;
	assert_near(curve.b0, 1, 1e-9);
	assert_near(curve.b1, 1, 1e-9);
	assert_near(curve.b2, 0, 1e-9);
	assert_true(curve.error < 1e-9);
}

static void a_curve_with_a_floor(void **state)
{
	static const struct loss_point points[] = { { 1, 1.409091 }, { 2, 1.333333 },
		{ 4, 1.214286 }, { 8, 1.055556 }, { 16, 0.884615 } };
	struct loss_curve curve = fit(points, 5, &plain);

	(void)state;
	assert_near(curve.b0, 0.1, 0.001);
	assert_near(curve.b1, 1, 0.01);
	assert_near(curve.b2, 0.5, 0.005);
	curve = (struct loss_curve){ 0.1, 1, 0.5, 0, 0 };
	assert_true(loss_converged(&curve, 0.001, 1, 1000) == 90);
	assert_true(loss_converged(&curve, 0.001, 1, 50) == 50);
}

/* Noise: the curve keeps to its form, and outliers do not lead it. */
static void noisy_curves(void **state)
{
	struct rng rng = property("noisy losses");

	(void)state;
	for (size_t round = 0; round < rounds(10); round++) {
		struct loss_curve truth = { rng_between(&rng, 0.01, 1), rng_between(&rng, 0.1, 2),
			rng_between(&rng, 0, 2), 0, 0 };
		struct loss_point points[60];
		struct loss_curve curve;

		for (uint32_t i = 0; i < COUNT(points); i++) {
			points[i] = (struct loss_point){ i,
				loss_at(&truth, i) * (1 + 0.002 * rng_normal(&rng)) };
			if (i == 20)
				points[i].loss *= 5;
		}
		curve = fit(points, COUNT(points), &(struct loss_fit_options){ .recent = round % 2 });
		assert_true(curve.b0 >= 0 && curve.b1 >= 0 && curve.b2 >= 0);
		assert_true(curve.used < COUNT(points));
		for (uint32_t i = 0; i < COUNT(points); i++)
			assert_near(loss_at(&curve, i) / loss_at(&truth, i), 1, 0.03);
		for (uint32_t i = 0; i < 200; i++)
			assert_true(loss_at(&curve, i + 1) <= loss_at(&curve, i));
	}
}

static void bad_losses_are_named(void **state)
{
	static const struct {
		struct loss_point points[3];
		uint32_t n;
		const char *says;
	} rows[] = {
		{ { { 0, 1 } }, 1, "needs two points" },
		{ { { 0, 1 }, { 1, -1 }, { 2, 0.5 } }, 3, "point 1" },
		{ { { 0, 1 }, { 1, 0.7 }, { 2, NAN } }, 3, "point 2" },
		{ { { 0, 1 }, { 2, 0.7 }, { 1, 0.5 } }, 3, "point 2: step 1 does not come after step 2" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct loss_curve curve;
		struct err err = { 0 };

		assert_int_equal(loss_fit(rows[i].points, rows[i].n, &plain, &curve, &err), ERR_FORMAT);
		assert_non_null(strstr(err.text, rows[i].says));
	}
}

/* ---- speed */

static void speeds_by_the_formula(void **state)
{
	struct speed_curve sync = { SPEED_SYNC, 32, { 0.1, 1, 0.5, 0.1, 0.1 }, 0 };

	(void)state;
	assert_near(speed_at(&sync, 2, 4), 0.294118, 1e-6);
	assert_near(speed_at(&sync, 2, 8), 0.227273, 1e-6);
	assert_near(speed_at(&sync, 4, 4), 0.322581, 1e-6);
}

static void exact_speeds_come_back(void **state)
{
	struct rng rng = property("speeds of known thetas");

	(void)state;
	for (size_t round = 0; round < rounds(200); round++) {
		struct speed_curve truth = { .kind = (enum speed_kind)(round % 3), .batch = 32 }, curve;
		struct speed_point points[16];
		struct err err;

		for (uint32_t i = 0; i < speed_points_needed(truth.kind); i++)
			truth.theta[i] = rng_below(&rng, 4) ? rng_between(&rng, 0.01, 1) : 0;
		truth.theta[1] += 0.01;
		for (uint32_t i = 0; i < COUNT(points); i++) {
			points[i].servers = 1 + i % 4;
			points[i].workers = 1 + i / 4 * 2;
			points[i].speed = speed_at(&truth, points[i].servers, points[i].workers);
		}
		assert_int_equal(speed_fit(truth.kind, 32, points, COUNT(points), &curve, &err), 0);
		for (uint32_t i = 0; i < SPEED_THETAS; i++)
			assert_near(curve.theta[i], truth.theta[i], 1e-6);
		assert_true(curve.error < 1e-6);
	}
}

/* As many servers as workers: thetas cannot be told apart, speeds are still right where they were seen. */
static void points_that_say_too_little(void **state)
{
	struct speed_curve truth = { SPEED_SYNC, 32, { 0.1, 1, 0.5, 0.1, 0.1 }, 0 }, curve;
	struct speed_point points[8];
	struct err err;

	(void)state;
	for (uint32_t i = 0; i < COUNT(points); i++) {
		points[i].servers = points[i].workers = i + 1;
		points[i].speed = speed_at(&truth, i + 1, i + 1);
	}
	assert_int_equal(speed_fit(SPEED_SYNC, 32, points, COUNT(points), &curve, &err), 0);
	for (uint32_t i = 0; i < COUNT(points); i++)
		assert_near(speed_at(&curve, i + 1, i + 1) / points[i].speed, 1, 1e-6);
}

static void bad_speeds_are_named(void **state)
{
	struct speed_point points[] = { { 1, 1, 1 }, { 1, 2, 0 } };
	struct speed_curve curve;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(speed_fit(SPEED_RING, 32, points, 2, &curve, &err), ERR_FORMAT);
	assert_non_null(strstr(err.text, "point 1"));
	points[1] = (struct speed_point){ 0, 2, 1 };
	assert_true(speed_fit(SPEED_SYNC, 32, points, 2, &curve, &err) < 0);
	assert_non_null(strstr(err.text, "parameter servers"));
	assert_int_equal(speed_fit(SPEED_RING, 32, points, 2, &curve, &err), 0);
	assert_true(speed_fit(SPEED_RING, NAN, points, 2, &curve, &err) < 0);
	assert_true(speed_fit(SPEED_RING, 32, points, 0, &curve, &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_points_exactly),
		cmocka_unit_test(a_curve_with_a_floor),
		cmocka_unit_test(noisy_curves),
		cmocka_unit_test(bad_losses_are_named),
		cmocka_unit_test(speeds_by_the_formula),
		cmocka_unit_test(exact_speeds_come_back),
		cmocka_unit_test(points_that_say_too_little),
		cmocka_unit_test(bad_speeds_are_named),
	};

	return cmocka_run_group_tests_name("model/optimus_fit", tests, NULL, NULL);
}
