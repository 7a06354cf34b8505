/*
 * Devices for a job of a plan where the policy leaves open which: those that it can keep, those that the
 * placer chooses among the free ones, room beside other fractions, and what is only lent.
 */
#include <math.h>

#include "placement/even.h"
#include "placement/plan_parts.h"
#include "placement/quota.h"

bool plan_holds_memory(const struct space *space, const struct job *job, uint32_t type)
{
	int64_t there = space->cluster->types[type].mem_bytes;

	return there == 0 || job->gpu_mem_bytes <= there;
}

uint64_t plan_open_to(const struct plan *plan, const struct job *job, uint32_t node)
{
	uint64_t devices = plan->space.nodes[node].free;

	return job_is_fraction(job) ? devices | space_room(&plan->space, job, node) : devices;
}

bool plan_can_have(const struct plan *plan, const struct job *job, uint32_t gpus, struct slot slot)
{
	const struct space_node *node = &plan->space.nodes[slot.node];
	uint64_t open = plan_open_to(plan, job, slot.node) |
		space_regains(&plan->space, job, slot.node, slot.devices);

	return node->up && !(slot.devices & ~open) &&
		space_feeds(&plan->space, job, gpus, slot.node,
			(uint32_t)__builtin_popcountll(slot.devices));
}

/* Whether every device of the grant is free and fed, so that it can be had (again). */
static bool available(const struct plan *plan, const struct job *job, const struct grant *grant)
{
	for (uint32_t i = 0; i < grant->nslots; i++) {
		if (!plan_can_have(plan, job, grant->gpus, grant->slots[i]))
			return false;
	}
	return true;
}

/* ---- asking the placer */

/* The rule's own word, where it refused; and when it may think otherwise. */
static void keep_note(struct plan *plan, const struct job *job, const struct placing_note *note)
{
	plan->note = *note;
	plan->refused = note->why.why != WHY_NONE ? job->id : JOB_NONE;
	plan_wake(plan, note->wake_s);
}

/* Asks the rule, into plan->found. */
static bool ask_placer(struct plan *plan, struct placing p)
{
	struct placing_note note = { .why = { .other = JOB_NONE }, .wake_s = INFINITY };
	bool found;

	p.note = &note;
	found = plan->placer->choose(plan->placer_state, &p, &plan->found);
	if (!found && !p.ever)
		keep_note(plan, p.job, &note);
	else if (!found)
		plan->never = note.why;
	return found;
}

static struct placing question(const struct plan *plan, const struct space *space,
	const struct job *job, struct grant_part part)
{
	return (struct placing){
		.space = space,
		.job = job,
		.belief = plan->belief,
		.gpus = part.gpus,
		.type = part.type,
		.nodes = plan->placer->counts_nodes ? job->nodes : 0,
		.now_s = plan->now_s,
		.ever = space == &plan->empty,
		.lent = plan->lent.n ? plan->lent.at : NULL,
	};
}

/* On so many nodes, as many on each. */
static bool choose_over(struct plan *plan, struct placing p, uint32_t nodes)
{
	if (!plan->placer->counts_nodes)
		return place_over(&p, nodes, &plan->found);
	p.nodes = nodes;
	return p.gpus % nodes == 0 && ask_placer(plan, p);
}

/* The same on as few as can be. */
static bool choose_even(struct plan *plan, struct placing p)
{
	for (uint32_t n = 1; n <= p.gpus; n++) {
		if (choose_over(plan, p, n))
			return true;
	}
	return false;
}

/* `part` of the job's devices, `rest` being elsewhere, into plan->found. */
static bool choose(struct plan *plan, const struct space *space, const struct job *job,
	struct grant_part part, uint32_t rest, struct rng *rng)
{
	struct placing p = question(plan, space, job, part);

	/* Rules that take back are asked all the same: they may say more than that there is no room. */
	if (!job_may_use(job, part.type) ||
		(space->types[part.type].free < part.gpus && !plan->placer->takes_back) ||
		(part.gpus + rest) % job_unit_on(job, part.type) ||
		!plan_holds_memory(space, job, part.type))
		return false;
	p.rest = rest;
	p.rng = rng;
	plan->found.n = plan->found.gpus = 0;
	if (job->nodes)
		return choose_over(plan, p, job->nodes);
	if (!ask_placer(plan, p))
		return false;
	/* The placer chose how many nodes are needed and which are best; where these cannot share evenly, others must do. */
	return !space->cluster->even || slots_are_even(&plan->found) || choose_even(plan, p);
}

bool plan_suits(struct plan *plan, const struct job *job, const struct grant *grant)
{
	struct placing_note note = { .why = { .other = JOB_NONE }, .wake_s = INFINITY };
	struct placing p = question(plan, &plan->space, job,
		(struct grant_part){ grant->type, grant->gpus });

	p.note = &note;
	return !plan->placer->suits || grant->mixed ||
		plan->placer->suits(plan->placer_state, &p, grant->slots, grant->nslots);
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
	plan->refused = JOB_NONE;
	if (!choose(plan, &plan->space, job, part, rest, &plan->rng))
		return false;
	if (answer_holds(plan, part))
		return true;
	plan->placer_erred = true;
	return false;
}

/* ---- quotas */

