/*
 * Space sharing: pairs of jobs of equal size are entries of their own, and the
 * objective may give time to a pair where two at once are worth more than one
 * after the other.
 *
 * Jobs that are alike are one with a count, so that the program has as many
 * pairs as there are pairs of kinds.
 */
#include <math.h>

#include "model/regime.h"
#include "policy/hetero/gavel.h"
#include "policy/hetero/kinds.h"
#include "solver/pricing.h"

/* Of shares that are equally good for the worst off, those with the most throughput count this much more. */
#define REST 1e-3

struct packed {
	const struct program *p;
	struct kinds kinds;
	uint32_t entries;
	struct pair_entry *entry;
	double *value;    /* [entries][types][2] */
	uint32_t *number; /* by two kinds: 1 + their entry */
	double *gang;
	double *x;
	bool rounded; /* speeds as single precision, as the published code has them */
};

static double precise(const struct packed *k, double value)
{
	return k->rounded ? (double)(float)value : value;
}

static void set_values(struct packed *k, uint32_t at, const double *unit)
{
	const struct program *p = k->p;
	struct pair_entry e = k->entry[at];
	uint32_t a = k->kinds.first[e.a], b = e.b == PAIR_NONE ? a : k->kinds.first[e.b];
	const struct job *jobs = p->round->jobs;

	for (uint32_t w = 0; w < p->types; w++) {
		double *value = &k->value[((size_t)at * p->types + w) * 2];
		double speed[2] = { p->speed[(size_t)a * p->types + w], 0 };

		if (e.b != PAIR_NONE && speed[0] > 0 && p->speed[(size_t)b * p->types + w] > 0)
			program_pair_speed(p->round, &jobs[p->id[a]], &jobs[p->id[b]], p->type[w],
				speed);
		else if (e.b != PAIR_NONE)
			speed[0] = 0;
		value[0] = precise(k, speed[0]) * unit[a];
		value[1] = precise(k, speed[1]) * unit[b];
	}
}

/* Whether two at once make more than one after the other on some type. */
static bool pays(const struct packed *k, uint32_t at)
{
	const struct program *p = k->p;
	struct pair_entry e = k->entry[at];

	for (uint32_t w = 0; w < p->types; w++) {
		const double *both = &k->value[((size_t)at * p->types + w) * 2];
		double alone_a = k->value[((size_t)e.a * p->types + w) * 2];
		double alone_b = k->value[((size_t)e.b * p->types + w) * 2];

		if (both[0] > 0 && both[1] > 0 && both[0] / alone_a + both[1] / alone_b > 1)
			return true;
	}
	return false;
}

static void add_pair(struct packed *k, uint32_t a, uint32_t b, const double *unit, bool all)
{
	uint32_t at = k->entries;

	k->entry[at] = (struct pair_entry){ a, b };
	set_values(k, at, unit);
	if (!all && !pays(k, at))
		return;
	k->number[(size_t)a * k->kinds.n + b] = k->number[(size_t)b * k->kinds.n + a] = at + 1;
	k->entries++;
}

/* Singles first, by kind; then pairs.  `unit` is what a step per second of a row is worth. */
static void build(struct packed *k, const struct program *p, const double *unit, bool published)
{
	struct arena *arena = p->round->scratch;
	double *more = arena_array(arena, double, (size_t)p->jobs * 2);
	uint32_t n;

	*k = (struct packed){ .p = p, .rounded = published };
	for (uint32_t i = 0; i < p->jobs; i++) {
		more[2 * i] = job_model_now(&p->round->jobs[p->id[i]]);
		more[2 * i + 1] = unit[i];
	}
	kinds_find(&k->kinds, p, more, 2);
	n = k->kinds.n;
	k->entry = arena_array(arena, struct pair_entry, (size_t)n * (n + 3) / 2);
	k->value = arena_array(arena, double, (size_t)n *(n + 3) * p->types);
	k->number = arena_array(arena, uint32_t, (size_t)n * n);
	k->gang = arena_array(arena, double, n);
	for (uint32_t a = 0; a < n; a++) {
		k->gang[a] = p->gang[k->kinds.first[a]];
		k->entry[a] = (struct pair_entry){ a, PAIR_NONE };
		set_values(k, a, unit);
	}
	k->entries = n;
	for (uint32_t a = 0; a < n; a++) {
		for (uint32_t b = a; b < n; b++) {
			if (k->gang[a] == k->gang[b] && (a != b || k->kinds.count[a] > 1))
				add_pair(k, a, b, unit, published);
		}
	}
	k->x = arena_array(arena, double, (size_t)k->entries * p->types);
}

