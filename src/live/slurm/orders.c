/*
 * What is asked of Slurm: for each job the one order that brings it nearer to what
 * shall be, gathered into requests of one kind.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/members.h"
#include "live/slurm/driver.h"

#define SPENT_PAUSE_S 1.0     /* a job that is over is forgotten by then, or goes on */
#define KILL_PAUSE_S 10.0     /* what a kill did not end is put back by Slurm's own means */
#define RESUBMIT_PAUSE_S 2.0  /* a submission whose answer was lost may still arrive */
#define ORDER_PATIENCE_S 30.0 /* and a part for each job */
#define RECOVERY_S 10.0       /* nodes tell a controller that is back what ended meanwhile */
#define LOOK_SOON_S 0.05
#define LOOK_LEAST_S 0.25
#define RESTLESS_S 0.2
#define RETRY_MAX_S 5.0

static const struct {
	const char *op;
	size_t most; /* jobs in one request: others wait for it */
} orders[ORDERS] = {
	[ORDER_REQUEUE] = { "requeue", 16 },
	[ORDER_SIGNAL] = { "signal", 64 },
	[ORDER_CANCEL] = { "cancel", 64 },
	[ORDER_START] = { "start", 64 },
	[ORDER_HOLD] = { "hold", 64 },
	[ORDER_RELEASE] = { "release", 64 },
	[ORDER_NOTE] = { "note", 64 },
	[ORDER_SUBMIT] = { "submit", 32 },
};

/* ---- deciding */

/*
 * Slurm's own way is SIGTERM, KillWait, SIGKILL, and back into the queue in one step: nobody who waits for the job
 * takes it for ended meanwhile.  A longer grace or another signal has to come first, and may end it.
 */
static bool slurm_stops_it_so(const struct slurm *s, const struct run *run)
{
	return run->stop_signal == SIGTERM && run->grace_s <= s->kill_wait_s + 1;
}

static enum order decide_stop(const struct slurm *s, const struct run *run)
{
	double now_s = slurm_now(s);

	bool over = now_s >= run->asked_s + run->grace_s;

	/* A run that it shows as going on may be over: put back now, it would run again. */
	if (s->back_s > 0 && now_s < s->back_s + RECOVERY_S)
		return ORDER_NONE;
	if (run->now)
		return !run->killed                                                ? ORDER_SIGNAL
			: now_s > run->asked_s + KILL_PAUSE_S && !run->never_again ? ORDER_REQUEUE
										   : ORDER_NONE;
	if (!run->never_again && (over || slurm_stops_it_so(s, run)))
		return ORDER_REQUEUE;
	return !run->signalled || (over && !run->killed) ? ORDER_SIGNAL : ORDER_NONE;
}

/* The signal that is next. */
static int signal_of(const struct slurm *s, const struct slurm_job *j)
{
	const struct run *run = &j->run;

	if (!run->stop)
		return j->signal;
	return run->now || slurm_now(s) >= run->asked_s + run->grace_s ? SIGKILL : run->stop_signal;
}

/* Slurm shows the mark of the attempt. */
static enum order decide_marked(const struct slurm *s, const struct slurm_job *j)
{
	const struct run *run = &j->run;
	const struct fact *f = &j->fact;

	if (f->completing)
		return ORDER_NONE;
	if (f->state == FACT_RUNNING && run->restarted)
		return ORDER_REQUEUE;
	if (f->state == FACT_RUNNING && run->stop)
		return decide_stop(s, run);
	if (f->state == FACT_RUNNING && j->signal)
		return ORDER_SIGNAL;
	if (f->state == FACT_PENDING && !f->held && (run->stop || run->back))
		return ORDER_HOLD;
	return ORDER_NONE;
}

/*
 * A node that was told to end a run refuses what was started in the same second or before: Slurm
 * then calls the job failed.  With the requeue its time of submission is set anew.
 */
static bool is_too_early(const struct slurm *s, const struct slurm_job *j)
{
	return slurm_now(s) < j->not_before_s ||
		(j->fact.restarts && slurm_now(s) < j->fact.submit_s + 1);
}

static enum order decide_unmarked(const struct slurm *s, const struct slurm_job *j)
{
	const struct fact *f = &j->fact;

