/*
 * The page of a comparison, or of a single run.
 */
#include "report/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/gantt.h"
#include "report/html_sections.h"
#include "report/page.h"
#include "report/svg.h"

double compare_mean(const struct comparison *c, uint32_t policy, const char *key)
{
	return c->policies[policy].figures[metric_index(key)].value.mean;
}

void csv_short(struct buf *out, double x)
{
	buf_char(out, ',');
	if (isfinite(x))
		buf_printf(out, "%.5g", x);
}

static const struct compare_figure *figure_of(const struct comparison *c, uint32_t policy,
	const char *key)
{
	return &c->policies[policy].figures[metric_index(key)];
}

/* ---- what came out, in a sentence */

static void lead_of_one(const struct comparison *c, struct buf *out)
{
	unit_text(UNIT_COUNT, compare_mean(c, 0, "jobs_finished"), out);
	buf_str(out, " of ");
	unit_text(UNIT_COUNT, compare_mean(c, 0, "jobs_submitted"), out);
	buf_str(out, " jobs finished");
	if (!isfinite(compare_mean(c, 0, "jct_mean_s"))) {
		buf_char(out, '.');
		return;
	}
	buf_str(out, ". Completion time: mean ");
	unit_text(UNIT_SECONDS, compare_mean(c, 0, "jct_mean_s"), out);
	buf_str(out, ", median ");
	unit_text(UNIT_SECONDS, compare_mean(c, 0, "jct_p50_s"), out);
	buf_str(out, ", 99 % within ");
	unit_text(UNIT_SECONDS, compare_mean(c, 0, "jct_p99_s"), out);
	buf_str(out, "; of which waiting, on average, ");
	unit_text(UNIT_SECONDS, compare_mean(c, 0, "wait_mean_s"), out);
	buf_str(out, ". Devices were held ");
	unit_text(UNIT_SHARE, compare_mean(c, 0, "utilisation"), out);
	buf_str(out, " of the time.");
}

static uint32_t best_by(const struct comparison *c, const char *key)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < c->npolicies; i++) {
		double x = compare_mean(c, i, key), y = compare_mean(c, best, key);

		if (x < y || (isnan(y) && !isnan(x)))
			best = i;
	}
	return best;
}

static void lead_of_many(const struct comparison *c, struct buf *out)
{
	uint32_t best = best_by(c, "jct_mean_s");
	double first = compare_mean(c, 0, "jct_mean_s"), least = compare_mean(c, best, "jct_mean_s");

	if (!isfinite(least)) {
		buf_str(out, "No job finished under any policy.");
		return;
	}
	if (best == 0) {
		buf_printf(out,
			"No policy has a shorter mean completion time than %s: ", c->policies[0].label);
		unit_text(UNIT_SECONDS, first, out);
		buf_char(out, '.');
		return;
	}
	buf_printf(out, "%s has the shortest mean completion time: ", c->policies[best].label);
	unit_text(UNIT_SECONDS, least, out);
	if (isfinite(first)) {
		buf_printf(out, ", %.0f %% less than %s with ", 100 * (1 - least / first),
			c->policies[0].label);
		unit_text(UNIT_SECONDS, first, out);
	}
	if (figure_of(c, best, "jct_mean_s")->differs)
		buf_printf(out, " (p < 0.05, %s)",
			paired_test_name(figure_of(c, best, "jct_mean_s")->against_first.test));
	buf_char(out, '.');
}

/* Jobs that did not finish are not in the completion times: whoever compares must know. */
static void lead_of_missing(const struct comparison *c, struct buf *out)
{
	for (uint32_t i = 0; i < c->npolicies; i++) {
		double missing = compare_mean(c, i, "jobs_unfinished") +
			compare_mean(c, i, "jobs_rejected");

		if (missing > 0)
			buf_printf(out, " %s left %.6g job%s unfinished or rejected.",
				c->policies[i].label, missing, missing == 1 ? "" : "s");
	}
}

static void lead(const struct comparison *c, struct buf *out)
{
	if (!c->npolicies) {
		buf_str(out, "Nothing was run.");
		return;
	}
	if (c->npolicies == 1)
		lead_of_one(c, out);
	else
		lead_of_many(c, out);
	lead_of_missing(c, out);
	comparison_failures(c, " ", ".", out);
}

/* ---- table of results */

/* A row for each figure: there are more of them than of policies, and pages are higher than wide. */
static void put_heading(const struct comparison *c, struct buf *out)
{
	buf_str(out, "<thead><tr><th scope=\"col\">figure</th>");
	for (uint32_t i = 0; i < c->npolicies; i++) {
		buf_str(out, "<th scope=\"col\">");
		html_label(c->policies[i].label, out);
		buf_str(out, "</th>");
	}
	if (c->npolicies == 1)
		buf_str(out, "<th scope=\"col\" class=\"what\">meaning</th>");
	buf_str(out, "</tr></thead>\n");
}

