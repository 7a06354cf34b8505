/*
 * As the standard writes it: a block at a time, sixty-four rounds each.
 */
#include "base/sha256.h"

#include <string.h>

/* clang-format off */
static const uint32_t rounds[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
/* clang-format on */

static uint32_t turn(uint32_t x, int by)
{
	return x >> by | x << (32 - by);
}

static void put_word(uint8_t *at, uint32_t x)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(x >> (24 - 8 * i));
}

static void spread(const uint8_t *block, uint32_t w[64])
{
	for (int i = 0; i < 16; i++, block += 4)
		w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 |
			(uint32_t)block[2] << 8 | block[3];
	for (int i = 16; i < 64; i++) {
		uint32_t a = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t b = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;

		w[i] = w[i - 16] + a + w[i - 7] + b;
	}
}

static void take_block(struct sha256 *sha, const uint8_t *block)
{
	uint32_t w[64], s[8];

	spread(block, w);
	memcpy(s, sha->state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		uint32_t high = turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25);
		uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
		uint32_t low = turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22);
		uint32_t most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
		uint32_t t = s[7] + high + choice + rounds[i] + w[i];

		memmove(s + 1, s, 7 * sizeof(s[0]));
		s[4] += t;
		s[0] = t + low + most;
	}
	for (int i = 0; i < 8; i++)
		sha->state[i] += s[i];
}

void sha256_begin(struct sha256 *sha)
{
	*sha = (struct sha256){
		.state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
			0x1f83d9ab, 0x5be0cd19 },
	};
}

void sha256_add(struct sha256 *sha, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;

	while (n) {
		size_t in = sha->n % SHA256_BLOCK;
		size_t some = n < SHA256_BLOCK - in ? n : SHA256_BLOCK - in;

		memcpy(sha->block + in, at, some);
		sha->n += some;
		at += some;
		n -= some;
		if (sha->n % SHA256_BLOCK == 0)
			take_block(sha, sha->block);
	}
}

/* A one bit, zeros, and how many bits there were, up to the end of a block. */
void sha256_end(struct sha256 *sha, uint8_t out[SHA256_BYTES])
{
	static const uint8_t padding[SHA256_BLOCK] = { 0x80 };
	uint64_t bits = sha->n * 8;
	size_t in = sha->n % SHA256_BLOCK;
	uint8_t length[8];

	put_word(length, (uint32_t)(bits >> 32));
	put_word(length + 4, (uint32_t)bits);
	sha256_add(sha, padding,
		in < SHA256_BLOCK - 8 ? SHA256_BLOCK - 8 - in : 2 * SHA256_BLOCK - 8 - in);
	sha256_add(sha, length, sizeof(length));
	for (int i = 0; i < 8; i++)
		put_word(out + 4 * i, sha->state[i]);
}

void hmac_begin(struct hmac *hmac, const void *key, size_t n)
{
	uint8_t block[SHA256_BLOCK] = { 0 };

	sha256_begin(&hmac->inner);
	if (n > SHA256_BLOCK) {
		sha256_add(&hmac->inner, key, n);
		sha256_end(&hmac->inner, block);
		sha256_begin(&hmac->inner);
	} else if (n) {
		memcpy(block, key, n);
	}
	for (int i = 0; i < SHA256_BLOCK; i++)
		block[i] ^= 0x36;
	sha256_add(&hmac->inner, block, sizeof(block));
	for (int i = 0; i < SHA256_BLOCK; i++)
		block[i] ^= 0x36 ^ 0x5c;
	sha256_begin(&hmac->outer);
	sha256_add(&hmac->outer, block, sizeof(block));
}

void hmac_add(struct hmac *hmac, const void *bytes, size_t n)
{
	sha256_add(&hmac->inner, bytes, n);
}

void hmac_end(struct hmac *hmac, uint8_t out[SHA256_BYTES])
{
	sha256_end(&hmac->inner, out);
	sha256_add(&hmac->outer, out, SHA256_BYTES);
	sha256_end(&hmac->outer, out);
}

void sha256_hex(const uint8_t digest[SHA256_BYTES], char out[SHA256_DIGITS + 1])
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < SHA256_BYTES; i++) {
		out[2 * i] = digits[digest[i] >> 4];
		out[2 * i + 1] = digits[digest[i] & 15];
	}
	out[SHA256_DIGITS] = '\0';
}