	if (j->run.stop || j->user_held || j->outside || f->completing || is_too_early(s, j))
		return ORDER_NONE;
	if (f->state == FACT_PENDING)
		return ORDER_START;
	if (f->state == FACT_RUNNING)
		return slurm_is_late(s, j) ? ORDER_REQUEUE : ORDER_NONE;
	return j->spent ? ORDER_REQUEUE : ORDER_NONE;
}

static enum order decide_waiting(const struct slurm *s, const struct slurm_job *j)
{
	const struct fact *f = &j->fact;

	if (f->completing || j->outside)
		return ORDER_NONE;
	if (f->state == FACT_RUNNING)
		return slurm_is_late(s, j) ? ORDER_REQUEUE : ORDER_NONE;
	if (f->state == FACT_ENDED)
		return j->spent && slurm_now(s) >= j->spent_s + SPENT_PAUSE_S ? ORDER_REQUEUE
									      : ORDER_NONE;
	if (f->state == FACT_PENDING && !f->held)
		return ORDER_HOLD;
	/* A job that was submitted or put back held can be released by its user; not after a hold of ours. */
	if (j->kind == KIND_TAKEN && !j->user_held && !strcmp(f->reason, "JobHeldUser") && !f->of_array)
		return ORDER_HOLD;
	return ORDER_NONE;
}

static enum order decide_to_go(struct slurm_job *j)
{
	if (*j->name && (j->fact.state == FACT_PENDING || j->fact.state == FACT_RUNNING))
		return ORDER_CANCEL;
	j->dead = true;
	return ORDER_NONE;
}

static enum order decide_back(struct slurm_job *j)
{
	if (j->fact.state == FACT_PENDING && !j->released)
		return ORDER_RELEASE;
	if (j->fact.state == FACT_PENDING && j->why)
		return ORDER_NOTE;
	j->kind = KIND_GUEST;
	return ORDER_NONE;
}

enum order slurm_decide(struct slurm *s, struct slurm_job *j)
{
	if (j->dead || j->order || !s->seen || j->need_look > s->seen)
		return ORDER_NONE;
	if (j->failures && slurm_now(s) < j->sent_s + fmin(RETRY_MAX_S, ldexp(0.1, (int)j->failures)))
		return ORDER_NONE;
	switch (j->kind) {
	case KIND_STRAY:
		return decide_to_go(j);
	case KIND_BACK:
		return decide_back(j);
	case KIND_OFFER:
		return j->fact.state == FACT_PENDING && !j->fact.held ? ORDER_HOLD : ORDER_NONE;
	case KIND_GUEST:
		return ORDER_NONE;
	case KIND_OWN:
	case KIND_TAKEN:
		break;
	}
	if (j->forgotten)
		return decide_to_go(j);
	if (!*j->name)
		return j->content && slurm_now(s) >= fmax(s->resubmit_s, j->spent_s + SPENT_PAUSE_S)
			? ORDER_SUBMIT
			: ORDER_NONE;
	if (!j->run.attempt)
		return decide_waiting(s, j);
	return slurm_is_marked(s, j) ? decide_marked(s, j) : decide_unmarked(s, j);
}

/* ---- saying it */

static json_t *say_submit(const struct slurm *s, const struct slurm_job *j)
{
	json_t *job = json_copy(j->content);
	char key[96];

	key_write(key, sizeof(key), s->site, (struct slurm_key){ j->job, j->generation });
	json_object_set_new(job, "key", json_string(key));
	return job;
}

static json_t *say_start(const struct slurm *s, const struct slurm_job *j)
{
	const struct run *run = &j->run;
	json_t *job = json_pack("{s:s,s:O,s:I}", "job", j->name, "nodes", run->nodes, "restarts",
		(json_int_t)j->fact.restarts);
	size_t nodes = json_array_size(run->nodes);
	char mark[96];

	mark_write(mark, sizeof(mark), s->site,
		(struct slurm_mark){ j->job, run->attempt, j->fact.restarts });
	json_object_set_new(job, "admin_comment", json_string(mark));
	/* GPUs of a type can only be left as they are. */
	if (!j->typed || run->ndevices != j->per_node * nodes)
		json_object_set_new(job, "gpus", json_integer(run->ndevices));
	if (run->limit_s > 0)
		json_object_set_new(job, "limit_s", json_integer((json_int_t)ceil(run->limit_s)));
	return job;
}

