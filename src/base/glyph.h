/*
 * Characters as a terminal shows them: how many columns each takes, and which
 * may be sent to one at all.
 *
 * Names of jobs, users and files are other people's text.  What would steer a
 * terminal or turn its writing around (control and format characters), and
 * what is no UTF-8, is shown as a question mark.
 */
#ifndef BASE_GLYPH_H
#define BASE_GLYPH_H

#include <stddef.h>
#include <stdint.h>

struct glyph {
	uint32_t code;  /* '?' for what must not be shown */
	uint32_t bytes; /* of the text it came from */
	uint32_t is;    /* what stands there, also if it must not be shown; 0: no UTF-8 */
	int columns;    /* 0 (it joins the one before), 1 or 2 */
};

/* The first character of a text that is not empty. */
struct glyph glyph_next(const char *text);

/* Columns of the whole text, as it may be shown. */
size_t glyph_columns(const char *text);

#endif
