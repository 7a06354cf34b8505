/*
 * Jobs and attempts as the API shows them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "daemon/daemon_state.h"
#include "daemon/loans.h"
#include "daemon/reports.h"

/*
 * One offset for all moments of a job, so that they agree with each other and with its lengths of time: the one that
 * holds now, and of a job that has ended the one that held then.
 */
static double offset_of(const struct daemon *d, const struct live_job *job)
{
	return live_ended(job) ? wallclock_offset_at(&d->clock.wall, job->end_s)
			       : wallclock_offset(&d->clock.wall);
}

static void put_moment(double offset_s, struct json *j, const char *key, double at_s)
{
	if (isfinite(at_s))
		json_double(j, key, offset_s + at_s);
}

static void put_seconds(struct json *j, const char *key, double s)
{
	if (isfinite(s))
		json_double(j, key, s);
}

static void put_text(struct json *j, const char *key, const char *text)
{
	if (text)
		json_str(j, key, text);
}

static void put_devices(const struct daemon *d, struct json *j, const struct grant *grant)
{
	struct buf text = { 0 };
	struct slice left;

	daemon_devices(d, grant, device_index, &text);
	left = (struct slice){ text.at, text.n };
	json_begin_array(j, "devices");
	while (left.n) {
		struct slice one = slice_cut(&left, ',');
		char word[32];

		snprintf(word, sizeof(word), "%.*s", (int)one.n, one.at);
		json_str(j, NULL, word);
	}
	json_end(j, ']');
	buf_fini(&text);
}

void job_put_array(const struct live_job *job, struct json *j)
{
	if (!job->array_id)
		return;
	json_int(j, "array_id", job->array_id);
	json_int(j, "array_index", job->array_index);
}

void job_put_changed(const struct daemon *d, uint32_t id, struct json *j)
{
	const struct live_job *job = core_job(d->core, id);

	json_begin_object(j, NULL);
	json_int(j, "id", id);
	if (job)
		job_put_array(job, j);
	json_str(j, "state", job ? live_state_name(job->state) : NULL);
	json_end(j, '}');
}

/* What the world calls it, where that is something else. */
static void put_alias(const struct daemon *d, const struct live_job *job, struct json *j)
{
	const char *at = job->key ? strchr(job->key, '@') : NULL;
	char *alias = hands_alias(d->hands, job->id);

	if (!alias && at && !strncmp(job->key, WORLD_KEY, strlen(WORLD_KEY)))
		alias = mem_printf("%.*s", (int)(at - job->key - (int)strlen(WORLD_KEY)),
			job->key + strlen(WORLD_KEY));
	if (alias)
		json_str(j, "alias", alias);
	free(alias);
}

/* A key is what a job is submitted under again, and a comment may say anything: both are their user's own. */
static bool is_own(const struct caller *caller, const struct live_job *job)
{
	return caller->admin || caller->uid == job->uid;
}

static void put_who(const struct daemon *d, const struct live_job *job, const struct caller *caller,
	struct json *j)
{
	json_int(j, "id", job->id);
	put_alias(d, job, j);
	job_put_array(job, j);
	if (job->array_limit)
		json_int(j, "array_limit", job->array_limit);
	if (is_own(caller, job))
		put_text(j, "key", job->key);
	json_str(j, "name", job->name);
	put_text(j, "user", job->user);
	json_int(j, "uid", job->uid);
	put_text(j, "tenant", job->tenant);
	put_text(j, "model", job->model);
	if (is_own(caller, job))
		put_text(j, "comment", job->comment);
	json_str(j, "state", live_state_name(job->state));
}

