/*
 * Jobs of the daemon, and their status as JSON.
 */
#include "live/live_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/names.h"

static const char *const state_names[LIVE_STATES] = {
	[LIVE_PENDING] = "PENDING",
	[LIVE_CONFIGURING] = "CONFIGURING",
	[LIVE_RUNNING] = "RUNNING",
	[LIVE_COMPLETING] = "COMPLETING",
	[LIVE_COMPLETED] = "COMPLETED",
	[LIVE_FAILED] = "FAILED",
	[LIVE_CANCELLED] = "CANCELLED",
	[LIVE_TIMEOUT] = "TIMEOUT",
	[LIVE_PREEMPTED] = "PREEMPTED",
	[LIVE_NODE_FAIL] = "NODE_FAIL",
};

const char *live_state_name(enum live_state state)
{
	return (unsigned)state < LIVE_STATES ? state_names[state] : "?";
}

const char *live_name(const struct live_job *job, char out[LIVE_NAME_SIZE])
{
	if (job->array_id)
		snprintf(out, LIVE_NAME_SIZE, "%u_%u", job->array_id, job->array_index);
	else
		snprintf(out, LIVE_NAME_SIZE, "%u", job->id);
	return out;
}

int live_state_of(const char *name)
{
	for (int i = 0; i < LIVE_STATES; i++) {
		if (!strcmp(name, state_names[i]))
			return i;
	}
	return -1;
}

static char *copy_or_null(const char *text)
{
	return text ? mem_strdup(text) : NULL;
}

static void progress_init(struct live_progress *p)
{
	*p = (struct live_progress){
		.step = NAN,
		.total = NAN,
		.per_s = NAN,
		.at_s = NAN,
		.first_step = NAN,
		.first_s = NAN,
		.loss = NAN,
		.batch = NAN,
		.max_batch = NAN,
		.sync_s = NAN,
		.grad_sqr = NAN,
		.grad_var = NAN,
	};
}

/* The part of it that policies see.  Work is in seconds until the job says what its steps are. */
static void fill_base(struct live_job *job, const struct submission *what)
{
	enum { UNKNOWN_RUN_S = 3600 };
	struct job *base = &job->base;
	double guess_s = what->estimate_s > 0 ? what->estimate_s
		: what->time_s > 0            ? what->time_s
					      : UNKNOWN_RUN_S;

	job_init(base);
	base->arrival_s = base->wait_since_s = job->arrival_s;
	job->cpu_only = what->gpus == 0;
	base->gpus = job->cpu_only ? (int32_t)fmax(1, ceil(what->cpus)) : what->gpus;
	base->min_gpus = job->cpu_only ? base->gpus : what->min_gpus;
	base->max_gpus = job->cpu_only ? base->gpus : what->max_gpus;
	base->class_ = what->opportunistic ? JOB_OPPORTUNISTIC : JOB_GUARANTEED;
	base->weight = what->weight;
	base->priority = what->priority;
	base->deadline_s = job->deadline_s;
	base->limit_s = job->time_s;
	base->cpus = job->cpu_only ? 0 : what->cpus;
	base->mem_bytes = what->mem_bytes;
	job->mem_most = what->mem_auto ? what->mem_most : 0;
	base->nodes = what->nodes > 0 ? (uint32_t)what->nodes : 0;
	base->share = what->share < 1 ? what->share : 0;
	base->gpu_mem_bytes = what->gpu_mem_bytes;
	base->work_est = guess_s;
	base->stop_loses = true;
	base->nominal_rate = 1;
}

struct live_job *live_job_create(uint32_t id, const struct submission *what, double born_s, double now_s)
{
	struct live_job *job = mem_alloc(sizeof(*job));

