/*
 * Chooses jobs by how much work they are, which no policy changes, and gathers
 * their spans.
 */
#include "report/timeline.h"

#include <stdlib.h>

#include "base/mem.h"

/* A job and how long it is. */
struct long_job {
	double run_s;
	uint32_t id;
};

/* The longest so far, longest first. */
struct longest {
	struct long_job at[TIMELINES_MAX];
	uint32_t n;
};

static bool is_longer(const struct long_job *a, const struct long_job *b)
{
	return a->run_s > b->run_s || (a->run_s == b->run_s && a->id < b->id);
}

static void longest_add(struct longest *l, struct long_job job)
{
	uint32_t at;

	if (l->n == TIMELINES_MAX && !is_longer(&job, &l->at[l->n - 1]))
		return;
	at = l->n < TIMELINES_MAX ? l->n++ : l->n - 1;
	for (; at > 0 && is_longer(&job, &l->at[at - 1]); at--)
		l->at[at] = l->at[at - 1];
	l->at[at] = job;
}

static bool is_elastic(const struct job *job)
{
	return job->max_gpus > job->min_gpus || job->trained;
}

static double run_s(const struct trace *trace, const struct job *job)
{
	double work = job->id < trace->njobs ? trace->work[job->id] : job->work_est;
	double s = job->nominal_rate > 0 ? work / job->nominal_rate : 0;

	return s > 0 ? s : 0;
}

static void choose(const struct trace *trace, const struct outcome *o, struct longest *longest,
	struct timelines *out)
{
	for (uint32_t i = 0; i < o->njobs; i++) {
		const struct job *job = &o->jobs[i];

		if (!is_elastic(job) || job->state == JOB_FUTURE)
			continue;
		out->elastic++;
		longest_add(longest, (struct long_job){ run_s(trace, job), i });
	}
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = ((const struct long_job *)a)->id, y = ((const struct long_job *)b)->id;

	return (x > y) - (x < y);
}

static void copy_job(const struct trace *trace, const struct job *job, struct timeline *to)
{
	*to = (struct timeline){
		.id = job->id,
		.label = mem_strdup(job->label ? job->label : "?"),
		.model = job->model < trace->models.n ? mem_strdup(trace->models.at[job->model]) : NULL,
		.min_gpus = job->min_gpus,
		.max_gpus = job->max_gpus,
		.arrival_s = job->arrival_s,
		.finish_s = job->finish_s,
		.resizes = job->resizes,
		.restarts = job->restarts,
	};
}

/* Counted first, so that each job's spans stand together in the order of the run. */
static void gather(const struct outcome *o, const uint32_t *place, struct timelines *out)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < o->nspans; i++) {
		if (o->spans[i].job < o->njobs && place[o->spans[i].job])
			out->at[place[o->spans[i].job] - 1].nspans++;
	}
	for (uint32_t i = 0; i < out->n; i++)
		total += out->at[i].nspans;
	out->spans = mem_alloc(mem_array_size(total ? total : 1, sizeof(*out->spans)));
	total = 0;
	for (uint32_t i = 0; i < out->n; i++) {
		out->at[i].spans = out->spans + total;
		total += out->at[i].nspans;
		out->at[i].nspans = 0;
	}
	for (uint32_t i = 0; i < o->nspans; i++) {
		const struct span *span = &o->spans[i];
		struct timeline *line;

		if (span->job >= o->njobs || !place[span->job])
			continue;
		line = &out->at[place[span->job] - 1];
		line->spans[line->nspans++] = *span;
	}
}

void timelines_of(const struct trace *trace, const struct outcome *o, struct timelines *out)
{
	struct longest *longest;
	uint32_t *place; /* by job: 1 + its place in the list */

	*out = (struct timelines){ .cut = o->spans_dropped > 0 };
	if (!o->nspans)
		return;
	longest = mem_alloc(sizeof(*longest));
	place = mem_alloc(mem_array_size(o->njobs + 1, sizeof(*place)));
	choose(trace, o, longest, out);
	qsort(longest->at, longest->n, sizeof(longest->at[0]), by_id);
	out->at = mem_alloc(mem_array_size(longest->n + 1, sizeof(*out->at)));
	for (uint32_t i = 0; i < longest->n; i++) {
		copy_job(trace, &o->jobs[longest->at[i].id], &out->at[out->n++]);
		place[longest->at[i].id] = out->n;
	}
	gather(o, place, out);
	free(place);
	free(longest);
}

void timelines_fini(struct timelines *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		free(list->at[i].label);
		free(list->at[i].model);
	}
	free(list->at);
	free(list->spans);
	*list = (struct timelines){ 0 };
}
