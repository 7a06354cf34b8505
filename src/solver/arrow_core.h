/*
 * The elimination that makes share programs cheap: every job's own unknowns go
 * first, by themselves, then the capacities, then the common level z.
 *
 * A job has T variables x with a bound row each, and k private rows.  Without
 * the bound rows (whose share is 1 / F on the diagonal) its part of the system is
 *
 *     x / F + V'y + alpha * y_c     = a
 *     V x  + g z  - M y             = b
 *
 * where y_c are the capacities' duals and M is D + delta.
 *
 * Jobs go in blocks of two, one per lane of a machine register; a block's data
 * lie together.  The last of an odd number of jobs is a block with one job, kept
 * twice in here and once in the vectors outside.
 */
#ifndef SOLVER_ARROW_CORE_H
#define SOLVER_ARROW_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "solver/two.h"

enum { ARROW_TYPES_MAX = 64, ARROW_ROWS_MAX = 3 };

/*
 * How the Newton systems are kept solvable.  The first is how the published
 * results were made; it needs more and more iterations as programs grow, and
 * rarely does not get to the end.
 */
enum arrow_manner_name { ARROW_PUBLISHED, ARROW_EXACT };

static const struct arrow_manner {
	double delta;
	bool refine_true;
} arrow_manners[] = {
	[ARROW_PUBLISHED] = { 7e-8, false },
	[ARROW_EXACT] = { 1e-10, true },
};

/* What the blocks add up to. */
struct arrow_sums {
	two p[ARROW_TYPES_MAX * (ARROW_TYPES_MAX + 1) / 2];
	two q[ARROW_TYPES_MAX];
	two rho;
};

struct arrow_core {
	uint32_t jobs, types, rows, blocks;
	bool has_z;
	/* Per block: V [rows][types], g [rows], alpha [types], beta [types]. */
	two *matrix;
	/* Per block: F [types], R [types], M's factor [rows * (rows + 1) / 2], M^-1 U, M^-1 g. */
	two *factor;
	/* The system left for the capacities, factored, and what couples it to z. */
	double *p;               /* [types][types], lower */
	double *q, *p_inverse_q; /* [types] */
	double pivot;            /* of z */
};

TWO_INLINE uint32_t arrow_matrix_size(uint32_t types, uint32_t rows)
{
	return rows * types + rows + 2 * types;
}

TWO_INLINE uint32_t arrow_factor_size(uint32_t types, uint32_t rows)
{
	return 2 * types + rows * (rows + 1) / 2 + rows * types + rows;
}

void arrow_sums_clear(struct arrow_sums *sums, uint32_t types);
/* Only the first lane of the odd job's block counts. */
void arrow_sums_add_tail(struct arrow_sums *sums, const struct arrow_sums *tail, uint32_t types);

void arrow_core_init(struct arrow_core *core, uint32_t jobs, uint32_t types, uint32_t rows,
	bool has_z, struct arena *work);

/* Where a job's number is in a block's slot. */
TWO_INLINE double *arrow_at(struct arrow_core *core, uint32_t job, uint32_t slot)
{
	uint32_t size = arrow_matrix_size(core->types, core->rows);

	return (double *)&core->matrix[(size_t)(job / 2) * size + slot] + job % 2;
}

/* The last of an odd number of jobs is there twice; to be called once the matrix is written. */
void arrow_core_pad(struct arrow_core *core);

/* Takes the sums of factor; `extra` is z's own diagonal.  False: not positive definite. */
bool arrow_core_close(struct arrow_core *core, const struct arrow_sums *sums, const double *d,
	double delta, double extra);

/* Between the two halves of a solve: per right side, the blocks' sums and what is made of them. */
struct arrow_middle {
	two side[2][ARROW_TYPES_MAX], z_side[2];
	double y[2][ARROW_TYPES_MAX], z[2];
};

void arrow_middle_clear(struct arrow_middle *mid, uint32_t types);

/*
 * The capacities' duals and z for right side i, from the sums (only the first
 * lane counts in `tail`) and the right sides of the capacities and z themselves.
 */
void arrow_core_middle(const struct arrow_core *core, const double *side, double z_side, uint32_t i,
	struct arrow_middle *mid, const struct arrow_middle *tail);

