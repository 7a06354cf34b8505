#include "model/moldable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/moldable_parts.h"

static const double phi = 1.6180339887498949;

double moldable_mu(void)
{
	return 1 - 1 / phi;
}

double moldable_rho(uint32_t dims)
{
	return 1 / (sqrt(phi * dims) + 1);
}

double moldable_ratio(uint32_t dims, enum moldable_way way)
{
	switch (way) {
	case MOLDABLE_LP:
		return phi * dims + 2 * sqrt(phi * dims) + 1;
	case MOLDABLE_SERIES:
		return (1 + MOLDABLE_EPS) * (phi * dims + 1);
	case MOLDABLE_INDEPENDENT:
		return phi * dims + 1;
	case MOLDABLE_GREEDY:
		break;
	}
	return INFINITY;
}

uint32_t moldable_cap(uint32_t capacity)
{
	return (uint32_t)ceil(moldable_mu() * capacity);
}

double moldable_area(const struct moldable *m, const struct moldable_point *point)
{
	double part = 0;

	for (uint32_t d = 0; d < m->dims; d++)
		part += (double)point->need[d] / m->capacity[d];
	return point->time_s * part / m->dims;
}

/* ---- fronts: what is neither slower nor larger than something else */

static int by_time(const void *a_, const void *b_)
{
	const struct front_point *a = a_, *b = b_;

	if (a->time_s != b->time_s)
		return a->time_s < b->time_s ? -1 : 1;
	if (a->area != b->area)
		return a->area < b->area ? -1 : 1;
	return a->point < b->point ? -1 : a->point > b->point;
}

static void make_front(const struct moldable *m, const struct moldable_job *job,
	struct arena *arena, struct front *out)
{
	struct front_point *at = arena_array(arena, struct front_point, job->n);
	uint32_t n = 0;

	for (uint32_t i = 0; i < job->n; i++)
		at[i] = (struct front_point){ job->points[i].time_s,
			moldable_area(m, &job->points[i]), i };
	qsort(at, job->n, sizeof(*at), by_time);
	for (uint32_t i = 0; i < job->n; i++)
		if (!n || at[i].area < at[n - 1].area)
			at[n++] = at[i];
	*out = (struct front){ at, n };
}

struct front *moldable_fronts(const struct moldable *m, struct arena *arena)
{
	struct front *fronts = arena_array(arena, struct front, m->njobs);

	for (uint32_t j = 0; j < m->njobs; j++)
		make_front(m, &m->jobs[j], arena, &fronts[j]);
	return fronts;
}

/* The slowest, and so the smallest, that takes at most so long; the fastest where none does. */
static const struct front_point *slowest_within(const struct front *f, double time_s)
{
	uint32_t i = f->n - 1;

	while (i > 0 && f->at[i].time_s > time_s)
		i--;
	return &f->at[i];
}

/* ---- jobs that wait for nobody: the least L such that jobs of at most L seconds have at most L of area */

static double area_within(const struct moldable *m, const struct front *fronts, double time_s)
{
	double sum = 0;

	for (uint32_t j = 0; j < m->njobs; j++)
		sum += slowest_within(&fronts[j], time_s)->area;
	return sum;
}

static int by_value(const void *a_, const void *b_)
{
	double a = *(const double *)a_, b = *(const double *)b_;

	return a < b ? -1 : a > b;
}

/* Areas fall as times grow: the best is where they cross, or just before. */
static double allocate_independent(const struct moldable *m, const struct front *fronts,
	struct arena *arena, uint32_t *wished)
{
	uint32_t n = 0, lo = 0, hi;
	double *times, floor_s = 0, within, area;

	for (uint32_t j = 0; j < m->njobs; j++) {
		n += fronts[j].n;
		floor_s = fmax(floor_s, fronts[j].at[0].time_s);
	}
	times = arena_array(arena, double, n + 1);
	n = 0;
	for (uint32_t j = 0; j < m->njobs; j++)
		for (uint32_t i = 0; i < fronts[j].n; i++)
			if (fronts[j].at[i].time_s >= floor_s)
				times[n++] = fronts[j].at[i].time_s;
	qsort(times, n, sizeof(*times), by_value);
	for (hi = n ? n - 1 : 0; lo < hi;) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (area_within(m, fronts, times[mid]) <= times[mid])
			hi = mid;
		else
			lo = mid + 1;
	}
	within = n ? times[lo] : 0;
	area = area_within(m, fronts, within);
	if (lo > 0 && area_within(m, fronts, times[lo - 1]) < fmax(within, area)) {
		within = times[lo - 1];
		area = area_within(m, fronts, within);
	}
	for (uint32_t j = 0; j < m->njobs; j++)
		wished[j] = slowest_within(&fronts[j], within)->point;
	return fmax(within, area);
}

