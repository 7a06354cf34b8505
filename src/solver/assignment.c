#include "solver/assignment.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const uint32_t none = UINT32_MAX;
static const uint32_t slack = UINT32_MAX - 1; /* in `from`: see exchange() */

struct turn {
	double stake;
	uint32_t row;
};

struct work {
	const struct assignment *a;
	double *row_price, *column_price;
	uint32_t *column_of; /* by row; none: not placed */
	uint32_t *taken;     /* by column */
	uint32_t *first;     /* a column's rows are a list: its first ... */
	uint32_t *next;      /* ... and by row the one after it */
	struct turn *turns;  /* rows in the order they are placed */

	/*
	 * Only full columns can be on the way of a path, and of the others a row
	 * only ever wants the cheapest: their prices are all 0.  So a search looks
	 * at the full ones alone, which lie together in the order they became so.
	 */
	uint32_t *full; /* columns */
	uint32_t n_full, most_full;
	double *full_cost;       /* rows x most_full */
	uint32_t *cheapest_open; /* by row: the cheapest column that had room when it was looked for */

	/* Of one search.  Settled columns are taken out of the race by price -inf. */
	double *reach;      /* by full column: the shortest way so far, INFINITY once settled */
	double *race_price; /* by full column */
	uint32_t *reached_from;
	double end_reach; /* of the nearest column with room */
	uint32_t end, end_from;

	/* By column, of what is settled: a path goes backwards along them. */
	double *settled_at;
	uint32_t *from;    /* the row before it */
	uint32_t *settled; /* columns in the order they were settled */
	uint32_t n_settled;
	uint32_t spare; /* of an exchange: the column whose room was used */
};

static uint32_t capacity_of(const struct work *w, uint32_t column)
{
	return w->a->capacity ? w->a->capacity[column] : 1;
}

static const double *costs_of(const struct work *w, uint32_t row)
{
	return w->a->cost + (size_t)row * w->a->columns;
}

static void put(struct work *w, uint32_t row, uint32_t column)
{
	w->column_of[row] = column;
	w->next[row] = w->first[column];
	w->first[column] = row;
	w->taken[column]++;
}

static void take_out(struct work *w, uint32_t row)
{
	uint32_t column = w->column_of[row], *at = &w->first[column];

	while (*at != row)
		at = &w->next[*at];
	*at = w->next[row];
	w->column_of[row] = none;
	w->taken[column]--;
}

/* ---- the cheapest answer */

/* A row's cheapest column, and what it has to lose: how much the average column costs more. */
static uint32_t cheapest(const struct work *w, uint32_t row, double *stake)
{
	const double *cost = costs_of(w, row);
	double least = INFINITY, sum = 0;
	uint32_t best = none, finite = 0;

	for (uint32_t c = 0; c < w->a->columns; c++) {
		assert(!isnan(cost[c]) && cost[c] > -INFINITY);
		if (isinf(cost[c]) || !capacity_of(w, c))
			continue;
		sum += cost[c];
		finite++;
		if (cost[c] < least) {
			least = cost[c];
			best = c;
		}
	}
	*stake = finite ? sum / finite - least : 0;
	return best;
}

static int by_stake(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->stake != y->stake)
		return x->stake > y->stake ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/*
 * Rows with much to lose come first: the others can then mostly be placed
 * where they leave those alone, and paths stay short.
 */
static bool take_turns(struct work *w)
{
	for (uint32_t r = 0; r < w->a->rows; r++) {
		uint32_t best = cheapest(w, r, &w->turns[r].stake);

		if (best == none)
			return false;
		w->row_price[r] = costs_of(w, r)[best];
		w->cheapest_open[r] = best;
		w->turns[r].row = r;
	}
	if (w->a->rows)
		qsort(w->turns, w->a->rows, sizeof(*w->turns), by_stake);
	return true;
}

static bool has_room(const struct work *w, uint32_t column)
{
	return w->taken[column] < capacity_of(w, column);
}

/* The cheapest column with room, the lowest among equals.  Room only shrinks, so it may be kept. */
static uint32_t cheapest_open(struct work *w, uint32_t row)
{
	const double *cost = costs_of(w, row);
	uint32_t best = w->cheapest_open[row];
	double least = INFINITY;

	if (best == none || has_room(w, best))
		return best;
	best = none;
	for (uint32_t c = 0; c < w->a->columns; c++) {
		if (cost[c] < least && has_room(w, c)) {
			least = cost[c];
			best = c;
		}
	}
	w->cheapest_open[row] = best;
	return best;
}

