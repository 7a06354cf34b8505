/*
 * Prices of types: the linear relaxation by generating answers.
 *
 * At given prices each row goes its cheapest way on its own; that is one
 * answer, and its value less what the capacities are worth is a bound.  A small
 * program (one row for each type and one for the sum of weights) mixes the
 * answers so far into one that keeps the capacities; its prices ask for the
 * next answer, until none is worth adding.  The simplex method has as many
 * basic columns as there are types and one, so each step is a few small
 * systems and one pass over all offers.
 */
#include <math.h>
#include <string.h>

#include "solver/choice_parts.h"

enum { SIDES_MAX = CHOICE_TYPES_MAX + 1, ROUNDS_MAX = 400 };

/* A basic column: an answer, or room left of a type. */
struct corner {
	double cost;
	double side[SIDES_MAX]; /* what it uses of each type, and 1 if it is an answer */
	uint32_t *pick;         /* NULL: room */
};

struct mix {
	const struct choosing *c;
	uint32_t n; /* sides: types and one */
	struct corner at[SIDES_MAX];
	uint32_t *spare; /* for the next answer */
	double x[SIDES_MAX];
	double price[SIDES_MAX]; /* the last: of the sum of weights */
	double best_bound;
	double best[SIDES_MAX]; /* prices of that */
	double *costs;          /* of offers; in units */
};

/* ---- small systems */

/* Solves a x = b in place of b by elimination; false if it is singular. */
static bool eliminate(double a[][SIDES_MAX], double *b, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t top = k;

		for (uint32_t i = k + 1; i < n; i++)
			top = fabs(a[i][k]) > fabs(a[top][k]) ? i : top;
		if (fabs(a[top][k]) < 1e-12)
			return false;
		for (uint32_t j = 0; j < n; j++) {
			double t = a[k][j];

			a[k][j] = a[top][j];
			a[top][j] = t;
		}
		double t = b[k];

		b[k] = b[top];
		b[top] = t;
		for (uint32_t i = 0; i < n; i++) {
			double f = i == k ? 0 : a[i][k] / a[k][k];

			for (uint32_t j = k; f != 0 && j < n; j++)
				a[i][j] -= f * a[k][j];
			b[i] -= f * b[k];
		}
	}
	for (uint32_t k = 0; k < n; k++)
		b[k] /= a[k][k];
	return true;
}

/* The basis times x is `sides`. */
static bool solve_columns(const struct mix *m, const double *sides, double *x)
{
	double a[SIDES_MAX][SIDES_MAX];

	for (uint32_t i = 0; i < m->n; i++) {
		for (uint32_t j = 0; j < m->n; j++)
			a[i][j] = m->at[j].side[i];
	}
	memcpy(x, sides, m->n * sizeof(*x));
	return eliminate(a, x, m->n);
}

/* Prices at which every basic column is worth its cost. */
static bool solve_prices(struct mix *m)
{
	double a[SIDES_MAX][SIDES_MAX];

	for (uint32_t j = 0; j < m->n; j++) {
		memcpy(a[j], m->at[j].side, m->n * sizeof(double));
		m->price[j] = m->at[j].cost;
	}
	return eliminate(a, m->price, m->n);
}

/* ---- answers */

/* The cheapest way of every row at these prices (of types, positive is dear). */
static void answer_at(const struct mix *m, const double *dear, struct corner *out)
{
	const struct choosing *c = m->c;

	memset(out->side, 0, sizeof(out->side));
	out->cost = 0;
	for (uint32_t r = 0; r < c->nrows; r++) {
		uint32_t at = c->first[r];
		double least = INFINITY;

		for (uint32_t o = c->first[r]; o < c->first[r + 1]; o++) {
			double cost = m->costs[o] + dear[c->offers[o].type] * c->offers[o].amount;

			if (cost < least) {
				least = cost;
				at = o;
			}
		}
		out->pick[r] = at;
		out->cost += m->costs[at];
		out->side[c->offers[at].type] += c->offers[at].amount;
	}
	out->side[m->n - 1] = 1;
}

/* The answer that uses least: everybody does without, except who is forced. */
static void least_answer(const struct mix *m, struct corner *out)
{
	const struct choosing *c = m->c;

	for (uint32_t r = 0; r < c->nrows; r++) {
		uint32_t at = c->first[r];

		while (at + 1 < c->first[r + 1] && c->offers[at].amount > 0)
			at++;
		out->pick[r] = at;
		out->cost += m->costs[at];
		out->side[c->offers[at].type] += c->offers[at].amount;
	}
	out->side[m->n - 1] = 1;
}

/* ---- the mixture */

static uint32_t *new_pick(struct choosing *c)
{
	return arena_array(&c->memory, uint32_t, c->nrows);
}

