/*
 * Inside of solver/choice.h: the question in whole numbers, and its steps.
 */
#ifndef SOLVER_CHOICE_PARTS_H
#define SOLVER_CHOICE_PARTS_H

#include "base/mem.h"
#include "solver/choice.h"

/* One way for a row to go, none included; those of a row lie together, the cheapest first. */
struct offer {
	int64_t cost;   /* in units */
	int64_t excess; /* what it costs more than the row's cheapest at the prices */
	uint32_t type, amount;
	uint32_t column; /* among the row's own; CHOICE_NONE: nothing */
};

struct choosing {
	struct arena memory;
	uint32_t nrows, ntypes;
	int64_t capacity[CHOICE_TYPES_MAX];
	double unit; /* of costs: so many are 1 */
	struct offer *offers;
	uint32_t *first; /* by row, and one more: its offers */
	uint32_t *pick;  /* by row: the offer of the best answer so far */
	int64_t value;   /* of that */

	int64_t price[CHOICE_TYPES_MAX]; /* in units of cost per device, not negative */
	int64_t bound;                   /* that these prices prove */
	int64_t proved; /* the best bound: what a search came to the end of counts too */

	/* The relaxation as a mixture of few answers; weights add up to 1. */
	uint32_t nmixed;
	const uint32_t *mixed[CHOICE_TYPES_MAX + 1]; /* by row: the offer */
	double weight[CHOICE_TYPES_MAX + 1];
	uint32_t rounds;
};

/* Prices, bound, excesses and the mixture. */
void choice_find_prices(struct choosing *c);
/* Rounds the mixture, mends and improves it: pick and value. */
void choice_round(struct choosing *c);
/*
 * Looks through all answers that cost up to `excess` more than the bound.  True: it came to its end; if
 * there is one, the best is in pick and value now.  Takes what it does off *work.
 */
bool choice_search(struct choosing *c, int64_t excess, uint64_t *work);
/* The other way. */
bool choice_solve_exact(const struct choosing *c, double seconds, uint32_t *pick, double *bound,
	bool *optimal);

#endif
