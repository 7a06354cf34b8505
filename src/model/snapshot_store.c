/*
 * What snapshots leave behind: arrays of jobs and arenas, their pages in place.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "model/snapshot.h"

/* Two that are asked for at once, an explanation and a forecast, are usual. */
enum { SPARES = 2 };

struct spare {
	struct snapshot_job *jobs;
	size_t cap, touched; /* jobs: the first so many have their pages */
	struct arena memory;
	struct agents *agents; /* with nobody in it; NULL: none were made */
};

struct snapshot_store {
	pthread_mutex_t mutex;
	uint32_t users; /* the owner, and snapshots */
	struct spare spares[SPARES];
	uint32_t nspares;
};

struct snapshot_store *snapshot_store_create(void)
{
	struct snapshot_store *store = mem_alloc(sizeof(*store));

	pthread_mutex_init(&store->mutex, NULL);
	store->users = 1;
	return store;
}

static void spare_fini(struct spare *spare)
{
	free(spare->jobs);
	arena_fini(&spare->memory);
	agents_destroy(spare->agents);
}

void snapshot_store_release(struct snapshot_store *store)
{
	uint32_t users;

	if (!store)
		return;
	pthread_mutex_lock(&store->mutex);
	users = --store->users;
	pthread_mutex_unlock(&store->mutex);
	if (users)
		return;
	for (uint32_t i = 0; i < store->nspares; i++)
		spare_fini(&store->spares[i]);
	pthread_mutex_destroy(&store->mutex);
	free(store);
}

void snapshot_store_expect(struct snapshot_store *store, size_t njobs)
{
	struct spare *spare = &store->spares[0];

	pthread_mutex_lock(&store->mutex);
	if (!store->nspares && store->users == 1)
		store->nspares = 1; /* nobody will bring one back */
	if (store->nspares && njobs > spare->touched) {
		if (njobs > spare->cap) {
			spare->cap = njobs > 2 * spare->cap ? njobs : 2 * spare->cap;
			spare->jobs = mem_resize(spare->jobs,
				mem_array_size(spare->cap, sizeof(*spare->jobs)));
		}
		memset(&spare->jobs[spare->touched], 0,
			(njobs - spare->touched) * sizeof(*spare->jobs));
		spare->touched = njobs;
	}
	pthread_mutex_unlock(&store->mutex);
}

void snapshot_take_memory(struct snapshot *s, struct snapshot_store *store)
{
	struct spare spare = { 0 };

	pthread_mutex_lock(&store->mutex);
	store->users++;
	if (store->nspares) {
		spare = store->spares[0];
		store->nspares--;
		memmove(&store->spares[0], &store->spares[1], store->nspares * sizeof(spare));
		store->spares[store->nspares] = (struct spare){ 0 };
	}
	pthread_mutex_unlock(&store->mutex);
	s->store = store;
	s->jobs.at = spare.jobs;
	s->jobs.cap = spare.cap;
	s->memory = spare.memory;
	s->agents = spare.agents;
}

void snapshot_give_memory(struct snapshot *s)
{
	struct snapshot_store *store = s->store;
	struct spare spare = { s->jobs.at, s->jobs.cap, s->jobs.n, s->memory, s->agents };
	bool kept;

	arena_reset(&spare.memory);
	if (spare.agents)
		agents_clear(spare.agents);
	pthread_mutex_lock(&store->mutex);
	kept = store->nspares < SPARES;
	if (kept)
		store->spares[store->nspares++] = spare;
	pthread_mutex_unlock(&store->mutex);
	if (!kept)
		spare_fini(&spare);
	snapshot_store_release(store);
	s->jobs.at = NULL;
	s->memory = (struct arena){ 0 };
	s->agents = NULL;
}
