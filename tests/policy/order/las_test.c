/*
 * Least attained service and its kin at a moment.
 */
#include <string.h>

#include "support/desk.h"
#include "support/property.h"

static const struct {
	const char *what;
	const char *policy;
	int gpus_a;
	double ran_a_s;
	int gpus_b;
	double ran_b_s;
	const char *want;
} rows[] = {
	{ "blox b: served 10 and 5: the second", "las", 1, 10, 1, 5, "B" },
	{ "equal service: arrival, then id", "las", 1, 5, 1, 5, "A" },
	{ "GPU-seconds: 2 x 10 against 15", "las", 2, 10, 1, 15, "B" },
	{ "seconds: 10 against 15", "las:service=time", 2, 10, 1, 15, "A" },
	{ "srtf: 90 left against 95", "srtf", 1, 10, 1, 5, "A" },
	{ "srsf: 2 x 90 against 95", "srsf", 2, 10, 1, 5, "B" },
	{ "sjf does not look at what was done", "sjf", 1, 0, 1, 99, "A" },
};

static void one_of_two_runs(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct desk desk;

		desk_init(&desk, rows[i].gpus_a == 2 ? "1x2" : "1x1");
		desk_job(&desk, 0, rows[i].gpus_a, 100, rows[i].ran_a_s);
		desk_job(&desk, 0, rows[i].gpus_b, 100, rows[i].ran_b_s);
		desk_decide(&desk, rows[i].policy, 1000);
		if (strcmp(desk_who(&desk), rows[i].want) != 0)
			fail_msg("%s: %s runs", rows[i].what, desk_who(&desk));
		desk_fini(&desk);
	}
}

/* A running job's service grows while it runs, and it is stopped once it has more. */
static void running_counts(void **state)
{
	struct desk desk;

	(void)state;
	desk_init(&desk, "1x1");
	desk_job(&desk, 0, 1, 100, 0);
	desk_job(&desk, 0, 1, 100, 10);
	desk_run(&desk, 0, 100);
	desk_decide(&desk, "las:round_s=3", 108);
	assert_string_equal(desk_who(&desk), "A");
	assert_true(desk.plan.wake_s == 111); /* the first round after their service is equal */
	desk_decide(&desk, "las:round_s=3", 110.5);
	assert_string_equal(desk_who(&desk), "A"); /* not between rounds */
	desk_decide(&desk, "las:round_s=3", 111);
	assert_string_equal(desk_who(&desk), "B");
	assert_int_equal(desk_reason(&desk, 0).why, WHY_OUTRANKED);
	assert_int_equal(desk_reason(&desk, 0).other, 1);
	desk_fini(&desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_two_runs),
		cmocka_unit_test(running_counts),
	};

	return cmocka_run_group_tests_name("policy/order/las", tests, NULL, NULL);
}
