/*
 * Queues by tenant: the jobs with work at stake come first.
 */
#include "policy/fair/tenant_queues.h"

#include <stdlib.h>

#include "support/property.h"

enum { MOST = 60 };

/* By tenant, then stake, then arrival: one job after the other, by looking through all. */
static void by_looking(const struct round *round, const uint32_t *jobs, uint32_t n, uint32_t *out)
{
	bool taken[MOST] = { false };

	for (uint32_t k = 0; k < n; k++) {
		uint32_t best = n;

		for (uint32_t i = 0; i < n; i++) {
			const struct job *x = &round->jobs[jobs[i]];
			const struct job *y = best < n ? &round->jobs[jobs[best]] : NULL;
			double at_x = job_at_stake_s(x, round->now_s);
			double at_y = y ? job_at_stake_s(y, round->now_s) : 0;

			if (taken[i])
				continue;
			if (!y || tenant_number(x) < tenant_number(y) ||
				(tenant_number(x) == tenant_number(y) &&
					(at_x > at_y || (at_x == at_y && x->id < y->id))))
				best = i;
		}
		taken[best] = true;
		out[k] = jobs[best];
	}
}

static void those_with_most_at_stake_come_first(void **state)
{
	struct rng rng = property("tenant_queues_keep sorts by tenant, stake and arrival");
	struct arena scratch = { 0 };

	(void)state;
	for (size_t r = 0; r < rounds(2000); r++) {
		uint32_t n = (uint32_t)rng_below(&rng, MOST), queue[MOST], want[MOST];
		struct job jobs[MOST] = { 0 };
		struct round round = { .jobs = jobs, .now_s = 100, .scratch = &scratch };

		for (uint32_t i = 0; i < n; i++) {
			jobs[i].id = queue[i] = i;
			jobs[i].tenant = rng_below(&rng, 4) ? (uint32_t)rng_below(&rng, 3) : NAME_NONE;
			jobs[i].stop_loses = true;
			jobs[i].state = rng_below(&rng, 3) ? JOB_PENDING : JOB_RUNNING;
			jobs[i].rate = 1;
			jobs[i].done = (double)rng_below(&rng, 4);
		}
		by_looking(&round, queue, n, want);
		tenant_queues_sort(&round, queue, n);
		tenant_queues_keep(&round, queue, n);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(queue[i], want[i]);
		arena_reset(&scratch);
	}
	arena_fini(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_with_most_at_stake_come_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
