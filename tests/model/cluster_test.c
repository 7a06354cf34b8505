#include "model/cluster.h"

#include <string.h>

#include "base/property.h"

static struct cluster parsed(const char *spec)
{
	struct cluster cluster = { 0 };
	struct err err = { 0 };
	int rc = cluster_parse(spec, &cluster, &err);

	if (rc)
		print_error("%s\n", err.text);
	assert_int_equal(rc, 0);
	return cluster;
}

static const struct {
	const char *spec;
	uint32_t nodes, devices, types;
	const char *again; /* as it is written back */
} good[] = {
	{ "16x8:v100,4x4:a100", 20, 144, 2, "16x8:v100,4x4:a100" },
	{ "36x1:v100,36x1:p100,36x1:k80", 108, 108, 3, "36x1:v100,36x1:p100,36x1:k80" },
	{ "8", 1, 8, 1, "1x8:gpu" },
	{ "8:v100", 1, 8, 1, "1x8:v100" },
	{ "2x4", 2, 8, 1, "2x4:gpu" },
	{ " 2 x 4 : a100-80g , 1X64 ", 3, 72, 2, "2x4:a100-80g,1x64:gpu" },
	{ "1x2:a,1x2:b,1x2:a", 3, 6, 2, "1x2:a,1x2:b,1x2:a" },
	{ "2x4:a,3x4:a", 5, 20, 1, "5x4:a" },
	{ "1x1:A,1x1:a", 2, 2, 1, "2x1:A" },
	{ "2x8:no-such_type.1+", 2, 16, 1, "2x8:no-such_type.1+" },
};

static void test_short_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		struct cluster cluster = parsed(good[i].spec);
		struct buf again = { 0 };

		print_message("%s\n", good[i].spec);
		assert_int_equal(cluster.nnodes, good[i].nodes);
		assert_int_equal(cluster.devices, good[i].devices);
		assert_int_equal(cluster.ntypes, good[i].types);
		assert_int_equal(cluster.nracks, 1);
		assert_string_equal(cluster.spec, good[i].spec);
		cluster_format(&cluster, &again);
		assert_string_equal(again.at, good[i].again);
		buf_fini(&again);
		cluster_fini(&cluster);
	}
}

static const struct {
	const char *spec;
	const char *part; /* of the message */
} bad[] = {
	{ "", "the cluster is empty" },
	{ "  ", "write NODESxDEVICES:TYPE" },
	{ "16y8:v100", "piece 1 \"16y8:v100\": \"16y8\" is not a number of devices" },
	{ "16x8:v100,4xfour:a100", "piece 2 \"4xfour:a100\": \"four\" is not a number of devices" },
	{ "ax8", "\"a\" is not a number of nodes" },
	{ "x8", "\"\" is not a number of nodes" },
	{ "4x", "\"\" is not a number of devices" },
	{ "0x8", "the number of nodes must be from 1 to 1000000" },
	{ "-1x8", "the number of nodes must be from 1" },
	{ "2000000x1", "the number of nodes must be from 1 to 1000000" },
	{ "600000x1,600000x1", "piece 2 \"600000x1\": a cluster has at most 1000000 nodes" },
	{ "4x0", "piece 1 \"4x0\": a node has at least 1 device" },
	{ "8x-3", "a node has at least 1 device" },
	{ "100", "use more nodes: 13x8" },
	{ "2x65", "a node has at most 64 devices; for more, use more nodes: 17x8" },
	{ "1000000x100", "a node has at most 64 devices" },
	{ "2x4:", "a type name is made of letters" },
	{ "2x4:v 100", "a type name is made of letters" },
	{ "2x4:v100;rm", "a type name is made of letters" },
	{ "2x4:a,", "a piece is missing around comma 1" },
	{ ",2x4:a", "a piece is missing around comma 1" },
	{ "1x1:a,,1x1:b", "a piece is missing around comma 1" },
	{ "1x1:abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
		"a type name has at most 63 letters" },
	{ "99999999999999999999x1", "is not a number of nodes" },
};

static void test_bad_short_forms(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct cluster cluster = { .nnodes = 77 };
		struct err err = { 0 };

		assert_int_equal(cluster_parse(bad[i].spec, &cluster, &err), ERR_USAGE);
		print_message("%s\n", err.text);
		assert_int_equal(err.code, ERR_USAGE);
		assert_non_null(strstr(err.text, bad[i].part));
		assert_int_equal(cluster.nnodes, 77); /* outputs are written on success only */
		assert_int_equal(cluster_parse(bad[i].spec, &cluster, NULL), ERR_USAGE);
	}
}

