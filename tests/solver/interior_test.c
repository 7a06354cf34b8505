/* The method itself, on small dense matrices. */
#include "solver/interior.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "solver/lp.h"
#include "support/property.h"

enum { MOST = 12 };

struct dense {
	uint32_t n, lines, cones;
	double g[MOST][MOST];
	bool broken;
	double kkt[2 * MOST][2 * MOST];
};

static uint32_t rows_of(const struct dense *d)
{
	return d->lines + 3 * d->cones;
}

/* An entry of the cone as it looks unrotated. */
static double unrotated(const struct dense *d, uint32_t r, uint32_t v)
{
	uint32_t part = r < d->lines ? 2 : (r - d->lines) / d->cones;

	if (part == 0)
		return (d->g[r][v] + d->g[r + d->cones][v]) * sqrt(0.5);
	if (part == 1)
		return (d->g[r - d->cones][v] - d->g[r][v]) * sqrt(0.5);
	return d->g[r][v];
}

static void dense_maxima(const void *self, double *row, double *column)
{
	const struct dense *d = self;

	memset(row, 0, rows_of(d) * sizeof(*row));
	memset(column, 0, d->n * sizeof(*column));
	for (uint32_t r = 0; r < rows_of(d); r++) {
		for (uint32_t v = 0; v < d->n; v++) {
			double value = fabs(unrotated(d, r, v));

			row[r] = fmax(row[r], value);
			column[v] = fmax(column[v], value);
		}
	}
}

static void dense_divide(void *self, const double *row, const double *column)
{
	struct dense *d = self;

	for (uint32_t r = 0; r < rows_of(d); r++) {
		for (uint32_t v = 0; v < d->n; v++)
			d->g[r][v] /= row[r] * column[v];
	}
}

static void dense_multiply(const void *self, const double *x, const double *y, double *gx, double *gty)
{
	const struct dense *d = self;

	memset(gx, 0, rows_of(d) * sizeof(*gx));
	memset(gty, 0, d->n * sizeof(*gty));
	for (uint32_t r = 0; r < rows_of(d); r++) {
		for (uint32_t v = 0; v < d->n; v++) {
			gx[r] += d->g[r][v] * x[v];
			gty[v] += d->g[r][v] * y[r];
		}
	}
}

static void write_cone(struct dense *d, const struct interior_scaling *s, uint32_t i)
{
	static const uint32_t at[3][3] = { { 0, 1, 2 }, { 1, 3, 4 }, { 2, 4, 5 } };

	for (uint32_t p = 0; p < 3; p++) {
		for (uint32_t q = 0; q < 3; q++)
			d->kkt[d->n + d->lines + p * d->cones + i][d->n + d->lines + q * d->cones + i] -=
				s->w2[at[p][q] * d->cones + i];
	}
}

static bool dense_factor(void *self, const struct interior_scaling *s)
{
	struct dense *d = self;

	memset(d->kkt, 0, sizeof(d->kkt));
	for (uint32_t v = 0; v < d->n; v++)
		d->kkt[v][v] = s->delta;
	for (uint32_t r = 0; r < rows_of(d); r++) {
		for (uint32_t v = 0; v < d->n; v++)
			d->kkt[d->n + r][v] = d->kkt[v][d->n + r] = d->g[r][v];
		d->kkt[d->n + r][d->n + r] = -(r < d->lines ? s->d[r] : 0) - s->delta;
	}
	for (uint32_t i = 0; i < d->cones; i++)
		write_cone(d, s, i);
	return !d->broken;
}

/* Gauss; the matrix is quasi-definite, any order of pivots will do. */
static void gauss(double (*a)[2 * MOST], double *b, uint32_t n)
{
	for (uint32_t j = 0; j < n; j++) {
		for (uint32_t i = j + 1; i < n; i++) {
			double by = a[i][j] / a[j][j];

			for (uint32_t k = j; k < n; k++)
				a[i][k] -= by * a[j][k];
			b[i] -= by * b[j];
		}
	}
	for (uint32_t j = n; j-- > 0;) {
		for (uint32_t k = j + 1; k < n; k++)
			b[j] -= a[j][k] * b[k];
		b[j] /= a[j][j];
	}
}

