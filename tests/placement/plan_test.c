/*
 * Plans: edits of what shall be running, and the ledger that goes with them.
 */
#include "placement/plan.h"

#include <math.h>
#include <string.h>

#include "support/planning.h"
#include "support/property.h"
#include "support/scene.h"

enum { JOBS = 12 }; /* that take part */

static void setup(struct planning *p, const char *cluster, int gpus)
{
	planning_init(p, cluster);
	for (uint32_t i = 0; i < JOBS; i++)
		p->jobs[i].gpus = p->jobs[i].min_gpus = p->jobs[i].max_gpus = gpus;
	planning_begin(p, "first-fit");
}

static bool run(struct planning *f, uint32_t job)
{
	return plan_run(&f->plan, &f->jobs[job], (struct want){ .type = TYPE_ANY });
}

static void runs_as_long_as_there_is_room(void **state)
{
	struct planning f;

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
	planning_fini(&f);
}

static void stopped_and_run_again_it_keeps_its_devices(void **state)
{
	const struct grant *before;
	struct planning f;

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
	planning_fini(&f);
}

static void taken_meanwhile_it_goes_elsewhere(void **state)
{
	struct planning f;

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
	planning_fini(&f);
}

static void wanting_more_changes_the_grant(void **state)
{
	struct planning f;

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
	planning_fini(&f);
}

static void types_are_respected(void **state)
{
	struct planning f;

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
	planning_fini(&f);
}

static void clearing_stops_everybody(void **state)
{
	uint32_t active[] = { 0, 1, 2 };
	struct planning f;

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
	planning_fini(&f);
}

static void dropping_takes_everything_at_once(void **state)
{
	struct planning f;

	(void)state;
	setup(&f, "1x4", 2);
	run(&f, 0);
	plan_commit(&f.plan);
	plan_drop(&f.plan, &f.jobs[0]);
	assert_int_equal(plan_free(&f.plan, 0), 4);
	plan_drop(&f.plan, &f.jobs[0]); /* nothing left */
	planning_fini(&f);
}

static void a_node_that_is_down_gives_nothing(void **state)
{
	struct planning f;

	(void)state;
	setup(&f, "2x2", 2);
	plan_node_up(&f.plan, 0, false);
	assert_int_equal(plan_free(&f.plan, 0), 2);
	assert_true(run(&f, 0));
	assert_int_equal(plan_grant(&f.plan, 0)->slots[0].node, 1);
	assert_false(run(&f, 1));
	plan_node_up(&f.plan, 0, true);
	assert_true(run(&f, 1));
	planning_fini(&f);
}

static void reasons_and_wakes(void **state)
{
	struct planning f;

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
	planning_fini(&f);
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
		struct planning f;
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
		planning_fini(&f);
	}
}

/* ---- devices of several types */

static const struct grant_part two_and_one[] = { { 0, 2 }, { 1, 1 } };

static void devices_of_two_types_at_once(void **state)
{
	const struct grant *g;
	struct planning f;

	(void)state;
	setup(&f, "2x2:v100,1x2:p100", 3);
	assert_true(plan_run_parts(&f.plan, &f.jobs[0], two_and_one, 2, (struct want){ 0 }));
	g = plan_grant(&f.plan, 0);
	assert_true(g->mixed && g->type == 0 && g->gpus == 3 && g->nslots == 2 && g->share == 1);
	assert_int_equal(plan_free(&f.plan, 0), 2);
	assert_int_equal(plan_free(&f.plan, 1), 1);
	assert_true(plan_run_parts(&f.plan, &f.jobs[0], two_and_one, 2, (struct want){ 0 }));
	assert_ptr_equal(plan_grant(&f.plan, 0), g); /* as it is */
	assert_true(plan_run_parts(&f.plan, &f.jobs[1], two_and_one, 2,
		(struct want){ .balance = true, .batch = 64 }));
	g = plan_grant(&f.plan, 1);
	assert_true(g->balanced && g->batch == 64);
	assert_false(plan_run_parts(&f.plan, &f.jobs[2], two_and_one, 2, (struct want){ 0 }));
	assert_null(plan_grant(&f.plan, 2));
	plan_stop(&f.plan, &f.jobs[0]);
	plan_stop(&f.plan, &f.jobs[1]);
	assert_int_equal(plan_free(&f.plan, 0), 4);
	assert_int_equal(plan_free(&f.plan, 1), 2);
	planning_fini(&f);
}

