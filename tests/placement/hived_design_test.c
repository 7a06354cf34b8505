/*
 * The published design example of HiveD: where its own tests say that groups go.
 *
 * Its configuration is DATA/hived/design.yaml; DATA is STINT_DATA, else ../shared/data.  Two versions of
 * its tests break one tie differently (which of two idle nodes); here it is the lowest number, as in the
 * first.  What these tests say of preemptors that wait for their victims to leave is not
 * repeated: here victims go at once.  Nodes that Kubernetes does not suggest are taken for broken.
 */
#include <string.h>

#include "base/file.h"
#include "io/hived_io.h"
#include "support/cell_ops.h"
#include "support/data.h"
#include "support/property.h"

struct example {
	struct cell_design design;
	struct cells *cells;
	struct cell_answer answer;
	uint32_t leaves[64][64], n[64];
};

static bool open_example(struct example *e)
{
	char path[500];
	struct file file;
	struct err err = { 0 };

	*e = (struct example){ 0 };
	snprintf(path, sizeof(path), "%s/hived/design.yaml", data_dir());
	if (!file_exists(path)) {
		printf("%s is not there (STINT_DATA names the folder of data)\n", path);
		return false;
	}
	assert_int_equal(file_read_upto(path, 1 << 20, &file, &err), 0);
	assert_true(hived_looks_like(file.at, file.n));
	if (hived_read_yaml(path, file.at, file.n, &e->design, &err) < 0)
		fail_msg("%s", err.text);
	file_fini(&file);
	return true;
}

static void start(struct example *e)
{
	if (cell_check_err(&e->design, &(struct err){ 0 }) < 0)
		fail_msg("the promises cannot be kept");
	e->cells = cells_create(&e->design);
}

static void close_example(struct example *e)
{
	cells_destroy(e->cells);
	cell_answer_fini(&e->answer);
	cell_design_fini(&e->design);
}

static void sound(const struct example *e)
{
	struct buf text = { 0 };

	if (!cells_audit(e->cells, &text))
		fail_msg("%s", text.at);
	buf_fini(&text);
}

/* ---- groups */

struct group {
	const char *what;
	uint32_t name;
	const char *vc;
	int priority;
	const char *type; /* of device; NULL: any */
	const char *pin;
	uint32_t pods[4], npods;
	const char *want; /* "node: device, …" of each pod, fewest devices first; or "waits" */
	uint32_t victim;  /* a group that must go for it; 0: none */
	bool lazy;        /* whoever it preempts in its virtual cluster stays on loan */
};

/* Chains of a type, the last by name first, as the tests sort them. */
static int by_name_down(const void *a, const void *b, void *design)
{
	const struct cell_design *d = design;

	return -strcmp(d->chains.at[*(const uint32_t *)a].name,
		d->chains.at[*(const uint32_t *)b].name);
}

static uint32_t chains_of(struct example *e, const char *type, uint32_t *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->design.chains.n; i++) {
		if (!type || !strcmp(e->design.types.at[e->design.chains.at[i].type], type))
			out[n++] = i;
	}
	qsort_r(out, n, sizeof(*out), by_name_down, &e->design);
	return n;
}

static uint32_t pin_of(const struct example *e, const char *name)
{
	for (uint32_t i = 0; name && i < e->design.pins.n; i++) {
		if (!strcmp(e->design.pins.at[i].name, name))
			return i;
	}
	return CELL_NONE;
}

static bool choose(struct example *e, const struct group *g, struct cell_ask *ask, bool preempts)
{
	uint32_t chains[64], n = chains_of(e, g->type, chains);

	*ask = (struct cell_ask){ .user = { CELL_NONE, g->name, g->priority },
		.pods = g->pods,
		.npods = g->npods,
		.pins = g->pin ? PINS_ONE : PINS_NONE,
		.pin = pin_of(e, g->pin),
		.preempts = preempts };
	if (g->priority >= 0)
		ask->user.vc = names_find(&e->design.vcs, g->vc, strlen(g->vc));
	for (uint32_t i = 0; i < n; i++) {
		ask->chain = chains[i];
		if (cells_choose(e->cells, ask, &e->answer))
			return true;
	}
	return false;
}

