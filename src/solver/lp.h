/*
 * Linear and integer programs of any shape, solved by CLP and CBC.
 *
 * A program is built column by column and row by row, solved, changed and
 * solved again: the second time starts from the last basis.  It may also grow
 * between solves.
 *
 * No answer is taken on trust: rows and bounds must hold up to 1e-6 of the
 * numbers that meet in them, and of a linear program the prices must prove the
 * objective up to 1e-6 of itself or of the greatest cost.  So numbers in rows and
 * bounds should not be tiny; costs may be of any size.
 *
 * Small integer programs are searched here, exactly; only what that cannot
 * finish goes to CBC, whose word is then all there is for an integer optimum.
 */
#ifndef SOLVER_LP_H
#define SOLVER_LP_H

#include <stdbool.h>
#include <stdint.h>

enum lp_status {
	LP_OPTIMAL,    /* for integer programs: within limits.gap */
	LP_INFEASIBLE, /* proved */
	LP_UNBOUNDED,  /* proved */
	LP_TIME,       /* out of time; lp_has_answer() tells whether there is a feasible answer */
	LP_FAILED,     /* the solver gave up, or what it says does not hold */
};

struct lp_limits {
	double seconds; /* of processor time of the whole process; 0: none */
	double gap;     /* relative, integer programs only; 0: exact */
};

struct lp;

struct lp *lp_create(void); /* minimises unless told otherwise */
void lp_destroy(struct lp *lp);
void lp_maximise(struct lp *lp, bool maximise);

/* Numbers from 0; bounds may be infinite. */
uint32_t lp_add_column(struct lp *lp, double cost, double least, double most, bool whole);
uint32_t lp_add_row(struct lp *lp, double least, double most);
/* The coefficient of a column in a row; set it once at most before solving, change it never after. */
void lp_set(struct lp *lp, uint32_t row, uint32_t column, double value);

/* Changes that keep the basis. */
void lp_set_cost(struct lp *lp, uint32_t column, double cost);
void lp_set_column(struct lp *lp, uint32_t column, double least, double most);
void lp_set_row(struct lp *lp, uint32_t row, double least, double most);

/* The answer is checked against rows and bounds before OPTIMAL is said. */
enum lp_status lp_solve(struct lp *lp, struct lp_limits limits);
bool lp_has_answer(const struct lp *lp);

/* Of the last solve. */
double lp_objective(const struct lp *lp); /* NaN if there is no answer */
/* Proved limit of the objective, equal to it for linear programs; infinite if nothing is proved. */
double lp_bound(const struct lp *lp);
double lp_value(const struct lp *lp, uint32_t column); /* exactly whole for whole columns */
/* Change of the objective per unit of the row's side; of linear programs that are optimal only. */
double lp_price(const struct lp *lp, uint32_t row);

const char *lp_status_name(enum lp_status status);

#endif
