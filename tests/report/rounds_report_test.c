#include "report/rounds_report.h"

#include <jansson.h>

#include "report/fixture.h"
#include "report/html_check.h"

enum { LENGTHS = 4, SEEDS_MAX = 3 };

/* Four lengths; how long jobs wait with each is up to the test. */
struct made_up {
	struct fixture fixture;
	struct comparison result;
	double idle_gpu_s[LENGTHS * SEEDS_MAX];
	struct rounds_report report;
};

static const double round_s[LENGTHS] = { 30, 60, 360, 3600 };

static void made_up_init(struct made_up *m, const double waits[LENGTHS], uint32_t nseeds)
{
	static const struct contender contenders[LENGTHS] = { { "a", NULL, NULL },
		{ "b", NULL, NULL }, { "c", NULL, NULL }, { "d", NULL, NULL } };
	static const uint64_t seeds[SEEDS_MAX] = { 0, 1, 2 };

	*m = (struct made_up){ 0 };
	fixture_init(&m->fixture, 5);
	comparison_init(&m->result, NULL, contenders, LENGTHS, seeds, nseeds);
	for (uint32_t i = 0; i < LENGTHS; i++) {
		for (uint32_t k = 0; k < nseeds; k++) {
			/* Seeds differ a little, and not by the same for all. */
			struct outcome o = fixture_run(&m->fixture, waits[i] + k * (10 + i));

			comparison_put(&m->result, i, k, &m->fixture.trace, &o);
			m->idle_gpu_s[i * nseeds + k] = 3600 * (i + 1.0);
			fixture_run_fini(&o);
		}
	}
	comparison_finish(&m->result);
	m->report = (struct rounds_report){
		.result = &m->result,
		.round_s = round_s,
		.idle_gpu_s = m->idle_gpu_s,
		.own = 2,
		.policy = "gavel",
		.cluster = "2x4:v100",
		.source = HOSTILE,
	};
}

static void made_up_fini(struct made_up *m)
{
	comparison_fini(&m->result);
	fixture_fini(&m->fixture);
}

static void the_best_is_the_least_completion_time(void **state)
{
	static const struct {
		const char *what;
		double waits[LENGTHS];
		uint32_t best;
		double gain; /* completion times are waits + 100 */
		uint32_t from, to;
	} rows[] = {
		{ "shorter", { 20, 50, 100, 300 }, 0, 0.4, 0, 0 },
		{ "longer", { 300, 250, 100, 0 }, 3, 0.5, 3, 3 },
		{ "its own", { 20, 10, 0, 10 }, 2, 0, 2, 2 },
		{ "no difference: its own", { 10, 10, 10, 10 }, 2, 0, 0, 3 },
		{ "all but the last are close", { 0, 0.9, 0.9, 10 }, 0, 1 - 100 / 100.9, 0, 2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made_up m;
		struct rounds_best b;

		made_up_init(&m, rows[i].waits, 1);
		b = rounds_report_best(&m.report);
		if (b.best != rows[i].best || fabs(b.gain - rows[i].gain) > 1e-12 ||
			b.from != rows[i].from || b.to != rows[i].to || !isnan(b.p))
			fail_msg("%s: %u, %g, %u to %u", rows[i].what, b.best, b.gain, b.from, b.to);
		made_up_fini(&m);
	}
}

static void seeds_tell_differences_from_chance(void **state)
{
	static const double clear[LENGTHS] = { 500, 400, 300, 0 };
	static const double vague[LENGTHS] = { 500, 400, 300, 298 };
	struct made_up m;
	struct rounds_best b;
	struct buf out = { 0 };

	(void)state;
	made_up_init(&m, clear, 3);
	b = rounds_report_best(&m.report);
	assert_true(b.p < 0.01);
	rounds_report_lead(&m.report, &out);
	assert_non_null(strstr(out.at, "over 3 workloads this is hardly chance"));
	made_up_fini(&m);
	buf_clear(&out);
	made_up_init(&m, vague, 3);
	b = rounds_report_best(&m.report);
	assert_int_equal(b.best, 3);
	assert_true(b.p >= 0.05 && b.p <= 1);
	rounds_report_lead(&m.report, &out);
	assert_non_null(strstr(out.at, "over 3 workloads this may be chance"));
	made_up_fini(&m);
	buf_fini(&out);
}

static void text_has_the_table_the_curve_and_the_verdict(void **state)
{
	static const double waits[LENGTHS] = { 50, 20, 60, 90 };
	struct made_up m;
	struct buf out = { 0 };

	(void)state;
	made_up_init(&m, waits, 1);
	rounds_report_text(&m.report, &(struct term){ .width = 200 }, &out);
	assert_non_null(strstr(out.at, "gavel on 2x4:v100"));
	assert_non_null(strstr(out.at, "idle, jobs wait"));
	assert_non_null(strstr(out.at, "\nmean completion time above the least, in %\n"));
	assert_non_null(strstr(out.at, "\n60 s    0\n"));
	assert_non_null(strstr(out.at,
		"Rounds of 60 s give the least mean completion time, 2.00 min: 25.0 % "
		"less than with the policy's own 360 s; one workload cannot tell"));
	assert_false(has_nan(out.at));
	buf_fini(&out);
	made_up_fini(&m);
}

static void idleness_counts_while_jobs_wait(void **state)
{
	struct sample samples[] = {
		{ .busy_gpus = 4, .up_gpus = 8, .pending = 2 },  /* two devices could have served */
		{ .busy_gpus = 8, .up_gpus = 8, .pending = 9 },  /* none */
		{ .busy_gpus = 7, .up_gpus = 8, .pending = 9 },  /* one */
		{ .busy_gpus = 0, .up_gpus = 8, .pending = 0 },  /* nobody waits */
		{ .busy_gpus = 16, .up_gpus = 8, .pending = 1 }, /* devices that are shared */
	};
	struct outcome o = { .samples = samples, .nsamples = 5, .step_s = 10 };

	(void)state;
	assert_true(rounds_idle(&o) == 30);
	o.nsamples = 0;
	assert_true(rounds_idle(&o) == 0);
}

static void json_has_everything(void **state)
{
	static const double waits[LENGTHS] = { 50, 20, 60, 90 };
	struct made_up m;
	struct buf out = { 0 };
	json_t *root, *point;

	(void)state;
	made_up_init(&m, waits, 2);
	rounds_report_json(&m.report, &out);
	root = json_loads(out.at, 0, NULL);
	assert_non_null(root);
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "rounds/1");
	assert_true(json_number_value(json_object_get(root, "own_round_s")) == 360);
	assert_true(json_number_value(json_object_get(json_object_get(root, "best"), "round_s")) == 60);
	assert_int_equal(json_array_size(json_object_get(root, "rounds")), LENGTHS);
	assert_int_equal(json_array_size(json_object_get(root, "seeds")), 2);
	point = json_array_get(json_object_get(root, "rounds"), 3);
	assert_true(json_number_value(json_object_get(point, "round_s")) == 3600);
	assert_true(json_number_value(json_object_get(point, "idle_gpu_s")) == 4 * 3600);
	assert_true(json_number_value(json_object_get(json_object_get(point, "jct_mean_s"), "mean")) ==
		100 + 90 + 6.5);
	json_decref(root);
	buf_fini(&out);
	made_up_fini(&m);
}

