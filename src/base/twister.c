/*
 * MT19937 (Matsumoto and Nishimura, 1998), seeded from an array as Python does.
 */
#include "base/twister.h"

enum { SHIFT = 397, SMALL_POPULATION = 21 };

static void seed_word(struct twister *t, uint32_t seed)
{
	t->state[0] = seed;
	for (uint32_t i = 1; i < TWISTER_WORDS; i++) {
		uint32_t last = t->state[i - 1];

		t->state[i] = UINT32_C(1812433253) * (last ^ (last >> 30)) + i;
	}
	t->at = TWISTER_WORDS;
}

/* The word before `i` in the ring that seeding walks, mixed. */
static uint32_t mixed_before(const struct twister *t, uint32_t i)
{
	return t->state[i - 1] ^ (t->state[i - 1] >> 30);
}

static uint32_t step(struct twister *t, uint32_t i)
{
	if (++i < TWISTER_WORDS)
		return i;
	t->state[0] = t->state[TWISTER_WORDS - 1];
	return 1;
}

static void seed_array(struct twister *t, const uint32_t *key, uint32_t n)
{
	uint32_t i = 1, j = 0;

	seed_word(t, 19650218);
	for (uint32_t k = TWISTER_WORDS; k > 0; k--) {
		t->state[i] = (t->state[i] ^ (mixed_before(t, i) * UINT32_C(1664525))) + key[j] + j;
		i = step(t, i);
		j = (j + 1) % n;
	}
	for (uint32_t k = TWISTER_WORDS - 1; k > 0; k--) {
		t->state[i] = (t->state[i] ^ (mixed_before(t, i) * UINT32_C(1566083941))) - i;
		i = step(t, i);
	}
	t->state[0] = UINT32_C(0x80000000);
}

void twister_init(struct twister *t, uint64_t seed)
{
	uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };

	seed_array(t, key, key[1] ? 2 : 1);
}

static void refill(struct twister *t)
{
	for (uint32_t i = 0; i < TWISTER_WORDS; i++) {
		uint32_t next = t->state[(i + 1) % TWISTER_WORDS];
		uint32_t y = (t->state[i] & UINT32_C(0x80000000)) | (next & UINT32_C(0x7fffffff));

		t->state[i] = t->state[(i + SHIFT) % TWISTER_WORDS] ^ (y >> 1) ^
			(y & 1 ? UINT32_C(0x9908b0df) : 0);
	}
	t->at = 0;
}

uint32_t twister_u32(struct twister *t)
{
	uint32_t y;

	if (t->at >= TWISTER_WORDS)
		refill(t);
	y = t->state[t->at++];
	y ^= y >> 11;
	y ^= (y << 7) & UINT32_C(0x9d2c5680);
	y ^= (y << 15) & UINT32_C(0xefc60000);
	return y ^ (y >> 18);
}

double twister_uniform(struct twister *t)
{
	uint32_t a = twister_u32(t) >> 5, b = twister_u32(t) >> 6;

	return (a * 67108864.0 + b) / 9007199254740992.0;
}

uint32_t twister_below(struct twister *t, uint32_t n)
{
	uint32_t bits = 32 - (uint32_t)__builtin_clz(n), drawn;

	do
		drawn = twister_u32(t) >> (32 - bits);
	while (drawn >= n);
	return drawn;
}

void twister_shuffle(struct twister *t, uint32_t *at, uint32_t n)
{
	for (uint32_t i = n; i-- > 1;) {
		uint32_t j = twister_below(t, i + 1), kept = at[i];

		at[i] = at[j];
		at[j] = kept;
	}
}

void twister_two(struct twister *t, uint32_t n, uint32_t out[2])
{
	out[0] = twister_below(t, n);
	if (n <= SMALL_POPULATION) {
		/* From a pool whose last element took the place of the one drawn. */
		uint32_t second = twister_below(t, n - 1);

		out[1] = second == out[0] ? n - 1 : second;
		return;
	}
	do
		out[1] = twister_below(t, n);
	while (out[1] == out[0]);
}
