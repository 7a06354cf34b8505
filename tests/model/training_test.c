/*
 * Answers about training: measured placements, between them, epochs; and that
 * profiles made from the catalogue keep what the trace says.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "model/profile.h"
#include "model/trace.h"
#include "model/training.h"

struct world {
	struct cluster cluster;
	struct names models;
	struct training *training;
};

static struct world *world(const char *cluster, const char *const *models)
{
	struct world *w = mem_alloc(sizeof(*w));
	struct err err = { 0 };

	assert_int_equal(cluster_parse(cluster, &w->cluster, &err), 0);
	for (; *models; models++)
		names_add(&w->models, *models, strlen(*models));
	w->training = training_create(&w->cluster, &w->models);
	return w;
}

static void world_free(struct world *w)
{
	training_destroy(w->training);
	names_fini(&w->models);
	cluster_fini(&w->cluster);
	free(w);
}

static const char *const one_model[] = { "m", NULL };

#define LAY(...) \
	((struct lay){ (const uint16_t[]){ __VA_ARGS__ }, \
		sizeof((const uint16_t[]){ __VA_ARGS__ }) / sizeof(uint16_t) })

/* step = 0.1 + 0.01 batch + 0.02 replicas + 0.05 nodes, sync a tenth of it: linear in all. */
static struct pass made_up(double nodes, double replicas, double batch)
{
	double step_s = 0.1 + 0.01 * batch + 0.02 * replicas + 0.05 * nodes;

	return (struct pass){ step_s, step_s / 10 };
}

static struct world *measured(void)
{
	struct world *w = world("8x4:t4,1x8:a100", one_model);
	struct training *t = w->training;
	struct training_model *facts = training_add_model(t, 0);
	double cells[] = { 8, 16, 24 };

	facts->initial_batch = 32;
	facts->max_batch = 128;
	facts->epochs = 2;
	for (int i = 0; i < 3; i++) {
		double b = cells[i];

		for (uint16_t g = 1; g <= 4; g++)
			training_add_pass(t, 0, 0, LAY(g), b, made_up(1, g, b));
		training_add_pass(t, 0, 0, LAY(4, 0, 2), b, made_up(2, 6, b));
		training_add_pass(t, 0, 0, LAY(1, 1), b, made_up(2, 2, b));
		training_add_pass(t, 0, 0, LAY(4, 4), b / 2, made_up(2, 8, b / 2));
		training_add_scaled(t, 0, 0, 8, 8, b, made_up(8, 8, b));
		training_add_scaled(t, 0, 0, 8, 32, b, made_up(8, 32, b));
	}
	training_add_epoch(t, 0, 32, (struct training_epoch){ 10, 10, { 4, 8 } });
	training_add_epoch(t, 0, 32, (struct training_epoch){ 21, 20, { 2, 8 } });
	training_add_epoch(t, 0, 128, (struct training_epoch){ 11, 5, { 2, 16 } });
	training_add_epoch(t, 0, 128, (struct training_epoch){ 20, 8, { 1, 20 } });
	training_finish(t);
	return w;
}

static void want_pass(const struct world *w, struct lay lay, double batch, struct pass want)
{
	struct pass got;

	assert_true(training_pass(w->training, 0, 0, lay, batch, &got));
	assert_true(fabs(got.step_s - want.step_s) < 1e-12);
	assert_true(fabs(got.sync_s - want.sync_s) < 1e-12);
}

