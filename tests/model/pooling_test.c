/*
 * What remote devices cost: the worked examples of the specification.
 */
#include "model/pooling.h"

#include <math.h>

#include "support/property.h"

/* 100 ms on the device, 100 MB over 10 GB/s of PCIe, 100 calls of which nine in ten wait for nobody. */
static const struct pooled_step example = {
	.device_s = 0.100,
	.bytes = 100e6,
	.calls = 100,
	.batched = 0.9,
};

static void a_step_takes_as_long_as_its_parts(void **state)
{
	(void)state;
	assert_float_equal(pooled_step_s(&example, 10e9, 0), 0.110, 1e-12);
	assert_float_equal(pooled_step_s(&example, 5e9, 1e-4), 0.121, 1e-12); /* a */
	assert_float_equal(pooling_tax(&example, 10e9, 5e9, 1e-4), 0.10, 1e-12);
	assert_float_equal(pooled_step_s(&example, 2.5e9, 1e-4), 0.141, 1e-12); /* b: two on one link */
	assert_float_equal(pooling_tax(&example, 10e9, 2.5e9, 1e-4), 0.2818, 1e-4);
}

static void what_is_fetched_ahead_costs_nothing_more(void **state)
{
	struct pooled_step step = example;

	(void)state;
	step.overlaps = true;
	assert_float_equal(pooled_step_s(&step, 5e9, 1e-4), 0.101, 1e-12);
	assert_float_equal(pooled_step_s(&step, 0.5e9, 1e-4), 0.201, 1e-12);
}

static void memory_far_away_costs_by_the_misses(void **state)
{
	(void)state;
	assert_float_equal(pooled_access_s(0.75, 100e-9, 1000e-9), 325e-9, 1e-15); /* e */
}

/* The same job as its trace would say it, by the second. */
static void a_job_says_it_by_the_second(void **state)
{
	struct cluster cluster = { .net_Bps = 5e9,
		.pooling = { .rtt_s = 1e-4, .pcie_Bps = 10e9, .attach_s = 1, .detach_s = 0.2 } };
	struct job job;
	struct {
		struct grant grant;
		struct slot slot;
	} on = { .grant = { .gpus = 1, .nslots = 1, .host = 1, .link_Bps = 5e9 } };

	(void)state;
	job_init(&job);
	job.moves_Bps = 100e6 / 0.110;
	job.calls_ps = 10 / 0.110;
	assert_float_equal(pooling_tax_of(&cluster, &job, 5e9), 0.10, 1e-12);
	on.grant.slots[0] = (struct slot){ 1, 1 };
	assert_float_equal(pooling_speed(&cluster, &job, &on.grant), 1 / 1.1, 1e-12);
	job.gpu_mem_bytes = 10000000000;
	assert_float_equal(pooling_attach_s(&cluster, &job, &on.grant), 1 + 2, 1e-9);
	assert_float_equal(pooling_move_s(&cluster, &job, &on.grant, &on.grant), 3.2, 1e-9);
	on.grant.slots[0].node = 0; /* its host's own */
	assert_float_equal(pooling_speed(&cluster, &job, &on.grant), 1, 0);
	assert_float_equal(pooling_attach_s(&cluster, &job, &on.grant), 0, 0);
}

static void a_tax_is_never_negative_where_the_network_is_slower(void **state)
{
	struct rng rng = property(
		"tax >= 0 where links are no faster than PCIe; none over an endless one");

	(void)state;
	for (size_t i = 0; i < rounds(2000); i++) {
		double pcie_Bps = 1e9 * (1 + rng_uniform(&rng) * 30),
		       link_Bps = pcie_Bps * rng_uniform(&rng);
		struct pooled_step step = {
			.device_s = rng_uniform(&rng),
			.bytes = 1e9 * rng_uniform(&rng),
			.calls = 1000 * rng_uniform(&rng),
			.batched = rng_uniform(&rng),
			.overlaps = rng_below(&rng, 2),
		};
		struct cluster cluster = { .pooling = { .pcie_Bps = pcie_Bps } };
		struct job job;

		assert_true(pooling_tax(&step, pcie_Bps, link_Bps, 1e-4 * rng_uniform(&rng)) >= -1e-12);
		job_init(&job);
		job.moves_Bps = pcie_Bps * rng_uniform(&rng);
		assert_true(pooling_tax_of(&cluster, &job, link_Bps) >= -1e-12);
		cluster.pooling.pcie_Bps = 0;
		assert_float_equal(pooling_tax_of(&cluster, &job, 0), 0, 1e-12);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_takes_as_long_as_its_parts),
		cmocka_unit_test(what_is_fetched_ahead_costs_nothing_more),
		cmocka_unit_test(memory_far_away_costs_by_the_misses),
		cmocka_unit_test(a_job_says_it_by_the_second),
		cmocka_unit_test(a_tax_is_never_negative_where_the_network_is_slower),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
