/*
 * What single jobs held over time: a few jobs that stand for all, the same
 * ones whatever the policy.
 */
#ifndef REPORT_TIMELINE_H
#define REPORT_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/outcome.h"
#include "model/trace.h"

enum { TIMELINES_MAX = 200 };

struct timeline {
	uint32_t id;
	char *label, *model; /* model may be NULL */
	int32_t min_gpus, max_gpus;
	double arrival_s, finish_s; /* NAN: it did not finish */
	uint32_t resizes, restarts;
	struct span *spans; /* by start */
	uint32_t nspans;
};

/* A zeroed list is valid and empty. */
struct timelines {
	struct timeline *at; /* by id */
	uint32_t n;
	uint32_t elastic; /* jobs of the run that may change their size or batch; the longest are kept */
	bool cut;         /* the run recorded but its first spans */
	struct span *spans; /* of all */
};

/* Copies what it keeps.  Empty unless the run recorded spans.  Release with timelines_fini(). */
void timelines_of(const struct trace *trace, const struct outcome *outcome, struct timelines *out);
void timelines_fini(struct timelines *list);

#endif
