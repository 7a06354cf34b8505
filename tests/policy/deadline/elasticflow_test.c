/*
 * ElasticFlow: the worked examples, refusals with what would fit, packing, and
 * that no promise is ever broken.
 */
#include <math.h>
#include <string.h>

#include "support/property.h"
#include "support/scene.h"

/* One model whose speed on 1, 2, 4, … devices is as given. */
static void stage(struct scene *s, const char *cluster, const double *speed, uint32_t n)
{
	scene_init(s, cluster);
	names_add(&s->trace.models, "m", 1);
	s->profile = profile_create(&s->cluster, &s->trace.models);
	for (uint32_t i = 0; i < n; i++)
		profile_add(s->profile, 0, 0, 1u << i, 0, speed[i]);
	s->config.truth = s->profile;
	s->config.oracle = true;
	s->config.policy = "elasticflow:slot_s=1";
}

static const double usual[] = { 1, 1.5, 2 };

static struct job *ask(struct scene *s, double at_s, double work, double deadline_s)
{
	struct job *job = scene_job(s, at_s, 1, work);

	job->model = 0;
	job->by_steps = true;
	job->min_gpus = 1;
	job->max_gpus = 4;
	job->deadline_s = deadline_s;
	return job;
}

struct asked {
	double at_s, work, deadline_s;
	bool refused;
	double finish_s; /* 0: whatever */
};

static const struct {
	const char *what;
	struct asked jobs[4];
} examples[] = {
	{ "a: alone with two devices in time; all four make it sooner", { { 0, 3, 2, false, 1.5 } } },
	{ "b: the second would need more than is left",
		{ { 0, 3, 2, false, 0 }, { 0, 3.5, 2, true, 0 } } },
	{ "b: both need half", { { 0, 3, 2, false, 2 }, { 0, 3, 2, false, 2 } } },
	{ "c: spare devices are used though they are used badly", { { 0, 1.5, 2, false, .75 } } },
	{ "d: the earlier deadline is planned first",
		{ { 0, 3, 3, false, 2.5 }, { 0, 2, 1, false, 1 } } },
	{ "planning anew would break a promise, so the plan goes on",
		{ { 0, 4.5, 4, false, 3 }, { 0, 6.5, 4, false, 4 }, { 1, 100, INFINITY, false, 0 } } },
	{ "three fit together", { { 0, 5, 3, false, 0 }, { 0, 2, 2, false, 0 }, { 0, 1, 3, false, 0 } } },
	{ "and without one of them another does not", { { 0, 5, 3, false, 0 }, { 0, 1, 3, true, 0 } } },
	{ "a deadline that is past is refused", { { 5, 1, 3, true, 0 }, { 5, 1, 30, false, 0 } } },
};

static double figure_of(const struct outcome *out, const char *name)
{
	for (uint32_t i = 0; i < out->nfigures; i++) {
		if (!strcmp(out->figures[i].name, name))
			return out->figures[i].value;
	}
	return NAN;
}

/* How often a new plan would have broken a promise, so that the old one went on. */
static double plans_kept(const struct outcome *out)
{
	return figure_of(out, "plans_kept");
}

static void test_examples(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(examples); i++) {
		struct outcome out;
		struct scene s;
		uint32_t n = 0;

		stage(&s, "1x4", usual, 3);
		for (; n < COUNT(examples[i].jobs) && examples[i].jobs[n].work > 0; n++)
			ask(&s, examples[i].jobs[n].at_s, examples[i].jobs[n].work,
				examples[i].jobs[n].deadline_s);
		scene_run(&s, &out);
		for (uint32_t k = 0; k < n; k++) {
			const struct asked *want = &examples[i].jobs[k];
			const struct job *job = &out.jobs[k];

			if ((job->state == JOB_REJECTED) != want->refused ||
				(want->finish_s > 0 && fabs(job->finish_s - want->finish_s) > 1e-9) ||
				(!want->refused && job->finish_s > job->deadline_s + 1e-9))
				fail_msg("%s: job %u is %s and ended at %g", examples[i].what, k,
					job_state_name(job->state), job->finish_s);
		}
		assert_true((plans_kept(&out) > 0) ==
			(strstr(examples[i].what, "the plan goes on") != NULL));
		outcome_fini(&out);
		scene_fini(&s);
	}
}