static void test_too_many_types(void **state)
{
	struct cluster cluster;
	struct buf spec = { 0 };
	char last[16], want[32];
	struct err err;

	(void)state;
	snprintf(last, sizeof(last), "t%d", TYPES_MAX - 1);
	snprintf(want, sizeof(want), "at most %d types", TYPES_MAX);
	for (int i = 0; i < TYPES_MAX; i++)
		buf_printf(&spec, "%s1x1:t%d", i ? "," : "", i);
	cluster = parsed(spec.at);
	assert_int_equal(cluster.ntypes, TYPES_MAX);
	assert_int_equal(cluster_find_type(&cluster, last), TYPES_MAX - 1);
	cluster_fini(&cluster);
	buf_str(&spec, ",1x1:one-more");
	assert_int_equal(cluster_parse(spec.at, &cluster, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, want));
	buf_fini(&spec);
}

static void test_facts_come_from_the_catalogue(void **state)
{
	struct cluster cluster = parsed("2x8:V100,1x4:a100-80g,1x2:homemade");
	const struct device_type *v100 = &cluster.types[0], *homemade = &cluster.types[2];

	(void)state;
	assert_true(v100->mem_bytes == INT64_C(16) << 30);
	assert_true(v100->flops == 125e12 && v100->mem_Bps == 900e9);
	assert_true(v100->link_Bps > 0 && v100->price_per_h > 0);
	assert_int_equal(v100->devices, 16);
	assert_int_equal(v100->nodes, 2);
	assert_int_equal(v100->max_per_node, 8);
	assert_true(homemade->mem_bytes == 0 && homemade->flops == 0 && homemade->price_per_h == 0);
	cluster_fini(&cluster);
}

static const struct {
	const char *name;
	int want;
} finds[] = {
	{ "v100", 0 },
	{ "V100", 0 },
	{ "Tesla V100", 0 },
	{ "a100-40g", 1 },
	{ "NVIDIA A100-SXM4-40GB", 1 },
	{ "k80", -1 },
	{ "t4", -1 }, /* two types are one: which is meant? */
	{ "nonsense", -1 },
};

static void test_find_type(void **state)
{
	struct cluster cluster = parsed("1x1:v100,1x1:a100,1x1:tesla-t4,1x1:nvidia-t4,1x1:x");

	(void)state;
	for (size_t i = 0; i < COUNT(finds); i++)
		assert_int_equal(cluster_find_type(&cluster, finds[i].name), finds[i].want);
	cluster_fini(&cluster);
}

/* A cluster with one of everything, for what tells clusters apart. */
static struct cluster rich(void)
{
	struct cluster c = { 0 };
	uint32_t type = cluster_add_type(&c, "v100");
	uint32_t rack = cluster_add_rack(&c, "left", 1e9);
	uint32_t topology = cluster_add_topology(&c, "pair", 2);

	assert_int_equal(cluster_add_type(&c, "V100"), type);
	c.topologies[topology].Bps[1] = c.topologies[topology].Bps[2] = 5e10;
	cluster_add_rack(&c, NULL, 0);
	cluster_add_node(&c,
		(struct node){ "head", type, 2, rack, topology, 32, 1 << 20, 0, false, false });
	cluster_add_node(&c,
		(struct node){ NULL, type, 4, rack, TOPOLOGY_NONE, 0, 0, 0, false, false });
	c.net_Bps = 1e9;
	return c;
}

static void change_nothing(struct cluster *c)
{
	(void)c;
}
static void change_name(struct cluster *c)
{
	c->nodes[0].name = "foot";
}
static void change_memory(struct cluster *c)
{
	c->types[0].mem_bytes++;
}
static void change_flops(struct cluster *c)
{
	c->types[0].flops *= 2;
}
static void change_price(struct cluster *c)
{
	c->types[0].price_per_h += 1;
}
static void change_type(struct cluster *c)
{
	c->types[0].name = "v101";
}
static void change_devices(struct cluster *c)
{
	c->nodes[1].devices = 3;
}
static void change_rack(struct cluster *c)
{
	c->nodes[1].rack = 1;
}
static void change_uplink(struct cluster *c)
{
	c->racks[0].up_Bps = 2e9;
}
static void change_links(struct cluster *c)
{
	c->topologies[0].Bps[1] = 1;
}
static void change_topology(struct cluster *c)
{
	c->nodes[0].topology = TOPOLOGY_NONE;
}
static void change_cpus(struct cluster *c)
{
	c->nodes[1].cpus = 1;
}
static void change_network(struct cluster *c)
{
	c->net_Bps = 0;
}

