#include "policy/deadline/elasticflow_buddy.h"

#include <stdlib.h>
#include <string.h>

/* A job to be packed. */
struct block {
	const struct portion *portion;
	bool tight, kept;
	struct node_share *at;
	uint32_t n;
};

struct packing {
	const struct round *round;
	const struct plan *plan;
	uint32_t type, node_size;
	uint32_t *free; /* by node of the cluster; of other types and of those that are down 0 */
	uint32_t *held; /* likewise: devices of those that could stay */
	struct block *blocks;
	uint32_t n;
};

static bool power_of_two(uint32_t n)
{
	return n > 0 && (n & (n - 1)) == 0;
}

/* Whether all nodes of the type that are up have one number of devices, a power of two, and none is down. */
static bool even_nodes(struct packing *p)
{
	const struct space_type *t = &p->plan->space.types[p->type];

	for (uint32_t i = 0; i < t->nnodes; i++) {
		uint32_t node = t->nodes[i], size = p->round->cluster->nodes[node].devices;

		if (!p->plan->space.nodes[node].up)
			continue;
		if (space_gone(&p->plan->space.nodes[node]) || (p->node_size && size != p->node_size))
			return false;
		p->node_size = size;
	}
	return power_of_two(p->node_size);
}

static int by_size(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->portion->gpus != y->portion->gpus)
		return x->portion->gpus > y->portion->gpus ? -1 : 1;
	return x->portion < y->portion ? -1 : x->portion > y->portion;
}

/* The portions of the type, largest first; false: some cannot be packed so. */
static bool list_blocks(struct packing *p, const struct portion *portions, const bool *tight, uint32_t n)
{
	p->blocks = arena_array(p->round->scratch, struct block, n);
	for (uint32_t i = 0; i < n; i++) {
		if (portions[i].gpus == 0 || portions[i].type != p->type)
			continue;
		if (!power_of_two(portions[i].gpus) || job_is_fraction(portions[i].job))
			return false;
		p->blocks[p->n++] = (struct block){ .portion = &portions[i], .tight = tight[i] };
	}
	qsort(p->blocks, p->n, sizeof(*p->blocks), by_size);
	return p->n > 0;
}

static void empty_nodes(struct packing *p)
{
	const struct space_type *t = &p->plan->space.types[p->type];

	for (uint32_t i = 0; i < t->nnodes; i++)
		p->free[t->nodes[i]] = p->plan->space.nodes[t->nodes[i]].up ? p->node_size : 0;
	for (uint32_t i = 0; i < p->n; i++) {
		p->blocks[i].n = 0;
		p->blocks[i].kept = false;
	}
}

static void put(struct packing *p, struct block *b, uint32_t node, uint32_t gpus)
{
	b->at[b->n++] = (struct node_share){ node, gpus };
	p->free[node] -= gpus;
}

static bool may_stay(const struct packing *p, const struct block *b)
{
	const struct grant *grant = b->portion->job->grant;

	return grant && !grant->mixed && grant->type == p->type && grant->gpus == b->portion->gpus;
}

static void count_held(struct packing *p)
{
	p->held = arena_array(p->round->scratch, uint32_t, p->round->cluster->nnodes);
	for (uint32_t i = 0; i < p->n; i++) {
		const struct grant *grant = p->blocks[i].portion->job->grant;

		for (uint32_t k = 0; may_stay(p, &p->blocks[i]) && k < grant->nslots; k++)
			p->held[grant->slots[k].node] += (uint32_t)__builtin_popcountll(
				grant->slots[k].devices);
	}
}

static void alloc_places(struct packing *p, struct block *b, uint32_t n)
{
	b->at = arena_array(p->round->scratch, struct node_share, n);
	b->n = 0;
}

static void stay(struct packing *p, struct block *b)
{
	const struct grant *grant = b->portion->job->grant;

	alloc_places(p, b, grant->nslots);
	b->kept = true;
	for (uint32_t i = 0; i < grant->nslots; i++)
		put(p, b, grant->slots[i].node,
			(uint32_t)__builtin_popcountll(grant->slots[i].devices));
}

