#include "hook/event.h"

#include <string.h>

#include "support/property.h"

static const char *wanted(const struct hook *hook, const char *kind, const char *members)
{
	json_t *m = json_loads(members, 0, NULL);
	const char *name;

	assert_non_null(m);
	name = hook_wants(hook, kind, m);
	json_decref(m);
	return name;
}

static void events_have_names(void **state)
{
	static const struct {
		const char *what, *on, *kind, *members;
		bool want;
	} rows[] = {
		{ "one that ended well", "finished", "end", "{\"state\":\"COMPLETED\"}", true },
		{ "one that did not", "finished", "end", "{\"state\":\"FAILED\"}", false },
		{ "a failure", "failed", "end", "{\"state\":\"FAILED\"}", true },
		{ "too slow is a failure", "failed", "end", "{\"state\":\"TIMEOUT\"}", true },
		{ "so is a lost machine", "failed", "end", "{\"state\":\"NODE_FAIL\"}", true },
		{ "cancelled is none", "failed", "end", "{\"state\":\"CANCELLED\"}", false },
		{ "but has its own name", "cancelled", "end", "{\"state\":\"CANCELLED\"}", true },
		{ "ended is any end", "ended", "end", "{\"state\":\"CANCELLED\"}", true },
		{ "the state of another kind", "finished", "state", "{\"state\":\"COMPLETED\"}", false },
		{ "a begin", "started", "begun", "{}", true },
		{ "preempted", "preempted", "stop", "{\"why\":\"preempt\"}", true },
		{ "moved is not preempted", "preempted", "stop", "{\"why\":\"move\"}", false },
		{ "no word why", "preempted", "stop", "{}", false },
		{ "devices gone", "device-down", "devices", "{\"up\":false}", true },
		{ "devices back", "device-down", "devices", "{\"up\":true}", false },
		{ "devices back", "device-up", "devices", "{\"up\":true}", true },
		{ "a kind by its own name", "hold", "hold", "{}", true },
		{ "a kind of later", "gone-fishing", "gone-fishing", "{}", true },
		{ "another one", "gone-fishing", "hold", "{}", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *on[] = { rows[i].on, NULL };
		struct hook hook = { .on = on, .non = 1 };
		const char *got = wanted(&hook, rows[i].kind, rows[i].members);

		if (rows[i].want != (got != NULL) || (got && strcmp(got, rows[i].on) != 0))
			fail_msg("%s", rows[i].what);
	}
}

static void rules_are_for_some_jobs(void **state)
{
	static const char job[] = "{\"tenant\":\"vision\",\"user\":\"ada\",\"name\":\"train-7\"}";
	static const struct {
		const char *what, *tenant, *user, *name;
		bool want;
	} rows[] = {
		{ "of anybody", NULL, NULL, NULL, true },
		{ "of the tenant", "vision", NULL, NULL, true },
		{ "of another tenant", "visio", NULL, NULL, false },
		{ "of the user", NULL, "ada", NULL, true },
		{ "of another user", NULL, "bob", NULL, false },
		{ "by a pattern", NULL, NULL, "train-*", true },
		{ "by another pattern", NULL, NULL, "eval-*", false },
		{ "all must fit", "vision", "bob", "train-*", false },
	};
	const char *on[] = { "ended", NULL };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct hook hook = { .on = on,
			.non = 1,
			.tenant = rows[i].tenant,
			.user = rows[i].user,
			.name = rows[i].name };

		if ((wanted(&hook, "end", job) != NULL) != rows[i].want)
			fail_msg("%s", rows[i].what);
		/* What is about no job is nobody's. */
		if ((wanted(&hook, "end", "{}") != NULL) != (!hook.tenant && !hook.user && !hook.name))
			fail_msg("no job, %s", rows[i].what);
	}
}

static void the_first_name_that_fits_is_told(void **state)
{
	const char *on[] = { "started", "failed", "ended", NULL }, *all[] = { "all", NULL };
	struct hook hook = { .on = on, .non = 3 }, any = { .on = all, .non = 1 };

	(void)state;
	assert_string_equal(wanted(&hook, "end", "{\"state\":\"FAILED\"}"), "failed");
	assert_string_equal(wanted(&hook, "end", "{\"state\":\"COMPLETED\"}"), "ended");
	assert_string_equal(wanted(&any, "progress", "{}"), "progress");
}

static void names_that_are_nearly_right_are_slips(void **state)
{
	(void)state;
	assert_string_equal(event_near("finishd"), "finished");
	assert_string_equal(event_near("preemptd"), "preempted");
	assert_string_equal(event_near("idle-warned"), "idle_warned");
	assert_string_equal(event_near("reclaims"), "reclaim");
	assert_null(event_near("gone-fishing"));
	for (const struct event_name *e = event_names; e->name; e++) {
		assert_true(event_is_known(e->name));
		assert_true(event_is_known(e->kind));
	}
}

static void the_body_is_one_line_of_json(void **state)
{
	json_t *members = json_loads(
		"{\"seq\":7,\"job\":3,\"name\":\"a\\\"b\\nc\",\"user\":\"ada\",\"exit_code\":2,"
		"\"reason\":\"its time limit was over\"}",
		0, NULL);
	struct buf body = { 0 };
	json_t *is;

	(void)state;
	event_body("failed", members, "node1", "abc", &body);
	assert_null(strchr(body.at, '\n'));
	is = json_loads(body.at, 0, NULL);
	assert_non_null(is);
	assert_string_equal(json_string_value(json_object_get(is, "schema")), "notification/1");
	assert_string_equal(json_string_value(json_object_get(is, "event")), "failed");
	assert_string_equal(json_string_value(json_object_get(is, "delivery")), "abc");
	assert_string_equal(json_string_value(json_object_get(is, "name")), "a\"b\nc");
	assert_string_equal(json_string_value(json_object_get(is, "text")),
		"job 3 (a\"b\\u000ac) of ada: failed, exit code 2, its time limit was over");
	assert_int_equal(json_integer_value(json_object_get(is, "seq")), 7);
	json_decref(is);
	buf_fini(&body);
	json_decref(members);
	members = json_object();
	event_body("device-down", members, "node1", "abc", &body);
	assert_non_null(strstr(body.at, "\"text\":\"node1: device-down\"}"));
	json_decref(members);
	buf_fini(&body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_have_names),
		cmocka_unit_test(rules_are_for_some_jobs),
		cmocka_unit_test(the_first_name_that_fits_is_told),
		cmocka_unit_test(names_that_are_nearly_right_are_slips),
		cmocka_unit_test(the_body_is_one_line_of_json),
	};

	return cmocka_run_group_tests_name("hook/event", tests, NULL, NULL);
}
