#include "report/textplot.h"

#include "report/fixture.h"

static void bars_are_as_long_as_their_values(void **state)
{
	static const char *const labels[] = { "1", "16", "none" };
	static const double values[] = { 40, 10, 0 };
	struct buf utf8 = { 0 }, ascii = { 0 };

	(void)state;
	textplot_bars(labels, values, 3, &(struct term){ .width = 39, .utf8 = true }, &utf8);
	assert_string_equal(utf8.at, "1     ████████████████████ 40\n16    █████ 10\nnone  0\n");
	textplot_bars(labels, values, 3, &(struct term){ .width = 39 }, &ascii);
	assert_string_equal(ascii.at, "1     #################### 40\n16    ##### 10\nnone  0\n");
	buf_fini(&utf8);
	buf_fini(&ascii);
}

static void a_distribution_rises_to_all(void **state)
{
	static const double x[] = { 1, 10, 100, 1000, NAN };
	struct textplot_cdf how = { .height = 4, .log_x = true, .unit = UNIT_SECONDS };
	struct buf out = { 0 };

	(void)state;
	textplot_cdf(x, 5, &how, &(struct term){ .width = 36 }, &out);
	assert_string_equal(out.at,
		"100 %                              #\n"
		"                          ##########\n"
		" 50 %           ####################\n"
		"      ##############################\n"
		"      1.00 s     31.6 s     16.7 min\n");
	buf_fini(&out);
}

static void odd_values_do_no_harm(void **state)
{
	static const struct {
		const char *what;
		double x[2];
		size_t n;
	} rows[] = {
		{ "nothing", { 0 }, 0 },
		{ "zeros", { 0, 0 }, 2 },
		{ "one value", { 5 }, 1 },
		{ "not a number", { NAN, NAN }, 2 },
		{ "zero and more", { 0, 100 }, 2 },
	};
	static const char *const labels[] = { "a\033[2J", "b" };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (int log_x = 0; log_x < 2; log_x++) {
			struct textplot_cdf how = { .log_x = log_x, .unit = UNIT_SECONDS };
			struct term term = { .width = 5, .utf8 = true };
			struct buf out = { 0 };

			textplot_cdf(rows[i].x, rows[i].n, &how, &term, &out);
			textplot_bars(labels, rows[i].x, rows[i].n, &term, &out);
			textplot_spark(rows[i].x, rows[i].n, 8, &term, &out);
			assert_null(out.n ? strchr(out.at, '\033') : NULL);
			buf_fini(&out);
		}
	}
}

static void a_spark_shows_the_course(void **state)
{
	static const double x[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 8 };
	struct buf utf8 = { 0 }, few = { 0 }, ascii = { 0 };

	(void)state;
	textplot_spark(x, 9, 9, &(struct term){ .utf8 = true }, &utf8);
	assert_string_equal(utf8.at, " ▁▂▃▄▅▆▇█");
	textplot_spark(x, 10, 5, &(struct term){ .utf8 = true }, &few);
	assert_string_equal(few.at, "▁▃▅▇█");
	textplot_spark(x, 9, 9, &(struct term){ 0 }, &ascii);
	assert_string_equal(ascii.at, " ..:::###");
	buf_fini(&utf8);
	buf_fini(&few);
	buf_fini(&ascii);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bars_are_as_long_as_their_values),
		cmocka_unit_test(a_distribution_rises_to_all),
		cmocka_unit_test(odd_values_do_no_harm),
		cmocka_unit_test(a_spark_shows_the_course),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
