/*
 * The time by which all jobs can be done, if none comes any more, shall be as
 * small as can be.
 */
#include <math.h>
#include <string.h>

#include "policy/hetero/gavel.h"
#include "policy/hetero/gavel_lp.h"

/* Whether all jobs can be done within `end_s`. */
static bool feasible(const struct program *p, double end_s, struct shares *shares)
{
	struct share_lp lp;

	share_lp_init(&lp, p, 2, false);
	for (uint32_t i = 0; i < p->jobs; i++)
		share_lp_rate(&lp, p, i, 1, 1, 0, -p->left[i] / end_s);
	return share_lp_solve(&lp, p, shares, NULL, NULL);
}

/* Bisection as in the published code: from 100 s to 10^6 s, then ten times as far, to five per cent. */
static bool by_bisection(const struct program *p, struct shares *shares)
{
	double low = 100, high = 1e6;
	struct shares tried;
	bool found = false;

	for (; !found && high <= 1e15; low = high, high *= 10) {
		double from = low, to = high;

		while (1.05 * from < to) {
			double middle = (from + to) / 2;

			shares_init(&tried, p);
			if (feasible(p, middle, &tried)) {
				found = true;
				*shares = tried;
				shares->value = to = middle;
			} else {
				from = middle;
			}
		}
	}
	return found;
}

/* A job's rate counts in units of what it has left. */
static bool by_prices(const struct program *p, struct shares *shares)
{
	double *unit = arena_array(p->round->scratch, double, p->jobs);

	for (uint32_t i = 0; i < p->jobs; i++)
		unit[i] = 1 / p->left[i];
	if (!gavel_level(p, unit, shares))
		return false;
	shares->value = 1 / shares->value;
	return true;
}

/* When each would end, and who is last. */
static void tell_ends(const struct program *p, struct shares *shares)
{
	shares->level = arena_array(p->round->scratch, double, p->jobs);
	shares->tight = arena_array(p->round->scratch, bool, p->jobs);
	for (uint32_t i = 0; i < p->jobs; i++) {
		shares->level[i] = p->left[i] / program_rate(p, shares, i);
		shares->tight[i] = shares->level[i] >= shares->value * (1 - 1e-5);
	}
}

/*
 * With pairs: rates in units of what is left, by the time that the longest would take alone.  Jobs about
 * to end count as if they had a ten-thousandth of that left: they need next to nothing either way.
 */
static bool with_pairs(const struct gavel *g, const struct program *p, struct shares *shares)
{
	double *unit = arena_array(p->round->scratch, double, p->jobs), longest_s = 0;

	for (uint32_t i = 0; i < p->jobs; i++)
		longest_s = fmax(longest_s, p->left[i] / gavel_best_speed(p, i));
	for (uint32_t i = 0; i < p->jobs; i++) {
		double alone_s = fmax(p->left[i] / gavel_best_speed(p, i), 1e-4 * longest_s);

		unit[i] = longest_s / (alone_s * gavel_best_speed(p, i));
	}
	if (!gavel_packed_levels(g, p, unit, shares))
		return false;
	shares->value = longest_s / shares->value;
	return true;
}

int gavel_makespan(void *self, const struct program *p, struct shares *shares, struct err *err)
{
	const struct gavel *g = self;
	struct program copy;

	if (g->packing && with_pairs(g, p, shares))
		return 0;
	if (!g->hetero)
		p = program_blind(p, BLIND_REFERENCE, &copy);
	if (!(gavel_published(g) || !g->hetero ? by_bisection(p, shares) : by_prices(p, shares)))
		return err_set(err, ERR_BROKEN, "no time was found by which all jobs can end");
	tell_ends(p, shares);
	return 0;
}
