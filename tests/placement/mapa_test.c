/*
 * MAPA: the worked example, the two models of bandwidth, and what must hold for any graph.
 */
#include "placement/mapa_score.h"

#include <math.h>
#include <string.h>

#include "placement/placer.h"
#include "support/property.h"

/* Devices 0 to 3; 0-1 have two links, 2-3 one, the others none. */
static struct topology *example(struct cluster *cluster)
{
	struct topology *t;

	cluster_add_topology(cluster, "example", 4);
	t = &cluster->topologies[0];
	topology_link_all(t, 12e9);
	topology_link(t, 0, 1, 50e9);
	topology_link(t, 2, 3, 25e9);
	return t;
}

static uint64_t pick(const struct topology *t, uint64_t free_, uint32_t n, enum mapa_rule rule)
{
	struct mapa_graph *graph = mapa_graph_create(t, PATTERN_RING, bandwidth_published);
	struct mapa_choice choice = { 0 };

	assert_true(mapa_choose(graph, free_, n, rule, -INFINITY, &choice));
	mapa_graph_destroy(graph);
	return choice.devices;
}

static void the_worked_example(void **state)
{
	struct cluster cluster = { 0 };
	const struct topology *t = example(&cluster);
	struct mapa_graph *graph = mapa_graph_create(t, PATTERN_RING, bandwidth_published);

	(void)state;
	assert_int_equal(pick(t, 0xf, 2, MAPA_PREDICTED), 0x3);
	assert_true(mapa_linked(graph, 0xe) == 25 && mapa_linked(graph, 0xd) == 25);
	assert_true(mapa_linked(graph, 0xb) == 50 && mapa_linked(graph, 0x7) == 50);
	assert_int_equal(pick(t, 0xf, 1, MAPA_PRESERVE), 0x4);
	assert_int_equal(pick(t, 0xb, 2, MAPA_PREDICTED), 0x3);
	assert_true(mapa_linked(graph, 0xc) == 25 && mapa_linked(graph, 0x3) == 50);
	assert_int_equal(pick(t, 0xf, 2, MAPA_PRESERVE), 0xc);
	assert_int_equal(pick(t, 0xf, 2, MAPA_GREEDY), 0x3);
	assert_int_equal(pick(t, 0xe, 2, MAPA_LOWEST), 0x6);
	mapa_graph_destroy(graph);
	cluster_fini(&cluster);
}

/* ---- the two models */

static void another_or_a_faster_link_never_counts_less(void **state)
{
	(void)state;
	for (uint32_t host = 0; host < 20; host++) {
		for (uint32_t single = 0; single < 20; single++) {
			for (uint32_t two = 0; two < 20; two++) {
				double here = bandwidth_monotone((uint32_t[]){ host, single, two });

				assert_true(bandwidth_monotone(
						    (uint32_t[]){ host + 1, single, two }) > here);
				assert_true(bandwidth_monotone(
						    (uint32_t[]){ host, single + 1, two }) > here);
				assert_true(bandwidth_monotone(
						    (uint32_t[]){ host, single, two + 1 }) > here);
				if (host)
					assert_true(bandwidth_monotone((uint32_t[]){ host - 1,
							    single + 1, two }) > here);
				if (single)
					assert_true(bandwidth_monotone((uint32_t[]){ host,
							    single - 1, two + 1 }) > here);
			}
		}
	}
}

/* Why there is a second one. */
static void the_published_one_is_not_monotone(void **state)
{
	(void)state;
	assert_true(bandwidth_published((uint32_t[]){ 1, 1, 0 }) <
		bandwidth_published((uint32_t[]){ 2, 0, 0 }));
	assert_true(bandwidth_published((uint32_t[]){ 2, 3, 0 }) >
		bandwidth_published((uint32_t[]){ 0, 5, 0 }));
}

static void the_two_are_close_for_links_of_one_kind(void **state)
{
	double worst = 0;

	(void)state;
	for (uint32_t n = 1; n <= 5; n++) {
		for (int kind = 0; kind < EMBED_KINDS; kind++) {
			uint32_t links[EMBED_KINDS] = { 0 };

			links[kind] = n;
			worst = fmax(worst,
				fabs(bandwidth_monotone(links) - bandwidth_published(links)));
		}
	}
	printf("at most %.1f GB/s apart\n", worst);
	assert_true(worst < 8);
}

/* ---- any graph */

