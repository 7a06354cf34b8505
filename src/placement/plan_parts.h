/*
 * What the files of a plan share: for nobody else.
 *
 * plan.c keeps the entries and the ledger, plan_find.c finds devices where the policy leaves open which,
 * plan_where.c where it says so.
 */
#ifndef PLACEMENT_PLAN_PARTS_H
#define PLACEMENT_PLAN_PARTS_H

#include "placement/plan.h"

/* plan.c */

/* The job's entry; until another is asked for. */
struct plan_entry *plan_entry_of(struct plan *plan, uint32_t job);
/* The job without CPUs and memory: one whose process is elsewhere takes none of the nodes where its devices are. */
struct job plan_bare(const struct job *job);
/* The ledger, and the placer's books where it keeps some, when a job gets the devices of a grant or gives them back. */
void plan_take(struct plan *plan, const struct job *job, const struct grant *grant);
void plan_give(struct plan *plan, const struct job *job, const struct grant *grant);

uint32_t plan_gpus_wanted(const struct want *want, const struct job *job, uint32_t type);
/* Whether all but the devices is as wanted. */
bool plan_terms_suit(const struct grant *grant, const struct want *want);
/* A grant of these devices on the terms wanted; the caller's until plan_settle_on() or plan_put_down(). */
struct grant *plan_make_grant(const struct plan *plan, const struct slot *slots, uint32_t nslots,
	const struct want *want);
/* The devices of a grant on the terms wanted: the grant itself where it has them. */
struct grant *plan_renew(const struct plan *plan, struct grant *grant, const struct want *want);

/* Fills in what the policy left open; the job as it shall be fed, which is `copy` if that is not as it asked. */
const struct job *plan_complete(struct want *want, const struct job *job, struct job *copy);
/* The job shall have `found` instead of what it had in the plan, which has been given back. */
void plan_settle_on(struct plan *plan, const struct job *job, struct grant *found);
/* Takes up what the job has so that it can be placed anew: plan_put_down() or plan_settle_on() must follow. */
struct grant *plan_lift(struct plan *plan, const struct job *job);
/* The job shall have `found`, or if that is NULL what it had before; says which. */
bool plan_put_down(struct plan *plan, const struct job *job, const struct grant *before,
	struct grant *found);

/* plan_find.c */

/* Whether a device of the type has the memory that the job says it needs of each. */
bool plan_holds_memory(const struct space *space, const struct job *job, uint32_t type);
/* Devices of a node that the job could have as things are. */
uint64_t plan_open_to(const struct plan *plan, const struct job *job, uint32_t node);
/* Whether devices of a node that a job holds are free and fed for it, if it has `gpus` in all. */
bool plan_can_have(const struct plan *plan, const struct job *job, uint32_t gpus, struct slot slot);
/* Whether the job can have again what it held. */
bool plan_can_keep(struct plan *plan, const struct job *job, const struct grant *held);
/* Whether quotas let the job have so many; true where there are none. */
bool plan_allows(struct plan *plan, const struct job *job, struct grant_part part);
/* The same of given devices. */
bool plan_allows_slots(struct plan *plan, const struct job *job, const struct slot *slots, uint32_t n);

/* Whether the placer lets the job have the devices of `grant`, which it did not choose just now. */
bool plan_suits(struct plan *plan, const struct job *job, const struct grant *grant);
/* `part` of the job's devices, `rest` being elsewhere, into plan->found. */
bool plan_find_part(struct plan *plan, const struct job *job, struct grant_part part, uint32_t rest);
/* New devices for the job, or NULL. */
struct grant *plan_find(struct plan *plan, const struct job *job, const struct want *want);

/* What the job avoids of a node. */
uint64_t plan_avoided_on(const struct job *job, uint32_t node);
/* What the job avoids is not seen until plan_show_avoided(), unless it has nowhere else to go. */
void plan_hide_avoided(struct plan *plan, const struct job *job);
void plan_show_avoided(struct plan *plan, const struct job *job);

#endif
