/*
 * Text cases themselves: mistakes in them are found and named, and a case that
 * does not hold shows what was expected and what came.
 */
#include <string.h>

#include "support/case.h"
#include "support/property.h"

#define BEGIN "case: t\ncluster: 1 node, 2 gpu\njob a: at 0, gpus 1, work 10\npolicy: fifo\n"

/* The verdict on the only case of a text. */
static bool verdict(const char *text, struct buf *out)
{
	struct text_cases cases = { 0 };
	bool ok;

	cases_read_text(&cases, "x.case", slice_of(text));
	assert_int_equal(cases.at.n, 1);
	ok = case_run(cases.at.at[0], out);
	cases_fini(&cases);
	return ok;
}

static const struct {
	const char *what, *text, *want; /* part of the message; NULL: it holds */
} rows[] = {
	{ "all is well", BEGIN "expect: a 0-10\n", NULL },
	{ "comments and empty lines", "# about\n\n" BEGIN "\n# more\nexpect: a 0-10\n", NULL },
	{ "other words for a cluster",
		"case: t\ncluster: 2x4:v100\njob a: at 1m, gpus 8, work 1h\npolicy: fifo\nexpect: a 60-3660, a on n0+n1\n",
		NULL },
	{ "round means round_s",
		"case: t\ncluster: 1x1\njob a: at 1, gpus 1, work 1\npolicy: srtf round=5\nexpect: a 5-6\n",
		NULL },

	{ "an unknown line", BEGIN "mood: good\nexpect: a 0-10\n", "x.case:5: there is no 'mood:'" },
	{ "an unknown field",
		"case: t\ncluster: 1x1\njob a: at 0, gpu 1, work 10\npolicy: fifo\nexpect: a 0-10\n",
		"x.case:3: a job has no field 'gpu'" },
	{ "a field without a number",
		"case: t\ncluster: 1x1\njob a: at 0, gpus one, work 10\npolicy: fifo\nexpect: a 0-10\n",
		"x.case:3: 'one' is not a whole number" },
	{ "no work", "case: t\ncluster: 1x1\njob a: at 0, gpus 1\npolicy: fifo\nexpect: a 0-10\n",
		"x.case:3: a job needs its work" },
	{ "two jobs of a name", BEGIN "job a: at 0, gpus 1, work 1\nexpect: a 0-10\n",
		"x.case:5: a job needs a name of its own" },
	{ "a dependency on nobody",
		"case: t\ncluster: 1x1\njob a: at 0, gpus 1, work 10, after z\npolicy: fifo\nexpect: a 0-10\n",
		"x.case:3: there is no job 'z'" },
	{ "an unknown cost", BEGIN "cost: stop 3\nexpect: a 0-10\n", "x.case:5: 'stop' is not a cost" },
	{ "two tenants of a name", BEGIN "tenant x: weight 2\ntenant x: weight 3\nexpect: a 0-10\n",
		"x.case:6: a tenant needs a name of its own" },
	{ "a tenant's unknown field", BEGIN "tenant x: mood 2\nexpect: a 0-10\n",
		"x.case:5: a tenant has no field 'mood'" },
	{ "a tenant below nobody", BEGIN "tenant x: parent y\nexpect: a 0-10\n",
		"x.case:5: 'y' is not a tenant of an earlier line" },
	{ "an unknown way within", BEGIN "tenant x: within sums\nexpect: a 0-10\n",
		"x.case:5: 'sums' is not fair or fifo" },
	{ "half a failure", BEGIN "fail: node 0\nexpect: a 0-10\n", "x.case:5:" },
	{ "a type that the cluster has not", BEGIN "speed: m v100 1\nexpect: a 0-10\n",
		"x.case:5: 'v100' is not a type of the cluster" },
	{ "an expectation of nobody", BEGIN "expect: b 0-10\n", "x.case:5: there is no job 'b'" },
	{ "an expectation nobody knows", BEGIN "expect: a sleeps\n",
		"x.case:5: 'sleeps' is not something a job can be expected to do" },
	{ "a reason nobody knows", BEGIN "expect: a waits weather\n",
		"x.case:5: 'weather' is not a reason" },
	{ "an interval without numbers", BEGIN "expect: a x-10\n", "x.case:5: 'x' is not a number" },
	{ "a job of which nothing is expected", BEGIN "job b: at 0, gpus 1, work 1\nexpect: a 0-10\n",
		"x.case:1: nothing is expected of job b" },
	{ "nothing expected at all", BEGIN, "x.case:1: the case expects nothing" },
	{ "no policy", "case: t\ncluster: 1x1\njob a: at 0, gpus 1, work 10\nexpect: a 0-10\n",
		"x.case:1: the case has no policy" },
	{ "no cluster", "case: t\njob a: at 0, gpus 1, work 10\npolicy: fifo\nexpect: a 0-10\n",
		"x.case:1: the case has no cluster" },
	{ "a bad cluster", "case: t\ncluster: 1 house\n", "x.case:2: '1 house' is not known here" },
	{ "no title line", "cluster: 1x1\n", "x.case:1: the case has no policy" },
	{ "an unknown policy",
		"case: t\ncluster: 1x1\njob a: at 0, gpus 1, work 10\npolicy: fofo\nexpect: a 0-10\n",
		"did you mean 'fifo'" },
	{ "an unknown option",
		"case: t\ncluster: 1x1\njob a: at 0, gpus 1, work 10\npolicy: fifo colour=red\nexpect: a 0-10\n",
		"colour" },

	{ "other times", BEGIN "expect: a 0-11\n", "> a      0-11                             0-10\n" },
	{ "more times", BEGIN "expect: a 0-5, a 5-10\n",
		"> a      0-5 5-10                         0-10\n" },
	{ "fewer times",
		"case: t\ncluster: 1x1\njob a: at 0, gpus 1, work 10\njob b: at 5, gpus 1, work 1\npolicy: srtf\nexpect: a 0-5, b 5-6\n",
		"> a      0-5                              0-5 6-11\n" },
	{ "an open end that is closed", BEGIN "expect: a 0-\n",
		"> a      0-                               0-10\n" },
	{ "other nodes", BEGIN "expect: a on n1\n", "expected n1                       got n0" },
	{ "no such reason", BEGIN "expect: a waits busy\n",
		"expected busy                     got no reason" },
	{ "not rejected", BEGIN "expect: a rejected\n",
		"expected rejected                 got finished" },
	{ "not unfinished", BEGIN "expect: a unfinished\n",
		"expected unfinished               got finished" },
	{ "not preempted", BEGIN "expect: a preempted 1\n", "expected preempted 1              got 0" },
	{ "lost nothing", BEGIN "expect: a loses 5\n", "expected loses 5                  got 0" },
	{ "paid nothing", BEGIN "expect: a pays 5\n", "expected pays 5                   got 0" },
	{ "did not move", BEGIN "expect: a moves 1, a resizes 1, a fails 1\n",
		"expected resizes 1                got 0" },
	{ "never came", BEGIN "until: 5\njob b: at 50, gpus 1, work 1\nexpect: a 0-, b 50-51\n",
		"expected to be submitted" },
};

