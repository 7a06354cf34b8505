/*
 * Plans: edits of what shall be running, and the ledger that goes with them.
 */
#include "placement/plan.h"

#include <math.h>
#include <string.h>

#include "support/property.h"
#include "support/scene.h"

enum { JOBS = 12 };

struct fixture {
	struct cluster cluster;
	struct plan plan;
	struct job jobs[JOBS];
};

static void setup(struct fixture *f, const char *cluster, int gpus)
{
	struct err err;

	*f = (struct fixture){ 0 };
	assert_int_equal(cluster_parse(cluster, &f->cluster, &err), 0);
	plan_init(&f->plan, &f->cluster, placer_find("first-fit", NULL), NULL, 1);
	for (uint32_t i = 0; i < JOBS; i++) {
		job_init(&f->jobs[i]);
		f->jobs[i].id = i;
		f->jobs[i].gpus = f->jobs[i].min_gpus = f->jobs[i].max_gpus = gpus;
	}
	plan_begin(&f->plan);
}

static void teardown(struct fixture *f)
{
	plan_fini(&f->plan);
	cluster_fini(&f->cluster);
}

static bool run(struct fixture *f, uint32_t job)
{
	return plan_run(&f->plan, &f->jobs[job], (struct want){ .type = TYPE_ANY });
}

static void runs_as_long_as_there_is_room(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, "2x2", 2);
	assert_true(run(&f, 0));
	assert_true(run(&f, 1));
	assert_int_equal(plan_free(&f.plan, 0), 0);
	assert_false(run(&f, 2));
	assert_null(plan_grant(&f.plan, 2));
	assert_null(plan_grant(&f.plan, 999)); /* never heard of */
	assert_int_equal(plan_grant(&f.plan, 1)->slots[0].node, 1);
	plan_stop(&f.plan, &f.jobs[0]);
	plan_stop(&f.plan, &f.jobs[0]); /* again: nothing */
	assert_int_equal(plan_free(&f.plan, 0), 2);
	assert_true(run(&f, 2));
	teardown(&f);
}

static void stopped_and_run_again_it_keeps_its_devices(void **state)
{
	const struct grant *before;
	struct fixture f;

	(void)state;
	setup(&f, "3x2", 2);
	run(&f, 0);
	run(&f, 1);
	plan_commit(&f.plan);
	before = plan_grant(&f.plan, 1);
	plan_begin(&f.plan);
	plan_stop(&f.plan, &f.jobs[0]);
	plan_stop(&f.plan, &f.jobs[1]);
	assert_true(run(&f, 1)); /* node 0 is free, too, but it was on node 1 */
	assert_ptr_equal(plan_grant(&f.plan, 1), before);
	plan_commit(&f.plan);
	assert_ptr_equal(plan_grant(&f.plan, 1), before);
	teardown(&f);
}

static void taken_meanwhile_it_goes_elsewhere(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, "2x2", 2);
	run(&f, 0);
	plan_commit(&f.plan);
	plan_begin(&f.plan);
	plan_stop(&f.plan, &f.jobs[0]);
	run(&f, 1); /* takes node 0 */
	assert_true(run(&f, 0));
	assert_int_equal(plan_grant(&f.plan, 0)->slots[0].node, 1);
	assert_int_equal(f.plan.touched.n, 2);
	plan_commit(&f.plan);
	assert_int_equal(f.plan.touched.n, 0);
	assert_ptr_equal(f.plan.entries.at[0].held, f.plan.entries.at[0].next);
	teardown(&f);
}

static void wanting_more_changes_the_grant(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, "1x4", 1);
	run(&f, 0);
	plan_commit(&f.plan);
	plan_begin(&f.plan);
	assert_true(plan_run(&f.plan, &f.jobs[0], (struct want){ .gpus = 3, .type = TYPE_ANY }));
	assert_int_equal(plan_grant(&f.plan, 0)->gpus, 3);
	assert_int_equal(plan_free(&f.plan, 0), 1);
	assert_false(plan_run(&f.plan, &f.jobs[0], (struct want){ .gpus = 5, .type = TYPE_ANY }));
	assert_int_equal(plan_grant(&f.plan, 0)->gpus, 3); /* what it had stands */
	assert_int_equal(plan_free(&f.plan, 0), 1);
	assert_true(plan_run(&f.plan, &f.jobs[0], (struct want){ .gpus = 1, .type = TYPE_ANY }));
	assert_ptr_equal(plan_grant(&f.plan, 0), f.plan.entries.at[0].held); /* as at first */
	assert_true(plan_run(&f.plan, &f.jobs[0], (struct want){ .type = TYPE_ANY, .batch = 64 }));
	assert_int_equal(plan_grant(&f.plan, 0)->batch, 64);
	teardown(&f);
}

