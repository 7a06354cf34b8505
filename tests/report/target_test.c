#include "report/target.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *text, *key;
	enum target_op op;
	double value;
	bool grows;
} rows[] = {
	{ "p90 wait < 2h", "wait_p90_s", TARGET_LESS, 7200, true },
	{ "wait p99<=15min", "wait_p99_s", TARGET_AT_MOST, 900, true },
	{ "mean JCT < 1d", "jct_mean_s", TARGET_LESS, 86400, true },
	{ "jct < 90", "jct_mean_s", TARGET_LESS, 90, true },
	{ "median wait time < 30 s", "wait_p50_s", TARGET_LESS, 30, true },
	{ "worst jct <2h", "jct_max_s", TARGET_LESS, 7200, true },
	{ "jct_p95_s < 3h", "jct_p95_s", TARGET_LESS, 10800, true },
	{ "utilisation > 60 %", "utilisation", TARGET_MORE, 0.6, false },
	{ "utilization >= 0.6", "utilisation", TARGET_AT_LEAST, 0.6, false },
	{ "util < 80%", "utilisation", TARGET_LESS, 0.8, true },
	{ "deadlines >= 99%", "deadline_met", TARGET_AT_LEAST, 0.99, true },
	{ "makespan < 1w", "makespan_s", TARGET_LESS, 604800, true },
	{ "fairness < 1.5", "ftf_mean", TARGET_LESS, 1.5, true },
};

static void targets_are_understood(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct target t;
		struct err err = { 0 };

		if (target_parse(rows[i].text, &t, &err))
			fail_msg("%s: %s", rows[i].text, err.text);
		if (strcmp(metrics[t.metric].key, rows[i].key) || t.op != rows[i].op ||
			fabs(t.value - rows[i].value) > 1e-9 || target_grows(&t) != rows[i].grows)
			fail_msg("%s: %s %d %g", rows[i].text, metrics[t.metric].key, t.op, t.value);
	}
}

static const struct {
	const char *text, *why;
} wrong[] = {
	{ "p90 wait", "is missing" },
	{ "p90 wait = 2h", "is missing" },
	{ "< 2h", "no figure" },
	{ "p90 < 2h", "no figure" },
	{ "speed < 2h", "'speed' is not understood" },
	{ "max wait < 2h", "there is no max of wait; there is mean, p50, p90" },
	{ "p42 wait < 2h", "there is no p42" },
	{ "wait < ", "value is missing" },
	{ "wait < soon", "not a time" },
	{ "wait < -3", "below 0" },
	{ "wait < 50%", "not a time" },
	{ "utilisation > 60", "did you leave out the %" },
	{ "utilisation > much", "not a part" },
	{ "ftf < 2h", "not a number" },
};

static void what_is_not_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct target t;
		struct err err = { 0 };

		if (target_parse(wrong[i].text, &t, &err) != ERR_USAGE ||
			!strstr(err.text, wrong[i].why))
			fail_msg("%s: %s", wrong[i].text, err.text);
	}
}

static void nine_in_ten_seeds_count(void **state)
{
	double x[] = { 11, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1 };
	struct target less, more;

	(void)state;
	assert_int_equal(target_parse("jain < 1", &less, NULL), 0);
	assert_int_equal(target_parse("jain > 1", &more, NULL), 0);
	assert_true(target_counts(&less, x, 11) == 10);
	assert_true(target_counts(&more, x, 11) == 2);
	assert_true(isnan(target_counts(&more, x, 0)));
	assert_true(target_met(&less, 0.5) && !target_met(&less, 1) && !target_met(&less, NAN));
	assert_true(target_met(&more, 1.5) && !target_met(&more, 1) && !target_met(&more, NAN));
}

static void it_is_said_in_full(void **state)
{
	struct target t;

	(void)state;
	assert_int_equal(target_parse("p90 waiting<2h", &t, NULL), 0);
	assert_string_equal(t.text, "p90 wait < 2h");
	assert_int_equal(target_parse("jct <= 90", &t, NULL), 0);
	assert_string_equal(t.text, "mean JCT <= 1m30s");
	assert_int_equal(target_parse("util > 62.5%", &t, NULL), 0);
	assert_string_equal(t.text, "utilisation > 62.5 %");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_are_understood),
		cmocka_unit_test(what_is_not_is_told),
		cmocka_unit_test(nine_in_ten_seeds_count),
		cmocka_unit_test(it_is_said_in_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
