/*
 * Workloads drawn from published distributions, for when there is no trace.
 */
#ifndef IO_SYNTH_H
#define IO_SYNTH_H

#include "base/err.h"
#include "base/text.h"
#include "model/cluster.h"
#include "model/trace.h"

/*
 * Draws a trace by "jobs=1000,load=0.9,…"; the same text, cluster size and seed give the same jobs.
 * `cluster` is what the load refers to; NULL: 64 devices.  On success `out` owns its jobs: release
 * it with trace_fini().
 */
int synth_trace(const char *options, const struct cluster *cluster, struct trace *out, struct err *err);

/* The options with defaults, ranges and meaning, a line each. */
void synth_help(struct buf *out);

#endif