/* "0.0.1.0: 0 1, …": pods in the order of the answer. */
static void tell(const struct example *e, struct buf *out)
{
	uint32_t at = 0;

	for (size_t i = 0; i < e->answer.pods.n; i++) {
		for (uint32_t k = 0; k < e->answer.pods.at[i]; k++, at++) {
			uint32_t leaf = e->answer.leaves.at[at];
			const struct cell_chain *kind = &e->design.chains.at[e->cells->at[leaf].chain];
			uint32_t node = cells_above(e->cells, leaf, kind->node_level);
			const struct cell_host *host =
				&e->design.hosts.at[kind->first_host + cells_index(e->cells, node)];
			uint32_t place = leaf - cells_first_leaf(e->cells, node);

			if (k == 0)
				buf_printf(out, "%s%s:", i ? ", " : "", host->name);
			buf_printf(out, " %u", host->devices ? host->devices[place] : place);
		}
	}
}

static void give(struct example *e, uint32_t group)
{
	cells_give(e->cells, group, e->leaves[group], e->n[group]);
	e->n[group] = 0;
}

static void take(struct example *e, const struct cell_ask *ask)
{
	uint32_t at = 0, group = ask->user.job;

	for (size_t i = 0; i < e->answer.victims.n; i++)
		give(e, e->answer.victims.at[i]);
	for (size_t i = 0; i < e->answer.pods.n; at += e->answer.pods.at[i++])
		cells_take(e->cells, ask->user, e->answer.leaves.at + at, e->answer.pods.at[i],
			e->answer.bonds.at, (uint32_t)e->answer.bonds.n);
	memcpy(e->leaves[group], e->answer.leaves.at, at * sizeof(uint32_t));
	e->n[group] = at;
	sound(e);
}

static void run(struct example *e, const struct group *g)
{
	struct cell_ask ask;
	struct buf text = { 0 };
	bool fits = choose(e, g, &ask, false);

	if (!fits && (fits = choose(e, g, &ask, true)) && g->lazy) {
		for (size_t i = 0; i < e->answer.victims.n; i++)
			cells_lower(e->cells, e->answer.victims.at[i], ask.chain);
		assert_true(choose(e, g, &ask, false));
	}
	if (fits)
		tell(e, &text);
	else
		buf_str(&text, "waits");
	if (strcmp(text.at, g->want))
		fail_msg("%s: %s, and shall be: %s", g->what, text.at, g->want);
	buf_fini(&text);
	if (!fits)
		return;
	if (g->victim == 0 ? e->answer.victims.n != 0
			   : e->answer.victims.n != 1 || e->answer.victims.at[0] != g->victim)
		fail_msg("%s: wrong victims", g->what);
	take(e, &ask);
}

/* ---- what the tests say */

#define ALL "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"

static const struct group normal[] = {
	{ "pod 1", 1, "VC1", 0, "DGX2-V100", NULL, { 1 }, 1, "0.0.1.0: 0", 0, 0 },
	{ "pod 2: buddy of 1", 2, "VC1", 1, "DGX2-V100", NULL, { 1 }, 1, "0.0.1.0: 1", 0, 0 },
	{ "pod 3: no buddy, and preempts nobody", 3, "VC1", 2, "DGX2-V100", NULL, { 8 }, 1,
		"0.0.1.0: 8 9 10 11 12 13 14 15", 0, 0 },
	{ "pod 4: opportunistic, away from the guaranteed", 4, "VC1", -1, "DGX2-V100", NULL, { 1 },
		1, "0.0.5.0: 0", 0, 0 },
	{ "pods 5, 6: pinned", 5, "VC1", 1, "DGX2-V100", "VC1-YQW-DGX2", { 16, 16 }, 2,
		"0.0.3.0: " ALL ", 0.0.3.1: " ALL, 0, 0 },
	{ "pod 7: more than its cells", 7, "VC2", 1, "DGX1-P100", NULL, { 8, 8, 8 }, 3, "waits", 0, 0 },
	{ "pods 9, 8: any type, uneven", 9, "VC2", 1, NULL, NULL, { 5, 7 }, 2,
		"1.0.0.2: 0 1 2 3 4, 1.0.0.1: 0 1 2 3 4 5 6", 0, 0 },
	{ "pod 10: a type that its cluster has not", 6, "VC2", 1, "DGX2-V100", NULL, { 1 }, 1,
		"waits", 0, 0 },
	{ "pods 16, 17: preempt 5, 6", 11, "VC1", 2, "DGX2-V100", "VC1-YQW-DGX2", { 16, 16 }, 2,
		"0.0.3.0: " ALL ", 0.0.3.1: " ALL, 5, 1 },
	{ "pods 18, 19", 12, "VC1", 1, "DGX2-V100", NULL, { 16, 16 }, 2,
		"0.0.3.2: " ALL ", 0.0.3.3: " ALL, 0, 0 },
	{ "pods 20, 21", 13, "VC1", 1, "DGX2-V100", NULL, { 16, 16 }, 2,
		"0.0.4.0: " ALL ", 0.0.4.1: " ALL, 0, 0 },
	{ "pods 22, 23: opportunistic", 14, "VC1", -1, "DGX2-V100", NULL, { 16, 16 }, 2,
		"0.0.4.2: " ALL ", 0.0.4.3: " ALL, 0, 0 },
	{ "pod 24", 15, "VC2", 0, "CT1", NULL, { 2 }, 1, "0.0.0.0: 0 1", 0, 0 },
	{ "pod 25: 24 stays on loan, its cell is bound elsewhere", 16, "VC2", 1, "CT1", NULL, { 2 },
		1, "0.0.0.1: 0 1", 0, 1 },
	{ "pod 26: 25 goes at once", 17, "VC2", 2, "CT1", NULL, { 2 }, 1, "0.0.0.1: 0 1", 16, 0 },
};

