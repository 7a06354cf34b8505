/*
 * Finish-time fairness as a cone program.
 *
 * Each job has one more variable, q, and y = sum speed * x, with q y >= 1: the
 * cone (q + y, q - y, 2), which rotated is 2ab >= c^2 with a = sqrt 2 q, b =
 * sqrt 2 y, c = 2.  Variables: block by block, x type by type and then q; z
 * last.  Half lines: block by block, the share, the deadline (the row with z),
 * the bounds; the capacities last.
 *
 * A job's unknowns are eliminated in this order: the cone's constant row, the
 * deadline row, q, the cone's q row.  What is left has four rows, share and the
 * cone's y row, and goes the way of every share program.  All of it is written
 * without differences of nearly equal numbers.
 */
#include "solver/arrow.h"

#include <assert.h>
#include <math.h>

#include "solver/arrow_core.h"

/* Both builds; arrow_solve_finish() chooses. */
void arrow_solve_finish_narrow(const struct arrow_finish *program, struct arrow_answer *answer);
void arrow_solve_finish_wide(const struct arrow_finish *program, struct arrow_answer *answer);

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

enum { SHARE, DEADLINE, OWN_LINES };    /* half lines of a job before its bounds */
enum { CORE_SHARE, CORE_Y, CORE_ROWS }; /* private rows in the core */

static const double root2 = 1.41421356237309504880;

/* Coefficients of a block outside the core. */
struct outside {
	four q_deadline; /* of q in the deadline row */
	four z_deadline; /* of z there, negated */
	four q_cone;     /* of q in the cone, rotated and negated */
};

/* What factoring finds, names as in solve's comments. */
struct found {
	four line;             /* 1 / (d + delta) of the deadline row */
	four q;                /* 1 / q's diagonal */
	four row;              /* 1 / the cone's q row's diagonal */
	four z;                /* its coefficient of z */
	four couple;           /* its coefficient of the y row's dual */
	four third;            /* 1 / the constant row's diagonal */
	four third_q, third_y; /* its coefficients of the other four */
};

struct finish {
	struct arrow_core core;
	uint32_t slots; /* half lines of a job */
	size_t lines;
	struct outside *outside; /* [blocks] */
	struct found *found;     /* [blocks] */
	double delta;
};

static double *outside_at(struct finish *f, uint32_t job, uint32_t which)
{
	return (double *)((four *)&f->outside[job / 4] + which) + job % 4;
}

static void pad(struct finish *f)
{
	four *last = (four *)&f->outside[f->core.blocks - 1];

	for (int i = 0; f->core.jobs % 4 && i < 3; i++)
		last[i] = four_load((const double *)&last[i], f->core.jobs % 4);
	arrow_core_pad(&f->core);
}

/* ---- equilibration */

/* Remembers the larger absolute value for a row and a column. */
static void see(double value, double *row, double *column)
{
	value = value < 0 ? -value : value;
	if (value > *row)
		*row = value;
	if (value > *column)
		*column = value;
}

static void job_maxima(struct finish *f, uint32_t job, double *row, double *column)
{
	struct arrow_core *core = &f->core;
	double single = arrow_single(core, job / 4)[job % 4];
	uint32_t types = core->types, jobs = core->jobs;
	struct arrow_place x = arrow_place_of(core, job, types + 1);
	struct arrow_place y = arrow_place_of(core, job, f->slots);
	double *last = row + (size_t)jobs * f->slots, *z = column + (size_t)jobs * (types + 1);
	double *cone = row + f->lines + job, *line = row + y.first;
	double *q = column + x.first + types * x.apart;

	for (uint32_t w = 0; w < types; w++) {
		double *own = column + x.first + w * x.apart;
		uint32_t slot = CORE_ROWS * types + CORE_ROWS + w;

		see(*arrow_at(core, job, w), line, own);
		see(*arrow_at(core, job, types + w) / root2, cone, own);
		see(*arrow_at(core, job, slot) * single, last + w, own);
		see(*arrow_at(core, job, slot + types), line + (OWN_LINES + w) * y.apart, own);
	}
	see(*outside_at(f, job, 0), line + DEADLINE * y.apart, q);
	see(*outside_at(f, job, 1) * single, line + DEADLINE * y.apart, z);
	see(*outside_at(f, job, 2) / root2, cone, q);
	cone[jobs] = *cone;
}

