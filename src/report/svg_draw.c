/*
 * Axes, texts and coordinates of charts.
 */
#include "report/svg_draw.h"

#include <math.h>
#include <string.h>

#include "report/html.h"
#include "report/table.h"

double svg_at(const struct svg_scale *s, double value)
{
	double share;

	if (s->log)
		share = value > s->lo ? log(value / s->lo) / log(s->hi / s->lo) : 0;
	else
		share = (value - s->lo) / (s->hi - s->lo);
	if (!(share > 0))
		share = 0;
	return s->from + fmin(share, 1) * (s->to - s->from);
}

/* ---- ticks */

static const double time_steps[] = {
	1,
	2,
	5,
	10,
	15,
	30,
	60,
	120,
	300,
	600,
	900,
	1800,
	3600,
	7200,
	14400,
	21600,
	43200,
	86400,
	172800,
	432000,
	864000,
	1728000,
	4320000,
	8640000,
	17280000,
	43200000,
	86400000,
};

enum { TIME_STEPS = sizeof(time_steps) / sizeof(time_steps[0]) };

/* The least of 1, 2 and 5 times a power of ten that is no less than x. */
static double round_step(double x)
{
	double power = pow(10, floor(log10(x)));

	for (int i = 0; i < 3; i++) {
		static const double nice[] = { 1, 2, 5 };

		if (nice[i] * power >= x * (1 - 1e-9))
			return nice[i] * power;
	}
	return 10 * power;
}

static double step_for(enum unit unit, double least)
{
	if (unit == UNIT_SECONDS && least > 1) {
		for (size_t i = 0; i < TIME_STEPS; i++) {
			if (time_steps[i] >= least)
				return time_steps[i];
		}
	}
	if (unit == UNIT_GPU_SECONDS && least > 60)
		return 3600 * round_step(least / 3600);
	if (unit == UNIT_COUNT)
		return fmax(1, round_step(least));
	return round_step(least);
}

static size_t ticks_every(const struct svg_scale *s, double step, double *ticks)
{
	double first = ceil(s->lo / step - 1e-9);
	size_t n = 0;

	while (n < TICKS_MAX && (first + (double)n) * step <= s->hi + step * 1e-9) {
		ticks[n] = (first + (double)n) * step;
		n++;
	}
	return n;
}

/* One tick alone says nothing of the scale: then a few more are allowed. */
static size_t linear_ticks(const struct svg_scale *s, enum unit unit, size_t most, double *ticks)
{
	size_t n = 0;

	for (size_t allowed = most; n < 2 && allowed <= most + 3; allowed++)
		n = ticks_every(s, step_for(unit, (s->hi - s->lo) / (double)allowed), ticks);
	return n;
}

/* Seconds, minutes, hours and days on a logarithmic axis; powers of ten beyond. */
static const double log_times[] = {
	1e-6,
	1e-5,
	1e-4,
	1e-3,
	1e-2,
	1e-1,
	1,
	10,
	60,
	600,
	3600,
	36000,
	86400,
	864000,
	8640000,
	86400000,
	864000000,
};

/* Those of a list inside the scale. */
static size_t within(const struct svg_scale *s, const double *list, size_t n, double *ticks)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (list[i] >= s->lo * 0.999 && list[i] <= s->hi * 1.001)
			ticks[kept++] = list[i];
	}
	return kept;
}

static size_t log_candidates(const struct svg_scale *s, enum unit unit, size_t most, double *ticks)
{
	static const double few[] = { 1e-6, 1e-3, 1, 60, 3600, 86400, 8640000, 864000000 };
	size_t n = 0;

	if (unit == UNIT_SECONDS) {
		n = within(s, log_times, sizeof(log_times) / sizeof(log_times[0]), ticks);
		if (n > most)
			n = within(s, few, sizeof(few) / sizeof(few[0]), ticks);
		return n;
	}
	for (double e = ceil(log10(s->lo) - 1e-9); pow(10, e) <= s->hi * 1.001 && n < TICKS_MAX; e++)
		ticks[n++] = pow(10, e);
	return n;
}

/* Drops those that stand too near to the one before. */
static size_t log_ticks(const struct svg_scale *s, enum unit unit, size_t most, double *ticks)
{
	double gap = fabs(s->to - s->from) / (double)(most + 1);
	size_t n = log_candidates(s, unit, most, ticks), kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (!kept || fabs(svg_at(s, ticks[i]) - svg_at(s, ticks[kept - 1])) >= gap)
			ticks[kept++] = ticks[i];
	}
	return kept;
}

