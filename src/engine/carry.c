/*
 * Carrying out a plan: what differs from what runs is stopped, moved or started.
 */
#include <math.h>

#include "engine/state.h"

static void note_beside(void *ctx, uint32_t other)
{
	struct engine *e = ctx;
	const struct job *job = &e->jobs.at[other];

	for (size_t i = 0; i < e->beside.n; i++) {
		if (e->beside.at[i].job == job)
			return;
	}
	vec_push(&e->beside, (struct neighbour){ job, plan_grant(&e->plan, other) });
}

/* Who will share the devices once the plan is carried out. */
static void find_beside(struct engine *e, uint32_t job, const struct grant *grant)
{
	e->beside.n = 0;
	if (!grant || e->plan.space.overlaps == 0)
		return;
	for (uint32_t i = 0; i < grant->nslots; i++)
		space_each_beside(&e->plan.space, job, grant->slots[i], note_beside, e);
}

/* Why it must go, if that is for a promise to others; WHY_NONE: it is not. */
static struct reason taken_back(const struct engine *e, const struct job *job)
{
	for (size_t i = 0; i < e->plan.reasons.n; i++) {
		struct reason why = e->plan.reasons.at[i].reason;

		if (e->plan.reasons.at[i].job == job->id &&
			(why.why == WHY_RECLAIMED || why.why == WHY_QUOTA))
			return why;
	}
	return (struct reason){ .why = WHY_NONE, .other = JOB_NONE };
}

/* Whose doing it is where it is not the policy's. */
static void credit(const struct engine *e, const struct job *job, struct action *action)
{
	if (action->act == ACT_STOP)
		action->why = taken_back(e, job);
	if (action->why.why != WHY_NONE ||
		(action->act == ACT_START && e->shadows.at[job->id].promised))
		action->rule = engine_promise_rule(e);
}

static int act(struct engine *e, struct job *job, enum act kind, const struct grant *grant,
	struct action *action, struct err *err)
{
	find_beside(e, job->id, grant);
	*action = (struct action){
		.beside = e->beside.at,
		.nbeside = (uint32_t)e->beside.n,
		.act = kind,
		.now_s = e->now_s,
		.job = job,
		.grant = grant,
		.done = job->done,
		.ready_s = e->now_s,
		.rate = job->nominal_rate,
		.efficiency = 1,
	};
	credit(e, job, action);
	if (e->driver->act(e->world, action, err) < 0)
		return err_prefix(err, "job %s", job->label);
	return 0;
}

static int stop(struct engine *e, struct job *job, struct err *err)
{
	struct action action;

	if (act(e, job, ACT_STOP, NULL, &action, err) < 0)
		return err->code;
	engine_settle(e, job);
	job->done = action.done;
	job->preemptions++;
	job->state = JOB_PENDING;
	job->wait_since_s = e->now_s;
	e->running--;
	engine_tell(e, (struct event){ .kind = EV_PREEMPT, .job = job->id, .grant = job->grant });
	job->grant = NULL;
	engine_set_reason(e, job, (struct reason){ .why = WHY_OUTRANKED, .other = JOB_NONE });
	engine_mark(e, job->id);
	return 0;
}

static void hold(struct engine *e, struct job *job, const struct grant *grant,
	const struct action *action)
{
	job->grant = grant;
	job->held_s = job->counted_s = e->now_s;
	job->ready_s = action->ready_s;
	job->rate = action->rate;
	job->efficiency = action->efficiency;
	job->turn_end_s = grant->until_s > 0 ? grant->until_s : INFINITY;
	job->turn_steps = action->turn_steps;
	job->company = action->nbeside;
	job->lent_gpus = grant_lent(grant, action->beside, action->nbeside);
	engine_mark(e, job->id);
}

static int start(struct engine *e, struct job *job, const struct grant *grant, struct err *err)
{
	struct action action;

	if (act(e, job, ACT_START, grant, &action, err) < 0)
		return err->code;
	job->waited_s += e->now_s - job->wait_since_s;
	job->restarts += job->attempts > 0 && !action.seamless;
	job->attempts++;
	if (isnan(job->start_s))
		job->start_s = e->now_s;
	engine_set_reason(e, job, (struct reason){ .why = WHY_NONE, .other = JOB_NONE });
	job->state = JOB_RUNNING;
	e->running++;
	hold(e, job, grant, &action);
	engine_tell(e,
		(struct event){
			.kind = EV_START,
			.job = job->id,
			.grant = grant,
			.value = action.ready_s - e->now_s,
		});
	return 0;
}

