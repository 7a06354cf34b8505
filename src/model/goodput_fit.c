/*
 * Seven parameters from a few measured steps: root mean square errors of the
 * logarithms of computing and of whole steps, with mild preferences for little
 * overlap and little growth with the number of devices.
 */
#include "model/goodput_fit.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/real.h"
#include "solver/bounded.h"

#define LEAST 1e-8
#define GAMMA_MAX 10.0
#define GAMMA_COST 1e-3
#define GROWTH_COST 1e-2
#define TOLERANCE 1e-5
#define WIDER 1.1 /* what unseen nodes cost, of what one node does */

enum { ALPHA_C, BETA_C, ALPHA_N, BETA_N, ALPHA_R, BETA_R, GAMMA, PARAMETERS };

struct observed {
	const struct goodput_sample *samples;
	const double *grad_log, *step_log;
	uint32_t n;
	bool smooth; /* mean squares instead of their roots: no kink where everything fits */
};

/* Where a sample's synchronisation is described: its alpha; PARAMETERS for a single device. */
static int sync_of(const struct goodput_sample *s)
{
	if (s->nodes > 1)
		return ALPHA_N;
	return s->replicas > 1 ? ALPHA_R : PARAMETERS;
}

/* Sums of squares of the errors, and their derivatives (halved). */
struct errors {
	double grad, step;
	double grad_by[PARAMETERS], step_by[PARAMETERS];
};

static void errors_add(struct errors *e, const struct observed *o, uint32_t i, const double *x)
{
	const struct goodput_sample *s = &o->samples[i];
	int sync = sync_of(s);
	double more = s->replicas - 2 > LEAST ? s->replicas - 2 : LEAST;
	double grad_s = x[ALPHA_C] + x[BETA_C] * s->atomic;
	double sync_s = sync == PARAMETERS ? LEAST : x[sync] + x[sync + 1] * more;
	double grad_log = real_log(grad_s), sync_log = real_log(sync_s), apart = grad_log - sync_log;
	/* log of the norm without overflow: the larger one, and what the smaller adds */
	double small = real_exp(-x[GAMMA] * fabs(apart)), added = real_log(1 + small) / x[GAMMA];
	double of_small = small / (1 + small), of_grad = apart >= 0 ? 1 - of_small : of_small;
	double step_log = (apart >= 0 ? grad_log : sync_log) + added;
	double grad_off = grad_log - o->grad_log[i], step_off = step_log - o->step_log[i];

	e->grad += grad_off * grad_off;
	e->step += step_off * step_off;
	e->grad_by[ALPHA_C] += grad_off / grad_s;
	e->grad_by[BETA_C] += grad_off / grad_s * s->atomic;
	e->step_by[ALPHA_C] += step_off * of_grad / grad_s;
	e->step_by[BETA_C] += step_off * of_grad / grad_s * s->atomic;
	e->step_by[GAMMA] -= step_off * (of_small * fabs(apart) + added) / x[GAMMA];
	if (sync == PARAMETERS)
		return;
	e->step_by[sync] += step_off * (1 - of_grad) / sync_s;
	e->step_by[sync + 1] += step_off * (1 - of_grad) / sync_s * more;
}

static double growth_cost(const double *x, int alpha, double *gradient)
{
	double growth = x[alpha + 1] / x[alpha];

	gradient[alpha] -= 2 * GROWTH_COST * growth * growth / x[alpha];
	gradient[alpha + 1] += 2 * GROWTH_COST * growth / x[alpha];
	return GROWTH_COST * growth * growth;
}

static double smooth_objective(const struct observed *o, const struct errors *e, double *gradient)
{
	for (int i = 0; i < PARAMETERS; i++)
		gradient[i] = 2 * (e->grad_by[i] + e->step_by[i]) / o->n;
	return (e->grad + e->step) / o->n;
}

