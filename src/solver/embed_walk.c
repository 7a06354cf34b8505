/*
 * The worth of rings and chains through all sets of vertices at once: which numbers of edges by kind a path
 * through a set can have.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "solver/embed_parts.h"

static uint32_t lowest(uint64_t set)
{
	return (uint32_t)__builtin_ctzll(set);
}

/* Copies for each number of words, so that it is a constant in them. */
#define EMBED_INLINE static inline __attribute__((always_inline))

/* The numbers of edges (of kind 1, of kind 2) of a path, as bits: kind 2 counts in steps of `side`. */
enum { WORDS_MAX = EMBED_MAX * EMBED_MAX / 64 };

/* All sets of one size, in order: what is known of the paths through each, by their end. */
struct layer {
	uint32_t size;
	uint32_t words;    /* of a tally */
	uint64_t *tallies; /* by rank of the set, and end */
	double *sums;      /* likewise: the widest */
};

/*
 * Paths through every set of the vertices `v`.  A chain's begin anywhere.  A ring's begin at the vertex `first`,
 * which is in no set; those of `v` are the ones behind it.  Paths of a set come from those of the sets
 * with one vertex less, so that two layers are enough.
 */
struct walk {
	const struct embed_graph *g;
	uint32_t k; /* vertices of the pattern */
	bool ring;
	const double *worth; /* by numbers of edges, kind 2 in steps of k + 1; NULL: the widest in all */
	uint32_t first, v[EMBED_MAX], n;
	uint16_t near[EMBED_KINDS][EMBED_MAX]; /* by kind and vertex: the others, as a set */
	uint32_t side;
	uint16_t *rank; /* of a set in its layer */
	struct layer layers[2];
};

static uint8_t kind_of(const struct walk *w, uint32_t i, uint32_t j)
{
	return w->g->kind[w->v[i] * w->g->n + w->v[j]];
}

/* The vertices behind `first`, or all for a chain, and which of them are near each other. */
static void choose_vertices(struct walk *w, uint32_t first)
{
	w->first = first;
	w->n = 0;
	for (uint32_t v = w->ring ? first + 1 : 0; v < w->g->n; v++)
		w->v[w->n++] = v;
	memset(w->near, 0, sizeof(w->near));
	for (uint32_t i = 0; i < w->n; i++) {
		for (uint32_t j = 0; j < w->n; j++) {
			if (i != j)
				w->near[kind_of(w, i, j)][i] |= (uint16_t)(1u << j);
		}
	}
}

/* The next larger number with as many bits. */
static uint32_t next_number(uint32_t set)
{
	uint32_t low = set & -set, high = set + low;

	return high | ((set ^ high) / low) >> 2;
}

static uint32_t edges_of(const struct walk *w, uint32_t size)
{
	return w->ring ? size : size - 1;
}

/* Words of a tally that so many edges can make use of. */
static uint32_t words_for(const struct walk *w, uint32_t edges)
{
	return w->side * edges / 64 + 1;
}

/* As the next layer reads them. */
static uint32_t layer_words(const struct walk *w, uint32_t size)
{
	return words_for(w, edges_of(w, size) < w->k - 1 ? edges_of(w, size) + 1 : w->k - 1);
}

static uint64_t *tally_at(const struct walk *w, const struct layer *l, uint32_t set, uint32_t end)
{
	return &l->tallies[((size_t)w->rank[set] * w->n + end) * l->words];
}

/* ---- by kinds of edges */

/* Paths of one vertex, in a ring with the edge from the first. */
static void begin_tallies(const struct walk *w, const struct layer *to, uint32_t i)
{
	const uint32_t steps[EMBED_KINDS] = { 0, 1, w->side };
	uint32_t step = w->ring ? steps[w->g->kind[w->first * w->g->n + w->v[i]]] : 0;
	uint64_t *at = tally_at(w, to, UINT32_C(1) << i, i);

	memset(at, 0, to->words * sizeof(*at));
	at[step / 64] = UINT64_C(1) << step % 64;
}

EMBED_INLINE void add_shifted(uint64_t *to, const uint64_t *from, uint32_t words, uint32_t shift)
{
	for (uint32_t i = words - 1; i > 0; i--)
		to[i] |= from[i] << shift | from[i - 1] >> (64 - shift);
	to[0] |= from[0] << shift;
}

