/*
 * The linear share program.  Variables: block by block, in a block type by
 * type; z last.  Rows: block by block, in a block the private rows and then the
 * bounds; the capacities last.
 */
#include "solver/arrow.h"

#include <assert.h>
#include <math.h>

#include "solver/arrow_core.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

/*
 * Calls with rows the compiler knows, and types where there are the usual ones.
 */
#define WITH_CONSTANTS(core, call) \
	do \
		switch ((core)->types * 4 + (core)->rows) { \
		case 2 * 4 + 2: \
			call(2, 2); \
			break; \
		case 3 * 4 + 1: \
			call(3, 1); \
			break; \
		case 3 * 4 + 2: \
			call(3, 2); \
			break; \
		case 3 * 4 + 3: \
			call(3, 3); \
			break; \
		case 4 * 4 + 2: \
			call(4, 2); \
			break; \
		default: \
			if ((core)->rows == 1) \
				call((core)->types, 1); \
			else if ((core)->rows == 2) \
				call((core)->types, 2); \
			else \
				call((core)->types, 3); \
		} \
	while (0)

struct linear {
	struct arrow_core core;
	uint32_t slots; /* rows and bounds of a job */
};

/* ---- equilibration */

TWO_INLINE two absolute(two v)
{
	return two_larger(v, -v);
}

TWO_INLINE void maxima_blocks(const struct linear *l, uint32_t from, uint32_t to, uint32_t many,
	double *row, double *column, two *capacity, two *z)
{
	uint32_t types = l->core.types, rows = l->core.rows;

	for (size_t b = from; b < to; b++) {
		const two *v = l->core.matrix + b * arrow_matrix_size(types, rows);
		const two *g = v + rows * types, *alpha = g + rows, *beta = alpha + types;
		double *own_row = row + 2 * b * l->slots, *own = column + 2 * b * types;
		two most[ARROW_ROWS_MAX];

		for (uint32_t k = 0; k < rows; k++) {
			most[k] = absolute(g[k]);
			*z = two_larger(*z, most[k]);
		}
		for (uint32_t w = 0; w < types; w++) {
			two here = two_larger(alpha[w], beta[w]);

			capacity[w] = two_larger(capacity[w], alpha[w]);
			two_store(own_row + (rows + w) * many, beta[w], many);
			for (uint32_t k = 0; k < rows; k++) {
				two entry = absolute(v[k * types + w]);

				here = two_larger(here, entry);
				most[k] = two_larger(most[k], entry);
			}
			two_store(own + w * many, here, many);
		}
		for (uint32_t k = 0; k < rows; k++)
			two_store(own_row + k * many, most[k], many);
	}
}

static void linear_maxima(const void *self, double *row, double *column)
{
	const struct linear *l = self;
	const struct arrow_core *core = &l->core;
	two capacity[ARROW_TYPES_MAX] = { { 0 } }, z = { 0 };

	maxima_blocks(l, 0, core->jobs / 2, 2, row, column, capacity, &z);
	maxima_blocks(l, core->jobs / 2, core->blocks, 1, row, column, capacity, &z);
	for (uint32_t w = 0; w < core->types; w++)
		row[(size_t)core->jobs * l->slots + w] = two_largest(capacity[w]);
	if (core->has_z)
		column[(size_t)core->jobs * core->types] = two_largest(z);
}

TWO_INLINE void divide_blocks(struct linear *l, uint32_t from, uint32_t to, uint32_t many,
	const double *row, const double *column)
{
	uint32_t types = l->core.types, rows = l->core.rows;
	const double *last = row + (size_t)l->core.jobs * l->slots;
	double z = l->core.has_z ? column[(size_t)l->core.jobs * types] : 1;

	for (size_t b = from; b < to; b++) {
		two *v = l->core.matrix + b * arrow_matrix_size(types, rows), *g = v + rows * types;
		two *alpha = g + rows, *beta = alpha + types;
		const double *own_row = row + 2 * b * l->slots, *own = column + 2 * b * types;

		for (uint32_t w = 0; w < types; w++) {
			two here = two_load(own + w * many, many);

			for (uint32_t k = 0; k < rows; k++)
				v[k * types + w] /= two_load(own_row + k * many, many) * here;
			alpha[w] /= last[w] * here;
			beta[w] /= two_load(own_row + (rows + w) * many, many) * here;
		}
		for (uint32_t k = 0; k < rows; k++)
			g[k] /= two_load(own_row + k * many, many) * z;
	}
}

static void linear_divide(void *self, const double *row, const double *column)
{
	struct linear *l = self;

	divide_blocks(l, 0, l->core.jobs / 2, 2, row, column);
	divide_blocks(l, l->core.jobs / 2, l->core.blocks, 1, row, column);
}