	job->id = id;
	job->name = mem_strdup(what->name);
	job->tenant = copy_or_null(what->tenant);
	job->model = copy_or_null(what->model);
	job->key = copy_or_null(what->key);
	job->types = copy_or_null(what->types);
	job->comment = copy_or_null(what->comment);
	job->arrival_s = what->submitted_s > 0 ? fmin(now_s, fmax(0, what->submitted_s - born_s))
					       : now_s;
	job->time_s = what->time_s;
	job->estimate_s = what->estimate_s;
	job->deadline_s = what->deadline_s > 0 ? what->deadline_s - born_s : INFINITY;
	job->begin_s = what->begin_s > 0 ? what->begin_s - born_s : 0;
	job->grace_s = what->grace_s;
	job->stop_signal = what->stop_signal;
	job->requeue = what->requeue;
	job->allow_idle = what->allow_idle;
	job->pty = what->pty_rows > 0;
	job->retries = what->retries;
	job->array_limit = what->array_limit;
	job->held = what->hold;
	job->nafter = what->nafter;
	job->after = mem_alloc(mem_array_size(what->nafter + 1u, sizeof(*job->after)));
	if (what->nafter)
		memcpy(job->after, what->after, what->nafter * sizeof(*job->after));
	job->engine_id = JOB_NONE;
	job->begun_s = job->first_begun_s = job->end_s = job->first_batch = job->idle_since_s = NAN;
	job->cpus_asked = NAN;
	job->code = -1;
	progress_init(&job->progress);
	fill_base(job, what);
	return job;
}

void live_job_destroy(struct live_job *job)
{
	if (!job)
		return;
	free(job->name);
	free(job->user);
	free(job->tenant);
	free(job->model);
	free(job->key);
	free(job->types);
	free(job->comment);
	free(job->end_text);
	free(job->after);
	free(job->reclaimed);
	vec_fini(&job->speeds);
	vec_fini(&job->failed_on);
	vec_fini(&job->pins);
	free(job->outside_reason);
	free((char *)job->base.label);
	free(job);
}

/* ---- devices it fails on */

static bool fail_once_more(struct live_job *job, uint32_t node, uint32_t device, int32_t limit)
{
	struct live_failure *f = NULL;

	for (size_t i = 0; i < job->failed_on.n; i++) {
		if (job->failed_on.at[i].node == node && job->failed_on.at[i].device == device)
			f = &job->failed_on.at[i];
	}
	if (!f) {
		vec_push(&job->failed_on, ((struct live_failure){ node, device, 0 }));
		f = &job->failed_on.at[job->failed_on.n - 1];
	}
	return ++f->times == (uint32_t)limit;
}

bool live_job_fail_on(struct live_job *job, const struct grant *grant, int32_t limit)
{
	bool more = false;

	for (uint32_t i = 0; i < grant->nslots; i++) {
		for (uint64_t left = grant->slots[i].devices; left; left &= left - 1)
			more |= fail_once_more(job, grant->slots[i].node,
				(uint32_t)__builtin_ctzll(left), limit);
	}
	return more;
}

size_t live_job_failed_places(const struct live_job *job)
{
	return job->failed_on.n;
}

bool live_job_forgive(struct live_job *job, uint32_t node, uint64_t devices)
{
	size_t kept = 0, before = job->failed_on.n;

	for (size_t i = 0; i < before; i++) {
		struct live_failure f = job->failed_on.at[i];

		if (f.node != node || !(devices >> f.device & 1))
			job->failed_on.at[kept++] = f;
	}
	job->failed_on.n = kept;
	return kept < before;
}

static bool avoids(const struct live_failure *f, const struct cluster *cluster, int32_t limit)
{
	return limit > 0 && f->times >= (uint32_t)limit && f->node < cluster->nnodes &&
		f->device < cluster->nodes[f->node].devices;
}

void live_job_avoid(struct live_job *job, const struct cluster *cluster, int32_t limit)
{
	uint32_t n = 0, k;

	for (size_t i = 0; i < job->failed_on.n; i++) {
		const struct live_failure *f = &job->failed_on.at[i];

		if (!avoids(f, cluster, limit))
			continue;
		for (k = 0; k < n && job->avoid[k].node != f->node; k++)
			;
		if (k == LIVE_AVOID_MAX)
			continue;
		if (k == n)
			job->avoid[n++] = (struct slot){ .node = f->node };
		job->avoid[k].devices |= UINT64_C(1) << f->device;
	}
	job->base.avoid = n ? job->avoid : NULL;
	job->base.navoid = n;
}

