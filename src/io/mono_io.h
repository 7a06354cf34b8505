/*
 * Jobs of fine-grained tasks (model/monotask.h) from a file, or drawn.
 *
 * A file is a CSV table with a row for each stage: job, stage, arrival_s, tasks,
 * run ("disk 2 | net 1 | cpu 5", seconds of a slot each, one after the other), mem
 * (of a task) and after (stages of the same job, joined by |).  The arrival is
 * said in the first row of a job.  doc/tasks.md has an example.
 */
#ifndef IO_MONO_IO_H
#define IO_MONO_IO_H

#include "base/err.h"
#include "base/text.h"
#include "model/monotask.h"

/* Errors name file, line and what to do; stages that wait for each other are named, as few as there are. */
int mono_read(const char *path, struct mono_load *out, struct err *err);
/* The same from memory; `where` names it in messages. */
int mono_read_csv(const char *where, const char *text, size_t n, struct mono_load *out,
	struct err *err);

/* Draws jobs by "jobs=20,training=0.5,…"; the same text gives the same jobs. */
int mono_synth(const char *options, struct mono_load *out, struct err *err);
void mono_synth_help(struct buf *out);

#endif
