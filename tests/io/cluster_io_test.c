#include "io/cluster_io.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/property.h"

static int read_yaml(const char *text, struct cluster *out, struct err *err)
{
	return cluster_read_yaml("lab.yaml", text, strlen(text), out, err);
}

static struct cluster good(const char *text)
{
	struct cluster cluster = { 0 };
	struct err err = { 0 };
	int rc = read_yaml(text, &cluster, &err);

	if (rc)
		print_error("%s\n", err.text);
	assert_int_equal(rc, 0);
	return cluster;
}

static const char everything[] =
	"# a lab\n"
	"types:\n"
	"  - name: v100\n"
	"    mem: 32GiB\n"
	"    flops: 112 TFLOPS\n"
	"    mem_bandwidth: 897GB/s\n"
	"    link_bandwidth: 25GB/s\n"
	"    price_per_h: 2.5\n"
	"  - {name: homemade, flops: 5e12}\n"
	"network:\n"
	"  node_link: 100Gb/s\n"
	"  rack_uplink: 400Gbit/s\n"
	"racks:\n"
	"  - {name: row, count: 2, uplink: 200Gbps}\n"
	"  - name: attic\n"
	"topologies:\n"
	"  - name: square\n"
	"    devices: 4\n"
	"    others: 8GB/s\n"
	"    links: [0-1 50GB/s, 3-2 50GB/s]\n"
	"  - {name: dgx, preset: nvlink-dgx1, links: [0-7 99GB/s]}\n"
	"nodes:\n"
	"  - {count: 4, name: big-, first: 7, type: v100, devices: 8, topology: dgx, racks: [row0, row1]}\n"
	"  - {name: head, type: homemade, devices: 4, rack: attic, cpus: 32, mem: 128G, topology: square}\n"
	"  - count: 3\n"
	"    type: a100\n";

static void check_types(const struct cluster *c)
{
	assert_int_equal(c->ntypes, 3);
	assert_string_equal(c->types[0].name, "v100");
	assert_true(c->types[0].mem_bytes == INT64_C(32) << 30);
	assert_true(c->types[0].flops == 112e12 && c->types[0].mem_Bps == 897e9);
	assert_true(c->types[0].link_Bps == 25e9 && c->types[0].price_per_h == 2.5);
	assert_string_equal(c->types[1].name, "homemade");
	assert_true(c->types[1].flops == 5e12 && c->types[1].mem_bytes == 0);
	assert_string_equal(c->types[2].name, "a100");
	assert_true(c->types[2].flops == 312e12); /* from the catalogue */
}

static void check_racks(const struct cluster *c)
{
	assert_true(c->net_Bps == 12.5e9);
	assert_int_equal(c->nracks, 3);
	assert_string_equal(c->racks[1].name, "row1");
	assert_true(c->racks[0].up_Bps == 25e9 && c->racks[1].up_Bps == 25e9);
	assert_string_equal(c->racks[2].name, "attic");
	assert_true(c->racks[2].up_Bps == 50e9);
}

static void check_topologies(const struct cluster *c)
{
	const struct topology *square = &c->topologies[0], *dgx = &c->topologies[1];

	assert_int_equal(c->ntopologies, 2);
	assert_int_equal(square->devices, 4);
	assert_true(square->Bps[0 * 4 + 1] == 50e9 && square->Bps[1 * 4 + 0] == 50e9);
	assert_true(square->Bps[0 * 4 + 2] == 8e9 && square->Bps[0] == 0);
	assert_int_equal(dgx->devices, 8);
	assert_true(dgx->Bps[0 * 8 + 1] == 25e9 && dgx->Bps[0 * 8 + 3] == 50e9);
	assert_true(dgx->Bps[0 * 8 + 5] == 10e9 && dgx->Bps[0 * 8 + 7] == 99e9);
	assert_true(dgx->Bps[7 * 8 + 6] == 50e9 && dgx->Bps[3 * 8 + 7] == 25e9);
}

