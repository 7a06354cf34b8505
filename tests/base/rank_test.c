#include "base/rank.h"

#include <math.h>
#include <string.h>

#include "property.h"

enum { IDS = 300, SETS = 3 };

struct entry {
	double key, tie;
	uint32_t id;
};

/* The same thing, obviously right: a sorted array. */
struct naive {
	struct entry at[IDS];
	size_t n;
};

static void naive_insert(struct naive *set, struct entry e)
{
	size_t i = set->n++;

	while (i > 0 &&
		rank_before(e.key, e.tie, e.id, set->at[i - 1].key, set->at[i - 1].tie,
			set->at[i - 1].id)) {
		set->at[i] = set->at[i - 1];
		i--;
	}
	set->at[i] = e;
}

static void naive_remove(struct naive *set, uint32_t id)
{
	size_t i = 0;

	while (set->at[i].id != id)
		i++;
	memmove(&set->at[i], &set->at[i + 1], (set->n - i - 1) * sizeof(*set->at));
	set->n--;
}

static void assert_equal(const struct rank_pool *pool, const struct rank *set, const struct naive *want)
{
	uint32_t id = rank_first(pool, set);

	assert_int_equal(set->n, want->n);
	for (size_t i = 0; i < want->n; i++, id = rank_next(pool, id))
		assert_int_equal(id, want->at[i].id);
	assert_int_equal(id, RANK_NONE);
	id = rank_last(pool, set);
	for (size_t i = want->n; i-- > 0; id = rank_prev(pool, id))
		assert_int_equal(id, want->at[i].id);
	assert_int_equal(id, RANK_NONE);
}

/* Few distinct keys, so that ties and ids decide often. */
static struct entry draw(struct rng *rng, uint32_t id)
{
	return (struct entry){ (double)rng_below(rng, 20) - 10, (double)rng_below(rng, 3), id };
}

static void behaves_like_sorted_arrays(void **state)
{
	struct rng rng = property("sets of a pool against sorted arrays");
	struct rank_pool pool = { 0 };
	struct rank set[SETS];
	static struct naive want[SETS];

	(void)state;
	memset(want, 0, sizeof(want));
	for (uint32_t s = 0; s < SETS; s++)
		set[s] = RANK_EMPTY(s);
	for (size_t op = 0; op < rounds(20000); op++) {
		uint32_t id = (uint32_t)rng_below(&rng, IDS), holder = rank_holder(&pool, id);
		uint32_t s = (uint32_t)rng_below(&rng, SETS);

		if (holder == RANK_NONE) {
			struct entry e = draw(&rng, id);

			rank_insert(&pool, &set[s], id, e.key, e.tie);
			naive_insert(&want[s], e);
			assert_int_equal(rank_holder(&pool, id), s);
		} else {
			rank_remove(&pool, &set[holder], id);
			naive_remove(&want[holder], id);
			assert_int_equal(rank_holder(&pool, id), RANK_NONE);
		}
		if (op % 50 == 0) {
			for (s = 0; s < SETS; s++)
				assert_equal(&pool, &set[s], &want[s]);
		}
	}
	rank_pool_fini(&pool);
}

static void fill(struct rank_pool *pool, struct rank *set, uint32_t n, uint32_t step)
{
	for (uint32_t i = 0, id = 0; i < n; i++, id = (id + step) % n)
		rank_insert(pool, set, id, id % 7, id % 3);
}

static void the_shape_does_not_depend_on_history(void **state)
{
	struct rank_pool a = { 0 }, b = { 0 };
	struct rank in_order = RANK_EMPTY(0), jumping = RANK_EMPTY(0);
	enum { N = 1009 };

	(void)state;
	fill(&a, &in_order, N, 1);
	fill(&b, &jumping, N, 101);
	for (uint32_t id = 0; id < N; id += 2) {
		rank_remove(&b, &jumping, id);
		rank_insert(&b, &jumping, id, id % 7, id % 3);
	}
	assert_int_equal(in_order.root, jumping.root);
	for (uint32_t id = 0; id < N; id++) {
		assert_int_equal(a.nodes[id].left, b.nodes[id].left);
		assert_int_equal(a.nodes[id].right, b.nodes[id].right);
		assert_int_equal(a.nodes[id].parent, b.nodes[id].parent);
	}
	rank_pool_fini(&a);
	rank_pool_fini(&b);
}

