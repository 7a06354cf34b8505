#include "sim/recorded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

/* Something that holds for a while, as means over equal steps. */
struct series {
	double *part; /* of the steps where it begins or ends */
	double *full; /* by how much the steps from here on have more */
};

struct telling {
	const struct trace *trace;
	struct outcome *out;
	double *ran_s;               /* by job: all its runs */
	double *last_s, *last_gpu_s; /* by job: when its last run ended, and what that took */
};

enum { STEPS = 512 };

static void series_init(struct series *s)
{
	s->part = mem_alloc((STEPS + 2) * sizeof(double));
	s->full = mem_alloc((STEPS + 2) * sizeof(double));
}

static void series_fini(struct series *s)
{
	free(s->part);
	free(s->full);
}

static void series_add(struct series *s, const struct outcome *o, double from_s, double to_s, double x)
{
	double from = fmax(0, (from_s - o->from_s) / o->step_s);
	double to = fmin(STEPS, (to_s - o->from_s) / o->step_s);
	size_t first = (size_t)from, last = (size_t)to;

	if (!(to > from))
		return;
	if (first == last) {
		s->part[first] += x * (to - from);
		return;
	}
	s->part[first] += x * ((double)first + 1 - from);
	s->part[last] += x * (to - (double)last);
	s->full[first + 1] += x;
	s->full[last] -= x;
}

/* ---- jobs */

static void begin_jobs(struct telling *t)
{
	const struct trace *trace = t->trace;
	size_t n = mem_array_size(trace->njobs, sizeof(double));

	t->out->njobs = trace->njobs;
	t->out->jobs = mem_alloc(mem_array_size(trace->njobs, sizeof(*trace->jobs)));
	memcpy(t->out->jobs, trace->jobs, mem_array_size(trace->njobs, sizeof(*trace->jobs)));
	t->ran_s = mem_alloc(n);
	t->last_s = mem_alloc(n);
	t->last_gpu_s = mem_alloc(n);
	for (uint32_t i = 0; i < trace->njobs; i++) {
		t->out->jobs[i].gpus_by_type = NULL;
		t->out->jobs[i].state = JOB_FUTURE;
	}
}

static void add_run(struct telling *t, const struct past_run *run)
{
	struct job *job = &t->out->jobs[run->job];
	double gpu_s = (run->end_s - run->start_s) * run->gpus;
	bool first = job->state == JOB_FUTURE;

	job->state = JOB_FINISHED;
	job->start_s = first ? run->start_s : fmin(job->start_s, run->start_s);
	job->finish_s = first ? run->end_s : fmax(job->finish_s, run->end_s);
	job->attempts++;
	job->preemptions += !first;
	job->restarts += !first;
	job->occupied_s += gpu_s;
	t->ran_s[run->job] += run->end_s - run->start_s;
	if (first || run->end_s >= t->last_s[run->job]) {
		t->last_s[run->job] = run->end_s;
		t->last_gpu_s[run->job] = gpu_s;
	}
	t->out->busy_gpu_s += gpu_s;
	t->out->to_s = fmax(t->out->to_s, run->end_s);
	t->out->events += 2;
	t->out->event_hash = hash_double(
		hash_double(hash_u64(t->out->event_hash, run->job), run->start_s), run->end_s);
}

static void end_jobs(struct telling *t)
{
	for (uint32_t i = 0; i < t->out->njobs; i++) {
		struct job *job = &t->out->jobs[i];

		if (job->state != JOB_FINISHED)
			continue;
		job->waited_s = fmax(0, job->finish_s - job->arrival_s - t->ran_s[i]);
		job->ran_s = job->done = t->trace->work[i];
		job->served_s = t->last_gpu_s[i];
		job->lost_gpu_s = job->occupied_s - t->last_gpu_s[i];
		job->lost_s = fmax(0, t->ran_s[i] - job->ran_s);
		t->out->useful_gpu_s += t->last_gpu_s[i];
	}
}

/* ---- the course */

static void add_samples(struct telling *t)
{
	struct outcome *o = t->out;
	struct series busy, running, pending;
	double now[3] = { 0 };

	series_init(&busy);
	series_init(&running);
	series_init(&pending);
	for (uint32_t i = 0; i < t->trace->npast; i++) {
		const struct past_run *run = &t->trace->past[i];

		series_add(&busy, o, run->start_s, run->end_s, run->gpus);
		series_add(&running, o, run->start_s, run->end_s, 1);
		series_add(&pending, o, run->start_s, run->end_s, -1);
	}
	for (uint32_t i = 0; i < o->njobs; i++) {
		if (o->jobs[i].state == JOB_FINISHED)
			series_add(&pending, o, o->jobs[i].arrival_s, o->jobs[i].finish_s, 1);
	}
	o->samples = mem_alloc(STEPS * sizeof(*o->samples));
	o->nsamples = STEPS;
	for (size_t k = 0; k < STEPS; k++) {
		double is;

		now[0] += busy.full[k];
		now[1] += running.full[k];
		now[2] += pending.full[k];
		is = fmax(0, now[0] + busy.part[k]);
		o->samples[k] = (struct sample){ .busy_gpus = is,
			.up_gpus = o->gpus,
			.running = fmax(0, now[1] + running.part[k]),
			.pending = fmax(0, now[2] + pending.part[k]),
			.useful_gpus = is,
			.good_gpus = is,
			.worth_gpus = is };
	}
	series_fini(&busy);
	series_fini(&running);
	series_fini(&pending);
}

void recorded_outcome(const struct trace *trace, const struct cluster *cluster, struct outcome *out)
{
	struct telling t = { .trace = trace, .out = out };

	*out = (struct outcome){ .gpus = cluster->devices,
		.event_hash = HASH_START,
		.speed_error_before = NAN,
		.speed_error = NAN };
	out->from_s = out->to_s = trace->njobs ? trace->jobs[0].arrival_s : 0;
	begin_jobs(&t);
	for (uint32_t i = 0; i < trace->npast; i++)
		add_run(&t, &trace->past[i]);
	end_jobs(&t);
	out->up_gpu_s = (out->to_s - out->from_s) * out->gpus;
	out->step_s = fmax((out->to_s - out->from_s) / STEPS, 1e-6);
	add_samples(&t);
	free(t.ran_s);
	free(t.last_s);
	free(t.last_gpu_s);
}

static int by_double(const void *a_, const void *b_)
{
	const double *a = a_, *b = b_;

	return a[0] != b[0] ? (a[0] < b[0] ? -1 : 1) : (a[1] > b[1]) - (a[1] < b[1]);
}

double past_most_gpus(const struct trace *trace)
{
	double(*changes)[2] = mem_alloc(mem_array_size((size_t)trace->npast * 2 + 1, sizeof(*changes)));
	double now = 0, most = 0;

	for (uint32_t i = 0; i < trace->npast; i++) {
		const struct past_run *run = &trace->past[i];

		changes[2 * i][0] = run->start_s;
		changes[2 * i][1] = run->gpus;
		changes[2 * i + 1][0] = run->end_s;
		changes[2 * i + 1][1] = -run->gpus;
	}
	qsort(changes, (size_t)trace->npast * 2, sizeof(*changes), by_double);
	for (size_t i = 0; i < (size_t)trace->npast * 2; i++) {
		now += changes[i][1];
		most = fmax(most, now);
	}
	free(changes);
	return most;
}
