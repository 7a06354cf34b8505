/*
 * Drained devices go to nobody new and stay with whoever has them; devices that a
 * job avoids are not given to it while there are others.
 */
#include <string.h>

#include "placement/plan.h"
#include "support/property.h"
#include "support/scene.h"

enum { JOBS = 12 };

struct fixture {
	struct cluster cluster;
	struct plan plan;
	void *placer; /* its state */
	struct job jobs[JOBS];
};

static void setup(struct fixture *f, const char *cluster, const char *placer)
{
	struct err err = { 0 };
	const struct placer *rule = placer_find(placer, &err);

	*f = (struct fixture){ 0 };
	assert_int_equal(cluster_parse(cluster, &f->cluster, &err), 0);
	f->placer = mem_alloc(rule->state_size + 1);
	option_defaults(rule->options, f->placer);
	plan_init(&f->plan, &f->cluster, rule, f->placer, 1);
	for (uint32_t i = 0; i < JOBS; i++) {
		job_init(&f->jobs[i]);
		f->jobs[i].id = i;
		f->jobs[i].min_gpus = f->jobs[i].max_gpus = 1;
	}
}

static void teardown(struct fixture *f)
{
	plan_fini(&f->plan);
	free(f->placer);
	cluster_fini(&f->cluster);
}

static bool run(struct fixture *f, uint32_t job)
{
	return plan_run(&f->plan, &f->jobs[job], (struct want){ .type = TYPE_ANY });
}

static void next_round(struct fixture *f)
{
	plan_commit(&f->plan);
	plan_begin(&f->plan);
}

static uint64_t devices_of(const struct fixture *f, uint32_t job, uint32_t node)
{
	const struct grant *g = plan_grant(&f->plan, job);

	for (uint32_t i = 0; g && i < g->nslots; i++) {
		if (g->slots[i].node == node)
			return g->slots[i].devices;
	}
	return 0;
}

/* ---- drained */

static void whoever_has_it_keeps_it(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, "1x3", "first-fit");
	assert_true(run(&f, 0));
	next_round(&f);
	plan_devices_drain(&f.plan, 0, 3);
	assert_int_equal(plan_free(&f.plan, 0), 1);
	assert_int_equal(f.plan.space.types[0].up,
		2); /* the one that is held, and the one that is not drained */
	plan_clear(&f.plan, f.jobs, (uint32_t[]){ 0 }, 1);
	assert_true(run(&f, 1)); /* others come first, but not there */
	assert_int_equal(devices_of(&f, 1, 0), 4);
	assert_true(run(&f, 0));
	assert_int_equal(devices_of(&f, 0, 0), 1);
	assert_false(run(&f, 2));
	next_round(&f);
	plan_drop(&f.plan, &f.jobs[0]);
	assert_int_equal(f.plan.space.types[0].up, 1);
	assert_false(run(&f, 0)); /* once gone it is new */
	plan_devices_drain(&f.plan, 0, 0);
	assert_int_equal(f.plan.space.types[0].up, 3);
	assert_true(run(&f, 0));
	teardown(&f);
}

static void one_that_is_down_as_well_is_lost(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, "1x2", "first-fit");
	assert_true(run(&f, 0));
	next_round(&f);
	plan_devices_drain(&f.plan, 0, 1);
	plan_devices_up(&f.plan, 0, 1, false);
	assert_int_equal(f.plan.space.types[0].up, 1);
	plan_stop(&f.plan, &f.jobs[0]);
	assert_true(run(&f, 0));
	assert_int_equal(devices_of(&f, 0, 0), 2);
	teardown(&f);
}

static void nobody_comes_beside(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, "1x2", "first-fit");
	assert_true(run(&f, 0));
	next_round(&f);
	plan_devices_drain(&f.plan, 0, 1);
	assert_false(plan_run_beside(&f.plan, &f.jobs[1], &f.jobs[0], (struct want){ .gpus = 1 }));
	f.jobs[2].share = 0.5;
	assert_true(run(&f, 2));
	assert_int_equal(devices_of(&f, 2, 0), 2);
	next_round(&f);
	plan_devices_drain(&f.plan, 0, 3);
	f.jobs[3].share = 0.5;
	assert_false(run(&f, 3)); /* nor does a fraction */
	plan_stop(&f.plan, &f.jobs[2]);
	assert_true(run(&f, 2));
	assert_int_equal(devices_of(&f, 2, 0), 2);
	teardown(&f);
}