/* Paths through `set` that end at `end`: those of the others, by the kind of the last edge. */
EMBED_INLINE void extend_tallies(const struct walk *w, const struct layer *before,
	const struct layer *to, uint32_t set, uint32_t end, uint32_t words)
{
	uint32_t others = set & ~(UINT32_C(1) << end);
	const uint64_t *from = &before->tallies[(size_t)w->rank[others] * w->n * words];
	uint64_t by_kind[EMBED_KINDS][WORDS_MAX] = { { 0 } }, *at = tally_at(w, to, set, end);

	for (uint32_t kind = 0; kind < EMBED_KINDS; kind++) {
		for (uint32_t ends = others & w->near[kind][end]; ends; ends &= ends - 1) {
			for (uint32_t i = 0; i < words; i++)
				by_kind[kind][i] |= from[lowest(ends) * words + i];
		}
	}
	add_shifted(by_kind[0], by_kind[1], words, 1);
	add_shifted(by_kind[0], by_kind[2], words, w->side);
	for (uint32_t i = 0; i < words; i++)
		at[i] = by_kind[0][i];
	if (words < to->words)
		at[words] = 0;
}

EMBED_INLINE void extend_all_tallies(const struct walk *w, const struct layer *before,
	const struct layer *to, uint32_t set, uint32_t words)
{
	for (uint32_t ends = set; ends; ends &= ends - 1)
		extend_tallies(w, before, to, set, lowest(ends), words);
}

static void find_tallies(const struct walk *w, const struct layer *before, const struct layer *to,
	uint32_t set)
{
	if (to->size == 1)
		begin_tallies(w, to, lowest(set));
	else if (before->words == 1)
		extend_all_tallies(w, before, to, set, 1);
	else if (before->words == 2)
		extend_all_tallies(w, before, to, set, 2);
	else if (before->words == 3)
		extend_all_tallies(w, before, to, set, 3);
	else
		extend_all_tallies(w, before, to, set, 4);
}

/* The best of what is there, with one edge of a kind more in a ring. */
static double best_tally(const struct walk *w, const uint64_t *tally, uint32_t words, uint32_t kind)
{
	const uint32_t steps[EMBED_KINDS] = { 0, 1, w->k + 1 };
	double best = -INFINITY;

	for (uint32_t i = 0; i < words; i++) {
		for (uint64_t bits = tally[i]; bits; bits &= bits - 1) {
			uint32_t at = i * 64 + lowest(bits);
			double worth = w->worth[at % w->side + at / w->side * (w->k + 1) +
				(w->ring ? steps[kind] : 0)];

			best = worth > best ? worth : best;
		}
	}
	return best;
}

static double close_tallies(const struct walk *w, const struct layer *l, uint32_t set)
{
	uint64_t by_kind[EMBED_KINDS][WORDS_MAX] = { { 0 } };
	double best = -INFINITY;

	for (uint32_t ends = set; ends; ends &= ends - 1) {
		uint32_t end = lowest(ends);
		uint32_t kind = w->ring ? w->g->kind[w->v[end] * w->g->n + w->first] : 0;
		const uint64_t *tally = tally_at(w, l, set, end);

		for (uint32_t i = 0; i < l->words; i++)
			by_kind[kind][i] |= tally[i];
	}
	for (uint32_t kind = 0; kind < EMBED_KINDS; kind++)
		best = fmax(best, best_tally(w, by_kind[kind], l->words, kind));
	return best;
}

/* ---- by widths */

static void find_sums(const struct walk *w, const struct layer *before, const struct layer *to,
	uint32_t set)
{
	const double *width = w->g->width;
	uint32_t n = w->g->n;

	for (uint32_t ends = set; ends; ends &= ends - 1) {
		uint32_t end = lowest(ends), others = set & ~(UINT32_C(1) << end);
		const double *from = &before->sums[(size_t)w->rank[others] * w->n];
		double best = others ? -INFINITY : w->ring ? width[w->first * n + w->v[end]] : 0;

		for (; others; others &= others - 1) {
			uint32_t last = lowest(others);
			double sum = from[last] + width[w->v[last] * n + w->v[end]];

			best = sum > best ? sum : best;
		}
		to->sums[(size_t)w->rank[set] * w->n + end] = best;
	}
}