static void all_parts_or_none(void **state)
{
	static const struct grant_part too_many[] = { { 0, 1 }, { 1, 3 } };
	const struct grant *before;
	struct planning f;

	(void)state;
	setup(&f, "2x2:v100,1x2:p100", 3);
	plan_run(&f.plan, &f.jobs[0], (struct want){ .gpus = 2, .type = 0 });
	before = plan_grant(&f.plan, 0);
	assert_false(plan_run_parts(&f.plan, &f.jobs[0], too_many, 2, (struct want){ 0 }));
	assert_ptr_equal(plan_grant(&f.plan, 0), before);
	assert_int_equal(plan_free(&f.plan, 0), 2);
	assert_int_equal(plan_free(&f.plan, 1), 2);
	f.jobs[1].types = 1; /* may not use p100 */
	assert_false(plan_run_parts(&f.plan, &f.jobs[1], two_and_one, 2, (struct want){ 0 }));
	planning_fini(&f);
}

static void one_part_is_an_ordinary_grant(void **state)
{
	static const struct grant_part one[] = { { 1, 2 } };
	struct planning f;

	(void)state;
	setup(&f, "2x2:v100,1x2:p100", 2);
	assert_true(plan_run_parts(&f.plan, &f.jobs[0], one, 1, (struct want){ 0 }));
	assert_false(plan_grant(&f.plan, 0)->mixed);
	assert_true(plan_run(&f.plan, &f.jobs[0], (struct want){ .type = 1 }));
	assert_int_equal(f.plan.touched.n, 1);
	planning_fini(&f);
}

static void parts_keep_the_devices_that_suit(void **state)
{
	static const struct grant_part more[] = { { 1, 2 }, { 0, 2 } };
	struct slot kept;
	struct planning f;

	(void)state;
	setup(&f, "3x2:v100,2x2:p100", 2);
	plan_run(&f.plan, &f.jobs[1], (struct want){ .type = 0 });
	plan_run_parts(&f.plan, &f.jobs[0], two_and_one, 2, (struct want){ 0 });
	plan_commit(&f.plan);
	plan_begin(&f.plan);
	kept = plan_grant(&f.plan, 0)->slots[0];
	assert_int_equal(kept.node, 1);
	plan_stop(&f.plan, &f.jobs[1]); /* node 0 is free now, but why move? */
	assert_true(plan_run_parts(&f.plan, &f.jobs[0], more, 2, (struct want){ 0 }));
	assert_int_equal(plan_grant(&f.plan, 0)->slots[1].node, kept.node);
	assert_int_equal(plan_grant(&f.plan, 0)->gpus, 4);
	assert_true(plan_run_parts(&f.plan, &f.jobs[0], two_and_one, 2, (struct want){ 0 }));
	assert_ptr_equal(plan_grant(&f.plan, 0), f.plan.entries.at[0].held); /* as at first */
	assert_true(plan_run_parts(&f.plan, &f.jobs[0], two_and_one, 2, (struct want){ .move = true }));
	assert_int_equal(plan_grant(&f.plan, 0)->slots[0].node, 0);
	/* One type alone is something else than a mixture with as many. */
	assert_true(plan_run(&f.plan, &f.jobs[0], (struct want){ .gpus = 3, .type = TYPE_ANY }));
	assert_false(plan_grant(&f.plan, 0)->mixed);
	planning_fini(&f);
}

static void parts_spread_cpus_over_all_devices(void **state)
{
	struct planning f;

	(void)state;
	setup(&f, "1x2:v100,1x2:p100", 3);
	f.cluster.nodes[0].cpus = 4;
	f.cluster.nodes[1].cpus = 2;
	plan_fini(&f.plan);
	plan_init(&f.plan, &f.cluster, placer_find("first-fit", NULL), NULL, 1);
	f.jobs[0].cpus = 6; /* 2 for each */
	assert_true(plan_run_parts(&f.plan, &f.jobs[0], two_and_one, 2, (struct want){ 0 }));
	assert_true(f.plan.space.nodes[0].cpus == 0 && f.plan.space.nodes[1].cpus == 0);
	plan_stop(&f.plan, &f.jobs[0]);
	f.jobs[0].cpus = 7;
	assert_false(plan_run_parts(&f.plan, &f.jobs[0], two_and_one, 2, (struct want){ 0 }));
	assert_true(f.plan.space.nodes[0].cpus == 4 && f.plan.space.nodes[1].cpus == 2);
	planning_fini(&f);
}

/* ---- devices that two have */

