/*
 * Small parts that policies share.
 */
#include "policy/kit.h"

#include <math.h>
#include <string.h>

#include "support/desk.h"
#include "support/property.h"

static struct round round_of(struct desk *desk, double now_s)
{
	return (struct round){
		.now_s = now_s,
		.cluster = &desk->cluster,
		.belief = &desk->belief,
		.jobs = desk->jobs.at,
		.njobs = (uint32_t)desk->jobs.n,
		.active = desk->ids.at,
		.nactive = (uint32_t)desk->ids.n,
		.scratch = &desk->scratch,
	};
}

static void types_come_fastest_first(void **state)
{
	static const double speeds[] = { 3, 9, 0, 9 }; /* of v100, p100, k80, t4 */
	struct names models = { 0 };
	struct profile *profile;
	uint32_t types[TYPES_MAX];
	struct round round;
	struct desk desk;

	(void)state;
	desk_init(&desk, "1x1:v100,1x1:p100,1x1:k80,1x1:t4");
	desk_job(&desk, 0, 1, 10, 0)->model = names_add(&models, "m", 1);
	profile = profile_create(&desk.cluster, &models);
	for (uint32_t type = 0; type < COUNT(speeds); type++)
		profile_add(profile, 0, type, 1, 0, speeds[type]);
	desk.belief.profile = profile;
	round = round_of(&desk, 0);
	assert_int_equal(kit_types(&round, &desk.jobs.at[0], types), 3); /* it cannot run on k80 */
	assert_int_equal(types[0], 1);
	assert_int_equal(types[1], 3); /* as fast, but later in the cluster */
	assert_int_equal(types[2], 0);
	desk.jobs.at[0].types = 1 << 0 | 1 << 2;
	assert_int_equal(kit_types(&round, &desk.jobs.at[0], types), 1);
	assert_int_equal(types[0], 0);
	profile_destroy(profile);
	names_fini(&models);
	desk_fini(&desk);
}

static void a_running_job_stays_on_its_type(void **state)
{
	struct names models = { 0 };
	struct profile *profile;
	struct round round;
	struct desk desk;

	(void)state;
	desk_init(&desk, "1x1:v100,1x1:p100");
	desk_job(&desk, 0, 1, 10, 0)->model = names_add(&models, "m", 1);
	desk_run(&desk, 0, 0); /* on v100, the first with room */
	profile = profile_create(&desk.cluster, &models);
	profile_add(profile, 0, 0, 1, 0, 1);
	profile_add(profile, 0, 1, 1, 0, 10); /* p100 would be faster */
	desk.belief.profile = profile;
	round = round_of(&desk, 1);
	plan_begin(&desk.plan);
	plan_stop(&desk.plan, &desk.jobs.at[0]);
	assert_true(kit_run(&round, &desk.plan, &desk.jobs.at[0]));
	assert_int_equal(plan_grant(&desk.plan, 0)->type, 0);
	profile_destroy(profile);
	names_fini(&models);
	desk_fini(&desk);
}

static void no_room_says_which_kind(void **state)
{
	struct round round;
	struct desk desk;

	(void)state;
	desk_init(&desk, "1x2:v100,1x4:p100");
	desk_job(&desk, 0, 3, 10, 0);
	desk_job(&desk, 0, 2, 10, 0)->types = 1;
	desk_job(&desk, 0, 2, 10, 0)->types = 1;
	desk_job(&desk, 0, 1, 10, 0)->types = 1;
	desk_run(&desk, 3, 0); /* one of the two v100 */
	round = round_of(&desk, 0);
	plan_begin(&desk.plan);
	kit_no_room(&round, &desk.plan, &desk.jobs.at[0]);
	kit_no_room(&round, &desk.plan, &desk.jobs.at[1]);
	plan_node_up(&desk.plan, 0, false);
	kit_no_room(&round, &desk.plan, &desk.jobs.at[2]);
	assert_int_equal(desk_reason(&desk, 0).why,
		WHY_FRAGMENTED); /* p100 has enough, so it is something else */
	assert_int_equal(desk_reason(&desk, 0).have, 4);
	assert_int_equal(desk_reason(&desk, 1).why, WHY_BUSY);
	assert_int_equal(desk_reason(&desk, 1).need, 2);
	assert_int_equal(desk_reason(&desk, 1).have, 1);
	assert_int_equal(desk_reason(&desk, 2).why, WHY_DOWN);
	assert_int_equal(desk_reason(&desk, 2).have, 0);
	desk_fini(&desk);
}

static void waking_while_somebody_waits(void **state)
{
	struct round round;
	struct desk desk;

	(void)state;
	desk_init(&desk, "1x1");
	desk_job(&desk, 0, 1, 10, 0);
	desk_run(&desk, 0, 0);
	round = round_of(&desk, 7);
	plan_begin(&desk.plan);
	kit_wake_while_waiting(&round, &desk.plan);
	assert_true(isinf(desk.plan.wake_s));
	desk_job(&desk, 0, 1, 10, 0);
	round = round_of(&desk, 7);
	kit_wake_while_waiting(&round, &desk.plan);
	assert_true(desk.plan.wake_s == 7);
	desk_fini(&desk);
}

static void ready_is_when_steps_begin(void **state)
{
	struct round round;
	struct desk desk;

	(void)state;
	desk_init(&desk, "1x1");
	desk_job(&desk, 0, 1, 10, 0);
	desk_run(&desk, 0, 5);
	desk.jobs.at[0].ready_s = 20;
	round = round_of(&desk, 7);
	assert_true(kit_ready_s(NULL, &round, &desk.jobs.at[0], true) == 20);
	assert_true(isinf(kit_ready_s(NULL, &round, &desk.jobs.at[0], false)));
	round.now_s = 20;
	assert_true(isinf(kit_ready_s(NULL, &round, &desk.jobs.at[0], true)));
	desk_fini(&desk);
}

/* Sorting anew moves nobody without need: the newcomer takes what is free. */
static void sorting_anew_leaves_running_jobs_where_they_are(void **state)
{
	const struct grant *before;
	struct desk desk;

	(void)state;
	desk_init(&desk, "2x1");
	desk_job(&desk, 0, 1, 1000, 500); /* much service: last in order */
	desk_run(&desk, 0, 100);          /* on node 0 */
	before = plan_grant(&desk.plan, 0);
	desk_job(&desk, 50, 1, 1000, 0);
	desk_decide(&desk, "e-las", 120);
	assert_string_equal(desk_who(&desk), "AB");
	assert_ptr_equal(plan_grant(&desk.plan, 0), before);
	assert_int_equal(plan_grant(&desk.plan, 1)->slots[0].node, 1);
	desk_fini(&desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_come_fastest_first),
		cmocka_unit_test(a_running_job_stays_on_its_type),
		cmocka_unit_test(no_room_says_which_kind),
		cmocka_unit_test(waking_while_somebody_waits),
		cmocka_unit_test(ready_is_when_steps_begin),
		cmocka_unit_test(sorting_anew_leaves_running_jobs_where_they_are),
	};

	return cmocka_run_group_tests_name("policy/kit", tests, NULL, NULL);
}
