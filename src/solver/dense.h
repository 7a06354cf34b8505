/*
 * Dense symmetric positive definite systems by a blocked Cholesky factorisation.
 *
 * A matrix is stored by columns, column c from `at + c * stride`, and only its
 * lower triangle (row >= column) counts: what lies above is scratch.  Every
 * element is summed in one fixed order, whatever the processor's vectors are
 * like, so that all machines give the same bits.
 */
#ifndef SOLVER_DENSE_H
#define SOLVER_DENSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dense {
	uint32_t n;
	size_t stride; /* n rounded up; the rows and columns from n on stay zero */
	double *at;
	double *packed, *diagonal; /* scratch of the factorisation */
};

void dense_init(struct dense *matrix, uint32_t n); /* zeros */
void dense_fini(struct dense *matrix);
void dense_clear(struct dense *matrix);

/*
 * A = L L' in place.  A pivot below `tiny` times the diagonal it came from is
 * nothing but rounding: its row depends on those before it, and is left out,
 * which makes its x zero.  With tiny = 0 there must be none.  False where A is
 * not positive definite or not finite: nothing is to be used then.
 */
bool dense_factor(struct dense *matrix, double tiny);

/* Of a factored matrix, in place: x := L^-1 x; x := L'^-1 x; x := A^-1 x. */
void dense_solve_lower(const struct dense *factor, double *x);
void dense_solve_upper(const struct dense *factor, double *x);
void dense_solve(const struct dense *factor, double *x);

#endif
