/*
 * What Slurm shows of a job, compared with what was ordered: attempts that began
 * or ended, and what users did themselves.
 *
 * Everything here may be called again with the same: it tells a thing once.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "live/slurm/driver.h"

#define BOUNCE_PAUSE_MAX_S 30.0
#define AGAIN_PAUSE_S 1.0 /* nodes count in whole seconds: see is_too_early() */
#define LATE_S 120.0      /* no order that was lost comes after so long */
enum { HOPELESS_AFTER = 4 };

/* ---- marks */

static bool own_mark(const struct slurm *s, const struct slurm_job *j, struct slurm_mark *mark)
{
	return j->job && mark_read(j->fact.mark, s->site, mark) && mark->job == j->job;
}

bool slurm_is_marked(const struct slurm *s, const struct slurm_job *j)
{
	struct slurm_mark mark;

	return j->run.attempt && own_mark(s, j, &mark) && mark.attempt == j->run.attempt;
}

bool slurm_is_late(const struct slurm *s, const struct slurm_job *j)
{
	struct slurm_mark mark;

	return j->fact.state == FACT_RUNNING && own_mark(s, j, &mark) && mark.attempt > 0 &&
		mark.attempt != j->run.attempt && mark.restarts == j->fact.restarts;
}

/* ---- telling */

static void tell(struct slurm *s, const char *input, uint32_t job, json_t *body)
{
	if (s->base.config.told)
		s->base.config.told(s->base.config.ctx, input, job, body);
	else
		json_decref(body);
}

/* Slurm counts in whole seconds: the middle of when it can have been, not before `least_s` and since the last look. */
static double moment_in(const struct slurm *s, double second, double least_s)
{
	double to_s = fmin(slurm_now(s), second + 1);
	double from_s = fmax(fmax(second, least_s), fmin(to_s, s->looked_before_s));

	return from_s < to_s ? (from_s + to_s) / 2 : fmin(from_s, slurm_now(s));
}

static void tell_begun(struct slurm *s, struct slurm_job *j)
{
	struct run *run = &j->run;

	if (run->begun)
		return;
	run->begun = true;
	j->bounces = 0;
	run->begun_s = moment_in(s, j->fact.start_s, run->ordered_s);
	if (j->kind == KIND_TAKEN)
		paper_write(s, j);
	if (s->base.config.begun)
		s->base.config.begun(s->base.config.ctx, j->job, run->attempt, run->begun_s);
}

/* The attempt is over; its devices may be somebody's by now. */
static void tell_ended(struct slurm *s, struct slurm_job *j, struct ending *ending)
{
	ending->job = j->job;
	ending->attempt = j->run.attempt;
	ending->asked_s = j->run.asked_s;
	run_fini(&j->run);
	j->told_limit_s = 0; /* it was the attempt's */
	if (s->base.config.changed)
		s->base.config.changed(s->base.config.ctx);
	if (s->base.config.ended)
		s->base.config.ended(s->base.config.ctx, ending);
}

void slurm_bounce(struct slurm *s, struct slurm_job *j, const char *why)
{
	struct ending ending = { .known = true, .bounced = true, .code = -1 };
	bool ours = j->run.stop, hopeless = j->run.hopeless;
	char number[16];

	snprintf(number, sizeof(number), "%u", j->job);
	ending.ended_s = slurm_now(s);
	snprintf(ending.text, sizeof(ending.text), "%s", why);
	if (!ours) {
		j->bounces++;
		j->not_before_s = slurm_now(s) +
			fmin(BOUNCE_PAUSE_MAX_S, ldexp(0.25, (int)fmin(j->bounces, 10)));
		slurm_say(s, LEVEL_WARNING, "job %u (%s in Slurm) did not start and is tried again: %s",
			j->job, *j->name ? j->name : "none", why);
	}
	tell_ended(s, j, &ending);
	if (ours || !hopeless || j->bounces < HOPELESS_AFTER)
		return;
	slurm_say(s, LEVEL_ERROR,
		"job %u is held: Slurm does not start it (%s); when that is mended 'stint release %s%s' "
		"lets it try again",
		j->job, why, *j->name ? "slurm:" : "", *j->name ? j->name : number);
	j->bounces = 0;
	tell(s, "hold", j->job, json_object());
}

/* ---- how an attempt ended */

static double ended_at(const struct slurm *s, const struct slurm_job *j)
{
	double now_s = slurm_now(s);

	return j->fact.end_s > 0 && j->fact.end_s < now_s
		? moment_in(s, j->fact.end_s, j->run.begun_s)
		: now_s;
}

/* One that was over before anybody saw it run, began all the same. */
static double begun_at(const struct slurm_job *j)
{
	if (j->run.begun)
		return j->run.begun_s;
	return j->fact.start_s > 0 ? fmax(j->fact.start_s, j->run.ordered_s) : j->run.ordered_s;
}

