/*
 * Quotas of tenants: guaranteed, borrow, lend (model/quota.h).
 *
 * The rule switches them on.  Two places keep them:
 *
 *	admission  Who may compete.  A job that asks for more than its tenant could ever
 *	           have is refused.  One that would make those who compete ask for more
 *	           than guaranteed + borrow of its tenant, or of one above it, stays outside
 *	           until others have ended: policies that plan shares do not plan for it.
 *	           If after a decision the tenant still holds less than it is guaranteed,
 *	           because those inside cannot use it, others that can are let in.
 *	the plan   Who may have devices now (placement/quota.h), whatever the policy wants:
 *	           limits are never exceeded, owners take back what borrowers hold.
 */
#include "placement/quota.h"
#include "policy/admission.h"

/* Tenants whose jobs go in order of arrival keep it outside, too. */
static bool follows_another(const struct round *round, const struct job *job, struct reason *why)
{
	const struct tenant *tenant = round->tenants ? tenants_of_job(round->tenants, job) : NULL;
	uint32_t other = quota_first_outside(round->quota, job);

	if (!tenant || tenant->within != WITHIN_FIFO || other == JOB_NONE || other >= job->id)
		return false;
	*why = (struct reason){ .why = WHY_BEHIND, .need = job->gpus, .other = other };
	return true;
}

/* The type of which it lacks least, with how much of that there is for it at most. */
bool admission_could_ever(const struct round *round, const struct job *job, struct reason *why)
{
	const struct quota *quota = round->quota;
	int64_t nearest = INT64_MIN;

	for (uint32_t type = 0; type < round->cluster->ntypes; type++) {
		int64_t need = quota_need(job, job_least_on(job, type)), have;

		if (!job_may_use(job, type))
			continue;
		have = quota_most(quota, job, type);
		if (have >= need)
			return true;
		if (have - need > nearest) {
			nearest = have - need;
			*why = (struct reason){
				.why = WHY_QUOTA,
				.need = (int32_t)need,
				.have = (int32_t)have,
				.other = JOB_NONE,
				.against = have > 0 ? (double)have : -1,
			};
		}
	}
	return false;
}

static enum verdict quota_decide(void *self, const struct round *round, const struct job *job,
	int64_t demand, struct reason *why)
{
	(void)self;
	(void)demand;
	if (!admission_could_ever(round, job, why))
		return ADMIT_REJECT;
	if (!quota_is_full(round->quota, job, why) && !follows_another(round, job, why))
		return ADMIT_ACCEPT;
	return why->why == WHY_QUOTA && quota_idles_for(round->quota, job) ? ADMIT_ACCEPT : ADMIT_HOLD;
}

const struct admission admit_quota = {
	.name = "quota",
	.summary = "tenants get what they are guaranteed, borrow what idles, and give it back",
	.quotas = true,
	.decide = quota_decide,
};