static json_t *say(const struct slurm *s, const struct slurm_job *j, enum order order)
{
	switch (order) {
	case ORDER_SUBMIT:
		return say_submit(s, j);
	case ORDER_START:
		return say_start(s, j);
	case ORDER_RELEASE:
		return json_pack("{s:s}", "job", j->name);
	case ORDER_REQUEUE:
		/* One that has just ended by itself is not to run again. */
		return json_pack("{s:s,s:b}", "job", j->name, "ended", j->fact.state == FACT_ENDED);
	case ORDER_NOTE:
		return json_pack("{s:s,s:s}", "job", j->name, "admin_comment", j->why);
	case ORDER_HOLD:
		/* By the mark the hook knows whose hold it is. */
		return json_pack("{s:s,s:s}", "job", j->name, "admin_comment",
			j->fact.mark[0] ? j->fact.mark : SLURM_MARK);
	default:
		return json_string(j->name);
	}
}

/* ---- hearing what became of it */

static bool is(const char *kind, const char *word)
{
	return !strcmp(kind, word);
}

static void done_submit(struct slurm *s, struct slurm_job *j, const json_t *result)
{
	const char *name = member_text(result, "job");

	if (!name || strlen(name) >= SLURM_NAME_MAX) {
		s->want_full = true;
		return;
	}
	json_decref(j->content);
	j->content = NULL;
	slurm_bind(s, j, name, 0);
}

/* Slurm says that it did it. */
static void done(struct slurm *s, struct slurm_job *j, enum order order, const json_t *result)
{
	struct run *run = &j->run;

	j->failures = 0;
	if (order == ORDER_SUBMIT)
		done_submit(s, j, result);
	else if (order == ORDER_START)
		run->ordered_s = slurm_now(s);
	else if (order == ORDER_RELEASE)
		j->released = true;
	else if (order == ORDER_NOTE) {
		free(j->why);
		j->why = NULL;
	}
}

/* Nobody knows whether it was done, or the job is not as we thought: the next look tells. */
static void doubt(struct slurm *s, struct slurm_job *j, enum order order, bool all)
{
	j->failures++;
	if (order == ORDER_SUBMIT)
		s->resubmit_s = slurm_now(s) + RESUBMIT_PAUSE_S;
	if (order == ORDER_HOLD)
		j->doubted_hold_s = slurm_now(s);
	s->want_full |= all;
}

void slurm_heard(struct slurm *s, bool ok)
{
	s->refusals = ok ? 0 : s->refusals + 1;
	s->retry_s = ok ? 0 : slurm_now(s) + fmin(RETRY_MAX_S, ldexp(0.1, (int)fmin(s->refusals, 10)));
}

/* It was not done: the job has not heard of it. */
static void take_back(struct run *run)
{
	run->signalled = run->before.signalled;
	run->killed = run->before.killed;
	run->requeued = run->before.requeued;
}

static void hear_failure(struct slurm *s, struct slurm_job *j, enum order order, const char *kind,
	const char *error)
{
	if (!is(kind, "timeout") && !is(kind, "missing"))
		take_back(&j->run);
	if (is(kind, "timeout") || is(kind, "missing")) {
		doubt(s, j, order, true);
	} else if (is(kind, "busy")) {
		doubt(s, j, order, false);
	} else if (is(kind, "unreachable") || is(kind, "auth") || is(kind, "version") ||
		(is(kind, "denied") && order != ORDER_SUBMIT)) {
		j->failures++;
		slurm_heard(s, false);
		if (is(kind, "denied"))
			slurm_say(s, LEVEL_ERROR, "job %s: Slurm does not let us %s it: %s",
				j->name, orders[order].op, error);
	} else {
		j->failures++;
		slurm_refused(s, j, order, error);
	}
}

