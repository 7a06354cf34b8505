/*
 * Applying what happened: submissions, ends, node failures, admission.
 */
#include <math.h>

#include "engine/state.h"
#include "model/regime.h"

/* A job that so many failures in a row threw back to where it was will never finish. */
enum { FRUITLESS_MAX = 1000 };

/* What comes after a decision waits for the next: this much of a round past its boundary is past it. */
#define LATE 1e-6

void engine_settle(struct engine *e, struct job *job)
{
	double steps_from_s = fmin(fmax(job->ready_s, job->counted_s), e->now_s);
	double ran_s = fmax(0, fmin(e->now_s, job->turn_end_s) - steps_from_s);
	double steps = e->now_s >= job->turn_end_s ? job->turn_steps : ran_s * job->rate;
	double gpus = job->grant->gpus - job->lent_gpus;
	double worth_s = job->nominal_rate > 0 ? steps / job->nominal_rate * job_width(job) : 0;

	job->done += steps;
	job->turn_steps = 0;
	job->ran_s += ran_s;
	job->served_s += ran_s * gpus;
	job->eff_s += ran_s * gpus * job->efficiency;
	job->worth_s += worth_s;
	course_work(&e->course, steps_from_s, steps_from_s + ran_s,
		(struct work){ gpus, gpus * job->efficiency, ran_s > 0 ? worth_s / ran_s : 0 });
	job->occupied_s += (e->now_s - job->counted_s) * gpus;
	job->overhead_s += e->now_s - job->counted_s - ran_s;
	job->counted_s = e->now_s;
}

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

uint32_t engine_adopt(struct engine *e, const struct job *spec, const struct grant *grant)
{
	struct job *job = take_in(e, spec);

	job->types = usable_types(e, job);
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

static void submit(struct engine *e, const struct job *spec)
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

/* Brings totals up to now, and takes the devices of one that has any from the plan; it still shows them. */
static void close_account(struct engine *e, struct job *job)
{
	if (!job->grant) {
		job->waited_s += e->now_s - job->wait_since_s;
		engine_set_reason(e, job, (struct reason){ .why = WHY_NONE, .other = JOB_NONE });
		return;
	}
	engine_settle(e, job);
	plan_drop(&e->plan, job);
	e->capacity_changed |= e->plan.space.draining >
		0; /* drained devices that it kept are nobody's now */
	e->running--;
}

/* After the event was told: those beside it hear of it, and it shows no devices any more. */
static void let_go(struct engine *e, struct job *job)
{
	if (job->grant)
		engine_disturb(e, job->id, job->grant);
	job->grant = NULL;
	engine_mark(e, job->id);
}

/* A job that policies know ends in `state`. */
static void end_active(struct engine *e, struct job *job, enum job_state state)
{
	job->state = state;
	e->alive--;
	e->ended++;
	e->active_ended++;
	e->demand -= job->gpus;
	if (e->quota)
		quota_unask(e->quota, job);
}

/* Seconds it takes as asked; of one that changes its batch, as profiled. */
static double alone_s(const struct engine *e, const struct job *job)
{
	if (job->adapts && job->grant)
		return adaptation_run_s(e->config->belief, job, job->grant->type);
	return job->done / job->nominal_rate;
}

/* It may wait: one that was told to stop can still come to its end. */
static void finish(struct engine *e, uint32_t id, double done)
{
	struct job *job = &e->jobs.at[id];

	close_account(e, job);
	job->done = done;
	job->finish_s = e->now_s;
	end_active(e, job, JOB_FINISHED);
	engine_tell(e,
		(struct event){ .kind = EV_FINISH, .job = id, .grant = job->grant, .value = done });
	job->fair_s = alone_s(e, job) * course_crowding(&e->course, id, job->arrival_s);
	let_go(e, job);
	engine_reconsider(e);
}

static void unlist_held(struct engine *e, uint32_t id)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->held.n; i++) {
		if (e->held.at[i] != id)
			e->held.at[kept++] = e->held.at[i];
	}
	e->held.n = kept;
}

