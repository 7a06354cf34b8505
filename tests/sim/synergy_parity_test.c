/*
 * Equal to the published Synergy simulator: 100 jobs of nine models on 4
 * servers of 8 GPUs, 24 CPUs and 500 GB, by eleven of its policies.
 *
 * Mean, median, 99th percentile and end are those measured by running it, to the
 * three digits of hours that were written down.  The data is under DATA/synergy;
 * DATA is STINT_DATA, else ../shared/data.
 */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "io/cluster_io.h"
#include "io/hosting_io.h"
#include "support/data.h"
#include "support/played.h"
#include "support/property.h"

enum { JOBS = 100 };

static const struct run {
	const char *order, *allocate;
	double mean_h, median_h, p99_h, end_h;
} runs[] = {
	{ "fifo", "fair", 5.631, 5.917, 12.917, 15.250 },
	{ "fifo", "greedy", 5.494, 6.000, 11.750, 12.334 },
	{ "fifo", "tune", 5.083, 5.250, 10.584, 11.000 },
	{ "las", "fair", 5.625, 5.000, 11.167, 11.417 },
	{ "las", "tune", 5.171, 4.667, 10.417, 10.667 },
	{ "srtf", "fair", 4.412, 3.000, 13.084, 14.084 },
	{ "srtf", "tune", 4.107, 2.834, 12.334, 12.917 },
	{ "ftf", "fair", 7.983, 8.667, 9.750, 9.750 },
	{ "ftf", "tune", 7.778, 8.334, 9.417, 9.417 },
	{ "drf", "greedy", 5.559, 6.000, 12.167, 13.084 },
	{ "tetris", "greedy", 3.832, 2.584, 11.917, 12.750 },
};

static char *data_path(const char *name)
{
	return mem_printf("%s/synergy/%s", data_dir(), name);
}

static const char servers[] = "nodes:\n  - {count: 4, type: gpu, devices: 8, cpus: 24, mem: 500GiB}\n";

static void play(const char *file, const char *policy, struct played *p)
{
	char *trace = data_path(file), *hosts = data_path("model_profiles.json");
	struct err err = { 0 };

	*p = (struct played){ .hosting = hosting_create() };
	if (cluster_read_yaml("servers", servers, strlen(servers), &p->cluster, &err) < 0)
		fail_msg("%s", err.text);
	played_read(p, trace);
	if (hosting_read(hosts, &p->cluster, &p->trace.models, p->hosting, p->profile, NULL, &err) < 0)
		fail_msg("%s", err.text);
	profile_set_hosting(p->profile, p->hosting);
	played_run(p, policy, 0);
	free(trace);
	free(hosts);
}

static void need_data(void)
{
	char *path = data_path("static_100job_6_3_1100.0");
	bool there = file_exists(path);

	if (!there)
		printf("SKIPPED, nothing was compared with the published Synergy simulator: there is no %s "
		       "(STINT_DATA names the folder of data)\n",
			path);
	free(path);
	if (!there)
		skip();
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Hours, to the digits published. */
static void check(const struct run *run, const char *what, double got_h, double published_h)
{
	if (fabs(got_h - published_h) > 0.00075)
		fail_msg("%s+%s: %s is %.4f h, published %.3f h", run->order, run->allocate, what,
			got_h, published_h);
}

static void the_static_trace_ends_as_published(void **state)
{
	(void)state;
	need_data();
	for (size_t i = 0; i < COUNT(runs); i++) {
		char *policy = mem_printf("synergy:order=%s,allocate=%s,compat=synergy,first_s=1",
			runs[i].order, runs[i].allocate);
		double jct_h[JOBS], mean_h = 0, end_h = 0;
		struct played p;

		play("static_100job_6_3_1100.0", policy, &p);
		assert_int_equal(p.outcome.njobs, JOBS);
		for (uint32_t k = 0; k < JOBS; k++) {
			const struct job *job = &p.outcome.jobs[k];

			assert_int_equal(job->state, JOB_FINISHED);
			jct_h[k] = (job->finish_s - job->arrival_s) / 3600;
			mean_h += jct_h[k] / JOBS;
			end_h = fmax(end_h, job->finish_s / 3600);
		}
		qsort(jct_h, JOBS, sizeof(*jct_h), ascending);
		check(&runs[i], "mean", mean_h, runs[i].mean_h);
		check(&runs[i], "median", jct_h[JOBS / 2], runs[i].median_h);
		check(&runs[i], "99th percentile", jct_h[JOBS - 2], runs[i].p99_h);
		check(&runs[i], "end", end_h, runs[i].end_h);
		played_fini(&p);
		free(policy);
	}
}

/* Nothing was written down of the dynamic trace; it must run, and tuning must serve it. */
static void the_dynamic_trace_gains_by_tuning(void **state)
{
	struct played fair, tune;
	double gain = 0;

	(void)state;
	need_data();
	play("dynamic_srtf.log", "synergy:order=srtf,allocate=fair,compat=synergy", &fair);
	play("dynamic_srtf.log", "synergy:order=srtf,compat=synergy", &tune);
	for (uint32_t k = 0; k < fair.outcome.njobs; k++) {
		assert_int_equal(tune.outcome.jobs[k].state, JOB_FINISHED);
		gain += fair.outcome.jobs[k].finish_s - tune.outcome.jobs[k].finish_s;
	}
	assert_true(gain > 0);
	played_fini(&fair);
	played_fini(&tune);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_static_trace_ends_as_published),
		cmocka_unit_test(the_dynamic_trace_gains_by_tuning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
