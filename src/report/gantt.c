/*
 * The Gantt chart of device x time.
 *
 * The still picture has each bar where it belongs at any size of cluster: a
 * row is as thin as it must be.  The chart to zoom into gets the same bars as
 * a flat list of whole numbers (report/page_gantt.c says which).
 */
#include "report/gantt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/vec.h"
#include "report/html_parts.h"
#include "report/svg_draw.h"
#include "report/units.h"

enum {
	STILL_BARS = 6000,     /* of all still pictures */
	STILL_BARS_MAX = 1500, /* of one */
	STILL_WIDTH = 900,
	STILL_LEFT = 56,
	UNITS = 1000000, /* of time over the whole chart */
	WORDS_MAX = 60,  /* characters that describe a job */
};

/* Adjacent devices of one node, held together. */
struct bar {
	double from_s, to_s; /* since the beginning of the run */
	uint32_t row, rows;
	uint32_t job; /* in the picture's jobs */
};

struct bars {
	struct bar *at;
	size_t n, cap;
};

/* ---- rows and bars */

static uint32_t *first_rows(const struct comparison *c, uint32_t *rows)
{
	uint32_t *first = mem_alloc(mem_array_size(c->nnodes + 1, sizeof(*first)));

	for (uint32_t i = 0; i < c->nnodes; i++)
		first[i + 1] = first[i] + c->nodes[i].devices;
	*rows = first[c->nnodes];
	return first;
}

static void add_bars(const struct span *span, const struct picture *p, uint32_t row, struct bars *bars)
{
	for (uint32_t i = 0; i < 64; i++) {
		uint32_t begin = i;

		if (!(span->devices >> i & 1))
			continue;
		while (i < 63 && span->devices >> (i + 1) & 1)
			i++;
		vec_push(bars,
			(struct bar){ span->from_s - p->from_s, span->to_s - p->from_s, row + begin,
				i - begin + 1, span->job });
	}
}

static struct bars bars_of(const struct comparison *c, const struct picture *p, const uint32_t *first)
{
	struct bars bars = { 0 };

	for (uint32_t i = 0; i < p->nspans; i++) {
		if (p->spans[i].node < c->nnodes)
			add_bars(&p->spans[i], p, first[p->spans[i].node], &bars);
	}
	return bars;
}

static double end_of(const struct comparison *c)
{
	double end = 0;

	for (uint32_t i = 0; i < c->npolicies; i++) {
		const struct picture *p = &c->policies[i].picture;

		if (isfinite(p->to_s - p->from_s))
			end = fmax(end, p->to_s - p->from_s);
	}
	return end > 0 ? end : 1;
}

/* ---- still pictures */

struct still {
	struct svg_scale x, y;
	const struct bars *bars;
	size_t most; /* bars drawn */
	struct buf *out;
};

static int larger_bar_first(const void *a, const void *b)
{
	const struct bar *x = *(const struct bar *const *)a, *y = *(const struct bar *const *)b;
	double ax = (x->to_s - x->from_s) * x->rows, ay = (y->to_s - y->from_s) * y->rows;

	if (ax != ay)
		return ax < ay ? 1 : -1;
	return (x > y) - (x < y);
}

static void put_bar(const struct still *s, const struct bar *b)
{
	double x = svg_at(&s->x, b->from_s), width = fmax(svg_at(&s->x, b->to_s) - x, 0.6);
	double y = svg_at(&s->y, b->row), height = svg_at(&s->y, b->row + b->rows) - y;

	buf_char(s->out, 'M');
	svg_put_point(s->out, x, y);
	buf_char(s->out, 'h');
	svg_put(s->out, width);
	buf_char(s->out, 'v');
	svg_put(s->out, fmax(height, 0.4));
	buf_char(s->out, 'h');
	svg_put(s->out, -width);
	buf_char(s->out, 'z');
}

