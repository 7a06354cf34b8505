/*
 * Gavel's objectives: examples that can be worked out by hand.
 */
#include "policy/hetero/setting.h"

/* ---- examples */

/* Ratios to the equal part; the policy's value is in units of the proportional part, less by N / M. */
static void three_jobs_on_two_workers(void **state)
{
	static const double want[3][2] = { { .5, 0 }, { .5, .2 }, { 0, .8 } };
	const struct setting s = {
		.jobs = 3,
		.types = 2,
		.capacity = { 1, 1 },
		.speed = { { 4, 1 }, { 2, 1 }, { 1, 1 } },
	};

	(void)state;
	for (size_t k = 0; k < COUNT(both); k++) {
		struct answer a = ask(&s, both[k]);

		assert_near(a.value * 3 / 2, 1.2, 1e-6);
		for (uint32_t i = 0; i < 3; i++) {
			for (uint32_t w = 0; w < 2; w++)
				assert_near(a.x[i][w], want[i][w], 1e-5);
		}
	}
}

static void opposite_tastes_gain_a_third(void **state)
{
	const struct setting s = {
		.jobs = 2,
		.types = 2,
		.capacity = { 1, 1 },
		.speed = { { 4, 1 }, { 1, 2 } },
	};
	const struct setting same = {
		.jobs = 2,
		.types = 2,
		.capacity = { 1, 1 },
		.speed = { { 4, 1 }, { 2, 1 } },
	};

	(void)state;
	for (size_t k = 0; k < COUNT(both); k++) {
		assert_near(ask(&s, both[k]).value, 4. / 3, 1e-6);
		assert_near(ask(&same, both[k]).value, 1, 1e-6);
	}
}

static void a_weight_is_a_part(void **state)
{
	const struct setting s = {
		.jobs = 2,
		.types = 1,
		.capacity = { 1 },
		.speed = { { 5 }, { 7 } },
		.weight = { 1, 3 },
	};

	(void)state;
	for (size_t k = 0; k < COUNT(both); k++) {
		struct answer a = ask(&s, both[k]);

		assert_near(a.x[0][0], .25, 1e-6);
		assert_near(a.x[1][0], .75, 1e-6);
	}
}

/* A gang counts for as many jobs as it has devices: half the time on all is as much as one all the time. */
static void a_gang_has_as_many_device_seconds(void **state)
{
	const struct setting s = {
		.jobs = 3,
		.types = 1,
		.capacity = { 4 },
		.speed = { { 4 }, { 4 }, { 1 } },
		.gang = { 4, 4, 1 },
	};

	(void)state;
	for (size_t k = 0; k < COUNT(both); k++) {
		struct answer a = ask(&s, both[k]);

		assert_near(4 * a.x[0][0], 4 * a.x[1][0], 1e-5);
		assert_near(a.value, 1, 1e-5); /* the single is at its speed with one, and may go no faster */
		assert_near(8 * a.x[0][0] + a.x[2][0], 4, 2);
	}
}

static void a_job_alone_has_its_fastest_type(void **state)
{
	const struct setting s = {
		.jobs = 1,
		.types = 3,
		.capacity = { 1, 2, 1 },
		.speed = { { 1, 3, 2 } },
	};
	static const char *const policies_of[] = { "gavel:", "gavel:objective=finish-time",
		"gavel:objective=makespan", "gavel:objective=fifo", "gavel:objective=sjf",
		"gavel:objective=throughput", "gavel:objective=cost", "gavel:objective=slo-cost",
		"gavel:water_filling=1", "gavel:tenants=1", "gavel:packing=1" };

	(void)state;
	for (size_t k = 0; k < COUNT(policies_of); k++) {
		struct answer a = ask(&s, policies_of[k]);

		if (fabs(a.x[0][1] - 1) > 1e-5)
			fail_msg("%s: %g %g %g", policies_of[k], a.x[0][0], a.x[0][1], a.x[0][2]);
	}
}

