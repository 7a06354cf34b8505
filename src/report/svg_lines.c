/*
 * Charts of lines, areas and dots.
 */
#include "report/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/html.h"
#include "report/svg_draw.h"
#include "report/table.h"

/* Room around the plot. */
enum { LEFT = 48, RIGHT = 14, TOP = 10, BOTTOM = 20, TITLE = 16 };

struct plot {
	const struct svg_lines *chart;
	const struct svg_series *series;
	size_t n;
	struct svg_scale x, y;
	struct buf *out;
};

/* ---- scales */

static void widen(double value, bool log_scale, double *lo, double *hi)
{
	if (!isfinite(value) || (log_scale && value <= 0))
		return;
	*lo = fmin(*lo, value);
	*hi = fmax(*hi, value);
}

static struct svg_scale scale_of(const struct svg_axis *axis, double lo, double hi)
{
	struct svg_scale s = { .log = axis->log };

	if (!isfinite(lo) || !isfinite(hi)) {
		lo = axis->log ? 1 : 0;
		hi = axis->log ? 10 : 1;
	}
	s.lo = isfinite(axis->min) ? axis->min : lo;
	s.hi = isfinite(axis->max) ? axis->max : hi;
	if (s.hi <= s.lo * (s.log ? 1.01 : 1))
		s.hi = s.log ? s.lo * 10 : s.lo + 1;
	return s;
}

static void find_scales(struct plot *p)
{
	const struct svg_lines *c = p->chart;
	double xlo = INFINITY, xhi = -INFINITY, ylo = INFINITY, yhi = -INFINITY;

	for (size_t i = 0; i < p->n; i++) {
		for (size_t k = 0; k < p->series[i].n; k++) {
			widen(p->series[i].x[k], c->x.log, &xlo, &xhi);
			widen(p->series[i].y[k], c->y.log, &ylo, &yhi);
		}
	}
	p->x = scale_of(&c->x, xlo, xhi);
	p->y = scale_of(&c->y, ylo, yhi);
	p->x.from = LEFT;
	p->x.to = c->chart.width - RIGHT;
	p->y.from = c->chart.height - (c->x.bare ? 6 : BOTTOM) - (c->x.title ? TITLE : 0);
	p->y.to = TOP + (c->y.title ? TITLE : 0);
}

/* ---- axes */

/* The distance of ticks, or 0 where they are not even. */
static double step_of(const struct svg_scale *s, const double *ticks, size_t n)
{
	if (n < 2)
		return 0;
	return s->log && fabs((ticks[1] - ticks[0]) - (ticks[n - 1] - ticks[n - 2])) > 1e-9 * ticks[1]
		? 0
		: ticks[1] - ticks[0];
}

static void x_axis(const struct plot *p)
{
	const struct svg_axis *axis = &p->chart->x;
	double ticks[TICKS_MAX], step;
	size_t n = svg_ticks(&p->x, axis->unit, (size_t)((p->x.to - p->x.from) / 62), ticks);
	struct buf label = { 0 };

	step = step_of(&p->x, ticks, n);
	buf_str(p->out, "<path class=\"grid\" d=\"");
	for (size_t i = 0; i < n; i++) {
		buf_char(p->out, 'M');
		svg_put_point(p->out, svg_at(&p->x, ticks[i]), p->y.from);
		buf_char(p->out, 'V');
		svg_put(p->out, p->y.to);
	}
	buf_str(p->out, "\"/>");
	for (size_t i = 0; !axis->bare && i < n; i++) {
		buf_clear(&label);
		svg_tick_label(axis->unit, ticks[i], step, &label);
		svg_text(&(struct svg_text){ svg_at(&p->x, ticks[i]), p->y.from + 14, NULL, "middle", 0 },
			label.at, p->out);
	}
	if (axis->title)
		svg_text(&(struct svg_text){ (p->x.from + p->x.to) / 2, p->chart->chart.height - 4,
				 "axis", "middle", 0 },
			axis->title, p->out);
	buf_fini(&label);
}