static void pages_are_well_formed(void **state)
{
	static const double waits[LENGTHS] = { 50, 20, 60, 90 };
	struct html_info info = { .title = HOSTILE, .command = HOSTILE, .trace = HOSTILE };
	double with_none[LENGTHS] = { 0, 60, 360, 3600 };
	struct made_up m;
	struct buf out = { 0 };

	(void)state;
	made_up_init(&m, waits, 1);
	for (int i = 0; i < 2; i++) {
		buf_clear(&out);
		rounds_report_html(&m.report, &info, &out);
		check_html(out.at);
		assert_false(has_nan(out.at));
		assert_null(strstr(out.at, "inf"));
		m.report.round_s = with_none;
	}
	buf_clear(&out);
	rounds_report_svg(&m.report, &out);
	assert_memory_equal(out.at, "<svg xmlns=", 11);
	assert_non_null(strstr(out.at, "</desc>"));
	assert_null(strstr(out.at, "<script"));
	assert_false(has_nan(out.at));
	buf_fini(&out);
	made_up_fini(&m);
}

static void nobody_finished(void **state)
{
	struct fixture f;
	struct comparison result;
	uint64_t seed = 0;
	double length_s = 360, idle_gpu_s = 0;
	struct outcome o;
	struct buf out = { 0 };
	struct rounds_report r = { .result = &result,
		.round_s = &length_s,
		.idle_gpu_s = &idle_gpu_s,
		.policy = "gavel",
		.cluster = "2x4:v100",
		.source = "x" };

	(void)state;
	fixture_init(&f, 0);
	comparison_init(&result, NULL, (struct contender[]){ { "a", NULL, NULL } }, 1, &seed, 1);
	o = fixture_run(&f, 0);
	comparison_put(&result, 0, 0, &f.trace, &o);
	comparison_finish(&result);
	rounds_report_text(&r, &(struct term){ .width = 120 }, &out);
	assert_non_null(strstr(out.at, "No job finished\n"));
	assert_false(has_nan(out.at));
	buf_clear(&out);
	rounds_report_html(&r, &(struct html_info){ 0 }, &out);
	check_html(out.at);
	assert_false(has_nan(out.at));
	buf_fini(&out);
	fixture_run_fini(&o);
	comparison_fini(&result);
	fixture_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_is_the_least_completion_time),
		cmocka_unit_test(seeds_tell_differences_from_chance),
		cmocka_unit_test(text_has_the_table_the_curve_and_the_verdict),
		cmocka_unit_test(idleness_counts_while_jobs_wait),
		cmocka_unit_test(json_has_everything),
		cmocka_unit_test(pages_are_well_formed),
		cmocka_unit_test(nobody_finished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
