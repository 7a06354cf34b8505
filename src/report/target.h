/*
 * A figure that shall be reached, as a person says it: "p90 wait < 2h",
 * "utilisation >= 60 %", "deadline > 99%".
 */
#ifndef REPORT_TARGET_H
#define REPORT_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "report/metric.h"

enum target_op { TARGET_LESS, TARGET_AT_MOST, TARGET_MORE, TARGET_AT_LEAST };

struct target {
	size_t metric; /* in metrics[] */
	enum target_op op;
	double value;  /* in the metric's own unit */
	char name[24]; /* of the figure: "p90 wait" */
	char text[64]; /* as it is said in full: "p90 wait < 2 h" */
};

/* Reads one.  ERR_USAGE names what is not understood and what could be said. */
int target_parse(const char *text, struct target *out, struct err *err);

bool target_met(const struct target *target, double value);
/*
 * Of one value for each seed the one that counts: nine in ten seeds are at least as good (the 90th
 * percentile where less is wanted, the 10th where more is).
 */
double target_counts(const struct target *target, const double *values, size_t n);
/* Whether more devices make it easier; of how busy they are, fewer do. */
bool target_grows(const struct target *target);

#endif
