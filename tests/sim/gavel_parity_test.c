/*
 * Equal to the published Gavel simulator, or as near as can be told apart.
 *
 * Three things are tested.  The mechanism: shares as the published simulator
 * computed them give every job's completion time to a microsecond.  Policies
 * whose shares do not depend on a solver: every job, with shares computed
 * here.  Policies that do: means and makespans, with shares computed here.
 *
 * The records are under DATA/gavel/expected; DATA is STINT_DATA, else
 * ../shared/data.
 */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "support/data.h"
#include "support/played.h"
#include "support/property.h"

/* ---- what is compared */

static const struct world {
	const char *name, *trace, *cluster;
} worlds[] = {
	{ "P1", "physical_cluster/max_min_fairness", "8x1:v100,16x1:p100,24x1:k80" },
	{ "P2", "physical_cluster/minimize_makespan", "8x1:v100,16x1:p100,24x1:k80" },
	{ "G1", "generated/gen_single_n300_lam3000_seed0", "12x1:v100,12x1:p100,12x1:k80" },
	{ "G3", "generated/gen_single_n2000_lam1000_seed0", "36x1:v100,36x1:p100,36x1:k80" },
};

/* Shares of the log: every job ends when it did, to the precision of the log. */
static const struct replay {
	const char *what, *log, *policy;
} replays[] = {
	{ "replay P1 fifo", "fifo", "gavel:objective=fifo,hetero=0" },
	{ "replay P1 fifo_perf", "fifo_perf", "gavel:objective=fifo" },
	{ "replay P1 finish_time_fairness_perf", "finish_time_fairness_perf",
		"gavel:objective=finish-time" },
	{ "replay P1 gandiva", "gandiva", "gavel:packing=1" },
	{ "replay P1 gandiva by gandiva", "gandiva", "gandiva:" },
	{ "replay P1 isolated", "isolated", "isolated:" },
	{ "replay P1 max_min_fairness", "max_min_fairness", "gavel:hetero=0" },
	{ "replay P1 max_min_fairness_perf", "max_min_fairness_perf", "gavel:" },
	{ "replay P1 max_min_fairness_water_filling_perf", "max_min_fairness_water_filling_perf",
		"gavel:" },
	{ "replay P1 max_sum_throughput_perf", "max_sum_throughput_perf", "gavel:" },
	{ "replay P1 min_total_duration_perf", "min_total_duration_perf", "gavel:" },
};

/* Records of every job have three decimals. */
#define RECORDED_S 6e-4

/*
 * Own shares.  Where `jct` is 0 every job must end when it did; else means and makespans may differ
 * by these parts.
 *
 * The forms that take all types for alike have the widest limits: all shares of equal jobs tie, an
 * interior point leaves them apart by rounding alone, and who comes first in every round is decided
 * by that.  Another machine's rounding gives the published simulator itself other figures.
 */
