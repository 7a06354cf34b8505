#include "policy/elastic/portion.h"

#include <math.h>
#include <stdlib.h>

#include "model/elastic.h"
#include "policy/kit.h"

void portion_wait(const struct round *round, struct plan *plan, const struct job *job)
{
	struct job least = *job;

	if (job->grant) {
		plan_why(plan, job->id,
			(struct reason){ .why = WHY_OUTRANKED, .need = job->min_gpus, .other = JOB_NONE });
		return;
	}
	least.gpus = job->min_gpus;
	kit_no_room(round, plan, &least);
}

static int by_share(const void *a, const void *b)
{
	const struct node_share *x = a, *y = b;

	if (x->gpus != y->gpus)
		return x->gpus > y->gpus ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

bool portion_shrink(const struct round *round, struct plan *plan, const struct job *job, uint32_t gpus)
{
	const struct grant *grant = plan_grant(plan, job->id);
	struct node_share *at = arena_array(round->scratch, struct node_share, grant->nslots);
	uint32_t n = 0, left = gpus;

	for (uint32_t i = 0; i < grant->nslots; i++)
		at[i] = (struct node_share){ grant->slots[i].node,
			(uint32_t)__builtin_popcountll(grant->slots[i].devices) };
	qsort(at, grant->nslots, sizeof(*at), by_share);
	for (; n < grant->nslots && left > 0; n++) {
		if (at[n].gpus > left)
			at[n].gpus = left;
		left -= at[n].gpus;
	}
	return left == 0 && plan_run_at(plan, job, at, n, (struct want){ 0 });
}

/* ---- changes that are not worth it */

struct calm {
	const struct round *round;
	struct plan *plan;
	double room[TYPES_MAX]; /* devices beyond those that somebody must have */
	bool costs;
};

static double weight_of(const struct portion *p, uint32_t gpus)
{
	return job_is_fraction(p->job) ? gpus * p->job->share : gpus;
}

/* Whether it runs, shall run otherwise, and could as well go on as it does. */
static bool may_stay(const struct portion *p)
{
	const struct grant *has = p->job->grant;

	return has && p->gpus > 0 && !p->firm && !has->mixed && !job_is_fraction(p->job) &&
		(has->type != p->type || has->gpus != p->gpus);
}

static bool is_growth(const struct portion *p)
{
	return p->job->grant->type == p->type && p->job->grant->gpus < p->gpus;
}

static double believed_speed(const struct calm *c, const struct job *job, uint32_t type, uint32_t gpus)
{
	return elastic_speed(c->round->belief, job,
		configuration_packed(c->round->cluster, type, gpus), BATCHING_FIXED, NULL);
}

/*
 * When a change will pay: the time between two changes, as they were so far, must be longer than what is
 * paid over what is gained.  A job that was never changed has all the time there is.
 */
static double pays_at_s(const struct calm *c, const struct portion *p)
{
	const struct job *job = p->job;
	double cost_s = elastic_change_s(c->round->belief, job, p->gpus);
	double slower = believed_speed(c, job, job->grant->type, job->grant->gpus);
	double faster = believed_speed(c, job, p->type, p->gpus);

	if (!c->costs || !(slower > 0 && faster > slower))
		return c->round->now_s;
	return job->start_s + job->restarts * cost_s / (1 - slower / faster);
}

/* When it may be changed. */
static double calm_until_s(const struct calm *c, const struct portion *p)
{
	bool gains = is_growth(p) || p->job->grant->type != p->type;

	return fmax(p->job->ready_s, gains ? pays_at_s(c, p) : 0);
}

static void stay(struct calm *c, struct portion *p, double until_s)
{
	p->type = p->job->grant->type;
	p->gpus = p->job->grant->gpus;
	plan_wake(c->plan, until_s);
}

/* One that would give devices back keeps them if nobody must have them. */
static void hold_on(struct calm *c, struct portion *p)
{
	const struct grant *has = p->job->grant;
	double until_s = calm_until_s(c, p);
	double more = has->type == p->type ? (double)has->gpus - p->gpus : has->gpus;

	if (until_s <= c->round->now_s || more > c->room[has->type] + 1e-9)
		return;
	c->room[has->type] -= more;
	if (has->type != p->type)
		c->room[p->type] += p->gpus;
	stay(c, p, until_s);
}

static void grow(struct calm *c, struct portion *p)
{
	double until_s = calm_until_s(c, p);
	double more = (double)p->gpus - p->job->grant->gpus;

	if (until_s > c->round->now_s)
		stay(c, p, until_s);
	else if (more > c->room[p->type] + 1e-9)
		stay(c, p, INFINITY);
	else
		c->room[p->type] -= more;
}

void portions_calm(const struct round *round, struct plan *plan, struct portion *at, uint32_t n,
	bool costs)
{
	struct calm c = { .round = round, .plan = plan, .costs = costs };

	for (uint32_t type = 0; type < round->cluster->ntypes; type++)
		c.room[type] = round->up[type];
	for (uint32_t i = 0; i < n; i++)
		c.room[at[i].type] -= may_stay(&at[i]) && is_growth(&at[i])
			? at[i].job->grant->gpus
			: weight_of(&at[i], at[i].gpus);
	for (uint32_t i = 0; i < n; i++) {
		if (may_stay(&at[i]) && !is_growth(&at[i]))
			hold_on(&c, &at[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (may_stay(&at[i]) && is_growth(&at[i]))
			grow(&c, &at[i]);
	}
}

/* ---- the plan */

/* On its type, or fewer there, or as few or as many as it would like anywhere. */
static bool run(const struct round *round, struct plan *plan, const struct portion *p)
{
	uint32_t least = job_least_on(p->job, p->type);

	for (uint32_t gpus = p->gpus; gpus > 0; gpus = gpus / 2 < least ? least : gpus / 2) {
		if (plan_run(plan, p->job, (struct want){ .type = (int)p->type, .gpus = gpus }))
			return true;
		if (gpus <= least)
			break;
	}
	return !p->job->gpus_by_type && kit_run_on(round, plan, p->job, (uint32_t)p->job->min_gpus);
}

static bool stays(const struct plan *plan, const struct portion *p)
{
	const struct grant *grant = plan_grant(plan, p->job->id);

	return grant && grant->type == p->type && grant->gpus == p->gpus;
}

static bool shrinks(const struct plan *plan, const struct portion *p)
{
	const struct grant *grant = plan_grant(plan, p->job->id);

	return grant && grant->type == p->type && grant->gpus > p->gpus;
}

static int by_size(const void *a, const void *b)
{
	const struct portion *x = *(const struct portion *const *)a,
			     *y = *(const struct portion *const *)b;

	if (x->gpus != y->gpus)
		return x->gpus > y->gpus ? -1 : 1;
	return x < y ? -1 : x > y; /* of one array: the order given */
}

static void make_room(const struct round *round, struct plan *plan, const struct portion *at, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct grant *grant = plan_grant(plan, at[i].job->id);

		if (grant && (at[i].gpus == 0 || grant->type != at[i].type || grant->mixed))
			plan_stop(plan, at[i].job);
		else if (shrinks(plan, &at[i]) && !portion_shrink(round, plan, at[i].job, at[i].gpus))
			plan_run(plan, at[i].job,
				(struct want){ .type = (int)at[i].type, .gpus = at[i].gpus });
	}
}

/* Devices are left because somebody could not be placed, or jobs take a part of theirs only. */
static void fill(const struct round *round, struct plan *plan, const struct portion *at, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct job *job = at[i].job;

		if (plan_grant(plan, job->id))
			continue;
		if (kit_any_free(round, plan) &&
			((!job->gpus_by_type && kit_run_on(round, plan, job, (uint32_t)job->min_gpus)) ||
				kit_run(round, plan, job)))
			continue;
		portion_wait(round, plan, job);
	}
}

void portions_run(const struct round *round, struct plan *plan, const struct portion *at, uint32_t n)
{
	const struct portion **order = arena_array(round->scratch, const struct portion *, n);
	uint32_t norder = 0;

	make_room(round, plan, at, n);
	for (uint32_t i = 0; i < n; i++) {
		if (at[i].gpus > 0 && !stays(plan, &at[i]))
			order[norder++] = &at[i];
	}
	qsort(order, norder, sizeof(*order), by_size);
	for (uint32_t i = 0; i < norder; i++)
		run(round, plan, order[i]);
	fill(round, plan, at, n);
}