static void groups_go_where_the_published_tests_say(void **state)
{
	struct example e;

	(void)state;
	if (!open_example(&e))
		skip();
	start(&e);
	for (size_t i = 0; i < COUNT(normal); i++)
		run(&e, &normal[i]);
	for (uint32_t g = 0; g < 64; g++) {
		if (e.n[g])
			give(&e, g);
	}
	sound(&e);
	close_example(&e);
}

static const struct group preempting[] = {
	{ "pod 28", 19, "VC1", 1, "DGX2-V100", "VC1-YQW-DGX2", { 16, 16 }, 2,
		"0.0.3.0: " ALL ", 0.0.3.1: " ALL, 0, 0 },
	{ "pod 29 preempts 28", 20, "VC1", 2, "DGX2-V100", "VC1-YQW-DGX2", { 16 }, 1,
		"0.0.3.0: " ALL, 19, 0 },
	{ "pod 30: another node than 29", 21, "VC1", 2, "DGX2-V100", "VC1-YQW-DGX2", { 16 }, 1,
		"0.0.3.1: " ALL, 0, 0 },
	{ "pod 31: the cell is used up", 22, "VC1", 2, "DGX2-V100", "VC1-YQW-DGX2", { 16 }, 1,
		"waits", 0, 0 },
};

static void a_pinned_cell_is_preempted_by_priority(void **state)
{
	struct example e;

	(void)state;
	if (!open_example(&e))
		skip();
	start(&e);
	for (size_t i = 0; i < COUNT(preempting); i++)
		run(&e, &preempting[i]);
	close_example(&e);
}

/* ---- broken nodes */

static void set_node(struct example *e, const char *name, bool bad)
{
	for (uint32_t c = 0; c < e->design.chains.n; c++) {
		const struct cell_chain *kind = &e->design.chains.at[c];

		for (uint32_t i = 0; i < cell_count(kind, kind->node_level); i++) {
			uint32_t first = cells_first_leaf(e->cells,
				e->cells->chains[c].base[kind->node_level] + i);

			for (uint32_t k = 0;
				!strcmp(e->design.hosts.at[kind->first_host + i].name, name) &&
				k < kind->levels[kind->node_level].leaves;
				k++)
				cells_set_bad(e->cells, first + k, bad);
		}
	}
	sound(e);
}

static void a_gang_with_a_broken_node_waits(void **state)
{
	struct example e;
	struct group g = { "pod 27", 18, "VC1", 1, "DGX2-V100", "VC1-YQW-DGX2", { 16, 16 }, 2,
		"waits", 0, 0 };

	(void)state;
	if (!open_example(&e))
		skip();
	start(&e);
	set_node(&e, "0.0.3.1", true);
	run(&e, &g);
	set_node(&e, "0.0.3.1", false);
	g.want = "0.0.3.0: " ALL ", 0.0.3.1: " ALL;
	run(&e, &g);
	close_example(&e);
}

static struct cell_promise *promise(struct example *e, const char *vc, uint32_t nth)
{
	for (uint32_t i = 0; i < e->design.promises.n; i++) {
		if (!strcmp(e->design.vcs.at[e->design.promises.at[i].vc], vc) && nth-- == 0)
			return &e->design.promises.at[i];
	}
	return NULL;
}

static void assert_doomed(const struct example *e, uint32_t vc1, uint32_t vc2)
{
	uint32_t chain = cell_chain_find(&e->design, "3-DGX2-V100-NODE");
	uint32_t level = e->design.chains.at[chain].node_level;

	assert_int_equal(cells_doomed(e->cells, 0, chain, level), vc1);
	assert_int_equal(cells_doomed(e->cells, 1, chain, level), vc2);
}

