/*
 * Copies of everything a scheduler knows.
 */
#include "model/snapshot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void snapshot_init(struct snapshot *s, const struct cluster *cluster, double now_s)
{
	*s = (struct snapshot){ .now_s = now_s };
	cluster_copy(cluster, &s->cluster);
}

void snapshot_fini(struct snapshot *s)
{
	free(s->policy);
	free(s->placer);
	free(s->admit);
	profile_destroy(s->speeds);
	agents_destroy(s->agents);
	names_fini(&s->tenant_names);
	names_fini(&s->model_names);
	tenants_fini(&s->tenants);
	vec_fini(&s->jobs);
	vec_fini(&s->down);
	vec_fini(&s->drained);
	cluster_fini(&s->cluster);
	arena_fini(&s->memory);
	*s = (struct snapshot){ 0 };
}

static void copy_names(const struct names *from, struct names *to)
{
	for (uint32_t i = 0; i < from->n; i++)
		names_add(to, from->at[i], strlen(from->at[i]));
}

void snapshot_take_names(struct snapshot *s, const struct names *tenants, const struct names *models)
{
	copy_names(tenants, &s->tenant_names);
	copy_names(models, &s->model_names);
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
	struct snapshot_job one = {
		.job = *job,
		.grant = grant ? copy_grant(s, grant) : NULL,
		.number = number,
		.opens_s = -INFINITY,
		.limit_s = INFINITY,
	};

	one.job.id = (uint32_t)s->jobs.n;
	one.job.grant = NULL;
	one.job.label = arena_strdup(&s->memory, job->label ? job->label : "");
	one.job.name = job->name ? arena_strdup(&s->memory, job->name) : NULL;
	one.job.gpus_by_type = copy_gangs(s, job->gpus_by_type);
	one.job.avoid = copy_slots(s, job->avoid, job->navoid);
	vec_push(&s->jobs, one);
	s->nrunning += grant != NULL;
	return &s->jobs.at[s->jobs.n - 1];
}

uint32_t snapshot_find(const struct snapshot *s, uint32_t number)
{
	for (uint32_t i = 0; i < s->jobs.n; i++) {
		if (s->jobs.at[i].number == number)
			return i;
	}
	return JOB_NONE;
}
