/*
 * What happens to jobs: one function for each input of the record.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "live/core_state.h"

static int no_such_job(uint32_t id, struct err *err)
{
	return err_set(err, ERR_MISSING, "there is no job %u here; it may have ended", id);
}

/* The job if it has not ended; NULL with why not. */
static struct live_job *one_alive(const struct core *c, uint32_t id, struct err *err)
{
	struct live_job *job = core_find(c, id);

	if (job && !live_ended(job))
		return job;
	no_such_job(id, err);
	return NULL;
}

/* An attempt that runs and its job, for what it says of itself; NULL with why not. */
static struct attempt *one_running(const struct core *c, uint32_t id, uint32_t number,
	struct live_job **job, struct err *err)
{
	struct attempt *a = core_find_attempt(c, id, number);

	*job = core_find(c, id);
	if (*job && a && a->phase == PHASE_RUNNING)
		return a;
	err_set(err, ERR_MISSING, "attempt %u of job %u does not run", number, id);
	return NULL;
}

/* The policies' table of tenants is fixed for an epoch. */
static int refuse_stranger(const struct core *c, const struct live_job *job, struct err *err)
{
	if (!job->tenant || core_knows_tenant(c, job->tenant))
		return 0;
	return err_set(err, ERR_REFUSED, "tenant %s is not known yet; it needs a new epoch",
		job->tenant);
}

/* ---- from people */

/* Takes it over, also if it fails. */
static int take_in(struct core *c, uint32_t id, struct live_job *job, struct err *err)
{
	int rc = refuse_stranger(c, job, err);

	if (core_find(c, id) || job->id != id)
		rc = err_set(err, ERR_BROKEN, "job %u is here already", id);
	if (rc < 0) {
		live_job_destroy(job);
		return rc;
	}
	core_list(c, job);
	core_wait_outside(c, job);
	return 0;
}

static int in_submit(struct core *c, uint32_t id, uint32_t attempt, const json_t *body, struct err *err)
{
	struct live_job *job;

	(void)attempt;
	if (live_job_from_status(json_object_get(body, "job"), &job, err) < 0)
		return err->code;
	return take_in(c, id, job, err);
}

/*
 * Takes its devices from it; what follows depends on `why` once they are free.  Until then the engine
 * knows it as running, or it would give them to others while better ones are free.
 */
static void take_back(struct core *c, struct live_job *job, enum stop why)
{
	core_stop_attempts(c, job, why);
	if (!core_alive(c, job->id) || core_engine_job(c, job)->state != JOB_RUNNING)
		core_withdraw(c, job);
	core_restate(c, job);
}

static int in_cancel(struct core *c, uint32_t id, uint32_t attempt, const json_t *body, struct err *err)
{
	struct live_job *job = one_alive(c, id, err);

	(void)attempt;
	(void)body;
	if (!job)
		return err->code;
	take_back(c, job, STOP_CANCEL);
	if (!core_alive(c, id))
		core_end(c, job, LIVE_CANCELLED, NULL);
	else
		core_note(c, NOTE_STATE, id, 0, NULL);
	return 0;
}

static int in_hold(struct core *c, uint32_t id, uint32_t attempt, const json_t *body, struct err *err)
{
	struct live_job *job = one_alive(c, id, err);

	(void)attempt;
	(void)body;
	if (!job)
		return err->code;
	job->held = true;
	take_back(c, job, STOP_HOLD);
	core_wait_outside(c, job);
	core_note(c, NOTE_STATE, id, 0, NULL);
	return 0;
}

static int in_release(struct core *c, uint32_t id, uint32_t attempt, const json_t *body, struct err *err)
{
	struct live_job *job = one_alive(c, id, err);

	(void)attempt;
	(void)body;
	if (!job)
		return err->code;
	job->held = false;
	free(job->reclaimed);
	job->reclaimed = NULL;
	c->gates_moved = true;
	core_note(c, NOTE_STATE, id, 0, NULL);
	return 0;
}

static int refuse_pty(const struct live_job *job, struct err *err)
{
	return err_set(err, ERR_REFUSED,
		"job %u runs on a terminal and cannot run again; start another with stint run --pty",
		job->id);
}

