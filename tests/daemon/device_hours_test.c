#include "daemon/device_hours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/property.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fmax(1, fabs(b));
}

static int utc(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	return 0;
}

/* 18 November 2026, 00:00 UTC */
enum { DAY = 86400 };
static const double today = 1794960000;

static void add(struct hours *h, uint32_t job, const char *user, const char *type, uint32_t devices,
	double from_s, double to_s)
{
	hours_add(h,
		&(struct hours_span){
			.job = job,
			.devices = devices,
			.user = user,
			.type = type,
			.from_s = from_s,
			.to_s = to_s,
			.lasted_s = to_s - from_s,
		});
}

static void sums_are_by_user_with_the_largest_first(void **state)
{
	struct hours h = { 0 };

	(void)state;
	assert_int_equal(hours_set_by(&h, "user", NULL), 0);
	add(&h, 1, "ann", "v100", 2, today, today + 3600);
	add(&h, 1, "ann", "v100", 4, today + 3600, today + 7200); /* its second attempt */
	add(&h, 2, "ben", "v100", 8, today, today + 7200);
	add(&h, 3, NULL, "cpu", 1, today, today + 1800);
	hours_sort(&h);
	assert_int_equal(h.rows.n, 3);
	assert_string_equal(h.rows.at[0].words[0], "ben");
	assert_true(near(h.rows.at[0].gpu_s, 16 * 3600.0));
	assert_string_equal(h.rows.at[1].words[0], "ann");
	assert_int_equal(h.rows.at[1].jobs, 1);
	assert_true(near(h.rows.at[1].gpu_s, 6 * 3600.0));
	assert_string_equal(h.rows.at[2].words[0], "");
	assert_true(near(h.rows.at[2].gpu_s, 0) && near(h.rows.at[2].slot_s, 1800));
	assert_int_equal(h.total.jobs, 3);
	assert_true(near(h.total.gpu_s, 22 * 3600.0));
	hours_fini(&h);
}

static void a_span_is_divided_at_midnight_and_at_the_end_of_a_month(void **state)
{
	struct hours h = { 0 };
	double december = today + 13 * DAY;

	(void)state;
	assert_int_equal(hours_set_by(&h, "month,user", NULL), 0);
	add(&h, 1, "ann", "v100", 1, december - 3600, december + 7200);
	hours_sort(&h);
	assert_int_equal(h.rows.n, 2);
	assert_string_equal(h.rows.at[0].words[0], "2026-11");
	assert_true(near(h.rows.at[0].gpu_s, 3600));
	assert_string_equal(h.rows.at[1].words[0], "2026-12");
	assert_true(near(h.rows.at[1].gpu_s, 7200));
	assert_int_equal(h.total.jobs, 1);
	hours_fini(&h);

	assert_int_equal(hours_set_by(&h, "day", NULL), 0);
	add(&h, 1, "ann", "v100", 1, december - DAY - 60, december + 60);
	hours_sort(&h);
	assert_int_equal(h.rows.n, 3);
	assert_string_equal(h.rows.at[1].words[0], "2026-11-30");
	assert_true(near(h.rows.at[1].gpu_s, DAY));
	hours_fini(&h);
}

/* Set forwards while a job ran, the clock shows another length: what counts is how long it ran. */
static void a_clock_that_was_set_adds_no_hours(void **state)
{
	struct hours h = { 0 };

	(void)state;
	assert_int_equal(hours_set_by(&h, "day", NULL), 0);
	hours_add(&h,
		&(struct hours_span){ .job = 1,
			.devices = 2,
			.type = "v100",
			.from_s = today,
			.to_s = today + 10 * DAY,
			.lasted_s = 3600 });
	hours_add(&h,
		&(struct hours_span){ .job = 2,
			.devices = 1,
			.type = "v100",
			.from_s = today,
			.to_s = today - DAY,
			.lasted_s = 60 });
	assert_true(near(h.total.gpu_s, 2 * 3600 + 60));
	hours_fini(&h);
}

static void costs_are_of_types_with_a_price(void **state)
{
	struct hours h = { 0 };

	(void)state;
	assert_int_equal(hours_set_by(&h, "user", NULL), 0);
	assert_int_equal(hours_set_prices(&h, "v100=2.5, a100=4", NULL), 0);
	add(&h, 1, "ann", "v100", 2, today, today + 3600);
	add(&h, 1, "ann", "a100", 1, today, today + 1800);
	add(&h, 1, "ann", "k80", 3, today, today + 3600);
	assert_true(near(h.total.cost, 7));
	assert_true(near(h.total.unpriced_s, 3 * 3600));
	hours_fini(&h);
}

static void what_is_not_understood_is_refused(void **state)
{
	static const char *const groups[] = { "", "usr", "user,user", "user,,month", "MONTH" };
	static const char *const prices[] = { "v100", "v100=", "=3", "v100=-1", "v100=x", "v100=inf" };
	struct hours h = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		assert_int_equal(hours_set_by(&h, groups[i], NULL), ERR_USAGE);
	for (size_t i = 0; i < sizeof(prices) / sizeof(*prices); i++)
		assert_int_equal(hours_set_prices(&h, prices[i], NULL), ERR_USAGE);
	hours_fini(&h);
}

static void rows_add_up(struct rng *rng)
{
	static const char *const by[] = { "user", "day", "month,user", "type,day",
		"user,type,month", "name" };
	static const char *const users[] = { "ann", "ben", "cid" }, *const types[] = { "v100", "cpu" };
	struct hours h = { 0 };
	double sum = 0, rows = 0, at_s = today;
	uint32_t n = 1 + (uint32_t)rng_below(rng, 40);

	assert_int_equal(hours_set_by(&h, by[rng_below(rng, 6)], NULL), 0);
	for (uint32_t i = 0; i < n; i++) {
		double lasts_s = (double)rng_below(rng, 40 * DAY);
		uint32_t devices = (uint32_t)rng_below(rng, 9);

		at_s += (double)rng_below(rng, DAY);
		add(&h, i + 1, users[rng_below(rng, 3)], types[rng_below(rng, 2)], devices, at_s,
			at_s + lasts_s);
		sum += devices * lasts_s;
	}
	hours_sort(&h);
	for (size_t i = 0; i < h.rows.n; i++)
		rows += h.rows.at[i].gpu_s + h.rows.at[i].slot_s;
	assert_true(near(rows, sum));
	assert_true(near(h.total.gpu_s + h.total.slot_s, sum));
	hours_fini(&h);
}

static void rows_add_up_whatever_the_groups(void **state)
{
	struct rng rng = property(
		"device hours: rows add up to the total, the total to what was added");

	(void)state;
	for (size_t round = 0; round < rounds(200); round++)
		rows_add_up(&rng);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_by_user_with_the_largest_first),
		cmocka_unit_test(a_span_is_divided_at_midnight_and_at_the_end_of_a_month),
		cmocka_unit_test(a_clock_that_was_set_adds_no_hours),
		cmocka_unit_test(costs_are_of_types_with_a_price),
		cmocka_unit_test(what_is_not_understood_is_refused),
		cmocka_unit_test(rows_add_up_whatever_the_groups),
	};

	return cmocka_run_group_tests(tests, utc, NULL);
}
