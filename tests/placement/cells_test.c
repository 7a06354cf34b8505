/*
 * Cells: buddy lists, claims and choices, by example and against the promise that they keep.
 */
#include "placement/cells.h"

#include <string.h>

#include "support/cell_ops.h"
#include "support/property.h"

/* ---- the worked example: two nodes of two pairs of two devices */

enum { DEVICE, PAIR, NODE };

struct lists {
	struct cell_design design;
	struct cells *cells;
};

static void setup(struct lists *l)
{
	*l = (struct lists){ 0 };
	ops_chain(&l->design, "gpu", (uint32_t[]){ 2, 2, 0 }, NODE, 2);
	l->cells = cells_create(&l->design);
}

static void teardown(struct lists *l)
{
	cells_destroy(l->cells);
	cell_design_fini(&l->design);
}

static uint32_t take(struct lists *l, uint32_t level)
{
	uint32_t from, cell = cells_alloc(l->cells, 0, level, level, &from);

	return cell == CELL_NONE ? cell : cells_index(l->cells, cell);
}

static void put(struct lists *l, uint32_t level, uint32_t index)
{
	cells_free(l->cells, l->cells->chains[0].base[level] + index);
}

/* The listed cells of each level: "0: 1; 1: 1; 2: 1". */
static void assert_lists(struct lists *l, const char *want)
{
	const struct cells_chain *ch = &l->cells->chains[0];
	struct buf text = { 0 };

	for (uint32_t level = 0; level <= NODE; level++) {
		buf_printf(&text, "%s%u:", level ? "; " : "", level);
		for (uint32_t i = 0; i < ch->n[level]; i++) {
			if (l->cells->at[ch->base[level] + i].state == CELL_LISTED)
				buf_printf(&text, " %u", i);
		}
	}
	assert_string_equal(text.at, want);
	buf_fini(&text);
}

static void a_device_is_split_off_a_node(void **state)
{
	struct lists l;

	(void)state;
	setup(&l);
	assert_lists(&l, "0:; 1:; 2: 0 1");
	assert_int_equal(take(&l, DEVICE), 0);
	assert_lists(&l, "0: 1; 1: 1; 2: 1");
	teardown(&l);
}

static void what_is_left_of_a_split_goes_first(void **state)
{
	struct lists l;

	(void)state;
	setup(&l);
	take(&l, DEVICE);
	assert_int_equal(take(&l, PAIR), 1);
	assert_int_equal(take(&l, DEVICE), 1);
	assert_int_equal(take(&l, NODE), 1);
	assert_lists(&l, "0:; 1:; 2:");
	assert_int_equal(take(&l, DEVICE), CELL_NONE);
	assert_int_equal(take(&l, NODE), CELL_NONE);
	teardown(&l);
}

static void buddies_that_are_back_are_one_again(void **state)
{
	struct lists l;

	(void)state;
	setup(&l);
	take(&l, DEVICE);
	take(&l, PAIR);
	take(&l, DEVICE);
	take(&l, NODE);
	put(&l, DEVICE, 0);
	assert_lists(&l, "0: 0; 1:; 2:");
	put(&l, DEVICE, 1);
	assert_lists(&l, "0:; 1: 0; 2:");
	put(&l, PAIR, 1);
	assert_lists(&l, "0:; 1:; 2: 0");
	put(&l, NODE, 1);
	assert_lists(&l, "0:; 1:; 2: 0 1");
	teardown(&l);
}

/* Of free cells, and of the buddies of one that is split, that with the fewest devices on loan, then the lowest. */
static void fewest_on_loan_goes_first(void **state)
{
	struct lists l;

	(void)state;
	setup(&l);
	cells_take(l.cells, (struct cell_user){ CELL_NONE, 1, -1 }, (uint32_t[]){ 0, 1 }, 2, NULL, 0);
	cells_take(l.cells, (struct cell_user){ CELL_NONE, 2, -1 }, (uint32_t[]){ 4 }, 1, NULL, 0);
	assert_lists(&l, "0:; 1:; 2: 0 1"); /* loans are none of the lists' business */
	assert_int_equal(take(&l, DEVICE), 6);
	assert_lists(&l, "0: 7; 1: 2; 2: 0");
	assert_int_equal(take(&l, PAIR), 2);
	assert_int_equal(take(&l, PAIR), 1);
	assert_int_equal(take(&l, PAIR), 0);
	cells_give(l.cells, 1, (uint32_t[]){ 0, 1 }, 2);
	cells_give(l.cells, 2, (uint32_t[]){ 4 }, 1);
	teardown(&l);
}