static void finish_maxima(const void *self, double *row, double *column)
{
	struct finish *f = (struct finish *)self;
	size_t jobs = f->core.jobs;

	memset(row, 0, (f->lines + 3 * jobs) * sizeof(*row));
	memset(column, 0, (jobs * (f->core.types + 1) + 1) * sizeof(*column));
	for (uint32_t job = 0; job < jobs; job++)
		job_maxima(f, job, row, column);
}

static void finish_divide(void *self, const double *row, const double *column)
{
	struct finish *f = self;
	struct arrow_core *core = &f->core;
	uint32_t types = core->types;
	const double *last = row + (size_t)core->jobs * f->slots;
	double z = column[(size_t)core->jobs * (types + 1)];

	for (uint32_t job = 0; job < core->jobs; job++) {
		struct arrow_place x = arrow_place_of(core, job, types + 1);
		struct arrow_place y = arrow_place_of(core, job, f->slots);
		const double *line = row + y.first, *own = column + x.first;
		double cone = row[f->lines + job], q = own[types * x.apart];

		for (uint32_t w = 0; w < types; w++) {
			uint32_t slot = CORE_ROWS * types + CORE_ROWS + w;
			double c = own[w * x.apart];

			*arrow_at(core, job, w) /= line[0] * c;
			*arrow_at(core, job, types + w) /= cone * c;
			*arrow_at(core, job, slot) /= last[w] * c;
			*arrow_at(core, job, slot + types) /= line[(OWN_LINES + w) * y.apart] * c;
		}
		*outside_at(f, job, 0) /= line[DEADLINE * y.apart] * q;
		*outside_at(f, job, 1) /= line[DEADLINE * y.apart] * z;
		*outside_at(f, job, 2) /= cone * q;
	}
	pad(f);
}

/* ---- where a block's numbers are */

struct block {
	size_t x, y; /* first among variables and half lines */
	const struct outside *out;
	struct found *found;
	four *matrix, *record;
};

FOUR_INLINE struct block block_of(const struct finish *f, uint32_t types, size_t b)
{
	return (struct block){
		.x = 4 * b * (types + 1),
		.y = 4 * b * (types + OWN_LINES),
		.out = &f->outside[b],
		.found = &f->found[b],
		.matrix = f->core.matrix + b * arrow_matrix_size(types, CORE_ROWS),
		.record = f->core.factor + b * arrow_factor_size(types, CORE_ROWS),
	};
}

/* The usual number of types is a constant to the compiler. */
#define WITH_CONSTANTS(core, call) \
	do { \
		if ((core)->types == 3) \
			call(3); \
		else \
			call((core)->types); \
	} while (0)

/* ---- G x and G'y */

FOUR_INLINE void multiply_blocks(const struct finish *f, uint32_t types, uint32_t from, uint32_t to,
	uint32_t many, const double *x, const double *y, double *gx, double *gty, four *capacity,
	four *z_sum)
{
	size_t jobs = f->core.jobs;
	const double *y_c = y + jobs * f->slots, *cone_y = y + f->lines;
	double z = x[jobs * (types + 1)], *cone = gx + f->lines;

	for (size_t b = from; b < to; b++) {
		struct block k = block_of(f, types, b);
		const four *v = k.matrix, *alpha = v + CORE_ROWS * types + CORE_ROWS;
		const double *lines = y + k.y, *own = x + k.x;
		four q = four_load(own + types * many, many), share = { 0 }, rate = { 0 };
		four y_share = four_load(lines, many);
		four y_line = four_load(lines + DEADLINE * many, many);
		four y_q = four_load(cone_y + 4 * b, many);
		four y_rate = four_load(cone_y + jobs + 4 * b, many);

		for (uint32_t w = 0; w < types; w++) {
			four value = four_load(own + w * many, many);
			four beta = alpha[types + w];

			share += v[w] * value;
			rate += v[types + w] * value;
			capacity[w] += alpha[w] * value;
			four_store(gx + k.y + (OWN_LINES + w) * many, -beta * value, many);
			four_store(gty + k.x + w * many,
				v[w] * y_share + v[types + w] * y_rate + alpha[w] * y_c[w] -
					beta * four_load(lines + (OWN_LINES + w) * many, many),
				many);
		}
		four_store(gx + k.y, share, many);
		four_store(gx + k.y + DEADLINE * many,
			k.out->q_deadline * q - k.out->z_deadline * z, many);
		four_store(cone + 4 * b, -k.out->q_cone * q, many);
		four_store(cone + jobs + 4 * b, rate, many);
		four_store(cone + 2 * jobs + 4 * b, (four){ 0 }, many);
		four_store(gty + k.x + types * many,
			k.out->q_deadline * y_line - k.out->q_cone * y_q, many);
		*z_sum -= k.out->z_deadline * y_line;
	}
}

