/*
 * Delay scheduling: timers learnt from who waited, and no tier taken before its time.
 */
#include "placement/delay_timers.h"

#include <math.h>

#include "placement/placer.h"
#include "support/property.h"
#include "support/scene.h"

static const struct delay_rule rule = {
	.most_s = { 100, 200 },
	.tune = true,
	.window_s = 1000,
	.window = 100,
};

static void took(struct delay_timers *t, const struct delay_rule *r, uint32_t job, enum tier tier,
	double at_s, double wait_s)
{
	delay_timers_took(t, r, 4, tier, (struct delay_sample){ job, at_s, wait_s });
}

static void timers_are_means(void **state)
{
	struct delay_timers t = { 0 };

	(void)state;
	assert_true(delay_timers_s(&t, &rule, 4, TIER_MACHINE, 0) == 100);
	assert_true(delay_timers_s(&t, &rule, 4, TIER_RACK, 0) == 200);
	took(&t, &rule, 0, TIER_MACHINE, 10, 2);
	took(&t, &rule, 1, TIER_MACHINE, 20, 4);
	took(&t, &rule, 2, TIER_MACHINE, 30, 6);
	assert_true(delay_timers_s(&t, &rule, 4, TIER_MACHINE, 40) == 4);
	took(&t, &rule, 2, TIER_MACHINE, 30, 6); /* the same told again */
	assert_true(delay_timers_s(&t, &rule, 4, TIER_MACHINE, 40) == 4);
	assert_true(delay_timers_s(&t, &rule, 8, TIER_MACHINE, 40) == 100); /* of another size */
	took(&t, &rule, 3, TIER_RACK, 40, 1);
	assert_true(delay_timers_s(&t, &rule, 4, TIER_RACK, 40) == 4); /* not shorter than for a machine */
	assert_true(delay_timers_s(&t, &rule, 4, TIER_MACHINE, 1025) == 6); /* the older ones are forgotten */
	assert_true(delay_timers_s(&t, &rule, 4, TIER_MACHINE, 5000) == 100);
	delay_timers_fini(&t);
}

static void only_the_last_count(void **state)
{
	struct delay_rule two = rule;
	struct delay_timers t = { 0 };

	(void)state;
	two.window = 2;
	for (uint32_t i = 0; i < 10; i++)
		took(&t, &two, i, TIER_MACHINE, i, i);
	assert_true(delay_timers_s(&t, &two, 4, TIER_MACHINE, 10) == 8.5);
	took(&t, &two, 11, TIER_MACHINE, 11, 1e6);
	took(&t, &two, 12, TIER_MACHINE, 12, 1e6);
	assert_true(delay_timers_s(&t, &two, 4, TIER_MACHINE, 12) == 100); /* never longer than is allowed */
	two.tune = false;
	assert_true(delay_timers_s(&t, &two, 4, TIER_MACHINE, 12) == 100);
	delay_timers_fini(&t);
}

static void a_rack_is_never_waited_for_less_than_a_machine(void **state)
{
	struct rng rng = property(
		"T_machine <= T_rack, and neither above what is allowed, whatever was seen");

	(void)state;
	for (size_t round = 0; round < rounds(300); round++) {
		struct delay_rule any = { .most_s = { pick(&rng, 100), 100 + pick(&rng, 100) },
			.tune = rng_below(&rng, 4) > 0,
			.window_s = pick(&rng, 500),
			.window = pick(&rng, 20) };
		struct delay_timers t = { 0 };

		for (uint32_t i = 0; i < 40; i++) {
			double machine_s, rack_s;

			took(&t, &any, i, (enum tier)rng_below(&rng, TIER_COUNT), 10.0 * i,
				rng_below(&rng, 300));
			machine_s = delay_timers_s(&t, &any, 4, TIER_MACHINE, 10.0 * i);
			rack_s = delay_timers_s(&t, &any, 4, TIER_RACK, 10.0 * i);
			assert_true(machine_s <= rack_s);
			assert_true(machine_s <= any.most_s[TIER_MACHINE]);
			assert_true(rack_s <= any.most_s[TIER_RACK]);
		}
		delay_timers_fini(&t);
	}
}

/* ---- the placer */

struct table {
	struct cluster cluster;
	struct space space;
	struct job job;
	struct placing_note note;
	struct placing placing;
	struct slots out;
};

