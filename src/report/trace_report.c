/*
 * A workload on the terminal and as JSON.
 */
#include "report/trace_report.h"

#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "report/summary.h"
#include "report/table.h"
#include "report/textplot.h"
#include "report/units.h"

/* ---- text */

static void put_name(struct buf *out, const char *name)
{
	buf_printf(out, "%-14s ", name);
}

static void put_count(struct buf *out, double n, const char *what)
{
	unit_text(UNIT_COUNT, n, out);
	buf_printf(out, " %s", what);
}

static void put_jobs(const struct trace_stats *s, struct buf *out)
{
	put_name(out, "jobs");
	put_count(out, (double)s->jobs, "over ");
	unit_text(UNIT_SECONDS, s->last_s - s->first_s, out);
	if (s->elastic) {
		buf_str(out, ", ");
		put_count(out, (double)s->elastic, "of them elastic");
	}
	buf_char(out, '\n');
	if (s->unknown_run) {
		put_name(out, "");
		put_count(out, (double)s->unknown_run, "without a known run time\n");
	}
	if (s->with_deadline || s->with_deps) {
		put_name(out, "");
		put_count(out, (double)s->with_deadline, "with a deadline, ");
		put_count(out, (double)s->with_deps, "with dependencies\n");
	}
	if (s->dags.dags) {
		put_name(out, "pipelines");
		put_count(out, s->dags.dags, "of ");
		put_count(out, s->dags.jobs, "jobs, up to ");
		put_count(out, s->dags.depth, "deep and ");
		put_count(out, s->dags.width, "wide, the longest way ");
		unit_text(UNIT_SECONDS, s->dags.longest_s, out);
		buf_char(out, '\n');
	}
}

static void put_work(const struct trace_stats *s, struct buf *out)
{
	put_name(out, "work");
	unit_text(UNIT_GPU_SECONDS, s->gpu_h * 3600, out);
	if (isfinite(s->load)) {
		buf_printf(out, ", %.1f %% of what ", 100 * s->load);
		put_count(out, s->cluster_gpus, "GPUs can do in that time");
	}
	buf_char(out, '\n');
	if (s->too_large) {
		put_name(out, "");
		put_count(out, (double)s->too_large, "jobs ask for more GPUs than there are\n");
	}
	put_name(out, "GPUs per job");
	buf_printf(out, "mean %.2f, max %d\n", s->gpus_mean, (int)s->gpus_max);
}

static void put_run_times(const struct trace_stats *s, struct buf *out)
{
	const double values[] = { s->run_mean_s, s->run_p50_s, s->run_p90_s, s->run_p99_s,
		s->run_max_s };
	static const char *const names[] = { "mean ", ", p50 ", ", p90 ", ", p99 ", ", max " };

	if (!s->nrun)
		return;
	put_name(out, "run time");
	for (size_t i = 0; i < 5; i++) {
		buf_str(out, names[i]);
		unit_text(UNIT_SECONDS, values[i], out);
	}
	buf_char(out, '\n');
}

static void put_arrivals(const struct trace_stats *s, const struct term *term, struct buf *out)
{
	size_t width = term->width > 40 ? (size_t)term->width - 16 : 60;
	double most = 0;

	for (uint32_t i = 0; i < s->narrivals; i++)
		most = fmax(most, s->arrivals[i]);
	put_name(out, "arrivals");
	textplot_spark(s->arrivals, s->narrivals, width, term, out);
	buf_char(out, '\n');
	put_name(out, "");
	buf_str(out, "up to ");
	put_count(out, most, most == 1 ? "job in " : "jobs in ");
	put_count(out, s->arrivals_step_s / 3600, "h\n");
}

static void put_sizes(const struct trace_stats *s, const struct term *term, struct buf *out)
{
	const char **labels = mem_alloc(mem_array_size(s->nby_gpus + 1, sizeof(*labels)));
	double *jobs = mem_alloc(mem_array_size(s->nby_gpus + 1, sizeof(*jobs)));

	for (uint32_t i = 0; i < s->nby_gpus; i++) {
		labels[i] = s->by_gpus[i].name;
		jobs[i] = (double)s->by_gpus[i].jobs;
	}
	buf_str(out, "\njobs by GPUs\n");
	textplot_bars(labels, jobs, s->nby_gpus, term, out);
	free(labels);
	free(jobs);
}

