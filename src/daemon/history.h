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

#include <sys/types.h>

#include "base/json.h"
#include "base/wallclock.h"
#include "store/record.h"

#define HISTORY_ADMIN ((uid_t)-1)

/*
 * Adds the array "events"; `wall` makes record time seconds since 1970.  What the job's submission
 * says of commands and variables is not in it, and its key and comment only where `reader` is the job's user or
 * HISTORY_ADMIN.  ERR_MISSING: there is no such job.
 */
int history_to_json(struct record *record, uint32_t job, const struct wallclock *wall, uid_t reader,
	struct json *j, struct err *err);

#endif
