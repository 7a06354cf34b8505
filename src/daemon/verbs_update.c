/*
 * Changing what was asked for a job that waits.
 *
 * The change is settled and checked as a submission is, so the input that is recorded says the same to every later
 * daemon: sizes are numbers of devices, dependencies are jobs that have not ended.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "daemon/verbs_run.h"

/* ---- limits of numbers, as at submission */

static bool check_numbers(const struct daemon *d, struct call *call)
{
	bool own_weight = !d->config.system || call->caller.admin;
	const struct {
		const char *name;
		double min, max;
	} rows[] = {
		{ "priority", INT32_MIN, INT32_MAX },
		{ "weight", 1e-6, own_weight ? 1e6 : 1 },
		{ "time_s", 0, 1e9 },
		{ "deadline", 0, 1e11 },
		{ "gpus", 0, INT32_MAX },
		{ "min_gpus", 0, INT32_MAX },
		{ "max_gpus", 0, INT32_MAX },
		{ "cpus", 0, 1e6 },
		{ "mem_bytes", 0, 1e15 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double x = member_number(call->args, rows[i].name, rows[i].max);

		if (x >= rows[i].min && x <= rows[i].max)
			continue;
		call_problem(call, 400, 2, "%s: from %g to %g", rows[i].name, rows[i].min, rows[i].max);
		return false;
	}
	return true;
}

/* ---- what it would be */

static bool says(const json_t *args, const char *name)
{
	const json_t *value = json_object_get(args, name);

	return value && !json_is_null(value);
}

static bool says_size(const json_t *args)
{
	return says(args, "gpus") || says(args, "min_gpus") || says(args, "max_gpus") ||
		says(args, "cpus") || says(args, "mem_bytes");
}

/* What it is now, after earlier updates. */
static void put_present(const struct live_job *job, struct submission *s)
{
	s->gpus = job->cpu_only ? 0 : job->base.gpus;
	s->min_gpus = job->cpu_only ? 0 : job->base.min_gpus;
	s->max_gpus = job->cpu_only ? 0 : job->base.max_gpus;
	if (!isnan(job->cpus_asked))
		s->cpus = job->cpus_asked;
	s->mem_bytes = job->base.mem_bytes;
	s->mem_most = job->mem_most;
	s->mem_auto = job->mem_most ? s->mem_auto : 0;
	s->name = job->name;
	s->tenant = job->tenant;
	s->deadline_s = 0;
	s->begin_s = 0;
	s->after = NULL;
	s->nafter = 0;
}

static void put_size(const json_t *args, struct submission *s)
{
	bool rigid = s->min_gpus == s->gpus && s->max_gpus == s->gpus;

	s->gpus = (int32_t)member_int(args, "gpus", s->gpus);
	/* Another number of devices of a job that is not elastic is its least and its most as well. */
	s->min_gpus = (int32_t)member_int(args, "min_gpus", rigid ? -1 : s->min_gpus);
	s->max_gpus = (int32_t)member_int(args, "max_gpus", rigid ? -1 : s->max_gpus);
	s->cpus = member_number(args, "cpus", s->cpus);
	if (says(args, "mem_bytes")) {
		s->mem_bytes = member_int(args, "mem_bytes", 0);
		s->mem_auto = 0;
		s->mem_most = 0;
	}
}

static int put_asked(struct daemon *d, const json_t *args, struct submission *s, struct err *err)
{
	const char *after = member_text(args, "dependency"), *name = member_text(args, "name");

	put_size(args, s);
	if (name)
		s->name = name;
	if (says(args, "deadline"))
		s->deadline_s = member_number(args, "deadline", 0);
	if (after && *after && submission_set_dependency(s, after, err) < 0)
		return err->code;
	if (submission_check(s, err) < 0)
		return err->code;
	return verb_expand_after(d, s, err);
}

/* ---- dependencies in a circle */

struct walk {
	char *seen; /* by number of a job */
	size_t nseen;
	VEC(uint32_t) left; /* to be looked at */
};

static void add(struct walk *w, uint32_t id)
{
	if (id >= w->nseen || w->seen[id])
		return;
	w->seen[id] = 1;
	vec_push(&w->left, id);
}

/* Whether one of the jobs that `from` waits for waits for the job itself, directly or through others. */
static bool leads_to(const struct daemon *d, const struct live_job *from, uint32_t goal)
{
	struct walk w = { .nseen = d->next_job };
	bool found;

	if (!from->nafter)
		return false;
	w.seen = mem_alloc(w.nseen);
	for (uint32_t i = 0; i < from->nafter; i++)
		add(&w, from->after[i].job);
	while (w.left.n) {
		const struct live_job *job = core_job(d->core, w.left.at[--w.left.n]);

		for (uint32_t i = 0; job && i < job->nafter; i++)
			add(&w, job->after[i].job);
	}
	found = goal < w.nseen && w.seen[goal];
	vec_fini(&w.left);
	free(w.seen);
	return found;
}

static int check_after(struct daemon *d, const struct live_job *job, struct live_job *would,
	struct err *err)
{
	char label[LIVE_NAME_SIZE];

	if (verb_settle_after(d, would, err) < 0)
		return err->code;
	if (leads_to(d, would, job->id))
		return err_set(err, ERR_NEVER,
			"dependency: job %s would wait for itself, directly or through other jobs",
			live_name(job, label));
	return 0;
}

/* ---- the input */

static void put_sizes(const struct live_job *would, const struct submission *s, json_t *body)
{
	json_object_set_new(body, "gpus", json_integer(would->base.gpus));
	json_object_set_new(body, "min_gpus", json_integer(would->base.min_gpus));
	json_object_set_new(body, "max_gpus", json_integer(would->base.max_gpus));
	json_object_set_new(body, "nodes", json_integer(would->base.nodes));
	json_object_set_new(body, "cpu_only", json_boolean(would->cpu_only));
	json_object_set_new(body, "cpus", json_real(would->base.cpus));
	json_object_set_new(body, "cpus_asked", json_real(s->cpus));
	json_object_set_new(body, "mem_bytes", json_integer(would->base.mem_bytes));
	json_object_set_new(body, "mem_most", json_integer(would->mem_most));
}

static void put_after(const struct live_job *would, json_t *body)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < would->nafter; i++)
		json_array_append_new(list,
			json_pack("[i,I]", (int)would->after[i].kind, (json_int_t)would->after[i].job));
	json_object_set_new(body, "after", list);
}