static void put_groups(const char *title, const struct trace_group *groups, uint32_t n, double all,
	const struct term *term, struct buf *out)
{
	struct table table = { 0 };

	if (!n)
		return;
	table_column(&table, title, ALIGN_LEFT, 0);
	table_column(&table, "jobs", ALIGN_RIGHT, 0);
	table_column(&table, "GPU-h", ALIGN_RIGHT, 0);
	table_column(&table, "share", ALIGN_RIGHT, 1);
	for (uint32_t i = 0; i < n; i++) {
		struct buf text = { 0 };

		table_cell(&table, groups[i].name);
		unit_text(UNIT_COUNT, (double)groups[i].jobs, &text);
		table_cell(&table, text.at);
		buf_clear(&text);
		scale_number(&(struct scale){ 1, "", 0 }, groups[i].gpu_h, &text);
		table_cell(&table, text.at);
		table_cellf(&table, "%.1f %%", all > 0 ? 100 * groups[i].gpu_h / all : 0);
		buf_fini(&text);
	}
	buf_char(out, '\n');
	table_write(&table, TABLE_TEXT, term, out, NULL);
	table_fini(&table);
}

void trace_report_text(const struct trace_stats *s, const struct term *term, struct buf *out)
{
	struct textplot_cdf cdf = { .log_x = true, .unit = UNIT_SECONDS };

	put_name(out, "trace");
	buf_printf(out, "%s (%s)\n", s->source, s->format);
	if (!s->jobs) {
		buf_str(out, "no jobs\n");
		return;
	}
	put_jobs(s, out);
	put_work(s, out);
	put_run_times(s, out);
	put_arrivals(s, term, out);
	put_sizes(s, term, out);
	if (s->nrun) {
		buf_str(out, "\nshare of jobs that run at most\n");
		textplot_cdf(s->run_s, s->nrun, &cdf, term, out);
	}
	put_groups("tenant", s->tenants, s->ntenants, s->gpu_h, term, out);
	put_groups("model", s->models, s->nmodels, s->gpu_h, term, out);
}

/* ---- JSON */

static void groups_json(struct json *j, const char *key, const struct trace_group *groups, uint32_t n)
{
	json_begin_array(j, key);
	for (uint32_t i = 0; i < n; i++) {
		json_begin_object(j, NULL);
		json_str(j, "name", groups[i].name);
		json_int(j, "jobs", (int64_t)groups[i].jobs);
		json_double(j, "gpu_h", groups[i].gpu_h);
		json_end(j, '}');
	}
	json_end(j, ']');
}

void trace_report_json(const struct trace_stats *s, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "trace-stats/1");
	json_str(&j, "source", s->source);
	json_str(&j, "format", s->format);
	json_hash(&j, "hash", s->hash);
	json_int(&j, "jobs", (int64_t)s->jobs);
	json_int(&j, "unknown_run", (int64_t)s->unknown_run);
	json_int(&j, "elastic", (int64_t)s->elastic);
	json_int(&j, "with_deadline", (int64_t)s->with_deadline);
	json_int(&j, "with_deps", (int64_t)s->with_deps);
	json_int(&j, "dags", s->dags.dags);
	json_int(&j, "dag_jobs", s->dags.jobs);
	json_int(&j, "dag_depth", s->dags.depth);
	json_int(&j, "dag_width", s->dags.width);
	json_double(&j, "dag_longest_s", s->dags.dags ? s->dags.longest_s : NAN);
	json_double(&j, "first_s", s->first_s);
	json_double(&j, "last_s", s->last_s);
	json_double(&j, "gpu_h", s->gpu_h);
	json_double(&j, "gpus_mean", s->gpus_mean);
	json_int(&j, "gpus_max", s->gpus_max);
	json_double(&j, "run_mean_s", s->run_mean_s);
	json_double(&j, "run_p50_s", s->run_p50_s);
	json_double(&j, "run_p90_s", s->run_p90_s);
	json_double(&j, "run_p99_s", s->run_p99_s);
	json_double(&j, "run_max_s", s->run_max_s);
	groups_json(&j, "by_gpus", s->by_gpus, s->nby_gpus);
	json_int(&j, "tenants_in_all", s->tenants_in_all);
	groups_json(&j, "tenants", s->tenants, s->ntenants);
	json_int(&j, "models_in_all", s->models_in_all);
	groups_json(&j, "models", s->models, s->nmodels);
	json_double(&j, "arrivals_step_s", s->arrivals_step_s);
	json_begin_array(&j, "arrivals");
	for (uint32_t i = 0; i < s->narrivals; i++)
		json_double(&j, NULL, s->arrivals[i]);
	json_end(&j, ']');
	if (s->cluster_gpus) {
		json_int(&j, "cluster_gpus", s->cluster_gpus);
		json_double(&j, "load", s->load);
		json_int(&j, "too_large", (int64_t)s->too_large);
	}
	json_end(&j, '}');
}
