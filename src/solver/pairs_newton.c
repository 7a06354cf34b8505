/*
 * The Newton system of a program with pairs.
 */
#include <math.h>
#include <string.h>

#include "solver/pairs_parts.h"

/* Pivots this much smaller than their diagonal are rounding. */
static const double rounding = 1e-15;

/* Entries that a pass looks at for one right side, then for the other, while they are in the cache. */
enum { AT_ONCE = 128 };

struct range {
	uint32_t from, to;
};

static struct range range_from(const struct pairs *p, uint32_t first)
{
	return (struct range){ first, first + AT_ONCE < p->entries ? first + AT_ONCE : p->entries };
}

/* ---- factoring */

/*
 * Rows -value_r t + z_r z - d_r y_r = b_r with the same t, the job's value, act
 * on the x only through q = -sum value_r y_r.  Eliminating the y_r leaves one row
 *     t - ratio z - q / weight = side
 * and adds to z's own diagonal; returns that.  Differences that are zero with
 * one row are never formed by subtracting: the d_r may be tiny.
 */
static double merge_rows(struct rows_of_job *own, uint32_t rows)
{
	double mixed = 0, square = 0;

	own->weight = 0;
	for (uint32_t r = 0; r < rows; r++) {
		own->weight += own->value[r] * own->value[r] / own->value_d[r];
		mixed += own->value[r] * own->z[r] / own->value_d[r];
	}
	own->ratio = own->weight > 0 ? mixed / own->weight : 0;
	for (uint32_t r = 0; r < rows; r++) {
		uint32_t o = rows - 1 - r;
		double cross = own->z[r] * own->value[o] - own->value[r] * own->z[o];

		own->lift[r] = own->z[r];
		if (own->weight > 0)
			own->lift[r] = o == r ? 0
					      : own->value[o] * cross / own->value_d[o] / own->weight;
		if (own->weight == 0)
			square += own->z[r] * own->z[r] / own->value_d[r];
		else if (o == 0)
			square = cross * cross / (own->value_d[r] * own->value_d[o] * own->weight);
	}
	return square;
}

static void take_scaling(struct pairs *p, const double *d)
{
	const double *d_bound = d + bound_row(p);
	uint32_t n = variables(p);

	p->z_pivot = p->delta;
	for (uint32_t i = 0; i < p->jobs; i++) {
		struct rows_of_job *own = &p->row[p->place[i]];

		own->limit_d = d[i] + p->delta;
		for (uint32_t r = 0; r < p->rows; r++)
			own->value_d[r] = d[value_row(p, i, r)] + p->delta;
		p->z_pivot += merge_rows(own, p->rows);
	}
	for (uint32_t w = 0; w < p->types; w++)
		p->capacity_d[w] = d[capacity_row(p) + w] + p->delta;
	for (uint32_t v = 0; v < n; v++) {
		struct share *s = &p->share[v];
		double damped = d_bound[v] + p->delta;

		s->bound_inverse = 1 / damped;
		s->inverse = damped / (p->delta * damped + s->bound * s->bound);
	}
}

/* What the x of one entry add to the dense matrix: products of its rows' entries. */
struct products {
	double one_one, one_a, one_b, a_a, b_b, a_b;
};

static void add_to_rows(double *column, size_t stride, double limit, double mixed, double value)
{
	column[LIMIT] += limit;
	column[VALUE] += mixed;
	column[stride + VALUE] += value;
}

static void add_products(struct block *block, const struct entry *e, bool single,
	const struct products *t)
{
	size_t stride = block->matrix.stride;
	uint32_t a = e->a - PER_JOB * block->first, b = e->b - PER_JOB * block->first;
	double *at = block->matrix.at;

	add_to_rows(at + a * stride + a, stride, t->one_one, t->one_a, t->a_a);
	if (single)
		return;
	if (a == b) { /* two of a kind: both are in the same rows */
		add_to_rows(at + a * stride + a, stride, 3 * t->one_one, t->one_a + 2 * t->one_b,
			t->b_b + 2 * t->a_b);
		return;
	}
	add_to_rows(at + b * stride + b, stride, t->one_one, t->one_b, t->b_b);
	if (a < b) {
		at[a * stride + b + LIMIT] += t->one_one;
		at[a * stride + b + VALUE] += t->one_b;
		at[(a + VALUE) * stride + b + LIMIT] += t->one_a;
		at[(a + VALUE) * stride + b + VALUE] += t->a_b;
	} else {
		at[b * stride + a + LIMIT] += t->one_one;
		at[b * stride + a + VALUE] += t->one_a;
		at[(b + VALUE) * stride + a + LIMIT] += t->one_b;
		at[(b + VALUE) * stride + a + VALUE] += t->a_b;
	}
}