static void withdraw(struct engine *e, uint32_t id)
{
	struct job *job = &e->jobs.at[id];

	if (job_ended(job))
		return;
	close_account(e, job);
	job->finish_s = e->now_s;
	if (job->state == JOB_HELD) {
		unlist_held(e, id);
		job->state = JOB_WITHDRAWN;
		e->alive--;
		e->ended++;
	} else {
		end_active(e, job, JOB_WITHDRAWN);
	}
	engine_tell(e, (struct event){ .kind = EV_WITHDRAW, .job = id, .grant = job->grant });
	let_go(e, job);
	engine_reconsider(e);
}

void engine_refuse(struct engine *e, uint32_t id, struct reason why)
{
	struct job *job = &e->jobs.at[id];

	close_account(e, job);
	end_active(e, job, JOB_REJECTED);
	engine_set_reason(e, job, why);
	engine_tell(e, (struct event){ .kind = EV_REJECT, .job = id, .reason = why });
	let_go(e, job);
	engine_reconsider(e);
}

/* Its process counts as a device of the node if all of these are meant. */
static bool holds_any(const struct job *job, uint32_t node, uint64_t devices)
{
	if (job->grant && job->grant->host == node + 1 && devices == UINT64_MAX)
		return true;
	for (uint32_t i = 0; job->grant && i < job->grant->nslots; i++) {
		if (job->grant->slots[i].node == node && job->grant->slots[i].devices & devices)
			return true;
	}
	return false;
}

/* A running job waits again, with `safe` steps behind it; what it had done beyond them is lost. */
static void fall_back(struct engine *e, struct job *job, double safe, struct event event)
{
	double lost_s = 0;

	close_account(e, job);
	if (job->rate > 0)
		lost_s = (job->done - safe) / job->rate;
	job->done = safe;
	job->lost_s += lost_s;
	job->lost_gpu_s += lost_s * job->grant->gpus;
	job->state = JOB_PENDING;
	job->wait_since_s = e->now_s;
	engine_set_reason(e, job, event.reason);
	event.reason = (struct reason){ 0 }; /* the kind says it */
	event.job = job->id;
	event.grant = job->grant;
	event.value = lost_s;
	engine_tell(e, event);
	let_go(e, job);
}

/* The job's devices failed: it goes back to what it had saved. */
static int lose(struct engine *e, struct job *job, uint32_t node, struct err *err)
{
	struct shadow *shadow = &e->shadows.at[job->id];
	double safe = job->done, before = job->done;

	if (e->driver->lost(e->world, job, e->now_s, &safe, err) < 0)
		return err_prefix(err, "job %s", job->label);
	job->failures++;
	fall_back(e, job, safe,
		(struct event){
			.kind = EV_LOST,
			.node = node,
			.reason = { .why = WHY_NODE_LOST, .other = JOB_NONE },
		});
	shadow->fruitless = safe > before ? 0 : shadow->fruitless + 1;
	if (shadow->fruitless > FRUITLESS_MAX)
		end_active(e, job, JOB_UNFINISHED);
	return 0;
}

static void yield(struct engine *e, uint32_t id, double safe)
{
	struct job *job = &e->jobs.at[id];

	if (job->grant)
		fall_back(e, job, safe,
			(struct event){
				.kind = EV_YIELD,
				.reason = { .why = WHY_YIELDED, .other = JOB_NONE },
			});
	else
		job->done = safe;
}

static void begin(struct engine *e, uint32_t id)
{
	struct job *job = &e->jobs.at[id];

	if (!job->grant)
		return;
	job->ready_s = e->now_s;
	engine_mark(e, id);
	engine_tell(e, (struct event){ .kind = EV_BEGUN, .job = id });
}

/* What a real job says of itself replaces what was believed. */
static void progress(struct engine *e, uint32_t id, const struct job *seen)
{
	struct job *job = &e->jobs.at[id];

	if (job_ended(job))
		return;
	if (job->grant) {
		engine_settle(e, job);
		job->rate = seen->rate;
		job->efficiency = seen->efficiency;
	}
	job->done = seen->done;
	job_take_belief(job, seen);
	engine_tell(e, (struct event){ .kind = EV_PROGRESS, .job = id, .value = seen->done });
	engine_mark(e, id);
}

