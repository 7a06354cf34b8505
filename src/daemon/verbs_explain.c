/*
 * Why a job waits.  What is known is copied in the loop; the trials are made by
 * the worker (sim/explain.h), so that no decision waits for them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/verbs_run.h"
#include "sim/explain.h"

struct explain_task {
	struct task task;
	struct snapshot snapshot;
	uint32_t job; /* by place */
	uint32_t uid; /* of whose it is */
	uint32_t types;
	bool slots;
	const char *gate;
	struct buf gate_text;
	double offset_s; /* of record time to seconds since 1970 */
	int rc;
	struct err err;
	struct buf members; /* of the answer */
};

/* Jobs that the same user may put aside, by place. */
static bool *own_jobs(const struct snapshot *s, uint32_t uid)
{
	bool *own = mem_alloc(mem_array_size(s->jobs.n + 1, sizeof(*own)));

	for (size_t i = 0; i < s->jobs.n; i++)
		own[i] = s->jobs.at[i].user == uid;
	return own;
}

static void run_task(struct task *task)
{
	struct explain_task *t = (struct explain_task *)task;
	bool *own = own_jobs(&t->snapshot, t->uid);
	struct explain_config config = {
		.from = &t->snapshot,
		.job = t->job,
		.own = own,
		.types = t->types,
		.slots = t->slots,
		.gate = t->gate,
		.gate_text = t->gate ? t->gate_text.at : NULL,
	};
	struct explanation e;
	struct json j;

	t->rc = explain(&config, &e, &t->err);
	if (t->rc == 0) {
		json_init(&j, &t->members, false);
		json_begin_object(&j, NULL);
		explain_to_json(&e, t->offset_s, &j);
		json_end(&j, '}');
	}
	explanation_fini(&e);
	free(own);
}

static void destroy_task(struct task *task)
{
	struct explain_task *t = (struct explain_task *)task;

	snapshot_fini(&t->snapshot);
	buf_fini(&t->gate_text);
	buf_fini(&t->members);
	free(t);
}

/* Gates that a snapshot does not have: the job is kept back by them, and they are told in words. */
static void take_gate(struct daemon *d, const struct live_job *job, struct explain_task *t)
{
	bool stands_before_it = job->gate == GATE_NEVER && t->snapshot.jobs.at[t->job].opens_s < 0;
	uint32_t about;

	if (job->held || job->engine_id != JOB_NONE || stands_before_it ||
		(job->gate != GATE_ARRAY && job->gate != GATE_STOPPING && job->gate != GATE_NEVER))
		return;
	t->gate = core_reason(d->core, job, daemon_now_s(d), &t->gate_text, &about);
	t->snapshot.jobs.at[t->job].opens_s = INFINITY;
}

/* If it named no types. */
static uint32_t possible_types(const struct daemon *d, const struct live_job *job)
{
	struct live_job open = *job;

	open.types = NULL;
	return live_job_types(&open, core_cluster(d->core));
}

static bool begin_task(struct daemon *d, struct call *call, const struct live_job *job)
{
	struct explain_task *t = mem_alloc(sizeof(*t));

	t->task.run = run_task;
	t->task.destroy = destroy_task;
	t->offset_s = wallclock_offset(&d->clock.wall);
	core_snapshot_of(d->core, daemon_now_s(d),
		&(struct snapshot_want){ .most = CORE_FIRST_JOBS, .keep = job->id }, &t->snapshot);
	t->job = snapshot_find(&t->snapshot, job->id);
	if (t->job == JOB_NONE || t->job < t->snapshot.nrunning) {
		destroy_task(&t->task);
		return false;
	}
	t->uid = job->uid;
	t->types = possible_types(d, job);
	t->slots = job->cpu_only;
	take_gate(d, job, t);
	daemon_give(d, call, &t->task);
	return true;
}

/* ---- answers */

static void put_head(struct daemon *d, struct call *call, const char *state, struct json *j)
{
	const struct live_job *job = core_job(d->core, call->job);

	call_begin(call, j);
	json_int(j, "job", call->job);
	if (job)
		job_put_array(job, j);
	json_str(j, "state", state);
	json_double(j, "at", daemon_wall_s(d, daemon_now_s(d)));
	json_int(j, "stamp", (int64_t)d->stamp);
}

static void put_no_causes(const char *verdict, struct json *j)
{
	json_str(j, "verdict", verdict);
	json_begin_array(j, "causes");
	json_end(j, ']');
	json_begin_array(j, "changes");
	json_end(j, ']');
	json_int(j, "tries", 0);
	json_end(j, '}');
}