/* b cannot run on t0, nobody on t2. */
static void types_that_are_of_no_use(void **state)
{
	const struct setting s = {
		.jobs = 2,
		.types = 3,
		.capacity = { 1, 1, 4 },
		.speed = { { 1, 1, 0 }, { 0, 1, 0 } },
	};
	static const char *const policies_of[] = { "gavel:", "gavel:compat=gavel",
		"gavel:objective=finish-time", "gavel:objective=makespan",
		"gavel:objective=makespan,compat=gavel", "gavel:objective=fifo",
		"gavel:objective=sjf", "gavel:objective=throughput", "gavel:objective=cost",
		"gavel:water_filling=1", "gavel:water_filling=1,compat=gavel", "gavel:packing=1" };

	(void)state;
	for (size_t k = 0; k < COUNT(policies_of); k++) {
		struct answer a = ask(&s, policies_of[k]);

		assert_int_equal(a.rc, 0);
		if (!(a.x[0][0] > 0.4 && a.x[1][1] > 0.4))
			fail_msg("%s: %g %g", policies_of[k], a.x[0][0], a.x[1][1]);
		assert_near(rate_of(&s, &a, 0), 1, 0.51);
	}
	assert_near(ask(&s, "gavel:").x[0][0], 1, 1e-5);
	assert_near(ask(&s, "gavel:").x[1][1], 1, 1e-5);
}

/* ---- queues and sums */

static void the_first_and_the_shortest(void **state)
{
	const struct setting s = {
		.jobs = 3,
		.types = 1,
		.capacity = { 1 },
		.speed = { { 1 }, { 2 }, { 4 } },
		.work = { 100, 150, 400 },
	};

	(void)state;
	assert_near(ask(&s, "gavel:objective=fifo").x[0][0], 1, 1e-5);
	assert_near(ask(&s, "gavel:objective=fifo,compat=gavel").x[0][0], 1, 0);
	assert_near(ask(&s, "gavel:objective=sjf").x[1][0], 1, 1e-5);
	assert_near(ask(&s, "gavel:objective=throughput").x[2][0], 1, 1e-5);
}

static void money_decides_who_has_the_dear_type(void **state)
{
	/* In units of the best speed: a gains .2 on t0, b gains .5. */
	struct setting s = {
		.jobs = 2,
		.types = 2,
		.capacity = { 2, 2 },
		.speed = { { 5, 4 }, { 10, 5 } },
		.price_per_h = { 1.5, 1 },
	};
	struct answer a = ask(&s, "gavel:objective=cost");

	(void)state;
	/* a: 1 / 1.5 on t0 and .8 on t1; b: 1 / 1.5 on t0 and .5 on t1 */
	assert_near(a.x[0][1], 1, 1e-5);
	assert_near(a.x[1][0], 1, 1e-5);
	s.price_per_h[0] = 3; /* b: 1 / 3 on t0 */
	a = ask(&s, "gavel:objective=cost");
	assert_near(a.x[1][1], 1, 1e-5);
	s.price_per_h[0] = s.price_per_h[1] = 0; /* nothing known: all cost the same */
	a = ask(&s, "gavel:objective=cost");
	assert_near(a.x[0][0], 1, 1e-5);
	assert_near(a.x[1][0], 1, 1e-5);
	s.price_per_h[0] = 1; /* only one known */
	a = ask(&s, "gavel:objective=cost");
	assert_true(a.rc < 0);
	assert_non_null(strstr(a.err.text, "t1 has no price"));
}

/* Both want the one device all the time: the one that asks for more is given up. */
static void deadlines_that_cannot_all_be_met(void **state)
{
	struct setting s = {
		.jobs = 2,
		.types = 1,
		.capacity = { 1 },
		.speed = { { 1 }, { 1 } },
		.work = { 60, 50 },
		.deadline_s = { 100, 100 },
	};
	struct answer a = ask(&s, "gavel:objective=slo-cost");

	(void)state;
	assert_string_equal(a.fallback, "not all deadlines can be met: the hardest were given up");
	assert_true(a.x[1][0] >= .5 - 1e-6);
	s.work[0] = 40;
	a = ask(&s, "gavel:objective=slo-cost");
	assert_string_equal(a.fallback, "");
	assert_true(a.x[0][0] >= .4 - 1e-6 && a.x[1][0] >= .5 - 1e-6);
	s.work[0] = 1000; /* not even alone: no reason to give up the other */
	a = ask(&s, "gavel:objective=slo-cost");
	assert_string_equal(a.fallback, "not all deadlines can be met: the hardest were given up");
	assert_true(a.x[1][0] >= .5 - 1e-6);
}