static bool beside(struct planning *f, uint32_t job, uint32_t host)
{
	return plan_run_beside(&f->plan, &f->jobs[job], &f->jobs[host], (struct want){ 0 });
}

static void a_smaller_gang_beside_a_larger(void **state)
{
	const struct grant *g;
	struct planning f;

	(void)state;
	setup(&f, "2x2", 1);
	assert_true(plan_run(&f.plan, &f.jobs[0], (struct want){ .gpus = 3, .type = 0 }));
	assert_true(beside(&f, 1, 0));
	g = plan_grant(&f.plan, 1);
	assert_true(g->gpus == 1 && g->nslots == 1 && g->slots[0].devices == 1);
	assert_int_equal(f.plan.space.overlaps, 1);
	assert_int_equal(plan_free(&f.plan, 0), 1);
	/* The next takes what the host has for itself. */
	assert_true(beside(&f, 2, 0));
	assert_true(plan_grant(&f.plan, 2)->slots[0].devices == 2);
	/* Two more than that are left: the third device and a second guest on the first. */
	f.jobs[3].gpus = 2;
	assert_true(beside(&f, 3, 0));
	g = plan_grant(&f.plan, 3);
	assert_true(g->nslots == 2 && g->slots[0].devices == 1 && g->slots[1].node == 1);
	plan_stop(&f.plan, &f.jobs[0]);
	assert_int_equal(plan_free(&f.plan, 0), 1); /* guests hold all three */
	plan_stop(&f.plan, &f.jobs[3]);
	assert_int_equal(plan_free(&f.plan, 0), 2);
	assert_int_equal(f.plan.space.overlaps, 0);
	f.jobs[4].gpus = 4;
	assert_false(beside(&f, 4, 1)); /* larger than its host */
	assert_false(beside(&f, 4, 0)); /* which shall not run */
	planning_fini(&f);
}

static void a_guest_stays_where_it_is(void **state)
{
	const struct grant *held;
	struct planning f;

	(void)state;
	setup(&f, "1x4", 1);
	run(&f, 2);
	run(&f, 1); /* the second device */
	plan_commit(&f.plan);
	plan_begin(&f.plan);
	held = plan_grant(&f.plan, 1);
	plan_stop(&f.plan, &f.jobs[1]);
	plan_stop(&f.plan, &f.jobs[2]);
	plan_run(&f.plan, &f.jobs[0], (struct want){ .gpus = 4, .type = 0 });
	assert_true(beside(&f, 1, 0));
	assert_ptr_equal(plan_grant(&f.plan, 1), held);
	assert_true(beside(&f, 1, 0)); /* again: nothing */
	assert_ptr_equal(plan_grant(&f.plan, 1), held);
	assert_true(plan_run_beside(&f.plan, &f.jobs[1], &f.jobs[0], (struct want){ .batch = 8 }));
	assert_true(plan_grant(&f.plan, 1)->slots[0].devices == 2);
	assert_int_equal(plan_grant(&f.plan, 1)->batch, 8);
	planning_fini(&f);
}

static void a_guest_that_may_not_use_the_type(void **state)
{
	static const struct grant_part parts[] = { { 1, 1 }, { 0, 1 } };
	struct planning f;

	(void)state;
	setup(&f, "1x2:v100,1x2:p100", 1);
	f.jobs[1].types = 1;
	plan_run(&f.plan, &f.jobs[0], (struct want){ .type = 1 });
	assert_false(beside(&f, 1, 0));
	assert_null(plan_grant(&f.plan, 1));
	/* Beside a mixture only if it may use what it gets. */
	plan_run_parts(&f.plan, &f.jobs[2], parts, 2, (struct want){ 0 });
	assert_false(beside(&f, 1, 2));
	assert_true(beside(&f, 3, 2));
	assert_true(plan_grant(&f.plan, 3)->type == 1 && !plan_grant(&f.plan, 3)->mixed);
	f.jobs[4].gpus = 2;
	assert_true(beside(&f, 4, 2));
	assert_true(plan_grant(&f.plan, 4)->mixed);
	planning_fini(&f);
}

/* ---- gangs by type */

