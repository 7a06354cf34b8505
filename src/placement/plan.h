/*
 * What shall be running: the complete desired state, with devices.
 *
 * A plan persists from round to round.  It starts each round as what runs
 * now; a policy edits it, and the engine carries out the difference.  Leaving
 * a job out preempts it.  Devices are chosen at once by the plan's placer, so
 * that a policy knows whether a job fits before it goes on; a job that is
 * stopped and run again in one round keeps its devices if they are still free.
 *
 * Jobs that take a part of each device (job_is_fraction()) are put together on
 * devices without the policy having to know: they fill up those that others of
 * them have begun, the fullest first, before they begin new ones.
 *
 * A job that avoids devices (job.avoid) gets others, or none: it waits for them as long
 * as the cluster has others for it that work.  Only where the policy names the nodes
 * itself (plan_run_at) they are merely the last that it gets.
 */
#ifndef PLACEMENT_PLAN_H
#define PLACEMENT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "placement/placer.h"
#include "placement/reclaim.h"
#include "placement/space.h"

struct quota;

struct plan_entry {
	struct grant *held; /* what it has */
	struct grant *next; /* what it shall have; may be the same object */
	bool touched;       /* listed in plan.touched */
	bool told;          /* a reason is in plan.reasons */
};

/* Room for a fraction beside others. */
struct plan_seat {
	uint32_t node, device;
	uint32_t share; /* that the others have */
};

struct plan_reason {
	uint32_t job;
	struct reason reason;
};

/* A node to be rented, or to go back. */
struct plan_rental {
	uint32_t node;
	bool rent;
};

struct plan {
	struct space space; /* as it would be if the plan were carried out */
	struct space empty; /* the whole cluster free, made when first asked for */
	const struct placer *placer;
	void *placer_state;
	const struct profile *belief;
	struct rng rng;
	const struct job *jobs; /* by id, as in the round; for taking back */
	double now_s;
	struct reclaim reclaim;  /* who gives way to whom; zeroed: nobody */
	struct quota *quota;     /* what tenants hold, and may; NULL: nobody counts */
	bool gated;              /* nobody gets more than that */
	struct grant_part asked; /* while something is taken back: for this */
	struct reason never; /* why the placer could never place the last job that was asked about; WHY_NONE: it did not say */
	struct placing_note note; /* what the placer said to the last question */
	uint32_t refused;         /* the job that it refused for a reason of its own, or JOB_NONE */
	VEC(struct reclaim_holder) holders; /* scratch of taking back */
	VEC(struct reclaim_group) groups;   /* likewise */
	VEC(uint32_t) given;                /* likewise: jobs whose devices are free for a moment */
	VEC(uint64_t) lent;                 /* likewise, by node */
	VEC(struct plan_entry) entries;     /* by job */
	VEC(uint32_t) touched;
	VEC(struct plan_reason) reasons;
	VEC(struct grant *)
	dropped;             /* of jobs that ended since the last round; observers may still look */
	bool placer_erred;   /* its answer was not what it was asked for */
	struct slots found;  /* scratch of placers */
	struct slots joined; /* scratch: devices put together */
	VEC(struct plan_seat) seats;     /* scratch: devices that fractions leave room on */
	VEC(struct plan_rental) rentals; /* asked for in this round */
	uint64_t stirred; /* grows whenever books of the placer may have changed, also if all lies as before */
	double wake_s; /* when the policy wants to decide again though nothing happened */
};

void plan_init(struct plan *plan, const struct cluster *cluster, const struct placer *placer,
	void *placer_state, uint64_t seed);
void plan_fini(struct plan *plan);
/* From now on quotas are kept: `quota` follows the plan and, if `gated`, says who may have what.  Before anybody holds anything. */
void plan_set_quota(struct plan *plan, struct quota *quota, bool gated);

/* For policies. */

/* Runs `job` as wanted (and says false if there is no room for it so); a job that already runs so keeps its devices. */
bool plan_run(struct plan *plan, const struct job *job, struct want want);
/*
 * Runs `job` on devices of several types at once: all of `parts`, each of another type, or nothing and
 * false.  Of each type it keeps the devices it has there if they are as many.  want.gpus and want.type
 * do not count.  A job whose gang depends on the type takes one part only.
 */
bool plan_run_parts(struct plan *plan, const struct job *job, const struct grant_part *parts,
	uint32_t nparts, struct want want);
