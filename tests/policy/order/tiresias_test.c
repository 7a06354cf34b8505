/*
 * Tiresias: its micro tests at a moment, its options, and the ranking it keeps
 * against one that is sorted anew.
 *
 * The policy is compiled here once more with kit_in_order() replaced, so that
 * both share their keys and nothing else.
 */
#include "policy/kit.h"

static void sort_anew(const struct ordering *ordering, const void *self, const struct round *round,
	struct plan *plan)
{
	kit_anew(ordering, self, round, plan);
	kit_wake_at_jumps(ordering, self, round, plan);
}

#define kit_in_order(ranking, ordering, self, round, plan) sort_anew(ordering, self, round, plan)
#define policy_tiresias tiresias_anew
#include "policy/order/tiresias.c"
#undef policy_tiresias

#include "support/desk.h"
#include "support/diary.h"
#include "support/property.h"
#include "support/scene.h"

/* a. 4 GPUs, two queues, 3200 GPU-seconds in the first. */
static void the_first_queue_runs_and_the_gap_is_filled(void **state)
{
	struct desk desk;

	(void)state;
	desk_init(&desk, "1x4");
	desk_job(&desk, 0, 2, 1e6, 1000); /* A: 2000 GPU-seconds, first queue */
	desk_job(&desk, 0, 4, 1e6, 1000); /* B: 4000, second */
	desk_job(&desk, 0, 1, 1e6, 0);    /* C: never ran */
	desk_job(&desk, 0, 1, 1e6, 5000); /* D: 5000, second */
	desk_decide(&desk, "tiresias:queues=2,limit_s=3200", 7000);
	assert_string_equal(desk_who(&desk), "ACD");
	assert_int_equal(desk_reason(&desk, 1).why, WHY_BUSY);
	desk_fini(&desk);
}

static const struct {
	const char *what;
	double waited_s;
	const char *options;
	const char *want; /* B is new; A has run 100 s and been demoted */
} promotions[] = {
	{ "waiting 199 s is not twice 100", 199, "promote=2", "B" },
	{ "200 s are: it is back in the first queue, where it started first", 200, "promote=2", "A" },
	{ "nobody is promoted unless told", 1e6, "promote=0", "B" },
	{ "a larger knob makes it wait longer", 200, "promote=4", "B" },
	{ "and then it comes, too", 400, "promote=4", "A" },
};

static void promotion(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(promotions); i++) {
		char policy[64];
		struct desk desk;

		desk_init(&desk, "1x1");
		desk_job(&desk, 0, 1, 1e6, 100)->wait_since_s = 1000;
		desk_job(&desk, 0, 1, 1e6, 0);
		snprintf(policy, sizeof(policy), "tiresias:limit_s=100,%s", promotions[i].options);
		desk_decide(&desk, policy, 1000 + promotions[i].waited_s);
		if (strcmp(desk_who(&desk), promotions[i].want) != 0)
			fail_msg("%s: %s runs", promotions[i].what, desk_who(&desk));
		desk_fini(&desk);
	}
}

static const struct {
	const char *what;
	const char *options;
	double ran_s; /* of A, which waits; B runs since 90 with first start there */
	const char *want;
} orders[] = {
	{ "started first goes first, though the other runs", "order=started", 10, "A" },
	{ "who runs goes on", "order=running", 10, "B" },
	{ "who arrived first goes first", "order=arrival", 10, "A" },
	{ "a lower queue loses whatever the order", "order=arrival,limit_s=10", 10, "B" },
	{ "one just below the limit does not", "order=arrival,limit_s=10", 9.999, "A" },
	{ "what falls short of the limit by rounding alone has passed it",
		"order=arrival,limit_s=10", 10 - 1e-12, "B" },
};

