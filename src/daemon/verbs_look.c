/*
 * Looking: the queue, one job, its output, waiting for its end.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/job_choice.h"
#include "daemon/verbs_run.h"

static const uint32_t NOBODY = UINT32_MAX;

/* ---- the queue */

struct listing {
	struct daemon *d;
	struct json *j;
	const struct job_choice *choice;
	const struct caller *caller;
	int64_t shown;
	/* All live ones that were chosen; of ended ones those shown: counting them reads all there ever were. */
	uint32_t total;
	bool more, more_ended;
};

/*
 * A long list is written piece by piece, with turns of the loop in between: decisions wait for a piece at
 * most.  Each job is told once, as it is when its line is written.
 */
enum { LINES_AT_ONCE = 300, LOOKED_AT_ONCE = 30000, ENDED_AT_ONCE = 100 };

struct call_list {
	struct job_choice choice;
	struct listing l;
	struct json j;
	enum { LIST_HOLDERS, LIST_OTHERS, LIST_ENDED, LIST_DONE } part;
	uint32_t next; /* number of the next live job; of ended ones, the last that was told */
	VEC(uint32_t) holders; /* told as such, by number */
	size_t holder;         /* of these, the first that is not before `next` */
	bool brief;            /* of those that wait only what a list shows */
};

void call_list_destroy(struct call_list *list)
{
	if (!list)
		return;
	vec_fini(&list->holders);
	free(list);
}

static bool told_before(struct call_list *list, uint32_t id)
{
	while (list->holder < list->holders.n && list->holders.at[list->holder] < id)
		list->holder++;
	return list->holder < list->holders.n && list->holders.at[list->holder] == id;
}

/* Those with devices first; then all that were not told, for one may have got some since. */
static bool is_next(struct call_list *list, const struct live_job *job)
{
	if (list->part == LIST_HOLDERS ? job->state == LIVE_PENDING : told_before(list, job->id))
		return false;
	return job_choice_has(&list->choice, job);
}

static void tell_job(struct call_list *list, const struct live_job *job)
{
	struct listing *l = &list->l;
	bool waits = job->state == LIVE_PENDING;

	l->total++;
	if (list->part == LIST_HOLDERS)
		vec_push(&list->holders, job->id);
	if (l->shown >= list->choice.limit) {
		l->more = true;
		return;
	}
	l->shown++;
	json_begin_object(l->j, NULL);
	job_to_json(l->d, job, l->caller, l->j, list->brief && waits ? JOB_BRIEF : JOB_LINE);
	json_end(l->j, '}');
}

/* A piece of the live ones. */
static void list_live(struct call_list *list)
{
	size_t n;
	const struct live_job *const *jobs = core_jobs(list->l.d->core, &n);
	size_t i = verb_jobs_from(jobs, n, list->next);
	size_t end = i + LOOKED_AT_ONCE < n ? i + LOOKED_AT_ONCE : n;
	int64_t before = list->l.shown;

	for (; i < end && list->l.shown - before < LINES_AT_ONCE; i++) {
		if (is_next(list, jobs[i]))
			tell_job(list, jobs[i]);
	}
	list->next = i < n ? jobs[i]->id : 0;
	if (i < n)
		return;
	list->part = list->part == LIST_HOLDERS ? LIST_OTHERS
		: list->choice.ended            ? LIST_ENDED
						: LIST_DONE;
	if (list->part == LIST_ENDED)
		list->next = (uint32_t)list->choice.after;
}

static int see_ended(void *ctx, const struct record_job *row)
{
	struct call_list *list = ctx;
	struct listing *l = &list->l;

	if (l->shown >= list->choice.limit) {
		l->more = l->more_ended = true;
		return 0;
	}
	list->next = row->id;
	l->total++;
	l->shown++;
	json_begin_object(l->j, NULL);
	ended_to_json(l->d, row, l->caller, l->j, JOB_LINE);
	json_end(l->j, '}');
	return 0;
}

/* A piece of the ended ones, the last first. */
static void list_ended(struct call_list *list)
{
	const struct job_choice *c = &list->choice;
	const char *states[LIVE_STATES];
	struct listing *l = &list->l;
	int64_t before = l->shown, left = c->limit - l->shown + 1; /* whether there are more */
	struct record_filter filter = {
		.tenant = c->tenant,
		.name = c->name,
		.states = states,
		.uid = c->uid,
		.before_id = list->next,
		.limit = (uint32_t)(left < ENDED_AT_ONCE ? left : ENDED_AT_ONCE),
		.ended_since_s = NAN,
	};
	struct err ignored = { 0 };

	list->part = LIST_DONE;
	if (c->user && c->uid == NOBODY)
		return;
	for (int i = LIVE_COMPLETED; c->states != UINT32_MAX && i < LIVE_STATES; i++) {
		if (c->states >> i & 1)
			states[filter.nstates++] = live_state_name((enum live_state)i);
	}
	record_ended_jobs(l->d->record, &filter, see_ended, list, &ignored);
	if (l->shown - before == ENDED_AT_ONCE)
		list->part = LIST_ENDED;
}

