/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What changes jobs and nodes.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bridge.h"

#define GRES_MAX 128

/* A job is named by text, or by an object's member "job". */
static const char *named(const json_t *element, struct failure *f)
{
	const char *name = json_is_object(element) ? text_of(element, "job")
						   : json_string_value(element);

	if (!name || strspn(name, "0123456789_") != strlen(name) || !*name ||
		strlen(name) >= JOB_NAME_MAX) {
		fail(f, "protocol", 0, "%s is no job: \"4711\" or \"4711_3\" is wanted",
			name ? name : "nothing");
		return NULL;
	}
	return name;
}

/* An array's tasks each have a result of their own: the first bad one counts. */
static bool array_result(int rc, job_array_resp_msg_t *tasks, struct failure *f)
{
	int bad = 0;

	for (uint32_t i = 0; tasks && i < tasks->job_array_count && !bad; i++)
		bad = (int)tasks->error_code[i];
	if (tasks)
		slurm_free_job_array_resp(tasks);
	return controller_result(rc == SLURM_SUCCESS ? bad : rc, f);
}

static bool update(job_desc_msg_t *d, const char *name, struct failure *f)
{
	job_array_resp_msg_t *tasks = NULL;

	if (!controller_ready(f))
		return false;
	d->job_id_str = (char *)name;
	int rc = slurm_update_job2(d, &tasks);
	return array_result(rc, tasks, f);
}

/* ---- start */

/* "a,b" of a list of names, to be freed; NULL where it is none. */
static char *comma_list(const json_t *names)
{
	size_t n = json_array_size(names), length = 1;
	char *list, *end;

	for (size_t i = 0; i < n; i++) {
		const char *name = json_string_value(json_array_get(names, i));
		if (!name || !*name)
			return NULL;
		length += strlen(name) + 1;
	}
	end = list = malloc(length);
	for (size_t i = 0; list && i < n; i++)
		end += sprintf(end, "%s%s", i ? "," : "", json_string_value(json_array_get(names, i)));
	return n ? list : (free(list), NULL);
}

/* Jobs as the controller shows them to the start under way; NULL: each is asked for alone. */
static job_info_msg_t *shown;

/* A single job is a call, and all of them are one that takes as long as one for each so many. */
#define JOBS_A_CALL 200

static void show_all(size_t asked)
{
	struct failure f = { 0 };

	if (asked * JOBS_A_CALL <= jobs_known() || asked < 2)
		return;
	/* Where that fails, so does what follows, and says why. */
	if (controller_ready(&f))
		controller_result(slurm_load_jobs(0, &shown, SHOW_ALL), &f);
}

static void show_none(void)
{
	if (shown)
		unlisted_free_jobs(shown);
	shown = NULL;
}

/* Of the job named: its own record, or that of the array which its task has not left yet.  -1: it is not there. */
static long long find_restarts(const job_info_msg_t *jobs, const char *name)
{
	const char *line = strchr(name, '_');
	uint32_t number = (uint32_t)strtoul(name, NULL, 10);
	uint32_t task = line ? (uint32_t)strtoul(line + 1, NULL, 10) : NO_VAL;
	long long restarts = -1;

	for (uint32_t i = 0; i < jobs->record_count; i++) {
		const slurm_job_info_t *job = &jobs->job_array[i];

		if ((line ? job->array_job_id : job->job_id) != number)
			continue;
		if (job->array_task_id == task)
			return job->restart_cnt;
		if (line && job->array_task_id == NO_VAL)
			restarts = job->restart_cnt;
	}
	return restarts;
}

/* Restarts are asked of the controller: what was seen last may be old. */
static bool check_restarts(const char *name, long long wanted, struct failure *f)
{
	job_info_msg_t *found = NULL;
	long long restarts;

	if (!shown &&
		(!controller_ready(f) ||
			!controller_result(slurm_load_job(&found, (uint32_t)atol(name), SHOW_ALL), f)))
		return false;
	restarts = find_restarts(shown ? shown : found, name);
	if (found)
		unlisted_free_jobs(found);
	if (restarts < 0)
		return fail_slurm(f, ESLURM_INVALID_JOB_ID);
	if (restarts != wanted)
		return fail(f, "busy", 0, "job %s has been restarted %lld times, not %lld", name,
			restarts, wanted);
	return true;
}

