/*
 * Whole runs of what a gang may be beyond so many devices of one type for
 * itself: devices of several types, some of them shared, and as many as the
 * type asks for.
 */
#include <math.h>
#include <string.h>

#include "support/diary.h"
#include "support/property.h"
#include "support/referee.h"
#include "support/scene.h"

/* ---- a policy that does at each moment what is written down */

struct cue {
	double at_s;
	uint32_t job;
	struct grant_part parts[2]; /* none: it is stopped, or has a host */
	uint32_t host;              /* 1 + a job to run beside, 0 none */
	bool balance;
};

struct conductor {
	const struct cue *cues;
	size_t n;
};

static void follow(const struct cue *cue, const struct round *round, struct plan *plan)
{
	const struct job *job = &round->jobs[cue->job];
	struct want want = { .balance = cue->balance, .type = TYPE_ANY };
	uint32_t nparts = (cue->parts[0].gpus > 0) + (cue->parts[1].gpus > 0);

	if (!job_active(job))
		return;
	if (cue->host)
		assert_true(plan_run_beside(plan, job, &round->jobs[cue->host - 1], want));
	else if (nparts > 0)
		assert_true(plan_run_parts(plan, job, cue->parts, nparts, want));
	else
		plan_stop(plan, job);
}

static int conduct(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	const struct conductor *c = self;

	(void)err;
	for (size_t i = 0; i < c->n; i++) {
		if (c->cues[i].at_s == round->now_s)
			follow(&c->cues[i], round, plan);
		else if (c->cues[i].at_s > round->now_s)
			plan_wake(plan, c->cues[i].at_s);
	}
	for (uint32_t i = 0; i < round->nactive; i++)
		plan_why(plan, round->active[i], (struct reason){ .why = WHY_TURN, .other = JOB_NONE });
	return 0;
}

static const struct policy conductor_policy = {
	.name = "conductor",
	.traits = POLICY_SHARES | POLICY_MIXES,
	.decide = conduct,
};

/* Runs the scene as written down; the referee watches. */
static void perform(struct scene *s, const struct cue *cues, size_t n, struct diary *diary,
	struct outcome *out)
{
	struct conductor c = { cues, n };
	struct referee referee;
	struct observer observers[2];

	scene_ready(s);
	referee_init(&referee, &s->cluster, &s->trace);
	observers[0] = referee_observer(&referee);
	observers[1] = diary_observer(diary);
	s->config.observers = observers;
	s->config.nobservers = 2;
	scene_run_policy(s, referee_policy(&referee, (struct chosen_policy){ &conductor_policy, &c }),
		&referee, out);
	referee_end(&referee, out);
	if (referee.breach[0])
		fail_msg("%s", referee.breach);
	referee_fini(&referee);
}

/* A model "m" that makes `fast` steps per second and device on type 0, `slow` on type 1. */
static void set_speeds(struct scene *s, double fast, double slow)
{
	uint32_t model = names_add(&s->trace.models, "m", 1);

	s->profile = profile_create(&s->cluster, &s->trace.models);
	for (uint32_t gpus = 1; gpus <= 4; gpus++) {
		profile_add(s->profile, model, 0, gpus, 0, fast * gpus);
		if (s->cluster.ntypes > 1)
			profile_add(s->profile, model, 1, gpus, 0, slow * gpus);
	}
	s->config.truth = s->profile;
}

static struct job *steps_job(struct scene *s, double at_s, int gpus, double steps)
{
	struct job *job = scene_job(s, at_s, gpus, steps);

	job->model = 0;
	job->by_steps = true;
	return job;
}

/* ---- devices of several types */

static void a_mixture_runs_at_the_pace_of_the_slowest(void **state)
{
	static const struct cue cues[] = {
		{ .at_s = 0, .job = 0, .parts = { { 0, 2 }, { 1, 1 } } },
		{ .at_s = 0, .job = 1, .parts = { { 0, 2 }, { 1, 1 } }, .balance = true },
	};
	struct diary diary = { 0 };
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "1x4:v100,1x2:k80");
	set_speeds(&s, 10, 2);
	steps_job(&s, 0, 3, 60);
	steps_job(&s, 0, 3, 220);
	perform(&s, cues, COUNT(cues), &diary, &out);
	assert_true(out.jobs[0].finish_s == 10);             /* 3 x 2 */
	assert_true(fabs(out.jobs[1].finish_s - 10) < 1e-9); /* 10 + 10 + 2 */
	assert_true(out.jobs[0].served_s == 30);
	assert_true(diary_visited(&diary, 0, 0) && diary_visited(&diary, 0, 1));
	diary_fini(&diary);
	outcome_fini(&out);
	scene_fini(&s);
}

