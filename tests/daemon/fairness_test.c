#include "daemon/fairness.h"

#include <math.h>
#include <stdbool.h>

#include "support/property.h"

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static void times_are_spread_over_steps(void **state)
{
	struct fairness f = { .from_s = 100, .step_s = 10, .steps = 3, .devices = 4 };
	size_t a = fairness_tenant(&f, "a");

	(void)state;
	fairness_use(&f, a, 2, 95, 115); /* the first step whole, half of the second */
	fairness_use(&f, a, 1, 125, 500);
	fairness_use(&f, a, 7, 50, 100); /* before */
	assert_true(near(f.tenants.at[a].used[0], 2));
	assert_true(near(f.tenants.at[a].used[1], 1));
	assert_true(near(f.tenants.at[a].used[2], 0.5));
	assert_int_equal(fairness_tenant(&f, "a"), a);
	fairness_fini(&f);
}

static void what_one_leaves_over_the_others_share_by_weight(void **state)
{
	struct fairness f = { .from_s = 0, .step_s = 1, .steps = 1, .devices = 10 };
	size_t a = fairness_tenant(&f, "a"), b = fairness_tenant(&f, "b"),
	       c = fairness_tenant(&f, "c");

	(void)state;
	f.tenants.at[b].weight = 3;
	fairness_use(&f, a, 8, 0, 1);
	fairness_wait(&f, b, 20, 0, 1);
	fairness_use(&f, c, 2, 0, 1); /* asks for no more than this */
	fairness_finish(&f);
	assert_true(near(f.tenants.at[c].deserved[0], 2));
	assert_true(near(f.tenants.at[a].deserved[0], 2));
	assert_true(near(f.tenants.at[b].deserved[0], 6));
	/* a has six too many: it is why b waits. */
	assert_true(near(f.because[b * 3 + a], 1));
	assert_true(near(f.because[b * 3 + c], 0));
	fairness_fini(&f);
}

static void deserved_is_never_more_than_there_is_or_was_asked_for(void **state)
{
	struct rng rng = property("deserved: within demand and devices, all of them where asked for");

	(void)state;
	for (size_t round = 0; round < rounds(300); round++) {
		struct fairness f = { .step_s = 1, .steps = 1, .devices = (double)rng_below(&rng, 20) };
		double demand = 0, deserved = 0;
		uint32_t n = 1 + (uint32_t)rng_below(&rng, 6);

		for (uint32_t i = 0; i < n; i++) {
			char name[16];
			size_t t;

			snprintf(name, sizeof(name), "%u", i);
			t = fairness_tenant(&f, name);
			f.tenants.at[t].weight = 1 + (double)rng_below(&rng, 5);
			fairness_use(&f, t, (double)rng_below(&rng, 5), 0, 1);
			fairness_wait(&f, t, (double)rng_below(&rng, 9), 0, 1);
		}
		fairness_finish(&f);
		for (size_t i = 0; i < f.tenants.n; i++) {
			const struct fair_tenant *t = &f.tenants.at[i];

			assert_true(t->deserved[0] <= t->used[0] + t->waiting[0] + 1e-9);
			demand += t->used[0] + t->waiting[0];
			deserved += t->deserved[0];
		}
		assert_true(near(deserved, fmin(demand, f.devices)));
		fairness_fini(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_spread_over_steps),
		cmocka_unit_test(what_one_leaves_over_the_others_share_by_weight),
		cmocka_unit_test(deserved_is_never_more_than_there_is_or_was_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
