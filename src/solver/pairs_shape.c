/*
 * The matrix of a program with pairs: its largest entries, divided, multiplied.
 */
#include <math.h>
#include <string.h>

#include "solver/pairs_parts.h"

/* ---- equilibration */

static double row_size(const struct rows_of_job *row, uint32_t rows)
{
	double most = 0;

	for (uint32_t r = 0; r < rows; r++)
		most = fmax(most, fabs(row->value[r]));
	return most * row->root;
}

static void raise_to(double *to, double value)
{
	if (*to < value)
		*to = value;
}

/* The largest `one` and value in each job's rows, and `gang * one` in each capacity. */
static void largest_by_job(const struct pairs *p, double *most, double *capacity)
{
	const struct share *s = p->share;

	for (uint32_t c = 0; c < p->entries; c++) {
		const struct entry *e = &p->entry[c];

		for (uint32_t w = 0; w < p->types; w++, s++) {
			raise_to(&most[e->a + LIMIT], s->one / e->root);
			raise_to(&most[e->b + LIMIT], s->one / e->root);
			raise_to(&most[e->a + VALUE], s->of_a / e->root);
			raise_to(&most[e->b + VALUE], s->of_b / e->root);
			raise_to(&capacity[w], e->gang * s->one / e->root);
		}
	}
}

static void row_maxima(const struct pairs *p, double *row)
{
	double *most = p->sum, *capacity = most + capacities_at(p);

	memset(most, 0, (capacities_at(p) + p->types) * sizeof(*most));
	largest_by_job(p, most, capacity);
	for (uint32_t i = 0; i < p->jobs; i++) {
		const struct rows_of_job *own = &p->row[p->place[i]];
		const double *of = most + PER_JOB * p->place[i];

		row[i] = own->root * own->limit * of[LIMIT];
		for (uint32_t r = 0; r < p->rows; r++)
			row[value_row(p, i, r)] = fmax(own->root * own->value[r] * of[VALUE],
				fabs(own->z[r]) / own->root);
	}
	for (uint32_t w = 0; w < p->types; w++)
		row[capacity_row(p) + w] = p->capacity[w] * capacity[w];
}

static void column_maxima(const struct pairs *p, double *row, double *column)
{
	const struct share *s = p->share;
	const struct rows_of_job none = { 0 };

	for (uint32_t c = 0, v = 0; c < p->entries; c++) {
		const struct entry *e = &p->entry[c];
		const struct rows_of_job *a = &p->row[e->a / PER_JOB];
		const struct rows_of_job *b = e->b < order_of(p) ? &p->row[e->b / PER_JOB] : &none;
		double limit = fmax(a->root * a->limit, b->root * b->limit);
		double of_a = row_size(a, p->rows), of_b = row_size(b, p->rows);

		for (uint32_t w = 0; w < p->types; w++, s++, v++) {
			double most = s->one / e->root * fmax(limit, p->capacity[w] * e->gang);

			column[v] = fmax(fmax(most, s->bound),
				fmax(of_a * s->of_a, of_b * s->of_b) / e->root);
			row[bound_row(p) + v] = s->bound;
		}
	}
}

static void pairs_maxima(const void *self, double *row, double *column)
{
	const struct pairs *p = self;

	row_maxima(p, row);
	column_maxima(p, row, column);
	if (!p->has_z)
		return;
	column[variables(p)] = 0;
	for (uint32_t i = 0; i < p->jobs; i++) {
		for (uint32_t r = 0; r < p->rows; r++)
			raise_to(&column[variables(p)], fabs(p->row[i].z[r]) / p->row[i].root);
	}
}

static void pairs_divide(void *self, const double *row, const double *column)
{
	struct pairs *p = self;
	uint32_t n = variables(p);

	for (uint32_t v = 0; v < n; v++) {
		struct share *s = &p->share[v];

		s->one /= column[v];
		s->of_a /= column[v];
		s->of_b /= column[v];
		s->bound /= row[bound_row(p) + v] * column[v];
	}
	for (uint32_t i = 0; i < p->jobs; i++) {
		struct rows_of_job *own = &p->row[p->place[i]];

		own->limit /= row[i];
		for (uint32_t r = 0; r < p->rows; r++) {
			own->value[r] /= row[value_row(p, i, r)];
			own->z[r] /= row[value_row(p, i, r)] * (p->has_z ? column[n] : 1);
		}
	}
	for (uint32_t w = 0; w < p->types; w++)
		p->capacity[w] /= row[capacity_row(p) + w];
}

