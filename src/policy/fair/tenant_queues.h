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

/* What its tenant's file says, else the job itself. */
static inline double tenant_weight(const struct round *round, const struct job *job)
{
	return round->tenants ? tenants_of_job(round->tenants, job)->weight : job->weight;
}

/* What is left after so long of use that counts half after `half_life_s`. */
double tenant_fade(double seconds, double half_life_s);

/* Sorts `n` jobs by tenant, then arrival. */
void tenant_queues_sort(const struct round *round, uint32_t *jobs, uint32_t n);
/* Of each tenant's jobs in the sorted queue, those of larger priority come first; equals in order of arrival. */
void tenant_queues_by_priority(const struct round *round, uint32_t *jobs, uint32_t n);
/* Of each tenant's jobs in the sorted queue, those that would lose work by being stopped come first, most first. */
void tenant_queues_keep(const struct round *round, uint32_t *jobs, uint32_t n);
/* The job at `place` in the sorted queue is one of this tenant's. */
void tenant_queue_add(struct tenant_queue *queue, uint32_t place);

/* The tenant's later jobs stay behind the one that does not fit. */
void tenant_queue_block(struct tenant_queue *queue, const uint32_t *jobs, uint32_t blocker,
	struct plan *plan);
/* Why a job has nothing where no share proves it: it found no room, or others were before it. */
void tenant_left_out(const struct round *round, struct plan *plan, const struct job *job);
/*
 * Its tenant (or it alone, where jobs share) stands at `share` of its part, 1: exactly; that of `other`, which has
 * the devices, at `against`.
 */
void tenant_why_share(struct plan *plan, const struct job *job, double share, uint32_t other,
	double against);
/* Of each tenant the job that came last of those with devices, by tenant number; JOB_NONE: it has none. */
struct tenant_latest {
	uint32_t *job;
	size_t n;
};

void tenant_latest_make(struct tenant_latest *latest, const struct round *round, size_t tenants);
void tenant_latest_note(struct tenant_latest *latest, const struct job *job);
/* What a tenant has over what it should have. */
typedef double standing_fn(const void *self, size_t tenant);
/*
 * Tells a job that got nothing and whose tenant stands at `share` of the lowest tenant below that which has devices: of one
 * that waits, devices of a job that came later and would do for it with what is free; of one that is stopped, any that it
 * could use.  False: there is none, and nothing was told.
 */
bool tenant_tell_share(const struct tenant_latest *latest, struct plan *plan, const struct job *job,
	double share, standing_fn *standing, const void *self);

/* Of each tenant the job of largest priority of those with devices, the latest of equals; likewise. */
void tenant_latest_note_prior(struct tenant_latest *prior, const struct round *round,
	const struct job *job);
/*
 * Tells a job that got nothing of one of its tenant with a larger priority that came later and has devices which would do
 * for it with what is free.  False: there is none, and nothing was told.
 */
bool tenant_tell_priority(const struct tenant_latest *prior, const struct round *round,
	struct plan *plan, const struct job *job);

/* What a job was given. */
struct tenant_gift {
	uint32_t job, gpus;
};

/* Once it is known who runs, those that run already keep their places and the others take what is left. */
void tenant_queues_settle(const struct round *round, struct plan *plan,
	const struct tenant_gift *gifts, uint32_t n);

#endif
