#include "io/ids.h"

#include "io/import_case.h"

/* Adds a job with this id if it is new. */
static bool add(struct ids *ids, struct trace *trace, const char *id)
{
	if (!ids_add(ids, trace, slice_of(id)))
		return false;
	trace_add(trace)->label = trace_text(trace, id, strlen(id));
	return true;
}

static void growing_numbers_need_no_table(void **state)
{
	struct trace trace = { 0 };
	struct ids ids = { 0 };

	(void)state;
	assert_true(add(&ids, &trace, "0"));
	assert_true(add(&ids, &trace, "1"));
	assert_true(add(&ids, &trace, "100000000000"));
	assert_false(ids.tabled);
	assert_int_equal(ids_find(&ids, &trace, slice_of("1")), 1);
	assert_true(ids.tabled);
	assert_int_equal(ids_find(&ids, &trace, slice_of("2")), JOB_NONE);
	ids_fini(&ids);
	trace_fini(&trace);
}

static void equal_ids_are_seen(void **state)
{
	static const struct {
		const char *id;
		bool is_new;
	} rows[] = {
		{ "5", true },
		{ "5", false },
		{ "6", true },
		{ "0", true },
		{ "0", false },
		{ "00", true },
		{ "x", true },
		{ "x", false },
		{ "X", true },
		{ "6", false },
		{ "7", true },
		{ "07", true },
		{ "-7", true },
		{ "7", false },
		{ "99999999999999999999", true },
		{ "99999999999999999999", false },
	};
	struct trace trace = { 0 };
	struct ids ids = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (add(&ids, &trace, rows[i].id) != rows[i].is_new)
			fail_msg("row %zu: '%s' is %s", i, rows[i].id,
				rows[i].is_new ? "new" : "not new");
	for (uint32_t i = 0; i < trace.njobs; i++)
		assert_int_equal(ids_find(&ids, &trace, slice_of(trace.jobs[i].label)), i);
	ids_fini(&ids);
	trace_fini(&trace);
}

static void zero_may_come_late(void **state)
{
	struct trace trace = { 0 };
	struct ids ids = { 0 };

	(void)state;
	assert_true(add(&ids, &trace, "3"));
	assert_true(add(&ids, &trace, "0"));
	assert_false(add(&ids, &trace, "3"));
	ids_fini(&ids);
	trace_fini(&trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(growing_numbers_need_no_table),
		cmocka_unit_test(equal_ids_are_seen),
		cmocka_unit_test(zero_may_come_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
