/*
 * How forecasts came out, and what that says of the next ones.
 *
 * A forecast of something to come is three moments, in seconds from when it was
 * made: it happens before p10 in one of ten cases, before p90 in nine.  Futures
 * that leave something out are too sure of themselves, or not sure enough, so each
 * outcome is scored by where it lay between the moments as the futures gave them
 * (`raw`), and the next ones are made as wide as would have held eight of ten past
 * outcomes (`said`).  The middle stays: a queue that was slower than expected last
 * week says little of which way the next one errs.  Scores are of logarithms: being
 * a factor too late counts alike for minutes and for days.
 *
 * What was said is counted apart: `coverage` is the share of outcomes that lay
 * between p10 and p90 as they were told to people.
 */
#ifndef MODEL_CALIBRATION_H
#define MODEL_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

enum { CALIBRATION_MAX = 400 }; /* the last so many outcomes count */

/* Seconds from when it was said; INFINITY: not within the forecast. */
struct moments {
	double p10, p50, p90;
};

struct score {
	double place;   /* of the raw moments: -1 at p10, 0 at p50, 1 at p90 */
	double error_s; /* of the said p50 */
	double plain_s; /* the same of a forecast in which all run as long as was said; NAN: none */
	bool covered;   /* between the said p10 and p90 */
};

/* A zeroed one is valid: nothing came out yet. */
struct calibration {
	struct score at[CALIBRATION_MAX]; /* the oldest is overwritten */
	uint32_t n, next;
};

struct correction {
	double wider; /* times as far from the middle */
};

/* Sorted values; p of 0..1, between two in proportion; infinite where one of these is; NAN of none. */
double quantile_of(const double *sorted, uint32_t n, double p);
/* Sort the values; without any all is NAN. */
struct moments moments_of(double *values, uint32_t n);
double median_of(double *values, uint32_t n);

struct score calibration_judge(const struct moments *raw, const struct moments *said,
	double plain_s, double actual_s);
void calibration_add(struct calibration *calibration, const struct score *score);

/* While little is known, about what the futures say. */
struct correction calibration_correction(const struct calibration *calibration);
struct moments correction_apply(const struct correction *correction, const struct moments *raw);

/* How good it was. */
struct track {
	uint32_t n;
	double coverage;                      /* NAN without any */
	double median_error_s, plain_error_s; /* NAN likewise */
};
struct track calibration_track(const struct calibration *calibration);

#endif
