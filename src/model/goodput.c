/*
 * Throughput, efficiency, and the batch that makes the most of both.
 */
#include "model/goodput.h"

#include <math.h>

#include "base/real.h"

#define BATCHES 50   /* tried for one shape */
#define LEAST_S 1e-8 /* one device synchronises with nobody; 0 would have no logarithm */
#define BATCH_MAX 1e9
#define ROUNDING 1e-8 /* a batch that is so little too large still fits */

/* Not fmax() and fmin(): these are calls, and this is asked thousands of times in a decision. */
static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

double goodput_grad_s(const struct goodput_params *p, double atomic)
{
	return p->alpha_c + p->beta_c * atomic;
}

double goodput_sync_s(const struct goodput_params *p, struct goodput_shape shape)
{
	double more = larger(shape.replicas - 2, LEAST_S);

	if (shape.nodes > 1)
		return p->alpha_n + p->beta_n * more;
	if (shape.replicas > 1)
		return p->alpha_r + p->beta_r * more;
	return LEAST_S;
}

static double power(double x, double exponent)
{
	return x > 0 ? real_pow(x, exponent) : 0;
}

/* Both parts of a step together. */
struct overlapped {
	double step_s;
	double grad; /* share of grad_s^gamma in step_s^gamma */
};

/* The gamma-norm of both, from the larger one so that no power overflows. */
static struct overlapped overlap(double grad_s, double sync_s, double gamma)
{
	double large = larger(grad_s, sync_s), small = smaller(grad_s, sync_s), ratio;

	if (gamma == 1 || large <= 0)
		return (struct overlapped){ large + small, grad_s / (large + small) };
	ratio = power(small / large, gamma);
	return (struct overlapped){ large * power(1 + ratio, 1 / gamma),
		(grad_s >= sync_s ? 1 : ratio) / (1 + ratio) };
}

double goodput_step_s(const struct goodput_params *p, struct goodput_shape shape, double atomic)
{
	return overlap(goodput_grad_s(p, atomic), goodput_sync_s(p, shape), p->gamma).step_s;
}

double goodput_iter_s(const struct goodput_params *p, struct goodput_shape shape,
	struct batch_split split)
{
	return split.accum * goodput_grad_s(p, split.atomic) + goodput_step_s(p, shape, split.atomic);
}

double goodput_gain(struct gradient g, double batch, double initial)
{
	if (!(g.sqr > 0 || g.var > 0))
		return batch / initial; /* nothing felt yet: every sample is believed to count */
	return (g.var + g.sqr) / (g.var * initial / batch + g.sqr);
}

double goodput_efficiency(struct gradient g, double batch, double initial)
{
	return goodput_gain(g, batch, initial) * initial / batch;
}

/* ceil() of a batch; the library's is a call. */
static double round_up(double x)
{
	double down = (double)(int32_t)smaller(x, BATCH_MAX);

	return down < x ? down + 1 : down;
}

/* What splitting many batches has in common. */
struct splitter {
	double each; /* of a total batch: that of a device */
	double pass; /* of that: passes it takes */
	double alone_max; /* more than this on a single device takes two passes; INFINITY: there are others */
};

static struct splitter splitter_of(const struct batch_limits *limits, double replicas)
{
	return (struct splitter){ 1 / replicas, 1 / limits->max_local,
		replicas <= 1 ? limits->initial + ROUNDING : INFINITY };
}

/* As struct batch_split, in the numbers that the rest is computed in. */
struct passes {
	double atomic, accum;
};

static inline struct passes split(struct splitter s, double batch)
{
	double local = batch * s.each, accum = 0;

	if (local * s.pass > 1 + ROUNDING)
		accum = round_up(local * s.pass - ROUNDING) - 1;
	/* One device learns its gradient's noise by comparing passes, so it needs two. */
	if (local > s.alone_max)
		accum = larger(accum, 1);
	if (accum > 0)
		local /= accum + 1;
	return (struct passes){ round_up(larger(local - ROUNDING, 0)), accum };
}

static struct batch_split whole(struct passes p)
{
	return (struct batch_split){ (uint32_t)p.atomic, (uint32_t)p.accum };
}

struct batch_split goodput_split(const struct batch_limits *limits, double replicas, double batch)
{
	return whole(split(splitter_of(limits, replicas), batch));
}

/* Also keeps what becomes a whole number from being too large for one. */
static bool limits_make_sense(const struct batch_limits *limits, struct goodput_shape shape)
{
	return limits->initial > 0 && limits->min_local >= 0 && limits->max_local >= 1 &&
		limits->initial <= BATCH_MAX && limits->max <= BATCH_MAX && shape.replicas >= 1 &&
		limits->max_local <= BATCH_MAX;
}

/*
 * One of the batches: an iteration of it is worth gain / loss iterations at the initial batch.  Divisions
 * are put off until it is known to be worth them.
 */
struct candidate {
	struct passes split;
	double batch, grad_s;
	double gain, loss;
};

/* What one question has in common for all batches. */
struct question {
	const struct goodput_params *params;
	const struct batch_limits *limits;
	struct gradient gradient;
	struct goodput_shape shape;
	double sync_s;
};

