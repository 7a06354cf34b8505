/*
 * Record time and wall time: the offsets, their text, and how a daemon that starts resumes.
 */
#include "base/wallclock.h"

#include <math.h>

#include "property.h"

#define YEARS (10 * 365.25 * 86400)

static void test_offsets(void **state)
{
	struct wallclock w;

	(void)state;
	wallclock_init(&w, 1000);
	assert_true(wallclock_s(&w, -5) == 995 && wallclock_s(&w, 5) == 1005);
	wallclock_step(&w, 10, 1000 + YEARS);
	wallclock_step(&w, 20, 990);
	assert_true(wallclock_s(&w, 9.5) == 1009.5);
	assert_true(wallclock_s(&w, 10) == 1010 + YEARS);
	assert_true(wallclock_s(&w, 25) == 1015 && wallclock_offset(&w) == 990);
	wallclock_fini(&w);
}

static void test_text(void **state)
{
	static const char *const bad[] = { "", "1", "0 1 x", "0 1 5", "0 1 5 2 3 1", "0 nan" };
	struct wallclock w, again;
	struct buf text = { 0 };

	(void)state;
	wallclock_init(&w, 1763366400.125);
	wallclock_step(&w, 0.1, -3.25);
	wallclock_put(&w, &text);
	assert_true(wallclock_get(&again, text.at));
	assert_int_equal(again.steps.n, 2);
	assert_memory_equal(again.steps.at, w.steps.at, 2 * sizeof(w.steps.at[0]));
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(wallclock_get(&again, bad[i]));
	wallclock_fini(&again);
	wallclock_fini(&w);
	buf_fini(&text);
}

static void test_many_small_steps_are_joined(void **state)
{
	struct wallclock w;

	(void)state;
	wallclock_init(&w, 0);
	wallclock_step(&w, 1, 1e6);
	for (int i = 2; i < 5000; i++)
		wallclock_step(&w, i, 1e6 + i);
	assert_true(w.steps.n <= WALLCLOCK_STEPS);
	assert_true(wallclock_offset(&w) == 1e6 + 4999);
	assert_true(wallclock_s(&w, 0.5) == 0.5); /* the large step stays */
	wallclock_fini(&w);
}

static void test_resume(void **state)
{
	static const struct {
		const char *what;
		double kept_s, last_s, offset_s, real_s, boot_s, away_s, now_s;
	} rows[] = {
		{ "a new record", NAN, 0, 1000, 1000.5, 70, INFINITY, 0.5 },
		{ "the same boot: the wall clock counts for nothing", 30, 80, 1000, 1100 + YEARS,
			70, 86400, 100 },
		{ "set back by years", 30, 80, 1000, 1100 - YEARS, 70, 86400, 100 },
		{ "another boot: as long as the wall clock says", NAN, 80, 1000, 1500, 7, 86400, 500 },
		{ "another boot with the clock behind: not before the last event", NAN, 80, 1000,
			900, 7, 86400, 80 },
		{ "another boot with the clock years ahead: a day", NAN, 80, 1000, 1500 + YEARS, 7,
			86400, 86480 },
		{ "jobs ran on elsewhere: as long as the wall clock says", NAN, 80, 1000,
			1500 + YEARS, 7, INFINITY, 500 + YEARS },
		{ "after a start with the clock ahead", NAN, YEARS, 1000, 1500, 7, 86400, YEARS },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		double boot_s = wallclock_resume(rows[i].kept_s, rows[i].last_s, rows[i].offset_s,
			rows[i].real_s, rows[i].boot_s, rows[i].away_s);

		if (fabs(boot_s + rows[i].boot_s - rows[i].now_s) > 1e-6)
			fail_msg("%s: %g", rows[i].what, boot_s + rows[i].boot_s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_many_small_steps_are_joined),
		cmocka_unit_test(test_resume),
	};

	return cmocka_run_group_tests_name("base/wallclock", tests, NULL, NULL);
}
