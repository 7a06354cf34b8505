#include "policy/elastic/heet_market.h"

#include <math.h>

#include "policy/elastic/gain.h"
#include "solver/assignment.h"

double price_default(double seconds, double cost, double theta)
{
	return seconds * pow(cost, theta);
}

static double price_of(const struct market *m, uint32_t row, uint32_t type, uint32_t gpus)
{
	return m->price(m->ctx, row, type, gpus);
}

static double price_now(const struct market *m, uint32_t row)
{
	return price_of(m, row, m->at[row].type, m->at[row].gpus);
}

double market_total(const struct market *market)
{
	double sum = 0;

	for (uint32_t row = 0; row < market->rows; row++)
		sum += price_now(market, row);
	return sum;
}

static void set(struct market *m, uint32_t row, uint32_t type, uint32_t gpus)
{
	struct holding *h = &m->at[row];

	if (h->gpus > 0)
		m->free[h->type] += h->gpus;
	h->type = type;
	h->gpus = gpus;
	m->free[type] -= gpus;
}

/* ---- matching */

struct slots_of_hosts {
	uint32_t size[TYPES_MAX], count[TYPES_MAX];
	uint32_t *row; /* that are matched */
	uint32_t n;
};

/* Whether a part of a host holds the row as it came; the others keep what they came with. */
static bool is_matched(const struct market *m, const struct slots_of_hosts *s, uint32_t row)
{
	const struct holding *h = &m->at[row];

	return h->gpus > 0 && !h->stays && h->least[h->type] <= s->size[h->type];
}

/* Counts rows and parts at these sizes; true: there are enough parts. */
static bool count_slots(const struct market *m, struct slots_of_hosts *s)
{
	double room[TYPES_MAX];
	uint64_t slots = 0;

	s->n = 0;
	for (uint32_t t = 0; t < m->types; t++)
		room[t] = m->free[t];
	for (uint32_t row = 0; row < m->rows; row++) {
		if (!is_matched(m, s, row))
			continue;
		s->row[s->n++] = row;
		room[m->at[row].type] += m->at[row].gpus;
	}
	for (uint32_t t = 0; t < m->types; t++) {
		s->count[t] = (uint32_t)floor((room[t] + 1e-9) / s->size[t]);
		slots += s->count[t];
	}
	return slots >= s->n;
}

/* Halves the largest parts; false: all are single devices. */
static bool split(const struct market *m, struct slots_of_hosts *s)
{
	uint32_t largest = 0;

	for (uint32_t t = 1; t < m->types; t++) {
		if (s->size[t] > s->size[largest])
			largest = t;
	}
	if (s->size[largest] <= 1)
		return false;
	s->size[largest] = (s->size[largest] + 1) / 2;
	return true;
}

static uint32_t within(uint32_t gpus, uint32_t least, uint32_t most)
{
	return gpus < least ? least : gpus > most ? most : gpus;
}

static double slot_price(const struct market *m, const struct slots_of_hosts *s, uint32_t row,
	uint32_t type)
{
	const struct holding *h = &m->at[row];

	if (h->most[type] == 0 || h->least[type] > s->size[type])
		return INFINITY;
	return price_of(m, row, type, within(s->size[type], h->least[type], h->most[type])) +
		(h->home && h->home != type + 1 ? m->restart : 0);
}

/* The dearest that each row could get, in sum: whoever waits beside that waits for want of room only. */
static double dearest(const double *cost, uint32_t rows, uint32_t columns)
{
	double sum = 0;

	for (uint32_t i = 0; i < rows; i++) {
		double most = 0;

		for (uint32_t t = 0; t + 1 < columns; t++) {
			if (isfinite(cost[(size_t)i * columns + t]))
				most = fmax(most, cost[(size_t)i * columns + t]);
		}
		sum += most;
	}
	return sum;
}