static void finish_multiply(const void *self, const double *x, const double *y, double *gx, double *gty)
{
	const struct finish *f = self;
	uint32_t types = f->core.types, full = f->core.jobs / 4, blocks = f->core.blocks;
	four sums[ARROW_TYPES_MAX], tail[ARROW_TYPES_MAX];
	four z_sum = { 0 }, z_tail = { 0 };

	memset(sums, 0, types * sizeof(*sums));
	memset(tail, 0, types * sizeof(*tail));
#define CALL(t) \
	do { \
		multiply_blocks(f, t, 0, full, 4, x, y, gx, gty, sums, &z_sum); \
		multiply_blocks(f, t, full, blocks, f->core.jobs % 4, x, y, gx, gty, tail, &z_tail); \
	} while (0)
	WITH_CONSTANTS(&f->core, CALL);
#undef CALL
	for (uint32_t w = 0; w < types; w++)
		gx[(size_t)f->core.jobs * f->slots + w] = four_sum(
			sums[w] + four_counted(tail[w], f->core.jobs % 4));
	gty[(size_t)f->core.jobs * (types + 1)] = four_sum(
		z_sum + four_counted(z_tail, f->core.jobs % 4));
}

/* ---- the Newton system */

/*
 * The cone's block eta2 (2 w w' - J) + delta without its constant row is
 * (aa, ab; ab, bb); with q eliminated aa grows by q_cone^2 / (q's diagonal).
 * Returns the diagonal left for the y row.
 */
FOUR_INLINE four eliminate_cone(const struct interior_scaling *scaling, size_t cones, size_t i,
	uint32_t many, const struct outside *out, struct found *found)
{
	double delta = scaling->delta;
	four e = four_load(scaling->eta2 + i, many), wa = four_load(scaling->w + i, many);
	four wb = four_load(scaling->w + cones + i, many);
	four wc = four_load(scaling->w + 2 * cones + i, many), cc = wc * wc;
	four third = e * (2 * cc + 1.0) + delta, inverse = 1.0 / third;
	four by = 2 * e * (e + delta) * inverse;
	four aa = delta + by * wa * wa, bb = delta + by * wb * wb;
	four determinant = delta * delta + delta * by * (wa * wa + wb * wb) +
		e * e * (e + delta * (1.0 + 2 * cc)) * inverse;
	four from_q = out->q_cone * out->q_cone * found->q;

	found->third = inverse;
	found->third_q = 2 * e * wa * wc;
	found->third_y = 2 * e * wb * wc;
	found->couple = e * cc * (delta - e) * inverse;
	found->row = 1.0 / (aa + from_q);
	return (bb * from_q + determinant) * found->row;
}

FOUR_INLINE void factor_blocks(struct finish *f, uint32_t types, uint32_t from, uint32_t to,
	uint32_t many, const struct interior_scaling *scaling, struct arrow_sums *sums, four *extra)
{
	double delta = scaling->delta;

	for (size_t b = from; b < to; b++) {
		struct block k = block_of(f, types, b);
		struct found *found = k.found;
		const double *own = scaling->d + k.y;
		four *beta = k.matrix + CORE_ROWS * types + CORE_ROWS + types, d[CORE_ROWS];
		four e = k.out->q_deadline, g = k.out->z_deadline;

		found->line = 1.0 / (four_load(own + DEADLINE * many, many) + delta);
		found->q = 1.0 / (delta + e * e * found->line);
		found->z = -g * found->line * e * k.out->q_cone * found->q;
		d[CORE_SHARE] = four_load(own, many) + delta;
		d[CORE_Y] = eliminate_cone(scaling, f->core.jobs, 4 * b, many, k.out, found);
		k.matrix[CORE_ROWS * types + CORE_Y] = -found->couple * found->z * found->row;
		*extra += found->z * found->z * found->row + g * g * found->line * delta * found->q;
		arrow_bounds(types, beta, own + OWN_LINES * many, many, delta, k.record,
			k.record + types);
		arrow_factor_block(types, CORE_ROWS, k.matrix, d, k.record, sums);
	}
}

