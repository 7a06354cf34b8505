/*
 * Copies of everything a scheduler knows.
 */
#include "model/snapshot.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

void snapshot_init(struct snapshot *s, const struct cluster *cluster, double now_s)
{
	*s = (struct snapshot){ .now_s = now_s };
	cluster_copy(cluster, &s->cluster);
}

void snapshot_fini(struct snapshot *s)
{
	free(s->policy);
	free(s->memory_of_policy);
	free(s->memory_of_jobs);
	free(s->placer);
	free(s->admit);
	profile_destroy(s->speeds);
	names_fini(&s->tenant_names);
	names_fini(&s->model_names);
	tenants_fini(&s->tenants);
	vec_fini(&s->down);
	vec_fini(&s->drained);
	vec_fini(&s->rest);
	vec_fini(&s->absent);
	cluster_fini(&s->cluster);
	if (s->store)
		snapshot_give_memory(s);
	agents_destroy(s->agents);
	vec_fini(&s->jobs);
	arena_fini(&s->memory);
	*s = (struct snapshot){ 0 };
}

void snapshot_take_names(struct snapshot *s, const struct names *tenants, const struct names *models)
{
	names_copy(tenants, &s->tenant_names);
	names_copy(models, &s->model_names);
}

void snapshot_take_speeds(struct snapshot *s, const struct profile *speeds)
{
	s->speeds = profile_copy(speeds, &s->cluster, &s->model_names);
}

static const struct grant *copy_grant(struct snapshot *s, const struct grant *grant)
{
	size_t size = sizeof(*grant) + grant->nslots * sizeof(grant->slots[0]);
	struct grant *copy = arena_alloc(&s->memory, size);

	memcpy(copy, grant, size);
	return copy;
}

static const uint16_t *copy_gangs(struct snapshot *s, const uint16_t *gangs)
{
	uint16_t *copy;

	if (!gangs)
		return NULL;
	copy = arena_array(&s->memory, uint16_t, TYPES_MAX);
	memcpy(copy, gangs, TYPES_MAX * sizeof(*copy));
	return copy;
}

/* Too many to be of use are counted all the same. */
static void begin_run(struct snapshot *s, uint32_t at)
{
	if (s->nruns < SNAPSHOT_RUNS)
		s->runs[s->nruns] = at;
	s->nruns++;
}

static const struct slot *copy_slots(struct snapshot *s, const struct slot *slots, uint32_t n)
{
	struct slot *copy;

	if (!n)
		return NULL;
	copy = arena_array(&s->memory, struct slot, n);
	memcpy(copy, slots, n * sizeof(*copy));
	return copy;
}

void snapshot_drain(struct snapshot *s, uint32_t node, uint64_t devices, const char *why)
{
	struct snapshot_drained drained = { node, devices, why ? arena_strdup(&s->memory, why) : NULL };

	vec_push(&s->drained, drained);
}

struct snapshot_job *snapshot_add(struct snapshot *s, const struct job *job,
	const struct grant *grant, uint32_t number)
{
	size_t n = s->jobs.n;
	struct snapshot_job *one;

	vec_reserve(&s->jobs, n + 1);
	one = &s->jobs.at[n];
	*one = (struct snapshot_job){
		.job = *job,
		.grant = grant ? copy_grant(s, grant) : NULL,
		.number = number,
		.opens_s = -INFINITY,
		.limit_s = INFINITY,
	};
	one->job.id = (uint32_t)n;
	one->job.grant = NULL;
	one->job.label = arena_strdup(&s->memory, job->label ? job->label : "");
	one->job.name = job->name ? arena_strdup(&s->memory, job->name) : NULL;
	one->job.gpus_by_type = copy_gangs(s, job->gpus_by_type);
	one->job.avoid = copy_slots(s, job->avoid, job->navoid);
	one->job.pins = NULL; /* trials go their own way */
	one->job.npins = 0;
	if (n == 0 || number <= one[-1].number)
		begin_run(s, (uint32_t)n);
	s->nrunning += grant != NULL;
	s->jobs.n++;
	return one;
}

static uint32_t find_one_by_one(const struct snapshot *s, uint32_t number)
{
	for (uint32_t i = 0; i < s->jobs.n; i++) {
		if (s->jobs.at[i].number == number)
			return i;
	}
	return JOB_NONE;
}

/* Among [low, high), where numbers ascend. */
static uint32_t find_between(const struct snapshot *s, uint32_t low, uint32_t high, uint32_t number)
{
	uint32_t end = high;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s->jobs.at[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < end && s->jobs.at[low].number == number ? low : JOB_NONE;
}

uint32_t snapshot_find(const struct snapshot *s, uint32_t number)
{
	uint32_t found = JOB_NONE;

	if (s->nruns > SNAPSHOT_RUNS)
		return find_one_by_one(s, number);
	for (uint32_t i = 0; i < s->nruns && found == JOB_NONE; i++)
		found = find_between(s, s->runs[i],
			i + 1 < s->nruns ? s->runs[i + 1] : (uint32_t)s->jobs.n, number);
	return found;
}

void snapshot_call(const struct snapshot_job *one, char out[32])
{
	if (one->array)
		snprintf(out, 32, "%u_%u", one->array, one->index);
	else
		snprintf(out, 32, "%u", one->number);
}
