/*
 * L-BFGS-B after Byrd, Lu, Nocedal and Zhu (1995) with the projected subspace
 * step of Morales and Nocedal (2011) and the line search of More and Thuente
 * (1994): the constants are those of the published code, since fits end near a
 * kink where another path would end elsewhere.
 *
 * The Hessian's approximation is a whole matrix here, made anew from the last
 * PAIRS steps each time.  With so few numbers that is the same as, and simpler
 * than, the compact form.
 */
#include "solver/bounded.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define PAIRS 10
#define N BOUNDED_MAX

#define SUFFICIENT 1e-3 /* of the decrease that the slope promises */
#define CURVATURE 0.9   /* of the slope may be left */
#define NARROW 0.1      /* an interval so small, relatively, ends a line search */
#define SEARCH_MAX 20
#define STEP_HUGE 1e10

struct search {
	const struct bounded_problem *problem;
	uint32_t n;
	double x[N], g[N], value;
	/* s and y of the last steps, oldest first; theta scales the matrix they start from */
	double s[PAIRS][N], y[PAIRS][N];
	uint32_t pairs;
	double theta;
	double b[N][N];
	uint32_t evaluations;
};

static double dot(const double *a, const double *b, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void times(const struct search *s, const double *v, double *out)
{
	for (uint32_t i = 0; i < s->n; i++)
		out[i] = dot(s->b[i], v, s->n);
}

/* Not fmax() and fmin(), which are calls. */
static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

static double clamp(double x, double low, double high)
{
	return smaller(larger(x, low), high);
}

/* ---- the matrix */

static void matrix_add(struct search *s, const double *v, double factor)
{
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t j = 0; j < s->n; j++)
			s->b[i][j] += factor * v[i] * v[j];
}

static void matrix_forget(struct search *s)
{
	s->pairs = 0;
	s->theta = 1;
	memset(s->b, 0, sizeof(s->b));
	for (uint32_t i = 0; i < s->n; i++)
		s->b[i][i] = 1;
}

static void matrix_make(struct search *s)
{
	memset(s->b, 0, sizeof(s->b));
	for (uint32_t i = 0; i < s->n; i++)
		s->b[i][i] = s->theta;
	for (uint32_t k = 0; k < s->pairs; k++) {
		double bs[N];

		times(s, s->s[k], bs);
		matrix_add(s, bs, -1 / dot(s->s[k], bs, s->n));
		matrix_add(s, s->y[k], 1 / dot(s->s[k], s->y[k], s->n));
	}
}

/* After a step from (x, g) to where the search is now. */
static void matrix_learn(struct search *s, const double *x, const double *g, double slope)
{
	double step[N], change[N], curvature;

	for (uint32_t i = 0; i < s->n; i++) {
		step[i] = s->x[i] - x[i];
		change[i] = s->g[i] - g[i];
	}
	curvature = dot(step, change, s->n);
	if (!(curvature > DBL_EPSILON * slope))
		return; /* a step along which nothing bends tells nothing */
	if (s->pairs == PAIRS) {
		memmove(s->s[0], s->s[1], sizeof(s->s) - sizeof(s->s[0]));
		memmove(s->y[0], s->y[1], sizeof(s->y) - sizeof(s->y[0]));
		s->pairs--;
	}
	memcpy(s->s[s->pairs], step, sizeof(step));
	memcpy(s->y[s->pairs++], change, sizeof(change));
	s->theta = dot(change, change, s->n) / curvature;
	matrix_make(s);
}

/* ---- where to go: along the bent path of steepest descent, then Newton's step in what is free */

/* How far along -g until number i meets its bound; 0: it is there already. */
static double breakpoint(const struct search *s, uint32_t i)
{
	const struct bounded_problem *p = s->problem;

	if (p->low[i] >= p->high[i])
		return 0;
	if (s->g[i] > 0)
		return larger((s->x[i] - p->low[i]) / s->g[i], 0);
	if (s->g[i] < 0)
		return larger((s->x[i] - p->high[i]) / s->g[i], 0);
	return INFINITY;
}

static uint32_t first_of(const double *at, uint32_t n)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < n; i++)
		first = at[i] < at[first] ? i : first;
	return first;
}

