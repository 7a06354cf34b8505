/*
 * One decision: ask the policy, check what it wants, have it carried out.
 */
#include <math.h>

#include "base/clock.h"
#include "engine/state.h"
#include "placement/quota.h"

enum {
	TIMED_EVERY = 16
}; /* reading the clock at every decision would cost more than many decisions */

/* Forgets ended jobs once they are the larger part of the list. */
static void compact_active(struct engine *e)
{
	size_t kept = 0;

	if (e->active_ended < 64 || e->active_ended * 2 < e->active.n)
		return;
	for (size_t i = 0; i < e->active.n; i++) {
		if (!job_ended(&e->jobs.at[e->active.at[i]]))
			e->active.at[kept++] = e->active.at[i];
	}
	e->active.n = kept;
	e->active_ended = 0;
}

/* Which multiple of the period it is now; between two, the last. */
static double last_boundary(const struct engine *e)
{
	if (!(e->period_s > 0))
		return 0;
	return e->config->eager ? floor(e->now_s / e->period_s + 1e-9) : rint(e->now_s / e->period_s);
}

static int ask_policy(struct engine *e, struct err *err)
{
	struct round round = engine_round(e);
	const struct chosen_policy *policy = &e->config->policy;
	bool timed = e->decisions % TIMED_EVERY == 0;
	double before_s;
	int rc;

	if ((policy->rule->traits & POLICY_AHEAD) && e->driver->later)
		round.nlater = e->driver->later(e->world, round.njobs, &round.later);
	before_s = timed ? clock_thread_cpu_s() : 0;
	rc = policy->rule->decide(policy->state, &round, &e->plan, err);

	if (timed) {
		e->timed_cpu_s += fmax(0, clock_thread_cpu_s() - before_s - e->clock_cost_s);
		e->timed_decisions++;
	}
	e->decisions++;
	e->decided_s = e->now_s;
	e->boundary = last_boundary(e);
	e->dirty = false;
	for (size_t i = 0; i < e->changed.n; i++)
		e->shadows.at[e->changed.at[i]].changed = false;
	e->changed.n = 0;
	e->capacity_changed = false;
	arena_reset(&e->scratch);
	return rc < 0 ? err_prefix(err, "policy %s", policy->rule->name) : 0;
}

/* Whether the policy may give these devices to the job. */
static int check_grant(struct engine *e, const struct job *job, const struct grant *grant,
	struct err *err)
{
	const struct policy *policy = e->config->policy.rule;
	uint32_t least = job_least_on(job, grant->type), most = job_most_on(job, grant->type);

	if (!job_active(job))
		return err_set(err, ERR_BROKEN, "policy %s wants to run job %s, which is %s",
			policy->name, job->label, job_state_name(job->state));
	if (grant->mixed && !(policy->traits & POLICY_MIXES))
		return err_set(err, ERR_BROKEN,
			"policy %s gives job %s devices of several types without saying in its traits that it does",
			policy->name, job->label);
	if (grant->gpus < least || grant->gpus > most)
		return err_set(err, ERR_BROKEN, "policy %s gives job %s %u devices; it takes %u to %u",
			policy->name, job->label, grant->gpus, least, most);
	return 0;
}

/* Devices cannot be had twice (the plan's ledger sees to that); the rest of the contract is checked here. */
static int check(struct engine *e, struct err *err)
{
	const struct policy *policy = e->config->policy.rule;

	if (e->plan.placer_erred)
		return err_set(err, ERR_BROKEN,
			"placer %s answered with devices that were not free or not as many as asked for",
			e->config->placer.rule->name);
	if (e->plan.space.overlaps > 0 && !(policy->traits & POLICY_SHARES))
		return err_set(err, ERR_BROKEN,
			"policy %s puts two jobs on one device without saying in its traits that it does",
			policy->name);
	for (size_t i = 0; i < e->plan.touched.n; i++) {
		uint32_t id = e->plan.touched.at[i];
		const struct grant *next = plan_grant(&e->plan, id);

		if (next && check_grant(e, &e->jobs.at[id], next, err) < 0)
			return err->code;
	}
	return 0;
}

/*
 * The reason is the quota if there is room for the job wherever its tenant may not have it, and nowhere else: policies
 * that ask for many at once see only that it got nothing.
 */
static void blame_quota(const struct engine *e, const struct job *job, struct reason *why)
{
	struct reason said = { .why = WHY_NONE };

	if (!e->plan.gated || plan_grant(&e->plan, job->id))
		return;
	for (uint32_t type = 0; type < e->config->cluster->ntypes; type++) {
		struct grant_part part = { type, job_least_on(job, type) };

		if (!job_may_use(job, type) || plan_room(&e->plan, job, type) < part.gpus)
			continue;
		if (quota_allows(e->plan.quota, &e->plan, job, &part, 1,
			    job_is_fraction(job) ? 0 : part.gpus, &said))
			return;
	}
	if (said.why == WHY_QUOTA)
		*why = said;
}

