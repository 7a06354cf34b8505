/*
 * The linear share program.  Variables: block by block, in a block type by
 * type; z last.  Rows: block by block, in a block the private rows and then the
 * bounds; the capacities last.
 */
#include "solver/arrow.h"

#include <assert.h>
#include <math.h>

#include "solver/arrow_core.h"

/* Both builds; arrow_solve() chooses. */
void arrow_solve_narrow(const struct arrow *program, struct arrow_answer *answer);
void arrow_solve_wide(const struct arrow *program, struct arrow_answer *answer);

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

FOUR_INLINE four absolute(four v)
{
	return four_larger(v, -v);
}

FOUR_INLINE void maxima_blocks(const struct linear *l, uint32_t from, uint32_t to, uint32_t many,
	double *row, double *column, four *capacity, four *z)
{
	uint32_t types = l->core.types, rows = l->core.rows;

	for (size_t b = from; b < to; b++) {
		const four *v = l->core.matrix + b * arrow_matrix_size(types, rows);
		const four *g = v + rows * types, *alpha = g + rows, *beta = alpha + types;
		double *own_row = row + 4 * b * l->slots, *own = column + 4 * b * types;
		four most[ARROW_ROWS_MAX], single = arrow_single(&l->core, b);

		for (uint32_t k = 0; k < rows; k++) {
			most[k] = absolute(g[k]) * single;
			*z = four_larger(*z, most[k]);
		}
		for (uint32_t w = 0; w < types; w++) {
			four gang = alpha[w] * single, here = four_larger(gang, beta[w]);

			capacity[w] = four_larger(capacity[w], gang);
			four_store(own_row + (rows + w) * many, beta[w], many);
			for (uint32_t k = 0; k < rows; k++) {
				four entry = absolute(v[k * types + w]);

				here = four_larger(here, entry);
				most[k] = four_larger(most[k], entry);
			}
			four_store(own + w * many, here, many);
		}
		for (uint32_t k = 0; k < rows; k++)
			four_store(own_row + k * many, most[k], many);
	}
}

static void linear_maxima(const void *self, double *row, double *column)
{
	const struct linear *l = self;
	const struct arrow_core *core = &l->core;
	four capacity[ARROW_TYPES_MAX], z = { 0 };

	memset(capacity, 0, core->types * sizeof(*capacity));
	maxima_blocks(l, 0, core->jobs / 4, 4, row, column, capacity, &z);
	maxima_blocks(l, core->jobs / 4, core->blocks, core->jobs % 4, row, column, capacity, &z);
	for (uint32_t w = 0; w < core->types; w++)
		row[(size_t)core->jobs * l->slots + w] = four_largest(capacity[w]);
	if (core->has_z)
		column[(size_t)core->jobs * core->types] = four_largest(z);
}

FOUR_INLINE void divide_blocks(struct linear *l, uint32_t from, uint32_t to, uint32_t many,
	const double *row, const double *column)
{
	uint32_t types = l->core.types, rows = l->core.rows;
	const double *last = row + (size_t)l->core.jobs * l->slots;
	double z = l->core.has_z ? column[(size_t)l->core.jobs * types] : 1;

	for (size_t b = from; b < to; b++) {
		four *v = l->core.matrix + b * arrow_matrix_size(types, rows), *g = v + rows * types;
		four *alpha = g + rows, *beta = alpha + types;
		const double *own_row = row + 4 * b * l->slots, *own = column + 4 * b * types;

		for (uint32_t w = 0; w < types; w++) {
			four here = four_load(own + w * many, many);

			for (uint32_t k = 0; k < rows; k++)
				v[k * types + w] /= four_load(own_row + k * many, many) * here;
			alpha[w] /= last[w] * here;
			beta[w] /= four_load(own_row + (rows + w) * many, many) * here;
		}
		for (uint32_t k = 0; k < rows; k++)
			g[k] /= four_load(own_row + k * many, many) * z;
	}
}

