/*
 * What a job reported of its progress, as columns over time: steps and metrics.
 *
 * A job that trains for a week reports half a million times.  Of these at most
 * SERIES_POINTS are kept, evenly by their number, and always the last one.
 */
#ifndef DAEMON_SERIES_H
#define DAEMON_SERIES_H

#include "base/json.h"
#include "base/wallclock.h"
#include "store/record.h"

enum {
	SERIES_POINTS = 500,
	SERIES_METRICS = 16, /* by name, the first that were reported; "more" says that there are others */
};

/*
 * Adds "reports" (how many there were), "total" (steps in all, as last said; null: not said), the arrays "at",
 * "attempt", "step", and "metrics": names with values of the same length, null where a report does not have
 * them.  `wall` makes record time seconds since 1970.  Of a job that reported nothing the arrays are empty.
 */
int series_to_json(struct record *record, uint32_t job, const struct wallclock *wall,
	struct json *j, struct err *err);

#endif
