#include "base/sha256.h"

#include <string.h>

#include "support/property.h"

static const char *hex_of(const void *bytes, size_t n, char out[SHA256_DIGITS + 1])
{
	struct sha256 sha;
	uint8_t digest[SHA256_BYTES];

	sha256_begin(&sha);
	sha256_add(&sha, bytes, n);
	sha256_end(&sha, digest);
	sha256_hex(digest, out);
	return out;
}

static void digests_are_those_of_the_standard(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
			"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
		{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
		  "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
			"cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
	};
	char hex[SHA256_DIGITS + 1];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(hex_of(rows[i].text, strlen(rows[i].text), hex), rows[i].want);
}

static void a_million_letters(void **state)
{
	char piece[1000], hex[SHA256_DIGITS + 1];
	uint8_t digest[SHA256_BYTES];
	struct sha256 sha;

	(void)state;
	memset(piece, 'a', sizeof(piece));
	sha256_begin(&sha);
	for (int i = 0; i < 1000; i++)
		sha256_add(&sha, piece, sizeof(piece));
	sha256_end(&sha, digest);
	sha256_hex(digest, hex);
	assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Around the ends of blocks, where padding can go wrong. */
static void pieces_are_like_the_whole(void **state)
{
	char text[200], whole[SHA256_DIGITS + 1], parts[SHA256_DIGITS + 1];
	uint8_t digest[SHA256_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)i;
	for (size_t n = 0; n <= sizeof(text); n++) {
		struct sha256 sha;

		sha256_begin(&sha);
		for (size_t i = 0; i < n; i++)
			sha256_add(&sha, text + i, 1);
		sha256_end(&sha, digest);
		sha256_hex(digest, parts);
		assert_string_equal(parts, hex_of(text, n, whole));
	}
}

/* RFC 4231; the fifth case is about truncation, which we do not do. */
static void keyed_digests_are_those_of_the_rfc(void **state)
{
	static const struct {
		int key_byte; /* repeated; 0: `key` */
		size_t nkey;
		const char *key;
		int byte; /* likewise */
		size_t n;
		const char *text, *want;
	} rows[] = {
		{ 0x0b, 20, NULL, 0, 0, "Hi There",
			"b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7" },
		{ 0, 4, "Jefe", 0, 0, "what do ya want for nothing?",
			"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
		{ 0xaa, 20, NULL, 0xdd, 50, NULL,
			"773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe" },
		{ 0, 25, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19",
			0xcd, 50, NULL,
			"82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b" },
		{ 0xaa, 131, NULL, 0, 0, "Test Using Larger Than Block-Size Key - Hash Key First",
			"60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54" },
		{ 0xaa, 131, NULL, 0, 0,
			"This is a test using a larger than block-size key and a larger than block-size "
			"data. The key needs to be hashed before being used by the HMAC algorithm.",
			"9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t n = rows[i].text ? strlen(rows[i].text) : rows[i].n;
		char key[256], text[256], hex[SHA256_DIGITS + 1];
		uint8_t digest[SHA256_BYTES];
		struct hmac hmac;

		memset(key, rows[i].key_byte, sizeof(key));
		memset(text, rows[i].byte, sizeof(text));
		if (rows[i].key)
			memcpy(key, rows[i].key, rows[i].nkey);
		if (rows[i].text)
			memcpy(text, rows[i].text, n);
		hmac_begin(&hmac, key, rows[i].nkey);
		hmac_add(&hmac, text, n / 2);
		hmac_add(&hmac, text + n / 2, n - n / 2);
		hmac_end(&hmac, digest);
		sha256_hex(digest, hex);
		assert_string_equal(hex, rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digests_are_those_of_the_standard),
		cmocka_unit_test(a_million_letters),
		cmocka_unit_test(pieces_are_like_the_whole),
		cmocka_unit_test(keyed_digests_are_those_of_the_rfc),
	};

	return cmocka_run_group_tests_name("base/sha256", tests, NULL, NULL);
}