static double objective(const void *self, const double *x, double *gradient)
{
	const struct observed *o = self;
	struct errors e = { 0 };
	double grad, step, over = x[GAMMA] - 1;

	for (uint32_t i = 0; i < o->n; i++)
		errors_add(&e, o, i, x);
	if (o->smooth)
		return smooth_objective(o, &e, gradient);
	grad = sqrt(e.grad / o->n);
	step = sqrt(e.step / o->n);
	for (int i = 0; i < PARAMETERS; i++) {
		/* a root has no slope at 0; there is nothing to gain there either */
		gradient[i] = grad > 0 ? e.grad_by[i] / (o->n * grad) : 0;
		gradient[i] += step > 0 ? e.step_by[i] / (o->n * step) : 0;
	}
	gradient[GAMMA] += 2 * GAMMA_COST * over;
	return grad + step + GAMMA_COST * over * over + growth_cost(x, ALPHA_N, gradient) +
		growth_cost(x, ALPHA_R, gradient);
}

/* ---- what can be seen */

struct goodput_seen goodput_seen(const struct goodput_sample *samples, uint32_t n)
{
	struct goodput_seen seen = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		const struct goodput_sample *s = &samples[i];

		seen.sizes |= s->atomic != samples[0].atomic;
		seen.nodes |= sync_of(s) == ALPHA_N;
		seen.replicas |= sync_of(s) == ALPHA_R;
		seen.growth |= s->replicas > 2;
		seen.grad_s += (s->step_s - s->sync_s) / n;
	}
	return seen;
}

static void pin(struct bounded_problem *problem, double *x, int i, double value)
{
	problem->low[i] = problem->high[i] = x[i] = value;
}

static void problem_start(struct bounded_problem *problem, double *x, struct goodput_seen seen,
	const struct goodput_fit_options *options)
{
	bool proportional = options && options->proportional;

	for (int i = 0; i < GAMMA; i++) {
		problem->low[i] = LEAST;
		problem->high[i] = INFINITY;
		x[i] = i % 2 ? 0.01 : 0.1;
	}
	problem->low[GAMMA] = 1;
	problem->high[GAMMA] = GAMMA_MAX;
	x[GAMMA] = 1.001;
	if (!seen.sizes)
		pin(problem, x, ALPHA_C, proportional ? LEAST : seen.grad_s / 2);
	if (!seen.nodes)
		pin(problem, x, ALPHA_N, LEAST);
	if (!seen.replicas)
		pin(problem, x, ALPHA_R, LEAST);
	if (!seen.nodes || !seen.growth)
		pin(problem, x, BETA_N, LEAST);
	if (!seen.replicas || !seen.growth)
		pin(problem, x, BETA_R, LEAST);
}

/* Nodes that were not seen are not better than one that was. */
static void widen(double *x, struct goodput_seen seen)
{
	if (seen.nodes)
		return;
	x[ALPHA_N] = fmax(x[ALPHA_N], WIDER * x[ALPHA_R]);
	x[BETA_N] = fmax(x[BETA_N], WIDER * x[BETA_R]);
}

/* ---- input */

static int sample_check(const struct goodput_sample *s, uint32_t i, struct err *err)
{
	if (!(s->nodes >= 1 && s->replicas >= s->nodes && isfinite(s->replicas)))
		return err_set(err, ERR_FORMAT,
			"sample %u: %g nodes and %g devices; it needs a node, and a device on each",
			i, s->nodes, s->replicas);
	if (!(s->atomic > 0 && isfinite(s->atomic)))
		return err_set(err, ERR_FORMAT, "sample %u: a batch of %g samples a device", i,
			s->atomic);
	if (!(s->step_s > 0 && isfinite(s->step_s)))
		return err_set(err, ERR_FORMAT, "sample %u: a step of %g s", i, s->step_s);
	if (!(s->sync_s >= 0 && s->sync_s < s->step_s))
		return err_set(err, ERR_FORMAT,
			"sample %u: %g s of synchronising in a step of %g s leave no time to compute",
			i, s->sync_s, s->step_s);
	return 0;
}

/* ---- searching */

