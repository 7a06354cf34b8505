/*
 * Active sets: unknowns are 0 until moving one of them up helps; those that
 * would become negative go back to 0.
 */
#include "solver/nnls.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define RANK_TOLERANCE 1e-10
#define GRADIENT_TOLERANCE 1e-12

void nnls_init(struct nnls *problem, uint32_t n)
{
	memset(problem, 0, sizeof(*problem));
	problem->n = n;
}

/* Rotates `row` (n numbers and a right-hand side) into a triangle; returns what is left of the latter. */
static double fold(double rows[][NNLS_MAX + 1], uint32_t n, double *row)
{
	for (uint32_t i = 0; i < n; i++) {
		double length = hypot(rows[i][i], row[i]), c, s;

		if (row[i] == 0)
			continue;
		c = rows[i][i] / length;
		s = row[i] / length;
		for (uint32_t j = i; j <= n; j++) {
			double above = rows[i][j];

			rows[i][j] = c * above + s * row[j];
			row[j] = c * row[j] - s * above;
		}
	}
	return row[n];
}

void nnls_add(struct nnls *problem, const double *row, double rhs)
{
	double copy[NNLS_MAX + 1], left;

	memcpy(copy, row, problem->n * sizeof(*copy));
	copy[problem->n] = rhs;
	left = fold(problem->rows, problem->n, copy);
	problem->rest += left * left;
}

static double column_length(const struct nnls *p, uint32_t c)
{
	double sum = 0;

	for (uint32_t i = 0; i <= c; i++)
		sum += p->rows[i][c] * p->rows[i][c];
	return sqrt(sum);
}

/* Right-hand side minus what x gives. */
static void residual(const struct nnls *p, const double *x, double *out)
{
	for (uint32_t i = 0; i < p->n; i++) {
		out[i] = p->rows[i][p->n];
		for (uint32_t j = i; j < p->n; j++)
			out[i] -= p->rows[i][j] * x[j];
	}
}

/*
 * Least squares on the columns that are `in`, the others 0.  False: they depend on each other.
 */
static bool solve_on(const struct nnls *p, const bool *in, double *x)
{
	double triangle[NNLS_MAX][NNLS_MAX + 1] = { { 0 } };
	uint32_t column[NNLS_MAX], k = 0;

	for (uint32_t j = 0; j < p->n; j++) {
		x[j] = 0;
		if (in[j])
			column[k++] = j;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		double row[NNLS_MAX + 1];

		for (uint32_t j = 0; j < k; j++)
			row[j] = column[j] >= i ? p->rows[i][column[j]] : 0;
		row[k] = p->rows[i][p->n];
		fold(triangle, k, row);
	}
	for (uint32_t i = k; i-- > 0;) {
		double value = triangle[i][k];

		if (fabs(triangle[i][i]) <= RANK_TOLERANCE * column_length(p, column[i]))
			return false;
		for (uint32_t j = i + 1; j < k; j++)
			value -= triangle[i][j] * x[column[j]];
		x[column[i]] = value / triangle[i][i];
	}
	return true;
}

/* The unknown at 0 that is worth raising most; n: none. */
static uint32_t steepest(const struct nnls *p, const double *x, const bool *in, const bool *refused)
{
	double left[NNLS_MAX], best = 0, size = 0;
	uint32_t found = p->n;

	residual(p, x, left);
	for (uint32_t i = 0; i < p->n; i++)
		size = hypot(size, p->rows[i][p->n]);
	for (uint32_t j = 0; j < p->n; j++) {
		double length = column_length(p, j), slope = 0;

		if (in[j] || refused[j] || !(length > 0))
			continue;
		for (uint32_t i = 0; i <= j; i++)
			slope += p->rows[i][j] * left[i];
		slope /= length;
		if (slope > GRADIENT_TOLERANCE * size && slope > best) {
			best = slope;
			found = j;
		}
	}
	return found;
}

/* From x towards `goal` as far as nothing is negative; what arrives at 0 leaves. */
static void step_to_edge(uint32_t n, double *x, const double *goal, bool *in)
{
	double part = 1;

	for (uint32_t j = 0; j < n; j++) {
		if (in[j] && goal[j] <= 0)
			part = fmin(part, x[j] / (x[j] - goal[j]));
	}
	for (uint32_t j = 0; j < n; j++) {
		x[j] += part * (goal[j] - x[j]);
		if (in[j] && goal[j] <= 0 && x[j] <= 1e-300 + 1e-14 * fabs(goal[j])) {
			x[j] = 0;
			in[j] = false;
		}
	}
}

static bool all_positive(uint32_t n, const bool *in, const double *x)
{
	for (uint32_t j = 0; j < n; j++) {
		if (in[j] && !(x[j] > 0))
			return false;
	}
	return true;
}

/* Lets unknown `j` in.  False, and nothing changed: it would not rise. */
static bool admit(const struct nnls *p, uint32_t j, double *x, bool *in)
{
	double goal[NNLS_MAX];

	in[j] = true;
	if (!solve_on(p, in, goal) || !(goal[j] > 0)) {
		in[j] = false;
		return false;
	}
	while (!all_positive(p->n, in, goal)) {
		step_to_edge(p->n, x, goal, in);
		if (!solve_on(p, in, goal))
			return true;
	}
	memcpy(x, goal, p->n * sizeof(*x));
	return true;
}

double nnls_solve(const struct nnls *problem, double *x)
{
	bool in[NNLS_MAX] = { false }, refused[NNLS_MAX] = { false };
	double left[NNLS_MAX], sum = problem->rest;
	uint32_t j;

	memset(x, 0, problem->n * sizeof(*x));
	/* Each admission lowers the error; the bound is for numbers too wild for that to be seen. */
	for (uint32_t turns = 0; turns < 64; turns++) {
		j = steepest(problem, x, in, refused);
		if (j == problem->n)
			break;
		if (admit(problem, j, x, in))
			memset(refused, 0, sizeof(refused));
		else
			refused[j] = true;
	}
	residual(problem, x, left);
	for (uint32_t i = 0; i < problem->n; i++)
		sum += left[i] * left[i];
	return sum;
}