/* Whether a job of this kind could run here, and what the input says of it. */
static int settle(struct daemon *d, const json_t *args, const struct live_job *job,
	struct submission *s, json_t *body, struct err *err)
{
	struct caller owner = { .uid = job->uid, .gid = job->gid };
	struct live_job *would;
	int rc;

	put_present(job, s);
	if (put_asked(d, args, s, err) < 0)
		return err->code;
	would = verb_draft_job(d, &owner, job->id, s);
	rc = check_after(d, job, would, err);
	if (rc == 0)
		rc = verb_check_runnable(d, would, err);
	if (rc == 0 && says_size(args))
		put_sizes(would, s, body);
	if (rc == 0 && says(args, "name"))
		json_object_set(body, "name", json_object_get(args, "name"));
	if (rc == 0 && says(args, "dependency"))
		put_after(would, body);
	live_job_destroy(would);
	return rc;
}

static void put_plain(struct daemon *d, const struct call *call, json_t *body)
{
	static const char *const names[] = { "priority", "weight", "time_s", "reason" };
	double deadline = member_number(call->args, "deadline", NAN);

	json_object_set_new(body, "by", json_integer((json_int_t)call->caller.uid));
	json_object_set_new(body, "in_order", json_true());
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (says(call->args, names[i]))
			json_object_set(body, names[i], json_object_get(call->args, names[i]));
	}
	if (!isnan(deadline))
		json_object_set_new(body, "deadline_s",
			json_real(deadline - wallclock_offset(&d->clock.wall)));
}

