#include "solver/nnls.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "support/property.h"

#define assert_near(a, b, most) assert_true(fabs((a) - (b)) <= (most))

enum { ROWS = 9, UNKNOWNS = 5 };

struct system {
	double row[ROWS][UNKNOWNS], rhs[ROWS];
	uint32_t rows, n;
};

static double error_of(const struct system *s, const double *x)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->rows; i++) {
		double left = s->rhs[i];

		for (uint32_t j = 0; j < s->n; j++)
			left -= s->row[i][j] * x[j];
		sum += left * left;
	}
	return sum;
}

static double solve(const struct system *s, double *x)
{
	struct nnls problem;

	nnls_init(&problem, s->n);
	for (uint32_t i = 0; i < s->rows; i++)
		nnls_add(&problem, s->row[i], s->rhs[i]);
	return nnls_solve(&problem, x);
}

/* The slope of the error is 0 where x is above 0 and not negative where it is 0: nothing is better. */
static void assert_best(const struct system *s, const double *x)
{
	for (uint32_t j = 0; j < s->n; j++) {
		double slope = 0, size = 1e-9;

		for (uint32_t i = 0; i < s->rows; i++) {
			double left = s->rhs[i];

			for (uint32_t k = 0; k < s->n; k++)
				left -= s->row[i][k] * x[k];
			slope += s->row[i][j] * left;
			size += fabs(s->row[i][j]) * (fabs(left) + fabs(s->rhs[i]));
		}
		assert_true(x[j] >= 0);
		assert_true(slope <= 1e-8 * size);
		if (x[j] > 0)
			assert_true(slope >= -1e-8 * size);
	}
}

static void a_negative_one_becomes_zero(void **state)
{
	struct system s = { { { 1, 0 }, { 0, 1 } }, { 1, -1 }, 2, 2 };
	double x[UNKNOWNS];

	(void)state;
	assert_near(solve(&s, x), 1, 1e-12);
	assert_near(x[0], 1, 1e-12);
	assert_true(x[1] == 0);
}

static struct system draw(struct rng *rng, bool exact, double *truth)
{
	struct system s = { .rows = UNKNOWNS + (uint32_t)rng_below(rng, ROWS - UNKNOWNS + 1),
		.n = 1 + (uint32_t)rng_below(rng, UNKNOWNS) };

	for (uint32_t j = 0; j < s.n; j++)
		truth[j] = rng_below(rng, 3) ? rng_uniform(rng) : 0;
	for (uint32_t i = 0; i < s.rows; i++) {
		s.rhs[i] = exact ? 0 : rng_normal(rng);
		for (uint32_t j = 0; j < s.n; j++) {
			s.row[i][j] = rng_normal(rng) * pow(10, (double)j - 2);
			if (exact)
				s.rhs[i] += s.row[i][j] * truth[j];
		}
	}
	return s;
}

static void nothing_is_better(void **state)
{
	struct rng rng = property("no x >= 0 has a smaller error");

	(void)state;
	for (size_t i = 0; i < rounds(3000); i++) {
		double x[UNKNOWNS], truth[UNKNOWNS];
		struct system s = draw(&rng, false, truth);
		double error = solve(&s, x);

		assert_near(error, error_of(&s, x), 1e-9 * (1 + error));
		assert_best(&s, x);
	}
}

static void exact_data_give_the_truth(void **state)
{
	struct rng rng = property("exact data of full rank");

	(void)state;
	for (size_t i = 0; i < rounds(1000); i++) {
		double x[UNKNOWNS], truth[UNKNOWNS];
		struct system s = draw(&rng, true, truth);

		solve(&s, x);
		for (uint32_t j = 0; j < s.n; j++)
			assert_near(x[j], truth[j], 1e-6);
	}
}

/* Two columns that say the same: one of them is used, and the error is as small as with either alone. */
static void columns_that_depend_on_each_other(void **state)
{
	struct rng rng = property("twin columns");

	(void)state;
	for (size_t i = 0; i < rounds(500); i++) {
		double x[UNKNOWNS], y[UNKNOWNS], truth[UNKNOWNS];
		struct system s = draw(&rng, false, truth), twin;

		s.n = 3;
		for (uint32_t r = 0; r < s.rows; r++)
			s.row[r][2] = rng_normal(&rng);
		twin = s;
		twin.n = 4;
		for (uint32_t r = 0; r < s.rows; r++)
			twin.row[r][3] = twin.row[r][1];
		assert_near(solve(&s, x), solve(&twin, y), 1e-8);
		assert_true(y[1] == 0 || y[3] == 0);
	}
}

static void no_rows_or_zeros(void **state)
{
	struct system s = { .rows = 0, .n = 3 };
	double x[UNKNOWNS] = { 1, 1, 1 };

	(void)state;
	assert_true(solve(&s, x) == 0);
	assert_true(x[0] == 0 && x[1] == 0 && x[2] == 0);
	s.rows = 3;
	s.rhs[1] = 5;
	assert_near(solve(&s, x), 25, 1e-12);
	assert_true(x[0] == 0 && x[1] == 0 && x[2] == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_negative_one_becomes_zero),
		cmocka_unit_test(nothing_is_better),
		cmocka_unit_test(exact_data_give_the_truth),
		cmocka_unit_test(columns_that_depend_on_each_other),
		cmocka_unit_test(no_rows_or_zeros),
	};

	return cmocka_run_group_tests_name("solver/nnls", tests, NULL, NULL);
}