static const struct {
	const char *what;
	void (*change)(struct cluster *c);
	bool same;
} changes[] = {
	{ "the same cluster has the same hash", change_nothing, true },
	{ "a node's name decides nothing", change_name, true },
	{ "memory counts", change_memory, false },
	{ "speed counts", change_flops, false },
	{ "the price counts", change_price, false },
	{ "the type's name counts, jobs ask for it", change_type, false },
	{ "devices count", change_devices, false },
	{ "the rack counts", change_rack, false },
	{ "the uplink counts", change_uplink, false },
	{ "links in a node count", change_links, false },
	{ "who has them counts", change_topology, false },
	{ "CPUs count", change_cpus, false },
	{ "the network counts", change_network, false },
};

static void test_hash(void **state)
{
	struct cluster one = rich();

	(void)state;
	for (size_t i = 0; i < COUNT(changes); i++) {
		struct cluster other = rich();

		print_message("%s\n", changes[i].what);
		changes[i].change(&other);
		assert_int_equal(cluster_hash(&one) == cluster_hash(&other), changes[i].same);
		cluster_fini(&other);
	}
	cluster_fini(&one);
}

static void check_format(const struct cluster *cluster, const char *want)
{
	struct buf out = { 0 };

	cluster_format(cluster, &out);
	assert_string_equal(out.at, want);
	buf_fini(&out);
}

/* The short form would lose something of each of these. */
static void test_format_names_the_file_when_short_is_not_enough(void **state)
{
	struct cluster c = rich();

	(void)state;
	assert_string_equal(c.nodes[1].name, "n1");
	assert_string_equal(c.racks[1].name, "r1");
	check_format(&c, "1x2:v100,1x4:v100"); /* no file: the best there is */
	c.spec = "some/where/lab.yaml";
	check_format(&c, "lab.yaml");
	c.spec = "lab.yaml";
	check_format(&c, "lab.yaml");
	cluster_fini(&c);

	c = parsed("2x4:v100");
	c.spec = "x";
	check_format(&c, "2x4:v100");
	c.types[0].price_per_h = 99;
	check_format(&c, "x");
	c.types[0].price_per_h = 2.48;
	check_format(&c, "2x4:v100");
	c.nodes[1].name = "odd";
	check_format(&c, "x");
	c.nodes[1].name = "n1";
	c.racks[0].up_Bps = 3;
	check_format(&c, "x");
	cluster_fini(&c);
}

static void test_parse_what_was_formatted(void **state)
{
	static const char *const types[] = { "v100", "a100-80g", "x", "cpu" };
	struct rng rng = property("a cluster in short form reads back as itself");

	(void)state;
	for (size_t i = 0; i < rounds(200); i++) {
		struct buf spec = { 0 }, again = { 0 };
		struct cluster one, two;
		uint64_t pieces = 1 + rng_below(&rng, 5);

		for (uint64_t k = 0; k < pieces; k++)
			buf_printf(&spec, "%s%llux%llu:%s", k ? "," : "",
				(unsigned long long)(1 + rng_below(&rng, 40)),
				(unsigned long long)(1 + rng_below(&rng, 64)),
				types[rng_below(&rng, COUNT(types))]);
		one = parsed(spec.at);
		cluster_format(&one, &again);
		two = parsed(again.at);
		assert_true(cluster_hash(&one) == cluster_hash(&two));
		cluster_fini(&one);
		cluster_fini(&two);
		buf_fini(&spec);
		buf_fini(&again);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_form),
		cmocka_unit_test(test_bad_short_forms),
		cmocka_unit_test(test_too_many_types),
		cmocka_unit_test(test_facts_come_from_the_catalogue),
		cmocka_unit_test(test_find_type),
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_format_names_the_file_when_short_is_not_enough),
		cmocka_unit_test(test_parse_what_was_formatted),
	};

	return cmocka_run_group_tests_name("cluster", tests, NULL, NULL);
}
