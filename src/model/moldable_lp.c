/*
 * The time-cost trade-off of phase 1 as a linear program.
 *
 * A job's time is a mixture of its points; only those on the lower hull of
 * (time, area) can be in a best one.  The hull is convex, so a job is as slow as it
 * can be, less what is bought of each piece of the hull at the piece's price:
 * bounded columns and no rows of their own.
 *
 *	least L	sum of least areas + sum of price * bought <= L
 *		end_j + bought_j >= end_i + slowest_j		for each i that j waits for
 *		slowest_j - bought_j <= end_j <= L
 */
#include <math.h>

#include "model/moldable_parts.h"
#include "solver/lp.h"

/* A program in the making, in units of `unit_s`. */
struct relaxing {
	const struct moldable *m;
	struct lp *lp;
	double unit_s;
	struct front *hulls;
	uint32_t *first; /* by job: its first column of buying, one for each piece of its hull */
	uint32_t *end;   /* by job: when it ends */
	uint32_t least;  /* the column L */
};

static struct front hull_of(const struct front *f, struct arena *arena)
{
	struct front hull = { .at = arena_array(arena, struct front_point, f->n) };

	for (uint32_t i = 0; i < f->n; i++) {
		const struct front_point *p = &f->at[i];

		while (hull.n >= 2) {
			const struct front_point *a = &hull.at[hull.n - 2], *b = &hull.at[hull.n - 1];

			if ((b->area - a->area) * (p->time_s - a->time_s) <
				(p->area - a->area) * (b->time_s - a->time_s))
				break;
			hull.n--;
		}
		hull.at[hull.n++] = *p;
	}
	return hull;
}

static double slowest(const struct relaxing *r, uint32_t j)
{
	return r->hulls[j].at[r->hulls[j].n - 1].time_s / r->unit_s;
}

/* The piece before point k + 1 is as long as the difference of their times. */
static void add_columns(struct relaxing *r)
{
	r->least = lp_add_column(r->lp, 1, 0, INFINITY, false);
	for (uint32_t j = 0; j < r->m->njobs; j++) {
		const struct front *h = &r->hulls[j];

		r->end[j] = lp_add_column(r->lp, 0, 0, INFINITY, false);
		for (uint32_t k = 0; k + 1 < h->n; k++) {
			double length = (h->at[k + 1].time_s - h->at[k].time_s) / r->unit_s;
			uint32_t column = lp_add_column(r->lp, 0, 0, length, false);

			r->first[j] = k ? r->first[j] : column;
		}
	}
}

/* end_j - end_i + bought_j >= slowest_j; i == j: nobody is before it. */
static void add_before(struct relaxing *r, uint32_t i, uint32_t j)
{
	uint32_t row = lp_add_row(r->lp, slowest(r, j), INFINITY);

	lp_set(r->lp, row, r->end[j], 1);
	if (i != j)
		lp_set(r->lp, row, r->end[i], -1);
	for (uint32_t k = 0; k + 1 < r->hulls[j].n; k++)
		lp_set(r->lp, row, r->first[j] + k, 1);
}

/* An edge that is given twice is one row. */
static void add_order(struct relaxing *r, uint32_t j)
{
	const struct dag *dag = r->m->dag;

	for (uint32_t k = dag->first_pred[j]; k < dag->first_pred[j + 1]; k++) {
		bool before = false;

		for (uint32_t i = dag->first_pred[j]; i < k; i++)
			before |= dag->preds[i] == dag->preds[k];
		if (!before)
			add_before(r, dag->preds[k], j);
	}
	if (dag->first_pred[j] == dag->first_pred[j + 1])
		add_before(r, j, j);
}

static void add_prices(struct relaxing *r, uint32_t row, uint32_t j)
{
	const struct front *h = &r->hulls[j];

	for (uint32_t k = 0; k + 1 < h->n; k++)
		lp_set(r->lp, row, r->first[j] + k,
			-(h->at[k].area - h->at[k + 1].area) / (h->at[k + 1].time_s - h->at[k].time_s));
}

static void add_rows(struct relaxing *r)
{
	const struct dag *dag = r->m->dag;
	uint32_t area, row;
	double least = 0;

	for (uint32_t j = 0; j < r->m->njobs; j++)
		least += r->hulls[j].at[r->hulls[j].n - 1].area / r->unit_s;
	area = lp_add_row(r->lp, least, INFINITY);
	lp_set(r->lp, area, r->least, 1);
	for (uint32_t j = 0; j < r->m->njobs; j++) {
		add_prices(r, area, j);
		add_order(r, j);
		if (dag->first_succ[j] < dag->first_succ[j + 1])
			continue;
		row = lp_add_row(r->lp, 0, INFINITY);
		lp_set(r->lp, row, r->least, 1);
		lp_set(r->lp, row, r->end[j], -1);
	}
}

bool moldable_relax(const struct moldable *m, const struct front *fronts, struct arena *arena,
	double *time_s, double *least_s)
{
	struct relaxing r = {
		.m = m,
		.lp = lp_create(),
		.unit_s = moldable_floor(m, fronts, arena),
		.hulls = arena_array(arena, struct front, m->njobs),
		.first = arena_array(arena, uint32_t, m->njobs),
		.end = arena_array(arena, uint32_t, m->njobs),
	};
	bool solved;

	for (uint32_t j = 0; j < m->njobs; j++)
		r.hulls[j] = hull_of(&fronts[j], arena);
	add_columns(&r);
	add_rows(&r);
	solved = r.unit_s > 0 && lp_solve(r.lp, (struct lp_limits){ 0 }) == LP_OPTIMAL;
	if (solved)
		*least_s = lp_value(r.lp, r.least) * r.unit_s;
	for (uint32_t j = 0; solved && j < m->njobs; j++) {
		double bought = 0;

		for (uint32_t k = 0; k + 1 < r.hulls[j].n; k++)
			bought += fmax(0, lp_value(r.lp, r.first[j] + k));
		time_s[j] = fmax(r.hulls[j].at[0].time_s, (slowest(&r, j) - bought) * r.unit_s);
	}
	lp_destroy(r.lp);
	return solved;
}
