#include "io/synth.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/property.h"
#include "io/trace_io.h"
#include "model/dag.h"

static struct trace drawn(const char *options, const char *spec)
{
	struct cluster cluster = { 0 };
	struct trace trace = { 0 };
	struct err err = { 0 };
	int rc;

	if (spec)
		assert_int_equal(cluster_parse(spec, &cluster, &err), 0);
	rc = synth_trace(options, spec ? &cluster : NULL, &trace, &err);
	if (rc)
		print_error("%s\n", err.text);
	assert_int_equal(rc, 0);
	cluster_fini(&cluster);
	return trace;
}

/* Everything that a draw decides. */
static uint64_t fingerprint(const struct trace *trace)
{
	uint64_t h = HASH_START;

	for (uint32_t i = 0; i < trace->njobs; i++) {
		const struct job *job = &trace->jobs[i];

		h = hash_double(h, job->arrival_s);
		h = hash_double(h, trace->work[i]);
		h = hash_double(h, job->deadline_s);
		h = hash_u64(h, (uint64_t)job->gpus << 32 | job->tenant);
		h = hash_u64(h, (uint64_t)job->model << 32 | job->class_);
		h = hash_u64(h, (uint64_t)job->min_gpus << 32 | (uint32_t)job->max_gpus);
	}
	return h;
}

static double gpu_seconds(const struct trace *trace)
{
	double sum = 0;

	for (uint32_t i = 0; i < trace->njobs; i++)
		sum += trace->work[i] * trace->jobs[i].gpus;
	return sum;
}

static double last_arrival(const struct trace *trace)
{
	return trace->jobs[trace->njobs - 1].arrival_s;
}

static void test_defaults(void **state)
{
	struct trace trace = drawn("", NULL);

	(void)state;
	assert_int_equal(trace.njobs, 1000);
	assert_string_equal(trace.format, "synth");
	assert_non_null(strstr(trace.source, "synth:jobs=1000,load=0.9,"));
	assert_non_null(strstr(trace.source, "arrivals=poisson"));
	assert_int_equal(trace.tenants.n, 10);
	assert_true(trace.models.n > 20);
	assert_true(trace.jobs[0].arrival_s == 0);
	for (uint32_t i = 0; i < trace.njobs; i++) {
		const struct job *job = &trace.jobs[i];

		assert_true(job->gpus >= 1 && job->gpus <= 64);
		assert_int_equal(job->min_gpus, job->gpus);
		assert_int_equal(job->max_gpus, job->gpus);
		assert_true(trace.work[i] >= 1 && job->work_est == trace.work[i]);
		assert_true(job->tenant < 10 && job->model < trace.models.n && job->batch >= job->gpus);
		assert_true(isinf(job->deadline_s) && job->resume_cost_s == 30);
		assert_false(job->by_steps);
	}
	trace_fini(&trace);
}

static const struct {
	const char *what, *options, *cluster;
	double load;
} loads[] = {
	{ "the default cluster has 64 devices", "jobs=500", NULL, 0.9 },
	{ "a load above one is allowed", "jobs=500,load=1.5", "4x8:v100", 1.5 },
	{ "bursts keep the load", "jobs=2000,load=0.5,arrivals=burst", "16x8:v100", 0.5 },
	{ "sizes keep the load", "jobs=2000,load=0.7,gpus=helios,durations=blox", "64x8:v100", 0.7 },
	{ "scaling run times keeps the load", "jobs=500,load=0.7,duration_scale=0.01", "16x8:v100", 0.7 },
};

static void test_load_is_met(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(loads); i++) {
		struct trace trace = drawn(loads[i].options, loads[i].cluster);
		struct cluster cluster = { .devices = 64 };
		double load;

		print_message("%s\n", loads[i].what);
		if (loads[i].cluster)
			assert_int_equal(cluster_parse(loads[i].cluster, &cluster, NULL), 0);
		load = gpu_seconds(&trace) / (cluster.devices * last_arrival(&trace));
		assert_true(fabs(load - loads[i].load) < 1e-9);
		cluster_fini(&cluster);
		trace_fini(&trace);
	}
}

