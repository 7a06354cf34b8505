/*
 * Plans: edits of the desired state, and the ledger that goes with it.
 */
#include "placement/plan.h"

#include <assert.h>
#include <math.h>

#include "placement/even.h"

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
	vec_fini(&plan->joined);
	vec_fini(&plan->seats);
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

/* Devices of a node that the job could have as things are. */
static uint64_t open_to(const struct plan *plan, const struct job *job, uint32_t node)
{
	uint64_t devices = plan->space.nodes[node].free;

	return job_is_fraction(job) ? devices | space_room(&plan->space, job, node) : devices;
}

/* Whether devices of a node that a job holds are free and fed for it, if it has `gpus` in all. */
static bool can_have(const struct plan *plan, const struct job *job, uint32_t gpus, struct slot slot)
{
	const struct space_node *node = &plan->space.nodes[slot.node];
	uint64_t open = open_to(plan, job, slot.node) |
		space_regains(&plan->space, job, slot.node, slot.devices);

	return node->up && !(slot.devices & ~open) &&
		space_feeds(&plan->space, job, gpus, slot.node,
			(uint32_t)__builtin_popcountll(slot.devices));
}

/* Whether every device of the grant is free and fed, so that it can be had (again). */
static bool available(const struct plan *plan, const struct job *job, const struct grant *grant)
{
	for (uint32_t i = 0; i < grant->nslots; i++) {
		if (!can_have(plan, job, grant->gpus, grant->slots[i]))
			return false;
	}
	return true;
}

static uint32_t gpus_wanted(const struct want *want, const struct job *job, uint32_t type)
{
	return want->gpus ? want->gpus : job_gpus_on(job, type);
}

/* Whether its devices are as many and of the type wanted. */
static bool devices_suit(const struct grant *grant, const struct job *job, const struct want *want)
{
	return grant && !grant->mixed && grant->gpus == gpus_wanted(want, job, grant->type) &&
		(want->type == TYPE_ANY || grant->type == (uint32_t)want->type);
}

static bool terms_suit(const struct grant *grant, const struct want *want)
{
	return grant->batch == want->batch && grant->share == want->share &&
		grant->until_s == want->until_s && grant->steps == want->steps &&
		grant->balanced == want->balance;
}

static struct grant *grant_create(const struct plan *plan, const struct slot *slots,
	uint32_t nslots, const struct want *want)
{
	struct grant *grant = mem_alloc(sizeof(*grant) + sizeof(struct slot) * nslots);

	grant->nslots = nslots;
	grant->batch = want->batch;
	grant->balanced = want->balance;
	grant->share = want->share;
	grant->until_s = want->until_s;
	grant->steps = want->steps;
	memcpy(grant->slots, slots, sizeof(struct slot) * nslots);
	for (uint32_t i = 0; i < nslots; i++)
		grant->gpus += (uint32_t)__builtin_popcountll(slots[i].devices);
	grant_set_type(grant, plan->space.cluster);
	return grant;
}

/* The devices of a grant on the terms wanted: the grant itself where it has them. */
static struct grant *renew(const struct plan *plan, struct grant *grant, const struct want *want)
{
	if (terms_suit(grant, want))
		return grant;
	return grant_create(plan, grant->slots, grant->nslots, want);
}

/* Whether a device of the type has the memory that the job says it needs of each. */
static bool holds_memory(const struct space *space, const struct job *job, uint32_t type)
{
	int64_t there = space->cluster->types[type].mem_bytes;

	return there == 0 || job->gpu_mem_bytes <= there;
}

/* `part` of the job's devices, `rest` being elsewhere, into plan->found. */
static bool choose(struct plan *plan, const struct space *space, const struct job *job,
	struct grant_part part, uint32_t rest, struct rng *rng)
{
	struct placing p = {
		.space = space,
		.job = job,
		.belief = plan->belief,
		.gpus = part.gpus,
		.type = part.type,
		.rest = rest,
		.rng = rng,
	};

