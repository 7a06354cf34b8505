/*
 * Rows of Pollux' matrices, for mutation, repair and worth alike.
 *
 * Rows are words of eight cells (solver/genetic.h), most of them 0 on a large
 * cluster: there passes skip these.  On a small one a branch for each word
 * costs more than the work it saves, so passes over all rows are compiled for
 * rows of two words apart, without any branch.
 */
#ifndef POLICY_ELASTIC_POLLUX_ROWS_H
#define POLICY_ELASTIC_POLLUX_ROWS_H

#include "policy/elastic/pollux_search.h"

/* For functions that are told the width, so that a caller that knows it has them without loops. */
#define POLLUX_INLINE static inline __attribute__((always_inline))

enum {
	POLLUX_NARROW = 2, /* words of a row that are not worth a branch each */
};

/* What genome_row.note has of a row. */
enum { POLLUX_NOTE_GPUS, POLLUX_NOTE_NODES };

/* ---- random numbers, from a generator that is a product (wyrand) and seeded for each child */

static inline uint64_t pollux_roll(struct pollux_search *s)
{
	__extension__ unsigned __int128 product;

	s->dice += UINT64_C(0xa0761d6478bd642f);
	product = s->dice;
	product *= s->dice ^ UINT64_C(0xe7037ed1a0b428db);
	return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

/* 0..n-1 */
static inline uint32_t pollux_roll_below(struct pollux_search *s, uint32_t n)
{
	return (uint32_t)(((pollux_roll(s) >> 32) * n) >> 32);
}

/* Whether something happens that has so many chances of 65536. */
static inline bool pollux_happens(struct pollux_search *s, uint32_t chances)
{
	return (pollux_roll(s) & 0xffff) < chances;
}

/* ---- rows */

static inline uint64_t *pollux_row(const struct pollux_search *s, uint64_t *words, uint32_t job)
{
	return words + (size_t)job * s->width;
}

static inline uint32_t pollux_row_type(const struct pollux_search *s, const uint64_t *row)
{
	for (uint32_t i = 0; s->types > 1 && i < s->width; i++) {
		if (row[i])
			return s->node_type[8 * i + genetic_first(row[i])];
	}
	return 0;
}

POLLUX_INLINE bool pollux_skip(uint64_t word, uint32_t width)
{
	return width > POLLUX_NARROW && !word;
}

/* Devices and nodes. */
POLLUX_INLINE void pollux_count(const uint64_t *row, uint32_t width, uint32_t note[2])
{
	uint32_t gpus = 0, nodes = 0;

	for (uint32_t i = 0; i < width; i++) {
		if (pollux_skip(row[i], width))
			continue;
		gpus += genetic_sum(row[i]);
		nodes += genetic_count(row[i]);
	}
	note[POLLUX_NOTE_GPUS] = gpus;
	note[POLLUX_NOTE_NODES] = nodes;
}

POLLUX_INLINE bool pollux_same(const uint64_t *a, const uint64_t *b, uint32_t width)
{
	uint64_t differ = 0;

	for (uint32_t i = 0; i < width; i++)
		differ |= a[i] ^ b[i];
	return differ == 0;
}

POLLUX_INLINE void pollux_copy(uint64_t *to, const uint64_t *from, uint32_t width)
{
	for (uint32_t i = 0; i < width; i++)
		to[i] = from[i];
}

/* ---- what pollux_search_problem() is made of */

void pollux_mutate(void *ctx, struct rng *rng, struct genome *child);
void pollux_repair(void *ctx, struct rng *rng, struct genome *child);

#endif