/* ---- what would fit */

static void test_reason(void **state)
{
	struct buf text = { 0 };
	struct outcome out;
	struct scene s;

	(void)state;
	stage(&s, "1x4", usual, 3);
	ask(&s, 0, 3, 2);   /* two devices for two slots */
	ask(&s, 0, 3.5, 2); /* would take four */
	scene_run(&s, &out);
	assert_int_equal(out.jobs[1].state, JOB_REJECTED);
	assert_int_equal(out.jobs[1].reason.why, WHY_DEADLINE);
	assert_int_equal(out.jobs[1].reason.need, 4);
	assert_int_equal(out.jobs[1].reason.have, 2);
	assert_true(out.jobs[1].reason.at_s == 3);
	reason_text(&out.jobs[1].reason, NULL, &text);
	assert_non_null(strstr(text.at, "one at 3s could be"));
	assert_non_null(strstr(text.at, "with 4 devices throughout, of which 2 are left"));
	buf_fini(&text);
	outcome_fini(&out);
	scene_fini(&s);
}

/* What no other job is in the way of is said so. */
static void test_reason_alone(void **state)
{
	static const double deadline_s[] = { 1, -1 };
	struct outcome out;
	struct scene s;

	(void)state;
	stage(&s, "1x4", usual, 3);
	for (size_t i = 0; i < COUNT(deadline_s); i++)
		ask(&s, 5, 3, 5 + deadline_s[i]);
	scene_run(&s, &out);
	for (size_t i = 0; i < COUNT(deadline_s); i++) {
		struct buf text = { 0 };

		assert_int_equal(out.jobs[i].state, JOB_REJECTED);
		assert_int_equal(out.jobs[i].reason.need, 0);
		reason_text(&out.jobs[i].reason, NULL, &text);
		assert_string_equal(text.at,
			"its deadline is sooner than it can run even alone; one at 7s could be");
		buf_fini(&text);
	}
	outcome_fini(&out);
	scene_fini(&s);
}

/* Asked again with the deadline that the refusal names, a job is let in. */
static void test_the_named_deadline_fits(void **state)
{
	struct rng rng = property("the deadline that a refusal names would be kept");
	uint32_t refused = 0;

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		struct outcome out;
		uint64_t seed = rng_below(&rng, 1000000);
		double named = INFINITY;

		for (int again = 0; again < 2; again++) {
			struct scene s;
			struct rng same;

			rng_init(&same, seed, RNG_TEST);
			stage(&s, "2x4", usual, 3);
			for (int i = 0; i < 6; i++)
				ask(&s, 0, 1 + (double)rng_below(&same, 12),
					1 + (double)rng_below(&same, 10));
			ask(&s, 0, 12, again ? named : 2 + (double)rng_below(&same, 6));
			if (again)
				rng_below(&same, 6);
			scene_run(&s, &out);
			if (again) {
				assert_int_equal(out.jobs[6].state, JOB_FINISHED);
				assert_true(out.jobs[6].finish_s <= named + 1e-9);
			} else if (out.jobs[6].state == JOB_REJECTED) {
				named = out.jobs[6].reason.at_s;
				refused++;
			} else {
				again = 1;
			}
			outcome_fini(&out);
			scene_fini(&s);
		}
	}
	assert_true(refused > 10);
}

/* A job whose plan ends at its deadline, and by rounding an instant before it does. */
static void test_last_moment(void **state)
{
	static const double asked[][2] = { { 5, 4 }, { 7, 7 }, { 6, 10 }, { 10, 9 }, { 8, 7 },
		{ 10, 5 }, { 12, 7 } };
	struct outcome out;
	struct scene s;

	(void)state;
	stage(&s, "2x4", usual, 3);
	for (size_t i = 0; i < COUNT(asked); i++)
		ask(&s, 0, asked[i][0], asked[i][1]);
	scene_run(&s, &out);
	assert_int_equal(out.jobs[6].state, JOB_FINISHED);
	assert_true(fabs(out.jobs[6].finish_s - 7) < 1e-9);
	outcome_fini(&out);
	scene_fini(&s);
}

/* ---- packing */

