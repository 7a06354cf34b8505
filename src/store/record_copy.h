/*
 * Copies of the record: a backup while it is in use, and putting one back.
 *
 * At every moment of a restore there is either the old record, none with a record.id that says so
 * (a daemon refuses to start), or the new one with its own record.id.
 */
#ifndef STORE_RECORD_COPY_H
#define STORE_RECORD_COPY_H

#include <stdint.h>

#include "base/err.h"
#include "base/lineage.h"

struct record_copied {
	char id[LINEAGE_ID_DIGITS + 1]; /* "" and generation 0: of a version before records had them */
	uint32_t generation;
	uint64_t events; /* the last one's number */
	uint32_t jobs;   /* likewise */
	char *kept; /* of a restore: where the record that was here is now; NULL: there was none */
	uint64_t lost; /* of a restore: events that record.id knew of and that the copy does not have */
};
void record_copied_fini(struct record_copied *copied);

/*
 * A checked copy in one file that was not there before.  Others may read and write meanwhile.  A record of an older
 * version is copied as it is, for that version too.
 */
int record_backup(const char *db, const char *to, struct record_copied *out, struct err *err);

/* What is known of the directory beside the record: nothing of it is given again. */
struct record_floor {
	uint32_t job;        /* the largest number that a directory has */
	uint32_t generation; /* the largest of a claim of this record */
};

/* The id of a copy, "" if it has none yet: to look for its claims. */
int record_id_of(const char *file, char out[LINEAGE_ID_DIGITS + 1], struct err *err);
/*
 * Puts a copy of `file` in the place of `db`, which nobody may use meanwhile; `file` may be the one that is there.
 * It is of a new generation, and what was there is kept beside it.
 */
int record_restore(const char *file, const char *db, const struct record_floor *floor,
	struct record_copied *out, struct err *err);
/* The same with an empty record that has an id of its own. */
int record_begin_anew(const char *db, const struct record_floor *floor, struct record_copied *out,
	struct err *err);

#endif