/* What it has of its hosts, where the policy says so. */
static void host_text(const struct grant *grant, struct buf *out)
{
	char size[32];

	if (grant->cpus > 0)
		buf_printf(out, " with %g CPU%s", grant->cpus, grant->cpus == 1 ? "" : "s");
	if (grant->mem_bytes > 0)
		buf_printf(out, " %s %s of memory", grant->cpus > 0 ? "and" : "with",
			text_size((double)grant->mem_bytes, size));
}

/* One that has devices, or is to give them back. */
static void answer_running(struct daemon *d, struct call *call, const struct live_job *job)
{
	const struct attempt *a = core_attempt(d->core, job->id, job->attempt);
	struct buf text = { 0 }, reason = { 0 };
	const char *why;
	uint32_t about;
	char lasted[32];
	struct json j;

	why = daemon_reason(d, job, daemon_now_s(d), &reason, &about);
	if (reason.n)
		buf_str(&text, reason.at);
	else if (a && a->grant) {
		buf_printf(&text, "it runs on %u device%s (", a->grant->gpus,
			a->grant->gpus == 1 ? "" : "s");
		daemon_devices(d, a->grant, device_index, &text);
		buf_str(&text, ")");
		host_text(a->grant, &text);
		if (daemon_is_guest(d, job->id))
			buf_str(&text,
				" as a guest: it has what others leave of them, and gives way to these");
	} else
		buf_str(&text, "it runs");
	if (!isnan(job->begun_s))
		buf_printf(&text, ", for %s now",
			text_duration(fmax(0, daemon_now_s(d) - job->begun_s), lasted));
	put_head(d, call, live_state_name(job->state), &j);
	if (why)
		json_str(&j, "why", why);
	put_no_causes(text.at, &j);
	buf_fini(&text);
	buf_fini(&reason);
}

struct ended {
	struct daemon *d;
	struct call *call;
};

static void ended_text(const struct live_job *job, struct buf *out)
{
	buf_printf(out, "it ended: %s", live_state_name(job->state));
	if (job->end_text)
		buf_printf(out, ", %s", job->end_text);
	else if (job->signal > 0)
		buf_printf(out, ", killed by signal %d", job->signal);
	else if (job->code >= 0)
		buf_printf(out, ", exit code %d", job->code);
}

static int see_ended(void *ctx, const struct record_job *row)
{
	struct ended *e = ctx;
	json_t *status = json_loads(row->status, 0, NULL);
	struct live_job *job = NULL;
	struct err ignored = { 0 };
	struct buf text = { 0 };
	struct json j;

	if (status && live_job_from_status(status, &job, &ignored) == 0)
		ended_text(job, &text);
	put_head(e->d, e->call, row->state, &j);
	put_no_causes(text.n ? text.at : "it ended", &j);
	buf_fini(&text);
	live_job_destroy(job);
	json_decref(status);
	return 0;
}

static void answer_without_trials(struct daemon *d, struct call *call)
{
	const struct live_job *job = core_job(d->core, call->job);
	struct ended ended = { d, call };
	struct err err = { 0 };

	if (job)
		answer_running(d, call, job);
	else if (record_job(d->record, call->job, see_ended, &ended, &err) < 0)
		call_fail(call, err.code, err.text);
}

static void answer_task(struct daemon *d, struct call *call)
{
	const struct explain_task *t = (const struct explain_task *)call->task;
	struct json j;

	if (t->rc < 0) {
		call_fail(call, t->rc, t->err.text);
		return;
	}
	put_head(d, call, live_state_name(LIVE_PENDING), &j);
	/* The members of one object go into another: without its braces. */
	buf_char(&call->body, ',');
	buf_add(&call->body, t->members.at + 1, t->members.n - 2);
	json_end(&j, '}');
}

/* Asked again when the worker is done; a job that has started or ended meanwhile is told as it is. */
void verb_explain(struct daemon *d, struct call *call)
{
	const struct live_job *job;

	if (!call->job)
		call->job = call_job(d, call, false);
	if (!call->job)
		return;
	job = core_job(d->core, call->job);
	if (!job || job->state != LIVE_PENDING)
		answer_without_trials(d, call);
	else if (call->task)
		answer_task(d, call);
	else if (!begin_task(d, call, job))
		answer_without_trials(d, call);
}