/* One column for each type and one for waiting, which takes everybody. */
static void assign(struct market *m, const struct slots_of_hosts *s)
{
	uint32_t columns = m->types + 1;
	double *cost = arena_array(m->arena, double, (size_t)s->n *columns);
	uint32_t *column_of = arena_array(m->arena, uint32_t, s->n);
	uint32_t capacity[TYPES_MAX + 1];
	double all;
	struct assignment a = { s->n, columns, cost, capacity };

	for (uint32_t t = 0; t < m->types; t++)
		capacity[t] = s->count[t];
	capacity[m->types] = s->n;
	for (uint32_t i = 0; i < s->n; i++) {
		for (uint32_t t = 0; t < m->types; t++)
			cost[(size_t)i * columns + t] = slot_price(m, s, s->row[i], t);
	}
	all = dearest(cost, s->n, columns);
	for (uint32_t i = 0; i < s->n; i++)
		cost[(size_t)i * columns + m->types] = all + price_of(m, s->row[i], 0, 0);
	if (!assignment_solve(&a, column_of, NULL))
		return;
	for (uint32_t i = 0; i < s->n; i++)
		set(m, s->row[i], m->at[s->row[i]].type, 0);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct holding *h = &m->at[s->row[i]];
		uint32_t t = column_of[i];

		if (t < m->types)
			set(m, s->row[i], t, within(s->size[t], h->least[t], h->most[t]));
	}
}

void market_match(struct market *market)
{
	struct slots_of_hosts s = { .row = arena_array(market->arena, uint32_t, market->rows) };

	for (uint32_t t = 0; t < market->types; t++)
		s.size[t] = market->host[t] > 0 ? market->host[t] : 1;
	while (!count_slots(market, &s) && split(market, &s))
		;
	if (s.n > 0)
		assign(market, &s);
}

/* ---- what is left */

/* How much its price falls with one device more; negative: it rises. */
static double drop(const struct market *m, uint32_t row)
{
	const struct holding *h = &m->at[row];

	if (h->gpus == 0 || h->gpus >= h->most[h->type])
		return -INFINITY;
	return price_now(m, row) - price_of(m, row, h->type, h->gpus + 1);
}

static double grow_gain(void *self, uint32_t row)
{
	return drop(self, row);
}

static bool grow_take(void *self, uint32_t row)
{
	struct market *m = self;
	const struct holding *h = &m->at[row];

	if (m->free[h->type] < 1)
		return false;
	set(m, row, h->type, h->gpus + 1);
	return true;
}

void market_grow(struct market *market)
{
	struct gain_steps steps = { .gain = grow_gain, .take = grow_take };

	gain_share_out(market->arena, market->rows, &steps, market);
}

/* ---- trades */

/* How much dearer one device less makes it; INFINITY: it needs them all. */
static double rise(const struct market *m, uint32_t row)
{
	const struct holding *h = &m->at[row];

	if (h->gpus == 0 || h->gpus <= h->least[h->type])
		return INFINITY;
	return price_of(m, row, h->type, h->gpus - 1) - price_now(m, row);
}

/* The row of the type, other than `but`, that minds least to give one; rows: none. */
static uint32_t find_giver(const struct market *m, uint32_t type, uint32_t but)
{
	double least = INFINITY;
	uint32_t found = m->rows;

	for (uint32_t row = 0; row < m->rows; row++) {
		if (row != but && m->at[row].gpus > 0 && m->at[row].type == type &&
			rise(m, row) < least) {
			least = rise(m, row);
			found = row;
		}
	}
	return found;
}

/* The one that gains most by one more. */
static uint32_t find_taker(const struct market *m, uint32_t type, uint32_t but)
{
	double most = -INFINITY;
	uint32_t found = m->rows;

	for (uint32_t row = 0; row < m->rows; row++) {
		if (row != but && m->at[row].gpus > 0 && m->at[row].type == type &&
			drop(m, row) > most) {
			most = drop(m, row);
			found = row;
		}
	}
	return found;
}

static double pair_fall(const struct market *m, uint32_t giver, uint32_t taker)
{
	return giver < m->rows && taker < m->rows ? drop(m, taker) - rise(m, giver) : -INFINITY;
}

/* The best move of one device of the type.  False: none lowers the sum by enough. */
static bool move_one(struct market *m, uint32_t type)
{
	uint32_t giver = find_giver(m, type, m->rows), taker = find_taker(m, type, m->rows);

	/* The same row is first in both: with another taker, or another giver. */
	if (giver == taker && giver < m->rows) {
		uint32_t other_taker = find_taker(m, type, giver),
			 other_giver = find_giver(m, type, taker);

		if (pair_fall(m, giver, other_taker) >= pair_fall(m, other_giver, taker))
			taker = other_taker;
		else
			giver = other_giver;
	}
	if (!(pair_fall(m, giver, taker) > m->restart))
		return false;
	set(m, giver, type, m->at[giver].gpus - 1);
	set(m, taker, type, m->at[taker].gpus + 1);
	return true;
}

