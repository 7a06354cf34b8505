/*
 * Attempts: made, launched when their devices are free, stopped, retired.
 */
#include <math.h>
#include <stdio.h>
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

/* `by` is a rule besides the policy, as members of an object, or NULL. */
static void note_grant(struct core *c, enum note_kind kind, const struct attempt *a,
	const struct grant *grant, const char *by)
{
	struct buf body = { 0 };

	buf_str(&body, "{\"grant\":");
	grant_to_json(grant, c->cluster, &body);
	buf_str(&body, by ? by : "");
	buf_char(&body, '}');
	core_note(c, kind, a->job, a->number, body.at);
	buf_fini(&body);
}

struct attempt *core_new_attempt(struct core *c, struct live_job *job, const struct grant *grant,
	const char *by)
{
	struct attempt *a = attempt_create(job->id, ++job->attempt, grant, c->now_s);

	vec_push(&c->attempts, a);
	note_grant(c, NOTE_START, a, grant, by);
	return a;
}

void core_renew_attempt(struct core *c, const struct live_job *job, const struct grant *grant)
{
	struct attempt *a = core_alive(c, job->id);

	if (!a || a->stop || (a->grant->cpus == grant->cpus && a->grant->mem_bytes == grant->mem_bytes))
		return;
	a->grant->cpus = grant->cpus;
	a->grant->mem_bytes = grant->mem_bytes;
	note_grant(c, NOTE_RENEW, a, a->grant, NULL);
}

void core_retire(struct core *c, struct attempt *a, const char *text)
{
	a->phase = PHASE_OVER;
	a->over_s = c->now_s;
	if (text && !a->text)
		a->text = mem_strdup(text);
	core_note(c, NOTE_OVER, a->job, a->number, NULL);
}

/* One that is moved before it began is taken up by the next. */
static void retire_waiting(struct core *c, struct attempt *a, enum stop why)
{
	char text[64] = "it was never launched";

	if (why == STOP_MOVE)
		snprintf(text, sizeof(text), "superseded by attempt %u", a->number + 1);
	core_retire(c, a, text);
}

static void ask_to_stop(struct core *c, struct attempt *a, enum stop why, const char *by)
{
	struct buf body = { 0 };
	/* Whoever wants the job gone for good has the last word. */
	bool stronger = a->stop == STOP_NONE || (why == STOP_CANCEL && a->stop != STOP_CANCEL);

	if (a->phase == PHASE_WAITING) {
		retire_waiting(c, a, why);
		return;
	}
	if (!stronger)
		return;
	if (a->stop == STOP_NONE) {
		a->asked_s = c->now_s;
		buf_printf(&body, "{\"why\":\"%s\"%s}", stop_name(why), by ? by : "");
		core_note(c, NOTE_STOP, a->job, a->number, body.at);
		buf_fini(&body);
	} else {
		/* It has been asked already; what its end will mean is to be written down. */
		core_note(c, NOTE_STATE, a->job, a->number, NULL);
	}
	a->stop = why;
}

void core_stop_attempts_by(struct core *c, struct live_job *job, enum stop why, const char *by)
{
	for (size_t i = 0; i < c->attempts.n; i++) {
		struct attempt *a = c->attempts.at[i];

		if (a->job == job->id && a->phase != PHASE_OVER)
			ask_to_stop(c, a, why, by);
	}
}

void core_stop_attempts(struct core *c, struct live_job *job, enum stop why)
{
	core_stop_attempts_by(c, job, why, NULL);
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
		/* One that was told to grow before it was to stop or to shrink may be on those, too. */
		if ((b->stop || b->wish) && b->next_told && core_overlap(wanted, b->next))
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

	core_stop_attempts(c, job, STOP_MOVE);
	core_new_attempt(c, job, attempt_claim(a), NULL);
	core_restate(c, job);
}

void core_end_patience(struct core *c)
{
	size_t n = c->attempts.n; /* those made here are not asked */

	for (size_t i = 0; i < n; i++) {
		struct attempt *a = c->attempts.at[i];

		if (a->phase != PHASE_RUNNING || !a->next || !a->next_told || a->stop)
			continue;
		if (c->now_s >= answer_due_s(c, a)) {
			/* It may be on its new devices: until it has ended it keeps those as well. */
			core_find(c, a->job)->progress.resizable = false;
			restart_elsewhere(c, a);
		} else {
			c->next_gate_s = fmin(c->next_gate_s, answer_due_s(c, a));
		}
	}
}

/* It is to be told of another size once that is free. */
static bool is_untold(const struct attempt *a)
{
	return a->phase == PHASE_RUNNING && a->next && !a->next_told && !a->stop;
}

/* Of the first n, one that must be told before `a` can be, and is as `stuck` says; n: none. */
static size_t before_it(const struct core *c, size_t n, const bool *stuck, const struct attempt *a)
{
	size_t i = 0;

	while (i < n &&
		(!stuck[i] || c->attempts.at[i] == a ||
			!core_overlap(a->next, c->attempts.at[i]->grant)))
		i++;
	return i;
}

/* Marks those that are to be told and wait, perhaps through others, for each other.  Returns one of them; n: none. */
static size_t find_stuck(const struct core *c, size_t n, bool *stuck)
{
	size_t last = n;
	bool moved = true;

	for (size_t i = 0; i < n; i++)
		stuck[i] = is_untold(c->attempts.at[i]);
	while (moved) {
		moved = false;
		last = n;
		for (size_t i = 0; i < n; i++) {
			if (!stuck[i])
				continue;
			stuck[i] = before_it(c, n, stuck, c->attempts.at[i]) < n;
			moved |= !stuck[i];
			last = stuck[i] ? i : last;
		}
	}
	return last;
}

/*
 * The engine sees to it that a round asks for no ring of jobs each of which must leave before the next, but two rounds
 * may: one of them has to let go of everything.
 */
static void break_rings(struct core *c)
{
	size_t n = c->attempts.n, at; /* those made here hold nothing */
	bool *stuck = mem_alloc(n + 1);

	while ((at = find_stuck(c, n, stuck)) < n) {
		/* It may only wait for the ring: after so many steps we are inside. */
		for (size_t i = 0; i < n; i++)
			at = before_it(c, n, stuck, c->attempts.at[at]);
		restart_elsewhere(c, c->attempts.at[at]);
	}
	free(stuck);
}

void core_launch_ready(struct core *c)
{
	break_rings(c);
	for (size_t i = 0; i < c->attempts.n; i++) {
		struct attempt *a = c->attempts.at[i];

		if (a->phase == PHASE_WAITING && !blocked(c, a, a->grant)) {
			a->phase = PHASE_LAUNCHED;
			a->launched_s = c->now_s;
			note_grant(c, NOTE_LAUNCH, a, a->grant, NULL);
		} else if (is_untold(a) && !blocked(c, a, a->next)) {
			a->next_told = true;
			a->told_s = c->now_s;
			c->next_gate_s = fmin(c->next_gate_s, answer_due_s(c, a));
			note_grant(c, NOTE_RESIZE, a, a->next, NULL);
		}
	}
}
