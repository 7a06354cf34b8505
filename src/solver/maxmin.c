/*
 * The search over prices.
 *
 * Each turn the mix of the quotes so far says which prices look best (a bound
 * from below on what prices can prove), and a quote at prices between those
 * and the best known ones improves either the bound or the mix.
 */
#include "solver/maxmin.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "solver/maxmin_parts.h"

/* Capacities are a little larger in the search, so that bases that just fit are not in the way by rounding. */
static const double spare = 1e-12;

static uint64_t mixed(uint64_t hash, double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static double base_of(const struct maxmin *p, uint32_t i)
{
	return p->base ? p->base[i] : 0;
}

static double weight_of(const struct maxmin *p, uint32_t i)
{
	return p->weight ? p->weight[i] : 1;
}

static uint64_t hash_of(const struct maxmin *p, uint32_t i)
{
	uint64_t hash = mixed(mixed(1, base_of(p, i)), weight_of(p, i));

	for (uint32_t w = 0; w < p->types; w++)
		hash = mixed(hash, p->rate[(size_t)i * p->types + w]);
	return hash;
}

static bool alike(const struct maxmin *p, uint32_t i, uint32_t j)
{
	size_t row = p->types * sizeof(double);

	return base_of(p, i) == base_of(p, j) && weight_of(p, i) == weight_of(p, j) &&
		memcmp(p->rate + (size_t)i * p->types, p->rate + (size_t)j * p->types, row) == 0;
}

/* kind[i] of each job, first[k] the first job of each kind; returns how many kinds. */
static uint32_t find_kinds(const struct maxmin *p, uint32_t *kind, uint32_t *first)
{
	uint32_t slots = 16, kinds = 0, *table;

	while (slots < 2 * p->jobs)
		slots *= 2;
	table = mem_alloc(mem_array_size(slots, sizeof(uint32_t)));
	for (uint32_t i = 0; i < p->jobs; i++) {
		uint32_t at = (uint32_t)(hash_of(p, i) >> 20) & (slots - 1);

		while (table[at] && !alike(p, first[table[at] - 1], i))
			at = (at + 1) & (slots - 1);
		if (!table[at]) {
			first[kinds] = i;
			table[at] = ++kinds;
		}
		kind[i] = table[at] - 1;
	}
	free(table);
	return kinds;
}

static void set_limits(struct market *m, uint32_t k)
{
	const double *rate = m->rate + (size_t)k * m->types;
	uint32_t best = 0;

	for (uint32_t w = 1; w < m->types; w++) {
		if (rate[w] > rate[best])
			best = w;
	}
	m->fastest[k] = (uint8_t)best;
	if (m->base[k] + m->weight[k] * m->least > rate[best] * (1 + 1e-10))
		m->impossible = true;
	if (m->weight[k] > 0 && rate[best] <= 0)
		m->impossible = true;
	if (m->weight[k] > 0)
		m->most = fmin(m->most, (rate[best] - m->base[k]) / m->weight[k]);
}

static void build_market(const struct maxmin *p, struct market *m, const uint32_t *kind,
	const uint32_t *first, uint32_t kinds)
{
	market_init(m, kinds, p->types);
	m->least = p->least;
	for (uint32_t w = 0; w < p->types; w++)
		m->capacity[w] = p->capacity[w] > 0 ? p->capacity[w] * (1 + spare) : 1;
	for (uint32_t k = 0; k < kinds; k++) {
		for (uint32_t w = 0; w < p->types; w++) {
			double rate = p->rate[(size_t)first[k] * p->types + w];

			m->rate[(size_t)k * p->types + w] = p->capacity[w] > 0 ? rate : 0;
		}
		m->base[k] = base_of(p, first[k]);
		m->weight[k] = weight_of(p, first[k]);
		set_limits(m, k);
	}
	for (uint32_t i = 0; i < p->jobs; i++)
		m->size[kind[i]] += p->gang[i];
	m->most = isfinite(m->most) ? fmax(m->most, m->least) : 0;
}

/* What the shares of a kind reach, as a level. */
static double level_of(const struct market *m, uint32_t k, const double *x)
{
	double rate = 0;

	for (uint32_t w = 0; w < m->types; w++)
		rate += m->rate[(size_t)k * m->types + w] * x[w];
	return (rate - m->base[k]) / m->weight[k];
}

/* A capacity or a share may be a little above its limit: everyone gives in. */
static void fit_shares(const struct market *m, double *x)
{
	double worst = 1;

	for (uint32_t w = 0; w < m->types; w++) {
		double used = 0;

		for (uint32_t k = 0; k < m->n; k++)
			used += m->size[k] * x[(size_t)k * m->types + w];
		worst = fmax(worst, used / m->capacity[w] * (1 + spare));
	}
	for (uint32_t k = 0; k < m->n; k++) {
		double *row = x + (size_t)k * m->types, sum = 0;

		for (uint32_t w = 0; w < m->types; w++)
			sum += row[w];
		for (uint32_t w = 0; w < m->types; w++)
			row[w] /= fmax(worst, sum);
	}
}

static void take_shares(const struct maxmin *p, const struct search *s, const uint32_t *kind,
	struct maxmin_answer *answer)
{
	const struct market *m = s->market;
	size_t row = p->types * sizeof(double);
	double *x = mem_alloc(mem_array_size(m->n, row));

	search_shares(s, x);
	fit_shares(m, x);
	answer->z = m->most;
	for (uint32_t k = 0; k < m->n; k++) {
		if (m->weight[k] > 0)
			answer->z = fmin(answer->z, level_of(m, k, x + (size_t)k * m->types));
	}
	answer->z = fmax(answer->z, m->least);
	for (uint32_t i = 0; i < p->jobs && answer->x; i++)
		memcpy(answer->x + (size_t)i * p->types, x + (size_t)kind[i] * p->types, row);
	free(x);
}

static void take_prices(const struct search *s, double *prices)
{
	bool own = !s->infeasible && s->bound >= s->market->most; /* nobody needs prices to be told */

	for (uint32_t w = 0; prices && w < s->market->types; w++)
		prices[w] = own ? 0 : s->best[w] / s->market->capacity[w];
}

static bool solve_market(const struct maxmin *p, const struct market *m, const uint32_t *kind,
	struct maxmin_answer *answer)
{
	struct search s;
	bool ok;

	search_init(&s, m);
	search_run(&s);
	take_prices(&s, answer->prices);
	answer->evaluations = s.evaluations;
	ok = !s.infeasible;
	if (ok) {
		take_shares(p, &s, kind, answer);
		answer->bound = fmax(s.bound, answer->z);
		answer->gap = answer->bound > 0 ? (answer->bound - answer->z) / answer->bound : 0;
	}
	search_fini(&s);
	return ok;
}

bool maxmin_solve(const struct maxmin *program, struct maxmin_answer *answer)
{
	uint32_t *kind = mem_alloc(mem_array_size(program->jobs, sizeof(uint32_t)));
	uint32_t *first = mem_alloc(mem_array_size(program->jobs, sizeof(uint32_t)));
	struct market m;
	bool ok;

	assert(program->types > 0 && program->types < NO_TYPE);
	answer->kinds = find_kinds(program, kind, first);
	build_market(program, &m, kind, first, answer->kinds);
	ok = !m.impossible && solve_market(program, &m, kind, answer);
	market_fini(&m);
	free(kind);
	free(first);
	return ok;
}
