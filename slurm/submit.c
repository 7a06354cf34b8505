/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * New jobs.  GPUs are asked for without a type: Slurm cannot change it later, and the nodes a job is
 * pinned to say it anyway.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bridge.h"

/* libslurm reads these and changes none. */
static char *borrowed(const json_t *job, const char *name)
{
	const char *text = text_of(job, name);

	return text && *text ? (char *)text : NULL;
}

static void fill_texts(job_desc_msg_t *d, const json_t *job)
{
	d->name = borrowed(job, "name");
	d->comment = borrowed(job, "key");
	d->admin_comment = borrowed(job, "admin_comment");
	d->script = borrowed(job, "script");
	d->work_dir = borrowed(job, "cwd");
	d->account = borrowed(job, "account");
	d->partition = borrowed(job, "partition");
	d->std_out = borrowed(job, "out");
	d->std_err = borrowed(job, "err");
	d->std_in = (char *)"/dev/null";
	d->dependency = borrowed(job, "dependency");
}

static void fill_numbers(job_desc_msg_t *d, const json_t *job, uint32_t nodes, char gres[32])
{
	long long gpus = number_of(job, "gpus", 0), memory = number_of(job, "mem_mb", 0);
	long long limit_s = number_of(job, "limit_s", 0), cpus = number_of(job, "cpus", 0);

	d->min_nodes = d->max_nodes = nodes;
	if (gpus > 0) {
		snprintf(gres, 32, "gres:gpu:%lld", gpus / nodes);
		d->tres_per_node = gres;
	}
	if (cpus > 0)
		d->min_cpus = (uint32_t)cpus;
	if (memory > 0)
		d->pn_min_memory = (uint64_t)((memory + nodes - 1) / nodes);
	if (limit_s > 0)
		d->time_limit = (uint32_t)((limit_s + 59) / 60);
	d->begin_time = (time_t)number_of(job, "begin", 0);
	if (json_is_true(json_object_get(job, "hold")))
		d->priority = 0;
	if (json_object_get(job, "requeue"))
		d->requeue = json_is_true(json_object_get(job, "requeue"));
	/* A run after the first adds to what is there. */
	d->open_mode = OPEN_MODE_APPEND;
}

static bool fill_owner(job_desc_msg_t *d, const json_t *job, struct failure *f)
{
	d->user_id = (uint32_t)number_of(job, "uid", getuid());
	d->group_id = (uint32_t)number_of(job, "gid", getgid());
	if (getuid() == 0 || (d->user_id == getuid() && d->group_id == getgid()))
		return true;
	return fail(f, "denied", ESLURM_ACCESS_DENIED,
		"uid %u, gid %u: only root submits for others; this is uid %u, gid %u", d->user_id,
		d->group_id, getuid(), getgid());
}

static bool check(const json_t *job, uint32_t *nodes, struct failure *f)
{
	const char *script = text_of(job, "script");
	long long gpus = number_of(job, "gpus", 0), count = number_of(job, "nodes", 1);

	if (!script || strncmp(script, "#!", 2) != 0)
		return fail(f, "refused", 0,
			"the script must begin with #! and the path of what shall run it");
	if (count < 1 || count > 1 << 20 || gpus < 0)
		return fail(f, "protocol", 0, "%lld nodes with %lld GPUs", count, gpus);
	if (gpus % count)
		return fail(f, "refused", 0, "%lld GPUs cannot be shared equally by %lld nodes",
			gpus, count);
	*nodes = (uint32_t)count;
	return true;
}

/* Slurm takes no job without an environment. */
static char **environment(const json_t *list, uint32_t *count)
{
	size_t n = json_array_size(list);
	char **env = calloc(n + 2, sizeof(*env));

	if (!env)
		abort();
	*count = 0;
	for (size_t i = 0; i < n; i++) {
		const char *pair = json_string_value(json_array_get(list, i));
		if (pair)
			env[(*count)++] = (char *)pair;
	}
	if (!*count)
		env[(*count)++] = (char *)"PATH=/usr/local/bin:/usr/bin:/bin";
	return env;
}

static void submit_one(const json_t *job, const json_t *request, json_t *result, struct failure *f)
{
	job_desc_msg_t d;
	submit_response_msg_t *answer = NULL;
	uint32_t nodes = 1;
	char gres[32], name[JOB_NAME_MAX];

	(void)request;
	slurm_init_job_desc_msg(&d);
	if (!check(job, &nodes, f) || !fill_owner(&d, job, f) || !controller_ready(f))
		return;
	fill_texts(&d, job);
	fill_numbers(&d, job, nodes, gres);
	d.environment = environment(json_object_get(job, "env"), &d.env_size);
	if (controller_result(slurm_submit_batch_job(&d, &answer), f) && answer) {
		snprintf(name, sizeof(name), "%u", answer->job_id);
		put(result, "job", json_string(name));
	}
	if (answer)
		slurm_free_submit_response_response_msg(answer);
	free(d.environment);
}

bool submit_jobs(const json_t *request, json_t *answer, struct failure *f)
{
	return reply_each(request, "jobs", answer, f, submit_one);
}
