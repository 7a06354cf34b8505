#include "solver/pairs.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "solver/pairs_parts.h"
#include "solver/pricing.h"

/* ---- from the program */

static double scale_of(const struct pair_program *program, uint32_t job, uint32_t r)
{
	return program->scale ? program->scale[job * program->rows + r] : 1;
}

/* Jobs of one gang size next to each other, in the order in which the sizes are met. */
static void place_jobs(struct pairs *p, const struct pair_program *program, struct arena *arena)
{
	uint32_t placed = 0;

	p->place = arena_array(arena, uint32_t, p->jobs);
	p->block = arena_array(arena, struct block, p->jobs);
	for (uint32_t i = 0; i < p->jobs; i++)
		p->place[i] = PAIR_NONE;
	for (uint32_t i = 0; i < p->jobs; i++) {
		struct block *block = &p->block[p->blocks];

		if (p->place[i] != PAIR_NONE)
			continue;
		block->first = placed;
		for (uint32_t k = i; k < p->jobs; k++) {
			if (program->gang[k] == program->gang[i] && p->place[k] == PAIR_NONE)
				p->place[k] = placed++;
		}
		block->jobs = placed - block->first;
		dense_init(&block->matrix, PER_JOB * block->jobs);
		p->blocks++;
	}
}

/* Entries that an entry of counted jobs stands for. */
static double times_met(const struct pairs *p, const struct entry *e, bool single)
{
	double a = p->row[e->a / PER_JOB].many;

	if (single)
		return a;
	return e->a == e->b ? a * (a - 1) / 2 : a * p->row[e->b / PER_JOB].many;
}

static void read_entries(struct pairs *p, const struct pair_program *program)
{
	const double *value = program->value;
	struct share *s = p->share;

	for (uint32_t c = 0; c < p->entries; c++) {
		struct pair_entry from = program->entry[c];
		struct entry *to = &p->entry[c];
		bool single = from.b == PAIR_NONE;

		assert(from.a < p->jobs && (single || from.b < p->jobs));
		assert(single || program->gang[from.a] == program->gang[from.b]);
		to->a = PER_JOB * p->place[from.a];
		to->b = single ? order_of(p) : PER_JOB * p->place[from.b];
		to->gang = program->gang[from.a];
		to->many = times_met(p, to, single);
		assert(to->many >= 1);
		to->root = sqrt(to->many);
		for (uint32_t w = 0; w < p->types; w++, s++, value += 2) {
			*s = (struct share){ .one = to->root, .of_a = to->root * value[0], .bound = 1 };
			s->of_b = single ? 0 : to->root * value[1];
			/* A job that has no use for its value has no row for it. */
			if (p->row[to->a / PER_JOB].weight == 0)
				s->of_a = 0;
			if (!single && p->row[to->b / PER_JOB].weight == 0)
				s->of_b = 0;
		}
	}
}

static void read_rows(struct pairs *p, const struct pair_program *program)
{
	for (uint32_t i = 0; i < p->jobs; i++) {
		struct rows_of_job *own = &p->row[p->place[i]];

		own->many = program->count ? program->count[i] : 1;
		own->root = sqrt(own->many);
		own->limit = 1 / own->root;
		for (uint32_t r = 0; r < p->rows; r++) {
			own->value[r] = scale_of(program, i, r) / own->root;
			own->z[r] = program->g ? own->root * program->g[i * p->rows + r] : 0;
			own->weight += own->value[r];
		}
	}
	for (uint32_t w = 0; w < p->types; w++)
		p->capacity[w] = 1;
}

static void pairs_init(struct pairs *p, const struct pair_program *program, struct arena *arena)
{
	uint32_t wide;

	*p = (struct pairs){ .jobs = program->jobs, .types = program->types };
	p->entries = program->entries;
	p->rows = program->rows;
	p->has_z = program->g && program->rows;
	place_jobs(p, program, arena);
	p->entry = arena_array(arena, struct entry, p->entries);
	p->share = arena_array(arena, struct share, variables(p));
	p->row = arena_array(arena, struct rows_of_job, p->jobs);
	p->capacity = arena_array(arena, double, p->types);
	p->capacity_d = arena_array(arena, double, p->types);
	p->border = arena_array(arena, double, (size_t)p->types *(order_of(p) + PER_JOB));
	p->corner = arena_array(arena, double, (size_t)p->types * p->types);
	p->corner_least = arena_array(arena, double, p->types);
	wide = capacities_at(p) + p->types;
	p->z_side = arena_array(arena, double, wide);
	p->sum = arena_array(arena, double, wide);
	for (int k = 0; k < 2; k++)
		p->q[k] = arena_array(arena, double, wide);
	read_rows(p, program);
	read_entries(p, program);
}

static void pairs_fini(struct pairs *p)
{
	for (uint32_t b = 0; b < p->blocks; b++)
		dense_fini(&p->block[b].matrix);
}

static double *right_sides(const struct pairs *p, const struct pair_program *program, struct arena *arena)
{
	double *h = arena_array(arena, double, bound_row(p) + (size_t)variables(p));

	for (uint32_t i = 0; i < p->jobs; i++) {
		double root = p->row[p->place[i]].root;

		h[i] = root;
		for (uint32_t r = 0; program->least && r < p->rows; r++)
			h[value_row(p, i, r)] = -root * program->least[i * p->rows + r];
	}
	memcpy(h + capacity_row(p), program->capacity, p->types * sizeof(*h));
	return h;
}

static double *costs(const struct pairs *p, const struct pair_program *program, struct arena *arena)
{
	double *c = arena_array(arena, double, (size_t)variables(p) + 1);

	for (uint32_t v = 0; program->cost && v < variables(p); v++)
		c[v] = p->entry[v / p->types].root * program->cost[v];
	c[variables(p)] = program->z_cost;
	return c;
}

