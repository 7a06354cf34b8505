/*
 * Equal to the published results of Pollux' simulator, job by job and to the
 * second: Tiresias on the workloads of three loads.
 *
 * They are under DATA/sia/osdi21; DATA is STINT_DATA, else ../shared/data.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/members.h"
#include "io/trace_io.h"
#include "io/training_io.h"
#include "sim/sim.h"
#include "support/data.h"
#include "support/property.h"

static const struct row {
	const char *what, *policy, *published, *workloads;
} rows[] = {
	{ "tiresias at half the load", "tiresias:compat=osdi21", "tiresias-0.5", "workloads-0.5" },
	{ "tiresias", "tiresias:compat=osdi21", "tiresias-1.0", "workloads" },
	{ "tiresias at twice the load", "tiresias:compat=osdi21", "tiresias-2.0", "workloads-2.0" },
};

/* What one workload is simulated with. */
struct play {
	struct trace trace;
	struct cluster cluster;
	struct training *training;
};

static void play_init(struct play *play, const char *workloads, const char *workload)
{
	char *path = mem_printf("%s/sia/osdi21/%s/%s.csv", data_dir(), workloads, workload);
	char *profiles = mem_printf("%s/sia/profiles", data_dir());
	struct notes notes = { 0 };
	struct err err = { 0 };
	uint64_t hash;

	*play = (struct play){ 0 };
	if (trace_read(path, &(struct import_options){ 0 }, NULL, &play->trace, &notes, &err) < 0 ||
		cluster_parse("16x4:t4", &play->cluster, &err) < 0)
		fail_msg("%s", err.text);
	play->training = training_create(&play->cluster, &play->trace.models);
	if (training_read(profiles, &play->cluster, &play->trace.models, play->training, &notes,
		    &hash, &err) < 0)
		fail_msg("%s", err.text);
	notes_fini(&notes);
	free(path);
	free(profiles);
}

static void play_fini(struct play *play)
{
	training_destroy(play->training);
	cluster_fini(&play->cluster);
	trace_fini(&play->trace);
}

/* Returns how many jobs differ; tells the first few. */
static uint32_t compare(const struct outcome *outcome, const json_t *jcts, const char *workload)
{
	uint32_t wrong = 0;

	assert_int_equal(outcome->njobs, json_object_size(jcts));
	for (uint32_t i = 0; i < outcome->njobs; i++) {
		const struct job *job = &outcome->jobs[i];
		double published = member_number(jcts, job->label, NAN);
		double here = job->finish_s - job->arrival_s;

		if (here == published)
			continue;
		if (wrong++ < 5)
			print_error("%s: %s took %g s as published and takes %.9g s here\n",
				workload, job->label, published, here);
	}
	return wrong;
}

static uint32_t run_and_compare(const struct row *row, const char *workload, const json_t *jcts)
{
	struct play play;
	struct sim_config config;
	struct outcome outcome;
	struct err err = { 0 };
	uint32_t wrong;

	play_init(&play, row->workloads, workload);
	sim_config_init(&config);
	config.trace = &play.trace;
	config.cluster = &play.cluster;
	config.training = play.training;
	config.policy = row->policy;
	if (sim_run(&config, &outcome, &err) < 0)
		fail_msg("%s: %s", workload, err.text);
	wrong = compare(&outcome, jcts, workload);
	outcome_fini(&outcome);
	play_fini(&play);
	return wrong;
}

static void equals_the_published_results(void **state)
{
	const struct row *row = *state;
	char *path = mem_printf("%s/sia/osdi21/results-jobload/%s/summary.json", data_dir(),
		row->published);
	const char *workload;
	json_t *summary, *jcts;
	uint32_t wrong = 0, compared = 0;

	if (!file_exists(path)) {
		printf("%s is not there (STINT_DATA names the folder of data)\n", path);
		free(path);
		skip();
	}
	summary = json_load_file(path, 0, NULL);
	assert_non_null(summary);
	json_object_foreach(json_object_get(summary, "jcts"), workload, jcts)
	{
		wrong += run_and_compare(row, workload, jcts);
		compared++;
	}
	json_decref(summary);
	free(path);
	assert_int_equal(compared, 8);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	struct CMUnitTest tests[COUNT(rows)];

	for (size_t i = 0; i < COUNT(rows); i++)
		tests[i] = (struct CMUnitTest){
			.name = rows[i].what,
			.test_func = equals_the_published_results,
			.initial_state = (void *)&rows[i],
		};
	return _cmocka_run_group_tests("sim/osdi21", tests, COUNT(rows), NULL, NULL);
}
