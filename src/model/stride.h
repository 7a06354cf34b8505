/*
 * Stride scheduling of gangs: device-time in proportion to tickets.
 *
 * Everybody has a pass, which grows by devices over tickets for each quantum it
 * runs.  In every quantum whoever is at the smallest pass goes first; a gang
 * that does not fit is passed over and keeps its pass, so that it is first soon.
 */
#ifndef MODEL_STRIDE_H
#define MODEL_STRIDE_H

#include <stdbool.h>
#include <stdint.h>

struct stride {
	uint32_t id; /* the smaller of equals goes first */
	uint32_t gpus;
	double tickets; /* above 0 */
	double pass;
	bool runs; /* out: in this quantum */
};

/* What a quantum costs. */
double stride_of(const struct stride *s);
/* Sorts by (pass, id) and marks who runs on `free` devices; returns how many of these are left. */
uint32_t stride_choose(struct stride *all, uint32_t n, uint32_t free);
/* Whether a comes before b.  Passes that differ by rounding are equal. */
bool stride_before(const struct stride *a, const struct stride *b);
/* The smallest pass, or `none` where there is nobody: where newcomers begin. */
double stride_least(const struct stride *all, uint32_t n, double none);

/*
 * `total` divided by tickets, nobody gets more than it asks for; what is left is divided again among the others.
 * If all have what they ask for, something stays.
 */
void stride_shares(const double *tickets, const double *demand, uint32_t n, double total,
	double *share);

#endif
