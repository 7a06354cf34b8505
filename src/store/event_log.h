/*
 * events.jsonl: what happened in a run, one JSON object a line, written as the
 * run goes; and the check that another run does the same.
 */
#ifndef STORE_EVENT_LOG_H
#define STORE_EVENT_LOG_H

#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "engine/observer.h"
#include "model/cluster.h"
#include "model/event.h"

/* One event as its line, without the newline.  `other` is the label of the job that event->reason names; NULL: unknown. */
void event_format(const struct event *event, const struct job *job, const char *other,
	const struct cluster *cluster, struct buf *out);

/* Writes events.jsonl.  Keeps `cluster`, and the labels of the jobs it sees. */
struct event_log;
/* Lines go to `path` when committed. */
int event_log_create(const char *path, const struct cluster *cluster, struct event_log **out,
	struct err *err);
struct observer event_log_observer(struct event_log *log);
/* Fails if any line before could not be written. */
int event_log_commit(struct event_log *log, struct err *err);
void event_log_destroy(struct event_log *log); /* abandons what was not committed */

/* Compares a run, event by event, with the events.jsonl of an earlier one.  Keeps as above. */
struct event_check;
int event_check_create(const char *path, const struct cluster *cluster, struct event_check **out,
	struct err *err);
struct observer event_check_observer(struct event_check *check);
/* ERR_DIFFER with line, what was recorded and what happened now at the first difference; else `events` were equal. */
int event_check_finish(struct event_check *check, uint64_t *events, struct err *err);
void event_check_destroy(struct event_check *check);

#endif
