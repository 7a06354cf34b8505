#include "report/effect.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/stats.h"
#include "report/units.h"

/* Pairs of values of seeds that both arms ran. */
struct pairs {
	double *x, *y;
	size_t n;
};

static void pairs_of(const struct comparison *c, size_t metric, uint32_t base, uint32_t arm,
	struct pairs *out)
{
	size_t size = mem_array_size(c->nseeds + 1u, sizeof(double));

	*out = (struct pairs){ mem_alloc(size), mem_alloc(size), 0 };
	for (uint32_t s = 0; s < c->nseeds; s++) {
		const struct compare_cell *a = &c->policies[base].cells[s];
		const struct compare_cell *b = &c->policies[arm].cells[s];
		double x = a->there ? metric_value(&metrics[metric], &a->summary) : NAN;
		double y = b->there ? metric_value(&metrics[metric], &b->summary) : NAN;

		if (!isfinite(x) || !isfinite(y))
			continue;
		out->x[out->n] = x;
		out->y[out->n++] = y;
	}
}

static int direction(size_t metric)
{
	switch (metrics[metric].better) {
	case BETTER_LOW:
		return -1;
	case BETTER_HIGH:
		return 1;
	default:
		return 0;
	}
}

static bool differ(double x, double y)
{
	return fabs(x - y) > 1e-9 * fmax(fabs(x), fabs(y));
}

static bool all_positive(const struct pairs *p)
{
	for (size_t i = 0; i < p->n; i++) {
		if (!(p->x[i] > 0 && p->y[i] > 0))
			return false;
	}
	return p->n > 0;
}

/* Seeds differ by factors rather than by seconds: the mean of logarithms, so that none drowns the others. */
static void by_ratio(struct effect *e, struct pairs *p)
{
	struct interval v;

	for (size_t i = 0; i < p->n; i++) {
		p->y[i] = log(p->y[i] / p->x[i]);
		p->x[i] = 0;
	}
	v = stats_interval(p->y, p->n);
	e->change = expm1(v.mean);
	e->low = expm1(v.mean - v.half);
	e->high = expm1(v.mean + v.half);
}

/* Where a seed has nothing: the difference as a part of the mean before. */
static void by_difference(struct effect *e, struct pairs *p)
{
	struct interval v;

	for (size_t i = 0; i < p->n; i++)
		p->y[i] -= p->x[i];
	v = stats_interval(p->y, p->n);
	e->change = v.mean / e->before;
	/* No figure is below 0. */
	e->low = v.mean - v.half < -e->before ? -1 : (v.mean - v.half) / e->before;
	e->high = (v.mean + v.half) / e->before;
	if (!isfinite(e->change))
		e->change = e->low = e->high = NAN;
}

struct effect effect_of(const struct comparison *c, size_t metric, uint32_t base, uint32_t arm)
{
	int up = direction(metric);
	struct pairs pairs;
	struct effect e;

	pairs_of(c, metric, base, arm, &pairs);
	e = (struct effect){
		.before = stats_mean(pairs.x, pairs.n),
		.after = stats_mean(pairs.y, pairs.n),
		.n = (uint32_t)pairs.n,
		.p = pairs.n > 1 ? stats_wilcoxon(pairs.x, pairs.y, pairs.n).p : NAN,
	};
	for (size_t i = 0; i < pairs.n; i++)
		e.better += differ(pairs.x[i], pairs.y[i]) && up * (pairs.y[i] - pairs.x[i]) > 0;
	if (e.n && differ(e.before, e.after))
		e.sign = e.after > e.before ? up : -up;
	if (all_positive(&pairs))
		by_ratio(&e, &pairs);
	else
		by_difference(&e, &pairs);
	free(pairs.x);
	free(pairs.y);
	return e;
}

static void percent(double x, struct buf *out)
{
	buf_printf(out, "%+.*f", fabs(x) >= 0.1 ? 0 : 1, 100 * x);
}

void effect_text(const struct effect *e, size_t metric, struct buf *out)
{
	if (!e->n) {
		buf_str(out, "unknown");
		return;
	}
	if (!differ(e->before, e->after)) {
		buf_str(out, "the same");
		return;
	}
	if (isnan(e->change)) {
		unit_text(metrics[metric].unit, e->before, out);
		buf_str(out, " to ");
		unit_text(metrics[metric].unit, e->after, out);
		return;
	}
	percent(e->change, out);
	buf_str(out, " %");
	if (isnan(e->low))
		return;
	buf_str(out, " (");
	percent(e->low, out);
	buf_str(out, " to ");
	percent(e->high, out);
	buf_char(out, ')');
}

void effect_holm(double *p, size_t n)
{
	double last = 0;
	size_t left = 0;
	bool *done = mem_alloc(n + 1);

	for (size_t i = 0; i < n; i++)
		left += !isnan(p[i]);
	for (; left; left--) {
		size_t least = n;

		for (size_t i = 0; i < n; i++) {
			if (!done[i] && !isnan(p[i]) && (least == n || p[i] < p[least]))
				least = i;
		}
		done[least] = true;
		last = fmax(last, fmin(1, p[least] * (double)left));
		p[least] = last;
	}
	free(done);
}