static void gangs_that_depend_on_the_type(void **state)
{
	static const uint16_t gangs[TYPES_MAX] = { 1, 4 };
	static const struct grant_part parts[] = { { 0, 1 }, { 1, 1 } };
	struct planning f;

	(void)state;
	setup(&f, "1x2:a100,2x2:v100", 2);
	for (uint32_t i = 0; i < 5; i++)
		f.jobs[i].gpus_by_type = gangs;
	assert_true(run(&f, 0));
	assert_int_equal(plan_grant(&f.plan, 0)->gpus, 1);
	assert_true(run(&f, 0)); /* any type: what it has suits */
	assert_int_equal(f.plan.touched.n, 1);
	assert_true(run(&f, 1));
	assert_true(run(&f, 2));
	assert_true(plan_grant(&f.plan, 2)->type == 1 && plan_grant(&f.plan, 2)->gpus == 4);
	assert_false(run(&f, 3));
	assert_false(plan_run(&f.plan, &f.jobs[2], (struct want){ .type = 0 }));
	assert_int_equal(plan_grant(&f.plan, 2)->gpus, 4); /* what it had stands */
	assert_true(beside(&f, 3, 2));
	assert_int_equal(plan_grant(&f.plan, 3)->gpus, 4);
	assert_true(beside(&f, 4, 0));
	assert_int_equal(plan_grant(&f.plan, 4)->gpus, 1);
	assert_false(plan_run_parts(&f.plan, &f.jobs[5], parts, 2, (struct want){ 0 }));
	assert_false(plan_run_parts(&f.plan, &f.jobs[0], parts, 2, (struct want){ 0 }));
	assert_true(plan_could_ever(&f.plan, &f.jobs[0]));
	planning_fini(&f);
}

/* Whatever is done, a node's free devices are those that nobody has, and its CPUs what nobody takes. */
static void check_shared_ledger(const struct planning *f)
{
	uint64_t taken[6] = { 0 }, twice[6] = { 0 };
	double cpus[6] = { 0 };
	bool any = false;

	for (uint32_t job = 0; job < JOBS; job++) {
		const struct grant *g = plan_grant(&f->plan, job);
		uint32_t gpus = 0;

		for (uint32_t i = 0; g && i < g->nslots; i++) {
			struct slot slot = g->slots[i];

			twice[slot.node] |= taken[slot.node] & slot.devices;
			taken[slot.node] |= slot.devices;
			gpus += (uint32_t)__builtin_popcountll(slot.devices);
			cpus[slot.node] += f->jobs[job].cpus * __builtin_popcountll(slot.devices) /
				g->gpus;
		}
		assert_true(!g || (g->gpus == gpus && gpus > 0));
	}
	for (uint32_t node = 0; node < f->cluster.nnodes; node++) {
		any |= twice[node] != 0;
		assert_true((taken[node] ^ f->plan.space.nodes[node].free) == 0xf);
		assert_true(fabs(f->plan.space.nodes[node].cpus + cpus[node] - 16) < 1e-6);
	}
	assert_int_equal(any, f->plan.space.overlaps > 0);
}

static void random_edit(struct planning *f, struct rng *rng)
{
	struct job *job = &f->jobs[rng_below(rng, JOBS)], *host = &f->jobs[rng_below(rng, JOBS)];
	struct grant_part parts[] = { { 0, pick(rng, 3) }, { 1, pick(rng, 3) } };
	struct want want = {
		.gpus = pick(rng, 4),
		.type = TYPE_ANY,
		.move = rng_below(rng, 4) == 0,
		.balance = rng_below(rng, 2),
	};

	switch (rng_below(rng, 6)) {
	case 0:
		plan_run(&f->plan, job, want);
		break;
	case 1:
		plan_run_parts(&f->plan, job, parts, pick(rng, 2), want);
		break;
	case 2:
		if (job != host)
			plan_run_beside(&f->plan, job, host, want);
		break;
	case 3:
		plan_stop(&f->plan, job);
		break;
	case 4:
		plan_commit(&f->plan);
		plan_begin(&f->plan);
		break;
	default:
		plan_commit(&f->plan);
		plan_drop(&f->plan, job);
		plan_begin(&f->plan);
		break;
	}
}

static void mixtures_and_guests_add_up(void **state)
{
	struct rng rng = property("random edits with parts and guests");
	struct planning f;

	(void)state;
	setup(&f, "3x4:a,3x4:b", 1);
	for (uint32_t i = 0; i < f.cluster.nnodes; i++)
		f.cluster.nodes[i].cpus = 16;
	plan_fini(&f.plan);
	plan_init(&f.plan, &f.cluster, placer_find("first-fit", NULL), NULL, 1);
	for (uint32_t i = 0; i < JOBS; i++)
		f.jobs[i].cpus = (double)(i % 4) * 3;
	for (size_t op = 0; op < rounds(5000); op++) {
		random_edit(&f, &rng);
		check_shared_ledger(&f);
	}
	planning_fini(&f);
}

