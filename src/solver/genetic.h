/*
 * Genetic search over matrices of small whole numbers: NSGA-II, for one
 * objective or two.
 *
 * What the numbers mean is the caller's: it mutates, it repairs what came out
 * so that it is allowed, it says what each row is worth and puts these
 * together.  Rows are weighed only when they changed.  No two members are
 * alike; the best are never lost, so that the best of a generation never gets
 * worse.  The same generator gives the same bytes.
 *
 * Cells lie eight in a word, so that a row is a few words: genetic_least() and
 * its like work on all eight at once.
 */
#ifndef SOLVER_GENETIC_H
#define SOLVER_GENETIC_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/rng.h"

enum {
	GENETIC_CELL_MAX = 127,
	GENETIC_OBJECTIVES = 2,
};

struct genome_row {
	double value[2]; /* what weigh() said of it */
	uint64_t hash;
	bool stale; /* it changed since */
};

struct genome {
	uint64_t *words; /* rows x width, row by row; cells past the last column are 0 */
	struct genome_row *rows;
	double objective[GENETIC_OBJECTIVES]; /* larger is better */
	double extra; /* the caller's: repair() may keep something for judge() */
	uint64_t hash;
	double crowding;
	uint32_t front; /* 0: nobody is better in all */
};

struct genetic_problem {
	uint32_t rows, cols;
	uint32_t objectives; /* 1 or 2 */
	void *ctx;
	/* Both say genetic_touch() of every row that they change.  repair() is asked of the first members, too. */
	void (*mutate)(void *ctx, struct rng *rng, struct genome *child);
	void (*repair)(void *ctx, struct rng *rng, struct genome *child);
	/* Two numbers for judge() that depend on the row alone. */
	void (*weigh)(void *ctx, uint32_t row, const uint64_t *words, double value[2]);
	void (*judge)(void *ctx, const struct genome *genome, double objective[GENETIC_OBJECTIVES]);
};

struct genetic_options {
	uint32_t population;  /* members kept, at least 2 */
	uint32_t generations; /* the first members count as one */
	uint32_t patience; /* ends after so many generations that found nothing better; 0: never */
	double crossover;  /* probability that two parents are mixed */
};

/* A zeroed one is valid and empty; it keeps its memory from search to search. */
struct genetic {
	uint32_t rows, cols, width; /* of the search under way; width: words of a row */
	uint32_t population;
	struct genome *members; /* 2 x population: members, then their children */
	struct genome *order;   /* scratch of a selection */
	uint32_t n;             /* members */
	uint64_t *words;
	struct genome_row *row_memory;
	size_t words_cap, rows_cap, members_cap;
	uint32_t *table; /* of members by hash: 1 + number */
	uint32_t table_size;
	uint32_t *shuffled, *ranks;
	uint32_t generations; /* of the last search, for figures */
	uint64_t weighed;     /* rows so far */
};

void genetic_fini(struct genetic *genetic);

/* A new search of this size without members. */
void genetic_begin(struct genetic *genetic, uint32_t rows, uint32_t cols, uint32_t population);
/* One more of the first members, all 0, to be filled in; NULL: there are `population` already. */
struct genome *genetic_add(struct genetic *genetic);
/* Searches from the members that were added (all 0, if none were); returns the one with the largest first objective. */
const struct genome *genetic_run(struct genetic *genetic, const struct genetic_problem *problem,
	const struct genetic_options *options, struct rng *rng);
/* After a search: those that nobody is better than in all objectives, or NULL past the last. */
const struct genome *genetic_front(const struct genetic *genetic, uint32_t i);

static inline void genetic_touch(struct genome *genome, uint32_t row)
{
	genome->rows[row].stale = true;
}

/* ---- eight cells at once; each is at most GENETIC_CELL_MAX */

#define GENETIC_HIGH UINT64_C(0x8080808080808080)
#define GENETIC_ONES UINT64_C(0x0101010101010101)

static inline uint32_t genetic_width(uint32_t cols)
{
	return (cols + 7) / 8;
}

static inline uint8_t *genetic_cells(uint64_t *words)
{
	return (uint8_t *)words;
}

/* 255 in every cell that is not 0. */
static inline uint64_t genetic_set(uint64_t word)
{
	return (((word + ~GENETIC_HIGH) & GENETIC_HIGH) >> 7) * 255;
}

/* The lesser of each two. */
static inline uint64_t genetic_least(uint64_t a, uint64_t b)
{
	uint64_t more = ((((a | GENETIC_HIGH) - b) & GENETIC_HIGH) >> 7) * 255; /* a >= b */

	return (b & more) | (a & ~more);
}

static inline uint32_t genetic_sum(uint64_t word)
{
	uint64_t pairs = UINT64_C(0x00ff00ff00ff00ff);

	return (uint32_t)((((word & pairs) + (word >> 8 & pairs)) * UINT64_C(0x0001000100010001)) >> 48);
}

/* The number of the first cell that is not 0, in a word that is not 0. */
static inline uint32_t genetic_first(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint32_t)__builtin_ctzll(word) / 8;
#else
	return (uint32_t)__builtin_clzll(word) / 8;
#endif
}

/* The word with 0 in that cell. */
static inline uint64_t genetic_without(uint64_t word, uint32_t cell)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return word & ~(UINT64_C(255) << 8 * cell);
#else
	return word & ~(UINT64_C(255) << (56 - 8 * cell));
#endif
}

/* How many are not 0. */
static inline uint32_t genetic_count(uint64_t word)
{
	return (uint32_t)(((((word + ~GENETIC_HIGH) & GENETIC_HIGH) >> 7) * GENETIC_ONES) >> 56);
}

#endif
