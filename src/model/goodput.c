/*
 * Throughput, efficiency, and the batch that makes the most of both.
 */
#include "model/goodput.h"

#include <math.h>

#include "base/real.h"
#include "solver/four.h"

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
	double each;  /* of a total batch: that of a device */
	double pass;  /* of that: passes it takes */
	double whole; /* what a pipeline takes, whatever the batch; 0: it is none */
	double alone_max; /* more than this on a single device takes two passes; INFINITY: there are others */
};

static struct splitter splitter_of(const struct batch_limits *limits, double replicas)
{
	return (struct splitter){
		.each = 1 / replicas,
		.pass = 1 / limits->max_local,
		.whole = limits->unit > 0 ? limits->max_local : 0,
		.alone_max = replicas <= 1 ? limits->initial + ROUNDING : INFINITY,
	};
}

/* As struct batch_split, in the numbers that the rest is computed in. */
struct passes {
	double atomic, accum;
};

static inline struct passes split(struct splitter s, double batch)
{
	double local = batch * s.each, accum = 0;

	if (s.whole > 0)
		return (struct passes){ s.whole, 0 };
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
static bool limits_make_sense(const struct batch_limits *limits, double replicas)
{
	return limits->initial > 0 && limits->min_local >= 0 && limits->max_local >= 1 &&
		limits->initial <= BATCH_MAX && limits->max <= BATCH_MAX && replicas >= 1 &&
		limits->max_local <= BATCH_MAX;
}

/* Fills `out` with the batches from `low` to `high` that fit and differ, in order. */
static void batches_fill(const struct batch_limits *limits, double replicas, double low,
	double high, struct goodput_batches *out)
{
	struct splitter splitter = splitter_of(limits, replicas);
	double ratio = high > low ? power(high / low, 1.0 / (BATCHES - 1)) : 1, batch = low;
	double least = larger(limits->min_local, 1), most = limits->max_local;
	uint32_t tries = high > low ? BATCHES : 1;
	struct passes last = { 0 };

	out->n = 0;
	out->most = larger(low, high);
	for (uint32_t i = 0; i < tries; i++, batch *= ratio) {
		struct passes s = split(splitter, i > 0 && i + 1 == tries ? high : batch);

		if ((s.atomic == last.atomic && s.accum == last.accum) || s.atomic < least ||
			s.atomic > most)
			continue;
		last = s;
		out->atomic[out->n] = s.atomic;
		out->accum[out->n] = s.accum;
		out->total[out->n++] = replicas * s.atomic * (s.accum + 1);
	}
	for (uint32_t i = out->n; out->n > 0 && i < GOODPUT_BATCHES; i++) {
		out->atomic[i] = out->atomic[0];
		out->accum[i] = out->accum[0];
		out->total[i] = out->total[0];
	}
}

bool goodput_list(const struct batch_limits *limits, double replicas, double cap, double fixed,
	struct goodput_batches *out)
{
	double low = larger(limits->initial, limits->min_local * replicas);

	out->n = 0;
	if (!limits_make_sense(limits, replicas) || !(fixed <= BATCH_MAX))
		return false;
	if (fixed > 0 && !(limits->unit > 0))
		low = cap = fixed;
	else if (low > limits->max)
		return false;
	batches_fill(limits, replicas, low, larger(smaller(cap, limits->max), low), out);
	return out->n > 0;
}

/* ---- which batch */

/* One question, and of each batch what the answer depends on: an iteration is worth gain / loss initial ones. */
struct question {
	const struct goodput_batches *batches;
	double sync_s, gamma;
	double grad_s[GOODPUT_BATCHES], gain[GOODPUT_BATCHES], loss[GOODPUT_BATCHES];
};

static void question_weigh(struct question *q, const struct goodput_params *p, struct gradient g,
	double initial)
{
	for (uint32_t i = 0; i < q->batches->n; i += 4) {
		four total = four_load(q->batches->total + i, 4);
		four atomic = four_load(q->batches->atomic + i, 4);

		four_store(q->grad_s + i, p->alpha_c + p->beta_c * atomic, 4);
		four_store(q->gain + i, (g.var + g.sqr) * total, 4);
		four_store(q->loss + i, g.var * initial + g.sqr * total, 4);
	}
}

/*
 * A step takes a convex function of its computing, so a tangent lies below it: steps cannot be shorter than
 * that.  Powers cost most of the time here, and a tangent needs none.
 */
struct tangent {
	double base_s, slope;
};

/* Of each batch, what an iteration takes at least, times its loss: its goodput is at most its gain over this. */
static void least_costs(const struct question *q, struct tangent t, double *out)
{
	for (uint32_t i = 0; i < q->batches->n; i += 4) {
		four grad_s = four_load(q->grad_s + i, 4), accum = four_load(q->batches->accum + i, 4);
		four least_s = four_larger(four_larger(grad_s, four_of(q->sync_s)),
			t.base_s + t.slope * grad_s);

		four_store(out + i, four_load(q->loss + i, 4) * (accum * grad_s + least_s), 4);
	}
}

/* Any would do to begin with, a good one saves looking at others. */
static uint32_t most_promising(const struct question *q)
{
	/* about the tangent where both parts are equal: 2^(1/gamma - 1) */
	double y = 1 / q->gamma, slope = 0.5 * (1 + y * (0.69 + 0.31 * y));
	double cost[GOODPUT_BATCHES], hope[GOODPUT_BATCHES];
	uint32_t best = 0;

	least_costs(q, (struct tangent){ slope * q->sync_s, slope }, cost);
	for (uint32_t i = 0; i < q->batches->n; i += 4)
		four_store(hope + i, four_load(q->gain + i, 4) / four_load(cost + i, 4), 4);
	for (uint32_t i = 1; i < q->batches->n; i++)
		best = hope[i] > hope[best] ? i : best;
	return best;
}

static double goodput_at(const struct question *q, uint32_t i, struct overlapped o)
{
	return q->gain[i] / (q->loss[i] * (q->batches->accum[i] * q->grad_s[i] + o.step_s));
}

/* The first that is largest.  The tangent at a good one tells that most others are worse. */
static uint32_t question_answer(const struct question *q, double *goodput)
{
	uint32_t best = most_promising(q);
	struct overlapped o = overlap(q->grad_s[best], q->sync_s, q->gamma);
	struct tangent tangent = { o.step_s * (1 - o.grad), o.step_s * o.grad / q->grad_s[best] };
	double cost[GOODPUT_BATCHES], most = goodput_at(q, best, o), here;

	least_costs(q, tangent, cost);
	for (uint32_t i = 0, first = best; i < q->batches->n; i++) {
		/* bounds are rounded too */
		if (i == first || q->gain[i] * (1 + 1e-12) < most * cost[i])
			continue;
		here = goodput_at(q, i, overlap(q->grad_s[i], q->sync_s, q->gamma));
		if (here > most || (here == most && i < best)) {
			most = here;
			best = i;
		}
	}
	*goodput = most;
	return best;
}

void goodput_choose(const struct goodput_params *p, struct gradient g,
	const struct batch_limits *limits, struct goodput_shape shape,
	const struct goodput_batches *batches, struct goodput_choice *out)
{
	struct passes passes;
	struct question q;
	uint32_t best;
	bool felt;

	q.batches = batches;
	q.sync_s = goodput_sync_s(p, shape);
	q.gamma = p->gamma;
	felt = g.sqr > 0 || g.var > 0;
	if (!felt)
		g = (struct gradient){ .var = 1 }; /* as in goodput_gain() */
	question_weigh(&q, p, g, limits->initial);
	/* Samples that only came by rounding are not believed to count: seven devices are not better for that. */
	for (uint32_t i = 0; !felt && i < batches->n; i++)
		q.gain[i] = smaller(q.gain[i], batches->most);
	best = question_answer(&q, &out->goodput);
	passes = (struct passes){ batches->atomic[best], batches->accum[best] };
	out->batch = batches->total[best];
	out->split = whole(passes);
}

bool goodput_best(const struct goodput_params *p, struct gradient g, const struct batch_limits *limits,
	struct goodput_shape shape, double cap, double fixed, struct goodput_choice *out)
{
	struct goodput_batches batches;

	*out = (struct goodput_choice){ 0 };
	if (!goodput_list(limits, shape.replicas, cap, fixed, &batches))
		return false;
	goodput_choose(p, g, limits, shape, &batches, out);
	return true;
}
