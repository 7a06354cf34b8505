/*
 * Workloads: growing one job by job, then putting it in order.
 *
 * A million jobs take a few hundred megabytes, so nothing here copies them:
 * the order is found on (arrival, position) pairs and applied in place.
 */
#include "model/trace.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/cluster.h"

void trace_fini(struct trace *trace)
{
	free(trace->jobs);
	free(trace->work);
	free(trace->deps);
	free(trace->measured_on);
	free(trace->past);
	free(trace->source);
	names_fini(&trace->tenants);
	names_fini(&trace->models);
	names_fini(&trace->types);
	arena_fini(&trace->text);
	*trace = (struct trace){ 0 };
}

void trace_reserve(struct trace *trace, uint32_t cap)
{
	if (cap <= trace->cap)
		return;
	assert(cap < JOB_NONE);
	trace->jobs = mem_resize(trace->jobs, mem_array_size(cap, sizeof(*trace->jobs)));
	trace->work = mem_resize(trace->work, mem_array_size(cap, sizeof(*trace->work)));
	if (trace->measured_on) {
		trace->measured_on = mem_resize(trace->measured_on, cap);
		memset(trace->measured_on + trace->cap, 0, cap - trace->cap);
	}
	trace->cap = cap;
}

struct job *trace_add(struct trace *trace)
{
	uint32_t i = trace->njobs;

	if (i == trace->cap)
		trace_reserve(trace, trace->cap ? trace->cap + trace->cap / 2 : 64);
	job_init(&trace->jobs[i]);
	trace->work[i] = NAN;
	trace->njobs++;
	return &trace->jobs[i];
}

void trace_add_dep(struct trace *trace, uint32_t job, uint32_t other)
{
	struct job *waits = &trace->jobs[job];

	assert(job < trace->njobs);
	if (trace->ndeps == trace->deps_cap) {
		trace->deps_cap = trace->deps_cap ? trace->deps_cap * 2 : 64;
		trace->deps = mem_resize(trace->deps, trace->deps_cap * sizeof(*trace->deps));
	}
	if (!waits->ndeps)
		waits->first_dep = trace->ndeps;
	assert(waits->first_dep + waits->ndeps == trace->ndeps);
	trace->deps[trace->ndeps++] = other;
	waits->ndeps++;
}

void trace_measured(struct trace *trace, uint32_t type)
{
	assert(trace->njobs && type < UINT8_MAX);
	if (!trace->measured_on)
		trace->measured_on = mem_alloc(trace->cap);
	trace->measured_on[trace->njobs - 1] = (uint8_t)(type + 1);
}

void trace_add_past(struct trace *trace, struct past_run run)
{
	assert(run.job < trace->njobs);
	if (trace->npast == trace->past_cap) {
		trace->past_cap = trace->past_cap ? trace->past_cap * 2 : 64;
		trace->past = mem_resize(trace->past,
			mem_array_size(trace->past_cap, sizeof(*trace->past)));
	}
	trace->past[trace->npast++] = run;
}

const uint16_t *trace_gangs(struct trace *trace, const uint16_t *by_type)
{
	uint16_t *copy;

	if (!by_type)
		return NULL;
	copy = arena_array(&trace->text, uint16_t, TYPES_MAX);
	memcpy(copy, by_type, TYPES_MAX * sizeof(*copy));
	return copy;
}

const char *trace_text(struct trace *trace, const char *text, size_t n)
{
	return arena_strndup(&trace->text, text, n);
}

/* ---- labels */

static size_t digits(uint32_t x)
{
	size_t n = 1;

	while (x >= 10) {
		x /= 10;
		n++;
	}
	return n;
}

static char *put_number(char *at, uint32_t x)
{
	size_t n = digits(x);

	at[n] = '\0';
	for (size_t i = n; i-- > 0; x /= 10)
		at[i] = (char)('0' + x % 10);
	return at + n + 1;
}

/* The position before sorting.  One block for all: small pieces of an arena cost twice as much. */
static void fill_labels(struct trace *trace)
{
	size_t size = 0;

	for (uint32_t i = 0; i < trace->njobs; i++) {
		if (!trace->jobs[i].label)
			size += digits(i) + 1;
	}
	if (!size)
		return;

	char *at = arena_alloc(&trace->text, size);

	for (uint32_t i = 0; i < trace->njobs; i++) {
		if (trace->jobs[i].label)
			continue;
		trace->jobs[i].label = at;
		at = put_number(at, i);
	}
}

