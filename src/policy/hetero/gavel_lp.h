/*
 * Building share programs for solver/arrow.h from what a policy looks at.
 */
#ifndef POLICY_HETERO_GAVEL_LP_H
#define POLICY_HETERO_GAVEL_LP_H

#include "policy/hetero/program.h"
#include "solver/arrow.h"

/* An arrow program under construction; the first row of each job is its share: sum_w x_iw <= 1. */
struct share_lp {
	struct arrow arrow;
	double *v, *g, *h, *cost;
};

/* `rows` private rows for each job, all zero but the first.  `with_z`: there is a common level. */
void share_lp_init(struct share_lp *lp, const struct program *program, uint32_t rows, bool with_z);
/* Row `row` of job `i`: -sum_w factor * speed_w x_w + z_factor * z <= side. */
void share_lp_rate(struct share_lp *lp, const struct program *program, uint32_t i, uint32_t row,
	double factor, double z_factor, double side);

/* Solves into shares->x and price; answers whether there is an answer.  `z` and `duals` may be NULL. */
bool share_lp_solve(const struct share_lp *lp, const struct program *program, struct shares *shares,
	double *z, double *duals);

/* The speeds as a policy sees that does not tell types apart: all 1, or the reference type's. */
enum blind { BLIND_ONE, BLIND_REFERENCE };
const struct program *program_blind(const struct program *program, enum blind blind,
	struct program *copy);

#endif
