/*
 * STATE/stint.db-reserve: room on the disk that is kept for the day when there is none.
 *
 * SQLite opens a record with a log only where it can write a few pages, also to read it, and a prune needs room
 * before it gives any.  So a file of RESERVE_BYTES lies beside the record while the disk has plenty, and is made
 * shorter, piece by piece, where opening or pruning finds the disk full.  What is in the file means nothing: a crash
 * at any moment leaves one that is shorter or missing, and it is made whole again later.
 */
#ifndef STORE_RECORD_RESERVE_H
#define STORE_RECORD_RESERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define RESERVE_END "-reserve"

enum {
	RESERVE_BYTES = 4 << 20,
	RESERVE_PIECE = 512 << 10, /* given up at a time */
	RESERVE_START = 1 << 20, /* what a writer has free when it opens, while the reserve lasts */
};

/*
 * Made whole, unless the disk would have less left than three times as much.  What fails is tried again by the next
 * call.  `opening`: its blocks are looked at, too, not only its size.
 */
void reserve_keep(const char *db, bool opening);
/* One piece less; false: there is none. */
bool reserve_give(const char *db);
/* As many pieces as it takes until `bytes` of the disk are free. */
void reserve_give_until(const char *db, int64_t bytes);

/* Whether a call on the record failed because there was no room. */
bool reserve_would_help(const struct err *err);

#endif