static void test_passes(void **state)
{
	struct world *w = measured();
	struct pass pass;

	(void)state;
	want_pass(w, LAY(1), 8, made_up(1, 1, 8));
	want_pass(w, LAY(1), 11, made_up(1, 1, 11));
	want_pass(w, LAY(2, 4), 24, made_up(2, 6, 24));     /* any rotation is the same */
	want_pass(w, LAY(0, 4, 0, 2), 9, made_up(2, 6, 9)); /* and empty nodes do not count */
	want_pass(w, LAY(3, 3), 10, made_up(2, 6, 10));     /* not measured: by its numbers */
	want_pass(w, LAY(4, 4, 4, 4, 4), 13, made_up(5, 20, 13));
	want_pass(w, LAY(4, 4, 4, 1), 23.5, made_up(4, 13, 23.5));
	assert_false(training_pass(w->training, 0, 0, LAY(1), 7, &pass));
	assert_false(training_pass(w->training, 0, 0, LAY(4, 4), 13, &pass)); /* it has its own limit */
	assert_false(training_pass(w->training, 0, 0, LAY(4, 4, 4, 4, 4), 25, &pass));
	assert_false(training_pass(w->training, 0, 1, LAY(1), 8, &pass)); /* nothing of that type */
	assert_false(training_pass(w->training, 7, 0, LAY(1), 8, &pass)); /* nor of that model */
	assert_false(training_pass(w->training, 0, 0, LAY(0, 0), 8, &pass));
	assert_true(training_knows(w->training, 0, 0));
	assert_false(training_knows(w->training, 0, 1));
	world_free(w);
}

static void test_limits(void **state)
{
	struct world *w = measured();
	struct batch_limits limits = training_limits(w->training, 0, 0);

	(void)state;
	assert_true(limits.initial == 32 && limits.max == 128);
	assert_true(limits.min_local == 4 && limits.max_local == 24);
	assert_true(training_limits(w->training, 0, 1).max_local == 0);
	assert_true(training_max_local(w->training, 0, 0, LAY(4, 4)) == 12);
	assert_true(training_max_local(w->training, 0, 0, LAY(3, 3)) == 24);
	assert_true(training_max_local(w->training, 0, 0, LAY(40)) == 0);
	assert_true(training_max_local_of(w->training, 0, 0, 8) == 12);
	assert_true(training_max_local_of(w->training, 0, 0, 7) == 0);
	assert_true(fabs(training_single(w->training, 0, 0) - 24 / made_up(1, 1, 24).step_s) < 1e-12);
	assert_true(training_single(w->training, 0, 1) == 0);
	assert_int_equal(training_widest(w->training, 0), 8);
	training_cap_local(w->training, 0, 0, 20);
	assert_true(training_limits(w->training, 0, 0).max_local == 20);
	world_free(w);
}

static void test_epochs(void **state)
{
	struct world *w = measured();
	struct gradient g = training_gradient(w->training, 0, 80, 1);

	(void)state;
	assert_true(g.sqr == 1.5 && g.var == 14);
	g = training_gradient(w->training, 0, 8, 0); /* below the first: as there */
	assert_true(g.sqr == 4 && g.var == 8);
	g = training_gradient(w->training, 0, 1000, 9); /* beyond both: as at the last */
	assert_true(g.sqr == 1 && g.var == 20);
	assert_true(training_progress(w->training, 0, 0) == 0);
	assert_true(training_progress(w->training, 0, 1) == 10); /* the least of all batches */
	assert_true(training_progress(w->training, 0, 2) == 20);
	assert_true(training_work(w->training, 0) == 20);
	assert_true(training_iterations(w->training, 0, 80, 2) == 14);
	assert_true(training_iterations(w->training, 0, 80, 0) == 0);
	world_free(w);
}

/* One node only is a plane in space, and one device a line; both can be asked between their points. */
static void test_flat(void **state)
{
	struct world *w = world("1x8:t4", one_model);
	struct pass pass;

	(void)state;
	training_add_model(w->training, 0)->epochs = 0;
	for (uint16_t g = 1; g <= 7; g += 3) {
		training_add_pass(w->training, 0, 0, LAY(g), 8, made_up(1, g, 8));
		training_add_pass(w->training, 0, 0, LAY(g), 32, made_up(1, g, 32));
	}
	training_finish(w->training);
	want_pass(w, LAY(5), 20, made_up(1, 5, 20));
	assert_false(training_pass(w->training, 0, 0, LAY(8), 20, &pass));
	world_free(w);
}