/* What is asked of each node, so that the whole is `gpus`; without that, what it asked for before. */
static bool set_size(job_desc_msg_t *d, const json_t *job, long long nodes, char gres[GRES_MAX],
	struct failure *f)
{
	long long gpus = number_of(job, "gpus", -1);
	const char *type = text_of(job, "gpu_type");

	if (gpus > 0 && gpus % nodes)
		return fail(f, "refused", 0, "%lld GPUs cannot be shared equally by %lld nodes",
			gpus, nodes);
	d->min_nodes = d->max_nodes = (uint32_t)nodes;
	if (gpus > 0) {
		snprintf(gres, GRES_MAX, "gres:gpu:%s%s%lld", type ? type : "",
			type && *type ? ":" : "", gpus / nodes);
		d->tres_per_node = gres;
	}
	return true;
}

/* After a requeue Slurm would wait two minutes, unless told that now is the time. */
static void set_now(job_desc_msg_t *d, const json_t *job)
{
	long long limit_s = number_of(job, "limit_s", 0);

	d->begin_time = time(NULL);
	d->priority = INFINITE;
	if (limit_s > 0)
		d->time_limit = (uint32_t)((limit_s + 59) / 60);
}

static void start_one(const json_t *job, const json_t *request, json_t *result, struct failure *f)
{
	const char *name = named(job, f);
	const json_t *nodes = json_object_get(job, "nodes");
	long long restarts = number_of(job, "restarts", -1);
	char gres[GRES_MAX], *list;
	job_desc_msg_t d;

	(void)request;
	(void)result;
	if (!name || (restarts >= 0 && !check_restarts(name, restarts, f)))
		return;
	list = comma_list(nodes);
	slurm_init_job_desc_msg(&d);
	if (!list) {
		fail(f, "protocol", 0, "job %s: \"nodes\" is a list of at least one name", name);
	} else if (set_size(&d, job, (long long)json_array_size(nodes), gres, f)) {
		set_now(&d, job);
		d.req_nodes = list;
		d.admin_comment = (char *)text_of(job, "admin_comment");
		update(&d, name, f);
	}
	free(list);
}

bool act_start(const json_t *request, json_t *answer, struct failure *f)
{
	bool ok;

	show_all(json_array_size(json_object_get(request, "jobs")));
	ok = reply_each(request, "jobs", answer, f, start_one);
	show_none();
	return ok;
}

/* ---- other changes of jobs */

static void requeue_one(const json_t *job, const json_t *request, json_t *result, struct failure *f)
{
	const char *name = named(job, f);
	job_array_resp_msg_t *tasks = NULL;

	/* A job that ends by itself while this is on its way has ended, unless that is what shall run again. */
	bool ended = json_is_object(job) && json_is_true(json_object_get(job, "ended"));

	(void)request;
	(void)result;
	if (!name || !controller_ready(f))
		return;
	int rc = slurm_requeue2((char *)name, JOB_REQUEUE_HOLD | (ended ? 0 : JOB_RUNNING), &tasks);
	array_result(rc, tasks, f);
}

bool act_requeue(const json_t *request, json_t *answer, struct failure *f)
{
	return reply_each(request, "jobs", answer, f, requeue_one);
}

static void hold_one(const json_t *job, const json_t *request, json_t *result, struct failure *f)
{
	const char *name = named(job, f);
	job_desc_msg_t d;

	(void)request;
	(void)result;
	slurm_init_job_desc_msg(&d);
	d.priority = 0;
	d.admin_comment = (char *)text_of(job, "admin_comment");
	if (json_is_true(json_object_get(job, "user")))
		d.alloc_sid = ALLOC_SID_USER_HOLD;
	if (name)
		update(&d, name, f);
}