/* ---- tenants */

static void add_tenant(struct tenants *tenants, const char *name, double weight, enum within within)
{
	uint32_t at = tenants_add(tenants, name, strlen(name));

	tenants->at[at].weight = weight;
	tenants->at[at].within = within;
}

static void tenants_by_weight(void **state)
{
	static const struct row {
		const char *what;
		enum within within;
		double want[4]; /* a has one job, b three */
	} rows[] = {
		{ "fair within", WITHIN_FAIR, { 1. / 3, 2. / 9, 2. / 9, 2. / 9 } },
		{ "in order within", WITHIN_FIFO, { 1. / 3, 2. / 3, 0, 0 } },
	};

	(void)state;
	for (size_t r = 0; r < COUNT(rows); r++) {
		struct tenants tenants = { 0 };
		struct setting s = {
			.jobs = 4,
			.types = 1,
			.capacity = { 1 },
			.speed = { { 3 }, { 1 }, { 2 }, { 4 } },
			.tenant = { 0, 1, 1, 1 },
			.tenants = &tenants,
		};

		add_tenant(&tenants, "a", 1, WITHIN_FAIR);
		add_tenant(&tenants, "b", 2, rows[r].within);
		for (size_t k = 0; k < 2; k++) {
			struct answer a = ask(&s,
				k ? "gavel:tenants=1,compat=gavel" : "gavel:tenants=1");

			for (uint32_t i = 0; i < s.jobs; i++) {
				if (fabs(a.x[i][0] - rows[r].want[i]) > 1e-5)
					fail_msg("%s, %s: job %u has %g, not %g", rows[r].what,
						k ? "published" : "own", i, a.x[i][0],
						rows[r].want[i]);
			}
		}
		tenants_fini(&tenants);
	}
}

/* What one tenant cannot use the other has. */
static void what_a_tenant_cannot_use(void **state)
{
	struct tenants tenants = { 0 };
	struct setting s = {
		.jobs = 3,
		.types = 1,
		.capacity = { 2 },
		.speed = { { 1 }, { 1 }, { 1 } },
		.tenant = { 0, 1, 1 },
		.tenants = &tenants,
	};
	struct answer a;

	(void)state;
	add_tenant(&tenants, "a", 9, WITHIN_FAIR);
	add_tenant(&tenants, "b", 1, WITHIN_FAIR);
	a = ask(&s, "gavel:tenants=1");
	assert_near(a.x[0][0], 1, 1e-6);
	assert_near(a.x[1][0], .5, 1e-6);
	assert_near(a.x[2][0], .5, 1e-6);
	tenants_fini(&tenants);
}

/* ---- what is refused */

static void options_that_do_not_go_together(void **state)
{
	static const char *const rows[] = { "gavel:water_filling=1,objective=sjf",
		"gavel:tenants=1,objective=makespan", "gavel:packing=1,objective=fifo",
		"gavel:packing=1,water_filling=1" };
	const struct setting s = { .jobs = 1, .types = 1, .capacity = { 1 }, .speed = { { 1 } } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_true(ask(&s, rows[i]).rc < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_jobs_on_two_workers),
		cmocka_unit_test(opposite_tastes_gain_a_third),
		cmocka_unit_test(a_weight_is_a_part),
		cmocka_unit_test(a_gang_has_as_many_device_seconds),
		cmocka_unit_test(a_job_alone_has_its_fastest_type),
		cmocka_unit_test(types_that_are_of_no_use),
		cmocka_unit_test(the_first_and_the_shortest),
		cmocka_unit_test(money_decides_who_has_the_dear_type),
		cmocka_unit_test(deadlines_that_cannot_all_be_met),
		cmocka_unit_test(tenants_by_weight),
		cmocka_unit_test(what_a_tenant_cannot_use),
		cmocka_unit_test(options_that_do_not_go_together),
	};

	return cmocka_run_group_tests_name("policy/hetero/gavel", tests, NULL, NULL);
}
