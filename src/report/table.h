/*
 * Tables for terminals: aligned columns that fit the width, the least
 * important left out first and the first column wrapped.  Also as Markdown
 * and CSV.
 */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "report/term.h"

enum align { ALIGN_RIGHT, ALIGN_LEFT };

enum table_form { TABLE_TEXT, TABLE_MARKDOWN, TABLE_CSV };

struct table_column {
	char *title;
	char *unit; /* on a line of its own below the title; may be NULL */
	enum align align;
	bool left_out; /* table_write() had no room for it */
	size_t least; /* of the column that takes what is left of the width: it may be cut to so many; 0: it is not */
	int rank; /* 0: always shown; else the largest is left out first when the width is short */
};

/* Cells are text, row by row.  A zeroed table is valid and empty. */
struct table {
	struct table_column *columns;
	char **cells;        /* nrows * ncolumns; NULL: empty */
	bool *strong;        /* likewise: shown in bold or colour where that is possible */
	const char **styles; /* likewise: how a terminal with colour shows it; NULL: as the others */
	size_t ncolumns, nrows, ncells, cap;
};

void table_fini(struct table *table);
/* All columns come before the first cell. */
void table_column(struct table *table, const char *title, enum align align, int rank);
void table_unit(struct table *table, const char *unit); /* of the last column */
/*
 * The last column takes what the others leave of the width, and its cells are cut to that; at `least` columns others
 * go instead, first those that are empty.
 */
void table_rest(struct table *table, size_t least);
/* Fills cells from left to right, row after row.  Copies the text; NULL is empty. */
void table_cell(struct table *table, const char *text);
void table_cellf(struct table *table, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Makes the last cell strong. */
void table_strong(struct table *table);
/* How a terminal with colour shows the last cell: SGR numbers, "48;5;27;38;5;231".  Keeps the text. */
void table_style(struct table *table, const char *sgr);

/* Writes the table and marks the columns that had to go; `left_out` (may be NULL) gets the titles of the columns for which there was no room, "p95, Jain". */
void table_write(struct table *table, enum table_form form, const struct term *term,
	struct buf *out, struct buf *left_out);

/* Columns a UTF-8 text takes on a terminal (one for each character). */
size_t text_columns(const char *text);

#endif
