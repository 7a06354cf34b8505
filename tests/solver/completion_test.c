#include "solver/completion.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "support/property.h"

#define HOLE NAN

static void assert_near(double got, double want, double within)
{
	if (!(fabs(got - want) <= within))
		fail_msg("%.9g is not within %g of %.9g", got, within, want);
}

/* ---- the two by two matrix with one hole */

static const double corner[] = { 1, 0.5, 0.8, HOLE };
static const struct holes corner_holes = { corner, 2, 2 };

static const struct {
	const char *what;
	double ridge, stop;
	uint32_t rounds_max, rounds;
	double want;
} corners[] = {
	{ "five rounds without ridge are near the exact 0.4", 0, 0, 5, 5, 0.400007 },
	{ "the ridge draws the answer towards 0", 0.01, 0, 100, 100, 0.394286 },
	{ "the stop rule ends after four rounds", 0, 1e-3, 100, 4, 0.400087 },
	{ "and so with a ridge", 0.01, 1e-3, 100, 4, 0.393529 },
};

static void fills_a_corner(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(corners); i++) {
		double u[] = { 1, 1 }, v[] = { 1, 1 };
		struct factors f = { u, v, 1 };
		struct als als = {
			.rank = 1,
			.ridge = corners[i].ridge,
			.stop = corners[i].stop,
			.rounds_max = corners[i].rounds_max,
		};

		assert_int_equal(als_run(&corner_holes, &als, &f), corners[i].rounds);
		assert_near(u[1] * v[1], corners[i].want, 5e-7);
	}
}

static void preset_of_gavel(void **state)
{
	struct als als;

	(void)state;
	als_init(&als);
	assert_int_equal(als.rank, 10);
	assert_int_equal(als.rounds_max, 100);
	assert_true(als.ridge == 0.01 && als.stop == 1e-3);
}

/* ---- random matrices */

enum { ROWS_MAX = 12, COLS_MAX = 9 };

struct draw {
	struct holes holes;
	double at[ROWS_MAX * COLS_MAX], whole[ROWS_MAX * COLS_MAX];
};

static void draw_size(struct draw *d, struct rng *rng)
{
	d->holes = (struct holes){
		.at = d->at,
		.rows = 1 + (uint32_t)rng_below(rng, ROWS_MAX),
		.cols = 1 + (uint32_t)rng_below(rng, COLS_MAX),
	};
}

static size_t entries(const struct draw *d)
{
	return (size_t)d->holes.rows * d->holes.cols;
}

static void draw_any(struct draw *d, struct rng *rng, double known)
{
	draw_size(d, rng);
	for (size_t i = 0; i < entries(d); i++)
		d->at[i] = d->whole[i] = rng_uniform(rng);
	for (size_t i = 0; i < entries(d); i++)
		d->at[i] = rng_uniform(rng) < known ? d->at[i] : HOLE;
}

/* Positive, of rank one, and every row and column hangs together by the first of each. */
static void draw_rank_one(struct draw *d, struct rng *rng)
{
	double u[ROWS_MAX], v[COLS_MAX];

	draw_size(d, rng);
	for (int i = 0; i < ROWS_MAX; i++)
		u[i] = rng_between(rng, 0.2, 1);
	for (int j = 0; j < COLS_MAX; j++)
		v[j] = rng_between(rng, 0.2, 1);
	for (uint32_t i = 0; i < d->holes.rows; i++) {
		for (uint32_t j = 0; j < d->holes.cols; j++) {
			size_t at = (size_t)i * d->holes.cols + j;

			d->whole[at] = u[i] * v[j];
			d->at[at] = i == 0 || j == 0 || rng_below(rng, 3) == 0 ? d->whole[at] : HOLE;
		}
	}
}

static void recovers_rank_one(void **state)
{
	struct rng rng = property("positive data of rank one is recovered");
	const struct als als = { .rank = 1, .ridge = 1e-12, .rounds_max = 20000 };
	struct draw d;

	(void)state;
	for (size_t n = 0; n < rounds(20); n++) {
		struct factors f;

		draw_rank_one(&d, &rng);
		factors_init(&f, &d.holes, 1, n);
		for (uint32_t i = 0; i < d.holes.rows; i++)
			f.u[i] = fabs(f.u[i]) + 0.1;
		for (uint32_t j = 0; j < d.holes.cols; j++)
			f.v[j] = fabs(f.v[j]) + 0.1;
		assert_true(als_run(&d.holes, &als, &f) > 0);
		for (size_t i = 0; i < entries(&d); i++)
			assert_near(f.u[i / d.holes.cols] * f.v[i % d.holes.cols], d.whole[i], 1e-6);
		factors_fini(&f);
	}
}

