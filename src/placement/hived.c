/*
 * Cells (HiveD): a tenant's guaranteed jobs run within its cells and always get them.
 *
 * The books (placement/cells.h) follow the plan: every slot that it hands out is held
 * through a claim of the job's tenant, or on loan.  Opportunistic jobs, and those of tenants without
 * cells, have everything on loan, from devices that nobody claims or uses just now, and give way
 * to whoever claims them.  A tenant below others uses the cells of the next one above that has some.
 *
 * A guaranteed job that fits its tenant's cells, but not without somebody giving way, is first told
 * that there is no room; the plan then takes back what stands where it shall go (`reclaim` below),
 * and it gets the very devices that were chosen before.
 */
#include "placement/hived.h"

#include <math.h>
#include <stdlib.h>

#include "placement/cell_check.h"
#include "placement/cells.h"
#include "placement/plan.h"

/* The last answer for devices of one type. */
struct promise {
	uint32_t job;
	uint32_t gpus;
	bool back; /* somebody has to give way for it */
	struct slots slots;
	VEC(struct cell_bond) bonds;
};

struct hived {
	bool spill;
	/* Beyond options: all of it made by begin(). */
	const struct cluster *cluster;
	struct cell_design design;
	struct cells *books;   /* as the plan is */
	struct cells *empty;   /* for what could ever be */
	VEC(uint32_t) vc;      /* by tenant of the trace: whose cells it uses */
	uint32_t *first;       /* by node: its first device in the books */
	const uint8_t **place; /* by node: device to its place among them; NULL: in order */
	struct arena memory;
	struct promise promises[TYPES_MAX];
	struct slots trial; /* scratch of due() */
	struct cell_answer answer;
	VEC(uint32_t) hidden; /* devices that are taken for bad while choosing */
};

static const struct option options[] = {
	OPT_BOOL(struct hived, spill, 0,
		"guaranteed jobs that find their tenant's cells full run on loan"),
	{ 0 },
};

/* ---- beginning */

static void hived_fini(void *self)
{
	struct hived *h = self;

	cells_destroy(h->books);
	cells_destroy(h->empty);
	cell_design_fini(&h->design);
	arena_fini(&h->memory);
	vec_fini(&h->vc);
	vec_fini(&h->hidden);
	cell_answer_fini(&h->answer);
	vec_fini(&h->trial);
	for (uint32_t i = 0; i < TYPES_MAX; i++) {
		vec_fini(&h->promises[i].slots);
		vec_fini(&h->promises[i].bonds);
	}
	*h = (struct hived){ .spill = h->spill };
}

/* The tenant itself or the next above it with cells. */
static uint32_t cells_owner(const struct tenants *tenants, uint32_t tenant)
{
	while (tenant != TENANT_NONE && tenants->at[tenant].ncells == 0)
		tenant = tenants->at[tenant].parent;
	return tenant == TENANT_NONE ? CELL_NONE : tenant;
}

static void index_nodes(struct hived *h)
{
	h->first = arena_array(&h->memory, uint32_t, h->cluster->nnodes + 1);
	h->place = arena_array(&h->memory, const uint8_t *, h->cluster->nnodes + 1);
	for (size_t c = 0; c < h->design.chains.n; c++) {
		const struct cell_chain *kind = &h->design.chains.at[c];

		for (uint32_t i = 0; i < cell_count(kind, kind->node_level); i++) {
			const struct cell_host *host = &h->design.hosts.at[kind->first_host + i];
			uint8_t *place = NULL;

			h->first[host->node] = cells_first_leaf(h->books,
				h->books->chains[c].base[kind->node_level] + i);
			if (host->devices)
				place = arena_array(&h->memory, uint8_t, NODE_DEVICES_MAX);
			for (uint32_t k = 0; place && k < kind->levels[kind->node_level].leaves; k++)
				place[host->devices[k]] = (uint8_t)k;
			h->place[host->node] = place;
		}
	}
}

static int hived_begin(void *self, const struct cluster *cluster, const struct tenants *tenants,
	struct err *err)
{
	struct hived *h = self;
	int rc;

	hived_fini(h);
	rc = cell_design_of(cluster, tenants, &h->design, err);
	if (!rc)
		rc = cell_check_err(&h->design, err);
	if (rc)
		return rc;
	h->cluster = cluster;
	h->books = cells_create(&h->design);
	h->empty = cells_create(&h->design);
	for (uint32_t i = 0; tenants && i < tenants->nnames; i++)
		vec_push(&h->vc, cells_owner(tenants, tenants_of_name(tenants, i)));
	for (uint32_t i = 0; i < TYPES_MAX; i++)
		h->promises[i].job = JOB_NONE;
	index_nodes(h);
	return 0;
}

/* ---- devices and jobs in the books */

