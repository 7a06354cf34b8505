/*
 * HiveD's configuration and our own cells: what is read, and how mistakes are told.
 */
#include "io/hived_io.h"

#include <string.h>

#include "io/cluster_io.h"
#include "io/tenants_io.h"
#include "placement/cell_check.h"
#include "support/property.h"

#define TYPES \
	"physicalCluster:\n" \
	"  cellTypes:\n" \
	"    PAIR: {childCellType: GPU, childCellNumber: 2}\n" \
	"    NODE: {childCellType: PAIR, childCellNumber: 2, isNodeLevel: true}\n" \
	"    RACK: {childCellType: NODE, childCellNumber: 2}\n"
#define CELLS \
	"  physicalCells:\n" \
	"  - cellType: RACK\n" \
	"    cellChildren: [{cellAddress: n0, pinnedCellId: mine}, {cellAddress: n1}]\n"

static void a_configuration_is_read(void **state)
{
	static const char text[] = TYPES CELLS
		"  - {cellType: NODE, cellAddress: n2, cellChildren: [{cellChildren: [{cellAddress: 3}, {cellAddress: 1}]},"
		" {cellChildren: [{cellAddress: 0}, {cellAddress: 2}]}]}\n"
		"virtualClusters:\n"
		"  A: {virtualCells: [{cellType: RACK.NODE.PAIR, cellNumber: 2}], pinnedCells: [{pinnedCellId: mine}]}\n";
	struct cell_design d;
	struct err err = { 0 };

	(void)state;
	if (hived_read_yaml("x", text, strlen(text), &d, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(d.chains.n, 2);
	assert_string_equal(d.chains.at[0].name, "RACK");
	assert_int_equal(d.chains.at[0].nlevels, 4);
	assert_int_equal(d.chains.at[0].node_level, 2);
	assert_int_equal(d.chains.at[0].levels[3].leaves, 8);
	assert_int_equal(d.hosts.n, 3);
	assert_string_equal(d.hosts.at[2].name, "n2");
	assert_int_equal(d.hosts.at[2].devices[0], 3);
	assert_int_equal(d.promises.n, 2);
	assert_int_equal(d.promises.at[0].level, 1);
	assert_int_equal(d.promises.at[1].pin, 0);
	assert_true(cell_check(&d, NULL));
	cell_design_fini(&d);
}

#define VIRTUAL "virtualClusters: {A: {virtualCells: [{cellType: RACK.NODE, cellNumber: 1}]}}\n"

static const struct {
	const char *what, *text, *error;
} rows[] = {
	{ "types in a circle",
		"physicalCluster:\n  cellTypes:\n    A: {childCellType: B, childCellNumber: 2}\n"
		"    B: {childCellType: A, childCellNumber: 2}\n  physicalCells: [{cellType: A}]\n" VIRTUAL,
		"x:3: cellTypes go round in a circle (\"A\" of \"B\" of \"A\")" },
	{ "a type of itself",
		"physicalCluster:\n  cellTypes:\n    A: {childCellType: A, childCellNumber: 2}\n",
		"x:3: cellTypes go round" },
	{ "no node level",
		"physicalCluster:\n  cellTypes:\n    A: {childCellType: G, childCellNumber: 2}\n"
		"  physicalCells: [{cellType: A, cellAddress: n}]\n" VIRTUAL,
		"x:4: cell type \"A\" has no node level" },
	{ "an unknown type", TYPES "  physicalCells: [{cellType: NOD, cellAddress: n}]\n" VIRTUAL,
		"x:6: physicalCells: there is no cell type \"NOD\"; did you mean \"NODE\"?" },
	{ "a tree that is not whole",
		TYPES "  physicalCells:\n  - {cellType: RACK, cellChildren: [{cellAddress: n}]}\n" VIRTUAL,
		"x:7: physicalCells: a cell \"RACK\" has 2 children \"NODE\", here are 1" },
	{ "a node without a name", TYPES "  physicalCells:\n  - {cellType: NODE}\n" VIRTUAL,
		"x:7: physicalCells: a cell \"NODE\" is a node and needs its name" },
	{ "a node twice",
		TYPES
		"  physicalCells:\n  - {cellType: NODE, cellAddress: n}\n  - {cellType: NODE, cellAddress: n}\n" VIRTUAL,
		"x:8: physicalCells: two nodes with devices \"GPU\" are called \"n\"" },
	{ "an unknown chain",
		TYPES CELLS "virtualClusters:\n  A: {virtualCells: [{cellType: NODE, cellNumber: 1}]}\n",
		"x:10: cellType \"NODE\": no physical cell is of type \"NODE\"" },
	{ "a level that is not below",
		TYPES CELLS
		"virtualClusters:\n  A: {virtualCells: [{cellType: RACK.PAIR, cellNumber: 1}]}\n",
		"x:10: cellType \"RACK.PAIR\": \"RACK\" is not made of \"PAIR\", but of \"NODE\"" },
	{ "a pin of nobody",
		TYPES CELLS "virtualClusters:\n  A: {pinnedCells: [{pinnedCellId: yours}]}\n",
		"x:10: virtual cluster \"A\": no physical cell has pinnedCellId \"yours\"" },
	{ "a pin of two",
		TYPES CELLS "virtualClusters:\n  A: {pinnedCells: [{pinnedCellId: mine}]}\n"
			    "  B: {pinnedCells: [{pinnedCellId: mine}]}\n",
		"x:11: cell \"mine\" is promised to both \"A\" and \"B\"" },
	{ "a number that is none",
		TYPES CELLS
		"virtualClusters:\n  A: {virtualCells: [{cellType: RACK, cellNumber: many}]}\n",
		"x:10: cellNumber: write a whole number" },
	{ "aliases", "a: &x [1]\nb: *x\nphysicalCluster: {}\n", "aliases" },
	{ "nothing of HiveD", "a: 1\n", "x:1: physicalCluster is missing" },
	{ "no YAML", "a: [\n", "not valid YAML" },
};

static void mistakes_are_told_with_line_and_remedy(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cell_design d;
		struct err err = { 0 };

		assert_int_equal(hived_read_yaml("x", rows[i].text, strlen(rows[i].text), &d, &err),
			ERR_FORMAT);
		if (!strstr(err.text, rows[i].error))
			fail_msg("%s: \"%s\" has no \"%s\"", rows[i].what, err.text, rows[i].error);
	}
}

/* ---- ours */

static int design_of(const char *cluster_text, const char *tenants_text, struct cell_design *out,
	struct err *err)
{
	struct cluster cluster = { 0 };
	struct tenants tenants = { 0 };
	int rc = cluster_read_yaml("c", cluster_text, strlen(cluster_text), &cluster, err);

	if (!rc)
		rc = tenants_read_yaml("t", tenants_text, strlen(tenants_text), &tenants, err);
	if (!rc)
		rc = cell_design_of(&cluster, &tenants, out, err);
	tenants_fini(&tenants);
	cluster_fini(&cluster);
	return rc;
}

/* "v100: device 1, pair 2, node 8*, rack 16 (2)": levels with their devices, the node's marked, and trees. */
static void tell_chain(const struct cell_chain *c, struct buf *out)
{
	buf_printf(out, "%s:", c->name);
	for (uint32_t i = 0; i < c->nlevels; i++)
		buf_printf(out, " %s %u%s", c->levels[i].name, c->levels[i].leaves,
			i == c->node_level ? "*" : "");
	buf_printf(out, " (%u)", c->ntops);
}

#define TENANT "tenants: [{name: a}]\n"

static const struct {
	const char *what, *cluster, *tenants, *want;
} designs[] = {
	{ "device and node", "nodes: [{count: 3, devices: 4}]\n", TENANT, "gpu: device 1 node 4* (3)" },
	{ "racks that are alike", "racks: [{name: r, count: 2}]\nnodes: [{count: 6, devices: 4}]\n",
		TENANT, "gpu: device 1 node 4* rack 12 (2)" },
	{ "racks that are not", "racks: [{name: r, count: 2}]\nnodes: [{count: 5, devices: 4}]\n",
		TENANT, "gpu: device 1 node 4* (5)" },
	{ "links make pairs", "nodes: [{count: 2, devices: 4, topology: nvlink-pairs-4}]\n", TENANT,
		"gpu: device 1 pair 2 node 4* (2)" },
	{ "as it is written",
		"nodes: [{count: 4, devices: 8}]\ncells: [{levels: [{name: pair, of: 2}, {name: socket, of: 2},"
		" {name: node, of: 2}, {name: rack, of: 2}]}]\n",
		TENANT, "gpu: device 1 pair 2 socket 4 node 8* rack 16 (2)" },
};

static void cells_of_a_cluster(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(designs); i++) {
		struct cell_design d;
		struct buf text = { 0 };
		struct err err = { 0 };

		if (design_of(designs[i].cluster, designs[i].tenants, &d, &err) < 0)
			fail_msg("%s: %s", designs[i].what, err.text);
		tell_chain(&d.chains.at[0], &text);
		assert_string_equal(text.at, designs[i].want);
		buf_fini(&text);
		cell_design_fini(&d);
	}
}

