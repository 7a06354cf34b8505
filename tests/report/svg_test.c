#include "report/svg_draw.h"

#include "report/fixture.h"

static void ticks_are_ones_that_people_like(void **state)
{
	static const struct {
		const char *what;
		struct svg_scale scale;
		enum unit unit;
		size_t most;
		const char *want;
	} rows[] = {
		{ "a share", { 0, 1, 0, 100, false }, UNIT_SHARE, 5, "0|20 %|40 %|60 %|80 %|100 %" },
		{ "counts", { 0, 37, 0, 100, false }, UNIT_COUNT, 4, "0|10|20|30" },
		{ "few counts are whole", { 0, 1, 0, 100, false }, UNIT_COUNT, 5, "0|1" },
		{ "hours", { 0, 90000, 0, 100, false }, UNIT_SECONDS, 5, "0|6 h|12 h|18 h|24 h" },
		{ "days", { 0, 900000, 0, 100, false }, UNIT_SECONDS, 6, "0|2 d|4 d|6 d|8 d|10 d" },
		{ "times on a logarithmic axis", { 5, 200000, 0, 600, true }, UNIT_SECONDS, 12,
			"10 s|1 min|10 min|1 h|10 h|1 d" },
		{ "a narrow logarithmic axis is even", { 100, 400, 0, 600, true }, UNIT_SECONDS, 5,
			"2 min|3 min|4 min|5 min|6 min" },
		{ "milliseconds", { 0, 0.01, 0, 100, false }, UNIT_SECONDS, 5,
			"0|2 ms|4 ms|6 ms|8 ms|10 ms" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		double ticks[TICKS_MAX];
		size_t n = svg_ticks(&rows[i].scale, rows[i].unit, rows[i].most, ticks);
		bool even = n > 2 && fabs(ticks[2] - 2 * ticks[1] + ticks[0]) < 1e-9 * ticks[n - 1];
		struct buf out = { 0 };

		for (size_t k = 0; k < n; k++) {
			if (k)
				buf_char(&out, '|');
			svg_tick_label(rows[i].unit, ticks[k], even ? ticks[1] - ticks[0] : 0, &out);
		}
		if (strcmp(out.at, rows[i].want))
			fail_msg("%s: got %s, want %s", rows[i].what, out.at, rows[i].want);
		buf_fini(&out);
	}
}

static void values_stay_inside(void **state)
{
	struct svg_scale line = { 0, 10, 100, 0, false }, logarithmic = { 1, 100, 0, 50, true };

	(void)state;
	assert_true(svg_at(&line, 5) == 50 && svg_at(&line, -1) == 100 && svg_at(&line, 99) == 0);
	assert_true(fabs(svg_at(&logarithmic, 10) - 25) < 1e-9);
	assert_true(svg_at(&logarithmic, 0) == 0 && svg_at(&logarithmic, 1e9) == 50);
	assert_true(svg_at(&line, NAN) == 100);
}

static void long_names_are_cut_in_the_middle(void **state)
{
	struct buf out = { 0 };

	(void)state;
	svg_text(&(struct svg_text){ 1, 2.26, "c", "end", 7 }, "a<b>±long name", &out);
	assert_string_equal(out.at,
		"<text x=\"1\" y=\"2.3\" class=\"c\" text-anchor=\"end\">a&lt;b…ame</text>");
	buf_fini(&out);
}

static void a_chart_says_what_it_shows(void **state)
{
	static const double x[] = { 1, 2, NAN, 3 }, y[] = { 1, 4, 2, 9 };
	struct svg_series series = { "squares & co", x, y, 4, 9 };
	struct svg_lines chart = {
		.chart = { "id", "Squares", "They grow.", 200, 100 },
		.x = { "x", UNIT_COUNT, false, false, NAN, NAN },
		.y = { "y", UNIT_COUNT, false, false, 0, NAN },
		.area = true,
		.labels = true,
	};
	struct buf out = { 0 };

	(void)state;
	svg_lines(&chart, &series, 1, &out);
	assert_non_null(strstr(out.at, "role=\"img\" aria-labelledby=\"id-t id-d\""));
	assert_non_null(strstr(out.at,
		"<title id=\"id-t\">Squares</title><desc id=\"id-d\">They grow.</desc>"));
	assert_non_null(strstr(out.at, "<title>squares &amp; co</title>"));
	assert_false(has_nan(out.at));
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_are_ones_that_people_like),
		cmocka_unit_test(values_stay_inside),
		cmocka_unit_test(long_names_are_cut_in_the_middle),
		cmocka_unit_test(a_chart_says_what_it_shows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
