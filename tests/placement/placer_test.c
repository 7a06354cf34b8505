/*
 * Placers against trying every way: whether there is room, on how few nodes,
 * and whether the nodes are those that the rule names.
 */
#include "placement/placer.h"

#include <math.h>
#include <string.h>

#include "support/property.h"
#include "support/scene.h"

enum { NODES_LIMIT = 8 };

/* A cluster with some devices gone, and a question. */
struct table {
	struct cluster cluster;
	struct space space;
	struct job job;
	struct rng rng;
	struct placing placing;
	bool refused; /* the last answer: there is room, but not as the rule wants it, and it says so */
};

static void table_fini(struct table *t)
{
	space_fini(&t->space);
	cluster_fini(&t->cluster);
}

static void table_init(struct table *t, const char *cluster, uint32_t gpus)
{
	struct err err;

	*t = (struct table){ 0 };
	assert_int_equal(cluster_parse(cluster, &t->cluster, &err), 0);
	job_init(&t->job);
	rng_init(&t->rng, 1, RNG_PLACER);
	t->placing = (struct placing){
		.space = &t->space,
		.job = &t->job,
		.gpus = gpus,
		.rng = &t->rng,
	};
}

/* Somebody else holds all but `left` devices of the node. */
static void leave(struct table *t, uint32_t node, uint32_t left)
{
	uint64_t free_ = t->space.nodes[node].free;
	struct slot slot = { node, free_ & ~space_lowest(free_, left) };
	struct job other;

	job_init(&other);
	if (slot.devices)
		space_take(&t->space, &other, 1, slot);
}

static void draw_table(struct table *t, struct rng *rng, bool limited)
{
	static const char *const clusters[] = { "4x4", "6x2", "1x8", "3x1", "5x3" };

	table_init(t, clusters[rng_below(rng, COUNT(clusters))], pick(rng, 12));
	for (uint32_t i = 0; limited && i < t->cluster.nnodes; i++)
		t->cluster.nodes[i].cpus = (double)rng_below(rng, 5);
	t->job.cpus = limited ? (double)rng_below(rng, 13) : 0;
	space_init(&t->space, &t->cluster);
	for (uint32_t i = 0; i < t->cluster.nnodes; i++) {
		leave(t, i, (uint32_t)rng_below(rng, t->cluster.nodes[i].devices + 1));
		if (rng_below(rng, 10) == 0)
			space_set_up(&t->space, i, false);
	}
}

/* ---- what is possible */

/* The most devices the node can give this job. */
static uint32_t most_of(const struct table *t, uint32_t node)
{
	uint32_t n = t->space.nodes[node].up ? t->space.nodes[node].nfree : 0;

	while (n > 0 && !space_feeds(&t->space, &t->job, t->placing.gpus, node, n))
		n--;
	return n;
}

/* The fewest nodes that take the gang, trying every set of them; 0 if none does. */
static uint32_t fewest_nodes(const struct table *t)
{
	uint32_t best = 0;

	for (uint32_t set = 1; set < UINT32_C(1) << t->cluster.nnodes; set++) {
		uint32_t gpus = 0, size = (uint32_t)__builtin_popcount(set);

		for (uint32_t node = 0; node < t->cluster.nnodes; node++)
			gpus += set >> node & 1 ? most_of(t, node) : 0;
		if (gpus >= t->placing.gpus && (best == 0 || size < best))
			best = size;
	}
	return best;
}

/* Whole empty nodes and one that takes the rest: what "consolidated" means. */
static bool can_compact(const struct table *t)
{
	uint32_t size = t->space.types[0].max, whole = 0, rest = t->placing.gpus % size, fit = 0;

	for (uint32_t node = 0; node < t->cluster.nnodes; node++) {
		whole += most_of(t, node) == size;
		fit += rest > 0 && most_of(t, node) >= rest;
	}
	/* A whole node that is used up cannot take the rest as well. */
	return whole >= t->placing.gpus / size && (rest == 0 || fit >= t->placing.gpus / size + 1);
}

static uint32_t total(const struct table *t)
{
	uint32_t sum = 0;

	for (uint32_t node = 0; node < t->cluster.nnodes; node++)
		sum += most_of(t, node);
	return sum;
}

