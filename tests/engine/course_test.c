/*
 * The course of a run: means over steps, spans of devices, and how crowded it
 * was.
 */
#include "engine/course.h"

#include <math.h>
#include <string.h>

#include "support/property.h"
#include "support/scene.h"

static const struct {
	const char *what, *policy;
	struct draw draw;
} rows[] = {
	{ "short", "srtf", { 20, 20, 20, 4 } },
	{ "with failures", "srtf", { 20, 200, 20, 4 } },
	{ "longer than the samples are many", "fifo", { 40, 5000, 300, 4 } },
	{ "much longer", "las:round_s=60", { 60, 1000000, 30000, 4 } },
};

/* Whatever the steps, their sums are the totals. */
static void samples_integrate_to_the_totals(void **state)
{
	struct rng rng = property("samples against totals");

	(void)state;
	for (size_t i = 0; i < rounds(40); i++) {
		size_t row = i % COUNT(rows);
		double busy = 0, up = 0, last = 0, useful = 0, good = 0, worth = 0, served = 0;
		struct outcome out;
		struct scene s;

		scene_init(&s, "2x4");
		scene_draw(&s, &rng, rows[row].draw);
		s.config.policy = rows[row].policy;
		s.config.seed = i;
		if (row == 1)
			s.config.failures = (struct failures){ .mtbf_s = 100, .repair_s = 20 };
		scene_run(&s, &out);
		assert_true(out.nsamples <= SAMPLES_MAX);
		for (uint32_t k = 0; k < out.nsamples; k++) {
			double seconds = fmin(out.step_s, out.to_s - out.from_s - k * out.step_s);

			assert_true(out.samples[k].busy_gpus <= out.samples[k].up_gpus + 1e-6);
			busy += out.samples[k].busy_gpus * seconds;
			up += out.samples[k].up_gpus * seconds;
			useful += out.samples[k].useful_gpus * seconds;
			good += out.samples[k].good_gpus * seconds;
			worth += out.samples[k].worth_gpus * seconds;
			assert_true(out.samples[k].useful_gpus <= out.samples[k].busy_gpus + 1e-6);
			last = k * out.step_s + seconds;
		}
		if (fabs(busy - out.busy_gpu_s) > 1e-6 * out.busy_gpu_s ||
			fabs(up - out.up_gpu_s) > 1e-6 * out.up_gpu_s)
			fail_msg("%s: %g and %g, summed %g and %g", rows[row].what, out.busy_gpu_s,
				out.up_gpu_s, busy, up);
		for (uint32_t k = 0; k < out.njobs; k++)
			served += out.jobs[k].served_s;
		if (fabs(useful - served) > 1e-6 * served || fabs(good - served) > 1e-6 * served ||
			fabs(worth - served) > 1e-6 * served)
			fail_msg("%s: %g served, summed %g, samples worth %g, work worth %g",
				rows[row].what, served, useful, good, worth);
		assert_true(fabs(last - (out.to_s - out.from_s)) < 1e-6);
		outcome_fini(&out);
		scene_fini(&s);
	}
}

/* Devices x seconds of all spans are the busy time, and no device is in two spans at once. */
static void spans_tell_who_held_what(void **state)
{
	struct rng rng = property("spans against totals");

	(void)state;
	for (size_t i = 0; i < rounds(100); i++) {
		double held = 0;
		struct outcome out;
		struct scene s;

		scene_init(&s, "2x4");
		scene_draw(&s, &rng, (struct draw){ 15, 20, 20, 8 });
		s.config.policy = "srtf";
		s.config.want_spans = true;
		scene_run(&s, &out);
		assert_true(out.nspans > 0);
		for (uint32_t a = 0; a < out.nspans; a++) {
			const struct span *x = &out.spans[a];

			assert_true(x->to_s >= x->from_s && x->attempt > 0);
			assert_true(a == 0 || out.spans[a - 1].from_s <= x->from_s);
			held += __builtin_popcountll(x->devices) * (x->to_s - x->from_s);
			for (uint32_t b = 0; b < a; b++) {
				const struct span *y = &out.spans[b];

				if (y->node == x->node && (y->devices & x->devices))
					assert_true(y->to_s <= x->from_s || x->to_s <= y->from_s);
			}
		}
		assert_true(fabs(held - out.busy_gpu_s) < 1e-6);
		outcome_fini(&out);
		scene_fini(&s);
	}
}

static void spans_are_kept_only_if_asked_for(void **state)
{
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "1x1");
	scene_job(&s, 0, 1, 5);
	s.config.policy = "fifo";
	scene_run(&s, &out);
	assert_int_equal(out.nspans, 0);
	outcome_fini(&out);
	scene_fini(&s);
}

static void a_span_that_is_cut_off_ends_with_the_run(void **state)
{
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "1x1");
	scene_job(&s, 0, 1, 100);
	s.config.policy = "fifo";
	s.config.until_s = 30;
	s.config.want_spans = true;
	scene_run(&s, &out);
	assert_int_equal(out.nspans, 1);
	assert_true(out.spans[0].from_s == 0 && out.spans[0].to_s == 30);
	assert_true(out.busy_gpu_s == 30 && out.to_s == 30);
	outcome_fini(&out);
	scene_fini(&s);
}