/* One path for each colour; the first ones with their names where there is room. */
static void put_bars(const struct still *s, const struct picture *p)
{
	size_t n = s->bars->n < s->most ? s->bars->n : s->most;
	const struct bar **order = mem_alloc(mem_array_size(s->bars->n + 1, sizeof(*order)));

	for (size_t i = 0; i < s->bars->n; i++)
		order[i] = &s->bars->at[i];
	qsort(order, s->bars->n, sizeof(*order), larger_bar_first);
	for (uint32_t colour = 0; colour < SVG_COLOURS; colour++) {
		buf_printf(s->out, "<path class=\"f%u\" d=\"", (unsigned)colour);
		for (size_t i = 0; i < n; i++) {
			if (p->jobs[order[i]->job].id % SVG_COLOURS == colour)
				put_bar(s, order[i]);
		}
		buf_str(s->out, "\"/>\n");
	}
	for (size_t i = 0; i < n && i < 60; i++) {
		const struct bar *b = order[i];
		const char *label = p->jobs[b->job].label;
		double from = svg_at(&s->x, b->from_s), to = svg_at(&s->x, b->to_s);
		double top = svg_at(&s->y, b->row), bottom = svg_at(&s->y, b->row + b->rows);

		if (bottom - top >= 11 && to - from > (double)strlen(label) * CHAR_WIDTH + 6)
			svg_text(&(struct svg_text){ (from + to) / 2, (top + bottom) / 2 + 4,
					 "name inside", "middle", 0 },
				label, s->out);
	}
	free(order);
}

static void put_time_axis(const struct still *s)
{
	double ticks[TICKS_MAX];
	size_t n = svg_ticks(&s->x, UNIT_SECONDS, 10, ticks);
	struct buf label = { 0 };

	for (size_t i = 0; i < n; i++) {
		buf_clear(&label);
		svg_tick_label(UNIT_SECONDS, ticks[i], n > 1 ? ticks[1] - ticks[0] : 0, &label);
		svg_text(&(struct svg_text){ svg_at(&s->x, ticks[i]), s->y.to + 14, NULL, "middle", 0 },
			label.at, s->out);
	}
	buf_fini(&label);
}

static void put_node_names(const struct still *s, const struct comparison *c, const uint32_t *first)
{
	double last = -99;

	buf_str(s->out, "<path class=\"grid\" d=\"");
	for (uint32_t i = 0; i <= c->nnodes; i++) {
		double y = svg_at(&s->y, first[i]);

		if (i > 0 && i < c->nnodes && y - last < 4)
			continue;
		buf_char(s->out, 'M');
		svg_put_point(s->out, s->x.from, y);
		buf_char(s->out, 'H');
		svg_put(s->out, s->x.to);
		last = y;
	}
	buf_str(s->out, "\"/>");
	last = -99;
	for (uint32_t i = 0; i < c->nnodes; i++) {
		double y = (svg_at(&s->y, first[i]) + svg_at(&s->y, first[i + 1])) / 2;

		if (y - last < 12)
			continue;
		svg_text(&(struct svg_text){ s->x.from - 5, y + 4, NULL, "end", 8 },
			c->nodes[i].name, s->out);
		last = y;
	}
}

static void still_summary(const struct compare_policy *p, struct buf *out)
{
	buf_printf(out, "%s: %u bars of %u jobs on their devices over time", p->label,
		(unsigned)p->picture.nspans, (unsigned)p->picture.njobs);
	if (p->picture.spans_left_out)
		buf_printf(out, "; %llu smaller ones are left out, so that white is not always idle",
			(unsigned long long)p->picture.spans_left_out);
	buf_char(out, '.');
}

static void still(const struct comparison *c, uint32_t policy, const uint32_t *first, uint32_t rows,
	struct buf *out)
{
	const struct compare_policy *p = &c->policies[policy];
	double height = fmin(fmax(rows * 13.0, 40), 300);
	struct bars bars = bars_of(c, &p->picture, first);
	struct still s = {
		.x = { .hi = end_of(c), .from = STILL_LEFT, .to = STILL_WIDTH - 10 },
		.y = { .hi = rows, .from = 4, .to = 4 + height },
		.bars = &bars,
		.most = STILL_BARS / c->npolicies < STILL_BARS_MAX ? STILL_BARS / c->npolicies
								   : STILL_BARS_MAX,
		.out = out,
	};
	struct buf summary = { 0 }, id = { 0 };

	buf_printf(&id, "gantt-%u", (unsigned)policy);
	still_summary(p, &summary);
	buf_str(out, "<figure class=\"wide\"><figcaption><h3>");
	html_text(out, p->label);
	buf_str(out, "</h3></figcaption><div class=\"scroll\">");
	svg_begin(&(struct svg_chart){ id.at, "Devices over time", summary.at, STILL_WIDTH, 0 },
		(int)height + 24, "chart", out);
	put_node_names(&s, c, first);
	put_bars(&s, &p->picture);
	put_time_axis(&s);
	svg_end(out);
	buf_str(out, "</div></figure>\n");
	buf_fini(&id);
	buf_fini(&summary);
	vec_fini(&bars);
}

/* ---- data of the chart to zoom into */

