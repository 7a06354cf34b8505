/*
 * Embeddings: orders of one set tried one by one; the worth of all sets of trees and of everybody with everybody.
 */
#include "solver/embed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/embed_parts.h"

const char *const pattern_names[] = { "ring", "chain", "tree", "all", NULL };

static const double SLACK = 1e-9; /* below which two worths are equal */

static uint32_t lowest(uint64_t set)
{
	return (uint32_t)__builtin_ctzll(set);
}

uint64_t embed_next_set(uint64_t all, uint64_t set)
{
	uint64_t high = all; /* the members of `all` behind the one that moves */
	uint32_t moved = 0;

	/* From the top: the first member that is not the last of what is left moves on; those behind it follow it. */
	while (set) {
		uint64_t top = UINT64_C(1) << (63 - __builtin_clzll(set));
		uint64_t behind = all & ~(top | (top - 1));

		set &= ~top;
		moved++;
		if ((uint32_t)__builtin_popcountll(behind) >= moved) {
			for (high = behind; moved > 0; moved--, high &= high - 1)
				set |= high & -high;
			return set;
		}
	}
	return 0;
}

/* ---- one order */

static void add_edge(const struct embed_graph *g, uint32_t i, uint32_t j, struct embedding *e)
{
	e->links[g->kind[i * g->n + j]]++;
	e->sum += g->width[i * g->n + j];
}

/* The edges that the p-th vertex of an order brings. */
static void add_edges(const struct embed_graph *g, enum pattern pattern, uint32_t p,
	struct embedding *e)
{
	uint32_t v = e->at[p];

	if (pattern == PATTERN_ALL) {
		for (uint32_t q = 0; q < p; q++)
			add_edge(g, e->at[q], v, e);
	} else if (p > 0) {
		add_edge(g, e->at[pattern == PATTERN_TREE ? (p - 1) / 2 : p - 1], v, e);
	}
	if (pattern == PATTERN_RING && p > 0 && p == e->n - 1)
		add_edge(g, v, e->at[0], e);
}

void embed_measure(const struct embed_graph *g, enum pattern pattern, struct embedding *e)
{
	memset(e->links, 0, sizeof(e->links));
	e->sum = 0;
	for (uint32_t p = 0; p < e->n; p++)
		add_edges(g, pattern, p, e);
}

struct trial {
	const struct embed_graph *g;
	enum pattern pattern;
	embed_value *value;
	double widest; /* edge */
	struct embedding *best;
	bool found;
};

static uint32_t edges_left(const struct trial *t, const struct embedding *e, uint32_t p)
{
	return e->n - p + (t->pattern == PATTERN_RING);
}

/* The same order turned round or mirrored comes later; only the first of them counts. */
static bool is_mirror(const struct trial *t, const struct embedding *e)
{
	if (t->pattern == PATTERN_RING)
		return e->n > 2 && e->at[e->n - 1] < e->at[1];
	return t->pattern == PATTERN_CHAIN && e->at[e->n - 1] < e->at[0];
}

static void finish(struct trial *t, struct embedding *e)
{
	e->value = t->value ? t->value(e->links) : e->sum;
	if (e->value > t->best->value + SLACK) {
		*t->best = *e;
		t->found = true;
	}
}

static void extend(struct trial *t, const struct embedding *so_far, uint32_t p, uint64_t left)
{
	if (!left) {
		struct embedding e = *so_far;

		finish(t, &e);
		return;
	}
	if (!t->value && t->pattern != PATTERN_ALL &&
		so_far->sum + edges_left(t, so_far, p) * t->widest <= t->best->value + SLACK)
		return;
	for (uint64_t rest = left; rest; rest &= rest - 1) {
		struct embedding e = *so_far;

		e.at[p] = (uint8_t)lowest(rest);
		add_edges(t->g, t->pattern, p, &e);
		if (p < e.n - 1 || !is_mirror(t, &e))
			extend(t, &e, p + 1, left & ~(rest & -rest));
		if ((p == 0 && t->pattern == PATTERN_RING) || t->pattern == PATTERN_ALL)
			break;
	}
}

static double widest_edge(const struct embed_graph *g, uint64_t set)
{
	double widest = 0;

	for (uint64_t i = set; i; i &= i - 1) {
		for (uint64_t j = i & (i - 1); j; j &= j - 1)
			widest = fmax(widest, g->width[lowest(i) * g->n + lowest(j)]);
	}
	return widest;
}

bool embed_order(const struct embed_graph *g, uint64_t set, enum pattern pattern,
	embed_value *value, struct embedding *out)
{
	struct trial t = { g, pattern, value, widest_edge(g, set), out, false };
	struct embedding e = { .n = (uint32_t)__builtin_popcountll(set) };

	extend(&t, &e, 0, set);
	return t.found;
}

/* ---- trees, and everybody with everybody */

enum { TREE_TRIED = 5, TREE_GRAPH = 8 };

/* A tree whose vertices come by the widths of their edges in the set, the widest first. */
static void widest_first(const struct embed_graph *g, uint64_t set, struct embedding *e)
{
	double width[EMBED_MAX];

	e->n = 0;
	for (uint64_t i = set; i; i &= i - 1) {
		uint32_t v = lowest(i), p = e->n++;
		double sum = 0;

		for (uint64_t j = set; j; j &= j - 1)
			sum += lowest(j) == v ? 0 : g->width[v * g->n + lowest(j)];
		for (; p > 0 && width[p - 1] < sum; p--) {
			width[p] = width[p - 1];
			e->at[p] = e->at[p - 1];
		}
		width[p] = sum;
		e->at[p] = (uint8_t)v;
	}
}

static double value_of_set(const struct embed_graph *g, uint64_t set, enum pattern pattern,
	embed_value *value, bool one)
{
	struct embedding e = { .value = -INFINITY };

	if (!one) {
		embed_order(g, set, pattern, value, &e);
		return e.value;
	}
	widest_first(g, set, &e);
	embed_measure(g, pattern, &e);
	return value ? value(e.links) : e.sum;
}

void embed_values(const struct embed_graph *g, uint32_t k, enum pattern pattern, embed_value *value,
	double *out)
{
	uint64_t all = (UINT64_C(1) << g->n) - 1;
	bool one = pattern == PATTERN_TREE && k > TREE_TRIED && g->n > TREE_GRAPH;

	if (k == 0 || k > g->n)
		return;
	if (pattern == PATTERN_RING || pattern == PATTERN_CHAIN) {
		embed_walk(g, k, pattern == PATTERN_RING, value, out);
		return;
	}
	for (uint64_t set = (UINT64_C(1) << k) - 1; set; set = embed_next_set(all, set))
		out[set] = value_of_set(g, set, pattern, value, one);
}
