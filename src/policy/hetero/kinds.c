/*
 * Finding kinds by sorting rows.
 */
#include "policy/hetero/kinds.h"

#include <stdlib.h>
#include <string.h>

struct keyed {
	const double *key;
	size_t size;
	uint32_t row;
};

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	int order = memcmp(x->key, y->key, x->size);

	return order ? order : x->row < y->row ? -1 : x->row > y->row;
}

static struct keyed *sorted_rows(const struct program *p, const double *more, uint32_t width)
{
	struct arena *arena = p->round->scratch;
	size_t all = p->types + 1 + width;
	double *keys = arena_array(arena, double, p->jobs *all);
	struct keyed *rows = arena_array(arena, struct keyed, p->jobs);

	for (uint32_t i = 0; i < p->jobs; i++) {
		double *key = &keys[i * all];

		memcpy(key, &p->speed[(size_t)i * p->types], sizeof(double) * p->types);
		key[p->types] = p->gang[i];
		memcpy(&key[p->types + 1], &more[(size_t)i * width], sizeof(double) * width);
		rows[i] = (struct keyed){ key, sizeof(double) * all, i };
	}
	qsort(rows, p->jobs, sizeof(*rows), by_key);
	return rows;
}

void kinds_find(struct kinds *k, const struct program *p, const double *more, uint32_t width)
{
	struct arena *arena = p->round->scratch;
	const struct keyed *rows = sorted_rows(p, more, width);

	*k = (struct kinds){
		.of = arena_array(arena, uint32_t, p->jobs),
		.number = arena_array(arena, uint32_t, p->jobs),
		.first = arena_array(arena, uint32_t, p->jobs),
		.count = arena_array(arena, uint32_t, p->jobs),
		.rows = arena_array(arena, uint32_t, p->jobs),
		.start = arena_array(arena, uint32_t, p->jobs),
	};
	for (uint32_t i = 0; i < p->jobs; i++) {
		uint32_t row = rows[i].row;

		if (i == 0 || memcmp(rows[i].key, rows[i - 1].key, rows[i].size) != 0) {
			k->first[k->n] = row;
			k->start[k->n] = i;
			k->n++;
		}
		k->rows[i] = row;
		k->of[row] = k->n - 1;
		k->number[row] = k->count[k->n - 1]++;
	}
}

void kinds_merge(const struct kinds *k, const struct program *p, struct program *merged)
{
	struct arena *arena = p->round->scratch;

	*merged = *p;
	merged->jobs = k->n;
	merged->pairs = 0;
	merged->speed = arena_array(arena, double, (size_t)k->n * p->types);
	merged->gang = arena_array(arena, double, k->n);
	merged->weight = arena_array(arena, double, k->n);
	for (uint32_t i = 0; i < k->n; i++) {
		memcpy(&merged->speed[(size_t)i * p->types],
			&p->speed[(size_t)k->first[i] * p->types], sizeof(double) * p->types);
		merged->gang[i] = p->gang[k->first[i]];
		merged->weight[i] = p->weight[k->first[i]];
	}
}

void kinds_spread(const struct kinds *k, const struct program *p, const double *x, double *out)
{
	for (uint32_t i = 0; i < p->jobs; i++)
		memcpy(&out[(size_t)i * p->types], &x[(size_t)k->of[i] * p->types],
			sizeof(double) * p->types);
}
