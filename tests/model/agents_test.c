#include "model/agents.h"

#include <math.h>
#include <string.h>

#include "support/property.h"

enum { A, B, TYPES };

static const struct batch_limits limits = { .initial = 12, .max = 384, .min_local = 4, .max_local = 12 };
static const struct goodput_sample one = { 1, 1, 12, 0.92, 0.0137 };
static const struct goodput_sample small = { 1, 1, 5, 0.51, 0.0137 };
static const struct goodput_sample two = { 1, 2, 12, 0.93, 0.05 };
static const struct goodput_shape single = { 1, 1 }, four = { 1, 4 };

static struct agents *agents_with(bool merged)
{
	struct agents *agents = agents_create(TYPES, (struct agents_options){ .merged = merged });

	agents_limit(agents, 3, A, limits);
	agents_limit(agents, 3, B, limits);
	return agents;
}

static void test_nothing_known(void **state)
{
	struct agents *agents = agents_with(false);
	struct goodput_choice c = { 1, 1, { 1, 1 } };

	(void)state;
	assert_false(agents_goodput(agents, 3, A, single, 384, 0, &c));
	assert_float_equal(c.goodput, 0, 0);
	assert_false(agents_goodput(agents, 99, A, single, 384, 0, &c)); /* nobody */
	assert_null(agents_fit(agents, 3, A));
	assert_null(agents_fit(agents, 99, A));
	assert_null(agents_limits(agents, 99, A));
	assert_int_equal(agents_most(agents, 3, A), 0);
	assert_int_equal(agents_most(agents, 99, A), 0);
	assert_int_equal(agents_version(agents, 99), 0);
	assert_float_equal(agents_gradient(agents, 99).var, 0, 0);
	assert_float_equal(agents_limits(agents, 3, B)->max, 384, 0);
	agents_destroy(agents);
	agents_destroy(NULL);
}

static void test_learning(void **state)
{
	struct agents *agents = agents_with(false);
	struct goodput_sample other = one;
	struct goodput_choice c, d;
	uint32_t version = agents_version(agents, 3);

	(void)state;
	assert_true(agents_observe(agents, 3, A, &one));
	assert_true(agents_version(agents, 3) > version);
	version = agents_version(agents, 3);
	other.step_s = 5;
	assert_false(agents_observe(agents, 3, A, &other)); /* the first stays */
	assert_int_equal(agents_version(agents, 3), version);
	assert_true(agents_goodput(agents, 3, A, single, 384, 0, &c));
	assert_false(agents_goodput(agents, 3, B, single, 384, 0, &d)); /* nothing was seen there */
	assert_int_equal(agents_version(agents, 3), version);           /* asking changes nothing */

	assert_true(agents_observe(agents, 3, A, &small));
	assert_true(agents_observe(agents, 3, A, &two));
	assert_int_equal(agents_most(agents, 3, A), 2);
	assert_int_equal(agents_most(agents, 3, B), 0);
	assert_true(agents_goodput(agents, 3, A, four, 384, 0, &d));
	assert_true(d.goodput > c.goodput);
	agents_destroy(agents);
}

static void test_merged(void **state)
{
	struct agents *agents = agents_with(true);
	struct goodput_choice c;

	(void)state;
	assert_true(agents_observe(agents, 3, A, &one));
	assert_false(agents_observe(agents, 3, B, &one));
	assert_true(agents_observe(agents, 3, B, &two));
	assert_int_equal(agents_most(agents, 3, A), 2);
	assert_true(agents_goodput(agents, 3, B, four, 384, 0, &c));
	assert_ptr_equal(agents_fit(agents, 3, A), agents_fit(agents, 3, B));
	agents_destroy(agents);
}

static void test_gradient(void **state)
{
	struct agents *agents = agents_with(false);
	struct gradient g = { 1, 500 };
	struct goodput_choice sure, unsure;
	uint32_t version;

	(void)state;
	agents_observe(agents, 3, A, &one);
	agents_feel(agents, 3, (struct gradient){ 1, 0.1 });
	assert_true(agents_goodput(agents, 3, A, four, 384, 0, &sure));
	agents_feel(agents, 3, g);
	version = agents_version(agents, 3);
	agents_feel(agents, 3, g);
	assert_int_equal(agents_version(agents, 3), version); /* no news */
	assert_true(agents_goodput(agents, 3, A, four, 384, 0, &unsure));
	assert_true(unsure.goodput > sure.goodput); /* a noisy gradient makes large batches worth it */
	assert_float_equal(agents_gradient(agents, 3).var, 500, 0);
	agents_destroy(agents);
}

