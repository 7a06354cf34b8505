/*
 * Ordered sets of small integers by (key, tie, id): first, last, neighbours,
 * insert and remove in O(log n).
 *
 * All sets of one `struct rank_pool` share its nodes, so that an id is in at
 * most one set at a time and moving it costs no allocation.  The shape does
 * not depend on history: a treap with priorities hashed from the id.
 */
#ifndef BASE_RANK_H
#define BASE_RANK_H

#include <stdbool.h>
#include <stdint.h>

#define RANK_NONE UINT32_MAX

struct rank_node {
	double key;
	double tie;
	uint32_t left, right, parent;
	uint32_t set; /* whose set holds it, RANK_NONE if none */
};

struct rank_pool {
	struct rank_node *nodes; /* by id */
	uint32_t cap;
};

/* A set is its root.  Initialise with RANK_NONE. */
struct rank {
	uint32_t root;
	uint32_t name; /* the caller's number for this set, stored in its nodes */
	uint32_t n;
};

#define RANK_EMPTY(nm) ((struct rank){ .root = RANK_NONE, .name = (nm), .n = 0 })

void rank_pool_fini(struct rank_pool *pool);

/* `id` must not be in a set. */
void rank_insert(struct rank_pool *pool, struct rank *set, uint32_t id, double key, double tie);
/* `id` must be in `set`. */
void rank_remove(struct rank_pool *pool, struct rank *set, uint32_t id);

/* The name of the set that holds `id`, or RANK_NONE. */
uint32_t rank_holder(const struct rank_pool *pool, uint32_t id);

uint32_t rank_first(const struct rank_pool *pool, const struct rank *set);
uint32_t rank_last(const struct rank_pool *pool, const struct rank *set);
uint32_t rank_next(const struct rank_pool *pool, uint32_t id);
uint32_t rank_prev(const struct rank_pool *pool, uint32_t id);

/* Whether a comes before b. */
bool rank_before(double key_a, double tie_a, uint32_t a, double key_b, double tie_b, uint32_t b);

#endif
