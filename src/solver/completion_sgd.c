/*
 * Singular values refined by stochastic gradient.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "solver/completion.h"

void sgd_init(struct sgd *sgd)
{
	*sgd = (struct sgd){
		.energy = 0.9,
		.rate = 0.01,
		.decay = 0.02,
		.rounds_max = 10000,
		.stop = 1e-4,
	};
}

/* ---- singular values: one-sided rotations (Jacobi) until all columns are orthogonal */

struct turn {
	double c, s;
};

static void rotate(double *m, uint32_t rows, uint32_t cols, uint32_t p, uint32_t q, struct turn t)
{
	for (uint32_t i = 0; i < rows; i++) {
		double *row = &m[(size_t)i * cols];
		double x = row[p], y = row[q];

		row[p] = t.c * x - t.s * y;
		row[q] = t.s * x + t.c * y;
	}
}

static double column_product(const double *m, uint32_t rows, uint32_t cols, uint32_t p, uint32_t q)
{
	double sum = 0;

	for (uint32_t i = 0; i < rows; i++)
		sum += m[(size_t)i * cols + p] * m[(size_t)i * cols + q];
	return sum;
}

/* Makes two columns orthogonal; whether they were not. */
static bool make_orthogonal(double *a, uint32_t rows, uint32_t cols, double *v, uint32_t p, uint32_t q)
{
	double pp = column_product(a, rows, cols, p, p);
	double qq = column_product(a, rows, cols, q, q);
	double pq = column_product(a, rows, cols, p, q);
	double zeta, tangent;
	struct turn t;

	if (fabs(pq) <= 1e-15 * sqrt(pp) * sqrt(qq))
		return false;
	zeta = (qq - pp) / (2 * pq);
	tangent = (zeta < 0 ? -1 : 1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
	t.c = 1 / sqrt(1 + tangent * tangent);
	t.s = t.c * tangent;
	rotate(a, rows, cols, p, q, t);
	rotate(v, cols, cols, p, q, t);
	return true;
}

static void swap_columns(double *m, uint32_t rows, uint32_t cols, uint32_t p, uint32_t q)
{
	for (uint32_t i = 0; i < rows; i++) {
		double *row = &m[(size_t)i * cols];
		double x = row[p];

		row[p] = row[q];
		row[q] = x;
	}
}

static void largest_first(double *a, uint32_t rows, uint32_t cols, double *v, double *sigma)
{
	for (uint32_t p = 0; p < cols; p++) {
		uint32_t largest = p;
		double x = sigma[p];

		for (uint32_t q = p + 1; q < cols; q++) {
			if (sigma[q] > sigma[largest])
				largest = q;
		}
		sigma[p] = sigma[largest];
		sigma[largest] = x;
		swap_columns(a, rows, cols, p, largest);
		swap_columns(v, cols, cols, p, largest);
	}
}

void svd(double *a, uint32_t rows, uint32_t cols, double *v, double *sigma)
{
	enum { SWEEPS_MAX = 60 }; /* a handful is usual */
	bool turned = true;

	memset(v, 0, (size_t)cols * cols * sizeof(*v));
	for (uint32_t i = 0; i < cols; i++)
		v[(size_t)i * cols + i] = 1;
	for (int sweep = 0; sweep < SWEEPS_MAX && turned; sweep++) {
		turned = false;
		for (uint32_t p = 0; p < cols; p++) {
			for (uint32_t q = p + 1; q < cols; q++)
				turned |= make_orthogonal(a, rows, cols, v, p, q);
		}
	}
	for (uint32_t i = 0; i < cols; i++)
		sigma[i] = sqrt(column_product(a, rows, cols, i, i));
	largest_first(a, rows, cols, v, sigma);
}

/* ---- the state of a descent */

struct descent {
	const struct holes *a;
	const struct sgd *sgd;
	double mean;
	double *bias; /* by row */
	struct factors f;
};

static double mean_of(const double *x, size_t n, double if_none)
{
	double sum = 0;
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isnan(x[i])) {
			sum += x[i];
			known++;
		}
	}
	return known ? sum / (double)known : if_none;
}

static void start_means(struct descent *d)
{
	const struct holes *a = d->a;

	d->mean = mean_of(a->at, (size_t)a->rows * a->cols, 0);
	d->bias = mem_alloc(mem_array_size(a->rows + 1u, sizeof(double)));
	for (uint32_t i = 0; i < a->rows; i++)
		d->bias[i] = mean_of(&a->at[(size_t)i * a->cols], a->cols, d->mean) - d->mean;
}

