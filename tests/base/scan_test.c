/*
 * Scanning finds what a parser finds, and nothing beyond the end of any text.
 */
#include "base/scan.h"

#include <jansson.h>
#include <string.h>

#include "property.h"

static void members_come_in_order(void **state)
{
	static const char text[] =
		"{\"a\":1,\"b\":\"x,\\\"}y\\u00e9\",\"c\":{\"a\":[2,{}]},\"d\":[[0,3],[1,12]],\"e\":-2.5e3,\"f\":null, \"\" : true}";
	struct scan s = scan_of(slice_of(text)), slots;
	struct arena memory = { 0 };
	struct slice key, value;
	int64_t whole;
	double x;

	(void)state;
	assert_true(scan_member(&s, &key, &value) && slice_is(key, "a"));
	assert_true(slice_int(value, &whole) && whole == 1);
	assert_null(scan_text(value, &memory));
	assert_true(scan_member(&s, &key, &value) && slice_is(key, "b"));
	assert_string_equal(scan_text(value, &memory), "x,\"}y\xc3\xa9");
	assert_true(scan_member(&s, &key, &value) && slice_is(key, "c"));
	assert_true(slice_is(value, "{\"a\":[2,{}]}"));
	assert_true(scan_member(&s, &key, &value) && slice_is(key, "d"));
	slots = scan_of(value);
	assert_true(scan_element(&slots, &value) && slice_is(value, "[0,3]"));
	assert_true(scan_element(&slots, &value) && slice_is(value, "[1,12]"));
	assert_false(scan_element(&slots, &value));
	assert_true(scan_member(&s, &key, &value) && slice_double(value, &x) && x == -2500);
	assert_true(scan_member(&s, &key, &value) && slice_is(value, "null"));
	assert_true(scan_member(&s, &key, &value) && key.n == 0 && slice_is(value, "true"));
	assert_false(scan_member(&s, &key, &value));
	assert_false(scan_member(&s, &key, &value));
	arena_fini(&memory);
}

/* ---- against the parser */

static json_t *draw(struct rng *rng, int depth)
{
	static const char *const texts[] = { "", "plain", "a \"b\"", "\\", "},{", "\xc3\xa9\n", "[1,2" };
	json_t *it;

	switch (rng_below(rng, depth > 3 ? 4 : 6)) {
	case 0:
		return json_integer((json_int_t)rng_below(rng, 1000) - 500);
	case 1:
		return json_real((double)rng_below(rng, 1000) / 7);
	case 2:
		return json_string(texts[rng_below(rng, COUNT(texts))]);
	case 3:
		return rng_below(rng, 2) ? json_true() : json_null();
	case 4:
		it = json_array();
		for (uint64_t n = rng_below(rng, 4); n; n--)
			json_array_append_new(it, draw(rng, depth + 1));
		return it;
	default:
		it = json_object();
		for (uint64_t n = rng_below(rng, 5); n; n--)
			json_object_set_new(it, texts[1 + rng_below(rng, 1) + n % 2],
				draw(rng, depth + 1));
		return it;
	}
}

/* As deep as it goes. */
static void compare(struct slice text, const json_t *want)
{
	struct scan s = scan_of(text);
	struct slice key, value;
	size_t n = 0;

	if (json_is_array(want)) {
		for (; scan_element(&s, &value); n++)
			compare(value, json_array_get(want, n));
		assert_int_equal(n, json_array_size(want));
	} else if (json_is_object(want)) {
		const char *name;
		json_t *member;

		json_object_foreach((json_t *)want, name, member)
		{
			assert_true(scan_member(&s, &key, &value));
			compare(value, member);
		}
		assert_false(scan_member(&s, &key, &value));
	} else {
		json_t *same = json_loadb(text.at, text.n, JSON_DECODE_ANY, NULL);
		struct arena memory = { 0 };

		assert_true(same && json_equal(same, want));
		if (json_is_string(want))
			assert_string_equal(scan_text(text, &memory), json_string_value(want));
		json_decref(same);
		arena_fini(&memory);
	}
}

static void it_sees_what_a_parser_sees(void **state)
{
	struct rng rng = property("scanned and parsed");

	(void)state;
	for (size_t round = 0; round < rounds(2000); round++) {
		json_t *it = draw(&rng, 0);
		size_t flags = JSON_ENCODE_ANY | (rng_below(&rng, 2) ? JSON_COMPACT : JSON_INDENT(2));
		char *text = json_dumps(it, flags);

		compare(slice_of(text), it);
		free(text);
		json_decref(it);
	}
}

/* Cut off and spoilt text: it ends, and sanitizers have nothing to say. */
static void broken_text_ends(void **state)
{
	static const char text[] = "{\"a\":[1,\"x\\\"\",{\"b\":2}],\"c\\u0041\":null}";
	struct rng rng = property("broken JSON");

	(void)state;
	for (size_t round = 0; round < rounds(5000); round++) {
		size_t n = rng_below(&rng, sizeof(text));
		char *copy = mem_alloc(n ? n : 1);
		struct arena memory = { 0 };
		struct slice key, value;
		struct scan s;

		memcpy(copy, text, n);
		if (n)
			copy[rng_below(&rng, n)] = "\"{}[]:,\\x"[rng_below(&rng, 9)];
		s = scan_of((struct slice){ copy, n });
		while (scan_member(&s, &key, &value))
			scan_text(value, &memory);
		s = scan_of((struct slice){ copy, n });
		for (size_t i = 0; scan_element(&s, &value); i++)
			assert_true(i <= n);
		arena_fini(&memory);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_come_in_order),
		cmocka_unit_test(it_sees_what_a_parser_sees),
		cmocka_unit_test(broken_text_ends),
	};

	return cmocka_run_group_tests_name("base/scan", tests, NULL, NULL);
}