/* A job that ended comes back with its status; one that runs starts over from what it saved. */
static int in_requeue(struct core *c, uint32_t id, uint32_t attempt, const json_t *body, struct err *err)
{
	struct live_job *job = core_find(c, id);
	const json_t *status = json_object_get(body, "job");

	(void)attempt;
	if (job && live_ended(job))
		return err_set(err, ERR_REFUSED, "job %u is just ending; try again in a moment", id);
	if (!job && !status)
		return no_such_job(id, err);
	if (job && job->pty)
		return refuse_pty(job, err);
	if (!job) {
		if (live_job_from_status(status, &job, err) < 0)
			return err->code;
		if (job->pty ? refuse_pty(job, err) : refuse_stranger(c, job, err)) {
			live_job_destroy(job);
			return err->code;
		}
		job->state = LIVE_PENDING;
		core_list(c, job);
	} else {
		take_back(c, job, STOP_REQUEUE);
	}
	core_wait_outside(c, job);
	core_note(c, NOTE_STATE, id, 0, NULL);
	return 0;
}

/* It ended in the world without any attempt of ours: somebody else let it run, or took it away. */
static int in_outside(struct core *c, uint32_t id, uint32_t attempt, const json_t *body, struct err *err)
{
	struct live_job *job = one_alive(c, id, err);
	const struct attempt *a = core_alive(c, id);
	const char *word = member_text(body, "state");
	int state = word ? live_state_of(word) : -1;

	(void)attempt;
	if (!job)
		return err->code;
	if (state < LIVE_COMPLETED)
		return err_set(err, ERR_USAGE, "state: one of those that jobs end in is needed");
	if (a && a->phase != PHASE_WAITING)
		return err_set(err, ERR_REFUSED, "job %u has an attempt, which ends first", id);
	job->code = (int)member_int(body, "code", -1);
	core_end(c, job, (enum live_state)state, member_text(body, "text"));
	return 0;
}

/* Another scheduler runs it there, or nowhere, and says why. */
static int in_observed(struct core *c, uint32_t id, uint32_t attempt, const json_t *body,
	struct err *err)
{
	struct live_job *job = one_alive(c, id, err);
	const char *reason = member_text(body, "reason");
	const json_t *on = json_object_get(body, "on");

	(void)attempt;
	if (!job)
		return err->code;
	free(job->outside_reason);
	job->outside_reason = reason ? mem_strdup(reason) : NULL;
	if (on) {
		take_back(c, job, STOP_PREEMPT);
		core_withdraw(c, job);
		/* On nodes that are not known here it waits, as far as we can tell. */
		if (live_job_pin(job, on, c->cluster, err) < 0)
			*err = (struct err){ 0 };
		core_wait_outside(c, job);
	}
	core_note(c, NOTE_STATE, id, 0, NULL);
	return 0;
}

/*
 * In the engine the change shows when it comes in again.  One that the engine refused, or whose dependency cannot be met
 * any more, is looked at anew if the change may help.
 */
static int in_update(struct core *c, uint32_t id, uint32_t attempt, const json_t *body, struct err *err)
{
	struct live_job *job = one_alive(c, id, err);
	char label[LIVE_NAME_SIZE], *old_name;

	(void)attempt;
	if (!job)
		return err->code;
	if (core_alive(c, id))
		return err_set(err, ERR_REFUSED,
			"job %s holds devices; hold it first ('stint hold --stop %s'), change it, then release it",
			live_name(job, label), label);
	take_back(c, job, STOP_NONE);
	if (live_job_change(job, body, &old_name)) {
		job->gate = GATE_OPEN;
		job->base.types = live_job_types(job, c->cluster);
	}
	if (old_name)
		vec_push(&c->old_names, old_name);
	if (member_bool(body, "in_order", false)) /* which inputs of earlier versions do not say */
		core_wait_in_order(c, job);
	else
		core_wait_outside(c, job);
	core_note(c, NOTE_STATE, id, 0, NULL);
	return 0;
}

/* ---- from the machine */

/*
 * The machine's clock was set, or has drifted: moments that users gave as wall time come `shift_s` later in record
 * time.  A job whose begin has come stays eligible, and a pause is a length of time.
 */
