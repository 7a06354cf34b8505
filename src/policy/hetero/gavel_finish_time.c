/*
 * Finish-time fairness: the worst ratio of a job's finish time to what it
 * would be on its equal part of the cluster shall be as small as can be.
 */
#include "policy/hetero/gavel.h"
#include "policy/hetero/gavel_lp.h"
#include "solver/maxmin.h"

static double isolated_rate(const struct program *p, uint32_t row)
{
	double x[TYPES_MAX], rate = 0;

	program_isolated(p, row, p->jobs, x);
	for (uint32_t w = 0; w < p->types; w++)
		rate += p->speed[(size_t)row * p->types + w] * x[w];
	return rate;
}

/* What it has done so far would have taken so long on its equal parts of then. */
static double isolated_so_far(struct gavel *g, const struct program *p, uint32_t row, double rate)
{
	struct finish_memory *m;

	vec_grow_zero(&g->memory, (size_t)p->id[row] + 1);
	m = &g->memory.at[p->id[row]];
	if (m->left > 0)
		m->isolated_s += (m->left - p->left[row]) / m->rate;
	m->left = p->left[row];
	m->rate = rate;
	return m->isolated_s;
}

static void all_isolated(const struct program *p, struct shares *shares)
{
	for (uint32_t i = 0; i < p->jobs; i++)
		program_isolated(p, i, p->jobs, &shares->x[(size_t)i * p->types]);
	shares->fallback = "no shares for finish-time fairness were found: equal parts";
}

/* Who must go how fast to keep within the worst ratio. */
static void spend_rest(const struct program *p, const double *limit, struct shares *shares)
{
	double *need = arena_array(p->round->scratch, double, p->jobs);

	for (uint32_t i = 0; i < p->jobs; i++)
		need[i] = p->left[i] / (shares->value * limit[i] - p->age_s[i]);
	gavel_spend_rest(p, need, shares);
}

/* The ratio of each, and whose is the worst. */
static void tell_ratios(const struct program *p, const double *limit, struct shares *shares)
{
	shares->level = arena_array(p->round->scratch, double, p->jobs);
	shares->tight = arena_array(p->round->scratch, bool, p->jobs);
	for (uint32_t i = 0; i < p->jobs; i++) {
		double end_s = p->age_s[i] + p->left[i] / program_rate(p, shares, i);

		shares->level[i] = end_s / limit[i];
		shares->tight[i] = shares->level[i] >= shares->value * (1 - 1e-5);
	}
}

/* As published: a cone program. */
static bool by_cones(const struct program *p, const double *limit, struct shares *shares)
{
	struct arena *arena = p->round->scratch;
	struct arrow_answer answer = {
		.x = shares->x,
		.prices = arena_array(arena, double, p->types),
		.work = arena,
	};

	arrow_solve_finish(
		&(struct arrow_finish){
			.jobs = p->jobs,
			.types = p->types,
			.speed = p->speed,
			.age = p->age_s,
			.work = p->left,
			.limit = limit,
			.gang = p->gang,
			.capacity = p->capacity,
		},
		&answer);
	if (answer.status != INTERIOR_OPTIMAL &&
		!(answer.status == INTERIOR_STALLED && answer.residual < 1e-6))
		return false;
	shares->value = answer.z;
	shares->price = answer.prices;
	return true;
}

static bool by_prices(const struct program *p, const double *limit, struct shares *shares)
{
	struct maxmin_answer answer = {
		.x = shares->x,
		.prices = arena_array(p->round->scratch, double, p->types),
	};

	if (!maxmin_finish(
		    &(struct maxmin_finish){
			    .jobs = p->jobs,
			    .types = p->types,
			    .speed = p->speed,
			    .age = p->age_s,
			    .work = p->left,
			    .limit = limit,
			    .gang = p->gang,
			    .capacity = p->capacity,
		    },
		    &answer))
		return false;
	shares->value = answer.z;
	shares->price = answer.prices;
	return true;
}

int gavel_finish_time(void *self, const struct program *p, struct shares *shares, struct err *err)
{
	struct gavel *g = self;
	double *limit = arena_array(p->round->scratch, double, p->jobs);
	bool own = !gavel_published(g) && g->hetero;
	struct program copy;

	(void)err;
	if (!g->hetero)
		p = program_blind(p, BLIND_REFERENCE, &copy);
	for (uint32_t i = 0; i < p->jobs; i++) {
		double rate = isolated_rate(p, i);

		limit[i] = isolated_so_far(g, p, i, rate) + p->left[i] / rate;
	}
	if (!(own ? by_prices(p, limit, shares) : by_cones(p, limit, shares))) {
		all_isolated(p, shares);
		return 0;
	}
	if (own)
		spend_rest(p, limit, shares);
	tell_ratios(p, limit, shares);
	return 0;
}