/* ---- jobs that another scheduler runs */

static void use_pins(struct live_job *job)
{
	job->base.pins = job->pins.n ? job->pins.at : NULL;
	job->base.npins = (uint32_t)job->pins.n;
}

/* A host with devices of several types is several nodes: it is not said which, so it is the first with room. */
static bool pin_on(struct live_job *job, const struct cluster *cluster, const char *name, uint32_t gpus)
{
	uint32_t types = job->base.types ? job->base.types : UINT32_MAX;

	for (uint32_t node = 0; node < cluster->nnodes; node++) {
		const struct node *n = &cluster->nodes[node];

		if (strcmp(n->name, name) != 0 || n->devices < gpus || !(types >> n->type & 1))
			continue;
		vec_push(&job->pins, ((struct node_share){ node, gpus }));
		return true;
	}
	return false;
}

int live_job_pin(struct live_job *job, const json_t *on, const struct cluster *cluster, struct err *err)
{
	uint32_t gpus = 0;
	const json_t *one;
	size_t i;

	job->pins.n = 0;
	json_array_foreach(on, i, one)
	{
		const char *name = json_string_value(json_array_get(one, 0));
		json_int_t n = json_integer_value(json_array_get(one, 1));

		if (!name || n < 1 || n > NODE_DEVICES_MAX || !pin_on(job, cluster, name, (uint32_t)n)) {
			job->pins.n = 0;
			use_pins(job);
			return err_set(err, ERR_MISSING, "no node %s with %lld devices is known here",
				name ? name : "?", (long long)n);
		}
		gpus += (uint32_t)n;
	}
	/* What it got there is its size. */
	if (gpus)
		job->base.gpus = job->base.min_gpus = job->base.max_gpus = (int32_t)gpus;
	use_pins(job);
	return 0;
}

static void put_pins(const struct live_job *job, struct json *j)
{
	if (job->outside_reason)
		json_str(j, "outside_reason", job->outside_reason);
	if (!job->pins.n)
		return;
	json_begin_array(j, "pins");
	for (size_t i = 0; i < job->pins.n; i++) {
		json_begin_array(j, NULL);
		json_int(j, NULL, job->pins.at[i].node);
		json_int(j, NULL, job->pins.at[i].gpus);
		json_end(j, ']');
	}
	json_end(j, ']');
}

static void get_pins(struct live_job *job, const json_t *status)
{
	const json_t *list = json_object_get(status, "pins"), *one;
	const char *reason = member_text(status, "outside_reason");
	size_t i;

	json_array_foreach(list, i, one)
	{
		vec_push(&job->pins,
			((struct node_share){ (uint32_t)json_integer_value(json_array_get(one, 0)),
				(uint32_t)json_integer_value(json_array_get(one, 1)) }));
	}
	job->outside_reason = reason ? mem_strdup(reason) : NULL;
	use_pins(job);
}

/* ---- types */

/* "a100" is every kind of it: a100-40g, a100-80g, a slice of one. */
static uint32_t family_of(const struct cluster *cluster, const char *name)
{
	size_t n = strlen(name);
	uint32_t bits = 0;

	for (uint32_t type = 0; n && type < cluster->ntypes; type++) {
		const char *have = cluster->types[type].name;

		if (!strncasecmp(have, name, n) && (have[n] == '-' || have[n] == '.'))
			bits |= UINT32_C(1) << type;
	}
	return bits;
}

uint32_t live_job_types(const struct live_job *job, const struct cluster *cluster)
{
	struct slice left = slice_of(job->types ? job->types : "");
	uint32_t bits = 0;

	for (uint32_t type = 0; type < cluster->ntypes; type++) {
		bool cpu = device_type_is_cpu(&cluster->types[type]);

		/* Where there are no GPUs, CPU slots are the devices. */
		if (cpu == job->cpu_only || cluster->ntypes == 1)
			bits |= UINT32_C(1) << type;
	}
	if (!job->types)
		return bits;
	bits = 0;
	while (left.n) {
		struct slice word = slice_trim(slice_cut(&left, ','));
		char name[64];
		int type;

		snprintf(name, sizeof(name), "%.*s", (int)word.n, word.at);
		bits |= family_of(cluster, name);
		type = cluster_find_type(cluster, name);
		if (type >= 0)
			bits |= UINT32_C(1) << type;
	}
	return bits ? bits : UINT32_C(1) << TYPES_MAX;
}

