/*
 * Indexed binary min-heap of ids by (key, order): push, move, remove and pop
 * in O(log n); whether an id is in it in O(1).
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct heap_item {
	double key;
	uint64_t order; /* breaks ties; smaller first */
	uint32_t id;
};

/* A zeroed heap is valid and empty. */
struct heap {
	struct heap_item *items;
	uint32_t *where; /* by id: position + 1, or 0 */
	uint32_t n, cap, where_cap;
};

void heap_fini(struct heap *heap);
bool heap_has(const struct heap *heap, uint32_t id);
/* Inserts, or moves if it is there. */
void heap_put(struct heap *heap, uint32_t id, double key, uint64_t order);
void heap_remove(struct heap *heap, uint32_t id);          /* nothing if it is not there */
const struct heap_item *heap_top(const struct heap *heap); /* NULL if empty */
struct heap_item heap_pop(struct heap *heap);              /* must not be empty */

#endif
