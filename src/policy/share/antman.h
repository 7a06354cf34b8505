/*
 * What the files of AntMan share: its memory, and one decision in the making.
 */
#ifndef POLICY_SHARE_ANTMAN_H
#define POLICY_SHARE_ANTMAN_H

#include "policy/fair/tenant_queues.h"
#include "policy/share/loads.h"

struct account {
	double weight;      /* of the tenant; 0: it has had no jobs yet */
	double promised;    /* devices that its file guarantees; NAN: it says nothing */
	double used, quota; /* devices */
	uint32_t blocker;   /* the job of it that waits ahead of others, or JOB_NONE */
};

struct antman {
	double util, tolerance, step, memory, worth;
	double quota;
	bool borrow;

	VEC(struct account) accounts; /* by tenant_number() */
	struct settled *settled;      /* kept from decision to decision */
	uint64_t upgrades, paused, moved;
};

/* One decision. */
struct antman_round {
	struct antman *a;
	const struct round *round;
	struct plan *plan;
	struct loads loads;
	uint32_t reserved[TYPES_MAX]; /* devices that gangs which wait keep from other guaranteed jobs */
	uint32_t keeper;              /* the first of these gangs */
	struct lifted *lifted; /* guests that are off their devices for a moment; NULL: none are */
	uint32_t nlifted;
	struct seat *seats; /* room for all devices of any type, used by one job after the other */
};

/* A guest runs on what is left; fractions cannot share a device with others and have their part to themselves. */
static inline bool is_guest(const struct job *job, const struct grant *grant)
{
	return grant->guest || (job_is_fraction(job) && job->class_ == JOB_OPPORTUNISTIC);
}

/* antman.c: whether it may run on what others leave. */
bool antman_may_be_guest(const struct antman_round *d, const struct job *job);

/* antman_guests.c: guests get devices, or better ones; then all launch as fast as the coordinators let them. */
void antman_run_guests(struct antman_round *d);
void antman_set_rates(struct antman_round *d);

#endif
