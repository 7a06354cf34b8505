/*
 * Completion times: the distribution of each policy in one chart.
 */
#include "report/html_sections.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "io/csv.h"
#include "report/svg.h"

static void put_legend(const struct comparison *c, struct buf *out)
{
	if (c->npolicies < 2)
		return;
	buf_str(out, "<ul class=\"legend\">\n");
	for (uint32_t i = 0; i < c->npolicies; i++) {
		buf_str(out, "<li>");
		svg_line_sample(i, out);
		buf_str(out, "<span>");
		html_text(out, c->policies[i].label);
		buf_str(out, "</span></li>\n");
	}
	buf_str(out, "</ul>\n");
}

static void put_percentiles(const struct comparison *c, struct buf *out)
{
	static const char *const keys[] = { "jct_mean_s", "jct_p50_s", "jct_p90_s", "jct_p95_s",
		"jct_p99_s", "jct_max_s" };
	static const char *const heads[] = { "mean", "50 %", "90 %", "95 %", "99 %", "all" };

	buf_str(out, "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">finished within</th>");
	for (size_t k = 0; k < 6; k++)
		buf_printf(out, "<th scope=\"col\">%s</th>", heads[k]);
	buf_str(out, "</tr></thead><tbody>\n");
	for (uint32_t i = 0; i < c->npolicies; i++) {
		html_row(c->policies[i].label, out);
		for (size_t k = 0; k < 6; k++)
			html_cell(UNIT_SECONDS, compare_mean(c, i, keys[k]), out);
		buf_str(out, "</tr>\n");
	}
	buf_str(out, "</tbody></table></div>\n");
}

static void curve_csv(const struct comparison *c, const struct curve *curves, struct buf *out)
{
	buf_str(out, "policy,jct_s,share\n");
	for (uint32_t i = 0; i < c->npolicies; i++) {
		for (size_t k = 0; k < curves[i].n; k++) {
			csv_write_text(out, c->policies[i].label);
			csv_short(out, curves[i].x[k]);
			csv_short(out, curves[i].y[k]);
			buf_char(out, '\n');
		}
	}
}

void html_completion(const struct comparison *c, struct buf *out)
{
	struct curve *curves = mem_alloc(mem_array_size(c->npolicies, sizeof(*curves)));
	struct svg_series *series = mem_alloc(mem_array_size(c->npolicies, sizeof(*series)));
	struct buf summary = { 0 }, csv = { 0 };
	struct svg_lines chart = {
		.chart = { "cdf", "Completion times", NULL, HTML_WIDE, 340 },
		.x = { "completion time (logarithmic)", UNIT_SECONDS, true, false, NAN, NAN },
		.y = { "share of jobs finished", UNIT_SHARE, false, false, 0, 1 },
		.step = true,
		.labels = c->npolicies > 1,
	};

	buf_str(&summary, "Half of the jobs finish within: ");
	for (uint32_t i = 0; i < c->npolicies; i++) {
		curves[i] = comparison_curve(c, i);
		series[i] = (struct svg_series){ c->policies[i].label, curves[i].x, curves[i].y,
			curves[i].n, i };
		buf_printf(&summary, "%s%s ", i ? ", " : "", c->policies[i].label);
		unit_text(UNIT_SECONDS, compare_mean(c, i, "jct_p50_s"), &summary);
	}
	chart.chart.summary = summary.at;
	html_section("completion", "Completion times", NULL, out);
	put_legend(c, out);
	html_figure("How many jobs finish within a time",
		"Further left and up is better. A curve that ends below 100 % left jobs unfinished.",
		true, out);
	svg_lines(&chart, series, c->npolicies, out);
	html_figure_end(true, out);
	curve_csv(c, curves, &csv);
	buf_str(out, "<details><summary>Data</summary>\n");
	put_percentiles(c, out);
	html_download("completion.csv", &csv, out);
	buf_str(out, "</details>\n");
	html_section_end(out);
	for (uint32_t i = 0; i < c->npolicies; i++)
		curve_fini(&curves[i]);
	free(curves);
	free(series);
	buf_fini(&summary);
	buf_fini(&csv);
}
