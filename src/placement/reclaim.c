/*
 * Taking back what is lent: list who yields, give back as much as it takes, stop who is in the way.
 */
#include "placement/reclaim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "placement/plan_parts.h"
#include "placement/quota.h"

static bool guaranteed(void *self, const struct plan *plan, const struct job *job, uint32_t gpus)
{
	(void)self;
	(void)plan;
	(void)gpus;
	return job->class_ == JOB_GUARANTEED;
}

static double opportunistic(void *self, const struct plan *plan, const struct job *holder,
	const struct job *job)
{
	(void)self;
	(void)job;
	return holder->class_ == JOB_OPPORTUNISTIC ? -job_served_s(holder, plan->now_s) : NAN;
}

static bool outclasses(void *self, const struct plan *plan, const struct job *holder,
	const struct job *job)
{
	(void)self;
	(void)plan;
	return holder->class_ == JOB_GUARANTEED && job->class_ == JOB_OPPORTUNISTIC;
}

const struct reclaim reclaim_by_class = {
	.entitled = guaranteed,
	.yields = opportunistic,
	.keeps = outclasses,
};

/* ---- who yields */

static bool more_ready(const struct reclaim_holder *x, const struct reclaim_holder *y)
{
	if (x->readiness != y->readiness)
		return x->readiness > y->readiness;
	return x->job > y->job; /* who came last goes first */
}

static int by_job(const void *a, const void *b)
{
	const struct reclaim_holder *x = a, *y = b;

	return (x->job > y->job) - (x->job < y->job);
}

static int by_tenant(const void *a, const void *b)
{
	const struct reclaim_holder *x = a, *y = b;

	if (x->tenant != y->tenant)
		return x->tenant < y->tenant ? -1 : 1;
	return more_ready(x, y) ? -1 : more_ready(y, x);
}

static double readiness_of(const struct plan *plan, uint32_t holder, const struct job *job)
{
	return plan->reclaim.yields(plan->reclaim.self, plan, &plan->jobs[holder], job);
}

static void list_users_of(struct plan *plan, uint32_t type)
{
	const struct space_type *all = &plan->space.types[type];

	for (uint32_t i = 0; i < all->nnodes; i++) {
		const struct space_node *node = &plan->space.nodes[all->nodes[i]];

		for (size_t k = 0; k < node->users.n; k++)
			vec_push(&plan->holders,
				(struct reclaim_holder){ .job = node->users.at[k].job });
	}
}

/*
 * Everybody with devices of the type, once each, in order of number; of all types where it is not devices that
 * are missing, but what a tenant above both may have.
 */
static void list_users(struct plan *plan, const struct job *job, struct grant_part part)
{
	bool all = !plan_allows(plan, job, part);
	size_t kept = 0;

	plan->holders.n = 0;
	for (uint32_t type = 0; type < plan->space.cluster->ntypes; type++) {
		if (all || type == part.type)
			list_users_of(plan, type);
	}
	if (plan->holders.n > 1)
		qsort(plan->holders.at, plan->holders.n, sizeof(*plan->holders.at), by_job);
	for (size_t i = 0; i < plan->holders.n; i++) {
		if (!kept || plan->holders.at[kept - 1].job != plan->holders.at[i].job)
			plan->holders.at[kept++] = plan->holders.at[i];
	}
	plan->holders.n = kept;
}

/* Of these, whoever the job may have instead, by tenant. */
static void list_holders(struct plan *plan, const struct job *job, struct grant_part part)
{
	size_t kept = 0;

	list_users(plan, job, part);
	for (size_t i = 0; i < plan->holders.n; i++) {
		uint32_t holder = plan->holders.at[i].job;
		double readiness = holder == job->id ? NAN : readiness_of(plan, holder, job);

		if (!isnan(readiness))
			plan->holders.at[kept++] = (struct reclaim_holder){ readiness, holder,
				plan->jobs[holder].tenant };
	}
	plan->holders.n = kept;
	if (kept > 1)
		qsort(plan->holders.at, kept, sizeof(*plan->holders.at), by_tenant);
	plan->groups.n = 0;
	for (size_t i = 0; i < kept; i++) {
		if (i == 0 || plan->holders.at[i - 1].tenant != plan->holders.at[i].tenant)
			vec_push(&plan->groups, (struct reclaim_group){ i, i });
		plan->groups.at[plan->groups.n - 1].end = i + 1;
	}
}

/* The first of a group that would yield as things are now. */
static struct reclaim_holder *head_of(struct plan *plan, struct reclaim_group *group,
	const struct job *job)
{
	for (; group->next < group->end; group->next++) {
		struct reclaim_holder *holder = &plan->holders.at[group->next];

		holder->readiness = readiness_of(plan, holder->job, job);
		if (!isnan(holder->readiness))
			return holder;
	}
	return NULL;
}

/* Whoever is most ready as things are now, or JOB_NONE; it is taken off its list. */
static uint32_t next_holder(struct plan *plan, const struct job *job)
{
	const struct reclaim_holder *best = NULL;
	size_t at = 0;

	for (size_t i = 0; i < plan->groups.n; i++) {
		const struct reclaim_holder *head = head_of(plan, &plan->groups.at[i], job);

		if (head && (!best || more_ready(head, best))) {
			best = head;
			at = i;
		}
	}
	if (!best)
		return JOB_NONE;
	plan->groups.at[at].next++;
	return best->job;
}

