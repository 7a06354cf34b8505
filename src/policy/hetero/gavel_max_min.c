/*
 * Max-min fairness, heterogeneity-aware: the least of all jobs' speeds, each
 * in units of what its equal part of the cluster would give it, shall be as
 * large as can be.
 */
#include <math.h>

#include "policy/hetero/gavel.h"
#include "policy/hetero/gavel_lp.h"
#include "policy/hetero/kinds.h"

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

/*
 * Whether a job holds the level down: it has no more than the level though it uses a type that is short,
 * or not even its fastest type all the time would give it more.  Others may have no more only because the
 * rest went elsewhere.
 */
static bool holds_down(const struct program *p, const struct shares *shares, uint32_t i)
{
	const double near = shares->value * (1 + 2e-5);

	if (shares->level[i] > near)
		return false;
	for (uint32_t w = 0; shares->price && w < p->types; w++) {
		if (shares->price[w] * p->capacity[w] > 1e-6 * shares->value &&
			shares->x[(size_t)i * p->types + w] > 1e-6)
			return true;
	}
	return unit_of(p, i) * gavel_best_speed(p, i) <= near;
}

/* Units reached, and who holds them down. */
static void tell_levels(const struct program *p, struct shares *shares)
{
	shares->level = arena_array(p->round->scratch, double, p->jobs);
	shares->tight = arena_array(p->round->scratch, bool, p->jobs);
	for (uint32_t i = 0; i < p->jobs; i++) {
		shares->level[i] = unit_of(p, i) * program_rate(p, shares, i);
		shares->tight[i] = holds_down(p, shares, i);
	}
}

static const double *units(const struct program *p)
{
	double *unit = arena_array(p->round->scratch, double, p->jobs);

	for (uint32_t i = 0; i < p->jobs; i++)
		unit[i] = unit_of(p, i);
	return unit;
}

/* Jobs that are alike are one with a count; the method takes the steps it would take on all of them. */
static bool by_interior_point(const struct program *p, struct shares *shares)
{
	const double *unit = units(p);
	struct program merged;
	struct shares found;
	struct kinds kinds;
	struct share_lp lp;

	kinds_find(&kinds, p, unit, 1);
	kinds_merge(&kinds, p, &merged);
	shares_init(&found, &merged);
	share_lp_init(&lp, &merged, 2, true);
	lp.arrow.count = kinds.count;
	for (uint32_t i = 0; i < merged.jobs; i++)
		share_lp_rate(&lp, &merged, i, 1, unit[kinds.first[i]], 1, 0);
	if (!share_lp_solve(&lp, &merged, &found, &shares->value, NULL))
		return false;
	shares->price = found.price;
	kinds_spread(&kinds, p, found.x, shares->x);
	return true;
}

int gavel_max_min(void *self, const struct program *p, struct shares *shares, struct err *err)
{
	const struct gavel *g = self;
	struct program copy;

	if (g->water_filling)
		return gavel_water_filling(self, p, shares, err);
	if (g->packing && gavel_packed_levels(g, p, units(p), shares))
		return 0;
	if (!g->hetero)
		p = program_blind(p, BLIND_ONE, &copy);
	/* Types that are all alike make every mix as good as the next: the middle of these is wanted. */
	if (!(gavel_published(g) || !g->hetero ? by_interior_point(p, shares)
					       : gavel_level(p, units(p), shares)))
		return err_set(err, ERR_BROKEN, "max-min shares were not found");
	tell_levels(p, shares);
	return 0;
}
