/*
 * Objectives that are sums over jobs: the most throughput, in steps or in
 * units of each job's best; the most for the money, also with deadlines kept;
 * and the queues, in which earlier (or shorter) jobs count for more.
 */
#include <math.h>
#include <stdlib.h>

#include "policy/hetero/gavel.h"
#include "policy/hetero/gavel_lp.h"

double gavel_best_speed(const struct program *p, uint32_t i)
{
	double best = 0;

	for (uint32_t w = 0; w < p->types; w++)
		best = fmax(best, p->speed[(size_t)i * p->types + w]);
	return best;
}

/* What a share is worth: weight times speed, over the price where that counts. */
static void set_values(struct share_lp *lp, const struct program *p, const double *weight,
	const double *price)
{
	for (uint32_t i = 0; i < p->jobs; i++) {
		for (uint32_t w = 0; w < p->types; w++) {
			size_t at = (size_t)i * p->types + w;

			lp->cost[at] = -p->speed[at] * weight[i] / (price ? price[w] : 1);
		}
	}
}

/* 1 for each job, or what makes its best speed 1. */
static double *weights(const struct gavel *g, const struct program *p)
{
	double *weight = arena_array(p->round->scratch, double, p->jobs);
	bool normalise = g->normalise || (!gavel_published(g) && g->objective != OBJECTIVE_THROUGHPUT);

	for (uint32_t i = 0; i < p->jobs; i++)
		weight[i] = normalise ? 1 / gavel_best_speed(p, i) : 1;
	return weight;
}

/* Each job's speed in parts of its best. */
static void tell_speeds(const struct program *p, struct shares *shares)
{
	shares->value = -shares->value;
	shares->level = arena_array(p->round->scratch, double, p->jobs);
	for (uint32_t i = 0; i < p->jobs; i++)
		shares->level[i] = program_rate(p, shares, i) / gavel_best_speed(p, i);
}

static int solve(const struct share_lp *lp, const struct program *p, struct shares *shares,
	struct err *err)
{
	if (!share_lp_solve(lp, p, shares, NULL, NULL))
		return err_set(err, ERR_BROKEN, "the shares that make the sum largest were not found");
	tell_speeds(p, shares);
	return 0;
}

int gavel_throughput(void *self, const struct program *p, struct shares *shares, struct err *err)
{
	const struct gavel *g = self;
	struct program copy;
	struct share_lp lp;

	if (g->packing && gavel_packed_sum(g, p, weights(g, p), shares))
		return 0;
	if (!g->hetero)
		p = program_blind(p, BLIND_REFERENCE, &copy);
	share_lp_init(&lp, p, 1, false);
	set_values(&lp, p, weights(g, p), NULL);
	return solve(&lp, p, shares, err);
}

/* ---- queues: the first of n jobs counts n times, the last once */

struct place {
	double key;
	uint32_t row;
};