static void check_nodes(const struct cluster *c)
{
	static const uint32_t racks[] = { 0, 0, 1, 1, 2, 0, 1, 2 };

	assert_int_equal(c->nnodes, 8);
	assert_int_equal(c->devices, 4 * 8 + 4 + 3 * 8);
	assert_string_equal(c->nodes[0].name, "big-7");
	assert_string_equal(c->nodes[3].name, "big-10");
	assert_string_equal(c->nodes[4].name, "head");
	assert_string_equal(c->nodes[5].name, "n5");
	for (uint32_t i = 0; i < c->nnodes; i++)
		assert_int_equal(c->nodes[i].rack, racks[i]);
	assert_true(c->nodes[4].cpus == 32 && c->nodes[4].mem_bytes == INT64_C(128) << 30);
	assert_int_equal(c->nodes[4].topology, 0);
	assert_int_equal(c->nodes[0].topology, 1);
	assert_int_equal(c->nodes[7].topology, TOPOLOGY_NONE);
	assert_string_equal(c->spec, "lab.yaml");
}

static void test_everything(void **state)
{
	struct cluster c = good(everything);

	(void)state;
	check_types(&c);
	check_racks(&c);
	check_topologies(&c);
	check_nodes(&c);
	cluster_fini(&c);
}

static const struct {
	const char *what, *text, *shape;
} small[] = {
	{ "a group with nothing said is one node of eight", "nodes: [{}]", "1x8:gpu" },
	{ "the only type is meant", "types: [{name: t4}]\nnodes: [{devices: 2}]", "1x2:t4" },
	{ "empty values count as none", "types:\nracks:\nnodes: [{type: , count: , rack: ~}]",
		"1x8:gpu" },
	{ "JSON is YAML", "{\"nodes\": [{\"count\": 2, \"type\": \"v100\"}]}", "2x8:v100" },
	{ "one node may have a number in its name", "nodes: [{name: n0}]", "1x8:gpu" },
	{ "a preset needs no entry of its own",
		"nodes: [{topology: nvlink-summit, devices: 6}, {topology: nvlink-summit, devices: 6}]",
		"2x6:gpu" },
	{ "two kinds in one machine share a name",
		"nodes: [{name: a, type: v100, devices: 4}, {name: a, type: t4, devices: 4}]",
		"1x4:v100,1x4:t4" },
	{ "speeds may be plain", "network: {node_link: 1.25e9}\nnodes: [{devices: 1}]", "1x1:gpu" },
};

static void test_small_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(small); i++) {
		struct cluster c;
		struct buf out = { 0 };

		print_message("%s\n", small[i].what);
		c = good(small[i].text);
		c.spec = NULL; /* the shape, whatever the file is called */
		cluster_format(&c, &out);
		assert_string_equal(out.at, small[i].shape);
		assert_true(c.nracks >= 1);
		buf_fini(&out);
		cluster_fini(&c);
	}
}

static void test_racks_named_by_nodes_only(void **state)
{
	struct cluster c = good(
		"network: {rack_uplink: 1GB/s}\n"
		"nodes: [{devices: 1}, {rack: west, devices: 1}, {rack: r0, devices: 1}]");

	(void)state;
	assert_int_equal(c.nracks, 2);
	assert_string_equal(c.racks[0].name, "r0");
	assert_string_equal(c.racks[1].name, "west");
	assert_true(c.racks[0].up_Bps == 1e9 && c.racks[1].up_Bps == 1e9);
	assert_int_equal(c.nodes[0].rack, 0);
	assert_int_equal(c.nodes[1].rack, 1);
	assert_int_equal(c.nodes[2].rack, 0);
	cluster_fini(&c);
}

