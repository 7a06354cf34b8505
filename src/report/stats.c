/*
 * Statistics: means, percentiles, intervals and paired tests.
 */
#include "report/stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { EXACT_PAIRS = 25 }; /* 2^25 sign patterns are counted exactly, more are as good as normal */

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	if (isnan(x) || isnan(y))
		return isnan(x) - isnan(y);
	return (x > y) - (x < y);
}

size_t stats_sort(double *x, size_t n)
{
	if (n)
		qsort(x, n, sizeof(*x), ascending);
	while (n && isnan(x[n - 1]))
		n--;
	return n;
}

double stats_mean(const double *x, size_t n)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isnan(x[i])) {
			sum += x[i];
			count++;
		}
	}
	return count ? sum / (double)count : NAN;
}

double stats_max(const double *x, size_t n)
{
	double most = NAN;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, x[i]);
	return most;
}

double stats_deviation(const double *x, size_t n)
{
	double mean = stats_mean(x, n), sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isnan(x[i])) {
			sum += (x[i] - mean) * (x[i] - mean);
			count++;
		}
	}
	return count > 1 ? sqrt(sum / (double)(count - 1)) : NAN;
}

double stats_percentile(const double *sorted, size_t n, double p)
{
	double rank;
	size_t below;

	if (!n)
		return NAN;
	rank = (double)(n - 1) * p / 100;
	below = (size_t)rank;
	if (below + 1 >= n)
		return sorted[n - 1];
	return sorted[below] + (rank - (double)below) * (sorted[below + 1] - sorted[below]);
}

double stats_jain(const double *x, size_t n)
{
	double sum = 0, squares = 0;
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isnan(x[i])) {
			sum += x[i];
			squares += x[i] * x[i];
			count++;
		}
	}
	return squares > 0 ? sum * sum / ((double)count * squares) : NAN;
}

/* ---- Student's t */

double stats_t95(size_t freedom)
{
	static const double few[] = {
		NAN,
		12.7062,
		4.3027,
		3.1824,
		2.7764,
		2.5706,
		2.4469,
		2.3646,
		2.3060,
		2.2622,
		2.2281,
		2.2010,
		2.1788,
		2.1604,
		2.1448,
		2.1314,
		2.1199,
		2.1098,
		2.1009,
		2.0930,
		2.0860,
		2.0796,
		2.0739,
		2.0687,
		2.0639,
		2.0595,
		2.0555,
		2.0518,
		2.0484,
		2.0452,
		2.0423,
	};
	static const size_t nfew = sizeof(few) / sizeof(few[0]);
	const double z = 1.959964;
	double v = (double)freedom;

	if (freedom < nfew)
		return few[freedom];
	/* Cornish and Fisher's expansion: right to five places from here on. */
	return z + (pow(z, 3) + z) / (4 * v) +
		(5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * v * v) +
		(3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / (384 * v * v * v);
}

/* Abramowitz and Stegun 26.7.3 and 26.7.4: a finite sum, exact for whole degrees of freedom. */
double stats_t_p(double t, size_t freedom)
{
	double angle, c, term, sum = 0, inside;
	size_t k;

	if (!freedom || isnan(t))
		return NAN;
	angle = atan(fabs(t) / sqrt((double)freedom));
	c = cos(angle) * cos(angle);
	if (freedom % 2) {
		term = cos(angle);
		for (k = 3; k <= freedom; k += 2) {
			sum += term;
			term *= c * (double)(k - 1) / (double)k;
		}
		inside = 2 / M_PI * (angle + sin(angle) * sum);
	} else {
		term = 1;
		for (k = 2; k <= freedom; k += 2) {
			sum += term;
			term *= c * (double)(k - 1) / (double)k;
		}
		inside = sin(angle) * sum;
	}
	return fmax(0, 1 - inside);
}

struct interval stats_interval(const double *x, size_t n)
{
	struct interval r = { .mean = stats_mean(x, n), .half = NAN };

	for (size_t i = 0; i < n; i++)
		r.n += !isnan(x[i]);
	if (r.n > 1)
		r.half = stats_t95(r.n - 1) * stats_deviation(x, n) / sqrt((double)r.n);
	return r;
}

/* ---- pairs */

/* The differences of whole pairs; malloc'ed. */
static double *differences(const double *x, const double *y, size_t n, size_t *count)
{
	double *d = mem_alloc(mem_array_size(n ? n : 1, sizeof(*d)));

	*count = 0;
	for (size_t i = 0; i < n; i++) {
		if (!isnan(x[i]) && !isnan(y[i]))
			d[(*count)++] = y[i] - x[i];
	}
	return d;
}

struct paired stats_paired_t(const double *x, const double *y, size_t n)
{
	struct paired r = { .test = PAIRED_NONE, .p = NAN };
	double *d = differences(x, y, n, &r.n);
	double deviation = stats_deviation(d, r.n);

	r.difference = stats_mean(d, r.n);
	/* Equal differences, but for rounding, say nothing about chance. */
	if (r.n > 1 && deviation > 1e-12 * fabs(r.difference)) {
		r.test = PAIRED_T;
		r.p = stats_t_p(r.difference / deviation * sqrt((double)r.n), r.n - 1);
	}
	free(d);
	return r;
}

static int by_size(const void *a, const void *b)
{
	double x = fabs(*(const double *)a), y = fabs(*(const double *)b);

	return (x > y) - (x < y);
}

/* Twice the ranks of |d|, sorted, equals sharing the mean of theirs: whole numbers.  Returns the sum of t^3 - t over ties. */
static double double_ranks(const double *d, size_t n, uint64_t *ranks)
{
	double ties = 0;

	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && fabs(d[j]) == fabs(d[i]); j++)
			;
		for (size_t k = i; k < j; k++)
			ranks[k] = i + 1 + j;
		ties += pow((double)(j - i), 3) - (double)(j - i);
	}
	return ties;
}