static void put_counts(struct daemon *d, struct json *j)
{
	size_t n, counts[LIVE_STATES] = { 0 };
	const struct live_job *const *jobs = core_jobs(d->core, &n);

	for (size_t i = 0; i < n; i++)
		counts[jobs[i]->state]++;
	json_begin_object(j, "counts");
	for (int i = 0; i < LIVE_COMPLETED; i++)
		json_int(j, live_state_name((enum live_state)i), (int64_t)counts[i]);
	json_end(j, '}');
}

static struct call_list *begin_list(struct daemon *d, struct call *call)
{
	struct call_list *list = mem_alloc(sizeof(*list));

	if (!job_choice_read(d, call, &list->choice)) {
		free(list);
		return NULL;
	}
	list->brief = member_bool(call->args, "brief", false);
	list->part = list->choice.live ? LIST_HOLDERS : LIST_ENDED;
	list->next = list->choice.live ? 0 : (uint32_t)list->choice.after;
	list->l = (struct listing){
		.d = d,
		.choice = &list->choice,
		.caller = &call->caller,
		.j = &list->j,
	};
	call_begin(call, &list->j);
	json_double(&list->j, "now", daemon_wall_s(d, daemon_now_s(d)));
	json_str(&list->j, "policy", core_rules(d->core)->policy);
	put_counts(d, &list->j);
	json_begin_array(&list->j, "jobs");
	call->until_s = 0; /* asked again at once, as long as there is more to tell */
	return list;
}

static void end_list(struct daemon *d, struct call *call)
{
	struct call_list *list = call->list;

	json_end(&list->j, ']');
	json_int(&list->j, "total", list->l.total);
	json_bool(&list->j, "total_exact", !list->l.more_ended);
	json_int(&list->j, "shown", list->l.shown);
	json_bool(&list->j, "more", list->l.more);
	if (d->trouble[0])
		json_str(&list->j, "trouble", d->trouble);
	else if (d->degraded[0])
		json_str(&list->j, "degraded", d->degraded);
	json_end(&list->j, '}');
	call->status = 200;
}

void verb_jobs(struct daemon *d, struct call *call)
{
	int64_t before;

	if (!call->list)
		call->list = begin_list(d, call);
	if (!call->list)
		return;
	call->status = 0;
	before = call->list->l.shown;
	while (call->list->part < LIST_ENDED && call->list->l.shown - before < LINES_AT_ONCE)
		list_live(call->list);
	if (call->list->part == LIST_ENDED && call->list->l.shown == before)
		list_ended(call->list);
	if (call->list->part == LIST_DONE)
		end_list(d, call);
}

/* ---- one job */

/* Everybody sees everybody's jobs, but what they run is their user's own. */
static enum job_detail detail_for(const struct caller *caller, uint32_t uid)
{
	return caller->admin || caller->uid == uid ? JOB_OWNERS : JOB_PUBLIC;
}

static int see_job(void *ctx, const struct record_job *row)
{
	struct listing *l = ctx;

	ended_to_json(l->d, row, l->caller, l->j, detail_for(l->caller, row->uid));
	return 0;
}

static void answer_job(struct daemon *d, struct call *call, uint32_t id)
{
	const struct live_job *job = core_job(d->core, id);
	struct err err = { 0 };
	struct json j;
	struct listing l = { .d = d, .j = &j, .caller = &call->caller };

	call_begin(call, &j);
	json_double(&j, "now", daemon_wall_s(d, daemon_now_s(d)));
	if (job)
		job_to_json(d, job, &call->caller, &j, detail_for(&call->caller, job->uid));
	else if (record_job(d->record, id, see_job, &l, &err) < 0) {
		call_fail(call, err.code, err.text);
		return;
	}
	json_end(&j, '}');
}

void verb_job(struct daemon *d, struct call *call)
{
	uint32_t id = call_job(d, call, false);

	if (id)
		answer_job(d, call, id);
}

static int see_live(void *ctx, const struct record_job *job)
{
	*(bool *)ctx = job->live;
	return 0;
}

/* One that is just ending is told when its end is durable, which a full disk may delay. */
static bool still_there(struct daemon *d, uint32_t id)
{
	struct err ignored = { 0 };
	bool live = false;

	if (core_job(d->core, id))
		return true;
	record_job(d->record, id, see_live, &live, &ignored);
	return live;
}