/* Nodes of three devices beside nodes of four in two pairs. */
static void chains_have_lists_of_their_own(void **state)
{
	struct lists l = { 0 };
	uint32_t from;

	(void)state;
	ops_chain(&l.design, "three", (uint32_t[]){ 3, 0 }, 1, 1);
	ops_chain(&l.design, "four", (uint32_t[]){ 2, 2, 0 }, NODE, 1);
	l.cells = cells_create(&l.design);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(cells_index(l.cells, cells_alloc(l.cells, 0, 0, 0, &from)), i);
	assert_int_equal(cells_alloc(l.cells, 0, 0, 0, &from), CELL_NONE);
	assert_int_equal(l.cells->chains[1].listed[NODE], 1);
	assert_int_equal(cells_index(l.cells, cells_alloc(l.cells, 1, PAIR, PAIR, &from)), 0);
	assert_int_equal(from, NODE);
	for (uint32_t i = 0; i < 3; i++)
		cells_free(l.cells, l.cells->chains[0].base[0] + i);
	assert_int_equal(l.cells->chains[0].listed[1], 1);
	assert_int_equal(l.cells->chains[1].listed[PAIR], 1);
	teardown(&l);
}

/* ---- claims */

struct scene {
	struct cell_design design;
	struct ops ops;
};

static void open_scene(struct scene *s)
{
	ops_init(&s->ops, cells_create(&s->design), 1);
}

static void close_scene(struct scene *s)
{
	cells_destroy(s->ops.cells);
	ops_fini(&s->ops);
	cell_design_fini(&s->design);
}

static void assert_sound(const struct cells *cells)
{
	struct buf text = { 0 };

	if (!cells_audit(cells, &text))
		fail_msg("%s", text.at);
	buf_fini(&text);
}

static uint32_t vc_of(const struct cell_design *d, const char *name)
{
	return name ? names_find(&d->vcs, name, strlen(name)) : CELL_NONE;
}

/* Runs a gang of one pod; the number of the job, or CELL_NONE. */
static uint32_t run_pods(struct scene *s, const char *vc, int priority, const uint32_t *pods, uint32_t n)
{
	struct cell_ask ask = { .user = { vc_of(&s->design, vc), 0, priority },
		.pods = pods,
		.npods = n,
		.preempts = true };
	bool ran = ops_run(&s->ops, &ask);

	assert_sound(s->ops.cells);
	return ran ? ask.user.job : CELL_NONE;
}

static uint32_t run(struct scene *s, const char *vc, int priority, uint32_t gpus)
{
	return run_pods(s, vc, priority, &gpus, 1);
}

/* The devices of a job, ascending: "0 1 5". */
static void assert_devices(const struct scene *s, uint32_t job, const char *want)
{
	struct buf text = { 0 };

	assert_int_not_equal(job, CELL_NONE);
	for (uint32_t leaf = 0; leaf < s->ops.cells->nleaves; leaf++) {
		for (uint32_t i = 0; i < s->ops.jobs.at[job].n; i++) {
			if (s->ops.jobs.at[job].leaves[i] == leaf)
				buf_printf(&text, "%s%u", text.n ? " " : "", leaf);
		}
	}
	assert_string_equal(text.n ? text.at : "", want);
	buf_fini(&text);
}

/* Two nodes of two sockets of two devices; A has a node, B a node. */
static void two_nodes(struct scene *s)
{
	*s = (struct scene){ 0 };
	ops_chain(&s->design, "gpu", (uint32_t[]){ 2, 2, 0 }, NODE, 2);
	ops_promise(&s->design, "A", 0, NODE, 1);
	ops_promise(&s->design, "B", 0, NODE, 1);
	open_scene(s);
}

