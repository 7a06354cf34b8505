/*
 * The core: what comes of what happens, and that it comes again.
 */
#include "live/core.h"

#include <signal.h>

#include "live/core_state.h"
#include "play.h"

/* ---- one job */

static void a_job_runs_and_completes(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2", "fifo");
	assert_int_equal(play_submit(&p, 1, (struct ask){ .gpus = 2 }), 1);
	play_says(&p, "start 1.1, launch 1.1");
	play_state(&p, 1, "CONFIGURING");
	play_begun(&p, 2, 1, 1);
	play_says(&p, "state 1.1");
	play_state(&p, 1, "RUNNING");
	play_exit(&p, 60, 1, 1, 0);
	play_says(&p, "over 1.1, end 1");
	play_state(&p, 1, "COMPLETED");
	assert_null(core_job(p.core, 1));
	assert_int_equal(play_try(&p, "cancel", 1, 0, "{}"), ERR_MISSING);
	play_close(&p);
}

static void a_failure_ends_a_job_and_retries_are_counted(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 1, (struct ask){ .gpus = 1 });
	play_submit(&p, 2, (struct ask){ .gpus = 1, .retries = 1 });
	play_exit(&p, 10, 1, 1, 3);
	play_says(&p, "over 1.1, end 1, start 2.1, launch 2.1");
	play_state(&p, 1, "FAILED");
	play_begun(&p, 11, 2, 1);
	play_exit(&p, 20, 2, 1, 3);
	play_says(&p, "over 2.1, state 2, start 2.2, launch 2.2");
	play_exit(&p, 30, 2, 2, 3);
	play_says(&p, "over 2.2, end 2");
	play_state(&p, 2, "FAILED");
	play_close(&p);
}

static void what_was_checkpointed_runs_again(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1, .estimate_s = 100 });
	play_begun(&p, 1, 1, 1);
	play_exit(&p, 41, 1, 1, EXIT_CHECKPOINTED);
	play_says(&p, "over 1.1, state 1, start 1.2, launch 1.2");
	assert_true(play_number(&p, 1, "saved") == 40);
	assert_true(play_number(&p, 1, "done") == 40);
	play_begun(&p, 42, 1, 2);
	play_exit(&p, 50, 1, 2, 0);
	play_state(&p, 1, "COMPLETED");
	play_close(&p);
}

static const struct {
	const char *what, *body;
	bool no_requeue;
	const char *state;
} endings[] = {
	{ "its time was over", "{\"known\":true,\"code\":-1,\"signal\":15,\"timed_out\":true}",
		false, "TIMEOUT" },
	{ "killed", "{\"known\":true,\"signal\":9}", false, "FAILED" },
	{ "gone without a word", "{\"known\":false}", true, "NODE_FAIL" },
	{ "gone without a word, may run again", "{\"known\":false}", false, "CONFIGURING" },
	{ "done", "{\"known\":true,\"code\":0}", true, "COMPLETED" },
};

static void endings_have_their_states(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(endings); i++) {
		struct play p;

		play_open(&p, "1x1", "fifo");
		play_submit(&p, 0, (struct ask){ .gpus = 1, .no_requeue = endings[i].no_requeue });
		play_begun(&p, 1, 1, 1);
		play_do(&p, 9, "exit", 1, 1, endings[i].body);
		play_state(&p, 1, endings[i].state);
		play_close(&p);
	}
}

/* ---- labels */

static const char over_memory[] =
	"{\"known\":true,\"code\":-1,\"signal\":9,\"over_memory\":true,\"text\":\"had more\"}";

/* Once more with the largest, and then it has failed, whatever it says of retries. */
static void a_label_that_was_too_small_is_tried_once_more(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1, .retries = 5, .mem_bytes = 100, .mem_most = 900 });
	assert_true(play_number(&p, 1, "mem_bytes") == 100);
	play_begun(&p, 1, 1, 1);
	play_do(&p, 9, "exit", 1, 1, over_memory);
	play_says(&p, "over 1.1, state 1, start 1.2, launch 1.2");
	assert_true(play_number(&p, 1, "mem_bytes") == 900);
	play_begun(&p, 10, 1, 2);
	play_do(&p, 19, "exit", 1, 2, over_memory);
	play_says(&p, "over 1.2, end 1");
	play_state(&p, 1, "FAILED");
	play_close(&p);
}

static void what_it_had_before_the_label_was_raised_outlives_the_daemon(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1, .mem_bytes = 100, .mem_most = 900 });
	play_begun(&p, 1, 1, 1);
	play_do(&p, 9, "exit", 1, 1, over_memory);
	play_restart(&p, 10);
	assert_true(play_number(&p, 1, "mem_bytes") == 900);
	play_begun(&p, 11, 1, 2);
	play_exit(&p, 20, 1, 2, 0);
	play_state(&p, 1, "COMPLETED");
	play_close(&p);
}

/* ---- pipelines */

/* Who waits outside for others counts: the short job with a long one behind it goes before the longer one. */
static void policies_see_who_waits_outside(void **state)
{
	static const struct {
		const char *policy, *says;
	} rows[] = {
		{ "moldable", "over 1.1, end 1, start 3.1, launch 3.1" },
		{ "ursa:order=srjf", "over 1.1, end 1, start 2.1, launch 2.1" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct play p;

		play_open(&p, "1x1", rows[i].policy);
		play_submit(&p, 0, (struct ask){ .gpus = 1, .estimate_s = 50 });
		play_begun(&p, 1, 1, 1);
		play_submit(&p, 2, (struct ask){ .gpus = 1, .estimate_s = 10 });
		play_submit(&p, 3, (struct ask){ .gpus = 1, .estimate_s = 5 });
		play_submit(&p, 4,
			(struct ask){ .gpus = 1, .estimate_s = 20, .after = { { AFTER_OK, 3 } } });
		play_submit(&p, 5,
			(struct ask){ .gpus = 1, .estimate_s = 20, .after = { { AFTER_ANY, 4 } } });
		play_exit(&p, 51, 1, 1, 0);
		play_says(&p, rows[i].says);
		play_close(&p);
	}
}

/* ---- preemption */

static void open_with_a_victim(struct play *p)
{
	play_open(p, "1x1", "priority:preempt=yes");
	play_submit(p, 0, (struct ask){ .gpus = 1, .estimate_s = 1000 });
	play_begun(p, 1, 1, 1);
	play_submit(p, 100, (struct ask){ .gpus = 1, .priority = 1 });
	play_says(p, "stop 1.1, start 2.1");
	play_state(p, 1, "COMPLETING");
	play_state(p, 2, "CONFIGURING");
}

static void the_heir_is_launched_when_the_victim_has_gone(void **state)
{
	struct play p;

	(void)state;
	open_with_a_victim(&p);
	play_pass(&p, 103);
	play_says(&p, "");
	play_exit(&p, 105, 1, 1, 143);
	play_says(&p, "over 1.1, state 1, launch 2.1");
	play_state(&p, 1, "PENDING");
	play_begun(&p, 106, 2, 1);
	play_exit(&p, 110, 2, 1, 0);
	play_says(&p, "over 2.1, end 2, start 1.2, launch 1.2");
	assert_true(play_number(&p, 1, "preemptions") == 1);
	play_close(&p);
}

static void a_victim_that_was_through_has_completed(void **state)
{
	struct play p;

	(void)state;
	open_with_a_victim(&p);
	play_exit(&p, 105, 1, 1, 0);
	play_says(&p, "over 1.1, end 1, launch 2.1");
	play_state(&p, 1, "COMPLETED");
	play_close(&p);
}

static void a_victim_is_started_again_before_it_has_gone(void **state)
{
	struct play p;

	(void)state;
	open_with_a_victim(&p);
	/* The heir is taken back: the victim gets its devices again, and waits for itself. */
	play_change(&p, 102, "cancel", 2);
	play_says(&p, "over 2.1, end 2, start 1.2");
	play_state(&p, 1, "CONFIGURING");
	play_exit(&p, 104, 1, 1, 143);
	play_says(&p, "over 1.1, state 1, launch 1.2");
	play_begun(&p, 105, 1, 2);
	play_exit(&p, 110, 1, 2, 0);
	play_close(&p);
}

static void a_victim_that_completes_needs_no_second_start(void **state)
{
	struct play p;

	(void)state;
	open_with_a_victim(&p);
	play_change(&p, 102, "cancel", 2);
	play_exit(&p, 104, 1, 1, 0);
	play_says(&p, "over 1.1, over 1.2, end 1");
	play_state(&p, 1, "COMPLETED");
	play_close(&p);
}

static void a_victim_that_must_not_run_again_is_preempted(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "priority:preempt=yes");
	play_submit(&p, 0, (struct ask){ .gpus = 1, .no_requeue = true });
	play_begun(&p, 1, 1, 1);
	play_submit(&p, 100, (struct ask){ .gpus = 1, .priority = 1 });
	play_exit(&p, 105, 1, 1, 143);
	play_says(&p, "over 1.1, end 1, launch 2.1");
	play_state(&p, 1, "PREEMPTED");
	play_close(&p);
}

