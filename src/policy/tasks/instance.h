/*
 * A round as a problem of moldable jobs: resources, and what each job can be
 * given with the time it is believed to take then.
 */
#ifndef POLICY_TASKS_INSTANCE_H
#define POLICY_TASKS_INSTANCE_H

#include "model/family.h"
#include "model/moldable.h"

enum { INSTANCE_GPUS, INSTANCE_CPUS, INSTANCE_GIB };

struct instance {
	const struct round *round;
	struct family family; /* whose places are the problem's jobs */
	struct moldable m;
	struct moldable_job *jobs;
};

/* Everything in the round's scratch.  Who runs has one point: what it has, for what is left. */
void instance_of(struct instance *in, const struct round *round);

#endif