static void search(const struct bounded_problem *problem, const struct goodput_fit_options *options,
	double *x)
{
	double tolerance = options && options->tolerance > 0 ? options->tolerance : TOLERANCE;
	struct bounded_options how = { .value_tolerance = tolerance, .gradient_tolerance = tolerance };

	bounded_minimise(problem, &how, x);
}

/* Means of the synchronisation that steps show if that much of it is hidden. */
static void guess_sync(const struct observed *o, double gamma, double *x)
{
	double sum[2] = { 0 };
	uint32_t n[2] = { 0 };

	for (uint32_t i = 0; i < o->n; i++) {
		int sync = sync_of(&o->samples[i]), k = sync == ALPHA_N;
		double ratio = real_exp(gamma * (o->grad_log[i] - o->step_log[i]));

		if (sync == PARAMETERS)
			continue;
		n[k]++;
		sum[k] += o->samples[i].step_s * real_pow(fmax(1 - ratio, LEAST), 1 / gamma);
	}
	for (int k = 0; k < 2; k++) {
		if (n[k] == 0)
			continue;
		x[k ? ALPHA_N : ALPHA_R] = sum[k] / n[k];
		x[k ? BETA_N : BETA_R] = sum[k] / n[k] / 10;
	}
}

/*
 * From data instead of constants, with more or less overlap: first to where the mean squares are least, then
 * as usual.  The best is kept.
 */
static void search_around(struct bounded_problem *problem, struct observed *o,
	struct goodput_seen seen, const struct goodput_fit_options *options, double *best)
{
	static const double gammas[] = { 1.001, 1.3, 1.7, 2.5, 4, 7 };
	double slope[PARAMETERS], least = objective(o, best, slope);

	for (size_t i = 0; i < sizeof(gammas) / sizeof(*gammas); i++) {
		double x[PARAMETERS], value, mean = 0;

		for (uint32_t k = 0; k < o->n; k++)
			mean += o->samples[k].atomic / o->n;
		x[ALPHA_C] = seen.grad_s / 2;
		x[BETA_C] = seen.grad_s / 2 / mean;
		for (int k = ALPHA_N; k < GAMMA; k++)
			x[k] = LEAST;
		guess_sync(o, gammas[i], x);
		x[GAMMA] = gammas[i];
		o->smooth = true;
		bounded_minimise(problem, &(struct bounded_options){ 1e-13, 1e-10, 500 }, x);
		o->smooth = false;
		search(problem, options, x);
		value = objective(o, x, slope);
		if (value < least) {
			least = value;
			memcpy(best, x, sizeof(x));
		}
	}
}

#define ON_STACK 64u

int goodput_fit(const struct goodput_sample *samples, uint32_t n,
	const struct goodput_fit_options *options, struct goodput_fit *out, struct err *err)
{
	double small[2 * ON_STACK], x[PARAMETERS], slope[PARAMETERS];
	double *logs = n > ON_STACK ? mem_alloc(mem_array_size(n, 2 * sizeof(*logs))) : small;
	struct observed observed = { samples, logs, logs + n, n, false };
	struct bounded_problem problem = { .n = PARAMETERS, .value = objective, .self = &observed };
	struct goodput_seen seen;
	int rc = n > 0 ? 0 : err_set(err, ERR_FORMAT, "no samples to fit a model to");

	for (uint32_t i = 0; i < n && rc == 0; i++) {
		rc = sample_check(&samples[i], i, err);
		if (rc)
			break;
		logs[i] = real_log(samples[i].step_s - samples[i].sync_s);
		logs[n + i] = real_log(samples[i].step_s);
	}
	if (rc == 0) {
		seen = goodput_seen(samples, n);
		problem_start(&problem, x, seen, options);
		search(&problem, options, x);
		if (options && options->thorough)
			search_around(&problem, &observed, seen, options, x);
		widen(x, seen);
		out->objective = objective(&observed, x, slope);
		out->params = (struct goodput_params){ x[ALPHA_C], x[BETA_C], x[ALPHA_N], x[BETA_N],
			x[ALPHA_R], x[BETA_R], x[GAMMA] };
	}
	if (logs != small)
		free(logs);
	return rc;
}