static void end_unknown(struct slurm *s, struct slurm_job *j)
{
	struct ending ending = { .code = -1, .begun_s = begun_at(j), .ended_s = slurm_now(s) };

	snprintf(ending.text, sizeof(ending.text),
		"Slurm does not know job %s any more (it forgets jobs %.0f s after their end): how it "
		"ended cannot be told",
		j->name, s->min_job_age_s);
	j->spent_s = slurm_now(s);
	tell_ended(s, j, &ending);
}

/* It waits in Slurm again.  False: it cannot be told yet why. */
static bool end_put_back(struct slurm *s, struct slurm_job *j)
{
	struct run *run = &j->run;
	struct ending ending = { .known = true, .code = -1, .asked = true };
	bool dead = false, by_us = (run->requeued || run->stop) && !run->restarted;

	if (!by_us && !run->restarted && !run->need_nodes) {
		run->need_nodes = s->node_looks + 1;
		s->nodes_due_s = 0;
	}
	if (!by_us && !run->restarted && s->nodes_seen < run->need_nodes)
		return false;
	ending.node_failed = !by_us && (run->restarted || slurm_run_node_bad(s, run, &dead));
	ending.asked = !ending.node_failed;
	ending.begun_s = begun_at(j);
	ending.ended_s = fmax(ending.begun_s, slurm_now(s));
	j->not_before_s = slurm_now(s) + AGAIN_PAUSE_S;
	if (ending.node_failed)
		snprintf(ending.text, sizeof(ending.text), "its node failed, says Slurm");
	else if (!by_us)
		tell(s, "requeue", j->job, json_object());
	tell_ended(s, j, &ending);
	return true;
}

enum {
	SLURM_NO_FILES = 53
}; /* in place of a signal: slurmd could not open the job's output or directory */

static void end_finished(struct slurm *s, struct slurm_job *j)
{
	const char *word = j->fact.word;
	/* A stop that was on its way, to a controller that was away perhaps, did not reach it. */
	bool asked = j->run.signalled || j->run.requeued || j->run.stopped_before;
	bool cancelled = !strcmp(word, "CANCELLED");
	struct ending ending = { .known = true,
		.code = j->fact.exit,
		.signal = j->fact.signal,
		.asked = asked };

	ending.begun_s = begun_at(j);
	ending.ended_s = fmax(ending.begun_s, ended_at(s, j));
	ending.timed_out = !strcmp(word, "TIMEOUT") || !strcmp(word, "DEADLINE");
	ending.node_failed = !strcmp(word, "NODE_FAIL") || !strcmp(word, "BOOT_FAIL");
	if (ending.signal || ending.timed_out || ending.node_failed)
		ending.code = -1;
	if (cancelled) {
		ending.code = -1;
		ending.signal = j->run.killed ? SIGKILL : SIGTERM;
		ending.asked = true;
	} else if (!strcmp(word, "OUT_OF_MEMORY")) {
		ending.code = -1;
		ending.signal = SIGKILL;
		snprintf(ending.text, sizeof(ending.text),
			ENDING_OUT_OF_MEMORY ": it used more than it asked for, says Slurm");
	}
	if (!strcmp(word, "FAILED") && ending.signal == SLURM_NO_FILES) {
		ending.code = 126;
		ending.signal = 0;
		snprintf(ending.text, sizeof(ending.text),
			"its node could not open its output or go to its directory; slurmd's log there says more");
	}
	if (cancelled && !asked)
		tell(s, "cancel", j->job, json_object());
	else if (!strcmp(word, "PREEMPTED") && !asked)
		tell(s, "requeue", j->job, json_object());
	j->spent = true;
	j->spent_s = slurm_now(s);
	if (j->kind == KIND_TAKEN && !j->run.begun)
		paper_write(s, j);
	tell_ended(s, j, &ending);
}

/* ---- an attempt under way */

