#include "solver/knapsack.h"

#include <stdbool.h>

#include "support/property.h"

enum { GROUPS = 4, ITEMS = 3 };

struct instance {
	struct knapsack_item items[GROUPS][ITEMS];
	struct knapsack_group groups[GROUPS];
	uint32_t n, capacity;
};

static void bind(struct instance *in)
{
	for (uint32_t g = 0; g < in->n; g++)
		in->groups[g].items = in->items[g];
}

/* ---- the paper's little example */

static void test_one_each(void **state)
{
	struct instance in = {
		.items = { { { 1, 10 }, { 2, 15 } }, { { 1, 8 }, { 2, 16 } } },
		.groups = { { .n = 2 }, { .n = 2 } },
		.n = 2,
	};
	struct arena scratch = { 0 };
	uint32_t chosen[2];

	(void)state;
	bind(&in);
	assert_true(knapsack_solve(in.groups, 2, 2, &scratch, chosen) == 18);
	assert_true(chosen[0] == 0 && chosen[1] == 0);
	assert_true(knapsack_solve(in.groups, 2, 1, &scratch, chosen) == 10);
	assert_true(chosen[0] == 0 && chosen[1] == KNAPSACK_NONE);
	assert_true(knapsack_solve(in.groups, 2, 4, &scratch, chosen) == 31);
	assert_true(chosen[0] == 1 && chosen[1] == 1);
	assert_true(knapsack_solve(in.groups, 2, 0, &scratch, chosen) == 0);
	assert_true(chosen[0] == KNAPSACK_NONE && chosen[1] == KNAPSACK_NONE);
	assert_true(knapsack_solve(NULL, 0, 5, &scratch, NULL) == 0);
	arena_fini(&scratch);
}

static void test_equals(void **state)
{
	/* 5 is to be had with one or two devices, and by either group. */
	struct instance in = {
		.items = { { { 2, 5 }, { 1, 5 }, { 2, 6 } }, { { 1, 5 }, { 2, 6 } } },
		.groups = { { .n = 2 }, { .n = 2 } },
		.n = 2,
	};
	struct arena scratch = { 0 };
	uint32_t chosen[2];

	(void)state;
	bind(&in);
	assert_true(knapsack_solve(in.groups, 1, 2, &scratch, chosen) == 5);
	assert_int_equal(chosen[0], 1); /* fewer devices */
	assert_true(knapsack_solve(in.groups, 2, 1, &scratch, chosen) == 5);
	assert_true(chosen[0] == 1 && chosen[1] == KNAPSACK_NONE); /* the first gets it */
	in.groups[0].n = 3;
	assert_true(knapsack_solve(in.groups, 2, 3, &scratch, chosen) == 11);
	assert_true(chosen[0] == 2 && chosen[1] == 0); /* the first gets more */
	arena_fini(&scratch);
}

static void test_worthless(void **state)
{
	struct instance in = {
		.items = { { { 1, 0 }, { 2, -3 } } },
		.groups = { { .n = 2 } },
		.n = 1,
	};
	struct arena scratch = { 0 };
	uint32_t chosen[1];

	(void)state;
	bind(&in);
	assert_true(knapsack_solve(in.groups, 1, 9, &scratch, chosen) == 0);
	assert_int_equal(chosen[0], KNAPSACK_NONE);
	arena_fini(&scratch);
}

/* ---- against all choices there are */

struct best {
	double value;
	uint32_t weight;
	uint32_t picks[GROUPS]; /* devices of each group */
};

static bool better(const struct best *a, const struct best *b)
{
	if (a->value != b->value)
		return a->value > b->value;
	if (a->weight != b->weight)
		return a->weight < b->weight;
	for (uint32_t g = 0; g < GROUPS; g++) {
		if (a->picks[g] != b->picks[g])
			return a->picks[g] > b->picks[g];
	}
	return false;
}

static void search(const struct instance *in, uint32_t g, struct best now, struct best *best)
{
	if (g == in->n) {
		if (now.weight <= in->capacity && better(&now, best))
			*best = now;
		return;
	}
	search(in, g + 1, now, best);
	for (uint32_t i = 0; i < in->groups[g].n; i++) {
		struct best with = now;

		with.value += in->items[g][i].value;
		with.weight += in->items[g][i].weight;
		with.picks[g] = in->items[g][i].weight;
		if (in->items[g][i].value > 0)
			search(in, g + 1, with, best);
	}
}

static void draw(struct instance *in, struct rng *rng)
{
	*in = (struct instance){ .n = (uint32_t)rng_below(rng, GROUPS + 1) };
	in->capacity = (uint32_t)rng_below(rng, 10);
	for (uint32_t g = 0; g < in->n; g++) {
		in->groups[g].n = (uint32_t)rng_below(rng, ITEMS + 1);
		for (uint32_t i = 0; i < in->groups[g].n; i++)
			in->items[g][i] = (struct knapsack_item){ i + 1, (double)rng_below(rng, 9) - 2 };
	}
	bind(in);
}

static void test_brute_force(void **state)
{
	struct rng rng = property("the most value, and of equals the one that the rule says");

	(void)state;
	for (size_t round = 0; round < rounds(3000); round++) {
		struct arena scratch = { 0 };
		struct best best = { 0 };
		uint32_t chosen[GROUPS];
		struct instance in;
		double value;

		draw(&in, &rng);
		search(&in, 0, (struct best){ 0 }, &best);
		value = knapsack_solve(in.groups, in.n, in.capacity, &scratch, chosen);
		assert_true(value == best.value);
		for (uint32_t g = 0; g < in.n; g++)
			assert_int_equal(chosen[g] == KNAPSACK_NONE ? 0 : in.items[g][chosen[g]].weight,
				best.picks[g]);
		arena_fini(&scratch);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_each),
		cmocka_unit_test(test_equals),
		cmocka_unit_test(test_worthless),
		cmocka_unit_test(test_brute_force),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
