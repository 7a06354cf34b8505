/*
 * Applying what drivers tell: submissions, admission, ends and failures.
 */
#include <math.h>
#include <string.h>

#include "policy/kit.h"
#include "support/diary.h"
#include "support/property.h"
#include "support/scene.h"
#include "support/script.h"

static int run_all(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	(void)self;
	(void)err;
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job_active(job) && !kit_run(round, plan, job))
			kit_no_room(round, plan, job);
	}
	return 0;
}

static const struct policy greedy = { .name = "greedy", .decide = run_all };

/* ---- admission */

/* By priority: 0 is let in, 1 held while anybody is inside, 2 refused. */
static enum verdict by_priority(void *self, const struct round *round, const struct job *job,
	int64_t demand, struct reason *why)
{
	(void)self;
	assert_true(round->njobs > job->id);
	assert_ptr_equal(&round->jobs[job->id], job);
	*why = (struct reason){ .why = WHY_ADMISSION, .need = 7, .other = JOB_NONE };
	if (job->priority == 2)
		return ADMIT_REJECT;
	return job->priority == 1 && demand > 0 ? ADMIT_HOLD : ADMIT_ACCEPT;
}

static const struct admission rule = { .name = "by-priority", .decide = by_priority };

static void admission_accepts_holds_and_rejects(void **state)
{
	struct diary diary = { 0 };
	struct observer observer = diary_observer(&diary);
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "1x4");
	s.admission = &rule;
	s.config.observers = &observer;
	s.config.nobservers = 1;
	scene_job(&s, 0, 1, 10);
	scene_job(&s, 1, 1, 10)->priority = 1;
	scene_job(&s, 2, 1, 10)->priority = 2;
	scene_job(&s, 3, 1, 20);
	scene_run_policy(&s, &greedy, NULL, &out);
	assert_int_equal(out.jobs[0].state, JOB_FINISHED);
	assert_true(out.jobs[3].start_s == 3);
	/* Held until nobody is inside. */
	assert_true(out.jobs[1].start_s == 23 && out.jobs[1].waited_s == 22);
	assert_true(diary_excused(&diary, 1, WHY_ADMISSION));
	assert_int_equal(out.jobs[2].state, JOB_REJECTED);
	assert_int_equal(out.jobs[2].reason.why, WHY_ADMISSION);
	assert_int_equal(out.jobs[2].reason.need, 7);
	assert_int_equal(diary.count[EV_HOLD], 1);
	assert_int_equal(diary.count[EV_ADMIT], 1);
	assert_int_equal(diary.count[EV_REJECT], 1);
	assert_true(out.waited_by_why_s[WHY_ADMISSION] == 22);
	diary_fini(&diary);
	outcome_fini(&out);
	scene_fini(&s);
}

/* ---- what can never run */

static const struct {
	const char *what, *cluster;
	int gpus, min_gpus;
	double cpus;
	int want_gpus; /* that it gets; 0: it is refused */
	enum why why;
} nevers[] = {
	{ "all of it", "2x2", 4, 4, 0, 4, WHY_NONE },
	{ "one more", "2x2", 5, 5, 0, 0, WHY_TOO_LARGE },
	{ "more than one type has", "1x2:a,1x2:b", 3, 3, 0, 0, WHY_TOO_LARGE },
	{ "it would like more, and takes what there is", "2x2", 16, 2, 0, 4, WHY_NONE },
	{ "and as few as that has no meaning here", "2x2", 16, 5, 0, 0, WHY_TOO_LARGE },
	{ "no node has the CPUs", "2x2", 1, 1, 9, 0, WHY_NO_HOST },
	{ "two nodes have", "2x2", 2, 2, 16, 2, WHY_NONE },
};

