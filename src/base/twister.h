/*
 * The Mersenne Twister as Python's `random` module drives it, so that runs of
 * simulators written in Python can be followed draw by draw.  Everything else
 * uses base/rng.h.
 */
#ifndef BASE_TWISTER_H
#define BASE_TWISTER_H

#include <stdint.h>

enum { TWISTER_WORDS = 624 };

struct twister {
	uint32_t state[TWISTER_WORDS];
	uint32_t at;
};

void twister_init(struct twister *twister, uint64_t seed); /* random.Random(seed) */
uint32_t twister_u32(struct twister *twister);
double twister_uniform(struct twister *twister);                         /* random.random() */
uint32_t twister_below(struct twister *twister, uint32_t n);             /* randrange(n), n > 0 */
void twister_shuffle(struct twister *twister, uint32_t *at, uint32_t n); /* shuffle(at) */
/* sample(range(n), 2), n >= 2 */
void twister_two(struct twister *twister, uint32_t n, uint32_t out[2]);

#endif
