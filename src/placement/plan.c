/*
 * Plans: edits of the desired state, and the ledger that goes with it.
 */
#include "placement/plan.h"

#include <assert.h>
#include <math.h>

#include "placement/plan_parts.h"
#include "placement/quota.h"

struct plan_entry *plan_entry_of(struct plan *plan, uint32_t job)
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

/* ---- the ledger */

struct job plan_bare(const struct job *job)
{
	struct job bare = *job;

	bare.cpus = 0;
	bare.mem_bytes = 0;
	return bare;
}

static void take_remote(struct plan *plan, const struct job *job, const struct grant *grant)
{
	struct job there = plan_bare(job);

	space_host(&plan->space, job, grant->host - 1);
	for (uint32_t i = 0; i < grant->nslots; i++)
		space_take(&plan->space, &there, grant->gpus, grant->slots[i]);
}

static void give_remote(struct plan *plan, const struct job *job, const struct grant *grant)
{
	struct job there = plan_bare(job);

	space_unhost(&plan->space, job, grant->host - 1);
	for (uint32_t i = 0; i < grant->nslots; i++)
		space_give(&plan->space, &there, grant->gpus, grant->slots[i]);
}

/* The job as if it had asked for so much of its hosts: itself where nothing else is said. */
static const struct job *as_if(const struct job *job, double cpus, int64_t mem_bytes, struct job *copy)
{
	if (!(cpus > 0) && mem_bytes <= 0)
		return job;
	*copy = *job;
	if (cpus > 0)
		copy->cpus = cpus;
	if (mem_bytes > 0)
		copy->mem_bytes = mem_bytes;
	return copy;
}

void plan_take(struct plan *plan, const struct job *job, const struct grant *grant)
{
	struct job copy;

	plan->stirred++;
	job = as_if(job, grant->cpus, grant->mem_bytes, &copy);
	if (grant->host)
		take_remote(plan, job, grant);
	for (uint32_t i = 0; i < grant->nslots; i++) {
		if (!grant->host)
			space_take(&plan->space, job, grant->gpus, grant->slots[i]);
		if (plan->placer->took)
			plan->placer->took(plan->placer_state, job, grant->slots[i]);
	}
	if (plan->quota)
		quota_take(plan->quota, job, grant);
}

void plan_give(struct plan *plan, const struct job *job, const struct grant *grant)
{
	struct job copy;

	plan->stirred++;
	job = as_if(job, grant->cpus, grant->mem_bytes, &copy);
	if (grant->host)
		give_remote(plan, job, grant);
	for (uint32_t i = 0; i < grant->nslots; i++) {
		if (!grant->host)
			space_give(&plan->space, job, grant->gpus, grant->slots[i]);
		if (plan->placer->gave)
			plan->placer->gave(plan->placer_state, job, grant->slots[i]);
	}
	if (plan->quota)
		quota_give(plan->quota, job, grant);
}

/* ---- grants */

uint32_t plan_gpus_wanted(const struct want *want, const struct job *job, uint32_t type)
{
	return want->gpus ? want->gpus : job_gpus_on(job, type);
}

/* Whether its devices are as many and of the type wanted. */
static bool devices_suit(const struct grant *grant, const struct job *job, const struct want *want)
{
	return grant && !grant->mixed && grant->gpus == plan_gpus_wanted(want, job, grant->type) &&
		(want->type == TYPE_ANY || grant->type == (uint32_t)want->type);
}

bool plan_terms_suit(const struct grant *grant, const struct want *want)
{
	return grant->batch == want->batch && grant->share == want->share &&
		grant->until_s == want->until_s && grant->steps == want->steps &&
		grant->balanced == want->balance && grant->cpus == want->cpus &&
		grant->mem_bytes == want->mem_bytes && grant->guest == want->guest &&
		grant->host == want->host && grant->link_Bps == want->link_Bps;
}

