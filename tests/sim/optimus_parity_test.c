/*
 * "Optimus + oracle" equals the published results of Pollux' simulator, job by
 * job and to the second.
 *
 * Optimus spreads jobs over any number of devices, and most of these were not
 * measured: their step times come from a triangulation with many ties
 * (solver/delaunay.c), and one that is broken otherwise moves a device and
 * every decision after it.
 *
 * The data are under DATA/sia/osdi21; DATA is STINT_DATA, else ../shared/data.
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
	const char *published, *workloads, *workload;
} rows[] = {
	{ "optimus-0.5", "workloads-0.5", "workload-1" },
	{ "optimus-0.5", "workloads-0.5", "workload-3" },
	{ "optimus-0.5", "workloads-0.5", "workload-5" },
	{ "optimus-0.5", "workloads-0.5", "workload-8" },
	{ "optimus-1.0", "workloads", "workload-3" },
	{ "optimus-1.0", "workloads", "workload-6" },
	{ "optimus-2.0", "workloads-2.0", "workload-8" },
};

/* What one workload is simulated with. */
struct play {
	struct trace trace;
	struct cluster cluster;
	struct training *training;
	struct outcome outcome;
};

static void play_run(struct play *play, const struct row *row)
{
	char *path = mem_printf("%s/sia/osdi21/%s/%s.csv", data_dir(), row->workloads, row->workload);
	char *profiles = mem_printf("%s/sia/profiles", data_dir());
	struct sim_config config;
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
	sim_config_init(&config);
	config.trace = &play->trace;
	config.cluster = &play->cluster;
	config.training = play->training;
	config.policy = "optimus:compat=osdi21";
	if (sim_run(&config, &play->outcome, &err) < 0)
		fail_msg("%s: %s", row->workload, err.text);
	notes_fini(&notes);
	free(path);
	free(profiles);
}

static void play_fini(struct play *play)
{
	outcome_fini(&play->outcome);
	training_destroy(play->training);
	cluster_fini(&play->cluster);
	trace_fini(&play->trace);
}

static void compare(const struct row *row, const struct outcome *outcome, const json_t *jcts)
{
	double here = 0, published = 0;
	uint32_t differ = 0;

	assert_int_equal(outcome->njobs, json_object_size(jcts));
	for (uint32_t i = 0; i < outcome->njobs; i++) {
		const struct job *job = &outcome->jobs[i];
		double jct = member_number(jcts, job->label, NAN);

		assert_int_equal(job->state, JOB_FINISHED);
		here += job->finish_s - job->arrival_s;
		published += jct;
		differ += job->finish_s - job->arrival_s != jct;
	}
	printf("%s %s: mean %.2f s, published %.2f s (%+.2f %%), %u of %u jobs differ\n",
		row->published, row->workload, here / outcome->njobs, published / outcome->njobs,
		100 * (here / published - 1), differ, outcome->njobs);
	assert_int_equal(differ, 0);
}

static void equals_the_published_results(void **state)
{
	const struct row *row = *state;
	char *path = mem_printf("%s/sia/osdi21/results-jobload/%s/summary.json", data_dir(),
		row->published);
	struct play play;
	json_t *summary;

	if (!file_exists(path)) {
		printf("SKIPPED, nothing was compared with the published Optimus: there is no %s "
		       "(STINT_DATA names the folder of data)\n",
			path);
		free(path);
		skip();
	}
	summary = json_load_file(path, 0, NULL);
	assert_non_null(summary);
	play_run(&play, row);
	compare(row, &play.outcome, json_object_get(json_object_get(summary, "jcts"), row->workload));
	play_fini(&play);
	json_decref(summary);
	free(path);
}

int main(void)
{
	struct CMUnitTest tests[COUNT(rows)];

	for (size_t i = 0; i < COUNT(rows); i++)
		tests[i] = (struct CMUnitTest){
			.name = rows[i].workload,
			.test_func = equals_the_published_results,
			.initial_state = (void *)&rows[i],
		};
	return _cmocka_run_group_tests("sim/optimus_parity", tests, COUNT(rows), NULL, NULL);
}
