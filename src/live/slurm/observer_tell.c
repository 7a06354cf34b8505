/*
 * What the observer tells of jobs: that they came, where they run, how it went.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/members.h"
#include "base/plain.h"
#include "live/core.h"
#include "live/slurm/observer_state.h"

#define ASK_AGAIN_S 10.0
enum { UNANSWERED_MAX = 256, NAME_BYTES = 200 };

static void told(struct slurm_observer *o, const char *input, uint32_t job, json_t *body)
{
	if (o->base.config.told)
		o->base.config.told(o->base.config.ctx, input, job, body);
	else
		json_decref(body);
}

static void told_nowhere(struct slurm_observer *o, struct sight *s)
{
	const char *reason = sight_reason(s);

	snprintf(s->reason, sizeof(s->reason), "%s", reason ? reason : "");
	told(o, "observed", s->job, json_pack("{s:[],s:s?}", "on", "reason", reason));
}

/* ---- arrivals */

/* As names may be: not empty, no control characters, not too long. */
static char *clean(const char *text, const char *otherwise)
{
	const char *from = text && *text ? text : otherwise;
	size_t n = strnlen(from, NAME_BYTES);
	char *name;

	while (n && (from[n] & 0xc0) == 0x80) /* not inside a letter */
		n--;
	name = mem_strndup(from, n);
	text_make_plain(name);
	return name;
}

static bool is_type(const struct slurm_observer *o, const char *type)
{
	for (size_t i = 0; type && *type && i < o->nodes.at.n; i++) {
		if (!strcmp(o->nodes.at.at[i].type, type))
			return true;
	}
	return false;
}

static json_t *submission_of(const struct slurm_observer *o, const struct sight *s)
{
	const char *command = member_text(s->shown, "command"), *cwd = member_text(s->shown, "cwd");
	const char *type = member_text(s->shown, "gpu_type");
	double limit_s = member_number(s->shown, "limit_s", 0);
	char *name = clean(member_text(s->shown, "name"), "job");
	json_t *json = json_pack("{s:s,s:s,s:[s],s:s,s:I,s:b}", "schema", "submission/1", "name",
		name, "command", command && *command ? command : "(sbatch)", "cwd",
		cwd && *cwd == '/' ? cwd : "/", "gpus", (json_int_t)member_int(s->shown, "gpus", 0),
		"requeue", 1);

	if (limit_s > 0 && limit_s <= 1e9)
		json_object_set_new(json, "time_s", json_real(limit_s));
	if (is_type(o, type))
		json_object_set_new(json, "types", json_string(type));
	free(name);
	return json;
}

static void tell_arrival(struct slurm_observer *o, struct sight *s, double now_s)
{
	const char *account = member_text(s->shown, "account"), *user = member_text(s->shown, "user");
	char key[SIGHT_NAME_MAX + 40], *tenant = clean(account && *account ? account : user, "nobody");
	struct arrival arrival = {
		.key = key,
		.uid = (uid_t)member_int(s->shown, "uid", 0),
		.gid = (gid_t)member_int(s->shown, "gid", 0),
		.tenant = tenant,
		.submission = submission_of(o, s),
		.at_s = (double)s->key_submit,
	};

	sight_key(s, key, sizeof(key));
	o->unanswered += s->standing == SIGHT_NEW;
	s->standing = SIGHT_ASKED;
	s->asked_s = now_s;
	if (o->base.config.arrived)
		o->base.config.arrived(o->base.config.ctx, &arrival);
	json_decref(arrival.submission);
	free(tenant);
}

/* Not all at once: each is written down before the daemon answers. */
static void ask(struct slurm_observer *o, struct sight *s, double now_s)
{
	bool fresh = s->standing == SIGHT_NEW;

	if (!s->shown || (fresh && s->gone))
		return;
	if (fresh ? o->unanswered < UNANSWERED_MAX : now_s >= s->asked_s + ASK_AGAIN_S)
		tell_arrival(o, s, now_s);
}