static void draw(struct rng *rng, struct cluster *cluster, uint32_t n)
{
	static const double speeds[] = { 10e9, 25e9, 50e9 };

	cluster_add_topology(cluster, "drawn", n);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < i; j++)
			topology_link(&cluster->topologies[0], i, j, speeds[rng_below(rng, 3)]);
	}
}

static double value_of(struct mapa_graph *graph, uint64_t free_, uint64_t set, enum mapa_rule rule,
	embed_value *predict)
{
	struct embedding e = { .value = -INFINITY };

	if (rule == MAPA_PRESERVE)
		return mapa_linked(graph, free_ & ~set) - mapa_linked(graph, free_);
	embed_order(mapa_graph_edges(graph), set, PATTERN_RING,
		rule == MAPA_GREEDY ? NULL : predict, &e);
	return e.value;
}

static void no_other_choice_is_better(void **state)
{
	struct rng rng = property("what is chosen against every set of free devices");

	(void)state;
	for (size_t round = 0; round < rounds(150); round++) {
		uint32_t n = 2 + (uint32_t)rng_below(&rng, 6), k;
		embed_value *predict = rng_below(&rng, 2) ? bandwidth_published : bandwidth_monotone;
		enum mapa_rule rule = (enum mapa_rule)rng_below(&rng, 3);
		struct cluster cluster = { 0 };
		struct mapa_choice choice;
		struct mapa_graph *graph;
		uint64_t free_;

		draw(&rng, &cluster, n);
		graph = mapa_graph_create(&cluster.topologies[0], PATTERN_RING, predict);
		free_ = 1 + rng_below(&rng, (1u << n) - 1);
		k = 1 + (uint32_t)rng_below(&rng, (uint32_t)__builtin_popcountll(free_));
		if (k == 1)
			rule = MAPA_PRESERVE;
		assert_true(mapa_choose(graph, free_, k, rule, -INFINITY, &choice));
		assert_int_equal(choice.devices & ~free_, 0);
		assert_int_equal(__builtin_popcountll(choice.devices), k);
		for (uint64_t set = 1; set < UINT64_C(1) << n; set++) {
			if (!(set & ~free_) && (uint32_t)__builtin_popcountll(set) == k)
				assert_true(value_of(graph, free_, set, rule, predict) <=
					value_of(graph, free_, choice.devices, rule, predict) + 1e-9);
		}
		assert_false(mapa_choose(graph, free_, (uint32_t)__builtin_popcountll(free_) + 1,
			rule, -INFINITY, &choice));
		mapa_graph_destroy(graph);
		cluster_fini(&cluster);
	}
}

static void numbers_do_not_matter(void **state)
{
	struct rng rng = property("devices numbered the other way round: the same score");

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		uint32_t n = 2 + (uint32_t)rng_below(&rng, 6),
			 k = 2 + (uint32_t)rng_below(&rng, n - 1);
		struct cluster a = { 0 }, b = { 0 };
		struct mapa_graph *ga, *gb;

		draw(&rng, &a, n);
		cluster_add_topology(&b, "turned", n);
		for (uint32_t i = 0; i < n; i++) {
			for (uint32_t j = 0; j < i; j++)
				topology_link(&b.topologies[0], n - 1 - i, n - 1 - j,
					topology_Bps(&a.topologies[0], i, j));
		}
		ga = mapa_graph_create(&a.topologies[0], PATTERN_RING, bandwidth_monotone);
		gb = mapa_graph_create(&b.topologies[0], PATTERN_RING, bandwidth_monotone);
		for (int rule = MAPA_GREEDY; rule <= MAPA_PRESERVE; rule++) {
			struct mapa_choice x, y;

			assert_true(mapa_choose(ga, (1u << n) - 1, k, (enum mapa_rule)rule,
				-INFINITY, &x));
			assert_true(mapa_choose(gb, (1u << n) - 1, k, (enum mapa_rule)rule,
				-INFINITY, &y));
			assert_true(fabs(x.value - y.value) < 1e-9);
		}
		mapa_graph_destroy(ga);
		mapa_graph_destroy(gb);
		cluster_fini(&a);
		cluster_fini(&b);
	}
}

