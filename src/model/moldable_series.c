/*
 * Phase 1 of series-parallel graphs, near enough to the best without a program.
 *
 * A graph is series-parallel if it is one job, or falls into parts that have nothing to do with each other
 * (parallel), or into parts each of which is wholly before the next (series): chains, forks and joins, trees
 * and what they make up.  Then the least area for every length of the critical path is found from
 * below: side by side areas add up at the same length, and one after the other the length is divided.
 *
 * Lengths are counted in units of EPS_TIME * L / (most jobs on a path), times rounded down.  So where even the
 * least area within L is more than L, no allocation has both; and where it is not, what is chosen is at most
 * EPS_TIME longer.  L is then bisected to within EPS_SEARCH.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/moldable_parts.h"

static const double EPS_TIME = 0.07, EPS_SEARCH = 0.028; /* 1.07 * 1.028 <= 1 + MOLDABLE_EPS */

enum {
	JOBS_MAX = 1024,
	CELLS_MAX = 2000000, /* areas of jobs: twice as many in all, 32 MB */
	WORK_MAX = 20000000, /* additions for one L: a tenth of a second for all */
};

enum composed { ONE, SERIES, PARALLEL };

struct part {
	enum composed how;
	uint32_t job;              /* ONE */
	struct part *first, *next; /* of the others */
	double *area;              /* the least within 0, 1, … units */
};

struct composing {
	const struct moldable *m;
	const struct front *fronts;
	struct arena *arena;
	uint32_t words;
	uint64_t *related; /* by job: who must be before or after it */
	uint32_t *place;   /* by job: in the order of the graph */
	uint32_t units;    /* of L */
	double unit_s;
};

/* ---- what it is made of */

static bool has(const uint64_t *set, uint32_t i)
{
	return set[i / 64] >> (i % 64) & 1;
}

static void add(uint64_t *set, uint32_t i)
{
	set[i / 64] |= UINT64_C(1) << (i % 64);
}

/* Who follows whom, however far, and the other way round. */
static void relate(struct composing *c)
{
	const struct dag *dag = c->m->dag;

	c->words = (dag->n + 63) / 64;
	c->related = arena_array(c->arena, uint64_t, (size_t)dag->n * c->words);
	c->place = arena_array(c->arena, uint32_t, dag->n);
	for (uint32_t k = dag->n; k-- > 0;) {
		uint32_t i = dag->order[k];
		uint64_t *own = &c->related[(size_t)i * c->words];

		c->place[i] = k;
		for (uint32_t s = dag->first_succ[i]; s < dag->first_succ[i + 1]; s++) {
			const uint64_t *theirs = &c->related[(size_t)dag->succs[s] * c->words];

			add(own, dag->succs[s]);
			for (uint32_t w = 0; w < c->words; w++)
				own[w] |= theirs[w];
		}
	}
	for (uint32_t i = 0; i < dag->n; i++) { /* so far those after it */
		for (uint32_t j = 0; j < dag->n; j++) {
			if (c->place[i] < c->place[j] && has(&c->related[(size_t)i * c->words], j))
				add(&c->related[(size_t)j * c->words], i);
		}
	}
}

/*
 * Takes from `set`, which is not empty, one job and all it hangs together with, by being related or, if
 * `apart`, by not being so.
 */
static uint64_t *take_together(const struct composing *c, uint64_t *set, bool apart)
{
	uint64_t *taken = arena_array(c->arena, uint64_t, c->words),
		 *open = arena_array(c->arena, uint64_t, c->words);
	uint32_t w = 0;

	while (!set[w])
		w++;
	open[w] = set[w] & -set[w];
	set[w] &= set[w] - 1;
	for (w = 0; w < c->words;) {
		const uint64_t *near;
		uint32_t job;

		if (!open[w]) {
			w++;
			continue;
		}
		job = w * 64 + (uint32_t)__builtin_ctzll(open[w]);
		open[w] &= open[w] - 1;
		add(taken, job);
		near = &c->related[(size_t)job * c->words];
		for (uint32_t k = c->words; k-- > 0;) {
			uint64_t more = set[k] & (apart ? ~near[k] : near[k]);

			open[k] |= more;
			set[k] &= ~more;
			w = more && k < w ? k : w;
		}
	}
	return taken;
}