/* ---- endings */

/* What the states that Slurm ends jobs in mean here. */
struct meaning {
	const char *slurm;
	const char *state; /* ours */
	int signal;        /* where Slurm names neither code nor signal, and it did not end well */
	bool timed_out, node_failed;
	bool cancels; /* somebody cancelled it */
	bool outside; /* the core would let it run again: it has to be told that it is over */
	const char *text;
};

static const struct meaning meanings[] = {
	{ "COMPLETED", "COMPLETED", 0, .text = "" },
	{ "FAILED", "FAILED", 0, .text = "" },
	{ "TIMEOUT", "TIMEOUT", SIGTERM, .timed_out = true, .text = ENDING_TIME_OVER },
	{ "DEADLINE", "TIMEOUT", SIGTERM, .timed_out = true, .text = "its deadline was over" },
	{ "OUT_OF_MEMORY", "FAILED", SIGKILL,
		.text = ENDING_OUT_OF_MEMORY ": it used more than it asked for" },
	{ "CANCELLED", "CANCELLED", SIGTERM, .cancels = true, .text = "it was cancelled in Slurm" },
	{ "PREEMPTED", "PREEMPTED", SIGTERM, .outside = true, .text = "Slurm preempted it" },
	{ "NODE_FAIL", "NODE_FAIL", SIGKILL, .node_failed = true, .outside = true,
		.text = "its node failed" },
	{ "BOOT_FAIL", "NODE_FAIL", SIGKILL, .node_failed = true, .outside = true,
		.text = "its node did not boot" },
};

static const struct meaning unheard = { "?", "FAILED", SIGTERM,
	.text = "it ended in a state that is not known here" };
static const char vanished[] = "Slurm does not know it any more; how it ended was not seen";

static const struct meaning *meaning_of(const struct slurm_end *v)
{
	static const struct meaning lost_run = { "", "NODE_FAIL", 0, .outside = true, .text = vanished };

	if (v->fate == FATE_VANISHED)
		return &lost_run;
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		if (!strcmp(meanings[i].slurm, v->state))
			return &meanings[i];
	}
	return &unheard;
}

static void tell_outside(struct slurm_observer *o, struct sight *s, const char *state, const char *text)
{
	s->ended_told = true;
	told(o, "outside", s->job,
		json_pack("{s:s,s:i,s:s}", "state", state, "code", s->end.code, "text", text));
}

/* It ended, and no run of it is left to tell. */
static void tell_end(struct slurm_observer *o, struct sight *s)
{
	const struct meaning *m = meaning_of(&s->end);

	/* It may as well have run: nobody can say, but it waited when it was last seen. */
	if (s->end.fate == FATE_VANISHED)
		tell_outside(o, s, "CANCELLED", vanished);
	else
		tell_outside(o, s, m->state, m->text);
}

static struct ending ending_of(const struct sight *s, const struct run *run)
{
	struct ending e = {
		.job = s->job,
		.attempt = run->attempt,
		.known = run->end.fate != FATE_VANISHED,
		.code = run->end.code,
		.signal = run->end.signal,
		.asked = run->asked,
		.begun_s = run->begun_s,
		.ended_s = fmax(run->begun_s, run->end.ended_s),
	};

	return e;
}

static void ended(struct slurm_observer *o, const struct ending *e)
{
	if (o->base.config.ended)
		o->base.config.ended(o->base.config.ctx, e);
}

static void tell_requeue(struct slurm_observer *o, struct sight *s, const struct run *run)
{
	struct ending e = ending_of(s, run);

	e.asked = true;
	e.code = -1;
	e.signal = SIGTERM;
	snprintf(e.text, sizeof(e.text), "Slurm put it back into its queue");
	told_nowhere(o, s);
	ended(o, &e);
}

