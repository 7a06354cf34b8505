/*
 * The plain rules: first fit, best fit, consolidate, spread and random.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "placement/placer.h"

static bool first_fit_choose(void *self, const struct placing *p, struct slots *out)
{
	(void)self;
	return place_first_whole(p, p->gpus, out) || place_first_fit(p, p->gpus, out) == p->gpus;
}

const struct placer placer_first_fit = {
	.name = "first-fit",
	.summary = "the first node that takes the whole gang, else the first free devices",
	.choose = first_fit_choose,
};

static bool best_fit_choose(void *self, const struct placing *p, struct slots *out)
{
	(void)self;
	return place_single(p, p->gpus, out) || place_fullest(p, p->gpus, out) == p->gpus;
}

const struct placer placer_best_fit = {
	.name = "best-fit",
	.summary = "the fullest node that takes the whole gang, else the fullest nodes first",
	.choose = best_fit_choose,
};

struct consolidate {
	bool strict;
};

static const struct option consolidate_options[] = {
	OPT_BOOL(struct consolidate, strict, 0, "wait rather than use more nodes than needed"),
	{ 0 },
};

static bool consolidate_choose(void *self, const struct placing *p, struct slots *out)
{
	const struct consolidate *c = self;

	return place_together(p, c->strict, out);
}

const struct placer placer_consolidate = {
	.name = "consolidate",
	.summary = "as few nodes as can be; waits for them if strict",
	.options = consolidate_options,
	.state_size = sizeof(struct consolidate),
	.choose = consolidate_choose,
};

/* Free devices of the type on nodes that can feed at least one of them, flattened to (node, device). */
struct free_list {
	struct slot *at; /* one bit each */
	uint32_t n;
};

static struct free_list free_devices(const struct placing *p)
{
	const struct space_type *t = &p->space->types[p->type];
	struct free_list list = { .at = mem_alloc(sizeof(struct slot) * (t->free + 1)) };

	for (uint32_t i = 0; i < t->nnodes; i++) {
		const struct space_node *node = &p->space->nodes[t->nodes[i]];

		if (!node->up || !placing_feeds(p, t->nodes[i], 1))
			continue;
		for (uint64_t left = node->free; left; left &= left - 1)
			list.at[list.n++] = (struct slot){ t->nodes[i], left & -left };
	}
	return list;
}

/* Adds one device to the answer, joining what it already has of that node; false if the node cannot feed one more. */
static bool add_one(const struct placing *p, struct slot device, struct slots *out)
{
	for (uint32_t i = 0; i < out->n; i++) {
		uint32_t n;

		if (out->at[i].node != device.node)
			continue;
		n = (uint32_t)__builtin_popcountll(out->at[i].devices) + 1;
		if (!placing_feeds(p, device.node, n))
			return false;
		out->at[i].devices |= device.devices;
		out->gpus++;
		return true;
	}
	slots_add(out, device.node, device.devices);
	return true;
}

static bool random_choose(void *self, const struct placing *p, struct slots *out)
{
	struct free_list list = free_devices(p);

	(void)self;
	for (uint32_t i = 0; i < list.n && out->gpus < p->gpus; i++) {
		uint32_t j = i + (uint32_t)rng_below(p->rng, list.n - i);
		struct slot picked = list.at[j];

		list.at[j] = list.at[i];
		list.at[i] = picked;
		add_one(p, picked, out);
	}
	free(list.at);
	return out->gpus == p->gpus;
}

const struct placer placer_random = {
	.name = "random",
	.summary = "any free devices, drawn by the seed",
	.random = true,
	.choose = random_choose,
};

/* Takes the n-th device of every node before the (n+1)-th of any, emptiest nodes first. */
static bool spread_choose(void *self, const struct placing *p, struct slots *out)
{
	struct slots nodes = { 0 };

	(void)self;
	place_emptiest(p, UINT32_MAX, &nodes);
	for (bool more = true; more && out->gpus < p->gpus;) {
		more = false;
		for (uint32_t i = 0; i < nodes.n && out->gpus < p->gpus; i++) {
			struct slot *left = &nodes.at[i];
			struct slot one = { left->node, left->devices & -left->devices };

			if (left->devices && add_one(p, one, out)) {
				left->devices &= left->devices - 1;
				more = true;
			}
		}
	}
	free(nodes.at);
	return out->gpus == p->gpus;
}

const struct placer placer_spread = {
	.name = "spread",
	.summary = "one device per node in turn, emptiest nodes first",
	.choose = spread_choose,
};
