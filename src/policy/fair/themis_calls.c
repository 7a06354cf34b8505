/*
 * Leases of Themis that end early.
 */
#include "policy/fair/themis_calls.h"

#include <math.h>
#include <stdlib.h>

/* A job that waits or has a lease, and how its app stands if it has no devices until the next lease ends. */
struct side {
	uint32_t job;
	double rho;
	bool called; /* its lease has ended */
};

struct sides {
	const struct apps *apps;
	double times;
	struct side *waiting, *holding; /* the best off first */
	uint32_t nwaiting, nholding;
	uint32_t *chosen; /* of those who hold, for one who waits */
	uint32_t free[TYPES_MAX];
};

static int by_rho(const void *a, const void *b)
{
	const struct side *x = a, *y = b;

	if (x->rho != y->rho)
		return x->rho < y->rho ? -1 : 1;
	return x->job < y->job ? -1 : x->job > y->job;
}

static struct app_memory *memory_of(const struct apps *a, uint32_t job)
{
	return (struct app_memory *)a->round->job_state + job;
}

/* Seconds until the first lease ends; INFINITY: there is none. */
static double wait_s(const struct apps *a)
{
	double end_s = INFINITY;

	for (uint32_t i = 0; i < a->nleases; i++)
		end_s = fmin(end_s, memory_of(a, a->leases[i].job)->lease_end_s);
	return end_s - a->round->now_s;
}

/* What the job does not do so long, and what it costs to resume it, come to its app's time. */
static double rho_without(const struct apps *a, const struct app_lease *lease, double pause_s)
{
	const struct app *app = &a->at[lease->app];
	double lost_s = pause_s + a->round->jobs[lease->job].resume_cost_s;

	return finish_rho(a->round->now_s - app->since_s + lost_s * lease->power / app->held +
			app->left_gpu_s / app->held,
		app->ideal_s);
}

static void take_sides(struct sides *s, const struct apps *a, double pause_s)
{
	s->waiting = arena_array(a->round->scratch, struct side, a->n);
	s->holding = arena_array(a->round->scratch, struct side, a->nleases);
	s->chosen = arena_array(a->round->scratch, uint32_t, a->nleases);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct app *app = &a->at[i];
		uint32_t job = app->njobs ? a->jobs[app->first] : 0;

		if (app->held == 0 && app->njobs > 0 && !job_is_fraction(&a->round->jobs[job]))
			s->waiting[s->nwaiting++] = (struct side){ .job = job,
				.rho = app_rho_after(a, app, pause_s) };
	}
	for (uint32_t i = 0; i < a->nleases; i++) {
		uint32_t job = a->leases[i].job;

		if (!job_is_fraction(&a->round->jobs[job]))
			s->holding[s->nholding++] = (struct side){ .job = job,
				.rho = rho_without(a, &a->leases[i], pause_s) };
	}
	qsort(s->waiting, s->nwaiting, sizeof(*s->waiting), by_rho);
	qsort(s->holding, s->nholding, sizeof(*s->holding), by_rho);
	for (uint32_t type = 0; type < a->round->cluster->ntypes; type++)
		s->free[type] = plan_free(a->plan, type);
}

static const struct grant *grant_of(const struct sides *s, uint32_t holder)
{
	return s->apps->round->jobs[s->holding[holder].job].grant;
}

/* Those who would give way for `need` devices of a type, in `chosen`; UINT32_MAX: all of them do not suffice. */
static uint32_t choose(struct sides *s, uint32_t type, uint32_t need, double rho)
{
	uint32_t has = s->free[type], n = 0, kept = 0;

	for (uint32_t i = 0; i < s->nholding && has < need && s->times * s->holding[i].rho < rho; i++) {
		if (s->holding[i].called || grant_of(s, i)->type != type)
			continue;
		has += grant_of(s, i)->gpus;
		s->chosen[n++] = i;
	}
	if (has < need)
		return UINT32_MAX;
	for (uint32_t i = n; i-- > 0;) {
		uint32_t gpus = grant_of(s, s->chosen[i])->gpus;

		if (has - gpus >= need) /* the others suffice */
			has -= gpus;
		else
			s->chosen[n - ++kept] = s->chosen[i];
	}
	for (uint32_t i = 0; i < kept; i++)
		s->chosen[i] = s->chosen[n - kept + i];
	s->free[type] = has - need;
	return kept;
}

static void call_for(struct sides *s, const struct side *waits, struct app_calls *out)
{
	const struct round *round = s->apps->round;
	const struct job *job = &round->jobs[waits->job];
	uint32_t types[TYPES_MAX], ntypes = kit_types(round, job, types);

	for (uint32_t k = 0; k < ntypes; k++) {
		uint32_t gpus = job_gpus_on(job, types[k]);
		uint32_t n = choose(s, types[k], gpus, waits->rho);

		if (n == UINT32_MAX)
			continue;
		for (uint32_t i = 0; i < n; i++) {
			s->holding[s->chosen[i]].called = true;
			memory_of(s->apps, s->holding[s->chosen[i]].job)->lease_end_s = round->now_s;
		}
		out->ended += n;
		if (n > 0) /* else it bids for what is free */
			out->at[out->n++] = (struct app_call){ job->id, types[k], gpus };
		return;
	}
}

void apps_call(const struct apps *apps, double times, struct app_calls *out)
{
	struct sides s = { .apps = apps, .times = times };
	double pause_s = wait_s(apps);

	*out = (struct app_calls){ 0 };
	if (pause_s == INFINITY)
		return;
	take_sides(&s, apps, pause_s);
	out->at = arena_array(apps->round->scratch, struct app_call, s.nwaiting);
	for (uint32_t i = s.nwaiting; i-- > 0;) {
		if (s.nholding == 0 || !(times * s.holding[0].rho < s.waiting[i].rho))
			return; /* nobody is so well off */
		call_for(&s, &s.waiting[i], out);
	}
}