static void y_axis(const struct plot *p)
{
	const struct svg_axis *axis = &p->chart->y;
	double ticks[TICKS_MAX], step;
	size_t n = svg_ticks(&p->y, axis->unit, (size_t)fmax(2, (p->y.from - p->y.to) / 34), ticks);
	struct buf label = { 0 };

	step = step_of(&p->y, ticks, n);
	buf_str(p->out, "<path class=\"grid\" d=\"");
	for (size_t i = 0; i < n; i++) {
		buf_char(p->out, 'M');
		svg_put_point(p->out, p->x.from, svg_at(&p->y, ticks[i]));
		buf_char(p->out, 'H');
		svg_put(p->out, p->x.to);
	}
	buf_str(p->out, "\"/>");
	for (size_t i = 0; i < n; i++) {
		buf_clear(&label);
		svg_tick_label(axis->unit, ticks[i], step, &label);
		svg_text(&(struct svg_text){ p->x.from - 5, svg_at(&p->y, ticks[i]) + 4, NULL, "end", 0 },
			label.at, p->out);
	}
	if (axis->title)
		svg_text(&(struct svg_text){ 4, 12, "axis", NULL, 0 }, axis->title, p->out);
	buf_fini(&label);
}

static void diagonal(const struct plot *p)
{
	double lo = fmax(p->x.lo, p->y.lo), hi = fmin(p->x.hi, p->y.hi);

	if (lo >= hi)
		return;
	buf_str(p->out, "<path class=\"aid\" d=\"M");
	svg_put_point(p->out, svg_at(&p->x, lo), svg_at(&p->y, lo));
	buf_char(p->out, 'L');
	svg_put_point(p->out, svg_at(&p->x, hi), svg_at(&p->y, hi));
	buf_str(p->out, "\"/>");
}

/* ---- series */

static void put_path(const struct plot *p, const struct svg_series *s)
{
	bool pen = false;
	double last_y = 0;

	for (size_t i = 0; i < s->n; i++) {
		double x, y;

		if (isnan(s->x[i]) || isnan(s->y[i])) {
			pen = false;
			continue;
		}
		x = svg_at(&p->x, s->x[i]);
		y = svg_at(&p->y, s->y[i]);
		if (!pen || !p->chart->step) {
			buf_char(p->out, pen ? 'L' : 'M');
			svg_put_point(p->out, x, y);
		} else {
			buf_char(p->out, 'H');
			svg_put(p->out, x);
			if (y != last_y) {
				buf_char(p->out, 'V');
				svg_put(p->out, y);
			}
		}
		pen = true;
		last_y = y;
	}
}

static void put_area(const struct plot *p, const struct svg_series *s)
{
	if (!s->n)
		return;
	buf_printf(p->out, "<path class=\"area f%zu\" d=\"", s->look % SVG_COLOURS);
	put_path(p, s);
	buf_char(p->out, 'V');
	svg_put(p->out, p->y.from);
	buf_char(p->out, 'H');
	svg_put(p->out, svg_at(&p->x, s->x[0]));
	buf_str(p->out, "Z\"/>");
}

/* A line of no length with round ends is a dot, in few bytes. */
static void put_dots(const struct plot *p, const struct svg_series *s)
{
	buf_printf(p->out, "<path class=\"dots s%zu\" d=\"", s->look % SVG_COLOURS);
	for (size_t i = 0; i < s->n; i++) {
		if (isnan(s->x[i]) || isnan(s->y[i]))
			continue;
		buf_char(p->out, 'M');
		svg_put_point(p->out, svg_at(&p->x, s->x[i]), svg_at(&p->y, s->y[i]));
		buf_str(p->out, "h0");
	}
	buf_str(p->out, "\"/>");
}

