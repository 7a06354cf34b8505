/* Rules of limits as they are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/limits.h"

static const struct limit_rule *find(const struct limits *limits, bool tenant, const char *name)
{
	for (size_t i = 0; i < limits->rules.n; i++) {
		if (limits->rules.at[i].tenant == tenant && !strcmp(limits->rules.at[i].name, name))
			return &limits->rules.at[i];
	}
	return NULL;
}

static void presets_are_generous(void **state)
{
	struct limits limits;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(limits_parse(NULL, &limits, &err), 0);
	assert_true(find(&limits, false, "*")->at[LIMIT_OF_QUEUED] >= 100000);
	assert_true(find(&limits, true, "*")->at[LIMIT_OF_QUEUED] >= 100000);
	assert_false(limits.admins);
	limits_fini(&limits);
}

static void off_is_none(void **state)
{
	struct limits limits;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(limits_parse("off", &limits, &err), 0);
	for (int i = 0; i < LIMIT_KINDS; i++)
		assert_true(find(&limits, false, "*")->at[i] == LIMIT_NONE);
	limits_fini(&limits);
}

static void rules_name_users_and_tenants(void **state)
{
	struct limits limits;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(limits_parse("queued=10, bytes=1G,rate=0.5,user:ci:rate=none,tenant:*:queued=20,"
				      "tenant:nlp:queued=0,admins",
				 &limits, &err),
		0);
	assert_true(find(&limits, false, "*")->at[LIMIT_OF_QUEUED] == 10);
	assert_true(find(&limits, false, "*")->at[LIMIT_OF_BYTES] == 1 << 30);
	assert_true(find(&limits, false, "*")->at[LIMIT_OF_RATE] == 0.5);
	assert_true(find(&limits, false, "ci")->at[LIMIT_OF_RATE] == LIMIT_NONE);
	assert_true(isnan(find(&limits, false, "ci")->at[LIMIT_OF_QUEUED]));
	assert_true(find(&limits, true, "*")->at[LIMIT_OF_QUEUED] == 20);
	assert_true(find(&limits, true, "nlp")->at[LIMIT_OF_QUEUED] == 0);
	assert_true(limits.admins);
	limits_fini(&limits);
}

static void mistakes_are_told(void **state)
{
	static const char *const rows[] = { "queue=1", "queued", "queued=", "queued=-1",
		"queued=1.5", "bytes=much", "rate=-1", "burst=0", "user::rate=1", "group:x:rate=1",
		"user:x=1", "tenant:x:whatifs=1", "queued=1,,rate=1", "on" };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct limits limits;
		struct err err = { 0 };

		if (limits_parse(rows[i], &limits, &err) != ERR_USAGE)
			fail_msg("'%s' is taken", rows[i]);
		assert_non_null(strstr(err.text, "is not understood; write queued=N"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(presets_are_generous),
		cmocka_unit_test(off_is_none),
		cmocka_unit_test(rules_name_users_and_tenants),
		cmocka_unit_test(mistakes_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
