/*
 * As the published simulator of Sia: mean completion times of its workloads.
 *
 * Its costs of two decimals leave many equal plans, among which its solver
 * picks at will: three runs of it on the first workload differ by 3 %, and so
 * do draws here.  What is compared is therefore the mean over some draws.
 *
 * Data are under DATA/sia; DATA is STINT_DATA, else ../shared/data.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "io/trace_io.h"
#include "io/training_io.h"
#include "sim/sim.h"
#include "support/property.h"

static const struct row {
	const char *what, *workload;
	uint32_t draws;
	double within; /* of the published mean, relative */
} rows[] = {
	{ "saturn 1", "saturn-workload-1", 2, 0.03 },
	{ "saturn 2", "saturn-workload-2", 1, 0.05 },
};

static const char *data_dir(void)
{
	const char *given = getenv("STINT_DATA");

	return given ? given : "../shared/data";
}

static double published_mean_s(const char *path)
{
	json_t *measured = json_load_file(path, 0, NULL), *jcts, *value;
	const char *label;
	double sum = 0, n = 0;

	assert_non_null(measured);
	jcts = json_object_get(measured, "jcts");
	json_object_foreach(jcts, label, value)
	{
		sum += json_number_value(value);
		n++;
	}
	json_decref(measured);
	return sum / n;
}

static double mean_s(const struct outcome *out)
{
	double sum = 0;

	for (uint32_t i = 0; i < out->njobs; i++) {
		assert_int_equal(out->jobs[i].state, JOB_FINISHED);
		sum += out->jobs[i].finish_s - out->jobs[i].arrival_s;
	}
	return sum / out->njobs;
}

/* The mean of so many draws. */
static double play(const char *workload, uint32_t draws)
{
	char *path = mem_printf("%s/sia/workloads/saturn/%s.csv", data_dir(),
		workload + strlen("saturn-"));
	char *profiles = mem_printf("%s/sia/profiles", data_dir());
	struct notes notes = { 0 };
	struct training *training;
	struct sim_config config;
	struct cluster cluster;
	struct outcome out;
	struct trace trace;
	struct err err = { 0 };
	uint64_t hash;
	double sum = 0;

	if (trace_read(path, &(struct import_options){ 0 }, NULL, &trace, &notes, &err) < 0 ||
		cluster_parse("6x4:t4,2x8:a100,3x8:rtx", &cluster, &err) < 0)
		fail_msg("%s", err.text);
	training = training_create(&cluster, &trace.models);
	if (training_read(profiles, &cluster, &trace.models, training, &notes, &hash, &err) < 0)
		fail_msg("%s", err.text);
	sim_config_init(&config);
	config.trace = &trace;
	config.cluster = &cluster;
	config.training = training;
	config.policy = "sia:compat=sia";
	for (config.seed = 1; config.seed <= draws; config.seed++) {
		if (sim_run(&config, &out, &err) < 0)
			fail_msg("%s: %s", workload, err.text);
		sum += mean_s(&out);
		outcome_fini(&out);
	}
	training_destroy(training);
	cluster_fini(&cluster);
	trace_fini(&trace);
	notes_fini(&notes);
	free(path);
	free(profiles);
	return sum / draws;
}

static void as_published(void **state)
{
	const struct row *row = *state;
	char *path = mem_printf("%s/sia/measured/sia-%s.json", data_dir(), row->workload);
	double published, here;

	if (!file_exists(path)) {
		printf("%s is not there (STINT_DATA names the folder of data)\n", path);
		free(path);
		skip();
	}
	published = published_mean_s(path);
	here = play(row->workload, row->draws);
	free(path);
	printf("%s: mean completion time %.1f s, published %.1f s (%+.1f %%)\n", row->what, here,
		published, 100 * (here / published - 1));
	if (fabs(here / published - 1) > row->within)
		fail_msg("%s: more than %g %% away", row->what, 100 * row->within);
}

int main(void)
{
	struct CMUnitTest tests[COUNT(rows)];

	for (size_t i = 0; i < COUNT(rows); i++)
		tests[i] = (struct CMUnitTest){
			.name = rows[i].what,
			.test_func = as_published,
			.initial_state = (void *)&rows[i],
		};
	return cmocka_run_group_tests_name("sim/sia_parity", tests, NULL, NULL);
}
