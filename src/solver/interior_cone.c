#include "solver/interior_cone.h"

#include <math.h>

static const double half_root = 0.70710678118654752440;

struct three {
	double a, b, c;
};

static struct three get(const double *planes, uint32_t cones, uint32_t i)
{
	return (struct three){ planes[i], planes[cones + i], planes[2 * (size_t)cones + i] };
}

static void put(double *planes, uint32_t cones, uint32_t i, struct three u)
{
	planes[i] = u.a;
	planes[cones + i] = u.b;
	planes[2 * (size_t)cones + i] = u.c;
}

/* Its own inverse. */
static struct three rotated(struct three u)
{
	return (struct three){ half_root * (u.a + u.b), half_root * (u.a - u.b), u.c };
}

/* In rotated coordinates. */
static double determinant(struct three u)
{
	return 2 * u.a * u.b - u.c * u.c;
}

void cone_init(struct cone_set *set, uint32_t cones, struct arena *work)
{
	set->cones = cones;
	set->w2 = arena_array(work, double, 6 * (size_t)cones);
	set->w = arena_array(work, double, 3 * (size_t)cones);
	set->eta2 = arena_array(work, double, cones);
	set->v = arena_array(work, double, 3 * (size_t)cones);
	set->lambda = arena_array(work, double, 3 * (size_t)cones);
	set->target = arena_array(work, double, 3 * (size_t)cones);
}

/* What 1 is in a cone that stands for many. */
static double unit_of(const double *many, uint32_t i)
{
	return many ? sqrt(many[i]) : 1;
}

double cone_outside(const double *s, const double *many, uint32_t cones)
{
	double worst = -INFINITY;

	for (uint32_t i = 0; i < cones; i++) {
		struct three u = rotated(get(s, cones, i));

		worst = fmax(worst, (sqrt(u.b * u.b + u.c * u.c) - u.a) / unit_of(many, i));
	}
	return worst;
}

void cone_shift(double *s, const double *many, uint32_t cones, double by)
{
	for (uint32_t i = 0; i < cones; i++) {
		double shift = half_root * by * unit_of(many, i);

		s[i] += shift;
		s[cones + i] += shift;
	}
}

static void set_w2(struct cone_set *set, uint32_t i, struct three w, double eta2)
{
	size_t n = set->cones;

	put(set->w, set->cones, i, w);
	set->eta2[i] = eta2;
	set->w2[i] = eta2 * 2 * w.a * w.a;
	set->w2[n + i] = eta2 * w.c * w.c; /* 2 w.a w.b - 1 */
	set->w2[2 * n + i] = eta2 * 2 * w.a * w.c;
	set->w2[3 * n + i] = eta2 * 2 * w.b * w.b;
	set->w2[4 * n + i] = eta2 * 2 * w.b * w.c;
	set->w2[5 * n + i] = eta2 * (2 * w.c * w.c + 1);
}

void cone_unit(struct cone_set *set)
{
	for (uint32_t i = 0; i < set->cones; i++)
		set_w2(set, i, (struct three){ half_root, half_root, 0 }, 1);
}

/* W u, or W^-1 u for the inverse of v and of eta: eta (2 v v' - J) u without cancellation. */
static struct three scaled(double eta, struct three v, struct three u)
{
	double along = 2 * (v.a * u.a + v.b * u.b + v.c * u.c);

	/* 2 v.a v.b - 1 = v.c^2 */
	return (struct three){
		eta * (2 * v.a * v.a * u.a + v.c * v.c * u.b + 2 * v.a * v.c * u.c),
		eta * (v.c * v.c * u.a + 2 * v.b * v.b * u.b + 2 * v.b * v.c * u.c),
		eta * (along * v.c + u.c),
	};
}

static void scale_one(struct cone_set *set, uint32_t i, struct three s, struct three y)
{
	double in_s = 1 / sqrt(determinant(s)), in_y = 1 / sqrt(determinant(y));
	double gamma = sqrt(0.5 * (1 + in_s * in_y * (s.a * y.a + s.b * y.b + s.c * y.c)));
	double by = 0.5 / gamma, eta2 = in_y / in_s;
	struct three w = { by * (in_s * s.a + in_y * y.b), by * (in_s * s.b + in_y * y.a),
		by * (in_s * s.c - in_y * y.c) };
	double root = 1 / sqrt(2 * (half_root * (w.a + w.b) + 1));
	struct three v = { root * (w.a + half_root), root * (w.b + half_root), root * w.c };

	set_w2(set, i, w, eta2);
	put(set->v, set->cones, i, v);
	put(set->lambda, set->cones, i, rotated(scaled(sqrt(eta2), v, y)));
}

