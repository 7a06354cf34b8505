/*
 * The search over prices.
 *
 * Each turn the mix of the quotes so far says which prices look best, and a
 * quote at prices between those and the best known ones improves either the
 * bound or the mix.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "solver/maxmin_parts.h"

enum { MOST_TURNS = 5000 };

static uint32_t room_for(uint32_t types)
{
	return 24 + 8 * types;
}

void search_init(struct search *s, const struct market *market)
{
	uint32_t types = market->types, n = market->n, room = room_for(types);

	*s = (struct search){ .market = market, .bound = market->most, .tolerance = 1e-9 };
	mix_init(&s->mix, types, room);
	s->pairs = mem_alloc(mem_array_size(room, n * sizeof(struct pair)));
	s->now = mem_alloc(mem_array_size(n, sizeof(struct pair)));
	s->asked = mem_alloc(mem_array_size(types, sizeof(double)));
	s->best = mem_alloc(mem_array_size(types, sizeof(double)));
	s->used = mem_alloc(mem_array_size(types, sizeof(double)));
	for (uint32_t i = 0; i < n; i++)
		s->now[i] = (struct pair){ NO_TYPE, market->fastest[i] };
	for (uint32_t w = 0; w < types; w++)
		s->asked[w] = 1;
}

void search_fini(struct search *s)
{
	mix_fini(&s->mix);
	free(s->pairs);
	free(s->now);
	free(s->asked);
	free(s->best);
	free(s->used);
	*s = (struct search){ 0 };
}

/* The last prices, in the unit in which z costs 1. */
static void keep_best(struct search *s, double slope)
{
	for (uint32_t w = 0; w < s->market->types; w++)
		s->best[w] = slope > 0 ? s->asked[w] / slope : s->asked[w];
}

/* How much better the quote could be, for the mix, if its level were what its prices just allow. */
static double looseness(const struct search *s, const struct quote *quote)
{
	double worth = quote->z;

	for (uint32_t w = 0; w < s->market->types; w++)
		worth += s->asked[w] * (1 - s->used[w]);
	return fmin(quote->bound, s->market->most) - worth;
}

static double worth_of(const struct search *s)
{
	double sum = 0;

	for (uint32_t w = 0; w < s->market->types; w++)
		sum += s->asked[w];
	return sum;
}

/* The prices forbid even the least level.  By next to nothing is not enough to say so. */
static bool forbids(struct search *s, struct quote *quote)
{
	double over = 0;

	if (quote->bound >= s->market->least)
		return false;
	market_quote(s->market, s->asked, s->market->least, s->now, quote);
	s->evaluations++;
	for (uint32_t w = 0; w < s->market->types; w++)
		over += s->asked[w] * (s->used[w] - 1);
	quote->bound = fmax(quote->bound, s->market->least);
	return over > 1e-10 * worth_of(s);
}

/*
 * Quotes at `asked` and puts it in the mix; returns the bound.  One look at
 * the level of the present bound is mostly good enough; where it falls short
 * by more than `slack`, the level moves to what the prices just allow.
 */
static double ask(struct search *s, double slack)
{
	struct quote quote = { .used = s->used };
	double z = s->bound, still = 1e-15 * fmax(fabs(s->market->most), -s->market->least);
	uint32_t at;

	for (uint32_t turn = 0; turn < 40; turn++) {
		market_quote(s->market, s->asked, z, s->now, &quote);
		s->evaluations++;
		s->infeasible = forbids(s, &quote);
		if (s->infeasible || fabs(quote.bound - z) <= still || looseness(s, &quote) <= slack)
			break;
		z = quote.bound;
	}
	s->slope = quote.slope;
	if (s->infeasible || quote.bound < s->bound || s->mix.n == 0) {
		s->bound = quote.bound;
		keep_best(s, quote.slope);
	}
	at = mix_add(&s->mix, quote.z, s->used);
	memcpy(s->pairs + (size_t)at * s->market->n, s->now, s->market->n * sizeof(struct pair));
	return quote.bound;
}

/* Prices between the best and those the mix asks for; `boldness` 1: the latter. */
static void choose_prices(struct search *s, double boldness)
{
	for (uint32_t w = 0; w < s->market->types; w++)
		s->asked[w] = (1 - boldness) * s->best[w] + boldness * s->mix.price[1 + w];
}