static void dense_solve(void *self, uint32_t count, const struct interior_pair *side,
	const struct interior_pair *answer)
{
	const struct dense *d = self;
	double b[2 * MOST], copy[2 * MOST][2 * MOST];

	for (uint32_t k = 0; k < count; k++) {
		memcpy(b, side[k].x, d->n * sizeof(*b));
		memcpy(b + d->n, side[k].y, rows_of(d) * sizeof(*b));
		memcpy(copy, d->kkt, sizeof(copy));
		gauss(copy, b, d->n + rows_of(d));
		memcpy(answer[k].x, b, d->n * sizeof(*b));
		memcpy(answer[k].y, b + d->n, rows_of(d) * sizeof(*b));
	}
}

static const struct interior_shape dense_shape = {
	dense_maxima,
	dense_divide,
	dense_multiply,
	dense_factor,
	dense_solve,
};

static struct interior_answer solve(const struct dense *given, const double *c, const double *h,
	double *x, double *y)
{
	struct dense d = *given;
	struct arena work = { 0 };
	struct interior_problem problem = {
		.shape = &dense_shape,
		.self = &d,
		.n = d.n,
		.lines = d.lines,
		.cones = d.cones,
		.c = c,
		.h = h,
		.delta = 7e-8,
		.work = &work,
	};
	struct interior_answer answer = { .x = x, .y = y };

	interior_solve(&problem, &answer);
	arena_fini(&work);
	return answer;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-6 * fmax(1, fabs(b));
}

/* ---- by hand */

static void ends_in_the_middle_of_the_optimal_face(void **state)
{
	/* x0 + x1 <= 1, both >= 0: every point with sum 1 is as good. */
	const struct dense d = { .n = 2, .lines = 3, .g = { { 1, 1 }, { -1, 0 }, { 0, -1 } } };
	const double c[] = { -1, -1 }, h[] = { 1, 0, 0 };
	double x[2], y[3];
	struct interior_answer answer = solve(&d, c, h, x, y);

	(void)state;
	assert_int_equal(answer.status, INTERIOR_OPTIMAL);
	assert_true(near(answer.objective, -1));
	assert_true(near(x[0], 0.5) && near(x[1], 0.5));
	assert_true(near(y[0], 1) && near(y[1], 0) && near(y[2], 0));
	assert_true(answer.residual < 1e-7);
}

static void proves_infeasibility(void **state)
{
	const struct dense d = { .n = 1, .lines = 2, .g = { { 1 }, { -1 } } };
	const double c[] = { 1 }, h[] = { 1, -1.001 };
	double x[1];

	(void)state;
	assert_int_equal(solve(&d, c, h, x, NULL).status, INTERIOR_INFEASIBLE);
}

static void proves_unboundedness(void **state)
{
	const struct dense d = { .n = 2, .lines = 2, .g = { { 1, -1 }, { -1, 0 } } };
	const double c[] = { 0, -1 }, h[] = { 1, 0 };
	double x[2];

	(void)state;
	assert_int_equal(solve(&d, c, h, x, NULL).status, INTERIOR_UNBOUNDED);
}

static void says_when_it_broke_down(void **state)
{
	const struct dense d = { .n = 1, .lines = 1, .g = { { -1 } }, .broken = true };
	const double c[] = { 1 }, h[] = { 0 };
	double x[1];
	struct interior_answer answer = solve(&d, c, h, x, NULL);

	(void)state;
	assert_int_equal(answer.status, INTERIOR_STALLED);
	assert_true(answer.residual == INFINITY);
}

