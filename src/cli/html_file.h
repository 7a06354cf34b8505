/*
 * The HTML file of sim, compare and trace stats.  Opened before the work is
 * done, so that a path that cannot be written is found out first.
 */
#ifndef CLI_HTML_FILE_H
#define CLI_HTML_FILE_H

#include "base/err.h"
#include "base/file.h"
#include "cli/setup.h"
#include "report/compare.h"
#include "store/run_dir.h"

/* A zeroed one is valid: no file is wanted. */
struct html_file {
	struct outfile file;
	const struct run_dir *inside; /* the file is DIR/report.html of this run or comparison */
};

/* `path` NULL: none is wanted.  `dir` is the directory that is being written, or NULL. */
int html_file_open(struct html_file *f, const char *path, const struct run_dir *dir, struct err *err);
/* The whole file at once. */
int html_file_write(struct html_file *f, const struct buf *text, struct err *err);
void html_file_abandon(struct html_file *f); /* after writing: nothing */

/*
 * Fills `out` with the report of a finished comparison; `note` (may be NULL) stands
 * before what the reader noted.
 */
void html_of(const struct setup *setup, const struct comparison *c, const char *note, bool timings,
	struct buf *out);

/* "philly.csv (philly, 82,248 jobs)". */
void trace_title(const struct trace *trace, struct buf *out);
/* 82248 as "82,248". */
void add_grouped(struct buf *out, uint64_t number);

#endif