static void at_given_nodes_likewise(void **state)
{
	struct node_share two = { 0, 2 }, one = { 0, 1 };
	struct fixture f;

	(void)state;
	setup(&f, "1x3", "first-fit");
	f.jobs[0].gpus = f.jobs[0].min_gpus = 1;
	f.jobs[0].max_gpus = 3;
	assert_true(plan_run_at(&f.plan, &f.jobs[0], &one, 1, (struct want){ .type = TYPE_ANY }));
	next_round(&f);
	plan_devices_drain(&f.plan, 0, 3);
	assert_true(plan_run_at(&f.plan, &f.jobs[0], &two, 1, (struct want){ .type = TYPE_ANY }));
	assert_int_equal(devices_of(&f, 0, 0), 5); /* what it has, and the one that is free */
	assert_false(plan_run_at(&f.plan, &f.jobs[1], &one, 1, (struct want){ .type = TYPE_ANY }));
	teardown(&f);
}

/* ---- avoided */

static void a_job_waits_for_others(void **state)
{
	struct slot avoid[] = { { 0, 1 } };
	struct fixture f;

	(void)state;
	setup(&f, "1x2", "first-fit");
	f.jobs[0].avoid = avoid;
	f.jobs[0].navoid = 1;
	assert_true(run(&f, 0));
	assert_int_equal(devices_of(&f, 0, 0), 2);
	plan_stop(&f.plan, &f.jobs[0]);
	assert_true(run(&f, 1));
	assert_true(run(&f, 2)); /* has the other one */
	plan_stop(&f.plan, &f.jobs[1]);
	assert_false(run(&f, 0));
	assert_true(run(&f, 1)); /* of no concern to others */
	teardown(&f);
}

static void it_takes_what_there_is(void **state)
{
	struct slot avoid[] = { { 0, 3 } };
	struct fixture f;

	(void)state;
	setup(&f, "1x2", "first-fit");
	f.jobs[0].avoid = avoid;
	f.jobs[0].navoid = 1;
	assert_true(run(&f, 0)); /* there are no others at all */
	plan_stop(&f.plan, &f.jobs[0]);
	avoid[0].devices = 1;
	plan_devices_drain(&f.plan, 0, 2);
	assert_true(run(&f, 0)); /* nor any that work */
	assert_int_equal(devices_of(&f, 0, 0), 1);
	plan_stop(&f.plan, &f.jobs[0]);
	plan_devices_drain(&f.plan, 0, 0);
	f.jobs[0].gpus = f.jobs[0].min_gpus = f.jobs[0].max_gpus = 2;
	assert_true(run(&f, 0)); /* nor enough */
	teardown(&f);
}

static void given_nodes_have_them_last(void **state)
{
	struct slot avoid[] = { { 0, 1 } };
	struct node_share share = { 0, 1 };
	struct fixture f;

	(void)state;
	setup(&f, "1x2", "first-fit");
	f.jobs[0].avoid = avoid;
	f.jobs[0].navoid = 1;
	assert_true(plan_run_at(&f.plan, &f.jobs[0], &share, 1, (struct want){ .type = TYPE_ANY }));
	assert_int_equal(devices_of(&f, 0, 0), 2);
	assert_true(plan_run_at(&f.plan, &f.jobs[1], &share, 1, (struct want){ .type = TYPE_ANY }));
	plan_stop(&f.plan, &f.jobs[0]);
	assert_true(run(&f, 2));
	plan_stop(&f.plan, &f.jobs[1]);
	assert_true(plan_run_at(&f.plan, &f.jobs[0], &share, 1, (struct want){ .type = TYPE_ANY }));
	assert_int_equal(devices_of(&f, 0, 0), 1);
	teardown(&f);
}

/* ---- at random */

static const char *const rules[] = { "first-fit", "best-fit", "consolidate", "spread" };

static uint64_t any_devices(struct rng *rng, uint32_t n)
{
	return rng_u64(rng) & rng_u64(rng) & ((UINT64_C(1) << n) - 1);
}

/* What each job held when the round began. */
struct before {
	uint64_t held[JOBS][4];
};

static void remember(const struct fixture *f, struct before *out)
{
	for (uint32_t job = 0; job < JOBS; job++) {
		for (uint32_t node = 0; node < f->cluster.nnodes; node++)
			out->held[job][node] = devices_of(f, job, node);
	}
}

static void nothing_new_is_there(const struct fixture *f, const struct before *before)
{
	for (uint32_t job = 0; job < JOBS; job++) {
		for (uint32_t node = 0; node < f->cluster.nnodes; node++)
			assert_false(devices_of(f, job, node) & f->plan.space.nodes[node].drained &
				~before->held[job][node]);
	}
}

