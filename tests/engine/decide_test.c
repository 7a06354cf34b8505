/*
 * One decision: what policies must not do, and how a plan is carried out.
 */
#include <math.h>
#include <string.h>

#include "policy/kit.h"
#include "support/diary.h"
#include "support/property.h"
#include "support/referee.h"
#include "support/scene.h"
#include "support/script.h"

/* ---- policies that break their contract */

static int too_many(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	(void)self;
	(void)err;
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job_active(job))
			plan_run(plan, job,
				(struct want){ .gpus = (uint32_t)job->max_gpus + 1, .type = TYPE_ANY });
	}
	return 0;
}

static int too_few(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	(void)self;
	(void)err;
	plan_run(plan, &round->jobs[0], (struct want){ .gpus = 1, .type = TYPE_ANY });
	return 0;
}

/* Runs everybody who ever came. */
static int the_dead(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	(void)self;
	(void)err;
	for (uint32_t i = 0; i < round->njobs; i++)
		plan_run(plan, &round->jobs[i], (struct want){ .type = TYPE_ANY });
	return 0;
}

static int refuse(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	(void)self;
	(void)round;
	(void)plan;
	return err_set(err, ERR_REFUSED, "not today");
}

static const struct {
	const char *what;
	struct policy policy;
	int code;
	const char *text;
} offenders[] = {
	{ "more than a job takes", { .name = "too-many", .decide = too_many }, ERR_BROKEN,
		"policy too-many gives job 0 3 devices; it takes 2 to 2" },
	{ "less than a job takes", { .name = "too-few", .decide = too_few }, ERR_BROKEN,
		"policy too-few gives job 0 1 devices; it takes 2 to 2" },
	{ "a job that has finished", { .name = "the-dead", .decide = the_dead }, ERR_BROKEN,
		"policy the-dead wants to run job 0, which is finished" },
	{ "a policy that fails", { .name = "moody", .decide = refuse }, ERR_REFUSED,
		"policy moody: not today" },
};

static void the_policy_that_erred_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(offenders); i++) {
		struct outcome out;
		struct err err = { 0 };
		struct scene s;

		scene_init(&s, "1x4");
		scene_job(&s, 0, 2, 10);
		if (scene_try_policy(&s, &offenders[i].policy, NULL, &out, &err) != offenders[i].code ||
			strcmp(err.text, offenders[i].text) != 0)
			fail_msg("%s: %s", offenders[i].what, err.text);
		scene_fini(&s);
	}
}

static void a_job_that_is_held_cannot_run(void **state)
{
	static const struct policy policy = { .name = "eager", .decide = the_dead };
	struct outcome out;
	struct err err = { 0 };
	struct scene s;

	(void)state;
	scene_init(&s, "1x4");
	scene_job(&s, 0, 2, 10);
	scene_job(&s, 0, 2, 10);
	trace_add_dep(&s.trace, 1, 0);
	assert_int_equal(scene_try_policy(&s, &policy, NULL, &out, &err), ERR_BROKEN);
	assert_string_equal(err.text, "policy eager wants to run job 1, which is held");
	scene_fini(&s);
}

/* ---- placers that break theirs */

/* What a lying placer answers to the second job, when node 0 has one device left and node 2 none of that type. */
struct lie {
	const char *what;
	struct slot slots[2];
	uint32_t n;
};

static const struct lie *told;

static bool lie_choose(void *self, const struct placing *p, struct slots *out)
{
	(void)self;
	if (p->job->id == 0)
		return place_first_fit(p, p->gpus, out) == p->gpus;
	/* Honest as long as nobody runs: whether it could ever run is asked of an empty cluster. */
	if (p->space->nodes[0].nfree == 2)
		return place_first_fit(p, p->gpus, out) == p->gpus;
	for (uint32_t i = 0; i < told->n; i++)
		slots_add(out, told->slots[i].node, told->slots[i].devices);
	return true;
}

static const struct placer liar = { .name = "liar", .choose = lie_choose };

static const struct lie lies[] = {
	{ "devices that are held", { { 0, 1 }, { 1, 1 } }, 2 },
	{ "too few", { { 1, 1 } }, 1 },
	{ "too many", { { 0, 2 }, { 1, 3 } }, 2 },
	{ "a node twice", { { 1, 1 }, { 1, 2 } }, 2 },
	{ "the same device twice", { { 1, 1 }, { 1, 1 } }, 2 },
	{ "another type", { { 2, 3 } }, 1 },
	{ "nothing at all", { { 0, 0 } }, 0 },
};

