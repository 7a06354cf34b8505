#include "io/usage_io.h"

#include <math.h>
#include <string.h>

#include "support/property.h"

static void test_reads(void **state)
{
	static const char text[] = "name,time,cores,memory,killed\n"
				   "a,1.5h,2,1G,\n"
				   "b,10,,512M,0\n"
				   "a,5,1,9G,yes\n"
				   "a,5,1,2G,no\n";
	struct usage usage = { 0 };
	struct err err = { 0 };

	(void)state;
	if (usage_read_csv("f", text, strlen(text), &usage, &err))
		fail_msg("%s", err.text);
	assert_int_equal(usage.rows.n, 3);
	assert_int_equal(usage.exhausted, 1);
	assert_int_equal(usage.categories.n, 2);
	assert_true(usage.rows.at[0].time_s == 5400 && usage.rows.at[0].peak[USAGE_CPUS] == 2);
	assert_true(isnan(usage.rows.at[1].peak[USAGE_CPUS]));
	assert_true(usage.rows.at[1].peak[USAGE_MEM] == 512 << 20);
	assert_true(isnan(usage.rows.at[0].peak[USAGE_DISK]));
	usage_fini(&usage);
}

static void test_refuses(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "", "f:1: the file is empty" },
		{ "category,cpus\n", "f:1: there is no column time_s" },
		{ "category,time_s\n", "none of the columns cpus, mem and disk" },
		{ "category,time_s,mem,mem\n", "column mem is there twice" },
		{ "category,time_s,mem\n", "no run below" },
		{ "category,time_s,mem\na,0,1G\n", "f:2: time_s '0' is not a time above 0" },
		{ "category,time_s,mem\na,1,much\n", "f:2: mem 'much' is not a size" },
		{ "category,time_s,cpus\na,1,-1\n", "f:2: cpus '-1' is not a number of 0 or more" },
		{ "category,time_s,cpus\n,1,1\n", "the category is empty" },
		{ "category,time_s,cpus\na,1\n", "too few" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct usage usage = { 0 };
		struct err err = { 0 };

		assert_int_equal(usage_read_csv("f", rows[i].text, strlen(rows[i].text), &usage, &err),
			ERR_FORMAT);
		if (!strstr(err.text, rows[i].says))
			fail_msg("row %zu: %s", i, err.text);
	}
}

static void test_amounts(void **state)
{
	double out[USAGE_RESOURCES];
	struct err err = { 0 };

	(void)state;
	assert_int_equal(usage_amounts("x", "mem=64G, cpus=16", out, &err), 0);
	assert_true(out[USAGE_CPUS] == 16 && out[USAGE_MEM] == 64.0 * (1 << 30) &&
		isnan(out[USAGE_DISK]));
	assert_int_equal(usage_amounts("x", "ram=64G", out, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "x: 'ram=64G' is not understood"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_amounts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
