/*
 * Statistics of small and large samples.  Every function skips NaN, and
 * answers NaN where nothing is left to answer with.
 */
#ifndef REPORT_STATS_H
#define REPORT_STATS_H

#include <stddef.h>
#include <stdint.h>

/* Sorts in place, NaN last; returns how many are not NaN. */
size_t stats_sort(double *x, size_t n);

double stats_mean(const double *x, size_t n);
double stats_max(const double *x, size_t n);
double stats_deviation(const double *x, size_t n); /* of the sample: n - 1; NaN below two */

/*
 * The p-th percentile (0..100) of sorted numbers, linear between the two nearest ranks
 * (rank (n - 1) p / 100 from 0: numpy's default, Hyndman and Fan's type 7).
 */
double stats_percentile(const double *sorted, size_t n, double p);

/* A mean with the half width of its 95 % confidence interval (Student's t); half is NaN below two numbers. */
struct interval {
	double mean, half;
	size_t n;
};
struct interval stats_interval(const double *x, size_t n);

/* The two-sided 95 % quantile of Student's t; and the chance of |T| >= t. */
double stats_t95(size_t freedom);
double stats_t_p(double t, size_t freedom);

/* Is y different from x, pair by pair?  Pairs with a NaN do not count. */
enum paired_test {
	PAIRED_NONE, /* too few pairs, or nothing to tell them apart */
	PAIRED_T,    /* Student's t on the differences */
	PAIRED_WILCOXON, /* signed ranks: exact up to 25 pairs, else normal with ties and continuity corrected */
};
struct paired {
	enum paired_test test;
	size_t n;          /* pairs that counted */
	double difference; /* mean of y - x */
	double p;          /* two-sided; NaN for PAIRED_NONE */
};
struct paired stats_paired_t(const double *x, const double *y, size_t n);
struct paired stats_wilcoxon(const double *x, const double *y, size_t n);
const char *paired_test_name(enum paired_test test);

/* Jain's fairness index, (sum x)^2 / (n sum x^2): 1 when all are equal, 1/n when one has everything. */
double stats_jain(const double *x, size_t n);

#endif
