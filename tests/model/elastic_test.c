/*
 * Speeds on types that a job has not been on, by those where it has; in units
 * of several devices where it is made of pipelines.
 *
 * One model on types a and b: ten samples take a device of a 1 s; one of b is as
 * fast as its `single` says.
 */
#include "model/elastic.h"

#include <math.h>

#include "model/agents.h"
#include "model/training.h"
#include "support/property.h"

enum { A, B, JOB = 0, MODEL = 0 };

struct room {
	struct cluster cluster;
	struct names models;
	struct training *training;
	struct agents *agents;
	struct rates rates;
	struct job job;
};

static void add_single(struct training *training, uint32_t type, uint32_t gpus, double step_s)
{
	uint16_t on_node[] = { (uint16_t)gpus };

	for (double batch = 1; batch <= 10; batch += 9)
		training_add_pass(training, MODEL, type, (struct lay){ on_node, 1 }, batch,
			(struct pass){ step_s * batch / 10, 0.001 });
}

static void room_init(struct room *r, double b_single, uint32_t unit_a, uint32_t unit_b)
{
	struct training_model *model;
	struct err err;

	*r = (struct room){ 0 };
	assert_int_equal(cluster_parse("4x8:v100,4x8:t4", &r->cluster, &err), 0);
	names_add(&r->models, "thing", 5);
	r->training = training_create(&r->cluster, &r->models);
	model = training_add_model(r->training, MODEL);
	model->initial_batch = 10;
	model->max_batch = 10 * 64 * TRAINING_MICRO;
	model->unit[A] = unit_a;
	model->unit[B] = unit_b;
	add_single(r->training, A, unit_a ? unit_a : 1, 1);
	add_single(r->training, B, unit_b ? unit_b : 1, 10 / b_single);
	training_finish(r->training);
	r->agents = agents_create(2, (struct agents_options){ 0 });
	job_init(&r->job);
	r->job.id = JOB;
	r->job.model = MODEL;
	r->job.max_gpus = 64;
	r->job.units = model->unit;
	r->rates = (struct rates){ .cluster = &r->cluster, .training = r->training, .agents = r->agents };
	for (uint32_t type = A; type <= B; type++)
		agents_limit(r->agents, JOB, type, training_limits(r->training, MODEL, type));
}

static void room_fini(struct room *r)
{
	agents_destroy(r->agents);
	training_destroy(r->training);
	names_fini(&r->models);
	cluster_fini(&r->cluster);
}

/* Samples per second at ten a device (or as many as a pipeline takes), as believed. */
static double speed(struct room *r, uint32_t type, uint32_t gpus)
{
	r->job.batch = 10 * (int32_t)gpus;
	return 10 *
		elastic_speed(&r->rates, &r->job, configuration_packed(&r->cluster, type, gpus),
			r->training && training_of(r->training, MODEL)->unit[type] ? BATCHING_TUNED
										   : BATCHING_FIXED,
			NULL);
}

/* Limits with a single local batch, so that throughput is all there is: `many` samples a second on `gpus` devices. */
static void learn(struct room *r, uint32_t gpus, double many)
{
	struct batch_limits limits = { .initial = 10, .max = 640, .min_local = 10, .max_local = 10 };
	double step_s = 10 * gpus / many;

	agents_limit(r->agents, JOB, A, limits);
	agents_limit(r->agents, JOB, B, limits);
	agents_observe(r->agents, JOB, A, &(struct goodput_sample){ 1, 1, 10, 1, 0.0001 });
	agents_observe(r->agents, JOB, A, &(struct goodput_sample){ 1, 2, 10, step_s, step_s - 1 });
	agents_observe(r->agents, JOB, A, &(struct goodput_sample){ 1, gpus, 10, step_s, step_s - 1 });
}

