/*
 * Summaries: what stays of the status of a job or an attempt once its events are pruned.
 */
#ifndef LIVE_SUMMARY_H
#define LIVE_SUMMARY_H

#include "base/text.h"

/*
 * Leaves out what only a job that runs again needs, and keeps times to the millisecond.  A job's summary is
 * still a status: live_job_from_status() reads it.  Appends nothing where `status` is not JSON.
 */
void live_summarise(const char *status, struct buf *out);

/* How long things are kept, as flags understand it: "90d", "36h", "90s"; `text` has room for 32. */
const char *retention_age(double seconds, char *text);

#endif
