/*
 * Share programs as matrices for the interior point.
 */
#include "policy/hetero/gavel_lp.h"

#include <string.h>

void share_lp_init(struct share_lp *lp, const struct program *p, uint32_t rows, bool with_z)
{
	struct arena *arena = p->round->scratch;
	size_t all = (size_t)p->jobs * rows;

	*lp = (struct share_lp){
		.v = arena_array(arena, double, all * p->types),
		.g = arena_array(arena, double, all),
		.h = arena_array(arena, double, all),
		.cost = arena_array(arena, double, (size_t)p->jobs * p->types),
	};
	lp->arrow = (struct arrow){
		.jobs = p->jobs,
		.types = p->types,
		.rows = rows,
		.v = lp->v,
		.g = with_z ? lp->g : NULL,
		.h = lp->h,
		.cost = lp->cost,
		.z_cost = with_z ? -1 : 0,
		.gang = p->gang,
		.capacity = p->capacity,
	};
	for (uint32_t i = 0; i < p->jobs; i++) {
		for (uint32_t w = 0; w < p->types; w++)
			lp->v[(size_t)i * rows * p->types + w] = 1;
		lp->h[(size_t)i * rows] = 1;
	}
}

void share_lp_rate(struct share_lp *lp, const struct program *p, uint32_t i, uint32_t row,
	double factor, double z_factor, double side)
{
	size_t at = (size_t)i * lp->arrow.rows + row;

	for (uint32_t w = 0; w < p->types; w++)
		lp->v[at * p->types + w] = -factor * p->speed[(size_t)i * p->types + w];
	lp->g[at] = z_factor;
	lp->h[at] = side;
}

bool share_lp_solve(const struct share_lp *lp, const struct program *p, struct shares *shares,
	double *z, double *duals)
{
	double *price = arena_array(p->round->scratch, double, p->types);
	struct arrow_answer answer = {
		.x = shares->x,
		.prices = price,
		.row_duals = duals,
		.work = p->round->scratch,
	};

	arrow_solve(&lp->arrow, &answer);
	if (answer.status != INTERIOR_OPTIMAL &&
		!(answer.status == INTERIOR_STALLED && answer.residual < 1e-6))
		return false;
	shares->price = price;
	shares->value = answer.objective;
	if (z)
		*z = answer.z;
	return true;
}

/* The published code takes v100 for the speed everywhere; where there is none, the last type by name stands in. */
static uint32_t reference_column(const struct program *p)
{
	for (uint32_t w = 0; w < p->types; w++) {
		if (strcmp(p->round->cluster->types[p->type[w]].name, "v100") == 0)
			return w;
	}
	return p->types - 1;
}

const struct program *program_blind(const struct program *p, enum blind blind, struct program *copy)
{
	uint32_t reference = reference_column(p);

	*copy = *p;
	copy->speed = arena_array(p->round->scratch, double, (size_t)p->jobs * p->types);
	for (uint32_t i = 0; i < p->jobs; i++) {
		double speed = blind == BLIND_ONE ? 1 : p->speed[(size_t)i * p->types + reference];

		for (uint32_t w = 0; w < p->types && !(speed > 0); w++)
			speed = p->speed[(size_t)i * p->types + w];
		for (uint32_t w = 0; w < p->types; w++)
			copy->speed[(size_t)i * p->types + w] = speed;
	}
	return copy;
}