/* ---- multiplying */

/* The duals of the rows as the x see them: what multiplies one, of_a, of_b and gang * one. */
static void gather(const struct pairs *p, const double *y, double *q)
{
	for (uint32_t i = 0; i < p->jobs; i++) {
		const struct rows_of_job *own = &p->row[p->place[i]];
		double *to = q + PER_JOB * p->place[i], value = 0;

		for (uint32_t r = 0; r < p->rows; r++)
			value -= own->value[r] * y[value_row(p, i, r)];
		to[LIMIT] = own->limit * y[i];
		to[VALUE] = value;
	}
	q[order_of(p) + LIMIT] = q[order_of(p) + VALUE] = 0;
	for (uint32_t w = 0; w < p->types; w++)
		q[capacities_at(p) + w] = p->capacity[w] * y[capacity_row(p) + w];
}

/* The opposite: sums over the x, into rows. */
static void scatter(const struct pairs *p, const double *sum, double z, double *out)
{
	for (uint32_t i = 0; i < p->jobs; i++) {
		const struct rows_of_job *own = &p->row[p->place[i]];
		const double *of = sum + PER_JOB * p->place[i];

		out[i] = own->limit * of[LIMIT];
		for (uint32_t r = 0; r < p->rows; r++)
			out[value_row(p, i, r)] = own->z[r] * z - own->value[r] * of[VALUE];
	}
	for (uint32_t w = 0; w < p->types; w++)
		out[capacity_row(p) + w] = p->capacity[w] * sum[capacities_at(p) + w];
}

static double z_times(const struct pairs *p, const double *y)
{
	double sum = 0;

	for (uint32_t i = 0; i < p->jobs; i++) {
		for (uint32_t r = 0; r < p->rows; r++)
			sum += p->row[p->place[i]].z[r] * y[value_row(p, i, r)];
	}
	return sum;
}

static void pairs_multiply(const void *self, const double *x, const double *y, double *gx, double *gty)
{
	const struct pairs *p = self;
	const struct share *s = p->share;
	const double *y_bound = y + bound_row(p);
	double *gx_bound = gx + bound_row(p), *q = p->q[0], *sum = p->sum;
	double *capacity = sum + capacities_at(p);
	const double *price = q + capacities_at(p);

	gather(p, y, q);
	memset(sum, 0, (capacities_at(p) + p->types) * sizeof(*sum));
	for (uint32_t c = 0, v = 0; c < p->entries; c++) {
		const struct entry e = p->entry[c];
		double limits = q[e.a + LIMIT] + q[e.b + LIMIT], a = q[e.a + VALUE],
		       b = q[e.b + VALUE];
		double one = 0, of_a = 0, of_b = 0;

		for (uint32_t w = 0; w < p->types; w++, v++, s++) {
			gty[v] = s->one * (limits + e.gang * price[w]) + s->of_a * a + s->of_b * b -
				s->bound * y_bound[v];
			gx_bound[v] = -s->bound * x[v];
			one += s->one * x[v];
			of_a += s->of_a * x[v];
			of_b += s->of_b * x[v];
			capacity[w] += e.gang * s->one * x[v];
		}
		sum[e.a + LIMIT] += one;
		sum[e.b + LIMIT] += one;
		sum[e.a + VALUE] += of_a;
		sum[e.b + VALUE] += of_b;
	}
	scatter(p, sum, p->has_z ? x[variables(p)] : 0, gx);
	if (p->has_z)
		gty[variables(p)] = z_times(p, y);
}

const struct interior_shape pairs_shape = {
	.maxima = pairs_maxima,
	.divide = pairs_divide,
	.multiply = pairs_multiply,
	.factor = pairs_factor,
	.solve = pairs_newton,
};
