/*
 * Policies that do not know how fast jobs are: what they believe, and what
 * they learn in a run.
 */
#include "sim/belief.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "support/property.h"
#include "support/scene.h"

enum { MODELS = 8 };

static double speed(uint32_t model, uint32_t type)
{
	return (1 + model) * (type ? 2 + model % 2 : 10);
}

/* Jobs of eight models that count steps, on two types. */
static void play(struct scene *s, uint32_t jobs)
{
	char name[16];

	scene_init(s, "2x4:fast,2x4:slow");
	for (uint32_t m = 0; m < MODELS; m++)
		names_add(&s->trace.models, name, (size_t)snprintf(name, sizeof(name), "thing %u", m));
	for (uint32_t i = 0; i < jobs; i++) {
		struct job *job = scene_job(s, 50.0 * i, 1, 4000);

		job->model = i % MODELS;
		job->by_steps = true;
	}
	s->profile = profile_create(&s->cluster, &s->trace.models);
	for (uint32_t m = 0; m < MODELS; m++) {
		profile_add(s->profile, m, 0, 1, 0, speed(m, 0));
		profile_add(s->profile, m, 1, 1, 0, speed(m, 1));
	}
	s->config.truth = s->profile;
	s->config.policy = "srtf";
	scene_ready(s);
}

static struct belief *believe(struct scene *s, const char *spec, uint64_t seed)
{
	struct belief_source source = { &s->cluster, &s->trace, s->profile, seed };
	struct err err = { 0 };
	struct belief *belief = NULL;

	if (belief_create(spec, &source, &belief, &err) < 0)
		fail_msg("%s", err.text);
	return belief;
}

static void run_with(struct scene *s, struct belief *belief, struct outcome *out)
{
	struct observer observer = belief_observer(belief);

	s->config.belief = belief_profile(belief);
	s->config.observers = &observer;
	s->config.nobservers = 1;
	scene_run(s, out);
	s->config.belief = NULL;
	s->config.observers = NULL;
	s->config.nobservers = 0;
}

static void a_run_teaches(void **state)
{
	struct scene s;
	struct outcome out;
	struct belief *belief;
	struct belief_error before, after;

	(void)state;
	play(&s, 100);
	belief = believe(&s, "known=0,after_s=1,again_s=0", 1);
	before = belief_error_before(belief);
	run_with(&s, belief, &out);
	after = belief_error_now(belief);
	assert_int_equal(before.alone.nestimated, MODELS);
	assert_true(before.alone.estimated > 0.05);
	assert_true(after.alone.all < before.alone.all / 2);
	assert_true(after.alone.nestimated < before.alone.nestimated);
	assert_true(belief_counts(belief).observations > 50);
	assert_int_equal(out.njobs, 100);
	for (uint32_t i = 0; i < out.njobs; i++)
		assert_int_equal(out.jobs[i].state, JOB_FINISHED);
	outcome_fini(&out);
	belief_destroy(belief);
	belief_destroy(NULL);
	scene_fini(&s);
}

static void who_shall_not_learn_does_not(void **state)
{
	struct scene s;
	struct outcome out;
	struct belief *belief;

	(void)state;
	play(&s, 40);
	belief = believe(&s, "known=0,online=0", 1);
	run_with(&s, belief, &out);
	assert_int_equal(belief_counts(belief).observations, 0);
	assert_true(belief_error_now(belief).alone.all == belief_error_before(belief).alone.all);
	outcome_fini(&out);
	belief_destroy(belief);
	scene_fini(&s);
}

static uint64_t hash_of(struct scene *s, const char *spec, uint64_t seed)
{
	struct belief *belief = believe(s, spec, seed);
	struct outcome out;
	uint64_t hash;

	run_with(s, belief, &out);
	hash = out.event_hash;
	outcome_fini(&out);
	belief_destroy(belief);
	return hash;
}

static void same_seed_same_run(void **state)
{
	struct outcome out;
	struct scene s;

	(void)state;
	play(&s, 60);
	assert_true(hash_of(&s, "known=0.3,method=match", 3) ==
		hash_of(&s, "known=0.3,method=match", 3));
	scene_run(&s, &out);
	/* Who knows everything behaves like the truth. */
	assert_true(hash_of(&s, "known=1", 3) == out.event_hash);
	outcome_fini(&out);
	scene_fini(&s);
}

