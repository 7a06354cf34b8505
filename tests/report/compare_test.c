#include "report/compare.h"

#include "base/work.h"
#include "report/fixture.h"

static const struct contender contenders[] = {
	{ .label = "fifo" },
	{ .label = "srtf", .policy = "srtf:x=1", .placer = "spread" },
	{ .label = "same" },
};

static const uint64_t seeds[] = { 1, 2, 3 };

/* What job i waits under a policy with a seed: srtf less than fifo, but not by always the same. */
static double wait_of(uint32_t policy, uint32_t seed)
{
	static const double waits[3][3] = { { 50, 60, 40 }, { 30, 38, 21 }, { 50, 60, 40 } };

	return waits[policy][seed];
}

struct grid {
	struct fixture *f;
	struct comparison *c;
	uint32_t nseeds;
};

static void put(void *ctx, size_t piece)
{
	struct grid *g = ctx;
	uint32_t policy = (uint32_t)(piece / g->nseeds), seed = (uint32_t)(piece % g->nseeds);
	struct outcome o = fixture_run(g->f, wait_of(policy, seed));

	comparison_put(g->c, policy, seed, &g->f->trace, &o);
	fixture_run_fini(&o);
}

static void compare(struct comparison *c, struct fixture *f, uint32_t npolicies, uint32_t nseeds,
	int threads)
{
	struct grid g = { f, c, nseeds };

	comparison_init(c, &f->cluster, contenders, npolicies, seeds, nseeds);
	work_each((size_t)npolicies * nseeds, threads, put, &g);
	comparison_finish(c);
}

static const struct compare_figure *figure(const struct comparison *c, uint32_t policy, const char *key)
{
	return &c->policies[policy].figures[metric_index(key)];
}

static void seeds_give_intervals_and_tests(void **state)
{
	const struct compare_figure *srtf, *same;
	struct fixture f;
	struct comparison c;

	(void)state;
	fixture_init(&f, 4);
	compare(&c, &f, 3, 3, 1);
	srtf = figure(&c, 1, "jct_mean_s");
	same = figure(&c, 2, "jct_mean_s");
	assert_true(fabs(srtf->value.mean - (100 + 89 / 3.0)) < 1e-9);
	assert_int_equal(srtf->value.n, 3);
	assert_true(srtf->value.half > 0);
	assert_int_equal(srtf->against_first.test, PAIRED_T);
	assert_true(fabs(srtf->against_first.difference + 61 / 3.0) < 1e-9);
	assert_true(srtf->differs && srtf->best && !same->differs && !same->best);
	assert_int_equal(same->against_first.test, PAIRED_NONE);
	assert_false(c.same_seeds);
	assert_true(c.policies[1].waited_by_why_s[WHY_BUSY] > 118 &&
		c.policies[1].waited_by_why_s[WHY_BUSY] < 119);
	/* equal for everybody: nobody is best */
	assert_false(figure(&c, 0, "utilisation")->best || figure(&c, 1, "utilisation")->best);
	comparison_fini(&c);
	fixture_fini(&f);
}

static void one_seed_is_tested_over_its_jobs(void **state)
{
	struct fixture f;
	struct comparison c;

	(void)state;
	fixture_init(&f, 30);
	compare(&c, &f, 2, 1, 1);
	assert_int_equal(figure(&c, 1, "jct_mean_s")->against_first.test, PAIRED_WILCOXON);
	assert_true(figure(&c, 1, "jct_mean_s")->differs);
	assert_int_equal(figure(&c, 1, "makespan_s")->against_first.test, PAIRED_NONE);
	assert_true(isnan(figure(&c, 1, "jct_mean_s")->value.half));
	comparison_fini(&c);
	fixture_fini(&f);
}

static void threads_do_not_change_a_byte(void **state)
{
	struct buf one = { 0 }, two = { 0 };

	(void)state;
	for (int threads = 1; threads <= 2; threads++) {
		struct fixture f;
		struct comparison c;

		fixture_init(&f, 20);
		compare(&c, &f, 3, 3, threads);
		comparison_json(&c, false, threads == 1 ? &one : &two);
		comparison_fini(&c);
		fixture_fini(&f);
	}
	assert_int_equal(one.n, two.n);
	assert_memory_equal(one.at, two.at, one.n);
	assert_non_null(strstr(one.at, "\"schema\": \"compare/1\""));
	assert_null(strstr(one.at, "cpu_s"));
	assert_null(strstr(one.at, "rss_bytes"));
	buf_fini(&one);
	buf_fini(&two);
}

