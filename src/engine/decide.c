/*
 * One decision: ask the policy, check what it wants, carry out the difference.
 */
#include <math.h>

#include "base/clock.h"
#include "engine/state.h"

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

static int ask_policy(struct engine *e, struct err *err)
{
	struct round round = engine_round(e);
	const struct chosen_policy *policy = &e->config->policy;
	bool timed = e->decisions % TIMED_EVERY == 0;
	double before_s = timed ? clock_thread_cpu_s() : 0;
	int rc = policy->rule->decide(policy->state, &round, &e->plan, err);

	if (timed) {
		e->timed_cpu_s += fmax(0, clock_thread_cpu_s() - before_s - e->clock_cost_s);
		e->timed_decisions++;
	}
	e->decisions++;
	e->decided_s = e->now_s;
	e->boundary = e->period_s > 0 ? rint(e->now_s / e->period_s) : 0;
	e->dirty = false;
	for (size_t i = 0; i < e->changed.n; i++)
		e->shadows.at[e->changed.at[i]].changed = false;
	e->changed.n = 0;
	e->capacity_changed = false;
	arena_reset(&e->scratch);
	return rc < 0 ? err_prefix(err, "policy %s", policy->rule->name) : 0;
}

/* Devices cannot be had twice (the plan's ledger sees to that); the rest of the contract is checked here. */
static int check(struct engine *e, struct err *err)
{
	const char *policy = e->config->policy.rule->name;

	if (e->plan.placer_erred)
		return err_set(err, ERR_BROKEN,
			"placer %s answered with devices that were not free or not as many as asked for",
			e->config->placer.rule->name);
	for (size_t i = 0; i < e->plan.touched.n; i++) {
		const struct job *job = &e->jobs.at[e->plan.touched.at[i]];
		const struct grant *next = plan_grant(&e->plan, job->id);

		if (!next)
			continue;
		if (!job_active(job))
			return err_set(err, ERR_BROKEN, "policy %s wants to run job %s, which is %s",
				policy, job->label, job_state_name(job->state));
		if (next->gpus < (uint32_t)job->min_gpus || next->gpus > (uint32_t)job->max_gpus)
			return err_set(err, ERR_BROKEN,
				"policy %s gives job %s %u devices; it takes %d to %d", policy,
				job->label, next->gpus, job->min_gpus, job->max_gpus);
	}
	return 0;
}

static int act(struct engine *e, struct job *job, enum act kind, const struct grant *grant,
	struct action *action, struct err *err)
{
	*action = (struct action){
		.act = kind,
		.now_s = e->now_s,
		.job = job,
		.grant = grant,
		.done = job->done,
		.ready_s = e->now_s,
		.rate = job->nominal_rate,
	};
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
	job->held_s = e->now_s;
	job->ready_s = action->ready_s;
	job->rate = action->rate;
	engine_mark(e, job->id);
}

static int start(struct engine *e, struct job *job, const struct grant *grant, struct err *err)
{
	struct action action;

	if (act(e, job, ACT_START, grant, &action, err) < 0)
		return err->code;
	job->waited_s += e->now_s - job->wait_since_s;
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

static int change(struct engine *e, struct job *job, const struct grant *grant, struct err *err)
{
	uint32_t had = job->grant->gpus;
	bool resized = had != grant->gpus;
	struct action action;

	if (act(e, job, ACT_CHANGE, grant, &action, err) < 0)
		return err->code;
	engine_settle(e, job);
	job->done = action.done;
	job->migrations += !resized;
	job->resizes += resized;
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

/* Devices by node that jobs have yet to leave. */
static void set_leaving(uint64_t *leaving, const struct grant *grant, bool yet)
{
	for (uint32_t i = 0; i < grant->nslots; i++) {
		uint64_t *node = &leaving[grant->slots[i].node];

		*node = yet ? *node | grant->slots[i].devices : *node & ~grant->slots[i].devices;
	}
}

static bool must_wait(const uint64_t *leaving, const struct grant *next)
{
	for (uint32_t i = 0; i < next->nslots; i++) {
		if (leaving[next->slots[i].node] & next->slots[i].devices)
			return true;
	}
	return false;
}

/* Changes those of `n` jobs that can go where they shall.  Returns how many are left on the list. */
static int change_some(struct engine *e, uint32_t *jobs, int n, uint64_t *leaving, struct err *err)
{
	int left = 0;

	for (int i = 0; i < n; i++) {
		const struct plan_entry *entry = &e->plan.entries.at[jobs[i]];

		set_leaving(leaving, entry->held, false);
		if (must_wait(leaving, entry->next)) {
			set_leaving(leaving, entry->held, true);
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
 * Nobody moves to devices that another has yet to leave.  In a ring of jobs that wait for each other
 * one must let go: it is stopped here and started again with the others.
 */
static int carry_out_changes(struct engine *e, struct err *err)
{
	uint32_t *jobs = arena_array(&e->scratch, uint32_t, e->plan.touched.n);
	int n = list_changes(e, jobs);
	uint64_t *leaving;

	if (n == 0)
		return 0;
	leaving = arena_array(&e->scratch, uint64_t, e->config->cluster->nnodes);
	for (int i = 0; i < n; i++)
		set_leaving(leaving, e->plan.entries.at[jobs[i]].held, true);
	while (n > 0) {
		int left = change_some(e, jobs, n, leaving, err);

		if (left == n) {
			set_leaving(leaving, e->plan.entries.at[jobs[--left]].held, false);
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

/* In this order, so that nobody takes devices that another still holds. */
static int carry_out(struct engine *e, struct err *err)
{
	if (carry_out_stops(e, err) < 0 || carry_out_changes(e, err) < 0)
		return err->code;
	return carry_out_starts(e, err);
}

static void keep_reasons(struct engine *e)
{
	for (size_t i = 0; i < e->plan.reasons.n; i++) {
		const struct plan_reason *said = &e->plan.reasons.at[i];
		struct job *job = &e->jobs.at[said->job];
		bool named = job->reason.other == JOB_NONE && said->reason.other != JOB_NONE;
		bool news = job->reason.why != said->reason.why || named;

		if (job->state != JOB_PENDING)
			continue;
		engine_set_reason(e, job, said->reason);
		if (news)
			engine_tell(e,
				(struct event){ .kind = EV_WAIT, .job = job->id, .reason = said->reason });
	}
}

int engine_decide(struct engine *e, struct err *err)
{
	uint32_t running = e->running;

	compact_active(e);
	plan_begin(&e->plan);
	if (ask_policy(e, err) < 0 || check(e, err) < 0 || carry_out(e, err) < 0)
		return err->code;
	if (running > 0 || e->running > 0 || e->plan.touched.n > 0)
		e->idle = 0;
	plan_commit(&e->plan);
	keep_reasons(e);
	return 0;
}