/* The first minimum of the quadratic model on that path; `pinned`: what is at a bound there. */
static void cauchy_point(const struct search *s, double *z, bool *pinned)
{
	double at[N], d[N], bd[N], moved[N] = { 0 }, now = 0, floor_;
	uint32_t n = s->n;

	for (uint32_t i = 0; i < n; i++) {
		at[i] = breakpoint(s, i);
		pinned[i] = at[i] <= 0;
		d[i] = pinned[i] ? 0 : -s->g[i];
		if (pinned[i])
			at[i] = INFINITY;
		z[i] = s->x[i];
	}
	times(s, d, bd);
	floor_ = DBL_EPSILON * s->theta * dot(d, d, n);
	for (;;) {
		uint32_t next = first_of(at, n);
		double down = -dot(s->g, d, n) - dot(moved, bd, n),
		       bend = larger(dot(d, bd, n), floor_);
		double best = bend > 0 ? larger(down / bend, 0) : 0, far = at[next] - now;
		double step = smaller(best, far);

		for (uint32_t i = 0; i < n; i++)
			moved[i] += step * d[i];
		if (best < far || isinf(far))
			break;
		now = at[next];
		z[next] = d[next] > 0 ? s->problem->high[next] : s->problem->low[next];
		moved[next] = z[next] - s->x[next];
		pinned[next] = true;
		d[next] = 0;
		at[next] = INFINITY;
		times(s, d, bd);
	}
	for (uint32_t i = 0; i < n; i++)
		if (!pinned[i])
			z[i] = s->x[i] + moved[i];
}

/* Solves a * x = r in place by Cholesky; false: not positive definite. */
static bool solve(double a[N][N], double *r, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j <= i; j++) {
			double left = a[i][j] - dot(a[i], a[j], j);

			if (i == j && !(left > 0))
				return false;
			a[i][j] = i == j ? sqrt(left) : left / a[j][j];
		}
		r[i] = (r[i] - dot(a[i], r, i)) / a[i][i];
	}
	for (uint32_t i = n; i-- > 0;) {
		for (uint32_t j = i + 1; j < n; j++)
			r[i] -= a[j][i] * r[j];
		r[i] /= a[i][i];
	}
	return true;
}

/* Newton's direction from z in the free numbers; false: the matrix is worn out. */
static bool newton(const struct search *s, const double *z, const bool *pinned, double *d)
{
	double a[N][N], r[N], moved[N], bm[N];
	uint32_t free_[N], n = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		moved[i] = z[i] - s->x[i];
		d[i] = 0;
		if (!pinned[i])
			free_[n++] = i;
	}
	times(s, moved, bm);
	for (uint32_t i = 0; i < n; i++) {
		r[i] = -s->g[free_[i]] - bm[free_[i]];
		for (uint32_t j = 0; j < n; j++)
			a[i][j] = s->b[free_[i]][free_[j]];
	}
	if (!solve(a, r, n))
		return false;
	for (uint32_t i = 0; i < n; i++)
		d[free_[i]] = r[i];
	return true;
}

/* As much of d from z as the bounds allow. */
static void cut_short(const struct search *s, double *z, const double *d)
{
	double most = 1;

	for (uint32_t i = 0; i < s->n; i++) {
		double room = (d[i] < 0 ? s->problem->low[i] : s->problem->high[i]) - z[i];

		if (d[i] != 0 && most * fabs(d[i]) > fabs(room))
			most = room / d[i];
	}
	for (uint32_t i = 0; i < s->n; i++)
		z[i] = clamp(z[i] + most * d[i], s->problem->low[i], s->problem->high[i]);
}

static bool subspace_step(const struct search *s, double *z, const bool *pinned)
{
	double d[N], projected[N], slope = 0;
	bool met = false;

	if (!newton(s, z, pinned, d))
		return false;
	for (uint32_t i = 0; i < s->n; i++) {
		double low = s->problem->low[i], high = s->problem->high[i];

		projected[i] = clamp(z[i] + d[i], low, high);
		met |= !pinned[i] && (projected[i] <= low || projected[i] >= high);
		slope += (projected[i] - s->x[i]) * s->g[i];
	}
	if (met && slope > 0)
		cut_short(s, z, d);
	else
		memcpy(z, projected, sizeof(projected));
	return true;
}

/* ---- how far: More and Thuente */

struct trial {
	double at, value, slope;
};

struct line {
	struct trial x, y; /* best so far, and the other end */
	bool bracketed;
	double low, high; /* for the next trial */
};

static double cubic_root(double theta, double a, double b, bool floor_at_zero)
{
	double scale = larger(fabs(theta), larger(fabs(a), fabs(b)));
	double inside = scale > 0 ? (theta / scale) * (theta / scale) - (a / scale) * (b / scale) : 0;

	return scale * sqrt(floor_at_zero ? larger(inside, 0) : inside);
}

