/*
 * Utility of devices: the worked example, bipartitioning against trying all, and waiting for a better place.
 */
#include "placement/topo_utility.h"

#include <math.h>

#include "io/topology.h"
#include "placement/placer.h"
#include "support/property.h"

/* Sockets {0, 1} and {2, 3}. */
static void example(struct cluster *cluster, struct topo_machine *m, uint64_t free_, uint32_t n)
{
	struct topology *t;

	cluster_add_topology(cluster, "example", 4);
	t = &cluster->topologies[0];
	topology_link_all(t, 10e9);
	topology_begin_groups(t);
	topology_group(t, 0x3, NEAR_SWITCH);
	topology_group(t, 0xc, NEAR_SWITCH);
	*m = (struct topo_machine){ .weight = { 1.0 / 3, 1.0 / 3, 1.0 / 3 } };
	topo_machine_init(m, t, 4, &distances_usual);
	m->nearest = topo_nearest(m, n);
	m->free = free_;
}

static void one_socket_is_better_than_two(void **state)
{
	struct cluster cluster = { 0 };
	struct topo_machine m;

	(void)state;
	example(&cluster, &m, 0xf, 2);
	assert_true(fabs(topo_utility(&m, 0x3).all - 1) < 1e-9);
	assert_true(fabs(topo_utility(&m, 0x5).part[UTILITY_NEAR] - .05) < 1e-9);
	assert_true(fabs(topo_utility(&m, 0x5).part[UTILITY_FULL] - .5) < 1e-9);
	assert_true(fabs(topo_utility(&m, 0x5).all - .517) < .0005);
	assert_int_equal(topo_exact(&m, 2), 0x3);
	assert_int_equal(topo_bipartition(&m, 2), 0x3);
	cluster_fini(&cluster);
}

static void a_socket_is_filled_up(void **state)
{
	struct cluster cluster = { 0 };
	struct topo_machine m;

	(void)state;
	example(&cluster, &m, 0xe, 1);
	assert_true(topo_utility(&m, 0x2).part[UTILITY_FULL] == 1);
	assert_true(topo_utility(&m, 0x4).part[UTILITY_FULL] == .5);
	assert_true(topo_utility(&m, 0x4).part[UTILITY_NEAR] == 1);
	assert_int_equal(topo_exact(&m, 1), 0x2);
	assert_int_equal(topo_bipartition(&m, 1), 0x2);
	cluster_fini(&cluster);
}

static void what_is_left_is_not_good(void **state)
{
	struct cluster cluster = { 0 };
	struct topo_machine m;

	(void)state;
	example(&cluster, &m, 0xa, 2);
	assert_int_equal(topo_exact(&m, 2), 0xa);
	assert_true(fabs(topo_utility(&m, 0xa).all - .683) < .0005);
	cluster_fini(&cluster);
}

static double loud_socket(const void *ctx, uint64_t devices)
{
	(void)ctx;
	return devices & 0x3 ? .4 : 1;
}

static void neighbours_count(void **state)
{
	struct cluster cluster = { 0 };
	struct topo_machine m;

	(void)state;
	example(&cluster, &m, 0xf, 2);
	m.quiet = loud_socket;
	assert_true(fabs(topo_utility(&m, 0x3).all - .8) < 1e-9);
	assert_true(fabs(topo_utility(&m, 0xc).all - 1) < 1e-9);
	assert_int_equal(topo_exact(&m, 2), 0xc);
	assert_int_equal(topo_bipartition(&m, 2), 0xc);
	cluster_fini(&cluster);
}

/* ---- any machine */

static double drawn_quiet(const void *ctx, uint64_t devices)
{
	const double *left = ctx;
	double least = 1;

	for (; devices; devices &= devices - 1)
		least = fmin(least, left[__builtin_ctzll(devices)]);
	return least;
}

