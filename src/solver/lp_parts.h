/*
 * What the files behind solver/lp.h share: the program as it was built and as
 * the solvers want it, and the linear solves that the search for whole numbers
 * is made of.
 */
#ifndef SOLVER_LP_PARTS_H
#define SOLVER_LP_PARTS_H

/* CLP's header declares a function without its parameters. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <Clp_C_Interface.h>
#include <Cbc_C_Interface.h>
#pragma GCC diagnostic pop

#include "base/vec.h"
#include "solver/lp.h"

#define LP_TOLERANCE 1e-6 /* relative to the numbers that meet in a row */
#define LP_MOST_COST 1024 /* scaled costs are below it, the greatest above its half */

struct entry {
	uint32_t row, column;
	double value;
};

struct side {
	double least, most;
};

struct lp {
	bool maximise;
	VEC(double) cost;
	VEC(bool) whole;
	VEC(struct side) columns;
	VEC(struct side) rows;
	VEC(struct entry) entries;

	/* The entries by column, and everything as the solvers want it. */
	VEC(CoinBigIndex) start;
	VEC(int) index;
	VEC(double) value;
	VEC(double) scaled; /* costs, to minimise */
	VEC(double) column_least, column_most, row_least, row_most;
	double scale; /* scaled cost / cost; negative to maximise */

	Clp_Simplex *clp;
	size_t loaded_rows, loaded_columns; /* of clp */
	bool shape_changed, sides_changed;  /* since clp was solved */

	bool answered;
	double objective, bound;
	VEC(double) answer; /* by column */
	VEC(double) price;  /* by row */
};

/* Of lp.c: columns and rows as the solvers want them; everything brought into CLP. */
void lp_write_sides(struct lp *lp);
void lp_refresh(struct lp *lp);
/* The largest violation of a row or bound, relative to the numbers that meet there. */
double lp_violation(const struct lp *lp, const double *x);
/* Scaled, to be minimised. */
double lp_objective_of(const struct lp *lp, const double *x);
/* Without regard to whole numbers; CLP then holds the answer. */
enum lp_status lp_solve_linear(struct lp *lp, double until_s);
void lp_take_answer(struct lp *lp, const double *x);

/* Of lp_whole.c. */
enum lp_status lp_solve_whole(struct lp *lp, double gap, double until_s);

#endif
