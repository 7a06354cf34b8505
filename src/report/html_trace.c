/*
 * The page of a workload.
 */
#include "report/trace_report.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "io/csv.h"
#include "report/html_parts.h"
#include "report/svg.h"

enum { CURVE = 400, SMALL = 340 };

static void lead(const struct trace_stats *s, struct buf *out)
{
	if (!s->jobs) {
		buf_str(out, "The trace has no jobs.");
		return;
	}
	unit_text(UNIT_COUNT, (double)s->jobs, out);
	buf_str(out, " jobs arrive within ");
	unit_text(UNIT_SECONDS, s->last_s - s->first_s, out);
	buf_str(out, " and ask for ");
	unit_text(UNIT_GPU_SECONDS, s->gpu_h * 3600, out);
	if (isfinite(s->load)) {
		buf_printf(out, ": %.0f %% of what ", 100 * s->load);
		unit_text(UNIT_COUNT, s->cluster_gpus, out);
		buf_str(out, " GPUs can do in that time");
	}
	buf_char(out, '.');
	if (s->nrun) {
		buf_str(out, " Half of them run for less than ");
		unit_text(UNIT_SECONDS, s->run_p50_s, out);
		buf_str(out, ", one in a hundred for more than ");
		unit_text(UNIT_SECONDS, s->run_p99_s, out);
		buf_char(out, '.');
	}
	if (s->too_large) {
		buf_char(out, ' ');
		unit_text(UNIT_COUNT, (double)s->too_large, out);
		buf_str(out, " ask for more GPUs than there are.");
	}
}

static void put_row(const char *name, enum unit unit, double x, struct buf *out)
{
	buf_printf(out, "<tr><th scope=\"row\">%s</th>", name);
	html_cell(unit, x, out);
	buf_str(out, "</tr>\n");
}

static void figures(const struct trace_stats *s, struct buf *out)
{
	html_section("figures", "Figures", NULL, out);
	buf_str(out, "<table><tbody>\n");
	put_row("jobs", UNIT_COUNT, (double)s->jobs, out);
	put_row("without a known run time", UNIT_COUNT, (double)s->unknown_run, out);
	put_row("elastic", UNIT_COUNT, (double)s->elastic, out);
	put_row("with a deadline", UNIT_COUNT, (double)s->with_deadline, out);
	put_row("with dependencies", UNIT_COUNT, (double)s->with_deps, out);
	put_row("work", UNIT_GPU_SECONDS, s->gpu_h * 3600, out);
	put_row("GPUs per job, mean", UNIT_RATIO, s->gpus_mean, out);
	put_row("GPUs per job, max", UNIT_COUNT, s->gpus_max, out);
	put_row("run time, mean", UNIT_SECONDS, s->run_mean_s, out);
	put_row("run time, median", UNIT_SECONDS, s->run_p50_s, out);
	put_row("run time, 90 % within", UNIT_SECONDS, s->run_p90_s, out);
	put_row("run time, 99 % within", UNIT_SECONDS, s->run_p99_s, out);
	put_row("run time, longest", UNIT_SECONDS, s->run_max_s, out);
	put_row("tenants", UNIT_COUNT, s->tenants_in_all, out);
	put_row("models", UNIT_COUNT, s->models_in_all, out);
	buf_str(out, "</tbody></table>\n");
	html_section_end(out);
}

static void put_groups(const char *id, const char *title, const struct trace_group *groups,
	uint32_t n, bool by_jobs, struct buf *out)
{
	struct svg_bar *bars = mem_alloc(mem_array_size(n + 1, sizeof(*bars)));
	struct buf summary = { 0 };
	enum unit unit = by_jobs ? UNIT_COUNT : UNIT_GPU_SECONDS;

	for (uint32_t i = 0; i < n; i++) {
		double value = by_jobs ? (double)groups[i].jobs : groups[i].gpu_h * 3600;

		bars[i] = (struct svg_bar){ groups[i].name, value, NAN, NULL, 0 };
		buf_printf(&summary, "%s%s: ", i ? ", " : "", groups[i].name);
		unit_text(unit, value, &summary);
	}
	if (n) {
		html_figure(title, NULL, false, out);
		svg_bars(&(struct svg_chart){ id, title, summary.at, SMALL, 0 }, unit, bars, n, out);
		html_figure_end(false, out);
	}
	buf_fini(&summary);
	free(bars);
}

