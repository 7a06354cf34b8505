/*
 * The indexed binary heap.
 */
#include "base/heap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FIRST_CAP = 64 };

/* The id is the last word, so that equal keys and orders leave in one order on every machine. */
static inline bool before(const struct heap_item *a, const struct heap_item *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	if (a->order != b->order)
		return a->order < b->order;
	return a->id < b->id;
}

void heap_fini(struct heap *heap)
{
	free(heap->items);
	free(heap->where);
	*heap = (struct heap){ 0 };
}

bool heap_has(const struct heap *heap, uint32_t id)
{
	return id < heap->where_cap && heap->where[id];
}

static uint32_t doubled(uint32_t cap, uint32_t at_least)
{
	uint64_t want = cap ? cap : FIRST_CAP;

	while (want < at_least)
		want *= 2;
	return want > UINT32_MAX ? UINT32_MAX : (uint32_t)want;
}

static void grow_items(struct heap *heap)
{
	heap->cap = doubled(heap->cap, heap->n + 1);
	heap->items = mem_resize(heap->items, mem_array_size(heap->cap, sizeof(*heap->items)));
}

static void grow_where(struct heap *heap, uint32_t id)
{
	uint32_t old = heap->where_cap;

	heap->where_cap = doubled(old, id + 1);
	heap->where = mem_resize(heap->where, mem_array_size(heap->where_cap, sizeof(*heap->where)));
	memset(heap->where + old, 0, (size_t)(heap->where_cap - old) * sizeof(*heap->where));
}

static inline void set_at(struct heap *heap, uint32_t at, struct heap_item item)
{
	heap->items[at] = item;
	heap->where[item.id] = at + 1;
}

/* Both move a hole and fill it once: half the writes of swapping. */
static void sift_up(struct heap *heap, uint32_t hole, struct heap_item item)
{
	while (hole) {
		uint32_t up = (hole - 1) / 2;

		if (!before(&item, &heap->items[up]))
			break;
		set_at(heap, hole, heap->items[up]);
		hole = up;
	}
	set_at(heap, hole, item);
}

static void sift_down(struct heap *heap, uint32_t hole, struct heap_item item)
{
	const struct heap_item *items = heap->items;

	for (;;) {
		uint64_t child = (uint64_t)hole * 2 + 1;

		if (child >= heap->n)
			break;
		if (child + 1 < heap->n && before(&items[child + 1], &items[child]))
			child++;
		if (!before(&items[child], &item))
			break;
		set_at(heap, hole, items[child]);
		hole = (uint32_t)child;
	}
	set_at(heap, hole, item);
}

static void settle(struct heap *heap, uint32_t hole, struct heap_item item)
{
	if (hole && before(&item, &heap->items[(hole - 1) / 2]))
		sift_up(heap, hole, item);
	else
		sift_down(heap, hole, item);
}

void heap_put(struct heap *heap, uint32_t id, double key, uint64_t order)
{
	struct heap_item item = { .key = key, .order = order, .id = id };

	assert(id != UINT32_MAX);
	assert(key == key); /* NaN has no place in an order */
	if (id >= heap->where_cap)
		grow_where(heap, id);
	if (heap->where[id]) {
		settle(heap, heap->where[id] - 1, item);
		return;
	}
	if (heap->n == heap->cap)
		grow_items(heap);
	sift_up(heap, heap->n++, item);
}

static void remove_at(struct heap *heap, uint32_t at)
{
	struct heap_item last = heap->items[--heap->n];

	heap->where[heap->items[at].id] = 0;
	if (at < heap->n)
		settle(heap, at, last);
}

void heap_remove(struct heap *heap, uint32_t id)
{
	if (heap_has(heap, id))
		remove_at(heap, heap->where[id] - 1);
}

const struct heap_item *heap_top(const struct heap *heap)
{
	return heap->n ? heap->items : NULL;
}

struct heap_item heap_pop(struct heap *heap)
{
	struct heap_item top;

	assert(heap->n);
	top = heap->items[0];
	remove_at(heap, 0);
	return top;
}