/* As if nobody had heard of it; what was answered before is not answered again. */
static void test_forget(void **state)
{
	struct agents *agents = agents_with(false);
	struct goodput_sample slow = { 1, 1, 12, 9.2, 0 };
	struct goodput_choice before, after;
	uint32_t version;

	(void)state;
	agents_forget(agents, 77);
	agents_observe(agents, 3, A, &one);
	assert_true(agents_goodput(agents, 3, A, single, 384, 12, &before));
	version = agents_version(agents, 3);
	agents_forget(agents, 3);
	assert_null(agents_limits(agents, 3, A));
	assert_null(agents_fit(agents, 3, A));
	assert_int_equal(agents_most(agents, 3, A), 0);
	assert_true(agents_version(agents, 3) > version);
	agents_limit(agents, 3, A, limits);
	assert_non_null(agents_limits(agents, 3, A));
	agents_observe(agents, 3, A, &slow);
	assert_true(agents_goodput(agents, 3, A, single, 384, 12, &after));
	assert_true(after.goodput < before.goodput / 5);
	agents_destroy(agents);
}

static void test_bad_sample(void **state)
{
	struct agents *agents = agents_with(false);
	struct goodput_sample bad = { 1, 1, 12, NAN, 0 };
	struct goodput_choice c;

	(void)state;
	agents_observe(agents, 3, A, &bad);
	assert_null(agents_fit(agents, 3, A));
	assert_false(agents_goodput(agents, 3, A, single, 384, 0, &c));
	agents_destroy(agents);
}

/* Whatever was asked before, and however often, the answer is that of goodput_best(). */
static void test_memory(void **state)
{
	struct rng rng = property("remembered answers are those of goodput_best()");
	struct agents *agents = agents_create(TYPES, (struct agents_options){ 0 });

	(void)state;
	for (uint32_t job = 0; job < 5; job++) {
		agents_limit(agents, job, A, limits);
		agents_observe(agents, job, A, &one);
	}
	for (size_t i = 0; i < rounds(4000); i++) {
		uint32_t job = (uint32_t)(rng_uniform(&rng) * 5);
		double replicas = 1 + floor(rng_uniform(&rng) * 40);
		struct goodput_shape shape = { ceil(replicas / 4), replicas };
		double cap = rng_uniform(&rng) < 0.5 ? 384 : 96,
		       fixed = rng_uniform(&rng) < 0.3 ? 48 : 0;
		struct goodput_choice got, want;
		bool can, could;

		if (rng_uniform(&rng) < 0.01)
			agents_feel(agents, job, (struct gradient){ 1, 100 * rng_uniform(&rng) });
		if (rng_uniform(&rng) < 0.01)
			agents_observe(agents, job, A,
				&(struct goodput_sample){ shape.nodes, replicas,
					4 + floor(8 * rng_uniform(&rng)), 1 + rng_uniform(&rng), 0.1 });
		can = agents_goodput(agents, job, A, shape, cap, fixed, &got);
		could = goodput_best(agents_fit(agents, job, A), agents_gradient(agents, job),
			&limits, shape, cap, fixed, &want);
		assert_true(can == could);
		assert_true(got.goodput == want.goodput && got.batch == want.batch &&
			got.split.atomic == want.split.atomic && got.split.accum == want.split.accum);
	}
	agents_destroy(agents);
}

static void test_other_numbers(void **state)
{
	struct agents *agents = agents_with(false), *view = agents_renumbered(agents);
	struct goodput_choice here, there;

	(void)state;
	agents_observe(agents, 3, A, &one);
	agents_put(view, 7, agents, 3);
	agents_put(view, 8, agents, 99); /* nobody */
	assert_null(agents_limits(view, 3, A));
	assert_null(agents_limits(view, 8, A));
	assert_float_equal(agents_limits(view, 7, A)->max, 384, 0);
	assert_int_equal(agents_goodput(view, 7, A, four, 384, 0, &there),
		agents_goodput(agents, 3, A, four, 384, 0, &here));
	assert_float_equal(here.goodput, there.goodput, 0);
	agents_destroy(view);
	/* Those that it had are where they were. */
	assert_int_equal(agents_most(agents, 3, A), 1);
	agents_clear(agents);
	assert_null(agents_limits(agents, 3, A));
	agents_limit(agents, 3, A, limits);
	assert_int_equal(agents_most(agents, 3, A), 0);
	agents_destroy(agents);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_known),
		cmocka_unit_test(test_learning),
		cmocka_unit_test(test_merged),
		cmocka_unit_test(test_gradient),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_bad_sample),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_other_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
