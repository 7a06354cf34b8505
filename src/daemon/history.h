/*
 * The history of a job as its record tells it: who did what, by which rule, from
 * which inputs.
 *
 * Rows of the record are never changed, so neither is a history; it only grows.
 * Reports of progress in a row are one event.  What only says that something was
 * carried out or written down is left out.
 */
#ifndef DAEMON_HISTORY_H
#define DAEMON_HISTORY_H

#include "base/json.h"
#include "base/wallclock.h"
#include "store/record.h"

/*
 * Adds the array "events"; `wall` makes record time seconds since 1970.  What the job's submission
 * says of commands and variables is not in it.  ERR_MISSING: there is no such job.
 */
int history_to_json(struct record *record, uint32_t job, const struct wallclock *wall,
	struct json *j, struct err *err);

#endif
