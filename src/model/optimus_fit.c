#include "model/optimus_fit.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "solver/nnls.h"

/* ---- loss */

double loss_at(const struct loss_curve *curve, double k)
{
	return 1 / (curve->b0 * k + curve->b1) + curve->b2;
}

static int check_losses(const struct loss_point *points, uint32_t n, struct err *err)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!isfinite(points[i].k) || !isfinite(points[i].loss) || !(points[i].loss > 0))
			return err_set(err, ERR_FORMAT,
				"point %u: (%g, %g) is no step and loss above 0", i, points[i].k,
				points[i].loss);
		if (i > 0 && !(points[i].k > points[i - 1].k))
			return err_set(err, ERR_FORMAT, "point %u: step %g does not come after step %g",
				i, points[i].k, points[i - 1].k);
	}
	if (n < 2)
		return err_set(err, ERR_FORMAT, "a loss curve needs two points or more, there %s %u",
			n == 1 ? "is" : "are", n);
	return 0;
}

/* A loss above or below both of its neighbours. */
static bool is_outlier(const struct loss_point *points, uint32_t n, uint32_t i)
{
	double before, after;

	if (i == 0 || i == n - 1)
		return false;
	before = points[i - 1].loss;
	after = points[i + 1].loss;
	return points[i].loss > fmax(before, after) || points[i].loss < fmin(before, after);
}

/* Points that count, divided by the largest loss, with their weights. */
struct losses {
	struct loss_point *at;
	double *weight;
	uint32_t n;
	double top, least; /* the largest loss as given; the least after division */
};

static void losses_fill(struct losses *l, const struct loss_point *points, uint32_t n,
	const struct loss_fit_options *o)
{
	l->top = 0;
	l->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (o->raw || !is_outlier(points, n, i))
			l->at[l->n++] = points[i];
	}
	for (uint32_t i = 0; i < l->n; i++)
		l->top = fmax(l->top, l->at[i].loss);
	l->least = 1;
	for (uint32_t i = 0; i < l->n; i++) {
		l->at[i].loss /= l->top;
		l->least = fmin(l->least, l->at[i].loss);
		l->weight[i] = o->recent ? pow(4, (double)(3 * i / l->n)) : 1;
	}
}

/* The best b0 and b1 for this b2; returns the weighted squared error of the losses. */
static double fit_above(const struct losses *l, double b2, struct loss_curve *out)
{
	struct nnls problem;
	double x[2], sum = 0;

	nnls_init(&problem, 2);
	for (uint32_t i = 0; i < l->n; i++) {
		/* An error of 1/y is one of y divided by the square of y. */
		double y = l->at[i].loss - b2, scale = y * y * l->weight[i];

		nnls_add(&problem, (double[]){ l->at[i].k * scale, scale }, scale / y);
	}
	nnls_solve(&problem, x);
	*out = (struct loss_curve){ .b0 = x[0], .b1 = x[1], .b2 = b2 };
	for (uint32_t i = 0; i < l->n; i++) {
		double error = (loss_at(out, l->at[i].k) - l->at[i].loss) * l->weight[i];

		sum += error * error;
	}
	return sum;
}

static double loss_error(const struct losses *l, const struct loss_curve *curve)
{
	double sum = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		double error = loss_at(curve, l->at[i].k) - l->at[i].loss * l->top;

		sum += error * error;
	}
	return sqrt(sum / l->n);
}

static void scan(const struct losses *l, uint32_t grid, struct loss_curve *out)
{
	double best = INFINITY;

	for (uint32_t i = 0; i < grid; i++) {
		struct loss_curve curve;
		double error = fit_above(l, l->least * i / grid, &curve);

		if (error < best) {
			best = error;
			*out = curve;
		}
	}
	out->b0 /= l->top;
	out->b1 /= l->top;
	out->b2 *= l->top;
	out->error = loss_error(l, out);
	out->used = l->n;
}

int loss_fit(const struct loss_point *points, uint32_t n, const struct loss_fit_options *options,
	struct loss_curve *out, struct err *err)
{
	struct losses l = { 0 };
	int rc = check_losses(points, n, err);