static uint32_t lowest(const struct composing *c, const uint64_t *set)
{
	uint32_t w = 0;

	while (w < c->words && !set[w])
		w++;
	return w < c->words ? w * 64 + (uint32_t)__builtin_ctzll(set[w]) : UINT32_MAX;
}

static bool is_one(const struct composing *c, const uint64_t *set)
{
	uint32_t n = 0;

	for (uint32_t w = 0; w < c->words && n < 2; w++)
		n += (uint32_t)__builtin_popcountll(set[w]);
	return n == 1;
}

struct piece {
	uint64_t *set;
	uint32_t place;
};

static int by_place(const void *a_, const void *b_)
{
	const struct piece *a = a_, *b = b_;

	return a->place < b->place ? -1 : a->place > b->place;
}

/* The pieces of a set, in order; more than one, or it cannot be taken apart so. */
static uint32_t take_apart(const struct composing *c, const uint64_t *set, enum composed how,
	struct piece **out)
{
	uint64_t *left = arena_array(c->arena, uint64_t, c->words);
	uint32_t n = 0, jobs = 0;

	memcpy(left, set, sizeof(*left) * c->words);
	for (uint32_t w = 0; w < c->words; w++)
		jobs += (uint32_t)__builtin_popcountll(set[w]);
	*out = arena_array(c->arena, struct piece, jobs);
	while (lowest(c, left) != UINT32_MAX) {
		uint64_t *piece = take_together(c, left, how == SERIES);

		(*out)[n++] = (struct piece){ piece, c->place[lowest(c, piece)] };
	}
	qsort(*out, n, sizeof(**out), by_place);
	return n;
}

/* NULL: it is not series-parallel. */
static struct part *compose(const struct composing *c, const uint64_t *set)
{
	struct part *all = NULL;
	struct piece *pieces;
	enum composed how = PARALLEL;
	uint32_t n;

	if (is_one(c, set)) {
		all = arena_new(c->arena, struct part);
		*all = (struct part){ .how = ONE, .job = lowest(c, set) };
		return all;
	}
	n = take_apart(c, set, how, &pieces);
	if (n == 1)
		n = take_apart(c, set, how = SERIES, &pieces);
	if (n == 1)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		struct part *piece = compose(c, pieces[i].set), *both;

		if (!piece)
			return NULL;
		both = arena_new(c->arena, struct part);
		*both = (struct part){ .how = how, .first = all, .next = piece };
		all = all ? both : piece;
	}
	return all;
}

/* ---- areas by length */

static uint32_t units_of(const struct composing *c, const struct front_point *p)
{
	double units = floor(p->time_s / c->unit_s * (1 - 1e-12));

	return units > c->units ? UINT32_MAX : (uint32_t)units;
}

/* Additions for one L. */
static double work_of(const struct composing *c, const struct part *p)
{
	double n = c->units + 1.0;

	if (p->how == ONE)
		return n;
	if (p->how == SERIES)
		n *= p->next->how == ONE ? c->fronts[p->next->job].n : n / 2;
	return n + work_of(c, p->first) + work_of(c, p->next);
}

static void prepare(const struct composing *c, struct part *p)
{
	p->area = arena_array(c->arena, double, c->units + 1);
	if (p->how == ONE)
		return;
	prepare(c, p->first);
	prepare(c, p->next);
}

static void area_of_one(const struct composing *c, struct part *p)
{
	const struct front *f = &c->fronts[p->job];
	uint32_t i = 0; /* the fastest first: each is smaller than those before */

	for (uint32_t k = 0; k <= c->units; k++) {
		while (i < f->n && units_of(c, &f->at[i]) <= k)
			i++;
		p->area[k] = i ? f->at[i - 1].area : INFINITY;
	}
}

