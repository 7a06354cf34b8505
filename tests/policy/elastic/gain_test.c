#include "policy/elastic/gain.h"

#include <math.h>

#include "support/property.h"

static void the_largest_first_and_equals_in_order(void **state)
{
	static const double gains[] = { 1, 5, NAN, 5, -2, INFINITY };
	static const uint32_t order[] = { 5, 1, 3, 0, 4 };
	struct arena arena = { 0 };
	struct gain_heap heap;

	(void)state;
	gain_init(&heap, &arena, COUNT(gains));
	for (uint32_t i = COUNT(gains); i-- > 0;)
		gain_push(&heap, gains[i], i);
	assert_int_equal(heap.n, COUNT(order));
	for (size_t i = 0; i < COUNT(order); i++)
		assert_int_equal(gain_pop(&heap).row, order[i]);
	arena_fini(&arena);
}

enum { ROWS = 5, MOST = 6 };

/* Gains of each step, falling or not, and room in all. */
struct table {
	double gain[ROWS][MOST + 1];
	uint32_t has[ROWS], room;
};

static double next_gain(void *self, uint32_t row)
{
	struct table *t = self;

	return t->gain[row][t->has[row]];
}

static bool take(void *self, uint32_t row)
{
	struct table *t = self;

	if (t->room == 0)
		return false;
	t->room--;
	t->has[row]++;
	return true;
}

/* The same without a heap. */
static void by_looking_at_all(struct table *t)
{
	for (;;) {
		uint32_t best = ROWS;

		for (uint32_t row = 0; row < ROWS; row++) {
			if (next_gain(t, row) > 0 &&
				(best == ROWS || next_gain(t, row) > next_gain(t, best)))
				best = row;
		}
		if (best == ROWS || !take(t, best))
			return;
	}
}

static void sharing_out_is_greedy(void **state)
{
	struct rng rng = property("gains of whole numbers");
	struct gain_steps steps = { next_gain, take, true };
	struct arena arena = { 0 };

	(void)state;
	for (size_t round = 0; round < rounds(500); round++) {
		struct table a = { .room = (uint32_t)rng_below(&rng, 20) }, b;
		uint32_t made;

		for (int row = 0; row < ROWS; row++) {
			for (int i = 0; i < MOST; i++)
				a.gain[row][i] = (double)rng_below(&rng, 6) - 1;
		}
		b = a;
		made = gain_share_out(&arena, ROWS, &steps, &a);
		by_looking_at_all(&b);
		for (int row = 0; row < ROWS; row++) {
			assert_int_equal(a.has[row], b.has[row]);
			made -= a.has[row];
		}
		assert_int_equal(made, 0);
		arena_reset(&arena);
	}
	arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_first_and_equals_in_order),
		cmocka_unit_test(sharing_out_is_greedy),
	};

	return cmocka_run_group_tests_name("policy/elastic/gain", tests, NULL, NULL);
}
