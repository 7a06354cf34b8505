/*
 * Alternating least squares, and matching.
 */
#include "solver/completion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

void als_init(struct als *als)
{
	*als = (struct als){ .rank = 10, .ridge = 0.01, .rounds_max = 100, .stop = 1e-3 };
}

/* ---- factors */

static void fill_normal(double *x, size_t n, struct rng *rng)
{
	for (size_t i = 0; i < n; i++)
		x[i] = rng_normal(rng);
}

void factors_init(struct factors *f, const struct holes *a, uint32_t rank, uint64_t seed)
{
	size_t nu = mem_array_size(a->rows, rank), nv = mem_array_size(a->cols, rank);
	struct rng rng;

	*f = (struct factors){ .rank = rank };
	f->u = mem_alloc(mem_array_size(nu, sizeof(double)));
	f->v = mem_alloc(mem_array_size(nv, sizeof(double)));
	rng_init(&rng, seed, RNG_SAMPLE);
	fill_normal(f->u, nu, &rng);
	fill_normal(f->v, nv, &rng);
}

void factors_fini(struct factors *f)
{
	free(f->u);
	free(f->v);
	*f = (struct factors){ 0 };
}

static double dot(const double *a, const double *b, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void multiply(const struct factors *f, const struct holes *a, double *out)
{
	for (uint32_t i = 0; i < a->rows; i++) {
		for (uint32_t j = 0; j < a->cols; j++)
			*out++ = dot(&f->u[(size_t)i * f->rank], &f->v[(size_t)j * f->rank], f->rank);
	}
}

/* ---- one small system */

/* M x = b for a symmetric positive M (lower half given, overwritten); `b` becomes x. */
static bool cholesky_solve(double *m, double *b, uint32_t n)
{
	for (uint32_t j = 0; j < n; j++) {
		double *row_j = &m[(size_t)j * n];
		double before = row_j[j];
		double left = before - dot(row_j, row_j, j);

		/* What rounding leaves of a singular matrix is not a solution. */
		if (!(left > 1e-14 * before))
			return false;
		row_j[j] = sqrt(left);
		for (uint32_t i = j + 1; i < n; i++) {
			double *row_i = &m[(size_t)i * n];

			row_i[j] = (row_i[j] - dot(row_i, row_j, j)) / row_j[j];
		}
	}
	for (uint32_t i = 0; i < n; i++)
		b[i] = (b[i] - dot(&m[(size_t)i * n], b, i)) / m[(size_t)i * n + i];
	for (uint32_t i = n; i-- > 0;) {
		for (uint32_t k = i + 1; k < n; k++)
			b[i] -= m[(size_t)k * n + i] * b[k];
		b[i] /= m[(size_t)i * n + i];
	}
	return true;
}

/* Adds what one known entry says: m += v v', b += value v. */
static void add_entry(double *m, double *b, const double *v, double value, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k <= i; k++)
			m[(size_t)i * n + k] += v[i] * v[k];
		b[i] += value * v[i];
	}
}

/* The best factor `x` for `n` entries of the matrix, `step` apart, against factors `other`. */
static bool best_factor(const double *at, uint32_t n, size_t step, const double *other,
	double ridge, double *m, double *x, uint32_t rank)
{
	uint32_t known = 0;

	memset(m, 0, (size_t)rank * rank * sizeof(*m));
	memset(x, 0, rank * sizeof(*x));
	for (uint32_t j = 0; j < n; j++) {
		if (isnan(at[j * step]))
			continue;
		add_entry(m, x, &other[(size_t)j * rank], at[j * step], rank);
		known++;
	}
	if (known == 0)
		return true;
	for (uint32_t i = 0; i < rank; i++)
		m[(size_t)i * rank + i] += ridge;
	return cholesky_solve(m, x, rank);
}

