#include "solver/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

/*
 * Two levels of panels: PANEL columns are finished with updates of STRIP
 * columns each, then everything right of them is updated at once.  Updates go
 * in tiles whose sums stay in registers; a tile reads two groups of GROUP rows
 * that were packed one behind the other.
 */
enum { GROUP = 8, STRIP = 8, PANEL = 64, CHUNK = 64 };

/* A tile has GROUP rows and HALF columns. */
enum { HALF = 4 };

static size_t rounded(size_t n)
{
	size_t up = (n + GROUP - 1) / GROUP * GROUP;

	/* Columns a power of two apart would share cache sets. */
	return up % CHUNK == 0 ? up + GROUP : up;
}

void dense_init(struct dense *matrix, uint32_t n)
{
	matrix->n = n;
	matrix->stride = rounded(n);
	matrix->at = mem_alloc(mem_array_size(matrix->stride, matrix->stride * sizeof(double)));
	matrix->packed = mem_alloc(mem_array_size(matrix->stride, PANEL * sizeof(double)));
	matrix->diagonal = mem_alloc(mem_array_size(matrix->stride, sizeof(double)));
}

void dense_fini(struct dense *matrix)
{
	free(matrix->at);
	free(matrix->packed);
	free(matrix->diagonal);
	*matrix = (struct dense){ 0 };
}

void dense_clear(struct dense *matrix)
{
	memset(matrix->at, 0, matrix->stride * matrix->stride * sizeof(double));
}

/* ---- tiles: c[HALF][GROUP rows] -= sum over k of a[k][GROUP] * b[k][HALF] */

typedef void tile_fn(double *c, size_t stride, const double *a, const double *b, size_t depth);

typedef double pair_of __attribute__((vector_size(16), aligned(8)));

/* Half a tile, so that two-wide vectors are enough for the sums. */
static void half_tile(double *c, size_t stride, const double *a, const double *b, size_t depth)
{
	pair_of sum[HALF][2] = { 0 };

	for (size_t k = 0; k < depth; k++, a += GROUP, b += GROUP) {
		pair_of low = *(const pair_of *)a, high = *(const pair_of *)(a + 2);

		for (int j = 0; j < HALF; j++) {
			sum[j][0] += low * b[j];
			sum[j][1] += high * b[j];
		}
	}
	for (int j = 0; j < HALF; j++) {
		*(pair_of *)(c + (size_t)j * stride) -= sum[j][0];
		*(pair_of *)(c + (size_t)j * stride + 2) -= sum[j][1];
	}
}

static void tile_any(double *c, size_t stride, const double *a, const double *b, size_t depth)
{
	half_tile(c, stride, a, b, depth);
	half_tile(c + GROUP / 2, stride, a + GROUP / 2, b, depth);
}

#if defined(__x86_64__)
typedef double four_of __attribute__((vector_size(32), aligned(8)));

/* The same sums in the same order, four lanes at a time and without fused multiply-add. */
__attribute__((target("avx2"))) static void tile_avx2(double *c, size_t stride, const double *a,
	const double *b, size_t depth)
{
	four_of sum[HALF][2] = { 0 };

	for (size_t k = 0; k < depth; k++, a += GROUP, b += GROUP) {
		four_of low = *(const four_of *)a, high = *(const four_of *)(a + 4);

		for (int j = 0; j < HALF; j++) {
			sum[j][0] += low * b[j];
			sum[j][1] += high * b[j];
		}
	}
	for (int j = 0; j < HALF; j++) {
		*(four_of *)(c + (size_t)j * stride) -= sum[j][0];
		*(four_of *)(c + (size_t)j * stride + 4) -= sum[j][1];
	}
}

static tile_fn *best_tile(void)
{
	return __builtin_cpu_supports("avx2") ? tile_avx2 : tile_any;
}
#else
static tile_fn *best_tile(void)
{
	return tile_any;
}
#endif

/* ---- factorisation */

/* Columns from..from+depth of the rows from `row` on, by groups: packed[group][k][GROUP]. */
static void pack(struct dense *m, size_t row, size_t from, size_t depth)
{
	double *out = m->packed;

	for (size_t r = row; r < m->stride; r += GROUP) {
		for (size_t k = 0; k < depth; k++, out += GROUP)
			memcpy(out, m->at + (from + k) * m->stride + r, GROUP * sizeof(double));
	}
}

