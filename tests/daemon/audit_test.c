#include "daemon/audit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "support/property.h"

static const struct audit_entry denied = {
	.what = "denied",
	.by = "kernel",
	.from = "unix",
	.verb = "set_policy",
	.caller = { .uid = 7 },
	.status = 403,
};

static void what_repeats_is_told_twice(void **state)
{
	struct audit *a = audit_create();
	struct buf text = { 0 };

	(void)state;
	assert_true(audit_add(a, &denied, 100));
	assert_true(audit_take(a, 100, &text));
	assert_string_equal(text.at,
		"{\"what\":\"denied\",\"by\":\"kernel\",\"uid\":7,\"role\":\"user\",\"from\":\"unix\",\"verb\":\"set_policy\",\"status\":403}");
	assert_false(audit_take(a, 100, &text));
	assert_true(isinf(audit_next_s(a)));
	for (int i = 0; i < 10000; i++)
		assert_false(audit_add(a, &denied, 101));
	assert_false(audit_take(a, 101, &text));
	assert_true(audit_next_s(a) == 100 + AUDIT_WINDOW_S);
	assert_true(audit_take(a, 100 + AUDIT_WINDOW_S, &text));
	assert_non_null(strstr(text.at, "\"status\":403,\"count\":10000}"));
	assert_false(audit_take(a, 100 + AUDIT_WINDOW_S, &text));
	buf_fini(&text);
	audit_destroy(a);
}

static void many_callers_are_one_row(void **state)
{
	struct audit *a = audit_create();
	struct buf text = { 0 };
	struct audit_entry e = denied;
	int rows = 0;

	(void)state;
	for (e.caller.uid = 0; e.caller.uid < 5000; e.caller.uid++)
		audit_add(a, &e, 100);
	while (audit_take(a, 100, &text))
		rows++;
	assert_int_equal(rows, AUDIT_SLOTS);
	assert_true(audit_take(a, 100 + AUDIT_WINDOW_S, &text));
	assert_string_equal(text.at, "{\"what\":\"others\",\"count\":4936}");
	/* What is over makes room. */
	e.caller.uid = 9999;
	assert_true(audit_add(a, &e, 101 + AUDIT_WINDOW_S));
	buf_fini(&text);
	audit_destroy(a);
}

static void each_change_is_told(void **state)
{
	struct audit *a = audit_create();
	struct buf text = { 0 };
	struct audit_entry e = { .what = "change",
		.by = "kernel",
		.from = "unix",
		.verb = "set_quota",
		.detail = "/v1/quota {\"tenant\":\"\xc3\xa4\n\"}",
		.caller = { .admin = true },
		.status = 200 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_true(audit_add(a, &e, 100));
		assert_true(audit_take(a, 100, &text));
	}
	assert_non_null(strstr(text.at, "\"role\":\"admin\""));
	assert_non_null(strstr(text.at, "\"detail\":\"/v1/quota {\\\"tenant\\\":\\\"???\\\"}\""));
	buf_fini(&text);
	audit_destroy(a);
}

/* As a daemon that stops takes all there is. */
static void at_the_end_of_time_all_is_due(void **state)
{
	struct audit *a = audit_create();
	struct audit_entry e = denied;
	struct buf text = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++)
		audit_add(a, &denied, 100);
	for (e.caller.uid = 1000; e.caller.uid < 1000 + AUDIT_SLOTS; e.caller.uid++)
		audit_add(a, &e, 100);
	for (int i = 0; i < AUDIT_SLOTS; i++)
		assert_true(audit_take(a, INFINITY, &text));
	assert_true(audit_take(a, INFINITY, &text));
	assert_string_equal(text.at, "{\"what\":\"others\",\"count\":1}");
	assert_true(audit_take(a, INFINITY, &text));
	assert_non_null(strstr(text.at, "\"count\":2}"));
	assert_false(audit_take(a, INFINITY, &text));
	buf_fini(&text);
	audit_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_repeats_is_told_twice),
		cmocka_unit_test(many_callers_are_one_row),
		cmocka_unit_test(each_change_is_told),
		cmocka_unit_test(at_the_end_of_time_all_is_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