static const struct own {
	const char *world, *published, *policy;
	int seed;
	double jct, makespan;
} own[] = {
	{ "P1", "isolated", "isolated:", 0, 0, 0 },
	{ "P2", "isolated", "isolated:", 0, 0, 0 },
	{ "G1", "isolated", "isolated:", 0, 0, 0 },
	{ "G3", "isolated", "isolated:", 0, 0, 0 },
	{ "P1", "fifo_perf", "gavel:objective=fifo,", 0, 0, 0 },
	{ "P2", "fifo_perf", "gavel:objective=fifo,", 0, 0, 0 },
	{ "G1", "fifo_perf", "gavel:objective=fifo,", 0, 0, 0 },
	{ "G3", "fifo_perf", "gavel:objective=fifo,", 0, 0, 0 },
	{ "P1", "gandiva", "gandiva:", 0, 0, 0 },
	{ "P2", "gandiva", "gandiva:", 0, 0, 0 },
	{ "G1", "gandiva", "gandiva:", 0, 0, 0 },
	{ "G1", "allox", "allox:", 0, 0, 0 },
	{ "G1", "fifo_packed", "gavel:objective=fifo,packing=1,", 0, 0, 0 },
	{ "P1", "fifo_packed", "gavel:objective=fifo,packing=1,", 0, 0.01, 0.01 },
	{ "P2", "fifo_packed", "gavel:objective=fifo,packing=1,", 0, 0.01, 0.01 },

	/* no record of every job: to the digits of the mean */
	{ "P1", "isolated", "isolated:", 1, 1e-6, 1e-6 },
	{ "P1", "isolated", "isolated:", 2, 1e-6, 1e-6 },
	{ "P1", "isolated", "isolated:", 3, 1e-6, 1e-6 },
	{ "P1", "gandiva", "gandiva:", 1, 1e-6, 1e-6 },
	{ "P1", "gandiva", "gandiva:", 2, 1e-6, 1e-6 },
	{ "P1", "gandiva", "gandiva:", 3, 1e-6, 1e-6 },

	{ "P1", "max_min_fairness_perf", "gavel:", 0, 0.005, 0.005 },
	{ "P2", "max_min_fairness_perf", "gavel:", 0, 0.005, 0.005 },
	{ "G1", "max_min_fairness_perf", "gavel:", 0, 0.005, 0.005 },
	{ "G3", "max_min_fairness_perf", "gavel:", 0, 0.005, 0.005 },
	{ "G1", "max_min_fairness_packed", "gavel:packing=1,", 0, 0.005, 0.005 },
	{ "P1", "max_min_fairness_water_filling_perf", "gavel:water_filling=1,", 0, 0.005, 0.005 },
	{ "P2", "max_min_fairness_water_filling_perf", "gavel:water_filling=1,", 0, 0.005, 0.005 },
	{ "G1", "max_min_fairness_water_filling_perf", "gavel:water_filling=1,", 0, 0.005, 0.005 },
	{ "P1", "max_sum_throughput_perf", "gavel:objective=throughput,", 0, 0.005, 0.005 },
	{ "P2", "max_sum_throughput_perf", "gavel:objective=throughput,", 0, 0.005, 0.005 },
	{ "G1", "max_sum_throughput_perf", "gavel:objective=throughput,", 0, 0.005, 0.005 },
	{ "P1", "min_total_duration_perf", "gavel:objective=makespan,", 0, 0.005, 0.005 },
	{ "P2", "min_total_duration_perf", "gavel:objective=makespan,", 0, 0.005, 0.005 },
	{ "G1", "min_total_duration_perf", "gavel:objective=makespan,", 0, 0.005, 0.005 },
	{ "P1", "finish_time_fairness_perf", "gavel:objective=finish-time,", 0, 0.005, 0.005 },
	{ "P2", "finish_time_fairness_perf", "gavel:objective=finish-time,", 0, 0.005, 0.005 },
	{ "G1", "finish_time_fairness_perf", "gavel:objective=finish-time,", 0, 0.005, 0.005 },

	{ "P1", "max_min_fairness", "gavel:hetero=0,", 0, 0.01, 0.015 },
	{ "P2", "max_min_fairness", "gavel:hetero=0,", 0, 0.01, 0.015 },
	{ "G1", "max_min_fairness", "gavel:hetero=0,", 0, 0.01, 0.015 },
	{ "P1", "max_min_fairness_water_filling", "gavel:water_filling=1,hetero=0,", 0, 0.01, 0.015 },
	{ "G1", "max_min_fairness_water_filling", "gavel:water_filling=1,hetero=0,", 0, 0.01, 0.015 },
	{ "P1", "min_total_duration", "gavel:objective=makespan,hetero=0,", 0, 0.01, 0.005 },
	{ "P2", "min_total_duration", "gavel:objective=makespan,hetero=0,", 0, 0.01, 0.005 },
	{ "G1", "min_total_duration", "gavel:objective=makespan,hetero=0,", 0, 0.01, 0.005 },
	{ "P1", "finish_time_fairness", "gavel:objective=finish-time,hetero=0,", 0, 0.01, 0.015 },
	{ "P2", "finish_time_fairness", "gavel:objective=finish-time,hetero=0,", 0, 0.01, 0.015 },
	{ "G1", "finish_time_fairness", "gavel:objective=finish-time,hetero=0,", 0, 0.01, 0.015 },
};

/* ---- the data */

static char *record_path(const char *name)
{
	return mem_printf("%s/gavel/expected/%s", data_dir(), name);
}

static void skip_without_data(void)
{
	char *summary = record_path("summary.csv");
	bool there = file_exists(summary);

	if (!there)
		printf("SKIPPED, nothing was compared with the published Gavel simulator: there is no %s "
		       "(STINT_DATA names the folder of data)\n",
			summary);
	free(summary);
	if (!there)
		skip();
}