static void it_changes_its_mixture(void **state)
{
	/* Two v100 for 5 s, then with a k80 the pace of three of those, then two v100 again. */
	static const struct cue cues[] = {
		{ .at_s = 0, .job = 0, .parts = { { 0, 2 } } },
		{ .at_s = 5, .job = 0, .parts = { { 0, 2 }, { 1, 1 } } },
		{ .at_s = 15, .job = 0, .parts = { { 1, 1 }, { 0, 2 } } }, /* the same */
		{ .at_s = 20, .job = 0, .parts = { { 0, 2 } } },
	};
	struct diary diary = { 0 };
	struct outcome out;
	struct scene s;
	struct job *job;

	(void)state;
	scene_init(&s, "1x4:v100,1x2:k80");
	set_speeds(&s, 10, 2);
	job = steps_job(&s, 0, 2, 100 + 90 + 200);
	job->min_gpus = 2;
	job->max_gpus = 3;
	perform(&s, cues, COUNT(cues), &diary, &out);
	assert_true(out.jobs[0].finish_s == 30);
	assert_int_equal(out.jobs[0].resizes, 2);
	assert_int_equal(diary.count[EV_RENEW], 0);
	diary_fini(&diary);
	outcome_fini(&out);
	scene_fini(&s);
}

static void the_loss_of_one_part_stops_the_whole(void **state)
{
	static const struct cue cues[] = {
		{ .at_s = 0, .job = 0, .parts = { { 0, 1 }, { 1, 1 } } },
	};
	struct conductor c = { cues, COUNT(cues) };
	struct err err = { 0 };
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "1x4:v100,1x2:k80");
	set_speeds(&s, 10, 2);
	steps_job(&s, 0, 2, 100);
	s.config.failures.mtbf_s = 5;
	s.config.failures.repair_s = 1e9;
	s.config.until_s = 1000;
	assert_int_equal(scene_try_policy(&s, &conductor_policy, &c, &out, &err), 0);
	assert_int_equal(out.jobs[0].state, JOB_UNFINISHED);
	assert_int_equal(out.jobs[0].failures, 1);
	outcome_fini(&out);
	scene_fini(&s);
}

static void mixing_must_be_said(void **state)
{
	static const struct cue cues[] = {
		{ .at_s = 0, .job = 0, .parts = { { 0, 1 }, { 1, 1 } } },
	};
	struct conductor c = { cues, COUNT(cues) };
	struct policy shy = conductor_policy;
	struct outcome out;
	struct err err = { 0 };
	struct scene s;

	(void)state;
	shy.traits = POLICY_SHARES;
	scene_init(&s, "1x4:v100,1x2:k80");
	scene_job(&s, 0, 2, 100);
	assert_int_equal(scene_try_policy(&s, &shy, &c, &out, &err), ERR_BROKEN);
	assert_string_equal(err.text,
		"policy conductor gives job 0 devices of several types without saying in its traits that it does");
	scene_fini(&s);
}

static void where_it_cannot_run_is_named(void **state)
{
	/* The belief says that it runs anywhere, the truth that a k80 will not do. */
	static const struct cue cues[] = {
		{ .at_s = 0, .job = 0, .parts = { { 0, 1 }, { 1, 1 } } },
	};
	struct conductor c = { cues, COUNT(cues) };
	struct profile *belief;
	struct outcome out;
	struct err err = { 0 };
	struct scene s;

	(void)state;
	scene_init(&s, "1x4:v100,1x2:k80");
	set_speeds(&s, 10, 0);
	steps_job(&s, 0, 2, 100);
	belief = profile_create(&s.cluster, &s.trace.models);
	s.config.belief = belief;
	assert_int_equal(scene_try_policy(&s, &conductor_policy, &c, &out, &err), ERR_BROKEN);
	assert_string_equal(err.text,
		"job 0: it cannot run on 1 x v100 + 1 x k80, where it was placed");
	profile_destroy(belief);
	scene_fini(&s);
}

/* ---- one worker alone, another beside a neighbour */