struct grant *plan_make_grant(const struct plan *plan, const struct slot *slots, uint32_t nslots,
	const struct want *want)
{
	struct grant *grant = mem_alloc(sizeof(*grant) + sizeof(struct slot) * nslots);

	grant->nslots = nslots;
	grant->batch = want->batch;
	grant->balanced = want->balance;
	grant->share = want->share;
	grant->until_s = want->until_s;
	grant->steps = want->steps;
	grant->guest = want->guest;
	grant->host = want->host;
	grant->link_Bps = want->link_Bps;
	grant->cpus = want->cpus;
	grant->mem_bytes = want->mem_bytes;
	memcpy(grant->slots, slots, sizeof(struct slot) * nslots);
	for (uint32_t i = 0; i < nslots; i++)
		grant->gpus += (uint32_t)__builtin_popcountll(slots[i].devices);
	grant_set_type(grant, plan->space.cluster);
	return grant;
}

struct grant *plan_renew(const struct plan *plan, struct grant *grant, const struct want *want)
{
	if (plan_terms_suit(grant, want))
		return grant;
	return plan_make_grant(plan, grant->slots, grant->nslots, want);
}

/* ---- edits */

const struct job *plan_complete(struct want *want, const struct job *job, struct job *copy)
{
	double most = job_is_fraction(job) ? job->share : 1;

	if (want->share == 0 || want->share > most)
		want->share = most;
	return as_if(job, want->cpus, want->mem_bytes, copy);
}

void plan_settle_on(struct plan *plan, const struct job *job, struct grant *found)
{
	struct plan_entry *e = plan_entry_of(plan, job->id);

	if (e->next != e->held && e->next != found)
		free(e->next);
	plan_take(plan, job, found);
	e->next = found;
	touch(plan, e, job->id);
}

struct grant *plan_lift(struct plan *plan, const struct job *job)
{
	struct grant *before = plan_entry_of(plan, job->id)->next;

	if (before)
		plan_give(plan, job, before);
	return before;
}

bool plan_put_down(struct plan *plan, const struct job *job, const struct grant *before,
	struct grant *found)
{
	if (found)
		plan_settle_on(plan, job, found);
	else if (before)
		plan_take(plan, job, before);
	return found != NULL;
}

bool plan_run(struct plan *plan, const struct job *job, struct want want)
{
	struct plan_entry *e = plan_entry_of(plan, job->id);
	struct grant *before, *found;
	struct job copy, there;
	const struct job *asks = plan_complete(&want, job, &copy);
	bool hosted = true;

	if (!want.move && devices_suit(e->next, job, &want) && plan_terms_suit(e->next, &want))
		return true;
	before = plan_lift(plan, job);
	if (want.host) {
		hosted = space_can_host(&plan->space, asks, want.host - 1);
		there = plan_bare(asks);
		asks = &there;
	}
	if (!hosted)
		found = NULL;
	else if (!want.move && devices_suit(e->held, job, &want) && plan_can_keep(plan, asks, e->held))
		found = plan_renew(plan, e->held, &want);
	else
		found = plan_find(plan, asks, &want);
	return plan_put_down(plan, job, before, found);
}