static void no_half_step_raises_the_loss(void **state)
{
	struct rng rng = property("no half-step raises the loss");
	struct draw d;

	(void)state;
	for (size_t n = 0; n < rounds(200); n++) {
		double ridge = rng_between(&rng, 0.001, 1), loss;
		struct factors f;

		draw_any(&d, &rng, rng_uniform(&rng));
		factors_init(&f, &d.holes, 1 + (uint32_t)rng_below(&rng, 10), n);
		loss = als_loss(&d.holes, ridge, &f);
		for (int half = 0; half < 10; half++) {
			double now;

			assert_true(als_half(&d.holes, ridge, half % 2 == 0, &f));
			now = als_loss(&d.holes, ridge, &f);
			assert_true(now <= loss * (1 + 1e-12));
			loss = now;
		}
		factors_fini(&f);
	}
}

static void keeps_what_is_known(void **state)
{
	struct rng rng = property("known entries stay, the rest is finite, twice the same");
	struct draw d;

	(void)state;
	for (size_t n = 0; n < rounds(50); n++) {
		double once[ROWS_MAX * COLS_MAX], again[ROWS_MAX * COLS_MAX];
		struct als als;
		struct sgd sgd;

		draw_any(&d, &rng, rng_uniform(&rng));
		als_init(&als);
		sgd_init(&sgd);
		als.seed = n;
		for (int way = 0; way < 2; way++) {
			double *out = once;

			for (int turn = 0; turn < 2; turn++, out = again) {
				if (way == 0)
					assert_true(complete_als(&d.holes, &als, out));
				else
					assert_true(complete_sgd(&d.holes, &sgd, out) > 0);
				completion_clip(&d.holes, 0, 1, out);
			}
			assert_memory_equal(once, again, entries(&d) * sizeof(*once));
			for (size_t i = 0; i < entries(&d); i++) {
				assert_true(once[i] >= 0 && once[i] <= 1);
				assert_true(isnan(d.at[i]) || once[i] == d.at[i]);
			}
		}
	}
}

static void more_ranks_than_rows_need_a_ridge(void **state)
{
	struct als als = { .rank = 3, .ridge = 0, .rounds_max = 10 };
	double out[4] = { 7, 7, 7, 7 };

	(void)state;
	assert_false(complete_als(&corner_holes, &als, out));
	assert_true(out[3] == 7);
	als.ridge = 0.01;
	assert_true(complete_als(&corner_holes, &als, out));
	assert_true(out[0] == 1 && out[3] != 7);
}

static void an_empty_row_is_0(void **state)
{
	const double at[] = { 1, 2, HOLE, HOLE };
	struct als als = { .rank = 1, .rounds_max = 10 };
	double out[4];

	(void)state;
	assert_true(complete_als(&(struct holes){ at, 2, 2 }, &als, out));
	assert_true(out[2] == 0 && out[3] == 0);
}

static void clipping_leaves_known_entries(void **state)
{
	const double at[] = { 1.5, HOLE, HOLE, -1 };
	double x[] = { 1.5, 1.5, -0.5, -1 };

	(void)state;
	completion_clip(&(struct holes){ at, 2, 2 }, 0, 1, x);
	assert_true(x[0] == 1.5 && x[1] == 1 && x[2] == 0 && x[3] == -1);
}

/* ---- gradient */

static void a_gradient_step_by_hand(void **state)
{
	const struct sgd sgd = { .rate = 0.1, .decay = 0.1 };
	double p = 1, q = 0.5;

	(void)state;
	sgd_step(&sgd, 0.8 - p * q, &p, &q, 1);
	assert_near(q, 0.525, 1e-15);
	assert_near(p, 1.005, 1e-15);
}

static void singular_values_by_hand(void **state)
{
	/* Lengths 5 and 2 turned by a right angle: columns come out in order of length. */
	double a[] = { 2, 0, 0, 3, 0, 4 }, v[4], sigma[2];

	(void)state;
	svd(a, 3, 2, v, sigma);
	assert_near(sigma[0], 5, 1e-15);
	assert_near(sigma[1], 2, 1e-15);
}

static void turns_back(const double *before, const double *after, const double *v, uint32_t rows,
	uint32_t cols)
{
	for (uint32_t i = 0; i < rows; i++) {
		for (uint32_t j = 0; j < cols; j++) {
			double sum = 0;

			for (uint32_t k = 0; k < cols; k++)
				sum += after[(size_t)i * cols + k] * v[(size_t)j * cols + k];
			assert_near(sum, before[(size_t)i * cols + j], 1e-12);
		}
	}
}

