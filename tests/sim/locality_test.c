/*
 * Where devices lie shows in the time jobs take: placers that look at links and
 * racks beat those that do not, on machines with NVLink and a slow network.
 */
#include <string.h>

#include "io/cluster_io.h"
#include "io/synth.h"
#include "sim/sim.h"
#include "support/property.h"

enum { SEEDS = 5 };

/* Mean completion time over all seeds. */
static double mean_jct(const char *policy, const char *placer)
{
	double sum = 0;
	uint32_t n = 0;

	for (int seed = 0; seed < SEEDS; seed++) {
		struct cluster cluster = { 0 };
		struct trace trace = { 0 };
		struct sim_config config;
		struct outcome outcome;
		struct err err = { 0 };
		char spec[128];

		snprintf(spec, sizeof(spec),
			"jobs=400,load=0.7,gpus=pow2,durations=exponential,seed=%d", seed);
		if (cluster_read("examples/topology.yaml", &cluster, &err) < 0 ||
			synth_trace(spec, &cluster, &trace, &err) < 0)
			fail_msg("%s", err.text);
		sim_config_init(&config);
		config.trace = &trace;
		config.cluster = &cluster;
		config.policy = policy;
		config.placer = placer;
		config.truth = profile_create(&cluster, &trace.models);
		if (sim_run(&config, &outcome, &err) < 0)
			fail_msg("%s", err.text);
		for (uint32_t i = 0; i < outcome.njobs; i++, n++)
			sum += outcome.jobs[i].finish_s - outcome.jobs[i].arrival_s;
		outcome_fini(&outcome);
		profile_destroy((struct profile *)config.truth);
		trace_fini(&trace);
		cluster_fini(&cluster);
	}
	printf("%-18s %-16s %6.0f s\n", policy, placer, sum / n);
	return sum / n;
}

static void close_places_are_worth_it(void **state)
{
	static const char *const close[] = { "mapa", "topo", "delay", "mapa:strict=1", "topo:strict=1" };
	const char *fifo = "fifo:misfit=skip";
	double random = mean_jct(fifo, "random"), first_fit = mean_jct(fifo, "first-fit");

	(void)state;
	for (size_t i = 0; i < COUNT(close); i++) {
		double jct = mean_jct(fifo, close[i]);

		assert_true(jct < first_fit / 3 && jct < random / 3);
	}
	assert_true(mean_jct("dally", "delay") < mean_jct("las", "first-fit"));
}

/* The same nodes, other devices of them. */
static void so_are_the_right_devices_of_a_node(void **state)
{
	const char *fifo = "fifo:misfit=skip";
	double lowest = mean_jct(fifo, "consolidate:strict=1");

	(void)state;
	assert_true(mean_jct(fifo, "mapa:strict=1") < lowest);
	assert_true(mean_jct(fifo, "mapa:strict=1,policy=greedy") < lowest);
	assert_true(mean_jct(fifo, "topo:strict=1") < lowest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(close_places_are_worth_it),
		cmocka_unit_test(so_are_the_right_devices_of_a_node),
	};

	return cmocka_run_group_tests_name("sim/locality", tests, NULL, NULL);
}
