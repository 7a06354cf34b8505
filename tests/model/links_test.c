/*
 * Links inside a node: how many, how near, how fast a ring, and what that does to a job.
 */
#include "model/links.h"

#include <math.h>
#include <string.h>

#include "io/topology.h"
#include "model/rate.h"
#include "support/property.h"

static struct topology *preset(struct cluster *cluster, const char *name)
{
	uint32_t i = topology_preset_add(topology_preset_find(name), cluster, name);

	return &cluster->topologies[i];
}

static void a_speed_stands_for_links(void **state)
{
	(void)state;
	assert_int_equal(links_of_speed(0), 0);
	assert_int_equal(links_of_speed(10e9), 0);
	assert_int_equal(links_of_speed(16e9), 0);
	assert_int_equal(links_of_speed(20e9), 1);
	assert_int_equal(links_of_speed(25e9), 1);
	assert_int_equal(links_of_speed(50e9), 2);
	assert_int_equal(links_of_speed(300e9), 12);
	assert_int_equal(links_of_speed(1e15), 254);
}

static void without_groups_links_say_what_is_near(void **state)
{
	struct cluster cluster = { 0 };
	const struct topology *t = preset(&cluster, "nvlink-dgx1");

	(void)state;
	assert_int_equal(topology_links(t, 0, 3), 2);
	assert_int_equal(topology_links(t, 0, 1), 1);
	assert_int_equal(topology_links(t, 0, 5), 0);
	assert_int_equal(topology_nearness(t, 0, 3), NEAR_SWITCH);
	assert_int_equal(topology_nearness(t, 0, 4), NEAR_SWITCH); /* a link across sockets */
	assert_int_equal(topology_nearness(t, 0, 5), NEAR_NODE);
	assert_int_equal(topology_socket(t, 1), 0x0f);
	assert_int_equal(topology_socket(t, 6), 0xf0);
	cluster_fini(&cluster);
}

static void groups_say_it_themselves(void **state)
{
	struct cluster cluster = { 0 };
	struct buf why = { 0 };
	struct topology *t;
	uint64_t seen = 0;

	(void)state;
	cluster_add_topology(&cluster, "tree", 8);
	t = &cluster.topologies[0];
	topology_link_all(t, 10e9);
	topology_begin_groups(t);
	assert_true(topology_read_group(t, slice_of("0-1 | 2,3"), &seen, &why));
	assert_true(topology_read_group(t, slice_of("4-7"), &seen, &why));
	assert_int_equal(topology_nearness(t, 0, 1), NEAR_SWITCH);
	assert_int_equal(topology_nearness(t, 1, 2), NEAR_SOCKET);
	assert_int_equal(topology_nearness(t, 3, 4), NEAR_NODE);
	assert_int_equal(topology_nearness(t, 4, 7), NEAR_SWITCH);
	assert_int_equal(topology_socket(t, 2), 0x0f);
	topology_write_groups(t, &why);
	assert_string_equal(why.at, "\"0,1 | 2,3\", \"4,5,6,7\"");
	buf_fini(&why);
	cluster_fini(&cluster);
}

static void wrong_groups_are_told(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "0-8", "devices are written as 0-3 or 0,2, from 0 to 7" },
		{ "3-1", "devices are written as 0-3 or 0,2, from 0 to 7" },
		{ "a", "devices are written as 0-3 or 0,2, from 0 to 7" },
		{ "6,7", "device 7 has a place already; each is in one group" },
		{ "0 | 0", "device 0 has a place already; each is in one group" },
		{ "0 | ", "a switch without devices; leave it out" },
		{ "", "a socket without devices; leave it out" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cluster cluster = { 0 };
		struct buf why = { 0 };
		uint64_t seen = 0x80;

		cluster_add_topology(&cluster, "t", 8);
		topology_begin_groups(&cluster.topologies[0]);
		assert_false(topology_read_group(&cluster.topologies[0], slice_of(rows[i].text),
			&seen, &why));
		assert_string_equal(why.at, rows[i].why);
		buf_fini(&why);
		cluster_fini(&cluster);
	}
}

static void rings_are_found_and_kept(void **state)
{
	struct cluster cluster = { 0 }, copy;
	const struct topology *t = preset(&cluster, "nvlink-dgx1");

	(void)state;
	for (int again = 0; again < 2; again++) {
		assert_true(topology_ring_Bps(t, 0x01) == 0);
		assert_true(topology_ring_Bps(t, 0x09) == 50e9);
		assert_true(topology_ring_Bps(t, 0x03) == 25e9);
		assert_true(topology_ring_Bps(t, 0x21) == 10e9);
		assert_true(topology_ring_Bps(t, 0xff) == 50e9);
	}
	assert_true(topology_best_ring_Bps(t, 3) == 25e9);
	assert_true(topology_best_ring_Bps(t, 5) == 25e9);
	assert_true(topology_slowest_Bps(t) == 10e9);
	cluster_copy(&cluster, &copy);
	assert_true(topology_ring_Bps(&copy.topologies[0], 0x09) == 50e9);
	assert_int_equal(cluster_hash(&cluster), cluster_hash(&copy));
	topology_begin_groups(&copy.topologies[0]);
	assert_int_not_equal(cluster_hash(&cluster), cluster_hash(&copy));
	cluster_fini(&copy);
	cluster_fini(&cluster);
}

