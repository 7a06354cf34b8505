/*
 * Parts of charts, for the files that draw them.
 */
#ifndef REPORT_SVG_DRAW_H
#define REPORT_SVG_DRAW_H

#include "report/svg.h"

enum { TICKS_MAX = 32, CHAR_WIDTH = 6 }; /* CHAR_WIDTH: what a character of a label takes, about */

/* A range of values on a range of pixels. */
struct svg_scale {
	double lo, hi;   /* values */
	double from, to; /* pixels */
	bool log;
};

/* Where a value stands, kept inside. */
double svg_at(const struct svg_scale *scale, double value);

/* Ticks that people like (1, 2, 5 times a power of ten; minutes, hours and days of seconds), at most `most`. */
size_t svg_ticks(const struct svg_scale *scale, enum unit unit, size_t most, double ticks[TICKS_MAX]);
/* What stands at a tick; `step` is the distance of the ticks, 0 on a logarithmic axis. */
void svg_tick_label(enum unit unit, double value, double step, struct buf *out);

/* <svg> with title and description; and its end. */
void svg_begin(const struct svg_chart *chart, int height, const char *class_name, struct buf *out);
void svg_end(struct buf *out);

/* A coordinate to a tenth of a pixel; `put_point` puts a blank between two. */
void svg_put(struct buf *out, double x);
void svg_put_point(struct buf *out, double x, double y);

/* <text>, escaped, cut to `most` characters if that is not 0. */
struct svg_text {
	double x, y;
	const char *class_name; /* may be NULL */
	const char *anchor;     /* may be NULL: start */
	size_t most;
};
void svg_text(const struct svg_text *how, const char *text, struct buf *out);

#endif
