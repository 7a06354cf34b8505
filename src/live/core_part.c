#include "live/core_part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/*
 * How much jobs of a kind have in common, from all to little.  Kinds are made wider only where there is not room for
 * one job of each; then policies that look at what differs may not take them in order.
 */
enum grain {
	GRAIN_ALIKE,  /* all that policies look at */
	GRAIN_SIZE,   /* estimates differ */
	GRAIN_RANK,   /* sizes and users, too: tenant and priority are the same */
	GRAIN_TENANT, /* the tenant is */
	GRAINS
};

static bool is_shut(const struct live_job *job)
{
	return job->engine_id == JOB_NONE &&
		(job->held || job->gate == GATE_USER || job->gate == GATE_NEVER);
}

/* ---- kinds */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_size(const struct job *a, const struct job *b)
{
	return a->gpus == b->gpus && a->min_gpus == b->min_gpus && a->max_gpus == b->max_gpus &&
		a->nodes == b->nodes && a->types == b->types && a->class_ == b->class_ &&
		a->cpus == b->cpus && a->mem_bytes == b->mem_bytes && a->share == b->share;
}

/* Whether two are of one kind at the finest grain: then they are at every other. */
static bool is_alike(const struct core *c, const struct live_job *x, const struct live_job *y)
{
	const struct job *a = core_engine_job(c, x), *b = core_engine_job(c, y);

	return x->uid == y->uid && x->begin_s == y->begin_s && x->nafter == y->nafter &&
		x->array_limit == y->array_limit && x->time_s == y->time_s && same_size(a, b) &&
		a->priority == b->priority && a->weight == b->weight && a->work_est == b->work_est &&
		a->done == b->done && a->served_s == b->served_s && a->attempts == b->attempts &&
		a->nominal_rate == b->nominal_rate && a->deadline_s == b->deadline_s &&
		same_text(x->tenant, y->tenant) && same_text(x->model, y->model);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return text ? hash_bytes(hash, text, strlen(text)) : hash_u64(hash, 0);
}

static uint64_t hash_size(uint64_t hash, const struct job *job)
{
	hash = hash_u64(hash, (uint64_t)job->gpus);
	hash = hash_u64(hash, (uint64_t)job->min_gpus);
	hash = hash_u64(hash, (uint64_t)job->max_gpus);
	hash = hash_u64(hash, job->nodes);
	hash = hash_u64(hash, job->types);
	hash = hash_u64(hash, job->class_);
	hash = hash_double(hash, job->cpus);
	hash = hash_u64(hash, (uint64_t)job->mem_bytes);
	return hash_double(hash, job->share);
}

static uint64_t hash_belief(uint64_t hash, const struct live_job *job, const struct job *seen)
{
	hash = hash_double(hash, seen->work_est);
	hash = hash_double(hash, seen->done);
	hash = hash_double(hash, seen->served_s);
	hash = hash_double(hash, seen->nominal_rate);
	hash = hash_double(hash, seen->deadline_s);
	hash = hash_double(hash, job->time_s);
	hash = hash_double(hash, job->begin_s);
	hash = hash_u64(hash, seen->attempts);
	hash = hash_u64(hash, job->nafter);
	hash = hash_u64(hash, job->array_limit);
	return hash_text(hash, job->model);
}

static uint64_t kind_hash(const struct core *c, const struct live_job *job, enum grain grain)
{
	const struct job *seen = core_engine_job(c, job);
	uint64_t hash = hash_text(HASH_START, job->tenant);

	if (grain < GRAIN_TENANT) {
		hash = hash_u64(hash, (uint64_t)seen->priority);
		hash = hash_u64(hash, job->nafter > 0 || job->begin_s > 0);
	}
	if (grain < GRAIN_RANK) {
		hash = hash_u64(hash, job->uid);
		hash = hash_double(hash, seen->weight);
		hash = hash_size(hash, seen);
	}
	return grain < GRAIN_SIZE ? hash_belief(hash, job, seen) : hash;
}

/* Kinds by their hashes. */
struct kinds {
	VEC(uint64_t) hashes;
	VEC(uint32_t) njobs; /* by kind */
	uint32_t *slots;     /* 1 + kind; 0: free */
	size_t nslots;       /* a power of two */
};

static uint32_t find_kind(struct kinds *k, uint64_t hash)
{
	size_t at = (size_t)(hash ^ hash >> 29) & (k->nslots - 1);

	for (; k->slots[at]; at = (at + 1) & (k->nslots - 1)) {
		if (k->hashes.at[k->slots[at] - 1] == hash)
			return k->slots[at] - 1;
	}
	vec_push(&k->hashes, hash);
	vec_push(&k->njobs, 0);
	k->slots[at] = (uint32_t)k->hashes.n;
	return k->slots[at] - 1;
}

static void sort_out(const struct core *c, const struct live_job *const *queue,
	struct core_part *part, enum grain grain, struct kinds *k)
{
	const struct live_job *last = NULL;
	uint32_t kind = 0;

