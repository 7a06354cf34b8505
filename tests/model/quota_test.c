/*
 * What is promised, and the fewest who are promised too much, against all subsets.
 */
#include "model/quota.h"

#include <string.h>

#include "support/property.h"

enum { TENANTS = 8 };

static uint32_t add(struct tenants *t, const char *name, uint32_t parent)
{
	uint32_t i = tenants_add(t, name, strlen(name));

	t->at[i].parent = parent;
	return i;
}

static void what_is_below_makes_what_is_not_said(void **state)
{
	struct tenants t = { 0 };
	struct cluster cluster = { 0 };
	struct promises p;
	struct err err;

	(void)state;
	assert_int_equal(cluster_parse("2x8:v100,1x4:a100", &cluster, &err), 0);
	add(&t, "top", TENANT_NONE);
	add(&t, "middle", 0);
	tenants_promise(&t, add(&t, "a", 1), 3);
	tenants_promise_part(&t, add(&t, "b", 1), "a100", 2, QUOTA_ALL);
	promises_make(&t, &cluster, &p);
	assert_true(p.of[0].total == 5 && p.of[1].any == 3 && p.of[1].typed[1] == 2);
	assert_true(quota_is_set(&t));
	assert_int_equal(quota_check(&t, &cluster, &err), 0);
	promises_fini(&p);
	tenants_promise(&t, 1, 4);
	assert_int_equal(quota_check(&t, &cluster, &err), ERR_REFUSED);
	assert_string_equal(err.text,
		"\"a\" and \"b\" are promised 3 + 2 = 5 devices, and \"middle\" above has 4");
	tenants_promise(&t, 1, 5);
	tenants_promise_part(&t, add(&t, "c", TENANT_NONE), "a100", 3, QUOTA_ALL);
	assert_int_equal(quota_check(&t, &cluster, &err), ERR_REFUSED); /* b's are inside of 5 of any */
	assert_string_equal(err.text,
		"\"c\" and \"b\" are promised 3 + 2 = 5 a100, and the cluster has 4");
	tenants_promise_part(&t, add(&t, "d", TENANT_NONE), "A-100", 3, QUOTA_ALL);
	assert_int_equal(quota_check(&t, &cluster, &err), ERR_REFUSED);
	tenants_fini(&t);
	cluster_fini(&cluster);
}

static void slots_of_cpus_are_no_accelerators(void **state)
{
	struct tenants t = { 0 };
	struct cluster cluster = { 0 }, slots = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(cluster_parse("1x4:v100,1x2:cpu", &cluster, &err), 0);
	assert_int_equal(cluster_parse("1x6:cpu", &slots, &err), 0);
	tenants_promise(&t, add(&t, "a", TENANT_NONE), 4);
	tenants_promise(&t, add(&t, "b", TENANT_NONE), 2);
	assert_int_equal(quota_check(&t, &cluster, &err), ERR_REFUSED);
	assert_string_equal(err.text,
		"\"a\" and \"b\" are promised 4 + 2 = 6 devices, and the cluster has 4");
	assert_int_equal(quota_check(&t, &slots, &err), 0); /* where there is nothing else they are */
	tenants_promise(&t, 1, 0);
	tenants_promise_part(&t, add(&t, "c", TENANT_NONE), "cpu", 2, QUOTA_ALL);
	assert_int_equal(quota_check(&t, &cluster, &err), 0); /* by name they can be promised */
	tenants_fini(&t);
	cluster_fini(&cluster);
	cluster_fini(&slots);
}

static void cell(struct tenants *t, uint32_t tenant, const char *level, uint32_t count)
{
	tenants_set_cells(t, tenant,
		&(struct tenant_cell){ .cell = level, .type = "v100", .count = count }, 1);
}