static int in_clock(struct core *c, uint32_t id, uint32_t attempt, const json_t *body, struct err *err)
{
	double shift_s = member_number(body, "shift_s", 0);

	(void)id;
	(void)attempt;
	(void)err;
	for (size_t i = 0; i < c->jobs.n; i++) {
		struct live_job *job = c->jobs.at[i];
		bool begins = job->begin_s > c->now_s && !job->paused;

		if (live_ended(job) || (!begins && !isfinite(job->deadline_s)))
			continue;
		if (begins)
			job->begin_s = fmax(DBL_MIN, job->begin_s + shift_s);
		if (isfinite(job->deadline_s))
			job->deadline_s = job->base.deadline_s = job->deadline_s + shift_s;
		core_note(c, NOTE_STATE, job->id, 0, NULL);
	}
	c->gates_moved = true;
	return 0;
}

/* A mean that forgets. */
static double blend(double before, double seen)
{
	return isnan(before) || before == 0 ? seen : 0.7 * before + 0.3 * seen;
}

static void learn_start_cost(struct core *c, struct live_job *job, const struct attempt *a)
{
	double cost_s = fmax(0, a->begun_s - a->launched_s);

	c->start_cost_s = blend(c->start_cost_s, cost_s);
	if (a->number == 1)
		job->base.start_cost_s = cost_s;
	job->base.resume_cost_s = fmax(cost_s, job->base.resume_cost_s);
}

static int in_begun(struct core *c, uint32_t id, uint32_t attempt, const json_t *body, struct err *err)
{
	struct live_job *job = core_find(c, id);
	struct attempt *a = core_find_attempt(c, id, attempt);

	if (!job || !a || a->phase != PHASE_LAUNCHED)
		return err_set(err, ERR_MISSING, "no attempt %u of job %u waits to begin", attempt, id);
	a->phase = PHASE_RUNNING;
	/* A daemon that was away hears of it late. */
	a->begun_s = fmin(c->now_s, fmax(a->launched_s, member_number(body, "at_s", c->now_s)));
	job->begun_s = a->begun_s;
	if (isnan(job->first_begun_s)) {
		job->first_begun_s = a->begun_s;
		c->gates_moved = true; /* some may follow its start */
	}
	job->progress.first_step = job->progress.first_s = job->progress.per_s = NAN;
	job->idle_since_s = NAN;
	learn_start_cost(c, job, a);
	core_end_silence(c); /* from when on it will be taken to say nothing */
	if (job->engine_id != JOB_NONE && !a->stop)
		core_tell(c, (struct event){ .kind = EV_BEGUN, .job = job->engine_id }, NULL);
	core_restate(c, job);
	core_note(c, NOTE_STATE, id, attempt, NULL);
	return 0;
}

/* Its speed on as many devices as it asked for: measured, as its agent believes, or in proportion. */
static double as_asked(const struct core *c, const struct live_job *job, const struct attempt *a)
{
	uint32_t gpus = (uint32_t)job->base.gpus;
	double believed = 0;

	if (gpus != a->grant->gpus && job->engine_id != JOB_NONE)
		believed = core_agent_speed(c, core_engine_job(c, job), a->grant->type, gpus, 1);
	return believed > 0 ? believed : job->progress.per_s * gpus / a->grant->gpus;
}

/* Speed as this attempt has shown it, and what the others may learn from it. */
static void learn_speed(struct core *c, struct live_job *job, const struct attempt *a, double step)
{
	struct live_progress *p = &job->progress;
	double took_s = c->now_s - p->first_s, made = step - p->first_step;

	if (isnan(p->first_step)) {
		p->first_step = step;
		p->first_s = c->now_s;
		return;
	}
	if (!(took_s > 0) || !(made > 0))
		return;
	p->per_s = made / took_s;
	p->seen = true;
	core_measure(c, job, a, p->per_s, made, took_s);
	if (job->base.by_steps)
		job->base.nominal_rate = as_asked(c, job, a);
	/* What is kept is the speed on the best devices of so many nodes. */
	if (job->base.model != NAME_NONE && !a->grant->mixed)
		profile_add(c->speeds, job->base.model, a->grant->type, a->grant->gpus,
			a->grant->nslots,
			p->per_s /
				profile_link_locality(c->speeds, job->base.model, a->grant->type,
					grant_shape(c->cluster, a->grant)));
}