static void mix_init(struct mix *m, struct choosing *c)
{
	*m = (struct mix){ .c = c, .n = c->ntypes + 1, .best_bound = -INFINITY };
	m->costs = arena_array(&c->memory, double, c->first[c->nrows]);
	for (uint32_t o = 0; o < c->first[c->nrows]; o++)
		m->costs[o] = (double)c->offers[o].cost / c->unit;
	for (uint32_t t = 0; t < c->ntypes; t++)
		m->at[t].side[t] = 1;
	m->at[c->ntypes].pick = new_pick(c);
	m->spare = new_pick(c);
	least_answer(m, &m->at[c->ntypes]);
}

/* Puts a column into the basis in place of the one that first gets to nothing; false if there is none. */
static bool enter(struct mix *m, const struct corner *column)
{
	double step[SIDES_MAX], least = INFINITY;
	uint32_t leaves = m->n;

	if (!solve_columns(m, column->side, step))
		return false;
	for (uint32_t i = 0; i < m->n; i++) {
		double ratio;

		if (step[i] <= 1e-9)
			continue;
		ratio = fmax(m->x[i], 0) / step[i];
		if (ratio < least || (ratio == least && step[i] > step[leaves])) {
			least = ratio;
			leaves = i;
		}
	}
	if (leaves == m->n)
		return false;
	if (column->pick) {
		uint32_t *old = m->at[leaves].pick;

		m->spare = old ? old : NULL;
	}
	m->at[leaves] = *column;
	return true;
}

/* The type whose price has the wrong sign most; ntypes: none. */
static uint32_t cheap_room(const struct mix *m)
{
	uint32_t worst = m->n - 1;
	double most = 1e-9;

	for (uint32_t t = 0; t + 1 < m->n; t++) {
		if (m->price[t] > most) {
			most = m->price[t];
			worst = t;
		}
	}
	return worst;
}

static void note_bound(struct mix *m, const double *dear, const struct corner *answer)
{
	double bound = answer->cost;

	for (uint32_t t = 0; t + 1 < m->n; t++)
		bound += dear[t] * (answer->side[t] - (double)m->c->capacity[t]);
	if (bound > m->best_bound) {
		m->best_bound = bound;
		memcpy(m->best, dear, sizeof(m->best));
	}
}

/* One step; false: the mixture is the best, or as good as can be told. */
static bool improve(struct mix *m, struct choosing *c)
{
	double dear[SIDES_MAX] = { 0 }, worth, value = 0;
	struct corner next = { 0 };
	uint32_t room = cheap_room(m);

	if (room + 1 < m->n) {
		next.side[room] = 1;
		return enter(m, &next);
	}
	for (uint32_t t = 0; t + 1 < m->n; t++)
		dear[t] = fmax(0, -m->price[t]);
	if (!m->spare)
		m->spare = new_pick(c);
	next.pick = m->spare;
	answer_at(m, dear, &next);
	c->rounds++;
	note_bound(m, dear, &next);
	worth = next.cost - m->price[m->n - 1];
	for (uint32_t t = 0; t + 1 < m->n; t++)
		worth += dear[t] * next.side[t];
	for (uint32_t i = 0; i < m->n; i++)
		value += m->x[i] * m->at[i].cost;
	if (worth > -1e-10 * (1 + fabs(value)) || value - m->best_bound < 1e-9 * (1 + fabs(value)))
		return false;
	return enter(m, &next);
}

static bool settle(struct mix *m)
{
	double sides[SIDES_MAX];

	for (uint32_t t = 0; t + 1 < m->n; t++)
		sides[t] = (double)m->c->capacity[t];
	sides[m->n - 1] = 1;
	return solve_columns(m, sides, m->x) && solve_prices(m);
}

/* ---- what comes of it */

static void take_prices(struct choosing *c, const struct mix *m)
{
	c->bound = 0;
	for (uint32_t t = 0; t < c->ntypes; t++) {
		c->price[t] = llround(m->best[t] * c->unit);
		c->bound -= c->price[t] * c->capacity[t];
	}
	for (uint32_t r = 0; r < c->nrows; r++) {
		int64_t least = INT64_MAX;

		for (uint32_t o = c->first[r]; o < c->first[r + 1]; o++) {
			struct offer *offer = &c->offers[o];

			offer->excess = offer->cost + c->price[offer->type] * offer->amount;
			least = offer->excess < least ? offer->excess : least;
		}
		for (uint32_t o = c->first[r]; o < c->first[r + 1]; o++)
			c->offers[o].excess -= least;
		c->bound += least;
	}
}

static void take_mixture(struct choosing *c, const struct mix *m)
{
	c->nmixed = 0;
	for (uint32_t i = 0; i < m->n; i++) {
		if (!m->at[i].pick)
			continue;
		c->mixed[c->nmixed] = m->at[i].pick;
		c->weight[c->nmixed++] = fmax(m->x[i], 0);
	}
}

void choice_find_prices(struct choosing *c)
{
	struct mix m;

	mix_init(&m, c);
	while (settle(&m) && c->rounds < ROUNDS_MAX && improve(&m, c))
		;
	take_prices(c, &m);
	take_mixture(c, &m);
}