/* Code 0 and no signal would be taken for success. */
static void set_how(struct ending *e, const struct meaning *m)
{
	bool silent = e->known && !e->code && !e->signal;

	e->timed_out = m->timed_out;
	e->node_failed = m->node_failed;
	e->asked |= m->cancels;
	if (silent && m->signal)
		e->signal = m->signal;
	if (silent && !strcmp(m->state, "FAILED") && !m->signal)
		e->code = -1;
	if (e->signal)
		e->code = -1;
	if (!strcmp(m->state, "COMPLETED"))
		e->code = e->signal = 0;
	snprintf(e->text, sizeof(e->text), "%s", m->text);
}

/*
 * Before the ending the core is told what to make of it.  With the code that says "run me again" to us,
 * and only to us, it would.
 */
static void tell_last(struct slurm_observer *o, struct sight *s, const struct run *run)
{
	const struct meaning *m = meaning_of(&run->end);
	struct ending e = ending_of(s, run);
	bool outside = m->outside || e.code == EXIT_CHECKPOINTED;

	set_how(&e, m);
	s->ended_told = true;
	if (m->cancels)
		told(o, "cancel", s->job, json_object());
	if (outside) {
		/* Its state is said below: by itself the end shall mean that it waits. */
		e.asked |= e.known;
		told_nowhere(o, s);
	}
	ended(o, &e);
	if (outside)
		tell_outside(o, s, m->state, m->text);
}

/* ---- runs */

static void tell_where(struct slurm_observer *o, struct sight *s, struct run *run, double now_s)
{
	run->told = true;
	run->told_s = now_s;
	s->reason[0] = '\0';
	told(o, "observed", s->job, json_pack("{s:O,s:n}", "on", run->on, "reason"));
}

static bool share_node(const json_t *a, const json_t *b)
{
	const json_t *x, *y;
	size_t i, k;

	json_array_foreach(a, i, x)
	{
		json_array_foreach(b, k, y)
		{
			if (json_equal(json_array_get(x, 0), json_array_get(y, 0)))
				return true;
		}
	}
	return false;
}

/* Whether it was on a node before, and is over, and the core has yet to hear of it. */
static bool goes_first(const struct slurm_observer *o, const struct sight *other,
	const struct run *run, double now_s)
{
	const struct run *before = other->runs.n ? &other->runs.at[0] : NULL;

	return before && before != run && !before->attempt && before->end.fate != FATE_OPEN &&
		before->begun_s < run->begun_s && now_s < before->end.ended_s + o->patience_s &&
		other->standing != SIGHT_IGNORED && share_node(before->on, run->on);
}

/* Of two runs that had the same GPUs the core must hear in order, or the first finds no place there. */
static bool has_to_wait(const struct slurm_observer *o, const struct run *run, double now_s)
{
	for (size_t i = 0; i < o->sights.all.n; i++) {
		if (goes_first(o, o->sights.all.at[i], run, now_s))
			return true;
	}
	return false;
}

/* It was never launched, and is over long since: the core does not know its nodes, or they are not free there. */
static void give_up(struct slurm_observer *o, struct sight *s)
{
	bool waits = s->runs.at[0].told && s->runs.at[0].end.fate == FATE_REQUEUED;

	sight_drop_run(s);
	if (waits)
		told_nowhere(o, s);
}

static void close_run(struct slurm_observer *o, struct sight *s)
{
	struct run run = s->runs.at[0];

	json_incref(run.on);
	sight_drop_run(s);
	if (run.end.fate == FATE_REQUEUED)
		tell_requeue(o, s, &run);
	else
		tell_last(o, s, &run);
	json_decref(run.on);
}

/* One step with the oldest run; false: it has to wait. */
static bool step_run(struct slurm_observer *o, struct sight *s, struct run *run, double now_s)
{
	bool over = run->end.fate != FATE_OPEN;

	if (!run->told && run->on && has_to_wait(o, run, now_s))
		return false;
	if (!run->told && run->on)
		tell_where(o, s, run, now_s);
	else if (!run->attempt && over && (!run->told || now_s >= run->told_s + o->patience_s))
		give_up(o, s);
	else if (!run->attempt)
		return false;
	else if (!run->told_begun && run->begun_s > 0) {
		run->told_begun = true;
		if (o->base.config.begun)
			o->base.config.begun(o->base.config.ctx, s->job, run->attempt, run->begun_s);
	} else if (over)
		close_run(o, s);
	else
		return false;
	return true;
}