static void put_figure(const struct comparison *c, uint32_t policy, size_t m, struct buf *out)
{
	const struct compare_figure *f = &c->policies[policy].figures[m];
	struct scale scale = comparison_cell_scale(c, m, policy);
	bool best = comparison_best(c, m, policy);

	buf_str(out, best ? "<td class=\"best\">" : "<td>");
	if (isfinite(f->value.mean))
		scale_number(&scale, f->value.mean, out);
	else
		buf_str(out, "–");
	buf_printf(out, "%s%s", best ? " *" : "", f->differs ? " †" : "");
	if (isfinite(f->value.half)) {
		buf_str(out, " <small>±");
		scale_number(&scale, f->value.half, out);
		buf_str(out, "</small>");
	}
	buf_str(out, "</td>");
}

static void put_row(const struct comparison *c, size_t m, struct buf *out)
{
	struct scale scale = comparison_scale(c, m);

	buf_str(out, "<tr><th scope=\"row\" title=\"");
	html_text(out, metrics[m].help);
	buf_str(out, "\">");
	html_text(out, metrics[m].title);
	if (*scale.name)
		buf_printf(out, " <small>%s</small>", scale.name);
	buf_str(out, "</th>");
	for (uint32_t i = 0; i < c->npolicies; i++)
		put_figure(c, i, m, out);
	if (c->npolicies == 1) {
		buf_str(out, "<td class=\"what\">");
		html_text(out, metrics[m].help);
		buf_str(out, "</td>");
	}
	buf_str(out, "</tr>\n");
}

/* The signs that the table shows. */
struct used {
	bool best, interval, differs;
};

static struct used used_in(const struct comparison *c, bool timings)
{
	struct used used = { 0 };

	for (size_t m = 0; metrics[m].key; m++) {
		if (!metrics[m].rank || !comparison_shows(c, m, timings))
			continue;
		for (uint32_t i = 0; i < c->npolicies; i++) {
			used.best |= comparison_best(c, m, i);
			used.interval |= isfinite(c->policies[i].figures[m].value.half);
			used.differs |= c->policies[i].figures[m].differs;
		}
	}
	return used;
}

static void put_signs(const struct comparison *c, bool timings, struct buf *out)
{
	struct used used = used_in(c, timings);

	buf_str(out, "<p class=\"note\">");
	if (used.best)
		buf_str(out, "* best of its row. ");
	if (used.interval)
		buf_printf(out, "± half of the 95 %% confidence interval of the mean over %u seeds. ",
			(unsigned)c->nseeds);
	if (used.differs) {
		buf_str(out, "† differs from ");
		html_text(out, c->policies[0].label);
		buf_printf(out, " with p &lt; 0.05 (%s). ",
			c->nseeds > 1 && !c->same_seeds
				? "paired t over the seeds"
				: "Wilcoxon signed rank over the jobs of one run");
	}
	if (c->same_seeds)
		buf_printf(out, "All %u seeds gave the same run: nothing in it is random.",
			(unsigned)c->nseeds);
	buf_str(out, "</p>\n");
}

static void put_meanings(const struct comparison *c, bool timings, struct buf *out)
{
	buf_str(out, "<details><summary>What the figures mean</summary><dl class=\"facts\">\n");
	for (size_t m = 0; metrics[m].key; m++) {
		if (!metrics[m].rank || !comparison_shows(c, m, timings))
			continue;
		buf_str(out, "<dt>");
		html_text(out, metrics[m].title);
		buf_str(out, "</dt><dd>");
		html_text(out, metrics[m].help);
		buf_str(out, "</dd>\n");
	}
	buf_str(out, "</dl></details>\n");
}

static void results(const struct comparison *c, bool timings, struct buf *out)
{
	struct compare_style style = { .form = TABLE_CSV, .timings = timings };
	struct buf csv = { 0 };

	html_section("results", "Results", NULL, out);
	buf_str(out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Results\">"
		"<table class=\"results\">");
	put_heading(c, out);
	buf_str(out, "<tbody>\n");
	for (size_t m = 0; metrics[m].key; m++) {
		if (metrics[m].rank && comparison_shows(c, m, timings))
			put_row(c, m, out);
	}
	buf_str(out, "</tbody></table></div>\n");
	put_signs(c, timings, out);
	if (c->npolicies > 1)
		put_meanings(c, timings, out);
	comparison_table(c, &style, &(struct term){ .utf8 = true }, &csv);
	buf_str(out, "<p class=\"note screen\">Every figure, in seconds: ");
	html_download("results.csv", &csv, out);
	buf_str(out, "</p>\n");
	html_section_end(out);
	buf_fini(&csv);
}