/* Of two nodes with room, the fuller; of equals the one where fewer would have to leave. */
static bool suits_better(const struct packing *p, uint32_t node, uint32_t best)
{
	if (best == UINT32_MAX || p->free[node] != p->free[best])
		return best == UINT32_MAX || p->free[node] < p->free[best];
	return p->held[node] < p->held[best];
}

/* A node of its own if that has room, else the one that suits best; UINT32_MAX: none. */
static uint32_t node_for(const struct packing *p, const struct block *b, uint32_t gpus)
{
	const struct space_type *t = &p->plan->space.types[p->type];
	const struct grant *grant = b->portion->job->grant;
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; grant && i < grant->nslots; i++) {
		uint32_t node = grant->slots[i].node;

		if (p->round->cluster->nodes[node].type == p->type && p->free[node] >= gpus)
			return node;
	}
	for (uint32_t i = 0; i < t->nnodes; i++) {
		uint32_t node = t->nodes[i];

		if (p->free[node] >= gpus && suits_better(p, node, best))
			best = node;
	}
	return best;
}

static bool place(struct packing *p, struct block *b)
{
	uint32_t gpus = b->portion->gpus, each = gpus < p->node_size ? gpus : p->node_size;

	alloc_places(p, b, gpus / each);
	for (uint32_t left = gpus; left > 0; left -= each) {
		uint32_t node = node_for(p, b, each);

		if (node == UINT32_MAX) {
			while (b->n > 0) {
				b->n--;
				p->free[b->at[b->n].node] += b->at[b->n].gpus;
			}
			return false;
		}
		put(p, b, node, each);
	}
	return true;
}

/* Those that stay are all that can, or only the tight ones; says whether everybody fits. */
static bool try_packing(struct packing *p, bool all_stay)
{
	bool fits = true;

	empty_nodes(p);
	for (uint32_t i = 0; i < p->n; i++) {
		if (may_stay(p, &p->blocks[i]) && (all_stay || p->blocks[i].tight))
			stay(p, &p->blocks[i]);
	}
	for (uint32_t i = 0; i < p->n; i++) {
		if (!p->blocks[i].kept)
			fits = place(p, &p->blocks[i]) && fits;
	}
	return fits;
}

static bool any_tight(const struct packing *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->blocks[i].tight && may_stay(p, &p->blocks[i]))
			return true;
	}
	return false;
}

/*
 * Moves as few as it can.  Where nobody is tight the second try is free to move all, so that everybody fits.
 * A tight one is not moved for anybody: that would break its promise for certain, while who finds no place
 * now may have time left.
 */
static bool find_packing(struct packing *p)
{
	return try_packing(p, true) || try_packing(p, false) || any_tight(p);
}

/* First everybody leaves who does not stay as it is, so that nobody finds another in its place. */
static void write_plan(const struct packing *p, struct plan *plan)
{
	for (uint32_t i = 0; i < p->n; i++) {
		if (!p->blocks[i].kept)
			plan_stop(plan, p->blocks[i].portion->job);
	}
	for (uint32_t i = 0; i < p->n; i++) {
		if (!p->blocks[i].kept && p->blocks[i].n > 0)
			plan_run_at(plan, p->blocks[i].portion->job, p->blocks[i].at,
				p->blocks[i].n, (struct want){ 0 });
	}
}

/* Whoever is on the type and shall not be there any more. */
static void clear_leavers(struct plan *plan, uint32_t type, const struct portion *portions, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct grant *grant = plan_grant(plan, portions[i].job->id);

		if (grant && grant->type == type && (portions[i].gpus == 0 || portions[i].type != type))
			plan_stop(plan, portions[i].job);
	}
}

void buddy_run(const struct round *round, struct plan *plan, uint32_t type,
	const struct portion *portions, const bool *tight, uint32_t n)
{
	struct packing p = { .round = round, .plan = plan, .type = type };

	if (!even_nodes(&p) || !list_blocks(&p, portions, tight, n))
		return;
	clear_leavers(plan, type, portions, n);
	p.free = arena_array(round->scratch, uint32_t, round->cluster->nnodes);
	count_held(&p);
	if (find_packing(&p))
		write_plan(&p, plan);
}
