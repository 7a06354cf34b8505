/*
 * Completion of logarithms: effects of rows and columns first, and then the
 * rest, by least squares or from the nearest row.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/real.h"
#include "solver/completion.h"

static double *numbers(size_t n)
{
	return mem_alloc(mem_array_size(n + 1, sizeof(double)));
}

/* ---- effects */

struct effects {
	double mean;
	double *row, *col;
};

static double known_mean(const struct holes *a)
{
	size_t n = (size_t)a->rows * a->cols, known = 0;
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isnan(a->at[i])) {
			sum += a->at[i];
			known++;
		}
	}
	return known ? sum / (double)known : 0;
}

/* The effect that suits `n` entries, `step` apart, beside the effects `other` of the crossing lines. */
static double best_effect(const double *at, uint32_t n, size_t step, double mean,
	const double *other, double shrink)
{
	double sum = 0, known = 0;

	for (uint32_t j = 0; j < n; j++) {
		if (!isnan(at[j * step])) {
			sum += at[j * step] - mean - other[j];
			known++;
		}
	}
	return known > 0 ? sum / (known + shrink) : 0;
}

/* One effect of every row and column; returns the largest change. */
static double improve(const struct holes *a, double shrink, struct effects *e)
{
	double most = 0;

	for (uint32_t i = 0; i < a->rows; i++) {
		double x = best_effect(&a->at[(size_t)i * a->cols], a->cols, 1, e->mean, e->col,
			shrink);

		most = fmax(most, fabs(x - e->row[i]));
		e->row[i] = x;
	}
	for (uint32_t j = 0; j < a->cols; j++) {
		double x = best_effect(&a->at[j], a->rows, a->cols, e->mean, e->row, shrink);

		most = fmax(most, fabs(x - e->col[j]));
		e->col[j] = x;
	}
	return most;
}

/* What effects alone say of every entry, known or not. */
static void two_way(const struct holes *a, double shrink, double *out)
{
	enum { ROUNDS_MAX = 500 };
	struct effects e = { known_mean(a), numbers(a->rows), numbers(a->cols) };

	for (int round = 0; round < ROUNDS_MAX && improve(a, shrink, &e) > 1e-9; round++)
		;
	for (uint32_t i = 0; i < a->rows; i++) {
		for (uint32_t j = 0; j < a->cols; j++)
			*out++ = e.mean + e.row[i] + e.col[j];
	}
	free(e.row);
	free(e.col);
}

void complete_two_way(const struct holes *a, double shrink, double *out)
{
	two_way(a, shrink, out);
	for (size_t i = 0; i < (size_t)a->rows * a->cols; i++) {
		if (!isnan(a->at[i]))
			out[i] = a->at[i];
	}
}

/* ---- the rest */

/* The answer of effects, what they leave of known entries, and that completed. */
struct parts {
	struct holes left;
	double *base, *known, *filled;
};

static void take_apart(const struct holes *a, double shrink, struct parts *out)
{
	size_t n = (size_t)a->rows * a->cols;

	*out = (struct parts){ .base = numbers(n), .known = numbers(n), .filled = numbers(n) };
	out->left = (struct holes){ out->known, a->rows, a->cols };
	two_way(a, shrink, out->base);
	for (size_t i = 0; i < n; i++)
		out->known[i] = a->at[i] - out->base[i];
}

static void parts_fini(struct parts *parts)
{
	free(parts->base);
	free(parts->known);
	free(parts->filled);
}

static void put_together(const struct holes *a, const struct parts *parts, double *out)
{
	for (size_t i = 0; i < (size_t)a->rows * a->cols; i++)
		out[i] = isnan(a->at[i]) ? parts->base[i] + parts->filled[i] : a->at[i];
}

bool complete_around(const struct holes *a, double shrink, const struct als *als, double *out)
{
	struct parts parts;
	bool solved;

	take_apart(a, shrink, &parts);
	solved = complete_als(&parts.left, als, parts.filled);
	if (solved)
		put_together(a, &parts, out);
	parts_fini(&parts);
	return solved;
}

uint32_t complete_around_sgd(const struct holes *a, double shrink, const struct sgd *sgd, double *out)
{
	struct parts parts;
	uint32_t rounds;

	take_apart(a, shrink, &parts);
	rounds = complete_sgd(&parts.left, sgd, parts.filled);
	put_together(a, &parts, out);
	parts_fini(&parts);
	return rounds;
}

/* ---- the nearest row */

/* distances[r]: of row `i` to row r, as ratios. */
static void measure(const double *ratios, uint32_t rows, uint32_t cols, uint32_t i, double *distances)
{
	for (uint32_t r = 0; r < rows; r++)
		distances[r] = cosine_distance(&ratios[(size_t)i * cols], &ratios[(size_t)r * cols],
			cols);
}

/* Of the rows that know column `j`, the nearest; itself if none does. */
static uint32_t nearest_row(const struct holes *left, const double *distances, uint32_t i, uint32_t j)
{
	uint32_t best = i;

	for (uint32_t r = 0; r < left->rows; r++) {
		if (r == i || isnan(left->at[(size_t)r * left->cols + j]))
			continue;
		if (best == i || distances[r] < distances[best])
			best = r;
	}
	return best;
}

static void take_from_nearest(struct parts *parts)
{
	const struct holes *left = &parts->left;
	size_t n = (size_t)left->rows * left->cols;
	double *ratios = numbers(n), *distances = numbers(left->rows);

	for (size_t i = 0; i < n; i++)
		ratios[i] = real_exp(parts->filled[i]);
	for (uint32_t i = 0; i < left->rows; i++) {
		measure(ratios, left->rows, left->cols, i, distances);
		for (uint32_t j = 0; j < left->cols; j++) {
			size_t at = (size_t)i * left->cols + j;
			uint32_t r = nearest_row(left, distances, i, j);

			if (isnan(left->at[at]) && r != i)
				parts->filled[at] = left->at[(size_t)r * left->cols + j];
		}
	}
	free(ratios);
	free(distances);
}

bool complete_match(const struct holes *a, double shrink, const struct als *als, double *out)
{
	struct parts parts;
	bool solved;

	take_apart(a, shrink, &parts);
	solved = complete_als(&parts.left, als, parts.filled);
	if (solved) {
		take_from_nearest(&parts);
		put_together(a, &parts, out);
	}
	parts_fini(&parts);
	return solved;
}
