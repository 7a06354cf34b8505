/*
 * Seeded random numbers, the same on every machine and compiler.
 *
 * A generator is named by (seed, stream): streams of one seed are independent,
 * so that adding a consumer does not move the numbers of another.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t s[4];
};

enum rng_stream {
	RNG_TRACE,   /* synthetic workloads */
	RNG_ERROR,   /* estimation error */
	RNG_FAILURE, /* node failures */
	RNG_POLICY,  /* handed to policies */
	RNG_PLACER,  /* handed to placers */
	RNG_SAMPLE,  /* resampling, bootstrap */
	RNG_TEST,
	RNG_ESTIMATE,   /* which speeds were measured beforehand */
	RNG_SCHEDULERS, /* machines, tasks and choices of parallel schedulers */
};

void rng_init(struct rng *rng, uint64_t seed, uint64_t stream);
uint64_t rng_u64(struct rng *rng);
uint64_t rng_below(struct rng *rng, uint64_t n); /* 0..n-1 without bias; n > 0 */
double rng_uniform(struct rng *rng);             /* [0, 1) */
double rng_between(struct rng *rng, double lo, double hi);
double rng_normal(struct rng *rng); /* mean 0, deviation 1 */
double rng_exponential(struct rng *rng, double mean);
double rng_lognormal(struct rng *rng, double mu, double sigma);

/* A number that depends on (seed, stream, item) alone, for per-job draws. */
void rng_for(struct rng *rng, uint64_t seed, uint64_t stream, uint64_t item);

#endif
