/*
 * The mix of quotes: a revised simplex with an explicit inverse of types + 1
 * rows.  Quotes are added one at a time, so that each solve starts from the
 * last basis, which stays feasible.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "solver/maxmin_parts.h"

enum { REFACTOR_AFTER = 40, PATIENCE = 40 }; /* pivots */

void mix_init(struct mix *mix, uint32_t types, uint32_t cap)
{
	uint32_t rows = types + 1;

	assert(cap > rows + 1);
	*mix = (struct mix){ .types = types, .rows = rows, .cap = cap };
	mix->column = mem_alloc(mem_array_size(cap, rows * sizeof(double)));
	mix->z = mem_alloc(mem_array_size(cap, sizeof(double)));
	mix->low = mem_alloc(mem_array_size(types, sizeof(double)));
	mix->high = mem_alloc(mem_array_size(types, sizeof(double)));
	mix->basis = mem_alloc(mem_array_size(rows, sizeof(uint32_t)));
	mix->inverse = mem_alloc(mem_array_size(rows, rows * sizeof(double)));
	mix->value = mem_alloc(mem_array_size(rows, sizeof(double)));
	mix->price = mem_alloc(mem_array_size(rows, sizeof(double)));
	mix->work = mem_alloc(mem_array_size(rows, (2 + rows) * sizeof(double)));
}

void mix_fini(struct mix *mix)
{
	free(mix->column);
	free(mix->z);
	free(mix->low);
	free(mix->high);
	free(mix->basis);
	free(mix->inverse);
	free(mix->value);
	free(mix->price);
	free(mix->work);
	*mix = (struct mix){ 0 };
}

static double gain_of(const struct mix *mix, uint32_t var)
{
	if (var < mix->cap)
		return mix->z[var];
	if (var < mix->cap + mix->types)
		return mix->low[var - mix->cap];
	return -mix->high[var - mix->cap - mix->types];
}

static void column_of(const struct mix *mix, uint32_t var, double *out)
{
	if (var < mix->cap) {
		memcpy(out, mix->column + (size_t)var * mix->rows, mix->rows * sizeof(double));
		return;
	}
	memset(out, 0, mix->rows * sizeof(double));
	if (var < mix->cap + mix->types)
		out[1 + var - mix->cap] = 1;
	else
		out[1 + var - mix->cap - mix->types] = -1;
}

/* The values follow from the inverse: its first column, the right side being 1, 0, 0, ... */
static void read_values(struct mix *mix)
{
	for (uint32_t r = 0; r < mix->rows; r++)
		mix->value[r] = fmax(mix->inverse[(size_t)r * mix->rows], 0);
}

/* Row r of the inverse becomes that of the entering variable, whose column is `d` in the basis. */
static void eliminate(struct mix *mix, double *inverse, uint32_t r, const double *d)
{
	uint32_t m = mix->rows;
	double *pivot = inverse + (size_t)r * m;

	for (uint32_t j = 0; j < m; j++)
		pivot[j] /= d[r];
	for (uint32_t i = 0; i < m; i++) {
		double *row = inverse + (size_t)i * m;

		if (i == r || d[i] == 0)
			continue;
		for (uint32_t j = 0; j < m; j++)
			row[j] -= d[i] * pivot[j];
	}
}

static void in_basis(const struct mix *mix, const double *inverse, const double *column, double *out)
{
	uint32_t m = mix->rows;

	for (uint32_t i = 0; i < m; i++) {
		double sum = 0;

		for (uint32_t j = 0; j < m; j++)
			sum += inverse[(size_t)i * m + j] * column[j];
		out[i] = sum;
	}
}

/*
 * The inverse afresh: columns enter one by one where their pivot is largest.
 * The order of the basis changes with that.  False: the basis is singular.
 */
static bool factor(struct mix *mix)
{
	uint32_t m = mix->rows;
	double *fresh = mix->work + 2 * m, *column = mix->work, *d = mix->work + m;
	uint32_t basis[UINT8_MAX + 2] = { 0 };
	bool taken[UINT8_MAX + 2] = { 0 };

	memset(fresh, 0, (size_t)m * m * sizeof(double));
	for (uint32_t i = 0; i < m; i++)
		fresh[(size_t)i * m + i] = 1;
	for (uint32_t k = 0; k < m; k++) {
		uint32_t best = m;

		column_of(mix, mix->basis[k], column);
		in_basis(mix, fresh, column, d);
		for (uint32_t i = 0; i < m; i++) {
			if (!taken[i] && (best == m || fabs(d[i]) > fabs(d[best])))
				best = i;
		}
		if (fabs(d[best]) < 1e-13)
			return false;
		eliminate(mix, fresh, best, d);
		taken[best] = true;
		basis[best] = mix->basis[k];
	}
	memcpy(mix->inverse, fresh, (size_t)m * m * sizeof(double));
	memcpy(mix->basis, basis, m * sizeof(uint32_t));
	mix->since_factor = 0;
	read_values(mix);
	return true;
}

/* One quote, and what it spares or overuses: feasible whatever the quote is. */
static void start_with(struct mix *mix, uint32_t quote)
{
	const double *column = mix->column + (size_t)quote * mix->rows;

	mix->basis[0] = quote;
	for (uint32_t w = 0; w < mix->types; w++)
		mix->basis[1 + w] = mix->cap + w + (column[1 + w] > 0 ? mix->types : 0);
	factor(mix);
}

