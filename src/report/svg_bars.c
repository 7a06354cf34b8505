/*
 * Charts of horizontal bars, whole and divided.
 */
#include "report/svg.h"

#include <math.h>
#include <stdio.h>

#include "report/html.h"
#include "report/svg_draw.h"
#include "report/table.h"
#include "report/units.h"

enum { ROW = 22, BAR = 14, TOP = 4, VALUE_CHARS = 17 };

/* Characters that labels may take: what the widest needs, but no more than a third of the chart. */
static size_t label_room(size_t sofar, const char *label, int width)
{
	size_t n = text_columns(label), most = (size_t)width / 3 / CHAR_WIDTH;

	if (n > most)
		n = most;
	return n > sofar ? n : sofar;
}

static void put_label(const char *label, size_t room, double x, double y, struct buf *out)
{
	buf_str(out, "<g><title>");
	html_text(out, label);
	buf_str(out, "</title>");
	svg_text(&(struct svg_text){ x, y, NULL, "end", room }, label, out);
	buf_str(out, "</g>");
}

static void put_rect(const char *class_name, double x, double y, double width, struct buf *out)
{
	buf_printf(out, "<rect class=\"%s\" x=\"", class_name);
	svg_put(out, x);
	buf_str(out, "\" y=\"");
	svg_put(out, y);
	buf_str(out, "\" width=\"");
	svg_put(out, fmax(width, 0));
	buf_printf(out, "\" height=\"%d\"/>", BAR);
}

/* ---- whole bars */

static double largest_of(const struct svg_bar *bars, size_t n)
{
	double largest = 0;

	for (size_t i = 0; i < n; i++) {
		double end = bars[i].value + (isfinite(bars[i].half) ? bars[i].half : 0);

		if (isfinite(end))
			largest = fmax(largest, end);
	}
	return largest;
}

static void put_whisker(const struct svg_scale *s, const struct svg_bar *bar, double y, struct buf *out)
{
	buf_str(out, "<path class=\"whisker\" d=\"M");
	svg_put_point(out, svg_at(s, bar->value - bar->half), y - 3);
	buf_str(out, "v6m0-3H");
	svg_put(out, svg_at(s, bar->value + bar->half));
	buf_str(out, "m0-3v6\"/>");
}

static void put_value(const struct scale *shown, const struct svg_bar *bar, struct buf *out)
{
	scale_number(shown, bar->value, out);
	if (isfinite(bar->half)) {
		buf_str(out, " ±");
		scale_number(shown, bar->half, out);
	}
	if (*shown->name && isfinite(bar->value))
		buf_printf(out, " %s", shown->name);
	if (bar->sign)
		buf_printf(out, " %s", bar->sign);
}

void svg_bars(const struct svg_chart *chart, enum unit unit, const struct svg_bar *bars, size_t n,
	struct buf *out)
{
	int height = TOP * 2 + (int)n * ROW;
	double largest = largest_of(bars, n);
	struct scale shown = scale_for(unit, largest);
	struct svg_scale s = { .hi = largest > 0 ? largest : 1 };
	struct buf text = { 0 };
	size_t room = 0;
	char class_name[16];

	for (size_t i = 0; i < n; i++)
		room = label_room(room, bars[i].label, chart->width);
	s.from = (double)room * CHAR_WIDTH + 10;
	s.to = chart->width - VALUE_CHARS * CHAR_WIDTH;
	svg_begin(chart, height, "chart", out);
	for (size_t i = 0; i < n; i++) {
		double y = TOP + (double)i * ROW, end = s.from;

		put_label(bars[i].label, room, s.from - 6, y + 12, out);
		if (isfinite(bars[i].value)) {
			end = svg_at(&s, bars[i].value);
			snprintf(class_name, sizeof(class_name), "bar f%zu",
				bars[i].look % SVG_COLOURS);
			put_rect(class_name, s.from, y + 1, end - s.from, out);
		}
		if (isfinite(bars[i].half)) {
			put_whisker(&s, &bars[i], y + 1 + BAR / 2.0, out);
			end = svg_at(&s, bars[i].value + bars[i].half);
		}
		buf_clear(&text);
		put_value(&shown, &bars[i], &text);
		svg_text(&(struct svg_text){ end + 6, y + 12, "value", NULL, 0 }, text.at, out);
		buf_char(out, '\n');
	}
	svg_end(out);
	buf_fini(&text);
}