/* minimise p q + r y with q y >= 1: the best is 2 sqrt(p r), whatever their sizes. */
static void knows_the_rotated_cone(void **state)
{
	struct rng rng = property("hyperbolas");
	const struct dense d = {
		.n = 2,
		.cones = 1,
		.g = { { -sqrt(2), 0 }, { 0, -sqrt(2) }, { 0, 0 } },
	};
	const double h[] = { 0, 0, 2 };

	(void)state;
	for (size_t i = 0; i < rounds(300); i++) {
		double c[] = { exp2(rng_uniform(&rng) * 16 - 8), exp2(rng_uniform(&rng) * 16 - 8) };
		double x[2], y[3];
		struct interior_answer answer = solve(&d, c, h, x, y);

		assert_int_equal(answer.status, INTERIOR_OPTIMAL);
		assert_true(near(answer.objective / (2 * sqrt(c[0] * c[1])), 1));
		assert_true(fabs(x[0] / sqrt(c[1] / c[0]) - 1) < 1e-3);
		assert_true(2 * y[0] * y[1] >= y[2] * y[2] * (1 - 1e-6));
	}
}

/* ---- against CLP */

static double small_number(struct rng *rng)
{
	return rng_below(rng, 3) ? (double)rng_below(rng, 9) - 4 : 0;
}

static void draw(struct rng *rng, struct dense *d, double *c, double *h)
{
	*d = (struct dense){ .n = 1 + (uint32_t)rng_below(rng, 5) };
	d->lines = d->n + (uint32_t)rng_below(rng, MOST - d->n + 1);
	for (uint32_t r = 0; r < d->lines; r++) {
		for (uint32_t v = 0; v < d->n; v++)
			d->g[r][v] = r < d->n ? -(double)(r == v) : small_number(rng);
		h[r] = r < d->n ? 0 : small_number(rng) + 2;
	}
	for (uint32_t v = 0; v < d->n; v++)
		c[v] = small_number(rng);
}

static struct lp *as_lp(const struct dense *d, const double *c, const double *h)
{
	struct lp *lp = lp_create();

	for (uint32_t v = 0; v < d->n; v++)
		lp_add_column(lp, c[v], 0, INFINITY, false);
	for (uint32_t r = d->n; r < d->lines; r++) {
		lp_add_row(lp, -INFINITY, h[r]);
		for (uint32_t v = 0; v < d->n; v++) {
			if (d->g[r][v] != 0)
				lp_set(lp, r - d->n, v, d->g[r][v]);
		}
	}
	return lp;
}

/* Degenerate on purpose: small whole numbers, rows without entries, columns without rows. */
static void agrees_with_the_simplex_method(void **state)
{
	struct rng rng = property("dense linear programs against CLP");
	uint32_t seen[4] = { 0 };

	(void)state;
	for (size_t i = 0; i < rounds(3000); i++) {
		struct dense d;
		double c[MOST], h[MOST], x[MOST];
		struct interior_answer answer;
		enum lp_status status;
		struct lp *lp;

		draw(&rng, &d, c, h);
		lp = as_lp(&d, c, h);
		status = lp_solve(lp, (struct lp_limits){ 0 });
		answer = solve(&d, c, h, x, NULL);
		seen[answer.status]++;
		if (answer.status == INTERIOR_OPTIMAL) {
			assert_int_equal(status, LP_OPTIMAL);
			assert_true(near(answer.objective, lp_objective(lp)));
		} else if (answer.status != INTERIOR_STALLED) {
			assert_int_not_equal(status, LP_OPTIMAL);
		}
		lp_destroy(lp);
	}
	assert_true(seen[INTERIOR_OPTIMAL] > rounds(500) && seen[INTERIOR_INFEASIBLE] > rounds(50));
	assert_true(seen[INTERIOR_UNBOUNDED] > rounds(50));
	assert_true(seen[INTERIOR_STALLED] < rounds(3000) / 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_in_the_middle_of_the_optimal_face),
		cmocka_unit_test(proves_infeasibility),
		cmocka_unit_test(proves_unboundedness),
		cmocka_unit_test(says_when_it_broke_down),
		cmocka_unit_test(knows_the_rotated_cone),
		cmocka_unit_test(agrees_with_the_simplex_method),
	};

	return cmocka_run_group_tests_name("solver/interior", tests, NULL, NULL);
}