static void types_are_respected(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, "1x2:v100,1x2:p100", 1);
	f.jobs[0].types = 2; /* p100 alone */
	assert_true(run(&f, 0));
	assert_int_equal(plan_grant(&f.plan, 0)->type, 1);
	assert_false(plan_run(&f.plan, &f.jobs[0], (struct want){ .type = 0 }));
	assert_int_equal(plan_grant(&f.plan, 0)->type, 1);
	assert_true(plan_run(&f.plan, &f.jobs[1], (struct want){ .type = 1 }));
	assert_int_equal(plan_grant(&f.plan, 1)->type, 1);
	assert_true(plan_run(&f.plan, &f.jobs[1], (struct want){ .type = 0 }));
	assert_int_equal(plan_grant(&f.plan, 1)->type, 0);
	assert_int_equal(plan_free(&f.plan, 0), 1);
	assert_int_equal(plan_free(&f.plan, 1), 1);
	teardown(&f);
}

static void clearing_stops_everybody(void **state)
{
	uint32_t active[] = { 0, 1, 2 };
	struct fixture f;

	(void)state;
	setup(&f, "1x4", 1);
	run(&f, 0);
	run(&f, 2);
	plan_commit(&f.plan);
	plan_begin(&f.plan);
	plan_clear(&f.plan, f.jobs, active, 3);
	assert_int_equal(plan_free(&f.plan, 0), 4);
	assert_null(plan_grant(&f.plan, 0));
	assert_null(plan_grant(&f.plan, 2));
	teardown(&f);
}

static void dropping_takes_everything_at_once(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, "1x4", 2);
	run(&f, 0);
	plan_commit(&f.plan);
	plan_drop(&f.plan, &f.jobs[0]);
	assert_int_equal(plan_free(&f.plan, 0), 4);
	plan_drop(&f.plan, &f.jobs[0]); /* nothing left */
	teardown(&f);
}

static void a_node_that_is_down_gives_nothing(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, "2x2", 2);
	plan_node_up(&f.plan, 0, false);
	assert_int_equal(plan_free(&f.plan, 0), 2);
	assert_true(run(&f, 0));
	assert_int_equal(plan_grant(&f.plan, 0)->slots[0].node, 1);
	assert_false(run(&f, 1));
	plan_node_up(&f.plan, 0, true);
	assert_true(run(&f, 1));
	teardown(&f);
}

static void reasons_and_wakes(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, "1x1", 1);
	assert_true(isinf(f.plan.wake_s));
	plan_wake(&f.plan, 50);
	plan_wake(&f.plan, 70);
	assert_true(f.plan.wake_s == 50);
	plan_why(&f.plan, 3, (struct reason){ .why = WHY_OUTRANKED, .other = 1 });
	plan_why(&f.plan, 3, (struct reason){ .why = WHY_BUSY });
	assert_int_equal(f.plan.reasons.n, 1); /* the first stands */
	assert_int_equal(f.plan.reasons.at[0].reason.why, WHY_OUTRANKED);
	plan_begin(&f.plan);
	assert_int_equal(f.plan.reasons.n, 0);
	assert_true(isinf(f.plan.wake_s));
	plan_why(&f.plan, 3, (struct reason){ .why = WHY_BUSY });
	assert_int_equal(f.plan.reasons.at[0].reason.why, WHY_BUSY);
	teardown(&f);
}