/* What means leave, tall: transposed when the matrix is wide. */
static double *rest_of(const struct descent *d, bool wide)
{
	const struct holes *a = d->a;
	double *rest = mem_alloc(mem_array_size((size_t)a->rows * a->cols + 1, sizeof(double)));

	for (uint32_t i = 0; i < a->rows; i++) {
		for (uint32_t j = 0; j < a->cols; j++) {
			double x = a->at[(size_t)i * a->cols + j] - d->mean - d->bias[i];
			size_t at = wide ? (size_t)j * a->rows + i : (size_t)i * a->cols + j;

			rest[at] = isnan(x) ? 0 : x;
		}
	}
	return rest;
}

static uint32_t rank_for(const double *sigma, uint32_t n, double energy)
{
	double all = 0, kept = 0;
	uint32_t rank = 0;

	for (uint32_t i = 0; i < n; i++)
		all += sigma[i] * sigma[i];
	while (rank < n && kept < energy * all) {
		kept += sigma[rank] * sigma[rank];
		rank++;
	}
	return rank;
}

/* The first columns of `from` as factors, each times sigma to the power of a half or, if it has it already, minus a half. */
static double *take_factors(const double *from, uint32_t rows, uint32_t cols, const double *sigma,
	bool scaled, uint32_t rank)
{
	double *to = mem_alloc(mem_array_size((size_t)rows * rank + 1, sizeof(double)));

	for (uint32_t i = 0; i < rows; i++) {
		for (uint32_t k = 0; k < rank; k++) {
			double root = sqrt(sigma[k]);

			to[(size_t)i * rank + k] = from[(size_t)i * cols + k] *
				(scaled ? 1 / root : root);
		}
	}
	return to;
}

static void start_factors(struct descent *d)
{
	bool wide = d->a->cols > d->a->rows;
	uint32_t rows = wide ? d->a->cols : d->a->rows, cols = wide ? d->a->rows : d->a->cols;
	double *rest = rest_of(d, wide);
	double *v = mem_alloc(mem_array_size((size_t)cols * cols + 1, sizeof(double)));
	double *sigma = mem_alloc(mem_array_size(cols + 1u, sizeof(double)));
	double *tall, *small;

	svd(rest, rows, cols, v, sigma);
	d->f.rank = rank_for(sigma, cols, d->sgd->energy);
	tall = take_factors(rest, rows, cols, sigma, true, d->f.rank);
	small = take_factors(v, cols, cols, sigma, false, d->f.rank);
	d->f.u = wide ? small : tall;
	d->f.v = wide ? tall : small;
	free(rest);
	free(v);
	free(sigma);
}

static double believed(const struct descent *d, uint32_t i, uint32_t j)
{
	const double *p = d->f.u + (size_t)i * d->f.rank, *q = d->f.v + (size_t)j * d->f.rank;
	double sum = d->mean + d->bias[i];

	for (uint32_t k = 0; k < d->f.rank; k++)
		sum += p[k] * q[k];
	return sum;
}

void sgd_step(const struct sgd *sgd, double error, double *p, double *q, uint32_t rank)
{
	for (uint32_t k = 0; k < rank; k++) {
		double old = q[k];

		q[k] += sgd->rate * (error * p[k] - sgd->decay * q[k]);
		p[k] += sgd->rate * (error * old - sgd->decay * p[k]);
	}
}

/* One step for every known entry; returns the root mean square error met on the way. */
static double one_round(struct descent *d)
{
	const struct holes *a = d->a;
	double squares = 0;
	size_t known = 0;

	for (uint32_t i = 0; i < a->rows; i++) {
		for (uint32_t j = 0; j < a->cols; j++) {
			double error = a->at[(size_t)i * a->cols + j] - believed(d, i, j);

			if (isnan(error))
				continue;
			squares += error * error;
			known++;
			d->bias[i] += d->sgd->rate * (error - d->sgd->decay * d->bias[i]);
			sgd_step(d->sgd, error, &d->f.u[(size_t)i * d->f.rank],
				&d->f.v[(size_t)j * d->f.rank], d->f.rank);
		}
	}
	return known ? sqrt(squares / (double)known) : 0;
}

static void write_out(const struct descent *d, double *out)
{
	const struct holes *a = d->a;

	for (uint32_t i = 0; i < a->rows; i++) {
		for (uint32_t j = 0; j < a->cols; j++) {
			double known = a->at[(size_t)i * a->cols + j];

			out[(size_t)i * a->cols + j] = isnan(known) ? believed(d, i, j) : known;
		}
	}
}

uint32_t complete_sgd(const struct holes *a, const struct sgd *sgd, double *out)
{
	struct descent d = { .a = a, .sgd = sgd };
	double last = INFINITY, error = 0;
	uint32_t round = 0;

	start_means(&d);
	start_factors(&d);
	while (round < sgd->rounds_max && !(fabs(last - error) < sgd->stop)) {
		last = round ? error : INFINITY;
		error = one_round(&d);
		round++;
	}
	write_out(&d, out);
	free(d.bias);
	factors_fini(&d.f);
	return round;
}