static void the_placer_that_erred_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(lies); i++) {
		static const struct policy policy = { .name = "all", .decide = the_dead };
		struct outcome out;
		struct err err = { 0 };
		struct scene s;

		scene_init(&s, "2x2:v100,1x2:p100");
		s.placer = &liar;
		scene_job(&s, 0, 1, 10);
		scene_job(&s, 1, 2, 10);
		told = &lies[i];
		if (scene_try_policy(&s, &policy, NULL, &out, &err) != ERR_BROKEN ||
			!strstr(err.text, "placer liar"))
			fail_msg("%s: %s", lies[i].what, err.text);
		scene_fini(&s);
	}
}

/* ---- carrying out */

/* What a plan says for each job at a moment: how many devices, and which choice of them; a new choice means new devices. */
struct wish {
	double at_s;
	uint32_t gpus[3], choice[3];
	bool backwards; /* the last job chooses first */
};

struct director {
	const struct wish *wishes;
	size_t n, next;
};

static int direct(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct director *d = self;
	const struct wish *wish;

	(void)err;
	while (d->next < d->n && d->wishes[d->next].at_s <= round->now_s)
		d->next++;
	if (d->next < d->n)
		plan_wake(plan, d->wishes[d->next].at_s);
	wish = &d->wishes[d->next - 1];
	if (wish->at_s != round->now_s)
		return 0;
	plan_clear(plan, round->jobs, round->active, round->nactive);
	for (uint32_t k = 0; k < 3; k++) {
		uint32_t i = wish->backwards ? 2 - k : k;
		struct want want = {
			.gpus = wish->gpus[i],
			.move = d->next > 1 && wish[-1].choice[i] != wish->choice[i],
			.type = TYPE_ANY,
		};

		if (i < round->njobs && job_active(&round->jobs[i]) && want.gpus > 0)
			assert_true(plan_run(plan, &round->jobs[i], want));
	}
	return 0;
}

static const struct policy director_policy = { .name = "director", .decide = direct };

/* Runs three elastic jobs (1 to 4 devices, 100 s with 2) as directed; the referee watches. */
static void play(struct scene *s, const struct wish *wishes, size_t n, struct diary *diary,
	struct outcome *out)
{
	struct director d = { .wishes = wishes, .n = n };
	struct referee referee;
	struct observer observers[2];

	for (int i = 0; i < 3; i++) {
		struct job *job = scene_job(s, 0, 2, 100);

		job->min_gpus = 1;
		job->max_gpus = 4;
	}
	scene_ready(s);
	referee_init(&referee, &s->cluster, &s->trace);
	observers[0] = referee_observer(&referee);
	observers[1] = diary_observer(diary);
	s->config.observers = observers;
	s->config.nobservers = 2;
	scene_run_policy(s, &director_policy, &d, out);
	if (referee.breach[0])
		fail_msg("%s", referee.breach);
	referee_fini(&referee);
}

static void moving_costs_what_resuming_costs(void **state)
{
	/* At 10 the first leaves node 0 to the second, which starts there. */
	static const struct wish wishes[] = {
		{ 0, { 2, 0, 0 }, { 0 }, false },
		{ 10, { 2, 2, 0 }, { 0 }, true },
	};
	struct diary diary = { 0 };
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "2x2");
	s.config.costs = (struct costs){ .start_s = 5, .resume_s = 7, .resize_s = 3 };
	play(&s, wishes, COUNT(wishes), &diary, &out);
	assert_int_equal(out.jobs[0].migrations, 1);
	assert_true(out.jobs[0].overhead_s == 5 + 7);
	assert_true(out.jobs[0].finish_s == 112);
	assert_int_equal(out.jobs[0].preemptions, 0);
	assert_true(out.jobs[1].start_s == 10 && out.jobs[1].finish_s == 115);
	assert_int_equal(diary.count[EV_MIGRATE], 1);
	assert_true(diary_visited(&diary, 0, 1));
	assert_false(diary_visited(&diary, 1, 1));
	diary_fini(&diary);
	outcome_fini(&out);
	scene_fini(&s);
}

