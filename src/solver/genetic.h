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
	uint32_t hash;
	uint32_t note[2]; /* the caller's: repair() may keep for weigh() what it counted */
};

struct genome {
	uint64_t *words; /* rows x width, row by row; cells past the last column are 0 */
	struct genome_row *rows;
	uint64_t *changed; /* a bit for each row: it changed since it was weighed */
	double objective[GENETIC_OBJECTIVES]; /* larger is better */
	double extra; /* the caller's: repair() may keep something for judge() */
	uint64_t hash;
	double crowding;
	uint32_t front; /* 0: nobody is better in all */
};

/* What members are sorted and chosen by. */
struct genetic_key {
	double objective[GENETIC_OBJECTIVES];
	double crowding;
	uint32_t member, front;
};

struct genetic_problem {
	uint32_t rows, cols;
	uint32_t objectives; /* 1 or 2 */
	void *ctx;
	/* Both say genetic_touch() of every row that they change.  repair() is asked of the first members, too. */
	void (*mutate)(void *ctx, struct rng *rng, struct genome *child);
	void (*repair)(void *ctx, struct rng *rng, struct genome *child);
	/* Two numbers for judge(), into row->value, that depend on the row alone. */
	void (*weigh)(void *ctx, uint32_t number, const uint64_t *words, struct genome_row *row);
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
	struct genome *members;   /* 2 x population: members, then their children */
	struct genome *order;     /* scratch of a selection */
	struct genetic_key *keys; /* likewise: 2 for each place */
	uint32_t n;               /* members */
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
	genome->changed[row / 64] |= UINT64_C(1) << row % 64;
}

/* The first row from `row` on that changed, or `rows`. */
static inline uint32_t genetic_changed(const struct genome *genome, uint32_t row, uint32_t rows)
{
	uint64_t bits = row < rows ? genome->changed[row / 64] >> row % 64 : 0;

	if (bits)
		return row + (uint32_t)__builtin_ctzll(bits);
	for (row = (row / 64 + 1) * 64; row < rows; row += 64) {
		if (genome->changed[row / 64])
			return row + (uint32_t)__builtin_ctzll(genome->changed[row / 64]);
	}
	return rows;
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

/* The highest bit of every cell that is not 0, for genetic_next(). */
static inline uint64_t genetic_flags(uint64_t word)
{
	return (word + ~GENETIC_HIGH) & GENETIC_HIGH;
}

/* 255 in every cell that is not 0. */
static inline uint64_t genetic_set(uint64_t word)
{
	return (genetic_flags(word) >> 7) * 255;
}

/* `a` less `b`, 0 where `b` is larger. */
static inline uint64_t genetic_less(uint64_t a, uint64_t b)
{
	uint64_t rest = (a | GENETIC_HIGH) - b, enough = rest & GENETIC_HIGH;

	return rest & (enough - (enough >> 7));
}

/* Whether no cell of `a` is larger than that of `b`. */
static inline bool genetic_fits(uint64_t a, uint64_t b)
{
	return (((b | GENETIC_HIGH) - a) & GENETIC_HIGH) == GENETIC_HIGH;
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

/* Takes the first of some flags away and returns the number of its cell. */
static inline uint32_t genetic_next(uint64_t *flags)
{
	uint32_t cell = genetic_first(*flags);

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	*flags &= *flags - 1;
#else
	*flags &= ~(UINT64_C(0x8000000000000000) >> 8 * cell);
#endif
	return cell;
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
	return (uint32_t)(((genetic_flags(word) >> 7) * GENETIC_ONES) >> 56);
}

#endif
