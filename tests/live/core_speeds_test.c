/*
 * What elastic jobs show of their speed, and what policies make of it.
 */
#include "live/core.h"

#include "live/core_state.h"
#include "play.h"

static const struct ask elastic = { .gpus = 1, .min_gpus = 1, .max_gpus = 4 };

static int open_devices(const struct play *p, uint32_t job)
{
	uint32_t number = core_job(p->core, job)->attempt;
	const struct attempt *a = core_attempt(p->core, job, number);

	return a->next ? (int)a->next->gpus : (int)a->grant->gpus;
}

/* A job of the world: where it is, and how long its steps take on 1, 2, 3, 4 devices. */
struct worker {
	uint32_t job;
	double step, step_s[4];
	const char *metrics;
};

/* It goes on for ten seconds with what it has, and says so every two. */
static void goes_on(struct play *p, struct worker *w)
{
	uint32_t number = core_job(p->core, w->job)->attempt;

	for (int i = 0; i < 5; i++) {
		char body[256];
		const struct attempt *a = core_attempt(p->core, w->job, number);

		if (a->next_told) {
			snprintf(body, sizeof(body), "{\"gpus\":%u}", a->next->gpus);
			play_do(p, p->now_s, "resized", w->job, number, body);
		}
		w->step += 2 / w->step_s[a->grant->gpus - 1];
		snprintf(body, sizeof(body),
			"{\"step\":%.0f,\"total\":1000000,\"resizable\":true,\"metrics\":%s}",
			w->step, w->metrics);
		play_do(p, p->now_s + 2, "progress", w->job, number, body);
	}
}

static bool is_launched(const struct play *p, uint32_t job)
{
	const struct attempt *a = core_attempt(p->core, job, 1);

	return a && a->phase == PHASE_LAUNCHED;
}

/* Somebody else, if there is anybody, may have to make room first. */
static void begins(struct play *p, struct worker *w, struct worker *other)
{
	w->job = play_submit(p, p->now_s, elastic);
	for (int i = 0; i < 4 && !is_launched(p, w->job); i++) {
		if (other)
			goes_on(p, other);
		else
			play_pass(p, p->now_s + 2);
	}
	play_begun(p, p->now_s + 0.1, w->job, 1);
}

static const char *const elastic_policies[] = { "sia:round_s=2,lambda=2",
	"pollux:round_s=2,restart_s=0", "optimus:round_s=2", "afs", "elasticflow:slot_s=2", "lyra",
	"heet:round_s=2" };

enum { POLICIES = sizeof(elastic_policies) / sizeof(elastic_policies[0]) };

static void a_job_that_scales_grows_from_its_fewest(void **state)
{
	(void)state;
	for (int i = 0; i < POLICIES; i++) {
		struct worker w = { .step_s = { 0.4, 0.2, 0.4 / 3, 0.1 },
			.metrics = i % 2 ? "{}" : "{\"batch\":64}" };
		struct play p;

		print_message("%s\n", elastic_policies[i]);
		play_open(&p, "1x4", elastic_policies[i]);
		begins(&p, &w, NULL);
		assert_int_equal(open_devices(&p, w.job), 1);
		for (int k = 0; k < 4; k++)
			goes_on(&p, &w);
		assert_int_equal(open_devices(&p, w.job), 4);
		play_close(&p);
	}
}

static void a_job_that_does_not_scale_leaves_devices_to_others(void **state)
{
	(void)state;
	/* Heet, the last, lets a job that is alone keep what it has. */
	for (int i = 0; i < POLICIES - 1; i++) {
		struct worker bad = { .step_s = { 0.1, 0.15, 0.2, 0.25 }, .metrics = "{\"batch\":64}" };
		struct worker good = { .step_s = { 0.4, 0.2, 0.4 / 3, 0.1 },
			.metrics = "{\"batch\":64}" };
		struct play p;

		print_message("%s\n", elastic_policies[i]);
		play_open(&p, "1x4", elastic_policies[i]);
		begins(&p, &bad, NULL);
		for (int k = 0; k < 4; k++)
			goes_on(&p, &bad);
		assert_true(core_job(p.core, bad.job)->speeds.n >= 2);
		assert_int_equal(open_devices(&p, bad.job), 1);
		begins(&p, &good, &bad);
		for (int k = 0; k < 4; k++) {
			goes_on(&p, &bad);
			goes_on(&p, &good);
		}
		assert_int_equal(open_devices(&p, bad.job), 1);
		assert_true(open_devices(&p, good.job) >= 2);
		play_close(&p);
	}
}