static void tell_reason(struct slurm_observer *o, struct sight *s)
{
	const char *reason = sight_reason(s);
	char short_of[sizeof(s->reason)];

	if (!reason)
		return;
	snprintf(short_of, sizeof(short_of), "%s", reason);
	if (!strcmp(short_of, s->reason))
		return;
	memcpy(s->reason, short_of, sizeof(short_of));
	told(o, "observed", s->job, json_pack("{s:s}", "reason", short_of));
}

/* Whoever is told may call back: nothing of the runs is held over a step. */
static void step(struct slurm_observer *o, struct sight *s, double now_s)
{
	struct run *run;

	if (s->standing == SIGHT_NEW || s->standing == SIGHT_ASKED)
		ask(o, s, now_s);
	while (s->standing == SIGHT_TAKEN && (run = sight_run(s))) {
		if (!step_run(o, s, run, now_s))
			return;
	}
	if (s->standing != SIGHT_TAKEN || s->ended_told)
		return;
	if (s->end.fate != FATE_OPEN)
		tell_end(o, s);
	else
		tell_reason(o, s);
}

/* ---- attempts without a run */

static void tell_loose(struct slurm_observer *o, struct loose loose)
{
	struct sight *s = sights_find_job(&o->sights, loose.job);
	struct run *run = s ? sight_run(s) : NULL;
	struct ending e = {
		.job = loose.job,
		.attempt = loose.attempt,
		.known = true,
		.bounced = true,
		.code = -1,
		.text = "Slurm does not run it now",
	};

	/* Else the core would try again where it last saw it. */
	if (s && s->standing == SIGHT_TAKEN && !(run && run->attempt)) {
		told_nowhere(o, s);
		run = sight_run(s);
		if (run)
			run->told = false;
		s->ended_told = false;
		s->dirty = true;
	}
	ended(o, &e);
}

/* ---- the whole */

static void tell_people(struct slurm_observer *o)
{
	struct slice rest = { o->say.at, o->say.n };

	while (rest.n && o->base.config.say) {
		struct slice line = slice_cut(&rest, '\n');
		char *text = mem_strndup(line.at, line.n);

		o->base.config.say(o->base.config.ctx, LEVEL_WARNING, text);
		free(text);
	}
	buf_clear(&o->say);
	if (o->back && o->base.config.say)
		o->base.config.say(o->base.config.ctx, LEVEL_NOTICE, "Slurm answers again");
	o->back = false;
}

static bool waits_for_time(const struct sight *s)
{
	return s->standing == SIGHT_NEW || s->standing == SIGHT_ASKED ||
		(s->runs.n && !s->runs.at[0].attempt &&
			(!s->runs.at[0].told || s->runs.at[0].end.fate != FATE_OPEN));
}

bool observer_tell(struct slurm_observer *o)
{
	double now_s = o->now_s();
	bool more = false;

	tell_people(o);
	if (o->nodes_changed && o->base.config.changed)
		o->base.config.changed(o->base.config.ctx);
	o->nodes_changed = false;
	for (size_t i = 0; i < o->loose.n; i++)
		tell_loose(o, o->loose.at[i]);
	o->loose.n = 0;
	for (size_t i = 0; i < o->sights.all.n; i++) {
		struct sight *s = o->sights.all.at[i];

		if (!s->dirty && !waits_for_time(s))
			continue;
		s->dirty = false;
		step(o, s, now_s);
	}
	for (size_t i = 0; i < o->sights.all.n && !more; i++)
		more = o->sights.all.at[i]->dirty;
	sights_sweep(&o->sights);
	return more || o->loose.n;
}
