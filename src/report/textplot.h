/*
 * Small plots for terminals: Unicode blocks, or ASCII where those are missing.
 */
#ifndef REPORT_TEXTPLOT_H
#define REPORT_TEXTPLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "report/metric.h"
#include "report/term.h"

/* Rows of "label  bar  value"; each ends with a newline. */
void textplot_bars(const char *const *labels, const double *values, size_t n,
	const struct term *term, struct buf *out);

/*
 * The share of values at or below x, `height` lines high, with axes; x is logarithmic if `log_x` and
 * the values allow it.  NaN values do not count.
 */
struct textplot_cdf {
	int height; /* 0: 8 */
	bool log_x;
	enum unit unit; /* of x */
};
void textplot_cdf(const double *sorted, size_t n, const struct textplot_cdf *how,
	const struct term *term, struct buf *out);

/* One line of `width` characters, 0 up to the largest value; each stands for the mean of its part.  No newline. */
void textplot_spark(const double *values, size_t n, size_t width, const struct term *term,
	struct buf *out);
/* The same from 0 up to `top`. */
void textplot_spark_to(const double *values, size_t n, double top, size_t width,
	const struct term *term, struct buf *out);

#endif
