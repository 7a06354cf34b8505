#include "model/cluster_change.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct cluster parsed(const char *spec)
{
	struct cluster c;

	assert_int_equal(cluster_parse(spec, &c, NULL), 0);
	return c;
}

typedef int changer(struct cluster *, const struct cluster_change *, struct buf *, struct err *);

/* What `change` makes of `spec`: the short form, or the error. */
static int changed(changer *how, const char *spec, const char *change, struct buf *out,
	struct buf *said, struct err *err)
{
	struct cluster c = parsed(spec);
	struct cluster_change ch;
	int rc = cluster_change_parse(slice_of(change), &ch, err);

	if (!rc)
		rc = how(&c, &ch, said, err);
	if (!rc)
		cluster_format(&c, out);
	cluster_fini(&c);
	return rc;
}

static const struct {
	const char *what;
	changer *how;
	const char *spec, *change, *want, *said;
} rows[] = {
	{ "devices come as one node", cluster_grow, "2x8:v100", "4:a100", "2x8:v100,1x4:a100",
		"1 node of 4 a100" },
	{ "many devices of a new type come by eight", cluster_grow, "2x8:v100", "20:a100",
		"2x8:v100,2x8:a100,1x4:a100", "2 nodes of 8 a100 and 1 node of 4 a100" },
	{ "devices of a type that is here come like its nodes", cluster_grow, "2x4:v100", "8:V100",
		"4x4:v100", "2 nodes of 4 v100" },
	{ "nodes are added as they are named", cluster_grow, "2x8:v100", "3x2:v100",
		"2x8:v100,3x2:v100", "3 nodes of 2 v100" },
	{ "the last nodes go first", cluster_shrink, "2x8:v100,2x4:a100", "4:a100",
		"2x8:v100,1x4:a100", "4 a100 from 1 node" },
	{ "a node may lose a part", cluster_shrink, "2x8:v100", "10:v100", "1x6:v100",
		"10 v100 from 2 nodes" },
	{ "whole nodes by size", cluster_shrink, "1x4:v100,2x8:v100", "1x4:v100", "2x8:v100",
		"1 node of 4 v100" },
	{ "a type may go altogether", cluster_shrink, "1x4:v100,2x8:a100", "4:v100", "2x8:a100",
		"4 v100 from 1 node" },
};

static void changes_do_what_they_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf out = { 0 }, said = { 0 };
		struct err err = { 0 };
		int rc = changed(rows[i].how, rows[i].spec, rows[i].change, &out, &said, &err);

		if (rc || strcmp(out.at, rows[i].want) || strcmp(said.at, rows[i].said))
			fail_msg("%s: %s, %s %s", rows[i].what, rc ? err.text : out.at,
				rc ? "" : said.at, rows[i].want);
		buf_fini(&out);
		buf_fini(&said);
	}
}

static const struct {
	const char *what;
	changer *how;
	const char *spec, *change, *text;
} wrong[] = {
	{ "no number", cluster_grow, "8:v100", "a100", "is not DEVICES:TYPE" },
	{ "none", cluster_grow, "8:v100", "0:a100", "is not DEVICES:TYPE" },
	{ "no type", cluster_grow, "8:v100", "4", "is not DEVICES:TYPE" },
	{ "too many in a node", cluster_grow, "8:v100", "1x65:a100", "up to 64" },
	{ "unknown", cluster_grow, "8:v100", "4:a1000", "did you mean a100" },
	{ "unlike any", cluster_grow, "8:v100", "4:quux", "neither in this cluster" },
	{ "more than there is", cluster_shrink, "8:v100,4:a100", "5:a100", "there are 4" },
	{ "of a type that is not here", cluster_shrink, "8:v100", "5:a100", "has 8 v100" },
	{ "everything", cluster_shrink, "2x8:v100", "16:v100", "nothing would be left" },
	{ "nodes of another size", cluster_shrink, "2x8:v100", "1x4:v100", "of that size" },
};