static void read_prices(struct mix *mix)
{
	uint32_t m = mix->rows;

	memset(mix->price, 0, m * sizeof(double));
	for (uint32_t r = 0; r < m; r++) {
		double gain = gain_of(mix, mix->basis[r]);

		for (uint32_t j = 0; j < m; j++)
			mix->price[j] += gain * mix->inverse[(size_t)r * m + j];
	}
}

static void clip_prices(struct mix *mix)
{
	for (uint32_t w = 0; w < mix->types; w++)
		mix->price[1 + w] = fmin(fmax(mix->price[1 + w], mix->low[w]), mix->high[w]);
}

static double promise_of(const struct mix *mix, uint32_t quote)
{
	const double *column = mix->column + (size_t)quote * mix->rows;
	double promise = mix->z[quote];

	for (uint32_t j = 0; j < mix->rows; j++)
		promise -= mix->price[j] * column[j];
	return promise;
}

static bool is_basic(const struct mix *mix, uint32_t var)
{
	for (uint32_t r = 0; r < mix->rows; r++) {
		if (mix->basis[r] == var)
			return true;
	}
	return false;
}

uint32_t mix_add(struct mix *mix, double z, const double *used)
{
	uint32_t at = mix->n;

	if (mix->n < mix->cap) {
		mix->n++;
	} else {
		double worst = INFINITY;

		for (uint32_t k = 0; k < mix->n; k++) {
			double promise = promise_of(mix, k);

			if (promise < worst && !is_basic(mix, k)) {
				worst = promise;
				at = k;
			}
		}
	}
	mix->z[at] = z;
	mix->column[(size_t)at * mix->rows] = 1;
	for (uint32_t w = 0; w < mix->types; w++)
		mix->column[(size_t)at * mix->rows + 1 + w] = used[w] - 1;
	if (mix->n == 1)
		start_with(mix, 0);
	return at;
}

/* The variable that raises the objective most, or, to end a cycle, the first that does at all. */
static uint32_t entering(const struct mix *mix, bool first, double tolerance)
{
	uint32_t best = UINT32_MAX;
	double most = tolerance;

	for (uint32_t k = 0; k < mix->n && !(first && best != UINT32_MAX); k++) {
		double promise = promise_of(mix, k);

		if (promise > most && !is_basic(mix, k)) {
			most = promise;
			best = k;
		}
	}
	for (uint32_t w = 0; w < mix->types && !(first && best != UINT32_MAX); w++) {
		if (mix->low[w] - mix->price[1 + w] > most) {
			most = mix->low[w] - mix->price[1 + w];
			best = mix->cap + w;
		}
		if (mix->price[1 + w] - mix->high[w] > most) {
			most = mix->price[1 + w] - mix->high[w];
			best = mix->cap + mix->types + w;
		}
	}
	return best;
}

/*
 * The row that empties first; among equals the one with the largest pivot,
 * or, to end a cycle, the variable that comes first.
 */
static uint32_t leaving(const struct mix *mix, const double *d, bool first)
{
	uint32_t best = UINT32_MAX;
	double least = INFINITY;

	for (uint32_t r = 0; r < mix->rows; r++) {
		if (d[r] > 1e-11)
			least = fmin(least, mix->value[r] / d[r]);
	}
	for (uint32_t r = 0; r < mix->rows; r++) {
		if (d[r] <= 1e-11 || mix->value[r] / d[r] > least + 1e-13)
			continue;
		if (best == UINT32_MAX || (first ? mix->basis[r] < mix->basis[best] : d[r] > d[best]))
			best = r;
	}
	return best;
}

void mix_solve(struct mix *mix)
{
	double *column = mix->work, *d = mix->work + mix->rows;
	uint32_t stalled = 0;

	for (uint32_t turn = 0; turn < 50 * mix->rows + 200; turn++) {
		uint32_t in, out;
		double scale;

		read_prices(mix);
		scale = fabs(mix->price[0]) + 1e-300;
		in = entering(mix, stalled > PATIENCE, 1e-13 * scale);
		if (in == UINT32_MAX)
			break;
		column_of(mix, in, column);
		in_basis(mix, mix->inverse, column, d);
		out = leaving(mix, d, stalled > PATIENCE);
		if (out == UINT32_MAX)
			break;
		stalled = mix->value[out] / d[out] > 1e-12 ? 0 : stalled + 1;
		eliminate(mix, mix->inverse, out, d);
		mix->basis[out] = in;
		mix->pivots++;
		if (++mix->since_factor >= REFACTOR_AFTER && !factor(mix)) {
			start_with(mix, 0);
			continue;
		}
		read_values(mix);
	}
	if (mix->since_factor && factor(mix))
		read_prices(mix);
	clip_prices(mix);
}

double mix_share(const struct mix *mix, uint32_t quote)
{
	for (uint32_t r = 0; r < mix->rows; r++) {
		if (mix->basis[r] == quote)
			return mix->value[r];
	}
	return 0;
}

double mix_level(const struct mix *mix)
{
	double level = 0;

	for (uint32_t r = 0; r < mix->rows; r++) {
		if (mix->basis[r] < mix->cap)
			level += mix->value[r] * mix->z[mix->basis[r]];
	}
	return level;
}

bool mix_overuses(const struct mix *mix, double tolerance)
{
	for (uint32_t r = 0; r < mix->rows; r++) {
		if (mix->basis[r] >= mix->cap + mix->types && mix->value[r] > tolerance)
			return true;
	}
	return false;
}