static void put_asked(const struct daemon *d, const struct live_job *job, struct json *j)
{
	json_int(j, "gpus", job->cpu_only ? 0 : job->base.gpus);
	if (job->cpu_only)
		json_int(j, "cpus", job->base.gpus);
	json_int(j, "min_gpus", job->base.min_gpus);
	json_int(j, "max_gpus", job->base.max_gpus);
	put_text(j, "types", job->types);
	json_str(j, "class", job->base.class_ == JOB_OPPORTUNISTIC ? "opportunistic" : "guaranteed");
	if (job->base.share > 0)
		json_double(j, "share", job->base.share);
	if (job->base.mem_bytes > 0)
		json_int(j, "mem_bytes", job->base.mem_bytes);
	if (job->mem_most > 0)
		json_int(j, "mem_most", job->mem_most);
	json_int(j, "priority", job->base.priority);
	json_double(j, "weight", job->base.weight);
	put_moment(offset_of(d, job), j, "submit", job->arrival_s);
	put_moment(offset_of(d, job), j, "deadline", job->deadline_s);
	if (job->begin_s > 0)
		put_moment(offset_of(d, job), j, "begin", job->begin_s);
	if (job->time_s > 0)
		json_double(j, "time_limit_s", job->time_s);
	if (job->estimate_s > 0)
		json_double(j, "estimate_s", job->estimate_s);
	if (!job->nafter)
		return;
	json_begin_array(j, "after");
	for (uint32_t i = 0; i < job->nafter; i++) {
		json_begin_object(j, NULL);
		json_str(j, "kind", dependency_name(job->after[i].kind));
		json_int(j, "job", job->after[i].job ? job->after[i].job : job->gate_job);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static double run_s_of(const struct live_job *job, double until_s)
{
	return job->used_s + (isnan(job->begun_s) ? 0 : until_s - job->begun_s);
}

static double wait_s_of(const struct live_job *job, double until_s)
{
	return fmax(0, until_s - job->arrival_s - run_s_of(job, until_s));
}

/* `seen` has the totals. */
static void put_totals(const struct daemon *d, const struct live_job *job, const struct job *seen,
	double now_s, struct json *j)
{
	double until_s = live_ended(job) ? job->end_s : now_s;
	struct buf ending = { 0 };

	put_moment(offset_of(d, job), j, "start", job->first_begun_s);
	put_moment(offset_of(d, job), j, "begun", job->begun_s);
	put_moment(offset_of(d, job), j, "end", job->end_s);
	json_double(j, "wait_s", wait_s_of(job, until_s));
	json_double(j, "run_s", run_s_of(job, until_s));
	json_int(j, "attempt", job->attempt);
	json_int(j, "preemptions", seen->preemptions);
	json_int(j, "resizes", seen->resizes);
	json_int(j, "failures", job->failed);
	json_double(j, "served_gpu_s", job_served_s(seen, now_s));
	json_double(j, "lost_s", seen->lost_s);
	json_double(j, "start_cost_s", seen->start_cost_s);
	json_double(j, "resume_cost_s", seen->resume_cost_s);
	if (job->code >= 0)
		json_int(j, "exit_code", job->code);
	if (job->signal) {
		json_str(j, "signal", signal_name(job->signal));
		json_int(j, "signal_number", job->signal);
	}
	put_text(j, "end_text", job->end_text);
	live_job_ending(job, &ending);
	put_text(j, "ending", ending.at);
	buf_fini(&ending);
}

/* With the report that is held, which is not taken yet. */
static struct live_progress progress_of(const struct daemon *d, const struct live_job *job)
{
	const json_t *held = reports_held(d, job->id, job->attempt);
	struct live_progress p = job->progress;

	p.step = member_number(held, "step", p.step);
	p.total = member_number(held, "total", p.total);
	p.loss = member_number(json_object_get(held, "metrics"), "loss", p.loss);
	return p;
}

static void put_progress(const struct daemon *d, const struct live_job *job, struct json *j)
{
	struct live_progress now = progress_of(d, job), *p = &now;

	if (isnan(p->step))
		return;
	json_begin_object(j, "progress");
	json_double(j, "step", p->step);
	put_seconds(j, "total", p->total);
	if (p->total > 0)
		json_double(j, "fraction", fmin(1, p->step / p->total));
	put_seconds(j, "per_s", p->per_s);
	put_seconds(j, "loss", p->loss);
	json_double(j, "saved", job->base.saved);
	put_moment(offset_of(d, job), j, "at", p->at_s);
	json_end(j, '}');
}

/* Of one that runs and was warned of. */
static const char *idle_reason(const struct daemon *d, const struct live_job *job, double now_s,
	struct buf *text)
{
	const struct idle_rule *rule = &d->config.idle;
	struct idle_state idle;
	char time[32];

	if (job->state != LIVE_RUNNING || !daemon_is_idle(d, job, now_s, &idle) || !idle.warned)
		return NULL;
	buf_printf(text, "has done nothing for %s", text_duration(fmax(0, now_s - idle.since_s), time));
	if (rule->reclaim_s > 0)
		buf_printf(text, "; its devices are taken back after %s",
			text_duration(rule->reclaim_s, time));
	return "idle";
}

const char *daemon_reason(const struct daemon *d, const struct live_job *job, double now_s,
	struct buf *text, uint32_t *about)
{
	const char *why = launch_reason(d, job, text);

	*about = 0;
	return why ? why : core_reason(d->core, job, now_s, text, about);
}

static void put_reason(const struct daemon *d, const struct live_job *job, double now_s, struct json *j)
{
	struct buf text = { 0 };
	uint32_t about;
	const char *why = daemon_reason(d, job, now_s, &text, &about);

	if (!why)
		why = idle_reason(d, job, now_s, &text);
	if (why) {
		json_begin_object(j, "reason");
		json_str(j, "why", why);
		json_str(j, "text", text.at);
		if (about)
			json_int(j, "job", about);
		json_end(j, '}');
	}
	buf_clear(&text);
	core_promise(d->core, job, now_s, &text);
	if (text.n)
		json_str(j, "promise", text.at);
	buf_fini(&text);
}

/* The attempt whose devices it has or will have. */
static const struct attempt *present(const struct daemon *d, const struct live_job *job)
{
	const struct attempt *a = core_attempt(d->core, job->id, job->attempt);

	return a && a->phase != PHASE_OVER ? a : NULL;
}

/* ---- attempts, from their statuses: some are over */

struct listing {
	struct daemon *d;
	struct json *j;
	double offset_s;
	bool pty; /* it runs on a terminal */
	char *out, *err_out; /* files that the job names; NULL: in the attempt's directory, or not for the caller */
};

static void put_status_moment(double offset_s, struct json *j, const char *key,
	const json_t *status, const char *member)
{
	put_moment(offset_s, j, key, member_number(status, member, NAN));
}

static void put_file(const struct listing *l, const char *key, const char *named, uint32_t job,
	uint32_t attempt, bool err_out)
{
	char *kept = named ? NULL : hands_output(l->d->hands, job, attempt, err_out);

	json_str(l->j, key, named ? named : kept);
	free(kept);
}

static void put_terminal(const struct listing *l, uint32_t job, uint32_t attempt)
{
	char *dir = hands_dir(l->d->hands, job, attempt), *path = path_join(dir, HANDS_TERMINAL);

	json_str(l->j, "terminal", path);
	free(path);
	free(dir);
}

static void put_attempt(const struct listing *l, const json_t *status)
{
	struct daemon *d = l->d;
	struct json *j = l->j;
	double offset_s = l->offset_s;
	uint32_t job = (uint32_t)member_int(status, "job", 0);
	uint32_t number = (uint32_t)member_int(status, "attempt", 0);
	struct err ignored = { 0 };
	struct grant *grant;

	json_begin_object(j, NULL);
	json_int(j, "attempt", number);
	json_str(j, "state", member_text(status, "phase"));
	if (grant_from_json(json_object_get(status, "grant"), &d->epoch.cluster, &grant, &ignored) ==
		0) {
		json_int(j, "gpus", grant->gpus);
		json_str(j, "type", d->epoch.cluster.types[grant->type].name);
		put_devices(d, j, grant);
		free(grant);
	}
	put_status_moment(offset_s, j, "ordered", status, "ordered_s");
	put_status_moment(offset_s, j, "launched", status, "launched_s");
	put_status_moment(offset_s, j, "begun", status, "begun_s");
	put_status_moment(offset_s, j, "asked", status, "asked_s");
	put_status_moment(offset_s, j, "ended", status, "over_s");
	if (member_int(status, "code", -1) >= 0)
		json_int(j, "code", member_int(status, "code", -1));
	if (member_int(status, "signal", 0))
		json_str(j, "signal", signal_name((int)member_int(status, "signal", 0)));
	put_text(j, "asked_to_stop", member_text(status, "stop"));
	put_text(j, "text", member_text(status, "text"));
	put_file(l, "stdout", l->out, job, number, false);
	put_file(l, "stderr", l->err_out, job, number, true);
	if (l->pty)
		put_terminal(l, job, number);
	json_end(j, '}');
}

static int see_attempt(void *ctx, const struct record_attempt *attempt)
{
	struct listing *l = ctx;
	json_t *status = json_loads(attempt->status, 0, NULL);

	if (status)
		put_attempt(l, status);
	json_decref(status);
	return 0;
}

static void put_command(struct daemon *d, uint32_t id, struct json *j)
{
	struct submission what;
	struct err ignored = { 0 };

	if (daemon_submission(d, id, &what, &ignored) < 0)
		return;
	json_begin_array(j, "command");
	for (size_t i = 0; what.argv && what.argv[i]; i++)
		json_str(j, NULL, what.argv[i]);
	json_end(j, ']');
	json_bool(j, "script", what.script != NULL);
	put_text(j, "cwd", what.cwd);
	put_text(j, "output", what.out);
	put_text(j, "checkpoint", what.checkpoint);
	submission_fini(&what);
}

/* Where its output goes if it says so; stderr goes with stdout unless it has a file of its own. */
static void name_files(const struct live_job *job, struct listing *l)
{
	struct submission what;
	struct err ignored = { 0 };

	if (daemon_submission(l->d, job->id, &what, &ignored) < 0)
		return;
	l->out = daemon_output(l->d, job, what.out, what.cwd);
	l->err_out = daemon_output(l->d, job, what.err_out ? what.err_out : what.out, what.cwd);
	submission_fini(&what);
}

/* What policies expect of an elastic job on 1, 2, 4, … devices of the type it was measured on first. */
static void put_belief(const struct daemon *d, const struct live_job *job, struct json *j)
{
	int type = job->speeds.n ? cluster_find_type(&d->epoch.cluster, job->speeds.at[0].type) : -1;

	if (type < 0 || !(core_believed_per_s(d->core, job, (uint32_t)type, 1) > 0))
		return;
	json_begin_array(j, "believed");
	for (uint32_t gpus = 1; gpus <= (uint32_t)job->base.max_gpus; gpus *= 2) {
		if (gpus < (uint32_t)job->base.min_gpus || gpus > d->epoch.cluster.types[type].devices)
			continue;
		json_begin_object(j, NULL);
		json_str(j, "type", d->epoch.cluster.types[type].name);
		json_int(j, "gpus", gpus);
		json_double(j, "per_s", core_believed_per_s(d->core, job, (uint32_t)type, gpus));
		json_end(j, '}');
	}
	json_end(j, ']');
}

/* Where it failed soon after it began, and whether it will not go there again. */
static void put_failures(const struct daemon *d, const struct live_job *job, struct json *j)
{
	const struct cluster *cluster = &d->epoch.cluster;
	int32_t limit = core_care(d->core)->avoid_after;

	if (!job->failed_on.n)
		return;
	json_begin_array(j, "failed_on");
	for (size_t i = 0; i < job->failed_on.n; i++) {
		const struct live_failure *f = &job->failed_on.at[i];

		if (f->node >= cluster->nnodes || f->device >= cluster->nodes[f->node].devices)
			continue;
		json_begin_object(j, NULL);
		json_str(j, "node", cluster->nodes[f->node].name);
		json_str(j, "device",
			device_index(
				&d->machine.devices[d->device_of[f->node * NODE_DEVICES_MAX + f->device]]));
		json_int(j, "times", f->times);
		json_bool(j, "avoided", limit > 0 && f->times >= (uint32_t)limit);
		json_end(j, '}');
	}
	json_end(j, ']');
}

/* Of what it has, what somebody with a better right may have back. */
static void put_loan(const struct daemon *d, const struct live_job *job, struct json *j)
{
	struct loans loans;
	uint32_t n;

	loans_look(d->core, &loans);
	n = loans_of(&loans, d->core, job);
	if (n)
		json_int(j, "on_loan_gpus", n);
	loans_fini(&loans);
}

static void put_more(struct daemon *d, const struct live_job *job, struct json *j, enum job_detail detail)
{
	struct listing listing = { .d = d, .j = j, .offset_s = offset_of(d, job), .pty = job->pty };
	struct err ignored = { 0 };

	json_str(j, "stop_signal", signal_name(job->stop_signal));
	json_double(j, "grace_s", job->grace_s);
	json_bool(j, "requeue", job->requeue);
	json_int(j, "retries", job->retries);
	if (detail == JOB_OWNERS) {
		put_command(d, job->id, j);
		name_files(job, &listing);
	}
	json_bool(j, "allow_idle", job->allow_idle);
	if (job->pty)
		json_bool(j, "pty", true);
	put_failures(d, job, j);
	live_job_speeds(job, j);
	if (!live_ended(job)) {
		put_belief(d, job, j);
		put_loan(d, job, j);
	}
	json_begin_array(j, "attempts");
	record_attempts(d->record, job->id, see_attempt, &listing, &ignored);
	json_end(j, ']');
	free(listing.out);
	free(listing.err_out);
}

static void put_brief(const struct daemon *d, const struct live_job *job,
	const struct caller *caller, double now_s, struct json *j)
{
	put_who(d, job, caller, j);
	json_int(j, "gpus", job->cpu_only ? 0 : job->base.gpus);
	if (job->cpu_only)
		json_int(j, "cpus", job->base.gpus);
	json_double(j, "wait_s", wait_s_of(job, now_s));
	put_reason(d, job, now_s, j);
}

static void put_idle(const struct daemon *d, const struct live_job *job, double now_s, struct json *j)
{
	struct idle_state idle;

	if (job->state != LIVE_RUNNING || !daemon_is_idle(d, job, now_s, &idle))
		return;
	json_begin_object(j, "idle");
	json_double(j, "since", offset_of(d, job) + idle.since_s);
	json_double(j, "for_s", fmax(0, now_s - idle.since_s));
	json_bool(j, "warned", idle.warned);
	json_end(j, '}');
}

/* "node7", "node7,node8" */
static void put_nodes(const struct daemon *d, struct json *j, const struct grant *grant)
{
	struct buf text = { 0 };

	for (uint32_t i = 0; i < grant->nslots; i++) {
		if (i)
			buf_char(&text, ',');
		buf_str(&text, d->epoch.cluster.nodes[grant->slots[i].node].name);
	}
	json_str(j, "node", text.at);
	buf_fini(&text);
}

void job_to_json(struct daemon *d, const struct live_job *job, const struct caller *caller,
	struct json *j, enum job_detail detail)
{
	const struct attempt *a;
	double now_s = daemon_now_s(d);

	if (detail == JOB_BRIEF) {
		put_brief(d, job, caller, now_s, j);
		return;
	}
	a = present(d, job);
	put_who(d, job, caller, j);
	put_asked(d, job, j);
	put_totals(d, job, core_engine_job(d->core, job), now_s, j);
	if (a) {
		json_int(j, "held_gpus", a->grant->gpus);
		if (a->grant->cpus > 0)
			json_double(j, "held_cpus", a->grant->cpus);
		if (a->grant->mem_bytes > 0)
			json_int(j, "held_mem_bytes", a->grant->mem_bytes);
		json_str(j, "type", d->epoch.cluster.types[a->grant->type].name);
		put_nodes(d, j, a->grant);
		put_devices(d, j, a->grant);
		if (daemon_is_guest(d, job->id)) {
			json_bool(j, "guest", true);
			daemon_put_beside(d, a, j);
		}
	}
	put_progress(d, job, j);
	put_idle(d, job, now_s, j);
	put_seconds(j, "eta_s", core_left_s(d->core, job, now_s));
	put_reason(d, job, now_s, j);
	if (detail != JOB_LINE)
		put_more(d, job, j, detail);
}

void ended_to_json(struct daemon *d, const struct record_job *row, const struct caller *caller,
	struct json *j, enum job_detail detail)
{
	json_t *status = json_loads(row->status, 0, NULL);
	struct err ignored = { 0 };
	struct live_job *job;

	if (!status || live_job_from_status(status, &job, &ignored) < 0) {
		json_decref(status);
		return;
	}
	json_decref(status);
	put_who(d, job, caller, j);
	put_asked(d, job, j);
	put_totals(d, job, &job->base, job->end_s, j);
	put_progress(d, job, j);
	if (!row->submit_seq)
		json_bool(j, "pruned", true);
	if (detail != JOB_LINE)
		put_more(d, job, j, detail);
	live_job_destroy(job);
}