/* The mix's prices ask for more than it may: the limits move out, unless that is hopeless. */
static bool may_widen(struct search *s, double scale)
{
	if (!mix_overuses(&s->mix, 1e-11) || s->mix.high[0] > 1e12 * scale)
		return false;
	for (uint32_t w = 0; w < s->market->types; w++)
		s->mix.high[w] *= 8;
	return true;
}

/*
 * The mix's own prices are a corner: types with room to spare cost exactly
 * nothing.  So they are the ones to give back, if they prove as much.
 */
static bool prove_by_corner(struct search *s, double tolerance)
{
	double bound;

	memcpy(s->asked, s->mix.price + 1, s->market->types * sizeof(double));
	if (worth_of(s) <= 0)
		return true;
	bound = ask(s, 0);
	if (s->infeasible || bound > s->mix.price[0] + tolerance)
		return false;
	s->bound = bound;
	keep_best(s, s->slope);
	return true;
}

struct patience {
	double least; /* distance so far */
	uint32_t since;
};

/* How near the mix must come to the bound: z itself, and in the unit of the needs where z is a small part. */
static double tolerance_of(const struct search *s)
{
	const struct market *m = s->market;

	return fmax(s->tolerance * fmax(fabs(s->bound), -m->least), 1e-12 * fabs(m->most) + 1e-300);
}

/* Notes progress; true after many turns without any. */
static bool is_stuck(struct patience *p, double left)
{
	if (left < 0.99 * p->least) {
		p->least = left;
		p->since = 0;
	}
	return ++p->since > 100;
}

/*
 * Nearer to the best prices while that pays, as prices far from them tell
 * little; farther where it does not, so that the search never creeps.
 */
static double next_boldness(double boldness, bool better, double shrunk)
{
	if (better && shrunk < 0.97)
		return fmax(boldness * 0.5, 0.05);
	return fmin(1, boldness + 0.04);
}

/* The first quote, and limits for the prices that it suggests. */
static void begin(struct search *s, double scale)
{
	ask(s, 0);
	for (uint32_t w = 0; w < s->market->types; w++)
		s->mix.high[w] = 2 * fmax(fabs(s->bound), 1e-3 * scale);
}

/* The mix is at the bound: true if that is the end. */
static bool finish(struct search *s, double scale, double tolerance)
{
	if (may_widen(s, scale))
		return false;
	return prove_by_corner(s, tolerance) || ++s->corners > 30;
}

void search_run(struct search *s)
{
	const struct market *m = s->market;
	double boldness = 0.5, scale = fmax(fabs(m->most), -m->least), last = INFINITY;
	struct patience patience = { INFINITY, 0 };
	bool better = false;

	scale = scale > 0 ? scale : 1;
	begin(s, scale);
	for (uint32_t turn = 0; turn < MOST_TURNS && !s->infeasible; turn++) {
		double tolerance = tolerance_of(s), left, before = s->bound;

		mix_solve(&s->mix);
		left = s->bound - s->mix.price[0];
		if (left <= tolerance) {
			if (finish(s, scale, tolerance))
				break;
			patience = (struct patience){ INFINITY, 0 };
			continue;
		}
		if (is_stuck(&patience, left))
			break;
		boldness = next_boldness(boldness, better, left / last);
		choose_prices(s, boldness);
		ask(s, 0.5 * left);
		better = s->bound < before;
		last = left;
	}
}

void search_shares(const struct search *s, double *x)
{
	const struct market *m = s->market;

	memset(x, 0, (size_t)m->n * m->types * sizeof(double));
	for (uint32_t r = 0; r < s->mix.rows; r++) {
		uint32_t quote = s->mix.basis[r];
		double part = s->mix.value[r];

		if (quote >= s->mix.cap || part <= 0)
			continue;
		for (uint32_t i = 0; i < m->n; i++) {
			struct pair pair = s->pairs[(size_t)quote * m->n + i];
			double need = m->base[i] + m->weight[i] * s->mix.z[quote], t;

			if (need <= 0)
				continue;
			t = pair_share(m->rate + (size_t)i * m->types, need, pair);
			x[(size_t)i * m->types + pair.fast] += part * t;
			if (pair.slow != NO_TYPE)
				x[(size_t)i * m->types + pair.slow] += part * (1 - t);
		}
	}
}
