/*
 * xoshiro256** (Blackman and Vigna), seeded by splitmix64.
 */
#include "base/rng.h"

#include <assert.h>
#include <math.h>

#include "base/real.h"

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint64_t splitmix(uint64_t *state)
{
	*state += UINT64_C(0x9e3779b97f4a7c15);
	return mix(*state);
}

static void fill(struct rng *rng, uint64_t state)
{
	for (int i = 0; i < 4; i++)
		rng->s[i] = splitmix(&state);
}

/* One step of a chain: neighbours in `next` end up far apart. */
static uint64_t chain(uint64_t state, uint64_t next)
{
	return mix(splitmix(&state) ^ next * UINT64_C(0xd1342543de82ef95));
}

void rng_init(struct rng *rng, uint64_t seed, uint64_t stream)
{
	fill(rng, chain(seed, stream));
}

void rng_for(struct rng *rng, uint64_t seed, uint64_t stream, uint64_t item)
{
	fill(rng, chain(chain(seed, stream), item));
}

static uint64_t rotate(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

uint64_t rng_u64(struct rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

/* Lemire: the high half of a product, with the few draws that would favour some results thrown away. */
uint64_t rng_below(struct rng *rng, uint64_t n)
{
	__extension__ unsigned __int128 product;
	uint64_t unfair;

	assert(n);
	unfair = -n % n;
	do {
		product = rng_u64(rng);
		product *= n;
	} while ((uint64_t)product < unfair);
	return (uint64_t)(product >> 64);
}

double rng_uniform(struct rng *rng)
{
	return (double)(rng_u64(rng) >> 11) * 0x1p-53;
}

double rng_between(struct rng *rng, double lo, double hi)
{
	return lo + (hi - lo) * rng_uniform(rng);
}

/* The polar method; the second number is dropped, so that a generator has no hidden state. */
double rng_normal(struct rng *rng)
{
	double x, y, square;

	do {
		x = 2 * rng_uniform(rng) - 1;
		y = 2 * rng_uniform(rng) - 1;
		square = x * x + y * y;
	} while (square >= 1 || square == 0);
	return x * sqrt(-2 * real_log(square) / square);
}

double rng_exponential(struct rng *rng, double mean)
{
	return -mean * real_log(1 - rng_uniform(rng));
}

double rng_lognormal(struct rng *rng, double mu, double sigma)
{
	return real_exp(mu + sigma * rng_normal(rng));
}