static void resizing_changes_speed_and_costs_its_own(void **state)
{
	/* 2 devices for 10 s: 10 done.  Then 4: twice as fast after 3 s.  Then 1 from 33: half as fast. */
	static const struct wish wishes[] = {
		{ 0, { 2, 0, 0 }, { 0 }, false },
		{ 10, { 4, 0, 0 }, { 0 }, false },
		{ 33, { 1, 0, 0 }, { 0 }, false },
	};
	struct diary diary = { 0 };
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "1x4");
	s.config.costs = (struct costs){ .start_s = 0, .resume_s = 7, .resize_s = 3 };
	play(&s, wishes, COUNT(wishes), &diary, &out);
	/* 10 + 2 x 20 = 50 by 33; the other 50 at half speed from 36 on. */
	assert_true(out.jobs[0].finish_s == 136);
	assert_int_equal(out.jobs[0].resizes, 2);
	assert_int_equal(out.jobs[0].migrations, 0);
	assert_true(out.jobs[0].overhead_s == 6);
	assert_true(out.jobs[0].ran_s == 130);
	assert_true(out.jobs[0].served_s == 10 * 2 + 20 * 4 + 100);
	assert_true(out.busy_gpu_s == 10 * 2 + 23 * 4 + 103);
	assert_int_equal(diary.count[EV_RESIZE], 2);
	diary_fini(&diary);
	outcome_fini(&out);
	scene_fini(&s);
}

static void in_a_chain_of_moves_nobody_stands_on_another(void **state)
{
	/* First fit in the order of jobs: the first leaves node 0 to the second, that node 1 to the third. */
	static const struct wish wishes[] = {
		{ 0, { 2, 2, 0 }, { 0 }, false },
		{ 10, { 0, 2, 2 }, { 0, 1, 0 }, false },
		{ 20, { 2, 2, 2 }, { 1, 2, 1 }, false },
		{ 30, { 2, 2, 2 }, { 2, 2, 2 }, true },
	};
	struct diary diary = { 0 };
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "3x2");
	play(&s, wishes, COUNT(wishes), &diary, &out);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(out.jobs[i].state, JOB_FINISHED);
	diary_fini(&diary);
	outcome_fini(&out);
	scene_fini(&s);
}

static void in_a_ring_of_moves_one_lets_go(void **state)
{
	/* All of the cluster is held; at 10 both ask for new devices and get each other's. */
	static const struct wish wishes[] = {
		{ 0, { 2, 2, 0 }, { 0 }, false },
		{ 10, { 2, 2, 0 }, { 1, 1, 0 }, true },
		{ 200, { 0, 0, 2 }, { 0 }, false },
	};
	struct diary diary = { 0 };
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "2x2");
	s.config.costs = (struct costs){ .start_s = 0, .resume_s = 7, .resize_s = 0 };
	play(&s, wishes, COUNT(wishes), &diary, &out);
	assert_int_equal(diary.count[EV_MIGRATE], 1);
	assert_int_equal(diary.count[EV_PREEMPT], 1);
	assert_int_equal(out.jobs[0].migrations + out.jobs[1].migrations, 1);
	assert_int_equal(out.jobs[0].preemptions + out.jobs[1].preemptions, 1);
	assert_true(out.jobs[0].overhead_s == 7 && out.jobs[1].overhead_s == 7);
	diary_fini(&diary);
	outcome_fini(&out);
	scene_fini(&s);
}