static void cells_are_promised_too(void **state)
{
	struct tenants t = { 0 };
	struct cluster cluster = { 0 };
	struct cell_design cells = { 0 };
	struct promises p;
	struct err err;

	(void)state;
	assert_int_equal(cluster_parse("3x4:v100,1x4:a100", &cluster, &err), 0);
	add(&t, "top", TENANT_NONE);
	cell(&t, 0, "device", 1);
	tenants_promise(&t, add(&t, "said", 0), 6); /* of any type: a node is inside of that */
	cell(&t, 1, "node", 1);
	cell(&t, add(&t, "only", 0), "device", 2);
	tenants_promise(&t, add(&t, "short", TENANT_NONE), 1); /* and a node is not */
	cell(&t, 3, "node", 1);
	assert_int_equal(cell_design_of(&cluster, &t, &cells, &err), 0);
	promises_make(&t, &cluster, &p);
	promises_add_cells(&t, &cells, &p);
	assert_true(p.of[1].total == 6 && p.of[1].any == 2 && p.of[1].typed[0] == 4);
	assert_true(p.of[2].total == 2 && p.of[2].any == 0 && p.of[2].typed[0] == 2);
	assert_true(p.of[0].total == 9 && p.of[0].any == 2 && p.of[0].typed[0] == 7);
	assert_true(p.of[3].total == 4 && p.of[3].any == 0 && p.of[3].typed[0] == 4);
	promises_fini(&p);
	assert_int_equal(quota_check(&t, &cluster, &err), 0);
	assert_int_equal(quota_check_with_cells(&t, &cluster, &cells, &err), 0);
	tenants_promise(&t, add(&t, "more", TENANT_NONE), 4); /* 9 + 4 + 4 of 16 */
	assert_int_equal(quota_check(&t, &cluster, &err), 0);
	assert_int_equal(quota_check_with_cells(&t, &cluster, &cells, &err), ERR_REFUSED);
	assert_string_equal(err.text,
		"\"top\", \"short\" and \"more\" are promised 9 + 4 + 4 = 17 devices, and the cluster has 16");
	cell_design_fini(&cells);
	tenants_fini(&t);
	cluster_fini(&cluster);
}

/* The fewest tenants whose sum is above `have`; 0: all together are not. */
static uint32_t fewest_of_all(const uint32_t *promised, uint32_t have)
{
	uint32_t best = 0;

	for (uint32_t set = 1; set < 1u << TENANTS; set++) {
		uint32_t sum = 0, n = (uint32_t)__builtin_popcount(set);

		for (uint32_t i = 0; i < TENANTS; i++)
			sum += set >> i & 1 ? promised[i] : 0;
		if (sum > have && (!best || n < best))
			best = n;
	}
	return best;
}

static void the_fewest_are_named(void **state)
{
	static const char *const names[TENANTS] = { "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7" };
	struct rng rng = property("the fewest who are promised too much");
	struct cluster cluster = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(cluster_parse("3x4", &cluster, &err), 0);
	for (size_t round = 0; round < rounds(500); round++) {
		struct tenants t = { 0 };
		uint32_t promised[TENANTS], named = 0, fewest;

		for (uint32_t i = 0; i < TENANTS; i++) {
			promised[i] = (uint32_t)rng_below(&rng, 6);
			tenants_promise(&t, add(&t, names[i], TENANT_NONE), promised[i]);
		}
		fewest = fewest_of_all(promised, 12);
		err.text[0] = '\0';
		assert_int_equal(quota_check(&t, &cluster, &err), fewest ? ERR_REFUSED : 0);
		for (uint32_t i = 0; i < TENANTS; i++)
			named += strstr(err.text, names[i]) != NULL;
		assert_int_equal(named, fewest < 6 ? fewest : 6); /* of more the rest are counted */
		tenants_fini(&t);
	}
	cluster_fini(&cluster);
}

