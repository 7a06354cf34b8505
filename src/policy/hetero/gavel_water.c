/*
 * Water filling: max-min fairness for the worst off, then for the next, and so
 * on until nobody can have more without somebody else having less; by job, or
 * by tenant and then within each.
 */
#include <math.h>
#include <string.h>

#include "model/tenant.h"
#include "policy/hetero/gavel.h"
#include "policy/hetero/gavel_lp.h"
#include "solver/waterfill.h"

/* ---- who weighs how much */

/* Entities of the program: tenants that have a job in it. */
struct entities {
	uint32_t n;
	uint32_t *of; /* by row */
	double *weight;
	bool *in_order;
};

static const struct tenant *tenant_of(const struct program *p, uint32_t row)
{
	static const struct tenant plain = { .weight = 1, .within = WITHIN_FAIR };

	if (!p->round->tenants)
		return &plain;
	return tenants_of_job(p->round->tenants, &p->round->jobs[p->id[row]]);
}

/* Rows of one tenant have the same entity; a job's tenant is its index in the trace's names. */
static void find_entities(const struct program *p, struct entities *e)
{
	struct arena *arena = p->round->scratch;
	uint32_t *first = arena_array(arena, uint32_t, p->jobs);

	e->of = arena_array(arena, uint32_t, p->jobs);
	e->weight = arena_array(arena, double, p->jobs);
	e->in_order = arena_array(arena, bool, p->jobs);
	for (uint32_t i = 0; i < p->jobs; i++) {
		uint32_t name = p->round->jobs[p->id[i]].tenant, k = 0;

		while (k < e->n && p->round->jobs[p->id[first[k]]].tenant != name)
			k++;
		if (k == e->n) {
			first[e->n++] = i;
			e->weight[k] = tenant_of(p, i)->weight;
			e->in_order[k] = tenant_of(p, i)->within == WITHIN_FIFO;
		}
		e->of[i] = k;
	}
}

/* ---- Stint's own */

static double *normalised(const struct program *p)
{
	double *rate = arena_array(p->round->scratch, double, (size_t)p->jobs * p->types);

	for (uint32_t i = 0; i < p->jobs; i++) {
		double unit = gavel_proportional(p, i);

		for (uint32_t w = 0; w < p->types; w++)
			rate[(size_t)i * p->types + w] = p->speed[(size_t)i * p->types + w] / unit;
	}
	return rate;
}

static bool by_stages(const struct program *p, const struct entities *e, struct shares *shares)
{
	struct arena *arena = p->round->scratch;
	struct waterfill_answer answer = {
		.x = shares->x,
		.level = arena_array(arena, double, p->jobs),
		.height = arena_array(arena, double, p->jobs),
		.prices = arena_array(arena, double, p->types),
	};

	bool holds = waterfill_solve(
		&(struct waterfill){
			.jobs = p->jobs,
			.types = p->types,
			.rate = normalised(p),
			.gang = p->gang,
			.capacity = p->capacity,
			.weight = p->weight,
			.entities = e->n,
			.entity = e->of,
			.entity_weight = e->weight,
			.in_order = e->in_order,
		},
		&answer);
	shares->price = answer.prices;
	shares->level = answer.height;
	shares->value = INFINITY;
	for (uint32_t i = 0; i < p->jobs; i++)
		shares->value = fmin(shares->value, answer.height[i]);
	return holds;
}

/* ---- as published: a program for each level */

struct water {
	const struct program *p;
	const struct entities *e;
	const double *rate; /* normalised */
	double *level;
	bool *saturated;
	double *weight;
	double most; /* above every level */
};

static void set_weights(struct water *w)
{
	for (uint32_t i = 0; i < w->p->jobs; i++) {
		uint32_t entity = w->e->n > 0 ? w->e->of[i] : 0;
		double sum = 0;
		bool first = true;

		w->weight[i] = 0;
		if (w->saturated[i])
			continue;
		w->weight[i] = w->p->weight[i];
		for (uint32_t k = 0; k < w->p->jobs && w->e->n > 0; k++) {
			if (w->e->of[k] != entity || w->saturated[k])
				continue;
			sum += w->p->weight[k];
			first &= k >= i;
		}
		if (w->e->n > 0)
			w->weight[i] = !w->e->in_order[entity]
				? w->e->weight[entity] * w->p->weight[i] / sum
				: first ? w->e->weight[entity]
					: 0;
	}
}

