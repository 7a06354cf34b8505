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
 * Jobs go in blocks of four, one per lane of a machine register; a block's data
 * lie together.  The last block may have fewer jobs; in here its first one then
 * fills the lanes, in the vectors outside it is there once.
 */
#ifndef SOLVER_ARROW_CORE_H
#define SOLVER_ARROW_CORE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "solver/four.h"

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
	four p[ARROW_TYPES_MAX * (ARROW_TYPES_MAX + 1) / 2];
	four q[ARROW_TYPES_MAX];
	four rho;
};

struct arrow_core {
	uint32_t jobs, types, rows, blocks;
	bool has_z;
	/*
	 * A job that stands for n alike is measured along the unit vector in which all
	 * are equal: x and private rows times sqrt n, so that g and alpha grow by it.
	 */
	four *inverse_root; /* [blocks] 1 / sqrt n; NULL: 1 */
	/* Per block: V [rows][types], g [rows], alpha [types], beta [types]. */
	four *matrix;
	/* Per block: F [types], R [types], M's factor [rows * (rows + 1) / 2], M^-1 U, M^-1 g. */
	four *factor;
	/* The system left for the capacities, factored, and what couples it to z. */
	double *p;               /* [types][types], lower */
	double *q, *p_inverse_q; /* [types] */
	double pivot;            /* of z */
};

FOUR_INLINE uint32_t arrow_matrix_size(uint32_t types, uint32_t rows)
{
	return rows * types + rows + 2 * types;
}

FOUR_INLINE uint32_t arrow_factor_size(uint32_t types, uint32_t rows)
{
	return 2 * types + rows * (rows + 1) / 2 + rows * types + rows;
}

void arrow_core_init(struct arrow_core *core, uint32_t jobs, uint32_t types, uint32_t rows,
	bool has_z, struct arena *work);

/* The square root of how many jobs a job stands for; `count` may be NULL. */
double arrow_root(const uint32_t *count, uint32_t job);

/* Remembers the counts, if there are any. */
void arrow_core_count(struct arrow_core *core, const uint32_t *count, struct arena *work);

/* All jobs, each as often as it is there. */
double arrow_jobs(const uint32_t *count, uint32_t jobs);

/* Where a job's number is in a block's slot. */
FOUR_INLINE double *arrow_at(struct arrow_core *core, uint32_t job, uint32_t slot)
{
	uint32_t size = arrow_matrix_size(core->types, core->rows);

	return (double *)&core->matrix[(size_t)(job / 4) * size + slot] + job % 4;
}

/* Fills the lanes of the last block; to be called once the matrix is written. */
void arrow_core_pad(struct arrow_core *core);

/* Between the two halves of a solve: per right side, the blocks' sums and what is made of them. */
struct arrow_middle {
	four side[2][ARROW_TYPES_MAX], z_side[2];
	double y[2][ARROW_TYPES_MAX], z[2];
};

/* Of a job: its first number among the variables (or rows), and how far its next is from it. */
struct arrow_place {
	size_t first;
	uint32_t apart;
};

FOUR_INLINE struct arrow_place arrow_place_of(const struct arrow_core *core, uint32_t job, uint32_t slots)
{
	uint32_t block = job / 4 * 4, left = core->jobs - block;

	return (struct arrow_place){ (size_t)block * slots + job % 4, left < 4 ? left : 4 };
}

/* ---- one block */

/* What makes entries of g and alpha those of a single job. */
FOUR_INLINE four arrow_single(const struct arrow_core *core, size_t block)
{
	return core->inverse_root ? core->inverse_root[block] : four_of(1);
}