/* Minimum of the cubic through both ends, from `a` towards `b`. */
static double cubic(struct trial a, struct trial b)
{
	double theta = 3 * (a.value - b.value) / (b.at - a.at) + a.slope + b.slope;
	double root = cubic_root(theta, a.slope, b.slope, true);

	if (b.at < a.at)
		root = -root;
	return a.at + (root - a.slope + theta) / (root - a.slope + root + b.slope) * (b.at - a.at);
}

static double secant(struct trial a, struct trial b)
{
	return b.at + b.slope / (b.slope - a.slope) * (a.at - b.at);
}

/* The value rose: a minimum lies between. */
static double next_lower(struct line *l, struct trial t)
{
	double c = cubic(l->x, t), dx = l->x.slope;
	double q = l->x.at +
		dx / ((l->x.value - t.value) / (t.at - l->x.at) + dx) / 2 * (t.at - l->x.at);

	l->bracketed = true;
	return fabs(c - l->x.at) < fabs(q - l->x.at) ? c : c + (q - c) / 2;
}

/* The slope changed its sign: likewise. */
static double next_between(struct line *l, struct trial t)
{
	double c = cubic(t, l->x), q = secant(l->x, t);

	l->bracketed = true;
	return fabs(c - t.at) > fabs(q - t.at) ? c : q;
}

/* The slope became flatter: onwards, but not past what a bracket allows. */
static double next_flatter(struct line *l, struct trial t)
{
	struct trial x = l->x;
	double theta = 3 * (x.value - t.value) / (t.at - x.at) + x.slope + t.slope;
	double root = cubic_root(theta, x.slope, t.slope, true);
	double r, c, q = secant(x, t), next;

	if (t.at > x.at)
		root = -root;
	r = (root - t.slope + theta) / (root + (x.slope - t.slope) + root);
	if (r < 0 && root != 0)
		c = t.at + r * (x.at - t.at);
	else
		c = t.at > x.at ? l->high : l->low;
	if (!l->bracketed)
		return clamp(fabs(c - t.at) > fabs(q - t.at) ? c : q, l->low, l->high);
	next = fabs(c - t.at) < fabs(q - t.at) ? c : q;
	q = t.at + 0.66 * (l->y.at - t.at);
	return t.at > x.at ? smaller(q, next) : larger(q, next);
}

static double next_further(struct line *l, struct trial t)
{
	if (l->bracketed)
		return cubic(t, l->y);
	return t.at > l->x.at ? l->high : l->low;
}

/* Takes the trial into the interval; returns the next one to try. */
static double line_next(struct line *l, struct trial t)
{
	double turn = t.slope * (l->x.slope < 0 ? -1 : 1), next;

	if (t.value > l->x.value)
		next = next_lower(l, t);
	else if (turn < 0)
		next = next_between(l, t);
	else if (fabs(t.slope) < fabs(l->x.slope))
		next = next_flatter(l, t);
	else
		next = next_further(l, t);
	if (t.value > l->x.value) {
		l->y = t;
	} else {
		if (turn < 0)
			l->y = l->x;
		l->x = t;
	}
	return next;
}

static struct trial tilted(struct trial t, double by)
{
	return (struct trial){ t.at, t.value + t.at * by, t.slope + by };
}

/* While no trial is good enough, the function less the promised decrease leads to one. */
static double line_next_tilted(struct line *l, struct trial t, double promised)
{
	double next;

	l->x = tilted(l->x, -promised);
	l->y = tilted(l->y, -promised);
	next = line_next(l, tilted(t, -promised));
	l->x = tilted(l->x, promised);
	l->y = tilted(l->y, promised);
	return next;
}

static void search_go(struct search *s, const double *x, const double *d, const double *z, double at)
{
	for (uint32_t i = 0; i < s->n; i++)
		s->x[i] = at == 1 ? z[i]
				  : clamp(x[i] + at * d[i], s->problem->low[i], s->problem->high[i]);
	s->value = s->problem->value(s->problem->self, s->x, s->g);
	s->evaluations++;
}

/* The largest step along d within the bounds. */
static double room(const struct search *s, const double *d)
{
	double most = STEP_HUGE;

	for (uint32_t i = 0; i < s->n; i++) {
		double left = (d[i] < 0 ? s->problem->low[i] : s->problem->high[i]) - s->x[i];

		if (d[i] != 0 && most * fabs(d[i]) > fabs(left))
			most = left / d[i];
	}
	return larger(most, 0);
}