/* ---- bars of the main figures */

static void bars_of(const struct comparison *c, const char *key, const char *title, struct buf *out)
{
	size_t m = metric_index(key);
	struct svg_bar *bars = mem_alloc(mem_array_size(c->npolicies, sizeof(*bars)));
	struct buf id = { 0 }, summary = { 0 };

	for (uint32_t i = 0; i < c->npolicies; i++) {
		const struct compare_figure *f = &c->policies[i].figures[m];

		bars[i] = (struct svg_bar){ c->policies[i].label, f->value.mean, f->value.half,
			comparison_best(c, m, i) ? "*" : NULL, i };
		buf_printf(&summary, "%s%s ", i ? ", " : "", c->policies[i].label);
		unit_text(metrics[m].unit, f->value.mean, &summary);
	}
	buf_printf(&id, "bars-%s", key);
	html_figure(title, metrics[m].better == BETTER_HIGH ? "higher is better" : "lower is better",
		false, out);
	svg_bars(&(struct svg_chart){ id.at, title, summary.at, HTML_SMALL, 0 }, metrics[m].unit,
		bars, c->npolicies, out);
	html_figure_end(false, out);
	buf_fini(&id);
	buf_fini(&summary);
	free(bars);
}

/* The same of a figure that not every comparison has: where nobody has any, there is nothing to see. */
static void bars_if_any(const struct comparison *c, const char *key, const char *title, struct buf *out)
{
	for (uint32_t i = 0; i < c->npolicies; i++) {
		double mean = compare_mean(c, i, key);

		if (isfinite(mean) && mean != 0) {
			bars_of(c, key, title, out);
			return;
		}
	}
}

static void figures(const struct comparison *c, struct buf *out)
{
	if (c->npolicies < 2)
		return;
	html_section("figures", "Side by side",
		c->nseeds > 1 && !c->same_seeds ? "Whiskers: 95 % confidence interval of the mean."
						: NULL,
		out);
	buf_str(out, "<div class=\"grid\">\n");
	bars_of(c, "jct_mean_s", "Mean completion time", out);
	bars_of(c, "jct_p99_s", "99th percentile of completion time", out);
	bars_of(c, "makespan_s", "Makespan", out);
	bars_of(c, "utilisation", "Utilisation", out);
	bars_if_any(c, "ftf_max", "Worst finish-time fairness", out);
	bars_if_any(c, "deadline_met", "Deadlines met", out);
	bars_if_any(c, "goodput", "Goodput", out);
	bars_if_any(c, "restarts_mean", "Restarts per job", out);
	buf_str(out, "</div>\n");
	html_section_end(out);
}

/* ---- the page */

static void put_contents(const struct comparison *c, struct buf *out)
{
	buf_str(out, "<nav aria-label=\"Contents\"><ul>\n<li><a href=\"#results\">Results</a></li>\n");
	if (c->npolicies > 1)
		buf_str(out, "<li><a href=\"#figures\">Side by side</a></li>\n");
	buf_str(out,
		"<li><a href=\"#completion\">Completion times</a></li>\n"
		"<li><a href=\"#time\">Over time</a></li>\n");
	if (goodput_shows(c))
		buf_str(out, "<li><a href=\"#goodput\">Goodput over time</a></li>\n");
	if (allocation_shows(c))
		buf_str(out, "<li><a href=\"#allocation\">Allocation of jobs</a></li>\n");
	if (models_show(c))
		buf_str(out, "<li><a href=\"#models\">By model</a></li>\n");
	buf_str(out, "<li><a href=\"#waiting\">Waiting</a></li>\n");
	if (refused_show(c))
		buf_str(out, "<li><a href=\"#refused\">Refused</a></li>\n");
	if (gantt_shows(c))
		buf_str(out, "<li><a href=\"#gantt-h\">Devices over time</a></li>\n");
	buf_str(out, "</ul></nav>\n");
}

void html_compare(const struct comparison *c, const struct html_info *info, struct buf *out)
{
	struct buf text = { 0 };

	lead(c, &text);
	html_begin(info, text.at, out);
	if (c->npolicies) {
		put_contents(c, out);
		svg_hatchings(out);
		results(c, info->timings, out);
		figures(c, out);
		html_completion(c, out);
		html_over_time(c, out);
		html_goodput(c, out);
		html_allocation(c, out);
		html_models(c, out);
		html_waiting(c, out);
		html_refused(c, out);
		gantt_html(c, out);
	}
	html_end(info, gantt_shows(c) ? page_gantt : NULL, out);
	buf_fini(&text);
}
