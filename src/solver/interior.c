#include "solver/interior.h"

#include <math.h>
#include <string.h>

#include "solver/interior_cone.h"
#include "solver/four.h"

/* Both builds; interior_solve() chooses. */
void interior_solve_narrow(const struct interior_problem *problem, struct interior_answer *answer);
void interior_solve_wide(const struct interior_problem *problem, struct interior_answer *answer);

/*
 * Most of the time goes into passes over long vectors.  Sums are made in four
 * lanes whose order is spelled out, all else element by element: the answer is
 * the same however wide the machine's registers are.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-math-errno")
#endif

enum { ITERATIONS_MAX = 100, PATIENCE = 15, SWEEPS = 3 };

static const double tolerance = 1e-8;
static const double good_enough = 1e-7;   /* of a run that broke down */
static const double acceptable = 1e-6;    /* error in the problem as given */
static const double negligible = 1e-14;   /* error of a Newton system */
static const double worth_keeping = 1e-4; /* worse iterates are not remembered */
static const double least_step = 1e-6;
static const double most_step = 0.999;
static const double back_off = 0.99;

/* What is known about an iterate. */
struct measures {
	double x_norm, s_norm, y_norm;
	double cx, hy, gap;
	double primal_norm, dual_norm; /* of the residuals, as they are */
	double gx_s_norm, gty_norm;    /* of G x + s and G'y */
	double primal, dual, distance; /* relative; what the stopping test looks at */
	double worst;                  /* of the three */
	double total;                  /* residual of the embedding's last row */
	double mu;
};

struct iterate {
	double *x, *s, *y;
	double tau, kappa;
};

struct loop {
	const struct interior_problem *p;
	uint32_t n, m, lines;
	double *c, *minus_c, *h; /* equilibrated */
	double *row, *column;    /* what G's entries were divided by */
	double *row_size;        /* the largest entry of each row as given */
	double degree;           /* half lines and cones, each as often as it is there */
	double c_norm, h_norm;   /* at least 1 */
	struct iterate now, best;
	double best_worst;
	uint32_t since_best; /* iterations */
	struct measures at;
	double *d, *inverse_y;
	struct cone_set cones;
	struct interior_pair fixed;  /* the solution for (-c, h) */
	struct interior_pair moving; /* and for the step looked at */
	struct interior_pair side;   /* its right side */
	struct interior_pair errors[2], repairs[2];
	double *gx, *gty;
	double *ds;
	double *second;                       /* ds * dy / y of the affine step */
	double fixed_product, moving_product; /* c'x + h'y of the four */
	double denominator;
};

/* ---- passes */

/* Four by four, then what is left: body(where, many). */
#define EACH_FOUR(n, body) \
	do { \
		uint32_t end_ = (n), i_ = 0; \
		for (; i_ + 4 <= end_; i_ += 4) \
			body(i_, 4); \
		if (i_ < end_) \
			body(i_, end_ - i_); \
	} while (0)

static double product(const double *restrict a, const double *restrict b, uint32_t n)
{
	four sum = { 0 };

#define BODY(i, many) sum += four_counted(four_load(a + (i), many) * four_load(b + (i), many), many)
	EACH_FOUR(n, BODY);
#undef BODY
	return four_sum(sum);
}

static double norm(const double *a, uint32_t n)
{
	return sqrt(product(a, a, n));
}

/* ---- memory */

static double *vector(struct arena *work, size_t n)
{
	return arena_array(work, double, n);
}

static struct interior_pair pair(struct arena *work, uint32_t n, uint32_t m)
{
	return (struct interior_pair){ vector(work, n), vector(work, m) };
}

static struct iterate iterate(struct arena *work, uint32_t n, uint32_t m)
{
	return (struct iterate){ .x = vector(work, n), .s = vector(work, m), .y = vector(work, m) };
}