static void read_or_fail(const char *name, struct file *file)
{
	char *path = record_path(name);
	struct err err = { 0 };

	if (file_read(path, file, &err) < 0)
		fail_msg("%s", err.text);
	free(path);
}

/* Whether a line begins "world,policy,seed,"; what follows goes to `rest`. */
static bool line_of(struct slice line, const struct own *row, struct slice *rest)
{
	int64_t seed;
	struct slice policy;

	*rest = line;
	if (!slice_is(slice_cut(rest, ','), row->world))
		return false;
	policy = slice_cut(rest, ',');
	return slice_is(policy, row->published) && slice_int(slice_cut(rest, ','), &seed) &&
		seed == row->seed;
}

/* ---- a run */

static const struct world *find_world(const char *name)
{
	for (size_t i = 0; i < COUNT(worlds); i++) {
		if (strcmp(worlds[i].name, name) == 0)
			return &worlds[i];
	}
	fail_msg("no world %s", name);
	return NULL;
}

static void play(const char *name, const char *policy, int seed, struct played *p)
{
	const struct world *world = find_world(name);
	char *trace = mem_printf("%s/gavel/traces/%s.trace", data_dir(), world->trace);
	char *speeds = mem_printf("%s/gavel/simulation_throughputs.json", data_dir());

	played_init(p, world->cluster);
	played_read_speeds(p, trace, speeds);
	played_run(p, policy, (uint64_t)seed);
	free(trace);
	free(speeds);
}

static double mean_jct_s(const struct outcome *o)
{
	double sum = 0;

	for (uint32_t i = 0; i < o->njobs; i++)
		sum += o->jobs[i].finish_s - o->jobs[i].arrival_s;
	return sum / o->njobs;
}

static double makespan_s(const struct outcome *o)
{
	double last = 0;

	for (uint32_t i = 0; i < o->njobs; i++)
		last = fmax(last, o->jobs[i].finish_s);
	return last;
}

/* Jobs of these traces are numbered by line, as the published simulator does. */
static bool ends_after(const struct outcome *o, int64_t job, double jct_s, double within_s)
{
	double got_s = NAN;

	if (job >= 0 && job < o->njobs)
		got_s = o->jobs[job].finish_s - o->jobs[job].arrival_s;
	if (fabs(got_s - jct_s) <= within_s)
		return true;
	print_error("job %lld: JCT %.7f published, %.7f here\n", (long long)job, jct_s, got_s);
	return false;
}

/* ---- (a) the mechanism */

/* The number after `"key": ` in a line of JSON as the logs have it. */
static bool number_after(struct slice line, const char *key, double *out)
{
	size_t n = strlen(key);

	for (size_t i = 0; i + n < line.n; i++) {
		struct slice rest = { line.at + i + n, line.n - i - n };

		if (memcmp(line.at + i, key, n) == 0) {
			rest = slice_cut(&rest, ',');
			return slice_double(slice_trim(slice_cut(&rest, '}')), out);
		}
	}
	return false;
}

static void compare_log(const char *log, const struct outcome *o)
{
	uint32_t compared = 0, wrong = 0;
	struct slice line;
	struct lines lines;
	struct file file;

	read_or_fail(log, &file);
	for (lines = lines_of(file.at, file.n); lines_next(&lines, &line);) {
		double job = NAN, jct_s = NAN;

		if (line.n < 14 || memcmp(line.at, "{\"ev\": \"done\"", 13) != 0)
			continue;
		assert_true(number_after(line, "\"job\":", &job) &&
			number_after(line, "\"jct\":", &jct_s));
		compared++;
		wrong += !ends_after(o, (int64_t)job, jct_s, 1e-6);
	}
	file_fini(&file);
	assert_int_equal(wrong, 0);
	assert_int_equal(compared, o->njobs);
}

static void published_shares_give_published_times(void **state)
{
	const struct replay *row = *state;
	char *log, *path, *policy;
	struct played p;

	skip_without_data();
	log = mem_printf("P1.%s.jsonl", row->log);
	path = record_path(log);
	policy = mem_printf("%s%scompat=gavel,replay=%s", row->policy,
		row->policy[strlen(row->policy) - 1] == ':' ? "" : ",", path);
	play("P1", policy, 0, &p);
	compare_log(log, &p.outcome);
	played_fini(&p);
	free(policy);
	free(path);
	free(log);
}