static const struct {
	const char *text;
	const char *part; /* of the message */
} bad[] = {
	{ "", "lab.yaml: no nodes" },
	{ "# nothing\n", "such as\nnodes:" },
	{ "nodes: []", "lab.yaml: no nodes" },
	{ "types: [{name: v100}]", "lab.yaml: no nodes" },
	/* structure */
	{ "nodes:\n  - type: v100\n    devicez: 8\n",
		"lab.yaml:3: nodes #1 devicez: no such field (did you mean \"devices\"?); there are count, name" },
	{ "nods: 1\n",
		"lab.yaml:1: nods: no such field (did you mean \"nodes\"?); there are types, racks" },
	{ "network:\n  node_links: 1\nnodes: [{}]", "lab.yaml:2: network node_links: no such field" },
	{ "nodes: 3\n", "lab.yaml:1: nodes: a list expected here, not a single value" },
	{ "nodes:\n  - type: v100\n\n  - 7\n",
		"lab.yaml:4: nodes #2: fields (name: value) expected here, not a single value" },
	{ "nodes:\n  - count: 2\n    type: [a]\n",
		"lab.yaml:3: nodes #1 type: a single value expected here, not a list" },
	{ "nodes:\n  - type: {a: b}\n",
		"lab.yaml:2: nodes #1 type: a single value expected here, not fields" },
	{ "- a\n", "lab.yaml:1: fields (name: value) expected here, not a list" },
	{ "nodes: [{}]\nnodes: [{}]\n", "lab.yaml:2: nodes: given twice; keep one" },
	{ "nodes:\n  - {name: &a x}\n  - {name: *a}\n",
		"lab.yaml:3: nodes #2 name: aliases (*name) are not" },
	{ "nodes: [{racks: [[a]]}]", "a single value expected here" },
	{ "topologies: [{name: a, devices: 2, links: [[0, 1]]}]\nnodes: [{}]",
		"lab.yaml:1: topologies #1 links #1: a single value expected here, not a list" },
	/* YAML itself */
	{ "nodes:\n\t- a\n", "lab.yaml:2: not valid YAML: found character that cannot start any token" },
	{ "nodes:\n  - name: \"abc\n", "not valid YAML" },
	{ "a: b: c\n", "lab.yaml:1: not valid YAML" },
	{ "nodes: \x01", "not valid YAML: control characters" },
	{ "nodes: [{}]\n---\nnodes: [{}]\n", "lab.yaml:3: a second document" },
	{ "nodes: [{}]\n---\n: : [\n", "not valid YAML" },
	{ "nodes: [{name: 1}]\n...\n%FOO\n", "not valid YAML" },
	/* values */
	{ "nodes:\n  - devices: eight\n",
		"lab.yaml:2: nodes #1 devices: \"eight\" is not a whole number from 0 to 64" },
	{ "nodes: [{devices: 65}]", "\"65\" is not a whole number from 0 to 64" },
	{ "nodes: [{devices: 0}]", "no node has a device" },
	{ "nodes: [{rentable: maybe}]", "\"maybe\" is not understood; write true or false" },
	{ "nodes: [{price_per_h: -1}]", "write a number, 0 or more" },
	{ "renting: {boot: soon}\nnodes: [{}]", "write a time such as 0.1ms, 30s or 1h" },
	{ "pooling: {pcie: fast}\nnodes: [{}]", "write a speed such as 25GB/s" },
	{ "nodes: [{count: -1}]", "from 1 to 1000000" },
	{ "nodes: [{count: 600000}, {count: 600000}]",
		"nodes #2 count: \"600000\" is not a whole number from 1 to 400000" },
	{ "nodes: [{first: x}]", "nodes #1 first" },
	{ "nodes: [{cpus: many}]", "nodes #1 cpus: \"many\" is not understood; write a number" },
	{ "nodes: [{cpus: -1}]", "write a number, 0 or more" },
	{ "nodes: [{mem: 10 apples}]",
		"nodes #1 mem: \"10 apples\" is not understood; write a size such as 64GiB" },
	{ "network: {node_link: fast}\nnodes: [{}]",
		"network node_link: \"fast\" is not understood; write a speed such as 25GB/s" },
	{ "network: {rack_uplink: 10GB}\nnodes: [{}]",
		"network rack_uplink: \"10GB\" is not understood" },
	{ "network: {node_link: -1}\nnodes: [{}]", "\"-1\" is not understood" },
	{ "network: {node_link: 1e999}\nnodes: [{}]", "is not understood" },
	{ "types: [{name: gpu, flops: 3GB}]\nnodes: [{}]",
		"types #1 flops: \"3GB\" is not understood; write operations per second" },
	{ "types: [{name: gpu, price_per_h: free}]\nnodes: [{}]", "types #1 price_per_h" },
	{ "types: [{name: gpu, mem_bandwidth: x}]\nnodes: [{}]", "types #1 mem_bandwidth" },
	{ "types: [{name: gpu, link_bandwidth: x}]\nnodes: [{}]", "types #1 link_bandwidth" },
	{ "types: [{name: gpu, mem: x}]\nnodes: [{}]", "types #1 mem" },
	/* what does not go together */
	{ "types:\n  - {mem: 1G}\nnodes: [{}]", "lab.yaml:2: types #1: a type needs its name" },
	{ "types:\n  - {name: a}\n  - {name: A}\nnodes: [{type: a}]",
		"lab.yaml:3: types #2 name: type \"A\" is given twice" },
	{ "types: [{name: a b}]\nnodes: [{}]", "a type name is made of letters" },
	{ "types:\n  - {name: a}\n  - {name: v1000}\nnodes: [{type: a}]",
		"lab.yaml:3: types #2 name: no nodes have type \"v1000\"" },
	{ "nodes: [{type: 'a,b'}]", "nodes #1 type: \"a,b\": a type name is made of letters" },
	{ "racks: [{name: a}, {name: a}]\nnodes: [{}]", "two racks are called \"a\"" },
	{ "racks: [{name: a, uplink: x}]\nnodes: [{}]", "racks #1 uplink" },
	{ "racks: [{name: a, count: 0}]\nnodes: [{}]", "racks #1 count" },
	{ "racks: [{count: 1000000}, {name: b}]\nnodes: [{}]", "there are at most 1000000 racks" },
	{ "racks: [{name: left}, {name: right}]\nnodes:\n  - rack: lefty\n",
		"lab.yaml:3: nodes #1 rack: there is no rack \"lefty\" under racks; did you mean \"left\"?" },
	{ "racks: [{name: left}]\nnodes: [{racks: [left, nowhere], count: 2}]",
		"there is no rack \"nowhere\" under racks; add it there" },
	{ "nodes: [{rack: a, racks: [b]}]", "give rack or racks, not both" },
	{ "nodes: [{name: a, count: 2}, {name: a0}]", "two nodes of this type are called \"a0\"" },
	{ "nodes: [{name: \"a\\tb\"}]", "a name is at most 100 letters" },
	{ "nodes: [{rack: \"\\u00e4\"}]", "a name is at most 100 letters" },
	{ "nodes: [{topology: nvlink-dgx}]",
		"nodes #1 topology: there is no topology \"nvlink-dgx\" (did you mean \"nvlink-dgx1\"?); there are" },
	{ "nodes: [{topology: nvlink-dgx1, devices: 4}]",
		"\"nvlink-dgx1\" is for nodes of 8 devices, these have 4" },
	{ "topologies: [{devices: 4}]\nnodes: [{}]",
		"a topology needs its name, and devices or a preset" },
	{ "topologies: [{name: a}]\nnodes: [{}]", "a topology needs its name, and devices or a preset" },
	{ "topologies: [{name: a, preset: b}]\nnodes: [{}]",
		"topologies #1 preset: there is no topology \"b\"" },
	{ "topologies: [{name: a, preset: nvlink-dgx1, devices: 4}]\nnodes: [{}]",
		"the preset \"nvlink-dgx1\" has 8 devices" },
	{ "topologies: [{name: a, devices: 2}, {name: a, devices: 2}]\nnodes: [{}]",
		"topology \"a\" is given twice" },
	{ "topologies: [{name: a, devices: 99}]\nnodes: [{}]", "topologies #1 devices" },
	{ "topologies: [{name: a, devices: 2, others: x}]\nnodes: [{}]", "topologies #1 others" },
	{ "topologies:\n  - name: a\n    devices: 2\n    links:\n      - 0-1 1\n      - 0-2 1\nnodes: [{}]",
		"lab.yaml:6: topologies #1 links #2: \"0-2 1\" names device 2, but there are 0 to 1" },
	{ "topologies: [{name: a, devices: 2, links: ['3-0 1']}]\nnodes: [{}]", "names device 3, but" },
	{ "topologies: [{name: a, devices: 2, links: ['1-1 1']}]\nnodes: [{}]",
		"joins device 1 to itself" },
	{ "racks: [{name: a}]\nnodes: [{racks: [a, b]}]",
		"nodes #1 racks #2: there is no rack \"b\" under racks" },
	{ "topologies: [{name: a, devices: 2, links: ['0-1 x']}]\nnodes: [{}]", "such as 0-1 50GB/s" },
	{ "topologies: [{name: a, devices: 2, links: ['0-1']}]\nnodes: [{}]", "such as 0-1 50GB/s" },
	{ "topologies: [{name: a, devices: 2, links: ['0 1 1']}]\nnodes: [{}]", "such as 0-1 50GB/s" },
	{ "topologies: [{name: a, devices: 2, links: ['0 1-1']}]\nnodes: [{}]", "such as 0-1 50GB/s" },
	{ "topologies: [{name: a, devices: 2, links: ['-1-0 1']}]\nnodes: [{}]", "such as 0-1 50GB/s" },
	{ "topologies: [{name: a, devices: 2, links: ['a-b 1']}]\nnodes: [{}]", "such as 0-1 50GB/s" },
	{ "topologies: [{name: a, devices: 2, links: ['']}]\nnodes: [{}]", "such as 0-1 50GB/s" },
};