/* Devices in a circle, each joined to the next: turned by some, the same choice turned by as many. */
static void a_circle_can_be_turned(void **state)
{
	enum { N = 6 };
	struct cluster cluster = { 0 };
	struct mapa_graph *graph;

	(void)state;
	cluster_add_topology(&cluster, "circle", N);
	topology_link_all(&cluster.topologies[0], 12e9);
	for (uint32_t i = 0; i < N; i++)
		topology_link(&cluster.topologies[0], i, (i + 1) % N, 50e9);
	graph = mapa_graph_create(&cluster.topologies[0], PATTERN_RING, bandwidth_monotone);
	for (uint32_t turn = 0; turn < N; turn++) {
		/* Five of six are free, in a row from `turn` on. */
		uint64_t free_ = 0x3f & ~(UINT64_C(1) << (turn + N - 1) % N);
		struct mapa_choice first, choice;

		for (int rule = MAPA_GREEDY; rule <= MAPA_PRESERVE; rule++) {
			uint64_t row = 0;

			assert_true(
				mapa_choose(graph, 0x1f, 4, (enum mapa_rule)rule, -INFINITY, &first));
			assert_true(mapa_choose(graph, free_, 4, (enum mapa_rule)rule, -INFINITY,
				&choice));
			assert_true(fabs(choice.value - first.value) < 1e-9);
			/* One end of the row or the other is left over. */
			for (uint32_t i = 0; i < 4; i++)
				row |= UINT64_C(1) << (turn + i) % N;
			assert_true(choice.devices == row ||
				choice.devices == (free_ & ~(UINT64_C(1) << turn)));
		}
	}
	mapa_graph_destroy(graph);
	cluster_fini(&cluster);
}

/* Nothing to choose between: the lowest numbers, by every rule. */
static void equals_go_by_number(void **state)
{
	struct cluster cluster = { 0 };
	struct mapa_graph *graph;
	struct mapa_choice choice;

	(void)state;
	cluster_add_topology(&cluster, "alike", 8);
	topology_link_all(&cluster.topologies[0], 25e9);
	graph = mapa_graph_create(&cluster.topologies[0], PATTERN_RING, bandwidth_published);
	for (int rule = MAPA_GREEDY; rule <= MAPA_SOCKET; rule++) {
		assert_true(mapa_choose(graph, 0xf6, 3, (enum mapa_rule)rule, -INFINITY, &choice));
		assert_int_equal(choice.devices, 0x16);
	}
	mapa_graph_destroy(graph);
	cluster_fini(&cluster);
}

/* ---- several nodes */

static void the_best_node_is_taken(void **state)
{
	struct cluster cluster = { 0 };
	struct placing_note note;
	struct slots out = { 0 };
	struct err err = { 0 };
	struct space space;
	struct job job;
	void *self = mem_alloc(placer_find("mapa", NULL)->state_size);
	const struct placer *mapa = placer_find("mapa", NULL);
	struct placing p = { .space = &space, .job = &job, .gpus = 2, .note = &note };
	struct job other;

	(void)state;
	example(&cluster);
	cluster_add_type(&cluster, "v100");
	for (int i = 0; i < 3; i++)
		cluster_add_node(&cluster, (struct node){ .devices = 4, .topology = 0 });
	space_init(&space, &cluster);
	job_init(&job);
	job_init(&other);
	space_take(&space, &other, 1, (struct slot){ 0, 0x1 });
	space_take(&space, &other, 1, (struct slot){ 1, 0x8 });
	option_defaults(mapa->options, self);
	mapa->begin(self, &cluster, NULL, &err);
	/* Node 0 has lost its best pair, node 1 has it and is fuller than node 2. */
	assert_true(mapa->choose(self, &p, &out));
	assert_int_equal(out.at[0].node, 1);
	assert_int_equal(out.at[0].devices, 0x3);
	mapa->fini(self);
	free(self);
	free(out.at);
	space_fini(&space);
	cluster_fini(&cluster);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worked_example),
		cmocka_unit_test(another_or_a_faster_link_never_counts_less),
		cmocka_unit_test(the_published_one_is_not_monotone),
		cmocka_unit_test(the_two_are_close_for_links_of_one_kind),
		cmocka_unit_test(no_other_choice_is_better),
		cmocka_unit_test(numbers_do_not_matter),
		cmocka_unit_test(a_circle_can_be_turned),
		cmocka_unit_test(equals_go_by_number),
		cmocka_unit_test(the_best_node_is_taken),
	};

	return cmocka_run_group_tests_name("placement/mapa", tests, NULL, NULL);
}
