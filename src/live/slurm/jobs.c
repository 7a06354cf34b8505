/*
 * The table of jobs, with an index by our number and one by Slurm's name.
 */
#include "live/slurm/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* ---- index: open addressing, NULL is free */

typedef uint64_t hash_fn(const struct slurm_job *j);

static uint64_t hash_number(const struct slurm_job *j)
{
	return hash_u64(HASH_START, j->job);
}

static uint64_t hash_name(const struct slurm_job *j)
{
	return hash_bytes(HASH_START, j->name, strlen(j->name));
}

static size_t first_slot(const struct index *index, uint64_t hash)
{
	return (hash ^ hash >> 32) & (index->nslots - 1);
}

static void put(struct index *index, struct slurm_job *j, hash_fn *hash)
{
	size_t slot = first_slot(index, hash(j));

	while (index->slots[slot])
		slot = (slot + 1) & (index->nslots - 1);
	index->slots[slot] = j;
	index->n++;
}

static void add(struct index *index, struct slurm_job *j, hash_fn *hash)
{
	struct index old = *index;

	if (index->nslots < 2 * (index->n + 1)) {
		index->nslots = old.nslots ? old.nslots * 2 : 64;
		index->slots = mem_alloc(mem_array_size(index->nslots, sizeof(*index->slots)));
		index->n = 0;
		for (size_t i = 0; i < old.nslots; i++) {
			if (old.slots[i])
				put(index, old.slots[i], hash);
		}
		free(old.slots);
	}
	put(index, j, hash);
}

/* Those after it move up, so that no search ends too early. */
static void take_out(struct index *index, struct slurm_job *j, hash_fn *hash)
{
	size_t slot;

	if (!index->nslots)
		return;
	slot = first_slot(index, hash(j));
	while (index->slots[slot] && index->slots[slot] != j)
		slot = (slot + 1) & (index->nslots - 1);
	if (!index->slots[slot])
		return;
	index->slots[slot] = NULL;
	index->n--;
	for (slot = (slot + 1) & (index->nslots - 1); index->slots[slot];
		slot = (slot + 1) & (index->nslots - 1)) {
		struct slurm_job *moved = index->slots[slot];

		index->slots[slot] = NULL;
		index->n--;
		put(index, moved, hash);
	}
}

struct slurm_job *jobs_find(const struct slurm_jobs *jobs, uint32_t job)
{
	const struct index *index = &jobs->by_job;
	struct slurm_job like = { .job = job };

	if (!index->nslots || !job)
		return NULL;
	for (size_t slot = first_slot(index, hash_number(&like)); index->slots[slot];
		slot = (slot + 1) & (index->nslots - 1)) {
		if (index->slots[slot]->job == job)
			return index->slots[slot];
	}
	return NULL;
}

struct slurm_job *jobs_find_name(const struct slurm_jobs *jobs, const char *name)
{
	const struct index *index = &jobs->by_name;

	if (!index->nslots || !*name)
		return NULL;
	for (size_t slot = first_slot(index, hash_bytes(HASH_START, name, strlen(name)));
		index->slots[slot]; slot = (slot + 1) & (index->nslots - 1)) {
		if (!strcmp(index->slots[slot]->name, name))
			return index->slots[slot];
	}
	return NULL;
}

/* ---- the table */

struct slurm_job *jobs_add(struct slurm_jobs *jobs, enum slurm_kind kind)
{
	struct slurm_job *j = mem_alloc(sizeof(*j));

	j->kind = kind;
	vec_push(&jobs->at, j);
	return j;
}

void jobs_set_number(struct slurm_jobs *jobs, struct slurm_job *j, uint32_t job)
{
	if (j->job)
		take_out(&jobs->by_job, j, hash_number);
	j->job = job;
	if (job)
		add(&jobs->by_job, j, hash_number);
}

void jobs_set_name(struct slurm_jobs *jobs, struct slurm_job *j, const char *name)
{
	if (*j->name)
		take_out(&jobs->by_name, j, hash_name);
	snprintf(j->name, sizeof(j->name), "%s", name);
	if (*j->name)
		add(&jobs->by_name, j, hash_name);
}

void run_fini(struct run *run)
{
	free(run->devices);
	json_decref(run->nodes);
	*run = (struct run){ 0 };
}

static void destroy(struct slurm_job *j)
{
	fact_fini(&j->fact);
	run_fini(&j->run);
	json_decref(j->content);
	json_decref(j->offer);
	free(j->why);
	free(j);
}

void jobs_sweep(struct slurm_jobs *jobs)
{
	size_t kept = 0;

	for (size_t i = 0; i < jobs->at.n; i++) {
		struct slurm_job *j = jobs->at.at[i];

		if (!j->dead || j->order) {
			jobs->at.at[kept++] = j;
			continue;
		}
		jobs_set_number(jobs, j, 0);
		jobs_set_name(jobs, j, "");
		destroy(j);
	}
	jobs->at.n = kept;
}

void jobs_fini(struct slurm_jobs *jobs)
{
	for (size_t i = 0; i < jobs->at.n; i++)
		destroy(jobs->at.at[i]);
	vec_fini(&jobs->at);
	free(jobs->by_job.slots);
	free(jobs->by_name.slots);
	*jobs = (struct slurm_jobs){ 0 };
}