static void test_bad_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct cluster cluster = { .nnodes = 77 };
		struct err err = { 0 };
		int rc = read_yaml(bad[i].text, &cluster, &err);

		print_message("%s\n", err.text);
		assert_int_equal(rc, ERR_FORMAT);
		if (!strstr(err.text, bad[i].part))
			fail_msg("wanted: %s", bad[i].part);
		assert_int_equal(cluster.nnodes, 77);
	}
}

static void test_too_many_types(void **state)
{
	struct cluster c = { 0 };
	struct buf text = { 0 };
	char want[100];
	struct err err;

	(void)state;
	buf_str(&text, "nodes:\n");
	for (int i = 0; i <= TYPES_MAX; i++)
		buf_printf(&text, "  - {type: t%d}\n", i);
	assert_int_equal(read_yaml(text.at, &c, &err), ERR_FORMAT);
	snprintf(want, sizeof(want), "lab.yaml:%d: nodes #%d type: there are at most %d types",
		TYPES_MAX + 2, TYPES_MAX + 1, TYPES_MAX);
	assert_non_null(strstr(err.text, want));
	buf_clear(&text);
	buf_str(&text, "types:\n");
	for (int i = 0; i <= TYPES_MAX; i++)
		buf_printf(&text, "  - {name: t%d}\n", i);
	buf_str(&text, "nodes: [{}]\n");
	assert_int_equal(read_yaml(text.at, &c, &err), ERR_FORMAT);
	snprintf(want, sizeof(want), "types #%d name: there are at most %d types", TYPES_MAX + 1,
		TYPES_MAX);
	assert_non_null(strstr(err.text, want));
	buf_fini(&text);
}