static void test_pipelines(void **state)
{
	struct world *w = world("2x8:rtx2080ti", one_model);
	struct training_model *facts = training_add_model(w->training, 0);
	struct batch_limits limits;
	struct pass pass;

	(void)state;
	facts->unit[0] = 8;
	facts->initial_batch = 48;
	facts->max_batch = 384;
	for (double b = 1; b <= 2; b++) {
		training_add_pass(w->training, 0, 0, LAY(8), b, (struct pass){ 0.1 * b, 0.3 });
		training_add_pass(w->training, 0, 0, LAY(8, 8), b, (struct pass){ 0.1 * b, 0.4 });
	}
	training_finish(w->training);
	limits = training_limits(w->training, 0, 0);
	assert_true(limits.min_local == 48 && limits.max_local == 48);
	assert_true(training_pass(w->training, 0, 0, LAY(8, 8), 48, &pass));
	assert_true(fabs(pass.step_s - 3 * 55 * 0.1) < 1e-12 && pass.sync_s == 0);
	world_free(w);
}

/* ---- from the catalogue */

static const char *const known_models[] = { "resnet50", "bert", "no such model", NULL };

static struct job *add_job(struct trace *trace, uint32_t model, int32_t gpus, double work)
{
	struct job *job = trace_add(trace);

	job->model = model;
	job->gpus = gpus;
	trace->work[trace->njobs - 1] = work;
	return job;
}

/* Run as asked, epoch by epoch. */
static double replayed_s(const struct world *w, const struct job *job, uint32_t type, double work)
{
	const struct training_model *facts = training_of(w->training, job->model);
	double total, all_s = 0, stretch = work / training_work(w->training, job->model);
	double iter_s = training_asked_s(w->training, job->model, type, (uint32_t)job->gpus,
		job->batch, &total);

	for (uint32_t e = 0; e < facts->epochs; e++) {
		double progress = training_progress(w->training, job->model, e + 1) -
			training_progress(w->training, job->model, e);

		all_s += stretch * progress * iter_s /
			goodput_gain(training_gradient(w->training, job->model, total, e), total,
				facts->initial_batch);
	}
	return all_s;
}

static void test_catalogue(void **state)
{
	struct world *w = world("8x4:v100,2x8:k80", known_models);
	struct profile *profile = profile_create(&w->cluster, &w->models);
	struct training_bound bound;
	struct trace trace = { 0 };

	(void)state;
	training_synthesise(w->training);
	assert_non_null(training_of(w->training, 0));
	assert_null(training_of(w->training, 2));
	for (uint32_t i = 0; i < 3; i++)
		names_add(&trace.models, known_models[i], strlen(known_models[i]));
	add_job(&trace, 0, 4, 3600);
	add_job(&trace, 1, 8, 7200)->batch = 64;
	add_job(&trace, 2, 1, 100);
	add_job(&trace, 0, 1, 50000)->by_steps = true;
	trace_finish(&trace, NAN);
	training_bind(w->training, profile, &trace, &bound);
	assert_int_equal(bound.jobs, 3);
	training_bound_fini(&bound);
	assert_true(fabs(replayed_s(w, &trace.jobs[0], 0, trace.work[0]) / 3600 - 1) < 1e-9);
	assert_true(fabs(replayed_s(w, &trace.jobs[1], 0, trace.work[1]) / 7200 - 1) < 1e-9);
	assert_true(fabs(job_run_s(&trace.jobs[1]) / 7200 - 1) < 1e-9);
	assert_true(trace.work[2] == 100 && !trace.jobs[2].by_steps); /* the catalogue does not know it */
	assert_int_equal(trace.jobs[2].max_gpus, 1);
	assert_int_equal(trace.jobs[0].min_gpus, 1);
	assert_int_equal(trace.jobs[0].max_gpus, 32);
	assert_true(trace.jobs[0].work_est == trace.work[0]);
	trace_fini(&trace);
	profile_destroy(profile);
	world_free(w);
}