static void the_sharing_anomaly_does_not_happen(void **state)
{
	struct scene s;

	(void)state;
	two_nodes(&s);
	/* Four jobs of A, each a device, come first: they stay in one node, and B has the other. */
	for (int i = 0; i < 4; i++)
		assert_int_not_equal(run(&s, "A", 0, 1), CELL_NONE);
	assert_devices(&s, run(&s, "B", 0, 4), "4 5 6 7");
	assert_int_equal(run(&s, "A", 0, 1), CELL_NONE);
	close_scene(&s);
}

/* A has a pair and a device, B a node. */
static void devices_are_covered_as_far_as_claims_go(void **state)
{
	struct scene s = { 0 };
	uint32_t a, fresh;

	(void)state;
	ops_chain(&s.design, "gpu", (uint32_t[]){ 2, 2, 0 }, NODE, 2);
	ops_promise(&s.design, "A", 0, PAIR, 1);
	ops_promise(&s.design, "A", 0, DEVICE, 1);
	ops_promise(&s.design, "B", 0, NODE, 1);
	open_scene(&s);
	a = vc_of(&s.design, "A");
	assert_true(cells_cover(s.ops.cells, a, (uint32_t[]){ 0 }, (uint32_t[]){ 1 }, 1, &fresh));
	assert_int_equal(fresh, 1);
	assert_true(cells_cover(s.ops.cells, a, (uint32_t[]){ 4, 5, 6 }, (uint32_t[]){ 3 }, 1, &fresh));
	assert_int_equal(fresh, 3);
	/* More than it has; two nodes, where B needs one; */
	assert_false(cells_cover(s.ops.cells, a, (uint32_t[]){ 0, 1, 2, 3 }, (uint32_t[]){ 4 }, 1,
		&fresh));
	assert_false(cells_cover(s.ops.cells, a, (uint32_t[]){ 0, 1, 4 }, (uint32_t[]){ 2, 1 }, 2,
		&fresh));
	/* what is used already, or would split a cell that is idle; */
	assert_devices(&s, run(&s, "A", 0, 1), "0");
	assert_false(cells_cover(s.ops.cells, a, (uint32_t[]){ 0 }, (uint32_t[]){ 1 }, 1, &fresh));
	assert_false(cells_cover(s.ops.cells, a, (uint32_t[]){ 1 }, (uint32_t[]){ 1 }, 1, &fresh));
	assert_true(cells_cover(s.ops.cells, a, (uint32_t[]){ 2 }, (uint32_t[]){ 1 }, 1, &fresh));
	assert_int_equal(fresh, 2);
	/* what another claims; and a cell that is in use already is not bound once more. */
	assert_devices(&s, run(&s, "B", 0, 1), "4");
	assert_false(cells_cover(s.ops.cells, a, (uint32_t[]){ 5 }, (uint32_t[]){ 1 }, 1, &fresh));
	assert_true(cells_cover(s.ops.cells, vc_of(&s.design, "B"), (uint32_t[]){ 5 },
		(uint32_t[]){ 1 }, 1, &fresh));
	assert_int_equal(fresh, 0);
	cells_set_bad(s.ops.cells, 2, true);
	assert_false(cells_cover(s.ops.cells, a, (uint32_t[]){ 2 }, (uint32_t[]){ 1 }, 1, &fresh));
	assert_false(
		cells_cover(s.ops.cells, CELL_NONE, (uint32_t[]){ 3 }, (uint32_t[]){ 1 }, 1, &fresh));
	assert_sound(s.ops.cells);
	close_scene(&s);
}

static void pods_pack_and_lie_close(void **state)
{
	struct scene s;

	(void)state;
	two_nodes(&s);
	assert_devices(&s, run(&s, "A", 0, 1), "0");
	assert_devices(&s, run(&s, "A", 0, 2), "2 3"); /* a pair, not 1 and 2 */
	assert_devices(&s, run(&s, "A", 0, 1), "1");
	close_scene(&s);
}