/* Whether the job's tenant may have these, of which `fresh` are free; else the reason is kept as the rule's own word. */
static bool allowed(struct plan *plan, const struct job *job, const struct grant_part *parts,
	uint32_t nparts, uint32_t fresh)
{
	struct placing_note note = { .wake_s = INFINITY };

	if (!plan->gated || quota_allows(plan->quota, plan, job, parts, nparts, fresh, &note.why))
		return true;
	keep_note(plan, job, &note);
	return false;
}

bool plan_allows(struct plan *plan, const struct job *job, struct grant_part part)
{
	return allowed(plan, job, &part, 1, job_is_fraction(job) ? 0 : part.gpus);
}

bool plan_allows_slots(struct plan *plan, const struct job *job, const struct slot *slots, uint32_t n)
{
	struct grant_part parts[TYPES_MAX];
	uint32_t nparts = 0, fresh = 0;

	if (!plan->gated)
		return true;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t type = plan->space.cluster->nodes[slots[i].node].type, k = 0;

		while (k < nparts && parts[k].type != type)
			k++;
		if (k == nparts)
			parts[nparts++] = (struct grant_part){ type, 0 };
		parts[k].gpus += (uint32_t)__builtin_popcountll(slots[i].devices);
		fresh += (uint32_t)__builtin_popcountll(
			slots[i].devices & plan->space.nodes[slots[i].node].free);
	}
	return allowed(plan, job, parts, nparts, fresh);
}

bool plan_can_keep(struct plan *plan, const struct job *job, const struct grant *held)
{
	return available(plan, job, held) && plan_allows_slots(plan, job, held->slots, held->nslots) &&
		plan_suits(plan, job, held);
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

static bool find_any(struct plan *plan, const struct job *job, struct grant_part part, uint32_t rest)
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

/* Fractions may take devices that others have begun, so what is left free shows when they are found. */
bool plan_find_part(struct plan *plan, const struct job *job, struct grant_part part, uint32_t rest)
{
	if (!job_may_use(job, part.type) || !plan_allows(plan, job, part) ||
		!find_any(plan, job, part, rest))
		return false;
	return !job_is_fraction(job) || plan_allows_slots(plan, job, plan->found.at, plan->found.n);
}

/* ---- devices that a job avoids */

uint64_t plan_avoided_on(const struct job *job, uint32_t node)
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
			n->up ? n->down | n->drained | plan_avoided_on(job, node) : UINT64_MAX);
	}
	for (uint32_t type = 0; type < cluster->ntypes && !has; type++)
		has = choose(plan, &plan->empty, job,
			(struct grant_part){ type, job_least_on(job, type) }, 0, &rng);
	for (uint32_t node = 0; node < cluster->nnodes; node++)
		space_hide(&plan->empty, node, 0);
	return has;
}

void plan_hide_avoided(struct plan *plan, const struct job *job)
{
	if (!job->navoid || !has_elsewhere(plan, job))
		return;
	for (uint32_t i = 0; i < job->navoid; i++)
		space_hide(&plan->space, job->avoid[i].node, plan_avoided_on(job, job->avoid[i].node));
}

void plan_show_avoided(struct plan *plan, const struct job *job)
{
	for (uint32_t i = 0; i < job->navoid; i++)
		space_hide(&plan->space, job->avoid[i].node, 0);
}

/* ---- all together */

static bool find_lent(struct plan *plan, const struct job *job, struct grant_part part, uint32_t rest)
{
	(void)rest;
	return job_may_use(job, part.type) && reclaim_try(plan, job, part, plan_find_part);
}

/* New devices for the job, or NULL.  Those that are free on any type come before those that are only lent. */
static struct grant *find(struct plan *plan, const struct job *job, const struct want *want)
{
	uint32_t first = want->type == TYPE_ANY ? 0 : (uint32_t)want->type;
	uint32_t last = want->type == TYPE_ANY ? plan->space.cluster->ntypes - 1 : first;
	int takes_back = plan->reclaim.entitled && !want->gentle ? 1 : 0;

	for (int lent = 0; lent <= takes_back; lent++) {
		for (uint32_t type = first; type <= last; type++) {
			struct grant_part part = { type, plan_gpus_wanted(want, job, type) };

			if ((lent ? find_lent : plan_find_part)(plan, job, part, 0))
				return plan_make_grant(plan, plan->found.at, plan->found.n, want);
		}
	}
	return NULL;
}

struct grant *plan_find(struct plan *plan, const struct job *job, const struct want *want)
{
	struct grant *found;

	plan_hide_avoided(plan, job);
	found = find(plan, job, want);
	plan_show_avoided(plan, job);
	return found;
}

bool plan_could_ever(struct plan *plan, const struct job *job)
{
	struct rng rng = plan->rng;

	empty_space(plan);
	plan->never = (struct reason){ .why = WHY_NONE, .other = JOB_NONE };
	for (uint32_t type = 0; type < plan->space.cluster->ntypes; type++) {
		if (choose(plan, &plan->empty, job,
			    (struct grant_part){ type, job_gpus_on(job, type) }, 0, &rng))
			return true;
	}
	return false;
}

bool plan_could_ever_apart(struct plan *plan, const struct job *job)
{
	struct job devices = plan_bare(job);

	if (!plan_could_ever(plan, &devices))
		return false;
	for (uint32_t node = 0; node < plan->space.cluster->nnodes; node++) {
		if (space_can_host(&plan->empty, job, node))
			return true;
	}
	return false;
}
