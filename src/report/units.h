/*
 * Numbers for people: one unit for a whole column or axis, chosen by its
 * largest value.
 */
#ifndef REPORT_UNITS_H
#define REPORT_UNITS_H

#include "base/text.h"
#include "report/metric.h"

struct scale {
	double per;       /* what one shown unit is */
	const char *name; /* "h", "%"; "" where there is none */
	int decimals;     /* -1: whole numbers without, others with one */
};

struct scale scale_for(enum unit unit, double largest);
/* The unit of `shared`, with the digits that `largest` wants in it. */
struct scale scale_with(const struct scale *shared, double largest);
/* The number alone, with commas in thousands; "-" for NaN and infinities. */
void scale_number(const struct scale *scale, double x, struct buf *out);
/* Number and unit, "12.3 h", on a scale of its own. */
void unit_text(enum unit unit, double x, struct buf *out);

#endif
