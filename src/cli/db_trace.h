/*
 * From the daemon's record to a workload that can be simulated: what was asked, what the
 * scheduler believed then, and what really came of it.
 */
#ifndef CLI_DB_TRACE_H
#define CLI_DB_TRACE_H

#include "base/vec.h"
#include "cli/command.h"
#include "engine/outcome.h"
#include "live/epoch.h"
#include "live/live_job.h"
#include "model/trace.h"
#include "store/record.h"

struct recorded_job {
	struct live_job *ended; /* as it ended */
	struct live_job *asked; /* as it was submitted; NULL: the record does not say any more */
	double start_cost_s, resume_cost_s; /* from a decision to its first step; NAN: not seen */
};

/* Jobs that ended and had run, by number, and the last epoch. */
struct recorded {
	VEC(struct recorded_job) jobs;
	uint32_t never_ran, unreadable, summaries;
	struct epoch epoch;
	bool has_epoch;
	double policy_since_s; /* the last epoch's policy decides since then, by the record's time; -INFINITY: always */
};

/* On success release with recorded_fini(). */
int recorded_read(struct record *record, struct recorded *out, struct err *err);
void recorded_fini(struct recorded *recorded);
/* By number; NULL: not among them. */
const struct recorded_job *recorded_find(const struct recorded *recorded, uint32_t id);

/*
 * Times are the record's own: a policy that decides in rounds does so at the same moments.
 * `out` is empty before; release it with trace_fini().
 */
void recorded_trace(const struct recorded *recorded, struct trace *out);

/*
 * How the jobs of such a trace (or of a part of it) really went, in the trace's order: release with
 * outcome_fini().
 */
void recorded_course(const struct recorded *recorded, const struct trace *trace, struct outcome *out);

/* The record that --state means: what it says; else one's own, or else the machine's.  malloc'ed. */
char *db_find(const char *state);
extern const struct flag_group flags_db; /* --state */

/*
 * The record in `state` (a daemon's directory or a copy of its stint.db; NULL: where the daemon keeps
 * it), for reading.  `path` is malloc'ed, also after a failure.
 */
int db_open(const char *state, char **path, struct record **out, struct err *err);

/* What is left out, for people. */
void recorded_remarks(const struct args *args, const struct recorded *recorded);

/* The same of elastic jobs of which no speed is known. */
void recorded_tell_unseen(const struct args *args, const struct recorded *recorded);

/* --format trace: the trace alone, to --out or standard output. */
int db_export_trace(const struct args *args, struct record *record, struct err *err);
/*
 * --format sim: a directory with trace.csv, cluster.yaml, tenants.yaml where there are any, throughputs.csv with
 * how fast elastic jobs were, and real.csv with how it went.  The command that simulates it is printed.
 */
int db_export_sim(const struct args *args, struct record *record, struct err *err);

#endif
