/*
 * Equal to the published Shockwave simulator: 120 jobs whose batch sizes
 * change, on 32 devices.
 *
 * Four baselines, of which three end every job when it did.  Shockwave itself
 * depends on how its solver breaks ties: its means must be near.  Finish-time
 * fairness is as published: completion over the profiled time alone, times jobs
 * over devices.
 *
 * The records are under DATA/shockwave; DATA is STINT_DATA, else ../shared/data.
 */
#include <jansson.h>
#include <math.h>

#include "base/file.h"
#include "model/regime.h"
#include "support/data.h"
#include "support/played.h"
#include "support/property.h"

#define TRACE "120_0.2_5_100_40_25_0,0.5,0.5_0.6,0.3,0.09,0.01_multigpu_dynamic.trace"

enum { GPUS = 32 };

static const struct run {
	const char *what, *policy;
	double within;  /* part of means and makespans */
	uint32_t wrong; /* jobs that may end at other times; the rest to a hundredth of a second */
} runs[] = {
	{ "max_min_fairness", "gavel:hetero=0,round_s=120,compat=shockwave", 1e-6, 0 },
	{ "min_total_duration", "gavel:objective=makespan,hetero=0,round_s=120,compat=shockwave",
		1e-6, 0 },
	{ "gandiva_fair", "gandiva-fair:round_s=120,compat=shockwave", 1e-6, 0 },
	{ "gandiva_fair", "proportional:per=job,round_s=120,compat=shockwave", 1e-6, 0 },
	/* two pairs of jobs of equal speed change places by the dust of the solver */
	{ "max_sum_throughput_perf", "gavel:objective=throughput,round_s=120,compat=shockwave",
		0.01, 12 },
	{ "shockwave", "shockwave:compat=shockwave", 0.05, 120 },
};

static char *data_path(const char *name)
{
	return mem_printf("%s/shockwave/%s", data_dir(), name);
}

static json_t *read_record(void)
{
	char *path = data_path("published_results_120job_32gpu.json");
	json_t *all;

	if (!file_exists(path)) {
		printf("SKIPPED, nothing was compared with the published Shockwave simulator: there is no %s "
		       "(STINT_DATA names the folder of data)\n",
			path);
		free(path);
		skip();
	}
	all = json_load_file(path, 0, NULL);
	assert_non_null(all);
	free(path);
	return all;
}

static void play(const char *policy, struct played *p)
{
	char *trace = data_path(TRACE), *speeds = data_path("tacc_throughputs.json.gz");

	played_init(p, "32x1:v100");
	played_read_speeds(p, trace, speeds);
	played_run(p, policy, 0);
	free(trace);
	free(speeds);
}

struct figures {
	double makespan_s, jct_s, worst_rho, unfair;
	uint32_t wrong; /* jobs that end elsewhere than published */
};

static double rho_of(const struct played *p, const struct job *job)
{
	struct rates rates = { .cluster = &p->cluster, .profile = p->profile };
	double alone_s = adaptation_run_s(&rates, job, 0);

	return (job->finish_s - job->arrival_s) / (alone_s * fmax(1, (double)p->outcome.njobs / GPUS));
}

static struct figures figures_of(const struct played *p, const json_t *record)
{
	const json_t *jct = json_object_get(record, "jct_list");
	struct figures f = { 0 };
	uint32_t n = p->outcome.njobs;

	assert_int_equal(json_array_size(jct), n);
	for (uint32_t i = 0; i < n; i++) {
		const struct job *job = &p->outcome.jobs[i];
		double jct_s = job->finish_s - job->arrival_s, rho = rho_of(p, job);

		f.makespan_s = fmax(f.makespan_s, job->finish_s);
		f.jct_s += jct_s / n;
		f.worst_rho = fmax(f.worst_rho, rho);
		f.unfair += (rho > 1) / (double)n;
		f.wrong += fabs(jct_s - json_number_value(json_array_get(jct, i))) > 0.01;
	}
	return f;
}

static double number(const json_t *record, const char *key)
{
	return json_number_value(json_object_get(record, key));
}

/* Worst, and the part above 1. */
static void published_rho(const json_t *record, double *worst, double *unfair)
{
	const json_t *list = json_object_get(record, "finish_time_fairness_list");
	size_t n = json_array_size(list);

	*worst = *unfair = 0;
	for (size_t i = 0; i < n; i++) {
		double rho = json_number_value(json_array_get(list, i));

		*worst = fmax(*worst, rho);
		*unfair += (rho > 1) / (double)n;
	}
}

static void compare(const struct run *row, const struct figures *f, const json_t *record)
{
	double worst, unfair;

	published_rho(record, &worst, &unfair);
	printf("%-24s makespan %.1f (%.1f), mean JCT %.1f (%.1f), worst rho %.3f (%.3f), unfair %.1f %% "
	       "(%.1f %%), %u of 120 jobs elsewhere\n",
		row->what, f->makespan_s, number(record, "makespan"), f->jct_s,
		number(record, "avg_jct"), f->worst_rho, worst, 100 * f->unfair, 100 * unfair,
		f->wrong);
	assert_true(fabs(f->makespan_s / number(record, "makespan") - 1) <= row->within);
	assert_true(fabs(f->jct_s / number(record, "avg_jct") - 1) <= row->within);
	assert_true(f->wrong <= row->wrong);
	if (row->wrong == 0)
		assert_float_equal(f->worst_rho, worst, 1e-5);
}

static void as_published(void **state)
{
	const struct run *row = *state;
	json_t *all = read_record();
	char *name = mem_printf("tacc_32gpus/%s_simulation", row->what);
	const json_t *record = json_object_get(all, name);
	struct figures f;
	struct played p;

	assert_non_null(record);
	play(row->policy, &p);
	f = figures_of(&p, record);
	compare(row, &f, record);
	played_fini(&p);
	free(name);
	json_decref(all);
}

/* The same seed, the same figures. */
static void shockwave_is_deterministic(void **state)
{
	struct played a, b;

	(void)state;
	json_decref(read_record());
	play("shockwave:compat=shockwave", &a);
	play("shockwave:compat=shockwave", &b);
	assert_true(a.outcome.event_hash == b.outcome.event_hash);
	played_fini(&a);
	played_fini(&b);
}

/* Without the published rules, jobs that change their batch end, and sooner than if they did not. */
static void plain_rounds_end_every_job(void **state)
{
	static const char *const names[] = { "fifo", "shockwave", "gavel:round_s=120", "srtf" };

	(void)state;
	json_decref(read_record());
	for (size_t i = 0; i < COUNT(names); i++) {
		struct played p;

		play(names[i], &p);
		for (uint32_t j = 0; j < p.outcome.njobs; j++) {
			if (p.outcome.jobs[j].state != JOB_FINISHED)
				fail_msg("%s: job %u did not end", names[i], j);
		}
		played_fini(&p);
	}
}

int main(void)
{
	struct CMUnitTest tests[COUNT(runs) + 2] = { 0 };

	for (size_t i = 0; i < COUNT(runs); i++)
		tests[i] = (struct CMUnitTest){ runs[i].what, as_published, NULL, NULL,
			(void *)&runs[i] };
	tests[COUNT(runs)] = (struct CMUnitTest)cmocka_unit_test(shockwave_is_deterministic);
	tests[COUNT(runs) + 1] = (struct CMUnitTest)cmocka_unit_test(plain_rounds_end_every_job);
	return cmocka_run_group_tests_name("sim/shockwave_parity", tests, NULL, NULL);
}
