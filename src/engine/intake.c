/*
 * Who comes in: whether a job could ever run here, as what, whether admission lets it compete, and who is asked again.
 */
#include <math.h>

#include "engine/state.h"

static void reject(struct engine *e, struct job *job, struct reason reason)
{
	job->state = JOB_REJECTED;
	job->waited_s += e->now_s - job->wait_since_s;
	engine_set_reason(e, job, reason);
	e->alive--;
	e->ended++;
	engine_tell(e, (struct event){ .kind = EV_REJECT, .job = job->id, .reason = reason });
}

/* The first dependency that has not finished, or JOB_NONE.  `*dead`: it never will. */
static uint32_t open_dependency(const struct engine *e, const struct job *job, bool *dead)
{
	for (uint32_t i = 0; i < job->ndeps; i++) {
		uint32_t id = e->config->deps[job->first_dep + i];

		if (id < e->jobs.n && e->jobs.at[id].state == JOB_FINISHED)
			continue;
		*dead = id < e->jobs.n && job_ended(&e->jobs.at[id]);
		return id;
	}
	return JOB_NONE;
}

static enum verdict admission_verdict(struct engine *e, const struct job *job, struct reason *why,
	bool *unwelcome)
{
	bool dead = false;
	uint32_t other = open_dependency(e, job, &dead);
	const struct chosen_policy *policy = &e->config->policy;
	enum verdict verdict;
	struct round round;

	if (other != JOB_NONE) {
		*why = (struct reason){ .why = dead ? WHY_ORPHANED : WHY_DEPENDENCY, .other = other };
		return dead ? ADMIT_REJECT : ADMIT_HOLD;
	}
	round = engine_round(e);
	verdict = e->config->admission.rule->decide(e->config->admission.state, &round, job,
		e->demand, why);
	if (verdict == ADMIT_ACCEPT && policy->rule->welcome &&
		!policy->rule->welcome(policy->state, &round, job, why)) {
		*unwelcome = true;
		return e->config->takes_all ? ADMIT_ACCEPT : ADMIT_REJECT;
	}
	return verdict;
}

/* In order of arrival: one that was held comes before those that came after it. */
static void list_active(struct engine *e, uint32_t id)
{
	size_t i = e->active.n;

	vec_push(&e->active, id);
	for (; i > 0 && e->active.at[i - 1] > id; i--)
		e->active.at[i] = e->active.at[i - 1];
	e->active.at[i] = id;
}

/* It competes from now on. */
static void join(struct engine *e, const struct job *job)
{
	e->demand += job->gpus;
	if (e->quota)
		quota_ask(e->quota, job);
}

static void admit(struct engine *e, struct job *job)
{
	job->state = JOB_PENDING;
	engine_set_reason(e, job,
		(struct reason){ .why = e->period_s > 0 ? WHY_ROUND : WHY_NEW, .other = JOB_NONE });
	list_active(e, job->id);
	join(e, job);
	engine_mark(e, job->id);
}

static void keep_out(struct engine *e, struct job *job, struct reason why)
{
	if (job->state != JOB_HELD)
		engine_tell(e, (struct event){ .kind = EV_HOLD, .job = job->id, .reason = why });
	job->state = JOB_HELD;
	engine_set_reason(e, job, why);
	if (e->quota && why.why == WHY_QUOTA)
		quota_outside(e->quota, job);
}

/* Asks admission about a job that just came or is held.  Returns whether it is still held. */
static bool consider(struct engine *e, struct job *job)
{
	struct reason why = { .why = WHY_ADMISSION, .other = JOB_NONE };
	bool unwelcome = false;

	switch (admission_verdict(e, job, &why, &unwelcome)) {
	case ADMIT_ACCEPT:
		if (unwelcome)
			engine_tell(e,
				(struct event){ .kind = EV_ADMIT, .job = job->id, .reason = why });
		else if (job->state == JOB_HELD)
			engine_tell(e, (struct event){ .kind = EV_ADMIT, .job = job->id });
		admit(e, job);
		return false;
	case ADMIT_REJECT:
		reject(e, job, why);
		return false;
	default:
		keep_out(e, job, why);
		return true;
	}
}

/* Where jobs are let in in order, whether one that was held for want of room is before all others. */
static bool gate_shut(const struct engine *e)
{
	return e->config->admission.rule->in_order && e->held_for_room;
}

static bool still_held(struct engine *e, struct job *job)
{
	if (gate_shut(e))
		return true;
	if (!consider(e, job))
		return false;
	e->held_for_room |= job->reason.why == WHY_ADMISSION;
	return true;
}