static void put_series(const struct plot *p, const struct svg_series *s)
{
	buf_str(p->out, "<g class=\"series\"><title>");
	html_text(p->out, s->label ? s->label : "");
	buf_str(p->out, "</title>");
	if (p->chart->area)
		put_area(p, s);
	if (p->chart->dots || s + p->chart->dotted >= p->series + p->n) {
		put_dots(p, s);
	} else {
		/* Dashes tell lines apart; a line alone is easier to read without. */
		buf_printf(p->out, "<path class=\"line s%zu d%zu\" d=\"", s->look % SVG_COLOURS,
			p->n > 1 ? (s->look + s->look / SVG_COLOURS) % SVG_COLOURS : 0);
		put_path(p, s);
		buf_str(p->out, "\"/>");
	}
	buf_str(p->out, "</g>\n");
}

/* ---- names on the lines */

enum { HEIGHTS = 15 }; /* where a name may stand */

struct box {
	double x, y, width;
};

/* Where a rising line is at the height of y pixels; NAN if it does not get there. */
static double crossing(const struct plot *p, const struct svg_series *s, double y)
{
	for (size_t i = 0; i < s->n; i++) {
		if (!isnan(s->y[i]) && svg_at(&p->y, s->y[i]) <= y)
			return svg_at(&p->x, s->x[i]);
	}
	return NAN;
}

static bool overlaps(const struct box *a, const struct box *b)
{
	return a->x < b->x + b->width && b->x < a->x + a->width && fabs(a->y - b->y) < 13;
}

/* How far a name right of the line is from others at this height, at most its width. */
static double freedom(const struct plot *p, size_t which, const struct box *box)
{
	double least = box->width;

	for (size_t i = 0; i < p->n; i++) {
		double x = i == which ? NAN : crossing(p, &p->series[i], box->y - 4);

		if (!isnan(x) && x > box->x - 4)
			least = fmin(least, x - box->x);
	}
	return least;
}

static bool place_name(const struct plot *p, size_t which, const struct box *placed, size_t nplaced,
	struct box *out)
{
	double best = -INFINITY;
	const char *label = p->series[which].label;

	for (int h = 1; h < HEIGHTS; h++) {
		double y = p->y.from + (p->y.to - p->y.from) * h / HEIGHTS;
		struct box box = { crossing(p, &p->series[which], y) + 6, y + 4,
			(double)text_columns(label) * CHAR_WIDTH + 4 };
		double free_px;
		bool clash = isnan(box.x) || box.x + box.width > p->x.to;

		for (size_t i = 0; !clash && i < nplaced; i++)
			clash = overlaps(&box, &placed[i]);
		if (clash)
			continue;
		free_px = freedom(p, which, &box);
		if (free_px > best) {
			best = free_px;
			*out = box;
		}
	}
	return best > -INFINITY;
}

static void put_names(const struct plot *p)
{
	struct box *placed = mem_alloc(mem_array_size(p->n, sizeof(*placed)));
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		char class_name[32] = "name t0";

		class_name[6] = (char)('0' + p->series[i].look % SVG_COLOURS);
		if (!place_name(p, i, placed, n, &placed[n]))
			continue; /* no room: the legend has it */
		svg_text(&(struct svg_text){ placed[n].x, placed[n].y, class_name, NULL, 0 },
			p->series[i].label, p->out);
		n++;
	}
	free(placed);
}

void svg_lines(const struct svg_lines *chart, const struct svg_series *series, size_t n, struct buf *out)
{
	struct plot p = { .chart = chart, .series = series, .n = n, .out = out };

	find_scales(&p);
	svg_begin(&chart->chart, chart->chart.height, "chart", out);
	x_axis(&p);
	y_axis(&p);
	if (chart->diagonal)
		diagonal(&p);
	for (size_t i = 0; i < n; i++)
		put_series(&p, &series[i]);
	if (chart->labels && n)
		put_names(&p);
	svg_end(out);
}

void svg_line_sample(size_t look, struct buf *out)
{
	buf_printf(out,
		"<svg class=\"sample\" viewBox=\"0 0 34 10\" aria-hidden=\"true\">"
		"<path class=\"line s%zu d%zu\" d=\"M1 5H33\"/></svg>",
		look % SVG_COLOURS, (look + look / SVG_COLOURS) % SVG_COLOURS);
}