static struct cell_user user_of(const struct hived *h, const struct job *job)
{
	bool claims = job->class_ == JOB_GUARANTEED && job->tenant < h->vc.n;

	return (struct cell_user){ claims ? h->vc.at[job->tenant] : CELL_NONE, job->id, 0 };
}

static uint32_t leaf_at(const struct hived *h, uint32_t node, uint32_t device)
{
	return h->first[node] + (h->place[node] ? h->place[node][device] : device);
}

static uint32_t list_leaves(const struct hived *h, struct slot slot, uint32_t leaves[NODE_DEVICES_MAX])
{
	uint32_t n = 0;

	for (uint64_t left = slot.devices; left; left &= left - 1)
		leaves[n++] = leaf_at(h, slot.node, (uint32_t)__builtin_ctzll(left));
	return n;
}

static void hived_took(void *self, const struct job *job, struct slot slot)
{
	struct hived *h = self;
	const struct promise *p = &h->promises[h->cluster->nodes[slot.node].type];
	uint32_t leaves[NODE_DEVICES_MAX], n = list_leaves(h, slot, leaves);

	cells_take(h->books, user_of(h, job), leaves, n, p->bonds.at,
		p->job == job->id ? (uint32_t)p->bonds.n : 0);
}

static void hived_gave(void *self, const struct job *job, struct slot slot)
{
	struct hived *h = self;
	uint32_t leaves[NODE_DEVICES_MAX], n = list_leaves(h, slot, leaves);

	cells_give(h->books, job->id, leaves, n);
}

static void hived_turned(void *self, uint32_t node, uint64_t down)
{
	struct hived *h = self;

	for (uint32_t i = 0; i < h->cluster->nodes[node].devices; i++)
		cells_set_bad(h->books, leaf_at(h, node, i), down >> i & 1);
}

/* ---- choosing */

struct question {
	struct hived *h;
	const struct placing *p;
	struct cells *cells;
	struct cell_user user;
	bool hungry; /* who stands in the way may also hold CPUs and memory: they are not asked about */
};

static bool feeds(const void *ctx, uint32_t chain, uint32_t host, uint32_t n)
{
	const struct question *q = ctx;

	(void)chain;
	return q->hungry || placing_feeds(q->p, q->h->design.hosts.at[host].node, n);
}

/* Devices of its largest claim that lie on one node; on loan those of a node. */
static uint32_t largest_pod(const struct question *q, uint32_t chain)
{
	const struct cell_chain *kind = q->cells->chains[chain].kind;
	const struct cell_range *range;
	uint32_t level;

	if (q->user.vc == CELL_NONE)
		return kind->levels[kind->node_level].leaves;
	range = &q->cells->ranges[q->user.vc * q->h->design.chains.n + chain];
	if (range->n == 0)
		return 0;
	level = q->cells->claims[range->from + range->n - 1].level;
	return kind->levels[level < kind->node_level ? level : kind->node_level].leaves;
}

/* In one chain: on one node, or on as few as its cells allow. */
static bool ask_chain(const struct question *q, uint32_t chain)
{
	uint32_t most = largest_pod(q, chain), gpus = q->p->gpus, npods;
	struct cell_ask ask = {
		.user = q->user,
		.chain = chain,
		.feeds = feeds,
		.ctx = q,
	};
	uint32_t *pods;
	bool found;

	if (most == 0)
		return false;
	npods = (gpus + most - 1) / most;
	pods = mem_alloc(mem_array_size(npods, sizeof(*pods)));
	for (uint32_t i = 0; i < npods; i++)
		pods[i] = most;
	pods[0] = gpus - (npods - 1) * most;
	ask.pods = pods;
	ask.npods = npods;
	found = cells_choose(q->cells, &ask, &q->h->answer);
	free(pods);
	return found;
}

static bool ask_chains(const struct question *q)
{
	for (uint32_t i = 0; i < q->h->design.chains.n; i++) {
		if (q->h->design.chains.at[i].type == q->p->type && ask_chain(q, i))
			return true;
	}
	return false;
}

/* The answer as slots, each node once. */
static void fill_slots(const struct hived *h, const struct cells *cells, struct slots *out)
{
	out->n = out->gpus = 0;
	for (size_t i = 0; i < h->answer.leaves.n; i++) {
		uint32_t leaf = h->answer.leaves.at[i];
		const struct cell_chain *kind = cells->chains[cells->at[leaf].chain].kind;
		uint32_t node = cells_index(cells, cells_above(cells, leaf, kind->node_level));
		const struct cell_host *host = &h->design.hosts.at[kind->first_host + node];
		uint32_t place = leaf - h->first[host->node], k = 0;
		uint64_t bit = UINT64_C(1) << (host->devices ? host->devices[place] : place);

		while (k < out->n && out->at[k].node != host->node)
			k++;
		if (k == out->n)
			slots_add(out, host->node, 0);
		out->at[k].devices |= bit;
		out->gpus++;
	}
}

