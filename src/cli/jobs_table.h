/*
 * Jobs as a table, with one row for elements of an array that wait alike.
 */
#ifndef CLI_JOBS_TABLE_H
#define CLI_JOBS_TABLE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/text.h"
#include "report/term.h"

/* Of "jobs" in the daemon's answer.  `expand`: a row for each element of an array. */
void jobs_table(const json_t *jobs, bool expand, const struct term *term, struct buf *out);

#endif