static void loop_init(struct loop *l, const struct interior_problem *p)
{
	struct arena *work = p->work;
	uint32_t n = p->n, m = p->lines + 3 * p->cones;

	*l = (struct loop){ .p = p, .n = n, .m = m, .lines = p->lines, .best_worst = INFINITY };
	l->degree = p->lines + p->cones;
	for (uint32_t i = 0; p->many && i < p->lines + p->cones; i++)
		l->degree += p->many[i] - 1;
	l->c = vector(work, n);
	l->minus_c = vector(work, n);
	l->h = vector(work, m);
	l->row = vector(work, m);
	l->row_size = vector(work, m);
	l->column = vector(work, n);
	l->now = iterate(work, n, m);
	l->best = iterate(work, n, m);
	l->d = vector(work, p->lines);
	l->inverse_y = vector(work, p->lines);
	cone_init(&l->cones, p->cones, work);
	l->fixed = pair(work, n, m);
	l->moving = pair(work, n, m);
	l->side = pair(work, n, m);
	for (int k = 0; k < 2; k++) {
		l->errors[k] = pair(work, n, m);
		l->repairs[k] = pair(work, n, m);
	}
	l->gx = vector(work, m);
	l->gty = vector(work, n);
	l->ds = vector(work, m);
	l->second = vector(work, p->lines);
}

/* ---- equilibration */

/* The three rows of a cone must stay a cone: they get one divisor. */
static void join_cones(struct loop *l, double *row)
{
	uint32_t cones = l->p->cones;
	double *part = row + l->lines;

	for (uint32_t i = 0; i < cones; i++) {
		double sum = part[i] + part[cones + i] + part[2 * (size_t)cones + i];

		part[i] = part[cones + i] = part[2 * (size_t)cones + i] = sum;
	}
}

static void roots(double *restrict size, double *restrict total, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		size[i] = sqrt(size[i] < 1e-6 ? 1 : size[i]);
		total[i] *= size[i];
	}
}

static void equilibrate(struct loop *l)
{
	const struct interior_shape *shape = l->p->shape;
	double *row = l->gx, *column = l->gty; /* not in use yet */

	for (uint32_t i = 0; i < l->m; i++)
		l->row[i] = 1;
	for (uint32_t i = 0; i < l->n; i++)
		l->column[i] = 1;
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		shape->maxima(l->p->self, row, column);
		if (sweep == 0)
			memcpy(l->row_size, row, l->m * sizeof(*row));
		join_cones(l, row);
		roots(row, l->row, l->m);
		roots(column, l->column, l->n);
		shape->divide(l->p->self, row, column);
	}
	for (uint32_t i = 0; i < l->m; i++)
		l->h[i] = l->p->h[i] / l->row[i];
	for (uint32_t i = 0; i < l->n; i++) {
		l->c[i] = l->p->c[i] / l->column[i];
		l->minus_c[i] = -l->c[i];
	}
	l->c_norm = fmax(1, norm(l->c, l->n));
	l->h_norm = fmax(1, norm(l->h, l->m));
}

/* ---- Newton systems */

/* Squares of errors and of what they are to be compared with. */
struct sizes {
	four error, side;
};

static void errors_of_x(const double *restrict a, const double *restrict gty,
	const double *restrict x, double delta, double *restrict out, uint32_t n, struct sizes *sizes)
{
#define BODY(i, many) \
	do { \
		four side = four_load(a + (i), many); \
		four error = side - four_load(gty + (i), many) - delta * four_load(x + (i), many); \
		four_store(out + (i), error, many); \
		sizes->error += four_counted(error * error, many); \
		sizes->side += four_counted(side * side, many); \
	} while (0)
	EACH_FOUR(n, BODY);
#undef BODY
}

static void errors_of_lines(const double *restrict b, const double *restrict gx,
	const double *restrict d, const double *restrict y, double delta, double *restrict out,
	uint32_t lines, struct sizes *sizes)
{
#define BODY(i, many) \
	do { \
		four side = four_load(b + (i), many); \
		four pull = (four_load(d + (i), many) + delta) * four_load(y + (i), many); \
		four error = side - four_load(gx + (i), many) + pull; \
		four_store(out + (i), error, many); \
		sizes->error += four_counted(error * error, many); \
		sizes->side += four_counted(side * side, many); \
	} while (0)
	EACH_FOUR(lines, BODY);
#undef BODY
}