/* Of conflicts of different kinds the one with the fewest tenants. */
static void the_smallest_of_all_kinds_is_named(void **state)
{
	struct tenants t = { 0 };
	struct cluster cluster = { 0 };
	struct err err;
	uint32_t p, c;

	(void)state;
	assert_int_equal(cluster_parse("1x8:v100,1x8:a100", &cluster, &err), 0);
	tenants_promise_part(&t, add(&t, "a", TENANT_NONE), "v100", 4, QUOTA_ALL);
	tenants_promise_part(&t, add(&t, "b", TENANT_NONE), "v100", 6, QUOTA_ALL);
	c = add(&t, "c", TENANT_NONE);
	tenants_promise(&t, c, 20);
	assert_int_equal(quota_check(&t, &cluster, &err), ERR_REFUSED);
	assert_string_equal(err.text, "\"c\" is promised 20 devices, and the cluster has 16");
	tenants_promise(&t, c, 1);
	assert_int_equal(quota_check(&t, &cluster, &err), ERR_REFUSED);
	assert_string_equal(err.text,
		"\"b\" and \"a\" are promised 6 + 4 = 10 v100, and the cluster has 8");
	tenants_fini(&t);

	t = (struct tenants){ 0 };
	p = add(&t, "p", TENANT_NONE);
	tenants_promise(&t, p, 6);
	tenants_promise(&t, add(&t, "a", p), 4);
	tenants_promise(&t, add(&t, "b", p), 3);
	c = add(&t, "c", TENANT_NONE);
	tenants_promise(&t, c, 17);
	assert_int_equal(quota_check(&t, &cluster, &err), ERR_REFUSED);
	assert_string_equal(err.text, "\"c\" is promised 17 devices, and the cluster has 16");
	tenants_promise(&t, c, 11); /* with p too much: two, where below p there are three */
	assert_int_equal(quota_check(&t, &cluster, &err), ERR_REFUSED);
	assert_string_equal(err.text,
		"\"c\" and \"p\" are promised 11 + 6 = 17 devices, and the cluster has 16");
	tenants_promise(&t, c, 10);
	assert_int_equal(quota_check(&t, &cluster, &err), ERR_REFUSED);
	assert_string_equal(err.text,
		"\"a\" and \"b\" are promised 4 + 3 = 7 devices, and \"p\" above has 6");
	tenants_fini(&t);
	cluster_fini(&cluster);
}

/* ---- trees with promises of any type and by type, against all ways to keep them */

enum { SOME = 5, UPTO = 4 * SOME + 1, HAVE_A = 3, HAVE_B = 4 };

/* Ways to have what is promised: so many of the one type and of the other. */
struct ways {
	bool at[UPTO][UPTO];
};

static bool is_in(uint32_t set, uint32_t i)
{
	return set >> i & 1;
}

static uint32_t part(const struct tenants *t, uint32_t i, const char *type)
{
	for (uint32_t k = 0; k < t->at[i].nparts; k++) {
		if (!strcmp(t->types.at[t->at[i].parts[k].type], type))
			return t->at[i].parts[k].guaranteed;
	}
	return 0;
}

/* One of the ways has no more than that. */
static bool any_within(const struct ways *w, uint32_t a, uint32_t b)
{
	for (uint32_t x = 0; x <= a && x < UPTO; x++) {
		for (uint32_t y = 0; y <= b && y < UPTO; y++) {
			if (w->at[x][y])
				return true;
		}
	}
	return false;
}

static struct ways both(const struct ways *v, const struct ways *w)
{
	struct ways sum = { 0 };

	for (uint32_t i = 0; i < UPTO * UPTO; i++) {
		for (uint32_t k = 0; v->at[i / UPTO][i % UPTO] && k < UPTO * UPTO; k++) {
			uint32_t x = i / UPTO + k / UPTO, y = i % UPTO + k % UPTO;

			if (w->at[k / UPTO][k % UPTO] && x < UPTO && y < UPTO)
				sum.at[x][y] = true;
		}
	}
	return sum;
}

/* Of those right below `parent` together, where only the promises of the set count. */
static struct ways ways_below(const struct tenants *t, uint32_t set, uint32_t parent)
{
	struct ways all = { 0 };

	all.at[0][0] = true;
	for (uint32_t i = 0; i < t->n; i++) {
		struct ways below, own = { 0 };

		if (t->at[i].parent != parent)
			continue;
		below = ways_below(t, set, i);
		for (uint32_t x = 0; is_in(set, i) && x <= t->at[i].guaranteed; x++) {
			uint32_t a = t->at[i].nparts ? part(t, i, "a") : x;
			uint32_t b = t->at[i].guaranteed - a;

			own.at[a][b] = any_within(&below, a, b);
		}
		all = is_in(set, i) ? both(&all, &own) : both(&all, &below);
	}
	return all;
}

/* Below one with devices by type everybody has to say of which. */
static bool is_vague(const struct tenants *t, uint32_t set)
{
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t up = t->at[i].parent;

		for (; up != TENANT_NONE; up = t->at[up].parent) {
			if (is_in(set, i) && is_in(set, up) && !t->at[i].nparts &&
				t->at[i].guaranteed && t->at[up].nparts)
				return true;
		}
	}
	return false;
}

