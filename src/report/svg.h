/*
 * Charts as inline SVG, to stand in an HTML page.
 *
 * Colours come from the page's CSS (--c0 … --c7, after Okabe and Ito, with a
 * dash pattern or hatching each), so that one picture serves light, dark and
 * print.  Every chart has a title and a description for those who cannot see
 * it.
 */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "report/metric.h"

enum { SVG_COLOURS = 8 };

/* What every chart has. */
struct svg_chart {
	const char *id; /* distinct in the page */
	const char *title;
	const char *summary; /* what it shows, in a sentence or two */
	int width, height;   /* bars and stacks find their own height */
};

struct svg_axis {
	const char *title; /* may be NULL */
	enum unit unit;
	bool log;
	bool bare;       /* no numbers: the chart below has them */
	double min, max; /* NAN: from the data */
};

struct svg_series {
	const char *label;
	const double *x, *y;
	size_t n;
	size_t look; /* which colour and dash: the policy's number */
};

struct svg_lines {
	struct svg_chart chart;
	struct svg_axis x, y;
	bool step;     /* a value holds until the next */
	bool area;     /* filled down to the axis */
	bool labels;   /* each line named where it is alone */
	bool dots;     /* points, no lines */
	size_t dotted; /* so many of the last series are points, the others lines */
	bool diagonal; /* a line for y = x */
};
void svg_lines(const struct svg_lines *chart, const struct svg_series *series, size_t n,
	struct buf *out);

/* Horizontal bars with whiskers, one for each label. */
struct svg_bar {
	const char *label;
	double value, half; /* half NAN: no whisker */
	const char *sign;   /* after the value: "*"; may be NULL */
	size_t look;
};
void svg_bars(const struct svg_chart *chart, enum unit unit, const struct svg_bar *bars, size_t n,
	struct buf *out);

/* One bar for each label, divided into parts. */
struct svg_stack {
	struct svg_chart chart;
	enum unit unit;
	const char *const *labels;
	size_t nlabels;
	const char *const *parts;
	const size_t *looks; /* of the parts */
	size_t nparts;
	const double *values; /* nlabels rows of nparts */
};
void svg_stack(const struct svg_stack *chart, struct buf *out);

/* Samples for legends: a line's colour and dash, a part's hatching. */
void svg_line_sample(size_t look, struct buf *out);
void svg_part_sample(size_t look, struct buf *out);
/* The hatchings, once in a page that has parts. */
void svg_hatchings(struct buf *out);

#endif
