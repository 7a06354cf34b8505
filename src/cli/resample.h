/*
 * Another workload like a recorded one, so that a comparison on a fixed trace
 * without chance in it can still say how sure it is.
 *
 * A moving-block bootstrap: runs of neighbouring jobs are drawn with
 * replacement until there are as many jobs as before.  Inside a block jobs keep
 * their order and the gaps between their arrivals, so that bursts stay bursts.
 */
#ifndef CLI_RESAMPLE_H
#define CLI_RESAMPLE_H

#include <stdint.h>

#include "model/trace.h"

/* Jobs in a block: the square root of all, long enough to keep a burst, short enough to differ. */
uint32_t resample_block(const struct trace *trace);

/*
 * Fills `out` from `trace` by the numbers of `seed`: release it with trace_fini().
 * A job drawn again is called "ID#2".  Dependencies are kept where both ends came in
 * the same block; returns how many were not.
 */
uint32_t trace_resample(const struct trace *trace, uint64_t seed, struct trace *out);

/* Which jobs of a trace, and what is known of all of them. */
struct trace_part {
	double from_s;           /* those that arrived then or later; -INFINITY: all */
	const char *measured_on; /* type of the run times where the trace does not say; NULL: still unknown */
};

/*
 * Fills `out` with a part of `trace`, times as they are: release it with trace_fini().  Dependencies
 * on jobs that are left out are dropped.  Returns how many jobs were left out.
 */
uint32_t trace_take(const struct trace *trace, const struct trace_part *part, struct trace *out);

#endif