static void draw(struct rng *rng, struct cluster *cluster, struct topo_machine *m, double *left)
{
	static const char *const groups[] = { "0-1 | 2-3", "4-5 | 6-7" };
	uint32_t n = 2 + (uint32_t)rng_below(rng, 7);
	bool tree = rng_below(rng, 2);
	struct topology *t;
	uint64_t seen = 0;

	n = tree ? 8 : n;
	cluster_add_topology(cluster, "drawn", n);
	t = &cluster->topologies[0];
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < i; j++)
			topology_link(t, i, j, rng_below(rng, 2) ? 50e9 : 10e9);
		left[i] = (double)rng_below(rng, 11) / 10;
	}
	if (tree) {
		topology_begin_groups(t);
		for (size_t i = 0; i < COUNT(groups); i++)
			assert_true(topology_read_group(t, slice_of(groups[i]), &seen, NULL));
	}
	*m = (struct topo_machine){ .weight = { .5, .3, .2 }, .ctx = left };
	m->quiet = rng_below(rng, 2) ? drawn_quiet : NULL;
	topo_machine_init(m, t, n, &distances_usual);
	m->free = 1 + rng_below(rng, (1u << n) - 1);
}

static void bipartitioning_is_sound(void **state)
{
	struct rng rng = property("bipartitioning against trying all");
	size_t best = 0, n_rounds = rounds(300);

	(void)state;
	for (size_t round = 0; round < n_rounds; round++) {
		struct cluster cluster = { 0 };
		struct topo_machine m;
		double left[8], exact, drb;
		uint64_t set;
		uint32_t n;

		draw(&rng, &cluster, &m, left);
		n = 1 + (uint32_t)rng_below(&rng, (uint32_t)__builtin_popcountll(m.free));
		m.nearest = topo_nearest(&m, n);
		set = topo_bipartition(&m, n);
		assert_int_equal(__builtin_popcountll(set), n);
		assert_int_equal(set & ~m.free, 0);
		for (int i = 0; i < UTILITY_PARTS; i++)
			assert_true(topo_utility(&m, set).part[i] >= 0 &&
				topo_utility(&m, set).part[i] <= 1);
		exact = topo_utility(&m, topo_exact(&m, n)).all;
		drb = topo_utility(&m, set).all;
		assert_true(drb <= exact + 1e-9);
		best += drb >= exact - 1e-9;
		cluster_fini(&cluster);
	}
	printf("the best was found %zu of %zu times\n", best, n_rounds);
	assert_true(best * 10 >= n_rounds * 7);
}

/* With nearness alone the smallest sum of distances among free devices, whoever is on the others. */
static void nearness_alone_is_the_least_distance(void **state)
{
	struct rng rng = property("weights 1, 0, 0: no other free devices are nearer to each other");

	(void)state;
	for (size_t round = 0; round < rounds(300); round++) {
		struct cluster cluster = { 0 };
		struct topo_machine m;
		double left[8], least = INFINITY;
		uint32_t n;

		draw(&rng, &cluster, &m, left);
		n = 1 + (uint32_t)rng_below(&rng, (uint32_t)__builtin_popcountll(m.free));
		m.weight[UTILITY_NEAR] = 1;
		m.weight[UTILITY_QUIET] = m.weight[UTILITY_FULL] = 0;
		m.nearest = topo_nearest(&m, n);
		for (uint64_t set = 1; set < UINT64_C(1) << m.devices; set++) {
			if (!(set & ~m.free) && (uint32_t)__builtin_popcountll(set) == n)
				least = fmin(least, topo_distance(&m, set));
		}
		assert_float_equal(topo_distance(&m, topo_exact(&m, n)), least, 1e-9);
		cluster_fini(&cluster);
	}
}

