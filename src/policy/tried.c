/*
 * A small table by what is compared; two that fall on one place forget each other.
 */
#include "policy/tried.h"

#include "base/hash.h"
#include "policy/kit.h"

void tried_init(struct tried *tried, const struct round *round, struct plan *plan)
{
	const struct placer *placer = plan->placer;

	*tried = (struct tried){
		.round = round,
		.plan = plan,
		.useful = !placer->random && (!placer->particular || placer->by_tenant),
		.books = placer->took,
	};
}

/* What is in vain now is so as long as this stays. */
static uint64_t state_of(const struct tried *t)
{
	return t->books ? t->plan->stirred : t->changes;
}

/* Those that may have their own devices again, avoid some or differ by type are like nobody. */
static bool is_plain(const struct job *job)
{
	return !job->grant && !job->navoid && !job->gpus_by_type && !job->units;
}

static uint32_t types_of(const struct tried *t, const struct job *job)
{
	uint32_t types[TYPES_MAX], n = kit_types(t->round, job, types), bits = 0;

	for (uint32_t i = 0; i < n; i++)
		bits |= UINT32_C(1) << types[i];
	return bits;
}

static bool alike(const struct tried *t, const struct job *a, const struct job *b)
{
	return a->gpus == b->gpus && a->tenant == b->tenant && a->class_ == b->class_ &&
		a->nodes == b->nodes && a->cpus == b->cpus && a->mem_bytes == b->mem_bytes &&
		a->share == b->share && a->gpu_mem_bytes == b->gpu_mem_bytes &&
		(!t->plan->placer->by_model || a->model == b->model);
}

static struct tried_job *place_of(struct tried *t, const struct job *job, uint32_t types)
{
	uint64_t hash = hash_u64(types, (uint64_t)job->tenant << 32 | (uint32_t)job->gpus);

	return &t->at[hash % TRIED_PLACES];
}

bool tried_like(struct tried *t, const struct job *job)
{
	const struct tried_job *place;
	uint32_t types;

	if (!t->useful || !is_plain(job))
		return false;
	t->began = state_of(t);
	types = types_of(t, job);
	place = place_of(t, job, types);
	if (!place->job || place->as_of != t->began || place->types != types ||
		!alike(t, place->job, job))
		return false;
	t->plan->note = place->note;
	t->plan->refused = place->refused ? job->id : JOB_NONE;
	return true;
}

void tried_add(struct tried *t, const struct job *job)
{
	uint32_t types;

	if (!t->useful || !is_plain(job) || state_of(t) != t->began)
		return;
	types = types_of(t, job);
	*place_of(t, job, types) = (struct tried_job){
		.job = job,
		.types = types,
		.as_of = t->began,
		.refused = t->plan->refused == job->id,
		.note = t->plan->note,
	};
}

void tried_forget(struct tried *t)
{
	t->changes++;
}