static void order_inside_a_queue(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(orders); i++) {
		char policy[64];
		struct desk desk;

		desk_init(&desk, "1x1");
		desk_job(&desk, 0, 1, 1e6, orders[i].ran_s);
		desk_job(&desk, 0, 1, 1e6, 0);
		desk_run(&desk, 1, 90);
		snprintf(policy, sizeof(policy), "tiresias:%s", orders[i].options);
		desk_decide(&desk, policy, 95);
		if (strcmp(desk_who(&desk), orders[i].want) != 0)
			fail_msg("%s: %s runs", orders[i].what, desk_who(&desk));
		desk_fini(&desk);
	}
}

/* Of two jobs, the one with less service is never in a later queue, whatever its GPUs. */
static void less_service_is_never_a_later_queue(void **state)
{
	struct rng rng = property("queues follow service");

	(void)state;
	for (size_t i = 0; i < rounds(2000); i++) {
		struct tiresias t = { .queues = 4, .limit = { 10, 50, 100 } };
		struct memory memory[2] = { { 0 }, { 0 } };
		struct job jobs[2];
		struct round round = { .job_state = memory };

		for (uint32_t k = 0; k < 2; k++) {
			job_init(&jobs[k]);
			jobs[k].id = k;
			jobs[k].state = JOB_PENDING;
			jobs[k].gpus = 1 << rng_below(&rng, 4);
			jobs[k].ran_s = (double)rng_below(&rng, 30);
			jobs[k].served_s = jobs[k].ran_s * jobs[k].gpus;
			demote(&t, &round, &jobs[k]);
		}
		if (jobs[0].served_s <= jobs[1].served_s)
			assert_true(memory[0].queue <= memory[1].queue);
		else
			assert_true(memory[0].queue >= memory[1].queue);
	}
}

static const struct {
	const char *what, *options, *error;
} mistakes[] = {
	{ "limits must grow", "limits=10/5", "growing" },
	{ "and be numbers", "limits=10/x", "growing" },
	{ "above zero", "limits=0/5", "growing" },
	{ "a history must be there", "order=gittins,history=/nowhere/sizes.txt", "history" },
};

static void bad_options_are_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(mistakes); i++) {
		struct tiresias t = { 0 };
		struct err err = { 0 };

		option_defaults(options, &t);
		assert_int_equal(option_parse(options, &t, "tiresias", mistakes[i].options, &err), 0);
		if (tiresias_init(&t, &err) == 0 || !strstr(err.text, mistakes[i].error))
			fail_msg("%s: %s", mistakes[i].what, err.text);
		tiresias_fini(&t);
	}
}

static void limits_are_read(void **state)
{
	struct tiresias t = { 0 };
	struct err err = { 0 };

	(void)state;
	option_defaults(options, &t);
	assert_int_equal(option_parse(options, &t, "tiresias", "limits=3250/7200", &err), 0);
	assert_int_equal(tiresias_init(&t, &err), 0);
	assert_int_equal(t.queues, 3);
	assert_true(t.limit[0] == 3250 && t.limit[1] == 7200);
	option_defaults(options, &t);
	assert_int_equal(option_parse(options, &t, "tiresias", "queues=3,limit_s=10,ratio=3", &err), 0);
	assert_int_equal(tiresias_init(&t, &err), 0);
	assert_true(t.limit[0] == 10 && t.limit[1] == 30);
}

/* ---- kept in order or sorted anew */

static const char *const specs[] = {
	"limit_s=8",
	"limit_s=8,promote=1",
	"limit_s=5,queues=3,ratio=2,promote=0.5",
	"limit_s=8,order=running",
	"limit_s=8,order=running,promote=2",
	"limit_s=8,order=arrival",
	"limit_s=8,order=arrival,promote=1",
	"limits=3/9/20,misfit=block",
	"limits=3/9,promote=3,round_s=2",
};

static void run(struct scene *s, const struct policy *policy, const char *spec, struct diary *diary)
{
	struct observer observer = diary_observer(diary);
	struct tiresias t = { 0 };
	struct err err = { 0 };
	struct outcome out;

	option_defaults(options, &t);
	assert_int_equal(option_parse(options, &t, "tiresias", spec, &err), 0);
	assert_int_equal(tiresias_init(&t, &err), 0);
	s->config.observers = &observer;
	s->config.nobservers = 1;
	scene_run_policy(s, policy, &t, &out);
	outcome_fini(&out);
	tiresias_fini(&t);
}

