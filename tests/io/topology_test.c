#include "io/topology.h"

#include "model/links.h"

#include <string.h>

#include "base/property.h"

/* A graph is a triangle of digits: one for each pair. */
static void presets_have_a_link_for_each_pair(void **state)
{
	(void)state;
	for (const struct topology_preset *p = topology_presets; p->name; p++) {
		print_message("%s\n", p->name);
		assert_int_equal(strlen(p->links), p->devices * (p->devices - 1) / 2);
		assert_int_equal(strspn(p->links, "0123456789"), strlen(p->links));
		assert_true(p->link_Bps > p->others_Bps);
		assert_ptr_equal(topology_preset_find(p->name), p);
	}
	assert_null(topology_preset_find("nvlink"));
	assert_ptr_equal(topology_preset_find("NVLink-Summit"), topology_preset_find("nvlink-summit"));
}

/* As published for the DGX-1: 0 has two links to 3 and 4, one to 1 and 2, none to 5, 6 and 7. */
static void a_preset_becomes_a_topology(void **state)
{
	static const double want[] = { 0, 25e9, 25e9, 50e9, 50e9, 10e9, 10e9, 10e9 };
	struct cluster cluster = { 0 };
	uint32_t i = topology_preset_add(topology_preset_find("nvlink-dgx1"), &cluster, "dgx");
	struct topology *t = &cluster.topologies[i];

	(void)state;
	assert_string_equal(t->name, "dgx");
	for (uint32_t j = 0; j < 8; j++) {
		assert_true(t->Bps[j] == want[j]);
		assert_true(t->Bps[j * 8] == want[j]);
	}
	topology_link_all(t, 7);
	topology_link(t, 2, 5, 9);
	assert_true(t->Bps[3] == 7 && t->Bps[2 * 8 + 5] == 9 && t->Bps[5 * 8 + 2] == 9);
	assert_true(t->Bps[5 * 8 + 5] == 0);
	cluster_fini(&cluster);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(presets_have_a_link_for_each_pair),
		cmocka_unit_test(a_preset_becomes_a_topology),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
