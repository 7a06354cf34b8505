/*
 * What a terminal sends when keys are pressed, as keys.
 */
#ifndef CLI_TOP_KEYS_H
#define CLI_TOP_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A character is its number; what is none is above all of them. */
enum key {
	KEY_NONE = 0,
	KEY_REDRAW = 0x0c, /* Ctrl-L */
	KEY_TAB = 0x09,
	KEY_ENTER = 0x0d,
	KEY_ESCAPE = 0x1b,
	KEY_BACKSPACE = 0x7f,
	KEY_UP = 0x110000,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_HOME,
	KEY_END,
	KEY_BACK_TAB,
};

enum { KEYS_BYTES = 64 };

/* Bytes that have come and are not taken yet.  Zeroed is valid. */
struct keys {
	char bytes[KEYS_BYTES];
	size_t n;
};

/* Takes as many bytes as there is room for; returns how many. */
size_t keys_feed(struct keys *keys, const char *bytes, size_t n);
/*
 * The next key, KEY_NONE if there is none yet.  An escape sequence may be under way: with `no_more`
 * nothing comes after what is there, so an escape is the key of that name.  Sequences that are not
 * known are left out as a whole.
 */
uint32_t keys_next(struct keys *keys, bool no_more);

#endif