static int renew(struct engine *e, struct job *job, const struct grant *grant, struct err *err)
{
	struct action action;

	if (act(e, job, ACT_RENEW, grant, &action, err) < 0)
		return err->code;
	engine_settle(e, job);
	job->done = action.done;
	hold(e, job, grant, &action);
	engine_tell(e,
		(struct event){
			.kind = EV_RENEW,
			.job = job->id,
			.grant = grant,
			.value = action.nbeside,
		});
	return 0;
}

static int change(struct engine *e, struct job *job, const struct grant *grant, struct err *err)
{
	uint32_t had = job->grant->gpus;
	bool resized = had != grant->gpus;
	struct action action;

	if (grant_same_devices(job->grant, grant))
		return renew(e, job, grant, err);
	if (act(e, job, ACT_CHANGE, grant, &action, err) < 0)
		return err->code;
	engine_settle(e, job);
	job->done = action.done;
	job->migrations += !resized;
	job->resizes += resized;
	job->restarts += !action.seamless;
	hold(e, job, grant, &action);
	engine_tell(e,
		(struct event){
			.kind = resized ? EV_RESIZE : EV_MIGRATE,
			.job = job->id,
			.grant = grant,
			.value = had,
		});
	return 0;
}

static int carry_out_stops(struct engine *e, struct err *err)
{
	for (size_t i = 0; i < e->plan.touched.n; i++) {
		uint32_t id = e->plan.touched.at[i];
		const struct plan_entry *entry = &e->plan.entries.at[id];

		if (entry->held && !entry->next && stop(e, &e->jobs.at[id], err) < 0)
			return err->code;
	}
	return 0;
}

/*
 * Devices of a node that jobs have yet to leave.  Two may share one; where more do, which only fractions
 * can, it counts as occupied until the round is over.
 */
struct leaving {
	uint64_t once, twice, more;
};

static void set_leaving(struct leaving *leaving, const struct grant *grant)
{
	for (uint32_t i = 0; i < grant->nslots; i++) {
		struct leaving *node = &leaving[grant->slots[i].node];

		node->more |= node->twice & grant->slots[i].devices;
		node->twice |= node->once & grant->slots[i].devices;
		node->once |= grant->slots[i].devices;
	}
}

static void clear_leaving(struct leaving *leaving, const struct grant *grant)
{
	for (uint32_t i = 0; i < grant->nslots; i++) {
		struct leaving *node = &leaving[grant->slots[i].node];
		uint64_t devices = grant->slots[i].devices & ~node->more;
		uint64_t shared = node->twice & devices;

		node->twice &= ~shared;
		node->once &= ~(devices & ~shared);
	}
}

static bool must_wait(const struct leaving *leaving, const struct grant *next)
{
	for (uint32_t i = 0; i < next->nslots; i++) {
		if (leaving[next->slots[i].node].once & next->slots[i].devices)
			return true;
	}
	return false;
}

/* Changes those of `n` jobs that can go where they shall.  Returns how many are left on the list. */
static int change_some(struct engine *e, uint32_t *jobs, int n, struct leaving *leaving, struct err *err)
{
	int left = 0;

	for (int i = 0; i < n; i++) {
		const struct plan_entry *entry = &e->plan.entries.at[jobs[i]];
		bool stays = grant_same_devices(entry->held, entry->next);

		if (!stays)
			clear_leaving(leaving, entry->held);
		if (!stays && must_wait(leaving, entry->next)) {
			set_leaving(leaving, entry->held);
			jobs[left++] = jobs[i];
		} else if (change(e, &e->jobs.at[jobs[i]], entry->next, err) < 0) {
			return err->code;
		}
	}
	return left;
}