static void an_attempt_that_was_not_launched_cannot_end_or_begin(void **state)
{
	struct play p;

	(void)state;
	open_with_a_victim(&p);
	play_begin(&p, 101);
	assert_int_equal(play_try(&p, "begun", 2, 1, "{}"), ERR_MISSING);
	assert_int_equal(play_try(&p, "exit", 2, 1, "{\"known\":true,\"code\":0}"), ERR_MISSING);
	assert_int_equal(play_try(&p, "begun", 1, 1, "{}"), ERR_MISSING);
	assert_int_equal(play_try(&p, "exit", 7, 1, "{}"), ERR_MISSING);
	assert_int_equal(play_try(&p, "nonsense", 1, 1, "{}"), ERR_BROKEN);
	play_end(&p);
	play_says(&p, "");
	play_close(&p);
}

/* Whatever happens in the same moment as the end. */
static void two_on_one_device_end_together(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2", "fifo");
	for (int i = 0; i < 4; i++)
		play_submit(&p, i, (struct ask){ .gpus = 1, .share = 0.5 });
	play_begin(&p, 10);
	for (uint32_t job = 1; job <= 4; job++)
		play_apply(&p, "exit", job, 1, "{\"known\":true,\"code\":0}");
	play_end(&p);
	for (uint32_t job = 1; job <= 4; job++)
		play_state(&p, job, "COMPLETED");
	play_close(&p);
}

/* ---- cancel, hold, release, requeue */

static void a_job_is_cancelled_in_every_state(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1 });
	play_submit(&p, 1, (struct ask){ .gpus = 1 });
	play_submit(&p, 2, (struct ask){ .gpus = 1, .hold = true });
	play_change(&p, 3, "cancel", 2); /* pending */
	play_says(&p, "end 2");
	play_change(&p, 4, "cancel", 3); /* held */
	play_says(&p, "end 3");
	play_change(&p, 5, "cancel", 1); /* configuring */
	play_says(&p, "stop 1.1, state 1");
	play_change(&p, 6, "cancel", 1); /* again */
	play_says(&p, "state 1");
	play_begun(&p, 7, 1, 1);
	play_state(&p, 1, "COMPLETING");
	play_exit(&p, 8, 1, 1, 0);
	play_says(&p, "over 1.1, end 1");
	play_submit(&p, 9, (struct ask){ .gpus = 1 });
	play_begun(&p, 10, 4, 1);
	play_change(&p, 11, "cancel", 4); /* running */
	play_exit(&p, 12, 4, 1, 143);
	for (uint32_t job = 1; job <= 4; job++)
		play_state(&p, job, "CANCELLED");
	play_close(&p);
}

/* The cancel of one that stops already must survive a restart, too. */
static void a_victim_is_cancelled_for_good(void **state)
{
	struct play p;

	(void)state;
	open_with_a_victim(&p);
	play_change(&p, 102, "cancel", 1);
	play_says(&p, "state 1.1, state 1");
	play_restart(&p, 103);
	play_pass(&p, 104);
	play_state(&p, 1, "COMPLETING");
	play_exit(&p, 105, 1, 1, 143);
	play_says(&p, "over 1.1, end 1, launch 2.1");
	play_state(&p, 1, "CANCELLED");
	play_close(&p);
}

static void a_held_job_waits_for_its_release(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1 });
	play_begun(&p, 1, 1, 1);
	play_submit(&p, 2, (struct ask){ .gpus = 1 });
	play_change(&p, 3, "hold", 2); /* pending */
	play_says(&p, "state 2");
	play_reason(&p, 2, "held");
	play_change(&p, 4, "hold", 1); /* running */
	play_says(&p, "stop 1.1, state 1");
	play_change(&p, 5, "release", 1);
	play_reason(&p, 1, "stopping");
	play_change(&p, 6, "hold", 1);
	play_exit(&p, 7, 1, 1, 143);
	play_says(&p, "over 1.1, state 1");
	play_state(&p, 1, "PENDING");
	play_restart(&p, 8);
	play_pass(&p, 9);
	play_says(&p, "");
	play_change(&p, 10, "release", 2);
	play_says(&p, "state 2, start 2.1, launch 2.1");
	play_change(&p, 11, "release", 1);
	play_exit(&p, 12, 2, 1, 0);
	play_says(&p, "over 2.1, end 2, start 1.2, launch 1.2");
	play_close(&p);
}

static void a_running_job_starts_over(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1 });
	play_begun(&p, 1, 1, 1);
	play_change(&p, 2, "requeue", 1);
	play_says(&p, "stop 1.1, state 1");
	play_exit(&p, 3, 1, 1, 143);
	play_says(&p, "over 1.1, state 1, start 1.2, launch 1.2");
	play_close(&p);
}

static void an_ended_job_comes_back(void **state)
{
	struct play p;
	bool live;
	char *body;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1 });
	play_exit(&p, 5, 1, 1, 3);
	play_state(&p, 1, "FAILED");
	assert_int_equal(play_try(&p, "requeue", 1, 0, "{}"), ERR_MISSING);
	body = mem_printf("{\"job\":%s}", play_status(&p, 1, &live));
	play_do(&p, 9, "requeue", 1, 0, body);
	free(body);
	play_says(&p, "state 1, start 1.2, launch 1.2");
	play_exit(&p, 12, 1, 2, 0);
	play_state(&p, 1, "COMPLETED");
	play_close(&p);
}

static void what_is_asked_for_is_changed_while_it_waits(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "priority");
	play_submit(&p, 0, (struct ask){ .gpus = 1 });
	play_submit(&p, 1, (struct ask){ .gpus = 1 });
	play_submit(&p, 2, (struct ask){ .gpus = 1 });
	play_begin(&p, 3);
	assert_int_equal(play_try(&p, "update", 1, 0, "{\"priority\":9}"), ERR_REFUSED);
	play_end(&p);
	play_do(&p, 4, "update", 3, 0, "{\"priority\":9}");
	play_exit(&p, 5, 1, 1, 0);
	play_says(&p, "over 1.1, end 1, start 3.1, launch 3.1");
	play_close(&p);
}