static void the_table_has_signs_and_a_legend(void **state)
{
	struct compare_style style = { .form = TABLE_TEXT };
	struct buf utf8 = { 0 }, ascii = { 0 }, csv = { 0 };
	struct fixture f;
	struct comparison c;

	(void)state;
	fixture_init(&f, 4);
	compare(&c, &f, 2, 3, 1);
	comparison_table(&c, &style, &(struct term){ .width = 100, .utf8 = true }, &utf8);
	assert_non_null(strstr(utf8.at, "2.16 ±0.35*†"));
	assert_non_null(strstr(utf8.at, "paired t over 3 seeds"));
	comparison_table(&c, &style, &(struct term){ .width = 100 }, &ascii);
	for (size_t i = 0; i < ascii.n; i++)
		assert_true((unsigned char)ascii.at[i] < 0x80);
	assert_non_null(strstr(ascii.at, "2.16 +-0.35*+"));
	for (const char *line = utf8.at, *end; (end = strchr(line, '\n')); line = end + 1) {
		char *copy = mem_strndup(line, (size_t)(end - line));

		assert_true(text_columns(copy) <= 100);
		free(copy);
	}
	style.form = TABLE_CSV;
	comparison_table(&c, &style, &(struct term){ 0 }, &csv);
	assert_non_null(strstr(csv.at, "policy,jobs_submitted,jobs_submitted_ci95,"));
	buf_fini(&utf8);
	buf_fini(&ascii);
	buf_fini(&csv);
	comparison_fini(&c);
	fixture_fini(&f);
}

/* A comparison of two with one figure set to what is to be shown. */
static void with_figure(const char *key, const double mean[2], const double half[2],
	void (*look)(const struct comparison *c, size_t metric))
{
	struct fixture f;
	struct comparison c;

	fixture_init(&f, 4);
	compare(&c, &f, 2, 3, 1);
	for (uint32_t i = 0; i < 2; i++) {
		struct compare_figure *x = &c.policies[i].figures[metric_index(key)];

		x->value.mean = mean[i];
		x->value.half = half[i];
		x->best = i == 0;
	}
	look(&c, metric_index(key));
	comparison_fini(&c);
	fixture_fini(&f);
}

static void unit_is_hours(const struct comparison *c, size_t metric)
{
	static const char *const keys[] = { "jct_mean_s", "jct_p50_s", "jct_p95_s", "jct_p99_s",
		"wait_mean_s" };

	(void)metric;
	for (size_t i = 0; i < COUNT(keys); i++)
		assert_string_equal(comparison_scale(c, metric_index(keys[i])).name, "h");
}

static void completion_times_share_a_unit(void **state)
{
	(void)state;
	with_figure("jct_mean_s", (double[]){ 20000, 30000 }, (double[]){ NAN, NAN }, unit_is_hours);
}

static void is_shown(const struct comparison *c, size_t metric)
{
	assert_true(comparison_shows(c, metric, false));
}

static void is_hidden(const struct comparison *c, size_t metric)
{
	assert_false(comparison_shows(c, metric, false));
}

static void missed_deadlines_are_shown(void **state)
{
	static const double none[] = { NAN, NAN }, zero[] = { 0, 0 };

	(void)state;
	with_figure("deadline_met", zero, none, is_shown);
	with_figure("deadline_met", none, none, is_hidden);
	with_figure("preemptions", zero, none, is_hidden);
}

static void nobody_is_best(const struct comparison *c, size_t metric)
{
	assert_false(comparison_best(c, metric, 0) || comparison_best(c, metric, 1));
}

static void the_first_is_best(const struct comparison *c, size_t metric)
{
	assert_true(comparison_best(c, metric, 0) && !comparison_best(c, metric, 1));
}

static void who_looks_the_same_is_not_the_best(void **state)
{
	static const double none[] = { NAN, NAN };

	(void)state;
	with_figure("utilisation", (double[]){ 0.80001, 0.8 }, none, nobody_is_best);
	with_figure("utilisation", (double[]){ 0.81, 0.8 }, none, the_first_is_best);
}

static void has_sensible_digits(const struct comparison *c, size_t metric)
{
	struct buf out = { 0 };

	(void)metric;
	comparison_table(c, &(struct compare_style){ .form = TABLE_TEXT },
		&(struct term){ .utf8 = true }, &out);
	assert_non_null(strstr(out.at, "2,246 ±2,314"));
	assert_non_null(strstr(out.at, "2.6 ±0.8"));
	buf_fini(&out);
}

static void intervals_say_how_many_digits_count(void **state)
{
	(void)state;
	with_figure("ftf_max", (double[]){ 2245.71, 2.61 }, (double[]){ 2314.02, 0.82 },
		has_sensible_digits);
}

static void signs_without_room_are_not_explained(void **state)
{
	struct fixture f;
	struct comparison c;
	struct buf out = { 0 };

	(void)state;
	fixture_init(&f, 4);
	compare(&c, &f, 2, 1, 1);
	comparison_table(&c, &(struct compare_style){ .form = TABLE_TEXT },
		&(struct term){ .utf8 = true, .width = 8 }, &out);
	assert_null(strstr(out.at, "best of its column"));
	assert_non_null(strstr(out.at, "no room for: mean JCT"));
	buf_fini(&out);
	comparison_fini(&c);
	fixture_fini(&f);
}

