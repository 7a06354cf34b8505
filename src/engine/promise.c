/*
 * What tenants were promised, kept whatever the policy decided: devices by quota (placement/quota.h),
 * or cells (placement/hived.c).
 *
 * A policy orders and shares; that a tenant gets its guaranteed devices as soon as one of its
 * jobs asks for them does not depend on it.  After it has decided, whoever was left out
 * with a right to devices gets free ones, or those of borrowers: first who needs only what is its
 * tenant's own, then who needs what is left of those above.  Where the policy decides in rounds the
 * same is done whenever something happened in between: the policy finds it done in its next round.
 */
#include "engine/state.h"
#include "policy/kit.h"

/* Each turn more of what is guaranteed is in the right hands, so that it ends long before. */
enum { TURNS_MAX = 1000 };

/* Its right to so many devices, by its tenant's quota or by the rule of placement; 0: it has none, 1: its tenant's own. */
static uint32_t right_to(const struct engine *e, const struct job *job, struct grant_part part)
{
	const struct chosen_placer *placer = &e->config->placer;
	const struct reclaim *rule = placer->rule->reclaim;
	uint32_t right = e->plan.gated ? quota_right(e->quota, job, part) : 0;

	if (right == 0 && rule && rule->due && rule->due(placer->state, &e->plan, job, part))
		right = 1;
	return right;
}

/* The same of what it asks for of a type, or else of the fewest it takes; which, `part` then says. */
static uint32_t right_on(const struct engine *e, const struct job *job, uint32_t type,
	struct grant_part *part)
{
	uint32_t right;

	if (!job_may_use(job, type))
		return 0;
	*part = (struct grant_part){ type, job_gpus_on(job, type) };
	right = right_to(e, job, *part);
	if (right == 0 && job_least_on(job, type) < part->gpus) {
		part->gpus = job_least_on(job, type);
		right = right_to(e, job, *part);
	}
	return right;
}

/* Of the types it may use, the one where its right is nearest; 0: it has none. */
static uint32_t right_of(const struct engine *e, const struct job *job)
{
	uint32_t nearest = 0;

	for (uint32_t type = 0; type < e->config->cluster->ntypes; type++) {
		struct grant_part part;
		uint32_t level = right_on(e, job, type, &part);

		if (level && (!nearest || level < nearest))
			nearest = level;
	}
	return nearest;
}

/* First what is free, then what others have borrowed, on any type it can run on, the fastest first. */
static bool start(struct engine *e, const struct job *job)
{
	struct round round = engine_round(e);
	uint32_t types[TYPES_MAX], n = kit_types(&round, job, types);

	for (int gentle = 1; gentle >= 0; gentle--) {
		for (uint32_t i = 0; i < n; i++) {
			struct grant_part part;

			if (right_on(e, job, types[i], &part) &&
				plan_run(&e->plan, job,
					(struct want){ .type = (int)types[i],
						.gpus = part.gpus,
						.gentle = gentle }))
				return true;
		}
	}
	return false;
}

static uint32_t tenant_index(const struct engine *e, const struct job *job)
{
	const struct tenants *tenants = e->config->tenants;

	return tenants ? (uint32_t)(tenants_of_job(tenants, job) - tenants->at) : 0;
}

/* A tenant that takes its jobs in order does not start one behind another that waits. */
static bool *order_kept(struct engine *e)
{
	const struct tenants *tenants = e->config->tenants;

	return arena_array(&e->scratch, bool, tenants ? tenants->n : 1);
}

static bool in_order(const struct engine *e, const struct job *job)
{
	const struct tenants *tenants = e->config->tenants;

	return tenants && tenants_of_job(tenants, job)->within == WITHIN_FIFO;
}