/* ---- back to jobs */

/* Singles of a kind share evenly. */
static void spread_singles(const struct packed *k, struct shares *shares)
{
	const struct program *p = k->p;

	for (uint32_t i = 0; i < p->jobs; i++) {
		uint32_t kind = k->kinds.of[i];

		for (uint32_t w = 0; w < p->types; w++)
			shares->x[(size_t)i * p->types + w] = k->x[(size_t)kind * p->types + w] /
				k->kinds.count[kind];
	}
}

/* How many pairs of jobs a pair of kinds stands for. */
static double pairs_of(const struct packed *k, struct pair_entry e)
{
	double a = k->kinds.count[e.a], b = k->kinds.count[e.b];

	return e.a == e.b ? a * (a - 1) / 2 : a * b;
}

/* Over all pairs of the program alike, as an interior point would have it. */
static void spread_evenly(const struct packed *k, struct shares *shares)
{
	const struct program *p = k->p;

	for (uint32_t i = 0; i < p->pairs; i++) {
		uint32_t a = k->kinds.of[p->pair[i].a], b = k->kinds.of[p->pair[i].b];
		uint32_t at = k->number[(size_t)a * k->kinds.n + b] - 1;

		for (uint32_t w = 0; w < p->types; w++)
			shares->pair_x[(size_t)i * p->types + w] = k->x[(size_t)at * p->types + w] /
				pairs_of(k, k->entry[at]);
	}
}

static bool has_share(const struct packed *k, uint32_t at)
{
	for (uint32_t w = 0; w < k->p->types; w++) {
		if (k->x[(size_t)at * k->p->types + w] > 1e-9)
			return true;
	}
	return false;
}

static void add_part(const struct packed *k, uint32_t at, const struct pair_part *part,
	struct shares *shares)
{
	const struct program *p = k->p;
	struct pair_entry e = k->entry[at];
	uint32_t a = k->kinds.rows[k->kinds.start[e.a] + part->a];
	uint32_t b = k->kinds.rows[k->kinds.start[e.b] + part->b];
	uint32_t i = shares->pairs++;

	shares->pair[i] = (struct program_pair){ a < b ? a : b, a < b ? b : a };
	for (uint32_t w = 0; w < p->types; w++)
		shares->pair_x[(size_t)i * p->types + w] = k->x[(size_t)at * p->types + w] * part->part;
}

/* Over few pairs, so that each has a share worth having. */
static void spread_thickly(const struct packed *k, const struct pair_program *program,
	struct shares *shares)
{
	struct arena *arena = k->p->round->scratch;
	uint32_t most = 0;
	struct pair_part *parts = arena_array(arena, struct pair_part, (size_t)k->p->jobs * 2 + 2);

	for (uint32_t at = k->kinds.n; at < k->entries; at++) {
		if (has_share(k, at))
			most += k->kinds.count[k->entry[at].a] + k->kinds.count[k->entry[at].b];
	}
	shares->pair = arena_array(arena, struct program_pair, most);
	shares->pair_x = arena_array(arena, double, (size_t)most * k->p->types);
	for (uint32_t at = k->kinds.n; at < k->entries; at++) {
		uint32_t n = has_share(k, at) ? pricing_spread(program, at, parts) : 0;

		for (uint32_t i = 0; i < n; i++)
			add_part(k, at, &parts[i], shares);
	}
}