/* Whether they are worth repairing. */
static bool find_errors(struct loop *l, const struct interior_pair *side,
	const struct interior_pair *answer, const struct interior_pair *errors)
{
	double delta = l->p->refine_true ? 0 : l->p->delta;
	struct sizes sizes = { { 0 }, { 0 } };

	l->p->shape->multiply(l->p->self, answer->x, answer->y, l->gx, l->gty);
	errors_of_x(side->x, l->gty, answer->x, delta, errors->x, l->n, &sizes);
	errors_of_lines(side->y, l->gx, l->d, answer->y, delta, errors->y, l->lines, &sizes);
	for (uint32_t i = l->lines; i < l->m; i++)
		errors->y[i] = side->y[i] - l->gx[i] + delta * answer->y[i];
	cone_add_w2(&l->cones, answer->y + l->lines, errors->y + l->lines);
	return l->p->cones ||
		!(four_sum(sizes.error) <= negligible * negligible * four_sum(sizes.side));
}

/* a += b, and what the sum times `by` is. */
static double add_and_multiply(double *restrict a, const double *restrict b,
	const double *restrict by, uint32_t n)
{
	four total = { 0 };

#define BODY(i, many) \
	do { \
		four sum = four_load(a + (i), many) + four_load(b + (i), many); \
		four_store(a + (i), sum, many); \
		total += four_counted(sum * four_load(by + (i), many), many); \
	} while (0)
	EACH_FOUR(n, BODY);
#undef BODY
	return four_sum(total);
}

/* c'x + h'y */
static double worth(const struct loop *l, const struct interior_pair *answer)
{
	return product(answer->x, l->c, l->n) + product(answer->y, l->h, l->m);
}

/* Solves, refines once, and says c'x + h'y of each. */
static void solve(struct loop *l, uint32_t count, const struct interior_pair *side,
	const struct interior_pair *answer, double *products)
{
	const struct interior_shape *shape = l->p->shape;
	struct interior_pair *repairs = l->repairs;
	uint32_t wrong = 0, which[2] = { 0 };

	shape->solve(l->p->self, count, side, answer);
	for (uint32_t k = 0; k < count; k++) {
		if (find_errors(l, &side[k], &answer[k], &l->errors[wrong]))
			which[wrong++] = k;
		else
			products[k] = worth(l, &answer[k]);
	}
	if (wrong)
		shape->solve(l->p->self, wrong, l->errors, repairs);
	for (uint32_t i = 0; i < wrong; i++) {
		const struct interior_pair *whole = &answer[which[i]];

		products[which[i]] = add_and_multiply(whole->x, repairs[i].x, l->c, l->n) +
			add_and_multiply(whole->y, repairs[i].y, l->h, l->m);
	}
}

static bool factor(struct loop *l)
{
	struct interior_scaling scaling = { l->d, l->cones.w2, l->cones.w, l->cones.eta2, l->p->delta };

	return l->p->shape->factor(l->p->self, &scaling);
}

/* ---- the start */

/* What 1 is in a half line, or a cone (counted on), that stands for many. */
static double unit_of(const struct loop *l, uint32_t line)
{
	return l->p->many ? sqrt(l->p->many[line]) : 1;
}

/* Of the cones; NULL: 1. */
static const double *many_cones(const struct loop *l)
{
	return l->p->many ? l->p->many + l->lines : NULL;
}

static void shift_inside(struct loop *l, double *s)
{
	double outside = -back_off;

	for (uint32_t i = 0; i < l->lines; i++) {
		if (s[i] <= 0 && -s[i] / unit_of(l, i) > outside)
			outside = -s[i] / unit_of(l, i);
	}
	if (l->p->cones) {
		double worst = cone_outside(s + l->lines, many_cones(l), l->p->cones);

		if (worst >= 0 && worst > outside)
			outside = worst;
	}
	for (uint32_t i = 0; i < l->lines; i++)
		s[i] += (1 + outside) * unit_of(l, i);
	cone_shift(s + l->lines, many_cones(l), l->p->cones, 1 + outside);
}