static void one_shared_worker_slows_the_gang(void **state)
{
	/* At 10 a guest of one device joins one of two; it ends, and the host is alone again. */
	static const struct cue cues[] = {
		{ .at_s = 0, .job = 0, .parts = { { 0, 2 } } },
		{ .at_s = 10, .job = 1, .host = 1 },
	};
	struct diary diary = { 0 };
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "1x2:v100");
	set_speeds(&s, 10, 0);
	profile_add_beside(s.profile, 0, 1, 0, 0, 0.5);
	profile_add_beside(s.profile, 0, 2, 0, 0, 0.125); /* of two gangs of two, which are not here */
	steps_job(&s, 0, 2, 500);
	steps_job(&s, 10, 1, 50);
	perform(&s, cues, COUNT(cues), &diary, &out);
	assert_true(out.jobs[1].finish_s == 20); /* 5 a second */
	/* 200 by 10, 100 more by 20, then 20 a second. */
	assert_true(out.jobs[0].finish_s == 30);
	assert_int_equal(diary.count[EV_RENEW], 2);
	/* Of the shared device half is each's. */
	assert_true(out.jobs[0].served_s == 20 + 15 + 20);
	assert_true(out.jobs[1].served_s == 5);
	assert_true(out.busy_gpu_s == 60);
	diary_fini(&diary);
	outcome_fini(&out);
	scene_fini(&s);
}

static void guests_on_each_worker(void **state)
{
	/* All at once: the host sees its neighbours' gangs though they start after it. */
	static const struct cue cues[] = {
		{ .at_s = 0, .job = 0, .parts = { { 0, 2 } } },
		{ .at_s = 0, .job = 1, .host = 1 },
		{ .at_s = 0, .job = 2, .host = 1 },
	};
	struct diary diary = { 0 };
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "2x1:v100");
	set_speeds(&s, 10, 0);
	profile_add_beside(s.profile, 0, 1, 0, 0, 0.5);
	profile_add_beside(s.profile, 0, 2, 0, 0, 0.125);
	steps_job(&s, 0, 2, 150);
	steps_job(&s, 0, 1, 50);
	steps_job(&s, 0, 1, 25);
	perform(&s, cues, COUNT(cues), &diary, &out);
	assert_true(out.jobs[2].finish_s == 5);
	assert_true(out.jobs[1].finish_s == 10);
	/* One neighbour or two: the slowest worker is as slow.  Alone for the last 50. */
	assert_true(out.jobs[0].finish_s == 12.5);
	assert_true(diary_visited(&diary, 1, 0) && diary_visited(&diary, 2, 1));
	diary_fini(&diary);
	outcome_fini(&out);
	scene_fini(&s);
}

static void a_balanced_host_loses_but_a_part(void **state)
{
	static const struct cue cues[] = {
		{ .at_s = 0, .job = 0, .parts = { { 0, 2 } }, .balance = true },
		{ .at_s = 0, .job = 1, .host = 1 },
	};
	struct diary diary = { 0 };
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "1x2:v100");
	set_speeds(&s, 10, 0);
	profile_add_beside(s.profile, 0, 1, 0, 0, 0.5);
	steps_job(&s, 0, 2, 150);
	steps_job(&s, 0, 1, 1000);
	perform(&s, cues, COUNT(cues), &diary, &out);
	assert_true(out.jobs[0].finish_s == 10); /* 10 + 5 */
	diary_fini(&diary);
	outcome_fini(&out);
	scene_fini(&s);
}

static void the_host_leaves_first(void **state)
{
	static const struct cue cues[] = {
		{ .at_s = 0, .job = 0, .parts = { { 0, 2 } } }, { .at_s = 0, .job = 1, .host = 1 },
		{ .at_s = 4, .job = 0 },
		{ .at_s = 6, .job = 0, .parts = { { 0, 2 } } }, /* elsewhere: the guest has one of them */
	};
	struct diary diary = { 0 };
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "2x2:v100");
	set_speeds(&s, 10, 0);
	profile_add_beside(s.profile, 0, 1, 0, 0, 0.5);
	steps_job(&s, 0, 2, 100);
	steps_job(&s, 0, 1, 100);
	perform(&s, cues, COUNT(cues), &diary, &out);
	assert_true(out.jobs[0].finish_s == 9);  /* 40 by 4, 60 more from 6 on */
	assert_true(out.jobs[1].finish_s == 12); /* 20 by 4, then alone */
	assert_true(diary_visited(&diary, 0, 1));
	diary_fini(&diary);
	outcome_fini(&out);
	scene_fini(&s);
}

/* ---- as many as the type asks for */

/* The job added last runs on `a` devices of the first type named, on `b` of the second. */
static void set_gangs(struct scene *s, uint16_t a, uint16_t b)
{
	const uint16_t gangs[TYPES_MAX] = { a, b };

	s->trace.jobs[s->trace.njobs - 1].gpus_by_type = trace_gangs(&s->trace, gangs);
}