/* Whoever gets in or is refused may change the answer for those before it, so until nobody moves. */
void engine_reconsider(struct engine *e)
{
	size_t before;

	do {
		size_t kept = 0;

		before = e->held.n;
		e->held_for_room = false;
		if (e->quota)
			quota_nobody_outside(e->quota);
		for (size_t i = 0; i < before; i++) {
			uint32_t id = e->held.at[i];

			if (still_held(e, &e->jobs.at[id]))
				e->held.at[kept++] = id;
		}
		e->held.n = kept;
	} while (e->held.n > 0 && e->held.n < before);
}

/* The types it may use and, as far as is believed, can run on; 0 if there is none. */
static uint32_t usable_types(const struct engine *e, const struct job *job)
{
	const struct cluster *cluster = e->config->cluster;
	uint32_t usable = 0;

	for (uint32_t type = 0; type < cluster->ntypes; type++) {
		if (!job_may_use(job, type))
			continue;
		if (rate_if(e->config->belief, job, type, job_gpus_on(job, type)) > 0)
			usable |= UINT32_C(1) << type;
	}
	return usable;
}

/* Devices that the type has beyond the least the job takes there; negative: it is too large for it. */
static int64_t spare(const struct cluster *cluster, const struct job *job, uint32_t type)
{
	return (int64_t)cluster->types[type].devices - job_least_on(job, type);
}

/* The one of `types` with most to spare. */
static uint32_t roomiest(const struct cluster *cluster, const struct job *job, uint32_t types)
{
	uint32_t best = (uint32_t)__builtin_ctz(types);

	for (types &= types - 1; types; types &= types - 1) {
		uint32_t type = (uint32_t)__builtin_ctz(types);

		if (spare(cluster, job, type) > spare(cluster, job, best))
			best = type;
	}
	return best;
}

/* From now on it asks for so many: its nominal speed is the one it has with these. */
static void ask_for(const struct engine *e, struct job *job, uint32_t type, int32_t gpus)
{
	double as_asked = rate_if(e->config->belief, job, type, (uint32_t)job->gpus);
	double then = rate_if(e->config->belief, job, type, (uint32_t)gpus);

	if (as_asked > 0 && then > 0)
		job->nominal_rate *= then / as_asked;
	job->gpus = gpus;
}

/* Whether it could run on the whole cluster, with its process apart from its devices where the policy does that. */
static bool could_ever(struct engine *e, const struct job *job)
{
	bool pools = (e->config->policy.rule->traits & POLICY_POOLS) && !job->nodes &&
		!job->units && !e->config->cluster->even;

	return plan_could_ever(&e->plan, job) || (pools && plan_could_ever_apart(&e->plan, job));
}

/* Whether it fits as asked, or else with fewer devices of the type if it takes fewer; then it asks for these. */
static bool cut_to_fit(struct engine *e, struct job *job, uint32_t type)
{
	int32_t most = (int32_t)e->config->cluster->types[type].devices;
	struct job trial = *job;

	if (job->gpus_by_type)
		return could_ever(e, job);
	if (trial.gpus > most)
		trial.gpus = most;
	for (; trial.gpus >= job->min_gpus; trial.gpus--) {
		if (!could_ever(e, &trial))
			continue;
		if (trial.gpus != job->gpus)
			ask_for(e, job, type, trial.gpus);
		return true;
	}
	return false;
}

/*
 * Whether the job could run on the whole cluster if it were alone, with as many devices as it asks for
 * or the most that fit; else why not.
 */
static bool could_run(struct engine *e, struct job *job, struct reason *why)
{
	const struct cluster *cluster = e->config->cluster;
	uint32_t types = usable_types(e, job), type;

	*why = (struct reason){ .why = WHY_NO_TYPE, .need = job->min_gpus, .other = JOB_NONE };
	if (types == 0)
		return false;
	type = roomiest(cluster, job, types);
	why->why = spare(cluster, job, type) < 0 ? WHY_TOO_LARGE : WHY_NO_HOST;
	why->need = (int32_t)job_least_on(job, type);
	why->have = (int32_t)cluster->types[type].devices;
	if (why->why == WHY_TOO_LARGE)
		return false;
	job->types = types;
	if (cut_to_fit(e, job, type))
		return true;
	if (e->plan.never.why != WHY_NONE)
		*why = e->plan.never;
	return false;
}

bool engine_could_run(struct engine *e, const struct job *job, struct reason *why)
{
	struct job trial = *job;
	struct round round = engine_round(e);

	if (!could_run(e, &trial, why))
		return false;
	return !e->quota || admission_could_ever(&round, &trial, why);
}

unsigned engine_uses(const struct engine *e)
{
	return policy_uses(e->config->policy.rule, e->config->policy.state);
}

bool engine_is_choosy(const struct engine *e)
{
	return e->config->policy.rule->welcome != NULL;
}

bool engine_is_welcome(struct engine *e, const struct job *jobs, uint32_t n, double at_s,
	struct reason *why)
{
	const struct chosen_policy *policy = &e->config->policy;
	struct job *trials = arena_array(&e->scratch, struct job, n);
	struct round round = engine_round(e);
	bool welcome;