bool act_hold(const json_t *request, json_t *answer, struct failure *f)
{
	return reply_each(request, "jobs", answer, f, hold_one);
}

/* An empty text takes away what was there. */
static void release_one(const json_t *job, const json_t *request, json_t *result, struct failure *f)
{
	const char *name = named(job, f);
	char gres[GRES_MAX];
	job_desc_msg_t d;

	(void)request;
	(void)result;
	slurm_init_job_desc_msg(&d);
	long long nodes = number_of(job, "nodes", 0);
	if (!name || (nodes > 0 && !set_size(&d, job, nodes, gres, f)))
		return;
	set_now(&d, job);
	d.req_nodes = (char *)"";
	d.admin_comment = (char *)"";
	update(&d, name, f);
}

bool act_release(const json_t *request, json_t *answer, struct failure *f)
{
	return reply_each(request, "jobs", answer, f, release_one);
}

static void cancel_one(const json_t *job, const json_t *request, json_t *result, struct failure *f)
{
	const char *name = named(job, f);

	(void)request;
	(void)result;
	if (name && controller_ready(f))
		controller_result(slurm_kill_job2(name, SIGKILL, 0, NULL), f);
}

bool act_cancel(const json_t *request, json_t *answer, struct failure *f)
{
	return reply_each(request, "jobs", answer, f, cancel_one);
}

/* To the script and all that it started. */
static void signal_one(const json_t *job, const json_t *request, json_t *result, struct failure *f)
{
	const char *name = named(job, f);
	long long number = number_of(request, "signal", 0);

	(void)result;
	if (number < 1 || number > 64)
		fail(f, "protocol", 0, "\"signal\" is a number from 1 to 64");
	else if (name && controller_ready(f))
		controller_result(slurm_kill_job2(name, (uint16_t)number, KILL_FULL_JOB, NULL), f);
}

bool act_signal(const json_t *request, json_t *answer, struct failure *f)
{
	return reply_each(request, "jobs", answer, f, signal_one);
}

static void note_one(const json_t *job, const json_t *request, json_t *result, struct failure *f)
{
	const char *name = named(job, f), *note = text_of(job, "admin_comment");
	job_desc_msg_t d;

	(void)request;
	(void)result;
	slurm_init_job_desc_msg(&d);
	d.admin_comment = (char *)note;
	if (name && !note)
		fail(f, "protocol", 0, "job %s: there is no \"admin_comment\"", name);
	else if (name)
		update(&d, name, f);
}

bool act_note(const json_t *request, json_t *answer, struct failure *f)
{
	return reply_each(request, "jobs", answer, f, note_one);
}

/* ---- nodes */

static void change_node(const json_t *node, uint32_t state, const char *reason, struct failure *f)
{
	const char *name = json_string_value(node);
	update_node_msg_t d;

	if (!name || !*name) {
		fail(f, "protocol", 0, "\"nodes\" is a list of names");
		return;
	}
	if (!controller_ready(f))
		return;
	slurm_init_update_node_msg(&d);
	d.node_names = (char *)name;
	d.node_state = state;
	d.reason = (char *)reason;
	d.reason_uid = getuid();
	controller_result(slurm_update_node(&d), f);
}

static void drain_one(const json_t *node, const json_t *request, json_t *result, struct failure *f)
{
	const char *reason = text_of(request, "reason");

	(void)result;
	change_node(node, NODE_STATE_DRAIN, reason && *reason ? reason : "stint", f);
}

bool act_drain(const json_t *request, json_t *answer, struct failure *f)
{
	return reply_each(request, "nodes", answer, f, drain_one);
}

static void resume_one(const json_t *node, const json_t *request, json_t *result, struct failure *f)
{
	(void)request;
	(void)result;
	change_node(node, NODE_RESUME, NULL, f);
}

bool act_resume(const json_t *request, json_t *answer, struct failure *f)
{
	return reply_each(request, "nodes", answer, f, resume_one);
}
