/*
 * The ledger of free devices against a model that looks at everything.
 */
#include "placement/space.h"

#include <string.h>

#include "support/property.h"
#include "support/scene.h"

enum { NODES_LIMIT = 80, HOLDS_MAX = 64 };

/* Somebody holds devices of one node. */
struct hold {
	struct job job;
	uint32_t gpus;
	struct slot slot;
};

/* The same thing, obviously right. */
struct naive {
	const struct cluster *cluster;
	bool down[NODES_LIMIT];
	struct hold holds[HOLDS_MAX];
	size_t n;
};

static uint64_t naive_free(const struct naive *m, uint32_t node)
{
	uint32_t devices = m->cluster->nodes[node].devices;
	uint64_t bits = devices == 64 ? UINT64_MAX : (UINT64_C(1) << devices) - 1;

	for (size_t i = 0; i < m->n; i++) {
		if (m->holds[i].slot.node == node)
			bits &= ~m->holds[i].slot.devices;
	}
	return bits;
}

static double naive_cpus(const struct naive *m, uint32_t node)
{
	double left = m->cluster->nodes[node].cpus;

	for (size_t i = 0; i < m->n; i++) {
		const struct hold *h = &m->holds[i];

		if (h->slot.node == node)
			left -= h->job.cpus * __builtin_popcountll(h->slot.devices) / h->gpus;
	}
	return left;
}

static void compare_type(const struct space *space, const struct naive *m, uint32_t type)
{
	uint32_t up = 0, free_ = 0, seen = 0, nodes_up = 0;

	for (uint32_t node = 0; node < m->cluster->nnodes; node++) {
		if (m->cluster->nodes[node].type != type || m->down[node])
			continue;
		nodes_up++;
		up += m->cluster->nodes[node].devices;
		free_ += (uint32_t)__builtin_popcountll(naive_free(m, node));
	}
	assert_int_equal(space->types[type].up, up);
	assert_int_equal(space->types[type].free, free_);
	for (uint32_t f = 0; f <= space->types[type].max; f++) {
		uint32_t at = 0, node, last = 0;
		bool first = true;

		for (; (node = space_next(space, type, f, &at)) != UINT32_MAX;
			last = node, first = false) {
			assert_int_equal(__builtin_popcountll(naive_free(m, node)), f);
			assert_int_equal(m->cluster->nodes[node].type, type);
			assert_false(m->down[node]);
			assert_true(first || node > last);
			seen++;
		}
	}
	assert_int_equal(seen, nodes_up);
}

static void compare(const struct space *space, const struct naive *m)
{
	for (uint32_t node = 0; node < m->cluster->nnodes; node++) {
		assert_true(space->nodes[node].free == naive_free(m, node));
		assert_int_equal(space->nodes[node].nfree, __builtin_popcountll(naive_free(m, node)));
		assert_int_equal(space->nodes[node].up, !m->down[node]);
		assert_float_equal(space->nodes[node].cpus, naive_cpus(m, node), 1e-6);
	}
	for (uint32_t type = 0; type < m->cluster->ntypes; type++)
		compare_type(space, m, type);
}

static void take_some(struct space *space, struct naive *m, struct rng *rng)
{
	uint32_t node = (uint32_t)rng_below(rng, m->cluster->nnodes);
	uint64_t free_ = naive_free(m, node);
	struct hold h = { .gpus = 8 };
	uint32_t n;

	if (!free_ || m->n == HOLDS_MAX)
		return;
	n = pick(rng, (uint32_t)__builtin_popcountll(free_));
	job_init(&h.job);
	h.job.cpus = (double)rng_below(rng, 16);
	h.job.mem_bytes = (int64_t)rng_below(rng, 1000);
	h.slot = (struct slot){ node, space_lowest(free_, n) };
	space_take(space, &h.job, h.gpus, h.slot);
	m->holds[m->n++] = h;
}

static void give_some(struct space *space, struct naive *m, struct rng *rng)
{
	size_t i = m->n ? rng_below(rng, m->n) : 0;

	if (m->n == 0)
		return;
	space_give(space, &m->holds[i].job, m->holds[i].gpus, m->holds[i].slot);
	m->holds[i] = m->holds[--m->n];
}

