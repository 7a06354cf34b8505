#include "solver/waterfill.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "solver/maxmin.h"
#include "solver/maxmin_parts.h"
#include "solver/waterfill_tide.h"

enum { MOST_STEPS = 100 };

static const double nothing = 1e-9; /* relative: less than this is rounding */

struct fill {
	const struct waterfill *program;
	struct waterfill_answer *answer;
	struct tide tide;
	double *rate;           /* [jobs][types] of the types a job may still use */
	double *level, *limit;  /* [jobs] where it is, and the most it could have */
	double *need, *growth;  /* [jobs] scratch: at some height */
	bool *stopped;          /* [jobs] */
	bool *room;             /* [types] */
	double *x;              /* [jobs][types] of the last program */
	double *prices, *proof; /* [types] of the last program; of the lowest bound */
	double height;          /* of the water, all stages */
};

/* ---- what prices allow */

static double worth(const struct waterfill *p, const double *prices)
{
	double sum = 0;

	for (uint32_t w = 0; w < p->types; w++)
		sum += prices[w] * p->capacity[w];
	return sum;
}

/* What the needs at f->need cost; `slope`: how fast that grows with the height. */
static double cost_of_needs(const struct fill *f, const double *prices, double *slope)
{
	const struct waterfill *p = f->program;
	double sum = 0, one;

	*slope = 0;
	for (uint32_t i = 0; i < p->jobs; i++) {
		sum += p->gang[i] *
			least_cost(f->rate + (size_t)i * p->types, prices, p->types, f->need[i], &one);
		*slope += p->gang[i] * one * f->growth[i];
	}
	return sum;
}

/*
 * The types that stopped jobs fill have room for them to the last digit only;
 * asking for next to nothing less keeps rounding from standing in the way.
 */
static void needs_at(struct fill *f, double height)
{
	tide_needs(&f->tide, f->level, f->limit, height, f->need, f->growth);
	for (uint32_t i = 0; i < f->program->jobs; i++) {
		if (f->stopped[i])
			f->need[i] *= 1 - 1e-10;
	}
}

static double mark_before(const struct fill *f, uint32_t mark)
{
	return mark ? f->tide.marks[mark - 1] : 0;
}

