/*
 * The world as the engine sees it: what the core has to tell, and what becomes
 * of the engine's wishes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "live/core_state.h"

static int core_wait(void *self, double until_s, struct event *event, struct err *err)
{
	struct core *c = self;
	struct told *next = c->queue_at < c->queue.n ? &c->queue.at[c->queue_at] : NULL;

	(void)err;
	if (!next || next->event.at_s > until_s) {
		*event = (struct event){ .kind = EV_TIMER, .at_s = until_s };
		return 0;
	}
	c->queue_at++;
	*event = next->event;
	event->job_spec = &next->spec;
	return 0;
}

/* Seconds before the first step there, as far as this job or others have shown. */
static double believed_cost_s(const struct action *a)
{
	if (a->act == ACT_RENEW)
		return fmax(0, a->job->ready_s - a->now_s);
	return a->act == ACT_START && a->job->attempts == 0 ? a->job->start_cost_s
							    : a->job->resume_cost_s;
}

static void answer(const struct core *c, struct action *a)
{
	double believed;

	a->done = job_done(a->job, a->now_s);
	if (a->act == ACT_STOP)
		return;
	believed = a->grant->mixed || a->nbeside
		? 0
		: core_agent_speed(c, a->job, a->grant->type, a->grant->gpus, a->grant->nslots);
	if (!(believed > 0))
		believed = rate(&c->belief, a->job, a->grant, a->beside, a->nbeside);
	a->rate = believed > 0 ? believed : a->job->nominal_rate;
	a->ready_s = a->now_s + believed_cost_s(a);
	if (a->grant->until_s > 0)
		a->turn_steps = fmin(a->grant->steps,
			a->rate * fmax(0, a->grant->until_s - a->ready_s));
}

static bool one_node(const struct grant *a, const struct grant *b)
{
	return a->nslots == 1 && b->nslots == 1 && a->slots[0].node == b->slots[0].node;
}

/* `*place` is `grant` from now on, or nothing where that is what it has already. */
static void wish_for(struct grant **place, const struct grant *has, const struct grant *grant)
{
	free(*place);
	*place = grant_same_devices(has, grant) ? NULL : grant_copy(grant);
}

/*
 * Without a restart, if the job said that it can and what it has to give up or take is on its node.  What it was
 * not told yet is not said any more; what it was told it shall answer first.
 */
static bool resize_in_place(struct live_job *job, struct attempt *a, const struct grant *grant)
{
	if (!job->progress.resizable || !a || a->phase != PHASE_RUNNING || a->stop ||
		!one_node(a->grant, grant))
		return false;
	if (a->next && a->next_told)
		wish_for(&a->wish, a->next, grant);
	else
		wish_for(&a->next, a->grant, grant);
	return true;
}

/* Whose doing it is, and why, as members of a note; nothing if it is the policy's. */
static void tell_rule(const struct core *c, const struct action *a, struct buf *out)
{
	const struct live_job *other = a->why.other < c->of_engine.n ? c->of_engine.at[a->why.other]
								     : NULL;
	struct buf text = { 0 };
	char name[32];

	if (!a->rule)
		return;
	buf_str(out, ",\"rule\":");
	json_quote(out, a->rule);
	if (a->why.why != WHY_NONE) {
		if (other)
			snprintf(name, sizeof(name), "job %u", other->id);
		reason_text(&a->why, other ? name : NULL, &text);
		buf_str(out, ",\"text\":");
		json_quote(out, text.at);
	}
	buf_fini(&text);
}

static int core_act(void *self, struct action *a, struct err *err)
{
	struct core *c = self;
	struct live_job *job = c->of_engine.at[a->job->id];
	struct buf by = { 0 };

	(void)err;
	answer(c, a);
	if (!job)
		return 0; /* it has left, which the engine is about to hear */
	tell_rule(c, a, &by);
	switch (a->act) {
	case ACT_START:
		core_new_attempt(c, job, a->grant, by.at);
		break;
	case ACT_STOP:
		core_stop_attempts_by(c, job, STOP_PREEMPT, by.at);
		break;
	case ACT_CHANGE:
		if (resize_in_place(job, core_alive(c, job->id), a->grant)) {
			a->seamless = true;
			/* Others may be given what it is to leave: that must not be forgotten. */
			core_note(c, NOTE_STATE, job->id, core_alive(c, job->id)->number, NULL);
			break;
		}
		core_stop_attempts(c, job, STOP_MOVE);
		core_new_attempt(c, job, a->grant, NULL);
		break;
	case ACT_RENEW:
		core_renew_attempt(c, job, a->grant);
		break;
	}
	buf_fini(&by);
	core_restate(c, job);
	return 0;
}