static void check_same(const struct cluster *a, const struct cluster *b)
{
	assert_true(cluster_hash(a) == cluster_hash(b));
	assert_int_equal(a->nnodes, b->nnodes);
	for (uint32_t i = 0; i < a->nnodes; i++)
		assert_string_equal(a->nodes[i].name, b->nodes[i].name);
	assert_int_equal(a->nracks, b->nracks);
	for (uint32_t i = 0; i < a->nracks; i++)
		assert_string_equal(a->racks[i].name, b->racks[i].name);
	for (uint32_t i = 0; i < a->ntopologies; i++)
		assert_string_equal(a->topologies[i].name, b->topologies[i].name);
}

static void check_round_trip(const struct cluster *c)
{
	struct buf text = { 0 }, again = { 0 };
	struct cluster copy;

	cluster_write_yaml(c, &text);
	copy = good(text.at);
	check_same(c, &copy);
	cluster_write_yaml(&copy, &again);
	assert_string_equal(text.at, again.at);
	cluster_fini(&copy);
	buf_fini(&text);
	buf_fini(&again);
}

static void test_round_trips(void **state)
{
	static const char *const odd_names =
		"racks: [{name: 'a \"b\" \\c'}, {name: '# no'}]\n"
		"nodes: [{name: n009, rack: '# no'}, {name: n010}, {name: n011}, {name: '007'},\n"
		"  {name: ': {'}, {name: x99999999999}, {name: 12}, {name: 13}]";
	static const char *const prices =
		"pooling: {rtt: 0.1ms, pcie: 12GB/s, attach: 1s, detach: 0.2s}\n"
		"renting: {boot: 2m, period: 1h}\n"
		"nodes: [{name: n0}, {name: n1, price_per_h: 3}, {name: n2, price_per_h: 3, rentable: true},\n"
		"  {name: n3, price_per_h: 3, rentable: true, spot: true}, {name: host, devices: 0, cpus: 64}]";
	struct cluster c = good(everything);

	(void)state;
	check_round_trip(&c);
	cluster_fini(&c);
	c = good(odd_names);
	check_round_trip(&c);
	cluster_fini(&c);
	c = good(prices);
	check_round_trip(&c);
	cluster_fini(&c);
	assert_int_equal(cluster_parse("16x8:v100,4x4:a100,1x1:x", &c, NULL), 0);
	check_round_trip(&c);
	cluster_fini(&c);
}

