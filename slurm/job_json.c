/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One job as text, and a fingerprint of it.
 *
 * Members that are Slurm's own are in a table which both go through, so that a new one is in both.
 */
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bridge.h"

enum form { TEXT, NUMBER16, NUMBER32, FLAG16, TIME };

/* Numbers that are NO_VAL or INFINITE are not said, nor are times of 0. */
static const struct field {
	const char *name;
	enum form form;
	size_t offset;
} fields[] = {
#define FIELD(name, form, member) \
	{ \
		name, form, offsetof(slurm_job_info_t, member) \
	}
	FIELD("uid", NUMBER32, user_id),
	FIELD("gid", NUMBER32, group_id),
	FIELD("account", TEXT, account),
	FIELD("name", TEXT, name),
	FIELD("partition", TEXT, partition),
	FIELD("priority", NUMBER32, priority),
	FIELD("comment", TEXT, comment),
	FIELD("admin_comment", TEXT, admin_comment),
	FIELD("submit", TIME, submit_time),
	FIELD("eligible", TIME, eligible_time),
	FIELD("nodes", NUMBER32, num_nodes),
	FIELD("req_nodes", TEXT, req_nodes),
	FIELD("exc_nodes", TEXT, exc_nodes),
	FIELD("cpus", NUMBER32, num_cpus),
	FIELD("restarts", NUMBER16, restart_cnt),
	FIELD("requeue", FLAG16, requeue),
	FIELD("batch", FLAG16, batch_flag),
	FIELD("command", TEXT, command),
	FIELD("cwd", TEXT, work_dir),
	FIELD("dependency", TEXT, dependency),
	FIELD("features", TEXT, features),
	FIELD("reservation", TEXT, resv_name),
	FIELD("licenses", TEXT, licenses),
#undef FIELD
};

