/*
 * Max-min fairness, heterogeneity-aware: the least of all jobs' speeds, each
 * in units of what its equal part of the cluster would give it, shall be as
 * large as can be.
 */
#include <math.h>

#include "policy/hetero/gavel.h"
#include "policy/hetero/gavel_lp.h"
#include "solver/maxmin.h"

double gavel_proportional(const struct program *p, uint32_t i)
{
	double sum = 0, devices = 0;

	for (uint32_t w = 0; w < p->types; w++) {
		sum += p->speed[(size_t)i * p->types + w] * p->capacity[w];
		devices += p->capacity[w];
	}
	return sum / devices;
}

/* A step per second of job `i` in units in which all jobs shall be equal. */
static double unit_of(const struct program *p, uint32_t i)
{
	return p->gang[i] / (p->weight[i] * gavel_proportional(p, i));
}

/* Units reached, and who reaches no more than the least. */
static void tell_levels(const struct program *p, struct shares *shares)
{
	shares->level = arena_array(p->round->scratch, double, p->jobs);
	shares->tight = arena_array(p->round->scratch, bool, p->jobs);
	for (uint32_t i = 0; i < p->jobs; i++) {
		shares->level[i] = unit_of(p, i) * program_rate(p, shares, i);
		shares->tight[i] = shares->level[i] <= shares->value * (1 + 1e-5);
	}
}

static bool by_interior_point(const struct program *p, struct shares *shares)
{
	struct share_lp lp;

	share_lp_init(&lp, p, 2, true);
	for (uint32_t i = 0; i < p->jobs; i++)
		share_lp_rate(&lp, p, i, 1, unit_of(p, i), 1, 0);
	return share_lp_solve(&lp, p, shares, &shares->value, NULL);
}

static bool by_prices(const struct program *p, struct shares *shares)
{
	double *rate = arena_array(p->round->scratch, double, (size_t)p->jobs * p->types);
	struct maxmin_answer answer = {
		.x = shares->x,
		.prices = arena_array(p->round->scratch, double, p->types),
	};

	for (uint32_t i = 0; i < p->jobs; i++) {
		for (uint32_t w = 0; w < p->types; w++)
			rate[(size_t)i * p->types + w] = p->speed[(size_t)i * p->types + w] *
				unit_of(p, i);
	}
	if (!maxmin_solve(
		    &(struct maxmin){
			    .jobs = p->jobs,
			    .types = p->types,
			    .rate = rate,
			    .gang = p->gang,
			    .capacity = p->capacity,
		    },
		    &answer))
		return false;
	shares->value = answer.z;
	shares->price = answer.prices;
	return true;
}

static void spend_rest(const struct program *p, struct shares *shares)
{
	double *need = arena_array(p->round->scratch, double, p->jobs);

	for (uint32_t i = 0; i < p->jobs; i++)
		need[i] = shares->value / unit_of(p, i);
	gavel_spend_rest(p, need, shares);
}

static bool with_pairs(const struct gavel *g, const struct program *p, struct shares *shares)
{
	double *unit = arena_array(p->round->scratch, double, p->jobs);

	for (uint32_t i = 0; i < p->jobs; i++)
		unit[i] = unit_of(p, i);
	return gavel_packed_levels(g, p, unit, shares);
}

int gavel_max_min(void *self, const struct program *p, struct shares *shares, struct err *err)
{
	const struct gavel *g = self;
	struct program copy;

	if (g->water_filling)
		return gavel_water_filling(self, p, shares, err);
	if (g->packing && with_pairs(g, p, shares))
		return 0;
	if (!g->hetero)
		p = program_blind(p, BLIND_ONE, &copy);
	/* Types that are all alike make every mix as good as the next: the middle of these is wanted. */
	if (!(gavel_published(g) || !g->hetero ? by_interior_point(p, shares) : by_prices(p, shares)))
		return err_set(err, ERR_BROKEN, "max-min shares were not found");
	if (!gavel_published(g) && g->hetero)
		spend_rest(p, shares);
	tell_levels(p, shares);
	return 0;
}