static void singular_values_turn_back(void **state)
{
	struct rng rng = property("singular values: orthogonal columns that turn back");

	(void)state;
	for (size_t n = 0; n < rounds(100); n++) {
		uint32_t cols = 1 + (uint32_t)rng_below(&rng, COLS_MAX);
		uint32_t rows = cols + (uint32_t)rng_below(&rng, ROWS_MAX - COLS_MAX + 1);
		double before[ROWS_MAX * COLS_MAX], after[ROWS_MAX * COLS_MAX];
		double v[COLS_MAX * COLS_MAX], sigma[COLS_MAX];

		for (size_t i = 0; i < (size_t)rows * cols; i++)
			before[i] = after[i] = rng_below(&rng, 4) ? rng_normal(&rng) : 0;
		svd(after, rows, cols, v, sigma);
		turns_back(before, after, v, rows, cols);
		for (uint32_t j = 0; j + 1 < cols; j++) {
			double product = 0;

			for (uint32_t i = 0; i < rows; i++)
				product += after[(size_t)i * cols + j] *
					after[(size_t)i * cols + j + 1];
			assert_near(product, 0, 1e-12);
			assert_true(sigma[j] >= sigma[j + 1]);
		}
	}
}

static void gradient_fills_additive_data(void **state)
{
	/* Rows differ by a constant alone: biases say it all. */
	const double at[] = { 0.2, 0.2, 0.2, 0.6, 0.6, HOLE, 0.9, HOLE, 0.9 };
	struct sgd sgd;
	double out[9];

	(void)state;
	sgd_init(&sgd);
	assert_true(complete_sgd(&(struct holes){ at, 3, 3 }, &sgd, out) > 0);
	assert_near(out[5], 0.6, 0.01);
	assert_near(out[7], 0.9, 0.01);
}

static void nothing_known(void **state)
{
	const double at[] = { HOLE, HOLE };
	double out[2] = { 7, 7 };
	struct als als;
	struct sgd sgd;

	(void)state;
	als_init(&als);
	sgd_init(&sgd);
	assert_true(complete_als(&(struct holes){ at, 1, 2 }, &als, out));
	assert_true(out[0] == 0 && out[1] == 0);
	assert_true(complete_sgd(&(struct holes){ at, 2, 1 }, &sgd, out) > 0);
	assert_true(out[0] == 0 && out[1] == 0);
}

/* ---- around rows and columns */

static void effects_alone_are_found(void **state)
{
	/* Rows 1, 2, 4 and columns 0, 10: a hole is what its row and column say. */
	const double at[] = { 1, 11, 2, HOLE, HOLE, 14 };
	const struct holes holes = { at, 3, 2 };
	struct als als;
	struct sgd sgd;
	double out[6];

	(void)state;
	complete_two_way(&holes, 0, out);
	assert_near(out[3], 12, 1e-6);
	assert_near(out[4], 4, 1e-6);
	assert_true(out[0] == 1 && out[5] == 14);
	als_init(&als);
	assert_true(complete_around(&holes, 0, &als, out));
	assert_near(out[3], 12, 1e-6);
	assert_true(complete_match(&holes, 0, &als, out));
	assert_near(out[3], 12, 1e-6);
	sgd_init(&sgd);
	assert_true(complete_around_sgd(&holes, 0, &sgd, out) > 0);
	assert_near(out[3], 12, 1e-6);
	complete_two_way(&holes, 1e9, out); /* nothing but the mean */
	assert_near(out[3], 7, 1e-6);
}

/* Two kinds of rows that columns tell apart, each at its own height; `known` of it. */
static void draw_kinds(struct draw *d, struct rng *rng, double known)
{
	d->holes = (struct holes){ d->at, ROWS_MAX, COLS_MAX };
	for (uint32_t i = 0; i < ROWS_MAX; i++) {
		double height = rng_normal(rng);

		for (uint32_t j = 0; j < COLS_MAX; j++) {
			size_t at = (size_t)i * COLS_MAX + j;

			d->whole[at] = height + 0.1 * j + (i % 2 == j % 2 ? 0.5 : -0.5);
			d->at[at] = rng_uniform(rng) < known ? d->whole[at] : HOLE;
		}
	}
}

static double mean_error(const struct draw *d, const double *out)
{
	double sum = 0, n = 0;

	for (size_t i = 0; i < entries(d); i++) {
		if (isnan(d->at[i])) {
			sum += fabs(out[i] - d->whole[i]);
			n++;
		}
	}
	return sum / fmax(n, 1);
}

