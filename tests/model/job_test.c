#include "model/job.h"

#include <string.h>

#include "base/names.h"
#include "base/property.h"

static struct grant two_gpus = { .gpus = 2, .nslots = 1, .share = 1 };

/* A job of 100 steps on two devices since 50, making steps since 60, that did 10 steps before. */
static struct job running(void)
{
	struct job job;

	job_init(&job);
	job.state = JOB_RUNNING;
	job.grant = &two_gpus;
	job.held_s = 50;
	job.ready_s = 60;
	job.rate = 0.5;
	job.work_est = 100;
	job.nominal_rate = 2;
	job.done = 10;
	job.ran_s = 5;
	job.served_s = 20;
	job.waited_s = 7;
	return job;
}

static void test_new_job(void **state)
{
	struct job job;

	(void)state;
	memset(&job, 0xff, sizeof(job));
	job_init(&job);
	assert_int_equal(job.id, JOB_NONE);
	assert_int_equal(job.tenant, NAME_NONE);
	assert_int_equal(job.model, NAME_NONE);
	assert_int_equal(job.gpus, 1);
	assert_int_equal(job.min_gpus, 0);
	assert_true(job.weight == 1 && job.nominal_rate == 1);
	assert_true(isinf(job.deadline_s) && job.deadline_s > 0);
	assert_true(isnan(job.work_est) && isnan(job.start_s) && isnan(job.finish_s));
	assert_int_equal(job.state, JOB_FUTURE);
	assert_null(job.grant);
	assert_true(job_done(&job, 1e9) == 0 && job_ran_s(&job, 1e9) == 0);
	assert_true(job_served_s(&job, 1e9) == 0 && job_waited_s(&job, 1e9) == 0);
}

static const struct {
	const char *what;
	enum job_state state;
	double now_s;
	double done, ran_s, served_s, remaining_s;
} progress[] = {
	{ "before it is ready nothing moves", JOB_RUNNING, 55, 10, 5, 20, 45 },
	{ "at the moment it is ready nothing has moved", JOB_RUNNING, 60, 10, 5, 20, 45 },
	{ "ten seconds at half a step per second are five steps", JOB_RUNNING, 70, 15, 15, 40, 42.5 },
	{ "remaining time is negative once the belief was too short", JOB_RUNNING, 260, 110, 205,
		420, -5 },
	{ "a job that waits stands still", JOB_PENDING, 260, 10, 5, 20, 45 },
	{ "a job that has finished stands still", JOB_FINISHED, 260, 10, 5, 20, 45 },
};

static void test_progress(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(progress); i++) {
		struct job job = running();

		print_message("%s\n", progress[i].what);
		job.state = progress[i].state;
		assert_true(job_done(&job, progress[i].now_s) == progress[i].done);
		assert_true(job_ran_s(&job, progress[i].now_s) == progress[i].ran_s);
		assert_true(job_served_s(&job, progress[i].now_s) == progress[i].served_s);
		assert_true(job_remaining_s(&job, progress[i].now_s) == progress[i].remaining_s);
		assert_true(job_run_s(&job) == 50);
	}
}

static void test_unknown_rate_spoils_nothing_before_ready(void **state)
{
	struct job job = running();

	(void)state;
	job.rate = NAN;
	assert_true(job_done(&job, 60) == 10);
}

static void test_served_without_a_grant_counts_what_was_asked(void **state)
{
	struct job job = running();

	(void)state;
	job.grant = NULL;
	job.gpus = 4;
	assert_true(job_served_s(&job, 70) == 20 + 4 * 10);
}

static const struct {
	const char *what;
	enum job_state state;
	double since_s, now_s, waited_s;
} waits[] = {
	{ "a pending job waits on", JOB_PENDING, 100, 130, 37 },
	{ "a running one does not", JOB_RUNNING, 100, 130, 7 },
	{ "a held one does not either", JOB_HELD, 100, 130, 7 },
	{ "time before it began does not count", JOB_PENDING, 100, 90, 7 },
};

static void test_waited(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(waits); i++) {
		struct job job = running();

		print_message("%s\n", waits[i].what);
		job.state = waits[i].state;
		job.wait_since_s = waits[i].since_s;
		assert_true(job_waited_s(&job, waits[i].now_s) == waits[i].waited_s);
	}
}

static void test_active_and_ended(void **state)
{
	struct job job;

	(void)state;
	job_init(&job);
	for (int s = JOB_FUTURE; s <= JOB_UNFINISHED; s++) {
		job.state = (enum job_state)s;
		assert_int_equal(job_active(&job), s == JOB_PENDING || s == JOB_RUNNING);
		assert_int_equal(job_ended(&job), s >= JOB_FINISHED);
	}
}

/* Scripts read these words: each is there, short, and there once. */
static void check_words(const char *const *words, int n)
{
	for (int i = 0; i < n; i++) {
		assert_non_null(words[i]);
		assert_true(strlen(words[i]) > 1 && strlen(words[i]) < 16);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(words[i], words[j]);
	}
}