static void curves_rise_to_the_share_that_finished(void **state)
{
	static const uint32_t sizes[] = { 1, 4, 3000 };

	(void)state;
	for (size_t k = 0; k < COUNT(sizes); k++) {
		struct fixture f;
		struct comparison c;
		struct curve curve;
		struct outcome o;

		fixture_init(&f, sizes[k]);
		o = fixture_run(&f, 20);
		for (uint32_t i = sizes[k] / 2; sizes[k] > 1 && i < sizes[k]; i++)
			o.jobs[i].state = JOB_UNFINISHED;
		comparison_init(&c, NULL, contenders, 1, seeds, 1);
		comparison_put(&c, 0, 0, &f.trace, &o);
		comparison_finish(&c);
		curve = comparison_curve(&c, 0);
		assert_true(curve.n > 1 && curve.n <= CURVE_POINTS);
		assert_true(curve.y[0] == 0);
		for (size_t i = 1; i < curve.n; i++)
			assert_true(curve.x[i] >= curve.x[i - 1] && curve.y[i] >= curve.y[i - 1]);
		assert_true(fabs(curve.y[curve.n - 1] - (sizes[k] > 1 ? 0.5 : 1)) < 1e-9);
		curve_fini(&curve);
		comparison_fini(&c);
		fixture_run_fini(&o);
		fixture_fini(&f);
	}
}

static void pictures_keep_the_largest_bars(void **state)
{
	struct fixture f;
	struct comparison c;
	struct outcome o;
	const struct picture *p;

	(void)state;
	fixture_init(&f, PICTURE_SPANS + 10);
	o = fixture_run(&f, 0);
	for (uint32_t i = 0; i < 10; i++)
		o.spans[i * 7].to_s = o.spans[i * 7].from_s + 1;
	o.spans_dropped = 5;
	comparison_init(&c, &f.cluster, contenders, 1, seeds, 1);
	comparison_put(&c, 0, 0, &f.trace, &o);
	p = &c.policies[0].picture;
	assert_int_equal(p->nspans, PICTURE_SPANS);
	assert_int_equal(p->spans_left_out, 15);
	for (uint32_t i = 0; i < p->nspans; i++) {
		assert_true(p->spans[i].to_s - p->spans[i].from_s > 1);
		assert_true(!i || p->spans[i].from_s >= p->spans[i - 1].from_s);
	}
	assert_int_equal(p->ndots, PICTURE_DOTS);
	comparison_fini(&c);
	fixture_run_fini(&o);
	fixture_fini(&f);
}

static void nothing_at_all_is_fine(void **state)
{
	struct comparison c;
	struct buf out = { 0 };
	struct compare_style style = { 0 };

	(void)state;
	comparison_init(&c, NULL, NULL, 0, NULL, 0);
	comparison_finish(&c);
	comparison_table(&c, &style, &(struct term){ .width = 80 }, &out);
	comparison_json(&c, true, &out);
	comparison_fini(&c);
	comparison_init(&c, NULL, contenders, 2, seeds, 2); /* runs that never came */
	comparison_finish(&c);
	comparison_table(&c, &style, &(struct term){ .width = 80 }, &out);
	comparison_json(&c, true, &out);
	comparison_fini(&c);
	buf_fini(&out);
}

static void a_run_is_told_in_a_few_lines(void **state)
{
	struct compare_style style = { .timings = true };
	struct summary s;
	struct fixture f;
	struct outcome o;
	struct buf out = { 0 };

	(void)state;
	fixture_init(&f, 4);
	o = fixture_run(&f, 20);
	o.jobs[3].state = JOB_REJECTED;
	summary_of(&f.trace, &o, &s);
	summary_table(&s, &style, &(struct term){ .width = 80, .utf8 = true }, &out);
	assert_non_null(strstr(out.at, "jobs             4 submitted, 3 finished, 1 rejected\n"));
	assert_non_null(strstr(out.at, "completion time  mean 2.00 min, p50 2.00 min"));
	assert_non_null(strstr(out.at, "waited because   busy 100.0 %\n"));
	assert_non_null(strstr(out.at, "4 decisions in 500.0 ms"));
	style.form = TABLE_CSV;
	summary_table(&s, &style, &(struct term){ 0 }, &out);
	assert_non_null(strstr(out.at, "jct_mean_s,120\n"));
	buf_fini(&out);
	summary_fini(&s);
	fixture_run_fini(&o);
	fixture_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seeds_give_intervals_and_tests),
		cmocka_unit_test(one_seed_is_tested_over_its_jobs),
		cmocka_unit_test(threads_do_not_change_a_byte),
		cmocka_unit_test(the_table_has_signs_and_a_legend),
		cmocka_unit_test(completion_times_share_a_unit),
		cmocka_unit_test(missed_deadlines_are_shown),
		cmocka_unit_test(who_looks_the_same_is_not_the_best),
		cmocka_unit_test(intervals_say_how_many_digits_count),
		cmocka_unit_test(signs_without_room_are_not_explained),
		cmocka_unit_test(curves_rise_to_the_share_that_finished),
		cmocka_unit_test(pictures_keep_the_largest_bars),
		cmocka_unit_test(nothing_at_all_is_fine),
		cmocka_unit_test(a_run_is_told_in_a_few_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