static struct products products_of(struct pairs *p, const struct entry *e, const struct share *s)
{
	struct products t = { 0 };
	uint32_t order = order_of(p);

	for (uint32_t w = 0; w < p->types; w++, s++) {
		double one = s->one * s->inverse, a = s->of_a * s->inverse, b = s->of_b * s->inverse;
		double used = e->gang * s->one;
		double *border = p->border + (size_t)w * (order + PER_JOB);

		t.one_one += one * s->one;
		t.one_a += one * s->of_a;
		t.one_b += one * s->of_b;
		t.a_a += a * s->of_a;
		t.b_b += b * s->of_b;
		t.a_b += a * s->of_b;
		border[e->a + LIMIT] += used * one;
		border[e->a + VALUE] += used * a;
		border[e->b + LIMIT] += used * one;
		border[e->b + VALUE] += used * b;
		p->corner[w * p->types + w] += used * used * s->inverse;
	}
	return t;
}

static void form_diagonal(struct pairs *p, struct block *block)
{
	for (uint32_t i = 0; i < block->jobs; i++) {
		const struct rows_of_job *own = &p->row[block->first + i];
		size_t at = (size_t)PER_JOB * i, stride = block->matrix.stride;

		block->matrix.at[at * stride + at] = own->limit_d / (own->limit * own->limit);
		at += VALUE;
		block->matrix.at[at * stride + at] = own->weight > 0 ? 1 / own->weight : 1;
	}
}

static void form(struct pairs *p)
{
	uint32_t block = 0;

	memset(p->border, 0, (size_t)p->types * (order_of(p) + PER_JOB) * sizeof(double));
	memset(p->corner, 0, (size_t)p->types * p->types * sizeof(double));
	for (uint32_t b = 0; b < p->blocks; b++) {
		dense_clear(&p->block[b].matrix);
		form_diagonal(p, &p->block[b]);
	}
	for (uint32_t w = 0; w < p->types; w++)
		p->corner[w * p->types + w] = p->capacity_d[w] / (p->capacity[w] * p->capacity[w]);
	for (uint32_t c = 0; c < p->entries; c++) {
		const struct entry *e = &p->entry[c];
		struct products t = products_of(p, e, p->share + (size_t)c * p->types);
		uint32_t place = e->a / PER_JOB;

		while (place < p->block[block].first)
			block--;
		while (place >= p->block[block].first + p->block[block].jobs)
			block++;
		add_products(&p->block[block], e, e->b >= order_of(p), &t);
	}
}

