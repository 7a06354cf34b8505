/*
 * Who had which devices from when to when, from the record.
 */
#ifndef DAEMON_SPANS_H
#define DAEMON_SPANS_H

#include "daemon/library.h"

/* Devices of one node that one attempt held. */
struct hold_span {
	uint32_t attempt;
	uint32_t node;
	uint64_t devices;    /* bits */
	double from_s, to_s; /* NAN: still */
	const char *end; /* "COMPLETED", "PREEMPTED", …; NULL: still, or it changed its size */
};

/* A job and its spans, which live for the call. */
struct span_job {
	uint32_t id;
	const char *name, *user, *tenant; /* NULL: none */
	const char *state;
	bool live;
	bool waits; /* without devices it waits for them; false for one that is held or depends */
	uint32_t gpus;                    /* asked for */
	double arrival_s, begin_s, end_s; /* begin_s: not before; end_s NAN while live */
	const struct hold_span *spans;
	size_t n;
};

typedef void span_see(void *ctx, const struct span_job *job);

enum { SPAN_JOBS_MAX = 200000 };

/*
 * Every job that is live or ended after `from_s`, at most SPAN_JOBS_MAX of those that ended: `*more` then.
 * Spans of nodes that are not there any more are left out.
 */
int spans_walk(struct record *record, const struct desk *desk, double from_s, span_see *see,
	void *ctx, bool *more, struct err *err);

#endif