/* ---- G x and G'y */

TWO_INLINE void multiply_block(uint32_t types, uint32_t rows, const two *matrix, uint32_t many,
	const double *x, double z, const double *y, const double *y_c, double *gx, double *gty,
	two *capacity, two *z_sum)
{
	const two *v = matrix, *g = v + rows * types, *alpha = g + rows, *beta = alpha + types;

	for (uint32_t k = 0; k < rows; k++) {
		two sum = g[k] * z;

		for (uint32_t w = 0; w < types; w++)
			sum += v[k * types + w] * two_load(x + w * many, many);
		two_store(gx + k * many, sum, many);
		*z_sum += g[k] * two_load(y + k * many, many);
	}
	for (uint32_t w = 0; w < types; w++) {
		two value = two_load(x + w * many, many), sum = alpha[w] * y_c[w];

		for (uint32_t k = 0; k < rows; k++)
			sum += v[k * types + w] * two_load(y + k * many, many);
		sum -= beta[w] * two_load(y + (rows + w) * many, many);
		two_store(gty + w * many, sum, many);
		two_store(gx + (rows + w) * many, -beta[w] * value, many);
		capacity[w] += alpha[w] * value;
	}
}

TWO_INLINE void multiply_blocks(const struct linear *l, uint32_t types, uint32_t rows,
	uint32_t from, uint32_t to, uint32_t many, const double *x, const double *y, double *gx,
	double *gty, two *capacity, two *z_sum)
{
	const double *y_c = y + (size_t)l->core.jobs * (rows + types);
	double z = l->core.has_z ? x[(size_t)l->core.jobs * types] : 0;

	for (size_t b = from; b < to; b++) {
		size_t at_x = 2 * b * types, at_y = 2 * b * (rows + types);

		multiply_block(types, rows, l->core.matrix + b * arrow_matrix_size(types, rows),
			many, x + at_x, z, y + at_y, y_c, gx + at_y, gty + at_x, capacity, z_sum);
	}
}

static void linear_multiply(const void *self, const double *x, const double *y, double *gx, double *gty)
{
	const struct linear *l = self;
	const struct arrow_core *core = &l->core;
	uint32_t types = core->types, full = core->jobs / 2;
	two sums[ARROW_TYPES_MAX] = { { 0 } }, tail[ARROW_TYPES_MAX] = { { 0 } };
	two z_sum = { 0 }, z_tail = { 0 };

#define CALL(t, k) multiply_blocks(l, t, k, 0, full, 2, x, y, gx, gty, sums, &z_sum)
	WITH_CONSTANTS(core, CALL);
#undef CALL
	multiply_blocks(l, types, core->rows, full, core->blocks, 1, x, y, gx, gty, tail, &z_tail);
	for (uint32_t w = 0; w < types; w++)
		gx[(size_t)core->jobs * l->slots + w] = sums[w][0] + sums[w][1] + tail[w][0];
	if (core->has_z)
		gty[(size_t)core->jobs * types] = z_sum[0] + z_sum[1] + z_tail[0];
}

/* ---- the Newton system */

TWO_INLINE void factor_blocks(struct linear *l, uint32_t types, uint32_t rows, uint32_t from,
	uint32_t to, uint32_t many, const double *d, double delta, struct arrow_sums *sums)
{
	for (size_t b = from; b < to; b++) {
		const two *matrix = l->core.matrix + b * arrow_matrix_size(types, rows);
		two *record = l->core.factor + b * arrow_factor_size(types, rows);
		const double *own = d + 2 * b * (rows + types);
		two own_d[ARROW_ROWS_MAX];

		arrow_bounds(types, matrix + rows * types + rows + types, own + rows * many, many,
			delta, record, record + types);
		for (uint32_t k = 0; k < rows; k++)
			own_d[k] = two_load(own + k * many, many) + delta;
		arrow_factor_block(types, rows, matrix, own_d, record, sums);
	}
}

static bool linear_factor(void *self, const struct interior_scaling *scaling)
{
	struct linear *l = self;
	struct arrow_core *core = &l->core;
	uint32_t types = core->types, full = core->jobs / 2;
	struct arrow_sums sums, tail;

	arrow_sums_clear(&sums, types);
	arrow_sums_clear(&tail, types);
#define CALL(t, k) factor_blocks(l, t, k, 0, full, 2, scaling->d, scaling->delta, &sums)
	WITH_CONSTANTS(core, CALL);
#undef CALL
	factor_blocks(l, types, core->rows, full, core->blocks, 1, scaling->d, scaling->delta, &tail);
	arrow_sums_add_tail(&sums, &tail, types);
	return arrow_core_close(core, &sums, scaling->d + (size_t)core->jobs * l->slots,
		scaling->delta, 0);
}