void plan_stop(struct plan *plan, const struct job *job)
{
	struct plan_entry *e = plan_entry_of(plan, job->id);

	if (!e->next)
		return;
	plan_give(plan, job, e->next);
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

void plan_rent(struct plan *plan, uint32_t node, bool rent)
{
	vec_push(&plan->rentals, (struct plan_rental){ node, rent });
}

const struct grant *plan_grant(const struct plan *plan, uint32_t job)
{
	return job < plan->entries.n ? plan->entries.at[job].next : NULL;
}

uint32_t plan_free(const struct plan *plan, uint32_t type)
{
	return plan->space.types[type].free;
}

uint32_t plan_room(const struct plan *plan, const struct job *job, uint32_t type)
{
	uint32_t room = plan->space.types[type].free, at = 0, node;

	if (!job_is_fraction(job))
		return room;
	while ((node = space_next_parted(&plan->space, type, &at)) != UINT32_MAX)
		room += (uint32_t)__builtin_popcountll(space_room(&plan->space, job, node));
	return room;
}

/* ---- reasons */

void plan_wake(struct plan *plan, double at_s)
{
	if (at_s < plan->wake_s)
		plan->wake_s = at_s;
}

bool plan_refuses(struct plan *plan, const struct job *job)
{
	if (plan->refused != job->id)
		return false;
	plan_why(plan, job->id, plan->note.why);
	return true;
}

void plan_why(struct plan *plan, uint32_t job, struct reason reason)
{
	struct plan_entry *e = plan_entry_of(plan, job);

	if (e->told)
		return;
	e->told = true;
	vec_push(&plan->reasons, (struct plan_reason){ .job = job, .reason = reason });
}

/* ---- the engine's part */

void plan_init(struct plan *plan, const struct cluster *cluster, const struct placer *placer,
	void *placer_state, uint64_t seed)
{
	*plan = (struct plan){
		.placer = placer,
		.placer_state = placer_state,
		.refused = JOB_NONE,
		.wake_s = INFINITY,
	};
	if (placer->takes_back)
		plan->reclaim = placer->reclaim ? *placer->reclaim : reclaim_by_class;
	if (placer->reclaim)
		plan->reclaim.self = placer_state;
	space_init(&plan->space, cluster);
	rng_init(&plan->rng, seed, RNG_PLACER);
}

void plan_set_quota(struct plan *plan, struct quota *quota, bool gated)
{
	plan->quota = quota;
	plan->gated = gated;
	if (gated)
		plan->reclaim = quota_reclaim(quota, plan->reclaim);
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
	vec_fini(&plan->joined);
	vec_fini(&plan->seats);
	vec_fini(&plan->holders);
	vec_fini(&plan->groups);
	vec_fini(&plan->given);
	vec_fini(&plan->lent);
	vec_fini(&plan->rentals);
	space_fini(&plan->space);
	space_fini(&plan->empty);
}

void plan_begin(struct plan *plan)
{
	plan->refused = JOB_NONE;
	for (size_t i = 0; i < plan->reasons.n; i++)
		plan->entries.at[plan->reasons.at[i].job].told = false;
	free_dropped(plan);
	plan->touched.n = 0;
	plan->reasons.n = 0;
	plan->rentals.n = 0;
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
	space_keep(&plan->space);
}

void plan_drop(struct plan *plan, const struct job *job)
{
	struct plan_entry *e = plan_entry_of(plan, job->id);

	assert(e->held == e->next);
	if (!e->held)
		return;
	plan_give(plan, job, e->held);
	vec_push(&plan->dropped, e->held);
	e->held = e->next = NULL;
	space_keep(&plan->space);
}

const struct grant *plan_adopt(struct plan *plan, const struct job *job, const struct grant *grant)
{
	struct plan_entry *e = plan_entry_of(plan, job->id);
	size_t size = sizeof(*grant) + grant->nslots * sizeof(grant->slots[0]);

	assert(!e->held && !e->next);
	e->held = e->next = mem_alloc(size);
	memcpy(e->held, grant, size);
	plan_take(plan, job, e->held);
	return e->held;
}

/* Rules that keep books hear which devices of a node nobody new can have. */
static void tell_placer(struct plan *plan, uint32_t node)
{
	const struct space_node *n = &plan->space.nodes[node];

	if (plan->placer->turned)
		plan->placer->turned(plan->placer_state, node,
			n->up ? n->down | n->drained : UINT64_MAX);
}

void plan_node_up(struct plan *plan, uint32_t node, bool up)
{
	space_set_up(&plan->space, node, up);
	tell_placer(plan, node);
}

void plan_devices_up(struct plan *plan, uint32_t node, uint64_t devices, bool up)
{
	space_set_devices_up(&plan->space, node, devices, up);
	tell_placer(plan, node);
}

void plan_devices_drain(struct plan *plan, uint32_t node, uint64_t devices)
{
	space_set_drained(&plan->space, node, devices);
	tell_placer(plan, node);
}