static void test_words(void **state)
{
	const char *states[JOB_UNFINISHED + 1], *causes[WHY_COUNT];

	(void)state;
	for (int s = 0; s <= JOB_UNFINISHED; s++)
		states[s] = job_state_name((enum job_state)s);
	for (int w = 0; w < WHY_COUNT; w++)
		causes[w] = why_name((enum why)w);
	check_words(states, JOB_UNFINISHED + 1);
	check_words(causes, WHY_COUNT);
	assert_string_equal(job_state_name(JOB_PENDING), "pending");
	assert_string_equal(why_name(WHY_BUSY), "busy");
	assert_string_equal(job_state_name((enum job_state)99), "?");
	assert_string_equal(why_name((enum why)99), "?");
}

static const struct {
	struct reason reason;
	const char *other;
	const char *want;
} sentences[] = {
	{ { WHY_BUSY, 4, 1, JOB_NONE, 0, 0, 0 }, NULL, "it needs 4 devices and 1 is free" },
	{ { WHY_BUSY, 1, 0, JOB_NONE, 0, 0, 0 }, NULL, "it needs 1 device and 0 are free" },
	{ { WHY_BEHIND, 0, 0, 7, 0, 0, 0 }, "job 7",
		"job 7 is ahead of it and does not fit; the queue keeps its order" },
	{ { WHY_OUTRANKED, 0, 0, JOB_NONE, 0, 0, 0 }, NULL,
		"another job ranks higher and holds the devices" },
	{ { WHY_TOO_LARGE, 128, 64, JOB_NONE, 0, 0, 0 }, NULL,
		"it needs 128 devices and the cluster can never give more than 64" },
	{ { WHY_DEADLINE, 4, 1, JOB_NONE, 3600, 0, 0 }, NULL,
		"its deadline cannot be promised beside those promised already; one at 1h could be; "
		"so could this one with 4 devices throughout, of which 1 is left" },
	{ { WHY_DEADLINE, 0, 0, JOB_NONE, 3600, 0, 0 }, NULL,
		"its deadline is sooner than it can run even alone; one at 1h could be" },
	{ { WHY_DEADLINE, 0, 0, JOB_NONE, INFINITY, 0, 0 }, NULL,
		"its deadline is sooner than it can run even alone" },
	{ { WHY_RECALLED, 2, 0, JOB_NONE, 0, 0, 0 }, NULL,
		"its node was borrowed and went back; it waits for devices to go on" },
	{ { WHY_SHARE, 1, 0, 7, 0, 1.3, 0.7 }, "job 7",
		"its tenant has had 130 % of its fair share, that of job 7 70 %" },
	{ { WHY_SHARE, 1, 0, JOB_NONE, 0, 1.3, 0 }, NULL, "its tenant has had 130 % of its fair share" },
	{ { WHY_SHARE, 1, 0, JOB_NONE, 0, 0, 0 }, NULL, "its tenant is above its fair share" },
	{ { WHY_TURN, 1, 0, 7, 0, 60, 180 }, "job 7", "job 7 is owed the devices first, 3m against 1m" },
	{ { WHY_TURN, 1, 0, 7, 0, 0, 0 }, "job 7", "job 7 is owed the devices first" },
	{ { WHY_TURN, 1, 0, JOB_NONE, 0, 0, 0 }, NULL, "others are owed the devices first" },
};

static void test_sentences(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(sentences); i++) {
		struct buf out = { 0 };

		reason_text(&sentences[i].reason, sentences[i].other, &out);
		assert_string_equal(out.at, sentences[i].want);
		buf_fini(&out);
	}
	for (int w = 0; w < WHY_COUNT; w++) {
		struct reason reason = { .why = (enum why)w, .other = JOB_NONE };
		struct buf out = { 0 };

		reason_text(&reason, NULL, &out);
		assert_true(out.n > 10);
		buf_fini(&out);
	}
}

/* Cutting a run into pieces, as the engine does at every change, must not change what was done. */
static void test_pieces_add_up(void **state)
{
	struct rng rng = property("progress in pieces equals progress in one");

	(void)state;
	for (size_t i = 0; i < rounds(200); i++) {
		struct job whole = running(), cut = running();
		double now_s = 60;

		for (int k = 0; k < 10; k++) {
			now_s += (double)rng_below(&rng, 64) / 4;
			cut.done = job_done(&cut, now_s);
			cut.ran_s = job_ran_s(&cut, now_s);
			cut.served_s = job_served_s(&cut, now_s);
			cut.ready_s = now_s;
		}
		assert_true(job_done(&cut, now_s) == job_done(&whole, now_s));
		assert_true(job_ran_s(&cut, now_s) == job_ran_s(&whole, now_s));
		assert_true(job_served_s(&cut, now_s) == job_served_s(&whole, now_s));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new_job),
		cmocka_unit_test(test_progress),
		cmocka_unit_test(test_unknown_rate_spoils_nothing_before_ready),
		cmocka_unit_test(test_served_without_a_grant_counts_what_was_asked),
		cmocka_unit_test(test_waited),
		cmocka_unit_test(test_active_and_ended),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_pieces_add_up),
	};

	return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