/* Every shape up to whole nodes answers, a larger batch takes longer, more nodes never less. */
static void test_catalogue_shapes(void **state)
{
	struct world *w = world("40x4:v100,2x8:k80", known_models);
	uint16_t on_node[40];

	(void)state;
	training_synthesise(w->training);
	for (uint32_t nodes = 1; nodes <= 40; nodes++) {
		for (uint16_t each = 1; each <= 4; each++) {
			struct lay lay = { on_node, nodes };
			struct pass small, large;

			for (uint32_t i = 0; i < nodes; i++)
				on_node[i] = each;
			assert_true(training_pass(w->training, 0, 0, lay, 1, &small));
			assert_true(training_pass(w->training, 0, 0, lay,
				training_limits(w->training, 0, 0).max_local, &large));
			assert_true(large.step_s > small.step_s && small.sync_s <= small.step_s);
		}
	}
	world_free(w);
}

/* Where measurements end: at the edge what was measured, beyond it what the fit says. */
static void test_beyond(void **state)
{
	struct world *w = measured();
	struct pass edge, less, more, pass;

	(void)state;
	assert_true(training_pass_beyond(w->training, 0, 0, LAY(2), 8, &edge));
	assert_true(fabs(edge.step_s - made_up(1, 2, 8).step_s) < 1e-12);
	assert_false(training_pass(w->training, 0, 0, LAY(2), 1, &pass));
	assert_true(training_pass_beyond(w->training, 0, 0, LAY(2), 1, &less));
	assert_true(training_pass_beyond(w->training, 0, 0, LAY(2), 100, &more));
	assert_true(less.step_s > 0 && less.step_s < edge.step_s && more.step_s > 2 * edge.step_s);
	assert_true(less.sync_s >= 0 && less.sync_s <= less.step_s && more.sync_s <= more.step_s);
	assert_false(training_pass_beyond(w->training, 0, 0, LAY(2), 0, &pass)); /* no samples */
	assert_false(training_pass_beyond(w->training, 0, 1, LAY(2), 8, &pass)); /* no such type */
	world_free(w);
}

static void test_batches(void **state)
{
	struct world *w = measured();

	(void)state;
	assert_int_equal(training_batch(w->training, 0, 0), 0);
	assert_int_equal(training_batch(w->training, 0, 1), 32);
	assert_int_equal(training_batch(w->training, 0, 100), 100);
	assert_int_equal(training_batch(w->training, 0, INT32_MAX), 128);
	world_free(w);
}

/* Without a run time the catalogue cannot say how much work a job is. */
static void test_untimed(void **state)
{
	struct world *w = world("8x4:v100", known_models);
	struct profile *profile = profile_create(&w->cluster, &w->models);
	struct training_bound bound;
	struct trace trace = { 0 };

	(void)state;
	training_synthesise(w->training);
	names_add(&trace.models, "resnet50", 8);
	add_job(&trace, 0, 4, NAN);
	add_job(&trace, 0, 4, 100)->batch = 1000000;
	trace_finish(&trace, NAN);
	training_bind(w->training, profile, &trace, &bound);
	assert_int_equal(bound.jobs, 1);
	assert_int_equal(bound.untimed, 1);
	assert_int_equal(bound.n, 2);
	assert_int_equal(bound.at[0].change, TRAINING_UNTIMED);
	assert_int_equal(bound.at[1].change, TRAINING_REBATCHED);
	assert_int_equal(bound.at[1].taken, trace.jobs[1].batch);
	assert_false(trace.jobs[0].trained);
	training_bound_fini(&bound);
	trace_fini(&trace);
	profile_destroy(profile);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passes),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_epochs),
		cmocka_unit_test(test_flat),
		cmocka_unit_test(test_pipelines),
		cmocka_unit_test(test_catalogue),
		cmocka_unit_test(test_catalogue_shapes),
		cmocka_unit_test(test_beyond),
		cmocka_unit_test(test_batches),
		cmocka_unit_test(test_untimed),
	};

	return cmocka_run_group_tests_name("training", tests, NULL, NULL);
}
