#include "policy/elastic/heet_market.h"

#include <math.h>
#include <string.h>

#include "support/property.h"

enum { ROWS = 8, TYPES = 3, MOST = 8 };

/* Prices by row, type and count. */
struct world {
	double price[ROWS][TYPES][MOST + 1];
	double wait;
	struct holding at[ROWS];
	struct market market;
	struct arena arena;
};

static double price(const void *ctx, uint32_t row, uint32_t type, uint32_t gpus)
{
	const struct world *w = ctx;

	return gpus ? w->price[row][type][gpus] : w->wait;
}

static void world_init(struct world *w, uint32_t rows, uint32_t types, uint32_t host, uint32_t hosts)
{
	memset(w, 0, sizeof(*w));
	w->wait = 1e6;
	w->market = (struct market){ .rows = rows,
		.types = types,
		.at = w->at,
		.price = price,
		.ctx = w,
		.trades_max = 1000,
		.arena = &w->arena };
	for (uint32_t t = 0; t < types; t++) {
		w->market.free[t] = host * hosts;
		w->market.host[t] = host;
	}
}

/* As the rows come: one device of the first type that has some. */
static void hold(struct world *w, uint32_t row, uint32_t least, uint32_t most)
{
	struct holding *h = &w->at[row];

	for (uint32_t t = 0; t < w->market.types; t++) {
		h->least[t] = least;
		h->most[t] = most;
	}
	for (uint32_t t = 0; t < w->market.types && h->gpus == 0; t++) {
		if (w->market.free[t] < least)
			continue;
		h->type = t;
		h->gpus = least;
		w->market.free[t] -= least;
	}
}

static void prices_by_theta(void **state)
{
	static const double speed[] = { 0, 1, 1.6, 0, 2 };
	static const struct {
		double theta, want[5];
	} rows[] = {
		{ 0.5, { 0, 100, 88.388, 0, 100 } },
		{ 1, { 0, 100, 125, 0, 200 } },
		{ 0, { 0, 100, 62.5, 0, 50 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (int n = 1; n <= 4; n *= 2) {
			double got = price_default(100 / speed[n], n, rows[i].theta);

			assert_true(fabs(got - rows[i].want[n]) < 0.01);
		}
	}
}

static void the_cheapest_matching(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, 2, 2, 1, 1);
	hold(&w, 0, 1, 1);
	hold(&w, 1, 1, 1);
	w.price[0][0][1] = 4;
	w.price[0][1][1] = 9;
	w.price[1][0][1] = 3;
	w.price[1][1][1] = 5;
	market_match(&w.market);
	assert_int_equal(w.at[0].type, 0);
	assert_int_equal(w.at[1].type, 1);
	assert_true(market_total(&w.market) == 9);
	arena_fini(&w.arena);
}

/* A has 3 devices at 40, 2 at 45; B has 1 at 90, 2 at 60. */
static uint32_t trade_of(double restart, double *total)
{
	struct world w;
	uint32_t made;

	world_init(&w, 2, 1, 4, 1);
	hold(&w, 0, 1, 3);
	hold(&w, 1, 1, 2);
	w.market.restart = restart;
	w.at[0].gpus = 3;
	w.market.free[0] -= 2;
	w.price[0][0][1] = 80;
	w.price[0][0][2] = 45;
	w.price[0][0][3] = 40;
	w.price[1][0][1] = 90;
	w.price[1][0][2] = 60;
	made = market_trade(&w.market);
	*total = market_total(&w.market);
	assert_true(w.market.free[0] == 0);
	arena_fini(&w.arena);
	return made;
}

static void a_device_changes_hands_if_that_pays_a_restart(void **state)
{
	double total;

	(void)state;
	assert_int_equal(trade_of(0, &total), 1);
	assert_true(total == 105);
	assert_int_equal(trade_of(30, &total), 0);
	assert_true(total == 130);
}

static void draw(struct world *w, struct rng *rng)
{
	uint32_t host = 1u << rng_below(rng, 3);

	world_init(w, 1 + (uint32_t)rng_below(rng, ROWS), 1 + (uint32_t)rng_below(rng, TYPES), host,
		1 + (uint32_t)rng_below(rng, 4));
	for (uint32_t row = 0; row < w->market.rows; row++) {
		uint32_t least = 1 + (uint32_t)rng_below(rng, 3);

		hold(w, row, least, least + (uint32_t)rng_below(rng, MOST - 2));
		for (int t = 0; t < TYPES; t++) {
			for (int n = 1; n <= MOST; n++)
				w->price[row][t][n] = rng_between(rng, 1, 100);
		}
	}
}

static void check(const struct world *w, const double *devices)
{
	double used[TYPES] = { 0 };

	for (uint32_t row = 0; row < w->market.rows; row++) {
		const struct holding *h = &w->at[row];

		if (h->gpus == 0)
			continue;
		assert_true(h->gpus >= h->least[h->type] && h->gpus <= h->most[h->type]);
		used[h->type] += h->gpus;
	}
	for (uint32_t t = 0; t < w->market.types; t++) {
		assert_true(w->market.free[t] >= 0);
		assert_true(used[t] + w->market.free[t] == devices[t]);
	}
}

/* Nobody can trade any more: no move of one device and no swap lowers the sum. */
static void check_no_trade_left(struct world *w)
{
	double before = market_total(&w->market);

	assert_int_equal(market_trade(&w->market), 0);
	assert_true(market_total(&w->market) == before);
	for (uint32_t a = 0; a < w->market.rows; a++) {
		for (uint32_t b = 0; b < w->market.rows; b++) {
			struct holding *x = &w->at[a], *y = &w->at[b];

			if (a == b || !x->gpus || !y->gpus || x->type != y->type ||
				x->gpus <= x->least[x->type] || y->gpus >= y->most[y->type])
				continue;
			x->gpus--;
			y->gpus++;
			assert_true(market_total(&w->market) >= before - 1e-9);
			x->gpus++;
			y->gpus--;
		}
	}
}

static void markets_of_all_kinds(void **state)
{
	struct rng rng = property("limits, devices, and trades that lower the sum");

	(void)state;
	for (size_t round = 0; round < rounds(500); round++) {
		struct world w;
		double devices[TYPES], before;
		uint32_t served = 0, still = 0;

		draw(&w, &rng);
		for (uint32_t t = 0; t < w.market.types; t++) {
			devices[t] = w.market.free[t];
			for (uint32_t row = 0; row < w.market.rows; row++)
				devices[t] += w.at[row].gpus && w.at[row].type == t ? w.at[row].gpus
										    : 0;
		}
		for (uint32_t row = 0; row < w.market.rows; row++)
			served += w.at[row].gpus > 0;
		market_match(&w.market);
		check(&w, devices);
		for (uint32_t row = 0; row < w.market.rows; row++)
			still += w.at[row].gpus > 0;
		assert_int_equal(served, still);
		market_grow(&w.market);
		check(&w, devices);
		before = market_total(&w.market);
		if (market_trade(&w.market) > 0)
			assert_true(market_total(&w.market) < before);
		check(&w, devices);
		check_no_trade_left(&w);
		arena_fini(&w.arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prices_by_theta),
		cmocka_unit_test(the_cheapest_matching),
		cmocka_unit_test(a_device_changes_hands_if_that_pays_a_restart),
		cmocka_unit_test(markets_of_all_kinds),
	};

	return cmocka_run_group_tests_name("policy/elastic/heet_market", tests, NULL, NULL);
}
