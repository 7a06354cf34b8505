#include "base/heap.h"

#include <string.h>

#include "property.h"

enum { IDS = 200 };

/* The same thing, obviously right: by id, and a search for the least. */
struct naive {
	struct heap_item at[IDS];
	bool in[IDS];
	uint32_t n;
};

static bool before(const struct heap_item *a, const struct heap_item *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return a->order != b->order ? a->order < b->order : a->id < b->id;
}

static uint32_t naive_top(const struct naive *all)
{
	uint32_t top = UINT32_MAX;

	for (uint32_t i = 0; i < IDS; i++) {
		if (all->in[i] && (top == UINT32_MAX || before(&all->at[i], &all->at[top])))
			top = i;
	}
	return top;
}

static void put(struct heap *heap, struct naive *all, struct rng *rng, uint32_t id)
{
	struct heap_item item = { (double)rng_below(rng, 30), rng_below(rng, 4), id };

	heap_put(heap, id, item.key, item.order);
	all->n += !all->in[id];
	all->in[id] = true;
	all->at[id] = item;
}

static void drop(struct naive *all, uint32_t id)
{
	all->n -= all->in[id];
	all->in[id] = false;
}

static void one_step(struct heap *heap, struct naive *all, struct rng *rng)
{
	uint32_t id = (uint32_t)rng_below(rng, IDS), what = (uint32_t)rng_below(rng, 10);

	if (what < 6) {
		put(heap, all, rng, id);
	} else if (what < 8) {
		heap_remove(heap, id);
		drop(all, id);
	} else if (heap->n) {
		struct heap_item top = heap_pop(heap);

		assert_int_equal(top.id, naive_top(all));
		assert_true(top.key == all->at[top.id].key && top.order == all->at[top.id].order);
		drop(all, top.id);
	}
	assert_int_equal(heap_has(heap, id), all->in[id]);
	assert_int_equal(heap->n, all->n);
	if (heap->n)
		assert_int_equal(heap_top(heap)->id, naive_top(all));
	else
		assert_null(heap_top(heap));
}

static void behaves_like_a_search_for_the_least(void **state)
{
	struct rng rng = property("heap against a naive search");
	struct heap heap = { 0 };
	static struct naive all;

	(void)state;
	memset(&all, 0, sizeof(all));
	for (size_t i = 0; i < rounds(20000); i++)
		one_step(&heap, &all, &rng);
	heap_fini(&heap);
}

static void pops_in_order(void **state)
{
	struct rng rng = property("pops in order");
	struct heap heap = { 0 };
	struct heap_item last, now;
	uint32_t n = 5000;

	(void)state;
	for (uint32_t id = 0; id < n; id++)
		heap_put(&heap, id, rng_uniform(&rng), 0);
	last = heap_pop(&heap);
	for (uint32_t i = 1; i < n; i++, last = now) {
		now = heap_pop(&heap);
		assert_true(before(&last, &now));
	}
	assert_int_equal(heap.n, 0);
	heap_fini(&heap);
}

static void moving_an_id_replaces_its_key(void **state)
{
	struct heap heap = { 0 };

	(void)state;
	heap_put(&heap, 7, 10, 0);
	heap_put(&heap, 8, 20, 0);
	heap_put(&heap, 7, 30, 0);
	assert_int_equal(heap.n, 2);
	assert_int_equal(heap_pop(&heap).id, 8);
	assert_true(heap_pop(&heap).key == 30);
	heap_fini(&heap);
}

static void empty_things(void **state)
{
	struct heap heap = { 0 };

	(void)state;
	assert_null(heap_top(&heap));
	assert_false(heap_has(&heap, 3));
	heap_remove(&heap, 3);
	heap_put(&heap, 100000, 1, 1);
	heap_remove(&heap, 3);
	assert_true(heap_has(&heap, 100000));
	heap_fini(&heap);
	heap_fini(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(behaves_like_a_search_for_the_least),
		cmocka_unit_test(pops_in_order),
		cmocka_unit_test(moving_an_id_replaces_its_key),
		cmocka_unit_test(empty_things),
	};

	return cmocka_run_group_tests_name("base/heap", tests, NULL, NULL);
}