static double product(const double *a, const double *b, uint32_t n)
{
	double sum[4] = { 0 };
	uint32_t i;

	for (i = 0; i + 4 <= n; i += 4) {
		for (uint32_t k = 0; k < 4; k++)
			sum[k] += a[i + k] * b[i + k];
	}
	for (; i < n; i++)
		sum[0] += a[i] * b[i];
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* L^-1 on the dense rows of all blocks, or its transpose. */
static void solve_blocks(const struct pairs *p, double *q,
	void (*solve)(const struct dense *, double *))
{
	for (uint32_t b = 0; b < p->blocks; b++)
		solve(&p->block[b].matrix, q + PER_JOB * p->block[b].first);
}

/*
 * Cholesky of the few rows of capacities, by rows: corner[r][c], c <= r.  A
 * pivot that is only rounding compared to `least` leaves its row out.
 */
static bool factor_corner(double *m, uint32_t n, const double *least)
{
	for (uint32_t r = 0; r < n; r++) {
		for (uint32_t c = 0; c <= r; c++) {
			double sum = m[r * n + c];

			for (uint32_t k = 0; k < c; k++)
				sum -= m[r * n + k] * m[c * n + k];
			if (r != c)
				m[r * n + c] = sum / m[c * n + c];
			else
				m[r * n + r] = sum > least[r] ? sqrt(sum) : 1e64;
			if (!isfinite(m[r * n + c]))
				return false;
		}
	}
	return true;
}

static void solve_corner(const double *m, uint32_t n, double *x)
{
	for (uint32_t r = 0; r < n; r++) {
		for (uint32_t k = 0; k < r; k++)
			x[r] -= m[r * n + k] * x[k];
		x[r] /= m[r * n + r];
	}
	for (uint32_t r = n; r-- > 0;) {
		for (uint32_t k = r + 1; k < n; k++)
			x[r] -= m[k * n + r] * x[k];
		x[r] /= m[r * n + r];
	}
}

static double *border_of(const struct pairs *p, uint32_t w)
{
	return p->border + (size_t)w * (order_of(p) + PER_JOB);
}

static bool factor_border(struct pairs *p)
{
	uint32_t order = order_of(p);

	for (uint32_t w = 0; w < p->types; w++) {
		p->corner_least[w] = rounding * p->corner[w * p->types + w];
		solve_blocks(p, border_of(p, w), dense_solve_lower);
		for (uint32_t u = 0; u <= w; u++)
			p->corner[w * p->types + u] -= product(border_of(p, w), border_of(p, u), order);
	}
	return factor_corner(p->corner, p->types, p->corner_least);
}

/* q := M^-1 q over dense rows and capacities. */
static void solve_rows(const struct pairs *p, double *q)
{
	uint32_t order = order_of(p);
	double *price = q + capacities_at(p);

	solve_blocks(p, q, dense_solve_lower);
	for (uint32_t w = 0; w < p->types; w++)
		price[w] -= product(border_of(p, w), q, order);
	solve_corner(p->corner, p->types, price);
	for (uint32_t w = 0; w < p->types; w++) {
		const double *border = border_of(p, w);

		for (uint32_t i = 0; i < order; i++)
			q[i] -= border[i] * price[w];
	}
	solve_blocks(p, q, dense_solve_upper);
}

/* z's column is -ratio in the merged value rows; the product of such a column with q. */
static double z_column_times(const struct pairs *p, const double *q)
{
	double sum = 0;

	for (uint32_t i = 0; i < p->jobs; i++)
		sum -= p->row[i].ratio * q[PER_JOB * i + VALUE];
	return sum;
}

static bool factor_z(struct pairs *p)
{
	if (!p->has_z)
		return true;
	memset(p->z_side, 0, (capacities_at(p) + p->types) * sizeof(double));
	for (uint32_t i = 0; i < p->jobs; i++)
		p->z_side[PER_JOB * i + VALUE] = -p->row[i].ratio;
	solve_rows(p, p->z_side);
	p->z_pivot += z_column_times(p, p->z_side);
	return p->z_pivot > 0 && isfinite(p->z_pivot);
}

bool pairs_factor(void *self, const struct interior_scaling *scaling)
{
	struct pairs *p = self;

	p->delta = scaling->delta;
	take_scaling(p, scaling->d);
	form(p);
	for (uint32_t b = 0; b < p->blocks; b++) {
		if (!dense_factor(&p->block[b].matrix, rounding))
			return false;
	}
	return factor_border(p) && factor_z(p);
}

/* ---- solving */

/* Sums of rows times the x that a right side alone would ask for. */
static void sum_side(const struct pairs *p, struct range range, const struct interior_pair *side,
	double *restrict sum)
{
	uint32_t types = p->types, v = range.from * types;
	const struct share *restrict s = p->share + v;
	const double *restrict a = side->x, *restrict b = side->y + bound_row(p);
	double *restrict capacity = sum + capacities_at(p);

	for (const struct entry *e = p->entry + range.from; e < p->entry + range.to; e++) {
		double one = 0, of_a = 0, of_b = 0;

		for (uint32_t w = 0; w < types; w++, v++, s++) {
			double x = s->inverse * (a[v] - s->bound * s->bound_inverse * b[v]);

			one += s->one * x;
			of_a += s->of_a * x;
			of_b += s->of_b * x;
			capacity[w] += e->gang * s->one * x;
		}
		sum[e->a + LIMIT] += one;
		sum[e->a + VALUE] += of_a;
		sum[e->b + LIMIT] += one;
		sum[e->b + VALUE] += of_b;
	}
}

static void sum_sides(const struct pairs *p, uint32_t count, const struct interior_pair *side)
{
	for (uint32_t k = 0; k < count; k++)
		memset(p->q[k], 0, (capacities_at(p) + p->types) * sizeof(double));
	for (uint32_t c = 0; c < p->entries; c += AT_ONCE) {
		for (uint32_t k = 0; k < count; k++)
			sum_side(p, range_from(p, c), &side[k], p->q[k]);
	}
}

/* Subtracts the rows' own right sides, merged; returns that of z. */
static double subtract_rows(const struct pairs *p, const double *b, double *q)
{
	double z = 0;

	for (uint32_t i = 0; i < p->jobs; i++) {
		const struct rows_of_job *own = &p->row[p->place[i]];
		double *to = q + PER_JOB * p->place[i], mixed = 0;

		for (uint32_t r = 0; r < p->rows; r++) {
			double each = b[value_row(p, i, r)] / own->value_d[r];

			mixed += own->value[r] * each;
			z += own->lift[r] * each;
		}
		to[LIMIT] -= b[i] / own->limit;
		to[VALUE] = own->weight > 0 ? to[VALUE] + mixed / own->weight : 0;
	}
	for (uint32_t w = 0; w < p->types; w++)
		q[capacities_at(p) + w] -= b[capacity_row(p) + w] / p->capacity[w];
	q[order_of(p) + LIMIT] = q[order_of(p) + VALUE] = 0; /* the row nobody reads */
	return z;
}

static double solve_z(const struct pairs *p, double side, double *q)
{
	uint32_t n = capacities_at(p) + p->types;
	double z;

	z = (side - z_column_times(p, q)) / p->z_pivot;
	for (uint32_t i = 0; i < n; i++)
		q[i] += p->z_side[i] * z;
	return z;
}

/* The x and their bounds' duals for given q. */
static void find_x_in(const struct pairs *p, struct range range, const struct interior_pair *side,
	const double *restrict q, const struct interior_pair *answer)
{
	uint32_t types = p->types, v = range.from * types;
	const struct share *restrict s = p->share + v;
	const double *restrict a = side->x, *restrict b = side->y + bound_row(p);
	const double *restrict price = q + capacities_at(p);
	double *restrict x = answer->x, *restrict y = answer->y + bound_row(p);

	for (const struct entry *e = p->entry + range.from; e < p->entry + range.to; e++) {
		double limits = q[e->a + LIMIT] + q[e->b + LIMIT], qa = q[e->a + VALUE],
		       qb = q[e->b + VALUE];

		for (uint32_t w = 0; w < types; w++, v++, s++) {
			double by_bound = s->bound_inverse * b[v];
			double pull = s->one * (limits + e->gang * price[w]) + s->of_a * qa +
				s->of_b * qb;

			x[v] = s->inverse * (a[v] - s->bound * by_bound - pull);
			y[v] = -(s->bound * s->bound_inverse * x[v] + by_bound);
		}
	}
}

static void find_x(const struct pairs *p, uint32_t count, const struct interior_pair *side,
	const struct interior_pair *answer)
{
	for (uint32_t c = 0; c < p->entries; c += AT_ONCE) {
		for (uint32_t k = 0; k < count; k++)
			find_x_in(p, range_from(p, c), &side[k], p->q[k], &answer[k]);
	}
}

/* The duals of a job's value rows from their merged q. */
static void part_rows(const struct rows_of_job *own, uint32_t rows, double q, double z,
	const double *b, double *y)
{
	for (uint32_t r = 0; r < rows; r++) {
		uint32_t o = rows - 1 - r;
		double cross = own->value[r] * b[o] - own->value[o] * b[r];

		if (own->weight == 0)
			y[r] = (own->z[r] * z - b[r]) / own->value_d[r];
		else if (o == r)
			y[r] = -q / own->value[r];
		else
			y[r] = (own->lift[r] * z -
				       (own->value[r] * q - own->value[o] * cross / own->value_d[o]) /
					       own->weight) /
				own->value_d[r];
	}
}

static void find_y(const struct pairs *p, const double *b, const double *q, double z, double *y)
{
	for (uint32_t i = 0; i < p->jobs; i++) {
		const struct rows_of_job *own = &p->row[p->place[i]];
		const double *of = q + PER_JOB * p->place[i];
		uint32_t first = value_row(p, i, 0);

		y[i] = of[LIMIT] / own->limit;
		part_rows(own, p->rows, of[VALUE], z, b + first, y + first);
	}
	for (uint32_t w = 0; w < p->types; w++)
		y[capacity_row(p) + w] = q[capacities_at(p) + w] / p->capacity[w];
}

void pairs_newton(void *self, uint32_t count, const struct interior_pair *side,
	const struct interior_pair *answer)
{
	struct pairs *p = self;
	uint32_t n = variables(p);

	sum_sides(p, count, side);
	for (uint32_t k = 0; k < count; k++) {
		double z = subtract_rows(p, side[k].y, p->q[k]);

		solve_rows(p, p->q[k]);
		if (p->has_z)
			z = answer[k].x[n] = solve_z(p, side[k].x[n] + z, p->q[k]);
		find_y(p, side[k].y, p->q[k], z, answer[k].y);
	}
	find_x(p, count, side, answer);
}
