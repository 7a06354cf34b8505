/*
 * Trading: the worked example, and that nobody ever loses.
 */
#include "model/trade.h"

#include <math.h>
#include <string.h>

#include "support/property.h"

enum { TRADERS = 8 };

static void worked_example(void **state)
{
	struct trader t[] = { { 1.2, 2, 4, INFINITY }, { 2, 2, 4, INFINITY }, { 5, 2, 4, INFINITY } };
	struct trade trades[6];

	(void)state;
	assert_true(trader_value(&t[2]) == 14);
	assert_int_equal(trade_all(t, 3, trades), 1);
	assert_int_equal(trades[0].buyer, 2);
	assert_int_equal(trades[0].seller, 0);
	assert_true(trades[0].price == 2 && trades[0].fast == 2 && trades[0].slow == 4);
	assert_true(trader_value(&t[2]) == 20);
	assert_float_equal(trader_value(&t[0]), 8, 1e-12);
	assert_true(t[1].fast == 2 && t[1].slow == 4);
	assert_float_equal(trades[0].buyer_gain, 20 / 14., 1e-12);
	assert_float_equal(trades[0].seller_gain, 8 / 6.4, 1e-12);
}

static void two_meet_in_the_middle(void **state)
{
	struct trader t[] = { { 1, 2, 2, INFINITY }, { 3, 2, 2, INFINITY } };
	struct trade trades[4];

	(void)state;
	assert_int_equal(trade_all(t, 2, trades), 1);
	assert_true(trades[0].price == 2 && trades[0].fast == 1 && trades[0].slow == 2);
}

/* More devices than its jobs can use are worth nothing to a seller: it sells as far as they are. */
static void nobody_gets_more_than_it_can_use(void **state)
{
	struct trader t[] = { { 1, 2, 2, 0.5 }, { 3, 2, 2, INFINITY } };
	struct trade trades[4];

	(void)state;
	assert_int_equal(trade_all(t, 2, trades), 1);
	assert_true(trades[0].fast == 0.5 && trades[0].slow == 1 && t[0].room == 0);
}

static void who_uses_one_type_only_does_not_trade(void **state)
{
	struct trader t[] = { { 0, 2, 2, INFINITY }, { 3, 2, 2, INFINITY } };
	struct trade trades[4];

	(void)state;
	assert_int_equal(trade_all(t, 2, trades), 0);
	assert_int_equal(trade_all(t, 0, trades), 0);
}

static void nobody_loses_and_nothing_is_lost(void **state)
{
	struct rng rng = property("trades");
	uint32_t traded = 0;

	(void)state;
	for (size_t round = 0; round < rounds(2000); round++) {
		uint32_t n = (uint32_t)rng_below(&rng, TRADERS + 1), trades;
		struct trader before[TRADERS], after[TRADERS];
		struct trade list[2 * TRADERS];
		double fast = 0, slow = 0;

		for (uint32_t i = 0; i < n; i++) {
			before[i] = (struct trader){ (double)rng_below(&rng, 6) / 2 +
					rng_uniform(&rng) / 2,
				(double)rng_below(&rng, 5), (double)rng_below(&rng, 5),
				rng_below(&rng, 2) ? (double)rng_below(&rng, 4) : INFINITY };
			fast += before[i].fast;
			slow += before[i].slow;
		}
		memcpy(after, before, sizeof(after));
		trades = trade_all(after, n, list);
		traded += trades;
		for (uint32_t i = 0; i < trades; i++) {
			assert_true(list[i].buyer_gain >= 1 && list[i].seller_gain >= 1);
			assert_true(before[list[i].buyer].speedup > list[i].price);
			assert_true(before[list[i].seller].speedup < list[i].price);
		}
		for (uint32_t i = 0; i < n; i++) {
			assert_true(trader_value(&after[i]) >= trader_value(&before[i]) - 1e-9);
			assert_true(after[i].fast >= 0 && after[i].slow >= 0 && after[i].room >= -1e-9);
			fast -= after[i].fast;
			slow -= after[i].slow;
		}
		assert_float_equal(fast, 0, 1e-9);
		assert_float_equal(slow, 0, 1e-9);
	}
	assert_true(traded > rounds(2000) / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worked_example),
		cmocka_unit_test(two_meet_in_the_middle),
		cmocka_unit_test(nobody_gets_more_than_it_can_use),
		cmocka_unit_test(who_uses_one_type_only_does_not_trade),
		cmocka_unit_test(nobody_loses_and_nothing_is_lost),
	};

	return cmocka_run_group_tests_name("model/trade", tests, NULL, NULL);
}
