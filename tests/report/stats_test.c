#include "report/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static void near(const char *what, double got, double want, double within)
{
	if (!(fabs(got - want) <= within) && !(isnan(got) && isnan(want)))
		fail_msg("%s: got %.10g, want %.10g", what, got, want);
}

static void percentiles_are_linear_between_ranks(void **state)
{
	static const double x[] = { 1, 2, 3, 4 };
	static const struct {
		const char *what;
		size_t n;
		double p, want;
	} rows[] = {
		{ "the least", 4, 0, 1 },
		{ "a quarter, as numpy has it", 4, 25, 1.75 },
		{ "the median of an even number", 4, 50, 2.5 },
		{ "far out", 4, 99, 3.97 },
		{ "the largest", 4, 100, 4 },
		{ "of one", 1, 99, 1 },
		{ "of none", 0, 50, NAN },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		near(rows[i].what, stats_percentile(x, rows[i].n, rows[i].p), rows[i].want, 1e-12);
}

static void nan_does_not_count(void **state)
{
	double x[] = { 3, NAN, 1, NAN, 2 };

	(void)state;
	near("mean", stats_mean(x, 5), 2, 0);
	near("max", stats_max(x, 5), 3, 0);
	near("deviation", stats_deviation(x, 5), 1, 0);
	assert_int_equal(stats_interval(x, 5).n, 3);
	assert_int_equal(stats_sort(x, 5), 3);
	assert_true(x[0] == 1 && x[1] == 2 && x[2] == 3 && isnan(x[3]));
	assert_true(isnan(stats_mean(x + 3, 2)) && isnan(stats_mean(NULL, 0)));
	assert_int_equal(stats_sort(NULL, 0), 0);
}

static void student_is_as_in_the_tables(void **state)
{
	static const struct {
		size_t freedom;
		double want;
	} rows[] = { { 1, 12.7062 }, { 4, 2.7764 }, { 9, 2.2622 }, { 30, 2.0423 }, { 31, 2.0395 },
		{ 40, 2.0211 }, { 100, 1.9840 }, { 1000, 1.9623 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		near("quantile", stats_t95(rows[i].freedom), rows[i].want, 6e-5);
		near("its chance", stats_t_p(rows[i].want, rows[i].freedom), 0.05, 1e-4);
	}
	assert_true(isnan(stats_t95(0)));
}

static void chances_are_right(void **state)
{
	static const struct {
		double t;
		size_t freedom;
		double p;
	} rows[] = { { 0, 7, 1 }, { 1, 1, 0.5 }, { -1, 1, 0.5 }, { 2, 2, 0.183503419072 },
		{ 3, 5, 0.030099247897 }, { 2, 10, 0.073388034771 }, { 2.5, 31, 0.017920226813 },
		{ INFINITY, 3, 0 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		near("p", stats_t_p(rows[i].t, rows[i].freedom), rows[i].p, 1e-10);
	assert_true(isnan(stats_t_p(NAN, 3)) && isnan(stats_t_p(1, 0)));
}

static void an_interval_follows_student(void **state)
{
	static const double x[] = { 10, 12, 14 };
	struct interval i = stats_interval(x, 3);

	(void)state;
	near("mean", i.mean, 12, 0);
	near("half", i.half, 4.3027 * 2 / sqrt(3), 1e-9);
	assert_true(isnan(stats_interval(x, 1).half) && isnan(stats_interval(x, 0).mean));
}

static void paired_t_knows_a_worked_example(void **state)
{
	static const double x[] = { 1, 2, 3, 4, 5, NAN }, y[] = { 2, 3, 5, 4, 6, 1 };
	struct paired r = stats_paired_t(x, y, 6);

	(void)state;
	assert_int_equal(r.test, PAIRED_T);
	assert_int_equal(r.n, 5);
	near("difference", r.difference, 1, 0);
	near("p", r.p, 0.034109423167, 1e-10);
}

static void equal_differences_are_no_test(void **state)
{
	static const double x[] = { 1, 2, 3 }, y[] = { 2, 3, 4 };

	(void)state;
	assert_int_equal(stats_paired_t(x, x, 3).test, PAIRED_NONE);
	assert_int_equal(stats_paired_t(x, y, 3).test, PAIRED_NONE);
	assert_int_equal(stats_paired_t(x, y, 1).test, PAIRED_NONE);
	assert_int_equal(stats_wilcoxon(x, x, 3).test, PAIRED_NONE);
	assert_int_equal(stats_wilcoxon(NULL, NULL, 0).test, PAIRED_NONE);
	assert_true(isnan(stats_paired_t(x, y, 3).p));
}

static void wilcoxon_is_exact_for_few(void **state)
{
	/* Hollander and Wolfe's depression data: V = 40, two-sided p = 20 / 512 */
	static const double x[] = { 1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30 };
	static const double y[] = { 0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29 };
	static const double none[25] = { 0 }, ties[] = { 1, 1, 1, 1, 1, -1, 0 };
	double up[25];

	(void)state;
	near("depression", stats_wilcoxon(x, y, 9).p, 20 / 512.0, 1e-15);
	for (int i = 0; i < 25; i++)
		up[i] = i + 1;
	near("five of five", stats_wilcoxon(none, up, 5).p, 2 / 32.0, 1e-15);
	near("25 of 25", stats_wilcoxon(none, up, 25).p, pow(2, -24), 1e-20);
	/* all ranks are 3.5: one sign of six differs in 6 of 64 ways, none in 1 */
	near("ties", stats_wilcoxon(none, ties, 7).p, 14 / 64.0, 1e-15);
}

static void wilcoxon_is_normal_for_many(void **state)
{
	double none[30] = { 0 }, up[30];

	(void)state;
	for (int i = 0; i < 30; i++)
		up[i] = i + 1;
	near("p", stats_wilcoxon(none, up, 30).p, 1.825371456e-6, 1e-14);
	for (int i = 0; i < 30; i++)
		up[i] = (i % 2 ? 1 : -1) * (i / 2 + 1.0);
	near("as many up as down", stats_wilcoxon(none, up, 30).p, 1, 0.02);
}

static void jain_is_one_when_all_are_equal(void **state)
{
	static const double equal[] = { 2, 2, 2 }, one[] = { 1, 0, 0 }, rising[] = { 1, 2, 3 };

	(void)state;
	near("equal", stats_jain(equal, 3), 1, 1e-15);
	near("one has all", stats_jain(one, 3), 1 / 3.0, 1e-15);
	near("1 2 3", stats_jain(rising, 3), 36 / 42.0, 1e-15);
	assert_true(isnan(stats_jain(NULL, 0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_linear_between_ranks),
		cmocka_unit_test(nan_does_not_count),
		cmocka_unit_test(student_is_as_in_the_tables),
		cmocka_unit_test(chances_are_right),
		cmocka_unit_test(an_interval_follows_student),
		cmocka_unit_test(paired_t_knows_a_worked_example),
		cmocka_unit_test(equal_differences_are_no_test),
		cmocka_unit_test(wilcoxon_is_exact_for_few),
		cmocka_unit_test(wilcoxon_is_normal_for_many),
		cmocka_unit_test(jain_is_one_when_all_are_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
