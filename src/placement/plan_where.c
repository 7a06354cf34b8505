/*
 * Plans where the policy says where: parts of several types, given nodes, devices that another has, devices
 * named one by one.
 */
#include <assert.h>
#include <stdlib.h>

#include "placement/even.h"
#include "placement/plan_parts.h"

/* ---- devices of several types */

static uint32_t devices_in(const struct grant_part *parts, uint32_t nparts)
{
	uint32_t gpus = 0;

	for (uint32_t i = 0; i < nparts; i++)
		gpus += parts[i].gpus;
	return gpus;
}

/* Whether its devices are those parts and no others. */
static bool parts_suit(const struct plan *plan, const struct grant *grant,
	const struct grant_part *parts, uint32_t nparts)
{
	struct grant_part has[TYPES_MAX];
	uint32_t same = 0, n;

	if (!grant || grant->gpus != devices_in(parts, nparts))
		return false;
	n = grant_parts(grant, plan->space.cluster, has);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < nparts; j++)
			same += has[i].type == parts[j].type && has[i].gpus == parts[j].gpus;
	}
	return n == nparts && same == n;
}

/* Adds the devices of one type that the job holds to plan->joined if they are as many and can be had again. */
static bool keep_part(struct plan *plan, const struct job *job, struct grant_part part, uint32_t rest)
{
	const struct grant *held = plan_entry_of(plan, job->id)->held;
	uint32_t before = plan->joined.n, had = plan->joined.gpus;

	for (uint32_t i = 0; held && i < held->nslots; i++) {
		struct slot slot = held->slots[i];

		if (plan->space.cluster->nodes[slot.node].type == part.type &&
			plan_can_have(plan, job, part.gpus + rest, slot))
			slots_add(&plan->joined, slot.node, slot.devices);
	}
	if (plan->joined.gpus - had == part.gpus)
		return true;
	plan->joined.n = before;
	plan->joined.gpus = had;
	return false;
}

static bool join_part(struct plan *plan, const struct job *job, struct grant_part part,
	uint32_t rest, bool move)
{
	if (!move && keep_part(plan, job, part, rest))
		return true;
	if (!plan_find_part(plan, job, part, rest))
		return false;
	for (uint32_t i = 0; i < plan->found.n; i++)
		slots_add(&plan->joined, plan->found.at[i].node, plan->found.at[i].devices);
	return true;
}

static struct grant *find_parts(struct plan *plan, const struct job *job,
	const struct grant_part *parts, uint32_t nparts, const struct want *want)
{
	uint32_t gpus = devices_in(parts, nparts);
	bool fits = true;

	plan->joined.n = plan->joined.gpus = 0;
	plan_hide_avoided(plan, job);
	for (uint32_t i = 0; fits && i < nparts; i++)
		fits = join_part(plan, job, parts[i], gpus - parts[i].gpus, want->move);
	plan_show_avoided(plan, job);
	fits = fits && plan_allows_slots(plan, job, plan->joined.at, plan->joined.n);
	return fits ? plan_make_grant(plan, plan->joined.at, plan->joined.n, want) : NULL;
}

bool plan_run_parts(struct plan *plan, const struct job *job, const struct grant_part *parts,
	uint32_t nparts, struct want want)
{
	struct plan_entry *e = plan_entry_of(plan, job->id);
	struct grant *before, *found;
	struct job copy;
	const struct job *asks = plan_complete(&want, job, &copy);

	assert(nparts > 0);
	if ((job->gpus_by_type || plan->space.cluster->even) && nparts > 1)
		return false;
	if (!want.move && parts_suit(plan, e->next, parts, nparts) && plan_terms_suit(e->next, &want))
		return true;
	before = plan_lift(plan, job);
	if (!want.move && parts_suit(plan, e->held, parts, nparts) && plan_can_keep(plan, asks, e->held))
		found = plan_renew(plan, e->held, &want);
	else
		found = find_parts(plan, asks, parts, nparts, &want);
	return plan_put_down(plan, job, before, found);
}

/* ---- devices of given nodes */

static uint64_t lowest_of(uint64_t devices, uint32_t n)
{
	uint32_t all = (uint32_t)__builtin_popcountll(devices);

	return space_lowest(devices, n < all ? n : all);
}

