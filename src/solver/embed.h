/*
 * Laying a pattern of communication over vertices of a small complete graph.
 *
 * An edge has a width and a kind; an embedding is an order of its vertices, which
 * says who talks to whom: neighbours in a ring or a chain, parent and child in a tree
 * (the order is that of a heap), everybody with everybody.  What it is worth
 * depends on the edges used, by kind or by their widths in all.
 *
 * In a ring of two the edge counts twice, there and back, as the published program has it.
 */
#ifndef SOLVER_EMBED_H
#define SOLVER_EMBED_H

#include <stdbool.h>
#include <stdint.h>

enum pattern { PATTERN_RING, PATTERN_CHAIN, PATTERN_TREE, PATTERN_ALL, PATTERN_COUNT };
extern const char *const pattern_names[]; /* NULL-terminated, for OPT_CHOICE */

enum { EMBED_KINDS = 3, EMBED_MAX = 16 };

struct embed_graph {
	uint32_t n;          /* vertices */
	const double *width; /* [i * n + j] */
	const uint8_t *kind; /* likewise, below EMBED_KINDS */
};

struct embedding {
	uint32_t n;
	uint8_t at[EMBED_MAX];
	uint32_t links[EMBED_KINDS];
	double sum;   /* of widths */
	double value; /* what was maximised */
};

/* What edges are worth, by kind; NULL: their widths. */
typedef double embed_value(const uint32_t links[EMBED_KINDS]);

/* The edges of one order: links and sum. */
void embed_measure(const struct embed_graph *g, enum pattern pattern, struct embedding *e);

/*
 * The best order of the vertices of `set`, at most EMBED_MAX, that is worth more than out->value; of equals the
 * lexicographically first.  False: there is none, and `out` is as it was.
 */
bool embed_order(const struct embed_graph *g, uint64_t set, enum pattern pattern,
	embed_value *value, struct embedding *out);

/*
 * The worth of the best embedding of every set of k vertices at once, at out[set]; the graph has at most
 * EMBED_MAX.  Trees of more than 5 vertices in graphs of more than 8 are tried in one good order only.
 */
void embed_values(const struct embed_graph *g, uint32_t k, enum pattern pattern, embed_value *value,
	double *out);

/* The lexicographically next set of as many vertices out of `all`; begin with the lowest.  0: there is none. */
uint64_t embed_next_set(uint64_t all, uint64_t set);

#endif
