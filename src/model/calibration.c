#include "model/calibration.h"

#include <math.h>
#include <stdlib.h>

enum { PRIOR = 20 }; /* outcomes as they would be if futures were right */

static const double LEAST_S = 30;       /* moments closer than this are the same to people */
static const double LEAST_WIDTH = 0.05; /* of logarithms: futures that all agree may still be wrong */
static const double NARROWEST = 0.5, WIDEST = 5;
static const double LONGEST_S = 30 * 86400.0;

/* Where PRIOR outcomes lie on a bell whose tenth and ninth tenth are -1 and 1. */
static const double prior[PRIOR] = { -1.529, -1.123, -0.898, -0.729, -0.590, -0.466, -0.354, -0.249,
	-0.147, -0.049, 0.049, 0.147, 0.249, 0.354, 0.466, 0.590, 0.729, 0.898, 1.123, 1.529 };

static double of_time(double s)
{
	return log(fmax(0, fmin(s, LONGEST_S)) + LEAST_S);
}

static double to_time(double y)
{
	return fmax(0, exp(y) - LEAST_S);
}

static double width_below(const struct moments *m)
{
	return fmax(of_time(m->p50) - of_time(m->p10), 0) + LEAST_WIDTH;
}

static double width_above(const struct moments *m)
{
	return fmax(of_time(m->p90) - of_time(m->p50), 0) + LEAST_WIDTH;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double quantile_of(const double *sorted, uint32_t n, double p)
{
	double at, part;
	uint32_t i;

	if (!n)
		return NAN;
	at = p * (n - 1.0);
	i = (uint32_t)at;
	part = at - i;
	if (part <= 0 || i + 1 >= n)
		return sorted[i];
	if (isinf(sorted[i + 1]))
		return sorted[i + 1];
	return isinf(sorted[i]) ? sorted[i] : sorted[i] + part * (sorted[i + 1] - sorted[i]);
}

struct moments moments_of(double *values, uint32_t n)
{
	if (n)
		qsort(values, n, sizeof(*values), by_value);
	return (struct moments){
		quantile_of(values, n, 0.1),
		quantile_of(values, n, 0.5),
		quantile_of(values, n, 0.9),
	};
}

double median_of(double *values, uint32_t n)
{
	return moments_of(values, n).p50;
}

struct score calibration_judge(const struct moments *raw, const struct moments *said,
	double plain_s, double actual_s)
{
	double off = of_time(actual_s) - of_time(raw->p50);

	return (struct score){
		.place = off / (off > 0 ? width_above(raw) : width_below(raw)),
		.error_s = fabs(actual_s - fmin(said->p50, LONGEST_S)),
		.plain_s = isnan(plain_s) ? NAN : fabs(actual_s - fmin(plain_s, LONGEST_S)),
		/* A second more or less is the clock's. */
		.covered = actual_s >= said->p10 - 1 && actual_s <= said->p90 + 1,
	};
}

void calibration_add(struct calibration *c, const struct score *score)
{
	c->at[c->next] = *score;
	c->next = (c->next + 1) % CALIBRATION_MAX;
	if (c->n < CALIBRATION_MAX)
		c->n++;
}

struct correction calibration_correction(const struct calibration *c)
{
	double off[CALIBRATION_MAX + PRIOR];
	uint32_t n = 0;

	for (; n < PRIOR; n++)
		off[n] = fabs(prior[n]);
	for (uint32_t i = 0; i < c->n; i++)
		off[n++] = fabs(c->at[i].place);
	qsort(off, n, sizeof(*off), by_value);
	return (struct correction){ fmin(fmax(quantile_of(off, n, 0.8), NARROWEST), WIDEST) };
}

static double moved(const struct moments *raw, double score)
{
	double y = of_time(raw->p50) + score * (score > 0 ? width_above(raw) : width_below(raw));

	return to_time(y);
}

struct moments correction_apply(const struct correction *c, const struct moments *raw)
{
	if (isinf(raw->p50))
		return *raw;
	return (struct moments){
		.p10 = moved(raw, -c->wider),
		.p50 = raw->p50,
		.p90 = isinf(raw->p90) ? INFINITY : moved(raw, c->wider),
	};
}

static double median_error(const struct calibration *c, bool plain)
{
	double values[CALIBRATION_MAX];
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		double value = plain ? c->at[i].plain_s : c->at[i].error_s;

		if (!isnan(value))
			values[n++] = value;
	}
	return median_of(values, n);
}

struct track calibration_track(const struct calibration *c)
{
	uint32_t covered = 0;

	for (uint32_t i = 0; i < c->n; i++)
		covered += c->at[i].covered;
	return (struct track){
		.n = c->n,
		.coverage = c->n ? (double)covered / c->n : NAN,
		.median_error_s = median_error(c, false),
		.plain_error_s = median_error(c, true),
	};
}
