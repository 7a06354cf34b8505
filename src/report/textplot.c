/*
 * Plots made of characters.
 */
#include "report/textplot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/stats.h"
#include "report/table.h"
#include "report/units.h"

enum { BAR_WIDTH_MAX = 60, BAR_WIDTH_MIN = 10, WIDTH_DEFAULT = 80, HEIGHT_DEFAULT = 8 };

static size_t width_of(const struct term *term)
{
	return term->width > 0 ? (size_t)term->width : WIDTH_DEFAULT;
}

static void pad(struct buf *out, size_t n)
{
	while (n--)
		buf_char(out, ' ');
}

/* ---- bars */

static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };

/* `share` of `width` characters; what is more than nothing shows. */
static void put_bar(struct buf *out, double share, size_t width, bool utf8)
{
	long parts = lround(share * (double)width * (utf8 ? 8 : 1));

	if (share > 0 && parts == 0)
		parts = 1;
	if (!utf8) {
		while (parts-- > 0)
			buf_char(out, '#');
		return;
	}
	for (; parts >= 8; parts -= 8)
		buf_str(out, "█");
	buf_str(out, eighths[parts]);
}

static size_t widest(const char *const *labels, size_t n)
{
	size_t width = 0;

	for (size_t i = 0; i < n; i++) {
		if (text_columns(labels[i]) > width)
			width = text_columns(labels[i]);
	}
	return width;
}

static double largest_of(const double *values, size_t n)
{
	double largest = 0;

	for (size_t i = 0; i < n; i++) {
		if (isfinite(values[i]) && values[i] > largest)
			largest = values[i];
	}
	return largest;
}

/* Names come from other people's files: they must not steer the terminal. */
static void put_plain(struct buf *out, const char *text)
{
	for (; *text; text++)
		buf_char(out, (unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
}

void textplot_bars(const char *const *labels, const double *values, size_t n,
	const struct term *term, struct buf *out)
{
	size_t label = widest(labels, n), room = width_of(term), width = BAR_WIDTH_MIN;
	double largest = largest_of(values, n);

	/* the label, two blanks, the bar, a blank and a number of up to 12 characters */
	if (room > label + 15 + BAR_WIDTH_MIN)
		width = room - label - 15;
	if (width > BAR_WIDTH_MAX)
		width = BAR_WIDTH_MAX;
	for (size_t i = 0; i < n; i++) {
		struct scale scale = scale_for(UNIT_COUNT, values[i]);

		put_plain(out, labels[i]);
		pad(out, label - text_columns(labels[i]) + 2);
		if (largest > 0 && values[i] > 0) {
			put_bar(out, values[i] / largest, width, term->utf8);
			buf_char(out, ' ');
		}
		scale_number(&scale, values[i], out);
		buf_char(out, '\n');
	}
}

/* ---- distribution */

struct cdf_axis {
	double lo, hi;
	bool log;
};

static double at_column(const struct cdf_axis *a, double share)
{
	if (a->log)
		return a->lo * pow(a->hi / a->lo, share);
	return a->lo + (a->hi - a->lo) * share;
}

/* How many of the sorted values are at or below x. */
static size_t count_below(const double *sorted, size_t n, double x)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (sorted[mid] <= x)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Zero has no place on a logarithmic axis: values below a second or so stand at its beginning. */
static struct cdf_axis axis_of(const double *sorted, size_t n, bool want_log)
{
	struct cdf_axis a = { sorted[0], sorted[n - 1], want_log && sorted[n - 1] > 0 };

	if (a.log && a.lo <= 0)
		a.lo = fmin(1, a.hi / 10);
	if (a.hi <= a.lo)
		a.hi = a.log ? a.lo * 10 : a.lo + 1;
	return a;
}

static void put_level(struct buf *out, double filled, bool utf8)
{
	static const char *const lower[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	long level = lround(filled * 8);

	if (level < 0)
		level = 0;
	if (level > 8)
		level = 8;
	if (utf8)
		buf_str(out, lower[level]);
	else
		buf_char(out, level >= 6 ? '#' : level >= 3 ? ':' : level >= 1 ? '.' : ' ');
}

static void put_x_axis(const struct cdf_axis *a, size_t width, enum unit unit, struct buf *out)
{
	enum { LABELS = 5 };
	struct buf line = { 0 }, text = { 0 };

	for (int i = 0; i < LABELS; i++) {
		size_t at = (size_t)i * (width - 1) / (LABELS - 1);

		buf_clear(&text);
		unit_text(unit, at_column(a, (double)i / (LABELS - 1)), &text);
		if (i == LABELS - 1)
			at = width > text.n ? width - text.n : 0;
		else if (i > 0)
			at -= text.n / 2 < at ? text.n / 2 : at;
		if (line.n && at <= line.n)
			continue; /* no room */
		pad(&line, at - line.n);
		buf_str(&line, text.at);
	}
	buf_printf(out, "      %s\n", line.at);
	buf_fini(&line);
	buf_fini(&text);
}

void textplot_cdf(const double *sorted, size_t n, const struct textplot_cdf *how,
	const struct term *term, struct buf *out)
{
	size_t width = width_of(term) > 76 ? 70 : width_of(term) > 26 ? width_of(term) - 6 : 20;
	int height = how->height > 0 ? how->height : HEIGHT_DEFAULT;
	struct cdf_axis a;

	while (n && isnan(sorted[n - 1]))
		n--;
	if (!n)
		return;
	a = axis_of(sorted, n, how->log_x);
	for (int row = height - 1; row >= 0; row--) {
		int percent = (int)lround(100.0 * (row + 1) / height);

		if (row == height - 1 || row * 2 + 2 == height)
			buf_printf(out, "%3d %% ", percent);
		else
			buf_str(out, "      ");
		for (size_t i = 0; i < width; i++) {
			double x = at_column(&a, (double)i / (double)(width - 1));
			double share = (double)count_below(sorted, n, x * (1 + 1e-12)) / (double)n;

			put_level(out, share * height - row, term->utf8);
		}
		while (out->at[out->n - 1] == ' ')
			out->n--;
		buf_char(out, '\n');
	}
	put_x_axis(&a, width, how->unit, out);
}

/* ---- one line */

/* `top` NAN: the largest mean. */
static void spark(const double *values, size_t n, double top, size_t width, const struct term *term,
	struct buf *out)
{
	double *means;

	if (!n || !width)
		return;
	if (width > n)
		width = n;
	means = mem_alloc(mem_array_size(width, sizeof(*means)));
	for (size_t i = 0; i < width; i++) {
		size_t from = i * n / width, to = (i + 1) * n / width;

		means[i] = stats_mean(values + from, to - from);
	}
	if (isnan(top))
		top = largest_of(means, width);
	for (size_t i = 0; i < width; i++)
		put_level(out, top > 0 && means[i] > 0 ? fmax(0.125, means[i] / top) : 0, term->utf8);
	free(means);
}

void textplot_spark(const double *values, size_t n, size_t width, const struct term *term,
	struct buf *out)
{
	spark(values, n, NAN, width, term, out);
}

void textplot_spark_to(const double *values, size_t n, double top, size_t width,
	const struct term *term, struct buf *out)
{
	spark(values, n, top, width, term, out);
}