static void linear_divide(void *self, const double *row, const double *column)
{
	struct linear *l = self;

	divide_blocks(l, 0, l->core.jobs / 4, 4, row, column);
	divide_blocks(l, l->core.jobs / 4, l->core.blocks, l->core.jobs % 4, row, column);
}

/* ---- G x and G'y */

FOUR_INLINE void multiply_block(uint32_t types, uint32_t rows, const four *matrix, uint32_t many,
	const double *x, double z, const double *y, const double *y_c, double *gx, double *gty,
	four *capacity, four *z_sum)
{
	const four *v = matrix, *g = v + rows * types, *alpha = g + rows, *beta = alpha + types;

	for (uint32_t k = 0; k < rows; k++) {
		four sum = g[k] * z;

		for (uint32_t w = 0; w < types; w++)
			sum += v[k * types + w] * four_load(x + w * many, many);
		four_store(gx + k * many, sum, many);
		*z_sum += g[k] * four_load(y + k * many, many);
	}
	for (uint32_t w = 0; w < types; w++) {
		four value = four_load(x + w * many, many), sum = alpha[w] * y_c[w];

		for (uint32_t k = 0; k < rows; k++)
			sum += v[k * types + w] * four_load(y + k * many, many);
		sum -= beta[w] * four_load(y + (rows + w) * many, many);
		four_store(gty + w * many, sum, many);
		four_store(gx + (rows + w) * many, -beta[w] * value, many);
		capacity[w] += alpha[w] * value;
	}
}

FOUR_INLINE void multiply_blocks(const struct linear *l, uint32_t types, uint32_t rows,
	uint32_t from, uint32_t to, uint32_t many, const double *x, const double *y, double *gx,
	double *gty, four *capacity, four *z_sum)
{
	const double *y_c = y + (size_t)l->core.jobs * (rows + types);
	double z = l->core.has_z ? x[(size_t)l->core.jobs * types] : 0;

	for (size_t b = from; b < to; b++) {
		size_t at_x = 4 * b * types, at_y = 4 * b * (rows + types);

		multiply_block(types, rows, l->core.matrix + b * arrow_matrix_size(types, rows),
			many, x + at_x, z, y + at_y, y_c, gx + at_y, gty + at_x, capacity, z_sum);
	}
}

static void linear_multiply(const void *self, const double *x, const double *y, double *gx, double *gty)
{
	const struct linear *l = self;
	const struct arrow_core *core = &l->core;
	uint32_t types = core->types, full = core->jobs / 4, left = core->jobs % 4;
	four sums[ARROW_TYPES_MAX], tail[ARROW_TYPES_MAX];
	four z_sum = { 0 }, z_tail = { 0 };

	memset(sums, 0, types * sizeof(*sums));
	memset(tail, 0, types * sizeof(*tail));
#define CALL(t, k) \
	do { \
		multiply_blocks(l, t, k, 0, full, 4, x, y, gx, gty, sums, &z_sum); \
		multiply_blocks(l, t, k, full, core->blocks, left, x, y, gx, gty, tail, &z_tail); \
	} while (0)
	WITH_CONSTANTS(core, CALL);
#undef CALL
	for (uint32_t w = 0; w < types; w++)
		gx[(size_t)core->jobs * l->slots + w] = four_sum(sums[w] + four_counted(tail[w], left));
	if (core->has_z)
		gty[(size_t)core->jobs * types] = four_sum(z_sum + four_counted(z_tail, left));
}

/* ---- the Newton system */

FOUR_INLINE void factor_blocks(struct linear *l, uint32_t types, uint32_t rows, uint32_t from,
	uint32_t to, uint32_t many, const double *d, double delta, struct arrow_sums *sums)
{
	for (size_t b = from; b < to; b++) {
		const four *matrix = l->core.matrix + b * arrow_matrix_size(types, rows);
		four *record = l->core.factor + b * arrow_factor_size(types, rows);
		const double *own = d + 4 * b * (rows + types);
		four own_d[ARROW_ROWS_MAX];

		arrow_bounds(types, matrix + rows * types + rows + types, own + rows * many, many,
			delta, record, record + types);
		for (uint32_t k = 0; k < rows; k++)
			own_d[k] = four_load(own + k * many, many) + delta;
		arrow_factor_block(types, rows, matrix, own_d, record, sums);
	}
}

