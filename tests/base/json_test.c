#include "base/json.h"

#include <math.h>
#include <string.h>

#include "property.h"

static void sample(struct json *j)
{
	json_begin_object(j, NULL);
	json_str(j, "name", "a\"b");
	json_str(j, "none", NULL);
	json_double(j, "x", 0.1);
	json_double(j, "nan", NAN);
	json_double(j, "inf", -INFINITY);
	json_int(j, "n", INT64_MIN);
	json_begin_array(j, "list");
	json_bool(j, NULL, true);
	json_bool(j, NULL, false);
	json_begin_object(j, NULL);
	json_end(j, '}');
	json_end(j, ']');
	json_begin_array(j, "empty");
	json_end(j, ']');
	json_end(j, '}');
}

static void compact(void **state)
{
	struct buf out = { 0 };
	struct json j;

	(void)state;
	json_init(&j, &out, false);
	sample(&j);
	assert_string_equal(out.at,
		"{\"name\":\"a\\\"b\",\"none\":null,\"x\":0.1,\"nan\":null,\"inf\":null,"
		"\"n\":-9223372036854775808,\"list\":[true,false,{}],\"empty\":[]}");
	assert_int_equal(j.depth, 0);
	buf_fini(&out);
}

static void pretty(void **state)
{
	struct buf out = { 0 };
	struct json j;

	(void)state;
	json_init(&j, &out, true);
	sample(&j);
	assert_string_equal(out.at,
		"{\n"
		"  \"name\": \"a\\\"b\",\n"
		"  \"none\": null,\n"
		"  \"x\": 0.1,\n"
		"  \"nan\": null,\n"
		"  \"inf\": null,\n"
		"  \"n\": -9223372036854775808,\n"
		"  \"list\": [\n"
		"    true,\n"
		"    false,\n"
		"    {}\n"
		"  ],\n"
		"  \"empty\": []\n"
		"}");
	buf_fini(&out);
}

static void values_at_the_top_stand_alone(void **state)
{
	struct buf out = { 0 };
	struct json j;

	(void)state;
	json_init(&j, &out, false);
	json_int(&j, NULL, 1);
	buf_char(&out, '\n');
	json_begin_object(&j, NULL);
	json_end(&j, '}');
	assert_string_equal(out.at, "1\n{}");
	buf_fini(&out);
}

static void text_is_escaped(void **state)
{
	static const struct {
		const char *what, *text, *want;
	} rows[] = {
		{ "nothing", "", "\"\"" },
		{ "plain", "abc", "\"abc\"" },
		{ "quote and backslash", "\"\\", "\"\\\"\\\\\"" },
		{ "controls with a letter", "\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"" },
		{ "controls without", "\x01\x1f", "\"\\u0001\\u001f\"" },
		{ "slash and delete stay", "/\x7f", "\"/\x7f\"" },
		{ "two, three and four bytes", "\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80",
			"\"\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\"" },
		{ "the last character", "\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\"" },
		{ "a lone continuation", "a\x80z", "\"a\xef\xbf\xbdz\"" },
		{ "latin-1", "M\xfcller", "\"M\xef\xbf\xbdller\"" },
		{ "cut short", "\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "cut short after one", "\xf0", "\"\xef\xbf\xbd\"" },
		{ "overlong", "\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "overlong in three", "\xe0\x80\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "overlong in four", "\xf0\x80\x80\xaf",
			"\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "a surrogate", "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "past the last", "\xf4\x90\x80\x80",
			"\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
	};
	struct buf out = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		buf_clear(&out);
		json_quote(&out, rows[i].text);
		if (strcmp(out.at, rows[i].want))
			fail_msg("%s: %s", rows[i].what, out.at);
	}
	buf_fini(&out);
}

/* Reads a quoted text back, the way any reader would; what it returns is the caller's. */
static char *unquoted(const char *at)
{
	static const char letters[] = "b\bf\fn\nr\rt\t\"\"\\\\";
	char *text = malloc(strlen(at) + 1), *to = text;

	assert_non_null(text);
	assert_int_equal(*at++, '"');
	while (*at != '"') {
		assert_true((unsigned char)*at >= 0x20);
		if (*at != '\\') {
			*to++ = *at++;
		} else if (at[1] == 'u') {
			char hex[5] = { at[2], at[3], at[4], at[5], 0 };

			*to++ = (char)strtol(hex, NULL, 16);
			at += 6;
		} else {
			const char *found = strchr(letters, at[1]);

			assert_non_null(found);
			*to++ = found[1];
			at += 2;
		}
	}
	assert_int_equal(at[1], '\0');
	*to = '\0';
	return text;
}

static size_t add_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 63));
		to[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 63));
	to[2] = (char)(0x80 | (c >> 6 & 63));
	to[3] = (char)(0x80 | (c & 63));
	return 4;
}

static void any_text_reads_back(void **state)
{
	struct rng rng = property("quoted text reads back");
	struct buf out = { 0 };

	(void)state;
	for (size_t i = 0; i < rounds(20000); i++) {
		char text[200], *back;
		size_t n = 0;

		while (n < 190 && rng_below(&rng, 20)) {
			uint32_t c = 1 +
				(uint32_t)rng_below(&rng, rng_below(&rng, 2) ? 0x7f : 0x10ffff);

			if (c < 0xd800 || c > 0xdfff)
				n += add_utf8(text + n, c);
		}
		text[n] = '\0';
		buf_clear(&out);
		json_quote(&out, text);
		back = unquoted(out.at);
		assert_string_equal(back, text);
		free(back);
	}
	buf_fini(&out);
}

static void any_bytes_become_clean_text(void **state)
{
	struct rng rng = property("quoting what was quoted changes no more bytes");
	struct buf out = { 0 }, again = { 0 };

	(void)state;
	for (size_t i = 0; i < rounds(20000); i++) {
		char bytes[40], *clean, *same;
		size_t n = rng_below(&rng, sizeof(bytes));

		for (size_t k = 0; k < n; k++)
			bytes[k] = (char)(1 + rng_below(&rng, 255));
		bytes[n] = '\0';
		buf_clear(&out);
		json_quote(&out, bytes);
		clean = unquoted(out.at);
		buf_clear(&again);
		json_quote(&again, clean);
		same = unquoted(again.at);
		assert_string_equal(clean, same);
		free(clean);
		free(same);
	}
	buf_fini(&out);
	buf_fini(&again);
}

static void nesting_is_kept_track_of(void **state)
{
	struct buf out = { 0 };
	struct json j;

	(void)state;
	json_init(&j, &out, false);
	for (int i = 0; i < 60; i++)
		json_begin_array(&j, NULL);
	for (int i = 0; i < 60; i++)
		json_end(&j, ']');
	assert_int_equal(out.n, 120);
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compact),
		cmocka_unit_test(pretty),
		cmocka_unit_test(values_at_the_top_stand_alone),
		cmocka_unit_test(text_is_escaped),
		cmocka_unit_test(any_text_reads_back),
		cmocka_unit_test(any_bytes_become_clean_text),
		cmocka_unit_test(nesting_is_kept_track_of),
	};

	return cmocka_run_group_tests_name("base/json", tests, NULL, NULL);
}
