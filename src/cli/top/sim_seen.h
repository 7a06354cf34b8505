/*
 * What a simulation is like now, kept from the events it tells, and as a view.
 */
#ifndef CLI_TOP_SIM_SEEN_H
#define CLI_TOP_SIM_SEEN_H

#include "base/vec.h"
#include "cli/top/view.h"
#include "engine/observer.h"
#include "model/trace.h"

/* A job that runs or waits, as it was told last.  Its grant is `slots`: the engine's own may be gone. */
struct seen_job {
	struct job job;
	struct slot *slots; /* NULL: it waits */
	uint32_t nslots, gpus;
	double held; /* devices, shared ones in part */
};

struct sim_seen {
	const struct cluster *cluster;
	const struct trace *trace;
	uint64_t *down;            /* by node */
	VEC(struct seen_job) jobs; /* in no order */
	VEC(uint32_t) place;       /* by number: 1 + place in `jobs`, 0: not there */
	uint32_t running, waiting, ended;
	double held; /* devices */
};

/* Keeps `cluster` and `trace`.  `pool` may be NULL. */
void sim_seen_init(struct sim_seen *seen, const struct cluster *cluster, const struct trace *trace,
	const bool *pool);
void sim_seen_fini(struct sim_seen *seen);
void sim_seen_event(struct sim_seen *seen, const struct event *event, const struct job *job);

/* Fills an empty view with how things are at `now_s`. */
void sim_seen_view(const struct sim_seen *seen, double now_s, struct view *view);
/* All that is known of a job, for people. */
void sim_seen_details(const struct sim_seen *seen, uint32_t job, double now_s, struct buf *out);

#endif
