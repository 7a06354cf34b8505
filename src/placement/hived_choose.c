/*
 * Where a job goes: within the cells of its tenant, or anywhere on loan.
 */
#include <math.h>
#include <stdlib.h>

#include "placement/even.h"
#include "placement/hived_parts.h"

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

/*
 * Devices on each node, fewest first: as few nodes as its cells allow, or as many as it wants.  False: they never
 * hold it so.  malloc'ed.
 */
static bool split(const struct question *q, uint32_t chain, uint32_t **pods, uint32_t *npods)
{
	uint32_t most = largest_pod(q, chain), gpus = q->p->gpus, nodes = q->p->nodes;

	if (most == 0 || (nodes && (gpus % nodes || gpus / nodes > most)))
		return false;
	*npods = nodes ? nodes : (gpus + most - 1) / most;
	*pods = mem_alloc(mem_array_size(*npods, sizeof(**pods)));
	for (uint32_t i = 0; i < *npods; i++)
		(*pods)[i] = nodes ? gpus / nodes : most;
	if (!nodes)
		(*pods)[0] = gpus - (*npods - 1) * most;
	return true;
}

static bool ask_chain(const struct question *q, uint32_t chain)
{
	struct cell_ask ask = {
		.user = q->user,
		.chain = chain,
		.apart = q->p->nodes > 0,
		.feeds = feeds,
		.ctx = q,
	};
	uint32_t *pods;
	bool found;

	if (!split(q, chain, &pods, &ask.npods))
		return false;
	ask.pods = pods;
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

static void copy_slots(const struct slot *from, uint32_t n, struct slots *out)
{
	out->n = out->gpus = 0;
	for (uint32_t i = 0; i < n; i++)
		slots_add(out, from[i].node, from[i].devices);
}

/* Keeps the answer, for when its devices are taken or have been taken back. */
static void keep_answer(const struct question *q, const struct slots *out, struct promise *promise,
	bool back)
{
	promise->job = q->p->job->id;
	promise->gpus = q->p->gpus;
	promise->nodes = q->p->nodes;
	promise->back = back;
	copy_slots(out->at, out->n, &promise->slots);
	promise->bonds.n = 0;
	for (size_t i = 0; i < q->h->answer.bonds.n; i++)
		vec_push(&promise->bonds, q->h->answer.bonds.at[i]);
}

static bool is_kept(const struct promise *promise, const struct placing *p)
{
	return promise->back && promise->job == p->job->id && promise->gpus == p->gpus &&
		promise->nodes == p->nodes;
}

/* Whether its tenant could have these through its claims; and devices of the idle ones that this would bind. */
static bool covered(const struct question *q, const struct slot *slots, uint32_t n, uint32_t *fresh)
{
	uint32_t *leaves = mem_alloc(mem_array_size(q->p->gpus, sizeof(*leaves))), nleaves = 0;
	uint32_t *pods = mem_alloc(mem_array_size(n, sizeof(*pods)));
	bool all;

	for (uint32_t i = 0; i < n; i++) {
		pods[i] = hived_leaves(q->h, slots[i], leaves + nleaves);
		nleaves += pods[i];
	}
	all = cells_cover(q->cells, q->user.vc, leaves, pods, n, fresh);
	free(leaves);
	free(pods);
	return all;
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

/* Where it is noted that there is no place for such a job; NULL: others may be told otherwise. */
static struct no_place *none_for(const struct question *q)
{
	uint32_t at = q->user.vc * 31 + q->p->type * 7 + q->p->gpus * 3 + q->p->nodes;

	return q->p->ever || q->p->job->navoid ? NULL : &q->h->none[at % NO_PLACES];
}

static bool is_none(const struct question *q, const struct no_place *none)
{
	return none->changes == q->h->changes && none->vc == q->user.vc &&
		none->type == q->p->type && none->gpus == q->p->gpus && none->nodes == q->p->nodes;
}

/* Devices of the cells of the job's tenant into the answer, also if CPUs or memory there have to be taken back. */
static bool find_claimed(struct question *q)
{
	struct no_place *none = none_for(q);

	if (none && is_none(q, none))
		return false;
	if (ask_chains(q))
		return true;
	q->hungry = true;
	if (q->p->ever)
		return false;
	if (ask_chains(q))
		return true;
	if (none)
		*none = (struct no_place){ q->h->changes, q->user.vc, q->p->type, q->p->gpus,
			q->p->nodes };
	return false;
}

/* Devices of the idle claims that the answer binds. */
static uint32_t fresh_in(const struct question *q)
{
	uint32_t n = 0;

	for (size_t i = 0; i < q->h->answer.bonds.n; i++)
		n += cells_level(q->cells, q->h->answer.bonds.at[i].cell)->leaves;
	return n;
}

/* Whether its tenant can have these through its claims, and binds no more of them than for the answer. */
static bool as_good(const struct question *q, const struct slot *slots, uint32_t n)
{
	uint32_t fresh;

	return covered(q, slots, n, &fresh) && (fresh <= q->p->gpus || fresh <= fresh_in(q));
}

/* Whether the job runs as it asks for, on devices that are as good as the answer; others may have been given them since. */
static bool lies_well(const struct question *q)
{
	const struct grant *grant = q->p->job->grant;

	return grant && !grant->mixed && grant->type == q->p->type && grant->gpus == q->p->gpus &&
		(!q->p->nodes || grant->nslots == q->p->nodes) &&
		as_good(q, grant->slots, grant->nslots);
}

/* Within the cells of the job's tenant. */
static bool choose_claimed(struct question *q, struct promise *promise, struct slots *out)
{
	const struct placing *p = q->p;

	if (p->lent && is_kept(promise, p)) {
		copy_slots(promise->slots.at, promise->slots.n, out);
		if (all_free(p->space, out) && all_fed(p, out))
			return true;
		/* Whoever does not give way has it through claims of its own by now. */
	}
	promise->job = JOB_NONE;
	if (!find_claimed(q)) {
		refuse(q);
		return false;
	}
	fill_slots(q->h, q->cells, out);
	if (p->ever)
		return true;
	if (lies_well(q)) {
		q->h->answer.bonds.n = 0;
		copy_slots(p->job->grant->slots, p->job->grant->nslots, out);
	}
	keep_answer(q, out, promise, q->hungry || !all_free(p->space, out));
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
	if (q->p->nodes)
		return place_over(q->p, q->p->nodes, out);
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
			uint32_t leaf = hived_leaf(h, node, (uint32_t)__builtin_ctzll(hidden));

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

bool hived_choose(void *self, const struct placing *p, struct slots *out)
{
	struct hived *h = self;
	struct question q = {
		.h = h,
		.p = p,
		.cells = p->ever ? h->empty : h->books,
		.user = hived_user(h, p->job),
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

bool hived_has_place(struct hived *h, const struct placing *p)
{
	struct question q = { .h = h, .p = p, .cells = h->books, .user = hived_user(h, p->job) };
	struct promise *promise = &h->promises[p->type];
	bool found;

	if (!h->books || q.user.vc == CELL_NONE)
		return false;
	promise->job = JOB_NONE;
	h->trial.n = h->trial.gpus = 0;
	hide(&q);
	found = choose_claimed(&q, promise, &h->trial);
	show(&q);
	return found || promise->job == p->job->id;
}

/*
 * Devices of its tenant's cells, if they take no more of these than choose() would.  What an elastic job has
 * beyond all cells is on loan.
 */
bool hived_suits(void *self, const struct placing *p, const struct slot *slots, uint32_t nslots)
{
	struct hived *h = self;
	struct question q = { .h = h, .p = p, .cells = h->books, .user = hived_user(h, p->job) };
	uint32_t fresh;
	bool within, found;

	if (!q.cells || q.user.vc == CELL_NONE || job_is_fraction(p->job))
		return true;
	within = covered(&q, slots, nslots, &fresh);
	if (within && fresh <= p->gpus)
		return true;
	hide(&q);
	found = find_claimed(&q);
	show(&q);
	if (found)
		return within && fresh <= fresh_in(&q);
	return within || h->spill || p->gpus > job_least_on(p->job, p->type);
}