/* Asked again when the job is gone from the core or the time is over. */
void verb_wait(struct daemon *d, struct call *call)
{
	double timeout_s = member_number(call->args, "timeout_s", 30);

	if (!call->job) {
		call->job = call_job(d, call, false);
		call->until_s = call->came_s + fmin(fmax(timeout_s, 0), 3600);
		if (!call->job)
			return;
	}
	if (!still_there(d, call->job) || clock_wall_s() >= call->until_s)
		answer_job(d, call, call->job);
}

/* ---- output */

static int see_ended_job(void *ctx, const struct record_job *row)
{
	json_t *status = json_loads(row->status, 0, NULL);
	struct err ignored = { 0 };

	if (status && live_job_from_status(status, ctx, &ignored) < 0)
		*(struct live_job **)ctx = NULL;
	json_decref(status);
	return 0;
}

/* The file that the job named, and whose it is; NULL: it named none. */
static char *own_output(struct daemon *d, uint32_t id, bool err_out, uint32_t *uid, uint32_t *gid)
{
	struct submission what;
	struct err ignored = { 0 };
	struct live_job *ended = NULL;
	const struct live_job *job = core_job(d->core, id);
	const char *pattern;
	char *path = NULL;

	if (daemon_submission(d, id, &what, &ignored) < 0)
		return NULL;
	if (!job && record_job(d->record, id, see_ended_job, &ended, &ignored) == 0)
		job = ended;
	pattern = err_out && what.err_out ? what.err_out : what.out;
	if (job) {
		path = daemon_output(d, job, pattern, what.cwd);
		*uid = job->uid;
		*gid = job->gid;
	}
	live_job_destroy(ended);
	submission_fini(&what);
	return path;
}

static uint32_t last_attempt(struct daemon *d, uint32_t id, bool *over);

static int see_pruned(void *ctx, const struct record_job *row)
{
	*(bool *)ctx = row->submit_seq == 0;
	return 0;
}

static bool is_pruned(struct daemon *d, uint32_t id)
{
	struct err ignored = { 0 };
	bool pruned = false;

	record_job(d->record, id, see_pruned, &pruned, &ignored);
	return pruned;
}

/* Where it is.  How much there is, whoever serves it adds: a job's own path is not looked at here. */
void verb_log(struct daemon *d, struct call *call)
{
	uint32_t id = call_job(d, call, true), attempt;
	const char *stream = member_text(call->args, "stream");
	bool err_out = stream && !strcmp(stream, "stderr"), over = true, named;
	uint32_t uid = 0, gid = 0;
	struct json j;
	char *path;

	if (!id)
		return;
	if (stream && strcmp(stream, "stdout") != 0 && !err_out) {
		call_problem(call, 400, 2, "stream: stdout or stderr");
		return;
	}
	if (is_pruned(d, id)) {
		call_problem(call, 404, 3,
			"job %u was pruned: the output that Stint kept of it is deleted; what it wrote with --output is still there",
			id);
		return;
	}
	attempt = last_attempt(d, id, &over);
	if (member_int(call->args, "attempt", 0) > 0) {
		uint32_t wanted = (uint32_t)member_int(call->args, "attempt", 0);

		over |= wanted < attempt;
		attempt = wanted;
	}
	path = own_output(d, id, err_out, &uid, &gid);
	named = path != NULL;
	if (!path)
		path = hands_output(d->hands, id, attempt ? attempt : 1, err_out);
	call_begin(call, &j);
	json_str(&j, "path", path);
	json_int(&j, "attempt", attempt);
	json_bool(&j, "started", attempt > 0);
	json_bool(&j, "ended", over);
	/* Whoever opens it does so as its user (api/log_file.h). */
	json_bool(&j, "named", named);
	if (named) {
		json_int(&j, "uid", uid);
		json_int(&j, "gid", gid);
	}
	json_end(&j, '}');
	free(path);
}

struct last {
	uint32_t attempt;
};

static int see_last(void *ctx, const struct record_attempt *attempt)
{
	struct last *last = ctx;
	json_t *status = json_loads(attempt->status, 0, NULL);
	/* One that was never launched has no output; the one before has. */
	bool launched = json_object_get(status, "launched_s") != NULL;

	json_decref(status);
	if (launched && attempt->attempt > last->attempt)
		last->attempt = attempt->attempt;
	return 0;
}

/* Of a job that waits to run again the next attempt will come: its log is not at its end. */
static uint32_t last_attempt(struct daemon *d, uint32_t id, bool *over)
{
	const struct live_job *job = core_job(d->core, id);
	struct last last = { 0 };
	struct err ignored = { 0 };

	record_attempts(d->record, id, see_last, &last, &ignored);
	*over = !job || live_ended(job);
	return last.attempt;
}