static void its_size_and_name_are_changed_while_it_waits(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1 });
	play_submit(&p, 1, (struct ask){ .gpus = 2 });
	play_says(&p, "");
	play_do(&p, 2, "update", 2, 0,
		"{\"gpus\":1,\"min_gpus\":1,\"max_gpus\":1,\"name\":\"small\",\"mem_bytes\":5}");
	play_says(&p, "state 2, start 2.1, launch 2.1");
	assert_string_equal(core_job(p.core, 2)->name, "small");
	assert_int_equal(core_job(p.core, 2)->base.mem_bytes, 5);
	play_close(&p);
}

static void what_can_never_be_met_is_replaced(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1 });
	play_submit(&p, 1, (struct ask){ .gpus = 1, .after = { { AFTER_NOT_OK, 1 } } });
	play_exit(&p, 2, 1, 1, 0);
	play_state(&p, 2, "PENDING");
	play_do(&p, 3, "update", 2, 0, "{\"after\":[]}");
	play_says(&p, "state 2, start 2.1, launch 2.1");
	play_close(&p);
}

/* ---- dependencies */

static const struct {
	enum dependency_kind kind;
	int code; /* -1: the other only begins */
	bool opens;
} dependencies[] = {
	{ AFTER_OK, 0, true },
	{ AFTER_OK, 3, false },
	{ AFTER_OK, -1, false },
	{ AFTER_ANY, 0, true },
	{ AFTER_ANY, 3, true },
	{ AFTER_ANY, -1, false },
	{ AFTER_NOT_OK, 0, false },
	{ AFTER_NOT_OK, 3, true },
	{ AFTER_START, -1, true },
	{ AFTER_START, 3, true },
};

/* The same whether the other ends before or after a restart, or the two epochs are between. */
static void depend(size_t row, int restart)
{
	struct play p;
	bool opens = dependencies[row].opens;

	play_open(&p, "1x2", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1 });
	play_submit(&p, 1,
		(struct ask){ .gpus = 1, .after = { { dependencies[row].kind, 1 } }, .retries = 0 });
	play_reason(&p, 2, "dependency");
	if (restart == 1)
		play_restart(&p, 2);
	if (dependencies[row].code < 0)
		play_begun(&p, 3, 1, 1);
	else
		play_exit(&p, 3, 1, 1, dependencies[row].code);
	if (restart == 2)
		play_restart(&p, 4);
	play_pass(&p, 5);
	play_state(&p, 2, opens ? "CONFIGURING" : "PENDING");
	if (!opens)
		play_reason(&p, 2, dependencies[row].code < 0 ? "dependency" : "dependency-never");
	play_close(&p);
}

static void dependencies_open_when_they_are_met(void **state)
{
	(void)state;
	for (size_t row = 0; row < COUNT(dependencies); row++) {
		for (int restart = 0; restart < 3; restart++)
			depend(row, restart);
	}
}

static void a_held_job_forgets_what_was_met(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1 });
	play_submit(&p, 1, (struct ask){ .gpus = 1, .hold = true, .after = { { AFTER_OK, 1 } } });
	play_exit(&p, 2, 1, 1, 0);
	play_pass(&p, 3);
	play_change(&p, 4, "release", 2);
	play_says(&p, "state 2, start 2.1, launch 2.1");
	play_close(&p);
}

static void one_that_can_never_follow_can_be_cancelled(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1 });
	play_submit(&p, 1, (struct ask){ .gpus = 1, .after = { { AFTER_ANY, 1 }, { AFTER_OK, 1 } } });
	play_exit(&p, 2, 1, 1, 1);
	play_reason(&p, 2, "dependency-never");
	play_restart(&p, 3);
	play_pass(&p, 4);
	play_reason(&p, 2, "dependency-never");
	assert_int_equal(core_job(p.core, 2)->gate_job, 1);
	play_change(&p, 5, "cancel", 2);
	play_state(&p, 2, "CANCELLED");
	play_close(&p);
}

/* ---- arrays and begin times */

static void so_many_of_an_array_at_once(void **state)
{
	struct ask ask = { .gpus = 1, .array_id = 1, .array_limit = 2 };
	struct play p;

	(void)state;
	play_open(&p, "1x4", "fifo");
	for (int i = 0; i < 4; i++)
		play_submit(&p, i, ask);
	play_submit(&p, 4, (struct ask){ .gpus = 1 });
	play_says(&p, "start 5.1, launch 5.1");
	play_reason(&p, 3, "array-limit");
	play_begun(&p, 5, 1, 1);
	play_change(&p, 6, "hold", 1); /* it counts until it has gone */
	play_says(&p, "stop 1.1, state 1");
	play_restart(&p, 7);
	play_exit(&p, 8, 1, 1, 143);
	play_says(&p, "over 1.1, state 1, start 3.1, launch 3.1");
	play_exit(&p, 9, 2, 1, 0);
	play_says(&p, "over 2.1, end 2, start 4.1, launch 4.1");
	play_change(&p, 10, "release", 1);
	play_reason(&p, 1, "array-limit");
	play_close(&p);
}

/* However late it is looked at, what was due is decided for its moment. */
static void a_begin_time_is_kept_to_the_second(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1, .begin_s = 50 });
	play_says(&p, "");
	play_reason(&p, 1, "begin-time");
	assert_true(core_wake_s(p.core) == 50);
	play_pass(&p, 70);
	play_says(&p, "start 1.1, launch 1.1");
	assert_true(p.rows.at[p.rows.n - 1].at_s == 50);
	play_submit(&p, 80, (struct ask){ .gpus = 1, .begin_s = 200 });
	play_begin(&p, 300); /* together with something else */
	play_apply(&p, "exit", 1, 1, "{\"known\":true,\"code\":0}");
	play_end(&p);
	play_says(&p, "over 1.1, end 1, start 2.1, launch 2.1");
	play_submit(&p, 301, (struct ask){ .gpus = 1, .begin_s = 1000, .hold = true });
	play_change(&p, 302, "release", 3); /* lets it go, but not before its time */
	play_reason(&p, 3, "begin-time");
	play_exit(&p, 303, 2, 1, 0);
	play_says(&p, "over 2.1, end 2");
	play_pass(&p, 1001);
	play_says(&p, "start 3.1, launch 3.1");
	assert_true(p.rows.at[p.rows.n - 1].at_s == 1000);
	play_close(&p);
}

/* ---- progress */

static void reports_turn_seconds_into_steps(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 2, .estimate_s = 1000 });
	play_begun(&p, 10, 1, 1);
	play_do(&p, 20, "progress", 1, 1, "{\"step\":0}");
	play_do(&p, 30, "progress", 1, 1, "{\"step\":100}"); /* no total yet */
	assert_true(play_number(&p, 1, "progress_per_s") == 10);
	assert_true(isnan(play_number(&p, 1, "nominal_rate"))); /* seconds are seconds */
	assert_true(core_left_s(p.core, core_job(p.core, 1), 30) == 980);
	play_do(&p, 40, "progress", 1, 1, "{\"step\":200,\"total\":2000,\"metrics\":{\"loss\":0.5}}");
	assert_true(play_number(&p, 1, "progress_per_s") == 10);
	assert_true(play_number(&p, 1, "progress_loss") == 0.5);
	assert_true(play_number(&p, 1, "work_est") == 2000);
	assert_true(core_left_s(p.core, core_job(p.core, 1), 40) == 180);
	assert_true(core_left_s(p.core, core_job(p.core, 1), 50) == 170);
	play_begin(&p, 60);
	assert_int_equal(play_try(&p, "progress", 1, 1, "{\"step\":-1}"), ERR_USAGE);
	assert_int_equal(play_try(&p, "progress", 1, 2, "{\"step\":1}"), ERR_MISSING);
	play_end(&p);
	play_close(&p);
}