/* Seconds of an iteration whose step takes so long, times its loss: goodput is its gain over this. */
static double candidate_cost(const struct candidate *c, double step_s)
{
	return c->loss * (c->split.accum * c->grad_s + step_s);
}

/* Gain over loss is goodput_gain(). */
static inline struct candidate candidate_of(const struct question *q, struct passes s)
{
	double batch = q->shape.replicas * s.atomic * (s.accum + 1), grad_s;
	struct gradient g = q->gradient;

	grad_s = goodput_grad_s(q->params, s.atomic);
	return (struct candidate){ s, batch, grad_s, (g.var + g.sqr) * batch,
		g.var * q->limits->initial + g.sqr * batch };
}

/* Fills `out` with the batches from `low` to `high` that fit and differ, in order; returns how many. */
static uint32_t candidates_list(const struct question *q, double low, double high, struct candidate *out)
{
	struct splitter splitter = splitter_of(q->limits, q->shape.replicas);
	double ratio = high > low ? power(high / low, 1.0 / (BATCHES - 1)) : 1, batch = low;
	double least = larger(q->limits->min_local, 1), most = q->limits->max_local;
	uint32_t n = 0, tries = high > low ? BATCHES : 1;
	struct passes last = { 0 };

	for (uint32_t i = 0; i < tries; i++, batch *= ratio) {
		struct passes s = split(splitter, i > 0 && i + 1 == tries ? high : batch);

		if ((s.atomic == last.atomic && s.accum == last.accum) || s.atomic < least ||
			s.atomic > most)
			continue;
		last = s;
		out[n++] = candidate_of(q, s);
	}
	return n;
}

/*
 * A step takes a convex function of its computing, so a tangent lies below it: steps cannot be shorter than
 * that.  Powers cost most of the time here, and a tangent needs none.
 */
struct tangent {
	double base_s, slope;
};

static struct tangent tangent_at(const struct candidate *c, struct overlapped o)
{
	return (struct tangent){ o.step_s * (1 - o.grad), o.step_s * o.grad / c->grad_s };
}

static double least_cost(const struct question *q, const struct candidate *c, struct tangent t)
{
	double least_s = larger(larger(c->grad_s, q->sync_s), t.base_s + t.slope * c->grad_s);

	return candidate_cost(c, least_s);
}

/* Any would do to begin with, a good one saves looking at others. */
static uint32_t most_promising(const struct question *q, const struct candidate *list, uint32_t n)
{
	/* about the tangent where both parts are equal: 2^(1/gamma - 1) */
	double y = 1 / q->params->gamma, slope = 0.5 * (1 + y * (0.69 + 0.31 * y));
	struct tangent tangent = { slope * q->sync_s, slope };
	double gain = list[0].gain, cost = least_cost(q, &list[0], tangent);
	uint32_t best = 0;

	for (uint32_t i = 1; i < n; i++) {
		double other = least_cost(q, &list[i], tangent);

		if (list[i].gain * cost <= gain * other)
			continue;
		gain = list[i].gain;
		cost = other;
		best = i;
	}
	return best;
}

/* The first that is largest.  The tangent at a good one tells that most others are worse. */
static void candidates_choose(const struct question *q, const struct candidate *list, uint32_t n,
	struct goodput_choice *out)
{
	uint32_t best = most_promising(q, list, n);
	double gamma = q->params->gamma, most;
	struct overlapped o = overlap(list[best].grad_s, q->sync_s, gamma);
	struct tangent tangent = tangent_at(&list[best], o);

	most = list[best].gain / candidate_cost(&list[best], o.step_s);
	for (uint32_t i = 0; i < n; i++) {
		const struct candidate *c = &list[i];
		double goodput;

		/* bounds are rounded too */
		if (i == best || c->gain * (1 + 1e-12) < most * least_cost(q, c, tangent))
			continue;
		o = overlap(c->grad_s, q->sync_s, gamma);
		goodput = c->gain / candidate_cost(c, o.step_s);
		if (goodput > most || (goodput == most && i < best)) {
			most = goodput;
			best = i;
			tangent = tangent_at(c, o);
		}
	}
	*out = (struct goodput_choice){ most, list[best].batch, whole(list[best].split) };
}

bool goodput_best(const struct goodput_params *p, struct gradient g, const struct batch_limits *limits,
	struct goodput_shape shape, double cap, double fixed, struct goodput_choice *out)
{
	struct question q = { p, limits, g, shape, goodput_sync_s(p, shape) };
	struct candidate list[BATCHES];
	double low = larger(limits->initial, limits->min_local * shape.replicas);
	uint32_t n;

	*out = (struct goodput_choice){ 0 };
	if (!(g.sqr > 0 || g.var > 0))
		q.gradient = (struct gradient){ .var = 1 }; /* nothing felt yet, as in goodput_gain() */
	if (!limits_make_sense(limits, shape) || !(fixed <= BATCH_MAX))
		return false;
	if (fixed > 0)
		low = cap = fixed;
	else if (low > limits->max)
		return false;
	n = candidates_list(&q, low, larger(smaller(cap, limits->max), low), list);
	if (n == 0)
		return false;
	candidates_choose(&q, list, n, out);
	return true;
}