/* The jobs of all policies, each once: a map from a job's number in the trace to its place in the list. */
struct roster {
	VEC(const struct picture_job *) jobs;
	VEC(uint32_t) place; /* by id: 1 + place, 0 none */
};

static void roster_add(struct roster *r, const struct picture_job *job)
{
	vec_grow_zero(&r->place, (size_t)job->id + 1);
	if (r->place.at[job->id])
		return;
	vec_push(&r->jobs, job);
	r->place.at[job->id] = (uint32_t)r->jobs.n;
}

static void put_int(struct buf *out, double x)
{
	buf_double(out, round(x));
}

static bool default_name(const struct compare_node *node, uint32_t i)
{
	char name[16];

	snprintf(name, sizeof(name), "n%u", (unsigned)i);
	return !strcmp(node->name, name);
}

/* [count, type, devices, names], names null where they are n0, n1, … */
static void put_nodes(const struct comparison *c, uint32_t from, uint32_t to, struct buf *out)
{
	bool plain = true;

	for (uint32_t i = from; i < to; i++)
		plain = plain && default_name(&c->nodes[i], i);
	buf_printf(out, "[%u,", (unsigned)(to - from));
	json_quote(out, c->nodes[from].type ? c->nodes[from].type : "");
	buf_printf(out, ",%u,", (unsigned)c->nodes[from].devices);
	if (plain) {
		buf_str(out, "null]");
		return;
	}
	for (uint32_t i = from; i < to; i++) {
		buf_char(out, i == from ? '[' : ',');
		json_quote(out, c->nodes[i].name);
	}
	buf_str(out, "]]");
}

static bool alike(const struct compare_node *a, const struct compare_node *b)
{
	return a->devices == b->devices && !strcmp(a->type ? a->type : "", b->type ? b->type : "");
}

static void put_all_nodes(const struct comparison *c, struct buf *out)
{
	for (uint32_t i = 0, k; i < c->nnodes; i = k) {
		for (k = i + 1; k < c->nnodes && alike(&c->nodes[i], &c->nodes[k]); k++)
			;
		if (i)
			buf_char(out, ',');
		put_nodes(c, i, k, out);
	}
}

/* "name · model · tenant", as far as they are known and not too long. */
static void put_words(const struct picture_job *job, struct buf *out)
{
	const char *const words[] = { job->name, job->model, job->tenant };
	struct buf text = { 0 };

	for (size_t i = 0; i < 3; i++) {
		if (!words[i] || !*words[i] || (i && job->name && !strcmp(words[i], job->name)))
			continue;
		if (text.n)
			buf_str(&text, " · ");
		buf_str(&text, words[i]);
	}
	if (text.n > WORDS_MAX) {
		size_t n = WORDS_MAX;

		while (n && (text.at[n] & 0xc0) == 0x80)
			n--;
		text.at[n] = '\0';
	}
	json_quote(out, text.n ? text.at : "");
	buf_fini(&text);
}

static void put_policy(const struct compare_policy *p, const struct roster *r,
	const struct bars *bars, double unit, struct buf *out)
{
	double last = 0;

	buf_str(out, "{\"label\":");
	json_quote(out, p->label);
	buf_printf(out, ",\"left\":%llu,\"end\":", (unsigned long long)p->picture.spans_left_out);
	put_int(out, isfinite(p->picture.to_s) ? (p->picture.to_s - p->picture.from_s) / unit : 0);
	buf_str(out, ",\"bars\":[");
	for (size_t i = 0; i < bars->n; i++) {
		const struct bar *b = &bars->at[i];
		double from = round(b->from_s / unit);

		if (i)
			buf_char(out, ',');
		put_int(out, from - last);
		buf_char(out, ',');
		put_int(out, fmax(1, round(b->to_s / unit) - from));
		buf_printf(out, ",%u,%u,%u", (unsigned)b->row, (unsigned)b->rows,
			(unsigned)r->place.at[p->picture.jobs[b->job].id] - 1);
		last = from;
	}
	buf_str(out, "]}\n");
}

