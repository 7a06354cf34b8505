/*
 * What an objective leaves over.
 *
 * Objectives that look at the worst off say little about everybody else: many
 * shares are equally good.  Stint takes, of these, the ones with the most
 * throughput in all, each job's in units of its best speed ("the rest").
 */
#include "policy/hetero/gavel.h"
#include "policy/hetero/gavel_lp.h"
#include "policy/hetero/kinds.h"
#include "solver/maxmin.h"

/* More kinds than this are many jobs on few devices: next to nothing is left over, and it would take long. */
enum { KINDS_MAX = 512 };

/* Needs are met to this part: a program that leaves no room at all has no middle. */
#define MET (1 - 1e-6)

static bool solve(const struct program *p, const struct kinds *k, const double *need,
	struct shares *shares)
{
	struct share_lp lp;

	share_lp_init(&lp, p, 2, false);
	lp.arrow.count = k->count;
	for (uint32_t i = 0; i < p->jobs; i++) {
		double best = gavel_best_speed(p, i);

		for (uint32_t w = 0; w < p->types; w++) {
			size_t at = (size_t)i * p->types + w;

			lp.cost[at] = -p->speed[at] / best;
		}
		share_lp_rate(&lp, p, i, 1, 1 / best, 0, -need[k->first[i]] / best * MET);
	}
	return share_lp_solve(&lp, p, shares, NULL, NULL);
}

void gavel_spend_rest(const struct program *p, const double *need, struct shares *shares)
{
	struct program merged;
	struct shares found;
	struct kinds kinds;

	kinds_find(&kinds, p, need, 1);
	if (kinds.n > KINDS_MAX)
		return;
	kinds_merge(&kinds, p, &merged);
	shares_init(&found, &merged);
	if (solve(&merged, &kinds, need, &found))
		kinds_spread(&kinds, p, found.x, shares->x);
}

bool gavel_level(const struct program *p, const double *unit, struct shares *shares)
{
	struct arena *arena = p->round->scratch;
	double *rate = arena_array(arena, double, (size_t)p->jobs * p->types);
	double *need = arena_array(arena, double, p->jobs);
	struct maxmin program = {
		.jobs = p->jobs,
		.types = p->types,
		.rate = rate,
		.gang = p->gang,
		.capacity = p->capacity,
	};
	struct maxmin_answer answer = {
		.x = shares->x,
		.prices = arena_array(arena, double, p->types),
	};

	for (uint32_t i = 0; i < p->jobs; i++) {
		for (uint32_t w = 0; w < p->types; w++)
			rate[(size_t)i * p->types + w] = p->speed[(size_t)i * p->types + w] * unit[i];
	}
	if (!maxmin_solve(&program, &answer) || !(answer.z > 0))
		return false;
	shares->value = answer.z;
	shares->price = answer.prices;
	if (answer.kinds > KINDS_MAX)
		return true;
	for (uint32_t i = 0; i < p->jobs; i++)
		need[i] = answer.z / unit[i];
	gavel_spend_rest(p, need, shares);
	return true;
}
