#include "solver/bounded.h"

#include <math.h>

#include "support/property.h"

static const struct bounded_options tight = { .value_tolerance = 1e-14, .gradient_tolerance = 1e-9 };

static void free_between(struct bounded_problem *p, uint32_t n, double low, double high)
{
	p->n = n;
	for (uint32_t i = 0; i < n; i++) {
		p->low[i] = low;
		p->high[i] = high;
	}
}

static double rosenbrock(const void *self, const double *x, double *g)
{
	double a = 1 - x[0], b = x[1] - x[0] * x[0];

	(void)self;
	g[0] = -2 * a - 400 * x[0] * b;
	g[1] = 200 * b;
	return a * a + 100 * b * b;
}

static void test_rosenbrock(void **state)
{
	struct bounded_problem p = { .value = rosenbrock };
	double x[] = { -1.2, 1 };
	struct bounded_result r;

	(void)state;
	free_between(&p, 2, -INFINITY, INFINITY);
	r = bounded_minimise(&p, &tight, x);
	assert_float_equal(x[0], 1, 1e-6);
	assert_float_equal(x[1], 1, 1e-6);
	assert_true(r.value < 1e-12 && r.steps < 100 && r.evaluations >= r.steps);
}

/* The minimum with x[0] <= 0.5 is at (0.5, 0.25). */
static void test_rosenbrock_bounded(void **state)
{
	struct bounded_problem p = { .value = rosenbrock };
	double x[] = { -1.2, 1 };

	(void)state;
	free_between(&p, 2, -2, 2);
	p.high[0] = 0.5;
	assert_float_equal(bounded_minimise(&p, &tight, x).value, 0.25, 1e-9);
	assert_float_equal(x[0], 0.5, 0);
	assert_float_equal(x[1], 0.25, 1e-6);
}

static void test_pinned(void **state)
{
	struct bounded_problem p = { .value = rosenbrock };
	double x[] = { 7, 7 }; /* outside: moved inside first */

	(void)state;
	free_between(&p, 2, -2, 2);
	p.low[0] = p.high[0] = -1;
	bounded_minimise(&p, &tight, x);
	assert_float_equal(x[0], -1, 0);
	assert_float_equal(x[1], 1, 1e-7);
	p.low[1] = p.high[1] = 0.3;
	assert_int_equal(bounded_minimise(&p, &tight, x).steps, 0); /* nothing is free */
	assert_float_equal(x[1], 0.3, 0);
}

/* ---- convex quadratics, against coordinate descent */

struct quadratic {
	uint32_t n;
	double a[BOUNDED_MAX][BOUNDED_MAX], b[BOUNDED_MAX];
};

static double quadratic(const void *self, const double *x, double *g)
{
	const struct quadratic *q = self;
	double value = 0;

	for (uint32_t i = 0; i < q->n; i++) {
		double ax = 0;

		for (uint32_t j = 0; j < q->n; j++)
			ax += q->a[i][j] * x[j];
		g[i] = ax - q->b[i];
		value += x[i] * (ax / 2 - q->b[i]);
	}
	return value;
}

static void draw(struct quadratic *q, struct rng *rng)
{
	double m[BOUNDED_MAX][BOUNDED_MAX];

	q->n = 1 + (uint32_t)(rng_uniform(rng) * 10);
	for (uint32_t i = 0; i < q->n; i++) {
		q->b[i] = 4 * rng_uniform(rng) - 2;
		for (uint32_t j = 0; j < q->n; j++)
			m[i][j] = 2 * rng_uniform(rng) - 1;
	}
	for (uint32_t i = 0; i < q->n; i++)
		for (uint32_t j = 0; j < q->n; j++) {
			q->a[i][j] = i == j ? 0.3 : 0;
			for (uint32_t k = 0; k < q->n; k++)
				q->a[i][j] += m[i][k] * m[j][k];
		}
}

static void coordinate_descent(const struct bounded_problem *p, const struct quadratic *q, double *x)
{
	double g[BOUNDED_MAX];

	for (uint32_t i = 0; i < q->n; i++)
		x[i] = fmin(fmax(0, p->low[i]), p->high[i]);
	for (int round = 0; round < 4000; round++)
		for (uint32_t i = 0; i < q->n; i++) {
			quadratic(q, x, g);
			x[i] = fmin(fmax(x[i] - g[i] / q->a[i][i], p->low[i]), p->high[i]);
		}
}

static void test_quadratics(void **state)
{
	struct rng rng = property("the bounded minimum of a quadratic is found");

	(void)state;
	for (size_t i = 0; i < rounds(40); i++) {
		struct quadratic q = { 0 };
		struct bounded_problem p = { .value = quadratic, .self = &q };
		double x[BOUNDED_MAX], y[BOUNDED_MAX], g[BOUNDED_MAX], value, want;

		draw(&q, &rng);
		p.n = q.n;
		for (uint32_t k = 0; k < q.n; k++) {
			p.low[k] = rng_uniform(&rng) < 0.3 ? -INFINITY : -rng_uniform(&rng);
			p.high[k] = rng_uniform(&rng) < 0.3 ? INFINITY : rng_uniform(&rng);
			x[k] = 3 * rng_uniform(&rng) - 1;
		}
		value = bounded_minimise(&p, &tight, x).value;
		coordinate_descent(&p, &q, y);
		want = quadratic(&q, y, g);
		if (!(fabs(value - want) < 1e-7 * (1 + fabs(want))))
			fail_msg("round %zu: %.12g, not %.12g", i, value, want);
		for (uint32_t k = 0; k < q.n; k++)
			assert_true(x[k] >= p.low[k] && x[k] <= p.high[k]);
	}
}

/* ---- what is not smooth or not finite must end too */

static double kink(const void *self, const double *x, double *g)
{
	double r = sqrt(x[0] * x[0] + 9 * x[1] * x[1]);

	(void)self;
	g[0] = r > 0 ? x[0] / r : 0;
	g[1] = r > 0 ? 9 * x[1] / r : 0;
	return r;
}

static double cliff(const void *self, const double *x, double *g)
{
	(void)self;
	g[0] = 1 / x[0];
	return log(x[0]); /* NAN beyond 0 */
}

static void test_ends(void **state)
{
	struct bounded_problem p = { .value = kink };
	struct bounded_options few = { .steps_max = 3 };
	double x[] = { 3, 1 }, y[] = { 2 };

	(void)state;
	free_between(&p, 2, -10, 10);
	assert_true(bounded_minimise(&p, &tight, x).value < 0.1);
	p.value = cliff;
	free_between(&p, 1, -1, 10);
	assert_true(bounded_minimise(&p, &tight, y).steps < 1000);
	p.value = rosenbrock;
	free_between(&p, 2, -2, 2);
	x[0] = -1.2;
	x[1] = 1;
	assert_int_equal(bounded_minimise(&p, &few, x).steps, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rosenbrock),
		cmocka_unit_test(test_rosenbrock_bounded),
		cmocka_unit_test(test_pinned),
		cmocka_unit_test(test_quadratics),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
