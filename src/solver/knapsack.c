#include "solver/knapsack.h"

#include <math.h>
#include <stdbool.h>

/*
 * best[c]: most value of the groups from here to the last with weight of exactly what `used` says, at
 * most c.  Groups are taken from the last to the first, so that on the way back the first chooses first.
 */
struct table {
	double *best, *next;
	uint32_t *used, *next_used; /* least weight of that value */
	uint32_t *pick;             /* groups x (capacity + 1): 1 + the item, 0 none */
	uint32_t width;
};

/* Sums of the same values in another order shall count as equal. */
static bool above(double a, double b)
{
	return a > b + 1e-12 * (fabs(a) + fabs(b));
}

/* Whether taking `item` with what is best behind it beats what was found so far. */
static bool beats(const struct table *t, uint32_t c, const struct knapsack_item *item, uint32_t had)
{
	uint32_t left = c - item->weight, weight = t->used[left];
	double value = item->value + t->best[left];

	weight += item->weight;
	if (above(value, t->next[c]) || above(t->next[c], value))
		return above(value, t->next[c]);
	/* The value is the same: less weight, then the larger item here. */
	if (weight != t->next_used[c])
		return weight < t->next_used[c];
	return item->weight > had;
}

static void add_group(struct table *t, const struct knapsack_group *group, uint32_t *pick)
{
	for (uint32_t c = 0; c < t->width; c++) {
		uint32_t had = 0;

		t->next[c] = t->best[c];
		t->next_used[c] = t->used[c];
		for (uint32_t i = 0; i < group->n; i++) {
			const struct knapsack_item *item = &group->items[i];

			if (!(item->value > 0) || item->weight > c || !beats(t, c, item, had))
				continue;
			t->next[c] = item->value + t->best[c - item->weight];
			t->next_used[c] = item->weight + t->used[c - item->weight];
			had = item->weight;
			pick[c] = i + 1;
		}
	}
}

static void swap(struct table *t)
{
	double *best = t->best;
	uint32_t *used = t->used;

	t->best = t->next;
	t->used = t->next_used;
	t->next = best;
	t->next_used = used;
}

double knapsack_solve(const struct knapsack_group *groups, uint32_t ngroups, uint32_t capacity,
	struct arena *scratch, uint32_t *chosen)
{
	struct table t = { .width = capacity + 1 };
	uint32_t left = capacity;
	double value;

	t.best = arena_array(scratch, double, t.width);
	t.next = arena_array(scratch, double, t.width);
	t.used = arena_array(scratch, uint32_t, t.width);
	t.next_used = arena_array(scratch, uint32_t, t.width);
	t.pick = arena_array(scratch, uint32_t, (size_t)ngroups * t.width);
	for (uint32_t g = ngroups; g-- > 0;) {
		add_group(&t, &groups[g], t.pick + (size_t)g * t.width);
		swap(&t);
	}
	value = t.best[capacity];
	for (uint32_t g = 0; g < ngroups; g++) {
		uint32_t pick = t.pick[(size_t)g * t.width + left];

		chosen[g] = pick ? pick - 1 : KNAPSACK_NONE;
		if (pick)
			left -= groups[g].items[pick - 1].weight;
	}
	return value;
}