static void wrong_changes_say_why(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct buf out = { 0 }, said = { 0 };
		struct err err = { 0 };
		int rc = changed(wrong[i].how, wrong[i].spec, wrong[i].change, &out, &said, &err);

		if (rc != ERR_USAGE || !strstr(err.text, wrong[i].text))
			fail_msg("%s: %d %s", wrong[i].what, rc, err.text);
		buf_fini(&out);
		buf_fini(&said);
	}
}

/* Two nodes with names, CPUs, links and racks. */
static void named(struct cluster *c)
{
	*c = (struct cluster){ .net_Bps = 1e9 };
	cluster_add_rack(c, "a", 1e10);
	cluster_add_rack(c, "b", 2e10);
	cluster_add_type(c, "v100");
	c->types[0].price_per_h = 7;
	c->topologies = NULL;
	cluster_add_topology(c, "pairs", 2);
	c->topologies[0].Bps[1] = c->topologies[0].Bps[2] = 5e9;
	for (int i = 0; i < 2; i++)
		cluster_add_node(c,
			(struct node){ .name = i ? "new1" : "host",
				.devices = 2,
				.rack = 1,
				.cpus = 32,
				.mem_bytes = 64 });
}

static void a_copy_is_equal(void **state)
{
	struct cluster from, copy;

	(void)state;
	named(&from);
	cluster_copy(&from, &copy);
	assert_true(cluster_hash(&from) == cluster_hash(&copy));
	assert_string_equal(copy.nodes[0].name, "host");
	assert_false(cluster_is_short(&copy));
	assert_true(cluster_price_per_h(&copy) == 28);
	cluster_fini(&from);
	cluster_fini(&copy);
}

static void new_nodes_are_like_the_others(void **state)
{
	struct cluster c;
	struct buf said = { 0 };

	(void)state;
	named(&c);
	assert_int_equal(cluster_grow(&c, &(struct cluster_change){ 0, 3, "v100" }, &said, NULL), 0);
	assert_int_equal(c.nnodes, 4);
	assert_string_equal(c.nodes[2].name, "new2");
	assert_true(c.nodes[2].cpus == 32 && c.nodes[2].topology == 0 && c.nodes[2].rack == 1);
	assert_true(c.nodes[3].cpus == 16 && c.nodes[3].mem_bytes == 32);
	assert_true(c.nodes[3].topology == TOPOLOGY_NONE);
	buf_fini(&said);
	cluster_fini(&c);
}

static void a_cluster_of_one_type_is_like_another(void **state)
{
	struct cluster from, only, none = { 0 };
	struct err err = { 0 };

	(void)state;
	named(&from);
	assert_int_equal(cluster_only(&from, &(struct cluster_change){ 3, 2, "v100" }, &only, NULL), 0);
	assert_int_equal(only.nnodes, 3);
	assert_true(only.net_Bps == 1e9 && only.nracks == 2 && only.types[0].price_per_h == 7);
	assert_true(only.nodes[2].cpus == 32 && only.nodes[2].rack == 1 && only.nodes[2].topology == 0);
	cluster_fini(&only);
	assert_int_equal(cluster_only(&none, &(struct cluster_change){ 2, 8, "a100" }, &only, NULL), 0);
	assert_int_equal(only.devices, 16);
	assert_true(cluster_is_short(&only));
	cluster_fini(&only);
	assert_int_equal(cluster_only(&none, &(struct cluster_change){ 2, 8, "quux" }, &only, &err),
		ERR_USAGE);
	cluster_fini(&from);
}

static void short_forms_are_known(void **state)
{
	struct cluster c = parsed("2x8:v100,3x4:a100");

	(void)state;
	assert_true(cluster_is_short(&c));
	cluster_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_do_what_they_say),
		cmocka_unit_test(wrong_changes_say_why),
		cmocka_unit_test(a_copy_is_equal),
		cmocka_unit_test(new_nodes_are_like_the_others),
		cmocka_unit_test(a_cluster_of_one_type_is_like_another),
		cmocka_unit_test(short_forms_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
