/*
 * What an objective leaves over.
 *
 * Objectives that look at the worst off say little about everybody else: many
 * shares are equally good.  Stint takes, of these, the ones with the most
 * throughput in all, each job's in units of its best speed.  Jobs that are
 * alike are one with a count.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/hetero/gavel.h"
#include "policy/hetero/gavel_lp.h"

/* More kinds than this are many jobs on few devices: next to nothing is left over, and it would take long. */
enum { KINDS_MAX = 512 };

/* Needs are met to this part: a program that leaves no room at all has no middle. */
#define MET (1 - 1e-6)

/* Rows with equal speeds, gangs and needs; `of` tells the kind of each row. */
struct kinds {
	struct program program; /* one row for each kind */
	double *count;
	double *need;
	uint32_t *of;
};

static const double *row_of(const double *keys, uint32_t width, uint32_t i)
{
	return &keys[(size_t)i * width];
}

struct keyed {
	const double *key;
	uint32_t width, row;
};

static int by_row(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	int order = memcmp(x->key, y->key, sizeof(double) * x->width);

	return order ? order : x->row < y->row ? -1 : x->row > y->row;
}

/* Speeds, gang and need of each row, side by side. */
static struct keyed *sorted_rows(const struct program *p, const double *need)
{
	struct arena *arena = p->round->scratch;
	uint32_t width = p->types + 2;
	double *keys = arena_array(arena, double, (size_t)p->jobs *width);
	struct keyed *rows = arena_array(arena, struct keyed, p->jobs);

	for (uint32_t i = 0; i < p->jobs; i++) {
		double *key = &keys[(size_t)i * width];

		memcpy(key, &p->speed[(size_t)i * p->types], sizeof(double) * p->types);
		key[p->types] = p->gang[i];
		key[p->types + 1] = need[i];
		rows[i] = (struct keyed){ row_of(keys, width, i), width, i };
	}
	qsort(rows, p->jobs, sizeof(*rows), by_row);
	return rows;
}

static void find_kinds(const struct program *p, const double *need, struct kinds *k)
{
	struct arena *arena = p->round->scratch;
	const struct keyed *rows = sorted_rows(p, need);

	k->program = *p;
	k->program.jobs = 0;
	k->program.speed = arena_array(arena, double, (size_t)p->jobs * p->types);
	k->program.gang = arena_array(arena, double, p->jobs);
	k->count = arena_array(arena, double, p->jobs);
	k->need = arena_array(arena, double, p->jobs);
	k->of = arena_array(arena, uint32_t, p->jobs);
	for (uint32_t i = 0; i < p->jobs; i++) {
		uint32_t row = rows[i].row, kind = k->program.jobs;

		if (i > 0 && memcmp(rows[i].key, rows[i - 1].key, sizeof(double) * rows[i].width) == 0) {
			kind--;
		} else {
			memcpy(&k->program.speed[(size_t)kind * p->types], rows[i].key,
				sizeof(double) * p->types);
			k->need[kind] = need[row];
			k->program.jobs++;
		}
		k->of[row] = kind;
		k->count[kind]++;
		k->program.gang[kind] += p->gang[row]; /* of all its jobs together */
	}
}

static bool solve(const struct kinds *k, struct shares *shares)
{
	const struct program *p = &k->program;
	struct share_lp lp;

	share_lp_init(&lp, p, 2, false);
	for (uint32_t i = 0; i < p->jobs; i++) {
		double best = gavel_best_speed(p, i);

		for (uint32_t w = 0; w < p->types; w++) {
			size_t at = (size_t)i * p->types + w;

			lp.cost[at] = -p->speed[at] / best * k->count[i];
		}
		share_lp_rate(&lp, p, i, 1, 1 / best, 0, -k->need[i] / best * MET);
	}
	return share_lp_solve(&lp, p, shares, NULL, NULL);
}

void gavel_spend_rest(const struct program *p, const double *need, struct shares *shares)
{
	struct shares found;
	struct kinds k;

	find_kinds(p, need, &k);
	if (k.program.jobs > KINDS_MAX)
		return;
	shares_init(&found, &k.program);
	if (!solve(&k, &found))
		return;
	for (uint32_t i = 0; i < p->jobs; i++)
		memcpy(&shares->x[(size_t)i * p->types], &found.x[(size_t)k.of[i] * p->types],
			sizeof(double) * p->types);
}
