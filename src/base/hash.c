/*
 * FNV-1a over 64 bits.
 */
#include "base/hash.h"

#include <string.h>

/* FNV-1a: hashing a text in pieces gives the same as in one go, so buffering plays no part. */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* A word at a time (the finisher of splitmix64): several times faster than its eight bytes. */
uint64_t hash_u64(uint64_t hash, uint64_t x)
{
	hash = (hash ^ x) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
	return hash ^ hash >> 31;
}

uint64_t hash_double(uint64_t hash, double x)
{
	uint64_t bits;

	if (x == 0)
		x = 0; /* -0 */
	memcpy(&bits, &x, sizeof(bits));
	if (x != x)
		bits = UINT64_C(0x7ff8000000000000); /* processors differ in the sign of a fresh NaN */
	return hash_u64(hash, bits);
}
