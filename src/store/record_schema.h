/*
 * The record's tables and how one version of them becomes the next.
 *
 * Step i takes schema i to schema i + 1 in one transaction, so a crash leaves the one
 * or the other.  A step that was released is never changed: a change is a new step at
 * the end and RECORD_SCHEMA one more.
 */
#ifndef STORE_RECORD_SCHEMA_H
#define STORE_RECORD_SCHEMA_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/err.h"
#include "store/record.h"

enum { RECORD_APPLICATION_ID = 0x53746e74 }; /* "Stnt", in the file's header */

extern const char *const record_steps[RECORD_SCHEMA]; /* SQL */

/*
 * What the file is, before anything is written to it: its schema, 0 if it is empty.
 * ERR_REFUSED: not ours, or newer than `newest`.
 */
int record_schema_of(sqlite3 *db, const char *path, int newest, int *schema, struct err *err);

/* Makes it schema `n` by the steps it lacks; `steps` has `n`. */
int record_schema_raise(sqlite3 *db, const char *path, const char *const *steps, int n,
	struct err *err);

#endif
