/*
 * The same question as an integer program for solver/lp.h.
 */
#include <math.h>

#include "base/vec.h"
#include "solver/choice_parts.h"
#include "solver/lp.h"

static struct lp *build(const struct choosing *c)
{
	struct lp *lp = lp_create();

	for (uint32_t t = 0; t < c->ntypes; t++)
		lp_add_row(lp, -INFINITY, (double)c->capacity[t]);
	for (uint32_t r = 0; r < c->nrows; r++) {
		uint32_t one = lp_add_row(lp, 1, 1);

		for (uint32_t o = c->first[r]; o < c->first[r + 1]; o++) {
			const struct offer *offer = &c->offers[o];
			uint32_t column = lp_add_column(lp, (double)offer->cost / c->unit, 0, 1, true);

			lp_set(lp, one, column, 1);
			if (offer->amount)
				lp_set(lp, offer->type, column, offer->amount);
		}
	}
	return lp;
}

static void read_answer(const struct choosing *c, const struct lp *lp, uint32_t *pick)
{
	for (uint32_t r = 0; r < c->nrows; r++) {
		pick[r] = c->first[r];
		for (uint32_t o = c->first[r]; o < c->first[r + 1]; o++) {
			if (lp_value(lp, o) > 0.5)
				pick[r] = o;
		}
	}
}

bool choice_solve_exact(const struct choosing *c, double seconds, uint32_t *pick, double *bound,
	bool *optimal)
{
	struct lp *lp = build(c);
	bool found;

	*optimal = lp_solve(lp, (struct lp_limits){ .seconds = seconds }) == LP_OPTIMAL;
	found = lp_has_answer(lp);
	*bound = lp_bound(lp);
	if (found)
		read_answer(c, lp, pick);
	lp_destroy(lp);
	return found;
}
