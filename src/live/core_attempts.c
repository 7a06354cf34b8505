/*
 * Attempts: made, launched when their devices are free, stopped, retired.
 */
#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "live/core_state.h"

struct attempt *core_alive(const struct core *c, uint32_t job)
{
	for (size_t i = c->attempts.n; i-- > 0;) {
		struct attempt *a = c->attempts.at[i];

		if (a->job == job && a->phase != PHASE_OVER)
			return a;
	}
	return NULL;
}

struct attempt *core_find_attempt(const struct core *c, uint32_t job, uint32_t number)
{
	for (size_t i = 0; i < c->attempts.n; i++) {
		struct attempt *a = c->attempts.at[i];

		if (a->job == job && a->number == number)
			return a;
	}
	return NULL;
}

static void note_grant(struct core *c, enum note_kind kind, const struct attempt *a,
	const struct grant *grant)
{
	struct buf body = { 0 };

	buf_str(&body, "{\"grant\":");
	grant_to_json(grant, c->cluster, &body);
	buf_char(&body, '}');
	core_note(c, kind, a->job, a->number, body.at);
	buf_fini(&body);
}

struct attempt *core_new_attempt(struct core *c, struct live_job *job, const struct grant *grant)
{
	struct attempt *a = attempt_create(job->id, ++job->attempt, grant, c->now_s);

	vec_push(&c->attempts, a);
	note_grant(c, NOTE_START, a, grant);
	return a;
}

void core_retire(struct core *c, struct attempt *a, const char *text)
{
	a->phase = PHASE_OVER;
	a->over_s = c->now_s;
	if (text && !a->text)
		a->text = mem_strdup(text);
	core_note(c, NOTE_OVER, a->job, a->number, NULL);
}

static void ask_to_stop(struct core *c, struct attempt *a, enum stop why)
{
	struct buf body = { 0 };
	/* Whoever wants the job gone for good has the last word. */
	bool stronger = a->stop == STOP_NONE || (why == STOP_CANCEL && a->stop != STOP_CANCEL);

	if (a->phase == PHASE_WAITING) {
		core_retire(c, a, "it was never launched");
		return;
	}
	if (!stronger)
		return;
	if (a->stop == STOP_NONE) {
		a->asked_s = c->now_s;
		buf_printf(&body, "{\"why\":\"%s\"}", stop_name(why));
		core_note(c, NOTE_STOP, a->job, a->number, body.at);
		buf_fini(&body);
	} else {
		/* It has been asked already; what its end will mean is to be written down. */
		core_note(c, NOTE_STATE, a->job, a->number, NULL);
	}
	a->stop = why;
}

void core_stop_attempts(struct core *c, struct live_job *job, enum stop why)
{
	for (size_t i = 0; i < c->attempts.n; i++) {
		struct attempt *a = c->attempts.at[i];

		if (a->job == job->id && a->phase != PHASE_OVER)
			ask_to_stop(c, a, why);
	}
}

bool core_overlap(const struct grant *a, const struct grant *b)
{
	for (uint32_t i = 0; a && b && i < a->nslots; i++) {
		for (uint32_t j = 0; j < b->nslots; j++) {
			if (a->slots[i].node == b->slots[j].node &&
				a->slots[i].devices & b->slots[j].devices)
				return true;
		}
	}
	return false;
}

/* Whether somebody who was asked to leave one of these devices is still there. */
static bool blocked(const struct core *c, const struct attempt *a, const struct grant *wanted)
{
	for (size_t i = 0; i < c->attempts.n; i++) {
		const struct attempt *b = c->attempts.at[i];

		if (b == a || b->phase == PHASE_OVER || b->phase == PHASE_WAITING)
			continue;
		if (b->job == a->job)
			return true;
		if ((b->stop || b->next) && core_overlap(wanted, b->grant))
			return true;
		/* One that was told to grow before it was told to stop may be on those, too. */
		if (b->stop && b->next_told && core_overlap(wanted, b->next))
			return true;
	}
	return false;
}

static double answer_due_s(const struct core *c, const struct attempt *a)
{
	const struct live_job *job = core_find(c, a->job);

	return a->told_s + (job ? fmax(job->grace_s, 1) : 0);
}

static void restart_elsewhere(struct core *c, struct attempt *a)
{
	struct live_job *job = core_find(c, a->job);

	/* It was told, and may be on its new devices: until it has ended it keeps those as well. */
	job->progress.resizable = false;
	core_stop_attempts(c, job, STOP_MOVE);
	core_new_attempt(c, job, a->next);
	core_restate(c, job);
}

void core_end_patience(struct core *c)
{
	size_t n = c->attempts.n; /* those made here are not asked */

	for (size_t i = 0; i < n; i++) {
		struct attempt *a = c->attempts.at[i];

		if (a->phase != PHASE_RUNNING || !a->next || !a->next_told || a->stop)
			continue;
		if (c->now_s >= answer_due_s(c, a))
			restart_elsewhere(c, a);
		else
			c->next_gate_s = fmin(c->next_gate_s, answer_due_s(c, a));
	}
}

void core_launch_ready(struct core *c)
{
	for (size_t i = 0; i < c->attempts.n; i++) {
		struct attempt *a = c->attempts.at[i];

		if (a->phase == PHASE_WAITING && !blocked(c, a, a->grant)) {
			a->phase = PHASE_LAUNCHED;
			a->launched_s = c->now_s;
			note_grant(c, NOTE_LAUNCH, a, a->grant);
		} else if (a->phase == PHASE_RUNNING && a->next && !a->next_told && !a->stop &&
			!blocked(c, a, a->next)) {
			a->next_told = true;
			a->told_s = c->now_s;
			c->next_gate_s = fmin(c->next_gate_s, answer_due_s(c, a));
			note_grant(c, NOTE_RESIZE, a, a->next);
		}
	}
}
