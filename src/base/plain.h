/*
 * Free text: names, comments, keys, reasons.
 *
 * Plain text is UTF-8 without control characters (C0, DEL, C1), line ends and
 * characters that steer the direction of writing or are invisible.  Such text
 * cannot steer a terminal, start a line of its own in a table or a log, or show
 * something else than it says.  This is the one filter for text of others: the
 * daemon refuses or replaces what is not plain when it comes in, and whatever
 * prints escapes it on the way out, because records of older versions have it too.
 * Commands, scripts and paths are not altered when they come in.
 */
#ifndef BASE_PLAIN_H
#define BASE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"

/* Whether all of the text is plain. */
bool text_is_plain(const char *text);

/* ERR_USAGE: "MEMBER: …" with the first character that is not plain and where it is; NULL text is fine. */
int text_check_plain(const char *member, const char *text, struct err *err);

/*
 * Appends the text with what is not plain as \u001b (above U+FFFF as a surrogate pair, as JSON has it)
 * and bytes that are no UTF-8 as \xff.  Plain text is appended as it is.
 */
void text_escape(struct buf *out, const char *text);

/* The same for text of several lines that the program wrote itself: line ends and tabs stay.  JSON keeps its meaning. */
void text_escape_lines(struct buf *out, const char *text, size_t n);
/* The same for text that the program has also coloured: changes of colour (ESC [ digits and ; m) stay, too. */
void text_escape_coloured(struct buf *out, const char *text, size_t n);

/* Replaces what is not plain by '_', in place. */
void text_make_plain(char *text);

#endif