/* {0, 3} and {1, 2} are alike: the lower numbers, compared one by one from the first. */
static void of_equals_the_lowest_are_taken(void **state)
{
	struct cluster cluster = { 0 };
	struct topo_machine m = { .weight = { 1.0 / 3, 1.0 / 3, 1.0 / 3 } };
	struct topology *t;

	(void)state;
	cluster_add_topology(&cluster, "crossed", 4);
	t = &cluster.topologies[0];
	topology_link_all(t, 10e9);
	topology_begin_groups(t);
	topology_group(t, 0x9, NEAR_SWITCH);
	topology_group(t, 0x6, NEAR_SWITCH);
	topo_machine_init(&m, t, 4, &distances_usual);
	m.nearest = topo_nearest(&m, 2);
	assert_true(topo_utility(&m, 0x9).all == topo_utility(&m, 0x6).all);
	assert_int_equal(topo_exact(&m, 2), 0x9);
	assert_int_equal(topo_bipartition(&m, 2), 0x9);
	m.nearest = topo_nearest(&m, 1);
	assert_int_equal(topo_exact(&m, 1), 0x1);
	cluster_fini(&cluster);
}

/* An idle tree of powers of two, a job of a power of two, nearness alone: the smallest sum of distances. */
static void bipartitioning_is_exact_on_idle_trees(void **state)
{
	static const char *const sockets[] = { "0-1 | 2-3", "4-5 | 6-7", "8-9 | 10-11",
		"12-13 | 14-15" };
	static const double
		want[] = { [1] = 0, [2] = 1, [4] = 2 + 4 * 10, [8] = 2 * 42 + 16 * 20, [16] = 4 * 42 + 6 * 320 };

	(void)state;
	for (uint32_t n = 1; n <= 16; n *= 2) {
		struct cluster cluster = { 0 };
		struct topo_machine m = { .weight = { 1, 0, 0 } };
		struct topology *t;
		uint64_t seen = 0;

		cluster_add_topology(&cluster, "tree", 16);
		t = &cluster.topologies[0];
		topology_link_all(t, 10e9);
		topology_begin_groups(t);
		for (size_t i = 0; i < COUNT(sockets); i++)
			assert_true(topology_read_group(t, slice_of(sockets[i]), &seen, NULL));
		topo_machine_init(&m, t, 16, &distances_usual);
		m.nearest = topo_nearest(&m, n);
		assert_true(m.nearest == want[n]);
		assert_true(topo_distance(&m, topo_bipartition(&m, n)) == want[n]);
		cluster_fini(&cluster);
	}
}

/* ---- the placer */

struct table {
	struct cluster cluster;
	struct space space;
	struct job job, other;
	struct placing_note note;
	struct placing placing;
	struct slots out;
	void *self;
};

static const struct placer *topo(void)
{
	return placer_find("topo", NULL);
}

/* A table whose cluster is there. */
static void table_ready(struct table *t, const char *options, uint32_t gpus)
{
	struct err err = { 0 };

	space_init(&t->space, &t->cluster);
	job_init(&t->job);
	job_init(&t->other);
	t->other.id = 1;
	t->placing =
		(struct placing){ .space = &t->space, .job = &t->job, .gpus = gpus, .note = &t->note };
	t->note = (struct placing_note){ .wake_s = INFINITY };
	t->self = mem_alloc(topo()->state_size);
	option_defaults(topo()->options, t->self);
	assert_int_equal(option_parse(topo()->options, t->self, "topo", options, &err), 0);
	topo()->begin(t->self, &t->cluster, NULL, &err);
}

static void table_init(struct table *t, const char *options, uint32_t gpus)
{
	struct topo_machine unused;

	*t = (struct table){ 0 };
	example(&t->cluster, &unused, 0xf, 1);
	cluster_add_type(&t->cluster, "v100");
	cluster_add_node(&t->cluster, (struct node){ .devices = 4, .topology = 0 });
	cluster_add_node(&t->cluster, (struct node){ .devices = 4, .topology = 0 });
	table_ready(t, options, gpus);
}

static void take(struct table *t, struct slot slot)
{
	space_take(&t->space, &t->other, 1, slot);
	topo()->took(t->self, &t->other, slot);
}

static void table_fini(struct table *t)
{
	topo()->fini(t->self);
	free(t->self);
	free(t->out.at);
	space_fini(&t->space);
	cluster_fini(&t->cluster);
}