static void mistakes_and_differences_are_shown(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf out = { 0 };
		bool ok = verdict(rows[i].text, &out);

		if (ok != !rows[i].want || (rows[i].want && !strstr(out.at, rows[i].want)))
			fail_msg("%s:\n%s", rows[i].what, out.at);
		buf_fini(&out);
	}
}

/* A case that goes wrong does not spoil the next. */
static void cases_stand_alone(void **state)
{
	struct text_cases cases = { 0 };
	struct buf out = { 0 };

	(void)state;
	cases_read_text(&cases, "x.case", slice_of("case: first\nnonsense\n" BEGIN "expect: a 0-10\n"));
	assert_int_equal(cases.at.n, 2);
	assert_string_equal(cases.at.at[0]->title, "first");
	assert_false(case_run(cases.at.at[0], &out));
	assert_true(case_run(cases.at.at[1], &out));
	buf_fini(&out);
	cases_fini(&cases);
}

static void a_folder_that_is_not_there(void **state)
{
	struct text_cases cases = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(cases_read(&cases, "/nowhere", &err), ERR_IO);
	cases_fini(&cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistakes_and_differences_are_shown),
		cmocka_unit_test(cases_stand_alone),
		cmocka_unit_test(a_folder_that_is_not_there),
	};

	return cmocka_run_group_tests_name("policy/case_text", tests, NULL, NULL);
}