/*
 * Runs `job` on exactly so many devices of these nodes, each node named once, in this order.  The placer is
 * not asked, but for one that holds jobs to places of their own (placer.suits): it may have the job on as many
 * other devices of the type, unless want.there.  want.gpus and want.type do not count.  On each node it keeps what it has there as far as
 * that goes, unless want.move; the rest are the lowest that are free.  False, and all is as it was: a node
 * is down, has too few free devices, CPUs or memory, or is of a type that the job may not use; or the placer has
 * no place for it.
 */
bool plan_run_at(struct plan *plan, const struct job *job, const struct node_share *at, uint32_t n,
	struct want want);
/*
 * Runs `job` on devices that `host` shall have, both at once; `want` says the rest.  As many as the host
 * has are the very same; of more it gets those it has already if they are among them, else those that
 * the host has for itself first, in order.  False: the host shall not run, it has fewer devices than
 * wanted or of a type the job may not use, its nodes lack CPUs or memory, they are drained, or one of the
 * two is a fraction: these keep their parts to themselves.
 */
bool plan_run_beside(struct plan *plan, const struct job *job, const struct job *host,
	struct want want);
/*
 * Runs `job` on exactly these devices, each node named once, whoever else has them; want.gpus and want.type
 * do not count.  False, and all is as it was: one of them is down, drained anew or in the hands of a fraction
 * (a fraction: it leaves too little); the job may not use the type; its host, or the nodes if it has none,
 * lack CPUs or memory.
 */
bool plan_run_upon(struct plan *plan, const struct job *job, const struct slot *slots, uint32_t n,
	struct want want);
/* The job goes on with what it has on nodes that are not marked (by node); it must have something there. */
void plan_leave(struct plan *plan, const struct job *job, const bool *nodes);
/* The job shall not run. */
void plan_stop(struct plan *plan, const struct job *job);
/* Nothing shall run: for policies that build the whole state anew. */
void plan_clear(struct plan *plan, const struct job *jobs, const uint32_t *active, uint32_t nactive);
/* What the job shall have, or NULL. */
const struct grant *plan_grant(const struct plan *plan, uint32_t job);
/* Free devices of a type on nodes that are up, if the plan ran. */
uint32_t plan_free(const struct plan *plan, uint32_t type);
/* The same, and if `job` is a fraction those too that others leave enough of for it. */
uint32_t plan_room(const struct plan *plan, const struct job *job, uint32_t type);
/* A node that can be rented shall be (and is up some time after), or shall go back: nobody shall have anything there. */
void plan_rent(struct plan *plan, uint32_t node, bool rent);
/* Decide again at `at_s` at the latest. */
void plan_wake(struct plan *plan, double at_s);
/* Whether the rule of placement itself refused `job` when it was last tried, and not want of room; the reason is said. */
bool plan_refuses(struct plan *plan, const struct job *job);
/* Why `job` is left out; the first reason of a round stands. */
void plan_why(struct plan *plan, uint32_t job, struct reason reason);

/* For the engine. */

/* A new round: no changes, no reasons, no wake-up.  plan->jobs and now_s are the engine's to set before. */
void plan_begin(struct plan *plan);
/* The difference has been carried out. */
void plan_commit(struct plan *plan);
/* Takes everything from a job at once (it ended, or its node failed); its grant lasts until the next round. */
void plan_drop(struct plan *plan, const struct job *job);
void plan_node_up(struct plan *plan, uint32_t node, bool up);
/* Single devices of a node; whoever holds one that goes down keeps it until plan_drop() or a change of plan. */
void plan_devices_up(struct plan *plan, uint32_t node, uint64_t devices, bool up);
/* Exactly these devices of a node are drained: nobody new gets them, and whoever holds one keeps it while it likes. */
void plan_devices_drain(struct plan *plan, uint32_t node, uint64_t devices);
/* `job` holds these devices already, from before this plan; they are free in it.  Copies the grant and returns the copy. */
const struct grant *plan_adopt(struct plan *plan, const struct job *job, const struct grant *grant);
/* Whether `job` could run as asked if the cluster were empty and whole. */
bool plan_could_ever(struct plan *plan, const struct job *job);
/* The same with its process on one node and its devices on any. */
bool plan_could_ever_apart(struct plan *plan, const struct job *job);

#endif
