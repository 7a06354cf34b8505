/*
 * Logs of shares: JSON lines, of which those with "ev": "alloc" count.
 *
 *	{"ev": "alloc", "t": 1920.5, "types": ["k80", "v100"], "x": [[0, 0.5, 0.5], [[1, 2], 1, 0]]}
 *
 * Each row names a job by its number in the trace, or two that share devices,
 * and the part of time it shall spend on each type.
 */
#ifndef IO_SHARE_LOG_H
#define IO_SHARE_LOG_H

#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "model/cluster.h"

struct share_row {
	uint32_t a, b;       /* jobs, a < b; b is JOB_NONE for a job alone */
	double x[TYPES_MAX]; /* by type of the cluster */
};

struct share_alloc {
	double at_s;
	size_t first, n; /* in share_log.rows, by (a, b) */
};

struct share_log {
	VEC(struct share_alloc) allocs; /* by time */
	VEC(struct share_row) rows;
};

/* Types that the cluster does not have must have no shares. */
int share_log_read(const char *path, const struct cluster *cluster, struct share_log *out,
	struct err *err);
int share_log_parse(const char *text, size_t n, const struct cluster *cluster,
	struct share_log *out, struct err *err);
void share_log_fini(struct share_log *log);

/* What was in force at a time; NULL: nothing yet. */
const struct share_alloc *share_log_at(const struct share_log *log, double at_s);
/* The row of a job or pair; NULL: it is not there. */
const struct share_row *share_log_row(const struct share_log *log, const struct share_alloc *alloc,
	uint32_t a, uint32_t b);

#endif