static void curve(const struct trace_stats *s, struct buf *out)
{
	double x[CURVE + 1], y[CURVE + 1];
	size_t n = s->nrun < CURVE ? s->nrun : CURVE;
	struct svg_series series = { "run time", x, y, n + 1, 0 };
	struct buf summary = { 0 };
	struct svg_lines chart = {
		.x = { "run time (logarithmic)", UNIT_SECONDS, true, false, NAN, NAN },
		.y = { "share of jobs", UNIT_SHARE, false, false, 0, 1 },
		.step = true,
		.area = true,
	};

	if (!n)
		return;
	x[0] = s->run_s[0];
	y[0] = 0;
	for (size_t i = 0; i < n; i++) {
		size_t last = (i + 1) * s->nrun / n;

		x[i + 1] = s->run_s[last - 1];
		y[i + 1] = (double)last / (double)s->nrun;
	}
	buf_str(&summary, "Half of the jobs run for at most ");
	unit_text(UNIT_SECONDS, s->run_p50_s, &summary);
	chart.chart = (struct svg_chart){ "run", "Run times", summary.at, 720, 280 };
	html_figure("Run times", "Share of jobs that run no longer, alone and as asked.", true, out);
	svg_lines(&chart, &series, 1, out);
	html_figure_end(true, out);
	buf_fini(&summary);
}

static void arrivals(const struct trace_stats *s, struct buf *out)
{
	size_t n = s->narrivals;
	double *x = mem_alloc(mem_array_size(n + 1, sizeof(*x)));
	double *y = mem_alloc(mem_array_size(n + 1, sizeof(*y)));
	struct svg_series series = { "arrivals", x, y, n + 1, 0 };
	struct buf note = { 0 }, csv = { 0 };
	struct svg_lines chart = {
		.chart = { "arrivals", "Arrivals", NULL, 720, 180 },
		.x = { NULL, UNIT_SECONDS, false, false, 0, NAN },
		.y = { "jobs", UNIT_COUNT, false, false, 0, NAN },
		.step = true,
		.area = true,
	};

	buf_str(&csv, "time_s,jobs\n");
	for (size_t i = 0; i <= n; i++) {
		x[i] = (double)i * s->arrivals_step_s;
		y[i] = n ? s->arrivals[i < n ? i : n - 1] : 0;
		if (i < n)
			buf_printf(&csv, "%.0f,%.0f\n", x[i], y[i]);
	}
	buf_str(&note, "Jobs in each ");
	unit_text(UNIT_COUNT, s->arrivals_step_s / 3600, &note);
	buf_str(&note, " h since the first.");
	chart.chart.summary = note.at;
	html_figure("Arrivals", note.at, true, out);
	svg_lines(&chart, &series, 1, out);
	html_figure_end(true, out);
	buf_str(out, "<details><summary>Data</summary>");
	html_download("arrivals.csv", &csv, out);
	buf_str(out, "</details>\n");
	buf_fini(&note);
	buf_fini(&csv);
	free(x);
	free(y);
}

void trace_report_html(const struct trace_stats *s, const struct html_info *info, struct buf *out)
{
	struct buf text = { 0 };

	lead(s, &text);
	html_begin(info, text.at, out);
	if (s->jobs) {
		html_section("shape", "Shape", NULL, out);
		curve(s, out);
		arrivals(s, out);
		buf_str(out, "<div class=\"grid\">\n");
		put_groups("sizes", "Jobs by GPUs", s->by_gpus, s->nby_gpus, true, out);
		put_groups("sizes-work", "Work by GPUs", s->by_gpus, s->nby_gpus, false, out);
		put_groups("tenants", "Work by tenant", s->tenants, s->ntenants, false, out);
		put_groups("models", "Work by model", s->models, s->nmodels, false, out);
		buf_str(out, "</div>\n");
		html_section_end(out);
		figures(s, out);
	}
	html_end(info, NULL, out);
	buf_fini(&text);
}