static void loans_stay_away_pack_and_give_way(void **state)
{
	struct scene s;
	uint32_t first, second, third;

	(void)state;
	two_nodes(&s);
	run(&s, "A", 0, 1);
	first = run(&s, NULL, -1, 1);
	second = run(&s, NULL, -1, 1);
	assert_devices(&s, first, "4");
	assert_devices(&s, second, "5");
	third = run(&s, NULL, -1, 4); /* no node has four */
	assert_int_equal(third, CELL_NONE);
	assert_devices(&s, run(&s, "B", 0, 4), "4 5 6 7");
	assert_int_equal(s.ops.jobs.at[first].n, 0);
	assert_int_equal(s.ops.jobs.at[second].n, 0);
	close_scene(&s);
}

static void a_higher_priority_preempts_within_its_own_cells_only(void **state)
{
	struct scene s;
	uint32_t low, other;

	(void)state;
	two_nodes(&s);
	low = run(&s, "A", 0, 4);
	other = run(&s, "B", 0, 4);
	assert_int_equal(run(&s, "A", 0, 1), CELL_NONE); /* no higher than who is there */
	assert_int_not_equal(run(&s, "A", 1, 1), CELL_NONE);
	assert_int_equal(s.ops.jobs.at[low].n, 0);
	assert_int_equal(s.ops.jobs.at[other].n, 4);
	close_scene(&s);
}

static void whoever_is_lowered_keeps_its_devices_on_loan(void **state)
{
	struct scene s;
	uint32_t low;

	(void)state;
	two_nodes(&s);
	low = run(&s, "A", 0, 4);
	assert_devices(&s, low, "0 1 2 3");
	cells_lower(s.ops.cells, low, 0);
	assert_sound(s.ops.cells);
	assert_devices(&s, run(&s, "A", 1, 4), "4 5 6 7"); /* where nothing is on loan */
	assert_int_equal(s.ops.jobs.at[low].n, 4);
	run(&s, "B", 0, 1);
	assert_int_equal(s.ops.jobs.at[low].n, 0);
	close_scene(&s);
}

static void a_gang_is_all_or_nothing(void **state)
{
	struct scene s;

	(void)state;
	s = (struct scene){ 0 };
	ops_chain(&s.design, "gpu", (uint32_t[]){ 4, 0 }, 1, 4);
	ops_promise(&s.design, "A", 0, 1, 2);
	ops_promise(&s.design, "B", 0, 1, 2);
	open_scene(&s);
	assert_int_equal(run_pods(&s, "A", 0, (uint32_t[]){ 4, 4, 4 }, 3), CELL_NONE);
	assert_int_equal(s.ops.cells->chains[0].listed[1], 4);
	assert_devices(&s, run_pods(&s, "A", 0, (uint32_t[]){ 3, 4 }, 2), "0 1 2 4 5 6 7");
	close_scene(&s);
}

static void a_gang_stays_in_one_cell_that_takes_it(void **state)
{
	struct scene s;

	(void)state;
	s = (struct scene){ 0 };
	ops_chain(&s.design, "gpu", (uint32_t[]){ 4, 2, 0 }, 1, 3); /* racks of two nodes */
	ops_promise(&s.design, "A", 0, 1, 2);
	ops_promise(&s.design, "A", 0, 2, 1);
	open_scene(&s);
	run(&s, "A", 0, 1); /* in a node of its own: a rack is split for it */
	assert_devices(&s, run_pods(&s, "A", 0, (uint32_t[]){ 4, 4 }, 2), "8 9 10 11 12 13 14 15");
	close_scene(&s);
}

static void pins_are_kept(void **state)
{
	struct scene s;

	(void)state;
	s = (struct scene){ 0 };
	ops_chain(&s.design, "gpu", (uint32_t[]){ 2, 2, 0 }, NODE, 3);
	ops_pin(&s.design, "A", 0, PAIR, 3); /* the second pair of the second node */
	ops_promise(&s.design, "B", 0, NODE, 2);
	open_scene(&s);
	assert_devices(&s, run(&s, "A", 0, 2), "6 7");
	assert_int_equal(run(&s, "A", 0, 1), CELL_NONE);
	assert_devices(&s, run(&s, "B", 0, 4), "0 1 2 3");
	assert_devices(&s, run(&s, "B", 0, 4), "8 9 10 11");
	close_scene(&s);
}

/* ---- what is broken */

static void set_bad(struct scene *s, uint32_t from, uint32_t n, bool bad)
{
	for (uint32_t i = from; i < from + n; i++)
		cells_set_bad(s->ops.cells, i, bad);
	assert_sound(s->ops.cells);
}