/* What the driver is asked for comes in the order stop, change, start. */
static void drivers_see_stops_first(void **state)
{
	static const struct wish wishes[] = {
		{ 0, { 2, 2, 0 }, { 0 }, false },
		{ 10, { 0, 2, 2 }, { 0, 1, 0 }, false },
	};
	struct director d = { .wishes = wishes, .n = COUNT(wishes) };
	struct policy policy = director_policy;
	struct job jobs[3] = { script_job("a", 2), script_job("b", 2), script_job("c", 2) };
	const struct event events[] = {
		{ .kind = EV_SUBMIT, .at_s = 0, .job_spec = &jobs[0] },
		{ .kind = EV_SUBMIT, .at_s = 0, .job_spec = &jobs[1] },
		{ .kind = EV_SUBMIT, .at_s = 0, .job_spec = &jobs[2] },
		{ .kind = EV_FINISH, .at_s = 50, .job = 1, .value = 1 },
		{ .kind = EV_FINISH, .at_s = 60, .job = 2, .value = 1 },
	};
	static const struct deed want[] = {
		{ ACT_START, 0, 0, 0, 2 },
		{ ACT_START, 1, 0, 1, 2 },
		{ ACT_STOP, 0, 10, 0, 0 },
		{ ACT_CHANGE, 1, 10, 0, 2 },
		{ ACT_START, 2, 10, 1, 2 },
	};
	struct script script = { .events = events, .n = COUNT(events), .policy_state = &d };
	struct outcome out;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(script_run(&script, "2x2", &policy, &out, &err), 0);
	assert_int_equal(script.deeds.n, COUNT(want));
	for (size_t i = 0; i < COUNT(want); i++) {
		assert_int_equal(script.deeds.at[i].act, want[i].act);
		assert_int_equal(script.deeds.at[i].job, want[i].job);
		assert_true(script.deeds.at[i].at_s == want[i].at_s);
		assert_int_equal(script.deeds.at[i].node, want[i].node);
		assert_int_equal(script.deeds.at[i].gpus, want[i].gpus);
	}
	assert_int_equal(out.jobs[0].state, JOB_UNFINISHED);
	assert_int_equal(out.jobs[1].state, JOB_FINISHED);
	vec_fini(&script.deeds);
	outcome_fini(&out);
}

static void a_driver_that_fails_stops_the_run(void **state)
{
	static const struct wish wishes[] = {
		{ 0, { 2, 2, 0 }, { 0 }, false },
		{ 10, { 0, 2, 2 }, { 0, 1, 0 }, false },
	};
	static const struct wish ring[] = {
		{ 0, { 2, 2, 0 }, { 0 }, false },
		{ 10, { 2, 2, 0 }, { 1, 1, 0 }, true },
	};
	static const struct {
		enum act act;
		const struct wish *wishes;
		const char *text;
	} rows[] = {
		{ ACT_STOP, wishes, "job a: it does not answer" },
		{ ACT_CHANGE, wishes, "job b: it does not answer" },
		{ ACT_START, wishes, "job a: it does not answer" },
		{ ACT_STOP, ring, "it does not answer" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct director d = { .wishes = rows[i].wishes, .n = 2 };
		struct job jobs[3] = { script_job("a", 2), script_job("b", 2), script_job("c", 2) };
		const struct event events[] = {
			{ .kind = EV_SUBMIT, .at_s = 0, .job_spec = &jobs[0] },
			{ .kind = EV_SUBMIT, .at_s = 0, .job_spec = &jobs[1] },
			{ .kind = EV_SUBMIT, .at_s = 0, .job_spec = &jobs[2] },
		};
		struct script script = {
			.events = events,
			.n = COUNT(events),
			.policy_state = &d,
			.failing = true,
			.fails = rows[i].act,
		};
		struct outcome out;
		struct err err = { 0 };

		assert_int_equal(script_run(&script, "2x2", &director_policy, &out, &err), ERR_IO);
		assert_non_null(strstr(err.text, rows[i].text));
		vec_fini(&script.deeds);
	}
}

/* Ended jobs are forgotten without a policy noticing. */
static void the_list_of_active_jobs_stays_short(void **state)
{
	struct scene s;
	struct outcome out;

	(void)state;
	scene_init(&s, "1x2");
	for (int i = 0; i < 1000; i++)
		scene_job(&s, i, 1, 1.5);
	s.config.policy = "e-las:round_s=1";
	scene_run(&s, &out);
	for (uint32_t i = 0; i < out.njobs; i++)
		assert_int_equal(out.jobs[i].state, JOB_FINISHED);
	outcome_fini(&out);
	scene_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_policy_that_erred_is_named),
		cmocka_unit_test(a_job_that_is_held_cannot_run),
		cmocka_unit_test(the_placer_that_erred_is_named),
		cmocka_unit_test(moving_costs_what_resuming_costs),
		cmocka_unit_test(resizing_changes_speed_and_costs_its_own),
		cmocka_unit_test(in_a_chain_of_moves_nobody_stands_on_another),
		cmocka_unit_test(in_a_ring_of_moves_one_lets_go),
		cmocka_unit_test(drivers_see_stops_first),
		cmocka_unit_test(a_driver_that_fails_stops_the_run),
		cmocka_unit_test(the_list_of_active_jobs_stays_short),
	};

	return cmocka_run_group_tests_name("engine/decide", tests, NULL, NULL);
}
