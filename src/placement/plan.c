/*
 * Plans: edits of the desired state, and the ledger that goes with it.
 */
#include "placement/plan.h"

#include <assert.h>
#include <math.h>

void plan_init(struct plan *plan, const struct cluster *cluster, const struct placer *placer,
	void *placer_state, uint64_t seed)
{
	*plan = (struct plan){ .placer = placer, .placer_state = placer_state, .wake_s = INFINITY };
	space_init(&plan->space, cluster);
	rng_init(&plan->rng, seed, RNG_PLACER);
}

static void free_dropped(struct plan *plan)
{
	for (size_t i = 0; i < plan->dropped.n; i++)
		free(plan->dropped.at[i]);
	plan->dropped.n = 0;
}

void plan_fini(struct plan *plan)
{
	for (size_t i = 0; i < plan->entries.n; i++) {
		struct plan_entry *e = &plan->entries.at[i];

		if (e->held != e->next)
			free(e->held);
		free(e->next);
	}
	free_dropped(plan);
	vec_fini(&plan->dropped);
	vec_fini(&plan->entries);
	vec_fini(&plan->touched);
	vec_fini(&plan->reasons);
	vec_fini(&plan->found);
	space_fini(&plan->space);
	space_fini(&plan->empty);
}

static struct plan_entry *entry_of(struct plan *plan, uint32_t job)
{
	vec_grow_zero(&plan->entries, (size_t)job + 1);
	return &plan->entries.at[job];
}

static void touch(struct plan *plan, struct plan_entry *e, uint32_t job)
{
	if (e->touched)
		return;
	e->touched = true;
	vec_push(&plan->touched, job);
}

static void take(struct plan *plan, const struct job *job, const struct grant *grant)
{
	for (uint32_t i = 0; i < grant->nslots; i++)
		space_take(&plan->space, job, grant->gpus, grant->slots[i]);
}

static void give(struct plan *plan, const struct job *job, const struct grant *grant)
{
	for (uint32_t i = 0; i < grant->nslots; i++)
		space_give(&plan->space, job, grant->gpus, grant->slots[i]);
}

/* Whether every device of the grant is free and fed, so that it can be had (again). */
static bool available(const struct plan *plan, const struct job *job, const struct grant *grant)
{
	for (uint32_t i = 0; i < grant->nslots; i++) {
		struct slot slot = grant->slots[i];
		const struct space_node *node = &plan->space.nodes[slot.node];
		uint32_t n = (uint32_t)__builtin_popcountll(slot.devices);

		if (!node->up || (slot.devices & ~node->free) ||
			!space_feeds(&plan->space, job, grant->gpus, slot.node, n))
			return false;
	}
	return true;
}

/* Whether its devices are as many and of the type wanted. */
static bool devices_suit(const struct grant *grant, const struct want *want)
{
	return grant && grant->gpus == want->gpus &&
		(want->type == TYPE_ANY || grant->type == (uint32_t)want->type);
}

static bool terms_suit(const struct grant *grant, const struct want *want)
{
	return grant->batch == want->batch && grant->share == want->share &&
		grant->until_s == want->until_s && grant->steps == want->steps;
}

static bool suits(const struct grant *grant, const struct want *want)
{
	return devices_suit(grant, want) && terms_suit(grant, want);
}

static struct grant *grant_create(const struct slot *slots, uint32_t nslots, uint32_t type,
	const struct want *want)
{
	struct grant *grant = mem_alloc(sizeof(*grant) + sizeof(struct slot) * nslots);

	grant->type = type;
	grant->gpus = want->gpus;
	grant->nslots = nslots;
	grant->batch = want->batch;
	grant->share = want->share;
	grant->until_s = want->until_s;
	grant->steps = want->steps;
	memcpy(grant->slots, slots, sizeof(struct slot) * nslots);
	return grant;
}

/* The devices of a grant on the terms wanted: the grant itself where it has them. */
static struct grant *renew(struct grant *grant, const struct want *want)
{
	if (terms_suit(grant, want))
		return grant;
	return grant_create(grant->slots, grant->nslots, grant->type, want);
}

static bool allows(const struct job *job, uint32_t type)
{
	return job->types == 0 || (job->types >> type & 1);
}

static bool choose(struct plan *plan, const struct space *space, const struct job *job,
	uint32_t gpus, uint32_t type, struct rng *rng)
{
	struct placing p = {
		.space = space,
		.job = job,
		.belief = plan->belief,
		.gpus = gpus,
		.type = type,
		.rng = rng,
	};

	if (!allows(job, type) || space->types[type].free < gpus)
		return false;
	plan->found.n = plan->found.gpus = 0;
	return plan->placer->choose(plan->placer_state, &p, &plan->found);
}

/* Whether the placer's answer is what it was asked for: so many devices, each free and named once. */
static bool answer_holds(const struct plan *plan, const struct want *want, uint32_t type)
{
	uint32_t gpus = 0;

	for (uint32_t i = 0; i < plan->found.n; i++) {
		struct slot slot = plan->found.at[i];
		const struct space_node *node = &plan->space.nodes[slot.node];

		if (plan->space.cluster->nodes[slot.node].type != type || !node->up ||
			(slot.devices & ~node->free))
			return false;
		for (uint32_t j = 0; j < i; j++) {
			if (plan->found.at[j].node == slot.node)
				return false;
		}
		gpus += (uint32_t)__builtin_popcountll(slot.devices);
	}
	return gpus == want->gpus;
}

/* New devices for the job, or NULL. */
static struct grant *find(struct plan *plan, const struct job *job, const struct want *want)
{
	uint32_t first = want->type == TYPE_ANY ? 0 : (uint32_t)want->type;
	uint32_t last = want->type == TYPE_ANY ? plan->space.cluster->ntypes - 1 : first;

