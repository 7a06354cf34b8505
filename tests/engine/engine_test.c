/*
 * The loop: contracts with drivers, when decisions are made, and when it ends.
 */
#include "engine/engine.h"

#include <math.h>
#include <string.h>

#include "policy/kit.h"
#include "support/diary.h"
#include "support/property.h"
#include "support/scene.h"
#include "support/script.h"

/* ---- policies that do little */

static int run_all(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	(void)self;
	(void)err;
	for (uint32_t i = 0; i < round->nactive; i++) {
		if (job_active(&round->jobs[round->active[i]]))
			kit_run(round, plan, &round->jobs[round->active[i]]);
	}
	return 0;
}

static const struct policy greedy = { .name = "greedy", .decide = run_all };

static int run_none(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	(void)self;
	(void)round;
	(void)plan;
	(void)err;
	return 0;
}

static const struct policy idle = { .name = "idle", .decide = run_none };

static int wake_only(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	(void)self;
	(void)err;
	plan_wake(plan, round->now_s + 1);
	return 0;
}

static const struct policy sleepless = { .name = "sleepless", .decide = wake_only };

static int run_and_wake_at_once(void *self, const struct round *round, struct plan *plan,
	struct err *err)
{
	plan_wake(plan, round->now_s);
	return run_all(self, round, plan, err);
}

static const struct policy hasty = { .name = "hasty", .decide = run_and_wake_at_once };

/* ---- drivers that break their contract */

static void going_back_in_time(void **state)
{
	struct job a = script_job("a", 1);
	const struct event events[] = {
		{ .kind = EV_SUBMIT, .at_s = 10, .job_spec = &a },
		{ .kind = EV_SUBMIT, .at_s = 5, .job_spec = &a },
	};
	struct script script = { .events = events, .n = 2 };
	struct outcome out;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(script_run(&script, "1x1", &greedy, &out, &err), ERR_BROKEN);
	assert_non_null(strstr(err.text, "driver script went back in time from 10 to 5"));
	vec_fini(&script.deeds);
}

static void telling_what_is_not_its_to_tell(void **state)
{
	static const enum event_kind kinds[] = { EV_START, EV_PREEMPT, EV_REJECT, EV_WAIT, EV_ADMIT };

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		const struct event event = { .kind = kinds[i], .at_s = 1 };
		struct script script = { .events = &event, .n = 1 };
		struct outcome out;
		struct err err = { 0 };

		assert_int_equal(script_run(&script, "1x1", &greedy, &out, &err), ERR_BROKEN);
		assert_non_null(strstr(err.text, "driver script"));
		assert_non_null(strstr(err.text, event_name(kinds[i])));
	}
}

static void failing_to_wait(void **state)
{
	const struct event event = { .kind = EV_NODE_UP, .at_s = 1 };
	struct script script = { .events = &event, .n = 1, .wait_fails = true };
	struct outcome out = { .njobs = 77 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(script_run(&script, "1x1", &greedy, &out, &err), ERR_IO);
	assert_string_equal(err.text, "the line is dead");
	assert_int_equal(out.njobs, 77); /* written on success only */
}

static void failing_to_start_names_the_job(void **state)
{
	struct job a = script_job("job-7", 1);
	const struct event event = { .kind = EV_SUBMIT, .at_s = 1, .job_spec = &a };
	struct script script = { .events = &event, .n = 1, .failing = true, .fails = ACT_START };
	struct outcome out;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(script_run(&script, "1x1", &greedy, &out, &err), ERR_IO);
	assert_string_equal(err.text, "job job-7: it does not answer");
	vec_fini(&script.deeds);
}

static void failing_to_say_what_is_lost_names_the_job(void **state)
{
	struct job a = script_job("job-7", 1);
	const struct event events[] = {
		{ .kind = EV_SUBMIT, .at_s = 1, .job_spec = &a },
		{ .kind = EV_NODE_DOWN, .at_s = 2, .node = 0 },
	};
	struct script script = { .events = events, .n = 2, .lost_fails = true };
	struct outcome out;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(script_run(&script, "1x1", &greedy, &out, &err), ERR_IO);
	assert_string_equal(err.text, "job job-7: nobody knows what is left");
	vec_fini(&script.deeds);
}

/* ---- the end */

static void nothing_to_do_ends_at_once(void **state)
{
	struct script script = { 0 };
	struct outcome out;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(script_run(&script, "1x1", &greedy, &out, &err), 0);
	assert_int_equal(out.njobs, 0);
	assert_int_equal(out.decisions, 0);
	assert_int_equal(out.events, 0);
	assert_int_equal(out.nsamples, 0);
	outcome_fini(&out);
	outcome_fini(&out);
}

static void a_policy_that_never_runs_anything_ends(void **state)
{
	static const struct policy *const lazy[] = { &idle, &sleepless };

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(lazy); i++) {
		struct scene s;
		struct outcome out;

		scene_init(&s, "1x1");
		scene_job(&s, 5, 1, 10);
		if (i % 2) /* though nodes fail and come back for ever */
			s.config.failures = (struct failures){ .mtbf_s = 10, .repair_s = 1 };
		scene_run_policy(&s, lazy[i / 2], NULL, &out);
		assert_int_equal(out.njobs, 1);
		assert_int_equal(out.jobs[0].state, JOB_UNFINISHED);
		assert_int_equal(out.jobs[0].reason.why, WHY_NEW);
		assert_true(isnan(out.jobs[0].start_s));
		outcome_fini(&out);
		scene_fini(&s);
	}
}