/* Slurm will not have it, however often it is asked. */
static void give_up(struct slurm *s, struct slurm_job *j, const char *error)
{
	struct ending ending = { .job = j->job, .attempt = j->run.attempt, .known = true, .code = 126 };

	json_decref(j->content);
	j->content = NULL;
	j->told_end = true;
	snprintf(ending.text, sizeof(ending.text), "Slurm refuses it: %.200s", error);
	if (j->run.attempt) {
		run_fini(&j->run);
		if (s->base.config.ended)
			s->base.config.ended(s->base.config.ctx, &ending);
	} else if (s->base.config.told) {
		s->base.config.told(s->base.config.ctx, "outside", j->job,
			json_pack("{s:s,s:i,s:s}", "state", "FAILED", "code", 126, "text", ending.text));
	}
}

/* An ended job that Slurm does not take back is submitted anew, if it was us who submitted it. */
static void refuse_spent(struct slurm *s, struct slurm_job *j, const char *error)
{
	if (j->kind != KIND_OWN) {
		give_up(s, j, j->never_again ? "it was submitted with --no-requeue" : error);
		return;
	}
	if (j->run.attempt)
		slurm_bounce(s, j, "Slurm does not take the ended job back: it is submitted anew");
	jobs_set_name(&s->jobs, j, "");
	fact_fini(&j->fact);
	j->generation++;
	j->spent = false;
}

void slurm_refused(struct slurm *s, struct slurm_job *j, enum order order, const char *error)
{
	struct run *run = &j->run;

	if (order == ORDER_CANCEL || order == ORDER_SIGNAL || j->forgotten)
		return; /* it is over, which the next look shows */
	if (order == ORDER_START) {
		run->back = run->hopeless = true;
		snprintf(run->why, sizeof(run->why), "Slurm refuses to start it so: %.90s", error);
		return;
	}
	slurm_say(s, LEVEL_WARNING, "job %u (%s in Slurm): %s is refused: %s", j->job, j->name,
		orders[order].op, error);
	if (order == ORDER_REQUEUE && j->spent)
		refuse_spent(s, j, error);
	else if (order == ORDER_SUBMIT)
		give_up(s, j, error);
	else if (order == ORDER_RELEASE)
		j->released = true;
	else if (order == ORDER_NOTE) {
		free(j->why);
		j->why = NULL;
	}
}

static void hear_one(struct slurm *s, struct slurm_job *j, enum order order,
	const struct wire_answer *answer, const json_t *result)
{
	const char *kind = member_text(result, "kind"), *error = member_text(result, "error");

	j->order = ORDER_NONE;
	/* Whatever became of it, the job is not known before it was looked at again. */
	j->need_look = s->looks + 1;
	if (answer->lost)
		doubt(s, j, order, true);
	else if (!answer->ok)
		hear_failure(s, j, order, answer->kind, answer->error);
	else if (member_bool(result, "ok", false))
		done(s, j, order, result);
	else
		hear_failure(s, j, order, kind ? kind : "timeout",
			error ? error : "it does not say why");
}

static void hear_order(void *ctx, const struct wire_answer *answer)
{
	struct slurm *s = ctx;
	const json_t *results = answer->body ? json_object_get(answer->body, "results") : NULL;
	enum order order = s->order;

	s->order = ORDER_NONE;
	slurm_heard(s, answer->ok);
	for (size_t i = 0; i < s->asked.n; i++)
		hear_one(s, s->asked.at[i], order, answer, json_array_get(results, i));
	s->asked.n = 0;
}

/* ---- sending */

/* What is true from when it is sent, whether or not it is heard of again. */
static void note_sent(struct slurm *s, struct slurm_job *j, enum order order)
{
	struct run *run = &j->run;

	j->order = order;
	j->sent_s = slurm_now(s);
	run->before.signalled = run->signalled;
	run->before.killed = run->killed;
	run->before.requeued = run->requeued;
	if (order == ORDER_START) {
		run->ordered = true;
		run->ordered_s = slurm_now(s);
	} else if (order == ORDER_REQUEUE) {
		run->requeued = run->attempt && slurm_is_marked(s, j);
	} else if (order == ORDER_SIGNAL && run->stop) {
		run->killed |= signal_of(s, j) == SIGKILL;
		run->signalled = true;
	} else if (order == ORDER_SIGNAL) {
		j->signal = 0;
	}
}

