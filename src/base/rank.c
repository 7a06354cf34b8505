/*
 * Ordered sets: a treap with parent links, its nodes in one array by id.
 */
#include "base/rank.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

enum { FIRST_CAP = 64 };

/* A bijection of 32 bits (lowbias32): no two ids have the same priority, so the shape is unique. */
static inline uint32_t priority(uint32_t id)
{
	id ^= id >> 16;
	id *= UINT32_C(0x7feb352d);
	id ^= id >> 15;
	id *= UINT32_C(0x846ca68b);
	return id ^ id >> 16;
}

static inline bool before(double key_a, double tie_a, uint32_t a, double key_b, double tie_b, uint32_t b)
{
	if (key_a != key_b)
		return key_a < key_b;
	if (tie_a != tie_b)
		return tie_a < tie_b;
	return a < b;
}

bool rank_before(double key_a, double tie_a, uint32_t a, double key_b, double tie_b, uint32_t b)
{
	return before(key_a, tie_a, a, key_b, tie_b, b);
}

void rank_pool_fini(struct rank_pool *pool)
{
	free(pool->nodes);
	*pool = (struct rank_pool){ 0 };
}

static void grow(struct rank_pool *pool, uint32_t id)
{
	uint64_t cap = pool->cap ? pool->cap : FIRST_CAP;

	while (cap <= id)
		cap *= 2;
	if (cap > RANK_NONE)
		cap = RANK_NONE;
	pool->nodes = mem_resize(pool->nodes, mem_array_size(cap, sizeof(*pool->nodes)));
	for (uint32_t i = pool->cap; i < cap; i++)
		pool->nodes[i] = (struct rank_node){ 0, 0, RANK_NONE, RANK_NONE, RANK_NONE, RANK_NONE };
	pool->cap = (uint32_t)cap;
}

/* Hangs what is under `at` below `id`: what comes before it to the left, the rest to the right. */
static void split_below(struct rank_node *nodes, uint32_t at, uint32_t id)
{
	struct rank_node *node = &nodes[id];
	uint32_t *left = &node->left, *right = &node->right;
	uint32_t left_parent = id, right_parent = id;

	while (at != RANK_NONE) {
		struct rank_node *n = &nodes[at];

		if (before(n->key, n->tie, at, node->key, node->tie, id)) {
			*left = at;
			n->parent = left_parent;
			left_parent = at;
			left = &n->right;
			at = n->right;
		} else {
			*right = at;
			n->parent = right_parent;
			right_parent = at;
			right = &n->left;
			at = n->left;
		}
	}
	*left = RANK_NONE;
	*right = RANK_NONE;
}

void rank_insert(struct rank_pool *pool, struct rank *set, uint32_t id, double key, double tie)
{
	uint32_t mine = priority(id), parent = RANK_NONE, at = set->root;
	uint32_t *link = &set->root;
	struct rank_node *nodes;

	assert(id != RANK_NONE && set->name != RANK_NONE);
	assert(key == key && tie == tie); /* NaN has no place in an order */
	if (id >= pool->cap)
		grow(pool, id);
	nodes = pool->nodes;
	assert(nodes[id].set == RANK_NONE);
	while (at != RANK_NONE && priority(at) > mine) {
		struct rank_node *n = &nodes[at];

		parent = at;
		link = before(key, tie, id, n->key, n->tie, at) ? &n->left : &n->right;
		at = *link;
	}
	nodes[id].key = key;
	nodes[id].tie = tie;
	nodes[id].parent = parent;
	nodes[id].set = set->name;
	*link = id;
	split_below(nodes, at, id);
	set->n++;
}

/* Joins a (all before b) and b into `link`, which belongs to `parent`. */
static void join(struct rank_node *nodes, uint32_t *link, uint32_t parent, uint32_t a, uint32_t b)
{
	while (a != RANK_NONE && b != RANK_NONE) {
		if (priority(a) > priority(b)) {
			*link = a;
			nodes[a].parent = parent;
			parent = a;
			link = &nodes[a].right;
			a = *link;
		} else {
			*link = b;
			nodes[b].parent = parent;
			parent = b;
			link = &nodes[b].left;
			b = *link;
		}
	}
	*link = a != RANK_NONE ? a : b;
	if (*link != RANK_NONE)
		nodes[*link].parent = parent;
}

void rank_remove(struct rank_pool *pool, struct rank *set, uint32_t id)
{
	struct rank_node *nodes = pool->nodes, *node = &nodes[id];
	uint32_t *link = &set->root;

	assert(id < pool->cap && node->set == set->name);
	if (node->parent != RANK_NONE) {
		struct rank_node *parent = &nodes[node->parent];

		link = parent->left == id ? &parent->left : &parent->right;
	}
	join(nodes, link, node->parent, node->left, node->right);
	node->left = node->right = node->parent = node->set = RANK_NONE;
	set->n--;
}

uint32_t rank_holder(const struct rank_pool *pool, uint32_t id)
{
	return id < pool->cap ? pool->nodes[id].set : RANK_NONE;
}

static uint32_t leftmost(const struct rank_node *nodes, uint32_t id)
{
	while (nodes[id].left != RANK_NONE)
		id = nodes[id].left;
	return id;
}

static uint32_t rightmost(const struct rank_node *nodes, uint32_t id)
{
	while (nodes[id].right != RANK_NONE)
		id = nodes[id].right;
	return id;
}

uint32_t rank_first(const struct rank_pool *pool, const struct rank *set)
{
	return set->root == RANK_NONE ? RANK_NONE : leftmost(pool->nodes, set->root);
}

uint32_t rank_last(const struct rank_pool *pool, const struct rank *set)
{
	return set->root == RANK_NONE ? RANK_NONE : rightmost(pool->nodes, set->root);
}

uint32_t rank_next(const struct rank_pool *pool, uint32_t id)
{
	const struct rank_node *nodes = pool->nodes;
	uint32_t up = nodes[id].parent;

	if (nodes[id].right != RANK_NONE)
		return leftmost(nodes, nodes[id].right);
	while (up != RANK_NONE && nodes[up].right == id) {
		id = up;
		up = nodes[up].parent;
	}
	return up;
}

uint32_t rank_prev(const struct rank_pool *pool, uint32_t id)
{
	const struct rank_node *nodes = pool->nodes;
	uint32_t up = nodes[id].parent;

	if (nodes[id].left != RANK_NONE)
		return rightmost(nodes, nodes[id].left);
	while (up != RANK_NONE && nodes[up].left == id) {
		id = up;
		up = nodes[up].parent;
	}
	return up;
}