	if (!job_may_use(job, part.type) || space->types[part.type].free < part.gpus ||
		(part.gpus + rest) % job_unit_on(job, part.type) ||
		!holds_memory(space, job, part.type))
		return false;
	plan->found.n = plan->found.gpus = 0;
	if (job->nodes)
		return place_over(&p, job->nodes, &plan->found);
	if (!plan->placer->choose(plan->placer_state, &p, &plan->found))
		return false;
	/* The placer chose how many nodes are needed and which are best; where these cannot share evenly, others must do. */
	return !space->cluster->even || slots_are_even(&plan->found) || place_even(&p, &plan->found);
}

/* Whether the placer's answer is what it was asked for: so many devices, each free and named once. */
static bool answer_holds(const struct plan *plan, struct grant_part part)
{
	uint32_t gpus = 0;

	for (uint32_t i = 0; i < plan->found.n; i++) {
		struct slot slot = plan->found.at[i];
		const struct space_node *node = &plan->space.nodes[slot.node];

		if (plan->space.cluster->nodes[slot.node].type != part.type || !node->up ||
			(slot.devices & ~node->free))
			return false;
		for (uint32_t j = 0; j < i; j++) {
			if (plan->found.at[j].node == slot.node)
				return false;
		}
		gpus += (uint32_t)__builtin_popcountll(slot.devices);
	}
	return gpus == part.gpus;
}

static bool find_free(struct plan *plan, const struct job *job, struct grant_part part, uint32_t rest)
{
	if (!choose(plan, &plan->space, job, part, rest, &plan->rng))
		return false;
	if (answer_holds(plan, part))
		return true;
	plan->placer_erred = true;
	return false;
}

/* ---- devices that fractions have begun */

static int by_fullness(const void *a, const void *b)
{
	const struct plan_seat *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->device < y->device ? -1 : x->device > y->device;
}

static void list_seats(struct plan *plan, const struct job *job, uint32_t type)
{
	uint32_t at = 0, node;

	plan->seats.n = 0;
	while ((node = space_next_parted(&plan->space, type, &at)) != UINT32_MAX) {
		for (uint64_t left = space_room(&plan->space, job, node); left; left &= left - 1) {
			uint32_t device = (uint32_t)__builtin_ctzll(left);

			vec_push(&plan->seats,
				(struct plan_seat){ node, device,
					plan->space.nodes[node].parts[device].share });
		}
	}
	if (plan->seats.n > 1)
		qsort(plan->seats.at, plan->seats.n, sizeof(*plan->seats.at), by_fullness);
}

/* The slot of a node among those found, a new and empty one if there is none yet. */
static struct slot *slot_on(struct slots *slots, uint32_t node)
{
	for (uint32_t i = 0; i < slots->n; i++) {
		if (slots->at[i].node == node)
			return &slots->at[i];
	}
	slots_add(slots, node, 0);
	return &slots->at[slots->n - 1];
}

/* Adds devices of a node to those found for a job that has `gpus` in all, if the node can feed them together. */
static bool add_found(struct plan *plan, const struct job *job, uint32_t gpus, uint32_t node,
	uint64_t devices)
{
	struct slot *slot = slot_on(&plan->found, node);
	uint32_t n = (uint32_t)__builtin_popcountll(slot->devices | devices);

	if (!space_feeds(&plan->space, job, gpus, node, n))
		return false;
	slot->devices |= devices;
	plan->found.gpus += (uint32_t)__builtin_popcountll(devices);
	return true;
}

static void drop_empty_slots(struct slots *slots)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < slots->n; i++) {
		if (slots->at[i].devices)
			slots->at[kept++] = slots->at[i];
	}
	slots->n = kept;
}

/* Up to part.gpus devices into plan->found, from the list of seats. */
static void take_seats(struct plan *plan, const struct job *job, struct grant_part part, uint32_t rest)
{
	plan->found.n = plan->found.gpus = 0;
	for (size_t i = 0; i < plan->seats.n && plan->found.gpus < part.gpus; i++) {
		const struct plan_seat *seat = &plan->seats.at[i];

		add_found(plan, job, part.gpus + rest, seat->node, UINT64_C(1) << seat->device);
	}
	drop_empty_slots(&plan->found);
}