#define NODES "nodes: [{count: 4, devices: 8}]\n"

static const struct {
	const char *what, *cluster, *tenants, *error;
} refusals[] = {
	{ "an unknown cell", NODES, "tenants:\n  - {name: a, cells: [{cell: socket}]}\n",
		"line 2: tenant a: cells #1: there is no cell \"socket\"; there are device, node" },
	{ "no cell", NODES, "tenants:\n  - {name: a, cells: [{count: 2}]}\n",
		"t:2: tenants #1 cells #1: which cells?" },
	{ "no count", NODES, "tenants:\n  - {name: a, cells: [{cell: node, count: 0}]}\n",
		"t:2: tenants #1 cells #1 count: \"0\" is not a whole number" },
	{ "count and pin", NODES,
		"tenants:\n  - {name: a, cells: [{cell: node, count: 2, pinned: n0}]}\n",
		"a pinned cell is one" },
	{ "a pin of no node", NODES, "tenants:\n  - {name: a, cells: [{cell: node, pinned: n9}]}\n",
		"pinned: gpu has no node \"n9\"" },
	{ "a pin below the node", NODES, "tenants:\n  - {name: a, cells: [{cell: device, pinned: n0}]}\n",
		"say which with NODE:DEVICE" },
	{ "levels that no node has", NODES "cells: [{levels: [{name: three, of: 3}]}]\n", TENANT,
		"c:2: cells: no level of \"three\" and above has as many devices as a node" },
	{ "nodes left over", NODES "cells: [{levels: [{name: node, of: 8}, {name: rack, of: 3}]}]\n",
		TENANT, "do not make whole cells \"rack\" of 3 nodes: 1 are left over" },
	{ "a rack cut in two",
		"racks: [{name: r, count: 2}]\nnodes: [{count: 6, devices: 8}]\n"
		"cells: [{levels: [{name: node, of: 8}, {name: two, of: 2}]}]\n",
		TENANT, "would cut rack" },
	{ "a level twice", NODES "cells: [{levels: [{name: x, of: 8}, {name: x, of: 2}]}]\n",
		TENANT, "c:2: cells #1 levels #2 name: two levels are called \"x\"" },
};

