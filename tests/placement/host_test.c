/*
 * Grants with more or less of their hosts than the job asked for: what the
 * ledger takes and gives, and when a grant is another.
 */
#include <string.h>

#include "placement/plan.h"
#include "support/planning.h"
#include "support/property.h"

#define GB (INT64_C(1) << 30)

/* Nodes with 8 CPUs and 64 GB; jobs ask for 2 CPUs and 8 GB. */
static void setup(struct planning *p, const char *cluster, int gpus)
{
	planning_init(p, cluster);
	for (uint32_t i = 0; i < p->cluster.nnodes; i++) {
		p->cluster.nodes[i].cpus = 8;
		p->cluster.nodes[i].mem_bytes = 64 * GB;
	}
	for (uint32_t i = 0; i < PLANNING_JOBS; i++) {
		p->jobs[i].gpus = p->jobs[i].min_gpus = p->jobs[i].max_gpus = gpus;
		p->jobs[i].cpus = 2;
		p->jobs[i].mem_bytes = 8 * GB;
	}
	planning_begin(p, "first-fit");
}

static bool run(struct planning *f, uint32_t job, double cpus, int64_t gb)
{
	return plan_run(&f->plan, &f->jobs[job],
		(struct want){ .type = TYPE_ANY, .cpus = cpus, .mem_bytes = gb * GB });
}

static void expect_left(const struct planning *f, uint32_t node, double cpus, int64_t gb)
{
	assert_float_equal(f->plan.space.nodes[node].cpus, cpus, 1e-9);
	assert_int_equal(f->plan.space.nodes[node].mem_bytes / GB, gb);
}

static void the_ledger_takes_what_the_grant_has(void **state)
{
	struct planning f;

	(void)state;
	setup(&f, "1x4", 1);
	assert_true(run(&f, 0, 0, 0)); /* as asked */
	expect_left(&f, 0, 6, 56);
	assert_true(run(&f, 1, 5, 0));
	expect_left(&f, 0, 1, 48);
	assert_false(run(&f, 2, 0, 0)); /* 2 CPUs are not there */
	assert_true(run(&f, 2, 1, 40));
	expect_left(&f, 0, 0, 8);
	plan_stop(&f.plan, &f.jobs[1]);
	expect_left(&f, 0, 5, 16);
	plan_stop(&f.plan, &f.jobs[0]);
	plan_stop(&f.plan, &f.jobs[2]);
	expect_left(&f, 0, 8, 64);
	planning_fini(&f);
}

static void from_as_asked_to_more_and_back(void **state)
{
	struct planning f;

	(void)state;
	setup(&f, "1x4", 2);
	assert_true(run(&f, 0, 0, 0));
	assert_true(run(&f, 0, 6, 32));
	expect_left(&f, 0, 2, 32);
	assert_false(run(&f, 0, 9, 0)); /* stays as it was */
	expect_left(&f, 0, 2, 32);
	assert_float_equal(plan_grant(&f.plan, 0)->cpus, 6, 0);
	assert_true(run(&f, 0, 0, 0));
	expect_left(&f, 0, 6, 56);
	planning_fini(&f);
}

/* Other CPUs are another grant on the same devices; the same are the same grant. */
static void the_devices_stay(void **state)
{
	const struct grant *before;
	struct planning f;

	(void)state;
	setup(&f, "2x2", 2);
	assert_true(run(&f, 0, 4, 0));
	plan_commit(&f.plan);
	plan_begin(&f.plan);
	before = plan_grant(&f.plan, 0);
	plan_stop(&f.plan, &f.jobs[0]);
	assert_true(run(&f, 0, 4, 0));
	assert_ptr_equal(plan_grant(&f.plan, 0), before);
	assert_true(run(&f, 0, 5, 0));
	assert_ptr_not_equal(plan_grant(&f.plan, 0), before);
	assert_true(grant_same_devices(plan_grant(&f.plan, 0), before));
	expect_left(&f, 0, 3, 56);
	plan_commit(&f.plan);
	expect_left(&f, 0, 3, 56);
	plan_drop(&f.plan, &f.jobs[0]);
	expect_left(&f, 0, 8, 64);
	planning_fini(&f);
}

static void each_device_has_its_part(void **state)
{
	const struct node_share at[] = { { 0, 1 }, { 1, 3 } };
	const bool gone[] = { true, false };
	struct planning f;

	(void)state;
	setup(&f, "2x4", 4);
	assert_true(plan_run_at(&f.plan, &f.jobs[0], at, 2,
		(struct want){ .cpus = 8, .mem_bytes = 16 * GB }));
	expect_left(&f, 0, 6, 60);
	expect_left(&f, 1, 2, 52);
	assert_false(plan_run_at(&f.plan, &f.jobs[0], at, 2, (struct want){ .cpus = 12 }));
	expect_left(&f, 1, 2, 52);
	plan_commit(&f.plan);
	plan_begin(&f.plan);
	plan_leave(&f.plan, &f.jobs[0], gone);
	expect_left(&f, 0, 8, 64);
	expect_left(&f, 1, 2, 52);
	assert_float_equal(plan_grant(&f.plan, 0)->cpus, 6, 1e-9);
	planning_fini(&f);
}

static void what_is_adopted_counts(void **state)
{
	struct {
		struct grant grant;
		struct slot slots[1];
	} held = { 0 };
	struct planning f;

	(void)state;
	setup(&f, "1x4", 1);
	held.grant = (struct grant){ .gpus = 1, .nslots = 1, .share = 1, .cpus = 7, .mem_bytes = GB };
	((struct grant *)&held)->slots[0] = (struct slot){ 0, 1 };
	plan_adopt(&f.plan, &f.jobs[0], &held.grant);
	expect_left(&f, 0, 1, 63);
	plan_drop(&f.plan, &f.jobs[0]);
	expect_left(&f, 0, 8, 64);
	planning_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ledger_takes_what_the_grant_has),
		cmocka_unit_test(from_as_asked_to_more_and_back),
		cmocka_unit_test(the_devices_stay),
		cmocka_unit_test(each_device_has_its_part),
		cmocka_unit_test(what_is_adopted_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