/* Seats as far as they go, free devices for what is missing. */
static bool find_some_of_each(struct plan *plan, const struct job *job, struct grant_part part,
	uint32_t rest)
{
	struct slots seats = { 0 };
	uint32_t missing;
	bool fits;

	take_seats(plan, job, part, rest);
	if (plan->found.n == 0)
		return false;
	missing = part.gpus - plan->found.gpus;
	for (uint32_t i = 0; i < plan->found.n; i++)
		slots_add(&seats, plan->found.at[i].node, plan->found.at[i].devices);
	fits = find_free(plan, job, (struct grant_part){ part.type, missing },
		rest + part.gpus - missing);
	for (uint32_t i = 0; fits && i < seats.n; i++)
		fits = add_found(plan, job, part.gpus + rest, seats.at[i].node, seats.at[i].devices);
	vec_fini(&seats);
	return fits;
}

static bool find_part(struct plan *plan, const struct job *job, struct grant_part part, uint32_t rest)
{
	if (!job_is_fraction(job) || plan->space.types[part.type].parted.n == 0)
		return find_free(plan, job, part, rest);
	if (!job_may_use(job, part.type))
		return false;
	list_seats(plan, job, part.type);
	take_seats(plan, job, part, rest);
	if (plan->found.gpus == part.gpus)
		return true;
	return find_free(plan, job, part, rest) || find_some_of_each(plan, job, part, rest);
}

/* New devices for the job, or NULL. */
static struct grant *find(struct plan *plan, const struct job *job, const struct want *want)
{
	uint32_t first = want->type == TYPE_ANY ? 0 : (uint32_t)want->type;
	uint32_t last = want->type == TYPE_ANY ? plan->space.cluster->ntypes - 1 : first;

	for (uint32_t type = first; type <= last; type++) {
		if (find_part(plan, job, (struct grant_part){ type, gpus_wanted(want, job, type) }, 0))
			return grant_create(plan, plan->found.at, plan->found.n, want);
	}
	return NULL;
}

/* ---- devices that a job avoids */

/* What it avoids of a node. */
static uint64_t avoided_on(const struct job *job, uint32_t node)
{
	uint64_t devices = 0;

	for (uint32_t i = 0; i < job->navoid; i++)
		devices |= job->avoid[i].node == node ? job->avoid[i].devices : 0;
	return devices;
}

static void empty_space(struct plan *plan)
{
	if (!plan->empty.cluster)
		space_init(&plan->empty, plan->space.cluster);
}

/* Whether it could run elsewhere if everybody else were gone. */
static bool has_elsewhere(struct plan *plan, const struct job *job)
{
	const struct cluster *cluster = plan->space.cluster;
	struct rng rng = plan->rng;
	bool has = false;

	empty_space(plan);
	for (uint32_t node = 0; node < cluster->nnodes; node++) {
		const struct space_node *n = &plan->space.nodes[node];

		space_hide(&plan->empty, node,
			n->up ? n->down | n->drained | avoided_on(job, node) : UINT64_MAX);
	}
	for (uint32_t type = 0; type < cluster->ntypes && !has; type++)
		has = choose(plan, &plan->empty, job,
			(struct grant_part){ type, job_least_on(job, type) }, 0, &rng);
	for (uint32_t node = 0; node < cluster->nnodes; node++)
		space_hide(&plan->empty, node, 0);
	return has;
}

/* What it avoids is not seen until show_avoided(), unless it has nowhere else to go. */
static void hide_avoided(struct plan *plan, const struct job *job)
{
	if (!job->navoid || !has_elsewhere(plan, job))
		return;
	for (uint32_t i = 0; i < job->navoid; i++)
		space_hide(&plan->space, job->avoid[i].node, avoided_on(job, job->avoid[i].node));
}

static void show_avoided(struct plan *plan, const struct job *job)
{
	for (uint32_t i = 0; i < job->navoid; i++)
		space_hide(&plan->space, job->avoid[i].node, 0);
}

static struct grant *find_elsewhere(struct plan *plan, const struct job *job, const struct want *want)
{
	struct grant *found;

	hide_avoided(plan, job);
	found = find(plan, job, want);
	show_avoided(plan, job);
	return found;
}

