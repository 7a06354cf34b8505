/*
 * SHA-256 (FIPS 180-4) and HMAC with it (RFC 2104), to sign what is sent to
 * others.  base/hash.h is for everything that nobody attacks.
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_BLOCK = 64, SHA256_DIGITS = 2 * SHA256_BYTES };

struct sha256 {
	uint32_t state[8];
	uint64_t n; /* bytes so far */
	uint8_t block[SHA256_BLOCK];
};

void sha256_begin(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *bytes, size_t n);
void sha256_end(struct sha256 *sha, uint8_t out[SHA256_BYTES]);

/* The same in pieces, keyed. */
struct hmac {
	struct sha256 inner, outer;
};

void hmac_begin(struct hmac *hmac, const void *key, size_t n);
void hmac_add(struct hmac *hmac, const void *bytes, size_t n);
void hmac_end(struct hmac *hmac, uint8_t out[SHA256_BYTES]);

/* In lower-case digits, with a NUL. */
void sha256_hex(const uint8_t digest[SHA256_BYTES], char out[SHA256_DIGITS + 1]);

#endif
