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
	assert_int_equal(quota_check(&t, &cluster, &err), 0); /* of a100 only c and what is inside 5 of any */
	tenants_promise_part(&t, add(&t, "d", TENANT_NONE), "A-100", 3, QUOTA_ALL);
	assert_int_equal(quota_check(&t, &cluster, &err), ERR_REFUSED);
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
		cmocka_unit_test(the_fewest_are_named),
		cmocka_unit_test(the_smallest_of_all_kinds_is_named),
		cmocka_unit_test(the_shortest_circle_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