/* What the other members come from. */
static const struct {
	enum form form;
	size_t offset;
} sources[] = {
#define SOURCE(form, member) \
	{ \
		form, offsetof(slurm_job_info_t, member) \
	}
	SOURCE(NUMBER32, job_id),
	SOURCE(NUMBER32, array_job_id),
	SOURCE(NUMBER32, array_task_id),
	SOURCE(NUMBER32, array_max_tasks),
	SOURCE(TEXT, array_task_str),
	SOURCE(TEXT, user_name),
	SOURCE(NUMBER32, job_state),
	SOURCE(NUMBER16, state_reason),
	SOURCE(NUMBER32, time_limit),
	SOURCE(TEXT, tres_per_job),
	SOURCE(TEXT, tres_per_node),
	SOURCE(TEXT, tres_per_task),
	SOURCE(TEXT, tres_per_socket),
	SOURCE(NUMBER32, num_tasks),
	SOURCE(TEXT, nodes),
	SOURCE(NUMBER32, exit_code),
	SOURCE(TEXT, std_out),
	SOURCE(TEXT, std_err),
	SOURCE(NUMBER16, shared),
	SOURCE(NUMBER32, het_job_id),
#undef SOURCE
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static bool holds_nodes(const slurm_job_info_t *job)
{
	uint32_t base = job->job_state & JOB_STATE_BASE;

	return base == JOB_RUNNING || base == JOB_SUSPENDED || (job->job_state & JOB_COMPLETING);
}

static bool pending(const slurm_job_info_t *job)
{
	return (job->job_state & JOB_STATE_BASE) == JOB_PENDING;
}

/* ---- fingerprint */

static uint64_t mix(uint64_t h, uint64_t value)
{
	h = (h ^ value) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 32;
}

static uint64_t mix_text(uint64_t h, const char *s)
{
	uint64_t word;
	size_t left = s ? strlen(s) : 0;

	h = mix(h, left);
	for (; left >= sizeof(word); left -= sizeof(word), s += sizeof(word)) {
		memcpy(&word, s, sizeof(word));
		h = mix(h, word);
	}
	for (; left > 0; left--)
		h = mix(h, (unsigned char)*s++);
	return h;
}

static uint64_t mix_member(uint64_t h, const slurm_job_info_t *job, enum form form, size_t offset)
{
	const char *at = (const char *)job + offset;

	switch (form) {
	case TEXT:
		return mix_text(h, *(char *const *)at);
	case NUMBER16:
	case FLAG16:
		return mix(h, *(const uint16_t *)at);
	case NUMBER32:
		return mix(h, *(const uint32_t *)at);
	case TIME:
		return mix(h, (uint64_t) * (const time_t *)at);
	}
	return h;
}

uint64_t job_fingerprint(const slurm_job_info_t *job)
{
	uint64_t h = 1;

	for (size_t i = 0; i < COUNT(fields); i++)
		h = mix_member(h, job, fields[i].form, fields[i].offset);
	for (size_t i = 0; i < COUNT(sources); i++)
		h = mix_member(h, job, sources[i].form, sources[i].offset);
	h = mix(h, job->pn_min_memory);
	/* When a waiting job may start is Slurm's guess, and not shown. */
	if (!pending(job)) {
		h = mix(h, (uint64_t)job->start_time);
		h = mix(h, (uint64_t)job->end_time);
	}
	for (uint32_t i = 0; holds_nodes(job) && i < job->gres_detail_cnt; i++)
		h = mix_text(h, job->gres_detail_str[i]);
	return h;
}

/* ---- members */

void job_name(const slurm_job_info_t *job, char name[JOB_NAME_MAX])
{
	if (job->array_task_id != NO_VAL && job->array_job_id)
		snprintf(name, JOB_NAME_MAX, "%u_%u", job->array_job_id, job->array_task_id);
	else
		snprintf(name, JOB_NAME_MAX, "%u", job->job_id);
}

static void put_number(json_t *o, const char *name, uint32_t value)
{
	if (value != NO_VAL && value != INFINITE)
		put(o, name, json_integer(value));
}

static void put_time(json_t *o, const char *name, time_t t)
{
	if (t > 0 && t < UINT_MAX - 1)
		put(o, name, json_integer((json_int_t)t));
}

static void put_field(json_t *o, const slurm_job_info_t *job, const struct field *field)
{
	const char *at = (const char *)job + field->offset;

	switch (field->form) {
	case TEXT:
		put(o, field->name, reply_text(*(char *const *)at));
		break;
	case NUMBER16:
		put(o, field->name, json_integer(*(const uint16_t *)at));
		break;
	case NUMBER32:
		put_number(o, field->name, *(const uint32_t *)at);
		break;
	case FLAG16:
		put(o, field->name, json_boolean(*(const uint16_t *)at));
		break;
	case TIME:
		put_time(o, field->name, *(const time_t *)at);
		break;
	}
}

static void put_array(json_t *o, const slurm_job_info_t *job)
{
	if (!job->array_job_id)
		return;
	put(o, "array", json_integer(job->array_job_id));
	if (job->array_task_id != NO_VAL) {
		put(o, "task", json_integer(job->array_task_id));
		return;
	}
	put(o, "tasks", reply_text(job->array_task_str));
}

/* Slurm leaves the name out now and then.  The last one asked for is the likeliest to be asked again. */
static json_t *user_name(const slurm_job_info_t *job)
{
	static uint32_t last = NO_VAL;
	static char name[256];
	const struct passwd *entry;

	if (job->user_name)
		return reply_text(job->user_name);
	if (job->user_id != last) {
		entry = getpwuid(job->user_id);
		if (entry)
			snprintf(name, sizeof(name), "%s", entry->pw_name);
		else
			snprintf(name, sizeof(name), "%u", job->user_id);
		last = job->user_id;
	}
	return reply_text(name);
}

static const char *state_name(uint32_t state)
{
	static const char *const names[] = {
		[JOB_PENDING] = "PENDING",
		[JOB_RUNNING] = "RUNNING",
		[JOB_SUSPENDED] = "SUSPENDED",
		[JOB_COMPLETE] = "COMPLETED",
		[JOB_CANCELLED] = "CANCELLED",
		[JOB_FAILED] = "FAILED",
		[JOB_TIMEOUT] = "TIMEOUT",
		[JOB_NODE_FAIL] = "NODE_FAIL",
		[JOB_PREEMPTED] = "PREEMPTED",
		[JOB_BOOT_FAIL] = "BOOT_FAIL",
		[JOB_DEADLINE] = "DEADLINE",
		[JOB_OOM] = "OUT_OF_MEMORY",
	};

	state &= JOB_STATE_BASE;
	return state < COUNT(names) ? names[state] : "UNKNOWN";
}

static void put_state(json_t *o, const slurm_job_info_t *job)
{
	put(o, "state", json_string(state_name(job->job_state)));
	put(o, "completing", json_boolean(job->job_state & JOB_COMPLETING));
	put(o, "reason", reply_text(unlisted_reason(job->state_reason)));
	put(o, "held", json_boolean(pending(job) && job->priority == 0));
	if (!pending(job)) {
		put_time(o, "start", job->start_time);
		put_time(o, "end", job->end_time);
	}
	if (job->time_limit != NO_VAL && job->time_limit != INFINITE)
		put(o, "limit_s", json_integer((json_int_t)job->time_limit * 60));
	put(o, "exit", json_integer(WIFEXITED(job->exit_code) ? WEXITSTATUS(job->exit_code) : 0));
	put(o, "signal", json_integer(WIFSIGNALED(job->exit_code) ? WTERMSIG(job->exit_code) : 0));
}

/* ---- GPUs */

static uint32_t at_least_one(uint32_t count)
{
	return count == 0 || count == NO_VAL || count == INFINITE ? 1 : count;
}

/* What the job asks for in whole; where that is nothing, what it has. */
static struct gpus demand(const slurm_job_info_t *job)
{
	struct gpus g = gres_sum(job->tres_per_job);

	if (!g.count) {
		g = gres_sum(job->tres_per_node);
		g.count *= (int)at_least_one(job->num_nodes);
	}
	if (!g.count) {
		g = gres_sum(job->tres_per_task);
		g.count *= (int)at_least_one(job->num_tasks);
	}
	for (uint32_t i = 0; !g.count && holds_nodes(job) && i < job->gres_detail_cnt; i++)
		g.count += gres_sum(job->gres_detail_str[i]).count;
	return g;
}

/* [["node", GPUs], ...] */
static json_t *held_nodes(const slurm_job_info_t *job, int per_node)
{
	json_t *on = json_array();
	hostlist_t list;
	char *name;

	if (!holds_nodes(job) || !job->nodes)
		return on;
	list = slurm_hostlist_create(job->nodes);
	/* While a job is cleared away nodes are fewer than those that it had GPUs of. */
	bool told = list && job->gres_detail_cnt == (uint32_t)slurm_hostlist_count(list);
	for (uint32_t i = 0; list && (name = slurm_hostlist_shift(list)); i++) {
		int count = told ? gres_sum(job->gres_detail_str[i]).count : per_node;
		json_t *pair = json_array();

		json_array_append_new(pair, reply_text(name));
		json_array_append_new(pair, json_integer(count));
		json_array_append_new(on, pair);
		free(name);
	}
	if (list)
		slurm_hostlist_destroy(list);
	return on;
}

static void put_gpus(json_t *o, const slurm_job_info_t *job)
{
	struct gpus whole = demand(job);
	int nodes = (int)at_least_one(job->num_nodes), per_node = gres_sum(job->tres_per_node).count;

	if (!per_node && whole.count % nodes == 0)
		per_node = whole.count / nodes;
	put(o, "gpus", json_integer(whole.count));
	if (per_node || !whole.count)
		put(o, "per_node", json_integer(per_node));
	put(o, "gpu_type", reply_text(whole.type));
	put(o, "on", held_nodes(job, per_node));
}

/* Of the whole job. */
static void put_memory(json_t *o, const slurm_job_info_t *job)
{
	uint64_t memory = job->pn_min_memory;

	if (memory == NO_VAL64 || memory == INFINITE64)
		return;
	if (memory & MEM_PER_CPU)
		memory = (memory & ~MEM_PER_CPU) * at_least_one(job->num_cpus);
	else
		memory *= at_least_one(job->num_nodes);
	put(o, "mem_mb", json_integer((json_int_t)memory));
}

static void put_files(json_t *o, slurm_job_info_t *job)
{
	char path[PATH_MAX];

	if (!job->batch_flag)
		return;
	slurm_get_job_stdout(path, sizeof(path), job);
	put(o, "out", reply_text(path));
	slurm_get_job_stderr(path, sizeof(path), job);
	put(o, "err", reply_text(path));
}

json_t *job_json(slurm_job_info_t *job)
{
	json_t *o = json_object();
	char name[JOB_NAME_MAX];

	job_name(job, name);
	put(o, "job", json_string(name));
	put_array(o, job);
	put(o, "user", user_name(job));
	put_state(o, job);
	for (size_t i = 0; i < COUNT(fields); i++)
		put_field(o, job, &fields[i]);
	put_gpus(o, job);
	put_memory(o, job);
	put_files(o, job);
	put(o, "exclusive", json_boolean(job->shared == JOB_SHARED_NONE));
	put(o, "het", json_boolean(job->het_job_id));
	return o;
}
