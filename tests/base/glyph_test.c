#include "base/glyph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static void characters_take_their_columns(void **state)
{
	static const struct {
		const char *what, *text;
		uint32_t code, bytes;
		int columns;
	} rows[] = {
		{ "a letter", "a", 'a', 1, 1 },
		{ "a letter of two bytes", "é", 0xe9, 2, 1 },
		{ "a wide character", "名", 0x540d, 3, 2 },
		{ "a picture", "😀", 0x1f600, 4, 2 },
		{ "an accent of its own", "\xcc\x81", 0x301, 2, 0 },
		{ "an escape", "\033[2J", '?', 1, 1 },
		{ "a bell", "\a", '?', 1, 1 },
		{ "delete", "\x7f", '?', 1, 1 },
		{ "a control character beyond ASCII", "\xc2\x9b", '?', 2, 1 },
		{ "what turns the writing around", "\xe2\x80\xae", '?', 3, 1 },
		{ "a byte that is no text", "\xff", '?', 1, 1 },
		{ "a character that is cut off", "\xe5\x90", '?', 1, 1 },
		{ "a longer form than needed", "\xc0\xaf", '?', 1, 1 },
		{ "half of a pair", "\xed\xa0\x80", '?', 3, 1 },
		{ "beyond all characters", "\xf4\x90\x80\x80", '?', 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct glyph glyph = glyph_next(rows[i].text);

		if (glyph.code != rows[i].code || glyph.bytes != rows[i].bytes ||
			glyph.columns != rows[i].columns)
			fail_msg("%s: %x, %u bytes, %d columns", rows[i].what, glyph.code,
				glyph.bytes, glyph.columns);
	}
}

static void texts_take_the_columns_of_their_characters(void **state)
{
	(void)state;
	assert_int_equal(glyph_columns(""), 0);
	assert_int_equal(glyph_columns("ab 名前"), 7);
	assert_int_equal(glyph_columns("e\xcc\x81"), 1);
	assert_int_equal(glyph_columns("a\nb"), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_take_their_columns),
		cmocka_unit_test(texts_take_the_columns_of_their_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
