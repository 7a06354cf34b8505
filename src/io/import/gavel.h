/*
 * Gavel's traces and their two relatives: no header, tabs, work in steps, the
 * job's number is its line's, from 0.
 */
#ifndef IO_IMPORT_GAVEL_H
#define IO_IMPORT_GAVEL_H

#include "io/rows.h"

/* Of a row in any of the layouts: which column holds what; -1 where the layout has none. */
struct gavel_layout {
	int steps, gpus, weight, slo, duration, arrival;
};

/* The job type is the first column in all of them. */
void gavel_row(struct rows *rows, struct job *job, const struct gavel_layout *layout);

/* Whether the first row has `n` tab-separated fields, the given ones of them numbers. */
bool gavel_looks(struct slice head, size_t n, const struct gavel_layout *layout);

/* What to do about a row with another number of columns. */
const char *gavel_misfit(size_t n);

#define GAVEL_STYLE \
	{ \
		.separator = '\t' \
	}

#endif
