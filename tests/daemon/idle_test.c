/*
 * The rule for idle jobs as text.
 */
#include "daemon/idle.h"

#include <string.h>

#include "support/property.h"

static void rules_are_read(void **state)
{
	static const struct {
		const char *text;
		struct idle_rule rule;
	} rows[] = {
		{ "off", { 0, 0, 0, IDLE_HOLD } },
		{ "", { 1800, 0, 0.05, IDLE_HOLD } },
		{ "reclaim=20m", { 600, 1200, 0.05, IDLE_HOLD } },
		{ "reclaim=1d", { 1800, 86400, 0.05, IDLE_HOLD } },
		{ "warn=30m,reclaim=2h,then=requeue", { 1800, 7200, 0.05, IDLE_REQUEUE } },
		{ "then=cancel, warn=5s", { 5, 0, 0.05, IDLE_CANCEL } },
		{ "warn=1d,reclaim=0", { 86400, 0, 0.05, IDLE_HOLD } },
		{ "cores=0.5,warn=90,reclaim=90", { 90, 90, 0.5, IDLE_HOLD } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idle_rule rule;
		struct err err = { 0 };

		if (idle_rule_parse(rows[i].text, &rule, &err) < 0)
			fail_msg("%s", err.text);
		assert_true(rule.warn_s == rows[i].rule.warn_s);
		assert_true(rule.reclaim_s == rows[i].rule.reclaim_s);
		assert_true(rule.cores == rows[i].rule.cores);
		assert_int_equal(rule.then, rows[i].rule.then);
	}
}

static void nonsense_is_told(void **state)
{
	static const char *const rows[][2] = {
		{ "warn", "'warn' is not understood" },
		{ "warn=0", "'warn=0' is not understood" },
		{ "warn=1h,reclaim=-1", "'reclaim=-1' is not understood" },
		{ "then=shout", "'then=shout' is not understood" },
		{ "cores=none", "'cores=none' is not understood" },
		{ "on", "'on' is not understood" },
		{ "warn=2h,reclaim=1h", "comes before warn" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idle_rule rule = { .warn_s = 7 };
		struct err err = { 0 };

		assert_int_equal(idle_rule_parse(rows[i][0], &rule, &err), ERR_USAGE);
		assert_non_null(strstr(err.text, rows[i][1]));
		assert_true(rule.warn_s == 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_read),
		cmocka_unit_test(nonsense_is_told),
	};

	return cmocka_run_group_tests_name("daemon/idle", tests, NULL, NULL);
}
