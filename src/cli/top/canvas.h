/*
 * A screen in memory: cells of text with a style each.  Nothing here knows a
 * terminal, so that screens can be compared in tests.
 */
#ifndef CLI_TOP_CANVAS_H
#define CLI_TOP_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum { JOB_STYLES = 8 };

/* Styles help; signs and letters carry the meaning. */
enum style {
	STYLE_PLAIN,
	STYLE_STRONG,
	STYLE_FAINT,
	STYLE_CHOSEN, /* the line a person is on */
	STYLE_BAR,    /* the first and the last line */
	STYLE_ALERT,
	STYLE_JOB, /* and the next ones up to JOB_STYLES: one for each letter, in turn */
	STYLES = STYLE_JOB + JOB_STYLES
};

enum { CELL_BYTES = 15 };

/* A character with what joins it; empty: the right half of a wide one. */
struct cell {
	char text[CELL_BYTES];
	uint8_t style;
};

/* A zeroed canvas is valid and has no cells. */
struct canvas {
	struct cell *cells; /* row by row */
	int columns, lines;
	bool utf8; /* else what is not ASCII is shown as '?' */
};

/* Blank, of this size. */
void canvas_reset(struct canvas *canvas, int columns, int lines, bool utf8);
void canvas_fini(struct canvas *canvas);

/*
 * Writes at a place, in at most `room` columns; what does not fit ends in an ellipsis.  What lies outside of
 * the canvas is left out.  Returns the columns it took.
 */
int canvas_put(struct canvas *canvas, int x, int y, int room, enum style style, const char *text);
int canvas_putf(struct canvas *canvas, int x, int y, int room, enum style style, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
/* Gives all cells of a line from `x` a style. */
void canvas_style(struct canvas *canvas, int x, int y, int columns, enum style style);

/* As lines without blanks at their ends; with `colour`, styles as SGR sequences. */
void canvas_text(const struct canvas *canvas, bool colour, struct buf *out);

/*
 * What turns a terminal that shows `before` into one that shows `canvas`; all of it where `before` is of
 * another size.  Each line that differs is written anew from its beginning.
 */
void canvas_update(const struct canvas *canvas, const struct canvas *before, bool colour,
	struct buf *out);

#endif
