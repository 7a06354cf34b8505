#include "model/dag.h"

#include <math.h>
#include <string.h>

#include "support/property.h"

/* "0>1 1>2": 1 waits for 0, 2 for 1. */
static struct dag read_dag(struct arena *arena, uint32_t n, const char *text)
{
	struct dag_edge edges[64];
	uint32_t nedges = 0, before, after;
	struct dag dag;
	int used;

	while (sscanf(text, "%u>%u%n", &before, &after, &used) == 2) {
		edges[nedges++] = (struct dag_edge){ before, after };
		text += used;
	}
	dag_build(&dag, arena, n, edges, nedges);
	return dag;
}

static void test_circles(void **state)
{
	static const struct {
		const char *what, *edges;
		uint32_t n, length, circle[4];
	} rows[] = {
		{ "a chain has none", "0>1 1>2", 3, 0, { 0 } },
		{ "two wait for each other", "0>1 1>2 2>1", 3, 2, { 1, 2 } },
		{ "one waits for itself", "0>0 1>2 2>1", 3, 1, { 0 } },
		{ "the shortest of two", "0>1 1>2 2>3 3>0 2>1", 4, 2, { 1, 2 } },
		{ "each waits for the next", "1>0 2>1 0>2", 3, 3, { 0, 1, 2 } },
		{ "what is not there does not count", "0>9 9>0", 2, 0, { 0 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct arena arena = { 0 };
		struct dag dag = read_dag(&arena, rows[i].n, rows[i].edges);
		uint32_t *circle = NULL, n = dag_cycle(&dag, &arena, &circle);

		if (n != rows[i].length || (n && memcmp(circle, rows[i].circle, n * sizeof(*circle))))
			fail_msg("%s: a circle of %u", rows[i].what, n);
		arena_fini(&arena);
	}
}

static void test_levels(void **state)
{
	struct arena arena = { 0 };
	/* A diamond with a tail, a chain of two, and one alone. */
	struct dag dag = read_dag(&arena, 8, "0>1 0>2 1>3 2>3 3>4 5>6");
	double time_s[] = { 1, 2, 5, 1, 1, 10, 10, 99 }, bottom[8];
	uint32_t depth[8], part[8];
	struct dag_shape shape;

	(void)state;
	assert_true(dag_is_acyclic(&dag));
	dag_depths(&dag, depth);
	assert_int_equal(depth[0], 0);
	assert_int_equal(depth[3], 2);
	assert_int_equal(depth[4], 3);
	assert_true(dag_bottom(&dag, time_s, bottom) == 99);
	assert_true(bottom[0] == 8 && bottom[1] == 4 && bottom[2] == 7 && bottom[4] == 1);
	assert_int_equal(dag_parts(&dag, part), 3);
	assert_int_equal(part[4], 0);
	assert_int_equal(part[6], 5);
	assert_int_equal(part[7], 7);
	shape = dag_shape_of(&dag, &arena, time_s);
	assert_int_equal(shape.dags, 2);
	assert_int_equal(shape.jobs, 7);
	assert_int_equal(shape.depth, 4);
	assert_int_equal(shape.width, 2);
	assert_true(shape.longest_s == 20);
	arena_fini(&arena);
}

/* Length of the shortest circle by powers of the matrix. */
static uint32_t shortest_by_hand(uint32_t n, const struct dag_edge *edges, uint32_t nedges)
{
	bool way[2][16][16] = { 0 };

	for (uint32_t i = 0; i < nedges; i++)
		way[0][edges[i].after][edges[i].before] = true;
	for (uint32_t length = 1; length <= n; length++) {
		bool(*now)[16] = way[(length - 1) % 2], (*next)[16] = way[length % 2];

		for (uint32_t i = 0; i < n; i++)
			if (now[i][i])
				return length;
		memset(next, 0, sizeof(way[0]));
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t e = 0; e < nedges; e++)
				next[i][edges[e].before] |= now[i][edges[e].after];
	}
	return 0;
}

static void test_random(void **state)
{
	struct rng rng = property("the circle is shortest, the order holds, levels follow it");
	struct arena arena = { 0 };

	(void)state;
	for (size_t round = 0; round < rounds(5000); round++) {
		uint32_t n = 1 + (uint32_t)rng_below(&rng, 12),
			 nedges = (uint32_t)rng_below(&rng, 2 * n);
		struct dag_edge edges[32];
		uint32_t *circle = NULL, found, depth[16], at[16];
		struct dag dag;

		for (uint32_t i = 0; i < nedges; i++)
			edges[i] = (struct dag_edge){ (uint32_t)rng_below(&rng, n),
				(uint32_t)rng_below(&rng, n) };
		dag_build(&dag, &arena, n, edges, nedges);
		found = dag_cycle(&dag, &arena, &circle);
		assert_int_equal(found, shortest_by_hand(n, edges, nedges));
		for (uint32_t k = 0; k < found; k++) {
			bool waits = false;

			for (uint32_t e = 0; e < nedges; e++)
				waits |= edges[e].after == circle[k] &&
					edges[e].before == circle[(k + 1) % found];
			assert_true(waits);
			assert_true(circle[0] <= circle[k]);
		}
		if (found)
			continue;
		dag_depths(&dag, depth);
		for (uint32_t k = 0; k < n; k++)
			at[dag.order[k]] = k;
		for (uint32_t e = 0; e < nedges; e++) {
			assert_true(at[edges[e].before] < at[edges[e].after]);
			assert_true(depth[edges[e].before] < depth[edges[e].after]);
		}
		arena_reset(&arena);
	}
	arena_fini(&arena);
}

/* One circle of 200,000, and as many that lead into it: found in a moment. */
static void test_large(void **state)
{
	enum { N = 200000 };
	struct dag_edge *edges = mem_alloc(2 * N * sizeof(*edges));
	struct arena arena = { 0 };
	struct dag dag;
	uint32_t *circle;

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		edges[i] = (struct dag_edge){ (i + 1) % N, i };
		edges[N + i] = (struct dag_edge){ i, N + i };
	}
	dag_build(&dag, &arena, 2 * N, edges, 2 * N);
	assert_int_equal(dag_cycle(&dag, &arena, &circle), N);
	assert_int_equal(circle[1], 1);
	arena_fini(&arena);
	free(edges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_circles),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
