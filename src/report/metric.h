/*
 * The figures of a summary as a table: tables, JSON, bars and help go through
 * it, so that a new figure is one line in metric.c.
 */
#ifndef REPORT_METRIC_H
#define REPORT_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "report/summary.h"

enum unit {
	UNIT_COUNT,
	UNIT_SECONDS,
	UNIT_GPU_SECONDS,
	UNIT_SHARE, /* 0..1, shown in % */
	UNIT_RATIO,
	UNIT_BYTES,
};

enum better { BETTER_NONE, BETTER_LOW, BETTER_HIGH };

enum metric_type { METRIC_DOUBLE, METRIC_U32, METRIC_U64, METRIC_I64 };

struct metric {
	const char *key;   /* in JSON and CSV */
	const char *title; /* a column's heading */
	const char *help;  /* one sentence */
	enum unit unit;
	enum better better;
	enum metric_type type;
	size_t offset; /* in struct summary */
	/* Shown in the unit of this other figure, so that both can be compared; NULL: in its own. */
	const char *unit_of;
	int rank;    /* in terminal tables: 1 stays longest, larger goes first; 0: not shown */
	bool timing; /* differs from machine to machine: never in outputs that are compared */
};

extern const struct metric metrics[]; /* ends with key NULL */

const struct metric *metric_find(const char *key); /* NULL: no such */
size_t metric_index(const char *key);              /* in metrics[]; the key must be there */
double metric_value(const struct metric *metric, const struct summary *summary);
/* "key": value */
void metric_json(struct json *j, const struct metric *metric, const struct summary *summary);

#endif
