#include "policy/elastic/portion.h"

#include <stdlib.h>

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