void cone_scale(struct cone_set *set, const double *s, const double *y)
{
	for (uint32_t i = 0; i < set->cones; i++)
		scale_one(set, i, get(s, set->cones, i), get(y, set->cones, i));
}

/* 1 / the largest step from lambda along u, both unrotated; at most 0: no limit. */
static double blocking(struct three lambda, struct three u)
{
	double det = lambda.a * lambda.a - lambda.b * lambda.b - lambda.c * lambda.c;
	double norm = sqrt(det), in = 1 / norm;
	struct three l = { in * lambda.a, in * lambda.b, in * lambda.c };
	double along = l.a * u.a - l.b * u.b - l.c * u.c;
	double by = (along + u.a) / (l.a + 1);
	double b = u.b - by * l.b, c = u.c - by * l.c;

	return in * (sqrt(b * b + c * c) - along);
}

static struct three product(struct three u, struct three v)
{
	return (struct three){ u.a * v.a + u.b * v.b + u.c * v.c, u.a * v.b + v.a * u.b,
		u.a * v.c + v.a * u.c };
}

/* What multiplied by lambda gives u. */
static struct three quotient(struct three l, struct three u)
{
	double det = l.a * l.a - l.b * l.b - l.c * l.c;
	double first = (l.a * u.a - l.b * u.b - l.c * u.c) / det;

	return (struct three){ first, (u.b - first * l.b) / l.a, (u.c - first * l.c) / l.a };
}

static struct three times_w(const struct cone_set *set, uint32_t i, struct three u)
{
	return scaled(sqrt(set->eta2[i]), get(set->v, set->cones, i), u);
}

double cone_affine(struct cone_set *set, const double *dy)
{
	double limit = 0;

	for (uint32_t i = 0; i < set->cones; i++) {
		struct three l = get(set->lambda, set->cones, i);
		struct three wdy = rotated(times_w(set, i, get(dy, set->cones, i)));
		struct three wds = { -wdy.a - l.a, -wdy.b - l.b, -wdy.c - l.c };

		limit = fmax(limit, fmax(blocking(l, wds), blocking(l, wdy)));
		put(set->target, set->cones, i, product(wds, wdy));
	}
	return limit;
}

void cone_correct(struct cone_set *set, const double *many, double centre, double by,
	const double *s, double *side)
{
	uint32_t n = set->cones;

	for (uint32_t i = 0; i < n; i++) {
		struct three l = get(set->lambda, n, i), t = get(set->target, n, i);
		struct three square = product(l, l), w, was = get(side, n, i), here = get(s, n, i);
		double pull = many ? centre * many[i] : centre;

		t = (struct three){ square.a + t.a - pull, square.b + t.b, square.c + t.c };
		t = quotient(l, t);
		put(set->target, n, i, t);
		w = times_w(set, i, rotated(t));
		put(side, n, i,
			(struct three){ by * (was.a - here.a) + w.a, by * (was.b - here.b) + w.b,
				by * (was.c - here.c) + w.c });
	}
}

double cone_step(struct cone_set *set, const double *dy, double *ds)
{
	uint32_t n = set->cones;
	double limit = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct three l = get(set->lambda, n, i), t = get(set->target, n, i);
		struct three wdy = rotated(times_w(set, i, get(dy, n, i)));
		struct three wds = { -wdy.a - t.a, -wdy.b - t.b, -wdy.c - t.c };

		limit = fmax(limit, fmax(blocking(l, wds), blocking(l, wdy)));
		put(ds, n, i, times_w(set, i, rotated(wds)));
	}
	return limit;
}

void cone_add_w2(const struct cone_set *set, const double *y, double *out)
{
	size_t n = set->cones;

	for (size_t i = 0; i < n; i++) {
		double a = y[i], b = y[n + i], c = y[2 * n + i];
		const double *m = set->w2 + i;

		out[i] += m[0] * a + m[n] * b + m[2 * n] * c;
		out[n + i] += m[n] * a + m[3 * n] * b + m[4 * n] * c;
		out[2 * n + i] += m[2 * n] * a + m[4 * n] * b + m[5 * n] * c;
	}
}
