/*
 * Parts of policies that hand out devices tenant by tenant: each tenant's jobs
 * wait in order of arrival, and one tenant after the other puts its next
 * forward.
 */
#ifndef POLICY_FAIR_TENANT_QUEUES_H
#define POLICY_FAIR_TENANT_QUEUES_H

#include "policy/kit.h"

/* A tenant's part of the queue: what is not tried yet. */
struct tenant_queue {
	uint32_t next, end;
};

/* Jobs without a tenant form one of their own: number 0. */
static inline size_t tenant_number(const struct job *job)
{
	return job->tenant == NAME_NONE ? 0 : (size_t)job->tenant + 1;
}

/* Sorts `n` jobs by tenant, then arrival. */
void tenant_queues_sort(const struct round *round, uint32_t *jobs, uint32_t n);
/* Of each tenant's jobs in the sorted queue, those that would lose work by being stopped come first, most first. */
void tenant_queues_keep(const struct round *round, uint32_t *jobs, uint32_t n);
/* The job at `place` in the sorted queue is one of this tenant's. */
void tenant_queue_add(struct tenant_queue *queue, uint32_t place);

/* The tenant's later jobs stay behind the one that does not fit. */
void tenant_queue_block(struct tenant_queue *queue, const uint32_t *jobs, uint32_t blocker,
	struct plan *plan);
/* Why a job has nothing: one that runs and loses its devices does so because its tenant is above its share. */
void tenant_left_out(const struct round *round, struct plan *plan, const struct job *job);
/* What a job was given. */
struct tenant_gift {
	uint32_t job, gpus;
};

/* Once it is known who runs, those that run already keep their places and the others take what is left. */
void tenant_queues_settle(const struct round *round, struct plan *plan,
	const struct tenant_gift *gifts, uint32_t n);

#endif
