/*
 * Quotas: what tenants hold in a plan against what they are promised.
 *
 * The ledger follows every device that a plan gives or takes back, up the tree of
 * tenants.  A tenant is *within* its guarantee while it holds no more than that, and
 * *above* it by what it has borrowed.  From that it answers, for a job and devices:
 *
 *	may it have them?     nobody above it may exceed guaranteed + borrow, and what
 *	                      others keep of their idle devices (guaranteed but not lent)
 *	                      stays free
 *	has it a right to them, so that borrowers must go?
 *	                      at the lowest tenant above both, the side of the job stays
 *	                      within its guarantee, and that of the borrower is above its
 *	                      own, down to the borrower's tenant
 *
 * The jobs of a tenant that has others below it count as one more of these: it is
 * promised what the others leave.  Shares of devices count as such; a device that two
 * jobs have side by side counts for both.
 */
#ifndef PLACEMENT_QUOTA_H
#define PLACEMENT_QUOTA_H

#include "model/quota.h"
#include "model/round.h"
#include "placement/reclaim.h"

struct quota;

/*
 * Tenants are bound, or NULL: then nobody is promised or denied anything.  Devices of cells that the placer keeps
 * are among what is promised; NULL: it keeps none.  ERR_REFUSED: too much is promised.
 */
int quota_create(const struct cluster *cluster, const struct tenants *tenants,
	const struct cell_design *cells, struct quota **out, struct err *err);
void quota_destroy(struct quota *quota);

/* The plan gave these devices to the job (or took them back). */
void quota_take(struct quota *quota, const struct job *job, const struct grant *grant);
void quota_give(struct quota *quota, const struct job *job, const struct grant *grant);
/* The job competes for as many as it asks for (or no longer). */
void quota_ask(struct quota *quota, const struct job *job);
void quota_unask(struct quota *quota, const struct job *job);

/* Who gives way to whom; devices lent by class are taken back as before where `under` says so. */
struct reclaim quota_reclaim(struct quota *quota, struct reclaim under);

/*
 * Whether the job, which holds nothing, may have so many devices; `fresh` of them are free now.  Else why
 * not, with what there is room for.
 */
bool quota_allows(const struct quota *quota, const struct plan *plan, const struct job *job,
	const struct grant_part *parts, uint32_t nparts, uint32_t fresh, struct reason *why);
/* The numbers of a job that is stopped because its devices were borrowed. */
void quota_prove(const struct quota *quota, const struct job *job, struct reason *reason);
/* Of one that is stopped with so many devices because its tenant has more than it may. */
void quota_prove_limit(const struct quota *quota, const struct job *job, uint32_t gpus,
	struct reason *reason);

/*
 * The job has a right to so many devices of the type more than its tenant holds: 1 its tenant's own, 2 that of the
 * one above it, and so on; 0: it has none.
 */
uint32_t quota_right(const struct quota *quota, const struct job *job, struct grant_part part);
/* Whether anybody holds more than guaranteed + borrow, which happens only when quotas change; and whether this job's tenant does. */
bool quota_exceeded(const struct quota *quota);
bool quota_exceeds(const struct quota *quota, const struct job *job);

/* The most devices of a type that the job's tenant could ever have. */
uint32_t quota_most(const struct quota *quota, const struct job *job, uint32_t type);
/* What so many devices of the job count as: a gang of fractions in whole ones, the last perhaps not full. */
uint32_t quota_need(const struct job *job, uint32_t gpus);
/* Whether those who compete already ask for as much as the job's tenant, or one above it, may have; else why it waits. */
bool quota_is_full(const struct quota *quota, const struct job *job, struct reason *why);
/*
 * After a decision: whether the job, which does not compete, would be within its tenant's guarantee beside
 * what runs and whoever was let in since.  quota_ask() of such a job is counted until quota_settle().
 */
bool quota_idles_for(const struct quota *quota, const struct job *job);
void quota_settle(struct quota *quota, bool settled);
/* The job of the same tenant that came first and is kept outside, or JOB_NONE; who keeps them there says so, of all anew. */
uint32_t quota_first_outside(const struct quota *quota, const struct job *job);
void quota_outside(struct quota *quota, const struct job *job);
void quota_nobody_outside(struct quota *quota);

/* What is said of a tenant by index in the table; of its jobs and all below it. */
struct quota_standing {
	double guaranteed; /* devices */
	double borrow;     /* INFINITY: no limit */
	double lend;       /* likewise */
	double held;       /* now */
	double borrowed;   /* of these, above what it is guaranteed */
	double asked;      /* by all its jobs that compete */
};
struct quota_standing quota_standing(const struct quota *quota, uint32_t tenant);
/* Of the job's tenant. */
uint32_t quota_tenant(const struct quota *quota, const struct job *job);

#endif