/* Two racks of two nodes of four, of which some devices are taken. */
static void draw(struct table *t, struct rng *rng)
{
	*t = (struct table){ 0 };
	cluster_add_type(&t->cluster, "gpu");
	cluster_add_rack(&t->cluster, NULL, 0);
	cluster_add_rack(&t->cluster, NULL, 0);
	for (uint32_t i = 0; i < 4; i++)
		cluster_add_node(&t->cluster,
			(struct node){ .devices = 4, .rack = i / 2, .topology = TOPOLOGY_NONE });
	space_init(&t->space, &t->cluster);
	job_init(&t->job);
	for (uint32_t i = 0; i < 4; i++) {
		uint64_t gone = rng_below(rng, 16);
		struct job other;

		job_init(&other);
		other.id = i + 1;
		if (gone)
			space_take(&t->space, &other, 1, (struct slot){ i, gone });
	}
	t->placing = (struct placing){ .space = &t->space, .job = &t->job, .note = &t->note };
	t->placing.gpus = 1 + (uint32_t)rng_below(rng, 12);
}

static void table_fini(struct table *t)
{
	free(t->out.at);
	space_fini(&t->space);
	cluster_fini(&t->cluster);
}

static enum tier tier_of(const struct table *t)
{
	for (uint32_t i = 1; i < t->out.n; i++) {
		if (t->cluster.nodes[t->out.at[i].node].rack != t->cluster.nodes[t->out.at[0].node].rack)
			return TIER_NETWORK;
	}
	return t->out.n > 1 ? TIER_RACK : TIER_MACHINE;
}

/* The best tier that there is room in. */
static enum tier best_tier(const struct table *t)
{
	uint32_t all = 0, racks[2] = { 0 };

	for (uint32_t i = 0; i < 4; i++) {
		if (t->space.nodes[i].nfree >= t->placing.gpus)
			return TIER_MACHINE;
		racks[i / 2] += t->space.nodes[i].nfree;
		all += t->space.nodes[i].nfree;
	}
	if (racks[0] >= t->placing.gpus || racks[1] >= t->placing.gpus)
		return TIER_RACK;
	return all >= t->placing.gpus ? TIER_NETWORK : TIER_COUNT;
}

static double timer_for(const struct table *t, enum tier tier, double machine_s, double rack_s)
{
	if (tier == TIER_RACK)
		return t->placing.gpus <= 4 ? machine_s : 0;
	return tier == TIER_NETWORK && t->placing.gpus <= 8 ? rack_s : 0;
}

static void no_tier_is_taken_before_its_time(void **state)
{
	const struct placer *delay = placer_find("delay", NULL);
	struct rng rng = property("the best tier there is, and not before its timer");

	(void)state;
	for (size_t round = 0; round < rounds(2000); round++) {
		void *self = mem_alloc(delay->state_size);
		struct err err = { 0 };
		struct table t;
		enum tier best;
		double timer_s;
		bool found;

		draw(&t, &rng);
		option_defaults(delay->options, self);
		assert_int_equal(option_parse(delay->options, self, "delay",
					 "machine_s=10,rack_s=30,tune=0", &err),
			0);
		t.job.wait_since_s = 1000;
		t.placing.now_s = 1000 + (double)rng_below(&rng, 40);
		t.note = (struct placing_note){ .wake_s = INFINITY };
		best = best_tier(&t);
		timer_s = timer_for(&t, best, 10, 30);
		found = delay->choose(self, &t.placing, &t.out);
		assert_int_equal(found, best != TIER_COUNT && t.placing.now_s - 1000 >= timer_s);
		if (found)
			assert_int_equal(tier_of(&t), best);
		else if (best != TIER_COUNT)
			assert_true(t.note.why.why == WHY_CLOSER && t.note.wake_s == 1000 + timer_s);
		delay->fini(self);
		free(self);
		table_fini(&t);
	}
}

/* However long the timers are, as long as they end; and nobody waits where a machine is free. */
static void everybody_is_placed(void **state)
{
	struct rng rng = property("finite timers: every job runs to its end");

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		char placer[80];
		struct outcome out;
		struct scene s;

		scene_init(&s, "4x4");
		scene_draw(&s, &rng, (struct draw){ 40, 200, 60, 16 });
		snprintf(placer, sizeof(placer), "delay:machine_s=%u,rack_s=%u,tune=%u",
			(unsigned)rng_below(&rng, 200), (unsigned)rng_below(&rng, 400),
			(unsigned)rng_below(&rng, 2));
		s.config.placer = placer;
		s.config.policy = round % 2 ? "fifo:misfit=skip" : "dally:round_s=20";
		scene_run(&s, &out);
		for (uint32_t i = 0; i < out.njobs; i++)
			assert_int_equal(out.jobs[i].state, JOB_FINISHED);
		outcome_fini(&out);
		scene_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timers_are_means),
		cmocka_unit_test(only_the_last_count),
		cmocka_unit_test(a_rack_is_never_waited_for_less_than_a_machine),
		cmocka_unit_test(no_tier_is_taken_before_its_time),
		cmocka_unit_test(everybody_is_placed),
	};

	return cmocka_run_group_tests_name("placement/delay", tests, NULL, NULL);
}
