/*
 * Three-way tables of which few entries are known, completed as a sum of
 * products of one number per row, column and layer (CP factors), by
 * alternating least squares with a ridge.
 *
 * Same input and seed, same bits.
 */
#ifndef SOLVER_TENSOR_H
#define SOLVER_TENSOR_H

#include <stdint.h>

#define TENSOR_RANK_MAX 8

struct tensor_entry {
	uint32_t at[3];
	double value;
};

struct tensor {
	uint32_t size[3];
	const struct tensor_entry *known;
	uint32_t nknown;
};

struct cp_options {
	uint32_t rank;   /* up to TENSOR_RANK_MAX */
	double ridge;    /* weight of the squared factors; above 0 */
	uint32_t sweeps; /* over all three kinds */
	uint64_t seed;   /* of the positive numbers to start from */
};

/* factor[m] has rank numbers for each of size[m]. */
struct cp {
	uint32_t rank;
	double *factor[3];
};

/* Release with cp_fini().  Whatever has no known entry becomes 0. */
void cp_fit(const struct tensor *tensor, const struct cp_options *options, struct cp *out);
void cp_fini(struct cp *cp);
double cp_at(const struct cp *cp, uint32_t i, uint32_t j, uint32_t k);

#endif
