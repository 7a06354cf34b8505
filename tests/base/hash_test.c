#include "base/hash.h"

#include <math.h>
#include <string.h>

#include "property.h"

static void bytes_follow_the_published_values(void **state)
{
	static const struct {
		const char *text;
		uint64_t want;
	} rows[] = {
		/* FNV-1a, 64 bits */
		{ "", UINT64_C(0xcbf29ce484222325) },
		{ "a", UINT64_C(0xaf63dc4c8601ec8c) },
		{ "foobar", UINT64_C(0x85944171f73967e8) },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (hash_bytes(HASH_START, rows[i].text, strlen(rows[i].text)) != rows[i].want)
			fail_msg("hash of '%s'", rows[i].text);
	}
}

static void pieces_hash_like_the_whole(void **state)
{
	uint64_t hash = hash_bytes(HASH_START, "foo", 3);

	(void)state;
	assert_true(hash_bytes(hash, "bar", 3) == hash_bytes(HASH_START, "foobar", 6));
}

static void words_are_the_same_everywhere(void **state)
{
	(void)state;
	assert_true(hash_u64(HASH_START, 0) == UINT64_C(0x08035f29acc108b3));
	assert_true(hash_u64(HASH_START, 1) == UINT64_C(0xee6bb537eed88486));
	assert_true(hash_u64(hash_u64(HASH_START, 1), 2) != hash_u64(hash_u64(HASH_START, 2), 1));
}

static void doubles_hash_by_bits(void **state)
{
	(void)state;
	assert_true(hash_double(HASH_START, 0.0) == hash_double(HASH_START, -0.0));
	assert_true(hash_double(HASH_START, NAN) == hash_double(HASH_START, -NAN));
	assert_true(hash_double(HASH_START, 1.0) != hash_double(HASH_START, nextafter(1.0, 2)));
	assert_true(hash_double(HASH_START, 1.0) == hash_u64(HASH_START, UINT64_C(0x3ff0000000000000)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_follow_the_published_values),
		cmocka_unit_test(pieces_hash_like_the_whole),
		cmocka_unit_test(words_are_the_same_everywhere),
		cmocka_unit_test(doubles_hash_by_bits),
	};

	return cmocka_run_group_tests_name("base/hash", tests, NULL, NULL);
}