/* Whether the nodes of a job's `slots` have CPUs and memory left for it; others may hold the devices. */
static bool fed(const struct plan *plan, const struct job *job, const struct slots *slots)
{
	for (uint32_t i = 0; i < slots->n; i++) {
		struct slot slot = slots->at[i];

		if (!space_feeds(&plan->space, job, slots->gpus, slot.node,
			    (uint32_t)__builtin_popcountll(slot.devices)))
			return false;
	}
	return true;
}

/* What the grant has of a node. */
static uint64_t devices_on(const struct grant *grant, uint32_t node)
{
	for (uint32_t i = 0; grant && i < grant->nslots; i++) {
		if (grant->slots[i].node == node)
			return grant->slots[i].devices;
	}
	return 0;
}

/* Whether its devices lie so, in any order. */
static bool lies_at(const struct grant *grant, const struct node_share *at, uint32_t n)
{
	if (!grant || grant->nslots != n)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if ((uint32_t)__builtin_popcountll(devices_on(grant, at[i].node)) != at[i].gpus)
			return false;
	}
	return true;
}

static bool may_run_on(const struct plan *plan, const struct job *job, uint32_t node)
{
	uint32_t type = plan->space.cluster->nodes[node].type;

	return plan->space.nodes[node].up && job_may_use(job, type) &&
		plan_holds_memory(&plan->space, job, type);
}

/* Devices of a node, those of `mine` first and those it avoids last; 0 if too few can be had. */
static uint64_t pick_on(const struct plan *plan, const struct job *job, struct node_share share,
	uint64_t mine)
{
	uint64_t open = plan_open_to(plan, job, share.node) |
		space_regains(&plan->space, job, share.node, mine);
	uint64_t last = plan_avoided_on(job, share.node), first;

	if ((uint32_t)__builtin_popcountll(open) < share.gpus || !may_run_on(plan, job, share.node))
		return 0;
	first = lowest_of(open & mine, share.gpus);
	first |= lowest_of(open & ~first & ~last, share.gpus - (uint32_t)__builtin_popcountll(first));
	return first | space_lowest(open & ~first, share.gpus - (uint32_t)__builtin_popcountll(first));
}

static struct grant *find_at(struct plan *plan, const struct job *job, const struct node_share *at,
	uint32_t n, const struct want *want)
{
	const struct grant *held = want->move ? NULL : plan_entry_of(plan, job->id)->held;

	plan->joined.n = plan->joined.gpus = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t devices = pick_on(plan, job, at[i], devices_on(held, at[i].node));

		if (!devices)
			return NULL;
		slots_add(&plan->joined, at[i].node, devices);
	}
	if (job->nodes && n != job->nodes)
		return NULL;
	if (plan->space.cluster->even && !slots_are_even(&plan->joined))
		return NULL;
	if (plan->joined.gpus % job_unit_on(job, plan->space.cluster->nodes[at[0].node].type))
		return NULL;
	return fed(plan, job, &plan->joined) &&
			plan_allows_slots(plan, job, plan->joined.at, plan->joined.n)
		? plan_make_grant(plan, plan->joined.at, plan->joined.n, want)
		: NULL;
}

/* Where the placer would have it: what it has, if that is as much, else as many of the type as were `named`, which goes. */
static struct grant *find_instead(struct plan *plan, const struct job *job, struct grant *named,
	struct want *want)
{
	struct grant *held = plan_entry_of(plan, job->id)->held;

	want->gpus = named->gpus;
	want->type = (int)named->type;
	free(named);
	if (held && !held->mixed && held->gpus == want->gpus &&
		held->type == (uint32_t)want->type && plan_can_keep(plan, job, held))
		return plan_renew(plan, held, want);
	return plan_find(plan, job, want);
}

bool plan_run_at(struct plan *plan, const struct job *job, const struct node_share *at, uint32_t n,
	struct want want)
{
	struct plan_entry *e = plan_entry_of(plan, job->id);
	struct grant *before, *found;
	struct job copy;
	const struct job *asks = plan_complete(&want, job, &copy);

