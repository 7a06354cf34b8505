/*
 * Buddies: the devices of a node are halved and halved again, and a job gets a block of a power of two.
 *
 * Blocks begin at multiples of their size, so that two that are given back join to
 * one of twice the size.  A job takes the smallest block that is free anywhere
 * and large enough; jobs of other sizes leave the end of theirs to others.  One that
 * no node holds gets whole nodes and a block for the rest; one for which there is no block, as few
 * nodes as can be.
 */
#include "placement/placer.h"

/* The size of the smallest block for n. */
static uint32_t block_for(uint32_t n)
{
	uint32_t size = 1;

	while (size < n)
		size *= 2;
	return size;
}

static uint64_t block_at(uint32_t first, uint32_t size)
{
	return (size < NODE_DEVICES_MAX ? (UINT64_C(1) << size) - 1 : UINT64_MAX) << first;
}

/* The devices of the block that a node really has; those of the last one may be fewer. */
static uint64_t within(const struct placing *p, uint32_t node, uint64_t block)
{
	return block & node_all(&p->space->cluster->nodes[node]);
}

/* The largest block around a free one that is free as a whole: taking from a small one spares the large. */
static uint32_t whole_size(const struct placing *p, uint32_t node, uint32_t first, uint32_t size)
{
	while (size < NODE_DEVICES_MAX) {
		uint64_t larger = block_at(first / (2 * size) * (2 * size), 2 * size);

		if (within(p, node, larger) & ~p->space->nodes[node].free)
			break;
		size *= 2;
		first = first / size * size;
	}
	return size;
}

/* The smallest free block for n of its devices; false: there is none. */
static bool place_block(const struct placing *p, uint32_t n, struct slots *out)
{
	const struct space_type *t = &p->space->types[p->type];
	uint32_t size = block_for(n), least = UINT32_MAX, on = 0;
	uint64_t best = 0;

	for (uint32_t i = 0; i < t->nnodes; i++) {
		const struct space_node *node = &p->space->nodes[t->nodes[i]];
		uint32_t devices = p->space->cluster->nodes[t->nodes[i]].devices;

		if (!node->up || node->nfree < n || !placing_feeds(p, t->nodes[i], n))
			continue;
		for (uint32_t first = 0; first < devices; first += size) {
			uint64_t block = within(p, t->nodes[i], block_at(first, size));
			uint32_t whole;

			if ((block & ~node->free) || (uint32_t)__builtin_popcountll(block) < n)
				continue;
			whole = whole_size(p, t->nodes[i], first, size);
			if (whole < least) {
				least = whole;
				best = space_lowest(block, n);
				on = t->nodes[i];
			}
		}
	}
	if (best)
		slots_add(out, on, best);
	return best != 0;
}

/* Nodes that are all free, until what is left is less than the largest of them. */
static uint32_t place_whole(const struct placing *p, uint32_t want, struct slots *out)
{
	const struct space_type *t = &p->space->types[p->type];

	for (uint32_t i = 0; i < t->nnodes && want >= t->max; i++) {
		uint32_t node = t->nodes[i], devices = p->space->cluster->nodes[node].devices;

		if (p->space->nodes[node].up && p->space->nodes[node].nfree == devices &&
			devices <= want && placing_feeds(p, node, devices))
			want -= place_on_node(p, node, devices, out);
	}
	return want;
}

static bool taken(const struct slots *out, uint32_t node)
{
	for (uint32_t i = 0; i < out->n; i++) {
		if (out->at[i].node == node)
			return true;
	}
	return false;
}

static bool choose(void *self, const struct placing *p, struct slots *out)
{
	struct slots rest = { 0 };
	uint32_t left;
	bool fits;

	(void)self;
	if (place_block(p, p->gpus, out))
		return true;
	if (p->gpus <= p->space->types[p->type].max)
		return place_together(p, false, out);
	left = place_whole(p, p->gpus, out);
	if (left == 0)
		return true;
	fits = place_block(p, left, &rest) && !taken(out, rest.at[0].node);
	if (fits)
		slots_add(out, rest.at[0].node, rest.at[0].devices);
	vec_fini(&rest);
	if (fits)
		return true;
	out->n = out->gpus = 0;
	return place_together(p, false, out);
}

const struct placer placer_buddy = {
	.name = "buddy",
	.summary = "blocks of a power of two, the smallest that is free, so that large ones stay whole",
	.choose = choose,
};
