#include "solver/dense.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "support/property.h"

/* B B' / n + something on the diagonal, and x that shall come out. */
static void fill(struct dense *m, struct rng *rng, double diagonal)
{
	uint32_t n = m->n;
	double *b = mem_alloc(n * n * sizeof(*b) + 1);

	for (uint32_t i = 0; i < n * n; i++)
		b[i] = rng_between(rng, -1, 1);
	for (uint32_t c = 0; c < n; c++) {
		for (uint32_t r = c; r < n; r++) {
			double sum = r == c ? diagonal : 0;

			for (uint32_t k = 0; k < n; k++)
				sum += b[r * n + k] * b[c * n + k] / n;
			m->at[c * m->stride + r] = sum;
		}
	}
	free(b);
}

static double element(const struct dense *m, uint32_t r, uint32_t c)
{
	return r >= c ? m->at[c * m->stride + r] : m->at[r * m->stride + c];
}

static void multiply(const struct dense *m, const double *x, double *out)
{
	for (uint32_t r = 0; r < m->n; r++) {
		out[r] = 0;
		for (uint32_t c = 0; c < m->n; c++)
			out[r] += element(m, r, c) * x[c];
	}
}

static void check_size(struct rng *rng, uint32_t n)
{
	struct dense m;
	double *want = mem_alloc(n * sizeof(*want) + 1), *x = mem_alloc(n * sizeof(*x) + 1);

	dense_init(&m, n);
	for (int again = 0; again < 2; again++) { /* what the first left behind does no harm */
		dense_clear(&m);
		fill(&m, rng, 0.1);
		for (uint32_t i = 0; i < n; i++)
			want[i] = rng_between(rng, -1, 1);
		multiply(&m, want, x);
		assert_true(dense_factor(&m, 0));
		dense_solve(&m, x);
		for (uint32_t i = 0; i < n; i++)
			assert_true(fabs(x[i] - want[i]) < 1e-11);
	}
	dense_fini(&m);
	free(want);
	free(x);
}

static void solves_what_was_multiplied(void **state)
{
	struct rng rng = property("solves what was multiplied");

	(void)state;
	for (uint32_t n = 1; n <= 40; n++)
		check_size(&rng, n);
	for (uint32_t n = 60; n <= 140; n += 1 + (uint32_t)rng_below(&rng, 9))
		check_size(&rng, n);
	check_size(&rng, 64);
	check_size(&rng, 128);
}

/* The textbook's three loops. */
static void factor_plainly(struct dense *m)
{
	for (uint32_t c = 0; c < m->n; c++) {
		double *col = m->at + c * m->stride;

		for (uint32_t k = 0; k < c; k++) {
			for (uint32_t r = c; r < m->n; r++)
				col[r] -= m->at[k * m->stride + r] * m->at[k * m->stride + c];
		}
		col[c] = sqrt(col[c]);
		for (uint32_t r = c + 1; r < m->n; r++)
			col[r] /= col[c];
	}
}

static void is_the_textbooks_factor(void **state)
{
	struct rng rng = property("the factor of three loops");
	struct dense m, plain;

	(void)state;
	for (uint32_t n = 1; n < 200; n += 13) {
		dense_init(&m, n);
		dense_init(&plain, n);
		fill(&m, &rng, 0.5);
		memcpy(plain.at, m.at, m.stride * m.stride * sizeof(double));
		assert_true(dense_factor(&m, 0));
		factor_plainly(&plain);
		for (uint32_t c = 0; c < n; c++) {
			for (uint32_t r = c; r < n; r++)
				assert_true(fabs(element(&m, r, c) - element(&plain, r, c)) < 1e-12);
		}
		dense_fini(&m);
		dense_fini(&plain);
	}
}

static void says_where_there_is_no_factor(void **state)
{
	struct dense m;

	(void)state;
	dense_init(&m, 2);
	m.at[0] = 1;
	m.at[1] = 2;
	m.at[m.stride + 1] = 1; /* [1 2; 2 1] has a negative eigenvalue */
	assert_false(dense_factor(&m, 0));
	m.at[0] = 1;
	m.at[1] = NAN;
	m.at[m.stride + 1] = 1;
	assert_false(dense_factor(&m, 1e-15));
	dense_fini(&m);
	dense_fini(&m);
}

static void leaves_out_a_row_that_says_nothing_new(void **state)
{
	struct dense m;
	double x[3] = { 2, 2, 3 };

	(void)state;
	dense_init(&m, 3);
	for (uint32_t r = 0; r < 2; r++) {
		for (uint32_t c = 0; c <= r; c++)
			m.at[c * m.stride + r] = 1;
	}
	m.at[2 * m.stride + 2] = 1;
	assert_true(dense_factor(&m, 1e-15));
	dense_solve(&m, x);
	assert_true(fabs(x[0] - 2) < 1e-12 && fabs(x[1]) < 1e-12 && fabs(x[2] - 3) < 1e-12);
	dense_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(solves_what_was_multiplied),
		cmocka_unit_test(is_the_textbooks_factor),
		cmocka_unit_test(says_where_there_is_no_factor),
		cmocka_unit_test(leaves_out_a_row_that_says_nothing_new),
	};

	return cmocka_run_group_tests_name("solver/dense", tests, NULL, NULL);
}
