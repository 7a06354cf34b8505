/*
 * A run on disk: one directory with manifest.json, summary.json, jobs.csv and
 * events.jsonl (doc/formats.md).  It appears whole or not at all.
 */
#ifndef STORE_RUN_DIR_H
#define STORE_RUN_DIR_H

#include <stdint.h>

#include "base/err.h"
#include "base/file.h"
#include "engine/observer.h"
#include "engine/outcome.h"
#include "model/cluster.h"
#include "model/trace.h"

/* Writes events.jsonl as the run goes; also the observer whose hash makes runs comparable. */
struct event_log;
/* Lines go to `path` when committed. */
int event_log_create(const char *path, const struct cluster *cluster, struct event_log **out, struct err *err);
struct observer event_log_observer(struct event_log *log);
int event_log_commit(struct event_log *log, struct err *err);
void event_log_destroy(struct event_log *log); /* abandons what was not committed */

/* One event as the line that goes to events.jsonl, without the newline. */
void event_format(const struct event *event, const struct job *job, const struct cluster *cluster, struct buf *out);

/* Everything needed to run it again. */
struct manifest {
	char *version;
	char *trace;        /* path as given, or "synth:…" */
	char *trace_format;
	uint64_t trace_hash;
	char *cluster_spec; /* as given */
	char *cluster_yaml; /* the whole cluster, so that a changed file does not matter */
	char *policy, *placer, *admit; /* full options */
	uint64_t seed;
	double error;
	bool oracle;
	double start_cost_s, resume_cost_s, resize_cost_s; /* NAN: from the trace */
	double mtbf_s, repair_s;
	char *failures_file, *throughputs;
	double until_s;
	char *command;      /* the command line that reproduces it */
	uint64_t event_hash, events;
};

void manifest_fini(struct manifest *manifest);
int manifest_read(const char *dir, struct manifest *out, struct err *err);
void manifest_format(const struct manifest *manifest, struct buf *out);

/* jobs.csv of an outcome. */
void jobs_csv(const struct trace *trace, const struct outcome *outcome, struct buf *out);

#endif