static void become_full(struct work *w, uint32_t column)
{
	uint32_t k = w->n_full++;

	w->full[k] = column;
	for (uint32_t r = 0; r < w->a->rows; r++)
		w->full_cost[(size_t)r * w->most_full + k] = costs_of(w, r)[column];
}

static void start_race(struct work *w)
{
	for (uint32_t k = 0; k < w->n_full; k++) {
		w->reach[k] = INFINITY;
		w->race_price[k] = w->column_price[w->full[k]];
	}
	w->n_settled = 0;
	w->end_reach = INFINITY;
}

/* Ways on through a row that is reached at `distance`. */
static void reach_through(struct work *w, uint32_t row, double distance)
{
	const double *cost = w->full_cost + (size_t)row * w->most_full, *price = w->race_price;
	double offset = distance - w->row_price[row], *reach = w->reach;
	uint32_t *from = w->reached_from, open = cheapest_open(w, row);

	for (uint32_t k = 0; k < w->n_full; k++) {
		double way = cost[k] - price[k] + offset;

		if (way < reach[k]) {
			reach[k] = way;
			from[k] = row;
		}
	}
	if (open != none && costs_of(w, row)[open] + offset < w->end_reach) {
		w->end_reach = costs_of(w, row)[open] + offset;
		w->end = open;
		w->end_from = row;
	}
}

/* The nearest full column that is not settled. */
static uint32_t nearest(const struct work *w)
{
	double least = INFINITY;
	uint32_t best = none;

	for (uint32_t k = 0; k < w->n_full; k++) {
		if (w->reach[k] < least) {
			least = w->reach[k];
			best = k;
		}
	}
	return best;
}

static void settle(struct work *w, uint32_t k)
{
	uint32_t column = w->full[k];
	double distance = w->reach[k];

	w->settled_at[column] = distance;
	w->from[column] = w->reached_from[k];
	w->settled[w->n_settled++] = column;
	w->reach[k] = INFINITY;
	w->race_price[k] = -INFINITY;
	for (uint32_t r = w->first[column]; r != none; r = w->next[r])
		reach_through(w, r, distance);
}

/* Prices move so that the path to `distance` costs nothing and nothing becomes cheaper than that. */
static void raise_prices(struct work *w, uint32_t source, double distance)
{
	w->row_price[source] += distance;
	for (uint32_t i = 0; i < w->n_settled; i++) {
		uint32_t c = w->settled[i];
		double more = distance - w->settled_at[c];

		w->column_price[c] -= more;
		for (uint32_t r = w->first[c]; r != none; r = w->next[r])
			w->row_price[r] += more;
	}
}

/* Moves every row on the path to the column it was reached from. */
static void shift(struct work *w, uint32_t source, uint32_t column)
{
	for (;;) {
		uint32_t row, before;

		if (w->from[column] == slack)
			column = w->spare;
		row = w->from[column];
		before = w->column_of[row];

		if (row != source)
			take_out(w, row);
		put(w, row, column);
		if (row == source)
			return;
		column = before;
	}
}

/* Dijkstra from a row that has no column to the nearest column with room. */
static bool place_by_path(struct work *w, uint32_t source)
{
	uint32_t k;

	start_race(w);
	reach_through(w, source, 0);
	while ((k = nearest(w)) != none && w->reach[k] < w->end_reach)
		settle(w, k);
	if (w->end_reach == INFINITY)
		return false;
	raise_prices(w, source, w->end_reach);
	w->from[w->end] = w->end_from;
	shift(w, source, w->end);
	if (!has_room(w, w->end))
		become_full(w, w->end);
	return true;
}

static bool place_all(struct work *w)
{
	if (!take_turns(w))
		return false;
	for (uint32_t i = 0; i < w->a->rows; i++) {
		if (!place_by_path(w, w->turns[i].row))
			return false;
	}
	return true;
}

/* ---- the first of the cheapest */

static bool tight(const struct work *w, uint32_t row, uint32_t column)
{
	return costs_of(w, row)[column] - w->row_price[row] - w->column_price[column] <= 0 &&
		capacity_of(w, column);
}

static void reach_column(struct work *w, uint32_t column, uint32_t from)
{
	if (w->from[column] != none)
		return;
	w->from[column] = from;
	w->settled[w->n_settled++] = column;
}