TWO_INLINE void forward_blocks(const struct linear *l, uint32_t types, uint32_t rows,
	uint32_t count, uint32_t from, uint32_t to, uint32_t many, const struct interior_pair *side,
	const struct interior_pair *answer, struct arrow_middle *mid)
{
	for (size_t b = from; b < to; b++) {
		const two *matrix = l->core.matrix + b * arrow_matrix_size(types, rows);
		const two *record = l->core.factor + b * arrow_factor_size(types, rows);
		size_t at_x = 2 * b * types, at_y = 2 * b * (rows + types);

		for (uint32_t i = 0; i < count; i++) {
			const double *right = side[i].y + at_y;
			two own[ARROW_ROWS_MAX], y[ARROW_ROWS_MAX];

			for (uint32_t k = 0; k < rows; k++)
				own[k] = two_load(right + k * many, many);
			arrow_forward_block(types, rows, matrix, record, side[i].x + at_x, own,
				right + rows * many, many, answer[i].x + at_x, y, mid->side[i],
				&mid->z_side[i]);
			for (uint32_t k = 0; k < rows; k++)
				two_store(answer[i].y + at_y + k * many, y[k], many);
		}
	}
}

TWO_INLINE void backward_blocks(const struct linear *l, uint32_t types, uint32_t rows,
	uint32_t count, uint32_t from, uint32_t to, uint32_t many, const struct interior_pair *side,
	const struct interior_pair *answer, const struct arrow_middle *mid)
{
	for (size_t b = from; b < to; b++) {
		const two *matrix = l->core.matrix + b * arrow_matrix_size(types, rows);
		const two *record = l->core.factor + b * arrow_factor_size(types, rows);
		size_t at_x = 2 * b * types, at_y = 2 * b * (rows + types);

		for (uint32_t i = 0; i < count; i++) {
			double *to_y = answer[i].y + at_y;
			two y[ARROW_ROWS_MAX];

			for (uint32_t k = 0; k < rows; k++)
				y[k] = two_load(to_y + k * many, many);
			arrow_backward_block(types, rows, matrix, record, mid->y[i], mid->z[i],
				side[i].y + at_y + rows * many, many, answer[i].x + at_x, y,
				to_y + rows * many);
			for (uint32_t k = 0; k < rows; k++)
				two_store(to_y + k * many, y[k], many);
		}
	}
}

/* The capacities' duals and z of one right side. */
static void solve_middle(const struct linear *l, const struct interior_pair *side,
	const struct interior_pair *answer, uint32_t i, struct arrow_middle *mid,
	const struct arrow_middle *tail)
{
	const struct arrow_core *core = &l->core;
	size_t last = (size_t)core->jobs * l->slots, z = (size_t)core->jobs * core->types;

	arrow_core_middle(core, side->y + last, core->has_z ? side->x[z] : 0, i, mid, tail);
	memcpy(answer->y + last, mid->y[i], core->types * sizeof(double));
	if (core->has_z)
		answer->x[z] = mid->z[i];
}

static void linear_solve(void *self, uint32_t count, const struct interior_pair *side,
	const struct interior_pair *answer)
{
	const struct linear *l = self;
	const struct arrow_core *core = &l->core;
	uint32_t types = core->types, full = core->jobs / 2, rows = core->rows;
	struct arrow_middle mid, tail;

	arrow_middle_clear(&mid, types);
	arrow_middle_clear(&tail, types);
#define CALL(t, k) forward_blocks(l, t, k, count, 0, full, 2, side, answer, &mid)
	WITH_CONSTANTS(core, CALL);
#undef CALL
	forward_blocks(l, types, rows, count, full, core->blocks, 1, side, answer, &tail);
	for (uint32_t i = 0; i < count; i++)
		solve_middle(l, &side[i], &answer[i], i, &mid, &tail);
#define CALL(t, k) backward_blocks(l, t, k, count, 0, full, 2, side, answer, &mid)
	WITH_CONSTANTS(core, CALL);
#undef CALL
	backward_blocks(l, types, rows, count, full, core->blocks, 1, side, answer, &mid);
}

/* ---- from the program and back */

static const struct interior_shape linear_shape = {
	.maxima = linear_maxima,
	.divide = linear_divide,
	.multiply = linear_multiply,
	.factor = linear_factor,
	.solve = linear_solve,
};

