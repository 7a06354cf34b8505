/*
 * One of several for each: every row takes at most one of its columns, a
 * column uses so much of one type, types have capacities; least total cost.
 * (A multi-choice knapsack: jobs, their configurations, device types.)
 *
 * Two ways.  CHOICE_PRICE finds prices of the types that prove a bound (the
 * value of the linear relaxation), rounds, mends and improves, and then looks
 * through everything whose cost at these prices is within the gap, which
 * proves the optimum if there is work enough for it.  CHOICE_EXACT hands the
 * program to solver/lp.h.
 *
 * Costs are counted in billionths (in larger units where so many of them would
 * not be a whole number), so that equals are equal: of equal optima both ways
 * take, where they proved one, that with the smallest cost for row 0, then for
 * row 1, and so on; of columns that cost the same the first, and any of them
 * before none.  The answer depends on nothing but the question.
 */
#ifndef SOLVER_CHOICE_H
#define SOLVER_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#define CHOICE_NONE UINT32_MAX

enum { CHOICE_TYPES_MAX = 32 };

struct choice_column {
	double cost; /* at most 1e6 either way */
	uint32_t type, amount;
};

struct choice_row {
	uint32_t first, n; /* of its columns */
	double without;    /* cost of taking none */
	uint32_t forced;   /* number of a column among its own; CHOICE_NONE: it may choose */
};

struct choice_problem {
	const struct choice_column *columns;
	const struct choice_row *rows;
	uint32_t nrows;
	const uint32_t *capacity; /* by type */
	uint32_t ntypes;
};

enum choice_method { CHOICE_PRICE, CHOICE_EXACT };

struct choice_options {
	enum choice_method method;
	double gap; /* relative; CHOICE_PRICE is content with it.  0: it goes on as long as there is work */
	uint64_t work;  /* CHOICE_PRICE: steps of the last search at most; 0: none */
	double seconds; /* CHOICE_EXACT: of processor time, 0: no limit */
};

struct choice_answer {
	double value, bound; /* the best cannot be below the bound */
	bool optimal;        /* proved */
	uint32_t rounds;     /* CHOICE_PRICE: prices tried */
	uint64_t work;       /* CHOICE_PRICE: steps of the last search */
};

/*
 * `chosen` receives for each row the number of the column among its own, or CHOICE_NONE.  False: what is
 * forced does not fit, or (CHOICE_EXACT) there was no time for any answer.
 */
bool choice_solve(const struct choice_problem *problem, const struct choice_options *options,
	uint32_t *chosen, struct choice_answer *answer);

/* How far from the bound the answer is, relative to its value; 0 if it is proved. */
double choice_gap(const struct choice_answer *answer);

#endif