static void broken_cells_are_bound_last(void **state)
{
	struct scene s;

	(void)state;
	two_nodes(&s);
	set_bad(&s, 1, 1, true);
	assert_devices(&s, run(&s, "A", 0, 4), "4 5 6 7");
	assert_int_equal(run(&s, "B", 0, 4), CELL_NONE); /* unavoidable now */
	assert_int_equal(cells_doomed(s.ops.cells, vc_of(&s.design, "B"), 0, NODE), 1);
	assert_devices(&s, run(&s, "B", 0, 2), "2 3"); /* but what of it works is used */
	set_bad(&s, 1, 1, false);
	assert_devices(&s, run(&s, "B", 0, 1), "0");
	close_scene(&s);
}

static void small_cells_come_from_what_is_broken_already(void **state)
{
	struct scene s;

	(void)state;
	s = (struct scene){ 0 };
	ops_chain(&s.design, "gpu", (uint32_t[]){ 2, 2, 0 }, NODE, 2);
	ops_promise(&s.design, "A", 0, DEVICE, 1);
	ops_promise(&s.design, "B", 0, NODE, 1);
	open_scene(&s);
	set_bad(&s, 6, 1, true);
	/* From the node that has lost its wholeness, so that the whole one stays for B. */
	assert_devices(&s, run(&s, "A", 0, 1), "7");
	assert_devices(&s, run(&s, "B", 0, 4), "0 1 2 3");
	close_scene(&s);
}

static void a_larger_cell_is_split_for_a_sound_one_if_nobody_loses_by_it(void **state)
{
	struct scene s;

	(void)state;
	s = (struct scene){ 0 };
	ops_chain(&s.design, "gpu", (uint32_t[]){ 2, 2, 0 }, NODE, 2);
	ops_promise(&s.design, "A", 0, DEVICE, 3);
	open_scene(&s);
	assert_devices(&s, run(&s, "A", 0, 1), "0");
	set_bad(&s, 1, 3, true); /* all that is left of the first node */
	assert_devices(&s, run(&s, "A", 0, 1), "4");
	close_scene(&s);

	/* The same where somebody was promised the other node. */
	s = (struct scene){ 0 };
	ops_chain(&s.design, "gpu", (uint32_t[]){ 2, 2, 0 }, NODE, 2);
	ops_promise(&s.design, "A", 0, DEVICE, 3);
	ops_promise(&s.design, "B", 0, NODE, 1);
	open_scene(&s);
	assert_devices(&s, run(&s, "A", 0, 1), "0");
	set_bad(&s, 1, 3, true);
	assert_int_equal(run(&s, "A", 0, 1), CELL_NONE);
	assert_devices(&s, run(&s, "B", 0, 4), "4 5 6 7");
	close_scene(&s);
}

static void a_claim_is_bound_anew_each_time(void **state)
{
	struct scene s;
	uint32_t job;

	(void)state;
	two_nodes(&s);
	job = run(&s, "A", 0, 4);
	assert_devices(&s, job, "0 1 2 3");
	ops_stop(&s.ops, job);
	set_bad(&s, 0, 4, true);
	assert_devices(&s, run(&s, "A", 0, 4), "4 5 6 7");
	close_scene(&s);
}

/* ---- properties */

/* A chain of random splits whose promises can be kept. */
static void random_design(struct rng *rng, struct cell_design *d)
{
	uint32_t splits[5] = { 0 }, levels = 1 + (uint32_t)rng_below(rng, 3);
	uint32_t chains = 1 + (uint32_t)rng_below(rng, 2);

	for (uint32_t c = 0; c < chains; c++) {
		for (uint32_t i = 0; i < levels; i++)
			splits[i] = 1 + (uint32_t)rng_below(rng, 3);
		ops_chain(d, c ? "b" : "a", splits, (uint32_t)rng_below(rng, levels) + 1,
			1 + (uint32_t)rng_below(rng, 5));
	}
	for (int tries = 0; tries < 12; tries++) {
		static const char *const names[] = { "A", "B", "C" };
		uint32_t chain = (uint32_t)rng_below(rng, d->chains.n);
		uint32_t level = (uint32_t)rng_below(rng, d->chains.at[chain].nlevels);

		ops_promise(d, names[rng_below(rng, 3)], chain, level, 1 + (uint32_t)rng_below(rng, 3));
		if (!cell_check(d, NULL))
			d->promises.n--;
	}
	names_add(&d->vcs, "A", 1);
}

