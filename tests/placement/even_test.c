/*
 * Worlds where a job on several nodes gets as many devices on each: no grant is
 * uneven whatever the placer likes, and none is refused that could be had evenly.
 */
#include "placement/even.h"

#include "placement/plan.h"
#include "support/property.h"

static bool is_even(const struct grant *grant)
{
	for (uint32_t i = 1; i < grant->nslots; i++) {
		if (__builtin_popcountll(grant->slots[i].devices) !=
			__builtin_popcountll(grant->slots[0].devices))
			return false;
	}
	return true;
}

/* By looking at every number of nodes: is there a way at all? */
static bool could_be_even(const struct plan *plan, uint32_t gpus)
{
	const struct cluster *cluster = plan->space.cluster;

	for (uint32_t n = 1; n <= gpus; n++) {
		uint32_t fit = 0;

		for (uint32_t node = 0; node < cluster->nnodes; node++)
			fit += plan->space.nodes[node].nfree >= gpus / n;
		if (gpus % n == 0 && fit >= n)
			return true;
	}
	return false;
}

static void check_run(struct rng *rng)
{
	static const char *const names[] = { "first-fit", "best-fit", "spread" };
	struct cluster cluster = { 0 };
	struct job jobs[24];
	struct plan plan;
	struct err err = { 0 };
	const struct placer *placer = placer_find(names[rng_below(rng, COUNT(names))], &err);

	assert_int_equal(cluster_parse("5x4", &cluster, &err), 0);
	cluster.even = true;
	plan_init(&plan, &cluster, placer, NULL, 1);
	plan_begin(&plan);
	for (uint32_t i = 0; i < COUNT(jobs); i++) {
		bool could, runs;

		job_init(&jobs[i]);
		jobs[i].id = i;
		jobs[i].gpus = jobs[i].min_gpus = jobs[i].max_gpus = 1 + (int)rng_below(rng, 8);
		could = could_be_even(&plan, (uint32_t)jobs[i].gpus);
		runs = plan_run(&plan, &jobs[i], (struct want){ .type = TYPE_ANY });
		assert_true(!runs || could);
		if (placer == placer_find("first-fit", &err))
			assert_int_equal(runs, could);
		if (runs)
			assert_true(is_even(plan_grant(&plan, i)));
		if (rng_below(rng, 2))
			plan_stop(&plan, &jobs[rng_below(rng, i + 1)]);
	}
	plan_fini(&plan);
	cluster_fini(&cluster);
}

static void grants_are_even(void **state)
{
	struct rng rng = property("grants are even");

	(void)state;
	for (size_t i = 0; i < rounds(300); i++)
		check_run(&rng);
}

static void devices_that_are_named(void **state)
{
	struct node_share uneven[] = { { 0, 3 }, { 1, 1 } }, even[] = { { 0, 2 }, { 1, 2 } };
	struct cluster cluster = { 0 };
	struct plan plan;
	struct job job;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(cluster_parse("2x4", &cluster, &err), 0);
	cluster.even = true;
	plan_init(&plan, &cluster, placer_find("first-fit", NULL), NULL, 1);
	plan_begin(&plan);
	job_init(&job);
	job.id = 0;
	job.gpus = job.min_gpus = job.max_gpus = 4;
	assert_false(plan_run_at(&plan, &job, uneven, 2, (struct want){ 0 }));
	assert_true(plan_run_at(&plan, &job, even, 2, (struct want){ 0 }));
	plan_fini(&plan);
	cluster_fini(&cluster);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grants_are_even),
		cmocka_unit_test(devices_that_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
