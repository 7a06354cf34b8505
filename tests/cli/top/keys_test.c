#include "cli/top/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

enum { KEYS_MAX = 8 };

static void bytes_become_keys(void **state)
{
	static const struct {
		const char *what, *bytes;
		uint32_t keys[KEYS_MAX];
	} rows[] = {
		{ "letters", "qj", { 'q', 'j' } },
		{ "arrows", "\033[A\033[B\033[C\033[D", { KEY_UP, KEY_DOWN, KEY_RIGHT, KEY_LEFT } },
		{ "arrows of the keypad's mode", "\033OA\033OB", { KEY_UP, KEY_DOWN } },
		{ "pages", "\033[5~\033[6~", { KEY_PAGE_UP, KEY_PAGE_DOWN } },
		{ "home and end in three dialects", "\033[H\033[F\033[1~\033[4~\033[7~\033[8~",
			{ KEY_HOME, KEY_END, KEY_HOME, KEY_END, KEY_HOME, KEY_END } },
		{ "an arrow with shift", "\033[1;2A", { KEY_UP } },
		{ "tab and back", "\t\033[Z", { KEY_TAB, KEY_BACK_TAB } },
		{ "enter in two dialects", "\r\n", { KEY_ENTER, KEY_ENTER } },
		{ "backspace in two dialects", "\b\x7f", { KEY_BACKSPACE, KEY_BACKSPACE } },
		{ "escape, then a letter", "\033q", { KEY_ESCAPE, 'q' } },
		{ "escape at the end", "a\033", { 'a', KEY_ESCAPE } },
		{ "sequences that mean nothing here", "\033[15~x\033[?62;1cy", { 'x', 'y' } },
		{ "letters of several bytes", "é名", { 0xe9, 0x540d } },
		{ "half a letter", "\xe5", { '?' } },
		{ "nothing", "", { 0 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct keys keys = { 0 };

		assert_int_equal(keys_feed(&keys, rows[i].bytes, strlen(rows[i].bytes)),
			strlen(rows[i].bytes));
		for (size_t k = 0; k < KEYS_MAX; k++) {
			uint32_t key = keys_next(&keys, true);

			if (key != rows[i].keys[k])
				fail_msg("%s: key %zu is %x, not %x", rows[i].what, k, key,
					rows[i].keys[k]);
			if (key == KEY_NONE)
				break;
		}
	}
}

static void a_sequence_may_come_in_pieces(void **state)
{
	struct keys keys = { 0 };

	(void)state;
	keys_feed(&keys, "\033", 1);
	assert_int_equal(keys_next(&keys, false), KEY_NONE);
	keys_feed(&keys, "[", 1);
	assert_int_equal(keys_next(&keys, false), KEY_NONE);
	keys_feed(&keys, "B", 1);
	assert_int_equal(keys_next(&keys, false), KEY_DOWN);
	keys_feed(&keys, "\xe5\x90", 2);
	assert_int_equal(keys_next(&keys, false), KEY_NONE);
	keys_feed(&keys, "\x8dq", 2);
	assert_int_equal(keys_next(&keys, false), 0x540d);
	assert_int_equal(keys_next(&keys, false), 'q');
	assert_int_equal(keys_next(&keys, false), KEY_NONE);
}

static void a_sequence_without_an_end_does_not_block_keys(void **state)
{
	struct keys keys = { 0 };
	char endless[KEYS_BYTES];

	(void)state;
	memset(endless, '1', sizeof(endless));
	memcpy(endless, "\033[", 2);
	assert_int_equal(keys_feed(&keys, endless, sizeof(endless)), KEYS_BYTES);
	assert_int_equal(keys_feed(&keys, "q", 1), 0);
	assert_int_equal(keys_next(&keys, false), KEY_ESCAPE);
	keys_feed(&keys, "q", 1);
	assert_int_equal(keys_next(&keys, false), 'q');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_become_keys),
		cmocka_unit_test(a_sequence_may_come_in_pieces),
		cmocka_unit_test(a_sequence_without_an_end_does_not_block_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
