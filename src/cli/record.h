/*
 * One run from start to end: under a progress bar, with its directory on disk
 * if one is wanted.
 */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include "base/err.h"
#include "cli/setup.h"
#include "engine/outcome.h"
#include "report/summary.h"
#include "store/run_dir.h"

/* What a run is made of.  All borrowed. */
struct run {
	const struct setup *setup;
	const struct workload *workload;
	const struct pairing *pair;
	uint64_t seed;
	bool want_spans;
	const struct run_dir *dir; /* NULL: nothing goes to disk */
	bool (*progress)(void *ctx, uint32_t ended, double now_s);
	void *progress_ctx;
	const struct observer *watcher; /* told after the record; NULL: nobody looks on */
};

/*
 * Runs it; with `dir`, writes events.jsonl, jobs.csv and the manifest there (for
 * summary.json see run_record()).  On success release `out` with outcome_fini().
 */
int run_carry_out(const struct run *run, struct outcome *out, struct err *err);

/* Writes summary.json, when the figures are known. */
int run_record(const struct run *run, const struct summary *summary, struct err *err);

/* Tells a person that speeds had to be extrapolated, in how many runs, and where in the first, that of `policy`. */
void run_tell_beyond(const struct args *args, const struct beyond *beyond, const char *policy,
	uint32_t runs);

/*
 * ERR_NEVER with a sentence if a job was refused, or is left though the run was not cut short (--until).
 * `names` (may be NULL) are those jobs for people.
 */
int run_verdict(const struct args *args, const struct summary *summary, const char *names,
	struct err *err);

#endif
