#include "solver/waterfill_tide.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

static double weight_of(const struct waterfill *p, uint32_t job)
{
	return p->weight ? p->weight[job] : 1;
}

static double entity_weight(const struct tide *c, uint32_t entity)
{
	return c->program->entities ? c->program->entity_weight[entity]
				    : weight_of(c->program, entity);
}

static bool is_in_order(const struct tide *c, uint32_t entity)
{
	return c->program->entities && c->program->in_order && c->program->in_order[entity];
}

/* Groups the jobs by entity, by number inside. */
static void group(struct tide *c)
{
	const struct waterfill *p = c->program;

	for (uint32_t i = 0; i < p->jobs; i++)
		c->first[1 + (p->entities ? p->entity[i] : i)]++;
	for (uint32_t e = 0; e < c->entities; e++)
		c->first[e + 1] += c->first[e];
	for (uint32_t i = p->jobs; i-- > 0;) {
		uint32_t e = p->entities ? p->entity[i] : i;

		c->order[--c->first[e + 1]] = i;
	}
	/* Counting down moved each end to its beginning; the last one is known. */
	for (uint32_t e = 0; e < c->entities; e++)
		c->first[e] = c->first[e + 1];
	c->first[c->entities] = p->jobs;
}

void tide_init(struct tide *c, const struct waterfill *program)
{
	uint32_t jobs = program->jobs;

	*c = (struct tide){ .program = program };
	c->entities = program->entities ? program->entities : jobs;
	c->first = mem_alloc(mem_array_size((size_t)c->entities + 1, sizeof(uint32_t)));
	c->order = mem_alloc(mem_array_size(jobs, sizeof(uint32_t)));
	c->rise = mem_alloc(mem_array_size(jobs, sizeof(double)));
	c->stops = mem_alloc(mem_array_size(jobs, sizeof(double)));
	c->heavier = mem_alloc(mem_array_size(jobs, sizeof(double)));
	c->marks = mem_alloc(mem_array_size(jobs, sizeof(double)));
	group(c);
}

void tide_fini(struct tide *c)
{
	free(c->first);
	free(c->order);
	free(c->rise);
	free(c->stops);
	free(c->heavier);
	free(c->marks);
	*c = (struct tide){ 0 };
}

/* How far its entity must rise, in units of weight over gang, until the job is at its limit. */
static double rise_to_limit(const struct waterfill *p, uint32_t job, double level, double limit)
{
	double weight = weight_of(p, job);

	return weight > 0 && limit > level ? (limit - level) * p->gang[job] / weight : 0;
}

struct key {
	double rise;
	uint32_t job;
};

static int by_rise(const void *a, const void *b)
{
	const struct key *p = a, *q = b;

	if (p->rise != q->rise)
		return p->rise < q->rise ? -1 : 1;
	return p->job < q->job ? -1 : p->job > q->job;
}

static void sort_entity(struct tide *c, uint32_t from, uint32_t to, const double *level,
	const double *limit)
{
	struct key *keys = mem_alloc(mem_array_size(to - from, sizeof(*keys)));

	for (uint32_t k = from; k < to; k++) {
		uint32_t job = c->order[k];

		keys[k - from] =
			(struct key){ rise_to_limit(c->program, job, level[job], limit[job]), job };
	}
	if (to - from > 1)
		qsort(keys, to - from, sizeof(*keys), by_rise);
	for (uint32_t k = from; k < to; k++) {
		c->order[k] = keys[k - from].job;
		c->rise[k] = keys[k - from].rise;
	}
	free(keys);
}

static void plot_shared(struct tide *c, uint32_t e, const double *level, const double *limit)
{
	uint32_t from = c->first[e], to = c->first[e + 1];
	double height = 0, rise = 0, sum = 0;

	sort_entity(c, from, to, level, limit);
	for (uint32_t k = to; k-- > from;) {
		sum += weight_of(c->program, c->order[k]);
		c->heavier[k] = sum;
	}
	for (uint32_t k = from; k < to; k++) {
		if (entity_weight(c, e) > 0)
			height += (c->rise[k] - rise) * c->heavier[k] / entity_weight(c, e);
		rise = c->rise[k];
		c->stops[k] = height;
	}
}

/* One after the other; a rise is its own here, and its weight does not count but for being there. */
static void plot_in_order(struct tide *c, uint32_t e, const double *level, const double *limit)
{
	double height = 0;

	for (uint32_t k = c->first[e]; k < c->first[e + 1]; k++) {
		uint32_t job = c->order[k];
		bool rises = limit[job] > level[job] && weight_of(c->program, job) > 0 &&
			entity_weight(c, e) > 0;

		if (rises)
			height += (limit[job] - level[job]) * c->program->gang[job] /
				entity_weight(c, e);
		c->stops[k] = height;
	}
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

void tide_plot(struct tide *c, const double *level, const double *limit)
{
	for (uint32_t e = 0; e < c->entities; e++) {
		if (is_in_order(c, e))
			plot_in_order(c, e, level, limit);
		else
			plot_shared(c, e, level, limit);
	}
	for (uint32_t k = 0; k < c->program->jobs; k++)
		c->marks[k] = c->stops[k];
	qsort(c->marks, c->program->jobs, sizeof(double), ascending);
}

static void shared_needs(const struct tide *c, uint32_t e, const double *level, const double *limit,
	double height, double *need, double *growth)
{
	uint32_t from = c->first[e], to = c->first[e + 1], at = from;
	double rise, speed;

	while (at < to && c->stops[at] <= height)
		at++;
	if (at == to)
		return;
	speed = entity_weight(c, e) / c->heavier[at];
	rise = (at > from ? c->rise[at - 1] : 0) + (height - (at > from ? c->stops[at - 1] : 0)) * speed;
	for (uint32_t k = at; k < to; k++) {
		uint32_t job = c->order[k];
		double each = weight_of(c->program, job) / c->program->gang[job];

		need[job] = fmin(level[job] + rise * each, limit[job]);
		growth[job] = speed * each;
	}
}

static void ordered_needs(const struct tide *c, uint32_t e, const double *level,
	const double *limit, double height, double *need, double *growth)
{
	uint32_t from = c->first[e], to = c->first[e + 1], at = from, job;

	while (at < to && c->stops[at] <= height)
		at++;
	if (at == to)
		return;
	job = c->order[at];
	growth[job] = entity_weight(c, e) / c->program->gang[job];
	need[job] = level[job] + (height - (at > from ? c->stops[at - 1] : 0)) * growth[job];
	need[job] = fmin(need[job], limit[job]);
	for (uint32_t k = at + 1; k < to; k++)
		need[c->order[k]] = level[c->order[k]];
}

/* A job without weight, its own or its entity's, stays where it is whatever its limit. */
static double end_of(const struct tide *c, uint32_t e, uint32_t job, double level, double limit)
{
	bool rises = weight_of(c->program, job) > 0 && entity_weight(c, e) > 0;

	return rises ? fmax(level, limit) : level;
}

void tide_needs(const struct tide *c, const double *level, const double *limit, double height,
	double *need, double *growth)
{
	for (uint32_t e = 0; e < c->entities; e++) {
		for (uint32_t k = c->first[e]; k < c->first[e + 1]; k++) {
			uint32_t job = c->order[k];

			need[job] = end_of(c, e, job, level[job], limit[job]);
			growth[job] = 0;
		}
		if (is_in_order(c, e))
			ordered_needs(c, e, level, limit, height, need, growth);
		else
			shared_needs(c, e, level, limit, height, need, growth);
	}
}