/* One that keeps its batch is believed to scale until it has shown that it does not. */
static void a_job_seen_on_one_device_is_believed_to_scale(void **state)
{
	struct worker w = { .step_s = { 0.4, 0.2, 0.4 / 3, 0.1 }, .metrics = "{\"batch\":64}" };
	const struct job *job;
	struct play p;

	(void)state;
	play_open(&p, "1x8", "fifo");
	w.job = play_submit(&p, 0, (struct ask){ .gpus = 1, .min_gpus = 1, .max_gpus = 8 });
	play_begun(&p, 1, w.job, 1);
	goes_on(&p, &w);
	job = core_engine_job(p.core, core_job(p.core, w.job));
	for (uint32_t gpus = 1; gpus <= 8; gpus++) {
		/* 64 samples cannot be spread evenly over any number, and those on top count for nothing. */
		double even = 64 / (ceil(64. / gpus) * gpus);

		assert_true(fabs(core_agent_speed(p.core, job, 0, gpus, 1) - 2.5 * gpus * even) < 0.05);
	}
	play_close(&p);
}

/* With another policy or another daemon. */
static void what_was_learnt_stays(void **state)
{
	struct worker w = { .step_s = { 0.1, 0.15, 0.2, 0.25 }, .metrics = "{\"batch\":64}" };
	struct play p;
	size_t n;

	(void)state;
	play_open(&p, "1x4", "sia:round_s=2");
	begins(&p, &w, NULL);
	for (int k = 0; k < 4; k++)
		goes_on(&p, &w);
	n = core_job(p.core, w.job)->speeds.n;
	assert_true(n >= 2);
	play_policy(&p, p.now_s + 1, "optimus:round_s=2");
	assert_int_equal(core_job(p.core, w.job)->speeds.n, n);
	for (int k = 0; k < 2; k++)
		goes_on(&p, &w);
	assert_int_equal(open_devices(&p, w.job), 1);
	assert_true(play_number(&p, w.job, "first_batch") == 64);
	play_restart(&p, p.now_s + 1);
	assert_int_equal(core_job(p.core, w.job)->speeds.n, n);
	play_pass(&p, p.now_s + 10);
	assert_int_equal(open_devices(&p, w.job), 1);
	play_close(&p);
}

static void one_that_says_nothing_is_not_waited_for(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x4", "sia:round_s=2");
	play_submit(&p, 0, elastic);
	play_begun(&p, 1, 1, 1);
	play_pass(&p, 300);
	assert_int_equal(open_devices(&p, 1), 1);
	play_pass(&p, 304);
	assert_int_equal(open_devices(&p, 1), 4);
	play_restart(&p, 305);
	play_pass(&p, 306);
	assert_int_equal(open_devices(&p, 1), 4);
	play_close(&p);
}

/* Speeds of rigid jobs, of too few steps, and without a total are none. */
static void what_is_no_measurement(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x4", "afs");
	play_submit(&p, 0, (struct ask){ .gpus = 1 });
	play_submit(&p, 0, elastic);
	play_begun(&p, 1, 1, 1);
	play_begun(&p, 1, 2, 1);
	for (int i = 0; i < 5; i++) {
		char body[96];

		snprintf(body, sizeof(body), "{\"step\":%d,\"total\":1000}", 10 * i);
		play_do(&p, 2 + 2 * i, "progress", 1, 1, body);
		snprintf(body, sizeof(body), "{\"step\":%d}", 10 * i);
		play_do(&p, 2 + 2 * i, "progress", 2, 1, body);
	}
	assert_int_equal(core_job(p.core, 1)->speeds.n, 0);
	assert_int_equal(core_job(p.core, 2)->speeds.n, 0);
	play_do(&p, 12, "progress", 2, 1, "{\"step\":50,\"total\":1000}");
	assert_int_equal(core_job(p.core, 2)->speeds.n, 1);
	play_close(&p);
}