static double close_sums(const struct walk *w, const struct layer *l, uint32_t set)
{
	double best = -INFINITY;

	for (uint32_t ends = set; ends; ends &= ends - 1) {
		uint32_t end = lowest(ends);
		double last = w->ring ? w->g->width[w->v[end] * w->g->n + w->first] : 0;

		best = fmax(best, l->sums[(size_t)w->rank[set] * w->n + end] + last);
	}
	return best;
}

/* ---- both */

static void walk_layer(const struct walk *w, const struct layer *before, const struct layer *to)
{
	uint16_t rank = 0;

	for (uint32_t set = (UINT32_C(1) << to->size) - 1; set < UINT32_C(1) << w->n;
		set = next_number(set)) {
		w->rank[set] = rank++;
		if (w->worth)
			find_tallies(w, before, to, set);
		else
			find_sums(w, before, to, set);
	}
}

/* All sets of the vertices that have been chosen. */
static void walk_sets(struct walk *w, double *out)
{
	uint32_t size = w->ring ? w->k - 1 : w->k;
	uint32_t base = w->ring ? UINT32_C(1) << w->first : 0, shift = w->ring ? w->first + 1 : 0;
	const struct layer *last = &w->layers[size % 2];

	for (uint32_t s = 1; s <= size; s++) {
		struct layer *to = &w->layers[s % 2];

		to->size = s;
		to->words = layer_words(w, s);
		walk_layer(w, &w->layers[(s + 1) % 2], to);
	}
	for (uint32_t set = (UINT32_C(1) << size) - 1; set < UINT32_C(1) << w->n;
		set = next_number(set))
		out[base | set << shift] = (w->worth ? close_tallies : close_sums)(w, last, set);
}

/* What every mix of so many edges is worth. */
static double *worths(uint32_t k, uint32_t edges, embed_value *value)
{
	double *worth = mem_alloc(sizeof(*worth) * (k + 1) * (k + 1));

	for (uint32_t two = 0; two <= edges; two++) {
		for (uint32_t one = 0; one + two <= edges; one++) {
			uint32_t links[EMBED_KINDS] = { edges - one - two, one, two };

			worth[two * (k + 1) + one] = value(links);
		}
	}
	return worth;
}

/* Room for the largest layers of `n` vertices. */
static void make_layers(struct walk *w, uint32_t n)
{
	size_t sets = n, most[2] = { 0 };

	w->rank = mem_alloc(sizeof(*w->rank) << n);
	for (uint32_t s = 1; s <= n && edges_of(w, s) < w->k; s++) {
		size_t states = sets * n * (w->worth ? layer_words(w, s) : 1);

		most[s % 2] = states > most[s % 2] ? states : most[s % 2];
		sets = sets * (n - s) / (s + 1);
	}
	for (int i = 0; i < 2; i++) {
		if (w->worth)
			w->layers[i].tallies = mem_alloc(sizeof(uint64_t) * most[i]);
		else
			w->layers[i].sums = mem_alloc(sizeof(double) * most[i]);
	}
}

/* Nobody to talk to. */
static void values_of_one(const struct embed_graph *g, embed_value *value, double *out)
{
	const uint32_t links[EMBED_KINDS] = { 0 };

	for (uint32_t v = 0; v < g->n; v++)
		out[UINT32_C(1) << v] = value ? value(links) : 0;
}

void embed_walk(const struct embed_graph *g, uint32_t k, bool ring, embed_value *value, double *out)
{
	struct walk w = { .g = g, .k = k, .ring = ring, .side = k };
	double *worth = NULL;

	if (k == 1) {
		values_of_one(g, value, out);
		return;
	}
	if (value)
		w.worth = worth = worths(k, ring ? k : k - 1, value);
	make_layers(&w, ring ? g->n - 1 : g->n);
	for (uint32_t first = 0; first + (ring ? k : g->n) <= g->n; first++) {
		choose_vertices(&w, first);
		walk_sets(&w, out);
	}
	for (int i = 0; i < 2; i++) {
		free(w.layers[i].tallies);
		free(w.layers[i].sums);
	}
	free(w.rank);
	free(worth);
}
