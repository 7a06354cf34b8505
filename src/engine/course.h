/*
 * The course of a run: an observer that keeps means over equal steps of time,
 * who held which device when, and how crowded the cluster was.
 *
 * The length of a run is not known beforehand, so steps double whenever there
 * are too many.
 */
#ifndef ENGINE_COURSE_H
#define ENGINE_COURSE_H

#include "base/vec.h"
#include "engine/observer.h"
#include "engine/outcome.h"

/* How much of everything there is between two events. */
struct crowd {
	double busy_gpus, up_gpus;
	double running, pending;
	double demand_gpus; /* asked for by jobs that run or wait */
};

/* A rate that jumps: what the jumps of a step add up to, and what they bring until its end. */
struct jumps {
	double by, brings;
};

/* Devices that make steps, and what these are worth: as samples, and as work. */
struct work {
	double useful, good, worth;
};

struct work_step {
	struct jumps useful, good, worth;
};

struct course {
	const struct cluster *cluster;
	const uint32_t *held; /* devices in somebody's hands, after the event at hand */
	bool want_spans;
	struct crowd crowd;
	double from_s, now_s;
	bool begun;
	double step_s;
	VEC(struct sample) sums;    /* integrals over each step */
	VEC(struct work_step) work; /* of useful and good GPUs, which are known only afterwards */
	VEC(struct span) spans;
	VEC(uint32_t) open; /* by job: 1 + its first open span, 0 none */
	uint64_t spans_dropped;
	double busy_gpu_s, up_gpu_s;
	double crowding_s;               /* integral of max(1, demand / capacity) */
	VEC(double) crowding_at_start_s; /* by job */
};

/* Keeps `cluster` and `held`. */
void course_init(struct course *course, const struct cluster *cluster, const uint32_t *held,
	bool want_spans);
void course_fini(struct course *course);
struct observer course_observer(struct course *course);

/* So many GPUs made steps between these times, and that came of it.  Told when it is over. */
void course_work(struct course *course, double from_s, double to_s, struct work work);

/* Mean crowding since the job was submitted: 1 when everybody had room, 2 when twice the cluster was asked for. */
double course_crowding(const struct course *course, uint32_t job, double arrival_s);

/* Closes the record at `now_s` and moves it to the outcome. */
void course_finish(struct course *course, double now_s, struct outcome *out);

#endif