/* An answer must be what was asked for, of what is there. */
static void check_slots(const struct table *t, const struct slots *s, const char *who)
{
	uint32_t gpus = 0, seen = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t node = s->at[i].node, n = (uint32_t)__builtin_popcountll(s->at[i].devices);

		if (n == 0 || n > most_of(t, node) || (s->at[i].devices & ~t->space.nodes[node].free))
			fail_msg("%s takes what node %u has not", who, node);
		if (seen >> node & 1)
			fail_msg("%s names node %u twice", who, node);
		seen |= UINT32_C(1) << node;
		gpus += n;
	}
	if (gpus != t->placing.gpus || s->gpus != gpus)
		fail_msg("%s gives %u devices of %u", who, gpus, t->placing.gpus);
}

static bool ask(struct table *t, const struct placer *placer, const char *options, struct slots *out)
{
	struct placing_note note = { .why = { .other = JOB_NONE }, .wake_s = INFINITY };
	void *state = mem_alloc(placer->state_size + 1);
	struct err err = { 0 };
	bool found;

	option_defaults(placer->options, state);
	assert_int_equal(option_parse(placer->options, state, placer->name, options, &err), 0);
	if (placer->begin)
		assert_int_equal(placer->begin(state, &t->cluster, NULL, &err), 0);
	out->n = out->gpus = 0;
	t->placing.note = &note;
	found = placer->choose(state, &t->placing, out);
	t->refused = !found && note.why.why != WHY_NONE;
	t->placing.note = NULL;
	if (placer->fini)
		placer->fini(state);
	free(state);
	return found;
}

/* ---- properties */

static void every_placer_finds_room_if_there_is_any(void **state)
{
	struct rng rng = property("placers against what is possible");

	(void)state;
	for (size_t i = 0; i < rounds(3000); i++) {
		struct slots found = { 0 };
		struct table t;

		draw_table(&t, &rng, i % 2);
		for (size_t p = 0; placers[p]; p++) {
			bool got = ask(&t, placers[p], "", &found);

			if ((got || t.refused) != (total(&t) >= t.placing.gpus))
				fail_msg("%s finds %u of %u: %s", placers[p]->name, t.placing.gpus,
					total(&t), got ? "yes" : "no");
			if (got)
				check_slots(&t, &found, placers[p]->name);
		}
		free(found.at);
		table_fini(&t);
	}
}

static void consolidating_uses_as_few_nodes_as_can_be(void **state)
{
	struct rng rng = property("consolidate against every set of nodes");
	const struct placer *consolidate = placer_find("consolidate", NULL);

	(void)state;
	for (size_t i = 0; i < rounds(3000); i++) {
		struct slots found = { 0 };
		struct table t;

		draw_table(&t, &rng, false);
		if (ask(&t, consolidate, "", &found))
			assert_int_equal(found.n, fewest_nodes(&t));
		else
			assert_int_equal(fewest_nodes(&t), 0);
		free(found.at);
		table_fini(&t);
	}
}

static void strict_means_whole_nodes_and_one_for_the_rest(void **state)
{
	struct rng rng = property("strict consolidation against its definition");
	const struct placer *consolidate = placer_find("consolidate", NULL);

	(void)state;
	for (size_t i = 0; i < rounds(3000); i++) {
		struct slots found = { 0 };
		struct table t;
		uint32_t size;

		draw_table(&t, &rng, i % 2);
		size = t.space.types[0].max;
		if (ask(&t, consolidate, "strict=1", &found)) {
			check_slots(&t, &found, "strict consolidate");
			assert_int_equal(found.n, (t.placing.gpus + size - 1) / size);
			assert_true(can_compact(&t));
		} else {
			assert_false(can_compact(&t));
		}
		free(found.at);
		table_fini(&t);
	}
}

static void best_fit_takes_the_fullest_node_that_does(void **state)
{
	struct rng rng = property("best fit against every node");
	const struct placer *best_fit = placer_find("best-fit", NULL);

	(void)state;
	for (size_t i = 0; i < rounds(3000); i++) {
		struct slots found = { 0 };
		struct table t;
		uint32_t best = UINT32_MAX;

		draw_table(&t, &rng, i % 2);
		for (uint32_t node = t.cluster.nnodes; node-- > 0;) {
			if (most_of(&t, node) >= t.placing.gpus &&
				(best == UINT32_MAX ||
					t.space.nodes[node].nfree <= t.space.nodes[best].nfree))
				best = node;
		}
		if (best != UINT32_MAX) {
			assert_true(ask(&t, best_fit, "", &found));
			assert_int_equal(found.n, 1);
			assert_int_equal(found.at[0].node, best);
		}
		free(found.at);
		table_fini(&t);
	}
}