/* ---- everybody as fast as can be, then the least needed get less until area and critical path meet */

static double critical_s(const struct moldable *m, const double *time_s, struct arena *arena)
{
	return dag_bottom(m->dag, time_s, arena_array(arena, double, m->njobs));
}

/* The critical path if everybody takes the slowest within `stretch` times its fastest. */
static double stretched(const struct moldable *m, const struct front *fronts, double stretch,
	struct arena *arena, double *area, uint32_t *wished)
{
	double *time_s = arena_array(arena, double, m->njobs);

	*area = 0;
	for (uint32_t j = 0; j < m->njobs; j++) {
		const struct front_point *p = slowest_within(&fronts[j],
			fronts[j].at[0].time_s * stretch);

		time_s[j] = p->time_s;
		*area += p->area;
		wished[j] = p->point;
	}
	return critical_s(m, time_s, arena);
}

static double fastest_s(const struct moldable *m, const struct front *fronts, struct arena *arena)
{
	double area;

	return stretched(m, fronts, 1, arena, &area, arena_array(arena, uint32_t, m->njobs));
}

double moldable_floor(const struct moldable *m, const struct front *fronts, struct arena *arena)
{
	double area = 0;

	for (uint32_t j = 0; j < m->njobs; j++)
		area += fronts[j].at[fronts[j].n - 1].area;
	return fmax(area, fastest_s(m, fronts, arena));
}

static double allocate_greedy(const struct moldable *m, const struct front *fronts,
	struct arena *arena, uint32_t *wished)
{
	double lo = 1, hi = 1, area;

	while (stretched(m, fronts, hi, arena, &area, wished) < area && hi < 1e9)
		hi *= 2;
	for (int i = 0; i < 30; i++) {
		double mid = (lo + hi) / 2;

		if (stretched(m, fronts, mid, arena, &area, wished) < area)
			lo = mid;
		else
			hi = mid;
	}
	stretched(m, fronts, hi, arena, &area, wished);
	return moldable_floor(m, fronts, arena);
}

/* ---- rounding and the cap */

static void round_times(const struct moldable *m, const struct front *fronts, const double *time_s,
	uint32_t *wished)
{
	double rho = moldable_rho(m->dims);

	for (uint32_t j = 0; j < m->njobs; j++)
		wished[j] = slowest_within(&fronts[j], time_s[j] / rho * (1 + 1e-9))->point;
}

static bool within(const struct moldable *m, const struct moldable_point *p, const uint32_t *most)
{
	for (uint32_t d = 0; d < m->dims; d++)
		if (p->need[d] > most[d])
			return false;
	return true;
}

/* The greatest part of any cap that it takes. */
static double excess(const struct moldable *m, const struct moldable_point *p)
{
	double most = 0;

	for (uint32_t d = 0; d < m->dims; d++)
		most = fmax(most, (double)p->need[d] / moldable_cap(m->capacity[d]));
	return most;
}

/* The fastest with at most min(wished, cap) of each; where there is none, the one least above the caps. */
static uint32_t capped(const struct moldable *m, const struct moldable_job *job, uint32_t wished)
{
	const struct moldable_point *wish = &job->points[wished];
	uint32_t most[MOLDABLE_DIMS], best = UINT32_MAX;

	for (uint32_t d = 0; d < m->dims; d++) {
		uint32_t cap = moldable_cap(m->capacity[d]);

		most[d] = wish->need[d] < cap ? wish->need[d] : cap;
	}
	if (within(m, wish, most))
		return wished;
	for (uint32_t i = 0; i < job->n; i++)
		if (within(m, &job->points[i], most) &&
			(best == UINT32_MAX || job->points[i].time_s < job->points[best].time_s))
			best = i;
	for (uint32_t i = 0;
		i < job->n && (best == UINT32_MAX || !within(m, &job->points[best], most)); i++)
		if (best == UINT32_MAX || excess(m, &job->points[i]) < excess(m, &job->points[best]))
			best = i;
	return best;
}

/* ---- what the proof needs */

