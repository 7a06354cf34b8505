/*
 * Forecasts of a whole workload held against what came, and visits on which
 * they rest.
 */
#include "sim/backtest.h"

#include <math.h>
#include <string.h>

#include "io/synth.h"
#include "support/property.h"
#include "support/scene.h"

struct world_of_jobs {
	struct cluster cluster;
	struct trace trace;
	struct sim_config config;
};

static void draw(struct world_of_jobs *w, const char *jobs)
{
	struct err err = { 0 };

	if (cluster_parse("2x8:v100", &w->cluster, &err) < 0 ||
		synth_trace(jobs, &w->cluster, &w->trace, &err) < 0)
		fail_msg("%s", err.text);
	sim_config_init(&w->config);
	w->config.cluster = &w->cluster;
	w->config.trace = &w->trace;
	w->config.policy = "easy";
	w->config.error = 0.7;
	w->config.seed = 1;
}

static void drop(struct world_of_jobs *w)
{
	trace_fini(&w->trace);
	cluster_fini(&w->cluster);
}

static void test_once(const struct world_of_jobs *w, bool raw, struct backtest *out)
{
	struct err err = { 0 };

	if (backtest_run(
		    &(struct backtest_config){ .sim = &w->config, .asks = 60, .futures = 30, .raw = raw },
		    out, &err) < 0)
		fail_msg("%s", err.text);
}

static void about_eight_of_ten_hold(void **state)
{
	struct world_of_jobs w;
	struct backtest a, b, raw;

	(void)state;
	draw(&w, "jobs=600,load=0.95,durations=exponential,gpus=pow2,seed=4");
	test_once(&w, false, &a);
	printf("[   NOTE   ] %u starts, %.3f held; off by %.0f s, plainly by %.0f s; %.2f s of CPU\n",
		a.start.jobs, a.start.coverage, a.start.median_error_s, a.start.plain_error_s,
		a.cpu_s);
	assert_true(a.asks > 10 && a.futures == a.asks * 30 && a.start.jobs > 100);
	assert_true(a.start.coverage >= 0.7 && a.start.coverage <= 0.9);
	assert_true(a.start.median_error_s < a.start.plain_error_s);
	assert_float_equal(a.start.coverage + a.start.below + a.start.above, 1, 1e-9);
	/* The same again, and something else without corrections. */
	test_once(&w, false, &b);
	a.cpu_s = b.cpu_s = 0;
	assert_memory_equal(&a, &b, sizeof(a));
	test_once(&w, true, &raw);
	assert_true(raw.start.jobs == a.start.jobs &&
		raw.start.median_width_s != a.start.median_width_s);
	drop(&w);
}

static void nobody_waits_in_an_empty_cluster(void **state)
{
	struct world_of_jobs w;
	struct backtest out;

	(void)state;
	draw(&w, "jobs=30,load=0.01,durations=exponential,seed=1");
	test_once(&w, false, &out);
	assert_int_equal(out.start.jobs, 0);
	assert_true(isnan(out.start.coverage) && isnan(out.start.median_error_s));
	drop(&w);
}

/* ---- visits */

struct guest {
	const double *at_s;
	size_t next, seen;
	uint32_t running[8], ended[8];
};

static double next_visit(void *self)
{
	struct guest *g = self;

	return g->at_s[g->next++];
}

static int look(void *self, const struct engine *engine, const struct engine_config *rules,
	double now_s, struct err *err)
{
	struct guest *g = self;
	uint32_t n;
	const struct job *jobs = engine_jobs(engine, &n);

	(void)err;
	assert_non_null(rules->cluster);
	assert_true(now_s == g->at_s[g->seen]);
	for (uint32_t i = 0; i < n; i++) {
		g->running[g->seen] += jobs[i].state == JOB_RUNNING;
		g->ended[g->seen] += job_ended(&jobs[i]);
	}
	g->seen++;
	return 0;
}

/* After everything up to then has happened; a moment may come twice. */
static void a_visitor_sees_what_was_decided(void **state)
{
	static const double at_s[] = { 0, 10, 10, 15, 100, INFINITY };
	struct guest guest = { .at_s = at_s };
	struct sim_visitor visitor = { &guest, next_visit, look };
	struct err err = { 0 };
	struct scene s;

	(void)state;
	scene_init(&s, "1x2");
	scene_job(&s, 0, 1, 10);
	scene_job(&s, 0, 1, 20);
	scene_job(&s, 5, 2, 30);
	scene_ready(&s);
	s.config.policy = "fifo";
	if (sim_visit(&s.config, &visitor, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(guest.seen, 5);
	assert_int_equal(guest.running[0], 2);
	assert_int_equal(guest.running[1], 1);
	assert_int_equal(guest.ended[1], 1);
	assert_int_equal(guest.running[2], 1);
	assert_int_equal(guest.ended[4], 3);
	scene_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(about_eight_of_ten_hold),
		cmocka_unit_test(nobody_waits_in_an_empty_cluster),
		cmocka_unit_test(a_visitor_sees_what_was_decided),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
