/*
 * Jobs that would be slow on more nodes than they need wait for fewer; others take what there is.
 */
#include "placement/closer.h"

#include <math.h>

#include "support/property.h"

/* Two nodes of four, each with two devices taken; a gang of four at half its speed on two nodes. */
struct table {
	struct cluster cluster;
	struct names models;
	struct profile *profile;
	struct space space;
	struct job job;
	struct placing_note note;
	struct placing placing;
	struct slots out;
};

static void table_init(struct table *t)
{
	struct job other;

	*t = (struct table){ 0 };
	cluster_add_type(&t->cluster, "v100");
	for (int i = 0; i < 2; i++)
		cluster_add_node(&t->cluster,
			(struct node){ .devices = 4, .cpus = 16, .topology = TOPOLOGY_NONE });
	space_init(&t->space, &t->cluster);
	job_init(&t->job);
	job_init(&other);
	other.id = 1;
	space_take(&t->space, &other, 4, (struct slot){ 0, 0x3 });
	space_take(&t->space, &other, 4, (struct slot){ 1, 0x3 });
	t->job.model = names_add(&t->models, "half", 4);
	t->profile = profile_create(&t->cluster, &t->models);
	profile_add(t->profile, t->job.model, 0, 4, 1, 10);
	profile_add(t->profile, t->job.model, 0, 4, 2, 5);
	t->note = (struct placing_note){ .wake_s = INFINITY };
	t->placing = (struct placing){ .space = &t->space,
		.job = &t->job,
		.belief = t->profile,
		.gpus = 4,
		.note = &t->note };
}

static void table_fini(struct table *t)
{
	free(t->out.at);
	space_fini(&t->space);
	profile_destroy(t->profile);
	names_fini(&t->models);
	cluster_fini(&t->cluster);
}

static void take_what_is_free(struct table *t)
{
	t->out.n = t->out.gpus = 0;
	slots_add(&t->out, 0, 0xc);
	slots_add(&t->out, 1, 0xc);
}

static void it_is_against_as_few_nodes_as_could_be(void **state)
{
	struct table t;

	(void)state;
	table_init(&t);
	take_what_is_free(&t);
	assert_float_equal(closer_speed(&t.placing, &t.out), 0.5, 1e-9);
	t.job.cpus = 32; /* no node has CPUs for all of it: it needs two anyway */
	assert_float_equal(closer_speed(&t.placing, &t.out), 1, 0);
	t.job.cpus = 16;
	assert_float_equal(closer_speed(&t.placing, &t.out), 0.5, 1e-9);
	space_set_devices_up(&t.space, 0, 0x1, false); /* the other node is still whole */
	assert_float_equal(closer_speed(&t.placing, &t.out), 0.5, 1e-9);
	space_set_devices_up(&t.space, 1, 0x1, false);
	assert_float_equal(closer_speed(&t.placing, &t.out), 1, 0);
	space_set_devices_up(&t.space, 1, 0x1, true);
	space_set_drained(&t.space, 1, 0x2);
	assert_float_equal(closer_speed(&t.placing, &t.out), 1, 0);
	space_set_drained(&t.space, 1, 0);
	assert_float_equal(closer_speed(&t.placing, &t.out), 0.5, 1e-9);
	space_hide(&t.space, 1, 0x1); /* as those that the job avoids */
	assert_float_equal(closer_speed(&t.placing, &t.out), 1, 0);
	table_fini(&t);
}

static void what_is_not_known_is_not_slow(void **state)
{
	struct table t;

	(void)state;
	table_init(&t);
	take_what_is_free(&t);
	t.job.model = NAME_NONE;
	assert_float_equal(closer_speed(&t.placing, &t.out), 1, 0);
	t.job.model = names_add(&t.models, "of nobody", 9);
	assert_float_equal(closer_speed(&t.placing, &t.out), 1, 0);
	table_fini(&t);
}

/* ---- the placers */

struct chosen {
	const struct placer *placer;
	void *self;
};

static struct chosen choose_placer(const struct table *t, const char *name, const char *options)
{
	struct chosen c = { placer_find(name, NULL), NULL };
	struct err err = { 0 };

	c.self = mem_alloc(c.placer->state_size);
	option_defaults(c.placer->options, c.self);
	assert_int_equal(option_parse(c.placer->options, c.self, name, options, &err), 0);
	c.placer->begin(c.self, &t->cluster, NULL, &err);
	return c;
}