	for (uint32_t type = first; type <= last; type++) {
		if (!choose(plan, &plan->space, job, want->gpus, type, &plan->rng))
			continue;
		if (answer_holds(plan, want, type))
			return grant_create(plan->found.at, plan->found.n, type, want);
		plan->placer_erred = true;
	}
	return NULL;
}

static void complete(struct want *want, const struct job *job)
{
	if (want->gpus == 0)
		want->gpus = (uint32_t)job->gpus;
	if (want->share == 0)
		want->share = 1;
}

/* The job shall have `found` instead of what it had in the plan, which has been given back. */
static void settle_on(struct plan *plan, const struct job *job, struct grant *found)
{
	struct plan_entry *e = entry_of(plan, job->id);

	if (e->next != e->held && e->next != found)
		free(e->next);
	take(plan, job, found);
	e->next = found;
	touch(plan, e, job->id);
}

bool plan_run(struct plan *plan, const struct job *job, struct want want)
{
	struct plan_entry *e = entry_of(plan, job->id);
	struct grant *before = e->next, *found;

	complete(&want, job);
	if (suits(before, &want) && !want.move)
		return true;
	if (before)
		give(plan, job, before);
	if (!want.move && devices_suit(e->held, &want) && available(plan, job, e->held))
		found = renew(e->held, &want);
	else
		found = find(plan, job, &want);
	if (!found) {
		if (before)
			take(plan, job, before);
		return false;
	}
	settle_on(plan, job, found);
	return true;
}

/* Whether the nodes of `grant` have CPUs and memory left for another job on the same devices. */
static bool feeds_another(const struct plan *plan, const struct job *job, const struct grant *grant)
{
	for (uint32_t i = 0; i < grant->nslots; i++) {
		struct slot slot = grant->slots[i];

		if (!space_feeds(&plan->space, job, grant->gpus, slot.node,
			    (uint32_t)__builtin_popcountll(slot.devices)))
			return false;
	}
	return true;
}

bool plan_run_beside(struct plan *plan, const struct job *job, const struct job *host, struct want want)
{
	struct plan_entry *e = entry_of(plan, job->id);
	const struct grant *with = plan_grant(plan, host->id);
	struct grant *before = e->next;

	complete(&want, job);
	if (!with || with->gpus != want.gpus || !allows(job, with->type))
		return false;
	if (before && grant_same_devices(before, with) && terms_suit(before, &want))
		return true;
	if (before)
		give(plan, job, before);
	if (!feeds_another(plan, job, with)) {
		if (before)
			take(plan, job, before);
		return false;
	}
	if (e->held && grant_same_devices(e->held, with))
		settle_on(plan, job, renew(e->held, &want));
	else
		settle_on(plan, job, grant_create(with->slots, with->nslots, with->type, &want));
	return true;
}

void plan_stop(struct plan *plan, const struct job *job)
{
	struct plan_entry *e = entry_of(plan, job->id);

	if (!e->next)
		return;
	give(plan, job, e->next);
	if (e->next != e->held)
		free(e->next);
	e->next = NULL;
	touch(plan, e, job->id);
}

void plan_clear(struct plan *plan, const struct job *jobs, const uint32_t *active, uint32_t nactive)
{
	for (uint32_t i = 0; i < nactive; i++) {
		if (plan_grant(plan, active[i]))
			plan_stop(plan, &jobs[active[i]]);
	}
}

const struct grant *plan_grant(const struct plan *plan, uint32_t job)
{
	return job < plan->entries.n ? plan->entries.at[job].next : NULL;
}

uint32_t plan_free(const struct plan *plan, uint32_t type)
{
	return plan->space.types[type].free;
}

void plan_wake(struct plan *plan, double at_s)
{
	if (at_s < plan->wake_s)
		plan->wake_s = at_s;
}

void plan_why(struct plan *plan, uint32_t job, struct reason reason)
{
	struct plan_entry *e = entry_of(plan, job);

	if (e->told)
		return;
	e->told = true;
	vec_push(&plan->reasons, (struct plan_reason){ .job = job, .reason = reason });
}

void plan_begin(struct plan *plan)
{
	for (size_t i = 0; i < plan->reasons.n; i++)
		plan->entries.at[plan->reasons.at[i].job].told = false;
	free_dropped(plan);
	plan->touched.n = 0;
	plan->reasons.n = 0;
	plan->wake_s = INFINITY;
}

void plan_commit(struct plan *plan)
{
	for (size_t i = 0; i < plan->touched.n; i++) {
		struct plan_entry *e = &plan->entries.at[plan->touched.at[i]];

		if (e->held != e->next)
			free(e->held);
		e->held = e->next;
		e->touched = false;
	}
	plan->touched.n = 0;
}

void plan_drop(struct plan *plan, const struct job *job)
{
	struct plan_entry *e = entry_of(plan, job->id);

	assert(e->held == e->next);
	if (!e->held)
		return;
	give(plan, job, e->held);
	vec_push(&plan->dropped, e->held);
	e->held = e->next = NULL;
}

void plan_node_up(struct plan *plan, uint32_t node, bool up)
{
	space_set_up(&plan->space, node, up);
}

bool plan_could_ever(struct plan *plan, const struct job *job)
{
	struct rng rng = plan->rng;

	if (!plan->empty.cluster)
		space_init(&plan->empty, plan->space.cluster);
	for (uint32_t type = 0; type < plan->space.cluster->ntypes; type++) {
		if (choose(plan, &plan->empty, job, (uint32_t)job->gpus, type, &rng))
			return true;
	}
	return false;
}
