/*
 * Waiting: why, and against completion time.
 */
#include "report/html_sections.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "io/csv.h"
#include "report/svg.h"

/* The reasons that occur. */
struct whys {
	const char *names[WHY_COUNT];
	size_t looks[WHY_COUNT];
	enum why at[WHY_COUNT];
	size_t n;
};

static struct whys whys_of(const struct comparison *c)
{
	struct whys w = { .n = 0 };

	for (int why = 0; why < WHY_COUNT; why++) {
		double total = 0;

		for (uint32_t i = 0; i < c->npolicies; i++)
			total += c->policies[i].waited_by_why_s[why];
		if (!(total > 0))
			continue;
		w.names[w.n] = why_name(why);
		w.looks[w.n] = (size_t)why % (2 * SVG_COLOURS);
		w.at[w.n++] = why;
	}
	return w;
}

static void why_table(const struct comparison *c, const struct whys *w, struct buf *out)
{
	buf_str(out,
		"<details><summary>Data</summary><div class=\"scroll\"><table><thead><tr>"
		"<th scope=\"col\">job-time waited</th>");
	for (size_t k = 0; k < w->n; k++)
		buf_printf(out, "<th scope=\"col\">%s</th>", w->names[k]);
	buf_str(out, "</tr></thead><tbody>\n");
	for (uint32_t i = 0; i < c->npolicies; i++) {
		html_row(c->policies[i].label, out);
		for (size_t k = 0; k < w->n; k++)
			html_cell(UNIT_SECONDS, c->policies[i].waited_by_why_s[w->at[k]], out);
		buf_str(out, "</tr>\n");
	}
	buf_str(out, "</tbody></table></div></details>\n");
}

/* What the words mean, with their hatching. */
static void why_legend(const struct whys *w, struct buf *out)
{
	buf_str(out, "<ul class=\"legend\">\n");
	for (size_t k = 0; k < w->n; k++) {
		buf_str(out, "<li>");
		svg_part_sample(w->looks[k], out);
		buf_printf(out, "<span>%s: %s</span></li>\n", w->names[k], why_meaning(w->at[k]));
	}
	buf_str(out, "</ul>\n");
}

static void why_chart(const struct comparison *c, const struct whys *w, struct buf *out)
{
	double *values = mem_alloc(mem_array_size(c->npolicies * w->n, sizeof(*values)));
	const char **labels = mem_alloc(mem_array_size(c->npolicies, sizeof(*labels)));
	struct buf summary = { 0 };
	struct svg_stack chart = {
		.chart = { "why", "Why jobs waited", NULL, 720, 0 },
		.unit = UNIT_SECONDS,
		.labels = labels,
		.nlabels = c->npolicies,
		.parts = w->names,
		.looks = w->looks,
		.nparts = w->n,
		.values = values,
	};

	for (uint32_t i = 0; i < c->npolicies; i++) {
		size_t most = 0;

		labels[i] = c->policies[i].label;
		for (size_t k = 0; k < w->n; k++) {
			values[i * w->n + k] = c->policies[i].waited_by_why_s[w->at[k]];
			if (values[i * w->n + k] > values[i * w->n + most])
				most = k;
		}
		buf_printf(&summary, "%s%s: most because of \"%s\"", i ? "; " : "", labels[i],
			w->names[most]);
	}
	chart.chart.summary = summary.at;
	html_figure("Waiting by reason",
		"Job-time without devices, by the reason that the policy gave.", true, out);
	svg_stack(&chart, out);
	html_figure_end(true, out);
	buf_fini(&summary);
	free(values);
	free(labels);
}

static void put_dots(const struct comparison *c, uint32_t policy, double most, struct buf *out)
{
	const struct compare_policy *p = &c->policies[policy];
	struct svg_series dots = { p->label, p->picture.dot_wait_s, p->picture.dot_jct_s,
		p->picture.ndots, policy };
	struct buf id = { 0 }, summary = { 0 };
	struct svg_lines chart = {
		.x = { "waited", UNIT_SECONDS, true, false, 1, most },
		.y = { "completion time", UNIT_SECONDS, true, false, 1, most },
		.dots = true,
		.diagonal = true,
	};

	buf_printf(&id, "dots-%u", (unsigned)policy);
	buf_printf(&summary, "%s: %u job%s; on average they waited ", p->label, (unsigned)dots.n,
		dots.n == 1 ? "" : "s");
	unit_text(UNIT_SECONDS, compare_mean(c, policy, "wait_mean_s"), &summary);
	buf_str(&summary, " of ");
	unit_text(UNIT_SECONDS, compare_mean(c, policy, "jct_mean_s"), &summary);
	chart.chart = (struct svg_chart){ id.at, "Waiting against completion time", summary.at,
		HTML_SMALL, 260 };
	html_figure(p->label, NULL, false, out);
	svg_lines(&chart, &dots, 1, out);
	html_figure_end(false, out);
	buf_fini(&id);
	buf_fini(&summary);
}

static void dots_csv(const struct comparison *c, struct buf *out)
{
	buf_str(out, "policy,wait_s,jct_s\n");
	for (uint32_t i = 0; i < c->npolicies; i++) {
		const struct picture *p = &c->policies[i].picture;

		for (uint32_t k = 0; k < p->ndots; k++) {
			csv_write_text(out, c->policies[i].label);
			csv_short(out, p->dot_wait_s[k]);
			csv_short(out, p->dot_jct_s[k]);
			buf_char(out, '\n');
		}
	}
}

static void all_dots(const struct comparison *c, struct buf *out)
{
	double most = -INFINITY;
	struct buf csv = { 0 };

	for (uint32_t i = 0; i < c->npolicies; i++)
		most = fmax(most,
			stats_max(c->policies[i].picture.dot_jct_s, c->policies[i].picture.ndots));
	if (!isfinite(most))
		return; /* no job finished */
	buf_printf(out,
		"<h3>Waiting against completion time</h3>\n<p class=\"note\">Up to %d jobs of each "
		"policy. On the dashed line a job did nothing but wait; times below a second "
		"stand at the edge.</p>\n<div class=\"grid\">\n",
		PICTURE_DOTS);
	for (uint32_t i = 0; i < c->npolicies; i++)
		put_dots(c, i, fmax(most, 10), out);
	dots_csv(c, &csv);
	buf_str(out, "</div>\n<details><summary>Data</summary>");
	html_download("waiting.csv", &csv, out);
	buf_str(out, "</details>\n");
	buf_fini(&csv);
}

void html_waiting(const struct comparison *c, struct buf *out)
{
	struct whys w = whys_of(c);

	html_section("waiting", "Waiting", NULL, out);
	if (w.n) {
		why_chart(c, &w, out);
		why_legend(&w, out);
		why_table(c, &w, out);
	} else {
		buf_str(out, "<p>No job waited.</p>\n");
	}
	all_dots(c, out);
	html_section_end(out);
}