/* The jobs that go from some devices to others; returns how many. */
static int list_changes(struct engine *e, uint32_t *jobs)
{
	int n = 0;

	for (size_t i = 0; i < e->plan.touched.n; i++) {
		const struct plan_entry *entry = &e->plan.entries.at[e->plan.touched.at[i]];

		if (entry->held && entry->next && entry->held != entry->next)
			jobs[n++] = e->plan.touched.at[i];
	}
	return n;
}

/*
 * Nobody moves to devices that another has yet to leave; new terms on the same devices wait for nobody.  In a ring of jobs that wait for each other
 * one must let go: it is stopped here and started again with the others.
 */
static int carry_out_changes(struct engine *e, struct err *err)
{
	uint32_t *jobs = arena_array(&e->scratch, uint32_t, e->plan.touched.n);
	int n = list_changes(e, jobs);
	struct leaving *leaving;

	if (n == 0)
		return 0;
	leaving = arena_array(&e->scratch, struct leaving, e->config->cluster->nnodes);
	for (int i = 0; i < n; i++) {
		const struct plan_entry *entry = &e->plan.entries.at[jobs[i]];

		if (!grant_same_devices(entry->held, entry->next))
			set_leaving(leaving, entry->held);
	}
	while (n > 0) {
		int left = change_some(e, jobs, n, leaving, err);

		if (left == n) {
			clear_leaving(leaving, e->plan.entries.at[jobs[--left]].held);
			if (stop(e, &e->jobs.at[jobs[left]], err) < 0)
				return err->code;
		}
		n = left;
	}
	return n;
}

static int carry_out_starts(struct engine *e, struct err *err)
{
	for (size_t i = 0; i < e->plan.touched.n; i++) {
		uint32_t id = e->plan.touched.at[i];
		const struct grant *next = e->plan.entries.at[id].next;

		if (next && !e->jobs.at[id].grant && start(e, &e->jobs.at[id], next, err) < 0)
			return err->code;
	}
	return 0;
}

static void note_disturbed(void *ctx, uint32_t other)
{
	struct engine *e = ctx;

	if (e->shadows.at[other].disturbed || !e->jobs.at[other].grant)
		return;
	e->shadows.at[other].disturbed = true;
	vec_push(&e->disturbed, other);
}

void engine_disturb(struct engine *e, uint32_t job, const struct grant *grant)
{
	for (uint32_t i = 0; i < grant->nslots; i++)
		space_each_beside(&e->plan.space, job, grant->slots[i], note_disturbed, e);
}

/*
 * Whether changed company is news to a job: not if it was started or changed in this round, and not
 * within a turn, which was agreed upon as it is.
 */
static bool must_know(const struct engine *e, const struct job *job)
{
	const struct plan_entry *entry = &e->plan.entries.at[job->id];

	return job->grant && entry->held == entry->next && job->grant->until_s == 0;
}

int engine_settle_company(struct engine *e, struct err *err)
{
	for (size_t i = 0; i < e->disturbed.n; i++) {
		struct job *job = &e->jobs.at[e->disturbed.at[i]];

		e->shadows.at[job->id].disturbed = false;
		if (must_know(e, job) && renew(e, job, job->grant, err) < 0)
			return err->code;
	}
	e->disturbed.n = 0;
	return 0;
}

/* Those who stay as they are beside somebody who comes, goes or moves. */
static int carry_out_company(struct engine *e, struct err *err)
{
	for (size_t i = 0; i < e->plan.touched.n; i++) {
		uint32_t id = e->plan.touched.at[i];
		const struct plan_entry *entry = &e->plan.entries.at[id];

		if (entry->held)
			engine_disturb(e, id, entry->held);
		if (entry->next && entry->next != entry->held)
			engine_disturb(e, id, entry->next);
	}
	return engine_settle_company(e, err);
}

/* In this order, so that nobody takes devices that another still holds. */
int engine_carry_out(struct engine *e, struct err *err)
{
	if (carry_out_stops(e, err) < 0 || carry_out_changes(e, err) < 0)
		return err->code;
	if (carry_out_starts(e, err) < 0)
		return err->code;
	return e->shared || e->plan.space.overlaps > 0 ? carry_out_company(e, err) : 0;
}