/* A job in Slurm has its size and its name there. */
static int check_world(const struct daemon *d, const json_t *args, struct err *err)
{
	if (!d->hands->table->sets_devices || (!says_size(args) && !says(args, "name")))
		return 0;
	return err_set(err, ERR_REFUSED,
		"GPUs, CPUs, memory and name of a job are Slurm's here; change them with 'scontrol update', or cancel the job and submit it again");
}

static bool needs_check(const json_t *args)
{
	return says_size(args) || says(args, "name") || says(args, "dependency") ||
		says(args, "deadline");
}

/* The input for one job, a new reference; NULL with why not. */
static json_t *input_of(struct daemon *d, const struct call *call, uint32_t id, struct err *err)
{
	const struct live_job *job = core_job(d->core, id);
	json_t *body = json_object();
	struct submission s;
	int rc = 0;

	put_plain(d, call, body);
	/* The core says what is wrong with a job that has ended or holds devices. */
	if (job && job->state == LIVE_PENDING && needs_check(call->args)) {
		rc = check_world(d, call->args, err);
		if (rc == 0)
			rc = daemon_submission(d, id, &s, err);
		if (rc == 0) {
			rc = settle(d, call->args, job, &s, body, err);
			submission_fini(&s);
		}
	}
	if (rc == 0)
		return body;
	json_decref(body);
	return NULL;
}

/* ---- the verb */

/* One input for each job; all are checked before the first is applied. */
struct change {
	uint32_t *jobs;
	json_t **bodies;
	size_t n, left; /* left: elements of the array that run and stay as they are */
};

static void change_fini(struct change *c)
{
	for (size_t i = 0; c->bodies && i < c->n; i++)
		json_decref(c->bodies[i]);
	free(c->bodies);
	free(c->jobs);
}

/* Of an array those that wait are changed; where none waits, the core says why not. */
static void leave_running(const struct daemon *d, struct change *c)
{
	size_t waiting = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct live_job *job = core_job(d->core, c->jobs[i]);

		if (job && job->state == LIVE_PENDING)
			c->jobs[waiting++] = c->jobs[i];
	}
	if (!waiting)
		return;
	c->left = c->n - waiting;
	c->n = waiting;
}

static bool prepare(struct daemon *d, struct call *call, struct change *c)
{
	struct err err = { 0 };

	c->bodies = mem_alloc(c->n * sizeof(*c->bodies));
	for (size_t i = 0; i < c->n; i++) {
		c->bodies[i] = input_of(d, call, c->jobs[i], &err);
		if (!c->bodies[i]) {
			call_fail(call, err.code, err.text);
			return false;
		}
	}
	return true;
}

static void apply(struct daemon *d, struct call *call, const struct change *c)
{
	size_t done = 0;

	while (done < c->n && call_apply(d, call, "update", c->jobs[done], 0, c->bodies[done]))
		done++;
	call_audit(d, call, c->jobs, done);
	if (done == c->n)
		call_answer_changed(d, call, c->jobs, c->n, c->left);
}

static bool check_call(const struct daemon *d, struct call *call)
{
	static const char *const names[] = { "priority", "weight", "time_s", "deadline", "name",
		"dependency" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (says(call->args, names[i]) || says_size(call->args))
			return check_numbers(d, call);
	}
	call_problem(call, 400, 2,
		"nothing to change was named: priority, weight, time_s, deadline, gpus, min_gpus, max_gpus, cpus, mem_bytes, name or dependency");
	return false;
}

void verb_update(struct daemon *d, struct call *call)
{
	struct change c = { 0 };

	c.n = call_jobs(d, call, true, &c.jobs);
	if (c.n && check_call(d, call)) {
		leave_running(d, &c);
		if (prepare(d, call, &c))
			apply(d, call, &c);
	}
	change_fini(&c);
}
