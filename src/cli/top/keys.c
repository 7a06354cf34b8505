#include "cli/top/keys.h"

#include <string.h>

#include "base/glyph.h"

size_t keys_feed(struct keys *keys, const char *bytes, size_t n)
{
	if (n > KEYS_BYTES - keys->n)
		n = KEYS_BYTES - keys->n;
	memcpy(keys->bytes + keys->n, bytes, n);
	keys->n += n;
	return n;
}

static void drop(struct keys *keys, size_t n)
{
	memmove(keys->bytes, keys->bytes + n, keys->n - n);
	keys->n -= n;
}

/* ---- escape sequences */

static uint32_t key_of_letter(char letter)
{
	switch (letter) {
	case 'A':
		return KEY_UP;
	case 'B':
		return KEY_DOWN;
	case 'C':
		return KEY_RIGHT;
	case 'D':
		return KEY_LEFT;
	case 'H':
		return KEY_HOME;
	case 'F':
		return KEY_END;
	case 'Z':
		return KEY_BACK_TAB;
	default:
		return KEY_NONE;
	}
}

/* "ESC [ 5 ~" and the like. */
static uint32_t key_of_number(char digit)
{
	switch (digit) {
	case '1':
	case '7':
		return KEY_HOME;
	case '4':
	case '8':
		return KEY_END;
	case '5':
		return KEY_PAGE_UP;
	case '6':
		return KEY_PAGE_DOWN;
	default:
		return KEY_NONE;
	}
}

/* Bytes of the sequence that begins with an escape; 0: its end has not come. */
static size_t sequence_length(const struct keys *keys)
{
	if (keys->n < 2)
		return 0;
	if (keys->bytes[1] == 'O')
		return keys->n < 3 ? 0 : 3;
	if (keys->bytes[1] != '[')
		return 1; /* the key itself, and then another */
	for (size_t i = 2; i < keys->n; i++) {
		if (keys->bytes[i] >= 0x40 && keys->bytes[i] <= 0x7e)
			return i + 1;
	}
	return 0;
}

static uint32_t key_of_sequence(const struct keys *keys, size_t n)
{
	char last = keys->bytes[n - 1];

	if (n == 1)
		return KEY_ESCAPE;
	if (last == '~')
		return n == 4 ? key_of_number(keys->bytes[2]) : (uint32_t)KEY_NONE;
	return key_of_letter(last);
}

/* KEY_NONE with `*more` if the sequence meant nothing and was dropped. */
static uint32_t next_sequence(struct keys *keys, bool no_more, bool *more)
{
	size_t n = sequence_length(keys);
	uint32_t key;

	*more = false;
	if (!n && !no_more && keys->n < KEYS_BYTES)
		return KEY_NONE;
	if (!n) {
		/* The key itself; the beginning of a sequence that never ended goes with it. */
		keys->n = 0;
		return KEY_ESCAPE;
	}
	key = key_of_sequence(keys, n);
	drop(keys, n);
	*more = key == KEY_NONE;
	return key;
}

/* ---- characters */

static size_t length_of(unsigned char first)
{
	return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
}

static uint32_t next_character(struct keys *keys, bool no_more)
{
	char text[5] = { 0 };
	size_t n = length_of((unsigned char)keys->bytes[0]);
	struct glyph glyph;

	if (keys->n < n && !no_more)
		return KEY_NONE;
	memcpy(text, keys->bytes, keys->n < n ? keys->n : n);
	if ((unsigned char)text[0] < 0x80) {
		drop(keys, 1);
		return text[0] == '\n'    ? (uint32_t)KEY_ENTER
			: text[0] == '\b' ? (uint32_t)KEY_BACKSPACE
					  : (uint32_t)text[0];
	}
	glyph = glyph_next(text);
	drop(keys, glyph.bytes);
	return glyph.code;
}

uint32_t keys_next(struct keys *keys, bool no_more)
{
	bool more = true;
	uint32_t key = KEY_NONE;

	while (keys->n && more && key == KEY_NONE) {
		if (keys->bytes[0] == '\033') {
			key = next_sequence(keys, no_more, &more);
		} else if (!keys->bytes[0]) {
			drop(keys, 1);
		} else {
			more = false;
			key = next_character(keys, no_more);
		}
	}
	return key;
}