/* Micro test d of Sia's specification, and the numbers of its program. */
static void test_bootstrapping(void **state)
{
	static const struct {
		uint32_t gpus;
		double a_many, b_single, want;
	} rows[] = { { 4, 32, 20, 64 }, { 8, 64, 30, 192 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct room r;

		room_init(&r, rows[i].b_single, 0, 0);
		learn(&r, rows[i].gpus, rows[i].a_many);
		assert_float_equal(speed(&r, A, 1), 10, 0.01);
		assert_float_equal(speed(&r, A, rows[i].gpus), rows[i].a_many, 0.01 * rows[i].a_many);
		assert_float_equal(speed(&r, B, 1), rows[i].b_single, 0.01);
		assert_float_equal(speed(&r, B, rows[i].gpus), rows[i].want, 0.01 * rows[i].want);
		assert_float_equal(speed(&r, B, rows[i].gpus) / speed(&r, A, rows[i].gpus),
			rows[i].b_single / 10, 1e-9);
		room_fini(&r);
	}
}

/* A pipeline is four devices of a, two of b: what one shows there is known of one here. */
static void test_units(void **state)
{
	const struct goodput_sample sample = { 1, 1, TRAINING_MICRO, 2, 0 };
	struct room r;
	double ratio;

	(void)state;
	room_init(&r, 30, 4, 2);
	assert_int_equal(elastic_most(&r.rates, &r.job, A, BATCHING_TUNED, 2), 4); /* one unit at first */
	assert_int_equal(elastic_most(&r.rates, &r.job, B, BATCHING_TUNED, 2), 2);
	agents_observe(r.agents, JOB, A, &sample);
	assert_int_equal(elastic_most(&r.rates, &r.job, A, BATCHING_TUNED, 2), 8);
	assert_int_equal(elastic_most(&r.rates, &r.job, B, BATCHING_TUNED, 2), 4);
	assert_int_equal(elastic_most(&r.rates, &r.job, A, BATCHING_TUNED, 0), 64);
	for (uint32_t gpus = 1; gpus <= 16; gpus++) {
		assert_true((speed(&r, A, gpus) > 0) == (gpus % 4 == 0));
		assert_true((speed(&r, B, gpus) > 0) == (gpus % 2 == 0));
	}
	/* three times as fast a stage, and one of 2 stages instead of 4 */
	ratio = 3.0 * (4 - 1 + TRAINING_MICRO) / (2 - 1 + TRAINING_MICRO);
	assert_float_equal(speed(&r, B, 4) / speed(&r, A, 8), ratio, 1e-9);
	assert_float_equal(speed(&r, A, 4), TRAINING_MICRO / 2.0, 0.1);
	room_fini(&r);
}

/* Two nodes are one pipeline: nobody to synchronise with. */
static void test_shapes(void **state)
{
	struct goodput_shape s = elastic_shape(2, 8, 8);

	(void)state;
	assert_float_equal(s.nodes, 1, 0);
	assert_float_equal(s.replicas, 1, 0);
	s = elastic_shape(4, 16, 8);
	assert_float_equal(s.nodes, 2, 0);
	s = elastic_shape(2, 5, 1);
	assert_float_equal(s.nodes, 2, 0);
	assert_float_equal(s.replicas, 5, 0);
}

/* A unit takes its batch in one pass, alone or not. */
static void test_batch_of_a_pipeline(void **state)
{
	struct batch_limits limits = { .initial = 12,
		.max = 384,
		.min_local = 48,
		.max_local = 48,
		.unit = 8 };
	struct goodput_batches batches;

	(void)state;
	for (uint32_t units = 1; units <= 8; units++) {
		struct batch_split split = goodput_split(&limits, units, 384);

		assert_int_equal(split.atomic, 48);
		assert_int_equal(split.accum, 0);
		for (double fixed = 0; fixed <= 384; fixed += 384) {
			assert_true(goodput_list(&limits, units, 384, fixed, &batches));
			assert_int_equal(batches.n, 1);
			assert_float_equal(batches.total[0], 48 * units, 0);
		}
	}
	assert_false(goodput_list(&limits, 9, 384, 0, &batches));
}

static void test_rounding(void **state)
{
	static const uint32_t units[TYPES_MAX] = { 8, 2, 1 };
	static const struct {
		uint32_t type;
		int32_t min, gpus, max;
		uint32_t least, asked, most;
	} rows[] = {
		{ 0, 1, 4, 64, 8, 8, 64 },
		{ 0, 9, 12, 30, 16, 16, 24 },
		{ 0, 12, 12, 12, 8, 8, 8 },
		{ 0, 1, 1, 4, 8, 8, 8 },
		{ 1, 1, 3, 7, 2, 4, 6 },
		{ 2, 1, 3, 7, 1, 3, 7 },
		{ 3, 1, 3, 7, 1, 3, 7 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct job job;

		job_init(&job);
		job.units = units;
		job.min_gpus = rows[i].min;
		job.gpus = rows[i].gpus;
		job.max_gpus = rows[i].max;
		assert_int_equal(job_least_on(&job, rows[i].type), rows[i].least);
		assert_int_equal(job_gpus_on(&job, rows[i].type), rows[i].asked);
		assert_int_equal(job_most_on(&job, rows[i].type), rows[i].most);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bootstrapping),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_batch_of_a_pipeline),
		cmocka_unit_test(test_rounding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
