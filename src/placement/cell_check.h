/*
 * Whether all promises of a design can be kept at once, and if not, which few of them cannot.
 *
 * Cells of a level can be carved out of those above it, so promises are kept together if at
 * every level the cells there, less those that pinned cells touch, cover all that is promised
 * of that level and of those above it, counted in cells of the level.
 */
#ifndef PLACEMENT_CELL_CHECK_H
#define PLACEMENT_CELL_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "base/vec.h"
#include "model/cell_design.h"

/* One level of a chain. */
struct cell_figures {
	uint32_t exist;    /* cells */
	uint32_t promised; /* of exactly this level, pinned ones too */
	uint32_t pinned;   /* of these */
	int64_t spare;     /* of this level that could be promised besides; below 0: so many lack */
};

void cell_figures(const struct cell_design *design, uint32_t chain, uint32_t level,
	struct cell_figures *out);

/*
 * Promises that cannot be kept together, though any of them could be left out and the others kept.  There is
 * no smaller set, except where more than a dozen pinned cells of one chain play a part.
 */
struct cell_conflict {
	uint32_t chain, level;  /* where it shows */
	uint64_t need, have;    /* cells of that level; both 0: two pins lie in each other */
	VEC(uint32_t) promises; /* of the design, in its order */
};

void cell_conflict_fini(struct cell_conflict *conflict);
/* "a (5 node) and b (4 node) need 9 node of v100, there are 8". */
void cell_conflict_text(const struct cell_design *design, const struct cell_conflict *conflict,
	struct buf *out);

/* Whether every promise can be kept; else a smallest set of them that cannot (out may be NULL). */
bool cell_check(const struct cell_design *design, struct cell_conflict *out);
/* The same as an error, ERR_REFUSED, that names them. */
int cell_check_err(const struct cell_design *design, struct err *err);

#endif
