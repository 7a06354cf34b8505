/*
 * How many servers an inference side can lend, over time: a CSV file with the
 * columns `time_s` and `servers` (lent from then on), or `demand` (the part of
 * its servers that it needs itself, 0 to 1).  doc/elastic.md has an example.
 */
#ifndef IO_LOAN_IO_H
#define IO_LOAN_IO_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/vec.h"

struct loan_row {
	double at_s;
	double value;
	size_t line;
};

/* By time, at least one row.  Release with loan_series_fini(). */
struct loan_series {
	VEC(struct loan_row) rows;
	bool demand; /* values are parts of all servers that are needed, else servers that are lent */
};

/* Errors name file, line and what to do. */
int loan_read(const char *path, struct loan_series *out, struct err *err);
/* The same from memory; `where` names it in messages. */
int loan_read_csv(const char *where, const char *text, size_t n, struct loan_series *out,
	struct err *err);
void loan_series_fini(struct loan_series *series);

#endif