static void jobs_that_wait_for_each_other_end_though_nodes_fail_for_ever(void **state)
{
	struct scene s;
	struct outcome out;

	(void)state;
	scene_init(&s, "2x1");
	scene_job(&s, 0, 1, 10);
	scene_job(&s, 0, 1, 10);
	scene_job(&s, 0, 1, 10);
	trace_add_dep(&s.trace, 0, 1);
	trace_add_dep(&s.trace, 1, 0);
	s.config.policy = "fifo";
	s.config.failures.mtbf_s = 1000;
	s.config.failures.repair_s = 1;
	scene_run(&s, &out);
	assert_int_equal(out.jobs[0].state, JOB_UNFINISHED);
	assert_int_equal(out.jobs[0].reason.why, WHY_DEPENDENCY);
	assert_int_equal(out.jobs[1].state, JOB_UNFINISHED);
	assert_int_equal(out.jobs[2].state, JOB_FINISHED);
	outcome_fini(&out);
	scene_fini(&s);
}

static void cut_off_it_tells_how_far_it_came(void **state)
{
	struct scene s;
	struct outcome out;

	(void)state;
	scene_init(&s, "1x2");
	scene_job(&s, 0, 2, 100);
	scene_job(&s, 10, 1, 100);
	scene_job(&s, 500, 1, 1); /* after the end */
	s.config.policy = "fifo";
	s.config.until_s = 40;
	scene_run(&s, &out);
	assert_int_equal(out.njobs, 2);
	assert_int_equal(out.jobs[0].state, JOB_UNFINISHED);
	assert_true(out.jobs[0].done == 40 && out.jobs[0].ran_s == 40 && out.jobs[0].served_s == 80);
	assert_null(out.jobs[0].grant);
	assert_true(out.jobs[1].waited_s == 30);
	assert_true(out.useful_gpu_s == 80);
	outcome_fini(&out);
	scene_fini(&s);
}

/* ---- when decisions are made */

struct row {
	const char *what, *policy;
	double at_s[4];
	double work[4];
	uint64_t at_least, at_most;
};

static const struct row decisions[] = {
	{ "all that happens at one instant is one decision", "fifo", { 0, 0, 0, 0 }, { 5, 5, 5, 5 },
		1, 2 },
	{ "one at each arrival and at each end", "fifo", { 0, 1, 2, 3 }, { 10, 20, 30, 40 }, 7, 8 },
	{ "nobody waits: rounds pass without one", "las:round_s=1", { 0, 0, 0, 0 },
		{ 1e6, 1e6, 1e6, 1e6 }, 1, 4 },
	{ "nor with sorting anew", "gittins:round_s=1", { 0, 0, 0, 0 }, { 1e6, 1e6, 1e6, 1e6 }, 1, 4 },
	{ "nor with queues", "tiresias:limit_s=10,round_s=1", { 0, 0, 0, 0 },
		{ 1e6, 1e6, 1e6, 1e6 }, 1, 8 },
	{ "long gaps between arrivals cost nothing", "e-las:round_s=1", { 0, 1e5, 2e5, 3e5 },
		{ 10, 10, 10, 10 }, 4, 12 },
};

