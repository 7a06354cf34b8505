/*
 * Assignment of rows to columns at least total cost.
 *
 * Every row gets exactly one column, a column takes up to its capacity of
 * rows: identical machines are one column.  Shortest augmenting paths with
 * prices (Jonker and Volgenant, Computing 1987), at most rows x rows x columns
 * steps and usually far fewer.
 *
 * Prices prove the answer: with cost(r, c) - row[r] - column[c] >= 0
 * everywhere and 0 where r has c, column[c] <= 0 everywhere and 0 where c has
 * room left, nothing is cheaper.  They hold up to rounding.
 *
 * Ties: the answer depends on the numbers alone.  If all costs are whole
 * numbers (or multiples of one power of two) so that sums of them are exact,
 * it is the first of all cheapest answers: row 0 has the lowest column that it
 * has in any of them, row 1 the lowest among those, and so on.  Otherwise
 * answers that differ by rounding only may stand in for each other.
 */
#ifndef SOLVER_ASSIGNMENT_H
#define SOLVER_ASSIGNMENT_H

#include <stdbool.h>
#include <stdint.h>

struct assignment {
	uint32_t rows, columns;
	const double *cost;       /* rows x columns, row after row; INFINITY: not allowed */
	const uint32_t *capacity; /* of each column; NULL: one */
};

/* Room for `rows` and `columns` numbers. */
struct assignment_prices {
	double *row, *column;
};

/*
 * Fills column_of (by row) and, unless NULL, prices.  False, and nothing is
 * written, if the rows cannot all be placed.
 */
bool assignment_solve(const struct assignment *a, uint32_t *column_of,
	struct assignment_prices *prices);

/* The sum of the costs, in the order of rows. */
double assignment_cost(const struct assignment *a, const uint32_t *column_of);

#endif