/* Metrics that are no numbers of their kind change nothing. */
static void odd_metrics_are_not_believed(void **state)
{
	struct worker w = { .step_s = { 0.4, 0.2, 0.4 / 3, 0.1 },
		.metrics = "{\"batch\":-3,\"sync_s\":1e9,\"grad_sqr\":\"x\",\"grad_var\":-1,"
			   "\"max_batch\":1e300}" };
	struct play p;

	(void)state;
	play_open(&p, "1x4", "sia:round_s=2");
	begins(&p, &w, NULL);
	for (int k = 0; k < 4; k++)
		goes_on(&p, &w);
	assert_true(isnan(core_job(p.core, w.job)->first_batch));
	assert_true(isnan(core_job(p.core, w.job)->progress.grad_var));
	assert_true(isnan(core_job(p.core, w.job)->progress.max_batch));
	assert_in_range(open_devices(&p, w.job), 1, 4);
	play_close(&p);
}

/* Sums and products of the largest numbers are none: such a job was stopped and never started again. */
static void metrics_that_overflow_are_not_believed(void **state)
{
	(void)state;
	for (int i = 0; i < POLICIES; i++) {
		struct worker w = { .step_s = { 0.4, 0.2, 0.4 / 3, 0.1 },
			.metrics = "{\"batch\":64,\"grad_sqr\":1e308,\"grad_var\":1e308}" };
		struct play p;

		print_message("%s\n", elastic_policies[i]);
		play_open(&p, "1x4", elastic_policies[i]);
		begins(&p, &w, NULL);
		for (int k = 0; k < 4; k++)
			goes_on(&p, &w);
		assert_true(isnan(core_job(p.core, w.job)->progress.grad_var));
		assert_int_equal(open_devices(&p, w.job), 4);
		assert_int_equal(core_job(p.core, w.job)->attempt, 1);
		play_close(&p);
	}
}

/* Its agent is asked what a larger batch is worth, and says what it has felt. */
static void a_batch_that_grows_counts_in_steps_of_the_first(void **state)
{
	struct worker w = { .step_s = { 0.4, 0.2, 0.4 / 3, 0.1 },
		.metrics = "{\"batch\":64,\"max_batch\":256,\"grad_sqr\":1,\"grad_var\":3}" };
	struct play p;
	const struct live_job *job;

	(void)state;
	play_open(&p, "1x4", "fifo");
	begins(&p, &w, NULL);
	goes_on(&p, &w);
	w.metrics = "{\"batch\":128,\"max_batch\":256,\"grad_sqr\":1,\"grad_var\":3}";
	goes_on(&p, &w);
	job = core_job(p.core, w.job);
	assert_true(job->first_batch == 64 && job->progress.batch == 128);
	assert_int_equal(job->speeds.n, 2);
	/* 2.5 first steps a second, of which one at 128 makes (3 + 1) / (3 / 2 + 1) */
	assert_true(fabs(job->speeds.at[1].step_s - 1.6 * 0.4) < 0.02);
	play_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_that_scales_grows_from_its_fewest),
		cmocka_unit_test(a_job_that_does_not_scale_leaves_devices_to_others),
		cmocka_unit_test(a_job_seen_on_one_device_is_believed_to_scale),
		cmocka_unit_test(what_was_learnt_stays),
		cmocka_unit_test(one_that_says_nothing_is_not_waited_for),
		cmocka_unit_test(what_is_no_measurement),
		cmocka_unit_test(odd_metrics_are_not_believed),
		cmocka_unit_test(metrics_that_overflow_are_not_believed),
		cmocka_unit_test(a_batch_that_grows_counts_in_steps_of_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