static void a_checkpoint_is_what_a_failure_leaves(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1, .retries = 3, .estimate_s = 100 });
	play_begun(&p, 0.5, 1, 1);
	play_do(&p, 1, "progress", 1, 1, "{\"step\":10,\"total\":1000}");
	play_do(&p, 2, "progress", 1, 1, "{\"step\":30}");
	play_do(&p, 3, "checkpointed", 1, 1, "{\"step\":40}");
	play_says(&p, "state 1");
	assert_true(play_number(&p, 1, "saved") == 40);
	play_do(&p, 4, "progress", 1, 1, "{\"step\":80}");
	play_exit(&p, 5, 1, 1, 1);
	assert_true(play_number(&p, 1, "done") == 40);
	play_close(&p);
}

/* What was saved in seconds is the same part of the work in steps. */
static void what_was_saved_changes_its_unit(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1, .estimate_s = 100 });
	play_begun(&p, 10, 1, 1);
	play_do(&p, 60, "checkpointed", 1, 1, "{}");
	assert_true(play_number(&p, 1, "saved") == 50);
	play_do(&p, 61, "progress", 1, 1, "{\"step\":5100,\"total\":10000}");
	assert_true(play_number(&p, 1, "saved") == 5000);
	play_close(&p);
}

/* ---- devices */

static void a_lost_device_takes_its_job_along(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1 });
	play_submit(&p, 1, (struct ask){ .gpus = 1, .no_requeue = true });
	play_begun(&p, 2, 1, 1);
	play_begun(&p, 3, 2, 1);
	play_do(&p, 4, "devices", 0, 0, "{\"node\":0,\"devices\":1,\"up\":false}");
	p.down[0] = 1;
	play_says(&p, "stop 1.1");
	play_exit(&p, 5, 1, 1, 143);
	play_says(&p, "over 1.1, state 1");
	play_restart(&p, 6);
	play_pass(&p, 7);
	play_says(&p, "");
	play_do(&p, 8, "devices", 0, 0, "{\"node\":0,\"devices\":2,\"up\":false}");
	play_says(&p, "stop 2.1");
	play_exit(&p, 9, 2, 1, 143);
	play_state(&p, 2, "NODE_FAIL");
	play_do(&p, 10, "devices", 0, 0, "{\"node\":0,\"devices\":3,\"up\":true}");
	play_says(&p, "start 1.2, launch 1.2");
	play_begin(&p, 11);
	assert_int_equal(play_try(&p, "devices", 0, 0, "{\"node\":9,\"devices\":3}"), ERR_FORMAT);
	play_end(&p);
	play_close(&p);
}

/* Of an epoch that begins with a device down nothing is started there, not even for a moment. */
static void what_is_down_from_the_beginning_is_not_used(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1, .hold = true });
	p.down[0] = 1;
	play_restart(&p, 6);
	play_change(&p, 7, "release", 1);
	assert_int_equal(core_attempt(p.core, 1, 1)->grant->slots[0].devices, 2);
	play_close(&p);
}

static void a_lost_device_and_the_end_of_its_job_come_together(void **state)
{
	static const char *const then[] = { "cancel", "hold", "requeue" };

	(void)state;
	for (size_t i = 0; i < COUNT(then); i++) {
		struct play p;

		play_open(&p, "1x1", "fifo");
		play_submit(&p, 0, (struct ask){ .gpus = 1 });
		play_begun(&p, 1, 1, 1);
		play_begin(&p, 2);
		play_apply(&p, "devices", 0, 0, "{\"node\":0,\"devices\":1,\"up\":false}");
		play_apply(&p, then[i], 1, 0, "{}");
		play_end(&p);
		play_exit(&p, 3, 1, 1, 143);
		play_state(&p, 1, i == 0 ? "CANCELLED" : "PENDING");
		play_close(&p);
	}
}

/* ---- machines that do not fit */

static void a_job_too_large_waits_for_another_machine(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 4 });
	play_says(&p, "");
	play_reason(&p, 1, "too-large");
	play_submit(&p, 1, (struct ask){ .gpus = 2 });
	play_says(&p, "start 2.1, launch 2.1");
	play_change(&p, 2, "cancel", 1);
	play_state(&p, 1, "CANCELLED");
	play_close(&p);
}

static void whether_it_could_run_is_known_beforehand(void **state)
{
	struct buf why = { 0 };
	struct live_job *job;
	struct submission what;
	struct play p;

	(void)state;
	play_open(&p, "1x2:v100", "fifo");
	submission_init(&what);
	what.name = "x";
	what.gpus = what.min_gpus = what.max_gpus = 3;
	job = live_job_create(1, &what, 0, 0);
	assert_false(core_could_run(p.core, job, &why));
	assert_true(why.n > 0);
	job->base.gpus = job->base.min_gpus = 2;
	assert_true(core_could_run(p.core, job, &why));
	job->types = mem_strdup("h100");
	assert_false(core_could_run(p.core, job, &why));
	live_job_destroy(job);
	submission_fini(&what);
	buf_fini(&why);
	play_close(&p);
}

/* ---- tenants */

static void a_table_of_tenants_knows_its_own(void **state)
{
	struct play p;
	char *status, *body;

	(void)state;
	play_open(&p, "1x2", "fifo");
	play_submit(&p, 1, (struct ask){ .gpus = 1, .tenant = "old" });
	tenants_add(&p.epoch.tenants, "known", 5);
	play_policy(&p, 2, "drf");
	play_pass(&p, 3);
	assert_true(core_knows_tenant(p.core, "known"));
	assert_true(core_knows_tenant(p.core, "old"));
	assert_false(core_knows_tenant(p.core, "new"));
	play_begin(&p, 4);
	status = play_draft(&p, 7, &(struct ask){ .gpus = 1, .tenant = "new" });
	body = mem_printf("{\"job\":%s}", status);
	assert_int_equal(play_try(&p, "submit", 7, 0, body), ERR_REFUSED);
	play_end(&p);
	free(status);
	free(body);
	play_submit(&p, 5, (struct ask){ .gpus = 1, .tenant = "known" });
	play_says(&p, "start 2.1, launch 2.1");
	play_close(&p);
}

/* GPU-seconds that it held devices, and what they were worth, do not begin anew with a daemon. */
static void what_devices_were_used_for_survives_a_restart(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 2, .estimate_s = 100 });
	play_begun(&p, 10, 1, 1);
	play_do(&p, 20, "checkpointed", 1, 1, "{}");
	play_restart(&p, 30);
	play_do(&p, 40, "checkpointed", 1, 1, "{}");
	assert_true(play_number(&p, 1, "occupied_s") == 80);
	assert_true(play_number(&p, 1, "eff_s") == 60);
	assert_true(play_number(&p, 1, "worth_s") == 60);
	play_exit(&p, 50, 1, 1, 0);
	assert_non_null(strstr(p.rows.at[p.rows.n - 1].job_after, "\"occupied_s\":100"));
	assert_non_null(strstr(p.rows.at[p.rows.n - 1].job_after, "\"worth_s\":80"));
	play_close(&p);
}

/* ---- rounds */