static bool linear_factor(void *self, const struct interior_scaling *scaling)
{
	struct linear *l = self;
	struct arrow_core *core = &l->core;
	uint32_t types = core->types, full = core->jobs / 4, left = core->jobs % 4;
	struct arrow_sums sums, tail;

	arrow_sums_clear(&sums, types);
	arrow_sums_clear(&tail, types);
#define CALL(t, k) \
	do { \
		factor_blocks(l, t, k, 0, full, 4, scaling->d, scaling->delta, &sums); \
		factor_blocks(l, t, k, full, core->blocks, left, scaling->d, scaling->delta, &tail); \
	} while (0)
	WITH_CONSTANTS(core, CALL);
#undef CALL
	arrow_sums_add_tail(&sums, &tail, types, left);
	return arrow_core_close(core, &sums, scaling->d + (size_t)core->jobs * l->slots,
		scaling->delta, 0);
}

FOUR_INLINE void forward_blocks(const struct linear *l, uint32_t types, uint32_t rows,
	uint32_t count, uint32_t from, uint32_t to, uint32_t many, const struct interior_pair *side,
	const struct interior_pair *answer, struct arrow_middle *mid)
{
	for (size_t b = from; b < to; b++) {
		const four *matrix = l->core.matrix + b * arrow_matrix_size(types, rows);
		const four *record = l->core.factor + b * arrow_factor_size(types, rows);
		size_t at_x = 4 * b * types, at_y = 4 * b * (rows + types);

		for (uint32_t i = 0; i < count; i++) {
			const double *right = side[i].y + at_y;
			four own[ARROW_ROWS_MAX], y[ARROW_ROWS_MAX];

			for (uint32_t k = 0; k < rows; k++)
				own[k] = four_load(right + k * many, many);
			arrow_forward_block(types, rows, matrix, record, side[i].x + at_x, own,
				right + rows * many, many, answer[i].x + at_x, y, mid->side[i],
				&mid->z_side[i]);
			for (uint32_t k = 0; k < rows; k++)
				four_store(answer[i].y + at_y + k * many, y[k], many);
		}
	}
}