static void area_of_series(const struct composing *c, struct part *p)
{
	const double *a = p->first->area, *b = p->next->area;

	for (uint32_t k = 0; k <= c->units; k++)
		p->area[k] = INFINITY;
	if (p->next->how == ONE) {
		const struct front *f = &c->fronts[p->next->job];

		for (uint32_t i = 0; i < f->n; i++) {
			uint32_t units = units_of(c, &f->at[i]);

			for (uint32_t k = units; k <= c->units && units <= c->units; k++)
				p->area[k] = fmin(p->area[k], a[k - units] + f->at[i].area);
		}
		return;
	}
	for (uint32_t i = 0; i <= c->units; i++) {
		for (uint32_t k = i; k <= c->units && isfinite(b[i]); k++)
			p->area[k] = fmin(p->area[k], a[k - i] + b[i]);
	}
}

static void find_areas(const struct composing *c, struct part *p)
{
	if (p->how == ONE) {
		area_of_one(c, p);
		return;
	}
	find_areas(c, p->first);
	find_areas(c, p->next);
	if (p->how == SERIES)
		area_of_series(c, p);
	for (uint32_t k = 0; k <= c->units && p->how == PARALLEL; k++)
		p->area[k] = p->first->area[k] + p->next->area[k];
}

/* What made up the area within so many units. */
static void choose(const struct composing *c, const struct part *p, uint32_t units, uint32_t *wished)
{
	uint32_t cut = 0;

	if (p->how == ONE) {
		const struct front *f = &c->fronts[p->job];
		uint32_t i = f->n - 1;

		while (i > 0 && units_of(c, &f->at[i]) > units)
			i--;
		wished[p->job] = f->at[i].point;
		return;
	}
	if (p->how == PARALLEL) {
		choose(c, p->first, units, wished);
		choose(c, p->next, units, wished);
		return;
	}
	for (uint32_t i = 0; i <= units; i++) {
		if (p->first->area[units - i] + p->next->area[i] <
			p->first->area[units - cut] + p->next->area[cut])
			cut = i;
	}
	choose(c, p->first, units - cut, wished);
	choose(c, p->next, cut, wished);
}

/* ---- L */

/* Whether an allocation may have area and critical path within L; false: none has. */
static bool is_within(struct composing *c, struct part *all, double least_s)
{
	c->unit_s = least_s / c->units;
	find_areas(c, all);
	return all->area[c->units] <= least_s * (1 + 1e-9);
}

static uint32_t longest_path(const struct moldable *m, struct arena *arena)
{
	uint32_t *depth = arena_array(arena, uint32_t, m->njobs), most = 0;

	dag_depths(m->dag, depth);
	for (uint32_t j = 0; j < m->njobs; j++)
		most = depth[j] > most ? depth[j] : most;
	return most + 1;
}

bool moldable_series(const struct moldable *m, const struct front *fronts, struct arena *arena,
	uint32_t *wished, double *least_s)
{
	struct composing c = { .m = m, .fronts = fronts, .arena = arena };
	double below = 0, least = moldable_floor(m, fronts, arena), growth = 1.05;
	struct part *all;
	uint64_t *jobs;

	if (m->njobs > JOBS_MAX || !(least > 0))
		return false;
	relate(&c);
	jobs = arena_array(arena, uint64_t, c.words);
	for (uint32_t j = 0; j < m->njobs; j++)
		add(jobs, j);
	all = compose(&c, jobs);
	if (!all)
		return false;
	c.units = (uint32_t)(longest_path(m, arena) / EPS_TIME);
	if ((double)c.units * m->njobs > CELLS_MAX || work_of(&c, all) > WORK_MAX)
		return false;
	prepare(&c, all);
	while (!is_within(&c, all, least)) {
		below = least;
		least *= growth;
		growth *= growth;
	}
	while (below > 0 && least > below * (1 + EPS_SEARCH)) {
		double middle = sqrt(below * least);

		if (is_within(&c, all, middle))
			least = middle;
		else
			below = middle;
	}
	is_within(&c, all, least);
	choose(&c, all, c.units, wished);
	*least_s = below > 0 ? below : least;
	return true;
}
