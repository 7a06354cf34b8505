/*
 * What the daemon counts and times, for monitoring: OpenMetrics text.
 *
 * A fixed set of families, so that names, units and help live in one table
 * (metrics.c) and a caller cannot misspell one.  Thread-safe.
 */
#ifndef DAEMON_METRICS_H
#define DAEMON_METRICS_H

#include <stdint.h>

#include "base/text.h"

enum metrics_counter {
	METRICS_SUBMITS,
	METRICS_STARTS,
	METRICS_PREEMPTIONS,
	METRICS_RESIZES,
	METRICS_REFUSED, /* calls the daemon did not do: not allowed, never runnable, malformed */
	METRICS_DECISIONS,
	METRICS_IDLE_RECLAIMS,
	METRICS_COUNTERS,
};

enum metrics_gauge {
	METRICS_PENDING,
	METRICS_RUNNING,
	METRICS_DEVICES,
	METRICS_DEVICES_UP,
	METRICS_DEVICES_HELD,
	METRICS_FORECAST_COVERAGE,
	METRICS_FORECAST_OUTCOMES,
	METRICS_FORECAST_ERROR,
	METRICS_IDLE_DEVICES,
	METRICS_DRAINED_DEVICES,
	METRICS_FAILED_LAUNCHES,
	METRICS_GAUGES,
};

/* Seconds, by buckets. */
enum metrics_time {
	METRICS_WAIT,     /* from submission to the first start */
	METRICS_RUN,      /* of an attempt */
	METRICS_DECISION, /* of one decision */
	METRICS_COMMIT,   /* of one transaction of the record */
	METRICS_SUBMIT,   /* from a submission's arrival to its answer */
	METRICS_FORECAST, /* of one forecast, beside the loop */
	METRICS_QUESTION, /* of the loop, for a question or a piece of a long one; CPU */
	METRICS_TIMES,
};

struct metrics;

struct metrics *metrics_create(void);
void metrics_destroy(struct metrics *metrics);

void metrics_count(struct metrics *metrics, enum metrics_counter which, uint64_t n);
void metrics_set(struct metrics *metrics, enum metrics_gauge which, double value);
/* Below zero (a clock that was set back) counts as zero; NaN does not count. */
void metrics_time(struct metrics *metrics, enum metrics_time which, double seconds);
/* A job that ended, by its state ("COMPLETED", …). */
void metrics_ended(struct metrics *metrics, const char *state);
/* A request that was answered; `route` is a pattern ("/v1/jobs/{id}"), never what somebody typed. */
void metrics_http(struct metrics *metrics, const char *route, int status);
/* A notification, by what became of it: "delivered", "failed", "dropped". */
void metrics_notified(struct metrics *metrics, const char *result);

/* All of it, up to and with "# EOF". */
void metrics_render(struct metrics *metrics, struct buf *out);

/* What the text is called in HTTP. */
#define METRICS_CONTENT_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

#endif