/* Nobody waits for a round beside a machine that does nothing, and who waits hears how long. */
static void the_first_job_does_not_wait_for_a_round(void **state)
{
	static const char *const rules[] = { "sia", "heet", "pollux", "optimus", "shockwave",
		"kungfu", "afs:round_s=60", "fair-share:preempt=1", "las", "tiresias" };

	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct buf text = { 0 };
		struct play p;
		uint32_t about;

		print_message("%s\n", rules[i]);
		play_open(&p, "1x4", rules[i]);
		play_submit(&p, 50, (struct ask){ .gpus = 1, .estimate_s = 100 });
		play_says(&p, "start 1.1, launch 1.1");
		play_begun(&p, 51, 1, 1);
		play_exit(&p, 53, 1, 1, 0);
		play_submit(&p, 54, (struct ask){ .gpus = 4, .estimate_s = 1000 });
		play_says(&p, "start 2.1, launch 2.1");
		play_submit(&p, 55, (struct ask){ .gpus = 4, .estimate_s = 1000 });
		core_reason(p.core, core_job(p.core, 3), 57, &text, &about);
		if (i == 0)
			assert_string_equal(text.at, "it waits for the next round, 3s from now");
		play_pass(&p, 1000);
		buf_fini(&text);
		play_close(&p);
	}
}

/* ---- deadlines */

/* How many of `n` such jobs would be promised their deadline; why not the next, in `why`. */
static size_t promised(struct play *p, const struct ask *ask, size_t n, struct buf *why)
{
	struct live_job *jobs[16];
	size_t fit;

	for (size_t i = 0; i < n; i++) {
		struct err err = { 0 };
		char *text = play_draft(p, (uint32_t)(p->jobs + 1 + i), ask);
		json_t *status = json_loads(text, 0, NULL);

		assert_int_equal(live_job_from_status(status, &jobs[i], &err), 0);
		json_decref(status);
		free(text);
	}
	buf_clear(why);
	fit = core_welcome(p->core, (const struct live_job *const *)jobs, n, p->now_s, why);
	for (size_t i = 0; i < n; i++)
		live_job_destroy(jobs[i]);
	return fit;
}

static void deadlines_are_promised_to_all_or_none(void **state)
{
	struct ask half = { .gpus = 4, .estimate_s = 3000, .deadline_s = 3900 }, later;
	struct buf why = { 0 };
	struct play p;

	(void)state;
	play_open(&p, "1x8", "elasticflow");
	play_pass(&p, 1);
	assert_int_equal(promised(&p, &half, 1, &why), 1);
	assert_int_equal(promised(&p, &half, 2, &why), 2);
	assert_int_equal(promised(&p, &half, 10, &why), 2);
	assert_non_null(strstr(why.at, "from now could be"));
	assert_null(strstr(why.at, " at "));
	play_submit(&p, 2, half);
	assert_int_equal(promised(&p, &half, 3, &why), 1);
	later = half;
	later.begin_s = 3000; /* too late for any */
	assert_int_equal(promised(&p, &later, 1, &why), 0);
	later.deadline_s = 6300; /* what is promised now is over then */
	assert_int_equal(promised(&p, &later, 2, &why), 2);
	half.hold = true; /* nobody asks before it is released */
	assert_int_equal(promised(&p, &half, 10, &why), 10);
	buf_fini(&why);
	play_close(&p);
}

/* It was taken when nobody could say: it runs on what is left, and says so. */
static void one_that_cannot_be_promised_runs_all_the_same(void **state)
{
	struct ask whole = { .gpus = 8, .estimate_s = 3000, .deadline_s = 3900 };
	struct buf words = { 0 };
	struct play p;

	(void)state;
	play_open(&p, "1x8", "elasticflow");
	play_submit(&p, 0, whole);
	whole.hold = true;
	play_submit(&p, 1, whole);
	core_promise(p.core, core_job(p.core, 2), 1, &words);
	assert_string_equal(words.at, "nothing is promised before it is released");
	buf_clear(&words);
	core_promise(p.core, core_job(p.core, 1), 1, &words);
	assert_int_equal(words.n, 0);
	play_begun(&p, 2, 1, 1);
	play_change(&p, 3, "release", 2);
	play_state(&p, 2, "PENDING");
	assert_true(core_job(p.core, 2)->unpromised);
	play_restart(&p, 4);
	play_pass(&p, 5);
	core_promise(p.core, core_job(p.core, 2), 5, &words);
	assert_non_null(strstr(words.at, "could not be promised"));
	play_exit(&p, 10, 1, 1, 0);
	play_pass(&p, 400);
	assert_int_equal(core_attempt(p.core, 2, 1)->phase, PHASE_LAUNCHED);
	buf_fini(&words);
	play_close(&p);
}

/* ---- in place */

static const struct ask elastic = { .gpus = 2, .min_gpus = 1, .max_gpus = 4, .estimate_s = 1e5 };

/* One job on all four devices, and another comes: the first is to make room. */
static void open_with_an_elastic_job(struct play *p, const char *says)
{
	play_open(p, "1x4", "gavel:gangs=free,round_s=60");
	play_submit(p, 0, elastic);
	play_begun(p, 1, 1, 1);
	play_do(p, 2, "progress", 1, 1, says);
	play_submit(p, 130, elastic);
}

static const struct grant *grant_of(const struct play *p, uint32_t job, uint32_t attempt)
{
	return core_attempt(p->core, job, attempt)->grant;
}

static void a_job_makes_room_without_a_restart(void **state)
{
	struct play p;

	(void)state;
	open_with_an_elastic_job(&p, "{\"step\":0,\"total\":1000000,\"resizable\":true}");
	play_says(&p, "state 1.1, start 2.1, resize 1.1");
	play_state(&p, 1, "RUNNING");
	play_restart(&p, 131); /* it was told, and is not told again */
	play_pass(&p, 132);
	play_says(&p, "");
	assert_int_equal(grant_of(&p, 1, 1)->gpus, 4);
	play_do(&p, 133, "resized", 1, 1, "{\"gpus\":2}");
	play_says(&p, "state 1.1, launch 2.1");
	assert_int_equal(grant_of(&p, 1, 1)->gpus, 2);
	assert_int_equal(play_try(&p, "resized", 1, 1, "{}"), ERR_MISSING);
	assert_true(play_number(&p, 1, "resizes") == 1);
	play_begun(&p, 134, 2, 1);
	play_change(&p, 135, "cancel", 2);
	play_exit(&p, 150, 2, 1, 0); /* what was left is taken in the next round */
	play_says(&p, "over 2.1, end 2");
	play_pass(&p, 181);
	play_says(&p, "state 1.1, resize 1.1");
	play_do(&p, 182, "resized", 1, 1, "{\"gpus\":4}");
	assert_int_equal(grant_of(&p, 1, 1)->gpus, 4);
	play_exit(&p, 200, 1, 1, 0);
	play_says(&p, "over 1.1, end 1");
	play_close(&p);
}

/* Jobs come one after the other, before the first has answered that it made room for the second. */
static void open_with_newcomers(struct play *p)
{
	play_open(p, "1x4", "gavel:gangs=free,round_s=10");
	play_submit(p, 0, elastic);
	play_begun(p, 1, 1, 1);
	play_do(p, 2, "progress", 1, 1, "{\"step\":0,\"total\":1000000,\"resizable\":true}");
	for (int i = 0; i < 3; i++) {
		play_submit(p, 15 + 10 * i, elastic);
		play_pass(p, 20 + 10 * i);
	}
}

