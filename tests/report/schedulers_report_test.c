/*
 * Parallel schedulers as text, JSON and a page.
 */
#include "report/schedulers_report.h"

#include <math.h>
#include <string.h>

#include "report/html_check.h"

static const struct schedulers_config config = {
	.plan = { 2, 4, 1 },
	.machines = 10,
	.slots = 1,
	.levels = 4,
	.classes = 2,
	.rate = 4,
	.task_s = 2,
	.decision_s = 0.001,
	.rtt_s = 0.002,
	.duration_s = 10,
};

/* Latencies 3, 6, 9, … 30 ms. */
static void fill(struct schedulers_row *row, enum schedulers_mode mode, uint64_t waiting)
{
	struct schedulers_config c = config;
	struct schedulers_result result = {
		.arrived = 40,
		.granted = 30,
		.refused = 10,
		.refreshes = 80,
		.rows = 200,
		.waiting = waiting,
		.score = 0.75,
		.utilisation = 0.5,
		.fleet_score = 0.625,
	};

	for (int i = 10; i > 0; i--)
		vec_push(&result.latency_s, 0.003 * i);
	c.mode = mode;
	schedulers_row_init(row, &c, &result);
	assert_null(result.latency_s.at); /* taken over */
}

static void figures_are_those_of_the_run(void **state)
{
	struct schedulers_row row;

	(void)state;
	fill(&row, SCHEDULERS_LATENCY, 0);
	assert_true(fabs(row.mean_s - 0.0165) < 1e-12);
	assert_true(fabs(row.p50_s - 0.0165) < 1e-12);
	assert_true(fabs(row.p90_s - 0.0273) < 1e-12);
	assert_true(fabs(row.max_s - 0.030) < 1e-12);
	assert_true(row.conflicts == 0.25);
	assert_true(fabs(row.retries - 1 / 3.0) < 1e-12);
	assert_true(row.refreshes == 8);
	assert_true(row.rows == 20);
	assert_false(schedulers_row_lags(&row));
	assert_true(fabs(schedulers_load(&config) - 0.8) < 1e-12);
	schedulers_row_fini(&row);
}

static void a_run_without_tasks_has_no_figures(void **state)
{
	struct schedulers_result nothing = { .score = NAN };
	struct schedulers_row row;
	struct schedulers_report report = { &config, &row, 1 };
	struct term term = { .width = 120 };
	struct buf text = { 0 };

	(void)state;
	schedulers_row_init(&row, &config, &nothing);
	assert_true(isnan(row.mean_s) && isnan(row.conflicts));
	schedulers_report_text(&report, TABLE_TEXT, &term, &text);
	schedulers_report_json(&report, &text);
	assert_non_null(strstr(text.at, "\"latency_mean_s\": null"));
	assert_null(strstr(text.at, "nan"));
	buf_fini(&text);
	schedulers_row_fini(&row);
}

static void who_lags_is_named(void **state)
{
	struct schedulers_row rows[2];
	struct schedulers_report report = { &config, rows, 2 };
	struct term term = { .width = 120 };
	struct buf text = { 0 };

	(void)state;
	fill(&rows[0], SCHEDULERS_STATESYNC, 10);
	fill(&rows[1], SCHEDULERS_QUALITY, 0);
	assert_true(schedulers_row_lags(&rows[0]));
	schedulers_report_text(&report, TABLE_TEXT, &term, &text);
	assert_non_null(strstr(text.at, "statesync does not keep up: 10 tasks wait"));
	assert_non_null(strstr(text.at, "emptier"));
	assert_null(strstr(text.at, "quality does not"));
	assert_non_null(strstr(text.at, "load 80 %"));
	buf_clear(&text);
	schedulers_report_text(&report, TABLE_CSV, &term, &text);
	assert_int_equal(strncmp(text.at, "mode,latency_mean_s,", 20), 0);
	assert_null(strstr(text.at, "keep up"));
	buf_fini(&text);
	schedulers_row_fini(&rows[0]);
	schedulers_row_fini(&rows[1]);
}

static void the_page_is_well_formed(void **state)
{
	struct schedulers_row rows[2];
	struct schedulers_report report = { &config, rows, 2 };
	struct buf text = { 0 };

	(void)state;
	fill(&rows[0], SCHEDULERS_STATESYNC, 10);
	fill(&rows[1], SCHEDULERS_QUALITY, 0);
	schedulers_report_html(&report, &(struct html_info){ .title = "A & B", .command = "stint" },
		&text);
	check_html(text.at);
	assert_non_null(strstr(text.at, "statesync"));
	buf_fini(&text);
	schedulers_row_fini(&rows[0]);
	schedulers_row_fini(&rows[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_those_of_the_run),
		cmocka_unit_test(a_run_without_tasks_has_no_figures),
		cmocka_unit_test(who_lags_is_named),
		cmocka_unit_test(the_page_is_well_formed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