/* ---- status */

/* Numbers of a job that come and go with its status, and what each is when it is not written. */
struct number {
	const char *name;
	size_t offset;
	double usual;
};

#define LIVE(field, usual_) \
	{ \
#field, offsetof(struct live_job, field), usual_ \
	}
#define BASE(field, usual_) \
	{ \
#field, offsetof(struct live_job, base.field), usual_ \
	}

static const struct number numbers[] = {
	LIVE(time_s, 0),
	LIVE(estimate_s, 0),
	LIVE(cpus_asked, NAN),
	LIVE(deadline_s, INFINITY),
	LIVE(begin_s, 0),
	LIVE(grace_s, 30),
	LIVE(used_s, 0),
	LIVE(begun_s, NAN),
	LIVE(first_begun_s, NAN),
	LIVE(end_s, NAN),
	LIVE(first_batch, NAN),
	LIVE(idle_since_s, NAN),
	BASE(weight, 1),
	BASE(cpus, 0),
	BASE(share, 0),
	BASE(start_cost_s, 0),
	BASE(resume_cost_s, 0),
	BASE(work_est, NAN),
	BASE(nominal_rate, 1),
	BASE(start_s, NAN),
	BASE(held_s, NAN),
	BASE(ready_s, NAN),
	BASE(counted_s, NAN),
	BASE(rate, 0),
	BASE(turn_end_s, INFINITY),
	BASE(turn_steps, 0),
	BASE(wait_since_s, 0),
	BASE(done, 0),
	BASE(saved, 0),
	BASE(ran_s, 0),
	BASE(served_s, 0),
	BASE(waited_s, 0),
	BASE(overhead_s, 0),
	BASE(occupied_s, 0),
	BASE(eff_s, 0),
	BASE(worth_s, 0),
	BASE(lost_s, 0),
	BASE(lost_gpu_s, 0),
	BASE(lent_gpus, 0),
	{ "progress_step", offsetof(struct live_job, progress.step), NAN },
	{ "progress_total", offsetof(struct live_job, progress.total), NAN },
	{ "progress_per_s", offsetof(struct live_job, progress.per_s), NAN },
	{ "progress_at_s", offsetof(struct live_job, progress.at_s), NAN },
	{ "progress_first_step", offsetof(struct live_job, progress.first_step), NAN },
	{ "progress_first_s", offsetof(struct live_job, progress.first_s), NAN },
	{ "progress_loss", offsetof(struct live_job, progress.loss), NAN },
	{ "batch", offsetof(struct live_job, progress.batch), NAN },
	{ "max_batch", offsetof(struct live_job, progress.max_batch), NAN },
	{ "sync_s", offsetof(struct live_job, progress.sync_s), NAN },
	{ "grad_sqr", offsetof(struct live_job, progress.grad_sqr), NAN },
	{ "grad_var", offsetof(struct live_job, progress.grad_var), NAN },
};

enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

static bool same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Infinities are usual values or none, so that JSON can say every other. */
static void put_numbers(const struct live_job *job, struct json *j)
{
	for (size_t i = 0; i < NUMBERS; i++) {
		double value;

		memcpy(&value, (const char *)job + numbers[i].offset, sizeof(value));
		if (!same_number(value, numbers[i].usual))
			json_double(j, numbers[i].name, value);
	}
}

static void get_numbers(struct live_job *job, const json_t *status)
{
	for (size_t i = 0; i < NUMBERS; i++) {
		double value = member_number(status, numbers[i].name, numbers[i].usual);

		memcpy((char *)job + numbers[i].offset, &value, sizeof(value));
	}
}

static void put_unless(struct json *j, const char *key, int64_t value, int64_t usual)
{
	if (value != usual)
		json_int(j, key, value);
}

