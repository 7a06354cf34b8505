#include "model/ursa.h"

#include <math.h>

#include "support/property.h"

enum { CPU, NET };

/* The spec's workers: EPT 1, 10 a second of each; A has 5 of CPU queued, B 5 of network. */
static const struct ursa_worker a = { { [CPU] = 5 }, { 10, 10, 10, 10 } };
static const struct ursa_worker b = { { [NET] = 5 }, { 10, 10, 10, 10 } };

static void test_score(void **state)
{
	static const struct {
		const char *what;
		struct ursa_task task;
		double on_a, on_b;
	} rows[] = {
		{ "CPU only goes to B", { { [CPU] = 5 } }, .25, .5 },
		{ "network only goes to A", { { [NET] = 5 } }, .5, .25 },
		{ "both are alike to one that needs both", { { 5, 5 } }, .75, .75 },
		{ "a huge task counts as one that fills the while", { { [CPU] = 500 } }, .5, 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_true(ursa_score(&a, &rows[i].task, 1, false) == rows[i].on_a);
		assert_true(ursa_score(&b, &rows[i].task, 1, false) == rows[i].on_b);
	}
}

static void test_full(void **state)
{
	struct ursa_worker full = { { [CPU] = 12 }, { 10, 10, 0, 10 } };
	struct ursa_task cpu = { { [CPU] = 5 } }, both = { { 9, .1 } }, disk = { { 0, 1, 5 } };

	(void)state;
	assert_true(ursa_deficit(&full, CPU, 1) == 0);
	assert_true(ursa_score(&full, &cpu, 1, false) == 0);
	/* An idle network lets it in, unless strict. */
	assert_true(ursa_score(&full, &both, 1, false) > 0);
	assert_true(ursa_score(&full, &both, 1, true) == 0);
	/* What a worker has none of it cannot do. */
	assert_true(ursa_score(&full, &disk, 1, false) == 0);
}

static void test_remaining(void **state)
{
	double rate[URSA_RESOURCES] = { 10, 10, 10, 10 };
	double x[URSA_RESOURCES] = { 30 }, y[URSA_RESOURCES] = { 20, 20 };

	(void)state;
	assert_true(ursa_remaining(x, rate) == 3);
	assert_true(ursa_remaining(y, rate) == 4);
}

/* Tasks of one resource, put where F > 0: APT <= EPT + the largest task; likewise all tasks if strict. */
static void test_never_overfilled(void **state)
{
	struct rng rng = property("APT after placement <= EPT + largest task");

	(void)state;
	for (size_t round = 0; round < rounds(2000); round++) {
		bool strict = rng_below(&rng, 2);
		struct ursa_worker w = { .rate = { 10, 5, 2, 1 } };
		double largest[URSA_RESOURCES] = { 0 };

		for (int i = 0; i < 50; i++) {
			struct ursa_task t = { 0 };

			for (uint32_t r = 0; r < URSA_RESOURCES; r++)
				if (strict ? rng_below(&rng, 2) : r == (uint32_t)rng_below(&rng, 4))
					t.size[r] = rng_exponential(&rng, w.rate[r]);
			if (!strict) /* one resource each */
				for (uint32_t r = 0, seen = 0; r < URSA_RESOURCES; r++) {
					t.size[r] = seen ? 0 : t.size[r];
					seen |= t.size[r] > 0;
				}
			if (!(ursa_score(&w, &t, 1, strict) > 0))
				continue;
			ursa_put(&w, &t);
			for (uint32_t r = 0; r < URSA_RESOURCES; r++) {
				largest[r] = fmax(largest[r], t.size[r] / w.rate[r]);
				assert_true(ursa_apt(&w, r) <= (1 + largest[r]) * (1 + 1e-12));
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_score),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_remaining),
		cmocka_unit_test(test_never_overfilled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
