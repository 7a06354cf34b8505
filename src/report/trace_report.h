/*
 * What a workload looks like: `stint trace stats`.
 */
#ifndef REPORT_TRACE_REPORT_H
#define REPORT_TRACE_REPORT_H

#include <stdint.h>

#include "base/text.h"
#include "model/cluster.h"
#include "model/dag.h"
#include "model/trace.h"
#include "report/html.h"
#include "report/term.h"

/* How many jobs and GPU-hours go by one name or number. */
struct trace_group {
	char *name;
	uint64_t jobs;
	double gpu_h;
};

enum { TRACE_TOP = 10 };

struct trace_stats {
	char *source, *format;
	uint64_t hash;
	uint64_t jobs;
	uint64_t unknown_run; /* jobs without a known run time; they do not count in times and GPU-hours */
	uint64_t elastic, with_deadline, with_deps;
	struct dag_shape dags; /* of jobs that wait for others; zeroed where they go round in circles */
	double first_s, last_s; /* arrivals */
	double gpu_h;
	double gpus_mean;
	int32_t gpus_max;
	double run_mean_s, run_p50_s, run_p90_s, run_p99_s, run_max_s;
	double *run_s; /* sorted, `nrun` of them */
	uint64_t nrun;
	struct trace_group *by_gpus; /* ascending; all that occur, larger ones joined in powers of two */
	uint32_t nby_gpus;
	struct trace_group *tenants, *models; /* by GPU-hours, at most TRACE_TOP and "others" */
	uint32_t ntenants, nmodels;
	uint32_t tenants_in_all, models_in_all;
	double *arrivals; /* jobs in each bucket */
	uint32_t narrivals;
	double arrivals_step_s; /* an hour, or as many as fit 240 buckets */
	/* against a cluster; NAN and 0 without one */
	uint32_t cluster_gpus;
	double load;        /* GPU-time asked over GPU-time there between first and last arrival */
	uint64_t too_large; /* jobs that ask for more devices than there are */
};

/* `cluster` may be NULL. */
void trace_stats_of(const struct trace *trace, const struct cluster *cluster, struct trace_stats *out);
void trace_stats_fini(struct trace_stats *stats);

void trace_report_text(const struct trace_stats *stats, const struct term *term, struct buf *out);
/* Schema "trace-stats/1". */
void trace_report_json(const struct trace_stats *stats, struct buf *out);
void trace_report_html(const struct trace_stats *stats, const struct html_info *info, struct buf *out);

#endif