/* x with the least |s|, s = h - G x, and the least y with G'y = -c. */
static bool start(struct loop *l)
{
	struct interior_pair sides[2] = { l->side, { l->minus_c, l->now.s } };
	struct interior_pair answers[2] = { { l->now.x, l->moving.y }, { l->moving.x, l->now.y } };
	double unused[2];

	for (uint32_t i = 0; i < l->lines; i++)
		l->d[i] = 1;
	cone_unit(&l->cones);
	if (!factor(l))
		return false;
	memset(l->side.x, 0, l->n * sizeof(double));
	memcpy(l->side.y, l->h, l->m * sizeof(double));
	memset(l->now.s, 0, l->m * sizeof(double));
	solve(l, 2, sides, answers, unused);
	for (uint32_t i = 0; i < l->m; i++)
		l->now.s[i] = -l->moving.y[i];
	shift_inside(l, l->now.s);
	shift_inside(l, l->now.y);
	l->now.tau = l->now.kappa = 1;
	return true;
}

/* ---- measuring */

struct sums_x {
	four cx, xx, dual, gty;
};

FOUR_INLINE void measure_x_at(const struct loop *l, uint32_t i, uint32_t many, double tau,
	double *restrict side, struct sums_x *sums)
{
	four c = four_counted(four_load(l->c + i, many), many);
	four gty = four_counted(four_load(l->gty + i, many), many);
	four x = four_counted(four_load(l->now.x + i, many), many);
	four r = -gty - c * tau;

	four_store(side + i, r, many);
	sums->cx += c * x;
	sums->xx += x * x;
	sums->dual += r * r;
	sums->gty += gty * gty;
}

/* The right side's x, which is the dual residual, and the norms over the variables. */
static void measure_x(struct loop *l, struct measures *at)
{
	struct sums_x sums = { .cx = { 0 } };
	double tau = l->now.tau, *side = l->side.x;

#define BODY(i, many) measure_x_at(l, i, many, tau, side, &sums)
	EACH_FOUR(l->n, BODY);
#undef BODY
	at->cx = four_sum(sums.cx);
	at->x_norm = sqrt(four_sum(sums.xx));
	at->dual_norm = sqrt(four_sum(sums.dual));
	at->gty_norm = sqrt(four_sum(sums.gty));
}

struct sums_y {
	four hy, ss, yy, sy, primal, gx_s;
};

FOUR_INLINE void measure_row(const struct loop *l, uint32_t i, uint32_t many, double tau,
	double *restrict side, struct sums_y *sums)
{
	four h = four_counted(four_load(l->h + i, many), many);
	four gx = four_counted(four_load(l->gx + i, many), many);
	four s = four_counted(four_load(l->now.s + i, many), many);
	four y = four_counted(four_load(l->now.y + i, many), many);
	four b = h * tau - gx, r = s - b, sum = gx + s;

	four_store(side + i, b, many);
	sums->hy += h * y;
	sums->ss += s * s;
	sums->yy += y * y;
	sums->sy += s * y;
	sums->primal += r * r;
	sums->gx_s += sum * sum;
}

/* The right side's y, which is s less the primal residual, and the norms over the rows. */
static void measure_rows(struct loop *l, struct measures *at)
{
	struct sums_y sums = { .hy = { 0 } };
	double tau = l->now.tau, *side = l->side.y;

#define BODY(i, many) measure_row(l, i, many, tau, side, &sums)
	EACH_FOUR(l->m, BODY);
#undef BODY
	at->hy = four_sum(sums.hy);
	at->s_norm = sqrt(four_sum(sums.ss));
	at->y_norm = sqrt(four_sum(sums.yy));
	at->gap = four_sum(sums.sy);
	at->primal_norm = sqrt(four_sum(sums.primal));
	at->gx_s_norm = sqrt(four_sum(sums.gx_s));
}

static double relative_gap(const struct loop *l, const struct measures *at)
{
	double primal = at->cx / l->now.tau, dual = -at->hy / l->now.tau;

	if (primal < 0)
		return at->gap / -primal;
	return dual > 0 ? at->gap / dual : INFINITY;
}

