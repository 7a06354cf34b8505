/*
 * How jobs ended, in words.
 */
#include "live/live_job.h"

#include "support/property.h"

struct row {
	enum live_state state;
	int code, signal;
	double time_s;
	const char *end_text, *words;
};

static void endings_in_words(void **state)
{
	static const struct row rows[] = {
		{ LIVE_RUNNING, 3, 0, 60, "of an attempt before", "" },
		{ LIVE_COMPLETED, 0, 0, 0, NULL, "" },
		{ LIVE_FAILED, 3, 0, 0, NULL, "exit 3" },
		{ LIVE_FAILED, -1, 9, 0, NULL, "signal 9 (KILL)" },
		{ LIVE_FAILED, 127, 0, 0, "python3: not found", "exit 127: python3: not found" },
		{ LIVE_FAILED, -1, 9, 0, "out of memory: had 2.00 GiB of memory and may have 1.00",
			"out of memory: had 2.00 GiB of memory and may have 1.00" },
		{ LIVE_TIMEOUT, -1, 15, 7200, NULL, "timed out after 2h" },
		{ LIVE_TIMEOUT, -1, 15, 7200, "its time limit was over", "timed out after 2h" },
		{ LIVE_TIMEOUT, -1, 15, 7200, "its deadline was over",
			"timed out after 2h: its deadline was over" },
		{ LIVE_TIMEOUT, -1, 15, 5400, NULL, "timed out after 1h30m" },
		{ LIVE_TIMEOUT, -1, 15, 86400 + 60, NULL, "timed out after 1d" },
		{ LIVE_TIMEOUT, -1, 15, 45, NULL, "timed out after 45s" },
		{ LIVE_TIMEOUT, -1, 15, 0.2, NULL, "timed out after 200ms" },
		{ LIVE_TIMEOUT, -1, 15, 0, NULL, "timed out" },
		{ LIVE_CANCELLED, -1, 15, 0, NULL, "" },
		{ LIVE_CANCELLED, -1, 15, 0, "idle", "idle" },
		{ LIVE_PREEMPTED, -1, 15, 0, NULL, "preempted, and it must not run again" },
		{ LIVE_NODE_FAIL, -1, 0, 0, NULL, "lost with its machine" },
		{ LIVE_NODE_FAIL, -1, 0, 0, "node7 is down", "node7 is down" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct live_job job = { .state = rows[i].state,
			.code = rows[i].code,
			.signal = rows[i].signal,
			.time_s = rows[i].time_s,
			.end_text = (char *)rows[i].end_text };
		struct buf words = { 0 };

		live_job_ending(&job, &words);
		assert_string_equal(words.n ? words.at : "", rows[i].words);
		buf_fini(&words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(endings_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