static void test_rate(void **state)
{
	struct trace trace = drawn("jobs=20001,rate_per_h=120,gpus=one", NULL);

	(void)state;
	assert_true(fabs(last_arrival(&trace) / 20000 - 30) < 1);
	trace_fini(&trace);
}

static void test_static(void **state)
{
	struct trace trace = drawn("jobs=50,arrivals=static", NULL);

	(void)state;
	assert_true(last_arrival(&trace) == 0);
	trace_fini(&trace);
	trace = drawn("jobs=1", NULL);
	assert_true(last_arrival(&trace) == 0);
	trace_fini(&trace);
}

static void test_days_are_busier_than_nights(void **state)
{
	struct trace trace = drawn("jobs=50000,rate_per_h=100,arrivals=diurnal", NULL);
	uint32_t by_hour[24] = { 0 };
	double mean_s = last_arrival(&trace) / trace.njobs;

	(void)state;
	for (uint32_t i = 0; i < trace.njobs; i++)
		by_hour[(int)(fmod(trace.jobs[i].arrival_s, 86400) / 3600)]++;
	assert_true(by_hour[12] > 4 * by_hour[0]);
	assert_true(by_hour[6] > by_hour[0] && by_hour[6] < by_hour[12]);
	assert_true(fabs(mean_s - 36) < 1.5);
	trace_fini(&trace);
}

static void test_bursts(void **state)
{
	struct trace trace = drawn("jobs=20000,rate_per_h=60,arrivals=burst", NULL);
	uint32_t close = 0;

	(void)state;
	for (uint32_t i = 1; i < trace.njobs; i++)
		close += trace.jobs[i].arrival_s - trace.jobs[i - 1].arrival_s < 3;
	assert_true(close > trace.njobs * 8 / 10);
	trace_fini(&trace);
}

static const struct {
	const char *options;
	int gpus;
	double least, most; /* fraction of jobs of that size */
} sizes[] = {
	{ "jobs=50000,gpus=philly", 1, 0.925, 0.94 },
	{ "jobs=50000,gpus=philly", 8, 0.018, 0.022 },
	{ "jobs=50000,gpus=helios", 8, 0.19, 0.21 },
	{ "jobs=50000,gpus=gavel", 4, 0.14, 0.16 },
	{ "jobs=50000,gpus=pow2", 2, 0.24, 0.26 },
	{ "jobs=50000,gpus=one", 1, 1, 1 },
};

static void test_sizes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct trace trace = drawn(sizes[i].options, "64x8:v100");
		double n = 0;

		for (uint32_t k = 0; k < trace.njobs; k++)
			n += trace.jobs[k].gpus == sizes[i].gpus;
		print_message("%s: %g of %d\n", sizes[i].options, n / trace.njobs, sizes[i].gpus);
		assert_true(n / trace.njobs >= sizes[i].least && n / trace.njobs <= sizes[i].most);
		trace_fini(&trace);
	}
}