/* Rows that have the same are one stall: of all who would go to another the one that gains most does. */
struct stall {
	uint32_t type, gpus;
};

static uint32_t find_stalls(const struct market *m, struct stall *stalls, uint32_t *stall_of)
{
	uint32_t n = 0;

	for (uint32_t row = 0; row < m->rows; row++) {
		const struct holding *h = &m->at[row];
		uint32_t i = 0;

		while (i < n && (stalls[i].type != h->type || stalls[i].gpus != h->gpus))
			i++;
		if (i == n)
			stalls[n++] = (struct stall){ h->type, h->gpus };
		stall_of[row] = i;
	}
	return n;
}

static double fall_to(const struct market *m, uint32_t row, struct stall to)
{
	const struct holding *h = &m->at[row];

	if (h->gpus == 0 || to.gpus == 0 || to.gpus < h->least[to.type] || to.gpus > h->most[to.type])
		return -INFINITY;
	return price_now(m, row) - price_of(m, row, to.type, to.gpus);
}

struct mover {
	double fall;
	uint32_t row;
};

/* best[from * n + to]: who of `from` gains most by being in `to`. */
static void find_movers(const struct market *m, const struct stall *stalls, uint32_t n,
	const uint32_t *stall_of, struct mover *best)
{
	for (uint32_t i = 0; i < n * n; i++)
		best[i] = (struct mover){ .fall = -INFINITY };
	for (uint32_t row = 0; row < m->rows; row++) {
		for (uint32_t to = 0; to < n; to++) {
			struct mover *b = &best[stall_of[row] * n + to];
			double fall = stalls[to].type == m->at[row].type
				? -INFINITY
				: fall_to(m, row, stalls[to]);

			if (fall > b->fall)
				*b = (struct mover){ fall, row };
		}
	}
}

/* Swaps the pair that gains most.  False: none gains enough. */
static bool swap_best(struct market *m, struct stall *stalls, uint32_t *stall_of, struct mover *best)
{
	uint32_t n = find_stalls(m, stalls, stall_of), a = 0, b = 0;
	double most = m->restart;

	find_movers(m, stalls, n, stall_of, best);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = i + 1; j < n; j++) {
			double sum = best[i * n + j].fall + best[j * n + i].fall;

			if (sum > most) {
				most = sum;
				a = i;
				b = j;
			}
		}
	}
	if (a == b)
		return false;
	set(m, best[a * n + b].row, stalls[b].type, stalls[b].gpus);
	set(m, best[b * n + a].row, stalls[a].type, stalls[a].gpus);
	return true;
}

/* Stalls are (type, count) pairs in use: few beside rows, since counts sum up to the devices. */
static uint32_t stalls_max(const struct market *m)
{
	uint32_t max = 1;

	for (uint32_t t = 0; t < m->types; t++) {
		uint32_t most = 0;

		for (uint32_t row = 0; row < m->rows; row++)
			most = m->at[row].most[t] > most ? m->at[row].most[t] : most;
		max += most;
	}
	return max < m->rows ? max : m->rows;
}

uint32_t market_trade(struct market *market)
{
	uint32_t n = stalls_max(market), made = 0, before;
	struct stall *stalls = arena_array(market->arena, struct stall, n + 1);
	uint32_t *stall_of = arena_array(market->arena, uint32_t, market->rows);
	struct mover *best = arena_array(market->arena, struct mover, (size_t)(n + 1) * (n + 1));

	/* Moves may make room for swaps, and the other way round. */
	do {
		before = made;
		while (market->types > 1 && made < market->trades_max &&
			swap_best(market, stalls, stall_of, best))
			made++;
		for (uint32_t t = 0; t < market->types; t++) {
			while (made < market->trades_max && move_one(market, t))
				made++;
		}
	} while (made > before && made < market->trades_max);
	return made;
}
