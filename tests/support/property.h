/*
 * What every test needs: cmocka with its includes in their order, and seeds.
 *
 * A property test draws from a generator whose seed it prints, so that a
 * failure can be repeated: SEED=17 build/tests/base/heap_test.  SOAK=1 runs
 * many times as many rounds, TEST_SCALE=0.25 a quarter of them: what tests with
 * sanitizers do, to be done in time.
 */
#ifndef TESTS_SUPPORT_PROPERTY_H
#define TESTS_SUPPORT_PROPERTY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static inline uint64_t property_seed(void)
{
	const char *given = getenv("SEED");

	return given ? strtoull(given, NULL, 10) : 1;
}

/* Starts a generator for the property and prints its seed. */
static inline struct rng property(const char *what)
{
	uint64_t seed = property_seed();
	struct rng rng;

	printf("[   SEED   ] %llu: %s\n", (unsigned long long)seed, what);
	rng_init(&rng, seed, RNG_TEST);
	return rng;
}

static inline size_t rounds(size_t n)
{
	const char *scale = getenv("TEST_SCALE");
	size_t scaled = scale ? (size_t)((double)n * strtod(scale, NULL)) : n;

	if (getenv("SOAK"))
		return n * 50;
	return scaled ? scaled : 1;
}

#endif