static void likeness_helps(void **state)
{
	struct rng rng = property("rows of a kind tell about each other");
	double effects = 0, around = 0, match = 0, out[ROWS_MAX * COLS_MAX];
	struct als als;
	struct draw d;

	(void)state;
	als_init(&als);
	als.ridge = 0.1;
	for (size_t n = 0; n < rounds(20); n++) {
		als.seed = n;
		draw_kinds(&d, &rng, 0.7);
		complete_two_way(&d.holes, 0, out);
		effects += mean_error(&d, out);
		assert_true(complete_around(&d.holes, 0, &als, out));
		around += mean_error(&d, out);
		assert_true(complete_match(&d.holes, 0, &als, out));
		match += mean_error(&d, out);
	}
	assert_true(around < 0.5 * effects);
	assert_true(match < 0.5 * effects);
}

static void around_needs_a_solution(void **state)
{
	const struct als als = { .rank = 3, .ridge = 0, .rounds_max = 10 };
	double out[4] = { 7, 7, 7, 7 };

	(void)state;
	assert_false(complete_around(&corner_holes, 0, &als, out));
	assert_false(complete_match(&corner_holes, 0, &als, out));
	assert_true(out[3] == 7);
}

static void nothing_around(void **state)
{
	const double at[] = { HOLE, HOLE };
	double out[2] = { 7, 7 };
	struct als als;

	(void)state;
	als_init(&als);
	assert_true(complete_match(&(struct holes){ at, 1, 2 }, 0, &als, out));
	assert_true(out[0] == 0 && out[1] == 0);
}

/* ---- matching */

static const struct {
	double a[2], b[2], want;
} cosines[] = {
	{ { 1, 0.5 }, { 0.8, 0.4 }, 0 },
	{ { 0.3, 0.9 }, { 0.8, 0.4 }, 0.292893 },
	{ { 1, 0 }, { 0, 1 }, 1 },
	{ { 1, 0 }, { -2, 0 }, 2 },
};

static void distances_by_hand(void **state)
{
	const double none[2] = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(cosines); i++)
		assert_near(cosine_distance(cosines[i].a, cosines[i].b, 2), cosines[i].want, 5e-7);
	assert_true(isnan(cosine_distance(none, cosines[0].a, 2)));
}

static void matches_the_first_of_equals(void **state)
{
	const double references[] = { 0, 0, 0, 1, 1, 0.5, 2, 1, 1, 1 };
	const double row[] = { 4, 2 }, none[] = { 0, 0 };

	(void)state;
	assert_int_equal(cosine_match(row, references, 5, 2), 2);
	assert_int_equal(cosine_match(none, references, 5, 2), MATCH_NONE);
	assert_int_equal(cosine_match(row, references, 1, 2), MATCH_NONE);
	assert_int_equal(cosine_match(row, references, 0, 2), MATCH_NONE);
}

static void matching_does_not_see_scale(void **state)
{
	struct rng rng = property("matching does not see scale");

	(void)state;
	for (size_t n = 0; n < rounds(500); n++) {
		double references[8 * 5], row[5], scaled[5], by = 1 << rng_below(&rng, 10);

		for (int i = 0; i < 40; i++)
			references[i] = rng_uniform(&rng);
		for (int i = 0; i < 5; i++) {
			row[i] = rng_uniform(&rng);
			scaled[i] = row[i] * by;
		}
		assert_int_equal(cosine_match(row, references, 8, 5),
			cosine_match(scaled, references, 8, 5));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_a_corner),
		cmocka_unit_test(preset_of_gavel),
		cmocka_unit_test(recovers_rank_one),
		cmocka_unit_test(no_half_step_raises_the_loss),
		cmocka_unit_test(keeps_what_is_known),
		cmocka_unit_test(more_ranks_than_rows_need_a_ridge),
		cmocka_unit_test(an_empty_row_is_0),
		cmocka_unit_test(clipping_leaves_known_entries),
		cmocka_unit_test(a_gradient_step_by_hand),
		cmocka_unit_test(singular_values_by_hand),
		cmocka_unit_test(singular_values_turn_back),
		cmocka_unit_test(gradient_fills_additive_data),
		cmocka_unit_test(nothing_known),
		cmocka_unit_test(effects_alone_are_found),
		cmocka_unit_test(likeness_helps),
		cmocka_unit_test(around_needs_a_solution),
		cmocka_unit_test(nothing_around),
		cmocka_unit_test(distances_by_hand),
		cmocka_unit_test(matches_the_first_of_equals),
		cmocka_unit_test(matching_does_not_see_scale),
	};

	return cmocka_run_group_tests_name("solver/completion", tests, NULL, NULL);
}