static void one_here_or_four_there(void **state)
{
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "1x4:v100,1x1:a100"); /* in another order than the trace names them */
	names_add(&s.trace.types, "a100", 4);
	names_add(&s.trace.types, "v100", 4);
	names_add(&s.trace.types, "h100", 4);
	for (int i = 0; i < 3; i++) {
		scene_job(&s, i, 4, 10)->types = 3;
		set_gangs(&s, 1, 4);
	}
	scene_run(&s, &out);
	assert_true(out.jobs[0].served_s == 40);
	assert_true(out.jobs[1].start_s == 1 && out.jobs[1].served_s == 10);
	assert_true(out.jobs[2].start_s == 10);
	assert_null(out.jobs[0].gpus_by_type);
	outcome_fini(&out);
	scene_fini(&s);
}

static const struct {
	const char *what, *cluster;
	uint16_t a, v; /* gangs on a100 and v100 */
	int gpus;
	enum job_state end;
	enum why why;
	int need, have;
} submissions[] = {
	{ "one type is large enough", "1x2:a100,1x4:v100", 3, 4, 9, JOB_FINISHED, WHY_NONE, 0, 0 },
	{ "none is", "1x2:a100,1x4:v100", 3, 8, 1, JOB_REJECTED, WHY_TOO_LARGE, 3, 2 },
	{ "a type not named takes what is asked for", "1x2:a100,1x4:v100", 3, 0, 4, JOB_FINISHED,
		WHY_NONE, 0, 0 },
	{ "or does not have it", "1x2:a100,1x4:v100", 3, 0, 5, JOB_REJECTED, WHY_TOO_LARGE, 3, 2 },
	{ "a type that the cluster does not have", "1x2:k80", 3, 4, 2, JOB_FINISHED, WHY_NONE, 0, 0 },
};

static void submission_looks_at_each_type(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(submissions); i++) {
		struct outcome out;
		struct scene s;

		scene_init(&s, submissions[i].cluster);
		names_add(&s.trace.types, "a100", 4);
		names_add(&s.trace.types, "v100", 4);
		scene_job(&s, 0, submissions[i].gpus, 10);
		set_gangs(&s, submissions[i].a, submissions[i].v);
		scene_run(&s, &out);
		if (out.jobs[0].state != submissions[i].end ||
			(out.jobs[0].state == JOB_REJECTED &&
				(out.jobs[0].reason.why != submissions[i].why ||
					out.jobs[0].reason.need != submissions[i].need ||
					out.jobs[0].reason.have != submissions[i].have)))
			fail_msg("%s: %s, %s, needs %d of %d", submissions[i].what,
				job_state_name(out.jobs[0].state), why_name(out.jobs[0].reason.why),
				out.jobs[0].reason.need, out.jobs[0].reason.have);
		outcome_fini(&out);
		scene_fini(&s);
	}
}

/* Gives it as many as it asked for, whatever the type. */
static int blind(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	(void)self;
	(void)err;
	plan_run(plan, &round->jobs[0], (struct want){ .gpus = 2, .type = TYPE_ANY });
	return 0;
}

static void another_gang_is_refused(void **state)
{
	static const struct policy policy = { .name = "blind", .decide = blind };
	struct outcome out;
	struct err err = { 0 };
	struct scene s;

	(void)state;
	scene_init(&s, "1x4:a100");
	names_add(&s.trace.types, "a100", 4);
	scene_job(&s, 0, 2, 10);
	set_gangs(&s, 3, 0);
	assert_int_equal(scene_try_policy(&s, &policy, NULL, &out, &err), ERR_BROKEN);
	assert_string_equal(err.text, "policy blind gives job 0 2 devices; it takes 3 to 3");
	scene_fini(&s);
}

static void waiting_is_told_by_type(void **state)
{
	struct diary diary = { 0 };
	struct observer observer = diary_observer(&diary);
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "1x2:a100,1x4:v100");
	names_add(&s.trace.types, "a100", 4);
	names_add(&s.trace.types, "v100", 4);
	scene_job(&s, 0, 2, 10)->types = 2; /* on v100: two of four are left */
	scene_job(&s, 0, 1, 10)->types = 1; /* on a100: one of two */
	scene_job(&s, 1, 4, 10);
	set_gangs(&s, 2, 4);
	s.config.observers = &observer;
	s.config.nobservers = 1;
	scene_run(&s, &out);
	assert_true(out.jobs[2].start_s == 10);
	for (size_t i = 0; i < diary.excuses.n; i++) {
		assert_int_equal(diary.excuses.at[i].job, 2);
		assert_int_equal(diary.excuses.at[i].reason.why, WHY_BUSY);
		assert_int_equal(diary.excuses.at[i].reason.need, 2);
		assert_int_equal(diary.excuses.at[i].reason.have, 1);
	}
	assert_int_equal(diary.excuses.n, 1);
	diary_fini(&diary);
	outcome_fini(&out);
	scene_fini(&s);
}

