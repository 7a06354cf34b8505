#include "cli/resample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"

/* One drawing under way. */
struct drawing {
	const struct trace *from;
	struct trace *to;
	uint32_t *drawn;   /* how often, by job of `from` */
	double mean_gap_s; /* stands for the gap that the first job has not got */
	double now_s;      /* arrival of the last job drawn */
	uint32_t deps_lost;
};

uint32_t resample_block(const struct trace *trace)
{
	return trace->njobs ? (uint32_t)ceil(sqrt(trace->njobs)) : 1;
}

static double gap_s(const struct drawing *d, uint32_t job)
{
	const struct job *jobs = d->from->jobs;

	if (!d->to->njobs)
		return 0;
	return job ? jobs[job].arrival_s - jobs[job - 1].arrival_s : d->mean_gap_s;
}

static const char *label(struct drawing *d, uint32_t job)
{
	const char *own = d->from->jobs[job].label;
	uint32_t times = ++d->drawn[job];

	if (times == 1)
		return trace_text(d->to, own, strlen(own));
	return arena_printf(&d->to->text, "%s#%u", own, times);
}

/* Deps point backwards or forwards; only those between `first` and `first + n` are in the block. */
static void draw_deps(struct drawing *d, uint32_t job, uint32_t first, uint32_t n, uint32_t at)
{
	const struct job *from = &d->from->jobs[job];

	for (uint32_t i = 0; i < from->ndeps; i++) {
		uint32_t other = d->from->deps[from->first_dep + i];

		if (other >= first && other - first < n)
			trace_add_dep(d->to, at + (job - first), at + (other - first));
		else
			d->deps_lost++;
	}
}

static void copy_job(struct drawing *d, uint32_t job, double arrival_s)
{
	const struct job *from = &d->from->jobs[job];
	struct job *to = trace_add(d->to);

	*to = *from;
	to->label = label(d, job);
	to->gpus_by_type = trace_gangs(d->to, from->gpus_by_type);
	to->name = from->name ? trace_text(d->to, from->name, strlen(from->name)) : NULL;
	to->arrival_s = arrival_s;
	to->deadline_s = from->deadline_s + (arrival_s - from->arrival_s);
	to->first_dep = to->ndeps = 0;
	d->to->work[d->to->njobs - 1] = d->from->work[job];
	if (d->from->measured_on && d->from->measured_on[job])
		trace_measured(d->to, d->from->measured_on[job] - 1u);
	d->now_s = arrival_s;
}

static void draw_job(struct drawing *d, uint32_t job)
{
	copy_job(d, job, d->now_s + gap_s(d, job));
}

static void draw_block(struct drawing *d, uint32_t first, uint32_t n)
{
	uint32_t at = d->to->njobs;

	for (uint32_t i = 0; i < n; i++)
		draw_job(d, first + i);
	for (uint32_t i = 0; i < n; i++)
		draw_deps(d, first + i, first, n, at);
}

/* An empty trace that knows the same names. */
static void begin(struct drawing *d)
{
	const struct trace *from = d->from;

	*d->to = (struct trace){ .source = mem_strdup(from->source), .format = from->format };
	names_copy(&from->tenants, &d->to->tenants);
	names_copy(&from->models, &d->to->models);
	names_copy(&from->types, &d->to->types);
	d->drawn = mem_alloc(mem_array_size((size_t)from->njobs + 1, sizeof(*d->drawn)));
}

uint32_t trace_resample(const struct trace *trace, uint64_t seed, struct trace *out)
{
	uint32_t n = trace->njobs, block = resample_block(trace);
	struct drawing d = { .from = trace, .to = out };
	struct rng rng;

	begin(&d);
	out->hash = hash_u64(trace->hash, seed);
	if (n) {
		d.now_s = trace->jobs[0].arrival_s;
		d.mean_gap_s = n > 1 ? (trace->jobs[n - 1].arrival_s - d.now_s) / (n - 1) : 0;
	}
	rng_init(&rng, seed, RNG_SAMPLE);
	while (out->njobs < n) {
		uint32_t left = n - out->njobs;

		draw_block(&d, (uint32_t)rng_below(&rng, n - block + 1), block < left ? block : left);
	}
	trace_finish(out, NAN);
	free(d.drawn);
	return d.deps_lost;
}

/* Jobs with a type of their own were not measured on another. */
static void say_measured(struct trace *trace, uint32_t type)
{
	const struct job *job = &trace->jobs[trace->njobs - 1];
	bool known = trace->measured_on && trace->measured_on[trace->njobs - 1];

	if (!known && (!job->types || (type < 31 && job->types >> type & 1)))
		trace_measured(trace, type);
}

uint32_t trace_take(const struct trace *trace, const struct trace_part *part, struct trace *out)
{
	struct drawing d = { .from = trace, .to = out };
	uint32_t first = 0, type = NAME_NONE, n;

	begin(&d);
	out->hash = trace->hash;
	while (first < trace->njobs && trace->jobs[first].arrival_s < part->from_s)
		first++;
	n = trace->njobs - first;
	if (part->measured_on)
		type = names_add(&out->types, part->measured_on, strlen(part->measured_on));
	for (uint32_t i = 0; i < n; i++) {
		copy_job(&d, first + i, trace->jobs[first + i].arrival_s);
		if (type != NAME_NONE)
			say_measured(out, type);
	}
	for (uint32_t i = 0; i < n; i++)
		draw_deps(&d, first + i, first, n, 0);
	trace_finish(out, NAN);
	free(d.drawn);
	return first;
}
