#include "report/summary.h"

#include <jansson.h>

#include "report/compare.h"
#include "report/fixture.h"

static void near(const char *what, double got, double want)
{
	if (!(fabs(got - want) <= 1e-9 * fmax(1, fabs(want))) && !(isnan(got) && isnan(want)))
		fail_msg("%s: got %.10g, want %.10g", what, got, want);
}

static void a_run_has_the_figures_it_should(void **state)
{
	struct fixture f;
	struct outcome o;
	struct summary s;

	(void)state;
	fixture_init(&f, 11);
	o = fixture_run(&f, 20);
	o.jobs[10].finish_s += 300; /* JCT 420, all others 120 */
	o.jobs[10].preemptions = 2;
	o.jobs[10].lost_s = 5;
	o.jobs[10].lost_gpu_s = 20;
	o.jobs[10].gpus = 4;
	o.jobs[9].deadline_s = 1e6;
	o.jobs[8].deadline_s = 1;
	o.node_failures = 0;
	o.jobs[9].overhead_s = 10;
	o.jobs[10].overhead_s = 25;
	summary_of(&f.trace, &o, &s);
	assert_int_equal(s.jobs_submitted, 11);
	assert_int_equal(s.jobs_finished, 11);
	near("mean", s.jct_mean_s, (10 * 120 + 420) / 11.0);
	near("p50", s.jct_p50_s, 120);
	near("p95", s.jct_p95_s, 270);
	near("p99", s.jct_p99_s, 390);
	near("max", s.jct_max_s, 420);
	near("wait", s.wait_mean_s, 20);
	near("makespan", s.makespan_s, 100 + 20 + 100 + 300);
	near("utilisation", s.utilisation, 0.5);
	near("useful", s.useful, 0.45);
	near("ftf", s.ftf_mean, (10 * 2.4 + 8.4) / 11);
	near("worst ftf", s.ftf_max, 8.4);
	near("overhead", s.overhead_gpu_s, 10 * o.jobs[9].gpus + 25 * 4);
	near("lost", s.lost_gpu_s, 20);
	near("deadlines", s.deadline_met, 0.5);
	near("waited", s.waited_by_why_s[WHY_BUSY], 220);
	assert_int_equal(s.preemptions, 2);
	summary_fini(&s);
	fixture_run_fini(&o);
	fixture_fini(&f);
}

static void training_has_efficiency_and_restarts(void **state)
{
	struct fixture f;
	struct outcome o;
	struct summary s;
	struct compare_style style = { 0 };
	struct term term = { 0 };
	struct buf text = { 0 };

	(void)state;
	fixture_init(&f, 4);
	o = fixture_run(&f, 20);
	for (int i = 0; i < 4; i++) {
		o.jobs[i].served_s = o.jobs[i].eff_s = 100;
		o.jobs[i].restarts = (uint32_t)i;
	}
	o.jobs[3].state = JOB_UNFINISHED;
	summary_of(&f.trace, &o, &s);
	near("restarts", s.restarts_mean, 1);
	near("held", s.held_gpu_s, 400);
	assert_true(isnan(s.efficiency) && isnan(s.goodput));
	summary_fini(&s);
	o.jobs[1].trained = true;
	o.jobs[1].eff_s = 20;
	o.jobs[1].worth_s = 300;
	o.jobs[2].max_gpus = 4; /* elastic: it held 7 devices' worth without making steps */
	o.jobs[2].overhead_s = 1;
	o.jobs[2].occupied_s = 107;
	summary_of(&f.trace, &o, &s);
	near("efficiency", s.efficiency, 0.8);
	near("goodput", s.goodput, 300 / o.up_gpu_s);
	near("overhead", s.overhead_gpu_s, 7);
	summary_table(&s, &style, &term, &text);
	assert_non_null(strstr(text.at, ", in all 6.67 GPU-min\n"));
	assert_non_null(strstr(text.at, "training         efficiency 80.0 %, goodput 0.375\n"));
	assert_non_null(strstr(text.at, "restarts per job 1.000\n"));
	buf_fini(&text);
	summary_fini(&s);
	fixture_run_fini(&o);
	fixture_fini(&f);
}

static void only_finished_jobs_have_completion_times(void **state)
{
	struct fixture f;
	struct outcome o;
	struct summary s;

	(void)state;
	fixture_init(&f, 5);
	o = fixture_run(&f, 20);
	o.jobs[1].state = JOB_REJECTED;
	o.jobs[2].state = JOB_UNFINISHED;
	o.jobs[3].state = JOB_FUTURE;
	o.jobs[4].state = JOB_RUNNING;
	summary_of(&f.trace, &o, &s);
	assert_int_equal(s.jobs_submitted, 4);
	assert_int_equal(s.jobs_finished, 1);
	assert_int_equal(s.jobs_rejected, 1);
	assert_int_equal(s.jobs_unfinished, 2);
	near("mean", s.jct_mean_s, 120);
	near("makespan", s.makespan_s, 120);
	summary_fini(&s);
	fixture_run_fini(&o);
	fixture_fini(&f);
}

