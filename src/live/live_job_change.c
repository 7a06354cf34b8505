/*
 * What an update changes of a job that waits.  The input is settled: daemon/verbs_update.c has checked it.
 */
#include <math.h>
#include <stdlib.h>

#include "live/live_job.h"

/* Its speed is known for as many devices as it asked for; for another number it is believed in proportion. */
static void change_size(struct live_job *job, const json_t *body)
{
	struct job *base = &job->base;
	int32_t before = base->gpus;

	base->gpus = (int32_t)member_int(body, "gpus", base->gpus);
	base->min_gpus = (int32_t)member_int(body, "min_gpus", base->min_gpus);
	base->max_gpus = (int32_t)member_int(body, "max_gpus", base->max_gpus);
	base->nodes = (uint32_t)member_int(body, "nodes", base->nodes);
	job->cpu_only = member_bool(body, "cpu_only", job->cpu_only);
	base->cpus = member_number(body, "cpus", base->cpus);
	job->cpus_asked = member_number(body, "cpus_asked", job->cpus_asked);
	base->mem_bytes = member_int(body, "mem_bytes", base->mem_bytes);
	job->mem_most = member_int(body, "mem_most", job->mem_most);
	if (base->by_steps && before > 0 && base->gpus != before)
		base->nominal_rate *= (double)base->gpus / before;
}

static void change_after(struct live_job *job, const json_t *body)
{
	const json_t *after = json_object_get(body, "after");

	if (!after)
		return;
	free(job->after);
	live_job_get_after(job, body);
	job->gate_job = 0;
}

bool live_job_change(struct live_job *job, const json_t *body, char **old_name)
{
	const char *name = member_text(body, "name");
	bool asks_more = name || json_object_get(body, "after") || json_object_get(body, "gpus");

	*old_name = NULL;
	job->base.priority = (int32_t)member_int(body, "priority", job->base.priority);
	job->base.weight = member_number(body, "weight", job->base.weight);
	job->time_s = job->base.limit_s = member_number(body, "time_s", job->time_s);
	job->deadline_s = job->base.deadline_s = member_number(body, "deadline_s", job->deadline_s);
	change_size(job, body);
	change_after(job, body);
	if (name) {
		*old_name = job->name;
		job->name = mem_strdup(name);
		job->base.name = job->name;
	}
	return asks_more;
}
