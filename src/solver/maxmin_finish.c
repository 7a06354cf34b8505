/*
 * Finish-time fairness by Newton's method.
 *
 * What a job needs falls with z along a convex curve.  With the curves
 * replaced by their tangents at the present z the program is one of max-min
 * shares; its prices, with the true curves, prove that z must be higher.  The
 * steps go up only and their number hardly depends on the size.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "solver/maxmin.h"
#include "solver/maxmin_parts.h"

enum { MOST_STEPS = 50 };

struct finish {
	const struct maxmin_finish *program;
	double *need, *fall; /* [jobs] at the present z, and how fast it falls */
	double *x;           /* [jobs][types] of the last step */
	double *prices;      /* [types] */
	double low;          /* proved: z is not below */
	double best;         /* z of the best answer so far */
};

static double fastest_of(const struct maxmin_finish *p, uint32_t i)
{
	double most = 0;

	for (uint32_t w = 0; w < p->types; w++) {
		if (p->capacity[w] > 0)
			most = fmax(most, p->speed[(size_t)i * p->types + w]);
	}
	return most;
}

/* Below this z some job is late even alone; infinite if one can run nowhere. */
static double own_limit(const struct maxmin_finish *p)
{
	double low = 0;

	for (uint32_t i = 0; i < p->jobs; i++) {
		double alone = p->work[i] > 0 ? p->work[i] / fastest_of(p, i) : 0;

		low = fmax(low, (p->age[i] + alone) / p->limit[i]);
	}
	return low;
}

static void set_needs(struct finish *f, double z)
{
	const struct maxmin_finish *p = f->program;

	for (uint32_t i = 0; i < p->jobs; i++) {
		bool any = p->work[i] > 0;

		f->need[i] = any ? p->work[i] / (z * p->limit[i] - p->age[i]) : 0;
		f->fall[i] = any ? f->need[i] * f->need[i] * p->limit[i] / p->work[i] : 0;
	}
}

/* The least z the prices allow: the needs' cost is convex in z, so Newton's steps from below stay below. */
static double allowed_by(struct finish *f, const double *prices, double z)
{
	const struct maxmin_finish *p = f->program;
	double worth = 0;

	for (uint32_t w = 0; w < p->types; w++)
		worth += prices[w] * p->capacity[w];
	for (int turn = 0; turn < 60; turn++) {
		double over = -worth, slope = 0, one;

		set_needs(f, z);
		for (uint32_t i = 0; i < p->jobs; i++) {
			const double *row = p->speed + (size_t)i * p->types;

			over += p->gang[i] * least_cost(row, prices, p->types, f->need[i], &one);
			slope += p->gang[i] * one * f->fall[i];
		}
		if (over <= 1e-14 * worth || slope <= 0 || z + over / slope == z)
			break;
		z += over / slope;
	}
	return z;
}

/* What the shares of the last step really give. */
static double reached_by(const struct finish *f)
{
	const struct maxmin_finish *p = f->program;
	double z = 0;

	for (uint32_t i = 0; i < p->jobs; i++) {
		double speed = 0;

		for (uint32_t w = 0; w < p->types; w++)
			speed += p->speed[(size_t)i * p->types + w] * f->x[(size_t)i * p->types + w];
		z = fmax(z, (p->age[i] + (p->work[i] > 0 ? p->work[i] / speed : 0)) / p->limit[i]);
	}
	return z;
}

static void take_best(struct finish *f, struct maxmin_answer *answer)
{
	size_t size = (size_t)f->program->jobs * f->program->types * sizeof(double);
	double z = reached_by(f);

	if (z >= f->best)
		return;
	f->best = z;
	if (answer->x)
		memcpy(answer->x, f->x, size);
	if (answer->prices)
		memcpy(answer->prices, f->prices, f->program->types * sizeof(double));
}

static void step(struct finish *f, struct maxmin_answer *answer)
{
	const struct maxmin_finish *p = f->program;
	struct maxmin_answer tangent = { .x = f->x, .prices = f->prices };
	struct maxmin program = {
		.jobs = p->jobs,
		.types = p->types,
		.rate = p->speed,
		.gang = p->gang,
		.capacity = p->capacity,
		.base = f->need,
		.weight = f->fall,
		.least = -2 * f->low,
	};

	set_needs(f, f->low);
	if (!maxmin_solve(&program, &tangent))
		return;
	answer->evaluations += tangent.evaluations;
	answer->kinds = tangent.kinds;
	take_best(f, answer);
	f->low = fmax(f->low, allowed_by(f, f->prices, f->low));
}

static void run(struct finish *f, struct maxmin_answer *answer)
{
	uint32_t types = f->program->types;

	for (uint32_t w = 0; w < types; w++)
		f->prices[w] = f->program->capacity[w] > 0 ? 1 / f->program->capacity[w] : 0;
	f->low = allowed_by(f, f->prices, f->low);
	for (int turn = 0; turn < MOST_STEPS; turn++) {
		double before = f->low, best = f->best;

		step(f, answer);
		if (isfinite(f->best) && f->best - f->low <= 1e-9 * f->best)
			break;
		if (f->low <= before && f->best >= best)
			break;
	}
}

bool maxmin_finish(const struct maxmin_finish *program, struct maxmin_answer *answer)
{
	uint32_t jobs = program->jobs, types = program->types;
	struct finish f = { .program = program, .low = own_limit(program), .best = INFINITY };

	if (!isfinite(f.low))
		return false;
	f.need = mem_alloc(mem_array_size(jobs, sizeof(double)));
	f.fall = mem_alloc(mem_array_size(jobs, sizeof(double)));
	f.x = mem_alloc(mem_array_size(jobs, types * sizeof(double)));
	f.prices = mem_alloc(mem_array_size(types, sizeof(double)));
	answer->evaluations = 0;
	run(&f, answer);
	answer->z = f.best;
	answer->bound = f.low;
	answer->gap = f.best > 0 ? (f.best - f.low) / f.best : 0;
	free(f.need);
	free(f.fall);
	free(f.x);
	free(f.prices);
	return isfinite(f.best);
}
