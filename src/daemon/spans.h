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
	const char *type;    /* of the devices; NULL: not said */
	double from_s, to_s; /* NAN: still */
	const char *end; /* "COMPLETED", "PREEMPTED", …; NULL: still, or it changed its size */
};

/* A job and its spans, which live for the call. */
struct span_job {
	uint32_t id;
	const char *name, *user, *tenant, *model; /* NULL: none */
	uint32_t array_id, array_index;           /* array_id 0: of no array */
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

struct span_range {
	double from_s;
	uint32_t jobs_max; /* of those that ended; 0: all */
	bool all_nodes;    /* also of nodes that are not there any more */
};

/*
 * Every job that is live or ended after range->from_s; `*more` (may be NULL): more ended than jobs_max.
 */
int spans_walk(struct record *record, const struct desk *desk, const struct span_range *range,
	span_see *see, void *ctx, bool *more, struct err *err);

#endif