/* Queues the columns that a row would go to at no cost. */
static void reach_tight(struct work *w, uint32_t row)
{
	for (uint32_t c = 0; c < w->a->columns; c++) {
		if (w->from[c] == none && tight(w, row, c))
			reach_column(w, c, row);
	}
}

/* Queues the columns that may have room left in a cheapest answer: one of them may give up a row. */
static void reach_by_slack(struct work *w, uint32_t spare)
{
	w->spare = spare;
	for (uint32_t c = 0; c < w->a->columns; c++) {
		if (w->column_price[c] >= 0)
			reach_column(w, c, slack);
	}
}

/*
 * Gives `column` to `row` by exchanges among later rows that cost nothing, if
 * there are any.  A reached column has one row too many.  The search ends where
 * the row came from; or at any room, unless the column that it leaves has a
 * price and so must stay full.  Then a column without one makes up for the
 * room that was used, and the search goes on from there.
 */
static bool exchange(struct work *w, uint32_t row, uint32_t column)
{
	uint32_t left = w->column_of[row];

	for (uint32_t c = 0; c < w->a->columns; c++)
		w->from[c] = none;
	w->n_settled = 0;
	w->spare = none;
	reach_column(w, column, row);
	for (uint32_t i = 0; i < w->n_settled; i++) {
		uint32_t c = w->settled[i];
		bool room = w->from[c] != slack && has_room(w, c);

		if (c == left || (room && w->column_price[left] >= 0)) {
			take_out(w, row);
			shift(w, row, c);
			return true;
		}
		if (room && w->spare == none)
			reach_by_slack(w, c);
		for (uint32_t r = w->first[c]; r != none; r = w->next[r]) {
			if (r > row)
				reach_tight(w, r);
		}
	}
	return false;
}

static void prefer_low_columns(struct work *w)
{
	for (uint32_t r = 0; r < w->a->rows; r++) {
		for (uint32_t c = 0; c < w->column_of[r]; c++) {
			if (tight(w, r, c) && exchange(w, r, c))
				break;
		}
	}
}

/* ---- */

static void work_init(struct work *w, const struct assignment *a, struct arena *arena)
{
	uint32_t most_full = a->columns < a->rows ? a->columns : a->rows;

	*w = (struct work){
		.a = a,
		.row_price = arena_array(arena, double, a->rows),
		.column_price = arena_array(arena, double, a->columns),
		.column_of = arena_array(arena, uint32_t, a->rows),
		.taken = arena_array(arena, uint32_t, a->columns),
		.first = arena_array(arena, uint32_t, a->columns),
		.next = arena_array(arena, uint32_t, a->rows),
		.turns = arena_array(arena, struct turn, a->rows),
		.most_full = most_full,
		.full = arena_array(arena, uint32_t, most_full),
		.full_cost = arena_array(arena, double, (size_t)a->rows *most_full),
		.cheapest_open = arena_array(arena, uint32_t, a->rows),
		.reach = arena_array(arena, double, most_full),
		.race_price = arena_array(arena, double, most_full),
		.reached_from = arena_array(arena, uint32_t, most_full),
		.settled_at = arena_array(arena, double, a->columns),
		.from = arena_array(arena, uint32_t, a->columns),
		.settled = arena_array(arena, uint32_t, a->columns),
	};
	for (uint32_t r = 0; r < a->rows; r++)
		w->column_of[r] = none;
	for (uint32_t c = 0; c < a->columns; c++)
		w->first[c] = none;
}

bool assignment_solve(const struct assignment *a, uint32_t *column_of, struct assignment_prices *prices)
{
	struct arena arena = { 0 };
	struct work w;
	bool placed;

	work_init(&w, a, &arena);
	placed = place_all(&w);
	if (placed) {
		prefer_low_columns(&w);
		if (a->rows)
			memcpy(column_of, w.column_of, a->rows * sizeof(*column_of));
	}
	if (placed && prices) {
		if (a->rows)
			memcpy(prices->row, w.row_price, a->rows * sizeof(*prices->row));
		if (a->columns)
			memcpy(prices->column, w.column_price, a->columns * sizeof(*prices->column));
	}
	arena_fini(&arena);
	return placed;
}

double assignment_cost(const struct assignment *a, const uint32_t *column_of)
{
	double sum = 0;

	for (uint32_t r = 0; r < a->rows; r++)
		sum += a->cost[(size_t)r * a->columns + column_of[r]];
	return sum;
}