static void mistakes_in_ours_are_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(refusals); i++) {
		struct cell_design d;
		struct err err = { 0 };

		assert_int_equal(design_of(refusals[i].cluster, refusals[i].tenants, &d, &err),
			ERR_FORMAT);
		if (!strstr(err.text, refusals[i].error))
			fail_msg("%s: \"%s\" has no \"%s\"", refusals[i].what, err.text,
				refusals[i].error);
	}
}

/* ---- writing and reading back */

static void cells_survive_writing(void **state)
{
	static const char cluster_text[] = NODES
		"cells: [{type: gpu, levels: [{name: pair, of: 2}, {name: node, of: 4}]}]\n";
	static const char tenants_text[] =
		"tenants:\n  - {name: a, cells: [{cell: node, count: 2}, {cell: pair, type: gpu, pinned: \"n3:2\"}]}\n";
	struct cluster cluster, again;
	struct tenants tenants, back;
	struct buf text = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(cluster_read_yaml("c", cluster_text, strlen(cluster_text), &cluster, &err), 0);
	cluster_write_yaml(&cluster, &text);
	assert_int_equal(cluster_read_yaml("c", text.at, text.n, &again, &err), 0);
	assert_true(cluster_hash(&cluster) == cluster_hash(&again));
	assert_int_equal(again.nladders, 1);
	cluster_fini(&again);
	cluster_copy(&cluster, &again);
	assert_true(cluster_hash(&cluster) == cluster_hash(&again));
	again.nladders = 0;
	assert_true(cluster_hash(&cluster) != cluster_hash(&again));
	buf_clear(&text);
	assert_int_equal(tenants_read_yaml("t", tenants_text, strlen(tenants_text), &tenants, &err), 0);
	tenants_write_yaml(&tenants, &text);
	assert_int_equal(tenants_read_yaml("t", text.at, text.n, &back, &err), 0);
	assert_int_equal(back.at[0].ncells, 2);
	assert_string_equal(back.at[0].cells[1].pinned, "n3:2");
	assert_int_equal(back.at[0].cells[0].count, 2);
	buf_fini(&text);
	tenants_fini(&tenants);
	tenants_fini(&back);
	cluster_fini(&cluster);
	cluster_fini(&again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_configuration_is_read),
		cmocka_unit_test(mistakes_are_told_with_line_and_remedy),
		cmocka_unit_test(cells_of_a_cluster),
		cmocka_unit_test(mistakes_in_ours_are_told),
		cmocka_unit_test(cells_survive_writing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