static int lose_all(struct engine *e, uint32_t node, uint64_t devices, struct err *err)
{
	for (size_t i = 0; i < e->active.n; i++) {
		struct job *job = &e->jobs.at[e->active.at[i]];

		if (holds_any(job, node, devices) && lose(e, job, node, err) < 0)
			return err->code;
	}
	return 0;
}

static int node_down(struct engine *e, uint32_t node, struct err *err)
{
	if (!engine_node_turns(e, node, false) || !engine_rented_turns(e, node, false, false))
		return 0;
	engine_tell(e, (struct event){ .kind = EV_NODE_DOWN, .job = JOB_NONE, .node = node });
	if (lose_all(e, node, UINT64_MAX, err) < 0)
		return err->code;
	plan_node_up(&e->plan, node, false);
	e->node_failures++;
	e->capacity_changed = true;
	engine_reconsider(e); /* those that follow a job given up now never will run */
	return 0;
}

static void node_up(struct engine *e, uint32_t node, bool rented)
{
	if (!engine_node_turns(e, node, true) || !engine_rented_turns(e, node, true, rented))
		return;
	plan_node_up(&e->plan, node, true);
	e->capacity_changed = true;
	engine_tell(e, (struct event){ .kind = EV_NODE_UP, .job = JOB_NONE, .node = node });
}

static int devices_turn(struct engine *e, const struct event *event, struct err *err)
{
	bool up = event->kind == EV_DEVICES_UP;

	engine_tell(e,
		(struct event){
			.kind = event->kind,
			.job = JOB_NONE,
			.node = event->node,
			.devices = event->devices,
		});
	if (!up && lose_all(e, event->node, event->devices, err) < 0)
		return err->code;
	plan_devices_up(&e->plan, event->node, event->devices, up);
	e->capacity_changed = true;
	engine_reconsider(e);
	return engine_settle_company(e, err);
}

static void devices_drain(struct engine *e, const struct event *event)
{
	engine_tell(e,
		(struct event){
			.kind = event->kind,
			.job = JOB_NONE,
			.node = event->node,
			.devices = event->devices,
		});
	plan_devices_drain(&e->plan, event->node, event->devices);
	e->capacity_changed = true;
	engine_reconsider(e);
}

int engine_apply(struct engine *e, const struct event *event, struct err *err)
{
	/* How far a job has come is no reason to decide anew; the next decision sees it. */
	if ((event->kind != EV_PROGRESS || event->learnt) && event->kind != EV_BEGUN) {
		if (!e->dirty)
			e->dirty_since_s = e->now_s + (event->late ? e->period_s * LATE : 0);
		e->dirty = true;
		engine_note_promises(e);
	}
	if (event->kind == EV_SUBMIT || event->kind == EV_FINISH)
		e->idle = 0;
	switch (event->kind) {
	case EV_SUBMIT:
		submit(e, event->job_spec);
		return 0;
	case EV_FINISH:
		finish(e, event->job, event->value);
		return engine_settle_company(e, err);
	case EV_NODE_DOWN:
		if (node_down(e, event->node, err) < 0)
			return err->code;
		return engine_settle_company(e, err);
	case EV_NODE_UP:
		node_up(e, event->node, event->value > 0);
		return 0;
	case EV_WITHDRAW:
		withdraw(e, event->job);
		return engine_settle_company(e, err);
	case EV_YIELD:
		yield(e, event->job, event->value);
		return engine_settle_company(e, err);
	case EV_BEGUN:
		begin(e, event->job);
		return 0;
	case EV_PROGRESS:
		progress(e, event->job, event->job_spec);
		return 0;
	case EV_DEVICES_DOWN:
	case EV_DEVICES_UP:
		return devices_turn(e, event, err);
	case EV_DEVICES_DRAINED:
		devices_drain(e, event);
		return 0;
	case EV_LOAN:
		return engine_borrow(e, event->value, err);
	default:
		return err_set(err, ERR_BROKEN, "driver %s told '%s', which is not a driver's to tell",
			e->driver->name, event_name(event->kind));
	}
}
