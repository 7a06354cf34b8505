/*
 * Partial allocation: who gets what of a pool so that the product of values is
 * largest, and how much of it each may keep.
 *
 * Everybody bids for amounts of one kind of thing at a time, with a value for
 * each and for nothing; at most one of its bids is met.  What a winner keeps is
 * the product of the others' values over what it would be without the winner:
 * whoever takes much from others pays with a part of what it won, and gains
 * nothing by bidding anything but the truth.  (Cole, Gkatzelis and Goel, EC
 * 2013; the auction of Themis, NSDI 2020.)
 *
 * Few bidders: every optimum is proved (solver/choice.h), that of each bidder's
 * absence too.  Many: the optimum is proved where there is work enough for it,
 * and absences go by a rule: what the absent one won goes to the others, again
 * and again to the bid that gains most in the logarithm for each thing it takes
 * more.
 */
#ifndef SOLVER_AUCTION_H
#define SOLVER_AUCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

#define AUCTION_NONE UINT32_MAX

enum { AUCTION_FEW = 8 };

struct auction_bid {
	uint32_t kind, amount; /* above 0 */
	double value;          /* above 0 */
};

struct auction_bidder {
	uint32_t first, n; /* of its bids */
	double empty;      /* the value of nothing, above 0 */
};

struct auction {
	const struct auction_bid *bids;
	const struct auction_bidder *bidders;
	uint32_t nbidders;
	const uint32_t *capacity; /* by kind */
	uint32_t nkinds;          /* at most 32 */
};

struct auction_answer {
	uint32_t *won; /* by bidder: which of its own bids is met, or AUCTION_NONE */
	double *keeps; /* by bidder: the part of it that stays after its payment, 0..1 */
	double value;  /* logarithm of the product */
	bool optimal;  /* proved; with few bidders, of the payments too */
};

/* Of equal answers the one with most for the first bidder, then for the second, and so on.  All in `arena`. */
void auction_hold(const struct auction *auction, struct arena *arena, struct auction_answer *answer);

/* Whole things that are left of `amount`; the last billionth is rounding. */
uint32_t auction_kept(double keeps, uint32_t amount);

#endif