static bool core_over(void *self)
{
	(void)self;
	return false;
}

/* Its device is gone: what it saved is what is left. */
static int core_lost(void *self, const struct job *lost, double now_s, double *done, struct err *err)
{
	struct core *c = self;
	struct live_job *job = c->of_engine.at[lost->id];

	(void)now_s;
	(void)err;
	*done = job ? job->base.saved : lost->saved;
	if (!job)
		return 0;
	core_stop_attempts(c, job, STOP_LOST);
	core_restate(c, job);
	return 0;
}

/* What it must wait for among the others: one that ends is one that ends, however. */
static bool is_order(const struct dependency *d)
{
	return d->job && d->kind != AFTER_START;
}

/* Who waits outside for nothing but others, and will run if all goes well. */
static bool follows(const struct live_job *job)
{
	if (job->gate != GATE_DEPENDENCY || job->engine_id != JOB_NONE || live_ended(job))
		return false;
	for (uint32_t i = 0; i < job->nafter; i++)
		if (job->after[i].kind == AFTER_NOT_OK)
			return false;
	return true;
}

/* The place in `later` of a job that waits outside, or nlater; they are in order of their numbers. */
static uint32_t later_find(const struct live_job *const *at, uint32_t n, uint32_t id)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (at[mid]->id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && at[lo]->id == id ? lo : n;
}

static int by_id(const void *a_, const void *b_)
{
	const struct live_job *a = *(const struct live_job *const *)a_,
			      *b = *(const struct live_job *const *)b_;

	return a->id < b->id ? -1 : a->id > b->id;
}

static void link_later(struct core *c, const struct live_job *const *outside, uint32_t n,
	uint32_t i, uint32_t njobs)
{
	const struct live_job *job = outside[i];
	uint32_t *after = arena_array(&c->later_words, uint32_t, job->nafter), nafter = 0;

	for (uint32_t k = 0; k < job->nafter; k++) {
		const struct live_job *other = core_find(c, job->after[k].job);
		uint32_t at;

		if (!is_order(&job->after[k]) || !other)
			continue;
		at = other->engine_id < njobs ? other->engine_id
					      : njobs + later_find(outside, n, other->id);
		if (at < njobs + n)
			after[nafter++] = at;
	}
	vec_push(&c->later, ((struct later){ &job->base, after, nafter }));
}

static uint32_t core_later(void *self, uint32_t njobs, const struct later **out)
{
	struct core *c = self;
	const struct live_job **outside;
	uint32_t n = 0;

	c->later.n = 0;
	arena_reset(&c->later_words);
	outside = arena_array(&c->later_words, const struct live_job *, c->outside.n);
	for (size_t i = 0; i < c->outside.n; i++)
		if (follows(c->outside.at[i]))
			outside[n++] = c->outside.at[i];
	qsort(outside, n, sizeof(*outside), by_id);
	for (uint32_t i = 0; i < n; i++)
		link_later(c, outside, n, i, njobs);
	*out = c->later.at;
	return n;
}

const struct driver core_driver = {
	.name = "live",
	.wait = core_wait,
	.act = core_act,
	.over = core_over,
	.lost = core_lost,
	.later = core_later,
};

/*
 * A job that does not fit this machine stays, with the reason, until there is another.  One whose deadline
 * cannot be promised was taken all the same: it runs without.
 */
static void see(void *self, const struct event *event, const struct job *seen)
{
	struct core *c = self;
	struct live_job *job;

	if (event->kind != EV_REJECT && event->kind != EV_ADMIT)
		return;
	job = c->of_engine.at[event->job];
	if (!job)
		return;
	if (event->kind == EV_ADMIT) {
		job->unpromised = event->reason.why == WHY_DEADLINE;
		core_note(c, NOTE_STATE, job->id, 0, NULL);
		return;
	}
	core_leave_engine(c, job);
	job->base.reason = seen->reason;
	job->gate = GATE_NEVER;
	core_wait_outside(c, job);
}

struct observer core_observer(struct core *c)
{
	return (struct observer){ .self = c, .see = see };
}
