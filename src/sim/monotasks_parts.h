/*
 * The state of sim/monotasks, shared by its files and nobody else.
 */
#ifndef SIM_MONOTASKS_PARTS_H
#define SIM_MONOTASKS_PARTS_H

#include "base/heap.h"
#include "sim/monotasks.h"

struct task {
	uint32_t stage, worker;
	uint32_t step;  /* that it waits for or runs */
	double start_s; /* of that */
};

struct stage_state {
	uint32_t first;      /* of its tasks */
	uint32_t placed;     /* so many of its tasks, in order */
	uint32_t unfinished; /* tasks */
	uint32_t waits;      /* stages before it that have not ended */
};

struct mono_progress {
	double priority; /* smaller is first: its place in line */
	uint32_t order;  /* of arrival */
	uint32_t stages_left;
	double done[MONO_RESOURCES];
	double end_s;
};

struct worker {
	struct heap queue[MONO_RESOURCES]; /* tasks whose next step waits for this */
	uint32_t running[MONO_RESOURCES];
	double queued[MONO_RESOURCES]; /* seconds of slots: steps of tasks that are here and have not ended */
	uint32_t taken[MONO_RESOURCES]; /* tasks here that use it in some step */
	uint32_t tasks;
	double mem_free;
	double measured[MONO_RESOURCES]; /* what it is believed to do in a second */
};

struct mono {
	const struct mono_config *config;
	const struct mono_load *load;
	struct arena memory;
	struct task *tasks;
	struct stage_state *stages;
	struct mono_progress *jobs;
	struct worker *workers;
	uint32_t *depth;  /* by stage */
	uint32_t *active; /* jobs that have come and not ended */
	uint32_t nactive;
	struct heap ends; /* running tasks by when their step ends */
	uint32_t left;    /* jobs that have not ended */
	uint32_t waiting; /* tasks that could be placed and were not */
	double now_s;
	double busy_s[MONO_RESOURCES];
	uint64_t monotasks, decisions;
};

/* The task is on the worker from now on. */
void mono_place(struct mono *m, uint32_t task, uint32_t worker);
/* monotasks_place.c: one decision. */
void mono_decide(struct mono *m);

#endif