/* t falls as any need grows, and by no more than the need that grows most. */
static bool behaves(const struct moldable *m, const struct moldable_job *job)
{
	for (uint32_t a = 0; a < job->n; a++) {
		for (uint32_t b = 0; b < job->n; b++) {
			const struct moldable_point *p = &job->points[a], *q = &job->points[b];
			double most = 1;

			if (a == b || !within(m, p, q->need))
				continue;
			for (uint32_t d = 0; d < m->dims; d++)
				if (p->need[d])
					most = fmax(most, (double)q->need[d] / p->need[d]);
				else if (q->need[d])
					most = INFINITY;
			if (q->time_s > p->time_s * (1 + 1e-9) ||
				p->time_s > most * q->time_s * (1 + 1e-9))
				return false;
		}
	}
	return true;
}

/*
 * Cut to just what may be had of something, at most 1/mu times as slow and no larger, which is what the proof
 * makes of min(wish, cap): allocations in which all grow together have no such point.
 */
static bool cut_well(const struct moldable *m, const struct moldable_point *wish,
	const struct moldable_point *cut)
{
	bool at_cap = false;

	for (uint32_t d = 0; d < m->dims; d++)
		at_cap |= cut->need[d] == moldable_cap(m->capacity[d]) && wish->need[d] > cut->need[d];
	return at_cap && cut->time_s * moldable_mu() <= wish->time_s * (1 + 1e-9) &&
		moldable_area(m, cut) <= moldable_area(m, wish) * (1 + 1e-9);
}

/* Exactly what the cap says, or the wish itself. */
static bool cap_is_there(const struct moldable *m, const struct moldable_job *job, uint32_t wished,
	uint32_t chosen)
{
	for (uint32_t d = 0; d < m->dims; d++) {
		uint32_t cap = moldable_cap(m->capacity[d]), wish = job->points[wished].need[d];

		if (job->points[chosen].need[d] != (wish < cap ? wish : cap))
			return false;
	}
	return true;
}

static const char *doubt(const struct moldable *m, const struct moldable_plan *plan)
{
	if (plan->way == MOLDABLE_GREEDY)
		return "too many jobs for the linear program, or it was not solved";
	for (uint32_t d = 0; d < m->dims; d++)
		if (m->capacity[d] < MOLDABLE_LEAST)
			return "fewer than 7 units of a resource";
	for (uint32_t j = 0; j < m->njobs; j++) {
		if (!behaves(m, &m->jobs[j]))
			return "a job that gets slower with more, or faster than in proportion";
		if (!cap_is_there(m, &m->jobs[j], plan->wished[j], plan->chosen[j]) &&
			!cut_well(m, &m->jobs[j].points[plan->wished[j]],
				&m->jobs[j].points[plan->chosen[j]]))
			return "a job that cannot be cut to what one may have of a resource";
	}
	return NULL;
}

void moldable_allocate(const struct moldable *m, uint32_t lp_most, struct arena *arena,
	struct moldable_plan *out)
{
	struct front *fronts = moldable_fronts(m, arena);
	double *time_s = arena_array(arena, double, m->njobs);

	*out = (struct moldable_plan){
		.way = m->dag->nedges ? MOLDABLE_LP : MOLDABLE_INDEPENDENT,
		.chosen = arena_array(arena, uint32_t, m->njobs),
		.wished = arena_array(arena, uint32_t, m->njobs),
	};
	if (out->way == MOLDABLE_LP && m->njobs <= lp_most &&
		moldable_series(m, fronts, arena, out->wished, &out->least_s))
		out->way = MOLDABLE_SERIES;
	if (out->way == MOLDABLE_LP &&
		(m->njobs > lp_most || !moldable_relax(m, fronts, arena, time_s, &out->least_s)))
		out->way = MOLDABLE_GREEDY;
	if (out->way == MOLDABLE_LP)
		round_times(m, fronts, time_s, out->wished);
	else if (out->way == MOLDABLE_INDEPENDENT)
		out->least_s = allocate_independent(m, fronts, arena, out->wished);
	else if (out->way == MOLDABLE_GREEDY)
		out->least_s = allocate_greedy(m, fronts, arena, out->wished);
	for (uint32_t j = 0; j < m->njobs; j++)
		out->chosen[j] = capped(m, &m->jobs[j], out->wished[j]);
	out->ratio = moldable_ratio(m->dims, out->way);
	out->why = doubt(m, out);
	out->proved = !out->why;
}