static void chosen_fini(struct chosen *c)
{
	c->placer->fini(c->self);
	free(c->self);
}

static bool ask(struct table *t, const struct chosen *c, double now_s)
{
	t->out.n = t->out.gpus = 0;
	t->note = (struct placing_note){ .wake_s = INFINITY };
	t->placing.now_s = now_s;
	return c->placer->choose(c->self, &t->placing, &t->out);
}

static void who_would_be_slow_waits(void **state)
{
	static const struct {
		const char *placer, *options;
		double now_s;
		bool takes;
		double until_s; /* INFINITY: as long as it takes */
	} rows[] = {
		{ "topo", "", 0, false, 43200 },
		{ "topo", "", 43200, true, 0 },
		{ "topo", "patience_s=10", 5, false, 10 },
		{ "topo", "speed_min=0", 0, true, 0 },
		{ "topo", "speed_min=0.5", 0, true, 0 },
		{ "mapa", "", 0, false, INFINITY },
		{ "mapa", "", 1e6, false, INFINITY },
		{ "mapa", "speed_min=0", 0, true, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct chosen c;
		struct table t;

		table_init(&t);
		c = choose_placer(&t, rows[i].placer, rows[i].options);
		if (ask(&t, &c, rows[i].now_s) != rows[i].takes)
			fail_msg("row %zu: %s:%s", i, rows[i].placer, rows[i].options);
		if (!rows[i].takes) {
			assert_int_equal(t.note.why.why, WHY_CLOSER);
			assert_true(t.note.wake_s == rows[i].until_s);
		}
		t.job.model = NAME_NONE; /* nothing is known: it takes what there is */
		assert_true(ask(&t, &c, rows[i].now_s));
		chosen_fini(&c);
		table_fini(&t);
	}
}

/* Nobody runs who could leave fewer nodes: nothing would become better by waiting. */
static void nobody_waits_for_nothing(void **state)
{
	static const char *const names[] = { "topo", "mapa" };

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		struct chosen c;
		struct table t;
		struct job other;

		table_init(&t);
		job_init(&other);
		other.id = 1;
		space_give(&t.space, &other, 4, (struct slot){ 0, 0x3 });
		space_give(&t.space, &other, 4, (struct slot){ 1, 0x3 });
		space_set_devices_up(&t.space, 0, 0x3, false);
		space_set_devices_up(&t.space, 1, 0x3, false);
		c = choose_placer(&t, names[i], "");
		assert_true(ask(&t, &c, 0));
		assert_int_equal(t.out.n, 2);
		chosen_fini(&c);
		table_fini(&t);
	}
}

/* Others of its size had a node at once, so that the learnt wait is none: good enough for who is not slowed. */
static void delay_learns_only_for_those_who_bear_it(void **state)
{
	struct chosen c;
	struct table t;
	struct job other;

	(void)state;
	table_init(&t);
	c = choose_placer(&t, "delay", "machine_s=100");
	job_init(&other);
	other.id = 1;
	space_give(&t.space, &other, 4, (struct slot){ 0, 0x3 });
	assert_true(ask(&t, &c, 0));
	assert_int_equal(t.out.n, 1);
	space_take(&t.space, &other, 4, (struct slot){ 0, 0x3 });
	t.job.id = 2;
	assert_false(ask(&t, &c, 10));
	assert_true(t.note.wake_s == 100);
	assert_true(ask(&t, &c, 100));
	t.job.model = NAME_NONE;
	assert_true(ask(&t, &c, 10));
	chosen_fini(&c);
	c = choose_placer(&t, "delay", "machine_s=100,speed_min=0");
	t.job.model = 0;
	assert_false(ask(&t, &c, 10)); /* nothing is learnt yet */
	chosen_fini(&c);
	table_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_against_as_few_nodes_as_could_be),
		cmocka_unit_test(what_is_not_known_is_not_slow),
		cmocka_unit_test(who_would_be_slow_waits),
		cmocka_unit_test(nobody_waits_for_nothing),
		cmocka_unit_test(delay_learns_only_for_those_who_bear_it),
	};

	return cmocka_run_group_tests_name("placement/closer", tests, NULL, NULL);
}