static void rounds_in_which_nothing_can_change_are_skipped(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(decisions); i++) {
		const struct row *row = &decisions[i];
		struct scene s;
		struct outcome out;

		scene_init(&s, "1x4");
		for (int k = 0; k < 4; k++)
			scene_job(&s, row->at_s[k], 1, row->work[k]);
		s.config.policy = row->policy;
		scene_run(&s, &out);
		if (out.decisions < row->at_least || out.decisions > row->at_most)
			fail_msg("%s: %llu decisions", row->what, (unsigned long long)out.decisions);
		outcome_fini(&out);
		scene_fini(&s);
	}
}

/* Least attained service with one long job ahead: it decides when their service is equal, not every second. */
static void las_sleeps_until_keys_cross(void **state)
{
	struct scene s;
	struct outcome out;

	(void)state;
	scene_init(&s, "1x1");
	scene_job(&s, 0, 1, 2e6);
	scene_job(&s, 1e6, 1, 2e6);
	s.config.policy = "las:round_s=1";
	s.config.until_s = 1.9e6;
	scene_run(&s, &out);
	assert_true(out.decisions < 10);
	assert_true(out.jobs[1].start_s == 1e6);
	outcome_fini(&out);
	scene_fini(&s);
}

static const struct {
	const char *what, *policy;
	double arrival_s, want_s;
} periods[] = {
	{ "between two rounds: the next one", "srtf:round_s=5", 7, 10 },
	{ "exactly at one: at once", "srtf:round_s=5", 10, 10 },
	{ "at zero", "srtf:round_s=5", 0, 0 },
	{ "rounds of a tenth", "srtf:round_s=0.1", 0.25, 3 * 0.1 },
	{ "no rounds", "srtf", 7, 7 },
};

static void decisions_come_at_multiples_of_the_period(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(periods); i++) {
		struct scene s;
		struct outcome out;

		scene_init(&s, "1x1");
		scene_job(&s, periods[i].arrival_s, 1, 1);
		s.config.policy = periods[i].policy;
		scene_run(&s, &out);
		if (out.jobs[0].start_s != periods[i].want_s)
			fail_msg("%s: %.17g", periods[i].what, out.jobs[0].start_s);
		outcome_fini(&out);
		scene_fini(&s);
	}
}

/* Whatever the period and however unround it is, no round comes twice and none is lost. */
static void odd_periods_go_on(void **state)
{
	struct rng rng = property("periods that are no round numbers");

	(void)state;
	for (size_t i = 0; i < rounds(300); i++) {
		char policy[64];
		struct scene s;
		struct outcome out;

		snprintf(policy, sizeof(policy), "las:round_s=%.17g,between=%s",
			0.001 + rng_uniform(&rng), i % 2 ? "fill" : "wait");
		scene_init(&s, "1x1");
		scene_job(&s, 0, 1, 20);
		scene_job(&s, 0, 1, 20);
		s.config.policy = policy;
		scene_run(&s, &out);
		assert_int_equal(out.jobs[0].state, JOB_FINISHED);
		assert_int_equal(out.jobs[1].state, JOB_FINISHED);
		assert_true(out.to_s < 44);
		outcome_fini(&out);
		scene_fini(&s);
	}
}

/* A job that comes at a multiple of the period or right beside it starts at a multiple, and soon. */
static void near_a_round(void **state)
{
	struct rng rng = property("arrivals at and beside rounds");

	(void)state;
	for (size_t i = 0; i < rounds(2000); i++) {
		double period_s = pick(&rng, 3000) / 1000.0, n = (double)rng_below(&rng, 10000);
		double at_s = fmax(0, n * period_s * (1 + ((double)rng_below(&rng, 5) - 2) * 1e-16));
		char policy[64];
		struct scene s;
		struct outcome out;

		snprintf(policy, sizeof(policy), "las:between=wait,round_s=%.17g", period_s);
		scene_init(&s, "1x1");
		scene_job(&s, at_s, 1, 1);
		s.config.policy = policy;
		scene_run(&s, &out);
		assert_true(out.jobs[0].start_s >= at_s);
		assert_true(out.jobs[0].start_s < at_s + period_s * (1 + 1e-6));
		if (at_s == n * period_s)
			assert_true(out.jobs[0].start_s == at_s);
		outcome_fini(&out);
		scene_fini(&s);
	}
}

static void waking_at_once_lets_time_go_on(void **state)
{
	struct scene s;
	struct outcome out;

	(void)state;
	scene_init(&s, "1x1");
	scene_job(&s, 0, 1, 0.001);
	scene_run_policy(&s, &hasty, NULL, &out);
	assert_int_equal(out.jobs[0].state, JOB_FINISHED);
	assert_in_range(out.decisions, 900, 1100); /* every microsecond */
	assert_true(out.decision_cpu_s >= 0 && out.cpu_s >= 0);
	outcome_fini(&out);
	scene_fini(&s);
}