/* Of a job: its first number among the variables (or rows), and how far its next is from it. */
struct arrow_place {
	size_t first;
	uint32_t apart;
};

TWO_INLINE struct arrow_place arrow_place_of(const struct arrow_core *core, uint32_t job, uint32_t slots)
{
	uint32_t apart = job / 2 * 2 + 1 < core->jobs ? 2 : 1;

	return (struct arrow_place){ (size_t)(job / 2) * 2 * slots + job % 2, apart };
}

/* ---- one block */

/* F and R of the bound rows: R = 1 / (d + delta), 1 / F = beta^2 R + delta. */
TWO_INLINE void arrow_bounds(uint32_t types, const two *beta, const double *d, uint32_t many,
	double delta, two *f, two *r)
{
	for (uint32_t w = 0; w < types; w++) {
		two e = two_load(d + w * many, many) + delta;
		two b = beta[w] * beta[w] + delta * e;
		two inverse = 1.0 / (e * b);

		f[w] = e * e * inverse;
		r[w] = b * inverse;
	}
}

/*
 * M = D + V F V' = L P L', by orthogonalising the rows (V, 1) in the scalar
 * product of F and D: the pivots are sums of squares.  Subtracting from M what
 * earlier rows explain would lose them where two rows hold one variable.
 * The pivots' inverses go where L's diagonal would be.
 */
TWO_INLINE void arrow_decompose(uint32_t types, uint32_t rows, const two *v, const two *f,
	const two *d, two *m)
{
	two b[ARROW_ROWS_MAX * ARROW_TYPES_MAX], fb[ARROW_ROWS_MAX * ARROW_TYPES_MAX];
	two own[ARROW_ROWS_MAX * ARROW_ROWS_MAX];

	for (uint32_t r = 0, at = 0; r < rows; r++) {
		two *row = b + r * types, *unit = own + r * rows, pivot = { 0 };

		for (uint32_t w = 0; w < types; w++)
			row[w] = v[r * types + w];
		for (uint32_t q = 0; q < rows; q++)
			unit[q] = q == r ? (two){ 1, 1 } : (two){ 0 };
		for (uint32_t q = 0, diagonal = 0; q < r; q++, diagonal += q + 1) {
			two l = { 0 };

			for (uint32_t w = 0; w < types; w++)
				l += row[w] * fb[q * types + w];
			for (uint32_t j = 0; j <= q; j++)
				l += unit[j] * d[j] * own[q * rows + j];
			l *= m[diagonal];
			for (uint32_t w = 0; w < types; w++)
				row[w] -= l * b[q * types + w];
			for (uint32_t j = 0; j <= q; j++)
				unit[j] -= l * own[q * rows + j];
			m[at++] = l;
		}
		for (uint32_t w = 0; w < types; w++) {
			fb[r * types + w] = f[w] * row[w];
			pivot += row[w] * fb[r * types + w];
		}
		for (uint32_t j = 0; j <= r; j++)
			pivot += unit[j] * d[j] * unit[j];
		m[at++] = 1.0 / pivot;
	}
}

/* u becomes M^-1 u; elements of u are `apart` from each other. */
TWO_INLINE void arrow_substitute(uint32_t rows, const two *m, two *u, uint32_t apart)
{
	if (rows == 1) {
		u[0] *= m[0];
	} else if (rows == 2) {
		two b = (u[apart] - m[1] * u[0]) * m[2];

		u[0] = u[0] * m[0] - m[1] * b;
		u[apart] = b;
	} else {
		two b = u[apart] - m[1] * u[0];
		two c = (u[2 * apart] - m[3] * u[0] - m[4] * b) * m[5];

		b = b * m[2] - m[4] * c;
		u[0] = u[0] * m[0] - m[1] * b - m[3] * c;
		u[apart] = b;
		u[2 * apart] = c;
	}
}