/* F and R of the bound rows: R = 1 / (d + delta), 1 / F = beta^2 R + delta. */
FOUR_INLINE void arrow_bounds(uint32_t types, const four *beta, const double *d, uint32_t many,
	double delta, four *f, four *r)
{
	for (uint32_t w = 0; w < types; w++) {
		four e = four_load(d + w * many, many) + delta;
		four b = beta[w] * beta[w] + delta * e;
		four inverse = 1.0 / (e * b);

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
FOUR_INLINE void arrow_decompose(uint32_t types, uint32_t rows, const four *v, const four *f,
	const four *d, four *m)
{
	four b[ARROW_ROWS_MAX * ARROW_TYPES_MAX], fb[ARROW_ROWS_MAX * ARROW_TYPES_MAX];
	four own[ARROW_ROWS_MAX * ARROW_ROWS_MAX];

	for (uint32_t r = 0, at = 0; r < rows; r++) {
		four *row = b + r * types, *unit = own + r * rows, pivot = { 0 };

		for (uint32_t w = 0; w < types; w++)
			row[w] = v[r * types + w];
		for (uint32_t q = 0; q < rows; q++)
			unit[q] = four_of(q == r);
		for (uint32_t q = 0, diagonal = 0; q < r; q++, diagonal += q + 1) {
			four l = { 0 };

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
FOUR_INLINE void arrow_substitute(uint32_t rows, const four *m, four *u, uint32_t apart)
{
	if (rows == 1) {
		u[0] *= m[0];
	} else if (rows == 2) {
		four b = (u[apart] - m[1] * u[0]) * m[2];

		u[0] = u[0] * m[0] - m[1] * b;
		u[apart] = b;
	} else {
		four b = u[apart] - m[1] * u[0];
		four c = (u[2 * apart] - m[3] * u[0] - m[4] * b) * m[5];

		b = b * m[2] - m[4] * c;
		u[0] = u[0] * m[0] - m[1] * b - m[3] * c;
		u[apart] = b;
		u[2 * apart] = c;
	}
}

/* `record` has F and R already; `d` is D + delta of the private rows. */
FOUR_INLINE void arrow_factor_block(uint32_t types, uint32_t rows, const four *restrict matrix,
	const four *restrict d, four *restrict record, struct arrow_sums *restrict sums)
{
	const four *v = matrix, *g = v + rows * types, *alpha = g + rows, *f = record;
	four *m = record + 2 * types, *uhat = m + rows * (rows + 1) / 2;
	four *ghat = uhat + rows * types, *p = sums->p;
	four u[ARROW_ROWS_MAX * ARROW_TYPES_MAX];

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
			four left = w == q ? alpha[w] * f[w] * alpha[w] : (four){ 0 };

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
FOUR_INLINE void arrow_forward_block(uint32_t types, uint32_t rows, const four *matrix,
	const four *record, const double *a, const four *b, const double *bound, uint32_t many,
	double *x, four *y, four *side, four *z_side)
{
	const four *v = matrix, *alpha = v + rows * types + rows, *beta = alpha + types;
	const four *f = record, *r = f + types, *m = r + types;
	const four *uhat = m + rows * (rows + 1) / 2, *ghat = uhat + rows * types;
	four fa[ARROW_TYPES_MAX], t[ARROW_ROWS_MAX];

	for (uint32_t w = 0; w < types; w++) {
		four from_bound = beta[w] * r[w] * four_load(bound + w * many, many);

		fa[w] = f[w] * (four_load(a + w * many, many) - from_bound);
		four_store(x + w * many, fa[w], many);
	}
	for (uint32_t k = 0; k < rows; k++) {
		four sum = -b[k];

		for (uint32_t w = 0; w < types; w++)
			sum += v[k * types + w] * fa[w];
		t[k] = sum;
		*z_side -= ghat[k] * sum;
	}
	for (uint32_t w = 0; w < types; w++) {
		four sum = alpha[w] * fa[w];

		for (uint32_t k = 0; k < rows; k++)
			sum -= uhat[k * types + w] * t[k];
		side[w] += sum;
	}
	arrow_substitute(rows, m, t, 1);
	for (uint32_t k = 0; k < rows; k++)
		y[k] = t[k];
}

/* Second half, once y_c and z are known. */
FOUR_INLINE void arrow_backward_block(uint32_t types, uint32_t rows, const four *matrix,
	const four *record, const double *y_c, double z, const double *bound, uint32_t many,
	double *x, four *y, double *y_bound)
{
	const four *v = matrix, *alpha = v + rows * types + rows, *beta = alpha + types;
	const four *f = record, *r = f + types, *m = r + types;
	const four *uhat = m + rows * (rows + 1) / 2, *ghat = uhat + rows * types;

	for (uint32_t k = 0; k < rows; k++) {
		four sum = y[k] + ghat[k] * z;

		for (uint32_t w = 0; w < types; w++)
			sum -= uhat[k * types + w] * y_c[w];
		y[k] = sum;
	}
	for (uint32_t w = 0; w < types; w++) {
		four sum = alpha[w] * y_c[w], value;

		for (uint32_t k = 0; k < rows; k++)
			sum += v[k * types + w] * y[k];
		value = four_load(x + w * many, many) - f[w] * sum;
		four_store(x + w * many, value, many);
		four_store(y_bound + w * many,
			-r[w] * (beta[w] * value + four_load(bound + w * many, many)), many);
	}
}

/* ---- all blocks: the capacities and z */

static inline void arrow_sums_clear(struct arrow_sums *sums, uint32_t types)
{
	memset(sums->p, 0, types * (types + 1) / 2 * sizeof(four));
	memset(sums->q, 0, types * sizeof(four));
	sums->rho = (four){ 0 };
}

/* Of `tail`, the sums of the last block, only as many lanes count as it has jobs left. */
static inline void arrow_sums_add_tail(struct arrow_sums *sums, const struct arrow_sums *tail,
	uint32_t types, uint32_t left)
{
	for (uint32_t i = 0; i < types * (types + 1) / 2; i++)
		sums->p[i] += four_counted(tail->p[i], left);
	for (uint32_t w = 0; w < types; w++)
		sums->q[w] += four_counted(tail->q[w], left);
	sums->rho += four_counted(tail->rho, left);
}

/*
 * Cholesky, in place; the diagonal is inverted.  What is factored is `least` on the diagonal plus something
 * positive semidefinite: a smaller pivot is rounding.
 */
static inline bool arrow_decompose_rest(double *p, uint32_t n, const double *least, double delta)
{
	for (uint32_t j = 0; j < n; j++) {
		for (uint32_t i = j; i < n; i++) {
			double sum = p[i * n + j];

			for (uint32_t k = 0; k < j; k++)
				sum -= p[i * n + k] * p[j * n + k];
			if (i > j)
				p[i * n + j] = sum * p[j * n + j];
			else
				p[j * n + j] = 1 /
					sqrt(sum > least[j] + delta ? sum : least[j] + delta);
		}
		if (!isfinite(p[j * n + j]))
			return false;
	}
	return true;
}

static inline void arrow_substitute_rest(const double *p, uint32_t n, double *y)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < i; k++)
			y[i] -= p[i * n + k] * y[k];
		y[i] *= p[i * n + i];
	}
	for (uint32_t i = n; i-- > 0;) {
		for (uint32_t k = i + 1; k < n; k++)
			y[i] -= p[k * n + i] * y[k];
		y[i] *= p[i * n + i];
	}
}

/* Takes the sums of factor; `extra` is z's own diagonal.  False: not positive definite. */
static inline bool arrow_core_close(struct arrow_core *core, const struct arrow_sums *sums,
	const double *d, double delta, double extra)
{
	uint32_t n = core->types;
	const four *p = sums->p;

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j <= i; j++, p++)
			core->p[i * n + j] = four_sum(*p);
		core->p[i * n + i] += d[i] + delta;
		core->q[i] = core->p_inverse_q[i] = four_sum(sums->q[i]);
	}
	if (!arrow_decompose_rest(core->p, n, d, delta))
		return false;
	arrow_substitute_rest(core->p, n, core->p_inverse_q);
	core->pivot = delta + extra + four_sum(sums->rho);
	for (uint32_t i = 0; i < n; i++)
		core->pivot += core->q[i] * core->p_inverse_q[i];
	return core->pivot > 0 && isfinite(core->pivot);
}

static inline void arrow_middle_clear(struct arrow_middle *mid, uint32_t types)
{
	for (int i = 0; i < 2; i++) {
		for (uint32_t w = 0; w < types; w++)
			mid->side[i][w] = (four){ 0 };
		mid->z_side[i] = (four){ 0 };
	}
}

/*
 * The capacities' duals and z for right side i, from the sums (of `tail`, only as
 * many lanes count as jobs are left) and the right sides of the capacities and z themselves.
 */
static inline void arrow_core_middle(const struct arrow_core *core, const double *side,
	double z_side, uint32_t i, struct arrow_middle *mid, const struct arrow_middle *tail)
{
	uint32_t n = core->types, left = core->jobs % 4;
	double *y = mid->y[i];

	for (uint32_t w = 0; w < n; w++)
		y[w] = four_sum(mid->side[i][w] + four_counted(tail->side[i][w], left)) - side[w];
	arrow_substitute_rest(core->p, n, y);
	mid->z[i] = 0;
	if (!core->has_z)
		return;
	z_side += four_sum(mid->z_side[i] + four_counted(tail->z_side[i], left));
	for (uint32_t w = 0; w < n; w++)
		z_side += core->q[w] * y[w];
	mid->z[i] = z_side / core->pivot;
	for (uint32_t w = 0; w < n; w++)
		y[w] -= core->p_inverse_q[w] * mid->z[i];
}

#endif
