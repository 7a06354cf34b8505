/*
 * A run on disk: one directory with manifest.json, summary.json, jobs.csv and
 * events.jsonl (doc/formats.md).  It appears whole or not at all.  So does a
 * comparison: compare.json and a directory for each of its runs.
 *
 *	run_dir_open(&dir, DIR_RUN, "run1", true, err);
 *	... write files to the paths that run_dir_path() names ...
 *	run_dir_commit(&dir, err);
 *	run_dir_abandon(&dir);   always: frees it, and removes what was not committed
 */
#ifndef STORE_RUN_DIR_H
#define STORE_RUN_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "engine/outcome.h"
#include "model/trace.h"
#include "store/event_log.h"

/* The names of the files.  A directory with any other is not ours to replace. */
#define RUN_MANIFEST "manifest.json"
#define RUN_SUMMARY "summary.json"
#define RUN_JOBS "jobs.csv"
#define RUN_EVENTS "events.jsonl"
#define RUN_REPORT "report.html"
#define COMPARE_FIGURES "compare.json"
/* What a what-if was made from, where that is no file already; and its answer. */
#define COMPARE_TRACE "trace.csv"
#define COMPARE_TENANTS "tenants.yaml"
#define COMPARE_QUOTA "tenants-changed.yaml"
#define COMPARE_WHATIF "whatif.json"

enum dir_kind {
	DIR_RUN,     /* has a manifest */
	DIR_COMPARE, /* has compare.json, and runs inside */
};

/* A zeroed one is valid and closed. */
struct run_dir {
	enum dir_kind kind;
	char *path;     /* where it will be */
	char *building; /* where it is until then: a sibling */
	bool replaces;  /* an earlier one is there; it goes when this one is committed */
	bool part;      /* of another, which is committed or abandoned instead */
	int lock;       /* tells others that somebody builds here; 0: nothing does */
};

/*
 * Begins a directory.  What `path` may be now: nothing, an empty directory, or an earlier one of the
 * same kind if `replace`.  Anything else is ERR_REFUSED and is left alone.  What a killed process left
 * of building the same one is removed.
 */
int run_dir_open(struct run_dir *dir, enum dir_kind kind, const char *path, bool replace,
	struct err *err);
/* Begins a run inside a comparison that is being built: it comes and goes with it.  Free with run_dir_abandon(). */
int run_dir_open_part(struct run_dir *dir, const struct run_dir *whole, const char *name,
	struct err *err);
/* Takes a run that failed out of its comparison again; free it nevertheless. */
void run_dir_drop_part(struct run_dir *dir);
/* "BUILDING/NAME", malloc'ed. */
char *run_dir_path(const struct run_dir *dir, const char *name);
/* Writes one whole file. */
int run_dir_write(const struct run_dir *dir, const char *name, const struct buf *bytes,
	struct err *err);
/* Puts it in its place.  `replaces` says afterwards whether an earlier one had to go. */
int run_dir_commit(struct run_dir *dir, struct err *err);
void run_dir_abandon(struct run_dir *dir);

/* Everything needed to run it again.  Text that does not apply is NULL. */
struct manifest {
	char *version;
	char *directory; /* where it was made: paths that are not absolute begin there */
	char *trace;     /* path as given, or "synth:…" */
	char *trace_format;
	uint64_t trace_hash;
	char *cluster_spec; /* as given */
	char *cluster_yaml; /* the whole cluster, so that a changed file does not matter */
	char *policy, *placer, *admit; /* full options */
	uint64_t seed;
	double error;
	bool oracle;
	char *estimate; /* full options of how speeds are estimated; NULL: they are known */
	double start_cost_s, resume_cost_s, resize_cost_s; /* NAN: from the trace */
	double mtbf_s, repair_s;
	char *failures_file, *loan; /* loan: with its options */
	char *throughputs, *host_profiles, *profiles, *tenants;
	/* Of their bytes; 0: no such file, or not known. */
	uint64_t failures_hash, loan_hash, throughputs_hash, host_profiles_hash, profiles_hash;
	uint64_t tenants_hash;
	double until_s;
	char *command; /* the command line that reproduces it */
	uint64_t event_hash, events;
};

void manifest_fini(struct manifest *manifest);
/* Of the run in `dir`.  Release with manifest_fini(). */
int manifest_read(const char *dir, struct manifest *out, struct err *err);
/* The same from the text of one. */
int manifest_parse(struct slice text, struct manifest *out, struct err *err);
/* manifest.json, schema "manifest/1". */
void manifest_format(const struct manifest *manifest, struct buf *out);

/* jobs.csv of an outcome. */
void jobs_csv(const struct trace *trace, const struct outcome *outcome, struct buf *out);

#endif