static void measure(struct loop *l)
{
	struct measures *at = &l->at;
	double tau = l->now.tau;

	l->p->shape->multiply(l->p->self, l->now.x, l->now.y, l->gx, l->gty);
	measure_x(l, at);
	measure_rows(l, at);
	at->total = l->now.kappa + at->cx + at->hy;
	at->mu = (at->gap + l->now.kappa * tau) / (l->degree + 1);
	at->primal = at->primal_norm / fmax(1, l->h_norm + at->x_norm + at->s_norm) / tau;
	at->dual = at->dual_norm / fmax(1, l->c_norm + at->y_norm) / tau;
	at->distance = fmin(at->gap, relative_gap(l, at));
	at->worst = fmax(fmax(at->primal, at->dual), at->distance);
}

static bool is_optimal(const struct loop *l)
{
	const struct measures *at = &l->at;

	return at->worst < tolerance && (at->cx < 0 || -at->hy >= -tolerance);
}

static bool is_unbounded(const struct loop *l)
{
	const struct measures *at = &l->at;

	return at->cx / fmax(1, at->x_norm) < -tolerance && l->now.tau < l->now.kappa &&
		at->gx_s_norm / fmax(1, at->x_norm + at->s_norm) < tolerance;
}

static bool is_infeasible(const struct loop *l)
{
	const struct measures *at = &l->at;
	double size = fmax(1, at->y_norm);

	return at->hy / size < -tolerance && at->gty_norm / size < tolerance &&
		l->now.tau < l->now.kappa;
}

/* ---- steps */

static void scale(struct loop *l)
{
	const double *restrict s = l->now.s, *restrict y = l->now.y;
	double *restrict d = l->d, *restrict inverse = l->inverse_y;

	for (uint32_t i = 0, n = l->lines; i < n; i++) {
		inverse[i] = 1 / y[i];
		d[i] = s[i] * inverse[i];
	}
	cone_scale(&l->cones, s + l->lines, y + l->lines);
}

/* moving += by * fixed */
static void add_fixed(double *restrict moving, const double *restrict fixed, double by, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		moving[i] += by * fixed[i];
}

/* 1 / the largest step that keeps `was` >= 0, or `limit` if that is larger. */
static double blocked(double limit, double was, double change)
{
	return fmax(limit, -change / was);
}

static double step_of(const struct loop *l, double limit, double d_tau, double d_kappa)
{
	double step;

	limit = blocked(blocked(limit, l->now.tau, d_tau), l->now.kappa, d_kappa);
	step = limit > 0 ? 1 / limit : INFINITY;
	return fmax(fmin(step, most_step), least_step);
}

/* With r = dy / y, ds is -s (1 + r): both limits and the second-order term come from r alone. */
static double affine_lines(struct loop *l, double d_tau)
{
	const double *restrict moving = l->moving.y, *restrict fixed = l->fixed.y;
	const double *restrict inverse = l->inverse_y, *restrict s = l->now.s;
	double *restrict second = l->second;
	four limit = { 0 };

#define BODY(i, many) \
	do { \
		four dy = four_load(moving + (i), many) + d_tau * four_load(fixed + (i), many); \
		four r = dy * four_load(inverse + (i), many), more = 1.0 + r; \
		four_store(second + (i), -four_load(s + (i), many) * more * r, many); \
		limit = four_larger(limit, four_larger(-r, more)); \
	} while (0)
	EACH_FOUR(l->lines, BODY);
#undef BODY
	return four_largest(limit);
}

static double affine(struct loop *l, double *second_kappa)
{
	double kappa = l->now.kappa, tau = l->now.tau;
	double d_tau = (l->at.total - kappa + l->moving_product) / l->denominator;
	double d_kappa = -kappa - kappa / tau * d_tau;
	double limit = affine_lines(l, d_tau);

	if (l->p->cones) {
		add_fixed(l->moving.y + l->lines, l->fixed.y + l->lines, d_tau, 3 * l->p->cones);
		limit = fmax(limit, cone_affine(&l->cones, l->moving.y + l->lines));
	}
	*second_kappa = d_kappa * d_tau;
	return step_of(l, limit, d_tau, d_kappa);
}

/* Lines that stand for many are pulled to the centre as often; `second` takes what is beyond once. */
static void pull_many(struct loop *l, double centre)
{
	for (uint32_t i = 0; l->p->many && i < l->lines; i++)
		l->second[i] -= centre * (l->p->many[i] - 1) * l->inverse_y[i];
}

