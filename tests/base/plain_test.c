/* The one filter for free text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/plain.h"

static const struct {
	const char *what, *text, *escaped, *made_plain;
} rows[] = {
	{ "nothing", "", NULL, NULL },
	{ "ASCII", "train-7 (a\\b) ?", NULL, NULL },
	{ "letters",
		"Gr\xc3\xb6\xc3\x9f"
		"e \xe8\xae\xad\xe7\xbb\x83 \xf0\x9f\x98\x80",
		NULL, NULL },
	{ "an emoji with joiners", "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb", NULL, NULL },
	{ "an escape sequence", "a\033[2Jb", "a\\u001b[2Jb", "a_[2Jb" },
	{ "line ends", "a\nb\r\tc", "a\\u000ab\\u000d\\u0009c", "a_b__c" },
	{ "DEL", "a\x7f", "a\\u007f", "a_" },
	{ "C1: CSI in one character",
		"\xc2\x9b"
		"31m",
		"\\u009b31m", "_31m" },
	{ "a right-to-left override",
		"x\xe2\x80\xae"
		"gpj.exe",
		"x\\u202egpj.exe", "x_gpj.exe" },
	{ "isolates", "\xe2\x81\xa6x\xe2\x81\xa9", "\\u2066x\\u2069", "_x_" },
	{ "a line separator",
		"a\xe2\x80\xa8"
		"b",
		"a\\u2028b", "a_b" },
	{ "a zero-width space", "ro\xe2\x80\x8bot", "ro\\u200bot", "ro_ot" },
	{ "tags above U+FFFF", "a\xf3\xa0\x80\x81", "a\\udb40\\udc01", "a_" },
	{ "no UTF-8",
		"a\xff"
		"b\xc0\xaf",
		"a\\xffb\\xc0\\xaf", "a_b__" },
	{ "cut short", "a\xe2\x80", "a\\xe2\\x80", "a__" },
};

static void each_row(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buf out = { 0 };
		char *made = mem_strdup(rows[i].text);
		struct err err = { 0 };

		text_escape(&out, rows[i].text);
		text_make_plain(made);
		if (text_is_plain(rows[i].text) != !rows[i].escaped)
			fail_msg("%s: plain or not", rows[i].what);
		assert_int_equal(text_check_plain("name", rows[i].text, &err),
			rows[i].escaped ? ERR_USAGE : 0);
		assert_string_equal(out.n ? out.at : "",
			rows[i].escaped ? rows[i].escaped : rows[i].text);
		assert_string_equal(made, rows[i].made_plain ? rows[i].made_plain : rows[i].text);
		assert_true(text_is_plain(made));
		free(made);
		buf_fini(&out);
	}
}

static void errors_name_the_place(void **state)
{
	struct err err = { 0 };

	(void)state;
	text_check_plain("comment", "ab\xe2\x80\xae", &err);
	assert_non_null(strstr(err.text, "comment: byte 3 is a control character"));
	assert_non_null(strstr(err.text, "U+202E"));
	text_check_plain("key", "\xff", &err);
	assert_non_null(strstr(err.text, "key: byte 1 (0xff) is not UTF-8"));
	assert_int_equal(text_check_plain("key", NULL, &err), 0);
}

static void own_lines_stay(void **state)
{
	static const char text[] = "a\tb\n\033[1;31mred\033[0m \033[2J \033]0;title\a \xc2\x9b"
				   "x\n";
	struct buf out = { 0 };

	(void)state;
	text_escape_lines(&out, text, strlen(text));
	assert_string_equal(out.at,
		"a\tb\n\\u001b[1;31mred\\u001b[0m \\u001b[2J \\u001b]0;title\\u0007 \\u009bx\n");
	buf_clear(&out);
	text_escape_coloured(&out, text, strlen(text));
	assert_string_equal(out.at,
		"a\tb\n\033[1;31mred\033[0m \\u001b[2J \\u001b]0;title\\u0007 \\u009bx\n");
	buf_clear(&out);
	text_escape_lines(&out, "ab\033c", 2);
	assert_string_equal(out.at, "ab");
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row),
		cmocka_unit_test(errors_name_the_place),
		cmocka_unit_test(own_lines_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