/* ---- (b) and (c) shares of Stint's own */

static void compare_every_job(const struct own *row, const struct outcome *o)
{
	uint32_t compared = 0, wrong = 0;
	struct slice line, rest;
	struct lines lines;
	struct file file;

	read_or_fail("per_job_jct.csv", &file);
	for (lines = lines_of(file.at, file.n); lines_next(&lines, &line);) {
		int64_t job = -1;
		double jct_s = NAN;

		if (!line_of(line, row, &rest))
			continue;
		assert_true(slice_int(slice_cut(&rest, ','), &job) && slice_double(rest, &jct_s));
		compared++;
		wrong += !ends_after(o, job, jct_s, RECORDED_S);
	}
	file_fini(&file);
	assert_int_equal(wrong, 0);
	assert_int_equal(compared, o->njobs);
}

static void near(const char *what, double got, double want, double part)
{
	printf("  %s %.3f published, %.3f here: %+.4f %%\n", what, want, got, 100 * (got / want - 1));
	assert_true(fabs(got / want - 1) <= part);
}

static void compare_means(const struct own *row, const struct outcome *o)
{
	bool found = false;
	struct slice line, rest;
	struct lines lines;
	struct file file;

	read_or_fail("summary.csv", &file);
	for (lines = lines_of(file.at, file.n); lines_next(&lines, &line);) {
		int64_t jobs = 0;
		double jct_s = NAN, end_s = NAN;

		if (!line_of(line, row, &rest))
			continue;
		assert_true(slice_int(slice_cut(&rest, ','), &jobs) &&
			slice_double(slice_cut(&rest, ','), &jct_s) &&
			slice_double(slice_cut(&rest, ','), &end_s));
		found = true;
		assert_int_equal(jobs, o->njobs);
		near("mean JCT", mean_jct_s(o), jct_s, fmax(row->jct, 1e-6));
		near("makespan", makespan_s(o), end_s, fmax(row->makespan, 1e-6));
	}
	file_fini(&file);
	assert_true(found);
}

static void own_shares_give_published_results(void **state)
{
	const struct own *row = *state;
	char *policy;
	struct played p;

	skip_without_data();
	policy = mem_printf("%scompat=gavel", row->policy);
	play(row->world, policy, row->seed, &p);
	compare_means(row, &p.outcome);
	if (row->jct == 0)
		compare_every_job(row, &p.outcome);
	played_fini(&p);
	free(policy);
}

/* Gandiva draws its pairs: the mean over seeds is what a reader would quote. */
static void gandiva_over_seeds(void **state)
{
	static const double published_s[] = { 17379.358, 18148.655, 17987.174, 18152.017 };
	double want_s = 0, got_s = 0;

	(void)state;
	skip_without_data();
	for (int seed = 0; seed < (int)COUNT(published_s); seed++) {
		struct played p;

		play("P1", "gandiva:compat=gavel", seed, &p);
		want_s += published_s[seed] / COUNT(published_s);
		got_s += mean_jct_s(&p.outcome) / COUNT(published_s);
		played_fini(&p);
	}
	near("mean JCT over seeds", got_s, want_s, 0.02);
}

int main(void)
{
	VEC(struct CMUnitTest) tests = { 0 };
	struct arena names = { 0 };
	int failed;

	for (size_t i = 0; i < COUNT(replays); i++)
		vec_push(&tests,
			(struct CMUnitTest){
				.name = replays[i].what,
				.test_func = published_shares_give_published_times,
				.initial_state = (void *)&replays[i],
			});
	for (size_t i = 0; i < COUNT(own); i++) {
		char name[128];

		snprintf(name, sizeof(name), "own %s %s seed %d", own[i].world, own[i].published,
			own[i].seed);
		vec_push(&tests,
			(struct CMUnitTest){
				.name = arena_strndup(&names, name, strlen(name)),
				.test_func = own_shares_give_published_results,
				.initial_state = (void *)&own[i],
			});
	}
	vec_push(&tests,
		(struct CMUnitTest){ .name = "own P1 gandiva, four seeds",
			.test_func = gandiva_over_seeds });
	failed = _cmocka_run_group_tests("sim/gavel_parity", tests.at, tests.n, NULL, NULL);
	vec_fini(&tests);
	arena_fini(&names);
	return failed;
}
