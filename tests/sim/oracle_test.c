/*
 * Under the oracle what policies believe of trained jobs is the truth: run
 * times at a fixed batch, what restarts cost, and so every promise.
 */
#include <math.h>
#include <string.h>

#include "model/elastic.h"
#include "model/training.h"
#include "support/property.h"
#include "support/scene.h"

static const char *const models[] = { "resnet50", "bert", "vgg16" };

static struct job *add_job(struct scene *s, double at_s, int gpus, double work, uint32_t model)
{
	struct job *job = scene_job(s, at_s, gpus, work);

	job->model = model;
	return job;
}

static void begin(struct scene *s, const char *cluster)
{
	scene_init(s, cluster);
	for (size_t i = 0; i < COUNT(models); i++)
		names_add(&s->trace.models, models[i], strlen(models[i]));
	s->config.oracle = true;
}

static void train(struct scene *s)
{
	struct training_bound bound;

	scene_ready(s);
	s->training = training_create(&s->cluster, &s->trace.models);
	training_synthesise(s->training);
	training_bind(s->training, s->profile, &s->trace, &bound);
	training_bound_fini(&bound);
	s->config.training = s->training;
}

static void test_run_times(void **state)
{
	static const char *const clusters[] = { "2x4:v100", "3x8:a100", "4x6:v100" };
	struct rng rng = property("a job alone takes as long as the oracle says");

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		struct rates belief = { .oracle = true };
		struct job *job, before;
		struct outcome out;
		struct scene s;
		double speed;

		begin(&s, clusters[round % COUNT(clusters)]);
		job = add_job(&s, 0, 1 + (int)rng_below(&rng, 8), 500 + 5000 * rng_uniform(&rng),
			(uint32_t)rng_below(&rng, COUNT(models)));
		job->batch = round % 2 ? 0 : (int32_t)(16 + rng_below(&rng, 500));
		train(&s);
		s.trace.jobs[0].min_gpus = s.trace.jobs[0].max_gpus = s.trace.jobs[0].gpus;
		s.config.policy = "fifo";
		s.config.placer = "consolidate";
		scene_run(&s, &out);
		assert_int_equal(out.jobs[0].state, JOB_FINISHED);
		before = out.jobs[0];
		before.done = 0;
		belief.cluster = &s.cluster;
		belief.training = s.training;
		speed = elastic_speed(&belief, &before,
			configuration_packed(&s.cluster, 0, (uint32_t)before.gpus), BATCHING_FIXED,
			NULL);
		if (!(fabs(before.work_est / speed / before.ran_s - 1) < 1e-9))
			fail_msg("round %zu: %s on %d: %g s, believed %g s", round,
				models[before.model], before.gpus, before.ran_s,
				before.work_est / speed);
		assert_true(elastic_start_s(&belief, &before) == before.overhead_s);
		outcome_fini(&out);
		scene_fini(&s);
	}
}

static void test_promises(void **state)
{
	struct rng rng = property("every deadline that is promised to a trained job is kept");
	uint32_t promised = 0;

	(void)state;
	for (size_t round = 0; round < rounds(30); round++) {
		struct outcome out;
		struct scene s;

		begin(&s, round % 2 ? "2x4:v100" : "1x8:v100,2x2:a100");
		for (int i = 0; i < 14; i++) {
			double at_s = 4000 * rng_uniform(&rng), work = 300 + 3000 * rng_uniform(&rng);
			struct job *job = add_job(&s, at_s, 1 << rng_below(&rng, 3), work,
				(uint32_t)rng_below(&rng, COUNT(models)));

			job->deadline_s = rng_below(&rng, 4)
				? at_s + (.5 + 2 * rng_uniform(&rng)) * work
				: INFINITY;
		}
		train(&s);
		s.config.policy = "elasticflow:slot_s=60";
		scene_run(&s, &out);
		for (uint32_t i = 0; i < out.njobs; i++) {
			const struct job *job = &out.jobs[i];

			assert_true(job->state == JOB_FINISHED || job->state == JOB_REJECTED);
			if (job->state == JOB_FINISHED && job->finish_s > job->deadline_s + 1e-6)
				fail_msg("round %zu: job %u was promised %g and ended at %g", round,
					i, job->deadline_s, job->finish_s);
			promised += job->state == JOB_FINISHED && isfinite(job->deadline_s);
		}
		outcome_fini(&out);
		scene_fini(&s);
	}
	assert_true(promised > rounds(100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run_times),
		cmocka_unit_test(test_promises),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