	k->hashes.n = k->njobs.n = 0;
	memset(k->slots, 0, k->nslots * sizeof(*k->slots));
	for (size_t i = 0; i < part->n; i++) {
		if (is_shut(queue[i])) {
			part->kind[i] = PART_SHUT;
			continue;
		}
		if (!last || !is_alike(c, last, queue[i]))
			kind = find_kind(k, kind_hash(c, queue[i], grain));
		last = queue[i];
		part->kind[i] = kind;
		k->njobs.at[kind]++;
	}
}

/* ---- how many of each */

static size_t taken_with(const struct kinds *k, uint32_t each)
{
	size_t n = 0;

	for (size_t i = 0; i < k->njobs.n; i++)
		n += k->njobs.at[i] < each ? k->njobs.at[i] : each;
	return n;
}

/* As many of every kind as there is room for, at least one. */
static uint32_t room_of_each(const struct kinds *k, size_t most)
{
	uint32_t low = 1, high = (uint32_t)most + 1;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (taken_with(k, middle) <= most)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* ---- which */

struct choice {
	struct core *core;
	const struct live_job *keep; /* NULL: none */
	/* By place among the core's jobs; NULL: no job follows another. */
	bool *waits, *chosen;
	size_t next; /* where the next job of the queue is, if it is the one after the last */
};

/* Most jobs of the queue stand as the core has them. */
static size_t index_of(struct choice *c, const struct live_job *job)
{
	if (c->next >= c->core->jobs.n || c->core->jobs.at[c->next] != job)
		c->next = core_index(c->core, job->id);
	return c->next++;
}

static bool is_kept(const struct choice *c, const struct live_job *job)
{
	if (!c->keep)
		return false;
	for (uint32_t i = 0; i < c->keep->nafter; i++) {
		if (c->keep->after[i].job == job->id)
			return true;
	}
	return job == c->keep;
}

static bool follows_absent(const struct choice *c, const struct live_job *job)
{
	for (uint32_t i = 0; i < job->nafter; i++) {
		size_t at = core_index(c->core, job->after[i].job);

		if (at < c->core->jobs.n && c->core->jobs.at[at]->id == job->after[i].job &&
			c->waits[at] && !c->chosen[at])
			return true;
	}
	return false;
}

static void mark_waiting(struct choice *c, const struct live_job *const *queue, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n && !any; i++)
		any = queue[i]->nafter > 0;
	if (!any)
		return;
	c->waits = mem_alloc(c->core->jobs.n + 1);
	c->chosen = mem_alloc(c->core->jobs.n + 1);
	for (size_t i = 0; i < n; i++)
		c->waits[index_of(c, queue[i])] = true;
}

/* One of the first of its kind, or kept. */
static bool take(struct choice *c, const struct live_job *job, struct core_part *part, size_t i,
	uint32_t *taken, uint32_t each)
{
	bool kept = is_kept(c, job);

	if (part->kind[i] == PART_SHUT)
		return kept;
	if (!kept && c->waits && follows_absent(c, job)) {
		part->kind[i] = PART_FOLLOWS;
		return false;
	}
	if (taken[part->kind[i]] >= each)
		return kept;
	taken[part->kind[i]]++;
	part->last[part->kind[i]] = i;
	return true;
}

static void choose(struct choice *c, const struct live_job *const *queue, struct core_part *part,
	uint32_t each)
{
	uint32_t *taken = mem_alloc(mem_array_size(part->nkinds + 1u, sizeof(*taken)));

	mark_waiting(c, queue, part->n);
	part->last = mem_alloc(mem_array_size(part->nkinds + 1u, sizeof(*part->last)));
	for (uint32_t i = 0; i < part->nkinds; i++)
		part->last[i] = SIZE_MAX;
	for (size_t i = 0; i < part->n; i++) {
		size_t at = c->chosen ? index_of(c, queue[i]) : 0;

		part->in[i] = take(c, queue[i], part, i, taken, each);
		if (c->chosen)
			c->chosen[at] = part->in[i];
	}
	free(taken);
}

void core_part_choose(struct core *core, const struct live_job *const *queue, size_t n, size_t most,
	uint32_t keep, struct core_part *out)
{
	struct choice choice = { .core = core, .keep = keep ? core_find(core, keep) : NULL };
	struct kinds kinds = { .nslots = 16 };

	*out = (struct core_part){ .n = n };
	out->in = mem_alloc(mem_array_size(n + 1, sizeof(*out->in)));
	out->kind = mem_alloc(mem_array_size(n + 1, sizeof(*out->kind)));
	while (kinds.nslots < 2 * n)
		kinds.nslots *= 2;
	kinds.slots = mem_alloc(mem_array_size(kinds.nslots, sizeof(*kinds.slots)));
	for (int grain = 0; grain < GRAINS; grain++) {
		sort_out(core, queue, out, (enum grain)grain, &kinds);
		if (kinds.hashes.n <= most)
			break;
	}
	out->nkinds = (uint32_t)kinds.hashes.n;
	choose(&choice, queue, out, room_of_each(&kinds, most));
	free(choice.waits);
	free(choice.chosen);
	vec_fini(&kinds.hashes);
	vec_fini(&kinds.njobs);
	free(kinds.slots);
}

void core_part_fini(struct core_part *part)
{
	free(part->in);
	free(part->last);
	free(part->kind);
	*part = (struct core_part){ 0 };
}