static void test_random_round_trips(void **state)
{
	static const char *const types[] = { "v100", "t4", "x" };
	static const char *const prefixes[] = { "n", "gpu-", "a0", "" };
	struct rng rng = property("a written cluster reads back as itself");

	(void)state;
	for (size_t round = 0; round < rounds(100); round++) {
		struct cluster c = { 0 };
		uint32_t n = 1 + (uint32_t)rng_below(&rng, 60);

		for (int i = 0; i < 3; i++)
			cluster_add_type(&c, types[i]);
		c.net_Bps = rng_below(&rng, 2) ? rng_between(&rng, 1, 1e11) : 0;
		for (uint32_t i = 0; i < 1 + n / 20; i++)
			cluster_add_rack(&c, NULL, rng_between(&rng, 0, 1e11));
		for (uint32_t i = 0; i < n; i++) {
			struct node node = { .devices = 1 + (uint32_t)rng_below(&rng, 3) };
			char name[32];

			snprintf(name, sizeof(name), "%s%u", prefixes[rng_below(&rng, 4)], i);
			node.name = name;
			node.type = i < 3 ? i : (uint32_t)rng_below(&rng, n < 3 ? n : 3);
			node.rack = (uint32_t)rng_below(&rng, c.nracks);
			node.topology = TOPOLOGY_NONE;
			node.cpus = (double)rng_below(&rng, 2) * 12.5;
			node.mem_bytes = (int64_t)rng_below(&rng, 2) << 33;
			cluster_add_node(&c, node);
		}
		c.ntypes = n < 3 ? n : 3; /* types without nodes are not written */
		check_round_trip(&c);
		cluster_fini(&c);
	}
}

/* ---- which format */

static char *temporary(const char *ending, const char *text)
{
	char *path = mem_printf("/tmp/stint-cluster-%d%s", (int)getpid(), ending);
	struct err err;

	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	return path;
}

