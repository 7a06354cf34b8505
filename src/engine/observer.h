/*
 * Whoever wants to know what happens: the record, the report, the page.
 * The engine knows none of them; it tells each event once, in order.
 */
#ifndef ENGINE_OBSERVER_H
#define ENGINE_OBSERVER_H

#include "model/cluster.h"
#include "model/event.h"
#include "model/job.h"

struct observer {
	void *self;
	/*
	 * `job` is the job concerned, NULL if none; where the event takes its devices away, it still shows
	 * them.  Both are borrowed for the call.
	 */
	void (*see)(void *self, const struct event *event, const struct job *job);
};

#endif
