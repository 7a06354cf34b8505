#include "report/html.h"

#include "report/fixture.h"
#include "report/html_check.h"

static const uint64_t seeds[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };

static const struct html_info hostile_info = {
	.title = HOSTILE,
	.command = "stint compare '" HOSTILE "'",
	.version = HOSTILE,
	.trace = HOSTILE,
	.cluster = HOSTILE,
	.settings = HOSTILE,
	.notes = (const char *const[]){ HOSTILE, "fine" },
	.nnotes = 2,
};

/* A page of npolicies with jobs that wait longer under each. */
static struct buf page_of(uint32_t njobs, uint32_t npolicies, uint32_t nseeds,
	const struct html_info *info)
{
	struct contender contenders[12];
	char labels[12][64];
	struct fixture f;
	struct comparison c;
	struct buf out = { 0 };

	fixture_init(&f, njobs);
	for (uint32_t i = 0; i < npolicies; i++) {
		snprintf(labels[i], sizeof(labels[i]), "%s:n=%u", i ? "policy" : HOSTILE, (unsigned)i);
		contenders[i] = (struct contender){ .label = labels[i] };
	}
	comparison_init(&c, &f.cluster, contenders, npolicies, seeds, nseeds);
	for (uint32_t p = 0; p < npolicies; p++) {
		for (uint32_t s = 0; s < nseeds; s++) {
			struct outcome o = fixture_run(&f, 10.0 * p + s);

			comparison_put(&c, p, s, &f.trace, &o);
			fixture_run_fini(&o);
		}
	}
	comparison_finish(&c);
	html_compare(&c, info, &out);
	comparison_fini(&c);
	fixture_fini(&f);
	return out;
}

static void pages_are_well_formed(void **state)
{
	static const struct {
		const char *what;
		uint32_t njobs, npolicies, nseeds;
	} rows[] = {
		{ "nothing was run", 0, 0, 0 },
		{ "no jobs", 0, 2, 1 },
		{ "one job, one policy, one seed", 1, 1, 1 },
		{ "one run", 50, 1, 1 },
		{ "two policies", 50, 2, 1 },
		{ "more policies than colours", 20, 12, 3 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf page = page_of(rows[i].njobs, rows[i].npolicies, rows[i].nseeds,
			&hostile_info);

		check_html(page.at);
		buf_fini(&page);
	}
}

static void nobody_gets_a_script_in(void **state)
{
	struct buf page = page_of(5, 3, 1, &hostile_info);

	(void)state;
	assert_null(strstr(page.at, "<script>alert"));
	assert_null(strstr(page.at, "</script><script"));
	assert_null(strchr(page.at, '\x01'));
	assert_null(strchr(page.at, '\xff'));
	assert_non_null(strstr(page.at, "&lt;/script&gt;&lt;script&gt;alert(&#39;x&#39;)"));
	buf_fini(&page);
}

static void text_is_escaped(void **state)
{
	static const struct {
		const char *what, *text, *want;
	} rows[] = {
		{ "plain", "abc", "abc" },
		{ "signs of HTML", "<a href=\"x\">'&'</a>",
			"&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;" },
		{ "UTF-8 stays", "±†…𝄞", "±†…𝄞" },
		{ "controls go", "a\x1b\x7f", "a\xef\xbf\xbd\xef\xbf\xbd" },
		{ "C1 controls go", "\xc2\x85", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "what is not UTF-8 goes", "\xc3(\xed\xa0\x80\xf5",
			"\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "cut off", "a\xe2\x80", "a\xef\xbf\xbd\xef\xbf\xbd" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf out = { 0 };

		html_text(&out, rows[i].text);
		if (strcmp(out.at, rows[i].want))
			fail_msg("%s: got %s", rows[i].what, out.at);
		buf_fini(&out);
	}
}

static void figures_that_are_not_numbers_do_no_harm(void **state)
{
	struct contender contenders[] = { { .label = "a" }, { .label = "b" } };
	struct fixture f;
	struct comparison c;
	struct outcome o;
	struct buf out = { 0 };

	(void)state;
	fixture_init(&f, 3);
	comparison_init(&c, &f.cluster, contenders, 2, seeds, 2); /* three cells stay empty */
	o = fixture_run(&f, 1);
	for (uint32_t i = 0; i < 3; i++)
		o.jobs[i].state = JOB_UNFINISHED;
	o.up_gpu_s = 0;
	o.samples[3].busy_gpus = NAN;
	o.spans[0].to_s = INFINITY;
	o.spans[1].node = 99;
	o.spans[2].job = 99;
	o.waited_by_why_s[WHY_NEW] = NAN;
	comparison_put(&c, 0, 0, &f.trace, &o);
	comparison_finish(&c);
	html_compare(&c, &(struct html_info){ 0 }, &out);
	check_html(out.at);
	assert_false(has_nan(out.at));
	buf_fini(&out);
	fixture_run_fini(&o);
	comparison_fini(&c);
	fixture_fini(&f);
}

static void results_have_a_row_for_each_figure(void **state)
{
	static const char row[] = "<th scope=\"row\" title=\"completion time, arrival to end";
	struct buf one = page_of(50, 1, 1, &hostile_info), two = page_of(50, 2, 1, &hostile_info);

	(void)state;
	assert_non_null(strstr(one.at, row));
	assert_non_null(strstr(one.at, ">meaning</th>"));
	assert_non_null(strstr(one.at, "<div class=\"full\">"));
	assert_null(strstr(one.at, "best of its row"));
	assert_non_null(strstr(two.at, row));
	assert_null(strstr(two.at, ">meaning</th>"));
	assert_null(strstr(two.at, "<div class=\"full\">"));
	assert_non_null(strstr(two.at, "* best of its row."));
	buf_fini(&one);
	buf_fini(&two);
}

static void the_same_input_gives_the_same_bytes(void **state)
{
	struct html_info timed = { .title = "t", .timings = true };
	struct buf a = page_of(30, 3, 2, &hostile_info), b = page_of(30, 3, 2, &hostile_info);
	struct buf c = page_of(30, 3, 2, &timed);

	(void)state;
	assert_int_equal(a.n, b.n);
	assert_memory_equal(a.at, b.at, a.n);
	assert_null(strstr(a.at, "deciding"));
	assert_non_null(strstr(c.at, "deciding"));
	buf_fini(&a);
	buf_fini(&b);
	buf_fini(&c);
}

static void a_large_comparison_stays_small(void **state)
{
	struct buf page = page_of(10000, 10, 2, &hostile_info);

	(void)state;
	assert_true(page.n < 1500000);
	check_html(page.at);
	buf_fini(&page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_well_formed),
		cmocka_unit_test(nobody_gets_a_script_in),
		cmocka_unit_test(text_is_escaped),
		cmocka_unit_test(figures_that_are_not_numbers_do_no_harm),
		cmocka_unit_test(results_have_a_row_for_each_figure),
		cmocka_unit_test(the_same_input_gives_the_same_bytes),
		cmocka_unit_test(a_large_comparison_stays_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
