/*
 * The figures of a run.
 */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include <stdint.h>

#include "base/text.h"
#include "engine/outcome.h"
#include "model/trace.h"

struct json;

struct summary {
	char *policy; /* label for people: "tiresias:queues=2" */
	char *placer;
	uint64_t seed;
	uint32_t jobs_submitted, jobs_finished, jobs_rejected, jobs_unfinished;
	double jct_mean_s, jct_p50_s, jct_p90_s, jct_p95_s, jct_p99_s, jct_max_s;
	double wait_mean_s, wait_p50_s, wait_p90_s, wait_p95_s,
		wait_p99_s; /* seconds without devices between submission and end */
	double makespan_s;  /* first submission to last end */
	double utilisation; /* GPU-seconds held / GPU-seconds up, first submission to last end */
	double useful;      /* GPU-seconds making steps / GPU-seconds up */
	double ftf_mean,
		ftf_max; /* finish-time fairness: JCT over the time on its fair part of the cluster */
	double jain;     /* Jain's index of 1/ftf */
	uint64_t preemptions, migrations, resizes, failures;
	double overhead_gpu_s, lost_gpu_s;
	double held_gpu_s;    /* GPU-seconds held by jobs */
	double restarts_mean; /* of the jobs that finished */
	/* Of measured training, NAN where there is none: */
	double efficiency; /* what a sample is worth against one of the initial batch, over GPU-time making steps */
	double goodput; /* work done in GPU-time of running as asked, over GPU-time up */
	uint64_t decisions;
	double decision_cpu_s, cpu_s;
	int64_t rss_bytes;
	uint64_t events, event_hash;
	uint32_t deadlines_refused; /* of the jobs rejected: those whose deadline could not be promised */
	uint32_t deadlines_missed; /* of those let in with a deadline: not over in time */
	double deadline_met; /* share of jobs with a deadline that met it, NAN if none has one */
	/* mean |believed / true - 1| of speeds at the start and at the end; NAN where they are not estimated */
	double speed_error_before, speed_error;
	double waited_by_why_s[WHY_COUNT];
	struct figure figures[FIGURES_MAX]; /* what the policy says of itself */
	uint32_t nfigures;
};

/* Policy, placer and seed are the caller's to set, the texts malloc'ed. */
void summary_of(const struct trace *trace, const struct outcome *outcome, struct summary *out);
void summary_fini(struct summary *summary);
/* A seed in JSON: text above 2^53, where other readers of numbers lose digits.  A hash: 16 hexadecimal digits. */
void json_seed(struct json *j, const char *key, uint64_t seed);
void json_hash(struct json *j, const char *key, uint64_t hash);
/* summary.json, schema "summary/1". */
void summary_json(const struct summary *summary, struct buf *out);
/* The same and who was refused (report/refused.h), for `stint sim --json`. */
void summary_json_of(const struct summary *summary, const struct outcome *outcome, struct buf *out);

#endif