/* What it was told it shall answer, then it hears of the newest. */
static void a_newer_wish_waits_for_the_answer(void **state)
{
	const struct attempt *a;
	struct play p;

	(void)state;
	open_with_newcomers(&p);
	play_says(&p, "state 1.1, start 4.1");
	a = core_attempt(p.core, 1, 1);
	assert_true(a->next_told && !a->stop);
	assert_int_equal(a->next->gpus, 2);
	assert_int_equal(a->wish->gpus, 1);
	play_restart(&p, 41); /* it is in its status */
	assert_int_equal(core_attempt(p.core, 1, 1)->wish->gpus, 1);
	play_do(&p, 42, "resized", 1, 1, "{\"gpus\":2}");
	a = core_attempt(p.core, 1, 1);
	assert_true(a->next_told && !a->wish && a->grant->gpus == 2);
	assert_int_equal(a->next->gpus, 1);
	assert_int_equal(core_attempt(p.core, 4, 1)->phase, PHASE_WAITING);
	play_do(&p, 43, "resized", 1, 1, "{\"gpus\":1}");
	play_says(&p, "state 1.1, launch 4.1");
	assert_true(play_number(&p, 1, "resizes") == 2);
	assert_true(play_number(&p, 1, "attempt") == 1);
	play_close(&p);
}

/* One that does not answer begins anew with the newest. */
static void patience_ends_with_the_newest_wish(void **state)
{
	struct play p;

	(void)state;
	open_with_newcomers(&p);
	play_pass(&p, 45);
	assert_int_equal(core_attempt(p.core, 1, 1)->stop, STOP_MOVE);
	assert_int_equal(grant_of(&p, 1, 2)->gpus, 1);
	play_close(&p);
}

/* Told to grow, and before it answers to shrink again: what it was told of may be in use. */
static void what_was_offered_is_not_free_before_the_answer(void **state)
{
	const struct attempt *a;
	struct play p;

	(void)state;
	play_open(&p, "1x4", "gavel:gangs=free,round_s=10");
	play_submit(&p, 0, elastic);
	play_begun(&p, 1, 1, 1);
	play_do(&p, 2, "progress", 1, 1, "{\"step\":0,\"total\":1000000,\"resizable\":true}");
	play_submit(&p, 15, elastic);
	play_do(&p, 16, "resized", 1, 1, "{\"gpus\":2}");
	play_exit(&p, 17, 2, 1, 0);
	play_pass(&p, 30);
	a = core_attempt(p.core, 1, 1);
	assert_true(a->next_told && a->next->gpus == 4 && a->grant->gpus == 2);
	play_submit(&p, 32, elastic);
	play_pass(&p, 50);
	assert_int_equal(a->wish->gpus, 2);
	assert_int_equal(core_attempt(p.core, 3, 1)->phase, PHASE_WAITING);
	play_do(&p, 51, "resized", 1, 1, "{\"gpus\":4}");
	assert_int_equal(core_attempt(p.core, 3, 1)->phase, PHASE_WAITING);
	play_do(&p, 52, "resized", 1, 1, "{\"gpus\":2}");
	assert_int_equal(core_attempt(p.core, 3, 1)->phase, PHASE_LAUNCHED);
	play_close(&p);
}

/* What it was not told yet it is never told. */
static void a_wish_that_was_not_told_is_replaced(void **state)
{
	struct play p;

	(void)state;
	open_with_an_elastic_job(&p, "{\"step\":0,\"total\":1000000,\"resizable\":true}");
	play_do(&p, 133, "resized", 1, 1, "{}");
	play_begun(&p, 134, 2, 1);
	play_change(&p, 135, "cancel", 2);
	play_restart(&p, 136); /* the new engine has devices to give that are not left yet */
	play_do(&p, 137, "devices", 0, 0, "{\"node\":0,\"devices\":0,\"up\":true}");
	play_pass(&p, 181);
	assert_int_equal(core_attempt(p.core, 1, 1)->next->gpus, 4);
	assert_false(core_attempt(p.core, 1, 1)->next_told);
	play_submit(&p, 190, elastic);
	play_pass(&p, 241);
	play_says(&p, "state 1.1, start 3.1");
	assert_int_equal(core_attempt(p.core, 1, 1)->next->gpus, 2);
	play_exit(&p, 242, 2, 1, 0);
	play_says(&p, "over 2.1, end 2, resize 1.1");
	play_do(&p, 243, "resized", 1, 1, "{\"gpus\":2}");
	play_says(&p, "state 1.1, launch 3.1");
	play_close(&p);
}

/* Each is to go where the other is, as two rounds may ask: one of them has to let go. */
static void a_ring_of_resizes_is_broken(void **state)
{
	static const char says[] = "{\"step\":0,\"total\":1000000,\"resizable\":true}";
	struct attempt *one, *two;
	struct play p;

	(void)state;
	play_open(&p, "1x2", "gavel");
	for (uint32_t id = 1; id <= 2; id++) {
		play_submit(&p, 0, (struct ask){ .gpus = 1 });
		play_begun(&p, 1, id, 1);
		play_do(&p, 2, "progress", id, 1, says);
	}
	one = core_find_attempt(p.core, 1, 1);
	two = core_find_attempt(p.core, 2, 1);
	one->next = grant_copy(two->grant);
	two->next = grant_copy(one->grant);
	core_launch_ready(p.core);
	assert_int_equal(one->stop + two->stop, STOP_MOVE);
	one = two->stop ? one : two;
	assert_false(one->next_told);
	core_retire(p.core, core_find_attempt(p.core, one->job == 1 ? 2 : 1, 1), NULL);
	core_launch_ready(p.core);
	assert_true(one->next_told);
	core_forget_notes(p.core); /* nobody asked for this: it is not to be replayed */
	play_close(&p);
}

static void a_job_that_cannot_resize_is_restarted(void **state)
{
	struct play p;

	(void)state;
	open_with_an_elastic_job(&p, "{\"step\":0,\"total\":1000000}");
	play_says(&p, "stop 1.1, start 1.2, start 2.1");
	play_exit(&p, 132, 1, 1, EXIT_CHECKPOINTED);
	play_says(&p, "over 1.1, state 1, launch 1.2, launch 2.1");
	play_close(&p);
}

/* The others cannot wait for ever: one that does not answer within its grace is restarted. */
static void patience_with_a_job_that_does_not_answer_ends(void **state)
{
	struct play p;

	(void)state;
	open_with_an_elastic_job(&p, "{\"step\":0,\"total\":1000000,\"resizable\":true}");
	play_restart(&p, 140);
	play_pass(&p, 159);
	play_says(&p, "");
	play_pass(&p, 175);
	play_says(&p, "stop 1.1, start 1.2");
	assert_true(p.rows.at[p.rows.n - 1].at_s == 160);
	play_exit(&p, 176, 1, 1, EXIT_CHECKPOINTED);
	play_says(&p, "over 1.1, state 1, launch 2.1, launch 1.2");
	play_close(&p);
}

/* Perhaps it has them, and only its answer is missing. */
static void devices_that_were_offered_are_not_free(void **state)
{
	struct play p;

	(void)state;
	open_with_an_elastic_job(&p, "{\"step\":0,\"total\":1000000,\"resizable\":true}");
	play_do(&p, 133, "resized", 1, 1, "{}");
	play_exit(&p, 140, 2, 1, 0);
	play_pass(&p, 181); /* told to grow */
	play_pass(&p, 211);
	play_says(&p, "stop 1.1, start 1.2");
	play_change(&p, 212, "hold", 1);
	play_restart(&p, 213);
	play_submit(&p, 214, (struct ask){ .gpus = 2 });
	play_submit(&p, 215, (struct ask){ .gpus = 2 });
	play_pass(&p, 275);
	assert_int_equal(core_attempt(p.core, 3, 1)->phase, PHASE_WAITING);
	assert_int_equal(core_attempt(p.core, 4, 1)->phase, PHASE_WAITING);
	play_exit(&p, 276, 1, 1, 143);
	play_close(&p);
}