	if (rc < 0)
		return rc;
	l.at = mem_alloc(mem_array_size(n, sizeof(*l.at)));
	l.weight = mem_alloc(mem_array_size(n, sizeof(*l.weight)));
	losses_fill(&l, points, n, options);
	*out = (struct loss_curve){ .b1 = 1 / l.top };
	scan(&l, options->grid ? options->grid : 1000, out);
	free(l.at);
	free(l.weight);
	return 0;
}

double loss_converged(const struct loss_curve *curve, double delta, double window, double horizon)
{
	double low = 0, high = ceil(horizon);

	/* The curve flattens all the way, so that the first such k can be searched by halves. */
	while (low < high) {
		double k = floor((low + high) / 2);

		if (loss_at(curve, k) - loss_at(curve, k + window) < delta)
			high = k;
		else
			low = k + 1;
	}
	return fmin(low, horizon);
}

/* ---- speed */

const char *const speed_kind_names[] = { "sync", "async", "ring", NULL };

uint32_t speed_points_needed(enum speed_kind kind)
{
	static const uint32_t needed[] = { [SPEED_SYNC] = 5, [SPEED_ASYNC] = 4, [SPEED_RING] = 3 };

	return needed[kind];
}

/* What the thetas are multiplied with; returns how many there are. */
static uint32_t terms(enum speed_kind kind, double batch, double p, double w, double *out)
{
	switch (kind) {
	case SPEED_SYNC:
		out[0] = batch / w;
		out[1] = 1;
		out[2] = w / p;
		out[3] = w;
		out[4] = p;
		return 5;
	case SPEED_ASYNC:
		out[0] = 1;
		out[1] = w / p;
		out[2] = w;
		out[3] = p;
		return 4;
	default:
		out[0] = batch / w;
		out[1] = 1;
		out[2] = w;
		return 3;
	}
}

/* Steps that are made at once: asynchronous workers make one each. */
static double at_once(enum speed_kind kind, double workers)
{
	return kind == SPEED_ASYNC ? workers : 1;
}

double speed_at(const struct speed_curve *curve, double servers, double workers)
{
	double x[SPEED_THETAS], seconds = 0;
	uint32_t n = terms(curve->kind, curve->batch, servers, workers, x);

	for (uint32_t i = 0; i < n; i++)
		seconds += curve->theta[i] * x[i];
	return at_once(curve->kind, workers) / seconds;
}

static bool is_positive(double x)
{
	return isfinite(x) && x > 0;
}

static int check_speeds(enum speed_kind kind, double batch, const struct speed_point *points,
	uint32_t n, struct err *err)
{
	if (kind != SPEED_ASYNC && !is_positive(batch))
		return err_set(err, ERR_FORMAT, "the batch size %g is not above 0", batch);
	for (uint32_t i = 0; i < n; i++) {
		if (!is_positive(points[i].workers) || !is_positive(points[i].speed))
			return err_set(err, ERR_FORMAT,
				"point %u: %g workers at %g steps/s: both must be above 0", i,
				points[i].workers, points[i].speed);
		if (kind != SPEED_RING && !is_positive(points[i].servers))
			return err_set(err, ERR_FORMAT,
				"point %u: %g parameter servers: there must be one or more", i,
				points[i].servers);
	}
	if (n == 0)
		return err_set(err, ERR_FORMAT, "no speeds to fit");
	return 0;
}

static double speed_error(const struct speed_curve *curve, const struct speed_point *points, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		double error =
			speed_at(curve, points[i].servers, points[i].workers) / points[i].speed - 1;

		sum += error * error;
	}
	return sqrt(sum / n);
}

int speed_fit(enum speed_kind kind, double batch, const struct speed_point *points, uint32_t n,
	struct speed_curve *out, struct err *err)
{
	struct nnls problem;
	int rc = check_speeds(kind, batch, points, n, err);

	if (rc < 0)
		return rc;
	*out = (struct speed_curve){ .kind = kind, .batch = batch };
	nnls_init(&problem, speed_points_needed(kind));
	for (uint32_t i = 0; i < n; i++) {
		double x[SPEED_THETAS], once = at_once(kind, points[i].workers);
		double scale = points[i].speed * points[i].speed / once;
		uint32_t k = terms(kind, batch, points[i].servers, points[i].workers, x);

		for (uint32_t j = 0; j < k; j++)
			x[j] *= scale;
		nnls_add(&problem, x, scale * once / points[i].speed);
	}
	nnls_solve(&problem, out->theta);
	out->error = speed_error(out, points, n);
	return 0;
}
