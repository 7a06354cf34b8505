/*
 * Columns by name: which one a field of a header means, and which was meant
 * by one that is misspelt.
 */
#ifndef IO_HEADER_H
#define IO_HEADER_H

#include <stdbool.h>

#include "base/text.h"

enum { COLUMNS_MAX = 40 };

struct column {
	const char *name;
	const char *aliases; /* "jobid|job", NULL: none */
	bool required;       /* a header without it is an error */
};

/* A list of columns ends with a NULL name and has at most COLUMNS_MAX. */

/* The column that a field of a header names (case aside), or -1. */
int columns_find(const struct column *columns, struct slice field);

/*
 * The column whose name or alias is so near to a field that a slip is likely, or -1.  Those that
 * are there already (where[i] >= 0) were not meant; `where` may be NULL.
 */
int columns_nearest(const struct column *columns, const int *where, struct slice field);

/* ---- for recognising formats: of the first row of a comma-separated text that may be cut off ---- */

/* How many of `names` ("a|b|c") it has, -1 if one is missing. */
int header_match(struct slice head, const char *names);
/* Whether it has this column. */
bool header_has(struct slice head, const char *name);
/*
 * Adds "a, b": the columns that its fields seem to mean.  Nothing if a field is a number, as in no
 * header, or no required column is among them.
 */
void header_meant(struct slice head, const struct column *columns, struct buf *out);

#endif