/* Why Slurm lets it wait though it was released. */
static bool starts_with(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_hopeless(const char *reason)
{
	static const char *const begins[] = { "BadConstraints", "Invalid", "QOS", "Assoc", "AccountNot",
		"PartitionNodeLimit", "PartitionTimeLimit", "DependencyNever", "MaxMemPerLimit" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
		if (starts_with(reason, begins[i]))
			return true;
	}
	return false;
}

static bool is_vain(const char *reason)
{
	return is_hopeless(reason) || starts_with(reason, "ReqNodeNotAvail") ||
		starts_with(reason, "JobArrayTaskLimit") || starts_with(reason, "PartitionDown") ||
		starts_with(reason, "PartitionInactive") || starts_with(reason, "Reservation") ||
		starts_with(reason, "JobHold") || starts_with(reason, "Dependency");
}

static void lose_patience(struct slurm *s, struct slurm_job *j)
{
	struct run *run = &j->run;
	double waits_s = slurm_now(s) - run->ordered_s;
	bool dead, vain = is_vain(j->fact.reason) && waits_s > 1;

	if (run->back || run->stop)
		return;
	if (!vain && waits_s < s->patience_s && !slurm_run_node_bad(s, run, &dead))
		return;
	run->back = true;
	run->hopeless = is_hopeless(j->fact.reason);
	snprintf(run->why, sizeof(run->why), "Slurm did not start it in %.0f s, its reason is %s",
		waits_s, j->fact.reason);
}

/* Its user holds it, or does so no longer. */
static void set_hold(struct slurm *s, struct slurm_job *j, enum user_hold hold)
{
	j->user_held = hold;
	tell(s, hold ? "hold" : "release", j->job, json_object());
	paper_write(s, j);
}

/* Ours, for another attempt; perhaps from before a restart. */
static bool is_late_hold(const struct slurm *s, const struct slurm_job *j)
{
	double since_s = fmax(j->doubted_hold_s, s->opened_s);

	return !strcmp(j->fact.reason, "JobHeldAdmin") && slurm_now(s) < since_s + LATE_S;
}

/* It was released and does not run yet. */
static void watch_released(struct slurm *s, struct slurm_job *j)
{
	struct run *run = &j->run;

	if (!j->fact.held) {
		lose_patience(s, j);
		return;
	}
	if (!run->back && !run->stop && !run->claimed && !j->user_held && !is_late_hold(s, j)) {
		set_hold(s, j, j->fact.wanted_held ? HOLD_WORD : HOLD_SLURM);
		slurm_bounce(s, j, "it was held in Slurm before it began");
		return;
	}
	slurm_bounce(s, j,
		run->why[0]         ? run->why
			: run->stop ? "it was stopped before it began"
				    : "it was taken back");
}

static void watch_marked(struct slurm *s, struct slurm_job *j)
{
	struct run *run = &j->run;
	struct slurm_mark mark = { 0 };

	own_mark(s, j, &mark);
	run->restarts = mark.restarts;
	if (run->ordered_s == 0)
		run->ordered_s = j->fact.start_s > 0 ? j->fact.start_s : slurm_now(s);
	run->settled = run->ordered = true;
	if (j->fact.completing)
		return; /* something of it is left */
	if (j->fact.state == FACT_RUNNING && j->fact.restarts == run->restarts)
		tell_begun(s, j);
	else if (j->fact.state == FACT_RUNNING)
		run->restarted = true;
	else if (j->fact.restarts > run->restarts)
		end_put_back(s, j);
	else if (j->fact.state == FACT_PENDING)
		watch_released(s, j);
	else
		end_finished(s, j);
}

/* A job of ours runs, and nobody here ordered it. */
static void watch_outside(struct slurm *s, struct slurm_job *j)
{
	if (j->outside || slurm_is_late(s, j))
		return;
	j->outside = true;
	slurm_say(s, LEVEL_WARNING,
		"job %u runs in Slurm as job %s, which nobody here ordered: it is left alone until it ends",
		j->job, j->name);
	tell(s, "hold", j->job, json_object());
}

static void unbind(struct slurm *s, struct slurm_job *j)
{
	jobs_set_name(&s->jobs, j, "");
	j->generation++;
	j->spent = j->outside = false;
	j->user_held = HOLD_NONE;
}

static const char live_state[][2][16] = {
	{ "COMPLETED", "COMPLETED" },
	{ "TIMEOUT", "TIMEOUT" },
	{ "DEADLINE", "TIMEOUT" },
	{ "NODE_FAIL", "NODE_FAIL" },
	{ "BOOT_FAIL", "NODE_FAIL" },
	{ "PREEMPTED", "PREEMPTED" },
	{ "CANCELLED", "CANCELLED" },
};

static void tell_outside(struct slurm *s, struct slurm_job *j, const char *word, const char *text)
{
	const char *state = "FAILED";

	for (size_t i = 0; i < sizeof(live_state) / sizeof(*live_state); i++) {
		if (!strcmp(word, live_state[i][0]))
			state = live_state[i][1];
	}
	j->told_end = true;
	tell(s, "outside", j->job,
		json_pack("{s:s,s:i,s:s}", "state", state, "code",
			j->fact.signal ? -1 : j->fact.exit, "text", text));
}

/* Slurm does not know it. */
static void watch_gone(struct slurm *s, struct slurm_job *j)
{
	struct run *run = &j->run;

	if (!*j->name) {
		if (run->attempt && run->stop)
			slurm_bounce(s, j, "it was stopped before it began");
		return;
	}
	if (run->attempt && (run->ordered || run->claimed))
		end_unknown(s, j);
	if (run->attempt)
		slurm_bounce(s, j, "Slurm does not know the job any more");
	if (j->kind == KIND_OWN)
		unbind(s, j);
	else if (!j->told_end) {
		/* Of a task that waits nothing remains when it is cancelled. */
		bool task = name_array(j->name) && !j->spent;

		tell_outside(s, j, "CANCELLED",
			task ? "it was cancelled in Slurm" : "Slurm does not know the job any more");
	}
}

/* It was ordered and does not show it, or is not ordered yet. */
static void watch_unmarked(struct slurm *s, struct slurm_job *j)
{
	if (j->run.stop || j->run.back)
		slurm_bounce(s, j, j->run.stop ? "it was stopped before it began" : j->run.why);
	else if (j->fact.state == FACT_RUNNING && !slurm_is_late(s, j)) {
		watch_outside(s, j);
		slurm_bounce(s, j, "it runs in Slurm without an order of ours");
	} else if (j->fact.state == FACT_ENDED && !j->spent && !j->told_end) {
		/* Somebody ended it before it began. */
		bool cancelled = !strcmp(j->fact.word, "CANCELLED");

		if (cancelled)
			tell(s, "cancel", j->job, json_object());
		j->told_end = cancelled;
		slurm_bounce(s, j, "it ended in Slurm before it began");
	}
}

/* ---- no attempt */

static void watch_limit(struct slurm *s, struct slurm_job *j)
{
	double limit_s = j->fact.limit_s, before_s = j->told_limit_s;

	j->told_limit_s = limit_s;
	if (before_s == limit_s || before_s == 0 || j->kind != KIND_TAKEN)
		return;
	tell(s, "update", j->job, json_pack("{s:f}", "time_s", limit_s));
}

/* Holds of its user's: the hook's word, or where there is no hook Slurm's state. */
static void watch_hold(struct slurm *s, struct slurm_job *j)
{
	const struct fact *f = &j->fact;

	j->overruled &= f->wanted_held;
	if (j->outside || (j->user_held && !f->held) || (j->user_held == HOLD_WORD && !f->wanted_held)) {
		/* Released in Slurm itself the word stays, and means nothing. */
		j->overruled = f->wanted_held;
		j->outside = false;
		set_hold(s, j, HOLD_NONE);
	}
	if (f->wanted_held && !j->user_held && !j->overruled)
		set_hold(s, j, HOLD_WORD);
}

static void watch_waiting(struct slurm *s, struct slurm_job *j)
{
	const struct fact *f = &j->fact;

	if (f->state == FACT_RUNNING && !f->completing) {
		watch_outside(s, j);
	} else if (f->state == FACT_PENDING) {
		watch_hold(s, j);
		j->told_end = false;
		watch_limit(s, j);
	} else if (f->state == FACT_ENDED && !j->spent && !j->told_end && !f->completing) {
		if (!j->outside && !strcmp(f->word, "CANCELLED")) {
			j->told_end = true;
			tell(s, "cancel", j->job, json_object());
		} else {
			tell_outside(s, j, f->word,
				"it ran and ended in Slurm without an order of ours");
		}
	}
}

/*
 * After a restart: its last attempt ended in Slurm, which the daemon knows.  Not one that completed or was
 * cancelled: that would have been its end here, too.
 */
static void recognise_spent(const struct slurm *s, struct slurm_job *j)
{
	struct slurm_mark mark;

	if (j->fact.state != FACT_ENDED || j->spent || !strcmp(j->fact.word, "CANCELLED") ||
		!strcmp(j->fact.word, "COMPLETED") || !own_mark(s, j, &mark) || mark.attempt == 0 ||
		mark.attempt == j->run.attempt || mark.restarts != j->fact.restarts)
		return;
	j->spent = true;
	j->spent_s = slurm_now(s);
}

void slurm_watch(struct slurm *s, struct slurm_job *j)
{
	bool ours = j->kind == KIND_OWN || j->kind == KIND_TAKEN;

	if (j->dead || j->order || j->need_look > s->seen || !s->seen)
		return;
	if (j->kind == KIND_GUEST && j->fact.state == FACT_NONE)
		j->dead = true;
	if (!ours || j->forgotten)
		return;
	recognise_spent(s, j);
	j->spent &= j->fact.state == FACT_ENDED;
	if (j->fact.state == FACT_NONE)
		watch_gone(s, j);
	else if (!j->run.attempt)
		watch_waiting(s, j);
	else if (slurm_is_marked(s, j))
		watch_marked(s, j);
	else
		watch_unmarked(s, j);
}