/* The chance that the ranks of one sign, each drawn with a coin, sum to at most `low`: by counting. */
static double chance_at_most(const uint64_t *ranks, size_t n, uint64_t low)
{
	size_t size = EXACT_PAIRS * (EXACT_PAIRS + 1) + 1;
	double *ways = mem_alloc(mem_array_size(size, sizeof(*ways)));
	double sum = 0;

	ways[0] = 1;
	for (size_t i = 0; i < n; i++) {
		for (size_t s = size; s-- > ranks[i];)
			ways[s] += ways[s - ranks[i]];
	}
	for (size_t s = 0; s <= low; s++)
		sum += ways[s];
	free(ways);
	return sum / pow(2, (double)n);
}

static double signed_rank_p(const double *d, size_t n)
{
	uint64_t *ranks = mem_alloc(mem_array_size(n, sizeof(*ranks)));
	double ties = double_ranks(d, n, ranks), m = (double)n, z, p;
	uint64_t plus = 0, minus = 0, low;

	for (size_t i = 0; i < n; i++)
		*(d[i] > 0 ? &plus : &minus) += ranks[i];
	low = plus < minus ? plus : minus;
	if (n <= EXACT_PAIRS) {
		p = 2 * chance_at_most(ranks, n, low);
	} else {
		z = m * (m + 1) / 4 - (double)low / 2 - 0.5;
		z /= sqrt(m * (m + 1) * (2 * m + 1) / 24 - ties / 48);
		p = erfc(z / M_SQRT2);
	}
	free(ranks);
	return fmin(1, p);
}

struct paired stats_wilcoxon(const double *x, const double *y, size_t n)
{
	struct paired r = { .test = PAIRED_NONE, .p = NAN };
	double *d = differences(x, y, n, &r.n);
	size_t moved = 0;

	r.difference = stats_mean(d, r.n);
	for (size_t i = 0; i < r.n; i++) {
		if (d[i] != 0)
			d[moved++] = d[i];
	}
	if (moved) {
		qsort(d, moved, sizeof(*d), by_size);
		r.test = PAIRED_WILCOXON;
		r.p = signed_rank_p(d, moved);
	}
	free(d);
	return r;
}

const char *paired_test_name(enum paired_test test)
{
	switch (test) {
	case PAIRED_NONE:
		break;
	case PAIRED_T:
		return "paired t";
	case PAIRED_WILCOXON:
		return "Wilcoxon signed rank";
	}
	return "none";
}
