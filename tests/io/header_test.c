#include "io/header.h"

#include <string.h>

#include "base/property.h"

static const struct column columns[] = {
	{ .name = "id", .aliases = "job_id|job" },
	{ .name = "arrival_s", .aliases = "submit", .required = true },
	{ .name = "duration_s", .aliases = "duration" },
	{ .name = "gpus" },
	{ 0 },
};

static const struct {
	const char *field;
	int is, near;
} names[] = {
	{ "id", 0, 0 },
	{ "JOB", 0, 0 },
	{ "job_id", 0, 0 },
	{ "Arrival_S", 1, 1 },
	{ "arival_s", -1, 1 },
	{ "duraton", -1, 2 }, /* an alias is nearer than the name */
	{ "gpu", -1, 3 },
	{ "colour", -1, -1 },
	{ "", -1, -1 },
	{ "a-name-that-is-so-long-that-nobody-can-have-meant-any-of-these-columns-by-it", -1, -1 },
};

static void columns_by_name(void **state)
{
	const int where[] = { 0, 1, 2, 3 };

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		print_message("\"%s\"\n", names[i].field);
		assert_int_equal(columns_find(columns, slice_of(names[i].field)), names[i].is);
		assert_int_equal(columns_nearest(columns, NULL, slice_of(names[i].field)),
			names[i].near);
		/* Those that are there already were not meant. */
		assert_int_equal(columns_nearest(columns, where, slice_of(names[i].field)), -1);
	}
}

static const struct {
	const char *what, *head, *want;
} headers[] = {
	{ "two slips", "arival_s,duraton\n0,5\n", "arrival_s, duration_s" },
	{ "in the order of the format", "duraton,arival_s,gpus\n", "arrival_s, duration_s, gpus" },
	{ "cut off", "arival_s,dura", "arrival_s, duration_s" },
	{ "the required one is not among them", "duraton,gpu\n", "" },
	{ "a number is in no header", "arival_s,7\n", "" },
	{ "one word", "arival_s\n", "" },
	{ "nothing", "", "" },
};

static void what_was_meant(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(headers); i++) {
		struct buf got = { 0 };

		print_message("%s\n", headers[i].what);
		header_meant(slice_of(headers[i].head), columns, &got);
		assert_string_equal(got.n ? got.at : "", headers[i].want);
		buf_fini(&got);
	}
}

static void matching(void **state)
{
	struct slice head = slice_of("a, \"B\" ,c\n1,2,3\n");

	(void)state;
	assert_int_equal(header_match(head, "c|b"), 2);
	assert_int_equal(header_match(head, "c|b|d"), -1);
	assert_true(header_has(head, "a"));
	assert_false(header_has(head, "1"));
	assert_false(header_has(slice_of(""), "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_by_name),
		cmocka_unit_test(what_was_meant),
		cmocka_unit_test(matching),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
