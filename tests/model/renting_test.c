/*
 * Renting: which node a task fills best, which flavour is cheapest.
 */
#include "model/renting.h"

#include <math.h>

#include "support/property.h"

#define CPU_MEM(c, m) \
	{ \
		{ \
			0, (c), (m) \
		} \
	}

static void a_task_goes_where_it_leaves_least(void **state)
{
	static const struct amount all = CPU_MEM(4, 8), task = CPU_MEM(1, 2);
	static const struct amount a = CPU_MEM(2, 4), b = CPU_MEM(1, 2), c = CPU_MEM(0.5, 8);

	(void)state;
	assert_float_equal(renting_leftover(&a, &all, &task), 0.5, 1e-12); /* zhong a */
	assert_float_equal(renting_leftover(&b, &all, &task), 0, 1e-12);
	assert_true(isinf(renting_leftover(&c, &all, &task)));
	assert_float_equal(renting_dominant(&all, &task), 0.25, 1e-12);
}

static void the_cheapest_flavour_for_those_who_wait(void **state)
{
	static const struct amount tasks[] = { CPU_MEM(2, 2), CPU_MEM(2, 2), CPU_MEM(1, 1) };
	struct flavour flavours[] = { { CPU_MEM(2, 4), 1, 10 }, { CPU_MEM(8, 16), 3, 10 } };
	struct renting_choice c = renting_choose(flavours, 2, tasks, 3, false);

	(void)state;
	assert_int_equal(c.flavour, 1); /* zhong b: $3 either way, and one node is fewer than three */
	assert_int_equal(c.nodes, 1);
	flavours[1].price = 3.5;
	c = renting_choose(flavours, 2, tasks, 3, false);
	assert_int_equal(c.flavour, 0);
	assert_int_equal(c.nodes, 3);
	assert_float_equal(c.cost, 3, 1e-12);
	flavours[1] = flavours[0]; /* alike in everything: the first */
	assert_int_equal(renting_choose(flavours, 2, tasks, 3, false).flavour, 0);
}

static void a_gang_is_cut_into_whole_nodes(void **state)
{
	static const struct amount tasks[] = { { { 12, 12, 0 } }, { { 4, 4, 0 } } };
	struct flavour flavour = { { { 8, 8, 0 } }, 1, 2 };
	struct renting_choice c = renting_choose(&flavour, 1, tasks, 2, true);

	(void)state;
	assert_int_equal(c.nodes, 2); /* the small one finds none left */
	flavour.count = 3;
	assert_int_equal(renting_choose(&flavour, 1, tasks, 2, true).nodes, 3);
	assert_int_equal(renting_choose(&flavour, 1, tasks, 2, false).nodes, 1);
	flavour.count = 0;
	assert_int_equal(renting_choose(&flavour, 1, tasks, 2, true).nodes, 0);
}

static void first_fit_marks_who_is_covered(void **state)
{
	static const struct amount all[] = { CPU_MEM(4, 4), CPU_MEM(4, 4) };
	static const struct amount tasks[] = { CPU_MEM(3, 3), CPU_MEM(2, 2), CPU_MEM(3, 1),
		CPU_MEM(2, 1) };
	struct amount free[] = { CPU_MEM(4, 4), CPU_MEM(4, 4) };
	bool fits[4];

	(void)state;
	assert_int_equal(renting_first_fit(free, all, 2, tasks, 4, fits), 3);
	assert_true(fits[0] && fits[1] && !fits[2] && fits[3]);
}

/* Of every node no more is used than there is. */
static void nothing_is_packed_twice(void **state)
{
	struct rng rng = property("first fit stays within every node");

	(void)state;
	for (size_t i = 0; i < rounds(500); i++) {
		struct amount all[5], free[5], tasks[12];
		bool fits[12];
		uint32_t n;

		for (int k = 0; k < 5; k++)
			free[k] = all[k] = (struct amount){ { (double)rng_below(&rng, 9),
				(double)rng_below(&rng, 9), (double)rng_below(&rng, 9) } };
		for (int k = 0; k < 12; k++)
			tasks[k] = (struct amount){ { (double)rng_below(&rng, 4),
				(double)rng_below(&rng, 4), (double)rng_below(&rng, 4) } };
		n = renting_first_fit(free, all, 5, tasks, 12, fits);
		for (int k = 0; k < 12; k++)
			n -= fits[k];
		assert_int_equal(n, 0);
		for (int k = 0; k < 5; k++) {
			for (int r = 0; r < RESOURCE_KINDS; r++)
				assert_true(all[k].of[r] == 0 || free[k].of[r] >= -1e-9);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_goes_where_it_leaves_least),
		cmocka_unit_test(the_cheapest_flavour_for_those_who_wait),
		cmocka_unit_test(a_gang_is_cut_into_whole_nodes),
		cmocka_unit_test(first_fit_marks_who_is_covered),
		cmocka_unit_test(nothing_is_packed_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