	assert(n > 0);
	if (!want.move && lies_at(e->next, at, n) && plan_terms_suit(e->next, &want))
		return true;
	before = plan_lift(plan, job);
	plan->refused = JOB_NONE;
	if (!want.move && lies_at(e->held, at, n) && plan_can_keep(plan, asks, e->held))
		found = plan_renew(plan, e->held, &want);
	else
		found = find_at(plan, asks, at, n, &want);
	if (found && found != e->held && !want.there && !plan_suits(plan, asks, found))
		found = find_instead(plan, asks, found, &want);
	return plan_put_down(plan, job, before, found);
}

void plan_leave(struct plan *plan, const struct job *job, const bool *nodes)
{
	const struct grant *before = plan_lift(plan, job);
	struct want want = {
		.batch = before->batch,
		.share = before->share,
		.until_s = before->until_s,
		.steps = before->steps,
		.balance = before->balanced,
		.guest = before->guest,
		.host = before->host,
		.link_Bps = before->link_Bps,
	};
	uint32_t had = before->gpus;

	plan->joined.n = plan->joined.gpus = 0;
	for (uint32_t i = 0; i < before->nslots; i++) {
		if (!nodes[before->slots[i].node])
			slots_add(&plan->joined, before->slots[i].node, before->slots[i].devices);
	}
	assert(plan->joined.n > 0);
	/* Each device keeps what it has of its host. */
	want.cpus = before->cpus * plan->joined.gpus / had;
	want.mem_bytes = before->mem_bytes / had * plan->joined.gpus;
	plan_settle_on(plan, job, plan_make_grant(plan, plan->joined.at, plan->joined.n, &want));
}

/* ---- devices that another has */

/* Those of the host's devices on a node that somebody else has, too. */
static uint64_t crowded(const struct plan *plan, const struct job *host, struct slot slot)
{
	const struct space_node *node = &plan->space.nodes[slot.node];
	uint64_t devices = 0;

	for (size_t i = 0; i < node->users.n; i++) {
		if (node->users.at[i].job != host->id)
			devices |= node->users.at[i].devices;
	}
	return devices & slot.devices;
}

/* `gpus` of the host's devices into plan->joined; those it has for itself are taken first. */
static void share_devices(struct plan *plan, const struct job *host, const struct grant *with,
	uint32_t gpus)
{
	uint32_t single = 0, extra;

	for (uint32_t i = 0; i < with->nslots; i++)
		single += (uint32_t)__builtin_popcountll(
			with->slots[i].devices & ~crowded(plan, host, with->slots[i]));
	extra = gpus > single ? gpus - single : 0; /* these have to be crowded ones */
	single = gpus - extra;
	plan->joined.n = plan->joined.gpus = 0;
	for (uint32_t i = 0; i < with->nslots; i++) {
		struct slot slot = with->slots[i];
		uint64_t more = crowded(plan, host, slot);
		uint64_t own = lowest_of(slot.devices & ~more, single);

		more = lowest_of(more, extra);
		single -= (uint32_t)__builtin_popcountll(own);
		extra -= (uint32_t)__builtin_popcountll(more);
		if (own | more)
			slots_add(&plan->joined, slot.node, own | more);
	}
}

static bool may_use_all(const struct plan *plan, const struct job *job, const struct slots *slots)
{
	for (uint32_t i = 0; i < slots->n; i++) {
		if (!job_may_use(job, plan->space.cluster->nodes[slots->at[i].node].type))
			return false;
	}
	return true;
}

static bool guest_suits(const struct grant *grant, const struct grant *with, uint32_t gpus)
{
	return grant && grant->gpus == gpus && grant_within(grant, with);
}

/* Whether some of these are drained, and the job has them not already. */
static bool drained_anew(const struct plan *plan, const struct grant *held, const struct slots *slots)
{
	for (uint32_t i = 0; plan->space.draining && i < slots->n; i++) {
		struct slot slot = slots->at[i];

		if (slot.devices & plan->space.nodes[slot.node].drained & ~devices_on(held, slot.node))
			return true;
	}
	return false;
}

