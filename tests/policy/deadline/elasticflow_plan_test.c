#include "policy/deadline/elasticflow_plan.h"

#include <math.h>
#include <stdbool.h>

#include "support/property.h"

/* Four devices, slots of a second; 1, 2 and 4 of them make 1, 1.5 and 2 steps per second. */
static struct flow_ask ask_for(double work, double deadline_s)
{
	return (struct flow_ask){
		.work = work,
		.deadline_s = deadline_s,
		.nlevels = 3,
		.level = { 1, 2, 4 },
		.speed = { 1, 1.5, 2 },
	};
}

static bool fill(struct flow_table *t, const struct flow_ask *ask, struct flow_course *course)
{
	if (!flow_fill(t, ask, course))
		return false;
	flow_take(t, course);
	return true;
}

static void assert_course(const struct flow_course *course, const uint32_t *want, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(flow_at(course, i + .5), want[i]);
}

static void test_levels(void **state)
{
	struct flow_course a = { 0 }, b = { 0 };
	struct flow_ask first = ask_for(3, 2), more = ask_for(3.5, 2), same = ask_for(3, 2);
	struct flow_table t = { 0 };

	(void)state;
	flow_table_init(&t, 0, 1, 4);
	assert_true(fill(&t, &first, &a));
	assert_course(&a, (uint32_t[]){ 2, 2, 0 }, 3);
	assert_int_equal(flow_left(&t, 2), 2);
	assert_false(fill(&t, &more, &b));
	assert_true(fill(&t, &same, &b));
	assert_course(&b, (uint32_t[]){ 2, 2, 0 }, 3);
	assert_int_equal(flow_left(&t, 2), 0);
	flow_course_fini(&a);
	flow_course_fini(&b);
	flow_table_fini(&t);
}

static void test_gaps(void **state)
{
	struct flow_course a = { 0 }, b = { 0 };
	struct flow_ask urgent = ask_for(2, 1), later = ask_for(3, 3);
	struct flow_table t = { 0 };

	(void)state;
	flow_table_init(&t, 0, 1, 4);
	assert_true(fill(&t, &urgent, &a));
	assert_course(&a, (uint32_t[]){ 4, 0, 0 }, 3);
	assert_true(fill(&t, &later, &b));
	assert_course(&b, (uint32_t[]){ 0, 2, 2 }, 3);
	flow_course_fini(&a);
	flow_course_fini(&b);
	flow_table_fini(&t);
}

static void test_backward(void **state)
{
	struct flow_course a = { 0 };
	struct flow_ask ask = ask_for(3.5, 3);
	struct flow_table t = { 0 };

	(void)state;
	flow_table_init(&t, 0, 1, 4);
	assert_true(flow_fill(&t, &ask, &a));
	assert_course(&a, (uint32_t[]){ 2, 2, 2 }, 3); /* over in the third slot */
	ask.backward = true;
	assert_true(flow_fill(&t, &ask, &a));
	assert_course(&a, (uint32_t[]){ 1, 1, 2 }, 3);
	flow_course_fini(&a);
	flow_table_fini(&t);
}

static void test_raise(void **state)
{
	struct flow_course a = { 0 }, more = { 0 };
	struct flow_ask ask = ask_for(1.5, 2);
	struct flow_table t = { 0 };
	double gpu_s;

	(void)state;
	flow_table_init(&t, 0, 1, 4);
	assert_true(flow_fill(&t, &ask, &a));
	assert_true(flow_finish_s(&ask, &a, 0, &gpu_s) == 1.5 && gpu_s == 1.5);
	flow_raise(&t, &a, 2, 1, &more);
	assert_true(flow_finish_s(&ask, &more, 0, &gpu_s) == 1 && gpu_s == 2);
	flow_raise(&t, &a, 4, 1, &more);
	assert_true(flow_finish_s(&ask, &more, 0, &gpu_s) == .75 && gpu_s == 3);
	flow_course_fini(&a);
	flow_course_fini(&more);
	flow_table_fini(&t);
}

static void test_costs(void **state)
{
	struct flow_course a = { 0 };
	struct flow_ask ask = ask_for(2, 2);
	struct flow_table t = { 0 };

	(void)state;
	flow_table_init(&t, 0, 1, 4);
	ask.start_s = .5; /* one device would be enough without */
	assert_true(flow_fill(&t, &ask, &a));
	assert_course(&a, (uint32_t[]){ 2, 2 }, 2);
	ask.holds = 1; /* it is there already */
	assert_true(flow_fill(&t, &ask, &a));
	assert_course(&a, (uint32_t[]){ 1, 1 }, 2);
	flow_course_fini(&a);
	flow_table_fini(&t);
}

