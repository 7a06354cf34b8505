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
	t->parted.words = mem_alloc(sizeof(uint64_t) * (t->nwords + 1));
}

static uint64_t all_of(const struct space *space, uint32_t node)
{
	return node_all(&space->cluster->nodes[node]);
}

static uint32_t count(uint64_t devices)
{
	return (uint32_t)__builtin_popcountll(devices);
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
		n->free = all_of(space, i);
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
	for (uint32_t i = 0; i < space->cluster->nnodes; i++) {
		vec_fini(&space->nodes[i].users);
		free(space->nodes[i].parts);
	}
	for (uint32_t t = 0; t < space->cluster->ntypes; t++) {
		for (uint32_t f = 0; f <= space->types[t].max; f++)
			free(space->types[t].buckets[f].words);
		free(space->types[t].parted.words);
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

/* After somebody took or gave back devices of a node, or some went down or came up. */
static void set_free(struct space *space, uint32_t node)
{
	struct space_node *n = &space->nodes[node];
	uint32_t before = n->nfree;

	n->free = all_of(space, node) & ~(n->whole | n->parted | n->down | n->drained | n->hidden);
	n->nfree = (uint8_t)count(n->free);
	refile(space, node, before);
}

/* ---- fractions */

static uint32_t share_of(const struct job *job)
{
	uint32_t share;

	if (!job_is_fraction(job))
		return 0;
	share = (uint32_t)(job->share * SHARE_WHOLE); /* cut, so that three thirds are no more than a whole */
	return share > 0 ? share : 1;
}

static int64_t memory_of(const struct job *job)
{
	return job->gpu_mem_bytes > 0 ? job->gpu_mem_bytes : 0;
}

static void set_parted(struct space *space, uint32_t node, uint64_t parted)
{
	struct space_node *n = &space->nodes[node];
	struct space_type *t = &space->types[space->cluster->nodes[node].type];

	if (!n->parted && parted)
		bucket_set(&t->parted, space->position[node]);
	if (n->parted && !parted)
		bucket_clear(&t->parted, space->position[node]);
	n->parted = parted;
}

static void part_take(struct space *space, uint32_t share, const struct job *job, struct slot slot)
{
	struct space_node *n = &space->nodes[slot.node];

	if (!n->parts)
		n->parts = mem_alloc(sizeof(*n->parts) * space->cluster->nodes[slot.node].devices);
	for (uint64_t left = slot.devices; left; left &= left - 1) {
		n->parts[__builtin_ctzll(left)].share += share;
		n->parts[__builtin_ctzll(left)].mem_bytes += memory_of(job);
	}
}

static void part_give(struct space_node *n, uint32_t share, const struct job *job, uint64_t devices)
{
	for (uint64_t left = devices; left; left &= left - 1) {
		n->parts[__builtin_ctzll(left)].share -= share;
		n->parts[__builtin_ctzll(left)].mem_bytes -= memory_of(job);
	}
}

static bool part_takes(const struct space_part *part, uint32_t share, int64_t mem_bytes, int64_t there)
{
	return part->share + share <= SHARE_WHOLE &&
		(there == 0 || part->mem_bytes + mem_bytes <= there);
}

/* Of these devices, which fractions hold, those that they leave enough of. */
static uint64_t room_among(const struct space *space, const struct job *job, uint32_t node,
	uint64_t devices)
{
	const struct space_node *n = &space->nodes[node];
	int64_t there = space->cluster->types[space->cluster->nodes[node].type].mem_bytes;
	uint32_t share = share_of(job);
	uint64_t room = 0;

	if (!n->up || share == 0)
		return 0;
	for (uint64_t left = devices & n->parted & ~(n->whole | n->down); left; left &= left - 1) {
		if (part_takes(&n->parts[__builtin_ctzll(left)], share, memory_of(job), there))
			room |= left & -left;
	}
	return room;
}

uint64_t space_room(const struct space *space, const struct job *job, uint32_t node)
{
	const struct space_node *n = &space->nodes[node];

	return room_among(space, job, node, ~(n->drained | n->hidden));
}

uint64_t space_regains(const struct space *space, const struct job *job, uint32_t node, uint64_t devices)
{
	const struct space_node *n = &space->nodes[node];
	uint64_t mine = devices & n->drained & ~n->down;

	if (!n->up || !mine)
		return 0;
	return (mine & ~(n->whole | n->parted)) | room_among(space, job, node, mine);
}

/* ---- taking and giving back */

/* Whether a user is not alone on its devices, given those of the others. */
static bool intrudes(const struct space_user *user, uint64_t whole, uint64_t parted)
{
	return user->devices & (user->share ? whole : whole | parted);
}

/* How many of the devices nobody has. */
static uint32_t unheld(const struct space_node *n, uint64_t devices)
{
	return count(devices & ~(n->whole | n->parted));
}

void space_take(struct space *space, const struct job *job, uint32_t gpus, struct slot slot)
{
	struct space_node *n = &space->nodes[slot.node];
	struct space_user user = { job->id, share_of(job), slot.devices };

	vec_push(&n->users, user);
	if (intrudes(&user, n->whole, n->parted)) {
		n->overlaps++;
		space->overlaps++;
	}
	space->held += unheld(n, slot.devices);
	if (user.share) {
		part_take(space, user.share, job, slot);
		set_parted(space, slot.node, n->parted | slot.devices);
	} else {
		n->whole |= slot.devices;
	}
	set_free(space, slot.node);
	feed(space, job, gpus, slot.node, __builtin_popcountll(slot.devices));
}

static struct space_user drop_user(struct space_node *n, uint32_t job, uint64_t devices)
{
	struct space_user user;
	size_t i = 0;

	while (n->users.at[i].job != job || n->users.at[i].devices != devices)
		i++;
	user = n->users.at[i];
	n->users.at[i] = n->users.at[--n->users.n];
	return user;
}

/* Counts anew which devices still have users and who of them is not alone. */
static void recount(struct space *space, uint32_t node)
{
	struct space_node *n = &space->nodes[node];
	uint64_t parted = 0;

	space->overlaps -= n->overlaps;
	n->overlaps = 0;
	n->whole = 0;
	for (size_t i = 0; i < n->users.n; i++) {
		const struct space_user *user = &n->users.at[i];

		n->overlaps += intrudes(user, n->whole, parted);
		if (user->share)
			parted |= user->devices;
		else
			n->whole |= user->devices;
	}
	set_parted(space, node, parted);
	space->overlaps += n->overlaps;
}

void space_give(struct space *space, const struct job *job, uint32_t gpus, struct slot slot)
{
	struct space_node *n = &space->nodes[slot.node];
	struct space_user user;

	assert((slot.devices & n->free) == 0);
	user = drop_user(n, job->id, slot.devices);
	if (user.share)
		part_give(n, user.share, job, slot.devices);
	if (user.share || n->overlaps > 0)
		recount(space, slot.node);
	else
		n->whole &= ~slot.devices; /* nobody else had them */
	space->held -= unheld(n, slot.devices);
	set_free(space, slot.node);
	feed(space, job, gpus, slot.node, -__builtin_popcountll(slot.devices));
	/* Sums of fractions leave dust behind; an empty node has all it has. */
	if (n->users.n == 0 && n->hosted == 0)
		n->cpus = space->cluster->nodes[slot.node].cpus;
}

bool space_can_host(const struct space *space, const struct job *job, uint32_t node)
{
	return space->nodes[node].up && space_feeds(space, job, 1, node, 1);
}

void space_host(struct space *space, const struct job *job, uint32_t node)
{
	space->nodes[node].hosted++;
	feed(space, job, 1, node, 1);
}

void space_unhost(struct space *space, const struct job *job, uint32_t node)
{
	struct space_node *n = &space->nodes[node];

	n->hosted--;
	feed(space, job, 1, node, -1);
	if (n->users.n == 0 && n->hosted == 0)
		n->cpus = space->cluster->nodes[node].cpus;
}

void space_each_beside(const struct space *space, uint32_t job, struct slot slot,
	void (*see)(void *ctx, uint32_t other), void *ctx)
{
	const struct space_node *n = &space->nodes[slot.node];

	for (size_t i = 0; i < n->users.n; i++) {
		if (n->users.at[i].job != job && !n->users.at[i].share &&
			(n->users.at[i].devices & slot.devices))
			see(ctx, n->users.at[i].job);
	}
}

static uint32_t up_on(const struct space *space, uint32_t node)
{
	return count(all_of(space, node) & ~space_gone(&space->nodes[node]));
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
		t->up += up_on(space, node);
	} else {
		bucket_clear(&t->buckets[n->nfree], space->position[node]);
		t->free -= n->nfree;
		t->up -= up_on(space, node);
	}
}

/* After it changed which devices of a node nobody can have. */
static void recount_up(struct space *space, uint32_t node, uint32_t before)
{
	struct space_type *t = &space->types[space->cluster->nodes[node].type];

	if (space->nodes[node].up)
		t->up = t->up - before + up_on(space, node);
}

void space_set_devices_up(struct space *space, uint32_t node, uint64_t devices, bool up)
{
	struct space_node *n = &space->nodes[node];
	uint32_t before = up_on(space, node);

	devices &= all_of(space, node);
	n->down = up ? n->down & ~devices : n->down | devices;
	recount_up(space, node, before);
	set_free(space, node);
}

static void keep_on(struct space *space, uint32_t node)
{
	struct space_node *n = &space->nodes[node];
	uint32_t before = up_on(space, node);

	n->kept = n->drained & (n->whole | n->parted);
	recount_up(space, node, before);
}

void space_set_drained(struct space *space, uint32_t node, uint64_t devices)
{
	struct space_node *n = &space->nodes[node];
	uint32_t before = up_on(space, node);

	space->draining -= n->drained != 0;
	n->drained = devices & all_of(space, node);
	n->kept &= n->drained;
	space->draining += n->drained != 0;
	recount_up(space, node, before);
	keep_on(space, node);
	set_free(space, node);
}

void space_keep(struct space *space)
{
	for (uint32_t node = 0; space->draining && node < space->cluster->nnodes; node++) {
		if (space->nodes[node].drained)
			keep_on(space, node);
	}
}

void space_hide(struct space *space, uint32_t node, uint64_t devices)
{
	space->nodes[node].hidden = devices;
	set_free(space, node);
}

bool space_feeds(const struct space *space, const struct job *job, uint32_t gpus, uint32_t node,
	uint32_t n)
{
	const double slack = 1e-9; /* parts that add up to a whole shall fit it */

	if (models_cpus(space, node) && cpus_for(job, gpus, n) > space->nodes[node].cpus + slack)
		return false;
	return !models_memory(space, node) || mem_for(job, gpus, n) <= space->nodes[node].mem_bytes;
}

/* The next node of a type that is in the bucket. */
static uint32_t next_in(const struct space_type *t, const struct space_bucket *bucket, uint32_t *at)
{
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

uint32_t space_next(const struct space *space, uint32_t type, uint32_t nfree, uint32_t *at)
{
	return next_in(&space->types[type], &space->types[type].buckets[nfree], at);
}

uint32_t space_next_parted(const struct space *space, uint32_t type, uint32_t *at)
{
	return next_in(&space->types[type], &space->types[type].parted, at);
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