/* As the command line asks for it: the run makes its own belief, and tells its errors. */
static void a_run_estimates_when_told(void **state)
{
	struct outcome known, told, again, all;
	struct scene s;

	(void)state;
	play(&s, 60);
	for (uint32_t i = 0; i < s.trace.njobs; i++)
		s.trace.jobs[i].arrival_s = 0; /* so that not everybody can have the best */
	s.config.policy = "gavel:objective=max-min";
	scene_run(&s, &known);
	assert_true(isnan(known.speed_error) && isnan(known.speed_error_before));
	s.config.estimate = "known=0.2,after_s=1,again_s=0";
	scene_run(&s, &told);
	scene_run(&s, &again);
	assert_true(told.event_hash != known.event_hash);
	assert_true(told.event_hash == again.event_hash);
	assert_true(told.speed_error_before > 0.05 && told.speed_error < told.speed_error_before);
	s.config.estimate = "known=1";
	scene_run(&s, &all);
	assert_true(all.event_hash == known.event_hash);
	assert_true(all.speed_error == 0 && all.speed_error_before == 0);
	outcome_fini(&known);
	outcome_fini(&told);
	outcome_fini(&again);
	outcome_fini(&all);
	scene_fini(&s);
}

static void help_has_every_option(void **state)
{
	struct buf text = { 0 };

	(void)state;
	belief_help(&text);
	for (const struct option *o = belief_options; o->name; o++)
		assert_non_null(strstr(text.at, o->name));
	assert_non_null(strstr(text.at, "als|match|sgd|two-way|catalogue"));
	buf_fini(&text);
}

static void every_method_answers(void **state)
{
	static const char *const methods[] = { "als", "match", "sgd", "two-way" };
	struct scene s;

	(void)state;
	play(&s, 1);
	for (size_t i = 0; i < COUNT(methods); i++) {
		for (int known = 0; known <= 10; known += 5) {
			char spec[64];
			struct belief *belief;
			struct estimate_error error;

			snprintf(spec, sizeof(spec), "method=%s,known=%g", methods[i], known / 10.0);
			belief = believe(&s, spec, 5);
			error = belief_error_before(belief).alone;
			assert_int_equal(error.nunknown, 0);
			assert_int_equal(error.nall, 2 * MODELS);
			assert_true(error.all >= 0 && error.all < 3);
			belief_destroy(belief);
		}
	}
	scene_fini(&s);
}

static void the_catalogue_is_silent_about_what_it_does_not_know(void **state)
{
	struct belief *belief;
	struct scene s;

	(void)state;
	play(&s, 1);
	belief = believe(&s, "method=catalogue,known=0", 5);
	assert_int_equal(belief_error_before(belief).alone.nunknown, MODELS);
	belief_destroy(belief);
	scene_fini(&s);
}

/* What jobs of the trace ask about is estimated even if nobody measured it. */
static void the_trace_is_asked_too(void **state)
{
	struct belief *belief;
	struct scene s;

	(void)state;
	scene_init(&s, "2x4:v100,2x4:k80");
	for (int i = 0; i < 6; i++) {
		struct job *job = scene_job(&s, i, 1 << i % 3, 100);

		job->model = i == 0
			? NAME_NONE
			: names_add(&s.trace.models, i % 2 ? "resnet50" : "vgg16", i % 2 ? 8 : 5);
		job->by_steps = true;
	}
	s.profile = profile_create(&s.cluster, &s.trace.models);
	scene_ready(&s);
	belief = believe(&s, "known=0.5", 1);
	/* resnet50 with 2, 1 and 4 devices, vgg16 with 4 and 2, on two types */
	assert_int_equal(belief_error_before(belief).alone.nall, 10);
	assert_int_equal(belief_error_before(belief).alone.nasked, 10);
	assert_int_equal(belief_error_before(belief).beside.nall, 0);
	belief_destroy(belief);
	scene_fini(&s);
}

static void options_are_checked_and_spelt(void **state)
{
	struct err err = { 0 };
	char *text = NULL;

	(void)state;
	assert_int_equal(belief_spell("metod=als", &text, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "method"));
	assert_null(text);
	assert_int_equal(belief_spell("known=2", &text, &err), ERR_USAGE);
	assert_int_equal(belief_spell("types=1,method=match", &text, &err), 0);
	assert_non_null(strstr(text, "known=0.5"));
	assert_non_null(strstr(text, "method=match"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_teaches),
		cmocka_unit_test(who_shall_not_learn_does_not),
		cmocka_unit_test(same_seed_same_run),
		cmocka_unit_test(a_run_estimates_when_told),
		cmocka_unit_test(help_has_every_option),
		cmocka_unit_test(every_method_answers),
		cmocka_unit_test(the_catalogue_is_silent_about_what_it_does_not_know),
		cmocka_unit_test(the_trace_is_asked_too),
		cmocka_unit_test(options_are_checked_and_spelt),
	};

	return cmocka_run_group_tests_name("sim/belief", tests, NULL, NULL);
}