static void test_buddies(void **state)
{
	struct outcome out;
	struct scene s;

	(void)state;
	/* 2, 1 and 1 of eight lie on two nodes; a gang of four comes and finds no node empty. */
	scene_init(&s, "2x4");
	s.config.policy = "elasticflow:slot_s=1";
	scene_job(&s, 0, 2, 100);
	scene_job(&s, 0, 2, 10); /* leaves a hole on the first node */
	scene_job(&s, 0, 1, 100);
	scene_job(&s, 0, 1, 100);
	scene_job(&s, 20, 4, 10);
	scene_run(&s, &out);
	assert_true(out.jobs[4].start_s == 20 && out.jobs[4].finish_s == 30);
	assert_int_equal(out.jobs[0].preemptions + out.jobs[2].preemptions + out.jobs[3].preemptions,
		0);
	outcome_fini(&out);
	scene_fini(&s);
}

/* Rigid jobs of powers of two that come and go, never more than there are devices for. */
static uint32_t draw_gangs(struct scene *s, uint32_t devices, struct rng *rng)
{
	struct {
		double end_s;
		uint32_t gpus;
	} runs[40];
	uint32_t n = 0;

	for (double at_s = 0; n < COUNT(runs); at_s += (double)rng_below(rng, 3)) {
		uint32_t used = 0, gpus = 1u << rng_below(rng, 4);
		double work = 1 + (double)rng_below(rng, 20);

		for (uint32_t i = 0; i < n; i++)
			used += runs[i].end_s > at_s ? runs[i].gpus : 0;
		if (used + gpus > devices)
			continue;
		scene_job(s, at_s, (int)gpus, work);
		runs[n].end_s = at_s + work;
		runs[n++].gpus = gpus;
	}
	return n;
}

static void test_all_fit_that_are_no_more(void **state)
{
	static const struct {
		const char *cluster;
		uint32_t devices;
	} on[] = { { "2x8", 16 }, { "4x4", 16 }, { "8x2", 16 }, { "3x8", 24 }, { "5x4", 20 } };
	struct rng rng = property("powers of two find a place whenever there are devices enough");

	(void)state;
	for (size_t round = 0; round < rounds(100); round++) {
		struct outcome out;
		struct scene s;
		uint32_t n;

		scene_init(&s, on[round % COUNT(on)].cluster);
		s.config.policy = "elasticflow:slot_s=1";
		n = draw_gangs(&s, on[round % COUNT(on)].devices, &rng);
		scene_run(&s, &out);
		for (uint32_t i = 0; i < n; i++) {
			if (out.jobs[i].start_s != out.jobs[i].arrival_s || out.jobs[i].preemptions)
				fail_msg("round %zu: job %u came at %g and began at %g, stopped %u times",
					round, i, out.jobs[i].arrival_s, out.jobs[i].start_s,
					out.jobs[i].preemptions);
		}
		outcome_fini(&out);
		scene_fini(&s);
	}
}

/* ---- promises */

/* Whatever a job gets is a power of two. */
static void see_sizes(void *self, const struct event *event, const struct job *job)
{
	uint32_t *seen = self;

	if (event->kind != EV_START && event->kind != EV_RESIZE)
		return;
	assert_true(job->grant->gpus > 0 && (job->grant->gpus & (job->grant->gpus - 1)) == 0);
	(*seen)++;
}

struct kept_draw {
	const char *what, *policy, *cluster;
	double power; /* speed is devices to this power */
	struct costs costs;
	bool rigid;
};

static const struct kept_draw kinds[] = {
	{ "linear", "elasticflow:slot_s=1", "2x4", 1, { 0, 0, 0 }, false },
	{ "concave", "elasticflow:slot_s=1", "2x4", .7, { 0, 0, 0 }, false },
	{ "very concave", "elasticflow:slot_s=2.5", "1x8", .3, { 0, 0, 0 }, false },
	{ "backward", "elasticflow:slot_s=1,fill=backward", "2x4", .7, { 0, 0, 0 }, false },
	{ "rigid among elastic", "elasticflow:slot_s=1", "2x4", .7, { 0, 0, 0 }, true },
	{ "with costs", "elasticflow:slot_s=4", "1x8", .7, { .5, .5, .5 }, false },
	{ "with costs, backward", "elasticflow:slot_s=3,fill=backward", "1x8", .7, { .5, .5, .5 }, true },
	{ "a resume dearer than a start", "elasticflow:slot_s=1", "1x8", .7, { 0, 2, .5 }, true },
	{ "a resize dearer than both", "elasticflow:slot_s=1", "1x8", .9, { .3, 0, 3 }, false },
	{ "a start dearer than both, backward", "elasticflow:slot_s=2,fill=backward", "1x8", .7,
		{ 3, .4, 0 }, true },
	{ "three nodes", "elasticflow:slot_s=1", "3x2", .8, { 0, 0, 0 }, true },
};

