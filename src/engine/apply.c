/*
 * Applying what happened: ends, progress, nodes that fail and come back; who comes in is in intake.c.
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
		engine_submit(e, event->job_spec);
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