static void put_data(const struct comparison *c, const uint32_t *first, struct buf *out)
{
	double unit = end_of(c) / UNITS;
	struct roster r = { 0 };

	for (uint32_t i = 0; i < c->npolicies; i++) {
		for (uint32_t k = 0; k < c->policies[i].picture.njobs; k++)
			roster_add(&r, &c->policies[i].picture.jobs[k]);
	}
	buf_str(out, "{\"unit\":");
	buf_double(out, unit);
	buf_str(out, ",\"nodes\":[");
	put_all_nodes(c, out);
	buf_str(out, "],\n\"jobs\":[");
	for (size_t i = 0; i < r.jobs.n; i++) {
		const struct picture_job *job = r.jobs.at[i];

		buf_str(out, i ? ",[" : "[");
		json_quote(out, job->label);
		buf_char(out, ',');
		put_words(job, out);
		buf_printf(out, ",%d,", (int)job->gpus);
		put_int(out, fmax(0, (job->arrival_s - c->policies[0].picture.from_s) / unit));
		buf_printf(out, ",%u]", (unsigned)(job->id % SVG_COLOURS));
	}
	buf_str(out, "],\n\"policies\":[");
	for (uint32_t i = 0; i < c->npolicies; i++) {
		struct bars bars = bars_of(c, &c->policies[i].picture, first);

		if (i)
			buf_char(out, ',');
		put_policy(&c->policies[i], &r, &bars, unit, out);
		vec_fini(&bars);
	}
	buf_str(out, "]}\n");
	vec_fini(&r.jobs);
	vec_fini(&r.place);
}

/* ---- the section */

static void put_tools(const struct comparison *c, struct buf *out)
{
	buf_str(out, "<div class=\"tools\">");
	if (c->npolicies > 1) {
		buf_str(out, "<label>Policy <select id=\"gantt-policy\">");
		for (uint32_t i = 0; i < c->npolicies; i++) {
			buf_str(out, "<option>");
			html_text(out, c->policies[i].label);
			buf_str(out, "</option>");
		}
		buf_str(out, "</select></label>");
	}
	buf_str(out,
		"<label>Find job <input id=\"gantt-find\" type=\"search\" size=\"10\"></label>"
		"<span><button type=\"button\" data-gantt=\"in\" aria-label=\"Zoom into time\">+</button> "
		"<button type=\"button\" data-gantt=\"out\" aria-label=\"Zoom out of time\">−</button> "
		"<button type=\"button\" data-gantt=\"tall\" aria-label=\"Taller rows\">↕+</button> "
		"<button type=\"button\" data-gantt=\"flat\" aria-label=\"Flatter rows\">↕−</button> "
		"<button type=\"button\" data-gantt=\"all\">All</button></span></div>\n");
}

static void put_live(const struct comparison *c, const uint32_t *first, struct buf *out)
{
	struct buf data = { 0 };

	buf_str(out, "<div class=\"live\">\n");
	put_tools(c, out);
	buf_str(out,
		"<canvas id=\"gantt\" tabindex=\"0\" role=\"application\" aria-label=\"Gantt chart of "
		"devices over time; plus and minus zoom, arrows move, N and P step through the jobs, Home "
		"shows all\" aria-describedby=\"gantt-help\"></canvas>\n"
		"<p id=\"gantt-says\" role=\"status\" aria-live=\"polite\"></p>\n"
		"<p id=\"gantt-help\" class=\"note\">Click into it, then: wheel or + − zooms time, Shift+wheel "
		"or Page Up/Down makes rows taller or flatter, drag or arrow keys move, N and P step from job "
		"to job, Home shows all. Colours only tell neighbours apart.<span id=\"gantt-left\"></span>"
		"</p></div>\n");
	put_data(c, first, &data);
	buf_str(out, "<script type=\"application/json\" id=\"gantt-data\">");
	html_script_data(out, data.at);
	buf_str(out, "</script>\n");
	buf_fini(&data);
}

bool gantt_shows(const struct comparison *c)
{
	uint64_t spans = 0;

	for (uint32_t i = 0; i < c->npolicies; i++)
		spans += c->policies[i].picture.nspans;
	return spans && c->nnodes;
}

void gantt_html(const struct comparison *c, struct buf *out)
{
	uint32_t *first, rows;

	if (!gantt_shows(c))
		return;
	first = first_rows(c, &rows);
	buf_str(out,
		"<section aria-labelledby=\"gantt-h\"><h2 id=\"gantt-h\">Devices over time</h2>\n"
		"<p class=\"note\">Who held which device when");
	if (c->nseeds > 1)
		buf_str(out, ", with the first seed");
	buf_str(out, ". One row for each device, grouped by node.</p>\n");
	put_live(c, first, out);
	buf_str(out, "<div class=\"still\">\n");
	for (uint32_t i = 0; i < c->npolicies; i++)
		still(c, i, first, rows, out);
	buf_str(out, "</div></section>\n");
	free(first);
}