/* What policies need not know: drained devices are not up to them, and avoided ones free. */
static struct reason refined(const struct engine *e, const struct job *job, struct reason reason)
{
	if (reason.why == WHY_DOWN && e->plan.space.draining)
		reason.why = WHY_DRAINED;
	if (reason.why == WHY_FRAGMENTED && job->navoid)
		reason.why = WHY_AVOIDS;
	if (reason.why == WHY_FRAGMENTED || reason.why == WHY_BUSY || reason.why == WHY_TURN)
		blame_quota(e, job, &reason);
	return reason;
}

/* Whether all it says is that others have the devices, or go first. */
static bool is_about_others(enum why why)
{
	return why == WHY_BUSY || why == WHY_FRAGMENTED || why == WHY_OUTRANKED ||
		why == WHY_SHARE || why == WHY_TURN;
}

/* Whose devices were taken back is not told that they are gone while the one who took them has some. */
static bool still_taken_back(const struct engine *e, const struct job *job, struct reason now)
{
	return job->reason.why == WHY_RECLAIMED && job->reason.other != JOB_NONE &&
		e->jobs.at[job->reason.other].grant && is_about_others(now.why);
}

static void keep_reasons(struct engine *e)
{
	for (size_t i = 0; i < e->plan.reasons.n; i++) {
		const struct plan_reason *said = &e->plan.reasons.at[i];
		struct job *job = &e->jobs.at[said->job];
		struct reason reason = refined(e, job, said->reason);
		bool named = job->reason.other == JOB_NONE && reason.other != JOB_NONE;
		bool news = job->reason.why != reason.why || named;

		if (job->state != JOB_PENDING || still_taken_back(e, job, reason))
			continue;
		engine_set_reason(e, job, reason);
		if (news)
			engine_tell(e,
				(struct event){ .kind = EV_WAIT, .job = job->id, .reason = reason });
	}
}

/* Whoever had to give back what it had borrowed may find room elsewhere: the policy is asked once more, and not for ever. */
static void ask_again_for_the_stopped(struct engine *e, bool news)
{
	for (size_t i = 0; news && i < e->plan.reasons.n; i++) {
		const struct plan_reason *said = &e->plan.reasons.at[i];

		if (said->reason.why == WHY_RECLAIMED && !plan_grant(&e->plan, said->job))
			plan_wake(&e->plan, e->now_s);
	}
}

static void begin_plan(struct engine *e)
{
	e->shared = e->plan.space.overlaps > 0;
	e->plan.jobs = e->jobs.at;
	e->plan.now_s = e->now_s;
	plan_begin(&e->plan);
}

/* What the plan says happens. */
static int fulfil(struct engine *e, struct err *err)
{
	e->unkept = false;
	if (check(e, err) < 0 || engine_carry_out(e, err) < 0)
		return err->code;
	for (size_t i = 0; i < e->plan.touched.n; i++)
		e->shadows.at[e->plan.touched.at[i]].promised = false;
	plan_commit(&e->plan);
	keep_reasons(e);
	engine_refuse_never(e);
	return 0;
}

/* The plan in force, and what promises add to it; the policy sees it in its next round. */
static int keep_once(struct engine *e, struct err *err)
{
	double wake_s = e->plan.wake_s;

	begin_plan(e);
	engine_keep_promises(e);
	plan_wake(&e->plan, wake_s);
	e->between++;
	return fulfil(e, err);
}

int engine_keep_between(struct engine *e, struct err *err)
{
	do {
		if (keep_once(e, err) < 0)
			return err->code;
	} while (engine_let_in_idle(e));
	return 0;
}

int engine_decide(struct engine *e, struct err *err)
{
	uint32_t running = e->running;
	bool news = e->dirty;

	compact_active(e);
	engine_begin_renting(e);
	begin_plan(e);
	if (ask_policy(e, err) < 0)
		return err->code;
	engine_keep_promises(e);
	ask_again_for_the_stopped(e, news);
	if (running > 0 || e->plan.touched.n > 0)
		e->idle = 0;
	if (fulfil(e, err) < 0)
		return err->code;
	if (e->running > 0)
		e->idle = 0;
	if (engine_let_in_idle(e) && e->period_s > 0 && engine_keep_between(e, err) < 0)
		return err->code;
	return engine_rent(e, err);
}