/* ---- giving back for a moment */

static const struct grant *grant_of(const struct plan *plan, uint32_t job)
{
	return plan->entries.at[job].next;
}

/* The next holder's devices are free for a moment; 0: there is none. */
static uint32_t give_back(struct plan *plan, const struct job *job)
{
	uint32_t holder = next_holder(plan, job);
	const struct grant *grant = holder == JOB_NONE ? NULL : grant_of(plan, holder);

	if (!grant)
		return 0;
	vec_push(&plan->given, holder);
	plan_give(plan, &plan->jobs[holder], grant);
	for (uint32_t i = 0; plan->lent.n && i < grant->nslots; i++)
		plan->lent.at[grant->slots[i].node] |= grant->slots[i].devices;
	return grant->gpus;
}

/* As many as make enough room by number before it is tried again; whoever weighs them itself gets all at once. */
static bool give_some_back(struct plan *plan, const struct job *job, struct grant_part part)
{
	bool any = give_back(plan, job) > 0;

	while (any && (plan->placer->takes_back || plan->space.types[part.type].free < part.gpus)) {
		if (!give_back(plan, job))
			break;
	}
	return any;
}

static void restore(struct plan *plan)
{
	for (size_t i = plan->given.n; i-- > 0;)
		plan_take(plan, &plan->jobs[plan->given.at[i]], grant_of(plan, plan->given.at[i]));
	plan->lent.n = 0;
}

/* ---- stopping who is in the way */

static bool in_the_way(const struct plan *plan, const struct grant *grant)
{
	for (uint32_t i = 0; i < grant->nslots; i++) {
		for (uint32_t k = 0; k < plan->found.n; k++) {
			if (grant->slots[i].node == plan->found.at[k].node &&
				grant->slots[i].devices & plan->found.at[k].devices)
				return true;
		}
	}
	return false;
}

/* Whether the nodes found have CPUs and memory for the job as things are. */
static bool starves(const struct plan *plan, const struct job *job)
{
	for (uint32_t i = 0; i < plan->found.n; i++) {
		struct slot slot = plan->found.at[i];

		if (!space_feeds(&plan->space, job, plan->found.gpus, slot.node,
			    (uint32_t)__builtin_popcountll(slot.devices)))
			return true;
	}
	return false;
}

static bool shares_node(const struct plan *plan, const struct grant *grant)
{
	for (uint32_t i = 0; i < grant->nslots; i++) {
		for (uint32_t k = 0; k < plan->found.n; k++) {
			if (grant->slots[i].node == plan->found.at[k].node)
				return true;
		}
	}
	return false;
}

/* One that runs is told what happened to it; one that was only about to, who comes before it. */
static void stop(struct plan *plan, uint32_t holder, const struct job *winner)
{
	const struct job *job = &plan->jobs[holder];
	struct reason why = { .why = WHY_RECLAIMED, .need = job->gpus, .other = winner->id };

	if (!job->grant)
		why.why = WHY_OUTRANKED;
	else if (plan->gated)
		quota_prove(plan->quota, job, &why);
	plan_why(plan, holder, why);
	plan_stop(plan, job);
}

/*
 * Of those who were asked, whoever holds what was found goes; others on its nodes only if CPUs or memory are
 * short, and anybody only while the job's tenant may not have so much beside them.
 */
static void clear_the_way(struct plan *plan, const struct job *job, struct grant_part part)
{
	for (size_t i = 0; i < plan->given.n; i++) {
		if (in_the_way(plan, grant_of(plan, plan->given.at[i])))
			stop(plan, plan->given.at[i], job);
	}
	for (size_t i = 0; i < plan->given.n && starves(plan, job); i++) {
		const struct grant *grant = grant_of(plan, plan->given.at[i]);

		if (grant && shares_node(plan, grant))
			stop(plan, plan->given.at[i], job);
	}
	for (size_t i = 0; i < plan->given.n && !plan_allows(plan, job, part); i++) {
		if (grant_of(plan, plan->given.at[i]))
			stop(plan, plan->given.at[i], job);
	}
}

bool reclaim_try(struct plan *plan, const struct job *job, struct grant_part part,
	bool (*find)(struct plan *plan, const struct job *job, struct grant_part part, uint32_t rest))
{
	const struct reclaim *r = &plan->reclaim;
	bool found = false, again;

	plan->asked = part;
	if (!r->entitled(r->self, plan, job, part.gpus))
		return false;
	plan->stirred++;
	if (plan->placer->takes_back)
		vec_grow_zero(&plan->lent, plan->space.cluster->nnodes);
	plan->given.n = 0;
	/* Once some have given back, others may have to as well: what they hold is then beyond what is theirs. */
	do {
		list_holders(plan, job, part);
		again = plan->holders.n > 0;
		while (!found && give_some_back(plan, job, part))
			found = find(plan, job, part, 0);
	} while (!found && again);
	restore(plan);
	if (found)
		clear_the_way(plan, job, part);
	return found;
}