static void test_gangs_fit(void **state)
{
	static const struct {
		const char *cluster;
		int most;
	} rows[] = {
		{ "1x1:v100", 1 },
		{ "3x1:v100", 2 },
		{ "1x5:v100,1x9:k80", 8 }, /* a job runs on one type */
		{ "16x8:v100", 128 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct trace trace = drawn("jobs=20000,gpus=helios,elastic=0.5", rows[i].cluster);

		for (uint32_t k = 0; k < trace.njobs; k++) {
			const struct job *job = &trace.jobs[k];

			assert_true(job->gpus <= rows[i].most && job->max_gpus <= rows[i].most);
			assert_true(job->min_gpus >= 1 && job->min_gpus <= job->gpus);
			assert_true(job->max_gpus >= job->gpus);
		}
		trace_fini(&trace);
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static const struct {
	const char *options;
	double median_s, within; /* factor */
} durations[] = {
	{ "jobs=30000,gpus=one,durations=philly", 890, 1.1 },
	{ "jobs=30000,gpus=one,durations=helios", 206, 1.1 },
	{ "jobs=30000,gpus=one,durations=exponential", 3600 * 0.693, 1.05 },
	{ "jobs=30000,gpus=one,durations=blox", 60 * 275.4, 1.1 }, /* 10^(1.5 + 1.5 x 5/8) */
};

static void test_durations(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(durations); i++) {
		struct trace trace = drawn(durations[i].options, NULL);
		double median;

		qsort(trace.work, trace.njobs, sizeof(double), by_value);
		median = trace.work[trace.njobs / 2];
		print_message("%s: %g s\n", durations[i].options, median);
		assert_true(median < durations[i].median_s * durations[i].within);
		assert_true(median > durations[i].median_s / durations[i].within);
		trace_fini(&trace);
	}
}

static void test_blox_range(void **state)
{
	struct trace trace = drawn("jobs=20000,durations=blox,gpus=one", NULL);
	double n_long = 0;

	(void)state;
	for (uint32_t i = 0; i < trace.njobs; i++) {
		assert_true(trace.work[i] >= 60 * 31.6 && trace.work[i] <= 60 * 10000);
		n_long += trace.work[i] >= 60 * 1000;
	}
	assert_true(fabs(n_long / trace.njobs - 0.2) < 0.01);
	trace_fini(&trace);
}

static void test_fractions(void **state)
{
	struct trace trace = drawn("jobs=20000,deadlines=0.5,elastic=0.25,opportunistic=0.1",
		"64x8:v100");
	double deadlines = 0, elastic = 0, opportunistic = 0;

	(void)state;
	for (uint32_t i = 0; i < trace.njobs; i++) {
		const struct job *job = &trace.jobs[i];
		double slack = (job->deadline_s - job->arrival_s) / trace.work[i];

		deadlines += !isinf(job->deadline_s);
		assert_true(isinf(slack) || (slack > 1.09 && slack < 3.01));
		elastic += job->max_gpus > job->gpus;
		opportunistic += job->class_ == JOB_OPPORTUNISTIC;
	}
	assert_true(fabs(deadlines / trace.njobs - 0.5) < 0.02);
	assert_true(fabs(elastic / trace.njobs - 0.25) < 0.02);
	assert_true(fabs(opportunistic / trace.njobs - 0.1) < 0.01);
	trace_fini(&trace);
}

static void test_tenants_follow_zipf(void **state)
{
	struct trace trace = drawn("jobs=50000,tenants=4", NULL);
	double n[4] = { 0 };

	(void)state;
	for (uint32_t i = 0; i < trace.njobs; i++)
		n[trace.jobs[i].tenant]++;
	for (int k = 1; k < 4; k++)
		assert_true(fabs(n[k] * (k + 1) / n[0] - 1) < 0.06);
	assert_string_equal(trace.tenants.at[0], "tenant-1");
	trace_fini(&trace);
	trace = drawn("jobs=10,tenants=0,models=0", NULL);
	for (uint32_t i = 0; i < trace.njobs; i++) {
		assert_int_equal(trace.jobs[i].tenant, NAME_NONE);
		assert_int_equal(trace.jobs[i].model, NAME_NONE);
	}
	trace_fini(&trace);
}

static void test_large_models_need_large_gangs(void **state)
{
	struct trace trace = drawn("jobs=20000,gpus=helios", "64x8:v100");
	uint32_t llama = names_find(&trace.models, "llama-7b", 8), n = 0;

	(void)state;
	assert_true(llama != NAME_NONE);
	for (uint32_t i = 0; i < trace.njobs; i++) {
		if (trace.jobs[i].model != llama)
			continue;
		assert_true(trace.jobs[i].gpus >= 8);
		n++;
	}
	assert_true(n > 10);
	trace_fini(&trace);
}

static void test_same_seed_same_jobs(void **state)
{
	static const char *const specs[] = { "jobs=300,seed=7", "jobs=300,seed=8",
		"jobs=300,seed=7,load=1" };
	struct trace a = drawn(specs[0], NULL), again = drawn(specs[0], NULL);
	struct trace b = drawn(specs[1], NULL), c = drawn(specs[2], NULL),
		     d = drawn(specs[0], "2x8:v100");

	(void)state;
	assert_true(fingerprint(&a) == fingerprint(&again) && a.hash == again.hash);
	assert_true(fingerprint(&a) != fingerprint(&b) && a.hash != b.hash);
	assert_true(a.hash != c.hash && a.hash != d.hash);
	for (uint32_t i = 0; i < a.njobs; i++) /* another load moves arrivals and nothing else */
		assert_true(a.work[i] == c.work[i] && a.jobs[i].model == c.jobs[i].model);
	trace_fini(&a);
	trace_fini(&again);
	trace_fini(&b);
	trace_fini(&c);
	trace_fini(&d);
}

/* The numbers themselves: other bytes on another machine or compiler would show here. */
static void test_golden(void **state)
{
	struct trace trace = drawn(
		"jobs=1000,seed=42,arrivals=diurnal,elastic=0.2,deadlines=0.2,gpus=helios,durations=blox",
		"16x8:v100");

	(void)state;
	print_message("fingerprint %016llx\n", (unsigned long long)fingerprint(&trace));
	assert_true(fingerprint(&trace) == UINT64_C(0x77634cefd763c5e9));
	trace_fini(&trace);
}

static const struct {
	const char *options, *part;
} bad[] = {
	{ "job=5", "jobs" },
	{ "jobs=0", "jobs" },
	{ "jobs=-5", "jobs" },
	{ "jobs=many", "jobs" },
	{ "gpus=phily", "philly" },
	{ "load=0", "load" },
	{ "load=nan", "load" },
	{ "elastic=2", "elastic" },
	{ "seed=-1", "seed" },
	{ "nonsense", "nonsense" },
};

static void test_bad_options(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct trace trace = { .njobs = 77 };
		struct err err = { 0 };

		assert_int_equal(synth_trace(bad[i].options, NULL, &trace, &err), ERR_USAGE);
		print_message("%s\n", err.text);
		assert_non_null(strstr(err.text, bad[i].part));
		assert_int_equal(trace.njobs, 77);
	}
}

static void test_help_lists_every_option(void **state)
{
	static const char *const names[] = { "jobs", "load", "rate_per_h", "seed", "gpus",
		"durations", "duration_scale", "arrivals", "tenants", "models", "deadlines",
		"elastic", "opportunistic", "start_cost_s", "resume_cost_s", "checkpoint_every_s" };
	struct buf out = { 0 };

	(void)state;
	synth_help(&out);
	for (size_t i = 0; i < COUNT(names); i++)
		assert_non_null(strstr(out.at, names[i]));
	assert_non_null(strstr(out.at, "philly|helios"));
	buf_fini(&out);
}

static void test_through_trace_read(void **state)
{
	struct trace trace = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(trace_read("synth:jobs=20,seed=3", NULL, NULL, &trace, NULL, &err), 0);
	assert_int_equal(trace.njobs, 20);
	trace_fini(&trace);
}

/* Whatever is asked for, jobs are in order, of sane size and with work. */
static void test_any_options(void **state)
{
	static const char *const gpus[] = { "philly", "helios", "gavel", "pow2", "one" };
	static const char *const times[] = { "philly", "helios", "blox", "exponential" };
	static const char *const arrivals[] = { "poisson", "diurnal", "burst", "static" };
	struct rng rng = property("any combination of options gives a sound trace");

	(void)state;
	for (size_t i = 0; i < rounds(150); i++) {
		struct buf text = { 0 };
		struct trace trace;

		buf_printf(&text,
			"jobs=%d,seed=%d,gpus=%s,durations=%s,arrivals=%s,load=%g,tenants=%d,elastic=%g",
			1 + (int)rng_below(&rng, 200), (int)rng_below(&rng, 1000),
			gpus[rng_below(&rng, 5)], times[rng_below(&rng, 4)],
			arrivals[rng_below(&rng, 4)], rng_between(&rng, 0.01, 5),
			(int)rng_below(&rng, 40), rng_uniform(&rng));
		trace = drawn(text.at, rng_below(&rng, 2) ? "3x7:t4,1x1:v100" : NULL);
		for (uint32_t k = 0; k < trace.njobs; k++) {
			const struct job *job = &trace.jobs[k];

			assert_int_equal(job->id, k);
			assert_true(isfinite(job->arrival_s) && job->arrival_s >= 0);
			assert_true(!k || job->arrival_s >= job[-1].arrival_s);
			assert_true(isfinite(trace.work[k]) && trace.work[k] > 0);
			assert_true(job->min_gpus >= 1 && job->min_gpus <= job->gpus);
			assert_true(job->gpus <= job->max_gpus && job->max_gpus <= 64);
		}
		trace_fini(&trace);
		buf_fini(&text);
	}
}

/* ---- pipelines */

static struct dag_shape shape_of(const char *options, struct trace *trace)
{
	struct arena arena = { 0 };
	struct err err = { 0 };
	struct dag_shape shape;
	struct dag dag;

	if (synth_trace(options, NULL, trace, &err))
		fail_msg("%s: %s", options, err.text);
	dag_of_jobs(&dag, &arena, trace->jobs, trace->njobs, trace->deps);
	assert_true(dag_is_acyclic(&dag));
	shape = dag_shape_of(&dag, &arena, trace->work);
	arena_fini(&arena);
	return shape;
}

static void pipelines_have_their_form(void **state)
{
	static const struct {
		const char *options;
		uint32_t dags, jobs, depth, width;
	} rows[] = {
		{ "jobs=100", 0, 0, 0, 0 },
		{ "jobs=100,dags=1,dag_jobs=5,dag_form=chain", 20, 100, 5, 1 },
		{ "jobs=100,dags=1,dag_jobs=10,dag_form=fork", 10, 100, 3, 8 },
		{ "jobs=100,dags=1,dag_jobs=2,dag_form=fork", 50, 100, 2, 1 },
		{ "jobs=70,dags=1,dag_jobs=7,dag_form=tree", 10, 70, 3, 4 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct trace trace = { 0 };
		struct dag_shape shape = shape_of(rows[i].options, &trace);

		if (shape.dags != rows[i].dags || shape.jobs != rows[i].jobs ||
			shape.depth != rows[i].depth || shape.width != rows[i].width)
			fail_msg("%s: %u of %u jobs, %u deep, %u wide", rows[i].options, shape.dags,
				shape.jobs, shape.depth, shape.width);
		trace_fini(&trace);
	}
}

/* Half of the jobs, and the rest is as without pipelines; the text says nothing of them where there are none. */
static void pipelines_leave_the_rest_alone(void **state)
{
	struct trace with = { 0 }, without = { 0 };
	struct dag_shape shape = shape_of("jobs=4000,dags=0.5", &with);

	(void)state;
	shape_of("jobs=4000", &without);
	assert_in_range(shape.jobs, 1600, 2000); /* a layer may have nobody who waits for some of it */
	assert_int_equal(shape.depth, 2);
	assert_null(strstr(without.source, "dag"));
	for (uint32_t i = 0; i < 4000; i++) {
		assert_int_equal(with.jobs[i].gpus, without.jobs[i].gpus);
		assert_true(with.work[i] == without.work[i]);
		for (uint32_t k = 0; k < with.jobs[i].ndeps; k++) {
			uint32_t other = with.deps[with.jobs[i].first_dep + k];

			assert_true(other < i);
			assert_true(with.jobs[other].arrival_s == with.jobs[i].arrival_s);
			assert_int_equal(with.jobs[other].tenant, with.jobs[i].tenant);
		}
	}
	trace_fini(&with);
	trace_fini(&without);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_load_is_met),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_static),
		cmocka_unit_test(test_days_are_busier_than_nights),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_gangs_fit),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_blox_range),
		cmocka_unit_test(test_fractions),
		cmocka_unit_test(test_tenants_follow_zipf),
		cmocka_unit_test(test_large_models_need_large_gangs),
		cmocka_unit_test(test_same_seed_same_jobs),
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_bad_options),
		cmocka_unit_test(test_help_lists_every_option),
		cmocka_unit_test(test_through_trace_read),
		cmocka_unit_test(test_any_options),
		cmocka_unit_test(pipelines_have_their_form),
		cmocka_unit_test(pipelines_leave_the_rest_alone),
	};

	return cmocka_run_group_tests_name("synth", tests, NULL, NULL);
}