static bool finish_factor(void *self, const struct interior_scaling *scaling)
{
	struct finish *f = self;
	uint32_t types = f->core.types, full = f->core.jobs / 4, blocks = f->core.blocks;
	struct arrow_sums sums, tail;
	four extra = { 0 }, extra_tail = { 0 };

	f->delta = scaling->delta;
	arrow_sums_clear(&sums, types);
	arrow_sums_clear(&tail, types);
#define CALL(t) \
	do { \
		factor_blocks(f, t, 0, full, 4, scaling, &sums, &extra); \
		factor_blocks(f, t, full, blocks, f->core.jobs % 4, scaling, &tail, &extra_tail); \
	} while (0)
	WITH_CONSTANTS(&f->core, CALL);
#undef CALL
	arrow_sums_add_tail(&sums, &tail, types, f->core.jobs % 4);
	return arrow_core_close(&f->core, &sums, scaling->d + (size_t)f->core.jobs * f->slots,
		scaling->delta, four_sum(extra + four_counted(extra_tail, f->core.jobs % 4)));
}

/* The q row's right side waits in the answer's place of its dual. */
FOUR_INLINE void forward_blocks(const struct finish *f, uint32_t types, uint32_t from, uint32_t to,
	uint32_t many, const struct interior_pair *side, const struct interior_pair *answer,
	uint32_t i, struct arrow_middle *mid)
{
	size_t jobs = f->core.jobs;
	const double *cone = side->y + f->lines;
	double *to_cone = answer->y + f->lines;

	for (size_t b = from; b < to; b++) {
		struct block k = block_of(f, types, b);
		const struct found *found = k.found;
		const double *lines = side->y + k.y;
		four e = k.out->q_deadline, own[CORE_ROWS], y[CORE_ROWS];
		four line = four_load(lines + DEADLINE * many, many);
		four q = four_load(side->x + k.x + types * many, many);
		four third = four_load(cone + 2 * jobs + 4 * b, many) * found->third;
		four row = four_load(cone + 4 * b, many) - found->third_q * third +
			k.out->q_cone * found->q * (q + e * found->line * line);

		own[CORE_SHARE] = four_load(lines, many);
		own[CORE_Y] = four_load(cone + jobs + 4 * b, many) - found->third_y * third -
			found->couple * found->row * row;
		mid->z_side[i] += found->z * found->row * row -
			k.out->z_deadline * found->line * found->q * (f->delta * line - e * q);
		arrow_forward_block(types, CORE_ROWS, k.matrix, k.record, side->x + k.x, own,
			lines + OWN_LINES * many, many, answer->x + k.x, y, mid->side[i],
			&mid->z_side[i]);
		four_store(to_cone + 4 * b, row, many);
		four_store(to_cone + jobs + 4 * b, y[CORE_Y], many);
		four_store(answer->y + k.y, y[CORE_SHARE], many);
	}
}

FOUR_INLINE void backward_blocks(const struct finish *f, uint32_t types, uint32_t from, uint32_t to,
	uint32_t many, const struct interior_pair *side, const struct interior_pair *answer,
	uint32_t i, const struct arrow_middle *mid)
{
	size_t jobs = f->core.jobs;
	const double *cone = side->y + f->lines;
	double *to_cone = answer->y + f->lines, z = mid->z[i];

	for (size_t b = from; b < to; b++) {
		struct block k = block_of(f, types, b);
		const struct found *found = k.found;
		const double *lines = side->y + k.y;
		double *to_lines = answer->y + k.y;
		four e = k.out->q_deadline, row = four_load(to_cone + 4 * b, many), y_q, more, pull;
		four y[CORE_ROWS] = { four_load(to_lines, many),
			four_load(to_cone + jobs + 4 * b, many) };

		arrow_backward_block(types, CORE_ROWS, k.matrix, k.record, mid->y[i], z,
			lines + OWN_LINES * many, many, answer->x + k.x, y,
			to_lines + OWN_LINES * many);
		y_q = (found->z * z - found->couple * y[CORE_Y] - row) * found->row;
		pull = four_load(side->x + k.x + types * many, many) + k.out->q_cone * y_q;
		more = four_load(lines + DEADLINE * many, many) + k.out->z_deadline * z;
		four_store(answer->x + k.x + types * many,
			found->q * (pull + e * found->line * more), many);
		four_store(to_lines + DEADLINE * many,
			found->line * found->q * (e * pull - f->delta * more), many);
		four_store(to_lines, y[CORE_SHARE], many);
		four_store(to_cone + 4 * b, y_q, many);
		four_store(to_cone + jobs + 4 * b, y[CORE_Y], many);
		four_store(to_cone + 2 * jobs + 4 * b,
			-found->third *
				(four_load(cone + 2 * jobs + 4 * b, many) + found->third_q * y_q +
					found->third_y * y[CORE_Y]),
			many);
	}
}