/* Keeps the interval of trials from shrinking too slowly; false: it is as small as it gets. */
static bool line_narrow(struct line *l, double *next, double *width, double *width_before)
{
	if (!l->bracketed) {
		l->low = *next + 1.1 * (*next - l->x.at);
		l->high = *next + 4 * (*next - l->x.at);
		return true;
	}
	if (fabs(l->y.at - l->x.at) >= 0.66 * *width_before)
		*next = l->x.at + (l->y.at - l->x.at) / 2;
	*width_before = *width;
	*width = fabs(l->y.at - l->x.at);
	l->low = smaller(l->x.at, l->y.at);
	l->high = larger(l->x.at, l->y.at);
	return l->high - l->low > NARROW * l->high;
}

/* Moves the search towards z; false: there is no way down. */
static bool line_search(struct search *s, const double *z, bool first)
{
	double x[N], d[N], most, at, slope, promised, width, width_before;
	struct line l = { 0 };
	double start = s->value;
	bool ended = false, tilt = true;

	memcpy(x, s->x, sizeof(x));
	for (uint32_t i = 0; i < s->n; i++)
		d[i] = z[i] - x[i];
	slope = dot(s->g, d, s->n);
	if (!(slope < 0))
		return false;
	most = first ? 1 : room(s, d);
	at = smaller(first ? 1 / sqrt(dot(d, d, s->n)) : 1, most);
	promised = SUFFICIENT * slope;
	width = most;
	width_before = 2 * width;
	l.x = l.y = (struct trial){ 0, start, slope };
	l.high = 5 * at;
	for (uint32_t i = 0; i < SEARCH_MAX; i++) {
		struct trial t;
		double wanted;
		bool enough;

		search_go(s, x, d, z, at);
		if (!isfinite(s->value))
			return false;
		t = (struct trial){ at, s->value, dot(s->g, d, s->n) };
		wanted = start + at * promised;
		enough = t.value <= wanted;
		if (enough && t.slope >= 0)
			tilt = false;
		if (ended || (enough && fabs(t.slope) <= -CURVATURE * slope))
			return true;
		if (at == most && enough && t.slope <= promised)
			return true;
		at = tilt && t.value <= l.x.value && !enough ? line_next_tilted(&l, t, promised)
							     : line_next(&l, t);
		ended = !line_narrow(&l, &at, &width, &width_before);
		at = clamp(at, 0, most);
		if (l.bracketed && (at <= l.low || at >= l.high))
			ended = true;
		if (ended)
			at = l.x.at; /* nothing better is to be had here */
	}
	return false;
}

/* ---- the whole */

static double projected_gradient(const struct search *s)
{
	double most = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		double g = s->g[i];

		if (g < 0)
			g = larger(s->x[i] - s->problem->high[i], g);
		else
			g = smaller(s->x[i] - s->problem->low[i], g);
		most = larger(fabs(g), most);
	}
	return most;
}

/* One step; false: it cannot get on even without what it has learnt. */
static bool search_step(struct search *s, bool first)
{
	double x[N], g[N], value = s->value;

	memcpy(x, s->x, sizeof(x));
	memcpy(g, s->g, sizeof(g));
	for (;;) {
		double z[N], slope = 0;
		bool pinned[N];

		cauchy_point(s, z, pinned);
		if (s->pairs == 0 || subspace_step(s, z, pinned)) {
			if (line_search(s, z, first)) {
				for (uint32_t i = 0; i < s->n; i++)
					slope += g[i] * (x[i] - s->x[i]);
				matrix_learn(s, x, g, slope);
				return true;
			}
			memcpy(s->x, x, sizeof(x));
			memcpy(s->g, g, sizeof(g));
			s->value = value;
		}
		if (s->pairs == 0)
			return false;
		matrix_forget(s);
	}
}

struct bounded_result bounded_minimise(const struct bounded_problem *problem,
	const struct bounded_options *options, double *x)
{
	struct search s = { .problem = problem, .n = problem->n };
	uint32_t steps = 0, most = options->steps_max ? options->steps_max : 15000;

	for (uint32_t i = 0; i < s.n; i++)
		s.x[i] = clamp(x[i], problem->low[i], problem->high[i]);
	matrix_forget(&s);
	s.value = problem->value(problem->self, s.x, s.g);
	s.evaluations = 1;
	while (steps < most && projected_gradient(&s) > options->gradient_tolerance) {
		double before = s.value;

		if (!search_step(&s, steps == 0))
			break;
		steps++;
		if (before - s.value <=
			options->value_tolerance * larger(larger(fabs(before), fabs(s.value)), 1))
			break;
	}
	memcpy(x, s.x, s.n * sizeof(*x));
	return (struct bounded_result){ s.value, steps, s.evaluations };
}
