#include "report/trace_report.h"

#include "report/fixture.h"
#include "report/html_check.h"

static void figures_are_right(void **state)
{
	struct fixture f;
	struct trace_stats s;

	(void)state;
	fixture_init(&f, 11);
	f.trace.jobs[3].gpus = 16;
	f.trace.jobs[3].min_gpus = f.trace.jobs[3].max_gpus = 16;
	f.trace.work[10] = NAN;
	f.trace.work[9] = 1000;
	trace_stats_of(&f.trace, &f.cluster, &s);
	assert_int_equal(s.jobs, 11);
	assert_int_equal(s.unknown_run, 1);
	assert_int_equal(s.nrun, 10);
	assert_int_equal(s.too_large, 1);
	assert_int_equal(s.gpus_max, 16);
	assert_true(fabs(s.gpus_mean - 26 / 11.0) < 1e-12);
	assert_true(fabs(s.gpu_h * 3600 - (8 * 100 + 1600 + 1000)) < 1e-6);
	assert_true(fabs(s.run_mean_s - 190) < 1e-9 && s.run_p50_s == 100 && s.run_max_s == 1000);
	assert_true(fabs(s.load - 3400 / (8 * 100.0)) < 1e-9);
	assert_int_equal(s.narrivals, 1);
	assert_true(s.arrivals[0] == 11);
	assert_int_equal(s.nby_gpus, 2);
	assert_string_equal(s.by_gpus[1].name, "16");
	assert_int_equal(s.by_gpus[0].jobs, 10);
	assert_int_equal(s.ntenants, 2);
	assert_string_equal(s.tenants[0].name, "even"); /* has the job of 16 */
	trace_stats_fini(&s);
	fixture_fini(&f);
}

static void many_sizes_are_joined(void **state)
{
	static const char *const want[] = { "1", "2", "3-4", "5-8", "9-16", "17-32" };
	struct fixture f;
	struct trace_stats s;
	uint64_t jobs = 0;

	(void)state;
	fixture_init(&f, 20);
	for (uint32_t i = 0; i < 20; i++)
		f.trace.jobs[i].gpus = (int32_t)i + 1;
	trace_stats_of(&f.trace, NULL, &s);
	assert_int_equal(s.nby_gpus, COUNT(want));
	for (uint32_t i = 0; i < s.nby_gpus; i++) {
		assert_string_equal(s.by_gpus[i].name, want[i]);
		jobs += s.by_gpus[i].jobs;
	}
	assert_int_equal(jobs, 20);
	assert_int_equal(s.by_gpus[3].jobs, 4);
	assert_true(isnan(s.load) && !s.cluster_gpus);
	trace_stats_fini(&s);
	fixture_fini(&f);
}

static void small_tenants_are_others(void **state)
{
	struct fixture f;
	struct trace_stats s;

	(void)state;
	fixture_init(&f, 26);
	for (uint32_t i = 0; i < 26; i++) {
		char name[] = { (char)('a' + i) };

		f.trace.jobs[i].tenant = names_add(&f.trace.tenants, name, 1);
		f.trace.work[i] = 100 + i;
	}
	trace_stats_of(&f.trace, NULL, &s);
	assert_int_equal(s.ntenants, TRACE_TOP + 1);
	assert_string_equal(s.tenants[0].name, "z");
	assert_string_equal(s.tenants[TRACE_TOP].name, "16 others");
	assert_int_equal(s.tenants[TRACE_TOP].jobs, 16);
	trace_stats_fini(&s);
	fixture_fini(&f);
}

static void every_form_works_for_any_size(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 300 };

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct fixture f;
		struct trace_stats s;
		struct buf text = { 0 }, json = { 0 }, html = { 0 };

		fixture_init(&f, sizes[i]);
		trace_stats_of(&f.trace, &f.cluster, &s);
		trace_report_text(&s, &(struct term){ .width = 80, .utf8 = true }, &text);
		trace_report_json(&s, &json);
		trace_report_html(&s, &(struct html_info){ .title = HOSTILE, .trace = HOSTILE }, &html);
		check_html(html.at);
		assert_false(has_nan(text.at));
		assert_false(has_nan(html.at));
		assert_null(strstr(html.at, "<script>alert"));
		assert_null(strchr(text.at, '\x01'));
		assert_non_null(strstr(json.at, "\"schema\": \"trace-stats/1\""));
		buf_fini(&text);
		buf_fini(&json);
		buf_fini(&html);
		trace_stats_fini(&s);
		fixture_fini(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_right),
		cmocka_unit_test(many_sizes_are_joined),
		cmocka_unit_test(small_tenants_are_others),
		cmocka_unit_test(every_form_works_for_any_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