static void draw_workload(struct scene *s, const struct kept_draw *kind, struct rng *rng)
{
	double speed[4];

	for (int i = 0; i < 4; i++)
		speed[i] = pow(1 << i, kind->power);
	stage(s, kind->cluster, speed, 4);
	s->config.policy = kind->policy;
	s->config.costs = kind->costs;
	for (int i = 0; i < 16; i++) {
		double at_s = rng_uniform(rng) * 30, work = 1 + rng_uniform(rng) * 20;
		struct job *job = ask(s, at_s, work,
			rng_below(rng, 5) ? at_s + rng_uniform(rng) * 25 : INFINITY);

		job->max_gpus = 1 << rng_below(rng, 4);
		if (kind->rigid && rng_below(rng, 3) == 0)
			job->gpus = job->min_gpus = job->max_gpus = 1 << rng_below(rng, 3);
	}
}

/* The share of deadlines that were promised shall not be nothing, else the test says little. */
static void test_promises_are_kept(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT(kinds); k++) {
		struct rng rng = property(kinds[k].what);
		uint32_t promised = 0, refused = 0, seen = 0;
		struct observer sizes = { &seen, see_sizes };

		for (size_t round = 0; round < rounds(60); round++) {
			struct outcome out;
			struct scene s;

			draw_workload(&s, &kinds[k], &rng);
			s.config.observers = &sizes;
			s.config.nobservers = 1;
			scene_run(&s, &out);
			for (uint32_t i = 0; i < out.njobs; i++) {
				const struct job *job = &out.jobs[i];

				refused += job->state == JOB_REJECTED;
				promised += job->state == JOB_FINISHED && isfinite(job->deadline_s);
				if (job->state == JOB_FINISHED && job->finish_s > job->deadline_s + 1e-6)
					fail_msg("%s, round %zu: job %u was promised %g and ended at %g",
						kinds[k].what, round, i, job->deadline_s,
						job->finish_s);
				assert_true(job->state == JOB_FINISHED || job->state == JOB_REJECTED);
			}
			outcome_fini(&out);
			scene_fini(&s);
		}
		assert_true(promised > 100 && refused > 20 && seen > promised);
	}
}

/* Nodes fail: whoever cannot be kept to its deadline is let go, and ends all the same. */
static void test_promises_are_lost(void **state)
{
	struct rng rng = property("lost promises starve nobody");
	double lost = 0, missed = 0;

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		struct outcome out;
		struct scene s;

		draw_workload(&s, &kinds[round % 3 ? 1 : 4], &rng);
		s.config.failures = (struct failures){ .mtbf_s = 20, .repair_s = 10 };
		s.config.seed = round;
		for (uint32_t i = 0; i < s.trace.njobs; i++)
			s.trace.jobs[i].checkpoint_every_s = .5;
		scene_run(&s, &out);
		for (uint32_t i = 0; i < out.njobs; i++) {
			if (out.jobs[i].state != JOB_FINISHED && out.jobs[i].state != JOB_REJECTED)
				fail_msg("round %zu: job %u is %s", round, i,
					job_state_name(out.jobs[i].state));
			missed += out.jobs[i].state == JOB_FINISHED &&
				out.jobs[i].finish_s > out.jobs[i].deadline_s + 1e-6;
		}
		lost += figure_of(&out, "promises_lost");
		outcome_fini(&out);
		scene_fini(&s);
	}
	assert_true(lost > (double)rounds(20) && missed > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_reason),
		cmocka_unit_test(test_reason_alone),
		cmocka_unit_test(test_the_named_deadline_fits),
		cmocka_unit_test(test_last_moment),
		cmocka_unit_test(test_buddies),
		cmocka_unit_test(test_all_fit_that_are_no_more),
		cmocka_unit_test(test_promises_are_kept),
		cmocka_unit_test(test_promises_are_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
