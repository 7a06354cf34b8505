/*
 * Jobs of fine-grained tasks: a job is a DAG of stages, a stage so many equal
 * tasks, a task a row of monotasks, each of which uses one resource.
 *
 * Sizes are seconds of one slot of the resource: a core, a stream of the
 * network, a disk, a device.
 */
#ifndef MODEL_MONOTASK_H
#define MODEL_MONOTASK_H

#include <stdint.h>

#include "base/mem.h"
#include "base/text.h"
#include "model/dag.h"

enum mono_resource { MONO_CPU, MONO_NET, MONO_DISK, MONO_GPU, MONO_RESOURCES };
extern const char *const mono_resource_names[MONO_RESOURCES + 1]; /* "cpu", …, NULL */

enum { MONO_STEPS_MAX = 16, MONO_TASKS_MAX = 10000000 };

struct mono_step {
	enum mono_resource resource;
	double size_s;
};

struct mono_stage {
	const char *name;
	uint32_t job;
	uint32_t line; /* where it was read; 0: nowhere */
	uint32_t tasks;
	struct mono_step steps[MONO_STEPS_MAX]; /* one after the other */
	uint32_t nsteps;
	double mem_bytes; /* of each task, from when it is placed until its last step ends */
};

struct mono_job {
	const char *name;
	double arrival_s;
	uint32_t first, nstages; /* its stages stand side by side */
};

/* A zeroed one is valid and empty. */
struct mono_load {
	struct arena memory; /* owns what is below */
	struct mono_job *jobs;
	uint32_t njobs;
	struct mono_stage *stages;
	uint32_t nstages;
	uint64_t ntasks;
	struct dag dag; /* of all stages; acyclic */
	char *source;
};

void mono_load_fini(struct mono_load *load);

struct mono_worker {
	uint32_t slots[MONO_RESOURCES]; /* monotasks of each resource at once; 0: it has none */
	double mem_bytes;
};

#endif
