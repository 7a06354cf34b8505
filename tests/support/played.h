/*
 * A recorded workload, played: for comparing with what others published of it.
 */
#ifndef TESTS_SUPPORT_PLAYED_H
#define TESTS_SUPPORT_PLAYED_H

#include "model/hosting.h"
#include "sim/sim.h"

struct played {
	struct trace trace;
	struct cluster cluster;
	struct profile *profile;
	struct hosting *hosting; /* NULL: none */
	struct outcome outcome;
};

/* What goes wrong fails the test. */

/* Nothing but a cluster, "32x1:v100". */
void played_init(struct played *p, const char *cluster);
/* Reads the trace, and makes a profile for it in which nothing is known. */
void played_read(struct played *p, const char *trace);
/* The same, and reads the speeds. */
void played_read_speeds(struct played *p, const char *trace, const char *speeds);
/* Fills in the outcome. */
void played_run(struct played *p, const char *policy, uint64_t seed);
void played_fini(struct played *p);

#endif