static uint32_t depth_of(const struct rank_pool *pool, uint32_t id)
{
	uint32_t depth = 0;

	for (; pool->nodes[id].parent != RANK_NONE; id = pool->nodes[id].parent)
		depth++;
	return depth;
}

static void sorted_input_stays_shallow(void **state)
{
	struct rank_pool pool = { 0 };
	struct rank set = RANK_EMPTY(9);
	uint32_t deepest = 0;
	enum { N = 100000 };

	(void)state;
	for (uint32_t id = 0; id < N; id++)
		rank_insert(&pool, &set, id, id, 0);
	for (uint32_t id = 0; id < N; id++) {
		uint32_t depth = depth_of(&pool, id);

		deepest = depth > deepest ? depth : deepest;
	}
	assert_true(deepest < 60); /* about 3 log2 n; the hash is fixed, so this cannot waver */
	rank_pool_fini(&pool);
}

static void order_is_key_then_tie_then_id(void **state)
{
	static const struct {
		const char *what;
		struct entry a, b;
		bool want;
	} rows[] = {
		{ "the smaller key comes first", { 1, 9, 9 }, { 2, 0, 0 }, true },
		{ "the larger key does not", { 2, 0, 0 }, { 1, 9, 9 }, false },
		{ "equal keys: the smaller tie", { 1, 0, 9 }, { 1, 1, 0 }, true },
		{ "equal keys: the larger tie", { 1, 1, 0 }, { 1, 0, 9 }, false },
		{ "equal both: the smaller id", { 1, 1, 3 }, { 1, 1, 4 }, true },
		{ "nothing comes before itself", { 1, 1, 3 }, { 1, 1, 3 }, false },
		{ "zero has no sign", { -0.0, 0, 4 }, { 0.0, 0, 3 }, false },
		{ "infinity is last", { 1e308, 0, 9 }, { INFINITY, 0, 0 }, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct entry *a = &rows[i].a, *b = &rows[i].b;

		if (rank_before(a->key, a->tie, a->id, b->key, b->tie, b->id) != rows[i].want)
			fail_msg("%s", rows[i].what);
	}
}

static void empty_things(void **state)
{
	struct rank_pool pool = { 0 };
	struct rank set = RANK_EMPTY(1);

	(void)state;
	assert_int_equal(rank_first(&pool, &set), RANK_NONE);
	assert_int_equal(rank_last(&pool, &set), RANK_NONE);
	assert_int_equal(rank_holder(&pool, 5), RANK_NONE);
	rank_insert(&pool, &set, 1000, 1, 1); /* an id far away grows the pool */
	assert_int_equal(rank_holder(&pool, 1000), 1);
	assert_int_equal(rank_holder(&pool, 999), RANK_NONE);
	assert_int_equal(rank_next(&pool, 1000), RANK_NONE);
	assert_int_equal(rank_prev(&pool, 1000), RANK_NONE);
	rank_remove(&pool, &set, 1000);
	assert_int_equal(set.root, RANK_NONE);
	rank_pool_fini(&pool);
	rank_pool_fini(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(behaves_like_sorted_arrays),
		cmocka_unit_test(the_shape_does_not_depend_on_history),
		cmocka_unit_test(sorted_input_stays_shallow),
		cmocka_unit_test(order_is_key_then_tie_then_id),
		cmocka_unit_test(empty_things),
	};

	return cmocka_run_group_tests_name("base/rank", tests, NULL, NULL);
}