static void nothing_contradicts_the_books(void **state)
{
	struct rng rng = property("random operations on random cells leave the books sound");

	(void)state;
	for (size_t i = 0; i < rounds(60); i++) {
		struct scene s = { 0 };

		random_design(&rng, &s.design);
		open_scene(&s);
		rng_init(&s.ops.rng, rng_u64(&rng), RNG_TEST);
		s.ops.faults = 0.1;
		s.ops.most_down = (uint32_t)s.design.hosts.n / 2;
		for (int k = 0; k < 200; k++) {
			ops_step(&s.ops);
			assert_sound(s.ops.cells);
		}
		while (s.ops.running.n)
			ops_stop(&s.ops, s.ops.running.at[0]);
		/* All given back: the lists are exactly the top cells. */
		for (uint32_t c = 0; c < s.design.chains.n; c++) {
			const struct cell_chain *kind = &s.design.chains.at[c];

			for (uint32_t level = 0; level < kind->nlevels; level++)
				assert_int_equal(s.ops.cells->chains[c].listed[level],
					level + 1 == kind->nlevels ? kind->ntops : 0);
		}
		close_scene(&s);
	}
}

/* The design of one virtual cluster that has its cells to itself. */
static void private_design(const struct cell_design *from, uint32_t vc, struct cell_design *out)
{
	for (uint32_t c = 0; c < from->chains.n; c++) {
		struct cell_chain chain = from->chains.at[c];

		chain.first_host = (uint32_t)out->hosts.n;
		vec_push(&out->chains, chain);
		for (uint32_t i = 0; i < cell_count(&chain, chain.node_level); i++)
			vec_push(&out->hosts, (struct cell_host){ "n", i, NULL });
	}
	for (uint32_t i = 0; i < from->vcs.n; i++)
		names_add(&out->vcs, from->vcs.at[i], strlen(from->vcs.at[i]));
	for (size_t i = 0; i < from->promises.n; i++) {
		if (from->promises.at[i].vc == vc)
			vec_push(&out->promises, from->promises.at[i]);
	}
}

/* The two worlds of one virtual cluster, and its jobs in both. */
struct worlds {
	struct scene shared, alone;
	struct {
		uint32_t shared, alone;
	} mine[64];
	uint32_t nmine;
	size_t granted, refused;
};

static bool is_mine(const struct worlds *w, uint32_t job)
{
	for (uint32_t i = 0; i < w->nmine; i++) {
		if (w->mine[i].shared == job)
			return true;
	}
	return false;
}

/* Somebody else comes, on loan or through its own claims, or goes. */
static void others_do_something(struct worlds *w, struct rng *rng)
{
	struct ops *ops = &w->shared.ops;
	uint32_t gpus = 1 + (uint32_t)rng_below(rng, 3);
	uint32_t vc = (uint32_t)rng_below(rng, w->shared.design.vcs.n);
	struct cell_ask ask = { .user = { vc ? vc : CELL_NONE, 0, vc ? 0 : -1 },
		.chain = (uint32_t)rng_below(rng, w->shared.design.chains.n),
		.pods = &gpus,
		.npods = 1 };

	if (rng_below(rng, 3)) {
		ops_run(ops, &ask);
	} else if (ops->running.n) {
		uint32_t job = ops->running.at[rng_below(rng, ops->running.n)];

		if (!is_mine(w, job))
			ops_stop(ops, job);
	}
}