bool als_half(const struct holes *a, double ridge, bool rows, struct factors *f)
{
	double *m = mem_alloc(mem_array_size((size_t)f->rank * f->rank, sizeof(double)));
	uint32_t n = rows ? a->rows : a->cols;
	bool solved = true;

	for (uint32_t i = 0; i < n && solved; i++) {
		if (rows)
			solved = best_factor(&a->at[(size_t)i * a->cols], a->cols, 1, f->v, ridge,
				m, &f->u[(size_t)i * f->rank], f->rank);
		else
			solved = best_factor(&a->at[i], a->rows, a->cols, f->u, ridge, m,
				&f->v[(size_t)i * f->rank], f->rank);
	}
	free(m);
	return solved;
}

double als_loss(const struct holes *a, double ridge, const struct factors *f)
{
	size_t nu = (size_t)a->rows * f->rank, nv = (size_t)a->cols * f->rank;
	double loss = 0, squares = 0;

	for (uint32_t i = 0; i < a->rows; i++) {
		for (uint32_t j = 0; j < a->cols; j++) {
			double value = a->at[(size_t)i * a->cols + j];
			double error = value -
				dot(&f->u[(size_t)i * f->rank], &f->v[(size_t)j * f->rank], f->rank);

			loss += isnan(value) ? 0 : error * error;
		}
	}
	for (size_t i = 0; i < nu; i++)
		squares += f->u[i] * f->u[i];
	for (size_t i = 0; i < nv; i++)
		squares += f->v[i] * f->v[i];
	return loss + ridge * squares;
}

/* ---- rounds */

static double distance(const double *x, const double *y, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (x[i] - y[i]) * (x[i] - y[i]);
	return sqrt(sum);
}

uint32_t als_run(const struct holes *a, const struct als *als, struct factors *f)
{
	size_t n = (size_t)a->rows * a->cols;
	double *x = mem_alloc(mem_array_size(n, sizeof(*x)));
	double *before = mem_alloc(mem_array_size(n, sizeof(*x)));
	uint32_t round = 0;
	bool near = false;

	multiply(f, a, x);
	while (round < als->rounds_max && !near) {
		double *last = before;

		if (!als_half(a, als->ridge, true, f) || !als_half(a, als->ridge, false, f)) {
			round = 0;
			break;
		}
		before = x;
		x = last;
		multiply(f, a, x);
		near = als->stop > 0 && distance(x, before, n) < als->stop * (double)n;
		round++;
	}
	free(x);
	free(before);
	return round;
}

static void keep_known(const struct holes *a, double *x)
{
	for (size_t i = 0; i < (size_t)a->rows * a->cols; i++) {
		if (!isnan(a->at[i]))
			x[i] = a->at[i];
	}
}

bool complete_als(const struct holes *a, const struct als *als, double *out)
{
	struct factors f;
	bool solved;

	factors_init(&f, a, als->rank, als->seed);
	solved = als_run(a, als, &f) > 0;
	if (solved) {
		multiply(&f, a, out);
		keep_known(a, out);
	}
	factors_fini(&f);
	return solved;
}

void completion_clip(const struct holes *a, double lo, double hi, double *x)
{
	for (size_t i = 0; i < (size_t)a->rows * a->cols; i++) {
		if (isnan(a->at[i]))
			x[i] = fmin(fmax(x[i], lo), hi);
	}
}

/* ---- matching */

double cosine_distance(const double *a, const double *b, uint32_t n)
{
	double aa = dot(a, a, n), bb = dot(b, b, n);

	if (!(aa > 0 && bb > 0))
		return NAN;
	return 1 - dot(a, b, n) / (sqrt(aa) * sqrt(bb));
}

uint32_t cosine_match(const double *row, const double *references, uint32_t nreferences, uint32_t n)
{
	uint32_t best = MATCH_NONE;
	double least = INFINITY;

	for (uint32_t i = 0; i < nreferences; i++) {
		double d = cosine_distance(row, &references[(size_t)i * n], n);

		if (d < least) {
			least = d;
			best = i;
		}
	}
	return best;
}