static void finish_solve_one(struct finish *f, const struct interior_pair *side,
	const struct interior_pair *answer, uint32_t i, struct arrow_middle *mid,
	struct arrow_middle *tail)
{
	uint32_t types = f->core.types, full = f->core.jobs / 4, blocks = f->core.blocks;
	size_t last = (size_t)f->core.jobs * f->slots, z = (size_t)f->core.jobs * (types + 1);

#define CALL(t) \
	do { \
		forward_blocks(f, t, 0, full, 4, side, answer, i, mid); \
		forward_blocks(f, t, full, blocks, f->core.jobs % 4, side, answer, i, tail); \
	} while (0)
	WITH_CONSTANTS(&f->core, CALL);
#undef CALL
	arrow_core_middle(&f->core, side->y + last, side->x[z], i, mid, tail);
	memcpy(answer->y + last, mid->y[i], types * sizeof(double));
	answer->x[z] = mid->z[i];
#define CALL(t) \
	do { \
		backward_blocks(f, t, 0, full, 4, side, answer, i, mid); \
		backward_blocks(f, t, full, blocks, f->core.jobs % 4, side, answer, i, mid); \
	} while (0)
	WITH_CONSTANTS(&f->core, CALL);
#undef CALL
}

static void finish_solve(void *self, uint32_t count, const struct interior_pair *side,
	const struct interior_pair *answer)
{
	struct finish *f = self;
	struct arrow_middle mid, tail;

	arrow_middle_clear(&mid, f->core.types);
	arrow_middle_clear(&tail, f->core.types);
	for (uint32_t i = 0; i < count; i++)
		finish_solve_one(f, &side[i], &answer[i], i, &mid, &tail);
}

/* ---- from the program and back */

static const struct interior_shape finish_shape = {
	.maxima = finish_maxima,
	.divide = finish_divide,
	.multiply = finish_multiply,
	.factor = finish_factor,
	.solve = finish_solve,
};

static void write_matrix(struct finish *f, const struct arrow_finish *p)
{
	struct arrow_core *core = &f->core;
	uint32_t types = p->types;

	for (uint32_t i = 0; i < p->jobs; i++) {
		double root = arrow_root(p->count, i);

		for (uint32_t w = 0; w < types; w++) {
			uint32_t slot = CORE_ROWS * types + CORE_ROWS + w;

			*arrow_at(core, i, w) = 1;
			*arrow_at(core, i, types + w) = -root2 * p->speed[(size_t)i * types + w];
			*arrow_at(core, i, slot) = root * p->gang[i];
			*arrow_at(core, i, slot + types) = 1;
		}
		*outside_at(f, i, 0) = p->work[i] / p->limit[i];
		*outside_at(f, i, 1) = root;
		*outside_at(f, i, 2) = root2;
	}
	pad(f);
}

static void write_sides(const struct finish *f, const struct arrow_finish *p, double *h)
{
	for (uint32_t i = 0; i < p->jobs; i++) {
		struct arrow_place y = arrow_place_of(&f->core, i, f->slots);

		double root = arrow_root(p->count, i);

		h[y.first] = root;
		h[y.first + DEADLINE * y.apart] = -root * (p->age[i] / p->limit[i]);
		h[f->lines + 2 * (size_t)p->jobs + i] = 2 * root;
	}
	memcpy(h + (size_t)p->jobs * f->slots, p->capacity, p->types * sizeof(double));
}

