/*
 * Finish-time fairness: the worked examples.
 */
#include "model/finish_time.h"

#include <math.h>

#include "support/property.h"

static void the_ratio(void **state)
{
	(void)state;
	/* an hour old, 120 GPU-minutes left on four devices: 90 minutes in all, where 2 x 60 were fair */
	assert_true(finish_shared_s(60, 120, 4) == 90);
	assert_true(finish_rho(finish_shared_s(60, 120, 4), 240. / 4 * 2) == 0.75);
	assert_true(finish_shared_s(60, 120, 4 * 0.5) == 120);
	assert_true(isinf(finish_shared_s(60, 120, 0)));
	assert_true(finish_rho(INFINITY, 120) == FINISH_RHO_MAX);
	assert_true(finish_rho(1, 0) == FINISH_RHO_MAX);
}

static void who_sees_an_offer(void **state)
{
	static const struct {
		double f;
		uint32_t n, want;
	} rows[] = {
		{ 0.8, 10, 2 },
		{ 1, 10, 1 },
		{ 0, 10, 10 },
		{ 0.8, 0, 0 },
		{ 0.8, 1, 1 },
		{ 0.8, 11, 3 },
		{ 0.5, 5, 3 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(finish_visible(rows[i].f, rows[i].n), rows[i].want);
}

static void crowds(void **state)
{
	struct crowd crowd = { 0 };
	double sum;

	(void)state;
	crowd_set(&crowd, 10, 2);
	sum = crowd.sum;
	assert_true(crowd_mean(&crowd, sum, 10, 10) == 2);
	crowd_set(&crowd, 20, 4);
	assert_true(crowd_mean(&crowd, sum, 10, 30) == 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ratio),
		cmocka_unit_test(who_sees_an_offer),
		cmocka_unit_test(crowds),
	};

	return cmocka_run_group_tests_name("model/finish_time", tests, NULL, NULL);
}
