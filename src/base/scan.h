/*
 * Looking up a few members of a JSON object without making a tree of it: for text
 * that this program wrote itself, of which there is a lot.
 *
 *	struct scan s = scan_of(text);
 *	while (scan_member(&s, &key, &value))
 *		if (scan_is(key, "over_s"))
 *			slice_double(value, &over_s);
 *
 * Text that is no JSON ends early or gives nonsense, and is never read past its end.
 */
#ifndef BASE_SCAN_H
#define BASE_SCAN_H

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

struct scan {
	struct slice left;
};

/* Of an object or array. */
struct scan scan_of(struct slice text);

/* The next of an object, in order: false after the last.  A value is as written, strings with their quotes. */
bool scan_member(struct scan *scan, struct slice *key, struct slice *value);
/* The next of an array. */
bool scan_element(struct scan *scan, struct slice *value);

/* Whether a key or value is this text, which is written out: its length is known. */
#define scan_is(slice, text) \
	((slice).n == sizeof(text) - 1 && memcmp((slice).at, text, sizeof(text) - 1) == 0)

/* What a string says, in the arena's memory; NULL if the value is none. */
const char *scan_text(struct slice value, struct arena *memory);

#endif
