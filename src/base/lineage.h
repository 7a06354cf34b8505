/*
 * Which record something belongs to.
 *
 * A record has an id of 128 random bits and a generation, which grows by one each time a copy of it
 * is put back.  A copy that is put back knows its history up to its last event and nothing of what
 * the record did afterwards: so a past generation counts up to that event alone.
 */
#ifndef BASE_LINEAGE_H
#define BASE_LINEAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum { LINEAGE_ID_DIGITS = 32 };

/* A moment of a record: what a claim carries. */
struct lineage_point {
	char id[LINEAGE_ID_DIGITS + 1]; /* hex; "": not known, as in claims of before */
	uint32_t generation;
	uint64_t seq; /* last event of the record then */
};

struct lineage_past {
	uint32_t generation;
	uint64_t seq; /* its last event that the present generation has, too */
};

struct lineage {
	char id[LINEAGE_ID_DIGITS + 1]; /* "": none */
	uint32_t generation;
	struct lineage_past *past; /* owned */
	uint32_t npast;
};

void lineage_fini(struct lineage *lineage);

/* Whether the moment is one that this record has: of its generation, or before the end of a past one. */
bool lineage_has(const struct lineage *lineage, const struct lineage_point *point);
/* The last event that it has of a generation: UINT64_MAX of its own, 0 of one that is not in its past. */
uint64_t lineage_end(const struct lineage *lineage, uint32_t generation);

/* "1@1200 2@1500" and back; false: not understood. */
void lineage_past_write(const struct lineage *lineage, struct buf *out);
bool lineage_past_read(struct lineage *lineage, const char *text);
void lineage_past_add(struct lineage *lineage, uint32_t generation, uint64_t seq);

/* 32 hex digits, small letters. */
bool lineage_id_is_good(const char *id);

/* "3f2a91bc… generation 2" for people: the first 8 digits name a record well enough. */
enum { LINEAGE_SHOWN = 8 };

#endif
