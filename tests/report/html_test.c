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

/* Two policies, jobs of two models that train; under the second job 1 is resized and moved. */
static struct buf elastic_page(bool trained, bool elastic, uint32_t njobs)
{
	static const struct contender contenders[] = { { .label = "rigid" }, { .label = HOSTILE } };
	struct fixture f;
	struct comparison c;
	struct buf out = { 0 };

	fixture_init(&f, njobs);
	cluster_fini(&f.cluster);
	assert_int_equal(cluster_parse("1x4:t4,1x4:a100", &f.cluster, NULL), 0);
	for (uint32_t i = 0; i < njobs; i++) {
		struct job *job = &f.trace.jobs[i];

		job->trained = trained;
		job->max_gpus = elastic ? 4 : job->max_gpus;
		if (trained && i % 2)
			job->model = names_add(&f.trace.models, HOSTILE, strlen(HOSTILE));
	}
	comparison_init(&c, &f.cluster, contenders, 2, seeds, 1);
	for (uint32_t p = 0; p < 2; p++) {
		struct outcome o = fixture_run(&f, 10.0 * p);

		for (uint32_t i = 0; i < o.nsamples; i++) {
			o.samples[i].useful_gpus = i ? 3 : 0;
			o.samples[i].good_gpus = i ? 1.5 : 0;
			o.samples[i].worth_gpus = i ? 2 : 0;
		}
		for (uint32_t i = 0; i < njobs; i++) {
			o.jobs[i].served_s = 100;
			o.jobs[i].eff_s = 50;
		}
		if (p == 1 && njobs > 2) {
			o.jobs[1].resizes = 1;
			o.jobs[1].restarts = 1;
			o.spans[1] = (struct span){ 20, 70, 0x1, 0, 1, 1 };
			o.spans[2] = (struct span){ 70, 120, 0xf, 1, 1, 2 };
		}
		comparison_put(&c, p, 0, &f.trace, &o);
		fixture_run_fini(&o);
	}
	comparison_finish(&c);
	html_compare(&c, &hostile_info, &out);
	comparison_fini(&c);
	fixture_fini(&f);
	return out;
}

static void elastic_jobs_have_sections_of_their_own(void **state)
{
	struct buf page = elastic_page(true, true, 8);

	(void)state;
	check_html(page.at);
	assert_false(has_nan(page.at));
	assert_non_null(strstr(page.at, "<h2 id=\"goodput\">Goodput over time</h2>"));
	assert_non_null(strstr(page.at,
		"<svg class=\"chart\" viewBox=\"0 0 340 120\" role=\"img\" "
		"aria-labelledby=\"goodput-1-t goodput-1-d\">"));
	/* nothing made steps at first, so that there is no efficiency */
	assert_non_null(strstr(page.at, "rigid,0,0.5,0,,0%0A"));
	assert_non_null(strstr(page.at, ",0.5,0.375,0.5,0.25%0A"));
	assert_non_null(strstr(page.at, "<h2 id=\"allocation\">"));
	assert_non_null(strstr(page.at, ": 1 to 4 devices, resized 1 time, restarted 1 time</title>"));
	assert_non_null(strstr(page.at, ",20,70,1,t4%0A"));
	assert_non_null(strstr(page.at, ",70,120,4,a100%0A"));
	assert_non_null(strstr(page.at, "<h2 id=\"models\">By model</h2>"));
	assert_non_null(strstr(page.at, "<th scope=\"rowgroup\" rowspan=\"2\">resnet50</th>"));
	assert_non_null(strstr(page.at, "<a href=\"#allocation\">"));
	buf_fini(&page);
}

static void sections_that_say_nothing_are_left_out(void **state)
{
	static const struct {
		const char *what;
		bool trained, elastic;
		uint32_t njobs;
		bool goodput, allocation, models;
	} rows[] = {
		{ "neither", false, false, 8, false, false, false },
		{ "elastic, not trained", false, true, 8, true, true, false },
		{ "trained, not elastic", true, false, 8, true, false, true },
		{ "one job, so one model", true, true, 1, true, true, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf page = elastic_page(rows[i].trained, rows[i].elastic, rows[i].njobs);

		check_html(page.at);
		if (!strstr(page.at, "\"#goodput\"") == rows[i].goodput ||
			!strstr(page.at, "<h2 id=\"goodput\"") == rows[i].goodput ||
			!strstr(page.at, "<h2 id=\"allocation\"") == rows[i].allocation ||
			!strstr(page.at, "\"#models\"") == rows[i].models)
			fail_msg("%s: other sections", rows[i].what);
		assert_true(rows[i].trained == !!strstr(page.at, "goodput-0-t"));
		buf_fini(&page);
	}
}

static void many_elastic_jobs_stay_small(void **state)
{
	struct buf page = elastic_page(true, true, 20000);

	(void)state;
	check_html(page.at);
	assert_non_null(strstr(page.at,
		"Of 20000 jobs that may change their size or batch, the 24 long ones"));
	assert_true(page.n < 1500000);
	buf_fini(&page);
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
	for (uint32_t i = 0; i < 3; i++)
		o.jobs[i].max_gpus = 8;
	o.jobs[0].trained = true;
	o.samples[4].useful_gpus = NAN;
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
		cmocka_unit_test(elastic_jobs_have_sections_of_their_own),
		cmocka_unit_test(sections_that_say_nothing_are_left_out),
		cmocka_unit_test(many_elastic_jobs_stay_small),
		cmocka_unit_test(figures_that_are_not_numbers_do_no_harm),
		cmocka_unit_test(results_have_a_row_for_each_figure),
		cmocka_unit_test(the_same_input_gives_the_same_bytes),
		cmocka_unit_test(a_large_comparison_stays_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