/* From seconds to steps, once the job has said how many there are. */
static void count_in_steps(struct live_job *job, double total)
{
	if (!(total > 0))
		return;
	if (!job->base.by_steps && job->base.work_est > 0) {
		job->base.nominal_rate = total / job->base.work_est;
		job->base.saved *= job->base.nominal_rate;
	}
	job->base.by_steps = true;
	job->base.work_est = total;
}

static int in_progress(struct core *c, uint32_t id, uint32_t attempt, const json_t *body,
	struct err *err)
{
	struct live_job *job;
	struct attempt *a = one_running(c, id, attempt, &job, err);
	double step = member_number(body, "step", NAN);

	if (!a)
		return err->code;
	if (isnan(step) || step < 0)
		return err_set(err, ERR_USAGE, "step: a number of steps made so far is needed");
	job->progress.step = step;
	job->progress.total = member_number(body, "total", job->progress.total);
	job->progress.at_s = c->now_s;
	job->progress.loss = member_number(json_object_get(body, "metrics"), "loss",
		job->progress.loss);
	job->progress.resizable = member_bool(body, "resizable", job->progress.resizable);
	core_listen(c, job, json_object_get(body, "metrics"));
	count_in_steps(job, job->progress.total);
	learn_speed(c, job, a, step);
	if (job->base.by_steps)
		core_tell_progress(c, job, step);
	if (!isnan(job->idle_since_s)) {
		job->idle_since_s = NAN; /* it does something */
		core_note(c, NOTE_STATE, id, attempt, NULL);
	}
	return 0;
}

static int in_checkpointed(struct core *c, uint32_t id, uint32_t attempt, const json_t *body,
	struct err *err)
{
	struct live_job *job;
	struct attempt *a = one_running(c, id, attempt, &job, err);
	double step = member_number(body, "step", NAN);

	if (!a)
		return err->code;
	if (!isnan(step) && step >= 0)
		job->progress.step = step;
	job->base.saved = job->base.by_steps ? job->progress.step
					     : job_done(core_engine_job(c, job), c->now_s);
	core_tell_progress(c, job, job->base.saved);
	core_note(c, NOTE_STATE, id, 0, NULL);
	return 0;
}

static int in_resized(struct core *c, uint32_t id, uint32_t attempt, const json_t *body, struct err *err)
{
	struct live_job *job = core_find(c, id);
	struct attempt *a = core_find_attempt(c, id, attempt);

	/* The answer to an earlier one, sent again, says another size. */
	if (!job || !a || !a->next || !a->next_told ||
		member_int(body, "gpus", a->next->gpus) != a->next->gpus)
		return err_set(err, ERR_MISSING, "attempt %u of job %u was not asked to resize",
			attempt, id);
	free(a->grant);
	a->grant = a->next;
	a->next = a->wish;
	a->wish = NULL;
	a->next_told = false;
	job->progress.first_step = job->progress.first_s = job->progress.per_s = NAN;
	core_note(c, NOTE_STATE, id, attempt, NULL);
	return 0;
}

static int in_devices(struct core *c, uint32_t id, uint32_t attempt, const json_t *body, struct err *err)
{
	int64_t node = member_int(body, "node", -1);
	bool up = member_bool(body, "up", false);

	(void)id;
	(void)attempt;
	if (node < 0 || node >= c->cluster->nnodes)
		return err_set(err, ERR_FORMAT, "node %ld is not here", (long)node);
	core_tell(c,
		(struct event){
			.kind = up ? EV_DEVICES_UP : EV_DEVICES_DOWN,
			.job = JOB_NONE,
			.node = (uint32_t)node,
			.devices = (uint64_t)member_int(body, "devices", 0),
		},
		NULL);
	return 0;
}

static int in_drain(struct core *c, uint32_t id, uint32_t attempt, const json_t *body, struct err *err)
{
	(void)id;
	(void)attempt;
	return core_drain(c, body, err);
}

static int in_resume(struct core *c, uint32_t id, uint32_t attempt, const json_t *body, struct err *err)
{
	(void)id;
	(void)attempt;
	return core_resume(c, body, err);
}

/* ---- idleness, as whoever watches jobs has seen it */

static int in_idle_warned(struct core *c, uint32_t id, uint32_t attempt, const json_t *body,
	struct err *err)
{
	struct live_job *job;