/* Section 7 of the specification: plans that planning anew breaks. */
static void test_promised_plans(void **state)
{
	struct flow_course a = { 0 }, b = { 0 };
	struct flow_ask first = ask_for(4.5, 4), second = ask_for(6.5, 4);
	struct flow_table t = { 0 };

	(void)state;
	flow_table_init(&t, 0, 1, 4);
	assert_true(fill(&t, &first, &a));
	assert_course(&a, (uint32_t[]){ 2, 2, 2, 0 }, 4);
	assert_true(fill(&t, &second, &b));
	assert_course(&b, (uint32_t[]){ 2, 2, 2, 4 }, 4);

	/* After a slot the first would take less, and too little would be left for the second. */
	first.holds = second.holds = 2;
	first.work -= 1.5;
	second.work -= 1.5;
	flow_table_init(&t, 1, 1, 4);
	assert_true(flow_fits(&t, &a));
	flow_take(&t, &a);
	assert_true(flow_fits(&t, &b));
	assert_true(
		flow_finish_s(&first, &a, 1, NULL) == 3 && flow_finish_s(&second, &b, 1, NULL) == 4);
	flow_table_init(&t, 1, 1, 4);
	assert_true(fill(&t, &first, &a));
	assert_course(&a, (uint32_t[]){ 0, 1, 1, 1 }, 4);
	assert_false(flow_fits(&t, &b));
	assert_false(fill(&t, &second, &b));
	flow_course_fini(&a);
	flow_course_fini(&b);
	flow_table_fini(&t);
}

/* The same section: three fit together, and without one of them another does not. */
static void test_more_can_be_easier(void **state)
{
	struct flow_course a = { 0 }, b = { 0 }, c = { 0 };
	struct flow_ask long_ = ask_for(5, 3), urgent = ask_for(2, 2), small = ask_for(1, 3);
	struct flow_table t = { 0 };

	(void)state;
	flow_table_init(&t, 0, 1, 4);
	assert_true(fill(&t, &urgent, &b));
	assert_course(&b, (uint32_t[]){ 1, 1, 0 }, 3);
	assert_true(fill(&t, &long_, &a));
	assert_course(&a, (uint32_t[]){ 2, 2, 4 }, 3);
	assert_true(fill(&t, &small, &c));
	assert_course(&c, (uint32_t[]){ 1, 0, 0 }, 3);
	flow_table_init(&t, 0, 1, 4);
	assert_true(fill(&t, &long_, &a));
	assert_course(&a, (uint32_t[]){ 4, 4, 4 }, 3);
	assert_false(fill(&t, &small, &c));
	flow_course_fini(&a);
	flow_course_fini(&b);
	flow_course_fini(&c);
	flow_table_fini(&t);
}

/* A start, one after a pause and a change of size cost what each of them does. */
static void test_unequal_costs(void **state)
{
	static const struct flow_part parts[] = { { 0, 1, 1 }, { 1, 3, 0 }, { 3, 6, 1 }, { 6, 9, 2 } };
	struct flow_part at[COUNT(parts)];
	struct flow_course course = { at, COUNT(parts), 0 };
	struct flow_ask ask = ask_for(2, 100);

	(void)state;
	for (size_t i = 0; i < COUNT(parts); i++)
		at[i] = parts[i];
	assert_true(flow_finish_s(&ask, &course, 0, NULL) == 4);
	ask.resume_s = 1.5; /* one step in the first second, the other after the pause */
	assert_true(flow_finish_s(&ask, &course, 0, NULL) == 5.5);
	ask.start_s = .25;
	assert_true(flow_finish_s(&ask, &course, 0, NULL) == 5.75);
	ask.resume_s = 3;
	ask.change_s = .5;
	assert_true(fabs(flow_finish_s(&ask, &course, 0, NULL) - (6.5 + 1.25 / 1.5)) < 1e-12);
	ask.holds = 1; /* no start now, but after the pause */
	assert_true(fabs(flow_finish_s(&ask, &course, 0, NULL) - (6.5 + 1 / 1.5)) < 1e-12);
}

/* ---- slot by slot, as it is written */

enum { SLOTS = 12 };

static bool brute(const uint32_t used[SLOTS], uint32_t capacity, const struct flow_ask *ask,
	uint32_t out[SLOTS])
{
	for (uint32_t q = 0; q < ask->nlevels; q++) {
		double done = 0;

		for (uint32_t i = 0; i < SLOTS; i++) {
			uint32_t x = 0;
			double speed = 0;

			for (uint32_t k = 0; k <= q && i < ask->deadline_s && done < ask->work; k++) {
				if (ask->level[k] <= capacity - used[i]) {
					x = ask->level[k];
					speed = ask->speed[k];
				}
			}
			out[i] = x;
			done += speed;
		}
		if (done >= ask->work)
			return true;
	}
	return false;
}

static void test_against_slots(void **state)
{
	struct rng rng = property("stretches give what slots give, and never more than there is");

	(void)state;
	for (size_t round = 0; round < rounds(400); round++) {
		uint32_t used[SLOTS] = { 0 }, want[SLOTS];
		struct flow_table t = { 0 };

		flow_table_init(&t, 0, 1, 6);
		for (int job = 0; job < 8; job++) {
			struct flow_ask ask = ask_for(.5 * (double)(1 + rng_below(&rng, 16)),
				1 + (double)rng_below(&rng, SLOTS));
			struct flow_course course = { 0 };
			bool fits = brute(used, 6, &ask, want);

			assert_int_equal(fill(&t, &ask, &course), fits);
			if (fits)
				assert_course(&course, want, SLOTS);
			for (uint32_t i = 0; fits && i < SLOTS; i++) {
				used[i] += want[i];
				assert_true(used[i] <= 6);
				assert_int_equal(flow_at(&t.used, i + .5), used[i]);
			}
			flow_course_fini(&course);
		}
		flow_table_fini(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_backward),
		cmocka_unit_test(test_raise),
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_promised_plans),
		cmocka_unit_test(test_more_can_be_easier),
		cmocka_unit_test(test_unequal_costs),
		cmocka_unit_test(test_against_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