/* Drained ones count as up if somebody had them when the plan was last carried out. */
static void capacity_is_counted(const struct fixture *f)
{
	for (uint32_t type = 0; type < f->cluster.ntypes; type++) {
		uint32_t up = 0, open = 0;

		for (uint32_t node = 0; node < f->cluster.nnodes; node++) {
			const struct space_node *n = &f->plan.space.nodes[node];
			uint64_t all = (UINT64_C(1) << f->cluster.nodes[node].devices) - 1, held = 0;

			if (f->cluster.nodes[node].type != type)
				continue;
			for (uint32_t job = 0; job < JOBS; job++)
				held |= devices_of(f, job, node);
			up += (uint32_t)__builtin_popcountll(all & ~n->down & (~n->drained | held));
			open += (uint32_t)__builtin_popcountll(all & ~n->down & ~n->drained & ~held);
		}
		assert_int_equal(f->plan.space.types[type].up, up);
		assert_int_equal(plan_free(&f->plan, type), open);
	}
}

/* Whoever was stopped in a round has its devices again if it is the first to ask. */
static void all_come_back(struct fixture *f, struct rng *rng)
{
	uint32_t all[JOBS], gpus[JOBS], n = 0;
	struct before before;

	remember(f, &before);
	for (uint32_t job = 0; job < JOBS; job++) {
		const struct grant *grant = plan_grant(&f->plan, job);

		if (!grant)
			continue;
		all[n++] = job;
		gpus[job] = grant->gpus;
	}
	plan_clear(&f->plan, f->jobs, all, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = i + (uint32_t)rng_below(rng, n - i), job = all[k];

		all[k] = all[i];
		assert_true(plan_run(&f->plan, &f->jobs[job],
			(struct want){ .type = TYPE_ANY, .gpus = gpus[job] }));
		for (uint32_t node = 0; node < f->cluster.nnodes; node++)
			assert_int_equal(devices_of(f, job, node), before.held[job][node]);
	}
}

static void one_change(struct fixture *f, struct rng *rng)
{
	uint32_t job = (uint32_t)rng_below(rng, JOBS);
	uint32_t node = (uint32_t)rng_below(rng, f->cluster.nnodes);

	switch (rng_below(rng, 6)) {
	case 0:
		plan_stop(&f->plan, &f->jobs[job]);
		break;
	case 1:
		plan_run_at(&f->plan, &f->jobs[job], &(struct node_share){ node, pick(rng, 3) }, 1,
			(struct want){ .type = TYPE_ANY });
		break;
	default:
		run(f, job);
		break;
	}
}

static void one_scene(struct rng *rng)
{
	struct slot avoid[JOBS];
	struct before before;
	struct fixture f;

	setup(&f, rng_below(rng, 2) ? "3x4" : "2x3:v100,2x5:a100", rules[rng_below(rng, COUNT(rules))]);
	for (uint32_t i = 0; i < JOBS; i++) {
		f.jobs[i].gpus = f.jobs[i].min_gpus = f.jobs[i].max_gpus = (int32_t)pick(rng, 3);
		avoid[i] = (struct slot){ (uint32_t)rng_below(rng, f.cluster.nnodes), pick(rng, 7) };
		f.jobs[i].avoid = &avoid[i];
		f.jobs[i].navoid = rng_below(rng, 4) == 0;
	}
	for (int round = 0; round < 20; round++) {
		uint32_t node = (uint32_t)rng_below(rng, f.cluster.nnodes);

		plan_begin(&f.plan);
		if (rng_below(rng, 2))
			plan_devices_drain(&f.plan, node,
				any_devices(rng, f.cluster.nodes[node].devices));
		remember(&f, &before);
		for (int i = 0; i < 8; i++)
			one_change(&f, rng);
		nothing_new_is_there(&f, &before);
		plan_commit(&f.plan);
		capacity_is_counted(&f);
		plan_begin(&f.plan);
		all_come_back(&f, rng);
		plan_commit(&f.plan);
		capacity_is_counted(&f);
	}
	teardown(&f);
}

static void plans_keep_to_it(void **state)
{
	struct rng rng = property("nothing new goes to drained devices, and who has them keeps them");

	(void)state;
	for (size_t i = 0; i < rounds(300); i++)
		one_scene(&rng);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whoever_has_it_keeps_it),
		cmocka_unit_test(one_that_is_down_as_well_is_lost),
		cmocka_unit_test(nobody_comes_beside),
		cmocka_unit_test(at_given_nodes_likewise),
		cmocka_unit_test(a_job_waits_for_others),
		cmocka_unit_test(it_takes_what_there_is),
		cmocka_unit_test(given_nodes_have_them_last),
		cmocka_unit_test(plans_keep_to_it),
	};

	return cmocka_run_group_tests_name("placement/drain", tests, NULL, NULL);
}
