/*
 * Rows of separated fields in memory, without copying.
 *
 * Quotes follow RFC 4180 (a quoted field may hold separators, newlines and
 * doubled quotes); blanks around an unquoted field do not count; \r\n is a
 * newline; blank lines are skipped.  A field is a slice of the text, valid as
 * long as the text (one with doubled quotes: until the next row).
 */
#ifndef IO_CSV_H
#define IO_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

enum {
	CSV_FIELDS_MAX = 1024,
	CSV_ROW_MAX = 1 << 20, /* bytes; no trace has such rows, a binary file may */
};

struct csv_style {
	char separator; /* ' ': any number of blanks */
	char comment;   /* rows that begin with it are skipped; 0: none */
	bool quotes;    /* else a quote is a character like others */
};

/* As RFC 4180 has it. */
#define CSV_COMMAS \
	{ \
		.separator = ',', .quotes = true \
	}

struct csv {
	struct csv_style style;
	struct slice *fields; /* the row */
	size_t n;
	size_t line; /* where the row began, from 1 */
	/* private */
	const char *begin, *at, *end;
	const char *stop; /* as far as this row may go: reading a row never costs more than CSV_ROW_MAX */
	size_t newlines; /* passed so far */
	size_t cap;
	struct arena unescaped;
};

/* Keeps `text`.  Release with csv_fini(). */
void csv_init(struct csv *csv, struct slice text, struct csv_style style);
void csv_fini(struct csv *csv);

/* 1 and the next row, 0 at the end, or ERR_FORMAT (the caller adds path and csv->line). */
int csv_next(struct csv *csv, struct err *err);

/* The first row of a text that may be cut off anywhere, for recognising formats: false if there is none. */
bool csv_peek(struct csv *csv, struct slice head, struct csv_style style);

/* Appends a field, quoted if reading it back needs that. */
void csv_write(struct buf *out, const char *field);
/*
 * The same for text that may be anybody's: a spreadsheet would take one that begins with = + - @, a tab or
 * a carriage return for a formula, so an apostrophe goes before it, unless it is a number.  An apostrophe
 * more goes before text that begins with apostrophes and one of these, so that csv_text() gives back
 * exactly what was written.
 */
void csv_write_text(struct buf *out, const char *field);
/* What csv_write_text() wrote: without its apostrophe. */
struct slice csv_text(struct slice field);

#endif
