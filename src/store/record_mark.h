/*
 * STATE/record.id: which record belongs here, and how far it had come.
 *
 * The file is made whole and is on the disk before the record is used.  After each commit the last
 * event and the largest job number are written into it in place, without waiting for the disk: a
 * process that dies loses nothing of that, and a machine that loses power leaves an earlier number.
 * So the numbers are never ahead of the record, and a record that ends before them has lost something.
 */
#ifndef STORE_RECORD_MARK_H
#define STORE_RECORD_MARK_H

#include <stdint.h>

#include "base/err.h"
#include "base/lineage.h"

struct record_mark {
	char id[LINEAGE_ID_DIGITS + 1];
	uint32_t generation;
	uint64_t seq; /* the record had this event */
	uint32_t job; /* and had given this number */
};

/* Of the record at `db`, malloc'ed: record.id beside stint.db, else FILE.id. */
char *record_mark_path(const char *db);

/* ERR_MISSING if there is none, ERR_FORMAT if it cannot be understood. */
int record_mark_read(const char *db, struct record_mark *out, struct err *err);
/* Replaces it as a whole; on the disk when it returns 0. */
int record_mark_write(const char *db, const struct record_mark *mark, struct err *err);

/* Both numbers in place; what fails leaves earlier ones. */
struct mark_file {
	int fd;      /* < 0: not open */
	bool second; /* which line is next */
};
void record_mark_open(const char *db, struct mark_file *out);
void record_mark_move(struct mark_file *file, uint64_t seq, uint32_t job);
/* Waits for the disk and closes. */
void record_mark_close(struct mark_file *file);

#endif