/* ---- programs */

static struct pair_program program_of(const struct packed *k)
{
	return (struct pair_program){
		.jobs = k->kinds.n,
		.types = k->p->types,
		.entries = k->entries,
		.entry = k->entry,
		.value = k->value,
		.gang = k->gang,
		.capacity = k->p->capacity,
		.count = k->kinds.count,
	};
}

/* What a step per second of each kind is worth in a sum: `scale` by kind. */
static double *costs_of(const struct packed *k, const double *scale)
{
	const struct program *p = k->p;
	double *cost = arena_array(p->round->scratch, double, (size_t)k->entries * p->types);

	for (uint32_t at = 0; at < k->entries; at++) {
		struct pair_entry e = k->entry[at];

		for (uint32_t w = 0; w < p->types; w++) {
			const double *value = &k->value[((size_t)at * p->types + w) * 2];
			double sum = scale[e.a] * value[0];

			if (e.b != PAIR_NONE)
				sum += scale[e.b] * value[1];
			cost[(size_t)at * p->types + w] = -sum;
		}
	}
	return cost;
}

static double best_alone(const struct packed *k, uint32_t kind)
{
	double best = 0;

	for (uint32_t w = 0; w < k->p->types; w++)
		best = fmax(best, k->value[((size_t)kind * k->p->types + w) * 2]);
	return best;
}

/* For what the level leaves over: all jobs in units of their best, together a small part of the level. */
static double *rest_costs(const struct packed *k)
{
	double *scale = arena_array(k->p->round->scratch, double, k->kinds.n);
	double most = INFINITY;

	for (uint32_t i = 0; i < k->kinds.n; i++)
		most = fmin(most, best_alone(k, i));
	for (uint32_t i = 0; i < k->kinds.n; i++)
		scale[i] = REST * most / k->p->jobs / best_alone(k, i);
	return costs_of(k, scale);
}

static double *ones(const struct packed *k)
{
	double *one = arena_array(k->p->round->scratch, double, k->kinds.n);

	for (uint32_t i = 0; i < k->kinds.n; i++)
		one[i] = 1;
	return one;
}

static bool solve(const struct gavel *g, struct packed *k, const struct pair_program *program,
	struct pair_answer *answer, struct shares *shares)
{
	*answer = (struct pair_answer){ .x = k->x };
	if (gavel_published(g))
		pairs_solve(program, answer);
	else
		pricing_solve(program, answer);
	if (answer->status != INTERIOR_OPTIMAL &&
		!(answer->status == INTERIOR_STALLED && answer->residual < 1e-6)) {
		shares->fallback = "no shares with pairs were found: each job has its devices alone";
		return false;
	}
	spread_singles(k, shares);
	if (gavel_published(g))
		spread_evenly(k, shares);
	else
		spread_thickly(k, program, shares);
	return true;
}

bool gavel_packed_levels(const struct gavel *g, const struct program *p, const double *unit,
	struct shares *shares)
{
	struct pair_program program;
	struct pair_answer answer;
	struct packed k;

	build(&k, p, unit, gavel_published(g));
	program = program_of(&k);
	program.rows = 1;
	program.g = ones(&k);
	program.z_cost = -1;
	program.cost = gavel_published(g) ? NULL : rest_costs(&k);
	if (!solve(g, &k, &program, &answer, shares))
		return false;
	shares->value = answer.z;
	return true;
}

bool gavel_packed_sum(const struct gavel *g, const struct program *p, const double *unit,
	struct shares *shares)
{
	struct pair_program program;
	struct pair_answer answer;
	struct packed k;

	build(&k, p, unit, gavel_published(g));
	program = program_of(&k);
	program.cost = costs_of(&k, ones(&k));
	if (!solve(g, &k, &program, &answer, shares))
		return false;
	shares->value = -answer.objective;
	return true;
}