/* Turns the affine step's right side into the corrected one's. */
static void correct(struct loop *l, double sigma)
{
	const double *restrict s = l->now.s, *restrict second = l->second;
	const double *restrict inverse = l->inverse_y;
	double *restrict side = l->side.y, *restrict side_x = l->side.x;
	double by = 1 - sigma, centre = sigma * l->at.mu;

	pull_many(l, centre);
	for (uint32_t i = 0, n = l->n; i < n; i++)
		side_x[i] *= by;
	for (uint32_t i = 0, n = l->lines; i < n; i++)
		side[i] = by * side[i] + sigma * s[i] + second[i] - centre * inverse[i];
	cone_correct(&l->cones, many_cones(l), centre, by, s + l->lines, side + l->lines);
}

static double corrected_lines(struct loop *l, double d_tau, double centre)
{
	const double *restrict fixed = l->fixed.y, *restrict second = l->second;
	const double *restrict inverse = l->inverse_y, *restrict s = l->now.s;
	const double *restrict d = l->d;
	double *restrict dy = l->moving.y, *restrict ds = l->ds;
	four limit = { 0 };

#define BODY(i, many) \
	do { \
		four step = four_load(dy + (i), many) + d_tau * four_load(fixed + (i), many); \
		four in = four_load(inverse + (i), many), here = four_load(s + (i), many); \
		four change = centre * in - here - four_load(second + (i), many) - \
			four_load(d + (i), many) * step; \
		four_store(dy + (i), step, many); \
		four_store(ds + (i), change, many); \
		limit = four_larger(limit, four_larger(-step * in, -change / here)); \
	} while (0)
	EACH_FOUR(l->lines, BODY);
#undef BODY
	return four_largest(limit);
}

static void advance(double *restrict to, const double *restrict by, double step, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] += step * by[i];
}

/* Takes the corrected step; how long it was. */
static double take_step(struct loop *l, double sigma, double second_kappa)
{
	double tau = l->now.tau, kappa = l->now.kappa, centre = sigma * l->at.mu;
	double product_kappa = kappa * tau + second_kappa - centre;
	double d_tau = ((1 - sigma) * l->at.total - product_kappa / tau + l->moving_product) /
		l->denominator;
	double d_kappa = -(product_kappa + kappa * d_tau) / tau;
	double limit = corrected_lines(l, d_tau, centre), step;

	if (l->p->cones) {
		add_fixed(l->moving.y + l->lines, l->fixed.y + l->lines, d_tau, 3 * l->p->cones);
		limit = fmax(limit, cone_step(&l->cones, l->moving.y + l->lines, l->ds + l->lines));
	}
	step = back_off * step_of(l, limit, d_tau, d_kappa);
	add_fixed(l->moving.x, l->fixed.x, d_tau, l->n);
	advance(l->now.x, l->moving.x, step, l->n);
	advance(l->now.y, l->moving.y, step, l->m);
	advance(l->now.s, l->ds, step, l->m);
	l->now.tau += step * d_tau;
	l->now.kappa += step * d_kappa;
	return step;
}

/* From the right side that measure() left; false: it broke down. */
static bool iteration(struct loop *l)
{
	struct interior_pair sides[2] = { { l->minus_c, l->h }, l->side };
	struct interior_pair answers[2] = { l->fixed, l->moving };
	double products[2], step, sigma, second_kappa;

	scale(l);
	if (!factor(l))
		return false;
	solve(l, 2, sides, answers, products);
	l->moving_product = products[1];
	l->denominator = l->now.kappa / l->now.tau - products[0];
	step = affine(l, &second_kappa);
	sigma = fmin(fmax((1 - step) * (1 - step) * (1 - step), 1e-4), 1);
	correct(l, sigma);
	solve(l, 1, &l->side, &l->moving, &l->moving_product);
	step = take_step(l, sigma, second_kappa);
	return step > back_off * least_step;
}

/* ---- the loop */

static void copy(const struct loop *l, struct iterate *to, const struct iterate *from)
{
	memcpy(to->x, from->x, l->n * sizeof(double));
	memcpy(to->s, from->s, l->m * sizeof(double));
	memcpy(to->y, from->y, l->m * sizeof(double));
	to->tau = from->tau;
	to->kappa = from->kappa;
}