/* All that want this order, or the first so many; signals of one number. */
static bool send_order(struct slurm *s, enum order order, const enum order *wanted)
{
	json_t *list = json_array(), *request;
	int number = 0;

	for (size_t i = 0; i < s->jobs.at.n && s->asked.n < orders[order].most; i++) {
		struct slurm_job *j = s->jobs.at.at[i];

		if (wanted[i] != order)
			continue;
		if (order == ORDER_SIGNAL && number && number != signal_of(s, j))
			continue;
		number = order == ORDER_SIGNAL ? signal_of(s, j) : 0;
		json_array_append_new(list, say(s, j, order));
		vec_push(&s->asked, j);
	}
	if (s->asked.n == 0) {
		json_decref(list);
		return false;
	}
	request = json_pack("{s:s,s:o}", "op", orders[order].op, "jobs", list);
	if (number)
		json_object_set_new(request, "signal", json_integer(number));
	s->order = order;
	for (size_t i = 0; i < s->asked.n; i++)
		note_sent(s, s->asked.at[i], order);
	wire_send(s->wire, request, ORDER_PATIENCE_S + 0.5 * (double)s->asked.n, hear_order, s);
	return true;
}

static bool send_some_order(struct slurm *s)
{
	enum order *wanted;
	bool sent = false, some = false;

	wanted = mem_alloc(mem_array_size(s->jobs.at.n + 1, sizeof(*wanted)));
	for (size_t i = 0; i < s->jobs.at.n; i++)
		some |= (wanted[i] = slurm_decide(s, s->jobs.at.at[i])) != ORDER_NONE;
	for (int order = ORDER_NONE + 1; some && order < ORDERS && !sent; order++)
		sent = send_order(s, (enum order)order, wanted);
	free(wanted);
	return sent;
}

/* When it is looked at next: soon where something is about to happen, and ever less so the longer it does not. */
static double look_every_s(const struct slurm *s)
{
	double every_s = s->poll_s, now_s = slurm_now(s);

	for (size_t i = 0; i < s->jobs.at.n; i++) {
		const struct slurm_job *j = s->jobs.at.at[i];
		bool starting = j->run.attempt && !j->run.begun && j->run.ordered;
		bool stopping = j->run.stop || j->run.back;
		double since_s = starting ? j->run.ordered_s : j->sent_s;

		if (j->need_look > s->seen && j->kind != KIND_GUEST)
			return 0;
		if (starting || stopping)
			every_s = fmin(every_s, fmax(LOOK_SOON_S, (now_s - since_s) / 5));
	}
	return every_s;
}

/* Something here goes by the clock. */
static bool is_restless(const struct slurm *s)
{
	for (size_t i = 0; i < s->jobs.at.n; i++) {
		const struct slurm_job *j = s->jobs.at.at[i];

		if (j->failures || (j->run.attempt && !j->run.begun) || j->run.stop || j->spent ||
			(!*j->name && j->content) || j->kind == KIND_OFFER || j->kind == KIND_BACK)
			return true;
	}
	return false;
}

/* `rest`: for each second of looking so many until the next. */
static bool look(struct slurm *s, double least_s, double rest)
{
	double every_s = fmax(look_every_s(s), fmax(least_s, rest * s->look_cost_s));

	s->look_due_s = s->seen ? s->looked_s + every_s : 0;
	if (!s->expected_all || slurm_now(s) < s->look_due_s)
		return false;
	slurm_ask_jobs(s);
	return true;
}

/* Orders go first, but not for so long that nobody sees what they lead to. */
static bool send_next(struct slurm *s)
{
	if (slurm_now(s) >= s->nodes_due_s) {
		slurm_ask_nodes(s);
		return true;
	}
	return look(s, LOOK_LEAST_S, 4) || (s->seen && send_some_order(s)) || look(s, 0, 2);
}

void slurm_pump(struct slurm *s)
{
	double now_s = slurm_now(s), at_s;

	if (!wire_ready(s->wire) || wire_waiting(s->wire) || !s->nodes_known) {
		wire_wake(s->wire, INFINITY);
		return;
	}
	if (now_s < s->retry_s) {
		wire_wake(s->wire, s->retry_s);
		return;
	}
	if (send_next(s))
		return;
	at_s = fmin(s->expected_all ? s->look_due_s : INFINITY, s->nodes_due_s);
	wire_wake(s->wire, fmax(now_s + 0.001, is_restless(s) ? fmin(at_s, now_s + RESTLESS_S) : at_s));
}
