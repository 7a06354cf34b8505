/*
 * Elements of an array that wait alike, as one row: "25_[3-11%3]", as squeue shows them.
 *
 * Alike are elements in state PENDING with the same reason, name and size.  Everything else is a row of its own.
 */
#ifndef CLI_ARRAY_FOLD_H
#define CLI_ARRAY_FOLD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "base/vec.h"

struct fold_element {
	uint32_t id, index;
};

struct fold_row {
	const json_t *job;                 /* the first of them; borrowed */
	VEC(struct fold_element) elements; /* empty: no element of an array */
};

struct fold {
	VEC(struct fold_row) rows;
};

/* Rows in the order of the jobs, each at the place of its first.  `expand`: each job is a row.  Borrows `jobs`. */
void fold_init(struct fold *fold, const json_t *jobs, bool expand);
void fold_fini(struct fold *fold);

/* Jobs in a row. */
size_t fold_count(const struct fold_row *row);
/* "7", "7_3", "7_[3-11%3]". */
void fold_label(const struct fold_row *row, struct buf *out);
/* All of them as the daemon reads numbers of jobs: "26-34,41-41". */
void fold_ids(const struct fold_row *row, struct buf *out);
/* Why it waits; where that names the first element to a person who sees them all, it names the array. */
void fold_reason(const struct fold_row *row, struct buf *out);

#endif