static bool all_free(const struct space *space, const struct slots *slots)
{
	for (uint32_t i = 0; i < slots->n; i++) {
		const struct space_node *n = &space->nodes[slots->at[i].node];

		if (!n->up || slots->at[i].devices & ~n->free)
			return false;
	}
	return true;
}

static bool all_fed(const struct placing *p, const struct slots *slots)
{
	for (uint32_t i = 0; i < slots->n; i++) {
		if (!placing_feeds(p, slots->at[i].node,
			    (uint32_t)__builtin_popcountll(slots->at[i].devices)))
			return false;
	}
	return true;
}

static void copy_slots(const struct slots *from, struct slots *out)
{
	out->n = out->gpus = 0;
	for (uint32_t i = 0; i < from->n; i++)
		slots_add(out, from->at[i].node, from->at[i].devices);
}

/* Keeps the answer, for when its devices are taken or have been taken back. */
static void keep_answer(const struct question *q, struct promise *promise, bool back)
{
	promise->job = q->p->job->id;
	promise->gpus = q->p->gpus;
	promise->back = back;
	fill_slots(q->h, q->cells, &promise->slots);
	promise->bonds.n = 0;
	for (size_t i = 0; i < q->h->answer.bonds.n; i++)
		vec_push(&promise->bonds, q->h->answer.bonds.at[i]);
}

static void refuse(const struct question *q)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < q->h->design.chains.n; i++) {
		if (q->h->design.chains.at[i].type == q->p->type)
			left += cells_left(q->cells, q->user.vc, i);
	}
	q->p->note->why = (struct reason){ .why = WHY_CELLS,
		.need = (int32_t)q->p->gpus,
		.have = (int32_t)left,
		.other = JOB_NONE };
}

/* Within the cells of the job's tenant. */
static bool choose_claimed(struct question *q, struct promise *promise, struct slots *out)
{
	const struct placing *p = q->p;

	if (p->lent && promise->back && promise->job == p->job->id && promise->gpus == p->gpus) {
		copy_slots(&promise->slots, out);
		return all_free(p->space, out) && all_fed(p, out);
	}
	promise->job = JOB_NONE;
	if (!ask_chains(q)) {
		q->hungry = true;
		if (p->ever || !ask_chains(q)) {
			refuse(q);
			return false;
		}
	}
	fill_slots(q->h, q->cells, out);
	if (p->ever)
		return true;
	keep_answer(q, promise, q->hungry || !all_free(p->space, out));
	return !promise->back && all_fed(p, out);
}

static bool place_emptiest_anew(const struct placing *p, struct slots *out)
{
	out->n = out->gpus = 0;
	return place_emptiest(p, p->gpus, out) == p->gpus;
}

/* Anything that nobody has: on one node, else on as few as it takes. */
static bool choose_loose(struct question *q, struct slots *out)
{
	q->user.vc = CELL_NONE;
	if (q->cells && ask_chains(q)) {
		fill_slots(q->h, q->cells, out);
		if (all_free(q->p->space, out) && all_fed(q->p, out))
			return true;
	}
	out->n = out->gpus = 0;
	return place_compact(q->p, out) || place_emptiest_anew(q->p, out);
}

/* What the plan hides for a moment is out of the question in the books, too. */
static void hide(struct question *q)
{
	struct hived *h = q->h;

	h->hidden.n = 0;
	for (uint32_t node = 0; q->p->job->navoid && node < h->cluster->nnodes; node++) {
		uint64_t hidden = q->p->space->nodes[node].hidden & node_all(&h->cluster->nodes[node]);

		for (; hidden; hidden &= hidden - 1) {
			uint32_t leaf = leaf_at(h, node, (uint32_t)__builtin_ctzll(hidden));

			if (q->cells->leaves[leaf].bad)
				continue;
			cells_set_bad(q->cells, leaf, true);
			vec_push(&h->hidden, leaf);
		}
	}
}

static void show(struct question *q)
{
	for (size_t i = 0; i < q->h->hidden.n; i++)
		cells_set_bad(q->cells, q->h->hidden.at[i], false);
}

static bool hived_choose(void *self, const struct placing *p, struct slots *out)
{
	struct hived *h = self;
	struct question q = {
		.h = h,
		.p = p,
		.cells = p->ever ? h->empty : h->books,
		.user = user_of(h, p->job),
	};
	bool found;

	if (!q.cells)
		return choose_loose(&q, out); /* nobody began: no cells are known */
	hide(&q);
	if (q.user.vc == CELL_NONE)
		found = choose_loose(&q, out);
	else
		found = choose_claimed(&q, &h->promises[p->type], out);
	if (!found && q.user.vc != CELL_NONE && h->spill && h->promises[p->type].job != p->job->id) {
		p->note->why.why = WHY_NONE;
		out->n = out->gpus = 0;
		found = choose_loose(&q, out);
	}
	show(&q);
	return found;
}