static void complete(struct want *want, const struct job *job)
{
	double most = job_is_fraction(job) ? job->share : 1;

	if (want->share == 0 || want->share > most)
		want->share = most;
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

/* Takes up what the job has so that it can be placed anew: put_down() must follow. */
static struct grant *lift(struct plan *plan, const struct job *job)
{
	struct grant *before = entry_of(plan, job->id)->next;

	if (before)
		give(plan, job, before);
	return before;
}

/* The job shall have `found`, or if that is NULL what it had before; says which. */
static bool put_down(struct plan *plan, const struct job *job, const struct grant *before,
	struct grant *found)
{
	if (found)
		settle_on(plan, job, found);
	else if (before)
		take(plan, job, before);
	return found != NULL;
}

bool plan_run(struct plan *plan, const struct job *job, struct want want)
{
	struct plan_entry *e = entry_of(plan, job->id);
	struct grant *before, *found;

	complete(&want, job);
	if (!want.move && devices_suit(e->next, job, &want) && terms_suit(e->next, &want))
		return true;
	before = lift(plan, job);
	if (!want.move && devices_suit(e->held, job, &want) && available(plan, job, e->held))
		found = renew(plan, e->held, &want);
	else
		found = find_elsewhere(plan, job, &want);
	return put_down(plan, job, before, found);
}

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
	const struct grant *held = entry_of(plan, job->id)->held;
	uint32_t before = plan->joined.n, had = plan->joined.gpus;

	for (uint32_t i = 0; held && i < held->nslots; i++) {
		struct slot slot = held->slots[i];

		if (plan->space.cluster->nodes[slot.node].type == part.type &&
			can_have(plan, job, part.gpus + rest, slot))
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
	if (!find_part(plan, job, part, rest))
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
	hide_avoided(plan, job);
	for (uint32_t i = 0; fits && i < nparts; i++)
		fits = join_part(plan, job, parts[i], gpus - parts[i].gpus, want->move);
	show_avoided(plan, job);
	return fits ? grant_create(plan, plan->joined.at, plan->joined.n, want) : NULL;
}

bool plan_run_parts(struct plan *plan, const struct job *job, const struct grant_part *parts,
	uint32_t nparts, struct want want)
{
	struct plan_entry *e = entry_of(plan, job->id);
	struct grant *before, *found;

	assert(nparts > 0);
	complete(&want, job);
	if ((job->gpus_by_type || plan->space.cluster->even) && nparts > 1)
		return false;
	if (!want.move && parts_suit(plan, e->next, parts, nparts) && terms_suit(e->next, &want))
		return true;
	before = lift(plan, job);
	if (!want.move && parts_suit(plan, e->held, parts, nparts) && available(plan, job, e->held))
		found = renew(plan, e->held, &want);
	else
		found = find_parts(plan, job, parts, nparts, &want);
	return put_down(plan, job, before, found);
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
		holds_memory(&plan->space, job, type);
}

/* Devices of a node, those of `mine` first and those it avoids last; 0 if too few can be had. */
static uint64_t pick_on(const struct plan *plan, const struct job *job, struct node_share share,
	uint64_t mine)
{
	uint64_t open = open_to(plan, job, share.node) |
		space_regains(&plan->space, job, share.node, mine);
	uint64_t last = avoided_on(job, share.node), first;

	if ((uint32_t)__builtin_popcountll(open) < share.gpus || !may_run_on(plan, job, share.node))
		return 0;
	first = lowest_of(open & mine, share.gpus);
	first |= lowest_of(open & ~first & ~last, share.gpus - (uint32_t)__builtin_popcountll(first));
	return first | space_lowest(open & ~first, share.gpus - (uint32_t)__builtin_popcountll(first));
}

static struct grant *find_at(struct plan *plan, const struct job *job, const struct node_share *at,
	uint32_t n, const struct want *want)
{
	const struct grant *held = want->move ? NULL : entry_of(plan, job->id)->held;

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
	return fed(plan, job, &plan->joined)
		? grant_create(plan, plan->joined.at, plan->joined.n, want)
		: NULL;
}

bool plan_run_at(struct plan *plan, const struct job *job, const struct node_share *at, uint32_t n,
	struct want want)
{
	struct plan_entry *e = entry_of(plan, job->id);
	struct grant *before, *found;

	assert(n > 0);
	complete(&want, job);
	if (!want.move && lies_at(e->next, at, n) && terms_suit(e->next, &want))
		return true;
	before = lift(plan, job);
	if (!want.move && lies_at(e->held, at, n) && available(plan, job, e->held))
		found = renew(plan, e->held, &want);
	else
		found = find_at(plan, job, at, n, &want);
	return put_down(plan, job, before, found);
}

void plan_leave(struct plan *plan, const struct job *job, const bool *nodes)
{
	const struct grant *before = lift(plan, job);
	struct want want = {
		.batch = before->batch,
		.share = before->share,
		.until_s = before->until_s,
		.steps = before->steps,
		.balance = before->balanced,
	};

	plan->joined.n = plan->joined.gpus = 0;
	for (uint32_t i = 0; i < before->nslots; i++) {
		if (!nodes[before->slots[i].node])
			slots_add(&plan->joined, before->slots[i].node, before->slots[i].devices);
	}
	assert(plan->joined.n > 0);
	settle_on(plan, job, grant_create(plan, plan->joined.at, plan->joined.n, &want));
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
	struct grant *held = entry_of(plan, job->id)->held;
	bool keeps = guest_suits(held, with, want->gpus);

	if (keeps) {
		plan->joined.n = plan->joined.gpus = 0;
		for (uint32_t i = 0; i < held->nslots; i++)
			slots_add(&plan->joined, held->slots[i].node, held->slots[i].devices);
	} else {
		share_devices(plan, host, with, want->gpus);
	}
	if (!may_use_all(plan, job, &plan->joined) || !fed(plan, job, &plan->joined) ||
		drained_anew(plan, held, &plan->joined))
		return NULL;
	if (keeps)
		return renew(plan, held, want);
	return grant_create(plan, plan->joined.at, plan->joined.n, want);
}

bool plan_run_beside(struct plan *plan, const struct job *job, const struct job *host, struct want want)
{
	struct plan_entry *e = entry_of(plan, job->id);
	const struct grant *with = plan_grant(plan, host->id);
	struct grant *before;

	complete(&want, job);
	if (!with || (job->gpus_by_type && with->mixed) || job_is_fraction(job) ||
		job_is_fraction(host))
		return false;
	want.gpus = gpus_wanted(&want, job, with->type);
	if (with->gpus < want.gpus)
		return false;
	if (guest_suits(e->next, with, want.gpus) && terms_suit(e->next, &want))
		return true;
	before = lift(plan, job);
	return put_down(plan, job, before, find_beside(plan, job, host, with, &want));
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

uint32_t plan_room(const struct plan *plan, const struct job *job, uint32_t type)
{
	uint32_t room = plan->space.types[type].free, at = 0, node;

	if (!job_is_fraction(job))
		return room;
	while ((node = space_next_parted(&plan->space, type, &at)) != UINT32_MAX)
		room += (uint32_t)__builtin_popcountll(space_room(&plan->space, job, node));
	return room;
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
	space_keep(&plan->space);
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
	space_keep(&plan->space);
}

const struct grant *plan_adopt(struct plan *plan, const struct job *job, const struct grant *grant)
{
	struct plan_entry *e = entry_of(plan, job->id);
	size_t size = sizeof(*grant) + grant->nslots * sizeof(grant->slots[0]);

	assert(!e->held && !e->next);
	e->held = e->next = mem_alloc(size);
	memcpy(e->held, grant, size);
	take(plan, job, e->held);
	return e->held;
}

void plan_node_up(struct plan *plan, uint32_t node, bool up)
{
	space_set_up(&plan->space, node, up);
}

void plan_devices_up(struct plan *plan, uint32_t node, uint64_t devices, bool up)
{
	space_set_devices_up(&plan->space, node, devices, up);
}

void plan_devices_drain(struct plan *plan, uint32_t node, uint64_t devices)
{
	space_set_drained(&plan->space, node, devices);
}

bool plan_could_ever(struct plan *plan, const struct job *job)
{
	struct rng rng = plan->rng;

	empty_space(plan);
	for (uint32_t type = 0; type < plan->space.cluster->ntypes; type++) {
		if (choose(plan, &plan->empty, job,
			    (struct grant_part){ type, job_gpus_on(job, type) }, 0, &rng))
			return true;
	}
	return false;
}
