/*
 * The traces of published simulators, where they are at hand: beside the
 * project in ../shared/data, or where STINT_DATA says.
 */
#include "base/file.h"
#include "io/import_case.h"
#include "support/data.h"

static const struct {
	const char *path, *format;
	uint32_t jobs;
	double last_arrival_s; /* seconds after the first */
	double work;           /* of all jobs: seconds or steps; 0: unknown */
} rows[] = {
	{ "tiresias/60_job.csv", "tiresias", 60, 1779, 10705 },
	{ "sia/philly.csv", "philly-csv", 82247, 9408690, 0 },
	{ "sia/workloads/phoebe_workload.csv", "sia", 30, 0, 0 },
	{ "sia/osdi21/workloads/workload-1.csv", "sia", 160, 0, 0 },
	{ "gavel/traces/physical_cluster/max_min_fairness.trace", "gavel", 96, 0, 0 },
	{ "gavel/traces/physical_cluster/debug.trace", "gavel", 14, 0, 0 },
	{ "gavel/traces/generated/gen_multi_prio_n300_lam2400_seed0.trace", "gavel", 300, 0, 0 },
	{ "gavel/traces/generated/gen_single_n2000_lam1000_seed0.trace", "gavel", 2000, 0, 0 },
	{ "gavel/traces/msr_seed0/ee9e8c.trace", "gavel7", 2000, 0, 0 },
	{ "gavel/traces/msr_seed0/795a4c.trace", "gavel7", 3, 0, 0 },
	{ "shockwave/120_0.2_5_100_40_25_0,0.5,0.5_0.6,0.3,0.09,0.01_multigpu_dynamic.trace",
		"shockwave", 120, 5011, 0 },
	{ "muri/trace1.csv", "muri", 1494, 0, 0 },
	{ "muri/trace4.csv", "muri", 2638, 0, 0 },
	{ "muri/cluster_trace.csv", "muri", 400, 2344695, 0 },
	{ "synergy/test_trace", "synergy", 8, 0, 0 },
	{ "synergy/static_100job_6_3_1100.0", "synergy", 100, 0.099, 0 },
	{ "synergy/dynamic_srtf.log", "synergy", 100, 12031, 0 },
};

static double total_work(const struct trace *trace)
{
	double sum = 0;

	for (uint32_t i = 0; i < trace->njobs; i++)
		sum += trace->work[i];
	return sum;
}

static void read_file(const char *name, size_t i)
{
	struct notes notes = { 0 };
	struct trace trace = { 0 };
	struct err err = { 0 };
	double last_s;

	if (trace_read(name, NULL, NULL, &trace, &notes, &err))
		fail_msg("%s", err.text);
	assert_string_equal(trace.format, rows[i].format);
	assert_int_equal(trace.njobs, rows[i].jobs);
	last_s = trace.jobs[trace.njobs - 1].arrival_s - trace.jobs[0].arrival_s;
	if (rows[i].last_arrival_s &&
		!(last_s > rows[i].last_arrival_s - 1 && last_s < rows[i].last_arrival_s + 1))
		fail_msg("%s: the last job arrives at %.17g", name, last_s);
	if (rows[i].work && total_work(&trace) != rows[i].work)
		fail_msg("%s: %.17g seconds of work", name, total_work(&trace));
	assert_round_trip(&trace);
	trace_fini(&trace);
	notes_fini(&notes);
}

static void published_traces(void **state)
{
	(void)state;
	if (!file_is_dir(data_dir())) {
		print_message("no published traces in %s: set STINT_DATA\n", data_dir());
		skip();
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *name = path_join(data_dir(), rows[i].path);

		read_file(name, i);
		free(name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(published_traces) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