	if (!one_running(c, id, attempt, &job, err))
		return err->code;
	job->idle_since_s = fmin(c->now_s, member_number(body, "since_s", c->now_s));
	core_note(c, NOTE_STATE, id, attempt, NULL);
	return 0;
}

static int in_active(struct core *c, uint32_t id, uint32_t attempt, const json_t *body, struct err *err)
{
	struct live_job *job;

	(void)body;
	if (!one_running(c, id, attempt, &job, err))
		return err->code;
	job->idle_since_s = NAN;
	core_note(c, NOTE_STATE, id, attempt, NULL);
	return 0;
}

/* Held, or back to the queue; one that must not run twice is held, too: its user may let it go. */
static void reclaim(struct core *c, struct live_job *job, const char *text, bool hold, double pause_s)
{
	if (hold || !job->requeue) {
		job->held = true;
		free(job->reclaimed);
		job->reclaimed = mem_strdup(text);
	}
	/* Else it would have the devices again before anybody else. */
	if (pause_s > 0 && c->now_s + pause_s > job->begin_s) {
		job->begin_s = c->now_s + pause_s;
		job->paused = true;
	}
	take_back(c, job, STOP_IDLE);
	core_wait_outside(c, job);
}

static int in_reclaim(struct core *c, uint32_t id, uint32_t attempt, const json_t *body, struct err *err)
{
	struct live_job *job;
	struct attempt *a = one_running(c, id, attempt, &job, err);
	const char *then = member_text(body, "then"), *text = member_text(body, "text");

	if (!a)
		return err->code;
	if (a->stop)
		return err_set(err, ERR_REFUSED, "attempt %u of job %u is about to stop", attempt, id);
	free(a->text);
	a->text = mem_strdup(text ? text : "reclaimed: it did nothing");
	if (then && !strcmp(then, "cancel"))
		take_back(c, job, STOP_CANCEL);
	else
		reclaim(c, job, a->text, !then || !strcmp(then, "hold"),
			member_number(body, "pause_s", 0));
	core_note(c, NOTE_STATE, id, attempt, NULL);
	return 0;
}

/* ---- the table */

static const struct {
	const char *name;
	int (*run)(struct core *c, uint32_t job, uint32_t attempt, const json_t *body, struct err *err);
} inputs[] = {
	{ "submit", in_submit },
	{ "cancel", in_cancel },
	{ "hold", in_hold },
	{ "release", in_release },
	{ "requeue", in_requeue },
	{ "outside", in_outside },
	{ "observed", in_observed },
	{ "update", in_update },
	{ "begun", in_begun },
	{ "progress", in_progress },
	{ "checkpointed", in_checkpointed },
	{ "resized", in_resized },
	{ "devices", in_devices },
	{ "clock", in_clock },
	{ "drain", in_drain },
	{ "resume", in_resume },
	{ "idle_warned", in_idle_warned },
	{ "active", in_active },
	{ "reclaim", in_reclaim },
	{ "adopted", core_adopted },
	{ "exit", core_exit },
};

enum { INPUTS = sizeof(inputs) / sizeof(inputs[0]) };

bool core_is_input(const char *name)
{
	for (size_t i = 0; i < INPUTS; i++) {
		if (!strcmp(inputs[i].name, name))
			return true;
	}
	return false;
}

const char *core_input_name(size_t i)
{
	return i < INPUTS ? inputs[i].name : NULL;
}

/* What was due before this happened comes before it; of the same moment it is part. */
static int come_to(struct core *c, double at_s, struct err *err)
{
	core_engine(c);
	if (at_s > c->now_s && core_turn(c, at_s, err) < 0)
		return err->code;
	c->due = true;
	return 0;
}

int core_submit(struct core *c, struct live_job *job, double at_s, struct err *err)
{
	if (come_to(c, at_s, err) < 0) {
		live_job_destroy(job);
		return err->code;
	}
	return take_in(c, job->id, job, err);
}

int core_apply(struct core *c, const char *input, uint32_t job, uint32_t attempt, double at_s,
	const json_t *body, struct err *err)
{
	if (come_to(c, at_s, err) < 0)
		return err->code;
	for (size_t i = 0; i < INPUTS; i++) {
		if (!strcmp(inputs[i].name, input))
			return inputs[i].run(c, job, attempt, body, err);
	}
	return err_set(err, ERR_BROKEN, "'%s' is no input", input);
}