static void first_fit_takes_the_first(void **state)
{
	struct rng rng = property("first fit against every node");
	const struct placer *first_fit = placer_find("first-fit", NULL);

	(void)state;
	for (size_t i = 0; i < rounds(3000); i++) {
		struct slots found = { 0 };
		struct table t;
		uint32_t first = 0;

		draw_table(&t, &rng, i % 2);
		while (first < t.cluster.nnodes && most_of(&t, first) < t.placing.gpus)
			first++;
		if (ask(&t, first_fit, "", &found) && first < t.cluster.nnodes) {
			assert_int_equal(found.n, 1);
			assert_int_equal(found.at[0].node, first);
		}
		for (uint32_t k = 1; k < found.n; k++)
			assert_true(found.at[k - 1].node < found.at[k].node);
		free(found.at);
		table_fini(&t);
	}
}

static void spreading_is_even(void **state)
{
	struct rng rng = property("spread: no node has two more than one that could take more");
	const struct placer *spread = placer_find("spread", NULL);

	(void)state;
	for (size_t i = 0; i < rounds(3000); i++) {
		uint32_t has[NODES_LIMIT] = { 0 };
		struct slots found = { 0 };
		struct table t;

		draw_table(&t, &rng, i % 2);
		if (ask(&t, spread, "", &found)) {
			for (uint32_t k = 0; k < found.n; k++)
				has[found.at[k].node] = (uint32_t)__builtin_popcountll(
					found.at[k].devices);
			for (uint32_t a = 0; a < t.cluster.nnodes; a++) {
				for (uint32_t b = 0; b < t.cluster.nnodes; b++)
					assert_true(has[a] <= has[b] + 1 || has[b] == most_of(&t, b));
			}
		}
		free(found.at);
		table_fini(&t);
	}
}

static void random_takes_every_device_now_and_then(void **state)
{
	struct slots found = { 0 };
	uint32_t times[8] = { 0 };
	struct table t;

	(void)state;
	table_init(&t, "2x4", 2);
	space_init(&t.space, &t.cluster);
	for (int i = 0; i < 800; i++) {
		assert_true(ask(&t, placer_find("random", NULL), "", &found));
		for (uint32_t k = 0; k < found.n; k++) {
			for (uint32_t d = 0; d < 4; d++)
				times[found.at[k].node * 4 + d] += found.at[k].devices >> d & 1;
		}
	}
	for (int i = 0; i < 8; i++)
		assert_in_range(times[i], 150, 250); /* 200 is fair; the seed is fixed */
	free(found.at);
	table_fini(&t);
}

/* ---- blocks of a power of two */

static void take(struct table *t, struct slot slot)
{
	struct job other;

	job_init(&other);
	space_take(&t->space, &other, 1, slot);
}

static uint64_t block(struct table *t, uint32_t gpus, uint32_t node)
{
	struct slots found = { 0 };
	uint64_t devices = 0;

	t->placing.gpus = gpus;
	assert_true(ask(t, placer_find("buddy", NULL), "", &found));
	for (uint32_t i = 0; i < found.n; i++)
		devices |= found.at[i].node == node ? found.at[i].devices : 0;
	free(found.at);
	return devices;
}

static void buddies_spare_large_blocks(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, "2x8", 1);
	space_init(&t.space, &t.cluster);
	assert_int_equal(block(&t, 8, 0), 0xff);
	take(&t, (struct slot){ 0, 0x01 });
	assert_int_equal(block(&t, 1, 0), 0x02); /* beside the one that is taken */
	assert_int_equal(block(&t, 2, 0), 0x0c);
	assert_int_equal(block(&t, 3, 0), 0x70); /* of a block of four */
	assert_int_equal(block(&t, 8, 1), 0xff);
	take(&t, (struct slot){ 0, 0x10 });
	assert_int_equal(block(&t, 4, 1), 0x0f); /* none is left on the first node */
	table_fini(&t);
}