static void keep_best(struct loop *l)
{
	l->since_best += l->best_worst < INFINITY;
	if (l->at.worst < worth_keeping && l->at.worst < l->best_worst) {
		l->best_worst = l->at.worst;
		l->since_best = 0;
		copy(l, &l->best, &l->now);
	}
}

/* Before dividing by tau, and not among the last digits: those come and go. */
static bool ran_away(const struct loop *l, double *before)
{
	double primal = l->at.primal * l->now.tau;
	bool grew = primal > 500 * *before && primal > 1e-4;

	*before = primal;
	return grew;
}

static enum interior_status verdict(const struct loop *l)
{
	if (is_optimal(l))
		return INTERIOR_OPTIMAL;
	if (is_unbounded(l))
		return INTERIOR_UNBOUNDED;
	return is_infeasible(l) ? INTERIOR_INFEASIBLE : INTERIOR_STALLED;
}

static enum interior_status run(struct loop *l, uint32_t *iterations)
{
	double before = INFINITY;
	enum interior_status status = INTERIOR_STALLED;

	for (*iterations = 0;; ++*iterations) {
		measure(l);
		if (!isfinite(l->at.worst) && !(l->at.mu > 0 && isfinite(l->at.mu)))
			break;
		status = verdict(l);
		if (status != INTERIOR_STALLED)
			return status;
		keep_best(l);
		if (ran_away(l, &before) || l->since_best == PATIENCE ||
			*iterations == ITERATIONS_MAX || !iteration(l))
			break;
	}
	if (l->best_worst == INFINITY)
		return INTERIOR_STALLED;
	copy(l, &l->now, &l->best);
	measure(l);
	return l->at.worst < good_enough ? INTERIOR_OPTIMAL : INTERIOR_STALLED;
}

/* ---- the answer */

/* Relative, or `least` if that is larger. */
static double row_error(const struct loop *l, uint32_t i, double least)
{
	double over = l->gx[i] / l->now.tau - l->h[i], unit, size, error;

	if (i >= l->lines) /* s is in the cone; G x + s = h is what may fail */
		over = fabs(over + l->now.s[i] / l->now.tau);
	if (!(over * l->row[i] > least)) /* what it is relative to is at least 1 */
		return least;
	unit = i < l->lines ? unit_of(l, i) : unit_of(l, l->lines + (i - l->lines) % l->p->cones);
	size = fmax(fmax(1, l->row_size[i]), fabs(l->p->h[i]) / unit);
	error = over * l->row[i] / (size * unit);
	return error > least ? error : least;
}

/* On the problem as given. */
static double residual(const struct loop *l)
{
	double worst = fmax(l->at.dual, l->at.gap / fmax(1, fabs(l->at.cx / l->now.tau)));

	for (uint32_t i = 0; i < l->m; i++)
		worst = row_error(l, i, worst);
	return worst;
}

static void write_answer(const struct loop *l, struct interior_answer *answer)
{
	double tau = l->now.tau;

	answer->residual = residual(l);
	if (!(answer->residual < acceptable))
		answer->status = INTERIOR_STALLED;
	answer->objective = l->at.cx / tau;
	for (uint32_t i = 0; i < l->n; i++)
		answer->x[i] = l->now.x[i] / tau / l->column[i];
	for (uint32_t i = 0; answer->y && i < l->m; i++)
		answer->y[i] = l->now.y[i] / tau / l->row[i];
}

void FOUR_NAME(interior_solve)(const struct interior_problem *problem, struct interior_answer *answer)
{
	struct loop l;

	answer->iterations = 0;
	answer->status = INTERIOR_STALLED;
	answer->residual = INFINITY;
	answer->objective = NAN;
	loop_init(&l, problem);
	equilibrate(&l);
	if (!start(&l))
		return;
	answer->status = run(&l, &answer->iterations);
	if (answer->status == INTERIOR_OPTIMAL || answer->status == INTERIOR_STALLED)
		write_answer(&l, answer);
}

#ifndef FOUR_WIDE
void interior_solve(const struct interior_problem *problem, struct interior_answer *answer)
{
	FOUR_CHOOSE(interior_solve)(problem, answer);
}
#endif
