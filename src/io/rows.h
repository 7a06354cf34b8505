/*
 * What importers of tables share: columns by name, fields with errors that
 * name their place, and what becomes of a bad row.
 *
 * An importer describes its columns and how one row becomes a job; rows_read()
 * does the rest.  Inside the row function, the getters never fail: the first
 * problem of a row is remembered, and the row then fails the read or, with
 * options->lenient, is left out with a note.
 */
#ifndef IO_ROWS_H
#define IO_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "io/csv.h"
#include "io/header.h"
#include "io/ids.h"
#include "io/notes.h"
#include "io/trace_io.h"
#include "model/job.h"
#include "model/trace.h"

struct rows;

/* "Job `job` comes after the job with id `id`", to be resolved when all ids are known. */
struct row_dep {
	uint32_t job;
	uint32_t line;
	struct slice id; /* in the text, or in the trace's */
	uint32_t other;  /* the job with that id; JOB_NONE: the dependency does not count */
};

/* What an importer assumes or drops in every file that has the column. */
struct remark {
	enum note_level level;
	int column;
	const char *text;
};

struct table {
	struct csv_style style;
	bool headless; /* fields are columns in order, all of them in every row */
	bool open;     /* columns that are not listed are usual: one note counts them */
	bool reruns; /* a row with the id of an earlier one is another run of that job, and the last counts */
	int spills; /* a column (above 0) whose text may hold the separator: what a row has too many is its; 0: none */
	const char *none; /* what to do where no row counts; NULL: nothing special */
	const struct column *columns;
	const struct remark *remarks; /* ends with a NULL text; NULL: none */
	/* Fills `job` (initialised) and rows->work from the current row. */
	void (*row)(struct rows *rows, struct job *job);
	/* Optional: after the header, before the first row; may look at rows->where. */
	int (*begin)(struct rows *rows, struct err *err);
	/* Optional: what to do about a row of a headless table with `n` fields; NULL: nothing special. */
	const char *(*misfit)(size_t n);
};

struct rows {
	const struct importer *importer;
	const struct table *table;
	const struct import_options *options;
	struct trace *out;
	struct notes *notes;
	struct csv csv;
	int where[COLUMNS_MAX];        /* by column: its field in a row, -1: not there */
	int column_of[CSV_FIELDS_MAX]; /* by field: its column, -1: of no use */
	size_t width;                  /* fields in a row */
	size_t number;                 /* of this row among the rows of jobs, from 0 */

	/* this row */
	double work;          /* NAN at first */
	uint32_t measured_on; /* index in out->types, NAME_NONE at first */
	struct past_run run;  /* when and where it ran; start_s NAN at first: not told */
	struct slice label;   /* the job's, once it is set */
	struct slice after;   /* ids joined by |, empty at first */
	enum { ROW_GOOD, ROW_DROPPED, ROW_BAD } fate;
	size_t line;
	const char *field, *problem; /* of a row that is not good */
	const char *fix;             /* NULL: the usual */
	char value[64];              /* the text in question, "" if none */
	char exactly[80]; /* the problem with its figures, for an error; "" if `problem` says all */

	/* private */
	struct ids ids;
	struct job fresh; /* as job_init() leaves one */
	double last_arrival_s;
	bool unsorted;
	struct row_dep *deps;
	size_t ndeps, deps_cap;
	uint32_t *lines; /* by position; NULL without notes */
	size_t lines_cap;
	size_t dropped;
	char why_dropped[200]; /* the first one's */
};

/* Reads all of `text` by importer->table. */
int rows_read(const struct importer *importer, struct slice text, const struct import_options *options,
	struct trace *out, struct notes *notes, struct err *err);

/* For importers of other shapes (JSON): the same treatment of a job at a time. */
void rows_init(struct rows *rows, const struct importer *importer,
	const struct import_options *options, struct trace *out, struct notes *notes);
void rows_fini(struct rows *rows);
/* Before the first: what the table remarks of every file. */
void rows_remark(struct rows *rows);
/* Before a job's fields are read: a fresh job at `line`. */
void rows_start(struct rows *rows, size_t line, struct job *job);
/* After them: adds the job, or treats what is wrong with it. */
int rows_end(struct rows *rows, struct job *job, struct err *err);
/* After the last: dependencies, and an error if there is no job at all. */
int rows_finish(struct rows *rows, struct err *err);

/* Makes dependencies of the trace of those read; rows_finish() does. */
int rows_link(struct rows *rows, struct err *err);

/* For a header without a column: the field by which it seems to be meant. */
bool rows_meant(const struct rows *rows, int column, struct slice *field);

/* ---- in a row ---- */

/* Whether the table has the column at all. */
static inline bool row_has(const struct rows *rows, int column)
{
	return rows->where[column] >= 0;
}

/* The field's text, empty if it or its column is not there. */
static inline struct slice row_text(const struct rows *rows, int column)
{
	int field = rows->where[column];

	return field >= 0 ? rows->csv.fields[field] : (struct slice){ "", 0 };
}

/* The same for as long as the trace lives; NULL if it is empty. */
const char *row_kept(const struct rows *rows, int column);

/* Numbers; `missing` if the field is empty.  Outside [min, max] is a problem. */
double row_number(struct rows *rows, int column, double missing, double min, double max);
int32_t row_int(struct rows *rows, int column, int32_t missing, int32_t min, int32_t max);
/* A date ("2017-10-09 07:01:55") or a number of seconds; a problem if empty. */
double row_time(struct rows *rows, int column);
/* Run time in seconds, or steps: 0 drops the row, less or nothing is a problem. */
double row_duration(struct rows *rows, int column);
/* A whole number of GPUs: 0 or nothing drops the row as a job without GPUs. */
int32_t row_gpus(struct rows *rows, int column);
/* The same check for a number that was computed. */
int32_t row_gpus_of(struct rows *rows, int column, double gpus);

/* Why a text that slice_double() does not take is no number. */
const char *not_a_number(struct slice text);

/* The number of a name in a table of the trace, NAME_NONE if empty. */
uint32_t row_name(struct names *names, struct slice text);
/* Sets the job's own id, or its row's number if `id` is empty; the only way to set a label. */
void row_label(struct rows *rows, struct job *job, struct slice id);
/* The bit of a device type in job.types, 0 if the name is empty or "any"; and the bits of "a|b|c". */
uint32_t row_type(struct rows *rows, int column, struct slice name);
uint32_t row_types(struct rows *rows, int column, struct slice list);
/* The type that the run time was measured on. */
void row_measured_on(struct rows *rows, int column, struct slice name);
/* After all else: a job that ended otherwise than `good` held its devices too and counts; notes say how many. */
void row_ended(struct rows *rows, int column, struct slice state, const char *good);

/*
 * The row is wrong: the first call counts.  `value` is the text in question; `problem` and `fix` (NULL:
 * the usual) must be literals.
 */
void row_bad(struct rows *rows, int column, struct slice value, const char *problem, const char *fix);
/* The row is right and does not become a job.  Both texts must be literals. */
void row_drop(struct rows *rows, int column, const char *why, const char *fix);
/* A remark on the present row. */
void row_note(struct rows *rows, enum note_level level, int column, const char *text, const char *fix);

#endif
