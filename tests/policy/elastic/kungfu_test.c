/*
 * KungFu on measured jobs: how they are resized, how often, and what for.
 */
#include <math.h>
#include <string.h>

#include "model/training.h"
#include "support/property.h"
#include "support/scene.h"

enum { JOBS_MAX = 24 };

static const char *const models[] = { "resnet50", "bert", "transformer" };

/* Jobs of models in the catalogue, elastic around what they ask for. */
static void stage(struct scene *s, struct rng *rng, const char *cluster, uint32_t jobs)
{
	struct training_bound bound;

	scene_init(s, cluster);
	for (uint32_t i = 0; i < jobs; i++) {
		const char *model = models[rng_below(rng, COUNT(models))];
		int gpus = (int)pick(rng, 4);
		struct job *job = scene_job(s, (double)rng_below(rng, 2000), gpus,
			600 + (double)rng_below(rng, 6000));

		job->model = names_add(&s->trace.models, model, strlen(model));
		job->batch = 0;
		job->min_gpus = (int32_t)pick(rng, (uint32_t)gpus);
		job->max_gpus = gpus + (int32_t)rng_below(rng, 12);
	}
	scene_ready(s);
	s->training = training_create(&s->cluster, &s->trace.models);
	training_synthesise(s->training);
	training_bind(s->training, NULL, &s->trace, &bound);
	training_bound_fini(&bound);
	s->config.training = s->training;
}

struct watch {
	double round_s, changed_s[JOBS_MAX];
	uint32_t gpus[JOBS_MAX];
	uint32_t resizes, batches;
};

static void see(void *self, const struct event *event, const struct job *job)
{
	struct watch *w = self;
	uint32_t gpus, had;

	if (event->kind != EV_START && event->kind != EV_RESIZE && event->kind != EV_RENEW)
		return;
	gpus = event->grant->gpus;
	had = w->gpus[event->job];
	assert_in_range(gpus, (uint32_t)job->min_gpus, (uint32_t)job->max_gpus);
	w->batches += event->kind == EV_RENEW;
	if (event->kind == EV_RESIZE) {
		assert_in_range(gpus, (had + 1) / 2, 2 * had);
		assert_true(event->at_s >= w->changed_s[event->job] + w->round_s);
		w->resizes++;
	}
	w->gpus[event->job] = gpus;
	w->changed_s[event->job] = event->at_s;
}

static void run_watched(struct scene *s, const char *policy, struct watch *w, struct outcome *out)
{
	struct observer observer = { .self = w, .see = see };

	s->config.policy = policy;
	s->config.observers = &observer;
	s->config.nobservers = 1;
	scene_run(s, out);
	for (uint32_t i = 0; i < out->njobs; i++)
		assert_int_equal(out->jobs[i].state, JOB_FINISHED);
}

static void test_resizes(void **state)
{
	struct rng rng = property("kungfu: within limits, by two at most, once a period");
	uint32_t resizes = 0;

	(void)state;
	for (size_t i = 0; i < rounds(20); i++) {
		struct watch w = { .round_s = 60 };
		struct outcome out;
		struct scene s;

		stage(&s, &rng, rng_below(&rng, 2) ? "3x4:v100" : "2x4:v100,2x8:t4",
			pick(&rng, JOBS_MAX));
		run_watched(&s, "kungfu", &w, &out);
		resizes += w.resizes;
		outcome_fini(&out);
		scene_fini(&s);
	}
	assert_true(resizes > 0);
}

static void test_batches(void **state)
{
	struct rng rng = property(
		"kungfu adapt=batch: sizes stay, batches are such as workers can share");
	uint32_t batches = 0;

	(void)state;
	for (size_t i = 0; i < rounds(20); i++) {
		struct watch w = { .round_s = 60 };
		struct outcome out;
		struct scene s;

		stage(&s, &rng, "3x4:v100", pick(&rng, JOBS_MAX));
		run_watched(&s, "kungfu:adapt=batch", &w, &out);
		assert_int_equal(w.resizes, 0);
		batches += w.batches;
		outcome_fini(&out);
		scene_fini(&s);
	}
	assert_true(batches > 0);
}

/* Seconds that devices were held without steps, in all. */
static double overhead_s(const char *policy, double resize_s, uint32_t *resizes)
{
	struct rng rng;
	struct watch w = { .round_s = 60 };
	struct outcome out;
	struct scene s;
	double sum = 0;

	rng_init(&rng, 7, 0);
	*resizes = 0;
	stage(&s, &rng, "4x4:v100", 6);
	s.config.costs.resize_s = resize_s;
	run_watched(&s, policy, &w, &out);
	for (uint32_t i = 0; i < out.njobs; i++) {
		sum += out.jobs[i].overhead_s;
		*resizes += out.jobs[i].resizes;
	}
	outcome_fini(&out);
	scene_fini(&s);
	return sum;
}

/* No checkpoint is written: a change of size costs what the policy says, unless it was set by hand. */
static void test_resize_cost(void **state)
{
	uint32_t resizes, none;
	double with_s = overhead_s("kungfu:resize_s=2", NAN, &resizes);
	double without_s = overhead_s("kungfu:resize_s=0", NAN, &none);

	(void)state;
	assert_true(resizes > 0);
	assert_true(with_s > without_s);
	assert_true(with_s - without_s <= 2.0 * resizes + 1e-6);
	without_s = overhead_s("kungfu:resize_s=2", 0, &none);
	assert_true(with_s > without_s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resizes),
		cmocka_unit_test(test_batches),
		cmocka_unit_test(test_resize_cost),
	};

	return cmocka_run_group_tests_name("policy/elastic/kungfu", tests, NULL, NULL);
}