static void write_matrix(struct linear *l, const struct arrow *p)
{
	uint32_t types = p->types, rows = p->rows;

	for (uint32_t i = 0; i < p->jobs; i++) {
		for (uint32_t at = 0; at < rows * types; at++)
			*arrow_at(&l->core, i, at) = p->v[(size_t)i * rows * types + at];
		for (uint32_t k = 0; k < rows; k++)
			*arrow_at(&l->core, i, rows * types + k) = p->g ? p->g[(size_t)i * rows + k]
									: 0;
		for (uint32_t w = 0; w < types; w++) {
			*arrow_at(&l->core, i, rows * types + rows + w) = p->gang[i];
			*arrow_at(&l->core, i, rows * types + rows + types + w) = 1;
		}
	}
	arrow_core_pad(&l->core);
}

static void write_vectors(const struct linear *l, const struct arrow *p, double *c, double *h)
{
	for (uint32_t i = 0; i < p->jobs; i++) {
		struct arrow_place x = arrow_place_of(&l->core, i, p->types);
		struct arrow_place y = arrow_place_of(&l->core, i, l->slots);

		for (uint32_t w = 0; p->cost && w < p->types; w++)
			c[x.first + w * x.apart] = p->cost[(size_t)i * p->types + w];
		for (uint32_t k = 0; k < p->rows; k++)
			h[y.first + k * y.apart] = p->h[(size_t)i * p->rows + k];
	}
	memcpy(h + (size_t)p->jobs * l->slots, p->capacity, p->types * sizeof(double));
	if (p->g)
		c[(size_t)p->jobs * p->types] = p->z_cost;
}

static void read_answer(const struct linear *l, const struct arrow *p,
	const struct interior_answer *found, struct arrow_answer *answer)
{
	for (uint32_t i = 0; i < p->jobs; i++) {
		struct arrow_place x = arrow_place_of(&l->core, i, p->types);
		struct arrow_place y = arrow_place_of(&l->core, i, l->slots);

		for (uint32_t w = 0; w < p->types; w++)
			answer->x[(size_t)i * p->types + w] =
				fmin(fmax(found->x[x.first + w * x.apart], 0), 1);
		for (uint32_t k = 0; answer->row_duals && k < p->rows; k++)
			answer->row_duals[(size_t)i * p->rows + k] = found->y[y.first + k * y.apart];
	}
	if (answer->prices)
		memcpy(answer->prices, found->y + (size_t)p->jobs * l->slots,
			p->types * sizeof(double));
	answer->z = p->g ? found->x[(size_t)p->jobs * p->types] : 0;
	answer->objective = found->objective;
}

static const uint32_t small_program = 8192; /* variables */

static void solve_in_manner(const struct arrow *p, const struct arrow_manner *manner,
	struct arrow_answer *answer, struct arena *work)
{
	struct linear l = { .slots = p->rows + p->types };
	uint32_t n = p->jobs * p->types + !!p->g, m = p->jobs * l.slots + p->types;
	double *c = arena_array(work, double, n), *h = arena_array(work, double, m);
	struct interior_answer found = {
		.x = arena_array(work, double, n),
		.y = answer->prices || answer->row_duals ? arena_array(work, double, m) : NULL,
	};
	struct interior_problem problem = {
		.shape = &linear_shape,
		.self = &l,
		.n = n,
		.lines = m,
		.c = c,
		.h = h,
		.delta = manner->delta,
		.refine_true = manner->refine_true,
		.work = work,
	};

	arrow_core_init(&l.core, p->jobs, p->types, p->rows, p->g != NULL, work);
	write_matrix(&l, p);
	write_vectors(&l, p, c, h);
	interior_solve(&problem, &found);
	answer->status = found.status;
	answer->iterations += found.iterations;
	answer->residual = found.residual;
	if (found.status == INTERIOR_OPTIMAL ||
		(found.status == INTERIOR_STALLED && found.residual < 1e-6))
		read_answer(&l, p, &found, answer);
}

void arrow_solve(const struct arrow *program, struct arrow_answer *answer)
{
	struct arena own = { 0 }, *work = answer->work ? answer->work : &own;
	bool small = program->jobs * program->types <= small_program;
	enum arrow_manner_name first = small ? ARROW_PUBLISHED : ARROW_EXACT;
	enum arrow_manner_name second = small ? ARROW_EXACT : ARROW_PUBLISHED;

	assert(program->jobs && program->types && program->types <= ARROW_TYPES_MAX);
	assert(program->rows && program->rows <= ARROW_ROWS_MAX);
	answer->iterations = 0;
	solve_in_manner(program, &arrow_manners[first], answer, work);
	if (answer->status == INTERIOR_STALLED)
		solve_in_manner(program, &arrow_manners[second], answer, work);
	arena_fini(&own);
}