/* `record` has F and R already; `d` is D + delta of the private rows. */
TWO_INLINE void arrow_factor_block(uint32_t types, uint32_t rows, const two *restrict matrix,
	const two *restrict d, two *restrict record, struct arrow_sums *restrict sums)
{
	const two *v = matrix, *g = v + rows * types, *alpha = g + rows, *f = record;
	two *m = record + 2 * types, *uhat = m + rows * (rows + 1) / 2;
	two *ghat = uhat + rows * types, *p = sums->p;
	two u[ARROW_ROWS_MAX * ARROW_TYPES_MAX];

	arrow_decompose(types, rows, v, f, d, m);
	for (uint32_t r = 0; r < rows; r++) {
		for (uint32_t w = 0; w < types; w++)
			u[r * types + w] = uhat[r * types + w] = v[r * types + w] * f[w] * alpha[w];
		ghat[r] = g[r];
	}
	for (uint32_t w = 0; w < types; w++)
		arrow_substitute(rows, m, uhat + w, types);
	arrow_substitute(rows, m, ghat, 1);
	for (uint32_t w = 0; w < types; w++) {
		for (uint32_t q = 0; q <= w; q++) {
			two left = w == q ? alpha[w] * f[w] * alpha[w] : (two){ 0 };

			for (uint32_t r = 0; r < rows; r++)
				left -= u[r * types + w] * uhat[r * types + q];
			*p++ += left;
		}
		for (uint32_t r = 0; r < rows; r++)
			sums->q[w] += u[r * types + w] * ghat[r];
	}
	for (uint32_t r = 0; r < rows; r++)
		sums->rho += g[r] * ghat[r];
}

/*
 * First half: from a block's right sides (x, private rows, bounds) to what its
 * x and private duals would be if y_c and z were zero, adding to the sums.
 */
TWO_INLINE void arrow_forward_block(uint32_t types, uint32_t rows, const two *matrix,
	const two *record, const double *a, const two *b, const double *bound, uint32_t many,
	double *x, two *y, two *side, two *z_side)
{
	const two *v = matrix, *alpha = v + rows * types + rows, *beta = alpha + types;
	const two *f = record, *r = f + types, *m = r + types;
	const two *uhat = m + rows * (rows + 1) / 2, *ghat = uhat + rows * types;
	two fa[ARROW_TYPES_MAX], t[ARROW_ROWS_MAX];

	for (uint32_t w = 0; w < types; w++) {
		two from_bound = beta[w] * r[w] * two_load(bound + w * many, many);

		fa[w] = f[w] * (two_load(a + w * many, many) - from_bound);
		two_store(x + w * many, fa[w], many);
	}
	for (uint32_t k = 0; k < rows; k++) {
		two sum = -b[k];

		for (uint32_t w = 0; w < types; w++)
			sum += v[k * types + w] * fa[w];
		t[k] = sum;
		*z_side -= ghat[k] * sum;
	}
	for (uint32_t w = 0; w < types; w++) {
		two sum = alpha[w] * fa[w];

		for (uint32_t k = 0; k < rows; k++)
			sum -= uhat[k * types + w] * t[k];
		side[w] += sum;
	}
	arrow_substitute(rows, m, t, 1);
	for (uint32_t k = 0; k < rows; k++)
		y[k] = t[k];
}

/* Second half, once y_c and z are known. */
TWO_INLINE void arrow_backward_block(uint32_t types, uint32_t rows, const two *matrix,
	const two *record, const double *y_c, double z, const double *bound, uint32_t many,
	double *x, two *y, double *y_bound)
{
	const two *v = matrix, *alpha = v + rows * types + rows, *beta = alpha + types;
	const two *f = record, *r = f + types, *m = r + types;
	const two *uhat = m + rows * (rows + 1) / 2, *ghat = uhat + rows * types;

	for (uint32_t k = 0; k < rows; k++) {
		two sum = y[k] + ghat[k] * z;

		for (uint32_t w = 0; w < types; w++)
			sum -= uhat[k * types + w] * y_c[w];
		y[k] = sum;
	}
	for (uint32_t w = 0; w < types; w++) {
		two sum = alpha[w] * y_c[w], value;

		for (uint32_t k = 0; k < rows; k++)
			sum += v[k * types + w] * y[k];
		value = two_load(x + w * many, many) - f[w] * sum;
		two_store(x + w * many, value, many);
		two_store(y_bound + w * many,
			-r[w] * (beta[w] * value + two_load(bound + w * many, many)), many);
	}
}

#endif