/* The heir of the devices it was to leave has to wait for its end, then. */
static void a_job_ends_before_it_made_room(void **state)
{
	struct play p;

	(void)state;
	open_with_an_elastic_job(&p, "{\"step\":0,\"total\":1000000,\"resizable\":true}");
	play_exit(&p, 132, 1, 1, 0);
	play_says(&p, "over 1.1, end 1, launch 2.1");
	play_close(&p);
}

/* Told to grow, then to stop: what it may have taken already is not free. */
static void a_job_that_was_to_grow_is_stopped(void **state)
{
	struct play p;

	(void)state;
	open_with_an_elastic_job(&p, "{\"step\":0,\"total\":1000000,\"resizable\":true}");
	play_do(&p, 133, "resized", 1, 1, "{}");
	play_exit(&p, 140, 2, 1, 0);
	play_pass(&p, 181);
	assert_true(core_attempt(p.core, 1, 1)->next_told);
	play_change(&p, 182, "hold", 1);
	play_says(&p, "stop 1.1, state 1");
	play_restart(&p, 183); /* the new engine gives its devices away */
	play_submit(&p, 184, (struct ask){ .gpus = 2 });
	play_submit(&p, 185, (struct ask){ .gpus = 2 });
	play_pass(&p, 245);
	assert_int_equal(core_attempt(p.core, 3, 1)->phase, PHASE_WAITING);
	assert_int_equal(core_attempt(p.core, 4, 1)->phase, PHASE_WAITING);
	play_exit(&p, 246, 1, 1, 143);
	play_says(&p, "over 1.1, state 1, launch 3.1, launch 4.1");
	play_close(&p);
}

/* It was to grow into devices that another had yet to leave; both end. */
static void one_that_ended_is_not_told_of_its_size(void **state)
{
	struct play p;

	(void)state;
	open_with_an_elastic_job(&p, "{\"step\":0,\"total\":1000000,\"resizable\":true}");
	play_do(&p, 133, "resized", 1, 1, "{}");
	play_begun(&p, 134, 2, 1);
	play_change(&p, 135, "cancel", 2);
	play_restart(&p, 136); /* the new engine has devices to give that are not left yet */
	play_do(&p, 137, "devices", 0, 0, "{\"node\":0,\"devices\":0,\"up\":true}");
	play_pass(&p, 181);
	assert_non_null(core_attempt(p.core, 1, 1)->next);
	assert_false(core_attempt(p.core, 1, 1)->next_told);
	play_begin(&p, 190);
	play_apply(&p, "exit", 1, 1, "{\"known\":true,\"code\":0}");
	play_apply(&p, "exit", 2, 1, "{\"known\":true,\"code\":0}");
	play_end(&p);
	play_says(&p, "over 1.1, end 1, over 2.1, end 2");
	play_close(&p);
}

/* What follows from an input follows at its moment, however late the turn is. */
static void a_late_turn_launches_in_time(void **state)
{
	struct play p;

	(void)state;
	open_with_an_elastic_job(&p, "{\"step\":0,\"total\":1000000,\"resizable\":true}");
	play_begin(&p, 133);
	play_apply(&p, "resized", 1, 1, "{}");
	p.now_s = 140;
	play_end(&p);
	play_says(&p, "state 1.1, launch 2.1");
	assert_true(p.rows.at[p.rows.n - 1].at_s == 133);
	play_close(&p);
}

/* ---- turns: when it is asked does not matter */

/* Runs the inputs of a record's first epoch again, asking for turns at random in between. */
static void drive(const struct play *p, struct rng *rng, struct buf *out)
{
	struct core_config config = {
		.cluster = &p->epoch.cluster,
		.rules = p->epoch.rules,
		.seed = p->epoch.seed,
	};
	struct err err = { 0 };
	double now_s = 0;
	struct core *core;
	size_t n;

	assert_int_equal(core_open(&config, 0, &core, &err), 0);
	for (size_t i = 0; i <= p->rows.n; i++) {
		bool last = i == p->rows.n;
		const struct play_row *row = last ? NULL : &p->rows.at[i];
		double at_s = last ? now_s + 1000 : row->at_s;
		json_t *body;

		if (!last && !core_is_input(row->kind))
			continue;
		while (rng && at_s > now_s && rng_below(rng, 4)) {
			now_s = rng_between(rng, now_s, at_s);
			assert_int_equal(core_turn(core, now_s, &err), 0);
		}
		assert_int_equal(core_turn(core, at_s, &err), 0);
		now_s = at_s;
		if (last)
			break;
		body = json_loads(row->body, 0, NULL);
		assert_int_equal(
			core_apply(core, row->kind, row->job, row->attempt, at_s, body, &err), 0);
		json_decref(body);
		assert_int_equal(core_turn(core, at_s, &err), 0);
	}
	for (size_t i = 0; core_notes(core, &n) && i < n; i++) {
		const struct core_note *note = &core_notes(core, &n)[i];

		buf_printf(out, "%.17g %s %u.%u %s\n", note->at_s, note_name(note->kind), note->job,
			note->attempt, note->body);
	}
	for (uint32_t id = 1; id <= p->jobs; id++)
		core_job_status(core, id, out);
	core_close(core);
}

static void play_some_turns(struct play *p, const char *policy)
{
	play_open(p, "1x2", policy);
	for (uint32_t job = 1; job <= 5; job++)
		play_submit(p, job * 3.7,
			(struct ask){ .gpus = 1 + job % 2,
				.estimate_s = 100.0 * job,
				.begin_s = job * 20 });
	for (double at_s = 150; at_s < 900; at_s += 37.3) {
		play_begin(p, at_s);
		for (size_t i = 0; i < p->procs.n; i++) {
			struct proc *one = &p->procs.at[i];

			if (one->launched && !one->begun)
				play_try(p, "begun", one->job, one->attempt, "{}");
			else if (one->launched && one->asked && !one->over)
				play_try(p, "exit", one->job, one->attempt,
					"{\"known\":true,\"code\":85}");
		}
		play_end(p);
	}
}

static void turns_do_not_depend_on_when_they_are_asked_for(void **state)
{
	static const char *const rules[] = { "gavel:round_s=30", "las:round_s=40", "srtf",
		"tiresias:limit_s=30", "fair-share:round_s=25,preempt=yes",
		"gavel:gangs=free,round_s=45" };
	struct rng rng = property("turns in between change nothing");

	(void)state;
	for (size_t i = 0; i < COUNT(rules); i++) {
		struct buf plain = { 0 };
		struct play p;

		play_some_turns(&p, rules[i]);
		drive(&p, NULL, &plain);
		for (size_t round = 0; round < rounds(5); round++) {
			struct buf again = { 0 };

			drive(&p, &rng, &again);
			assert_string_equal(plain.at, again.at);
			buf_fini(&again);
		}
		buf_fini(&plain);
		play_close(&p);
	}
}

/* ---- epochs */