static double reached(const struct water *w, const double *x, uint32_t i)
{
	double sum = 0;

	for (uint32_t k = 0; k < w->p->types; k++)
		sum += w->rate[(size_t)i * w->p->types + k] * x[(size_t)i * w->p->types + k];
	return sum;
}

static bool rises(const struct water *w, uint32_t i)
{
	return !w->saturated[i] && w->weight[i] > 0;
}

/* The next level for all that rise. */
static bool raise_water(struct water *w, struct shares *shares, double *height)
{
	const struct program *p = w->p;
	struct program normal = *p;
	struct share_lp lp;

	normal.speed = (double *)w->rate;
	share_lp_init(&lp, &normal, 3, true);
	for (uint32_t i = 0; i < p->jobs; i++) {
		double unit = rises(w, i) ? p->gang[i] / w->weight[i] : 0;

		share_lp_rate(&lp, &normal, i, 1, unit, 1, rises(w, i) ? -unit * w->level[i] : w->most);
		share_lp_rate(&lp, &normal, i, 2, 1, 0, -w->level[i]);
	}
	return share_lp_solve(&lp, &normal, shares, height, NULL);
}

/* Who cannot rise above the new level.  An interior point gives to whoever can have more. */
static bool saturate(struct water *w, const struct shares *shares, double height)
{
	bool any = false;

	for (uint32_t i = 0; i < w->p->jobs; i++) {
		if (!rises(w, i))
			continue;
		w->level[i] += height * w->weight[i] / w->p->gang[i];
		if (reached(w, shares->x, i) > (1 + 1e-6) * w->level[i])
			continue;
		w->saturated[i] = any = true;
	}
	return any;
}

static bool all_saturated(const struct water *w)
{
	for (uint32_t i = 0; i < w->p->jobs; i++) {
		if (!w->saturated[i])
			return false;
	}
	return true;
}

static bool by_levels(const struct program *p, const struct entities *e, struct shares *shares)
{
	struct arena *arena = p->round->scratch;
	struct water w = {
		.p = p,
		.e = e,
		.rate = normalised(p),
		.level = arena_array(arena, double, p->jobs),
		.saturated = arena_array(arena, bool, p->jobs),
		.weight = arena_array(arena, double, p->jobs),
	};
	bool found = false;
	double height = 0;
	struct shares next;

	for (uint32_t i = 0; i < p->jobs; i++) {
		for (uint32_t k = 0; k < p->types; k++)
			w.most = fmax(w.most, w.rate[(size_t)i * p->types + k] * p->gang[i]);
	}
	do {
		set_weights(&w);
		shares_init(&next, p);
		if (!raise_water(&w, &next, &height))
			break;
		found = true;
		*shares = next;
		if (!saturate(&w, shares, height))
			break;
	} while (!all_saturated(&w));
	shares->level = w.level;
	shares->value = INFINITY;
	for (uint32_t i = 0; i < p->jobs; i++)
		shares->value = fmin(shares->value, w.level[i] * p->gang[i] / p->weight[i]);
	return found;
}

int gavel_water_filling(void *self, const struct program *p, struct shares *shares, struct err *err)
{
	const struct gavel *g = self;
	struct entities entities = { 0 };
	struct program copy;

	if (!g->hetero)
		p = program_blind(p, BLIND_ONE, &copy);
	if (g->tenants)
		find_entities(p, &entities);
	/* Types that are all alike want the middle of many mixes, as in gavel_max_min(). */
	if (!gavel_published(g) && g->hetero) {
		if (by_stages(p, &entities, shares))
			return 0;
		shares->fallback = "the prices did not settle: levels one by one instead";
	}
	if (!by_levels(p, &entities, shares))
		return err_set(err, ERR_BROKEN, "shares by water filling were not found");
	return 0;
}
