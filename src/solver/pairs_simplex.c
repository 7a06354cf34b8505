/*
 * Pairs by the simplex method: the reference in tests, and what is left where
 * the interior point stalls.
 */
#include <math.h>

#include "base/vec.h"
#include "solver/lp.h"
#include "solver/pairs.h"

static double times_of(const struct pair_program *program, uint32_t job)
{
	return program->count ? program->count[job] : 1;
}

static double scale_of(const struct pair_program *program, uint32_t job, uint32_t r)
{
	return program->scale ? program->scale[job * program->rows + r] : 1;
}

/* Rows: limits, capacities, then the value rows of each job. */
static void add_rows(struct lp *lp, const struct pair_program *program)
{
	for (uint32_t i = 0; i < program->jobs; i++)
		lp_add_row(lp, -INFINITY, times_of(program, i));
	for (uint32_t w = 0; w < program->types; w++)
		lp_add_row(lp, -INFINITY, program->capacity[w]);
	for (uint32_t i = 0; i < program->jobs; i++) {
		for (uint32_t r = 0; r < program->rows; r++) {
			double least = program->least ? program->least[i * program->rows + r] : 0;

			lp_add_row(lp, times_of(program, i) * least, INFINITY);
		}
	}
}

/* A job's part of a column: its limit, and its value in each of its rows. */
static void set_job(struct lp *lp, const struct pair_program *program, uint32_t column,
	uint32_t job, double times, double value)
{
	uint32_t first = program->jobs + program->types + job * program->rows;

	lp_set(lp, job, column, times);
	for (uint32_t r = 0; r < program->rows; r++)
		lp_set(lp, first + r, column, scale_of(program, job, r) * value);
}

static void add_columns(struct lp *lp, const struct pair_program *program)
{
	size_t v = 0;

	for (uint32_t c = 0; c < program->entries; c++) {
		struct pair_entry e = program->entry[c];

		for (uint32_t w = 0; w < program->types; w++, v++) {
			const double *value = program->value + 2 * v;
			uint32_t column = lp_add_column(lp, program->cost ? program->cost[v] : 0, 0,
				INFINITY, false);

			lp_set(lp, program->jobs + w, column, program->gang[e.a]);
			if (e.b == e.a) {
				set_job(lp, program, column, e.a, 2, value[0] + value[1]);
				continue;
			}
			set_job(lp, program, column, e.a, 1, value[0]);
			if (e.b != PAIR_NONE)
				set_job(lp, program, column, e.b, 1, value[1]);
		}
	}
}

static void add_z(struct lp *lp, const struct pair_program *program)
{
	uint32_t z = lp_add_column(lp, program->z_cost, -INFINITY, INFINITY, false);

	for (uint32_t i = 0; i < program->jobs * program->rows; i++)
		lp_set(lp, program->jobs + program->types + i, z,
			-times_of(program, i / program->rows) * program->g[i]);
}

static enum interior_status status_from(enum lp_status status)
{
	switch (status) {
	case LP_OPTIMAL:
		return INTERIOR_OPTIMAL;
	case LP_INFEASIBLE:
		return INTERIOR_INFEASIBLE;
	case LP_UNBOUNDED:
		return INTERIOR_UNBOUNDED;
	default:
		return INTERIOR_STALLED;
	}
}

void pairs_solve_simplex(const struct pair_program *program, struct pair_answer *answer)
{
	uint32_t n = program->entries * program->types;
	bool has_z = program->g && program->rows;
	struct lp *lp = lp_create();

	add_rows(lp, program);
	add_columns(lp, program);
	if (has_z)
		add_z(lp, program);
	answer->status = status_from(lp_solve(lp, (struct lp_limits){ 0 }));
	answer->residual = INFINITY;
	if (answer->status == INTERIOR_OPTIMAL) {
		for (uint32_t v = 0; v < n; v++)
			answer->x[v] = fmax(lp_value(lp, v), 0);
		answer->objective = lp_objective(lp);
		answer->z = has_z ? lp_value(lp, n) : 0;
		answer->residual = pairs_violation(program, answer->x, answer->z);
	}
	lp_destroy(lp);
}
