/*
 * The future of every type as steps, and what is taken from it.
 */
#include "policy/reservation.h"

#include <stdlib.h>
#include <string.h>

static void push(struct type_outlook *f, struct arena *scratch, uint32_t at, struct step step)
{
	if (f->n == f->cap) {
		uint32_t cap = f->cap ? f->cap * 2 : 64;
		struct step *grown = arena_array(scratch, struct step, cap);

		if (f->n > 0)
			memcpy(grown, f->steps, sizeof(*grown) * f->n);
		f->steps = grown;
		f->cap = cap;
	}
	memmove(&f->steps[at + 1], &f->steps[at], sizeof(*f->steps) * (f->n - at));
	f->steps[at] = step;
	f->n++;
}

/* The first step that does not begin before at_s; f->n: none. */
static uint32_t step_from(const struct type_outlook *f, double at_s)
{
	uint32_t lo = 0, hi = f->n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (f->steps[mid].at_s < at_s)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The step that begins at at_s, split off where there is none. */
static uint32_t split(struct type_outlook *f, struct arena *scratch, double at_s)
{
	uint32_t at = step_from(f, at_s);

	if (at == f->n || f->steps[at].at_s > at_s)
		push(f, scratch, at, (struct step){ at_s, f->steps[at - 1].free });
	return at;
}

/* Takes devices from from_s to to_s. */
static void take(struct type_outlook *f, struct arena *scratch, double from_s, double to_s, int64_t gpus)
{
	uint32_t first = split(f, scratch, from_s);
	uint32_t last = isinf(to_s) ? f->n : split(f, scratch, to_s);

	for (uint32_t i = first; i < last; i++)
		f->steps[i].free -= gpus;
}

/* The earliest time from which `gpus` devices are free for run_s; INFINITY if that never comes. */
static double earliest(const struct type_outlook *f, int64_t gpus, double run_s)
{
	double from_s = NAN;

	for (uint32_t i = 0; i < f->n; i++) {
		if (f->steps[i].free < gpus) {
			from_s = NAN;
			continue;
		}
		if (isnan(from_s))
			from_s = f->steps[i].at_s;
		if (i + 1 == f->n || f->steps[i + 1].at_s >= from_s + run_s)
			return from_s;
	}
	return INFINITY;
}

/* How long it will still hold the devices it has, as far as is believed; at least a moment. */
static double believed_left_s(const struct round *round, const struct job *job)
{
	double steps = job->work_est - job_done(job, round->now_s);

	return fmax(1, fmax(0, job->ready_s - round->now_s) + steps / job->rate);
}

/* How long it would hold devices of the type if it started now. */
static double believed_run_s(const struct round *round, const struct job *job, uint32_t type)
{
	double steps = job->work_est - job_done(job, round->now_s);
	double cost_s = job->attempts > 0 ? job->resume_cost_s : job->start_cost_s;

	return fmax(1, cost_s + steps / rate_if(round->belief, job, type, job_gpus_on(job, type)));
}

double stays_by_belief(const struct round *round, const struct job *job, uint32_t type)
{
	return job->grant ? believed_left_s(round, job) : believed_run_s(round, job, type);
}

double stays_by_limit(const struct round *round, const struct job *job, uint32_t type)
{
	(void)type;
	return fmax(1, job_limit_left_s(job, round->now_s));
}

static int by_time(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

/* Steps of devices given back become steps of devices free, one for each moment. */
static void add_up(struct type_outlook *f)
{
	uint32_t kept = 1;

	qsort(f->steps + 1, f->n - 1, sizeof(*f->steps), by_time);
	for (uint32_t i = 1; i < f->n; i++) {
		struct step step = { f->steps[i].at_s, f->steps[kept - 1].free + f->steps[i].free };

		if (step.at_s == f->steps[kept - 1].at_s)
			f->steps[kept - 1].free = step.free;
		else
			f->steps[kept++] = step;
	}
	f->n = kept;
}

static struct type_outlook look_ahead(const struct outlook *o, const struct plan *plan, uint32_t type)
{
	const struct round *round = o->round;
	uint32_t cap = round->nactive + 1;
	struct type_outlook f = { .steps = arena_array(round->scratch, struct step, cap), .cap = cap };

	f.steps[f.n++] = (struct step){ round->now_s, plan_free(plan, type) };
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		const struct grant *grant = plan_grant(plan, job->id);

		if (job_active(job) && grant && grant->type == type)
			f.steps[f.n++] = (struct step){ round->now_s + o->stays_s(round, job, type),
				grant->gpus };
	}
	add_up(&f);
	return f;
}

void outlook_make(struct outlook *o, const struct round *round, const struct plan *plan,
	stays_fn *stays_s)
{
	uint32_t ntypes = round->cluster->ntypes;

	*o = (struct outlook){ .round = round, .stays_s = stays_s };
	o->types = arena_array(round->scratch, struct type_outlook, ntypes);
	for (uint32_t t = 0; t < ntypes; t++)
		o->types[t] = look_ahead(o, plan, t);
}

uint32_t outlook_first(const struct outlook *o, const struct job *job, double *at_s)
{
	uint32_t types[TYPES_MAX], best = UINT32_MAX;
	uint32_t n = kit_types(o->round, job, types);

	*at_s = INFINITY;
	for (uint32_t i = 0; i < n; i++) {
		double from_s = earliest(&o->types[types[i]], job_gpus_on(job, types[i]),
			o->stays_s(o->round, job, types[i]));

		if (from_s < *at_s) {
			*at_s = from_s;
			best = types[i];
		}
	}
	return best;
}

void outlook_take(struct outlook *o, const struct job *job, uint32_t type, double at_s)
{
	outlook_take_for(o, type, job_gpus_on(job, type), at_s, o->stays_s(o->round, job, type));
}

double outlook_when(const struct outlook *o, uint32_t type, uint32_t gpus, double run_s)
{
	return earliest(&o->types[type], gpus, run_s);
}

void outlook_take_for(struct outlook *o, uint32_t type, uint32_t gpus, double at_s, double run_s)
{
	take(&o->types[type], o->round->scratch, at_s, at_s + run_s, gpus);
}
