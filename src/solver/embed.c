/*
 * Embeddings: orders of one set tried one by one, or the worth of all sets at once.
 */
#include "solver/embed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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

/* ---- all sets at once: which numbers of edges by kind a path through a set can have */

enum { SIDE_MAX = EMBED_MAX + 1, WORDS_MAX = (SIDE_MAX * SIDE_MAX + 63) / 64 };

/* Pairs (of kind 1, of kind 2) as bits: kind 2 counts in steps of `side`. */
struct tally_size {
	uint32_t side, words;
};

static struct tally_size tally_size(uint32_t k)
{
	return (struct tally_size){ k + 1, ((k + 1) * (k + 1) + 63) / 64 };
}

static void tallies_add(uint64_t *to, const uint64_t *from, uint32_t words, uint32_t shift)
{
	to[0] |= from[0] << shift;
	for (uint32_t w = 1; w < words; w++)
		to[w] |= from[w] << shift | (shift ? from[w - 1] >> (64 - shift) : 0);
}

static uint32_t step_of(const struct embed_graph *g, uint32_t side, uint32_t i, uint32_t j)
{
	const uint32_t steps[EMBED_KINDS] = { 0, 1, side };

	return steps[g->kind[i * g->n + j]];
}

/* The best of what is there, for so many edges in all. */
static double best_tally(const uint64_t *t, struct tally_size size, uint32_t edges, embed_value *value)
{
	double best = -INFINITY;

	for (uint32_t w = 0; w < size.words; w++) {
		for (uint64_t bits = t[w]; bits; bits &= bits - 1) {
			uint32_t at = w * 64 + lowest(bits);
			uint32_t links[EMBED_KINDS] = { edges - at % size.side - at / size.side,
				at % size.side, at / size.side };

			best = fmax(best, value(links));
		}
	}
	return best;
}

/*
 * Paths through every set, by their end: a ring's begins at the lowest vertex, a chain's anywhere.  `paths` is
 * by set and end.
 */
struct walk {
	const struct embed_graph *g;
	uint32_t k;
	bool ring;
	embed_value *value; /* NULL: the widest in all */
	struct tally_size size;
	uint64_t *paths; /* tallies of that size */
	double *sums;
};

static void begin_path(struct walk *w, uint32_t v)
{
	size_t at = ((size_t)1 << v) * w->g->n + v;

	if (w->value)
		w->paths[at * w->size.words] = 1;
	else
		w->sums[at] = 0;
}

static void extend_path(struct walk *w, uint32_t set, uint32_t end, uint32_t next)
{
	size_t from = (size_t)set * w->g->n + end;
	size_t to = ((size_t)set | (size_t)1 << next) * w->g->n + next;

	if (w->value)
		tallies_add(&w->paths[to * w->size.words], &w->paths[from * w->size.words],
			w->size.words, step_of(w->g, w->size.side, end, next));
	else
		w->sums[to] = fmax(w->sums[to], w->sums[from] + w->g->width[end * w->g->n + next]);
}

static double close_set(const struct walk *w, uint32_t set)
{
	uint32_t first = lowest(set), n = w->g->n;
	uint64_t all[WORDS_MAX] = { 0 };
	double best = -INFINITY;

	for (uint64_t rest = set; rest; rest &= rest - 1) {
		uint32_t end = lowest(rest);
		size_t at = (size_t)set * n + end;

		if (w->ring && end == first && w->k > 1)
			continue;
		if (w->value)
			tallies_add(all, &w->paths[at * w->size.words], w->size.words,
				w->ring && w->k > 1 ? step_of(w->g, w->size.side, end, first) : 0);
		else
			best = fmax(best,
				w->sums[at] + (w->ring && w->k > 1 ? w->g->width[end * n + first] : 0));
	}
	return w->value ? best_tally(all, w->size, w->k - 1 + (w->ring && w->k > 1), w->value) : best;
}

static void walk_all(struct walk *w, double *out)
{
	uint32_t sets = UINT32_C(1) << w->g->n;

	for (uint32_t v = 0; v < w->g->n; v++)
		begin_path(w, v);
	for (uint32_t set = 1; set < sets; set++) {
		uint32_t size = (uint32_t)__builtin_popcount(set);
		uint64_t more = (sets - 1) & ~set;

		if (w->ring)
			more &= ~(((uint64_t)1 << lowest(set)) - 1);
		if (size == w->k)
			out[set] = close_set(w, set);
		if (size >= w->k)
			continue;
		for (uint64_t ends = set; ends; ends &= ends - 1) {
			if (w->ring && size > 1 && lowest(ends) == lowest(set))
				continue;
			for (uint64_t next = more; next; next &= next - 1)
				extend_path(w, set, lowest(ends), lowest(next));
		}
	}
}

static void values_by_walk(const struct embed_graph *g, uint32_t k, bool ring, embed_value *value,
	double *out)
{
	size_t states = ((size_t)1 << g->n) * g->n;
	struct walk w = { .g = g, .k = k, .ring = ring, .value = value, .size = tally_size(k) };

	if (value) {
		w.paths = mem_alloc(sizeof(*w.paths) * states * w.size.words);
	} else {
		w.sums = mem_alloc(sizeof(*w.sums) * states);
		for (size_t i = 0; i < states; i++)
			w.sums[i] = -INFINITY;
	}
	walk_all(&w, out);
	free(w.paths);
	free(w.sums);
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
		values_by_walk(g, k, pattern == PATTERN_RING, value, out);
		return;
	}
	for (uint64_t set = (UINT64_C(1) << k) - 1; set; set = embed_next_set(all, set))
		out[set] = value_of_set(g, set, pattern, value, one);
}
