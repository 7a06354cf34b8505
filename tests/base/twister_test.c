/*
 * The numbers that Python 3 draws, from its own interpreter.
 */
#include "support/property.h"

#include "base/twister.h"

static void uniform_numbers_and_samples(void **state)
{
	static const double want[] = { 0.8444218515250481, 0.7579544029403025, 0.420571580830845 };
	static const uint32_t few[][2] = { { 4, 8 }, { 7, 6 }, { 4, 7 } };
	static const uint32_t many[][2] = { { 45, 74 }, { 27, 64 }, { 17, 36 } };
	struct twister t;
	uint32_t two[2];

	(void)state;
	twister_init(&t, 0);
	for (size_t i = 0; i < COUNT(want); i++)
		assert_true(twister_uniform(&t) == want[i]);
	for (size_t i = 0; i < COUNT(few); i++) {
		twister_two(&t, 10, two);
		assert_memory_equal(two, few[i], sizeof(two));
	}
	for (size_t i = 0; i < COUNT(many); i++) {
		twister_two(&t, 100, two);
		assert_memory_equal(two, many[i], sizeof(two));
	}
}

static void a_seed_of_two_words(void **state)
{
	static const uint32_t words[] = { 2635837658, 3209733218, 3500038837 };
	static const uint32_t below[] = { 960, 967, 654 };
	struct twister t;

	(void)state;
	twister_init(&t, (UINT64_C(1) << 40) + 7);
	for (size_t i = 0; i < COUNT(words); i++)
		assert_int_equal(twister_u32(&t), words[i]);
	for (size_t i = 0; i < COUNT(below); i++)
		assert_int_equal(twister_below(&t, 1000), below[i]);
}

static void shuffles(void **state)
{
	static const uint32_t want[][3] = { { 0, 1, 2 }, { 0, 1, 2 }, { 1, 0, 2 }, { 2, 0, 1 } };
	struct twister t;

	(void)state;
	twister_init(&t, 5);
	for (size_t i = 0; i < COUNT(want); i++) {
		uint32_t at[] = { 0, 1, 2 };

		twister_shuffle(&t, at, 3);
		assert_memory_equal(at, want[i], sizeof(at));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uniform_numbers_and_samples),
		cmocka_unit_test(a_seed_of_two_words),
		cmocka_unit_test(shuffles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
