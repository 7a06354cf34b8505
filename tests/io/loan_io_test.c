#include "io/loan_io.h"

#include <string.h>

#include "support/property.h"

static void test_reads(void **state)
{
	static const char servers[] = "# nights\ntime_s,servers\n0,4\n1h,2\n7200,0\n";
	static const char demand[] = "note,load,time\nquiet,0.25,0\nbusy,1,60\n";
	struct loan_series s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(loan_read_csv("x", servers, sizeof(servers) - 1, &s, &err), 0);
	assert_int_equal(s.rows.n, 3);
	assert_false(s.demand);
	assert_true(s.rows.at[1].at_s == 3600 && s.rows.at[1].value == 2 && s.rows.at[1].line == 4);
	loan_series_fini(&s);
	assert_int_equal(loan_read_csv("x", demand, sizeof(demand) - 1, &s, &err), 0);
	assert_true(s.demand && s.rows.at[0].value == .25 && s.rows.at[1].at_s == 60);
	loan_series_fini(&s);
}

static const struct {
	const char *text, *says;
} bad[] = {
	{ "", "x:1: the file is empty" },
	{ "time_s,servers\n", "no line after" },
	{ "servers\n3\n", "x:1: there is no column time_s" },
	{ "time_s\n3\n", "x:1: beside time_s there must be one column servers" },
	{ "time_s,servers,demand\n0,1,1\n", "not both" },
	{ "time_s,servers,lent\n0,1,1\n", "column servers is there twice" },
	{ "time_s,servers\n0,4\n-5,2\n", "x:3: time_s '-5' is not a time" },
	{ "time_s,servers\n10,4\n5,2\n", "x:3: time_s goes from 10 back to 5" },
	{ "time_s,servers\n10,4\n10,2\n", "x:3: time_s goes from 10 back to 10" },
	{ "time_s,servers\n0,-1\n", "x:2: servers '-1' is not a number of servers, 0 or more" },
	{ "time_s,servers\n0,1.5\n", "x:2: servers '1.5' is not a number of servers" },
	{ "time_s,servers\n0,many\n", "x:2: servers 'many' is not a number" },
	{ "time_s,servers\n0,nan\n", "x:2: servers 'nan' is not a number" },
	{ "time_s,demand\n0,1.2\n", "x:2: demand '1.2' is not a part of all servers" },
	{ "time_s,servers\n0\n", "x:2: the line has 1 fields" },
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct loan_series s;
		struct err err = { 0 };

		assert_int_equal(loan_read_csv("x", bad[i].text, strlen(bad[i].text), &s, &err),
			ERR_FORMAT);
		if (!strstr(err.text, bad[i].says))
			fail_msg("'%s' says '%s', not '%s'", bad[i].text, err.text, bad[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