static void what_can_never_run_is_refused_at_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(nevers); i++) {
		struct outcome out;
		struct scene s;
		struct job *job;

		scene_init(&s, nevers[i].cluster);
		for (uint32_t n = 0; n < s.cluster.nnodes; n++)
			s.cluster.nodes[n].cpus = 8;
		job = scene_job(&s, 5, nevers[i].gpus, 10);
		job->min_gpus = nevers[i].min_gpus;
		job->cpus = nevers[i].cpus;
		s.config.policy = "fifo";
		scene_run(&s, &out);
		if (out.jobs[0].state != (nevers[i].want_gpus ? JOB_FINISHED : JOB_REJECTED))
			fail_msg("%s: %s", nevers[i].what, job_state_name(out.jobs[0].state));
		if (nevers[i].want_gpus &&
			out.jobs[0].served_s != nevers[i].want_gpus * out.jobs[0].ran_s)
			fail_msg("%s: %g GPU-seconds in %g s", nevers[i].what, out.jobs[0].served_s,
				out.jobs[0].ran_s);
		if (!nevers[i].want_gpus && out.jobs[0].reason.why != nevers[i].why)
			fail_msg("%s: %s", nevers[i].what, why_name(out.jobs[0].reason.why));
		outcome_fini(&out);
		scene_fini(&s);
	}
}

/* ---- failures */

/* One job, two failures that another driver tells, and everything that is counted. */
static void failures_are_accounted_for(void **state)
{
	struct job a = script_job("a", 2);
	const struct event events[] = {
		{ .kind = EV_SUBMIT, .at_s = 0, .job_spec = &a },
		{ .kind = EV_NODE_DOWN, .at_s = 10, .node = 0 },
		{ .kind = EV_NODE_UP, .at_s = 15, .node = 0 },
		{ .kind = EV_FINISH, .at_s = 40, .job = 0, .value = 25 },
	};
	struct script script = { .events = events, .n = COUNT(events) };
	struct outcome out;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(script_run(&script, "1x2", &greedy, &out, &err), 0);
	assert_int_equal(out.jobs[0].state, JOB_FINISHED);
	assert_int_equal(out.jobs[0].failures, 1);
	assert_int_equal(out.jobs[0].attempts, 2);
	assert_int_equal(out.jobs[0].preemptions, 0);
	assert_int_equal(out.node_failures, 1);
	assert_true(out.jobs[0].waited_s == 5);
	assert_true(out.jobs[0].ran_s == 35);
	assert_true(out.jobs[0].lost_s == 10); /* this driver saves nothing */
	assert_true(out.jobs[0].done == 25);
	assert_true(out.busy_gpu_s == 70);
	assert_true(out.up_gpu_s == 2 * 35);
	assert_true(out.waited_by_why_s[WHY_NODE_LOST] + out.waited_by_why_s[WHY_DOWN] == 5);
	vec_fini(&script.deeds);
	outcome_fini(&out);
}

/* A job that cannot get through between failures is given up, and the run ends. */
static void a_job_that_never_gets_through_is_given_up(void **state)
{
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "1x1");
	scene_job(&s, 0, 1, 1e6); /* without checkpoints, nodes fail every ten seconds */
	scene_job(&s, 0, 1, 1)->checkpoint_every_s = 0.1;
	s.config.policy = "srtf";
	s.config.failures = (struct failures){ .mtbf_s = 10, .repair_s = 1 };
	scene_run(&s, &out);
	assert_int_equal(out.jobs[0].state, JOB_UNFINISHED);
	assert_true(out.jobs[0].failures > 100);
	assert_true(out.jobs[0].lost_s > 0 && out.jobs[0].done < 1e6);
	assert_int_equal(out.jobs[1].state, JOB_FINISHED);
	outcome_fini(&out);
	scene_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(admission_accepts_holds_and_rejects),
		cmocka_unit_test(what_can_never_run_is_refused_at_once),
		cmocka_unit_test(failures_are_accounted_for),
		cmocka_unit_test(a_job_that_never_gets_through_is_given_up),
	};

	return cmocka_run_group_tests_name("engine/apply", tests, NULL, NULL);
}
