/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which jobs look different from the last time they were asked for.
 *
 * Slurm says "nothing has changed" or sends everything, so the last image is kept: a fingerprint for
 * each job, in a table by name.  A name holds its two numbers, and jobs that were not seen again are gone.
 */
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

#define LOOK (SHOW_ALL | SHOW_DETAIL)

struct seen {
	uint64_t name; /* 0: nobody is here */
	uint64_t print;
	bool again;
};

static struct {
	struct seen *slot;
	size_t size, count; /* size: a power of two, more than twice the count */
	long long stamp;    /* 0: there is no image */
	json_t *partitions; /* of which ones it is; NULL: of all */
} image;

static uint64_t name_of(const slurm_job_info_t *job)
{
	if (job->array_task_id != NO_VAL && job->array_job_id)
		return (uint64_t)(job->array_task_id + 1) << 32 | job->array_job_id;
	return job->job_id;
}

static json_t *name_text(uint64_t name)
{
	char text[JOB_NAME_MAX];

	if (name >> 32)
		snprintf(text, sizeof(text), "%u_%u", (uint32_t)name, (uint32_t)(name >> 32) - 1);
	else
		snprintf(text, sizeof(text), "%u", (uint32_t)name);
	return json_string(text);
}

static struct seen *slot_of(struct seen *slots, size_t size, uint64_t name)
{
	size_t at = (size_t)(name * 0x9e3779b97f4a7c15u >> 20) & (size - 1);

	while (slots[at].name && slots[at].name != name)
		at = (at + 1) & (size - 1);
	return &slots[at];
}

/* A table for that many, with those of the present one that `keep` says. */
static void rebuild(size_t count, bool only_seen)
{
	size_t size = 64;
	struct seen *slots;

	while (size < 2 * count + 2)
		size *= 2;
	slots = calloc(size, sizeof(*slots));
	if (!slots)
		abort();
	image.count = 0;
	for (size_t i = 0; i < image.size; i++) {
		if (!image.slot[i].name || (only_seen && !image.slot[i].again))
			continue;
		*slot_of(slots, size, image.slot[i].name) = image.slot[i];
		image.count++;
	}
	free(image.slot);
	image.slot = slots;
	image.size = size;
}

static void forget(void)
{
	free(image.slot);
	json_decref(image.partitions);
	memset(&image, 0, sizeof(image));
}

/* Whether any of the partitions is among those of a job, "gpu" or "gpu,other". */
static bool wanted(const slurm_job_info_t *job, const json_t *partitions)
{
	const json_t *one;
	size_t i;

	if (!partitions)
		return true;
	json_array_foreach(partitions, i, one)
	{
		const char *name = json_string_value(one), *at = job->partition;
		size_t length = name ? strlen(name) : 0;

		for (; at && length; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
			if (!strncmp(at, name, length) && (!at[length] || at[length] == ','))
				return true;
		}
	}
	return false;
}

/* Adds jobs that look different, remembering how they look now. */
static void compare(job_info_msg_t *found, json_t *changed)
{
	for (uint32_t i = 0; i < found->record_count; i++) {
		slurm_job_info_t *job = &found->job_array[i];

		if (!wanted(job, image.partitions))
			continue;
		struct seen *seen = slot_of(image.slot, image.size, name_of(job));
		uint64_t print = job_fingerprint(job);
		if (!seen->name || seen->print != print)
			json_array_append_new(changed, job_json(job));
		if (!seen->name)
			image.count++;
		*seen = (struct seen){ name_of(job), print, true };
	}
}

static void find_gone(json_t *gone)
{
	size_t lost = 0;

	for (size_t i = 0; i < image.size; i++) {
		if (!image.slot[i].name || image.slot[i].again)
			continue;
		json_array_append_new(gone, name_text(image.slot[i].name));
		lost++;
	}
	if (lost)
		rebuild(image.count, true);
}

static void take_image(job_info_msg_t *found, json_t *answer)
{
	json_t *changed = json_array(), *gone = json_array();

	if (image.size < 2 * (image.count + found->record_count) + 2)
		rebuild(image.count + found->record_count, false);
	for (size_t i = 0; i < image.size; i++)
		image.slot[i].again = false;
	compare(found, changed);
	find_gone(gone);
	image.stamp = found->last_update;
	put(answer, "jobs", changed);
	put(answer, "gone", gone);
}

static bool same_partitions(const json_t *partitions)
{
	return partitions && image.partitions ? json_equal(partitions, image.partitions)
					      : partitions == image.partitions;
}

bool jobs_changed(const json_t *request, json_t *answer, struct failure *f)
{
	long long since = number_of(request, "since", 0);
	json_t *partitions = json_object_get(request, "partitions");
	job_info_msg_t *found = NULL;

	if (partitions && !json_is_array(partitions))
		return fail(f, "protocol", 0, "\"partitions\" is a list of names");
	if (!controller_ready(f))
		return false;
	bool full = !since || since != image.stamp || !same_partitions(partitions);
	if (!controller_result(slurm_load_jobs(full ? 0 : (time_t)since, &found, LOOK), f)) {
		if (f->code != SLURM_NO_CHANGE_IN_DATA || full)
			return false;
		*f = (struct failure){ 0 };
		put(answer, "jobs", json_array());
		put(answer, "gone", json_array());
	}
	if (full) {
		forget();
		image.partitions = json_deep_copy(partitions);
	}
	if (found) {
		take_image(found, answer);
		unlisted_free_jobs(found);
	}
	put(answer, "stamp", json_integer(image.stamp));
	put(answer, "full", json_boolean(full));
	return true;
}

size_t jobs_known(void)
{
	return image.count;
}

bool jobs_find(const json_t *request, json_t *answer, struct failure *f)
{
	const char *prefix = text_of(request, "prefix");
	job_info_msg_t *found = NULL;
	json_t *jobs;

	if (!prefix)
		return fail(f, "protocol", 0, "find what? The request has no \"prefix\"");
	if (!controller_ready(f) || !controller_result(slurm_load_jobs(0, &found, LOOK), f))
		return false;
	jobs = json_array();
	for (uint32_t i = 0; i < found->record_count; i++) {
		slurm_job_info_t *job = &found->job_array[i];
		if (job->comment && !strncmp(job->comment, prefix, strlen(prefix)))
			json_array_append_new(jobs, job_json(job));
	}
	put(answer, "jobs", jobs);
	unlisted_free_jobs(found);
	return true;
}