static const struct {
	const char *what, *cluster, *placer;
	int min_gpus;
	uint32_t types;
	double cpus; /* of the job; nodes have 4 */
	bool want;
} evers[] = {
	{ "all of the cluster", "2x4", "first-fit", 8, 0, 0, true },
	{ "one more", "2x4", "first-fit", 9, 0, 0, false },
	{ "no single type has as many", "1x4:a,1x4:b", "first-fit", 5, 0, 0, false },
	{ "the type that it may use has them", "1x4:a,1x8:b", "first-fit", 8, 2, 0, true },
	{ "the type that it may use has not", "1x4:a,1x8:b", "first-fit", 8, 1, 0, false },
	{ "a type that nobody has", "1x4", "first-fit", 1, UINT32_C(1) << 31, 0, false },
	{ "more CPUs than a node for one device", "2x4", "first-fit", 1, 0, 5, false },
	{ "spread over two nodes they are there", "2x4", "first-fit", 2, 0, 8, true },
	{ "at random", "2x4", "random", 8, 0, 0, true },
};

static void what_could_ever_run(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(evers); i++) {
		struct fixture f;
		struct rng before;

		setup(&f, evers[i].cluster, evers[i].min_gpus);
		for (uint32_t n = 0; n < f.cluster.nnodes; n++)
			f.cluster.nodes[n].cpus = 4;
		plan_fini(&f.plan);
		plan_init(&f.plan, &f.cluster, placer_find(evers[i].placer, NULL), NULL, 1);
		f.jobs[0].types = evers[i].types;
		f.jobs[0].cpus = evers[i].cpus;
		run(&f, 1); /* what is taken now does not matter */
		before = f.plan.rng;
		if (plan_could_ever(&f.plan, &f.jobs[0]) != evers[i].want)
			fail_msg("%s", evers[i].what);
		assert_memory_equal(&before, &f.plan.rng, sizeof(before)); /* asking draws nothing */
		teardown(&f);
	}
}

/* Whatever is done, what is free and what is held add up, and nothing is held twice. */
static void check_ledger(const struct fixture *f)
{
	uint64_t taken[4] = { 0 };

	for (uint32_t job = 0; job < JOBS; job++) {
		const struct grant *g = plan_grant(&f->plan, job);

		for (uint32_t i = 0; g && i < g->nslots; i++) {
			assert_true((taken[g->slots[i].node] & g->slots[i].devices) == 0);
			taken[g->slots[i].node] |= g->slots[i].devices;
		}
	}
	for (uint32_t node = 0; node < f->cluster.nnodes; node++)
		assert_true((taken[node] ^ f->plan.space.nodes[node].free) == 0xf);
}

static void edits_in_any_order_add_up(void **state)
{
	struct rng rng = property("random edits of a plan");
	struct fixture f;

	(void)state;
	setup(&f, "4x4", 1);
	for (size_t op = 0; op < rounds(5000); op++) {
		struct job *job = &f.jobs[rng_below(&rng, JOBS)];

		switch (rng_below(&rng, 6)) {
		case 0:
		case 1:
			plan_run(&f.plan, job,
				(struct want){ .gpus = pick(&rng, 6), .type = TYPE_ANY });
			break;
		case 2:
			plan_run(&f.plan, job, (struct want){ .type = 0, .batch = pick(&rng, 2) });
			break;
		case 3:
			plan_stop(&f.plan, job);
			break;
		case 4:
			plan_commit(&f.plan);
			plan_begin(&f.plan);
			break;
		default:
			plan_commit(&f.plan);
			plan_drop(&f.plan, job);
			plan_begin(&f.plan);
			break;
		}
		check_ledger(&f);
	}
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_as_long_as_there_is_room),
		cmocka_unit_test(stopped_and_run_again_it_keeps_its_devices),
		cmocka_unit_test(taken_meanwhile_it_goes_elsewhere),
		cmocka_unit_test(wanting_more_changes_the_grant),
		cmocka_unit_test(types_are_respected),
		cmocka_unit_test(clearing_stops_everybody),
		cmocka_unit_test(dropping_takes_everything_at_once),
		cmocka_unit_test(a_node_that_is_down_gives_nothing),
		cmocka_unit_test(reasons_and_wakes),
		cmocka_unit_test(what_could_ever_run),
		cmocka_unit_test(edits_in_any_order_add_up),
	};

	return cmocka_run_group_tests_name("placement/plan", tests, NULL, NULL);
}
