#include "solver/spanning.h"

#include <math.h>

#include "support/property.h"

static double sum_of(const double *length, uint32_t n, const uint32_t *parent)
{
	double sum = 0;

	for (uint32_t i = 1; i < n; i++)
		sum += length[i * n + parent[i]];
	return sum;
}

static void three_points(void **state)
{
	static const double length[] = { 0, 1, 5, 1, 0, 2, 5, 2, 0 };
	uint32_t parent[3];

	(void)state;
	assert_true(spanning_tree(length, 3, parent));
	assert_int_equal(parent[1], 0);
	assert_int_equal(parent[2], 1);
}

static void apart(void **state)
{
	static const double length[] = { 0, INFINITY, INFINITY, 0 };
	uint32_t parent[2];

	(void)state;
	assert_false(spanning_tree(length, 2, parent));
}

/* Whether every point comes to the root. */
static bool is_tree(const uint32_t *parent, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = i, steps = 0;

		while (at != 0 && steps++ < n)
			at = parent[at];
		if (at != 0)
			return false;
	}
	return true;
}

/* All ways to hang each point on another. */
static double shortest(const double *length, uint32_t n)
{
	uint32_t parent[5] = { 0 };
	double best = INFINITY;

	for (uint32_t code = 0; code < 625; code++) {
		for (uint32_t i = 1, rest = code; i < n; i++, rest /= 5)
			parent[i] = rest % 5;
		if (is_tree(parent, n))
			best = fmin(best, sum_of(length, n, parent));
	}
	return best;
}

static void against_all_trees(void **state)
{
	struct rng rng = property("five points");

	(void)state;
	for (size_t round = 0; round < rounds(100); round++) {
		double length[25] = { 0 };
		uint32_t parent[5];

		for (int i = 0; i < 5; i++) {
			for (int j = 0; j < i; j++)
				length[i * 5 + j] = length[j * 5 + i] = (double)rng_below(&rng, 9);
		}
		assert_true(spanning_tree(length, 5, parent));
		assert_true(is_tree(parent, 5));
		assert_true(sum_of(length, 5, parent) == shortest(length, 5));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_points),
		cmocka_unit_test(apart),
		cmocka_unit_test(against_all_trees),
	};

	return cmocka_run_group_tests_name("solver/spanning", tests, NULL, NULL);
}
