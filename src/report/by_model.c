/*
 * Adds up the jobs of each model.
 */
#include "report/by_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void add_job(struct model_sums *s, const struct job *job)
{
	s->jobs += job->state != JOB_FUTURE;
	if (job->state != JOB_FINISHED)
		return;
	s->finished++;
	s->jct_s += job->finish_s - job->arrival_s;
	s->wait_s += job->waited_s;
	s->held_s += job->ran_s + job->overhead_s;
	s->held_gpu_s += job->occupied_s;
	s->restarts += job->restarts;
	if (job->trained) {
		s->served_s += job->served_s;
		s->eff_s += job->eff_s;
	}
}

static void add_sums(struct model_sums *to, const struct model_sums *from)
{
	to->jobs += from->jobs;
	to->finished += from->finished;
	to->jct_s += from->jct_s;
	to->wait_s += from->wait_s;
	to->held_s += from->held_s;
	to->held_gpu_s += from->held_gpu_s;
	to->restarts += from->restarts;
	to->served_s += from->served_s;
	to->eff_s += from->eff_s;
}

static int more_jobs_first(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x < y) - (x > y);
}

/* How many jobs a model must have to be told apart from the others; 0: there is room for all. */
static uint32_t least_jobs(const struct model_sums *all, uint32_t n)
{
	uint32_t *jobs, least;

	if (n <= MODELS_MAX)
		return 0;
	jobs = mem_alloc(mem_array_size(n, sizeof(*jobs)));
	for (uint32_t i = 0; i < n; i++)
		jobs[i] = all[i].jobs;
	qsort(jobs, n, sizeof(*jobs), more_jobs_first);
	least = jobs[MODELS_MAX - 1];
	free(jobs);
	return least;
}

static void keep_most(const struct names *names, struct model_sums *all, struct by_model *out)
{
	uint32_t least = least_jobs(all, names->n);
	struct model_sums others = { 0 };

	out->at = mem_alloc(mem_array_size(MODELS_MAX + 1, sizeof(*out->at)));
	for (uint32_t i = 0; i < names->n; i++) {
		if (!all[i].jobs)
			continue;
		if (all[i].jobs < least || out->n == MODELS_MAX) {
			add_sums(&others, &all[i]);
			continue;
		}
		all[i].name = mem_strdup(names->at[i]);
		out->at[out->n++] = all[i];
	}
	if (others.jobs) {
		others.name = mem_strdup(OTHER_MODELS);
		out->at[out->n++] = others;
	}
}

void by_model_of(const struct trace *trace, const struct outcome *o, struct by_model *out)
{
	uint32_t n = trace->models.n;
	struct model_sums *all = mem_alloc(mem_array_size(n ? n : 1, sizeof(*all)));

	*out = (struct by_model){ .runs = 1 };
	for (uint32_t i = 0; i < o->njobs; i++) {
		if (o->jobs[i].model < n)
			add_job(&all[o->jobs[i].model], &o->jobs[i]);
	}
	keep_most(&trace->models, all, out);
	free(all);
}

const struct model_sums *by_model_find(const struct by_model *list, const char *name)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (!strcmp(list->at[i].name, name))
			return &list->at[i];
	}
	return NULL;
}

void by_model_add(struct by_model *sum, const struct by_model *run)
{
	for (uint32_t i = 0; i < run->n; i++) {
		const struct model_sums *there = by_model_find(sum, run->at[i].name);
		size_t at = there ? (size_t)(there - sum->at) : sum->n;

		if (!there) {
			sum->at = mem_resize(sum->at, mem_array_size(++sum->n, sizeof(*sum->at)));
			sum->at[at] = (struct model_sums){ .name = mem_strdup(run->at[i].name) };
		}
		add_sums(&sum->at[at], &run->at[i]);
	}
	sum->runs += run->runs;
}

void by_model_fini(struct by_model *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		free(list->at[i].name);
	free(list->at);
	*list = (struct by_model){ 0 };
}

static double ratio(double sum, double n)
{
	return n > 0 ? sum / n : NAN;
}

double model_figure(const struct model_sums *s, uint32_t runs, enum model_figure figure)
{
	switch (figure) {
	case MODEL_JOBS:
		return ratio(s->jobs, runs);
	case MODEL_JCT:
		return ratio(s->jct_s, s->finished);
	case MODEL_WAIT:
		return ratio(s->wait_s, s->finished);
	case MODEL_GPUS:
		return ratio(s->held_gpu_s, s->held_s);
	case MODEL_RESTARTS:
		return ratio(s->restarts, s->finished);
	case MODEL_GPU_TIME:
		return ratio(s->held_gpu_s, runs);
	case MODEL_EFFICIENCY:
		return ratio(s->eff_s, s->served_s);
	case MODEL_FIGURES:
		break;
	}
	return NAN;
}