FOUR_INLINE void backward_blocks(const struct linear *l, uint32_t types, uint32_t rows,
	uint32_t count, uint32_t from, uint32_t to, uint32_t many, const struct interior_pair *side,
	const struct interior_pair *answer, const struct arrow_middle *mid)
{
	for (size_t b = from; b < to; b++) {
		const four *matrix = l->core.matrix + b * arrow_matrix_size(types, rows);
		const four *record = l->core.factor + b * arrow_factor_size(types, rows);
		size_t at_x = 4 * b * types, at_y = 4 * b * (rows + types);

		for (uint32_t i = 0; i < count; i++) {
			double *to_y = answer[i].y + at_y;
			four y[ARROW_ROWS_MAX];

			for (uint32_t k = 0; k < rows; k++)
				y[k] = four_load(to_y + k * many, many);
			arrow_backward_block(types, rows, matrix, record, mid->y[i], mid->z[i],
				side[i].y + at_y + rows * many, many, answer[i].x + at_x, y,
				to_y + rows * many);
			for (uint32_t k = 0; k < rows; k++)
				four_store(to_y + k * many, y[k], many);
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
	uint32_t types = core->types, full = core->jobs / 4, left = core->jobs % 4;
	struct arrow_middle mid, tail;

	arrow_middle_clear(&mid, types);
	arrow_middle_clear(&tail, types);
#define CALL(t, k) \
	do { \
		forward_blocks(l, t, k, count, 0, full, 4, side, answer, &mid); \
		forward_blocks(l, t, k, count, full, core->blocks, left, side, answer, &tail); \
	} while (0)
	WITH_CONSTANTS(core, CALL);
#undef CALL
	for (uint32_t i = 0; i < count; i++)
		solve_middle(l, &side[i], &answer[i], i, &mid, &tail);
#define CALL(t, k) \
	do { \
		backward_blocks(l, t, k, count, 0, full, 4, side, answer, &mid); \
		backward_blocks(l, t, k, count, full, core->blocks, left, side, answer, &mid); \
	} while (0)
	WITH_CONSTANTS(core, CALL);
#undef CALL
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
		double root = arrow_root(p->count, i);

		for (uint32_t at = 0; at < rows * types; at++)
			*arrow_at(&l->core, i, at) = p->v[(size_t)i * rows * types + at];
		for (uint32_t k = 0; k < rows; k++)
			*arrow_at(&l->core, i,
				rows * types + k) = p->g ? root * p->g[(size_t)i * rows + k] : 0;
		for (uint32_t w = 0; w < types; w++) {
			*arrow_at(&l->core, i, rows * types + rows + w) = root * p->gang[i];
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
		double root = arrow_root(p->count, i);

		for (uint32_t w = 0; p->cost && w < p->types; w++)
			c[x.first + w * x.apart] = root * p->cost[(size_t)i * p->types + w];
		for (uint32_t k = 0; k < p->rows; k++)
			h[y.first + k * y.apart] = root * p->h[(size_t)i * p->rows + k];
	}
	memcpy(h + (size_t)p->jobs * l->slots, p->capacity, p->types * sizeof(double));
	if (p->g)
		c[(size_t)p->jobs * p->types] = p->z_cost;
}

/* How often each row is there; NULL: once. */
static const double *multiples(const struct linear *l, const struct arrow *p, struct arena *work)
{
	double *many, *last;

	if (!p->count)
		return NULL;
	many = arena_array(work, double, (size_t)p->jobs * l->slots + p->types);
	for (uint32_t i = 0; i < p->jobs; i++) {
		struct arrow_place y = arrow_place_of(&l->core, i, l->slots);

		for (uint32_t k = 0; k < l->slots; k++)
			many[y.first + k * y.apart] = p->count[i];
	}
	last = many + (size_t)p->jobs * l->slots;
	for (uint32_t w = 0; w < p->types; w++)
		last[w] = 1;
	return many;
}

static void read_answer(const struct linear *l, const struct arrow *p,
	const struct interior_answer *found, struct arrow_answer *answer)
{
	for (uint32_t i = 0; i < p->jobs; i++) {
		struct arrow_place x = arrow_place_of(&l->core, i, p->types);
		struct arrow_place y = arrow_place_of(&l->core, i, l->slots);
		double root = arrow_root(p->count, i);

		for (uint32_t w = 0; w < p->types; w++)
			answer->x[(size_t)i * p->types + w] =
				fmin(fmax(found->x[x.first + w * x.apart] / root, 0), 1);
		for (uint32_t k = 0; answer->row_duals && k < p->rows; k++)
			answer->row_duals[(size_t)i * p->rows + k] = found->y[y.first + k * y.apart] /
				root;
	}
	if (answer->prices)
		memcpy(answer->prices, found->y + (size_t)p->jobs * l->slots,
			p->types * sizeof(double));
	answer->z = p->g ? found->x[(size_t)p->jobs * p->types] : 0;
	answer->objective = found->objective;
}

static const double small_program = 8192; /* variables, written out */

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
	arrow_core_count(&l.core, p->count, work);
	problem.many = multiples(&l, p, work);
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

void FOUR_NAME(arrow_solve)(const struct arrow *program, struct arrow_answer *answer)
{
	struct arena own = { 0 }, *work = answer->work ? answer->work : &own;
	bool small = arrow_jobs(program->count, program->jobs) * program->types <= small_program;
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

#ifndef FOUR_WIDE
void arrow_solve(const struct arrow *program, struct arrow_answer *answer)
{
	FOUR_CHOOSE(arrow_solve)(program, answer);
}
#endif
