/*
 * Partial allocation with payments.
 */
#include "solver/auction.h"

#include <math.h>

#include "base/real.h"
#include "solver/choice.h"

/* Steps that a proof of the optimum may take. */
#define PROOF_WORK 20000

/* Gains below this are rounding. */
#define GAIN_MIN 1e-12

/* An auction with logarithms for values. */
struct book {
	const struct auction *auction;
	double *value;  /* by bid */
	double *empty;  /* by bidder */
	uint32_t *left; /* by kind, in what is being tried */
};

static void book_open(struct book *book, const struct auction *auction, struct arena *arena)
{
	uint32_t nbids = 0;

	for (uint32_t i = 0; i < auction->nbidders; i++)
		nbids += auction->bidders[i].n;
	*book = (struct book){
		.auction = auction,
		.value = arena_array(arena, double, nbids),
		.empty = arena_array(arena, double, auction->nbidders),
		.left = arena_array(arena, uint32_t, auction->nkinds),
	};
	for (uint32_t i = 0; i < auction->nbidders; i++) {
		const struct auction_bidder *b = &auction->bidders[i];

		book->empty[i] = real_log(b->empty);
		for (uint32_t k = b->first; k < b->first + b->n; k++)
			book->value[k] = real_log(auction->bids[k].value);
	}
}

static double value_of(const struct book *book, uint32_t bidder, uint32_t won)
{
	return won == AUCTION_NONE ? book->empty[bidder]
				   : book->value[book->auction->bidders[bidder].first + won];
}

/* Of everybody, or of everybody but one. */
static double value_without(const struct book *book, const uint32_t *won, uint32_t absent)
{
	double sum = 0;

	for (uint32_t i = 0; i < book->auction->nbidders; i++) {
		if (i != absent)
			sum += value_of(book, i, won[i]);
	}
	return sum;
}

/* ---- the optimum */

/* The best for everybody but `absent` (AUCTION_NONE: for all); false: not proved. */
static bool solve(const struct book *book, uint32_t absent, struct arena *arena, uint32_t *won)
{
	const struct auction *a = book->auction;
	struct choice_row *rows = arena_array(arena, struct choice_row, a->nbidders);
	struct choice_column *columns;
	struct choice_answer answer = { 0 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->nbidders; i++)
		n += a->bidders[i].n;
	columns = arena_array(arena, struct choice_column, n);
	for (uint32_t i = 0; i < a->nbidders; i++) {
		const struct auction_bidder *b = &a->bidders[i];

		rows[i] = (struct choice_row){ b->first, i == absent ? 0 : b->n, -book->empty[i],
			CHOICE_NONE };
		for (uint32_t k = b->first; k < b->first + b->n; k++)
			columns[k] = (struct choice_column){ -book->value[k], a->bids[k].kind,
				a->bids[k].amount };
	}
	choice_solve(&(struct choice_problem){ columns, rows, a->nbidders, a->capacity, a->nkinds },
		&(struct choice_options){ .method = CHOICE_PRICE, .work = PROOF_WORK }, won, &answer);
	return answer.optimal;
}

/* ---- the rule for absences of many */

struct step {
	uint32_t bidder, bid; /* bid: of its own */
	double each;          /* gain for each thing more */
};

/* Things that a bidder takes more if this bid is met instead; none of another kind while it has some. */
static uint32_t more_for(const struct auction *a, uint32_t bidder, uint32_t has, uint32_t bid)
{
	const struct auction_bid *to = &a->bids[a->bidders[bidder].first + bid], *from;

	if (has == AUCTION_NONE)
		return to->amount;
	from = &a->bids[a->bidders[bidder].first + has];
	return from->kind == to->kind && to->amount > from->amount ? to->amount - from->amount : 0;
}

static bool best_step(const struct book *book, const uint32_t *won, uint32_t absent, struct step *best)
{
	const struct auction *a = book->auction;

	*best = (struct step){ .each = GAIN_MIN };
	for (uint32_t i = 0; i < a->nbidders; i++) {
		double now = value_of(book, i, won[i]);

		for (uint32_t k = 0; i != absent && k < a->bidders[i].n; k++) {
			uint32_t more = more_for(a, i, won[i], k);
			double each = more ? (value_of(book, i, k) - now) / more : 0;

			if (each > best->each &&
				more <= book->left[a->bids[a->bidders[i].first + k].kind])
				*best = (struct step){ i, k, each };
		}
	}
	return best->each > GAIN_MIN;
}

static void improve(const struct book *book, uint32_t *won, uint32_t absent)
{
	const struct auction *a = book->auction;
	struct step step;

	while (best_step(book, won, absent, &step)) {
		uint32_t more = more_for(a, step.bidder, won[step.bidder], step.bid);

		book->left[a->bids[a->bidders[step.bidder].first + step.bid].kind] -= more;
		won[step.bidder] = step.bid;
	}
}

static void count_left(const struct book *book, const uint32_t *won, uint32_t absent)
{
	const struct auction *a = book->auction;

	for (uint32_t kind = 0; kind < a->nkinds; kind++)
		book->left[kind] = a->capacity[kind];
	for (uint32_t i = 0; i < a->nbidders; i++) {
		if (i != absent && won[i] != AUCTION_NONE) {
			const struct auction_bid *bid = &a->bids[a->bidders[i].first + won[i]];

			book->left[bid->kind] -= bid->amount;
		}
	}
}

/* ---- payments */

static double part_kept(const struct book *book, struct auction_answer *answer, uint32_t bidder,
	struct arena *arena, uint32_t *without)
{
	const struct auction *a = book->auction;
	double with = value_without(book, answer->won, bidder), best;

	for (uint32_t i = 0; i < a->nbidders; i++)
		without[i] = i == bidder ? AUCTION_NONE : answer->won[i];
	if (a->nbidders <= AUCTION_FEW) {
		answer->optimal &= solve(book, bidder, arena, without);
	} else {
		count_left(book, without, bidder);
		improve(book, without, bidder);
	}
	best = value_without(book, without, bidder);
	return best > with ? real_exp(with - best) : 1; /* an answer that was not proved may be better */
}

void auction_hold(const struct auction *auction, struct arena *arena, struct auction_answer *answer)
{
	uint32_t *without = arena_array(arena, uint32_t, auction->nbidders);
	struct book book;

	book_open(&book, auction, arena);
	*answer = (struct auction_answer){
		.won = arena_array(arena, uint32_t, auction->nbidders),
		.keeps = arena_array(arena, double, auction->nbidders),
	};
	answer->optimal = solve(&book, AUCTION_NONE, arena, answer->won);
	answer->value = value_without(&book, answer->won, AUCTION_NONE);
	for (uint32_t i = 0; i < auction->nbidders; i++) {
		answer->keeps[i] = 1;
		if (answer->won[i] != AUCTION_NONE)
			answer->keeps[i] = part_kept(&book, answer, i, arena, without);
	}
}

uint32_t auction_kept(double keeps, uint32_t amount)
{
	return (uint32_t)floor(keeps * amount + 1e-9);
}
