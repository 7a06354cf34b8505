/*
 * Who gets the next device: rows by what one more step brings them, the
 * largest gain first; between equals the smaller row, so rows are numbered in
 * the order of ties (arrival, then id).
 *
 * A row is in the heap once at most; whoever takes one out puts it back with
 * the gain of its next step.  Memory is the arena's.
 */
#ifndef POLICY_ELASTIC_GAIN_H
#define POLICY_ELASTIC_GAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

struct gain {
	double gain;
	uint32_t row;
};

struct gain_heap {
	struct gain *at;
	uint32_t n;
};

/* Room for `rows` rows. */
void gain_init(struct gain_heap *heap, struct arena *arena, uint32_t rows);
/* A gain that is not a number is none: the row stays out. */
void gain_push(struct gain_heap *heap, double gain, uint32_t row);
/* The largest; there must be one (heap->n > 0). */
struct gain gain_pop(struct gain_heap *heap);

/* Greedy sharing out: the row that gains most takes a step, until nobody gains. */
struct gain_steps {
	/* What the next step of the row brings; 0, less or NAN: it wants no more. */
	double (*gain)(void *self, uint32_t row);
	/* Makes the step.  False: there is no room for it. */
	bool (*take)(void *self, uint32_t row);
	bool stop_at_misfit; /* the first that finds no room ends it all; else only that row */
};

/* Returns how many steps were made. */
uint32_t gain_share_out(struct arena *arena, uint32_t rows, const struct gain_steps *steps, void *self);

#endif