static void put_text(struct json *j, const char *key, const char *text)
{
	if (text)
		json_str(j, key, text);
}

static void put_flag(struct json *j, const char *key, bool value, bool usual)
{
	if (value != usual)
		json_bool(j, key, value);
}

static void put_asked(const struct live_job *job, struct json *j)
{
	json_int(j, "id", job->id);
	json_int(j, "uid", job->uid);
	json_int(j, "gid", job->gid);
	json_str(j, "name", job->name);
	put_text(j, "user", job->user);
	put_text(j, "tenant", job->tenant);
	put_text(j, "model", job->model);
	put_text(j, "key", job->key);
	put_text(j, "types", job->types);
	put_text(j, "comment", job->comment);
	put_unless(j, "submit_seq", (int64_t)job->submit_seq, 0);
	put_unless(j, "submitted_bytes", job->submitted_bytes, 0);
	json_double(j, "arrival_s", job->arrival_s);
	json_int(j, "gpus", job->base.gpus);
	put_unless(j, "min_gpus", job->base.min_gpus, job->base.gpus);
	put_unless(j, "max_gpus", job->base.max_gpus, job->base.gpus);
	put_flag(j, "cpu_only", job->cpu_only, false);
	put_unless(j, "class", job->base.class_, 0);
	put_unless(j, "priority", job->base.priority, 0);
	put_unless(j, "mem_bytes", job->base.mem_bytes, 0);
	put_unless(j, "mem_most", job->mem_most, 0);
	put_unless(j, "gpu_mem_bytes", job->base.gpu_mem_bytes, 0);
	put_unless(j, "stop_signal", job->stop_signal, 15);
	put_flag(j, "requeue", job->requeue, true);
	put_flag(j, "allow_idle", job->allow_idle, false);
	put_flag(j, "pty", job->pty, false);
	if (job->base.nodes)
		json_int(j, "nodes", job->base.nodes);
	put_unless(j, "retries", job->retries, 0);
	put_unless(j, "array_id", job->array_id, 0);
	put_unless(j, "array_index", job->array_index, 0);
	put_unless(j, "array_limit", job->array_limit, 0);
}

static void put_after(const struct live_job *job, struct json *j)
{
	if (!job->nafter)
		return;
	json_begin_array(j, "after");
	for (uint32_t i = 0; i < job->nafter; i++) {
		json_begin_array(j, NULL);
		json_int(j, NULL, job->after[i].kind);
		json_int(j, NULL, job->after[i].job);
		json_end(j, ']');
	}
	json_end(j, ']');
}

static void put_state(const struct live_job *job, struct json *j)
{
	json_str(j, "state", live_state_name(job->state));
	put_flag(j, "held", job->held, false);
	put_unless(j, "attempt", job->attempt, 0);
	put_unless(j, "failed", job->failed, 0);
	put_unless(j, "lost", job->lost, 0);
	put_unless(j, "yields", job->yields, 0);
	put_unless(j, "code", job->code, -1);
	put_unless(j, "signal", job->signal, 0);
	put_text(j, "end_text", job->end_text);
	put_text(j, "reclaimed", job->reclaimed);
	put_flag(j, "resizable", job->progress.resizable, false);
	put_flag(j, "speed_seen", job->progress.seen, false);
	put_flag(j, "paused", job->paused, false);
	put_flag(j, "unpromised", job->unpromised, false);
	put_flag(j, "silent", job->silent, false);
	put_flag(j, "by_steps", job->base.by_steps, false);
	put_flag(j, "stop_loses", job->base.stop_loses, true);
	put_unless(j, "attempts", job->base.attempts, 0);
	put_unless(j, "preemptions", job->base.preemptions, 0);
	put_unless(j, "migrations", job->base.migrations, 0);
	put_unless(j, "resizes", job->base.resizes, 0);
	put_unless(j, "restarts", job->base.restarts, 0);
	put_unless(j, "failures", job->base.failures, 0);
	put_unless(j, "company", job->base.company, 0);
	put_unless(j, "gate_job", job->gate_job, 0);
}

