/*
 * Thins a run out for pictures: samples are joined to means, bars too small to
 * see are left out, and of the jobs a few hundred stand for all.
 */
#include "report/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void *array(size_t n, size_t each)
{
	return mem_alloc(mem_array_size(n ? n : 1, each));
}

/* ---- samples */

static void add_sample(struct sample *sum, const struct sample *s)
{
	sum->busy_gpus += s->busy_gpus;
	sum->up_gpus += s->up_gpus;
	sum->running += s->running;
	sum->pending += s->pending;
	sum->useful_gpus += s->useful_gpus;
	sum->good_gpus += s->good_gpus;
	sum->worth_gpus += s->worth_gpus;
}

static void divide_sample(struct sample *s, double by)
{
	s->busy_gpus /= by;
	s->up_gpus /= by;
	s->running /= by;
	s->pending /= by;
	s->useful_gpus /= by;
	s->good_gpus /= by;
	s->worth_gpus /= by;
}

static void join_samples(const struct outcome *o, struct picture *c)
{
	uint32_t each = (o->nsamples + PICTURE_SAMPLES - 1) / PICTURE_SAMPLES;

	if (!each)
		return;
	c->nsamples = (o->nsamples + each - 1) / each;
	c->step_s = o->step_s * each;
	c->samples = array(c->nsamples, sizeof(*c->samples));
	for (uint32_t i = 0; i < c->nsamples; i++) {
		uint32_t from = i * each, to = from + each < o->nsamples ? from + each : o->nsamples;

		for (uint32_t k = from; k < to; k++)
			add_sample(&c->samples[i], &o->samples[k]);
		divide_sample(&c->samples[i], to - from);
	}
}

/* ---- bars */

struct sized {
	double area;
	uint32_t index;
};

static int larger_first(const void *a, const void *b)
{
	const struct sized *x = a, *y = b;

	if (x->area != y->area)
		return x->area < y->area ? 1 : -1;
	return (x->index > y->index) - (x->index < y->index);
}

static int earlier_first(const void *a, const void *b)
{
	const struct sized *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

/* The indices of the largest spans, in the order of the run. */
static struct sized *choose_spans(const struct outcome *o, uint32_t keep)
{
	struct sized *order = array(o->nspans, sizeof(*order));

	for (uint32_t i = 0; i < o->nspans; i++) {
		const struct span *s = &o->spans[i];

		order[i].index = i;
		order[i].area = (s->to_s - s->from_s) * __builtin_popcountll(s->devices);
	}
	if (keep < o->nspans) {
		qsort(order, o->nspans, sizeof(*order), larger_first);
		qsort(order, keep, sizeof(*order), earlier_first);
	}
	return order;
}

static char *copy(const char *text)
{
	return text ? mem_strdup(text) : NULL;
}

static char *copy_name(const struct names *names, uint32_t i)
{
	return i < names->n ? mem_strdup(names->at[i]) : NULL;
}

static void copy_job(const struct trace *trace, const struct job *job, struct picture_job *to)
{
	*to = (struct picture_job){
		.id = job->id,
		.label = mem_strdup(job->label ? job->label : "?"),
		.name = copy(job->name),
		.tenant = copy_name(&trace->tenants, job->tenant),
		.model = copy_name(&trace->models, job->model),
		.gpus = job->gpus,
		.arrival_s = job->arrival_s,
		.start_s = job->start_s,
		.finish_s = job->finish_s,
		.preemptions = job->preemptions,
	};
}

/* The job's number among those kept, which it joins if it is new. */
static uint32_t keep_job(const struct trace *trace, const struct outcome *o, uint32_t job,
	uint32_t *number, struct picture *c)
{
	if (!number[job]) {
		copy_job(trace, &o->jobs[job], &c->jobs[c->njobs]);
		number[job] = ++c->njobs;
	}
	return number[job] - 1;
}

static void keep_spans(const struct trace *trace, const struct outcome *o, uint32_t max,
	struct picture *c)
{
	uint32_t keep = o->nspans < max ? o->nspans : max;
	struct sized *chosen = choose_spans(o, keep);
	uint32_t *number = array(o->njobs, sizeof(*number));

	c->spans = array(keep, sizeof(*c->spans));
	c->jobs = array(keep, sizeof(*c->jobs));
	for (uint32_t i = 0; i < keep; i++) {
		struct span span = o->spans[chosen[i].index];

		if (span.job >= o->njobs)
			continue;
		span.job = keep_job(trace, o, span.job, number, c);
		c->spans[c->nspans++] = span;
	}
	c->spans_left_out = o->spans_dropped + (o->nspans - c->nspans);
	free(number);
	free(chosen);
}

/* ---- dots */

/* Every k-th of the finished jobs by JCT, so that long and short ones are there in proportion, and the longest. */
static void keep_dots(const struct outcome *o, struct picture *c)
{
	struct sized *order = array(o->njobs, sizeof(*order));
	uint32_t n = 0, dots;

	for (uint32_t i = 0; i < o->njobs; i++) {
		if (o->jobs[i].state == JOB_FINISHED)
			order[n++] = (struct sized){ o->jobs[i].finish_s - o->jobs[i].arrival_s, i };
	}
	if (n)
		qsort(order, n, sizeof(*order), larger_first);
	dots = n < PICTURE_DOTS ? n : PICTURE_DOTS;
	c->dot_wait_s = array(dots, sizeof(double));
	c->dot_jct_s = array(dots, sizeof(double));
	c->ndots = dots;
	for (uint32_t i = 0; i < dots; i++) {
		const struct sized *s = &order[(uint64_t)i * n / dots];

		c->dot_wait_s[i] = o->jobs[s->index].waited_s;
		c->dot_jct_s[i] = s->area;
	}
	free(order);
}

void picture_of(const struct trace *trace, const struct outcome *outcome, uint32_t max_spans,
	struct picture *out)
{
	*out = (struct picture){
		.from_s = outcome->from_s,
		.to_s = outcome->to_s,
		.gpus = outcome->gpus,
	};
	join_samples(outcome, out);
	keep_spans(trace, outcome, max_spans, out);
	keep_dots(outcome, out);
	timelines_of(trace, outcome, &out->lines);
	for (uint32_t i = 0; i < outcome->njobs; i++)
		out->trained |= outcome->jobs[i].trained;
}

void picture_fini(struct picture *picture)
{
	for (uint32_t i = 0; i < picture->njobs; i++) {
		free(picture->jobs[i].label);
		free(picture->jobs[i].name);
		free(picture->jobs[i].tenant);
		free(picture->jobs[i].model);
	}
	timelines_fini(&picture->lines);
	free(picture->jobs);
	free(picture->samples);
	free(picture->spans);
	free(picture->dot_wait_s);
	free(picture->dot_jct_s);
	*picture = (struct picture){ 0 };
}