/* A group of one node in the rack of three, for one of the two clusters. */
static void take_in_rack(struct example *e, uint32_t name, uint32_t vc, const char *want)
{
	struct cell_ask ask = { .user = { vc, name, 0 },
		.chain = cell_chain_find(&e->design, "3-DGX2-V100-NODE"),
		.pods = (uint32_t[]){ 16 },
		.npods = 1,
		.pins = PINS_NONE };
	struct buf text = { 0 };

	assert_true(cells_choose(e->cells, &ask, &e->answer));
	tell(e, &text);
	assert_string_equal(text.at, want);
	buf_fini(&text);
	take(e, &ask);
}

static void faults_show_only_when_they_must(void **state)
{
	struct example e;
	struct cell_promise *moved;

	(void)state;
	if (!open_example(&e))
		skip();
	moved = promise(&e, "VC2", 2); /* a node of the rack of three for VC2, too */
	moved->chain = cell_chain_find(&e.design, "3-DGX2-V100-NODE");
	moved->level = e.design.chains.at[moved->chain].node_level;
	start(&e);
	take_in_rack(&e, 30, 0, "0.0.2.0: " ALL);
	set_node(&e, "0.0.2.1", true);
	assert_doomed(&e, 0, 0);
	take_in_rack(&e, 31, 1, "0.0.2.2: " ALL);
	assert_doomed(&e, 1, 0);
	give(&e, 31);
	assert_doomed(&e, 0, 0);
	set_node(&e, "0.0.2.2", true);
	assert_doomed(&e, 1, 1);
	set_node(&e, "0.0.2.2", false);
	assert_doomed(&e, 0, 0);
	set_node(&e, "0.0.2.0", true);
	set_node(&e, "0.0.2.2", true);
	give(&e, 30);
	assert_doomed(&e, 2, 1);
	close_example(&e);
}

static void larger_cells_are_split_for_sound_ones_as_long_as_that_is_safe(void **state)
{
	struct group g = { "pod 44", 32, "VC1", 0, "DGX2-V100", NULL, { 16 }, 1, "0.0.3.2: " ALL, 0, 0 };
	struct cell_promise *pair;
	struct example e;

	(void)state;
	if (!open_example(&e))
		skip();
	promise(&e, "VC1", 0)->count = 4;
	promise(&e, "VC1", 1)->count = 0; /* only the chain of four is asked here */
	promise(&e, "VC1", 2)->count = 0;
	promise(&e, "VC1", 3)->count = 0;
	pair = promise(&e, "VC2", 2);
	pair->chain = cell_chain_find(&e.design, "4-DGX2-V100-NODE");
	pair->level = e.design.chains.at[pair->chain].node_level + 1;
	pair->count = 1;
	start(&e);
	set_node(&e, "0.0.4.0", true); /* not suggested */
	set_node(&e, "0.0.4.1", true);
	run(&e, &g);
	set_node(&e, "0.0.3.3", true);
	g = (struct group){ "pod 45", 33, "VC1", 0, "DGX2-V100", NULL, { 16 }, 1, "0.0.4.2: " ALL,
		0, 0 };
	run(&e, &g);
	set_node(&e, "0.0.4.3", true);
	set_node(&e, "0.0.4.0", false);
	set_node(&e, "0.0.4.1", false); /* VC2's pair */
	g = (struct group){ "pod 46", 34, "VC1", 0, "DGX2-V100", NULL, { 16 }, 1, "waits", 0, 0 };
	run(&e, &g);
	close_example(&e);
}

static void too_many_promises_are_refused(void **state)
{
	struct example e;
	struct err err = { 0 };
	uint32_t chain;

	(void)state;
	if (!open_example(&e))
		skip();
	assert_int_equal(cell_check_err(&e.design, &err), 0);
	chain = cell_chain_find(&e.design, "CT1-NODE");
	promise(&e, "VC1", 0)->chain = chain; /* two nodes of three, VC2 has one, */
	promise(&e, "VC1", 0)->level = 1;
	promise(&e, "VC1", 1)->chain = chain; /* two devices, and one pinned */
	promise(&e, "VC1", 1)->level = 0;
	assert_int_equal(cell_check_err(&e.design, &err), ERR_REFUSED);
	close_example(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_go_where_the_published_tests_say),
		cmocka_unit_test(a_pinned_cell_is_preempted_by_priority),
		cmocka_unit_test(a_gang_with_a_broken_node_waits),
		cmocka_unit_test(faults_show_only_when_they_must),
		cmocka_unit_test(larger_cells_are_split_for_sound_ones_as_long_as_that_is_safe),
		cmocka_unit_test(too_many_promises_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