/* ---- by hand */

static void tell(struct course *course, double at_s, enum event_kind kind, const struct job *job,
	const struct grant *grant)
{
	struct observer observer = course_observer(course);
	struct event event = { .at_s = at_s, .kind = kind, .job = job->id, .grant = grant };

	observer.see(observer.self, &event, job);
}

static void too_many_spans_are_counted(void **state)
{
	struct cluster cluster = { 0 };
	struct course course;
	struct outcome out = { 0 };
	struct err err;
	struct job job;
	struct grant *grant = mem_alloc(sizeof(*grant) + sizeof(struct slot));
	uint32_t held = 0;

	(void)state;
	assert_int_equal(cluster_parse("1x1", &cluster, &err), 0);
	*grant = (struct grant){ .gpus = 1, .nslots = 1 };
	grant->slots[0] = (struct slot){ 0, 1 };
	job_init(&job);
	job.id = 0;
	course_init(&course, &cluster, &held, true);
	tell(&course, 0, EV_SUBMIT, &job, NULL);
	for (int i = 0; i < SPANS_MAX + 10; i++) {
		held = 1;
		tell(&course, i, EV_START, &job, grant);
		held = 0;
		tell(&course, i + 0.5, EV_PREEMPT, &job, grant);
	}
	course_finish(&course, SPANS_MAX + 10, &out);
	assert_int_equal(out.nspans, SPANS_MAX);
	assert_int_equal(out.spans_dropped, 10);
	assert_true(out.spans[SPANS_MAX - 1].to_s == SPANS_MAX - 0.5);
	assert_true(fabs(out.busy_gpu_s - (SPANS_MAX + 10) * 0.5) < 1e-6); /* totals lose nothing */
	outcome_fini(&out);
	course_fini(&course);
	cluster_fini(&cluster);
	free(grant);
}

static void nothing_happened(void **state)
{
	struct cluster cluster = { 0 };
	struct course course;
	struct outcome out = { 0 };
	uint32_t held = 0;

	(void)state;
	course_init(&course, &cluster, &held, true);
	course_finish(&course, 0, &out);
	assert_int_equal(out.nsamples, 0);
	assert_true(out.busy_gpu_s == 0 && out.up_gpu_s == 0);
	outcome_fini(&out);
	course_fini(&course);
}

/* ---- crowding, and the fair time that follows from it */

/* Two jobs of 10 s on one device: twice the cluster is asked for until 10, then once. */
static void fair_times_of_a_small_example(void **state)
{
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "1x1");
	scene_job(&s, 0, 1, 10);
	scene_job(&s, 0, 1, 10);
	s.config.policy = "fifo";
	scene_run(&s, &out);
	assert_true(out.jobs[0].finish_s == 10 && out.jobs[1].finish_s == 20);
	assert_true(out.jobs[0].fair_s == 10 * 2);   /* crowded all its life */
	assert_true(out.jobs[1].fair_s == 10 * 1.5); /* and half of it */
	outcome_fini(&out);
	scene_fini(&s);
}

static void alone_the_fair_time_is_the_run_time(void **state)
{
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "1x8");
	scene_job(&s, 5, 2, 30);
	scene_job(&s, 5, 2, 10);
	s.config.policy = "fifo";
	scene_run(&s, &out);
	assert_true(out.jobs[0].fair_s == 30);
	assert_true(out.jobs[1].fair_s == 10);
	outcome_fini(&out);
	scene_fini(&s);
}

static void a_failed_node_makes_it_more_crowded(void **state)
{
	struct cluster cluster = { 0 };
	struct course course;
	struct err err;
	struct job job;
	struct event down = { .at_s = 10, .kind = EV_NODE_DOWN, .job = JOB_NONE, .node = 1 };
	struct event up = { .at_s = 20, .kind = EV_NODE_UP, .job = JOB_NONE, .node = 1 };
	struct observer observer;
	uint32_t held = 0;

	(void)state;
	assert_int_equal(cluster_parse("2x1", &cluster, &err), 0);
	course_init(&course, &cluster, &held, false);
	observer = course_observer(&course);
	job_init(&job);
	job.id = 0;
	job.gpus = 2;
	tell(&course, 0, EV_SUBMIT, &job, NULL);
	observer.see(observer.self, &down, NULL);
	observer.see(observer.self, &up, NULL);
	assert_true(course_crowding(&course, 0, 0) == 1.5); /* 1 for 10 s, then 2 for 10 s */
	assert_true(course_crowding(&course, 0, 20) == 1);  /* no time has passed */
	course_fini(&course);
	cluster_fini(&cluster);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_integrate_to_the_totals),
		cmocka_unit_test(spans_tell_who_held_what),
		cmocka_unit_test(spans_are_kept_only_if_asked_for),
		cmocka_unit_test(a_span_that_is_cut_off_ends_with_the_run),
		cmocka_unit_test(too_many_spans_are_counted),
		cmocka_unit_test(nothing_happened),
		cmocka_unit_test(fair_times_of_a_small_example),
		cmocka_unit_test(alone_the_fair_time_is_the_run_time),
		cmocka_unit_test(a_failed_node_makes_it_more_crowded),
	};

	return cmocka_run_group_tests_name("engine/course", tests, NULL, NULL);
}