static void turn_some(struct space *space, struct naive *m, struct rng *rng)
{
	uint32_t node = (uint32_t)rng_below(rng, m->cluster->nnodes);

	m->down[node] = rng_below(rng, 2);
	space_set_up(space, node, !m->down[node]); /* sometimes it is so already */
}

static void behaves_like_the_model(void **state)
{
	static const char *const clusters[] = { "3x4", "70x1", "1x64", "2x8:a,3x3:b,1x1:a" };
	struct rng rng = property("the ledger against a model");

	(void)state;
	for (size_t k = 0; k < COUNT(clusters); k++) {
		struct cluster cluster;
		struct space space;
		struct err err;
		static struct naive m;

		assert_int_equal(cluster_parse(clusters[k], &cluster, &err), 0);
		for (uint32_t i = 0; i < cluster.nnodes; i++)
			cluster.nodes[i].cpus = i % 3 ? 1000 : 0;
		memset(&m, 0, sizeof(m));
		m.cluster = &cluster;
		space_init(&space, &cluster);
		for (size_t op = 0; op < rounds(2000); op++) {
			uint64_t what = rng_below(&rng, 10);

			if (what < 5)
				take_some(&space, &m, &rng);
			else if (what < 9)
				give_some(&space, &m, &rng);
			else
				turn_some(&space, &m, &rng);
			/* Where CPUs are not modelled the ledger keeps none. */
			for (uint32_t i = 0; i < cluster.nnodes; i += 3)
				space.nodes[i].cpus = naive_cpus(&m, i);
			compare(&space, &m);
		}
		space_fini(&space);
		cluster_fini(&cluster);
	}
}

static const struct {
	const char *what;
	double node_cpus;
	int64_t node_mem;
	double cpus;
	int64_t mem;
	uint32_t gpus, n;
	bool want;
} feeds[] = {
	{ "a node without CPUs in the model feeds anybody", 0, 0, 1e9, INT64_C(1) << 60, 1, 1, true },
	{ "all of the CPUs", 8, 0, 8, 0, 4, 4, true },
	{ "one more", 8, 0, 9, 0, 4, 4, false },
	{ "half of a gang needs half", 8, 0, 16, 0, 4, 2, true },
	{ "three parts of a third make a whole", 1, 0, 1, 0, 3, 3, true },
	{ "all of the memory", 0, 100, 0, 100, 1, 1, true },
	{ "one byte more", 0, 100, 0, 101, 1, 1, false },
	{ "half of it", 0, 100, 0, 200, 2, 1, true },
	{ "both must do", 8, 100, 8, 101, 1, 1, false },
	{ "a job that needs none", 0.5, 1, 0, 0, 1, 1, true },
};

static void feeding(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(feeds); i++) {
		struct cluster cluster;
		struct space space;
		struct err err;
		struct job job;

		assert_int_equal(cluster_parse("1x8", &cluster, &err), 0);
		cluster.nodes[0].cpus = feeds[i].node_cpus;
		cluster.nodes[0].mem_bytes = feeds[i].node_mem;
		space_init(&space, &cluster);
		job_init(&job);
		job.cpus = feeds[i].cpus;
		job.mem_bytes = feeds[i].mem;
		if (space_feeds(&space, &job, feeds[i].gpus, 0, feeds[i].n) != feeds[i].want)
			fail_msg("%s", feeds[i].what);
		space_fini(&space);
		cluster_fini(&cluster);
	}
}

static void the_lowest_bits(void **state)
{
	(void)state;
	assert_true(space_lowest(UINT64_MAX, 64) == UINT64_MAX);
	assert_true(space_lowest(UINT64_MAX, 0) == 0);
	assert_true(space_lowest(0xf0, 2) == 0x30);
	assert_true(space_lowest(UINT64_C(1) << 63, 1) == UINT64_C(1) << 63);
}

static void nothing_is_fine(void **state)
{
	struct space space = { 0 };

	(void)state;
	space_fini(&space);
	space_fini(&space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(behaves_like_the_model),
		cmocka_unit_test(feeding),
		cmocka_unit_test(the_lowest_bits),
		cmocka_unit_test(nothing_is_fine),
	};

	return cmocka_run_group_tests_name("placement/space", tests, NULL, NULL);
}
