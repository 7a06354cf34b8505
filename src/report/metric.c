/*
 * Every figure of a summary, in the order of summary.json.
 */
#include "report/metric.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/json.h"

/* Picks the reader by the field's type, so that the table cannot lie about it. */
#define FIELD(name) \
	.key = #name, .offset = offsetof(struct summary, name), \
	.type = _Generic(((struct summary *)0)->name, double \
			 : METRIC_DOUBLE, uint32_t \
			 : METRIC_U32, uint64_t \
			 : METRIC_U64, int64_t \
			 : METRIC_I64)

#define LOW BETTER_LOW
#define HIGH BETTER_HIGH

const struct metric metrics[] = {
	{ FIELD(jobs_submitted), .title = "submitted", .help = "jobs that arrived" },
	{ FIELD(jobs_finished), .title = "finished", .help = "jobs that made their last step" },
	{ FIELD(jobs_rejected), .title = "rejected", .better = LOW, .rank = 3,
		.help = "jobs refused at submission" },
	{ FIELD(jobs_unfinished), .title = "unfinished", .better = LOW, .rank = 3,
		.help = "jobs that had not ended when the run did" },
	{ FIELD(jct_mean_s), .title = "mean JCT", .unit = UNIT_SECONDS, .better = LOW, .rank = 1,
		.help = "completion time, arrival to end, of the jobs that finished" },
	{ FIELD(jct_p50_s), .title = "p50", .unit = UNIT_SECONDS, .unit_of = "jct_mean_s",
		.better = LOW, .rank = 5, .help = "median completion time" },
	{ FIELD(jct_p90_s), .title = "p90", .unit = UNIT_SECONDS, .unit_of = "jct_mean_s",
		.better = LOW, .help = "90 % of the jobs finished within this" },
	{ FIELD(jct_p95_s), .title = "p95", .unit = UNIT_SECONDS, .unit_of = "jct_mean_s",
		.better = LOW, .rank = 7, .help = "95 % of the jobs finished within this" },
	{ FIELD(jct_p99_s), .title = "p99", .unit = UNIT_SECONDS, .unit_of = "jct_mean_s",
		.better = LOW, .rank = 3, .help = "99 % of the jobs finished within this" },
	{ FIELD(jct_max_s), .title = "max JCT", .unit = UNIT_SECONDS, .unit_of = "jct_mean_s",
		.better = LOW, .help = "longest completion time" },
	{ FIELD(wait_mean_s), .title = "wait", .unit = UNIT_SECONDS, .unit_of = "jct_mean_s",
		.better = LOW, .rank = 4,
		.help = "mean time without devices of the jobs that finished" },
	{ FIELD(wait_p50_s), .title = "wait p50", .unit = UNIT_SECONDS, .unit_of = "jct_mean_s",
		.better = LOW, .help = "median time without devices" },
	{ FIELD(wait_p90_s), .title = "wait p90", .unit = UNIT_SECONDS, .unit_of = "jct_mean_s",
		.better = LOW, .help = "90 % of the jobs waited no longer" },
	{ FIELD(wait_p95_s), .title = "wait p95", .unit = UNIT_SECONDS, .unit_of = "jct_mean_s",
		.better = LOW, .help = "95 % of the jobs waited no longer" },
	{ FIELD(wait_p99_s), .title = "wait p99", .unit = UNIT_SECONDS, .unit_of = "jct_mean_s",
		.better = LOW, .help = "99 % of the jobs waited no longer" },
	{ FIELD(makespan_s), .title = "makespan", .unit = UNIT_SECONDS, .better = LOW, .rank = 2,
		.help = "first arrival to last end" },
	{ FIELD(utilisation), .title = "util", .unit = UNIT_SHARE, .better = HIGH, .rank = 2,
		.help = "GPU-time held by jobs over GPU-time up" },
	{ FIELD(useful), .title = "useful", .unit = UNIT_SHARE, .better = HIGH, .rank = 11,
		.help = "GPU-time making steps over GPU-time up" },
	{ FIELD(goodput), .title = "goodput", .unit = UNIT_RATIO, .better = HIGH, .rank = 3,
		.help = "work done by each GPU that is up; 1: as much as of a job with the devices and batch it asked for" },
	{ FIELD(efficiency), .title = "efficiency", .unit = UNIT_SHARE, .better = HIGH, .rank = 6,
		.help = "what a sample is worth against one of the model's initial batch, mean over GPU-time" },
	{ FIELD(held_gpu_s), .title = "GPU-time", .unit = UNIT_GPU_SECONDS, .better = LOW,
		.rank = 11, .help = "GPU-time held by jobs" },
	{ FIELD(ftf_mean), .title = "FTF", .unit = UNIT_RATIO, .better = LOW, .rank = 6,
		.help = "finish-time fairness: completion time over that on a fair part of the cluster" },
	{ FIELD(ftf_max), .title = "worst FTF", .unit = UNIT_RATIO, .better = LOW, .rank = 8,
		.help = "largest finish-time fairness of any job" },
	{ FIELD(jain), .title = "Jain", .unit = UNIT_RATIO, .better = HIGH, .rank = 9,
		.help = "Jain's index of the jobs' speed against their fair part: 1 is even" },
	{ FIELD(preemptions), .title = "preempted", .rank = 5,
		.help = "times a job lost its devices to another" },
	{ FIELD(migrations), .title = "migrated", .rank = 12,
		.help = "times a job moved to other devices" },
	{ FIELD(resizes), .title = "resized", .rank = 12,
		.help = "times a job went on with more or fewer devices" },
	{ FIELD(restarts_mean), .title = "restarts", .unit = UNIT_RATIO, .rank = 7,
		.help = "starts after the first, moves and resizes that a job noticed, per job that finished" },
	{ FIELD(failures), .title = "failed", .better = LOW, .rank = 12,
		.help = "times a job lost its node" },
	{ FIELD(overhead_gpu_s), .title = "overhead", .unit = UNIT_GPU_SECONDS, .rank = 10,
		.help = "GPU-time held without making steps: starting, saving, restoring" },
	{ FIELD(lost_gpu_s), .title = "lost work", .unit = UNIT_GPU_SECONDS, .better = LOW,
		.rank = 9, .help = "GPU-time of work done again after failures" },
	{ FIELD(deadlines_refused), .title = "refused", .better = LOW, .rank = 12,
		.help = "jobs rejected because their deadline could not be promised" },
	{ FIELD(deadlines_missed), .title = "missed", .better = LOW, .rank = 12,
		.help = "jobs let in that were not over by their deadline" },
	{ FIELD(deadline_met), .title = "in time", .unit = UNIT_SHARE, .better = HIGH, .rank = 2,
		.help = "jobs that met their deadline, of those that have one" },
	{ FIELD(speed_error_before), .title = "off at first", .unit = UNIT_SHARE, .better = LOW,
		.help = "mean error of the speeds that policies believed as the run began" },
	{ FIELD(speed_error), .title = "speeds off", .unit = UNIT_SHARE, .better = LOW, .rank = 8,
		.help = "mean error of the speeds that policies believed as the run ended" },
	{ FIELD(decisions), .title = "decisions", .help = "rounds in which the policy was asked" },
	{ FIELD(events), .title = "events", .help = "lines of the event log" },
	{ FIELD(decision_cpu_s), .title = "deciding", .unit = UNIT_SECONDS, .better = LOW,
		.rank = 4, .timing = true, .help = "CPU time inside policy and placer" },
	{ FIELD(cpu_s), .title = "CPU", .unit = UNIT_SECONDS, .better = LOW, .rank = 10,
		.timing = true, .help = "CPU time of the whole run" },
	{ FIELD(rss_bytes), .title = "memory", .unit = UNIT_BYTES, .better = LOW, .timing = true,
		.help = "largest memory of the process" },
	{ 0 },
};

const struct metric *metric_find(const char *key)
{
	for (const struct metric *m = metrics; m->key; m++) {
		if (!strcmp(m->key, key))
			return m;
	}
	return NULL;
}

size_t metric_index(const char *key)
{
	const struct metric *m = metric_find(key);

	assert(m);
	return (size_t)(m - metrics);
}

double metric_value(const struct metric *metric, const struct summary *summary)
{
	const void *at = (const char *)summary + metric->offset;

	switch (metric->type) {
	case METRIC_DOUBLE:
		return *(const double *)at;
	case METRIC_U32:
		return *(const uint32_t *)at;
	case METRIC_U64:
		return (double)*(const uint64_t *)at;
	case METRIC_I64:
		return (double)*(const int64_t *)at;
	}
	return 0;
}

void metric_json(struct json *j, const struct metric *metric, const struct summary *summary)
{
	double value = metric_value(metric, summary);

	if (metric->type == METRIC_DOUBLE)
		json_double(j, metric->key, value);
	else
		json_int(j, metric->key, (int64_t)value);
}
