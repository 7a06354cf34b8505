#include "base/real.h"

#include <math.h>

#include "support/property.h"

static void test_log_and_exp(void **state)
{
	struct rng rng = property(
		"logarithm and exponential are libm's within a few units of the last place");

	(void)state;
	for (size_t i = 0; i < rounds(20000); i++) {
		double x = exp(40 * rng_uniform(&rng) - 20), y = 60 * rng_uniform(&rng) - 30;

		assert_true(fabs(real_log(x) - log(x)) <= 1e-15 * (1 + fabs(log(x))));
		assert_true(fabs(real_exp(y) / exp(y) - 1) <= 1e-15 * (2 + fabs(y)));
	}
	assert_true(real_log(1) == 0 && real_exp(0) == 1);
}

static void test_pow(void **state)
{
	struct rng rng = property("powers are libm's within |y log x| units of the last place");

	(void)state;
	for (size_t i = 0; i < rounds(20000); i++) {
		double x = exp(40 * rng_uniform(&rng) - 20), y = 20 * rng_uniform(&rng) - 10;
		double want = pow(x, y);

		assert_true(fabs(real_pow(x, y) / want - 1) <= 4e-16 * (2 + fabs(y * log(x))));
	}
	assert_true(real_pow(1, 7) == 1 && real_pow(3, 0) == 1);
	assert_true(isinf(real_pow(10, 400)) && real_pow(10, -400) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log_and_exp),
		cmocka_unit_test(test_pow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
