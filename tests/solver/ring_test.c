/*
 * Widest rings against trying every order.
 */
#include "solver/ring.h"

#include <math.h>

#include "support/property.h"

enum { MOST = 8 };

static void draw(struct rng *rng, double *w, uint32_t n)
{
	static const double widths[] = { 10, 25, 50, 50 };

	for (uint32_t i = 0; i < n; i++) {
		w[i * n + i] = 0;
		for (uint32_t j = 0; j < i; j++)
			w[i * n + j] = w[j * n + i] = widths[rng_below(rng, COUNT(widths))];
	}
}

/* The widest of all rings that begin with the path to `at`. */
static double try_all(const double *w, uint32_t n, uint32_t first, uint32_t at, uint64_t left,
	double least)
{
	double best = 0;

	if (!left)
		return fmin(least, w[at * n + first]);
	for (uint64_t rest = left; rest; rest &= rest - 1) {
		uint32_t v = (uint32_t)__builtin_ctzll(rest);

		best = fmax(best,
			try_all(w, n, first, v, left & ~(UINT64_C(1) << v), fmin(least, w[at * n + v])));
	}
	return best;
}

static double widest(const double *w, uint32_t n, uint64_t set)
{
	uint32_t first = (uint32_t)__builtin_ctzll(set);

	return set & (set - 1) ? try_all(w, n, first, first, set & (set - 1), INFINITY) : 0;
}

static void finds_the_widest_ring(void **state)
{
	struct rng rng = property("the narrowest link of the widest ring, by trying all");

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		uint32_t n = 2 + (uint32_t)rng_below(&rng, MOST - 2);
		double w[MOST * MOST], best[MOST + 1] = { 0 };

		draw(&rng, w, n);
		for (uint64_t set = 1; set < UINT64_C(1) << n; set++) {
			double want = widest(w, n, set);
			uint32_t k = (uint32_t)__builtin_popcountll(set);

			assert_true(ring_widest(w, n, set) == want);
			best[k] = fmax(best[k], want);
		}
		for (uint32_t k = 1; k <= n; k++)
			assert_true(ring_widest_of(w, n, k) == best[k]);
	}
}

static void many_vertices_are_no_trouble(void **state)
{
	static double w[64 * 64];

	(void)state;
	for (uint32_t i = 0; i < 64 * 64; i++)
		w[i] = i % 65 == 0 ? 0 : (i / 64) / 8 == (i % 64) / 8 ? 50 : 10;
	assert_true(ring_widest(w, 64, UINT64_MAX) == 10);
	assert_true(ring_widest(w, 64, 0xff) == 50);
	assert_true(ring_widest_of(w, 64, 8) == 50);
	assert_true(ring_widest_of(w, 64, 9) == 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_widest_ring),
		cmocka_unit_test(many_vertices_are_no_trouble),
	};

	return cmocka_run_group_tests_name("solver/ring", tests, NULL, NULL);
}