/* Counts from one on that span few powers of ten: devices, mostly, which come in doublings. */
static size_t doublings(const struct svg_scale *s, double *ticks)
{
	size_t n = 0;

	for (double x = 1; x <= s->hi * 1.001 && n < TICKS_MAX; x *= 2)
		ticks[n++] = x;
	return n;
}

size_t svg_ticks(const struct svg_scale *s, enum unit unit, size_t most, double ticks[TICKS_MAX])
{
	size_t n;

	if (most > TICKS_MAX)
		most = TICKS_MAX;
	if (s->log) {
		n = log_ticks(s, unit, most, ticks);
		if (n >= 3)
			return n;
		if (unit == UNIT_COUNT && s->lo == 1) {
			n = doublings(s, ticks);
			if (n >= 3 && n <= most)
				return n;
		}
	}
	return linear_ticks(s, unit, most, ticks);
}

/* The largest unit of time that `step` is a whole number of. */
static double time_unit(double step, const char **name)
{
	static const struct {
		double s;
		const char *name;
	} units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (step >= units[i].s && fmod(step, units[i].s) == 0) {
			*name = units[i].name;
			return units[i].s;
		}
	}
	*name = step >= 1 ? "s" : "ms";
	return step >= 1 ? 1 : 1e-3;
}

void svg_tick_label(enum unit unit, double value, double step, struct buf *out)
{
	const char *name = "";
	double per = 1;

	if (value == 0) {
		buf_char(out, '0');
		return;
	}
	if (unit == UNIT_SECONDS) {
		per = time_unit(step > 0 ? step : value, &name);
	} else if (unit == UNIT_GPU_SECONDS) {
		per = 3600;
		name = "GPU-h";
	} else if (unit == UNIT_SHARE) {
		per = 0.01;
		name = "%";
	}
	if (value / per >= 1e6)
		buf_printf(out, "%.3gM", value / per / 1e6);
	else if (value / per >= 1e4)
		buf_printf(out, "%.3gk", value / per / 1e3);
	else
		buf_printf(out, "%.6g", value / per);
	if (*name)
		buf_printf(out, " %s", name);
}

/* ---- elements */

void svg_begin(const struct svg_chart *c, int height, const char *class_name, struct buf *out)
{
	buf_printf(out,
		"<svg class=\"%s\" viewBox=\"0 0 %d %d\" role=\"img\" "
		"aria-labelledby=\"%s-t %s-d\"><title id=\"%s-t\">",
		class_name, c->width, height, c->id, c->id, c->id);
	html_text(out, c->title ? c->title : "");
	buf_printf(out, "</title><desc id=\"%s-d\">", c->id);
	html_text(out, c->summary ? c->summary : "");
	buf_str(out, "</desc>\n");
}

void svg_end(struct buf *out)
{
	buf_str(out, "</svg>\n");
}

void svg_put(struct buf *out, double x)
{
	buf_double(out, isfinite(x) ? round(x * 10) / 10 : 0);
}

void svg_put_point(struct buf *out, double x, double y)
{
	svg_put(out, x);
	buf_char(out, ' ');
	svg_put(out, y);
}

/* Cuts a text in its middle, where names of one family differ least. */
static void put_cut(struct buf *out, const char *text, size_t most)
{
	size_t columns = text_columns(text), column = 0, head = most / 2, tail = most - head - 1;
	struct buf cut = { 0 };

	if (!most || columns <= most) {
		html_text(out, text);
		return;
	}
	for (; *text; text++) {
		if ((*text & 0xc0) != 0x80)
			column++;
		if (column <= head || column > columns - tail)
			buf_char(&cut, *text);
		else if (column == head + 1 && (*text & 0xc0) != 0x80)
			buf_str(&cut, "…");
	}
	html_text(out, cut.at);
	buf_fini(&cut);
}

void svg_text(const struct svg_text *how, const char *text, struct buf *out)
{
	buf_str(out, "<text x=\"");
	svg_put(out, how->x);
	buf_str(out, "\" y=\"");
	svg_put(out, how->y);
	buf_char(out, '"');
	if (how->class_name)
		buf_printf(out, " class=\"%s\"", how->class_name);
	if (how->anchor)
		buf_printf(out, " text-anchor=\"%s\"", how->anchor);
	buf_char(out, '>');
	put_cut(out, text, how->most);
	buf_str(out, "</text>");
}
