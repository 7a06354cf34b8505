/*
 * Trading fast devices for slow ones, so that nobody loses.
 *
 * Who gains most from the fast type buys, who gains least sells.  The price, in
 * slow devices for a fast one, is the second largest speed-up, so that nobody
 * gains by telling another than its own; of two it is in the middle.  A trade
 * goes through only between a seller whose speed-up is below the price and a
 * buyer whose is above: both have more by their own rates afterwards.
 */
#ifndef MODEL_TRADE_H
#define MODEL_TRADE_H

#include <stdint.h>

struct trader {
	double speedup; /* of the fast type over the slow one; 0: it uses one of them only and does not trade */
	double fast, slow; /* its parts of both */
	double room; /* devices it could use beyond these: more are worth nothing; INFINITY: any */
};

struct trade {
	uint32_t buyer, seller;
	double fast, slow; /* that changed hands */
	double price;
	double buyer_gain, seller_gain; /* value after over before, by their own rates; never below 1 */
};

/* What a trader's devices are worth to it, in slow ones. */
double trader_value(const struct trader *t);
/* The price among these; 0: nobody trades. */
double trade_price(const struct trader *traders, uint32_t n);
/* Trades as much as there is; `out` has room for 2 n.  Returns how many trades there were. */
uint32_t trade_all(struct trader *traders, uint32_t n, struct trade *out);

#endif