/* How often each half line and each cone is there; NULL: once. */
static const double *multiples(const struct finish *f, const struct arrow_finish *p, struct arena *work)
{
	double *many, *last;

	if (!p->count)
		return NULL;
	many = arena_array(work, double, f->lines + p->jobs);
	for (uint32_t i = 0; i < p->jobs; i++) {
		struct arrow_place y = arrow_place_of(&f->core, i, f->slots);

		for (uint32_t k = 0; k < f->slots; k++)
			many[y.first + k * y.apart] = p->count[i];
		many[f->lines + i] = p->count[i];
	}
	last = many + (size_t)p->jobs * f->slots;
	for (uint32_t w = 0; w < p->types; w++)
		last[w] = 1;
	return many;
}

static void read_answer(const struct finish *f, const struct arrow_finish *p,
	const struct interior_answer *found, struct arrow_answer *answer)
{
	for (uint32_t i = 0; i < p->jobs; i++) {
		struct arrow_place x = arrow_place_of(&f->core, i, p->types + 1);
		struct arrow_place y = arrow_place_of(&f->core, i, f->slots);
		double root = arrow_root(p->count, i);

		for (uint32_t w = 0; w < p->types; w++)
			answer->x[(size_t)i * p->types + w] =
				fmin(fmax(found->x[x.first + w * x.apart] / root, 0), 1);
		for (uint32_t k = 0; answer->row_duals && k < OWN_LINES; k++)
			answer->row_duals[(size_t)i * OWN_LINES + k] =
				found->y[y.first + k * y.apart] / root;
	}
	if (answer->prices)
		memcpy(answer->prices, found->y + (size_t)p->jobs * f->slots,
			p->types * sizeof(double));
	answer->objective = found->objective;
	answer->z = found->x[(size_t)p->jobs * (p->types + 1)];
}

static void solve_in_manner(const struct arrow_finish *p, const struct arrow_manner *manner,
	struct arrow_answer *answer, struct arena *work)
{
	struct finish f = { .slots = p->types + OWN_LINES };
	uint32_t n = p->jobs * (p->types + 1) + 1, lines = p->jobs * f.slots + p->types;
	uint32_t m = lines + 3 * p->jobs;
	double *c = arena_array(work, double, n), *h = arena_array(work, double, m);
	struct interior_answer found = {
		.x = arena_array(work, double, n),
		.y = answer->prices || answer->row_duals ? arena_array(work, double, m) : NULL,
	};
	struct interior_problem problem = {
		.shape = &finish_shape,
		.self = &f,
		.n = n,
		.lines = lines,
		.cones = p->jobs,
		.c = c,
		.h = h,
		.delta = manner->delta,
		.refine_true = manner->refine_true,
		.work = work,
	};

	f.lines = lines;
	arrow_core_init(&f.core, p->jobs, p->types, CORE_ROWS, true, work);
	arrow_core_count(&f.core, p->count, work);
	problem.many = multiples(&f, p, work);
	f.outside = arena_array(work, struct outside, f.core.blocks);
	f.found = arena_array(work, struct found, f.core.blocks);
	write_matrix(&f, p);
	write_sides(&f, p, h);
	c[n - 1] = 1;
	interior_solve(&problem, &found);
	answer->status = found.status;
	answer->iterations += found.iterations;
	answer->residual = found.residual;
	if (found.status == INTERIOR_OPTIMAL ||
		(found.status == INTERIOR_STALLED && found.residual < 1e-6))
		read_answer(&f, p, &found, answer);
}

void FOUR_NAME(arrow_solve_finish)(const struct arrow_finish *program, struct arrow_answer *answer)
{
	struct arena own = { 0 }, *work = answer->work ? answer->work : &own;

	assert(program->jobs && program->types && program->types <= ARROW_TYPES_MAX);
	answer->iterations = 0;
	solve_in_manner(program, &arrow_manners[ARROW_PUBLISHED], answer, work);
	if (answer->status == INTERIOR_STALLED)
		solve_in_manner(program, &arrow_manners[ARROW_EXACT], answer, work);
	arena_fini(&own);
}

#ifndef FOUR_WIDE
void arrow_solve_finish(const struct arrow_finish *program, struct arrow_answer *answer)
{
	FOUR_CHOOSE(arrow_solve_finish)(program, answer);
}
#endif