/* Subtracts what columns from..from+depth contribute to columns first..last, from the diagonal down. */
static void update(struct dense *m, tile_fn *tile, size_t first, size_t last, size_t from, size_t depth)
{
	pack(m, first, from, depth);
	for (size_t c = first; c < last; c += HALF) {
		const double *b = m->packed + (c - first) / GROUP * GROUP * depth + c % GROUP;

		for (size_t r = c / GROUP * GROUP; r < m->stride; r += GROUP)
			tile(m->at + c * m->stride + r, m->stride, m->packed + (r - first) * depth,
				b, depth);
	}
}

/* Columns c0..c0+STRIP for rows from..to, all of them below the strip's own triangle. */
static void finish_rows(struct dense *m, size_t c0, size_t width, size_t from, size_t to)
{
	for (size_t j = c0; j < c0 + width; j++) {
		double *col = m->at + j * m->stride;
		double scale = 1 / col[j];

		for (size_t p = c0; p < j; p++) {
			const double *left = m->at + p * m->stride;
			double times = left[j];

			for (size_t r = from; r < to; r++)
				col[r] -= left[r] * times;
		}
		for (size_t r = from; r < to; r++)
			col[r] *= scale;
	}
}

/* The root of a pivot, for a row left out so large that nothing comes of it; 0: it cannot be. */
static double root_of(double pivot, double least)
{
	if (!isfinite(pivot) || (pivot <= 0 && least <= 0))
		return 0;
	return pivot > least ? sqrt(pivot) : 1e64;
}

static bool finish_triangle(struct dense *m, size_t c0, size_t width, double tiny)
{
	for (size_t j = c0; j < c0 + width; j++) {
		double *col = m->at + j * m->stride;

		for (size_t p = c0; p < j; p++) {
			const double *left = m->at + p * m->stride;

			for (size_t r = j; r < c0 + width; r++)
				col[r] -= left[r] * left[j];
		}
		col[j] = root_of(col[j], tiny * m->diagonal[j]);
		if (col[j] == 0)
			return false;
		for (size_t r = j + 1; r < c0 + width; r++)
			col[r] /= col[j];
	}
	return true;
}

static bool finish_strip(struct dense *m, size_t c0, size_t width, double tiny)
{
	if (!finish_triangle(m, c0, width, tiny))
		return false;
	for (size_t r = c0 + width; r < m->n; r += CHUNK)
		finish_rows(m, c0, width, r, r + CHUNK < m->n ? r + CHUNK : m->n);
	return true;
}

static bool finish_panel(struct dense *m, tile_fn *tile, size_t c0, size_t last, double tiny)
{
	for (size_t c = c0; c < last; c += STRIP) {
		size_t width = c + STRIP < last ? STRIP : last - c;

		if (!finish_strip(m, c, width, tiny))
			return false;
		if (c + width < last)
			update(m, tile, c + width, last, c, width);
	}
	return true;
}

bool dense_factor(struct dense *m, double tiny)
{
	tile_fn *tile = best_tile();

	for (size_t c = 0; c < m->n; c++)
		m->diagonal[c] = m->at[c * m->stride + c];

	for (size_t c = 0; c < m->n; c += PANEL) {
		size_t last = c + PANEL < m->n ? c + PANEL : m->n;

		if (!finish_panel(m, tile, c, last, tiny))
			return false;
		if (last < m->n)
			update(m, tile, last, m->n, c, last - c);
	}
	return true;
}

/* ---- solving */

void dense_solve_lower(const struct dense *factor, double *x)
{
	for (size_t c = 0; c < factor->n; c++) {
		const double *col = factor->at + c * factor->stride;
		double value = x[c] / col[c];

		x[c] = value;
		for (size_t r = c + 1; r < factor->n; r++)
			x[r] -= col[r] * value;
	}
}

/* Four sums side by side: a fixed order, and no chain of dependent additions. */
static double dot(const double *a, const double *b, size_t n)
{
	double s[4] = { 0 };
	size_t i;

	for (i = 0; i + 4 <= n; i += 4) {
		for (int k = 0; k < 4; k++)
			s[k] += a[i + (size_t)k] * b[i + (size_t)k];
	}
	for (; i < n; i++)
		s[0] += a[i] * b[i];
	return (s[0] + s[1]) + (s[2] + s[3]);
}

void dense_solve_upper(const struct dense *factor, double *x)
{
	for (size_t c = factor->n; c-- > 0;) {
		const double *col = factor->at + c * factor->stride;

		x[c] = (x[c] - dot(col + c + 1, x + c + 1, factor->n - c - 1)) / col[c];
	}
}

void dense_solve(const struct dense *factor, double *x)
{
	dense_solve_lower(factor, x);
	dense_solve_upper(factor, x);
}
