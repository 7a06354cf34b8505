/*
 * Goodput over time, for each policy: of the devices that are up, the share
 * that is held and that makes steps, and what a sample is worth; below it
 * goodput, the work that comes of it, in devices of jobs that run as they asked.
 */
#include "report/html_sections.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "io/csv.h"
#include "report/svg.h"

enum { HELD, USEFUL, EFFICIENCY, GOODPUT, LINES };
enum { SMALL_EACH = 3 }; /* samples that make a point of a small chart */

static const char *const line_names[LINES] = { "held", "making steps", "efficiency", "goodput" };

struct goodput_lines {
	double *t, *y[LINES];
	size_t n;
	double top; /* of goodput's axis, the same for all policies */
};

static double share(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

static void add_point(struct goodput_lines *l, double at_s, const struct sample *s)
{
	l->t[l->n] = at_s;
	l->y[HELD][l->n] = share(s->busy_gpus, s->up_gpus);
	l->y[USEFUL][l->n] = share(s->useful_gpus, s->up_gpus);
	l->y[GOODPUT][l->n] = share(s->worth_gpus, s->up_gpus);
	l->y[EFFICIENCY][l->n++] = share(s->good_gpus, s->useful_gpus);
}

/* `each` samples make a point.  The last value once more where it ends, so that its step is drawn. */
static struct goodput_lines lines_of(const struct picture *p, uint32_t each)
{
	size_t size = mem_array_size((size_t)p->nsamples + 1, sizeof(double));
	struct goodput_lines l = { .t = mem_alloc(size) };
	struct sample sum = { 0 };
	uint32_t summed = 0;

	for (int k = 0; k < LINES; k++)
		l.y[k] = mem_alloc(size);
	for (uint32_t i = 0; i < p->nsamples; i++) {
		if (summed++ == 0)
			sum = (struct sample){ 0 };
		sum.busy_gpus += p->samples[i].busy_gpus;
		sum.useful_gpus += p->samples[i].useful_gpus;
		sum.good_gpus += p->samples[i].good_gpus;
		sum.worth_gpus += p->samples[i].worth_gpus;
		sum.up_gpus += p->samples[i].up_gpus;
		if (summed == each || i + 1 == p->nsamples) {
			add_point(&l, (i + 1 - summed) * p->step_s, &sum);
			summed = 0;
		}
	}
	if (l.n) {
		add_point(&l, fmin(p->nsamples * p->step_s, fmax(p->to_s - p->from_s, l.t[l.n - 1])),
			&sum);
	}
	return l;
}

static void lines_fini(struct goodput_lines *l)
{
	free(l->t);
	for (int k = 0; k < LINES; k++)
		free(l->y[k]);
}

/* Where nothing is trained, efficiency and goodput say nothing. */
static int lines_shown(const struct comparison *c)
{
	for (uint32_t i = 0; i < c->npolicies; i++) {
		if (c->policies[i].picture.trained)
			return LINES;
	}
	return USEFUL + 1;
}

/* All lines but goodput, which is no share. */
static void put_shares(const struct comparison *c, uint32_t policy, const struct goodput_lines *l,
	struct svg_lines *chart, struct buf *out)
{
	struct svg_series series[LINES];
	struct buf summary = { 0 };
	char id[32];
	bool trained = lines_shown(c) == LINES;
	int shown = trained ? GOODPUT : USEFUL + 1;

	for (int k = 0; k < shown; k++)
		series[k] = (struct svg_series){ line_names[k], l->t, l->y[k], l->n, (size_t)k };
	snprintf(id, sizeof(id), "devices-%u", (unsigned)policy);
	buf_printf(&summary, "%s: on average ", c->policies[policy].label);
	unit_text(UNIT_SHARE, compare_mean(c, policy, "utilisation"), &summary);
	buf_str(&summary, " of the devices held, ");
	unit_text(UNIT_SHARE, compare_mean(c, policy, "useful"), &summary);
	buf_str(&summary, " making steps");
	if (trained) {
		buf_str(&summary, ", efficiency ");
		unit_text(UNIT_SHARE, compare_mean(c, policy, "efficiency"), &summary);
	}
	chart->chart = (struct svg_chart){ id, "Devices over time", summary.at, chart->chart.width,
		150 };
	chart->y = (struct svg_axis){ "share of devices", UNIT_SHARE, false, false, 0, 1 };
	chart->x.bare = trained;
	svg_lines(chart, series, (size_t)shown, out);
	buf_fini(&summary);
}

static void put_goodput(const struct comparison *c, uint32_t policy, const struct goodput_lines *l,
	struct svg_lines *chart, struct buf *out)
{
	struct svg_series series = { line_names[GOODPUT], l->t, l->y[GOODPUT], l->n, GOODPUT };
	struct buf summary = { 0 };
	char id[32];

	snprintf(id, sizeof(id), "goodput-%u", (unsigned)policy);
	buf_printf(&summary, "%s: on average ", c->policies[policy].label);
	unit_text(UNIT_RATIO, compare_mean(c, policy, "goodput"), &summary);
	chart->chart = (struct svg_chart){ id, "Goodput over time", summary.at, chart->chart.width,
		120 };
	chart->y = (struct svg_axis){ "goodput", UNIT_RATIO, false, false, 0, l->top };
	chart->x.bare = false;
	svg_lines(chart, &series, 1, out);
	buf_fini(&summary);
}

static void put_policy(const struct comparison *c, uint32_t policy, const struct goodput_lines *l,
	double end_s, struct buf *out)
{
	bool alone = c->npolicies == 1;
	struct svg_lines chart = {
		.chart.width = alone ? HTML_FULL : HTML_SMALL,
		.x = { NULL, UNIT_SECONDS, false, true, 0, end_s },
		.step = true,
	};

	html_figure(c->policies[policy].label, NULL, alone, out);
	put_shares(c, policy, l, &chart, out);
	if (lines_shown(c) == LINES)
		put_goodput(c, policy, l, &chart, out);
	html_figure_end(alone, out);
}

static void put_legend(int shown, struct buf *out)
{
	buf_str(out, "<ul class=\"legend\">\n");
	for (int k = 0; k < shown; k++) {
		buf_str(out, "<li>");
		svg_line_sample((size_t)k, out);
		buf_printf(out, "<span>%s</span></li>\n", line_names[k]);
	}
	buf_str(out, "</ul>\n");
}

static void goodput_csv(const struct comparison *c, struct buf *out)
{
	buf_str(out, "policy,time_s,held,useful,efficiency,goodput\n");
	for (uint32_t i = 0; i < c->npolicies; i++) {
		struct goodput_lines l = lines_of(&c->policies[i].picture, 1);

		for (size_t k = 0; k + 1 < l.n; k++) {
			csv_write_text(out, c->policies[i].label);
			csv_short(out, l.t[k]);
			for (int y = 0; y < LINES; y++)
				csv_short(out, l.y[y][k]);
			buf_char(out, '\n');
		}
		lines_fini(&l);
	}
}

static void put_section(const struct comparison *c, const struct goodput_lines *lines, double end_s,
	struct buf *out)
{
	struct buf csv = { 0 };
	bool trained = lines_shown(c) == LINES;

	html_section("goodput", trained ? "Goodput over time" : "Useful time",
		trained ? "Of the devices that are up: held by jobs, and making steps. Efficiency is what a sample is "
			  "worth against one of the model's initial batch. Goodput is the work done by each device "
			  "that is up, where 1 is a device of a job that runs with the devices and batch it asked for."
			: "Of the devices that are up: held by jobs, and making steps.",
		out);
	put_legend(lines_shown(c), out);
	buf_str(out, c->npolicies == 1 ? "<div class=\"full\">\n" : "<div class=\"grid\">\n");
	for (uint32_t i = 0; i < c->npolicies; i++)
		put_policy(c, i, &lines[i], end_s, out);
	buf_str(out, "</div>\n<details><summary>Data</summary>");
	goodput_csv(c, &csv);
	html_download("goodput.csv", &csv, out);
	buf_str(out, "</details>\n");
	html_section_end(out);
	buf_fini(&csv);
}

bool goodput_shows(const struct comparison *c)
{
	for (uint32_t i = 0; i < c->npolicies; i++) {
		const struct picture *p = &c->policies[i].picture;

		if (p->nsamples && (p->trained || p->lines.elastic))
			return true;
	}
	return false;
}

void html_goodput(const struct comparison *c, struct buf *out)
{
	struct goodput_lines *lines;
	double end_s = 0, top = 0.1;

	if (!goodput_shows(c))
		return;
	lines = mem_alloc(mem_array_size(c->npolicies, sizeof(*lines)));
	for (uint32_t i = 0; i < c->npolicies; i++) {
		lines[i] = lines_of(&c->policies[i].picture, c->npolicies > 1 ? SMALL_EACH : 1);
		end_s = fmax(end_s, stats_max(lines[i].t, lines[i].n));
		if (lines_shown(c) == LINES)
			top = fmax(top, stats_max(lines[i].y[GOODPUT], lines[i].n));
	}
	for (uint32_t i = 0; i < c->npolicies; i++)
		lines[i].top = top;
	put_section(c, lines, end_s > 0 ? end_s : 1, out);
	for (uint32_t i = 0; i < c->npolicies; i++)
		lines_fini(&lines[i]);
	free(lines);
}
