/*
 * Reading, writing, checking and generating workloads.
 */
#ifndef IO_TRACE_IO_H
#define IO_TRACE_IO_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "base/text.h"
#include "io/notes.h"
#include "model/cluster.h"
#include "model/trace.h"

struct import_options {
	const char *format; /* importer's name, NULL: recognised by content */
	/* Where a log of Slurm tells no GPUs: so many for each node of a job, or one for each so many CPUs; 0: none. */
	double gpus_per_node, cpus_per_gpu;
	bool lenient; /* rows with problems are dropped with a note instead of failing the read */
};

struct table;

/* One published format: one file in src/io/import and one line in importers.def. */
struct importer {
	const char *name;
	const char *summary; /* "Helios: cluster_log.csv" */
	const char *origin;  /* whose format it is */
	bool dated;          /* times are dates: shifted so that the first arrival is 0 */
	const char *header; /* columns ("a|b|c") of a comma-separated header that tell the format */
	/* How sure it is that `head` (the first few KiB of the file) is its format: 0 no .. 100 yes.  NULL: by `header`. */
	int (*recognise)(struct slice head, const char *path);
	const struct table *table; /* of a format of rows and columns (io/rows.h), else NULL */
	/* Adds the jobs of `text` to `out`, whose source is set; trace_read() finishes it.  NULL: by `table`. */
	int (*read)(struct slice text, const struct import_options *options, struct trace *out,
		struct notes *notes, struct err *err);
};

/* The same for any importer. */
int importer_sure(const struct importer *importer, struct slice head, const char *path);

extern const struct importer *const importers[];                         /* NULL-terminated */
const struct importer *importer_find(const char *name, struct err *err); /* NULL with "did you mean" */

/*
 * Reads a trace from a file (plain or gzip), "-", or a generator ("synth:jobs=1000,load=0.9,…").
 * `cluster` is what a generator's load refers to and may be NULL.  On success `out` owns its jobs: release it with trace_fini().
 * Errors name path, line, field and remedy.
 */
int trace_read(const char *path, const struct import_options *options,
	const struct cluster *cluster, struct trace *out, struct notes *notes, struct err *err);

/* The same from memory, for tests and fuzzers. */
int trace_read_text(const char *path, struct slice text, const struct import_options *options,
	struct trace *out, struct notes *notes, struct err *err);

/* Writes Stint's own CSV (doc/formats.md): reading it back gives an equal trace. */
void trace_write(const struct trace *trace, struct buf *out);

/*
 * Looks for what a run would trip over: more GPUs, CPUs or memory than there are, missing run times, circular dependencies,
 * impossible deadlines, suspicious units, … `cluster` may be NULL.  Lines are known if the trace was
 * read with the same `notes`.  What rows alone can tell (unsorted arrivals, equal ids) the reader notes.
 */
void trace_check(const struct trace *trace, const struct cluster *cluster, struct notes *notes);

#endif