static void even_parts_on_few_nodes(void **state)
{
	static const struct {
		uint32_t gpus, nodes, most;
	} rows[] = { { 3, 1, 3 }, { 6, 2, 3 }, { 7, 2, 4 }, { 9, 3, 3 }, { 10, 3, 4 } };
	struct table t;

	(void)state;
	table_init(&t, "4x4", 1);
	space_init(&t.space, &t.cluster);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct slots found = { 0 };
		uint32_t most = 0, least = UINT32_MAX;

		t.placing.gpus = rows[i].gpus;
		assert_true(ask(&t, placer_find("even", NULL), "", &found));
		for (uint32_t k = 0; k < found.n; k++) {
			uint32_t n = (uint32_t)__builtin_popcountll(found.at[k].devices);

			most = n > most ? n : most;
			least = n < least ? n : least;
		}
		assert_int_equal(found.n, rows[i].nodes);
		assert_int_equal(most, rows[i].most);
		assert_true(most - least <= 1);
		free(found.at);
	}
	table_fini(&t);
}

/* ---- Tiresias' rule */

static const struct {
	const char *what, *model, *options;
	uint32_t want_nodes; /* of 2 devices with 1, 1 and 2 free; 0: waits */
} skews[] = {
	{ "vgg16 has one dominating tensor", "vgg16", "", 1 },
	{ "resnet50 has not: the fullest nodes", "resnet50", "", 2 },
	{ "a high threshold lets vgg16 lie anywhere", "vgg16", "threshold=0.9", 2 },
	{ "a threshold of 0 consolidates everybody", "resnet50", "threshold=0", 1 },
	{ "nothing is known of it: anywhere", "nobody-knows", "", 2 },
	{ "unless one is careful", "nobody-knows", "unknown=1", 1 },
	{ "no model at all", NULL, "", 2 },
	{ "no model at all, carefully", NULL, "unknown=1", 1 },
};

static void skew_consolidates_whom_it_helps(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(skews); i++) {
		struct names models = { 0 };
		struct slots found = { 0 };
		struct profile *profile;
		struct table t;

		table_init(&t, "3x2:v100", 2);
		space_init(&t.space, &t.cluster);
		leave(&t, 0, 1);
		leave(&t, 1, 1);
		profile = profile_create(&t.cluster, &models);
		if (skews[i].model)
			t.job.model = names_add(&models, skews[i].model, strlen(skews[i].model));
		t.placing.belief = profile;
		assert_true(ask(&t, placer_find("skew", NULL), skews[i].options, &found));
		if (found.n != skews[i].want_nodes)
			fail_msg("%s: %u nodes", skews[i].what, found.n);
		leave(&t, 2, 0); /* now only one device is free on each of two nodes */
		if (ask(&t, placer_find("skew", NULL), skews[i].options, &found) !=
			(skews[i].want_nodes == 2))
			fail_msg("%s: scattered", skews[i].what);
		free(found.at);
		profile_destroy(profile);
		names_fini(&models);
		table_fini(&t);
	}
}

static void placers_are_found_by_name(void **state)
{
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; placers[i]; i++) {
		assert_ptr_equal(placer_find(placers[i]->name, &err), placers[i]);
		assert_non_null(placers[i]->summary);
		assert_non_null(placers[i]->choose);
	}
	assert_null(placer_find("first-fat", &err));
	assert_int_equal(err.code, ERR_MISSING);
	assert_non_null(strstr(err.text, "did you mean 'first-fit'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_placer_finds_room_if_there_is_any),
		cmocka_unit_test(consolidating_uses_as_few_nodes_as_can_be),
		cmocka_unit_test(strict_means_whole_nodes_and_one_for_the_rest),
		cmocka_unit_test(best_fit_takes_the_fullest_node_that_does),
		cmocka_unit_test(first_fit_takes_the_first),
		cmocka_unit_test(spreading_is_even),
		cmocka_unit_test(random_takes_every_device_now_and_then),
		cmocka_unit_test(buddies_spare_large_blocks),
		cmocka_unit_test(even_parts_on_few_nodes),
		cmocka_unit_test(skew_consolidates_whom_it_helps),
		cmocka_unit_test(placers_are_found_by_name),
	};

	return cmocka_run_group_tests_name("placement/placer", tests, NULL, NULL);
}
