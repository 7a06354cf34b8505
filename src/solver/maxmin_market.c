/*
 * What jobs take at given prices.
 *
 * A job that needs rate r picks from the points (rate_w, price_w) and (0, 0)
 * the lower hull's edge above r.  It is found as the simplex method would:
 * while some point lies below the line through the present pair, it replaces
 * the one on its side of r.  Starting from the pair of the last quote, most
 * jobs need one look.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "solver/maxmin_parts.h"

void market_init(struct market *market, uint32_t n, uint32_t types)
{
	*market = (struct market){ .n = n, .types = types, .most = INFINITY };
	market->rate = mem_alloc(mem_array_size(n, types * sizeof(double)));
	market->size = mem_alloc(mem_array_size(n, sizeof(double)));
	market->base = mem_alloc(mem_array_size(n, sizeof(double)));
	market->weight = mem_alloc(mem_array_size(n, sizeof(double)));
	market->fastest = mem_alloc(mem_array_size(n, 1));
	market->capacity = mem_alloc(mem_array_size(types, sizeof(double)));
}

void market_fini(struct market *market)
{
	free(market->rate);
	free(market->size);
	free(market->base);
	free(market->weight);
	free(market->fastest);
	free(market->capacity);
	*market = (struct market){ 0 };
}

struct line {
	double slope, start; /* cost of rate r: start + slope * r */
};

static struct line line_through(const double *rate, const double *price, struct pair pair)
{
	double r = 0, cost = 0;
	struct line line;

	if (pair.slow != NO_TYPE) {
		r = rate[pair.slow];
		cost = price[pair.slow];
	}
	line.slope = (price[pair.fast] - cost) / (rate[pair.fast] - r);
	line.start = cost - line.slope * r;
	return line;
}

/* Improves the pair until no point is below its line. */
static struct line cheapest(const double *rate, const double *price, uint32_t types, double need,
	struct pair *pair)
{
	struct line line = line_through(rate, price, *pair);

	for (uint32_t turn = 0; turn < 4 * types; turn++) {
		double deepest = -1e-14 * price[pair->fast];
		uint32_t below = types + 1;

		if (-line.start < deepest) {
			deepest = -line.start;
			below = NO_TYPE;
		}
		for (uint32_t w = 0; w < types; w++) {
			double over = price[w] - line.slope * rate[w] - line.start;

			if (over < deepest) {
				deepest = over;
				below = w;
			}
		}
		if (below == types + 1)
			break;
		if (below == NO_TYPE || rate[below] < need)
			pair->slow = (uint8_t)below;
		else
			pair->fast = (uint8_t)below;
		line = line_through(rate, price, *pair);
	}
	return line;
}

static void make_straddle(const double *rate, double need, uint8_t fastest, struct pair *pair)
{
	if (rate[pair->fast] < need)
		pair->fast = fastest;
	if (pair->slow != NO_TYPE && rate[pair->slow] >= need)
		pair->slow = NO_TYPE;
}

double pair_share(const double *rate, double need, struct pair pair)
{
	double slow = pair.slow == NO_TYPE ? 0 : rate[pair.slow];

	return fmin((need - slow) / (rate[pair.fast] - slow), 1);
}

double least_cost(const double *rate, const double *price, uint32_t types, double need, double *slope)
{
	struct pair pair = { NO_TYPE, 0 };
	struct line line;

	*slope = 0;
	for (uint32_t w = 1; w < types; w++) {
		if (rate[w] > rate[pair.fast])
			pair.fast = (uint8_t)w;
	}
	need = fmin(need, rate[pair.fast]);
	if (need <= 0)
		return 0;
	line = cheapest(rate, price, types, need, &pair);
	*slope = line.slope;
	return line.start + line.slope * need;
}

void market_quote(const struct market *market, const double *price, double z, struct pair *pairs,
	struct quote *quote)
{
	uint32_t types = market->types;
	double unit[NO_TYPE], used[NO_TYPE + 1] = { 0 }, slope = 0, left = 0;

	for (uint32_t w = 0; w < types; w++)
		unit[w] = price[w] / market->capacity[w];
	for (uint32_t i = 0; i < market->n; i++) {
		const double *rate = market->rate + (size_t)i * types;
		double need = market->base[i] + market->weight[i] * z, t;
		struct line line;

		if (need <= 0)
			continue;
		need = fmin(need, rate[market->fastest[i]]);
		make_straddle(rate, need, market->fastest[i], &pairs[i]);
		line = cheapest(rate, unit, types, need, &pairs[i]);
		t = pair_share(rate, need, pairs[i]);
		used[pairs[i].fast] += market->size[i] * t;
		used[pairs[i].slow] += market->size[i] * (1 - t);
		slope += market->size[i] * market->weight[i] * line.slope;
	}
	for (uint32_t w = 0; w < types; w++) {
		quote->used[w] = used[w] / market->capacity[w];
		left += price[w] * (1 - quote->used[w]);
	}
	quote->z = z;
	quote->slope = slope;
	quote->bound = slope > 0 ? z + left / slope : left < 0 ? -INFINITY : INFINITY;
	quote->bound = fmin(quote->bound, market->most);
}
