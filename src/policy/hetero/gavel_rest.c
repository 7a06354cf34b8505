/*
 * What an objective leaves over.
 *
 * Objectives that look at the worst off say little about everybody else: many
 * shares are equally good.  Stint takes, of these, the ones with the most
 * throughput in all, each job's in units of its best speed.
 */
#include <string.h>

#include "policy/hetero/gavel.h"
#include "policy/hetero/gavel_lp.h"
#include "policy/hetero/kinds.h"

/* More kinds than this are many jobs on few devices: next to nothing is left over, and it would take long. */
enum { KINDS_MAX = 512 };

/* Needs are met to this part: a program that leaves no room at all has no middle. */
#define MET (1 - 1e-6)

/* One row for each kind, which takes the devices of all its jobs. */
static void merge(const struct program *p, const struct kinds *k, struct program *merged)
{
	struct arena *arena = p->round->scratch;

	*merged = *p;
	merged->jobs = k->n;
	merged->speed = arena_array(arena, double, (size_t)k->n * p->types);
	merged->gang = arena_array(arena, double, k->n);
	for (uint32_t i = 0; i < k->n; i++) {
		memcpy(&merged->speed[(size_t)i * p->types],
			&p->speed[(size_t)k->first[i] * p->types], sizeof(double) * p->types);
		merged->gang[i] = p->gang[k->first[i]] * k->count[i];
	}
}

static bool solve(const struct program *p, const struct kinds *k, const double *need,
	struct shares *shares)
{
	struct share_lp lp;

	share_lp_init(&lp, p, 2, false);
	for (uint32_t i = 0; i < p->jobs; i++) {
		double best = gavel_best_speed(p, i);

		for (uint32_t w = 0; w < p->types; w++) {
			size_t at = (size_t)i * p->types + w;

			lp.cost[at] = -p->speed[at] / best * k->count[i];
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
	merge(p, &kinds, &merged);
	shares_init(&found, &merged);
	if (!solve(&merged, &kinds, need, &found))
		return;
	for (uint32_t i = 0; i < p->jobs; i++)
		memcpy(&shares->x[(size_t)i * p->types], &found.x[(size_t)kinds.of[i] * p->types],
			sizeof(double) * p->types);
}