static bool can_be_kept(const struct tenants *t, uint32_t set, uint32_t a, uint32_t b)
{
	struct ways ways = ways_below(t, set, TENANT_NONE);

	return !is_vague(t, set) && any_within(&ways, a, b);
}

/* The fewest whose promises alone cannot be kept; 0: all can. */
static uint32_t fewest_in_conflict(const struct tenants *t, uint32_t promised, uint32_t a, uint32_t b)
{
	uint32_t best = 0;

	for (uint32_t set = promised; set; set = (set - 1) & promised) {
		uint32_t n = (uint32_t)__builtin_popcount(set);

		if ((!best || n < best) && !can_be_kept(t, set, a, b))
			best = n;
	}
	return best;
}

static uint32_t draw_tree(struct rng *rng, struct tenants *t)
{
	static const char *const names[SOME] = { "p", "q", "r", "s", "t" };
	uint32_t promised = 0;

	for (uint32_t i = 0; i < SOME; i++) {
		uint32_t parent = i ? (uint32_t)rng_below(rng, i + 1) : 0;

		add(t, names[i], parent == i ? TENANT_NONE : parent);
		promised |= rng_below(rng, 5) ? 1u << i : 0;
		if (is_in(promised, i) && rng_below(rng, 2)) {
			tenants_promise(t, i, (uint32_t)rng_below(rng, 5));
		} else if (is_in(promised, i)) {
			uint32_t a = (uint32_t)rng_below(rng, 3);

			tenants_promise_part(t, i, "a", a, QUOTA_ALL);
			tenants_promise_part(t, i, "b", (uint32_t)rng_below(rng, 3), QUOTA_ALL);
		}
	}
	return promised;
}

static void what_can_be_kept_is_not_refused_and_else_nothing_is(void **state)
{
	struct rng rng = property("promises of any type and by type, in trees");
	struct cluster cluster = { 0 };
	uint32_t refused = 0, kept = 0;
	struct err err;

	(void)state;
	assert_int_equal(cluster_parse("1x3:a,1x4:b", &cluster, &err), 0);
	for (size_t round = 0; round < rounds(400); round++) {
		struct tenants t = { 0 };
		uint32_t promised = draw_tree(&rng, &t), named = 0;
		uint32_t fewest = fewest_in_conflict(&t, promised, HAVE_A, HAVE_B);
		struct quota_conflict found;
		bool conflicts = quota_conflicts(&t, &cluster, NULL, &found);

		for (uint32_t i = 0; i < found.who.n; i++)
			named |= 1u << tenants_find(&t, found.who.at[i], 1);
		if (conflicts != (fewest > 0))
			print_message("round %zu: %s\n", round,
				conflicts ? found.text.at : "can be kept");
		assert_int_equal(conflicts, fewest > 0);
		if (conflicts) {
			assert_int_equal(named & ~promised, 0);
			assert_false(can_be_kept(&t, named, HAVE_A, HAVE_B));
			/* Where below somebody is more than above, a smaller one may lie inside of it. */
			if (found.who.n > fewest)
				assert_false(can_be_kept(&t, promised, UPTO, UPTO));
		}
		refused += conflicts;
		kept += !conflicts;
		quota_conflict_fini(&found);
		tenants_fini(&t);
	}
	assert_true((refused > 0 && kept > 0) || rounds(400) < 400);
	cluster_fini(&cluster);
}

static void the_shortest_circle_is_found(void **state)
{
	struct tenants t = { 0 };

	(void)state;
	add(&t, "a", 1);
	add(&t, "b", 2);
	add(&t, "c", 0);
	add(&t, "d", 4);
	add(&t, "e", 3);
	assert_true(tenants_cycle(&t) == 3 || tenants_cycle(&t) == 4);
	add(&t, "self", 5);
	add(&t, "below", 5);
	assert_int_equal(tenants_cycle(&t), 5);
	tenants_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_below_makes_what_is_not_said),
		cmocka_unit_test(slots_of_cpus_are_no_accelerators),
		cmocka_unit_test(cells_are_promised_too),
		cmocka_unit_test(the_fewest_are_named),
		cmocka_unit_test(the_smallest_of_all_kinds_is_named),
		cmocka_unit_test(what_can_be_kept_is_not_refused_and_else_nothing_is),
		cmocka_unit_test(the_shortest_circle_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