/* The first virtual cluster asks in both worlds. */
static void i_ask(struct worlds *w, struct rng *rng)
{
	uint32_t gpus = 1 + (uint32_t)rng_below(rng, 3), pods[2] = { gpus, gpus };
	struct cell_ask ask = { .user = { 0, 0, 0 },
		.chain = (uint32_t)rng_below(rng, w->shared.design.chains.n),
		.pods = pods,
		.npods = 1 + (uint32_t)rng_below(rng, 2) };
	bool shared = ops_run(&w->shared.ops, &ask), alone;
	uint32_t job = ask.user.job;

	alone = ops_run(&w->alone.ops, &ask);
	assert_int_equal(shared, alone);
	if (shared) {
		w->mine[w->nmine].shared = job;
		w->mine[w->nmine++].alone = ask.user.job;
	}
	w->granted += shared;
	w->refused += !shared;
}

static void one_of_mine_ends(struct worlds *w, struct rng *rng)
{
	uint32_t i = (uint32_t)rng_below(rng, w->nmine);

	ops_stop(&w->shared.ops, w->mine[i].shared);
	ops_stop(&w->alone.ops, w->mine[i].alone);
	w->mine[i] = w->mine[--w->nmine];
}

/*
 * Whatever the others do, a virtual cluster gets what it would get alone: every request is asked of
 * the shared cells and of private ones, and the answers agree.
 */
static void everybody_gets_what_it_would_get_alone(void **state)
{
	struct rng rng = property("shared cells answer as private ones do");
	struct worlds w = { 0 };

	(void)state;
	for (size_t i = 0; i < rounds(60); i++) {
		w.shared = w.alone = (struct scene){ 0 };
		w.nmine = 0;
		random_design(&rng, &w.shared.design);
		private_design(&w.shared.design, 0, &w.alone.design);
		open_scene(&w.shared);
		open_scene(&w.alone);
		for (int k = 0; k < 300; k++) {
			others_do_something(&w, &rng);
			if (w.nmine && (w.nmine == 64 || rng_below(&rng, 3) == 0))
				one_of_mine_ends(&w, &rng);
			else
				i_ask(&w, &rng);
			assert_sound(w.shared.ops.cells);
		}
		close_scene(&w.shared);
		close_scene(&w.alone);
	}
	assert_true(w.granted > rounds(60) * 20 && w.refused > rounds(60) * 20);
}

static void a_hundred_thousand_operations_break_no_promise(void **state)
{
	size_t n = getenv("SOAK") ? 1000000 : rounds(100000);
	struct scene s = { 0 };

	(void)state;
	property("operations on 2,048 devices");
	ops_published(&s.design);
	ops_init(&s.ops, cells_create(&s.design), property_seed());
	for (size_t i = 0; i < n; i++) {
		ops_step(&s.ops);
		assert_true(ops_safe(s.ops.cells));
		if (i % 100 == 0 || getenv("SOAK"))
			assert_sound(s.ops.cells);
	}
	assert_true(s.ops.scheduled > n / 3 && s.ops.failed > n / 1000);
	close_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_is_split_off_a_node),
		cmocka_unit_test(what_is_left_of_a_split_goes_first),
		cmocka_unit_test(buddies_that_are_back_are_one_again),
		cmocka_unit_test(fewest_on_loan_goes_first),
		cmocka_unit_test(chains_have_lists_of_their_own),
		cmocka_unit_test(the_sharing_anomaly_does_not_happen),
		cmocka_unit_test(devices_are_covered_as_far_as_claims_go),
		cmocka_unit_test(pods_pack_and_lie_close),
		cmocka_unit_test(loans_stay_away_pack_and_give_way),
		cmocka_unit_test(a_higher_priority_preempts_within_its_own_cells_only),
		cmocka_unit_test(whoever_is_lowered_keeps_its_devices_on_loan),
		cmocka_unit_test(a_gang_is_all_or_nothing),
		cmocka_unit_test(a_gang_stays_in_one_cell_that_takes_it),
		cmocka_unit_test(pins_are_kept),
		cmocka_unit_test(broken_cells_are_bound_last),
		cmocka_unit_test(small_cells_come_from_what_is_broken_already),
		cmocka_unit_test(a_larger_cell_is_split_for_a_sound_one_if_nobody_loses_by_it),
		cmocka_unit_test(a_claim_is_bound_anew_each_time),
		cmocka_unit_test(nothing_contradicts_the_books),
		cmocka_unit_test(everybody_gets_what_it_would_get_alone),
		cmocka_unit_test(a_hundred_thousand_operations_break_no_promise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
