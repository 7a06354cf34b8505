/*
 * One reservation for each decision, by the limits of jobs.
 */
#include "policy/fair/kept.h"

void kept_init(struct kept *kept, const struct round *round)
{
	*kept = (struct kept){ .round = round, .job = JOB_NONE };
}

static uint32_t need_on(const struct job *job, uint32_t type, uint32_t least)
{
	return least ? least : job_gpus_on(job, type);
}

/*
 * The types on which it waits for devices to come free, the fastest first; none if there are enough of one already: they lie apart
 * then, or something else is short, and keeping more need not help.
 */
static uint32_t short_types(const struct kept *k, const struct plan *plan, const struct job *job,
	uint32_t least, uint32_t types[TYPES_MAX])
{
	uint32_t n = kit_types(k->round, job, types), kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t need = need_on(job, types[i], least);

		if (plan_free(plan, types[i]) >= need)
			return 0;
		if (plan->space.types[types[i]].up >= need)
			types[kept++] = types[i];
	}
	return kept;
}

/* The type on which limits give it devices first, and when; INFINITY: nothing is known. */
static double first_by_limits(const struct kept *k, const struct job *job, uint32_t least,
	const uint32_t *types, uint32_t n, uint32_t *type)
{
	double first_s = INFINITY;

	for (uint32_t i = 0; i < n; i++) {
		double at_s = outlook_when(&k->outlook, types[i], need_on(job, types[i], least),
			stays_by_limit(k->round, job, types[i]));

		if (at_s < first_s) {
			first_s = at_s;
			*type = types[i];
		}
	}
	return first_s;
}

void kept_for(struct kept *k, const struct plan *plan, const struct job *job, uint32_t least, bool looks)
{
	uint32_t types[TYPES_MAX];
	uint32_t n = short_types(k, plan, job, least, types);
	double at_s = INFINITY;

	if (n == 0)
		return;
	k->job = job->id;
	k->type = types[0];
	if (looks) {
		outlook_make(&k->outlook, k->round, plan, stays_by_limit);
		at_s = first_by_limits(k, job, least, types, n, &k->type);
	}
	k->known = isfinite(at_s);
	if (k->known)
		outlook_take_for(&k->outlook, k->type, need_on(job, k->type, least), at_s,
			stays_by_limit(k->round, job, k->type));
}

/* Jobs that run go on as they are; others must not be in the way. */
static bool may_run(const void *self, const struct job *job, uint32_t type, uint32_t gpus)
{
	const struct kept *k = self;

	if (type != k->type || (job->grant && job->grant->type == type && gpus <= job->grant->gpus))
		return true;
	return k->known &&
		outlook_when(&k->outlook, type, gpus, stays_by_limit(k->round, job, type)) <=
		k->round->now_s;
}

bool kept_run_on(struct kept *k, struct plan *plan, const struct job *job, uint32_t gpus)
{
	const struct grant *grant;

	if (k->job == JOB_NONE)
		return kit_run_on(k->round, plan, job, gpus);
	if (!kit_run_where(k->round, plan, job, gpus, may_run, k))
		return false;
	grant = plan_grant(plan, job->id);
	if (k->known && !job->grant && grant->type == k->type)
		outlook_take_for(&k->outlook, k->type, grant->gpus, k->round->now_s,
			stays_by_limit(k->round, job, k->type));
	return true;
}

bool kept_from(const struct kept *k, const struct plan *plan, const struct job *job, uint32_t least)
{
	return k->job != JOB_NONE && k->job != job->id && !job->grant && job_may_use(job, k->type) &&
		plan_free(plan, k->type) >= need_on(job, k->type, least);
}