/* The number of the first mark whose needs cost more than there is; jobs if none does. */
static uint32_t first_too_high(struct fill *f, const double *prices, double there)
{
	uint32_t low = 0, high = f->program->jobs;
	double slope;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		needs_at(f, f->tide.marks[middle]);
		if (cost_of_needs(f, prices, &slope) > there)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The greatest height the prices allow: from a mark down, the cost being convex between two marks. */
static double allowed_by(struct fill *f, const double *prices)
{
	uint32_t jobs = f->program->jobs;
	double there = worth(f->program, prices) * (1 + 1e-13), start, height;
	uint32_t mark = first_too_high(f, prices, there);

	if (mark == jobs)
		return f->tide.marks[jobs - 1];
	start = mark_before(f, mark);
	height = f->tide.marks[mark];
	needs_at(f, start);
	for (int turn = 0; turn < 60; turn++) {
		double slope, over = 0, step = height - start;

		for (uint32_t i = 0; i < jobs; i++)
			f->need[i] += f->growth[i] * step;
		over = cost_of_needs(f, prices, &slope) - there;
		for (uint32_t i = 0; i < jobs; i++)
			f->need[i] -= f->growth[i] * step;
		if (over <= 0 || slope <= 0)
			break;
		height = fmax(height - over / slope, start);
		if (height == start || height - over / slope == height)
			break;
	}
	return height;
}

/* ---- one stage */

static bool solve_from(struct fill *f, double start, double *reached)
{
	const struct waterfill *p = f->program;
	struct maxmin_answer answer = { .x = f->x, .prices = f->prices };
	struct maxmin program = {
		.jobs = p->jobs,
		.types = p->types,
		.rate = f->rate,
		.gang = p->gang,
		.capacity = p->capacity,
		.base = f->need,
		.weight = f->growth,
		.least = -start,
	};
	bool there;

	needs_at(f, start);
	there = maxmin_solve(&program, &answer);
	f->answer->programs++;
	f->answer->evaluations += answer.evaluations;
	*reached = start + answer.z;
	return there;
}

static uint32_t mark_at(const struct fill *f, double height)
{
	uint32_t low = 0, high = f->program->jobs - 1;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (f->tide.marks[middle] >= height)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void lower(struct fill *f, double *bound)
{
	double allowed = allowed_by(f, f->prices);

	if (allowed < *bound) {
		*bound = allowed;
		memcpy(f->proof, f->prices, f->program->types * sizeof(double));
	}
}

static bool are_zero(const struct fill *f, const double *prices)
{
	for (uint32_t w = 0; w < f->program->types; w++) {
		if (f->room[w] && prices[w] > 0)
			return false;
	}
	return true;
}

/*
 * The height at which the first type becomes full, or at which everyone has
 * stopped.  From above: between two marks the needs are linear, and a program
 * that is linear as if they were so everywhere gives prices; what these allow
 * with the true needs is a lower bound and shows which marks to try next.
 */
static double rise(struct fill *f)
{
	const struct waterfill *p = f->program;
	double bound = f->tide.marks[p->jobs - 1], reached = 0;

	for (uint32_t w = 0; w < p->types; w++)
		f->prices[w] = p->capacity[w] > 0 ? 1 / p->capacity[w] : 0;
	memset(f->proof, 0, p->types * sizeof(double));
	lower(f, &bound);
	for (int turn = 0; turn < MOST_STEPS; turn++) {
		uint32_t mark = mark_at(f, bound);
		double start = mark_before(f, mark), before = bound;
		bool there = solve_from(f, start, &reached);

		if (there && reached >= start * (1 - 1e-12)) {
			memcpy(f->answer->x, f->x, (size_t)p->jobs * p->types * sizeof(double));
			break;
		}
		reached = 0;
		if (start <= 0)
			break; /* by rounding: the last shares do */
		lower(f, &bound);
		if (bound >= before || bound >= start)
			bound = start;
	}
	if (!are_zero(f, f->prices))
		memcpy(f->proof, f->prices, p->types * sizeof(double));
	return fmin(reached, bound);
}

static double fastest_with_room(const struct fill *f, uint32_t job)
{
	const struct waterfill *p = f->program;
	double most = 0;

	for (uint32_t w = 0; w < p->types; w++) {
		if (f->room[w])
			most = fmax(most, p->rate[(size_t)job * p->types + w]);
	}
	return most;
}

static void note_stop(struct fill *f, uint32_t job, double height, enum waterfill_stop why)
{
	struct waterfill_answer *a = f->answer;

	f->stopped[job] = true;
	f->limit[job] = f->level[job];
	if (a->height)
		a->height[job] = height;
	if (a->stage)
		a->stage[job] = a->stages;
	if (a->stop)
		a->stop[job] = why;
}

/* Types that have a price now are full; false: none is new. */
static bool close_types(struct fill *f)
{
	const struct waterfill *p = f->program;
	double all = worth(p, f->proof);
	bool any = false;

	for (uint32_t w = 0; w < p->types; w++) {
		if (!f->room[w] || f->proof[w] * p->capacity[w] <= 1e-8 * all)
			continue;
		any = true;
		f->room[w] = false;
		if (f->answer->prices)
			f->answer->prices[w] = f->proof[w];
		if (f->answer->full)
			f->answer->full[w] = f->answer->stages;
	}
	return any;
}

/* Who rises on keeps to the types with room. */
static void set_rows(struct fill *f)
{
	const struct waterfill *p = f->program;

	for (uint32_t i = 0; i < p->jobs; i++) {
		for (uint32_t w = 0; w < p->types && !f->stopped[i]; w++) {
			size_t at = (size_t)i * p->types + w;

			f->rate[at] = f->room[w] ? p->rate[at] : 0;
		}
	}
}

static void set_limits(struct fill *f)
{
	for (uint32_t i = 0; i < f->program->jobs; i++) {
		if (!f->stopped[i])
			f->limit[i] = fastest_with_room(f, i);
	}
}

/* Everyone to where the water is; who got to its limit stops. */
static void settle(struct fill *f, double height)
{
	const struct tide *c = &f->tide;

	tide_needs(c, f->level, f->limit, height, f->need, f->growth);
	memcpy(f->level, f->need, f->program->jobs * sizeof(double));
	for (uint32_t k = 0; k < f->program->jobs; k++) {
		uint32_t job = c->order[k];

		if (!f->stopped[job] && c->stops[k] <= height * (1 + nothing))
			note_stop(f, job, f->height + c->stops[k], WATERFILL_AT_SPEED);
	}
	f->height += height;
}

/* Who could not get beyond its level on the types with room is crowded out; all of them if `all`. */
static void crowd_out(struct fill *f, bool all)
{
	for (uint32_t i = 0; i < f->program->jobs; i++) {
		if (!f->stopped[i] && (all || f->level[i] >= fastest_with_room(f, i) * (1 - nothing)))
			note_stop(f, i, f->height, WATERFILL_CROWDED);
	}
}

static bool everyone_stopped(const struct fill *f)
{
	for (uint32_t i = 0; i < f->program->jobs; i++) {
		if (!f->stopped[i])
			return false;
	}
	return true;
}

static void run(struct fill *f)
{
	while (!everyone_stopped(f)) {
		set_rows(f);
		set_limits(f);
		tide_plot(&f->tide, f->level, f->limit);
		settle(f, rise(f));
		if (!everyone_stopped(f))
			crowd_out(f, !close_types(f));
		f->answer->stages++;
	}
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static uint32_t count_levels(double *heights, uint32_t n)
{
	uint32_t levels = n > 0;

	qsort(heights, n, sizeof(double), ascending);
	for (uint32_t i = 1; i < n; i++)
		levels += heights[i] > heights[i - 1] * (1 + nothing);
	return levels;
}

static void start(struct fill *f)
{
	const struct waterfill *p = f->program;
	struct waterfill_answer *a = f->answer;

	a->stages = a->levels = a->programs = a->evaluations = 0;
	memset(a->x, 0, (size_t)p->jobs * p->types * sizeof(double));
	for (uint32_t w = 0; w < p->types; w++) {
		f->room[w] = p->capacity[w] > 0;
		if (a->prices)
			a->prices[w] = 0;
		if (a->full)
			a->full[w] = UINT32_MAX;
	}
}

/* Whether the shares give everybody its level. */
static bool levels_hold(const struct fill *f)
{
	const struct waterfill *p = f->program;

	for (uint32_t i = 0; i < p->jobs; i++) {
		double got = 0;

		for (uint32_t w = 0; w < p->types; w++)
			got += p->rate[(size_t)i * p->types + w] *
				f->answer->x[(size_t)i * p->types + w];
		if (!(got >= f->level[i] * (1 - 1e-6)))
			return false;
	}
	return true;
}

bool waterfill_solve(const struct waterfill *program, struct waterfill_answer *answer)
{
	uint32_t jobs = program->jobs, types = program->types;
	struct arena memory = { 0 };
	struct waterfill_answer mine = *answer;
	bool holds;
	struct fill f = {
		.program = program,
		.answer = &mine,
		.rate = arena_array(&memory, double, (size_t)jobs *types),
		.level = arena_array(&memory, double, jobs),
		.limit = arena_array(&memory, double, jobs),
		.need = arena_array(&memory, double, jobs),
		.growth = arena_array(&memory, double, jobs),
		.stopped = arena_array(&memory, bool, jobs),
		.room = arena_array(&memory, bool, types),
		.x = arena_array(&memory, double, (size_t)jobs *types),
		.prices = arena_array(&memory, double, types),
		.proof = arena_array(&memory, double, types),
	};

	if (!mine.height)
		mine.height = arena_array(&memory, double, jobs);
	tide_init(&f.tide, program);
	start(&f);
	run(&f);
	holds = levels_hold(&f);
	memcpy(answer->level, f.level, jobs * sizeof(double));
	memcpy(f.need, mine.height, jobs * sizeof(double));
	mine.levels = count_levels(f.need, jobs);
	mine.height = answer->height;
	*answer = mine;
	tide_fini(&f.tide);
	arena_fini(&memory);
	return holds;
}