	for (uint32_t i = 0; i < n; i++) {
		trials[i] = jobs[i];
		if (!could_run(e, &trials[i], why))
			return false;
		trials[i].id = JOB_NONE;
	}
	round.now_s = fmax(e->now_s, at_s);
	round.asked = trials;
	round.nasked = n - 1;
	welcome = !policy->rule->welcome ||
		policy->rule->welcome(policy->state, &round, &trials[n - 1], why);
	arena_reset(&e->scratch);
	return welcome;
}

/* A job the engine has not seen before. */
static struct job *take_in(struct engine *e, const struct job *spec)
{
	struct job *job;

	vec_push(&e->jobs, *spec);
	vec_push(&e->shadows, (struct shadow){ .reason_since_s = e->now_s });
	job = &e->jobs.at[e->jobs.n - 1];
	job->id = (uint32_t)e->jobs.n - 1;
	if (!e->config->keeps_waits || !(job->wait_since_s < e->now_s))
		job->wait_since_s = e->now_s;
	e->alive++;
	engine_tell(e, (struct event){ .kind = EV_SUBMIT, .job = job->id });
	return job;
}

/* What was promised to it by an engine before is promised again, where that can be. */
static void promise_again(struct engine *e, const struct job *job)
{
	const struct chosen_policy *policy = &e->config->policy;
	struct round round = engine_round(e);
	struct reason ignored;

	if (policy->rule->welcome)
		policy->rule->welcome(policy->state, &round, job, &ignored);
}

/* Of the types it may use, those of which its tenant could have what the job asks for, or (`least`) the fewest it takes. */
static uint32_t types_within_quota(const struct engine *e, const struct job *job, bool least)
{
	uint32_t types = 0;

	for (uint32_t type = 0; type < e->config->cluster->ntypes; type++) {
		uint32_t gpus = least ? job_least_on(job, type) : job_gpus_on(job, type);

		if (job_may_use(job, type) && quota_most(e->quota, job, type) >= quota_need(job, gpus))
			types |= UINT32_C(1) << type;
	}
	return types;
}

/*
 * Of what its tenant could never have nobody need think: of one that takes several sizes the larger ones, and types of
 * which it may not have as many as it then asks for.  Policies would try these again and again.
 */
static void cut_to_quota(struct engine *e, struct job *job)
{
	uint32_t types = e->quota ? types_within_quota(e, job, true) : 0, most = 0, best = 0, asked;

	if (!types) /* admission says so */
		return;
	job->types = types;
	for (uint32_t type = 0; type < e->config->cluster->ntypes; type++) {
		uint32_t here = job_may_use(job, type) ? quota_most(e->quota, job, type) : 0;

		if (here > most) {
			most = here;
			best = type;
		}
	}
	if (!job->gpus_by_type && job->min_gpus < job->max_gpus) {
		if (most < (uint32_t)job->gpus)
			ask_for(e, job, best, (int32_t)most);
		if (most < (uint32_t)job->max_gpus)
			job->max_gpus = (int32_t)most;
	}
	asked = types_within_quota(e, job, false);
	if (asked)
		job->types = asked;
}

uint32_t engine_adopt(struct engine *e, const struct job *spec, const struct grant *grant)
{
	struct job *job = take_in(e, spec);

	job->types = usable_types(e, job);
	cut_to_quota(e, job); /* quotas may be new: if it is stopped, it comes back as one of a size that it may have */
	job->state = JOB_RUNNING;
	job->reason = (struct reason){ .why = WHY_NONE, .other = JOB_NONE };
	job->grant = plan_adopt(&e->plan, job, grant);
	e->running++;
	join(e, job);
	list_active(e, job->id);
	engine_mark(e, job->id);
	if (!e->dirty) /* whoever decides now has not seen it */
		e->dirty_since_s = e->now_s;
	e->dirty = true;
	engine_note_promises(e);
	engine_tell(e, (struct event){ .kind = EV_START, .job = job->id, .grant = job->grant });
	promise_again(e, job);
	return job->id;
}

void engine_submit(struct engine *e, const struct job *spec)
{
	struct reason why;
	struct job *job = take_in(e, spec);

	if (!could_run(e, job, &why)) {
		reject(e, job, why);
		engine_reconsider(e);
		return;
	}
	cut_to_quota(e, job);
	if (gate_shut(e)) {
		keep_out(e, job, (struct reason){ .why = WHY_ADMISSION, .other = JOB_NONE });
		vec_push(&e->held, job->id);
	} else if (still_held(e, job)) {
		vec_push(&e->held, job->id);
	} else if (job->state == JOB_REJECTED) {
		engine_reconsider(e); /* jobs that came earlier may follow it */
	}
}