static void a_job_waits_for_a_better_place_but_not_for_ever(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, "u_min=0.8,patience_s=100", 2);
	take(&t, (struct slot){ 0, 0x5 });
	take(&t, (struct slot){ 1, 0x5 });
	t.placing.now_s = 10;
	assert_false(topo()->choose(t.self, &t.placing, &t.out));
	assert_int_equal(t.note.why.why, WHY_CLOSER);
	assert_true(t.note.wake_s == 100 && t.note.why.at_s == 100);
	t.placing.now_s = 100;
	t.out.n = t.out.gpus = 0;
	assert_true(topo()->choose(t.self, &t.placing, &t.out));
	table_fini(&t);
}

static void the_best_machine_is_taken(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, "", 2);
	take(&t, (struct slot){ 0, 0x5 });
	assert_true(topo()->choose(t.self, &t.placing, &t.out));
	assert_int_equal(t.out.at[0].node, 1);
	assert_int_equal(t.out.at[0].devices, 0x3);
	topo()->gave(t.self, &t.other, (struct slot){ 0, 0x5 });
	table_fini(&t);
}

static void of_equal_machines_the_lowest_is_taken(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, "", 2);
	assert_true(topo()->choose(t.self, &t.placing, &t.out));
	assert_int_equal(t.out.at[0].node, 0);
	assert_int_equal(t.out.at[0].devices, 0x3);
	table_fini(&t);
}

/* Sockets {0..3} and {4..7}; somebody who communicates much has 0 and 1.  To fill its socket up is good, but loud. */
static void loud_neighbours_are_avoided(void **state)
{
	static const struct {
		const char *options;
		bool quiet; /* nothing is known of who is there */
		uint64_t want;
	} rows[] = {
		{ "interference=10", false, 0x30 },
		{ "interference=10", true, 0xc },
		{ "interference=0", false, 0xc },
		{ "interference=10,quiet=0", false, 0xc },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct names models = { 0 };
		struct topology *links;
		struct table t = { 0 };

		cluster_add_type(&t.cluster, "v100");
		cluster_add_topology(&t.cluster, "eight", 8);
		links = &t.cluster.topologies[0];
		topology_link_all(links, 1e9);
		topology_begin_groups(links);
		topology_group(links, 0xf, NEAR_SWITCH);
		topology_group(links, 0xf0, NEAR_SWITCH);
		cluster_add_node(&t.cluster, (struct node){ .devices = 8, .topology = 0 });
		table_ready(&t, rows[i].options, 2);
		t.job.model = names_add(&models, "vgg16", 5);
		t.other.model = rows[i].quiet ? NAME_NONE : t.job.model;
		t.other.gpus = 2;
		t.placing.belief = profile_create(&t.cluster, &models);
		take(&t, (struct slot){ 0, 0x3 });
		assert_true(topo()->choose(t.self, &t.placing, &t.out));
		if (t.out.at[0].devices != rows[i].want)
			fail_msg("%s: row %zu", rows[i].options, i);
		profile_destroy((struct profile *)t.placing.belief);
		names_fini(&models);
		table_fini(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_socket_is_better_than_two),
		cmocka_unit_test(a_socket_is_filled_up),
		cmocka_unit_test(what_is_left_is_not_good),
		cmocka_unit_test(neighbours_count),
		cmocka_unit_test(bipartitioning_is_sound),
		cmocka_unit_test(nearness_alone_is_the_least_distance),
		cmocka_unit_test(of_equals_the_lowest_are_taken),
		cmocka_unit_test(bipartitioning_is_exact_on_idle_trees),
		cmocka_unit_test(a_job_waits_for_a_better_place_but_not_for_ever),
		cmocka_unit_test(the_best_machine_is_taken),
		cmocka_unit_test(of_equal_machines_the_lowest_is_taken),
		cmocka_unit_test(loud_neighbours_are_avoided),
	};

	return cmocka_run_group_tests_name("placement/topo", tests, NULL, NULL);
}
