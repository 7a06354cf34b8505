/*
 * Bipartitions against trying every one.
 */
#include "solver/bisect.h"

#include <math.h>

#include "support/property.h"

enum { MOST = 10 };

static double least_cut(const double *w, uint32_t n, uint32_t size)
{
	double least = INFINITY;

	for (uint64_t side = 0; side < UINT64_C(1) << n; side++) {
		if ((uint32_t)__builtin_popcountll(side) == size)
			least = fmin(least, bisect_cut(w, n, (UINT64_C(1) << n) - 1, side));
	}
	return least;
}

/* It is a heuristic: never below the least, of the size asked for, and almost always the least. */
static void cuts_little(void **state)
{
	struct rng rng = property("bipartitions, by trying all");
	size_t least = 0, n_rounds = rounds(300);

	(void)state;
	for (size_t round = 0; round < n_rounds; round++) {
		uint32_t n = 2 + (uint32_t)rng_below(&rng, MOST - 1),
			 size = (uint32_t)rng_below(&rng, n + 1);
		double w[MOST * MOST] = { 0 }, best, got;
		uint64_t side;

		for (uint32_t i = 0; i < n; i++) {
			for (uint32_t j = 0; j < i; j++)
				w[i * n + j] = w[j * n + i] = (double)rng_below(&rng, 10);
		}
		side = bisect(w, n, (UINT64_C(1) << n) - 1, size);
		assert_int_equal(__builtin_popcountll(side), size);
		best = least_cut(w, n, size);
		got = bisect_cut(w, n, (UINT64_C(1) << n) - 1, side);
		assert_true(got >= best - 1e-9);
		least += got < best + 1e-9;
	}
	printf("the least cut was found %zu of %zu times\n", least, n_rounds);
	assert_true(least * 100 >= n_rounds * 97);
}

static void finds_the_sockets_of_a_tree(void **state)
{
	double w[16 * 16];

	(void)state;
	/* Interleaved, so that the lowest numbers are no socket. */
	for (uint32_t i = 0; i < 16; i++) {
		for (uint32_t j = 0; j < 16; j++)
			w[i * 16 + j] = i == j ? 0 : i % 2 == j % 2 ? 1 : 0.05;
	}
	assert_int_equal(bisect(w, 16, 0xffff, 8), 0x5555);
	assert_int_equal(bisect(w, 16, 0x0ff0, 4), 0x0550);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts_little),
		cmocka_unit_test(finds_the_sockets_of_a_tree),
	};

	return cmocka_run_group_tests_name("solver/bisect", tests, NULL, NULL);
}