void live_job_speeds(const struct live_job *job, struct json *j)
{
	if (!job->speeds.n)
		return;
	json_begin_array(j, "speeds");
	for (size_t i = 0; i < job->speeds.n; i++) {
		const struct live_speed *s = &job->speeds.at[i];

		json_begin_object(j, NULL);
		json_str(j, "type", s->type);
		json_int(j, "nodes", s->nodes);
		json_int(j, "gpus", s->gpus);
		if (s->batch > 0)
			json_double(j, "batch", s->batch);
		json_double(j, "step_s", s->step_s);
		if (!isnan(s->sync_s))
			json_double(j, "sync_s", s->sync_s);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_failures(const struct live_job *job, struct json *j)
{
	if (!job->failed_on.n)
		return;
	json_begin_array(j, "failed_on");
	for (size_t i = 0; i < job->failed_on.n; i++) {
		json_begin_array(j, NULL);
		json_int(j, NULL, job->failed_on.at[i].node);
		json_int(j, NULL, job->failed_on.at[i].device);
		json_int(j, NULL, job->failed_on.at[i].times);
		json_end(j, ']');
	}
	json_end(j, ']');
}

void live_job_status(const struct live_job *job, struct buf *out)
{
	struct json j;

	json_init(&j, out, false);
	json_begin_object(&j, NULL);
	put_asked(job, &j);
	put_after(job, &j);
	put_state(job, &j);
	put_numbers(job, &j);
	live_job_speeds(job, &j);
	put_pins(job, &j);
	put_failures(job, &j);
	json_end(&j, '}');
}

static void get_asked(struct live_job *job, const json_t *s)
{
	const char *name = member_text(s, "name");

	job->id = (uint32_t)member_int(s, "id", 0);
	job->uid = (uint32_t)member_int(s, "uid", 0);
	job->gid = (uint32_t)member_int(s, "gid", 0);
	job->name = mem_strdup(name ? name : "?");
	job->user = copy_or_null(member_text(s, "user"));
	job->tenant = copy_or_null(member_text(s, "tenant"));
	job->model = copy_or_null(member_text(s, "model"));
	job->key = copy_or_null(member_text(s, "key"));
	job->types = copy_or_null(member_text(s, "types"));
	job->comment = copy_or_null(member_text(s, "comment"));
	job->submit_seq = (uint64_t)member_int(s, "submit_seq", 0);
	job->submitted_bytes = member_int(s, "submitted_bytes", 0);
	job->arrival_s = job->base.arrival_s = member_number(s, "arrival_s", 0);
	job->base.gpus = (int32_t)member_int(s, "gpus", 1);
	job->base.min_gpus = (int32_t)member_int(s, "min_gpus", job->base.gpus);
	job->base.max_gpus = (int32_t)member_int(s, "max_gpus", job->base.gpus);
	job->cpu_only = member_bool(s, "cpu_only", false);
	job->base.class_ = (uint32_t)member_int(s, "class", 0);
	job->base.priority = (int32_t)member_int(s, "priority", 0);
	job->base.mem_bytes = member_int(s, "mem_bytes", 0);
	job->mem_most = member_int(s, "mem_most", 0);
	job->base.gpu_mem_bytes = member_int(s, "gpu_mem_bytes", 0);
	job->stop_signal = (int)member_int(s, "stop_signal", 15);
	job->requeue = member_bool(s, "requeue", true);
	job->allow_idle = member_bool(s, "allow_idle", false);
	job->pty = member_bool(s, "pty", false);
	job->base.nodes = (uint32_t)member_int(s, "nodes", 0);
	job->retries = (int32_t)member_int(s, "retries", 0);
	job->array_id = (uint32_t)member_int(s, "array_id", 0);
	job->array_index = (uint32_t)member_int(s, "array_index", 0);
	job->array_limit = (uint32_t)member_int(s, "array_limit", 0);
}

void live_job_get_after(struct live_job *job, const json_t *s)
{
	const json_t *after = json_object_get(s, "after");
	size_t n = json_array_size(after);

	job->after = mem_alloc(mem_array_size(n + 1, sizeof(*job->after)));
	job->nafter = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		const json_t *one = json_array_get(after, i);

		job->after[i].kind = (enum dependency_kind)json_integer_value(json_array_get(one, 0));
		job->after[i].job = (uint32_t)json_integer_value(json_array_get(one, 1));
	}
}

static void get_state(struct live_job *job, const json_t *s)
{
	job->held = member_bool(s, "held", false);
	job->attempt = (uint32_t)member_int(s, "attempt", 0);
	job->failed = (uint32_t)member_int(s, "failed", 0);
	job->lost = (uint32_t)member_int(s, "lost", 0);
	job->yields = (uint32_t)member_int(s, "yields", 0);
	job->code = (int)member_int(s, "code", -1);
	job->signal = (int)member_int(s, "signal", 0);
	job->end_text = copy_or_null(member_text(s, "end_text"));
	job->reclaimed = copy_or_null(member_text(s, "reclaimed"));
	job->progress.resizable = member_bool(s, "resizable", false);
	job->progress.seen = member_bool(s, "speed_seen", false);
	job->paused = member_bool(s, "paused", false);
	job->unpromised = member_bool(s, "unpromised", false);
	job->silent = member_bool(s, "silent", false);
	job->base.by_steps = member_bool(s, "by_steps", false);
	job->base.stop_loses = member_bool(s, "stop_loses", true);
	job->base.attempts = (uint32_t)member_int(s, "attempts", 0);
	job->base.preemptions = (uint32_t)member_int(s, "preemptions", 0);
	job->base.migrations = (uint32_t)member_int(s, "migrations", 0);
	job->base.resizes = (uint32_t)member_int(s, "resizes", 0);
	job->base.restarts = (uint32_t)member_int(s, "restarts", 0);
	job->base.failures = (uint32_t)member_int(s, "failures", 0);
	job->base.company = (uint32_t)member_int(s, "company", 0);
	job->gate_job = (uint32_t)member_int(s, "gate_job", 0);
}

static void get_speeds(struct live_job *job, const json_t *status)
{
	const json_t *speeds = json_object_get(status, "speeds"), *one;
	size_t i;

	json_array_foreach(speeds, i, one)
	{
		const char *type = member_text(one, "type");
		struct live_speed s = {
			.nodes = (uint32_t)member_int(one, "nodes", 1),
			.gpus = (uint32_t)member_int(one, "gpus", 1),
			.batch = member_number(one, "batch", 0),
			.step_s = member_number(one, "step_s", NAN),
			.sync_s = member_number(one, "sync_s", NAN),
		};

		if (!type || !(s.step_s > 0) || job->speeds.n >= LIVE_SPEEDS_MAX)
			continue;
		snprintf(s.type, sizeof(s.type), "%s", type);
		vec_push(&job->speeds, s);
	}
}

static void get_failures(struct live_job *job, const json_t *status)
{
	const json_t *list = json_object_get(status, "failed_on"), *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		struct live_failure f = {
			(uint32_t)json_integer_value(json_array_get(one, 0)),
			(uint32_t)json_integer_value(json_array_get(one, 1)),
			(uint32_t)json_integer_value(json_array_get(one, 2)),
		};

		if (f.device < NODE_DEVICES_MAX)
			vec_push(&job->failed_on, f);
	}
}

int live_job_from_status(const json_t *status, struct live_job **out, struct err *err)
{
	const char *word = member_text(status, "state");
	int state = word ? live_state_of(word) : -1;
	struct live_job *job;

	if (state < 0 || member_int(status, "id", 0) <= 0)
		return err_set(err, ERR_FORMAT, "a job's status without a known state or number");
	job = mem_alloc(sizeof(*job));
	job_init(&job->base);
	progress_init(&job->progress);
	get_asked(job, status);
	live_job_get_after(job, status);
	get_state(job, status);
	get_numbers(job, status);
	get_speeds(job, status);
	get_failures(job, status);
	get_pins(job, status);
	job->base.deadline_s = job->deadline_s;
	job->base.limit_s = job->time_s;
	job->state = (enum live_state)state;
	job->engine_id = JOB_NONE;
	*out = job;
	return 0;
}