static int by_key(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int in_queue(const struct program *p, struct place *places, struct shares *shares,
	struct err *err)
{
	double *weight = arena_array(p->round->scratch, double, p->jobs);
	struct share_lp lp;

	qsort(places, p->jobs, sizeof(*places), by_key);
	for (uint32_t rank = 0; rank < p->jobs; rank++)
		weight[places[rank].row] = (p->jobs - rank) / gavel_best_speed(p, places[rank].row);
	share_lp_init(&lp, p, 1, false);
	set_values(&lp, p, weight, NULL);
	return solve(&lp, p, shares, err);
}

int gavel_queue(void *self, const struct program *p, struct shares *shares, struct err *err)
{
	struct place *places = arena_array(p->round->scratch, struct place, p->jobs);
	struct program copy;

	if (!((const struct gavel *)self)->hetero)
		p = program_blind(p, BLIND_REFERENCE, &copy);
	for (uint32_t i = 0; i < p->jobs; i++)
		places[i] = (struct place){ i, i };
	return in_queue(p, places, shares, err);
}

int gavel_sjf(void *self, const struct program *p, struct shares *shares, struct err *err)
{
	struct place *places = arena_array(p->round->scratch, struct place, p->jobs);
	struct program copy;

	if (!((const struct gavel *)self)->hetero)
		p = program_blind(p, BLIND_REFERENCE, &copy);
	for (uint32_t i = 0; i < p->jobs; i++)
		places[i] = (struct place){ p->left[i] / gavel_best_speed(p, i), i };
	return in_queue(p, places, shares, err);
}

/* ---- money */

/* Where no type has a price all cost the same; where only some have, the others need one. */
static int find_prices(const struct program *p, double price[TYPES_MAX], struct err *err)
{
	const struct device_type *types = p->round->cluster->types;
	uint32_t known = 0;

	for (uint32_t w = 0; w < p->types; w++)
		known += types[p->type[w]].price_per_h > 0;
	for (uint32_t w = 0; w < p->types; w++) {
		price[w] = known > 0 ? types[p->type[w]].price_per_h : 1;
		if (!(price[w] > 0))
			return err_set(err, ERR_USAGE,
				"type %s has no price: give price_per_h in the cluster file",
				types[p->type[w]].name);
	}
	return 0;
}

int gavel_cost(void *self, const struct program *p, struct shares *shares, struct err *err)
{
	double price[TYPES_MAX];
	struct program copy;
	struct share_lp lp;

	if (!((const struct gavel *)self)->hetero)
		p = program_blind(p, BLIND_REFERENCE, &copy);
	if (find_prices(p, price, err) < 0)
		return err->code;
	share_lp_init(&lp, p, 1, false);
	set_values(&lp, p, weights(self, p), price);
	return solve(&lp, p, shares, err);
}

/* Steps per second that job `i` needs to meet its deadline; 0: it has none, or it has passed. */
static double needed(const struct program *p, uint32_t i)
{
	double left_s = p->round->jobs[p->id[i]].deadline_s - p->round->now_s;

	return isfinite(left_s) && left_s > 0 ? p->left[i] / left_s : 0;
}

static bool with_deadlines(const struct gavel *g, const struct program *p, const double *price,
	const double *need, struct shares *shares)
{
	struct share_lp lp;

	share_lp_init(&lp, p, 2, false);
	set_values(&lp, p, weights(g, p), price);
	for (uint32_t i = 0; i < p->jobs; i++)
		share_lp_rate(&lp, p, i, 1, 1, 0, -need[i]);
	return share_lp_solve(&lp, p, shares, NULL, NULL);
}

/* The job whose deadline asks for the largest part of its best speed; -1: no deadline is left. */
static int hardest(const struct program *p, const double *need)
{
	int worst = -1;
	double most = 0;

	for (uint32_t i = 0; i < p->jobs; i++) {
		double part = need[i] / gavel_best_speed(p, i);

		if (part > most) {
			most = part;
			worst = (int)i;
		}
	}
	return worst;
}

/*
 * Where not all deadlines can be met the published code meets none; here those that ask for most are
 * given up, one after the other, first those that not even the fastest type could meet.
 */
int gavel_slo_cost(void *self, const struct program *p, struct shares *shares, struct err *err)
{
	const struct gavel *g = self;
	double *need = arena_array(p->round->scratch, double, p->jobs);
	double price[TYPES_MAX];
	struct program copy;

	if (!g->hetero)
		p = program_blind(p, BLIND_REFERENCE, &copy);
	if (find_prices(p, price, err) < 0)
		return err->code;
	for (uint32_t i = 0; i < p->jobs; i++) {
		need[i] = needed(p, i);
		if (!gavel_published(g) && need[i] > gavel_best_speed(p, i)) {
			need[i] = 0;
			shares->fallback = "not all deadlines can be met: the hardest were given up";
		}
	}
	while (!with_deadlines(g, p, price, need, shares)) {
		int worst = hardest(p, need);

		if (worst < 0)
			return gavel_cost(self, p, shares, err);
		shares->fallback = "not all deadlines can be met: the hardest were given up";
		if (gavel_published(g))
			return gavel_cost(self, p, shares, err);
		need[worst] = 0;
	}
	tell_speeds(p, shares);
	return 0;
}
