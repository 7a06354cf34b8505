/*
 * Step times where measurements end: the nearest one, times what the goodput
 * model that is fitted to all of them says of the difference.  At the edge of
 * what was measured that is what was measured there.
 */
#include <math.h>

#include "base/real.h"
#include "model/goodput_fit.h"
#include "model/training_parts.h"

#define SYNC_MOST 0.99 /* of a step: a fit needs some computing */

struct training_fit {
	struct goodput_params params;
	bool failed;
};

/* ---- the fit */

static void add_samples(struct goodput_sample *out, uint32_t *n, const struct training_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct training_row *row = &rows->at[i];

		out[(*n)++] = (struct goodput_sample){
			.nodes = row->nodes,
			.replicas = row->replicas,
			.atomic = row->batch,
			.step_s = row->pass.step_s,
			.sync_s = fmin(row->pass.sync_s, SYNC_MOST * row->pass.step_s),
		};
	}
}

static struct training_fit *fit_of(const struct training_table *table)
{
	struct training_fit *out = mem_alloc(sizeof(*out));
	size_t rows = table->placed.n + table->scaled.n;
	struct goodput_sample *samples = mem_alloc(mem_array_size(rows, sizeof(*samples)));
	struct goodput_fit_options options = { 0 };
	struct goodput_fit fit = { 0 };
	uint32_t n = 0;

	add_samples(samples, &n, &table->placed);
	add_samples(samples, &n, &table->scaled);
	out->failed = goodput_fit(samples, n, &options, &fit, NULL) != 0;
	out->params = fit.params;
	free(samples);
	return out;
}

void training_fit_destroy(struct training_fit *fit)
{
	free(fit);
}

/* Made when first asked for, as the mesh is. */
static const struct training_fit *fit_for(const struct training *training,
	const struct training_table *table)
{
	struct training_table *made = (struct training_table *)table;
	pthread_mutex_t *mutex = &((struct training *)training)->mutex;
	struct training_fit *fit;

	pthread_mutex_lock(mutex);
	if (!made->fit)
		made->fit = fit_of(table);
	fit = made->fit;
	pthread_mutex_unlock(mutex);
	return fit;
}

/* ---- the nearest */

struct wanted {
	double nodes, replicas, batch;
};

static double apart(double a, double b)
{
	double d = real_log(a / b);

	return d * d;
}

/* In orders of magnitude: twice the devices are as far as half of them.  Of equals the first. */
static void look_through(const struct training_rows *rows, struct wanted w,
	const struct training_row **best, double *least)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct training_row *row = &rows->at[i];
		double d = apart(row->nodes, w.nodes) + apart(row->replicas, w.replicas) +
			apart(row->batch, w.batch);

		if (d < *least) {
			*least = d;
			*best = row;
		}
	}
}

static const struct training_row *nearest(const struct training_table *table, struct wanted w)
{
	const struct training_row *best = NULL;
	double least = INFINITY;

	look_through(&table->placed, w, &best, &least);
	look_through(&table->scaled, w, &best, &least);
	return best;
}

/* ---- both */

static struct pass carried_over(const struct goodput_params *p, const struct training_row *row,
	struct wanted w)
{
	struct goodput_shape here = { w.nodes, w.replicas }, there = { row->nodes, row->replicas };
	double grad_s = row->pass.step_s - row->pass.sync_s;
	struct pass out;

	out.step_s = row->pass.step_s * goodput_step_s(p, here, w.batch) /
		goodput_step_s(p, there, row->batch);
	grad_s *= goodput_grad_s(p, w.batch) / goodput_grad_s(p, row->batch);
	out.sync_s = fmax(0, out.step_s - grad_s);
	return out;
}

bool training_table_beyond(const struct training *training, const struct training_table *table,
	uint32_t nodes, uint32_t replicas, double batch, bool scales, struct pass *out)
{
	struct wanted w = { nodes, replicas, batch };
	const struct training_row *row;
	const struct training_fit *fit;

	if (!nodes || !replicas || !(batch > 0))
		return false;
	row = nearest(table, w);
	*out = row->pass;
	fit = scales ? fit_for(training, table) : NULL;
	if (fit && !fit->failed)
		*out = carried_over(&fit->params, row, w);
	return out->step_s > 0 && isfinite(out->step_s);
}
