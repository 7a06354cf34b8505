#include "model/tenant.h"

#include <string.h>

#include "support/property.h"

static uint32_t add(struct tenants *tenants, const char *name)
{
	return tenants_add(tenants, name, strlen(name));
}

static void a_tenant_is_found_by_its_name(void **state)
{
	struct tenants t = { 0 };

	(void)state;
	assert_int_equal(tenants_find(&t, "vision", 6), TENANT_NONE);
	assert_int_equal(add(&t, "vision"), 0);
	assert_int_equal(add(&t, "speech"), 1);
	assert_int_equal(add(&t, "vision"), TENANT_NONE);
	assert_int_equal(t.n, 2);
	assert_int_equal(tenants_find(&t, "speech", 6), 1);
	assert_string_equal(t.at[1].name, "speech");
	assert_true(t.at[1].weight == 1 && t.at[1].within == WITHIN_FAIR && t.at[1].stated);
	assert_int_equal(t.at[1].parent, TENANT_NONE);
	tenants_fini(&t);
	tenants_fini(&t);
}

static const struct {
	const char *what;
	uint32_t parents[4];
	bool tree;
} trees[] = {
	{ "nobody is below anybody", { TENANT_NONE, TENANT_NONE, TENANT_NONE, TENANT_NONE }, true },
	{ "a chain upwards", { TENANT_NONE, 0, 1, 2 }, true },
	{ "a chain downwards", { 1, 2, 3, TENANT_NONE }, true },
	{ "three below one", { 3, 3, 3, TENANT_NONE }, true },
	{ "one below itself", { TENANT_NONE, TENANT_NONE, 2, TENANT_NONE }, false },
	{ "two below each other", { TENANT_NONE, 2, 1, TENANT_NONE }, false },
	{ "all in a ring", { 1, 2, 3, 0 }, false },
	{ "a way into a ring", { 1, 2, 3, 2 }, false },
	{ "below who is cleared", { TENANT_NONE, 0, 0, 1 }, true },
};

static void add_four(struct tenants *t, const uint32_t parents[4])
{
	static const char *const names[] = { "a", "b", "c", "d" };

	for (uint32_t i = 0; i < 4; i++)
		add(t, names[i]);
	for (uint32_t i = 0; i < 4; i++)
		t->at[i].parent = parents[i];
}

/* Up from `at` for as many steps as there are tenants. */
static bool comes_back(const struct tenants *t, uint32_t at)
{
	uint32_t up = t->at[at].parent;

	for (uint32_t i = 0; i < t->n && up != TENANT_NONE && up != at; i++)
		up = t->at[up].parent;
	return up == at;
}

static void who_stands_below_itself_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(trees); i++) {
		struct tenants t = { 0 };
		uint32_t found;

		print_message("%s\n", trees[i].what);
		add_four(&t, trees[i].parents);
		found = tenants_cycle(&t);
		assert_int_equal(found == TENANT_NONE, trees[i].tree);
		assert_true(found == TENANT_NONE || comes_back(&t, found));
		tenants_fini(&t);
	}
}

static struct names trace_names(void)
{
	struct names names = { 0 };

	names_add(&names, "new", 3);
	names_add(&names, "c", 1);
	names_add(&names, "newer", 5);
	names_add(&names, "a", 1);
	return names;
}

static void a_bound_table_has_every_tenant_of_the_trace(void **state)
{
	static const uint32_t parents[4] = { TENANT_NONE, 0, 0, 1 };
	static const uint32_t want[] = { 4, 2, 5, 0 };
	struct names names = trace_names();
	struct tenants t = { .hash = 3 }, bound;

	(void)state;
	add_four(&t, parents);
	t.at[2].weight = 7;
	t.at[2].within = WITHIN_FIFO;
	tenants_bind(&t, &names, &bound);
	assert_int_equal(bound.n, 7);
	assert_int_equal(t.n, 4);
	tenants_fini(&t); /* the copy needs nothing of it */
	for (uint32_t i = 0; i < names.n; i++) {
		assert_int_equal(tenants_of_name(&bound, i), want[i]);
		assert_string_equal(bound.at[want[i]].name, names.at[i]);
	}
	assert_true(bound.at[2].weight == 7 && bound.at[2].within == WITHIN_FIFO);
	assert_true(bound.at[2].parent == 0 && bound.at[2].stated && bound.hash == 3);
	assert_true(bound.at[5].weight == 1 && bound.at[5].parent == TENANT_NONE && !bound.at[5].stated);
	assert_int_equal(tenants_of_name(&bound, NAME_NONE), 6);
	assert_null(bound.at[6].name);
	names_fini(&names);
	tenants_fini(&bound);
}

static void a_job_has_its_tenant(void **state)
{
	struct names names = trace_names();
	struct tenants t = { 0 }, bound;
	uint32_t c = add(&t, "c");
	struct job job;

	(void)state;
	t.at[c].weight = 3;
	tenants_bind(&t, &names, &bound);
	job_init(&job);
	assert_null(tenants_of_job(&bound, &job)->name);
	assert_true(tenants_of_job(&bound, &job)->weight == 1);
	job.tenant = 1;
	assert_true(tenants_of_job(&bound, &job)->weight == 3);
	job.tenant = 0;
	assert_string_equal(tenants_of_job(&bound, &job)->name, "new");
	names_fini(&names);
	tenants_fini(&t);
	tenants_fini(&bound);
}

static void a_trace_without_tenants_has_one(void **state)
{
	struct tenants t = { 0 }, bound;
	struct names names = { 0 };

	(void)state;
	tenants_bind(&t, &names, &bound);
	assert_int_equal(bound.n, 1);
	assert_int_equal(tenants_of_name(&bound, NAME_NONE), 0);
	tenants_fini(&bound);
}

static void random_parents_are_a_tree_or_have_a_ring(void **state)
{
	struct rng rng = property("a table is told a tree exactly if nobody comes back to himself");

	(void)state;
	for (size_t i = 0; i < rounds(2000); i++) {
		struct tenants t = { 0 };
		bool ring = false;
		uint32_t n = 1 + (uint32_t)rng_below(&rng, 12);
		char name[16];

		for (uint32_t k = 0; k < n; k++) {
			snprintf(name, sizeof(name), "t%u", k);
			add(&t, name);
			t.at[k].parent = rng_below(&rng, 4) ? (uint32_t)rng_below(&rng, n)
							    : TENANT_NONE;
		}
		for (uint32_t k = 0; k < n; k++)
			ring |= comes_back(&t, k);
		assert_int_equal(tenants_cycle(&t) != TENANT_NONE, ring);
		tenants_fini(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tenant_is_found_by_its_name),
		cmocka_unit_test(who_stands_below_itself_is_found),
		cmocka_unit_test(a_bound_table_has_every_tenant_of_the_trace),
		cmocka_unit_test(a_job_has_its_tenant),
		cmocka_unit_test(a_trace_without_tenants_has_one),
		cmocka_unit_test(random_parents_are_a_tree_or_have_a_ring),
	};

	return cmocka_run_group_tests_name("tenant", tests, NULL, NULL);
}
