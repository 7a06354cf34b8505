/*
 * From the mixture to an answer: rounded so that each of the mixed answers has
 * its part of the rows, mended where a type is used too much, then improved by
 * single changes and by pairs of them (one gives way, another takes it).
 */
#include <math.h>
#include <string.h>

#include "solver/choice_parts.h"

enum { RELIEF_MAX = 64, IMPROVEMENTS_MAX = 4000 };

struct rounding {
	struct choosing *c;
	int64_t room[CHOICE_TYPES_MAX]; /* negative: used too much */
};

/* A row may go another way. */
struct move {
	uint32_t row, offer; /* row UINT32_MAX: none */
	double score;        /* smaller is better */
};

static const struct offer *offer_of(const struct choosing *c, uint32_t row)
{
	return &c->offers[c->pick[row]];
}

static void apply(struct rounding *r, uint32_t row, uint32_t offer)
{
	const struct offer *before = offer_of(r->c, row), *after = &r->c->offers[offer];

	r->room[before->type] += before->amount;
	r->room[after->type] -= after->amount;
	r->c->value += after->cost - before->cost;
	r->c->pick[row] = offer;
}

/* ---- rounding */

/* Each mixed answer is owed its weight of every row; the one that is owed most has the next. */
static void round_mixture(struct rounding *r)
{
	struct choosing *c = r->c;
	double owed[CHOICE_TYPES_MAX + 1] = { 0 };

	memcpy(r->room, c->capacity, sizeof(r->room));
	c->value = 0;
	for (uint32_t row = 0; row < c->nrows; row++) {
		uint32_t most = 0;

		for (uint32_t k = 0; k < c->nmixed; k++) {
			owed[k] += c->weight[k];
			most = owed[k] > owed[most] + 1e-12 ? k : most;
		}
		owed[most] -= 1;
		c->pick[row] = c->mixed[most][row];
		c->value += offer_of(c, row)->cost;
		r->room[offer_of(c, row)->type] -= offer_of(c, row)->amount;
	}
}

/* ---- mending */

static bool move_fits(const struct rounding *r, const struct offer *from, const struct offer *to)
{
	return to->amount == 0 ||
		r->room[to->type] + (from->type == to->type ? from->amount : 0) >= to->amount;
}

static int64_t freed_of(uint32_t type, const struct offer *from, const struct offer *to)
{
	return (from->type == type ? (int64_t)from->amount : 0) -
		(to->type == type ? (int64_t)to->amount : 0);
}

/* The change that costs least for what it frees of the type. */
static struct move find_relief(const struct rounding *r, uint32_t type)
{
	const struct choosing *c = r->c;
	struct move best = { UINT32_MAX, 0, INFINITY };

	for (uint32_t row = 0; row < c->nrows; row++) {
		const struct offer *from = offer_of(c, row);

		if (from->type != type || from->amount == 0)
			continue;
		for (uint32_t o = c->first[row]; o < c->first[row + 1]; o++) {
			const struct offer *to = &c->offers[o];
			double freed = fmin((double)freed_of(type, from, to), -(double)r->room[type]);
			double score;

			if (freed <= 0 || (to->type != type && !move_fits(r, from, to)))
				continue;
			score = ((double)(to->excess - from->excess) + 1) / freed;
			if (score < best.score)
				best = (struct move){ row, o, score };
		}
	}
	return best;
}

static void mend(struct rounding *r)
{
	for (uint32_t t = 0; t < r->c->ntypes; t++) {
		while (r->room[t] < 0) {
			struct move move = find_relief(r, t);

			apply(r, move.row, move.offer);
		}
	}
}

/* ---- improving */

/* The cheapest two rows (of different rows) that free so much of a type. */
struct reliefs {
	struct move best[2];
};

static void note_relief(struct reliefs *at, struct move move)
{
	struct move *a = &at->best[0], *b = &at->best[1];

	if (move.score < a->score) {
		if (a->row != move.row)
			*b = *a;
		*a = move;
	} else if (move.row != a->row && move.score < b->score) {
		*b = move;
	}
}

static void list_reliefs(const struct rounding *r, struct reliefs *table)
{
	const struct choosing *c = r->c;

	for (uint32_t i = 0; i < c->ntypes * (RELIEF_MAX + 1); i++)
		table[i].best[0] = table[i].best[1] = (struct move){ UINT32_MAX, 0, INFINITY };
	for (uint32_t row = 0; row < c->nrows; row++) {
		const struct offer *from = offer_of(c, row);

		for (uint32_t o = c->first[row]; from->amount > 0 && o < c->first[row + 1]; o++) {
			const struct offer *to = &c->offers[o];
			int64_t freed = freed_of(from->type, from, to);

			if (freed <= 0 || !move_fits(r, from, to))
				continue;
			freed = freed < RELIEF_MAX ? freed : RELIEF_MAX;
			note_relief(&table[from->type * (RELIEF_MAX + 1) + freed],
				(struct move){ row, o, (double)(to->cost - from->cost) });
		}
	}
	/* What frees more frees less, too. */
	for (uint32_t t = 0; t < c->ntypes; t++) {
		for (uint32_t f = RELIEF_MAX; f > 1; f--) {
			struct reliefs *at = &table[t * (RELIEF_MAX + 1) + f];

			note_relief(at - 1, at->best[0]);
			note_relief(at - 1, at->best[1]);
		}
	}
}

/* What must give way for a row to go another way: nothing (row UINT32_MAX, score 0), or one other row; score INFINITY: no way. */
static struct move relief_for(const struct rounding *r, const struct reliefs *table, uint32_t row,
	const struct offer *to)
{
	const struct offer *from = offer_of(r->c, row);
	int64_t missing = to->amount - r->room[to->type] - (from->type == to->type ? from->amount : 0);
	const struct reliefs *at;

	if (to->amount == 0 || missing <= 0)
		return (struct move){ UINT32_MAX, 0, 0 };
	if (missing > RELIEF_MAX)
		return (struct move){ UINT32_MAX, 0, INFINITY };
	at = &table[to->type * (RELIEF_MAX + 1) + missing];
	return at->best[at->best[0].row == row];
}

/* The best change, with what has to give way; false: none is for the better. */
static bool improve_once(struct rounding *r, struct reliefs *table)
{
	const struct choosing *c = r->c;
	struct move best = { UINT32_MAX, 0, -0.5 }, way = { 0 };

	list_reliefs(r, table);
	for (uint32_t row = 0; row < c->nrows; row++) {
		const struct offer *from = offer_of(c, row);

		for (uint32_t o = c->first[row]; c->offers[o].cost < from->cost; o++) {
			struct move relief = relief_for(r, table, row, &c->offers[o]);
			double score = (double)(c->offers[o].cost - from->cost) + relief.score;

			if (score < best.score) {
				best = (struct move){ row, o, score };
				way = relief;
			}
		}
	}
	if (best.row == UINT32_MAX)
		return false;
	if (way.row != UINT32_MAX)
		apply(r, way.row, way.offer);
	apply(r, best.row, best.offer);
	return true;
}

void choice_round(struct choosing *c)
{
	struct rounding r = { .c = c };
	struct reliefs *table = arena_array(&c->memory, struct reliefs, c->ntypes * (RELIEF_MAX + 1));

	round_mixture(&r);
	mend(&r);
	for (uint32_t i = 0; i < IMPROVEMENTS_MAX && improve_once(&r, table); i++)
		;
}
