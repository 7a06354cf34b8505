/*
 * Trading fast devices for slow ones.
 */
#include "model/trade.h"

#include <math.h>
#include <stdbool.h>

/* Parts below this are rounding. */
#define PART_MIN 1e-9

double trader_value(const struct trader *t)
{
	return t->fast * t->speedup + t->slow;
}

double trade_price(const struct trader *traders, uint32_t n)
{
	double first = 0, second = 0;
	uint32_t trading = 0;

	for (uint32_t i = 0; i < n; i++) {
		double s = traders[i].speedup;

		if (!(s > 0))
			continue;
		trading++;
		if (s > first) {
			second = first;
			first = s;
		} else {
			second = fmax(second, s);
		}
	}
	if (trading < 2)
		return 0;
	return trading == 2 ? (first + second) / 2 : second;
}

/* Fast devices that a trader could buy (or sell) before it has more in all than it can use; `more`: for each of them. */
static double within_room(const struct trader *t, double more)
{
	return more > 0 ? t->room / more : INFINITY;
}

/* Who has something to give and the largest (smallest) speed-up, the first of equals; n: nobody. */
static uint32_t next_buyer(const struct trader *t, uint32_t n, double price)
{
	uint32_t best = n;

	for (uint32_t i = 0; i < n; i++) {
		if (t[i].speedup > price && t[i].slow > PART_MIN &&
			within_room(&t[i], 1 - price) > PART_MIN &&
			(best == n || t[i].speedup > t[best].speedup))
			best = i;
	}
	return best;
}

static uint32_t next_seller(const struct trader *t, uint32_t n, double price)
{
	uint32_t best = n;

	for (uint32_t i = 0; i < n; i++) {
		if (t[i].speedup > 0 && t[i].speedup < price && t[i].fast > PART_MIN &&
			within_room(&t[i], price - 1) > PART_MIN &&
			(best == n || t[i].speedup < t[best].speedup))
			best = i;
	}
	return best;
}

static void exchange(struct trader *buyer, struct trader *seller, struct trade *trade)
{
	double buyer_had = trader_value(buyer), seller_had = trader_value(seller);

	trade->fast = fmin(fmin(seller->fast, buyer->slow / trade->price),
		fmin(within_room(seller, trade->price - 1), within_room(buyer, 1 - trade->price)));
	trade->slow = trade->fast * trade->price;
	seller->fast = fmax(0, seller->fast - trade->fast);
	buyer->slow = fmax(0, buyer->slow - trade->slow);
	buyer->fast += trade->fast;
	seller->slow += trade->slow;
	seller->room -= trade->slow - trade->fast;
	buyer->room -= trade->fast - trade->slow;
	trade->buyer_gain = trader_value(buyer) / buyer_had;
	trade->seller_gain = trader_value(seller) / seller_had;
}

uint32_t trade_all(struct trader *traders, uint32_t n, struct trade *out)
{
	double price = trade_price(traders, n);
	uint32_t trades = 0;

	while (price > 0 && trades < 2 * n) {
		struct trade *trade = &out[trades];
		uint32_t buyer = next_buyer(traders, n, price),
			 seller = next_seller(traders, n, price);

		if (buyer == n || seller == n)
			break;
		*trade = (struct trade){ .buyer = buyer, .seller = seller, .price = price };
		exchange(&traders[buyer], &traders[seller], trade);
		trades++;
	}
	return trades;
}
