/*
 * Multi-choice knapsacks: the question in whole numbers, the steps one after
 * the other, and the answer.
 */
#include "solver/choice.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/choice_parts.h"

/* ---- the question */

static const double UNIT_MOST = 1e9, SUM_MOST = 1e18;

/* Billionths, or as large as must be for all costs together, and what all capacity is worth, to be a whole number. */
static double unit_of(const struct choice_problem *problem)
{
	double most = 1, all = problem->nrows;

	for (uint32_t r = 0; r < problem->nrows; r++) {
		const struct choice_row *row = &problem->rows[r];

		most = fmax(most, fabs(row->without));
		for (uint32_t i = 0; i < row->n; i++)
			most = fmax(most, fabs(problem->columns[row->first + i].cost));
	}
	for (uint32_t t = 0; t < problem->ntypes; t++)
		all += problem->capacity[t];
	return fmin(UNIT_MOST, SUM_MOST / (most * all));
}

static int by_cost(const void *a, const void *b)
{
	const struct offer *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost < y->cost ? -1 : 1;
	return x->column < y->column ? -1 : x->column > y->column;
}

static bool column_fits(const struct choosing *c, const struct choice_column *column)
{
	return column->amount > 0 && column->amount <= c->capacity[column->type];
}

static struct offer *add_offer(const struct choosing *c, struct offer *at,
	const struct choice_column *column, uint32_t number)
{
	*at = (struct offer){
		.cost = llround(column->cost * c->unit),
		.type = column->type,
		.amount = column->amount,
		.column = number,
	};
	return at + 1;
}

/* The offers of a row from `at` on; returns their end.  A forced row has one, fitting or not. */
static struct offer *add_row(const struct choosing *c, const struct choice_problem *problem,
	const struct choice_row *row, struct offer *at)
{
	const struct choice_column *columns = problem->columns + row->first;
	struct offer *start = at;

	if (row->forced != CHOICE_NONE)
		return add_offer(c, at, &columns[row->forced], row->forced);
	for (uint32_t i = 0; i < row->n; i++) {
		/* What costs more than nothing and uses something is never taken. */
		if (column_fits(c, &columns[i]) && columns[i].cost <= row->without)
			at = add_offer(c, at, &columns[i], i);
	}
	*at++ = (struct offer){ .cost = llround(row->without * c->unit), .column = CHOICE_NONE };
	qsort(start, (size_t)(at - start), sizeof(*at), by_cost);
	return at;
}

static bool forced_fits(const struct choosing *c, const struct choice_problem *problem)
{
	int64_t room[CHOICE_TYPES_MAX];

	memcpy(room, c->capacity, sizeof(room));
	for (uint32_t r = 0; r < problem->nrows; r++) {
		const struct choice_row *row = &problem->rows[r];
		const struct choice_column *column = problem->columns + row->first + row->forced;

		if (row->forced != CHOICE_NONE && (room[column->type] -= column->amount) < 0)
			return false;
	}
	return true;
}

static void read_problem(struct choosing *c, const struct choice_problem *problem)
{
	size_t n = 0;
	struct offer *at;

	assert(problem->ntypes <= CHOICE_TYPES_MAX);
	*c = (struct choosing){
		.nrows = problem->nrows,
		.ntypes = problem->ntypes,
		.unit = unit_of(problem),
	};
	for (uint32_t t = 0; t < problem->ntypes; t++)
		c->capacity[t] = problem->capacity[t];
	for (uint32_t r = 0; r < problem->nrows; r++)
		n += problem->rows[r].n + 1;
	at = c->offers = arena_array(&c->memory, struct offer, n);
	c->first = arena_array(&c->memory, uint32_t, problem->nrows + 1);
	c->pick = arena_array(&c->memory, uint32_t, problem->nrows);
	for (uint32_t r = 0; r < problem->nrows; r++) {
		c->first[r] = (uint32_t)(at - c->offers);
		at = add_row(c, problem, &problem->rows[r], at);
	}
	c->first[problem->nrows] = (uint32_t)(at - c->offers);
}

/* ---- the steps */

static int64_t wanted_gap(const struct choosing *c, double gap)
{
	return (int64_t)(gap * fabs((double)c->value));
}

/*
 * Wider and wider: a search that comes to its end without an answer proves a better bound, one that
 * finds an answer the optimum.  Without a gap to be content with it is done even where value and bound
 * are equal, to choose among equals.
 */
static void prove(struct choosing *c, double gap, uint64_t *work)
{
	int64_t within = (c->value - c->bound) / 64;

	while (gap <= 0 || c->value - c->proved > wanted_gap(c, gap)) {
		if (within > c->value - c->bound)
			within = c->value - c->bound;
		if (!choice_search(c, within, work))
			return;
		if (c->value - c->bound <= within) {
			c->proved = c->value;
			return;
		}
		c->proved = c->bound + within + 1;
		within = within > 0 ? within * 4 : 1000;
	}
}

static void by_prices(struct choosing *c, const struct choice_options *options,
	struct choice_answer *answer)
{
	uint64_t work = options->work;

	choice_find_prices(c);
	c->proved = c->bound;
	choice_round(c);
	if (work > 0)
		prove(c, options->gap, &work);
	answer->value = (double)c->value / c->unit;
	answer->bound = (double)c->proved / c->unit;
	answer->optimal = c->value == c->proved;
	answer->rounds = c->rounds;
	answer->work = options->work - work;
}

static int64_t value_of(const struct choosing *c)
{
	int64_t value = 0;

	for (uint32_t r = 0; r < c->nrows; r++)
		value += c->offers[c->pick[r]].cost;
	return value;
}

enum { WORK_FOR_TIES = 20000000 };

/* Of equal optima that which the other way takes, as far as there is work for it. */
static void take_first_of_equals(struct choosing *c)
{
	uint64_t work = WORK_FOR_TIES;

	c->value = value_of(c);
	choice_find_prices(c);
	choice_search(c, c->value - c->bound, &work);
}

bool choice_solve(const struct choice_problem *problem, const struct choice_options *options,
	uint32_t *chosen, struct choice_answer *answer)
{
	struct choosing c;
	bool solved;

	*answer = (struct choice_answer){ 0 };
	read_problem(&c, problem);
	solved = forced_fits(&c, problem);
	if (solved && options->method == CHOICE_EXACT) {
		solved = choice_solve_exact(&c, options->seconds, c.pick, &answer->bound,
			&answer->optimal);
		if (solved && answer->optimal)
			take_first_of_equals(&c);
		answer->value = (double)value_of(&c) / c.unit;
	} else if (solved) {
		by_prices(&c, options, answer);
	}
	for (uint32_t r = 0; solved && r < c.nrows; r++)
		chosen[r] = c.offers[c.pick[r]].column;
	arena_fini(&c.memory);
	return solved;
}

double choice_gap(const struct choice_answer *answer)
{
	if (answer->optimal)
		return 0;
	return (answer->value - answer->bound) / fmax(fabs(answer->value), 1e-9);
}
