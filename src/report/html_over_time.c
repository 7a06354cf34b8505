/*
 * The course of each policy: devices held and jobs waiting, as small multiples,
 * or over the whole width where there is only one.
 */
#include "report/html_sections.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "io/csv.h"
#include "report/svg.h"

struct course_lines {
	double *t, *held, *pending;
	size_t n;
};

/* The last value once more where it ends, so that its step is drawn. */
static struct course_lines lines_of_picture(const struct picture *p)
{
	size_t size = mem_array_size((size_t)p->nsamples + 1, sizeof(double));
	struct course_lines l = { mem_alloc(size), mem_alloc(size), mem_alloc(size), 0 };

	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct sample *s = &p->samples[i];

		l.t[i] = i * p->step_s;
		l.held[i] = s->up_gpus > 0 ? s->busy_gpus / s->up_gpus : 0;
		l.pending[i] = s->pending;
	}
	l.n = p->nsamples;
	if (l.n) {
		l.t[l.n] = fmin((double)l.n * p->step_s, fmax(p->to_s - p->from_s, l.t[l.n - 1]));
		l.held[l.n] = l.held[l.n - 1];
		l.pending[l.n] = l.pending[l.n - 1];
		l.n++;
	}
	return l;
}

static void course_lines_fini(struct course_lines *l)
{
	free(l->t);
	free(l->held);
	free(l->pending);
}

static void put_course(const struct comparison *c, uint32_t policy, const struct course_lines *l,
	double end_s, double most, struct buf *out)
{
	const char *label = c->policies[policy].label;
	bool alone = c->npolicies == 1;
	int width = alone ? HTML_FULL : HTML_SMALL;
	char held_id[32], queue_id[32];
	struct svg_series held = { label, l->t, l->held, l->n, policy };
	struct svg_series queue = { label, l->t, l->pending, l->n, policy };
	struct svg_lines chart = {
		.x = { NULL, UNIT_SECONDS, false, true, 0, end_s },
		.y = { "devices held", UNIT_SHARE, false, false, 0, 1 },
		.step = true,
		.area = true,
	};
	struct buf summary = { 0 };
	double waiting;

	snprintf(held_id, sizeof(held_id), "held-%u", (unsigned)policy);
	snprintf(queue_id, sizeof(queue_id), "queue-%u", (unsigned)policy);
	html_figure(label, NULL, alone, out);
	buf_printf(&summary, "%s: share of devices held, on average ", label);
	unit_text(UNIT_SHARE, compare_mean(c, policy, "utilisation"), &summary);
	chart.chart = (struct svg_chart){ held_id, "Devices held over time", summary.at, width, 110 };
	svg_lines(&chart, &held, 1, out);
	buf_clear(&summary);
	waiting = ceil(fmax(0, stats_max(l->pending, l->n)) - 1e-6);
	buf_printf(&summary, "%s: at most %.0f job%s at once", label, waiting,
		waiting == 1 ? " waits" : "s wait");
	chart.chart = (struct svg_chart){ queue_id, "Jobs waiting over time", summary.at, width, 130 };
	chart.x.bare = false;
	chart.y = (struct svg_axis){ "jobs waiting", UNIT_COUNT, false, false, 0, most };
	svg_lines(&chart, &queue, 1, out);
	html_figure_end(alone, out);
	buf_fini(&summary);
}

static void course_csv(const struct comparison *c, const struct course_lines *lines, struct buf *out)
{
	buf_str(out, "policy,time_s,held,waiting\n");
	for (uint32_t i = 0; i < c->npolicies; i++) {
		for (size_t k = 0; k + 1 < lines[i].n; k++) {
			csv_write_text(out, c->policies[i].label);
			csv_short(out, lines[i].t[k]);
			csv_short(out, lines[i].held[k]);
			csv_short(out, lines[i].pending[k]);
			buf_char(out, '\n');
		}
	}
}

void html_over_time(const struct comparison *c, struct buf *out)
{
	struct course_lines *lines = mem_alloc(mem_array_size(c->npolicies, sizeof(*lines)));
	double end_s = 0, most = 1;
	struct buf csv = { 0 };

	for (uint32_t i = 0; i < c->npolicies; i++) {
		lines[i] = lines_of_picture(&c->policies[i].picture);
		end_s = fmax(end_s, stats_max(lines[i].t, lines[i].n));
		most = fmax(most, stats_max(lines[i].pending, lines[i].n));
	}
	if (end_s > 0) {
		html_section("time", "Over time",
			c->nseeds > 1 ? "With the first seed; time since the first arrival. All have the same axes."
				      : "Time since the first arrival.",
			out);
		buf_str(out, c->npolicies == 1 ? "<div class=\"full\">\n" : "<div class=\"grid\">\n");
		for (uint32_t i = 0; i < c->npolicies; i++)
			put_course(c, i, &lines[i], end_s, most, out);
		buf_str(out, "</div>\n<details><summary>Data</summary>");
		course_csv(c, lines, &csv);
		html_download("over-time.csv", &csv, out);
		buf_str(out, "</details>\n");
		html_section_end(out);
	}
	for (uint32_t i = 0; i < c->npolicies; i++)
		course_lines_fini(&lines[i]);
	free(lines);
	buf_fini(&csv);
}