/* Whether anybody got devices who had none. */
static bool start_whom_it_is_due(struct engine *e, bool own)
{
	bool *waits = order_kept(e), any = false;

	for (size_t i = 0; i < e->active.n; i++) {
		const struct job *job = &e->jobs.at[e->active.at[i]];
		bool *behind = &waits[tenant_index(e, job)];
		uint32_t right;

		if (!job_active(job) || plan_grant(&e->plan, job->id) || (in_order(e, job) && *behind))
			continue;
		right = right_of(e, job);
		if (right == 0 || (right == 1) != own || !start(e, job)) {
			*behind = true;
			continue;
		}
		e->shadows.at[job->id].promised = true;
		any = true;
	}
	return any;
}

/* Quotas were changed: those who came last go, and what they leave is there for others. */
static void stop_whom_is_too_much(struct engine *e)
{
	for (size_t i = e->active.n; i-- > 0 && quota_exceeded(e->quota);) {
		const struct job *job = &e->jobs.at[e->active.at[i]];
		const struct grant *grant = plan_grant(&e->plan, job->id);
		struct reason why = { .why = WHY_QUOTA, .other = JOB_NONE };

		if (!grant || !quota_exceeds(e->quota, job))
			continue;
		quota_prove_limit(e->quota, job, grant->gpus, &why);
		plan_stop(&e->plan, job);
		plan_why(&e->plan, job->id, why);
		e->lowered = true;
		plan_wake(&e->plan, e->now_s);
	}
}

/* Whoever was stopped and asks for more than its tenant may ever have now: nobody shall wait behind it. */
void engine_refuse_never(struct engine *e)
{
	struct round round = engine_round(e);
	struct reason why;

	if (!e->lowered)
		return;
	e->lowered = false;
	for (size_t i = 0; i < e->active.n; i++) {
		uint32_t id = e->active.at[i];

		if (e->jobs.at[id].state == JOB_PENDING &&
			!admission_could_ever(&round, &e->jobs.at[id], &why))
			engine_refuse(e, id, why);
	}
}

static bool anybody_waits(const struct engine *e)
{
	for (size_t i = 0; i < e->active.n; i++) {
		uint32_t id = e->active.at[i];

		if (job_active(&e->jobs.at[id]) && !plan_grant(&e->plan, id))
			return true;
	}
	return false;
}

/* Whether anybody is promised anything that does not depend on the policy. */
static bool keeps_promises(const struct engine *e)
{
	const struct reclaim *rule = e->config->placer.rule->reclaim;

	return (e->quota && e->plan.gated) || (rule && rule->due);
}

const char *engine_promise_rule(const struct engine *e)
{
	return e->plan.gated ? e->config->admission.rule->name : e->config->placer.rule->name;
}

void engine_note_promises(struct engine *e)
{
	e->unkept |= e->period_s > 0 && keeps_promises(e);
}

void engine_keep_promises(struct engine *e)
{
	bool gated = e->quota && e->plan.gated;

	if (!keeps_promises(e))
		return;
	if (gated && quota_exceeded(e->quota))
		stop_whom_is_too_much(e);
	/* Whoever had to go may have left its tenant with less than is guaranteed: its smaller jobs have a right again. */
	for (int turn = 0; turn < TURNS_MAX; turn++) {
		if (!start_whom_it_is_due(e, true) && !start_whom_it_is_due(e, false))
			break;
	}
	/* A policy with rounds may count on devices that quotas denied to whom it chose; in the next it chooses again. */
	if (gated && e->period_s > 0 && anybody_waits(e))
		plan_wake(&e->plan, e->now_s);
	arena_reset(&e->scratch);
}

bool engine_let_in_idle(struct engine *e)
{
	size_t before = e->held.n;

	if (!e->quota || before == 0)
		return false;
	quota_settle(e->quota, true);
	engine_reconsider(e);
	quota_settle(e->quota, false);
	if (e->held.n < before && !e->dirty) {
		e->dirty = true;
		e->dirty_since_s = e->now_s;
	}
	return e->held.n < before;
}
