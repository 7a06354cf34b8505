/*
 * Jobs that hold devices and do nothing.
 *
 * A running job is idle since the last moment at which its processes used more than a
 * small part of a core, one of its GPUs computed, or it reported progress.  After a while
 * it is warned of (the input "idle_warned"), later its devices are reclaimed (the input
 * "reclaim").  What was seen counts only as these inputs, so a record is replayed without
 * looking at anything.
 */
#ifndef DAEMON_IDLE_H
#define DAEMON_IDLE_H

#include <stdbool.h>

#include "base/err.h"

enum idle_then { IDLE_HOLD, IDLE_REQUEUE, IDLE_CANCEL, IDLE_THENS };

struct idle_rule {
	double warn_s;       /* 0: nobody is watched */
	double reclaim_s;    /* 0: never */
	double cores;        /* who uses less than this many does nothing */
	enum idle_then then; /* what becomes of a job whose devices are reclaimed */
};

/* "off", or "warn=30m,reclaim=2h,then=hold,cores=0.05" of which all may be left out; without reclaim nobody is. */
int idle_rule_parse(const char *text, struct idle_rule *out, struct err *err);

struct daemon;
struct live_job;

/*
 * Has a thread look at what runs if it is time, and judges what it has seen once it is done; what is
 * to be said becomes news.
 */
void daemon_look_idle(struct daemon *d);
/* Seconds until it is; INFINITY: never. */
double daemon_idle_in_s(const struct daemon *d);
void daemon_forget_idle(struct daemon *d);

struct idle_state {
	double since_s; /* in the core's time */
	bool warned;
};
/* Whether the job has been idle for long enough to speak of it. */
bool daemon_is_idle(const struct daemon *d, const struct live_job *job, double now_s,
	struct idle_state *out);

#endif
