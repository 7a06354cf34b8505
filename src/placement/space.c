/*
 * Free devices, by node and in buckets.
 */
#include "placement/space.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

static void bucket_set(struct space_bucket *bucket, uint32_t position)
{
	bucket->words[position / 64] |= UINT64_C(1) << (position % 64);
	bucket->n++;
}

static void bucket_clear(struct space_bucket *bucket, uint32_t position)
{
	bucket->words[position / 64] &= ~(UINT64_C(1) << (position % 64));
	bucket->n--;
}

static void type_init(struct space *space, uint32_t type)
{
	const struct cluster *cluster = space->cluster;
	struct space_type *t = &space->types[type];

	t->max = cluster->types[type].max_per_node;
	t->nwords = (cluster->types[type].nodes + 63) / 64;
	t->nodes = mem_alloc(sizeof(*t->nodes) * (cluster->types[type].nodes + 1));
	t->buckets = mem_alloc(sizeof(*t->buckets) * (t->max + 1));
	for (uint32_t f = 0; f <= t->max; f++)
		t->buckets[f].words = mem_alloc(sizeof(uint64_t) * (t->nwords + 1));
}

void space_init(struct space *space, const struct cluster *cluster)
{
	*space = (struct space){ .cluster = cluster };
	space->nodes = mem_alloc(sizeof(*space->nodes) * (cluster->nnodes + 1));
	space->position = mem_alloc(sizeof(*space->position) * (cluster->nnodes + 1));
	space->types = mem_alloc(sizeof(*space->types) * (cluster->ntypes + 1));
	for (uint32_t t = 0; t < cluster->ntypes; t++)
		type_init(space, t);
	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		const struct node *node = &cluster->nodes[i];
		struct space_type *t = &space->types[node->type];
		struct space_node *n = &space->nodes[i];

		space->position[i] = t->nnodes;
		t->nodes[t->nnodes++] = i;
		n->free = node->devices == 64 ? UINT64_MAX : (UINT64_C(1) << node->devices) - 1;
		n->nfree = (uint8_t)node->devices;
		n->cpus = node->cpus;
		n->mem_bytes = node->mem_bytes;
		space->models_cpus |= node->cpus > 0;
		space->models_memory |= node->mem_bytes > 0;
		space_set_up(space, i, true);
	}
}

void space_fini(struct space *space)
{
	if (!space->cluster)
		return;
	for (uint32_t i = 0; i < space->cluster->nnodes; i++)
		vec_fini(&space->nodes[i].users);
	for (uint32_t t = 0; t < space->cluster->ntypes; t++) {
		for (uint32_t f = 0; f <= space->types[t].max; f++)
			free(space->types[t].buckets[f].words);
		free(space->types[t].buckets);
		free(space->types[t].nodes);
	}
	free(space->nodes);
	free(space->position);
	free(space->types);
	*space = (struct space){ 0 };
}

/* Moves a node between buckets after its free devices changed. */
static void refile(struct space *space, uint32_t node, uint32_t nfree_before)
{
	struct space_node *n = &space->nodes[node];
	struct space_type *t = &space->types[space->cluster->nodes[node].type];

	if (!n->up || n->nfree == nfree_before)
		return;
	bucket_clear(&t->buckets[nfree_before], space->position[node]);
	bucket_set(&t->buckets[n->nfree], space->position[node]);
	t->free = t->free - nfree_before + n->nfree;
}

/* A job's part of CPUs and memory for `n` of its `gpus` devices. */
static double cpus_for(const struct job *job, uint32_t gpus, uint32_t n)
{
	return job->cpus * n / gpus;
}

static int64_t mem_for(const struct job *job, uint32_t gpus, uint32_t n)
{
	return job->mem_bytes / gpus * n;
}

static bool models_cpus(const struct space *space, uint32_t node)
{
	return space->cluster->nodes[node].cpus > 0;
}

static bool models_memory(const struct space *space, uint32_t node)
{
	return space->cluster->nodes[node].mem_bytes > 0;
}

static void feed(struct space *space, const struct job *job, uint32_t gpus, uint32_t node, int n)
{
	if (models_cpus(space, node))
		space->nodes[node].cpus -= n < 0 ? -cpus_for(job, gpus, (uint32_t)-n)
						 : cpus_for(job, gpus, (uint32_t)n);
	if (models_memory(space, node))
		space->nodes[node].mem_bytes -= n < 0 ? -mem_for(job, gpus, (uint32_t)-n)
						      : mem_for(job, gpus, (uint32_t)n);
}