/* ---- order */

struct place {
	double arrival_s;
	uint32_t from; /* position before sorting */
};

static int by_arrival(const void *a_, const void *b_)
{
	const struct place *a = a_, *b = b_;

	if (a->arrival_s != b->arrival_s)
		return a->arrival_s < b->arrival_s ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

static bool is_sorted(const struct trace *trace)
{
	for (uint32_t i = 1; i < trace->njobs; i++) {
		if (trace->jobs[i - 1].arrival_s > trace->jobs[i].arrival_s)
			return false;
	}
	return true;
}

/* What names jobs by their position: dependencies, and what happened. */
static void rename_jobs(struct trace *trace, const struct place *order)
{
	uint32_t *to;

	if (!trace->ndeps && !trace->npast)
		return;
	to = mem_alloc(trace->njobs * sizeof(*to));
	for (uint32_t i = 0; i < trace->njobs; i++)
		to[order[i].from] = i;
	for (uint32_t i = 0; i < trace->ndeps; i++) {
		if (trace->deps[i] < trace->njobs)
			trace->deps[i] = to[trace->deps[i]];
	}
	for (uint32_t i = 0; i < trace->npast; i++)
		trace->past[i].job = to[trace->past[i].job];
	free(to);
}

static void move(struct trace *trace, uint32_t to, uint32_t from)
{
	trace->jobs[to] = trace->jobs[from];
	trace->work[to] = trace->work[from];
	if (trace->measured_on)
		trace->measured_on[to] = trace->measured_on[from];
}

/* Carries the cycle through `start` one step; places that are done point to themselves. */
static void rotate(struct trace *trace, struct place *order, uint32_t start)
{
	struct job job = trace->jobs[start];
	double work = trace->work[start];
	uint8_t measured_on = trace->measured_on ? trace->measured_on[start] : 0;
	uint32_t hole = start;

	while (order[hole].from != start) {
		uint32_t from = order[hole].from;

		move(trace, hole, from);
		order[hole].from = hole;
		hole = from;
	}
	order[hole].from = hole;
	trace->jobs[hole] = job;
	trace->work[hole] = work;
	if (trace->measured_on)
		trace->measured_on[hole] = measured_on;
}

static void sort(struct trace *trace)
{
	struct place *order = mem_alloc(trace->njobs * sizeof(*order));

	for (uint32_t i = 0; i < trace->njobs; i++)
		order[i] = (struct place){ trace->jobs[i].arrival_s, i };
	qsort(order, trace->njobs, sizeof(*order), by_arrival);
	rename_jobs(trace, order);
	for (uint32_t i = 0; i < trace->njobs; i++)
		rotate(trace, order, i);
	free(order);
}

/* ---- the rest */

static void shift(struct trace *trace, double origin_s)
{
	double first_s;

	if (isnan(origin_s) || !trace->njobs)
		return;
	first_s = trace->jobs[0].arrival_s;
	if (first_s == origin_s)
		return;
	for (uint32_t i = 0; i < trace->njobs; i++) {
		struct job *job = &trace->jobs[i];

		job->arrival_s = job->arrival_s - first_s + origin_s;
		job->deadline_s = job->deadline_s - first_s + origin_s;
	}
	for (uint32_t i = 0; i < trace->npast; i++) {
		trace->past[i].start_s += origin_s - first_s;
		trace->past[i].end_s += origin_s - first_s;
	}
}

static void complete(struct job *job, uint32_t id, double work)
{
	job->id = id;
	if (!job->min_gpus)
		job->min_gpus = job->gpus;
	if (!job->max_gpus)
		job->max_gpus = job->gpus;
	if (isnan(job->work_est))
		job->work_est = work;
	if (!(job->nominal_rate > 0))
		job->nominal_rate = 1;
}

void trace_finish(struct trace *trace, double origin_s)
{
	fill_labels(trace);
	if (!is_sorted(trace))
		sort(trace);
	trace->began_s = trace->njobs ? trace->jobs[0].arrival_s : 0;
	shift(trace, origin_s);
	for (uint32_t i = 0; i < trace->njobs; i++)
		complete(&trace->jobs[i], i, trace->work[i]);
}
