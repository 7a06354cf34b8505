/*
 * The figures of a workload.
 */
#include "report/trace_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/stats.h"

enum {
	GPU_GROUPS = 12, /* more different sizes than that are joined */
	BUCKETS = 240,   /* of arrivals */
};

#define HOUR 3600.0

static void *array(size_t n, size_t each)
{
	return mem_alloc(mem_array_size(n ? n : 1, each));
}

/* As asked and alone: NAN if the trace does not say. */
static double run_s(const struct trace *trace, uint32_t i)
{
	return trace->work[i] / trace->jobs[i].nominal_rate;
}

static double gpu_hours(const struct trace *trace, uint32_t i)
{
	double s = run_s(trace, i);

	return isfinite(s) ? s * trace->jobs[i].gpus / HOUR : 0;
}

/* ---- groups */

static int by_hours(const void *a, const void *b)
{
	const struct trace_group *x = a, *y = b;

	if (x->gpu_h != y->gpu_h)
		return x->gpu_h < y->gpu_h ? 1 : -1;
	if (x->jobs != y->jobs)
		return x->jobs < y->jobs ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* The largest TRACE_TOP of `all`, the rest as one.  Frees the array, whose names it only borrows. */
static struct trace_group *top_of(struct trace_group *all, uint32_t n, uint32_t *ntop)
{
	struct trace_group *top = array(TRACE_TOP + 1, sizeof(*top));
	struct trace_group rest = { 0 };
	char name[40];

	if (n)
		qsort(all, n, sizeof(*all), by_hours);
	*ntop = n < TRACE_TOP ? n : TRACE_TOP;
	for (uint32_t i = 0; i < n; i++) {
		if (i < TRACE_TOP) {
			top[i] = all[i];
			top[i].name = mem_strdup(all[i].name);
			continue;
		}
		rest.jobs += all[i].jobs;
		rest.gpu_h += all[i].gpu_h;
	}
	if (n > TRACE_TOP) {
		snprintf(name, sizeof(name), "%u others", (unsigned)(n - TRACE_TOP));
		rest.name = mem_strdup(name);
		top[(*ntop)++] = rest;
	}
	free(all);
	return top;
}

static struct trace_group *by_name(const struct trace *trace, const struct names *names,
	uint32_t (*which)(const struct job *job), uint32_t *ntop)
{
	struct trace_group *all = array(names->n + 1, sizeof(*all));
	uint32_t n = 0;

	for (uint32_t i = 0; i < names->n; i++)
		all[i].name = (char *)names->at[i];
	for (uint32_t i = 0; i < trace->njobs; i++) {
		uint32_t k = which(&trace->jobs[i]);

		if (k < names->n) {
			all[k].jobs++;
			all[k].gpu_h += gpu_hours(trace, i);
		}
	}
	for (uint32_t i = 0; i < names->n; i++) {
		if (all[i].jobs)
			all[n++] = all[i];
	}
	return top_of(all, n, ntop);
}

static uint32_t tenant_of(const struct job *job)
{
	return job->tenant;
}

static uint32_t model_of(const struct job *job)
{
	return job->model;
}

/* ---- sizes */

struct sizes {
	int32_t from[GPU_GROUPS + 32], to[GPU_GROUPS + 32];
	uint32_t n;
};

static int ascending(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

/* Every size that occurs; false if those are too many. */
static bool each_size(const int32_t *sorted, uint32_t n, struct sizes *out)
{
	out->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (i && sorted[i] == sorted[i - 1])
			continue;
		if (out->n == GPU_GROUPS)
			return false;
		out->from[out->n] = out->to[out->n] = sorted[i];
		out->n++;
	}
	return true;
}

/* 1, 2, 3-4, 5-8, … up to the largest. */
static void powers_of_two(int32_t largest, struct sizes *out)
{
	int32_t end = 1;

	out->n = 0;
	for (;;) {
		out->from[out->n] = out->n ? out->to[out->n - 1] + 1 : 1;
		out->to[out->n++] = end;
		if (end >= largest)
			return;
		end = end <= INT32_MAX / 2 ? end * 2 : INT32_MAX;
	}
}

static void find_sizes(const struct trace *trace, struct sizes *out)
{
	int32_t *sorted = array(trace->njobs, sizeof(*sorted));

	for (uint32_t i = 0; i < trace->njobs; i++)
		sorted[i] = trace->jobs[i].gpus;
	if (trace->njobs)
		qsort(sorted, trace->njobs, sizeof(*sorted), ascending);
	if (!each_size(sorted, trace->njobs, out))
		powers_of_two(sorted[trace->njobs - 1], out);
	free(sorted);
}

static void group_sizes(const struct trace *trace, struct trace_stats *s)
{
	struct sizes sizes;
	char name[40];

	find_sizes(trace, &sizes);
	s->by_gpus = array(sizes.n, sizeof(*s->by_gpus));
	s->nby_gpus = sizes.n;
	for (uint32_t i = 0; i < sizes.n; i++) {
		if (sizes.from[i] == sizes.to[i])
			snprintf(name, sizeof(name), "%d", (int)sizes.to[i]);
		else
			snprintf(name, sizeof(name), "%d-%d", (int)sizes.from[i], (int)sizes.to[i]);
		s->by_gpus[i].name = mem_strdup(name);
	}
	for (uint32_t i = 0; i < trace->njobs; i++) {
		uint32_t k = 0;

		while (k + 1 < sizes.n && trace->jobs[i].gpus > sizes.to[k])
			k++;
		s->by_gpus[k].jobs++;
		s->by_gpus[k].gpu_h += gpu_hours(trace, i);
	}
}

/* ---- times */

static void run_times(const struct trace *trace, struct trace_stats *s)
{
	s->run_s = array(trace->njobs, sizeof(double));
	for (uint32_t i = 0; i < trace->njobs; i++) {
		double run = run_s(trace, i);

		s->gpu_h += gpu_hours(trace, i);
		if (isfinite(run))
			s->run_s[s->nrun++] = run;
		else
			s->unknown_run++;
	}
	stats_sort(s->run_s, s->nrun);
	s->run_mean_s = stats_mean(s->run_s, s->nrun);
	s->run_p50_s = stats_percentile(s->run_s, s->nrun, 50);
	s->run_p90_s = stats_percentile(s->run_s, s->nrun, 90);
	s->run_p99_s = stats_percentile(s->run_s, s->nrun, 99);
	s->run_max_s = stats_percentile(s->run_s, s->nrun, 100);
}

static void arrivals(const struct trace *trace, struct trace_stats *s)
{
	double hours, span_s = s->last_s - s->first_s;

	if (!trace->njobs)
		return;
	hours = fmax(1, ceil((span_s + 1) / HOUR / BUCKETS));
	s->arrivals_step_s = hours * HOUR;
	s->narrivals = (uint32_t)(span_s / s->arrivals_step_s) + 1;
	s->arrivals = array(s->narrivals, sizeof(double));
	for (uint32_t i = 0; i < trace->njobs; i++)
		s->arrivals[(uint32_t)((trace->jobs[i].arrival_s - s->first_s) / s->arrivals_step_s)]++;
}

static void count_jobs(const struct trace *trace, struct trace_stats *s)
{
	double gpus = 0;

	for (uint32_t i = 0; i < trace->njobs; i++) {
		const struct job *job = &trace->jobs[i];

		gpus += job->gpus;
		s->gpus_max = job->gpus > s->gpus_max ? job->gpus : s->gpus_max;
		s->elastic += job->min_gpus != job->max_gpus;
		s->with_deadline += isfinite(job->deadline_s);
		s->with_deps += job->ndeps > 0;
		s->too_large += s->cluster_gpus && job->min_gpus > (int64_t)s->cluster_gpus;
	}
	s->jobs = trace->njobs;
	s->gpus_mean = trace->njobs ? gpus / trace->njobs : NAN;
	s->first_s = trace->njobs ? trace->jobs[0].arrival_s : 0;
	s->last_s = trace->njobs ? trace->jobs[trace->njobs - 1].arrival_s : 0;
}

static void pipelines(const struct trace *trace, struct trace_stats *s)
{
	struct arena arena = { 0 };
	struct dag dag;
	double *time_s;

	if (!s->with_deps)
		return;
	time_s = arena_array(&arena, double, trace->njobs);
	for (uint32_t i = 0; i < trace->njobs; i++)
		time_s[i] = isfinite(run_s(trace, i)) ? run_s(trace, i) : 0;
	dag_of_jobs(&dag, &arena, trace->jobs, trace->njobs, trace->deps);
	if (dag_is_acyclic(&dag))
		s->dags = dag_shape_of(&dag, &arena, time_s);
	arena_fini(&arena);
}

void trace_stats_of(const struct trace *trace, const struct cluster *cluster, struct trace_stats *out)
{
	struct trace_stats s = { .load = NAN, .hash = trace->hash };

	s.source = mem_strdup(trace->source ? trace->source : "-");
	s.format = mem_strdup(trace->format ? trace->format : "generated");
	s.cluster_gpus = cluster ? cluster->devices : 0;
	count_jobs(trace, &s);
	pipelines(trace, &s);
	run_times(trace, &s);
	arrivals(trace, &s);
	group_sizes(trace, &s);
	s.tenants = by_name(trace, &trace->tenants, tenant_of, &s.ntenants);
	s.models = by_name(trace, &trace->models, model_of, &s.nmodels);
	s.tenants_in_all = trace->tenants.n;
	s.models_in_all = trace->models.n;
	if (s.cluster_gpus && s.last_s > s.first_s)
		s.load = s.gpu_h * HOUR / (s.cluster_gpus * (s.last_s - s.first_s));
	*out = s;
}

static void groups_fini(struct trace_group *groups, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		free(groups[i].name);
	free(groups);
}

void trace_stats_fini(struct trace_stats *stats)
{
	groups_fini(stats->by_gpus, stats->nby_gpus);
	groups_fini(stats->tenants, stats->ntenants);
	groups_fini(stats->models, stats->nmodels);
	free(stats->source);
	free(stats->format);
	free(stats->run_s);
	free(stats->arrivals);
	*stats = (struct trace_stats){ 0 };
}