static void nothing_has_no_figures(void **state)
{
	struct fixture f;
	struct outcome o;
	struct summary s;
	struct buf out = { 0 };

	(void)state;
	fixture_init(&f, 0);
	o = fixture_run(&f, 0);
	summary_of(&f.trace, &o, &s);
	assert_true(isnan(s.jct_mean_s) && isnan(s.jct_p99_s) && isnan(s.makespan_s) &&
		isnan(s.utilisation));
	summary_json(&s, &out);
	assert_non_null(strstr(out.at, "\"jct_mean_s\": null"));
	buf_fini(&out);
	summary_fini(&s);
	fixture_run_fini(&o);
	fixture_fini(&f);
}

static void errors_of_speeds_are_told_where_there_are_any(void **state)
{
	struct fixture f;
	struct outcome o;
	struct summary s;
	struct compare_style style = { 0 };
	struct term term = { 0 };
	struct buf text = { 0 };

	(void)state;
	fixture_init(&f, 3);
	o = fixture_run(&f, 20);
	o.speed_error_before = o.speed_error = NAN;
	summary_of(&f.trace, &o, &s);
	summary_json(&s, &text);
	summary_table(&s, &style, &term, &text);
	assert_non_null(strstr(text.at, "\"speed_error\": null"));
	assert_null(strstr(text.at, "speeds are off"));
	buf_clear(&text);
	o.speed_error_before = 0.25;
	o.speed_error = 0;
	summary_fini(&s);
	summary_of(&f.trace, &o, &s);
	summary_table(&s, &style, &term, &text);
	assert_non_null(strstr(text.at, "speeds are off   at the start 25.0 %, at the end 0.0 %\n"));
	buf_fini(&text);
	summary_fini(&s);
	fixture_run_fini(&o);
	fixture_fini(&f);
}

static void json_has_the_promised_keys(void **state)
{
	static const char *const keys[] = { "policy", "jobs_submitted", "jobs_finished",
		"jct_mean_s", "jct_p50_s", "jct_p95_s", "jct_p99_s", "wait_mean_s", "makespan_s",
		"utilisation", "ftf_mean", "ftf_max", "preemptions", "decisions", "decision_cpu_s",
		"cpu_s", "rss_bytes", "speed_error_before", "speed_error", "held_gpu_s",
		"restarts_mean", "efficiency", "goodput" };
	struct fixture f;
	struct outcome o;
	struct summary s;
	struct buf out = { 0 };
	json_t *root;

	(void)state;
	fixture_init(&f, 3);
	o = fixture_run(&f, 20);
	summary_of(&f.trace, &o, &s);
	s.policy = mem_strdup("tiresias:queues=2");
	s.seed = UINT64_MAX;
	summary_json(&s, &out);
	root = json_loads(out.at, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	for (size_t i = 0; i < COUNT(keys); i++) {
		if (!json_object_get(root, keys[i]))
			fail_msg("no %s", keys[i]);
	}
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "summary/1");
	assert_string_equal(json_string_value(json_object_get(root, "event_hash")), "0000000000000ad0");
	assert_string_equal(json_string_value(json_object_get(root, "seed")), "18446744073709551615");
	assert_true(json_real_value(
			    json_object_get(json_object_get(root, "waited_by_why_s"), "busy")) == 60 ||
		json_integer_value(
			json_object_get(json_object_get(root, "waited_by_why_s"), "busy")) == 60);
	json_decref(root);
	buf_fini(&out);
	summary_fini(&s);
	fixture_run_fini(&o);
	fixture_fini(&f);
}

static void a_policy_has_figures_of_its_own(void **state)
{
	struct fixture f;
	struct outcome o;
	struct summary s;
	struct buf json = { 0 }, text = { 0 };

	(void)state;
	fixture_init(&f, 2);
	o = fixture_run(&f, 20);
	o.figures[0] = (struct figure){ "share_computations", 81 };
	o.figures[1] = (struct figure){ "leases_kept", 0.75 };
	o.nfigures = 2;
	summary_of(&f.trace, &o, &s);
	summary_json(&s, &json);
	assert_non_null(strstr(json.at, "\"policy_figures\": {\n    \"share_computations\": 81,"));
	assert_non_null(strstr(json.at, "\"leases_kept\": 0.75\n  }"));
	summary_table(&s, &(struct compare_style){ 0 }, &(struct term){ 0 }, &text);
	assert_non_null(
		strstr(text.at, "\npolicy           share computations 81, leases kept 0.75\n"));
	buf_fini(&json);
	buf_fini(&text);
	summary_fini(&s);
	fixture_run_fini(&o);
	fixture_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_has_the_figures_it_should),
		cmocka_unit_test(training_has_efficiency_and_restarts),
		cmocka_unit_test(only_finished_jobs_have_completion_times),
		cmocka_unit_test(nothing_has_no_figures),
		cmocka_unit_test(errors_of_speeds_are_told_where_there_are_any),
		cmocka_unit_test(json_has_the_promised_keys),
		cmocka_unit_test(a_policy_has_figures_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