static const char *const policies_tried[] = { "fifo", "fifo:misfit=skip", "las", "srtf", "sjf",
	"tiresias", "easy", "conservative", "fair-share", "gittins", "priority", "srsf", "e-las",
	"drf" };

static void draw_gangs(struct scene *s, struct rng *rng)
{
	names_add(&s->trace.types, "k80", 3);
	names_add(&s->trace.types, "v100", 4);
	scene_draw(s, rng,
		(struct draw){ .jobs = 30, .last_arrival_s = 60, .work_max = 30, .gpus_max = 4 });
	for (uint32_t i = 0; i < s->trace.njobs; i++) {
		const uint16_t gangs[TYPES_MAX] = { (uint16_t)pick(rng, 8),
			(uint16_t)rng_below(rng, 4) };

		s->trace.jobs[i].types = (uint32_t)rng_below(rng, 4);
		if (rng_below(rng, 3))
			s->trace.jobs[i].gpus_by_type = trace_gangs(&s->trace, gangs);
	}
}

static void run_watched(struct scene *s, const char *policy)
{
	struct chosen_policy chosen = scene_policy(policy);
	struct referee r;
	struct observer observer;
	struct outcome out;

	scene_ready(s);
	referee_init(&r, &s->cluster, &s->trace);
	observer = referee_observer(&r);
	s->config.observers = &observer;
	s->config.nobservers = 1;
	scene_run_policy(s, referee_policy(&r, chosen), &r, &out);
	referee_end(&r, &out);
	if (r.breach[0])
		fail_msg("%s: %s", policy, r.breach);
	outcome_fini(&out);
	scene_policy_fini(&chosen);
	referee_fini(&r);
}

static void policies_keep_to_gangs_by_type(void **state)
{
	struct rng rng = property("gangs by type under several policies");

	(void)state;
	for (size_t round = 0; round < rounds(20); round++) {
		for (size_t i = 0; i < COUNT(policies_tried); i++) {
			struct scene s;

			scene_init(&s, "2x2:v100,2x4:k80");
			draw_gangs(&s, &rng);
			run_watched(&s, policies_tried[i]);
			scene_fini(&s);
		}
	}
}

/* Both kits must agree on jobs alike in all but their gangs. */
static void a_gang_that_fits_passes_one_that_does_not(void **state)
{
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "1x4:v100");
	names_add(&s.trace.types, "k80", 3);
	names_add(&s.trace.types, "v100", 4);
	scene_job(&s, 0, 2, 10);
	scene_job(&s, 1, 2, 10);
	set_gangs(&s, 0, 4);
	scene_job(&s, 2, 2, 10);
	set_gangs(&s, 0, 1);
	s.config.policy = "fifo:misfit=skip";
	scene_run(&s, &out);
	assert_true(out.jobs[2].start_s == 2);
	assert_true(out.jobs[1].start_s == 12);
	outcome_fini(&out);
	scene_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mixture_runs_at_the_pace_of_the_slowest),
		cmocka_unit_test(it_changes_its_mixture),
		cmocka_unit_test(the_loss_of_one_part_stops_the_whole),
		cmocka_unit_test(mixing_must_be_said),
		cmocka_unit_test(where_it_cannot_run_is_named),
		cmocka_unit_test(one_shared_worker_slows_the_gang),
		cmocka_unit_test(guests_on_each_worker),
		cmocka_unit_test(a_balanced_host_loses_but_a_part),
		cmocka_unit_test(the_host_leaves_first),
		cmocka_unit_test(one_here_or_four_there),
		cmocka_unit_test(submission_looks_at_each_type),
		cmocka_unit_test(another_gang_is_refused),
		cmocka_unit_test(waiting_is_told_by_type),
		cmocka_unit_test(policies_keep_to_gangs_by_type),
		cmocka_unit_test(a_gang_that_fits_passes_one_that_does_not),
	};

	return cmocka_run_group_tests_name("sim/gangs", tests, NULL, NULL);
}