/* Whatever is done, what is free and what is held add up, and nothing is held twice. */
static void check_ledger(const struct planning *f)
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
	struct planning f;

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
	planning_fini(&f);
}

/* ---- devices of given nodes */

static bool run_at(struct planning *f, uint32_t job, struct node_share a, struct node_share b)
{
	struct node_share at[] = { a, b };

	return plan_run_at(&f->plan, &f->jobs[job], at, b.gpus ? 2 : 1,
		(struct want){ .type = TYPE_ANY });
}

static void exactly_where_it_was_told(void **state)
{
	const struct grant *grant;
	struct planning f;

	(void)state;
	setup(&f, "3x4", 4);
	assert_true(run_at(&f, 0, (struct node_share){ 2, 3 }, (struct node_share){ 1, 1 }));
	grant = plan_grant(&f.plan, 0);
	assert_int_equal(grant->gpus, 4);
	assert_int_equal(grant->nslots, 2);
	assert_int_equal(grant->slots[0].node, 2);
	assert_int_equal(grant->slots[0].devices, 7);
	assert_int_equal(grant->slots[1].devices, 1);
	/* the same nodes in another order: nothing changes */
	assert_true(run_at(&f, 0, (struct node_share){ 1, 1 }, (struct node_share){ 2, 3 }));
	assert_ptr_equal(plan_grant(&f.plan, 0), grant);
	/* too few are left there: all stays as it was */
	assert_false(run_at(&f, 1, (struct node_share){ 0, 4 }, (struct node_share){ 2, 2 }));
	assert_null(plan_grant(&f.plan, 1));
	assert_int_equal(plan_free(&f.plan, 0), 8);
	planning_fini(&f);
}

static void told_to_grow_it_keeps_what_it_has(void **state)
{
	struct planning f;

	(void)state;
	setup(&f, "2x4", 2);
	assert_true(run_at(&f, 1, (struct node_share){ 0, 1 }, (struct node_share){ 0 }));
	assert_true(run_at(&f, 0, (struct node_share){ 0, 2 }, (struct node_share){ 0 }));
	plan_commit(&f.plan);
	plan_begin(&f.plan);
	plan_stop(&f.plan, &f.jobs[1]);
	plan_stop(&f.plan, &f.jobs[0]);
	assert_true(run_at(&f, 0, (struct node_share){ 0, 3 }, (struct node_share){ 0 }));
	assert_int_equal(plan_grant(&f.plan, 0)->slots[0].devices, 7); /* 1 and 2, and the lowest */
	plan_stop(&f.plan, &f.jobs[0]);
	assert_true(run_at(&f, 0, (struct node_share){ 0, 1 }, (struct node_share){ 0 }));
	assert_int_equal(plan_grant(&f.plan, 0)->slots[0].devices, 2); /* of its own */
	planning_fini(&f);
}

static void told_where_it_may_not_be(void **state)
{
	struct planning f;

	(void)state;
	setup(&f, "1x4:v100,1x4:p100", 2);
	f.jobs[0].types = 1;
	assert_false(run_at(&f, 0, (struct node_share){ 1, 2 }, (struct node_share){ 0 }));
	assert_true(run_at(&f, 1, (struct node_share){ 0, 2 }, (struct node_share){ 1, 2 }));
	assert_true(plan_grant(&f.plan, 1)->mixed);
	plan_node_up(&f.plan, 0, false);
	assert_false(run_at(&f, 0, (struct node_share){ 0, 2 }, (struct node_share){ 0 }));
	planning_fini(&f);
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
		cmocka_unit_test(devices_of_two_types_at_once),
		cmocka_unit_test(all_parts_or_none),
		cmocka_unit_test(one_part_is_an_ordinary_grant),
		cmocka_unit_test(parts_keep_the_devices_that_suit),
		cmocka_unit_test(parts_spread_cpus_over_all_devices),
		cmocka_unit_test(a_smaller_gang_beside_a_larger),
		cmocka_unit_test(a_guest_stays_where_it_is),
		cmocka_unit_test(a_guest_that_may_not_use_the_type),
		cmocka_unit_test(gangs_that_depend_on_the_type),
		cmocka_unit_test(mixtures_and_guests_add_up),
		cmocka_unit_test(exactly_where_it_was_told),
		cmocka_unit_test(told_to_grow_it_keeps_what_it_has),
		cmocka_unit_test(told_where_it_may_not_be),
	};

	return cmocka_run_group_tests_name("placement/plan", tests, NULL, NULL);
}