/* ---- rate() */

struct world {
	struct cluster cluster;
	struct names models;
	struct profile *profile;
	struct rates rates;
	struct job job;
};

static void world_init(struct world *w, const char *model, bool linked)
{
	struct node node = { .devices = 8, .topology = TOPOLOGY_NONE };

	*w = (struct world){ 0 };
	node.type = cluster_add_type(&w->cluster, "v100");
	if (linked) {
		preset(&w->cluster, "nvlink-dgx1");
		node.topology = 0;
	}
	cluster_add_node(&w->cluster, node);
	names_add(&w->models, model, strlen(model));
	w->profile = profile_create(&w->cluster, &w->models);
	w->rates = (struct rates){ .cluster = &w->cluster, .profile = w->profile };
	job_init(&w->job);
	w->job.model = 0;
	w->job.gpus = 2;
	w->job.nominal_rate = 1;
}

static void world_fini(struct world *w)
{
	profile_destroy(w->profile);
	names_fini(&w->models);
	cluster_fini(&w->cluster);
}

static double speed(struct world *w, uint64_t devices)
{
	union {
		struct grant grant;
		char room[sizeof(struct grant) + sizeof(struct slot)];
	} d = { .grant = { .gpus = (uint32_t)__builtin_popcountll(devices), .nslots = 1, .share = 1 } };

	d.grant.slots[0] = (struct slot){ 0, devices };
	return rate(&w->rates, &w->job, &d.grant, NULL, 0);
}

static void the_very_devices_change_the_speed(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, "vgg16", true);
	assert_true(speed(&w, 0x09) == 1);              /* two links: as asked */
	assert_true(speed(&w, 0x03) < speed(&w, 0x09)); /* one */
	assert_true(speed(&w, 0x21) < speed(&w, 0x03)); /* by the host */
	assert_true(speed(&w, 0x21) > 0.1);
	/* Measured speeds are those of the best devices. */
	w.job.by_steps = true;
	profile_add(w.profile, 0, 0, 2, 1, 100);
	assert_true(speed(&w, 0x09) == 100);
	assert_true(speed(&w, 0x21) < 100);
	profile_add(w.profile, 0, 0, 4, 0, 100);
	w.job.gpus = 4;
	assert_true(speed(&w, 0x0f) == 100);
	assert_true(speed(&w, 0x53) < 100);
	world_fini(&w);
}

static void where_links_are_unknown_nothing_changes(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, "vgg16", false);
	assert_true(speed(&w, 0x09) == 1 && speed(&w, 0x21) == 1);
	world_fini(&w);
	world_init(&w, "nobody-knows", true);
	assert_true(speed(&w, 0x09) == 1 && speed(&w, 0x21) == 1);
	world_fini(&w);
}

static void wider_rings_are_never_slower(void **state)
{
	static const char *const models[] = { "vgg16", "resnet50", "bert", "transformer" };
	struct rng rng = property("the speed of two sets of devices is in the order of their rings");

	(void)state;
	for (size_t round = 0; round < rounds(200); round++) {
		uint64_t a = rng_below(&rng, 256), b = rng_below(&rng, 256);
		struct world w;

		if (__builtin_popcountll(a) != __builtin_popcountll(b) || a == 0)
			continue;
		world_init(&w, models[rng_below(&rng, COUNT(models))], true);
		w.job.gpus = __builtin_popcountll(a);
		if (topology_ring_Bps(&w.cluster.topologies[0], a) >=
			topology_ring_Bps(&w.cluster.topologies[0], b))
			assert_true(speed(&w, a) >= speed(&w, b));
		world_fini(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_speed_stands_for_links),
		cmocka_unit_test(without_groups_links_say_what_is_near),
		cmocka_unit_test(groups_say_it_themselves),
		cmocka_unit_test(wrong_groups_are_told),
		cmocka_unit_test(rings_are_found_and_kept),
		cmocka_unit_test(the_very_devices_change_the_speed),
		cmocka_unit_test(where_links_are_unknown_nothing_changes),
		cmocka_unit_test(wider_rings_are_never_slower),
	};

	return cmocka_run_group_tests_name("model/links", tests, NULL, NULL);
}