/* ---- taking back */

static bool entitled(void *self, const struct plan *plan, const struct job *job, uint32_t gpus)
{
	const struct hived *h = self;

	(void)plan;
	for (uint32_t i = 0; i < h->cluster->ntypes; i++) {
		if (h->promises[i].job == job->id && h->promises[i].back && h->promises[i].gpus == gpus)
			return true;
	}
	return false;
}

/* Whether the grant has devices of a node where the job shall go. */
static bool in_the_way(const struct hived *h, const struct grant *grant, const struct job *job)
{
	for (uint32_t i = 0; i < grant->nslots; i++) {
		const struct promise *p = &h->promises[h->cluster->nodes[grant->slots[i].node].type];

		for (uint32_t k = 0; p->job == job->id && k < p->slots.n; k++) {
			if (p->slots.at[k].node == grant->slots[i].node)
				return true;
		}
	}
	return false;
}

static bool is_lent(struct hived *h, struct slot slot)
{
	uint32_t leaves[NODE_DEVICES_MAX], n = list_leaves(h, slot, leaves);

	for (uint32_t i = 0; i < n; i++) {
		if (h->books->leaves[leaves[i]].claim == CELL_NONE)
			return true;
	}
	return false;
}

/* Whoever has devices on loan and no claim for them by now; those that have done least first. */
static double yields(void *self, const struct plan *plan, const struct job *holder,
	const struct job *job)
{
	struct hived *h = self;
	const struct grant *grant = plan_grant(plan, holder->id);
	bool lent = false;

	if (!in_the_way(h, grant, job))
		return NAN;
	for (uint32_t i = 0; i < grant->nslots && !lent; i++) {
		uint32_t leaves[NODE_DEVICES_MAX], n = list_leaves(h, grant->slots[i], leaves);

		lent = is_lent(h, grant->slots[i]);
		if (!lent)
			continue;
		cells_raise(h->books, user_of(h, holder), leaves, n);
		lent = is_lent(h, grant->slots[i]);
	}
	return lent ? -job_served_s(holder, plan->now_s) : NAN;
}

/*
 * A job with claims gains only by the going of others with the same: what is lent it gets without a policy's
 * stopping anybody.  One without gains nothing by the going of those who have theirs through claims.
 */
static bool keeps(void *self, const struct plan *plan, const struct job *holder, const struct job *job)
{
	struct hived *h = self;
	uint32_t vc = user_of(h, holder).vc, other = user_of(h, job).vc;
	const struct grant *grant;

	if (other != CELL_NONE || vc == CELL_NONE)
		return vc != other;
	grant = plan_grant(plan, holder->id);
	for (uint32_t i = 0; i < grant->nslots; i++) {
		if (is_lent(h, grant->slots[i]))
			return false;
	}
	return true;
}

/* Whether its tenant's cells have room for it, though others may stand there on loan. */
static bool due(void *self, const struct plan *plan, const struct job *job, struct grant_part part)
{
	struct hived *h = self;
	struct placing_note note = { .why = { .other = JOB_NONE }, .wake_s = INFINITY };
	struct placing p = {
		.space = &plan->space,
		.job = job,
		.gpus = part.gpus,
		.type = part.type,
		.now_s = plan->now_s,
		.note = &note,
	};
	struct question q = { .h = h, .p = &p, .cells = h->books, .user = user_of(h, job) };
	struct promise *promise = &h->promises[part.type];
	bool found;

	if (!h->books || q.user.vc == CELL_NONE)
		return false;
	promise->job = JOB_NONE;
	h->trial.n = h->trial.gpus = 0;
	hide(&q);
	found = choose_claimed(&q, promise, &h->trial);
	show(&q);
	return found || promise->job == job->id;
}

static const struct reclaim by_claim = {
	.entitled = entitled,
	.yields = yields,
	.keeps = keeps,
	.due = due,
};

const struct cells *hived_books(const void *placer_state)
{
	return ((const struct hived *)placer_state)->books;
}

const struct placer placer_hived = {
	.name = "hived",
	.summary = "each tenant within its cells, which it always gets; the rest on loan",
	.origin = "Zhao et al., OSDI 2020",
	.options = options,
	.state_size = sizeof(struct hived),
	.particular = true,
	.by_tenant = true,
	.takes_back = true,
	.reclaim = &by_claim,
	.begin = hived_begin,
	.fini = hived_fini,
	.took = hived_took,
	.gave = hived_gave,
	.turned = hived_turned,
	.choose = hived_choose,
};
