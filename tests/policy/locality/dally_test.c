/*
 * Dally's order in numbers.
 */
#include "policy/locality/dally.h"

#include "support/desk.h"
#include "support/property.h"

/* 100 steps of a second in 400 s count a quarter: 1000 GPU-seconds of that job come before 500 of one at 0.9. */
static void who_was_slowed_comes_first(void **state)
{
	double slowed = dally_sensitivity(100, 1, 400), other = dally_sensitivity(90, 1, 100);

	(void)state;
	assert_true(slowed == .25);
	assert_true(slowed * 1000 == 250 && other * 500 == 450);
}

/* Micro test d through a decision: by GPU-time alone the second would have the only device. */
static void the_policy_goes_by_what_was_computed(void **state)
{
	struct desk desk;
	struct job *job;

	(void)state;
	desk_init(&desk, "1x1");
	job = desk_job(&desk, 0, 1, 10000, 400);
	job->done = 100;
	job->served_s = 1000;
	job = desk_job(&desk, 0, 1, 10000, 100);
	job->done = 90;
	job->served_s = 500;
	desk_decide(&desk, "dally", 1000);
	assert_string_equal(desk_who(&desk), "A");
	desk.jobs.at[0].done = 400; /* not slowed: 1000 against 450 */
	plan_clear(&desk.plan, desk.jobs.at, desk.ids.at, (uint32_t)desk.ids.n);
	desk_decide(&desk, "dally", 1000);
	assert_string_equal(desk_who(&desk), "B");
	desk_fini(&desk);
}

static void it_is_never_more_than_one(void **state)
{
	(void)state;
	assert_true(dally_sensitivity(100, 1, 50) == 1);
	assert_true(dally_sensitivity(0, 1, 50) == 1);
	assert_true(dally_sensitivity(1, 0, 50) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_was_slowed_comes_first),
		cmocka_unit_test(the_policy_goes_by_what_was_computed),
		cmocka_unit_test(it_is_never_more_than_one),
	};

	return cmocka_run_group_tests_name("policy/locality/dally", tests, NULL, NULL);
}