/* ---- divided bars */

static double row_total(const struct svg_stack *c, size_t row)
{
	double total = 0;

	for (size_t i = 0; i < c->nparts; i++)
		total += c->values[row * c->nparts + i];
	return total;
}

static void put_part(const struct svg_stack *c, const struct svg_scale *s, size_t row, size_t part,
	double before, struct buf *out)
{
	double value = c->values[row * c->nparts + part], y = TOP + (double)row * ROW + 1;
	double from = svg_at(s, before), to = svg_at(s, before + value);
	char class_name[16];

	if (to - from < 0.2)
		return;
	snprintf(class_name, sizeof(class_name), "part h%zu", c->looks[part]);
	buf_str(out, "<g><title>");
	html_text(out, c->labels[row]);
	buf_str(out, ": ");
	html_text(out, c->parts[part]);
	buf_char(out, ' ');
	unit_text(c->unit, value, out);
	buf_str(out, "</title>");
	put_rect(class_name, from, y, to - from, out);
	if (to - from > (double)text_columns(c->parts[part]) * CHAR_WIDTH + 8)
		svg_text(&(struct svg_text){ (from + to) / 2, y + 11, "name inside", "middle", 0 },
			c->parts[part], out);
	buf_str(out, "</g>");
}

void svg_stack(const struct svg_stack *c, struct buf *out)
{
	int height = TOP * 2 + (int)c->nlabels * ROW;
	double largest = 0;
	struct svg_scale s = { 0 };
	struct scale shown;
	struct buf text = { 0 };
	size_t room = 0;

	for (size_t i = 0; i < c->nlabels; i++) {
		room = label_room(room, c->labels[i], c->chart.width);
		largest = fmax(largest, row_total(c, i));
	}
	shown = scale_for(c->unit, largest);
	s.hi = largest > 0 ? largest : 1;
	s.from = (double)room * CHAR_WIDTH + 10;
	s.to = c->chart.width - 11 * CHAR_WIDTH;
	svg_begin(&c->chart, height, "chart", out);
	for (size_t i = 0; i < c->nlabels; i++) {
		double before = 0, y = TOP + (double)i * ROW;

		put_label(c->labels[i], room, s.from - 6, y + 12, out);
		for (size_t k = 0; k < c->nparts; k++) {
			put_part(c, &s, i, k, before, out);
			before += c->values[i * c->nparts + k];
		}
		buf_clear(&text);
		scale_number(&shown, before, &text);
		buf_printf(&text, " %s", shown.name);
		svg_text(&(struct svg_text){ svg_at(&s, before) + 6, y + 12, "value", NULL, 0 },
			text.at, out);
		buf_char(out, '\n');
	}
	svg_end(out);
	buf_fini(&text);
}

/* ---- hatchings */

/* Eight ways to tell parts apart without colour, drawn in the page's background over the colour. */
static const char *const hatchings[SVG_COLOURS] = {
	"",
	"<path d=\"M0 8L8 0M-2 2L2-2M6 10L10 6\"/>",
	"<path d=\"M2 2h0M6 6h0\" class=\"spots\"/>",
	"<path d=\"M0 0L8 8M-2 6L2 10M6-2L10 2\"/>",
	"<path d=\"M0 4H8\"/>",
	"<path d=\"M0 8L8 0M0 0L8 8\"/>",
	"<path d=\"M4 0V8\"/>",
	"<path d=\"M0 4H8M4 0V8\"/>",
};

enum { HATCHED = 16 };

void svg_hatchings(struct buf *out)
{
	buf_str(out, "<svg width=\"0\" height=\"0\" class=\"defs\" aria-hidden=\"true\"><defs>\n");
	for (size_t i = 0; i < HATCHED; i++)
		buf_printf(out,
			"<pattern id=\"h%zu\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
			"<rect width=\"8\" height=\"8\" class=\"f%zu\"/>%s</pattern>\n",
			i, i % SVG_COLOURS, hatchings[(i + i / SVG_COLOURS) % SVG_COLOURS]);
	buf_str(out, "</defs></svg>\n");
}

void svg_part_sample(size_t look, struct buf *out)
{
	buf_printf(out,
		"<svg class=\"sample\" viewBox=\"0 0 34 12\" aria-hidden=\"true\">"
		"<rect class=\"part h%zu\" width=\"34\" height=\"12\"/></svg>",
		look);
}