static void another_policy_takes_over(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1, .estimate_s = 1000 });
	play_begun(&p, 1, 1, 1);
	play_submit(&p, 2, (struct ask){ .gpus = 1, .estimate_s = 10 });
	play_says(&p, "");
	play_policy(&p, 20, "srtf");
	play_pass(&p, 21);
	play_says(&p, "stop 1.1, start 2.1");
	play_policy(&p, 22, "fifo");
	play_exit(&p, 23, 1, 1, 143);
	play_says(&p, "over 1.1, state 1, launch 2.1");
	assert_true(play_number(&p, 1, "preemptions") == 1);
	play_close(&p);
}

/* As a policy that packs jobs would have left them: both on the first device. */
static void write_both_on_one_device(struct play *p)
{
	for (size_t i = 0; i < p->rows.n; i++) {
		char *at = p->rows.at[i].attempt_after;

		at = at && p->rows.at[i].job == 2 ? strstr(at, "[[0,2]]") : NULL;
		if (at)
			at[4] = '1';
	}
}

static void a_policy_that_does_not_share_parts_them(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1 });
	play_submit(&p, 1, (struct ask){ .gpus = 1 });
	play_begun(&p, 2, 1, 1);
	play_begun(&p, 3, 2, 1);
	write_both_on_one_device(&p);
	play_restart(&p, 4);
	play_pass(&p, 5);
	play_says(&p, "stop 2.1");
	play_exit(&p, 6, 2, 1, 143);
	play_says(&p, "over 2.1, state 2, start 2.2, launch 2.2");
	play_close(&p);
}

static void running_jobs_survive_a_restart(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 2, .estimate_s = 100 });
	play_restart(&p, 1);
	play_pass(&p, 2);
	play_says(&p, "");
	play_state(&p, 1, "CONFIGURING");
	play_begun(&p, 3, 1, 1);
	play_restart(&p, 4);
	play_pass(&p, 5);
	play_state(&p, 1, "RUNNING");
	play_submit(&p, 6, (struct ask){ .gpus = 1 });
	play_says(&p, "");
	assert_true(core_left_s(p.core, core_job(p.core, 1), 53) == 50);
	play_exit(&p, 53, 1, 1, EXIT_CHECKPOINTED);
	assert_true(play_number(&p, 1, "saved") == 50);
	play_close(&p);
}

/* A job that waits does so since it came, whatever the daemon does. */
static void waiting_is_counted_through_gates_and_restarts(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 1000, (struct ask){ .gpus = 1 });
	play_submit(&p, 1010, (struct ask){ .gpus = 1, .hold = true });
	play_restart(&p, 1020);
	play_pass(&p, 1025);
	play_change(&p, 1030, "release", 2);
	play_restart(&p, 1040);
	play_pass(&p, 1041);
	play_exit(&p, 1050, 1, 1, 0);
	play_says(&p, "over 1.1, end 1, start 2.1, launch 2.1");
	assert_true(play_number(&p, 2, "waited_s") == 40);
	play_close(&p);
}

/* Rows that were durable before the daemon was killed are all there is. */
static void a_kill_between_submission_and_decision(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_begin(&p, 1);
	play_write_submit(&p, (struct ask){ .gpus = 1 });
	play_flush(&p);
	play_give_submit(&p, 1);
	play_decide(&p);
	play_says(&p, "start 1.1, launch 1.1");
	play_restart(&p, 2); /* what was decided is lost */
	play_pass(&p, 3);
	play_says(&p, "start 1.1, launch 1.1");
	assert_true(p.rows.at[p.rows.n - 1].at_s == 2);
	play_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_runs_and_completes),
		cmocka_unit_test(a_failure_ends_a_job_and_retries_are_counted),
		cmocka_unit_test(what_was_checkpointed_runs_again),
		cmocka_unit_test(endings_have_their_states),
		cmocka_unit_test(policies_see_who_waits_outside),
		cmocka_unit_test(a_label_that_was_too_small_is_tried_once_more),
		cmocka_unit_test(what_it_had_before_the_label_was_raised_outlives_the_daemon),
		cmocka_unit_test(an_attempt_that_was_not_launched_cannot_end_or_begin),
		cmocka_unit_test(the_heir_is_launched_when_the_victim_has_gone),
		cmocka_unit_test(a_victim_that_was_through_has_completed),
		cmocka_unit_test(a_victim_is_started_again_before_it_has_gone),
		cmocka_unit_test(a_victim_that_completes_needs_no_second_start),
		cmocka_unit_test(a_victim_that_must_not_run_again_is_preempted),
		cmocka_unit_test(two_on_one_device_end_together),
		cmocka_unit_test(a_job_is_cancelled_in_every_state),
		cmocka_unit_test(a_victim_is_cancelled_for_good),
		cmocka_unit_test(a_held_job_waits_for_its_release),
		cmocka_unit_test(a_running_job_starts_over),
		cmocka_unit_test(an_ended_job_comes_back),
		cmocka_unit_test(what_is_asked_for_is_changed_while_it_waits),
		cmocka_unit_test(its_size_and_name_are_changed_while_it_waits),
		cmocka_unit_test(what_can_never_be_met_is_replaced),
		cmocka_unit_test(dependencies_open_when_they_are_met),
		cmocka_unit_test(a_held_job_forgets_what_was_met),
		cmocka_unit_test(one_that_can_never_follow_can_be_cancelled),
		cmocka_unit_test(so_many_of_an_array_at_once),
		cmocka_unit_test(a_begin_time_is_kept_to_the_second),
		cmocka_unit_test(reports_turn_seconds_into_steps),
		cmocka_unit_test(a_checkpoint_is_what_a_failure_leaves),
		cmocka_unit_test(what_was_saved_changes_its_unit),
		cmocka_unit_test(a_lost_device_takes_its_job_along),
		cmocka_unit_test(what_is_down_from_the_beginning_is_not_used),
		cmocka_unit_test(a_lost_device_and_the_end_of_its_job_come_together),
		cmocka_unit_test(a_job_too_large_waits_for_another_machine),
		cmocka_unit_test(whether_it_could_run_is_known_beforehand),
		cmocka_unit_test(a_table_of_tenants_knows_its_own),
		cmocka_unit_test(a_job_makes_room_without_a_restart),
		cmocka_unit_test(the_first_job_does_not_wait_for_a_round),
		cmocka_unit_test(what_devices_were_used_for_survives_a_restart),
		cmocka_unit_test(deadlines_are_promised_to_all_or_none),
		cmocka_unit_test(one_that_cannot_be_promised_runs_all_the_same),
		cmocka_unit_test(a_newer_wish_waits_for_the_answer),
		cmocka_unit_test(patience_ends_with_the_newest_wish),
		cmocka_unit_test(what_was_offered_is_not_free_before_the_answer),
		cmocka_unit_test(a_wish_that_was_not_told_is_replaced),
		cmocka_unit_test(a_ring_of_resizes_is_broken),
		cmocka_unit_test(a_job_that_cannot_resize_is_restarted),
		cmocka_unit_test(patience_with_a_job_that_does_not_answer_ends),
		cmocka_unit_test(devices_that_were_offered_are_not_free),
		cmocka_unit_test(a_job_ends_before_it_made_room),
		cmocka_unit_test(a_job_that_was_to_grow_is_stopped),
		cmocka_unit_test(one_that_ended_is_not_told_of_its_size),
		cmocka_unit_test(a_late_turn_launches_in_time),
		cmocka_unit_test(turns_do_not_depend_on_when_they_are_asked_for),
		cmocka_unit_test(another_policy_takes_over),
		cmocka_unit_test(a_policy_that_does_not_share_parts_them),
		cmocka_unit_test(running_jobs_survive_a_restart),
		cmocka_unit_test(waiting_is_counted_through_gates_and_restarts),
		cmocka_unit_test(a_kill_between_submission_and_decision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