/* After the free devices of a node became `free`. */
static void set_free(struct space *space, uint32_t node, uint64_t free)
{
	struct space_node *n = &space->nodes[node];
	uint32_t before = n->nfree;

	n->free = free;
	n->nfree = (uint8_t)__builtin_popcountll(free);
	space->held += before - n->nfree;
	refile(space, node, before);
}

void space_take(struct space *space, const struct job *job, uint32_t gpus, struct slot slot)
{
	struct space_node *n = &space->nodes[slot.node];

	vec_push(&n->users, (struct space_user){ .job = job->id, .devices = slot.devices });
	if (slot.devices & ~n->free) {
		n->overlaps++;
		space->overlaps++;
	}
	set_free(space, slot.node, n->free & ~slot.devices);
	feed(space, job, gpus, slot.node, __builtin_popcountll(slot.devices));
}

static void drop_user(struct space_node *n, uint32_t job, uint64_t devices)
{
	size_t i = 0;

	while (n->users.at[i].job != job || n->users.at[i].devices != devices)
		i++;
	n->users.at[i] = n->users.at[--n->users.n];
}

/* Devices that still have users, counting anew who is not alone; none needs counting where nobody shares. */
static uint64_t held_by_others(struct space *space, struct space_node *n)
{
	uint64_t held = 0;

	if (n->overlaps == 0)
		return 0;
	space->overlaps -= n->overlaps;
	n->overlaps = 0;
	for (size_t i = 0; i < n->users.n; i++) {
		n->overlaps += (held & n->users.at[i].devices) != 0;
		held |= n->users.at[i].devices;
	}
	space->overlaps += n->overlaps;
	return held;
}

void space_give(struct space *space, const struct job *job, uint32_t gpus, struct slot slot)
{
	struct space_node *n = &space->nodes[slot.node];

	assert((slot.devices & n->free) == 0);
	drop_user(n, job->id, slot.devices);
	set_free(space, slot.node, n->free | (slot.devices & ~held_by_others(space, n)));
	feed(space, job, gpus, slot.node, -__builtin_popcountll(slot.devices));
	/* Sums of fractions leave dust behind; an empty node has all it has. */
	if (n->nfree == space->cluster->nodes[slot.node].devices)
		n->cpus = space->cluster->nodes[slot.node].cpus;
}

void space_each_beside(const struct space *space, uint32_t job, struct slot slot,
	void (*see)(void *ctx, uint32_t other), void *ctx)
{
	const struct space_node *n = &space->nodes[slot.node];

	for (size_t i = 0; i < n->users.n; i++) {
		if (n->users.at[i].job != job && (n->users.at[i].devices & slot.devices))
			see(ctx, n->users.at[i].job);
	}
}

void space_set_up(struct space *space, uint32_t node, bool up)
{
	struct space_node *n = &space->nodes[node];
	struct space_type *t = &space->types[space->cluster->nodes[node].type];

	if (n->up == up)
		return;
	n->up = up;
	if (up) {
		bucket_set(&t->buckets[n->nfree], space->position[node]);
		t->free += n->nfree;
		t->up += space->cluster->nodes[node].devices;
	} else {
		bucket_clear(&t->buckets[n->nfree], space->position[node]);
		t->free -= n->nfree;
		t->up -= space->cluster->nodes[node].devices;
	}
}

bool space_feeds(const struct space *space, const struct job *job, uint32_t gpus, uint32_t node,
	uint32_t n)
{
	const double slack = 1e-9; /* parts that add up to a whole shall fit it */

	if (models_cpus(space, node) && cpus_for(job, gpus, n) > space->nodes[node].cpus + slack)
		return false;
	return !models_memory(space, node) || mem_for(job, gpus, n) <= space->nodes[node].mem_bytes;
}

uint32_t space_next(const struct space *space, uint32_t type, uint32_t nfree, uint32_t *at)
{
	const struct space_type *t = &space->types[type];
	const struct space_bucket *bucket = &t->buckets[nfree];

	if (bucket->n == 0)
		return UINT32_MAX;
	for (uint32_t word = *at / 64; word < t->nwords; word++) {
		uint64_t bits = bucket->words[word];

		if (word == *at / 64)
			bits &= UINT64_MAX << (*at % 64);
		if (bits) {
			uint32_t position = word * 64 + (uint32_t)__builtin_ctzll(bits);

			*at = position + 1;
			return t->nodes[position];
		}
	}
	return UINT32_MAX;
}

uint64_t space_lowest(uint64_t devices, uint32_t n)
{
	uint64_t taken = 0;

	while (n--) {
		uint64_t lowest = devices & -devices;

		taken |= lowest;
		devices ^= lowest;
	}
	return taken;
}