/* The guest's devices among the host's: those it held if they are, else chosen; NULL if it cannot have them. */
static struct grant *find_beside(struct plan *plan, const struct job *job, const struct job *host,
	const struct grant *with, const struct want *want)
{
	struct grant *held = plan_entry_of(plan, job->id)->held;
	bool keeps = guest_suits(held, with, want->gpus);

	if (keeps) {
		plan->joined.n = plan->joined.gpus = 0;
		for (uint32_t i = 0; i < held->nslots; i++)
			slots_add(&plan->joined, held->slots[i].node, held->slots[i].devices);
	} else {
		share_devices(plan, host, with, want->gpus);
	}
	if (!may_use_all(plan, job, &plan->joined) || !fed(plan, job, &plan->joined) ||
		drained_anew(plan, held, &plan->joined) ||
		!plan_allows_slots(plan, job, plan->joined.at, plan->joined.n))
		return NULL;
	if (keeps)
		return plan_renew(plan, held, want);
	return plan_make_grant(plan, plan->joined.at, plan->joined.n, want);
}

bool plan_run_beside(struct plan *plan, const struct job *job, const struct job *host, struct want want)
{
	struct plan_entry *e = plan_entry_of(plan, job->id);
	const struct grant *with = plan_grant(plan, host->id);
	struct grant *before;
	struct job copy;
	const struct job *asks = plan_complete(&want, job, &copy);

	if (!with || (job->gpus_by_type && with->mixed) || job_is_fraction(job) ||
		job_is_fraction(host))
		return false;
	want.gpus = plan_gpus_wanted(&want, job, with->type);
	if (with->gpus < want.gpus)
		return false;
	if (guest_suits(e->next, with, want.gpus) && plan_terms_suit(e->next, &want))
		return true;
	before = plan_lift(plan, job);
	return plan_put_down(plan, job, before, find_beside(plan, asks, host, with, &want));
}

/* ---- devices named one by one */

static bool is_upon(const struct grant *grant, const struct slot *slots, uint32_t n)
{
	if (!grant || grant->nslots != n)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (devices_on(grant, slots[i].node) != slots[i].devices)
			return false;
	}
	return true;
}

/* Whether the job can have devices of a node that others may hold as well. */
static bool can_join(const struct plan *plan, const struct job *job, struct slot slot)
{
	const struct space_node *node = &plan->space.nodes[slot.node];

	if (!may_run_on(plan, job, slot.node))
		return false;
	if (job_is_fraction(job))
		return !(slot.devices & ~plan_open_to(plan, job, slot.node));
	return !(slot.devices & (node->down | node->hidden | node->parted));
}

/* Whether its host, or the nodes of its devices if it has none, have CPUs and memory for it. */
static bool can_feed(const struct plan *plan, const struct job *job, const struct want *want)
{
	return want->host ? space_can_host(&plan->space, job, want->host - 1)
			  : fed(plan, job, &plan->joined);
}

static struct grant *find_upon(struct plan *plan, const struct job *job, const struct slot *slots,
	uint32_t n, const struct want *want)
{
	struct grant *held = plan_entry_of(plan, job->id)->held;

	plan->joined.n = plan->joined.gpus = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!can_join(plan, job, slots[i]))
			return NULL;
		slots_add(&plan->joined, slots[i].node, slots[i].devices);
	}
	if ((job->nodes && n != job->nodes) || drained_anew(plan, held, &plan->joined) ||
		(plan->space.cluster->even && !slots_are_even(&plan->joined)) ||
		plan->joined.gpus % job_unit_on(job, plan->space.cluster->nodes[slots[0].node].type))
		return NULL;
	if (!can_feed(plan, job, want))
		return NULL;
	/* What it has anyway is counted already. */
	if (!is_upon(plan_grant(plan, job->id), slots, n) &&
		!plan_allows_slots(plan, job, plan->joined.at, plan->joined.n))
		return NULL;
	if (is_upon(held, slots, n))
		return plan_renew(plan, held, want);
	return plan_make_grant(plan, plan->joined.at, plan->joined.n, want);
}

bool plan_run_upon(struct plan *plan, const struct job *job, const struct slot *slots, uint32_t n,
	struct want want)
{
	struct plan_entry *e = plan_entry_of(plan, job->id);
	struct grant *before;
	struct job copy;
	const struct job *asks = plan_complete(&want, job, &copy);

	assert(n > 0);
	if (is_upon(e->next, slots, n) && plan_terms_suit(e->next, &want))
		return true;
	before = plan_lift(plan, job);
	return plan_put_down(plan, job, before, find_upon(plan, asks, slots, n, &want));
}