extern const struct policy policy_tiresias; /* the registered one */

static void keeping_order_equals_sorting_anew(void **state)
{
	static const char *const clusters[] = { "1x1", "1x4", "2x4", "4x1" };
	const char *spec = *state;
	struct rng rng = property(spec);

	for (size_t i = 0; i < rounds(1000); i++) {
		struct diary kept = { 0 }, anew = { 0 };
		struct scene s;

		scene_init(&s, clusters[rng_below(&rng, COUNT(clusters))]);
		scene_draw(&s, &rng,
			(struct draw){ pick(&rng, 12), (uint32_t)rng_below(&rng, 20), 16, 4 });
		if (i % 3 == 0)
			s.config.costs = (struct costs){ .start_s = (double)rng_below(&rng, 3),
				.resume_s = pick(&rng, 4) };
		run(&s, &policy_tiresias, spec, &kept);
		run(&s, &tiresias_anew, spec, &anew);
		if (!diary_equal(&kept, &anew, s.trace.njobs)) {
			for (uint32_t k = 0; k < s.trace.njobs; k++)
				printf("  %u: at %g, gpus %d, work %g\n", k, s.trace.jobs[k].arrival_s,
					s.trace.jobs[k].gpus, s.trace.work[k]);
			printf("%s on %s, instance %zu, kept in order:\n", spec, s.cluster.spec, i);
			diary_print(&kept, s.trace.njobs);
			printf("sorted anew:\n");
			diary_print(&anew, s.trace.njobs);
			fail();
		}
		diary_fini(&kept);
		diary_fini(&anew);
		scene_fini(&s);
	}
}

/* With one queue nobody stops anybody: it is first in, first out that skips what does not fit. */
static void one_queue_is_fifo(void **state)
{
	struct rng rng = property("one queue against fifo");

	(void)state;
	for (size_t i = 0; i < rounds(300); i++) {
		static const char *const policies_[] = { "fifo:misfit=skip", "tiresias:queues=1" };
		struct diary diaries[2] = { 0 };
		struct scene s;

		scene_init(&s, "2x4");
		scene_draw(&s, &rng, (struct draw){ 12, 20, 16, 8 });
		for (int k = 0; k < 2; k++) {
			struct observer observer = diary_observer(&diaries[k]);
			struct outcome out;

			s.config.policy = policies_[k];
			s.config.observers = &observer;
			s.config.nobservers = 1;
			scene_run(&s, &out);
			outcome_fini(&out);
		}
		assert_true(diary_equal(&diaries[0], &diaries[1], s.trace.njobs));
		diary_fini(&diaries[0]);
		diary_fini(&diaries[1]);
		scene_fini(&s);
	}
}

int main(void)
{
	static const struct CMUnitTest fixed[] = {
		cmocka_unit_test(the_first_queue_runs_and_the_gap_is_filled),
		cmocka_unit_test(promotion),
		cmocka_unit_test(order_inside_a_queue),
		cmocka_unit_test(less_service_is_never_a_later_queue),
		cmocka_unit_test(bad_options_are_told),
		cmocka_unit_test(limits_are_read),
		cmocka_unit_test(one_queue_is_fifo),
	};
	struct CMUnitTest tests[COUNT(fixed) + COUNT(specs)];

	memcpy(tests, fixed, sizeof(fixed));
	for (size_t i = 0; i < COUNT(specs); i++)
		tests[COUNT(fixed) + i] = (struct CMUnitTest){
			.name = specs[i],
			.test_func = keeping_order_equals_sorting_anew,
			.initial_state = (void *)specs[i],
		};
	return _cmocka_run_group_tests("policy/order/tiresias", tests, COUNT(tests), NULL, NULL);
}