/* ---- progress */

struct meter {
	uint32_t calls, ended;
	double now_s;
	bool stop;
};

static bool report(void *ctx, uint32_t ended, double now_s)
{
	struct meter *m = ctx;

	assert_true(ended >= m->ended && now_s >= m->now_s);
	m->calls++;
	m->ended = ended;
	m->now_s = now_s;
	return !m->stop;
}

static void progress_is_told_and_can_stop_the_run(void **state)
{
	(void)state;
	for (int stop = 0; stop < 2; stop++) {
		struct meter meter = { .stop = stop };
		struct outcome out = { 0 };
		struct err err = { 0 };
		struct scene s;

		scene_init(&s, "1x1");
		for (int i = 0; i < 10000; i++)
			scene_job(&s, i, 1, 1);
		s.config.policy = "fifo";
		s.config.progress = report;
		s.config.progress_ctx = &meter;
		if (stop) {
			assert_int_equal(scene_try(&s, &out, &err), ERR_REFUSED);
			assert_int_equal(meter.calls, 1);
		} else {
			assert_int_equal(scene_try(&s, &out, &err), 0);
			assert_true(meter.calls >= 2 && meter.ended > 4000);
			outcome_fini(&out);
		}
		scene_fini(&s);
	}
}

/* ---- waiting is accounted for */

static void waiting_adds_up_by_reason(void **state)
{
	struct rng rng = property("waiting by reason against waiting by job");

	(void)state;
	for (size_t i = 0; i < rounds(200); i++) {
		double by_why = 0, by_job = 0;
		struct scene s;
		struct outcome out;

		scene_init(&s, "2x2");
		scene_draw(&s, &rng, (struct draw){ 12, 20, 20, 4 });
		s.config.policy = i % 2 ? "srtf" : "fifo";
		s.config.admit = i % 3 ? "all" : "load";
		scene_run(&s, &out);
		for (int why = 0; why < WHY_COUNT; why++)
			by_why += out.waited_by_why_s[why];
		for (uint32_t k = 0; k < out.njobs; k++)
			by_job += out.jobs[k].waited_s;
		assert_true(fabs(by_why - out.waited_by_why_s[WHY_NONE] - by_job) < 1e-6);
		outcome_fini(&out);
		scene_fini(&s);
	}
}

/* Two runs of one configuration are equal; another seed is not, where chance has a say. */
static void the_seed_decides(void **state)
{
	uint64_t hash[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct rng rng;
		struct scene s;
		struct outcome out;

		rng_init(&rng, 9, RNG_TEST);
		scene_init(&s, "4x4");
		scene_draw(&s, &rng, (struct draw){ 12, 20, 20, 4 });
		s.config.policy = "fifo";
		s.config.placer = "random";
		s.config.seed = i == 2 ? 4 : 3;
		scene_run(&s, &out);
		hash[i] = out.event_hash;
		outcome_fini(&out);
		scene_fini(&s);
	}
	assert_true(hash[0] == hash[1]);
	assert_true(hash[0] != hash[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(going_back_in_time),
		cmocka_unit_test(telling_what_is_not_its_to_tell),
		cmocka_unit_test(failing_to_wait),
		cmocka_unit_test(failing_to_start_names_the_job),
		cmocka_unit_test(failing_to_say_what_is_lost_names_the_job),
		cmocka_unit_test(nothing_to_do_ends_at_once),
		cmocka_unit_test(a_policy_that_never_runs_anything_ends),
		cmocka_unit_test(jobs_that_wait_for_each_other_end_though_nodes_fail_for_ever),
		cmocka_unit_test(cut_off_it_tells_how_far_it_came),
		cmocka_unit_test(rounds_in_which_nothing_can_change_are_skipped),
		cmocka_unit_test(las_sleeps_until_keys_cross),
		cmocka_unit_test(decisions_come_at_multiples_of_the_period),
		cmocka_unit_test(odd_periods_go_on),
		cmocka_unit_test(near_a_round),
		cmocka_unit_test(waking_at_once_lets_time_go_on),
		cmocka_unit_test(progress_is_told_and_can_stop_the_run),
		cmocka_unit_test(waiting_adds_up_by_reason),
		cmocka_unit_test(the_seed_decides),
	};

	return cmocka_run_group_tests_name("engine/engine", tests, NULL, NULL);
}