static const struct {
	const char *ending, *text;
	const char *shape; /* NULL: fails with `part` */
	const char *part;
} files[] = {
	{ ".yaml", "nodes: [{count: 2, devices: 4}]", "2x4:gpu", NULL },
	{ ".csv", "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n1,2,4,40,256\n",
		"2x4:gpu", NULL },
	{ ".csv", "num_switch,num_gpu_p_node,num_node_p_switch,mem_p_node,num_cpu_p_node\n5,8,32,256,128",
		"160x8:gpu", NULL },
	{ ".csv", "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node\n1,2,4,40\n", NULL,
		".csv:1: the header has no column mem_p_node" },
	{ ".csv", "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n", NULL,
		"a row of numbers is missing" },
	{ ".csv", "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n\n1,2,four,40,256\n",
		NULL, ".csv:3: num_gpu_p_node: \"four\" is not a whole number from 1 to 64" },
	{ ".csv", "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n1,2\n",
		NULL, "num_gpu_p_node: \"\" is not a whole number" },
	{ ".csv", "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n2000,2000,8,40,256\n",
		NULL, "is more than 1000000 nodes" },
	{ ".csv", "a,b\n1,2\n", NULL, "a single value" },
};

static void test_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(files); i++) {
		char *path = temporary(files[i].ending, files[i].text);
		struct cluster c = { 0 };
		struct err err = { 0 };
		struct buf out = { 0 };
		int rc = cluster_read(path, &c, &err);

		if (rc)
			print_message("%s\n", err.text);
		if (files[i].shape) {
			assert_int_equal(rc, 0);
			assert_string_equal(c.spec, path);
			c.spec = NULL;
			cluster_format(&c, &out);
			assert_string_equal(out.at, files[i].shape);
		} else {
			assert_int_equal(rc, ERR_FORMAT);
			assert_non_null(strstr(err.text, files[i].part));
		}
		buf_fini(&out);
		cluster_fini(&c);
		unlink(path);
		free(path);
	}
}

static void test_tiresias_details(void **state)
{
	char *path = temporary(".csv",
		"num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n2,3,4,40,256\n");
	struct cluster c;
	struct err err;

	(void)state;
	assert_int_equal(cluster_read(path, &c, &err), 0);
	assert_int_equal(c.nracks, 2);
	assert_int_equal(c.nodes[2].rack, 0);
	assert_int_equal(c.nodes[3].rack, 1);
	assert_true(c.nodes[5].cpus == 40 && c.nodes[5].mem_bytes == INT64_C(256) << 30);
	cluster_fini(&c);
	unlink(path);
	free(path);
}

/* YAML of gigabytes would take minutes and all memory before it is refused. */
static void test_a_huge_file_is_refused_at_once(void **state)
{
	char *path = temporary(".yaml", "nodes:\n");
	struct cluster c;
	struct err err;

	(void)state;
	assert_int_equal(truncate(path, (64 << 20) + 1), 0);
	assert_int_equal(cluster_read(path, &c, &err), ERR_REFUSED);
	assert_non_null(strstr(err.text, "more than 64 MiB; is this the right file?"));
	unlink(path);
	free(path);
}

static void test_short_form_and_missing_files(void **state)
{
	struct cluster c;
	struct err err;

	(void)state;
	assert_int_equal(cluster_read("2x4:v100", &c, &err), 0);
	assert_int_equal(c.devices, 8);
	cluster_fini(&c);
	assert_int_equal(cluster_read("no/such/file", &c, &err), ERR_MISSING);
	assert_int_equal(cluster_read("nothing.yaml", &c, &err), ERR_MISSING);
	assert_non_null(strstr(err.text, "nothing.yaml: no such file"));
	assert_int_equal(cluster_read("nothing.yml", &c, &err), ERR_MISSING);
	assert_int_equal(cluster_read("nothing.csv", &c, &err), ERR_MISSING);
	assert_int_equal(cluster_read("nothing", &c, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "such as 16x8:v100"));
	assert_int_equal(cluster_read("/", &c, &err), ERR_IO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_small_files),
		cmocka_unit_test(test_racks_named_by_nodes_only),
		cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_too_many_types),
		cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_random_round_trips),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_tiresias_details),
		cmocka_unit_test(test_a_huge_file_is_refused_at_once),
		cmocka_unit_test(test_short_form_and_missing_files),
	};

	return cmocka_run_group_tests_name("cluster_io", tests, NULL, NULL);
}
