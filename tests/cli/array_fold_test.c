#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/array_fold.h"

/* Elements of array 25, each "INDEX STATE WHY [MORE]"; its number is 25 + its index. */
static json_t *list_of(const char *const *elements)
{
	json_t *jobs = json_array();

	for (; *elements; elements++) {
		char state[16], why[16], more[64] = "";
		int index;
		char *text;

		assert_true(sscanf(*elements, "%d %15s %15s %63s", &index, state, why, more) >= 3);
		text = mem_printf("{\"id\":%d,\"array_id\":25,\"array_index\":%d,\"state\":\"%s\","
				  "\"gpus\":1,\"name\":\"sweep\",\"reason\":{\"why\":\"%s\","
				  "\"text\":\"%s: stint release 25_%d\"}%s}",
			25 + index, index, state, why, why, index, more);
		json_array_append_new(jobs, json_loads(text, 0, NULL));
		free(text);
	}
	return jobs;
}

/* "25_2 25_[3-11]", and how many jobs these are. */
static void put_labels(const json_t *jobs, bool expand, struct buf *out, size_t *count)
{
	struct fold fold;

	fold_init(&fold, jobs, expand);
	*count = 0;
	for (size_t i = 0; i < fold.rows.n; i++) {
		buf_str(out, i ? " " : "");
		fold_label(&fold.rows.at[i], out);
		*count += fold_count(&fold.rows.at[i]);
	}
	fold_fini(&fold);
}

static const struct {
	const char *what, *elements[9], *want, *expanded;
} rows[] = {
	{ "elements that run are rows of their own", { "0 RUNNING x", "1 RUNNING x", "2 COMPLETED x" },
		"25_0 25_1 25_2", "25_0 25_1 25_2" },
	{ "those that wait alike are one row",
		{ "2 RUNNING x", "3 PENDING busy", "4 PENDING busy", "5 PENDING busy" },
		"25_2 25_[3-5]", "25_2 25_3 25_4 25_5" },
	{ "one that waits alone has its name", { "3 PENDING busy" }, "25_3", "25_3" },
	{ "another reason is another row, and indices need not follow each other",
		{ "3 PENDING busy", "4 PENDING held", "5 PENDING busy", "6 PENDING busy",
			"7 PENDING held" },
		"25_[3,5-6] 25_[4,7]", "25_3 25_4 25_5 25_6 25_7" },
	{ "a step", { "0 PENDING busy", "4 PENDING busy", "8 PENDING busy" }, "25_[0-8:4]",
		"25_0 25_4 25_8" },
	{ "the limit of the array",
		{ "3 PENDING busy ,\"array_limit\":3", "4 PENDING busy ,\"array_limit\":3" },
		"25_[3-4%3]", "25_3 25_4" },
	{ "another size", { "3 PENDING busy", "4 PENDING busy ,\"min_gpus\":2", "5 PENDING busy" },
		"25_[3,5] 25_4", "25_3 25_4 25_5" },
	{ "another name", { "3 PENDING busy", "4 PENDING busy ,\"name\":\"other\"" }, "25_3 25_4",
		"25_3 25_4" },
};

static void elements_that_wait_alike_are_one_row(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_t *jobs = list_of(rows[i].elements);
		struct buf folded = { 0 }, expanded = { 0 };
		size_t n, all;

		put_labels(jobs, false, &folded, &n);
		put_labels(jobs, true, &expanded, &all);
		if (n != json_array_size(jobs) || all != n)
			fail_msg("%s: %zu and %zu jobs", rows[i].what, n, all);
		assert_string_equal(folded.at, rows[i].want);
		assert_string_equal(expanded.at, rows[i].expanded);
		buf_fini(&folded);
		buf_fini(&expanded);
		json_decref(jobs);
	}
}

static void a_row_names_all_of_it(void **state)
{
	static const char *const elements[] = { "1 PENDING held", "2 PENDING held",
		"12 PENDING held", NULL };
	json_t *jobs = list_of(elements);
	struct buf text = { 0 };
	struct fold fold;

	(void)state;
	fold_init(&fold, jobs, false);
	assert_int_equal(fold.rows.n, 1);
	fold_ids(&fold.rows.at[0], &text);
	assert_string_equal(text.at, "26-27,37-37");
	buf_clear(&text);
	fold_reason(&fold.rows.at[0], &text);
	assert_string_equal(text.at, "held: stint release 25");
	fold_fini(&fold);
	buf_clear(&text);
	fold_init(&fold, jobs, true);
	fold_reason(&fold.rows.at[0], &text);
	assert_string_equal(text.at, "held: stint release 25_1");
	fold_fini(&fold);
	buf_fini(&text);
	json_decref(jobs);
}

static void many_scattered_indices_are_cut(void **state)
{
	json_t *jobs = json_array();
	struct buf text = { 0 };
	size_t n;

	(void)state;
	for (int i = 0; i < 300; i++)
		json_array_append_new(jobs,
			json_pack("{s:i,s:i,s:i,s:s}", "id", 25 + i, "array_id", 25, "array_index",
				i * i, "state", "PENDING"));
	put_labels(jobs, false, &text, &n);
	assert_int_equal(n, 300);
	assert_true(text.n < 90);
	assert_non_null(strstr(text.at, ",...]"));
	buf_fini(&text);
	json_decref(jobs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_that_wait_alike_are_one_row),
		cmocka_unit_test(a_row_names_all_of_it),
		cmocka_unit_test(many_scattered_indices_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