/* How often each row is there; NULL: once. */
static double *multiples(const struct pairs *p, const struct pair_program *program, struct arena *arena)
{
	double *many;

	if (!program->count)
		return NULL;
	many = arena_array(arena, double, bound_row(p) + (size_t)variables(p));
	for (uint32_t i = 0; i < p->jobs; i++) {
		many[i] = program->count[i];
		for (uint32_t r = 0; r < p->rows; r++)
			many[value_row(p, i, r)] = program->count[i];
	}
	for (uint32_t w = 0; w < p->types; w++)
		many[capacity_row(p) + w] = 1;
	for (uint32_t v = 0; v < variables(p); v++)
		many[bound_row(p) + v] = p->entry[v / p->types].many;
	return many;
}

static void take_answer(const struct pairs *p, const struct pair_program *program, const double *x,
	struct pair_answer *answer)
{
	size_t n = (size_t)program->entries * program->types;
	double sum = 0;

	for (size_t v = 0; v < n; v++) {
		const struct entry *e = &p->entry[v / p->types];

		answer->x[v] = fmin(fmax(x[v] * e->root, 0), e->many);
		if (program->cost)
			sum += program->cost[v] * answer->x[v];
	}
	answer->z = p->has_z ? x[n] : 0;
	answer->objective = sum + program->z_cost * answer->z;
}

static void solve_by_interior(const struct pair_program *program, struct pair_answer *answer,
	struct arena *arena)
{
	struct pairs p;
	struct interior_problem problem = { .shape = &pairs_shape, .self = &p, .delta = 7e-8, .work = arena };
	struct interior_answer inner = { 0 };

	pairs_init(&p, program, arena);
	problem.n = variables(&p) + p.has_z;
	problem.lines = bound_row(&p) + variables(&p);
	problem.c = costs(&p, program, arena);
	problem.h = right_sides(&p, program, arena);
	problem.many = multiples(&p, program, arena);
	inner.x = arena_array(arena, double, problem.n);
	interior_solve(&problem, &inner);
	answer->status = inner.status;
	answer->iterations = inner.iterations;
	answer->residual = inner.residual;
	if (inner.status == INTERIOR_OPTIMAL || inner.status == INTERIOR_STALLED)
		take_answer(&p, program, inner.x, answer);
	pairs_fini(&p);
}

/* ---- checking */

/* Sums of a row and of the terms that meet in it. */
struct meeting {
	double sum, size;
};

static void meet(struct meeting *m, double term)
{
	m->sum += term;
	m->size = fmax(m->size, fabs(term));
}

static double above(const struct meeting *m, double most)
{
	return fmax(0, m->sum - most) / (1 + m->size);
}

static double value_violation(const struct pair_program *program, uint32_t job,
	struct meeting value, double z)
{
	double times = program->count ? program->count[job] : 1, worst = 0;

	for (uint32_t r = 0; r < program->rows; r++) {
		uint32_t at = job * program->rows + r;
		double scale = scale_of(program, job, r);
		struct meeting row = { -scale * value.sum, scale * value.size };

		if (program->g)
			meet(&row, times * program->g[at] * z);
		worst = fmax(worst, above(&row, program->least ? -times * program->least[at] : 0));
	}
	return worst;
}

/* Adds up limits, values [jobs] and capacities; returns how far below 0 an x is. */
static double add_up(const struct pair_program *program, const double *x, struct meeting *limit,
	struct meeting *value, struct meeting *capacity)
{
	double worst = 0;
	size_t v = 0;

	for (uint32_t c = 0; c < program->entries; c++) {
		struct pair_entry e = program->entry[c];

		for (uint32_t w = 0; w < program->types; w++, v++) {
			worst = fmax(worst, isfinite(x[v]) ? -x[v] : INFINITY);
			meet(&limit[e.a], x[v]);
			meet(&value[e.a], program->value[2 * v] * x[v]);
			meet(&capacity[w], program->gang[e.a] * x[v]);
			if (e.b == PAIR_NONE)
				continue;
			meet(&limit[e.b], x[v]);
			meet(&value[e.b], program->value[2 * v + 1] * x[v]);
		}
	}
	return worst;
}

double pairs_violation(const struct pair_program *program, const double *x, double z)
{
	struct meeting *limit = mem_alloc(
		(2 * (size_t)program->jobs + program->types) * sizeof(*limit) + 1);
	struct meeting *value = limit + program->jobs, *capacity = value + program->jobs;
	double worst = add_up(program, x, limit, value, capacity);

	for (uint32_t i = 0; i < program->jobs; i++) {
		worst = fmax(worst, above(&limit[i], program->count ? program->count[i] : 1));
		worst = fmax(worst, value_violation(program, i, value[i], z));
	}
	for (uint32_t w = 0; w < program->types; w++)
		worst = fmax(worst, above(&capacity[w], program->capacity[w]));
	free(limit);
	return worst;
}

/* ---- the whole */

static const double good_enough = 1e-6;

void pairs_solve(const struct pair_program *program, struct pair_answer *answer)
{
	struct arena arena = { 0 };

	assert(program->rows <= MOST_ROWS);
	solve_by_interior(program, answer, &arena);
	arena_fini(&arena);
	if (answer->status == INTERIOR_INFEASIBLE || answer->status == INTERIOR_UNBOUNDED)
		return;
	answer->residual = fmax(answer->residual, pairs_violation(program, answer->x, answer->z));
	if (answer->residual > good_enough)
		pricing_solve(program, answer);
}
