/*
 * A 64-bit hash for comparing logs and traces (not for security).
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n);
uint64_t hash_u64(uint64_t hash, uint64_t x);
uint64_t hash_double(uint64_t hash, double x); /* by its bits; -0 counts as 0 */

#endif
