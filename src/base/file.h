/*
 * Files: reading whole (plain or gzip), lines without copying, and writing so
 * that a reader sees the old file or the new one, never half of it.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/text.h"

/*
 * A file's bytes in memory, mapped or read; "-" reads standard input.  gzip is recognised by its first bytes.
 * Refused as no text are more than 16 GiB, and lines of more than 64 MiB but in JSON (of plain files
 * only the first is looked at).
 */
struct file {
	const char *at; /* n bytes; not NUL-terminated */
	size_t n;
	void *owned; /* how to release it; private */
	size_t mapped;
};

int file_read(const char *path, struct file *out, struct err *err);
/* The same for files that are never large: ERR_REFUSED beyond `limit` bytes. */
int file_read_upto(const char *path, size_t limit, struct file *out, struct err *err);
/* And says whose it is: of the very file that was read, whatever the path leads to by now. */
int file_read_owned(const char *path, size_t limit, struct file *out, struct stat *of, struct err *err);
void file_fini(struct file *file);

/* Walks lines of a text: sets `line` (without \n and \r\n) and counts from 1; false at the end. */
struct lines {
	const char *at, *end;
	size_t number;
};
struct lines lines_of(const char *at, size_t n);
bool lines_next(struct lines *it, struct slice *line);

/* A file that appears under its name only when committed (temporary beside it, fsync, rename).  "-" is standard output. */
struct outfile {
	FILE *to;
	char *path, *temporary;
	bool soon; /* committed without waiting for the disk */
};
int outfile_open(struct outfile *f, const char *path, struct err *err);
int outfile_commit(struct outfile *f, struct err *err);
void outfile_abandon(struct outfile *f); /* after commit: nothing */

/* Writes n bytes as above in one go. */
int file_write(const char *path, const char *bytes, size_t n, struct err *err);
/* The same of what can be found out again: after a power cut it may be as before, or empty. */
int file_write_soon(const char *path, const char *bytes, size_t n, struct err *err);

bool file_exists(const char *path);
bool file_is_dir(const char *path);
/* Makes a directory and its parents; one that exists is fine. */
int dir_make(const char *path, struct err *err);
/* "DIR/NAME", malloc'ed. */
char *path_join(const char *dir, const char *name);
/* The part after the last slash. */
const char *path_base(const char *path);

#endif
