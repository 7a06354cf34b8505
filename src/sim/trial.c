/*
 * A changed copy of a snapshot, one decision forward.
 */
#include "sim/trial.h"

#include <math.h>
#include <stdlib.h>

#include "engine/rules.h"
#include "model/quota.h"

#define ENDLESS 1e18 /* steps: no job ends before the decision, by its time limit neither */

/* When the policy decides next: now, or at its next round. */
static int next_decision(const struct snapshot *s, double *at_s, struct err *err)
{
	struct rule_specs rules = { s->policy, s->placer, s->admit };
	struct engine_config config = { .cluster = &s->cluster };
	int rc = rules_choose(&rules, &config, err);

	*at_s = s->now_s;
	if (rc == 0 && config.policy.rule->period_s) {
		double period_s = config.policy.rule->period_s(config.policy.state);

		if (period_s > 0)
			*at_s = fmax(s->now_s, ceil(s->now_s / period_s - 1e-9) * period_s);
	}
	rules_release(&config);
	return rc;
}

int trial_init(struct trial *t, const struct snapshot *from, uint32_t job, struct err *err)
{
	size_t n = from->jobs.n;

	*t = (struct trial){ .from = from, .job = job };
	t->view = *from;
	t->view.jobs.at = mem_alloc(mem_array_size(n + 1, sizeof(*from->jobs.at)));
	t->work = mem_alloc(mem_array_size(n + 1, sizeof(*t->work)));
	t->out = mem_alloc(mem_array_size(n + 1, sizeof(*t->out)));
	trial_reset(t);
	return next_decision(from, &t->until_s, err);
}

void trial_fini(struct trial *t)
{
	free(t->view.jobs.at);
	free(t->work);
	free(t->out);
	names_fini(&t->names);
	tenants_fini(&t->tenants);
	*t = (struct trial){ 0 };
}

void trial_reset(struct trial *t)
{
	struct snapshot_job *jobs = t->view.jobs.at;

	t->view = *t->from;
	t->view.jobs.at = jobs;
	if (t->from->jobs.n)
		memcpy(jobs, t->from->jobs.at, t->from->jobs.n * sizeof(*jobs));
	for (size_t i = 0; i < t->from->jobs.n; i++) {
		t->work[i] = ENDLESS;
		jobs[i].limit_s = INFINITY;
	}
}

struct job *trial_job(struct trial *t)
{
	return &t->view.jobs.at[t->job].job;
}

void trial_end(struct trial *t, uint32_t other)
{
	struct job *job = &t->view.jobs.at[other].job;

	t->work[other] = 0;
	job->ready_s = fmin(job->ready_s, t->from->now_s);
}

void trial_remove(struct trial *t, uint32_t other)
{
	struct snapshot_job *one = &t->view.jobs.at[other];

	one->keeps_followers = true;
	if (other >= t->from->nrunning)
		one->opens_s = INFINITY;
	else
		trial_end(t, other);
}

/* ---- quotas */

static const char *tenant_name(const struct trial *t)
{
	const struct names *names = &t->from->tenant_names;
	uint32_t tenant = t->from->jobs.at[t->job].job.tenant;

	return tenant < names->n ? names->at[tenant] : NULL;
}

const struct tenant *trial_tenant(const struct trial *t)
{
	const char *name = tenant_name(t);
	uint32_t i = name ? tenants_find(&t->from->tenants, name, strlen(name)) : TENANT_NONE;

	return i == TENANT_NONE ? NULL : &t->from->tenants.at[i];
}

/* With the cells of tenants, where the placer keeps some. */
static bool could_be_kept(const struct trial *t)
{
	struct rule_specs specs = { .policy = t->from->policy, .placer = t->from->placer };
	struct engine_config rules = { 0 };
	struct cell_design cells = { 0 };
	struct err ignored;
	bool kept = rules_choose(&specs, &rules, &ignored) == 0;

	if (kept && placer_keeps_cells(rules.placer.rule))
		kept = cell_design_of(&t->from->cluster, &t->tenants, &cells, &ignored) == 0;
	rules_release(&rules);
	kept = kept && quota_check_with_cells(&t->tenants, &t->from->cluster, &cells, &ignored) == 0;
	cell_design_fini(&cells);
	return kept;
}

bool trial_promise(struct trial *t, uint32_t guaranteed, uint32_t borrow)
{
	const char *name = tenant_name(t);
	uint32_t i;

	if (!name)
		return false;
	tenants_fini(&t->tenants);
	tenants_copy(&t->from->tenants, &t->tenants);
	tenants_add(&t->tenants, name, strlen(name));
	i = tenants_find(&t->tenants, name, strlen(name));
	if (guaranteed != QUOTA_ALL)
		tenants_promise(&t->tenants, i, guaranteed);
	if (borrow != QUOTA_ALL)
		t->tenants.at[i].borrow = borrow;
	if (!could_be_kept(t))
		return false;
	t->view.tenants = t->tenants;
	return true;
}

static bool keeps_quotas(const struct snapshot *s)
{
	return s->admit && !strncmp(s->admit, "quota", 5) && (!s->admit[5] || s->admit[5] == ':');
}

/* ---- constraints */

static bool has_company(const struct trial *t)
{
	uint32_t tenant = t->from->jobs.at[t->job].job.tenant;

	for (size_t i = 0; i < t->from->jobs.n; i++) {
		if (i != t->job && t->from->jobs.at[i].job.tenant == tenant)
			return true;
	}
	return false;
}

static int32_t top_priority(const struct trial *t)
{
	int32_t top = INT32_MIN;

	for (size_t i = 0; i < t->from->jobs.n; i++) {
		if (i != t->job && t->from->jobs.at[i].job.priority > top)
			top = t->from->jobs.at[i].job.priority;
	}
	return top;
}

static bool others_wait(const struct trial *t)
{
	return t->from->jobs.n - t->from->nrunning > 1;
}

bool trial_may_add_type(const struct trial *t, uint32_t type)
{
	return !job_may_use(&t->from->jobs.at[t->job].job, type) &&
		(!t->types || t->types >> type & 1);
}

static bool may_add_types(const struct trial *t)
{
	for (uint32_t type = 0; type < t->from->cluster.ntypes; type++) {
		if (trial_may_add_type(t, type))
			return true;
	}
	return false;
}

bool trial_applies(const struct trial *t, enum constraint c)
{
	const struct snapshot *s = t->from;
	const struct snapshot_job *one = &s->jobs.at[t->job];
	const struct job *job = &one->job;

	switch (c) {
	case BY_HOLD:
		return isinf(one->opens_s) && one->opens_s > 0;
	case BY_BEGIN:
		return isfinite(one->opens_s) && one->opens_s > s->now_s;
	case BY_DEPENDENCY:
		return one->nafter > 0;
	case BY_ADMISSION:
		return s->admit && strcmp(s->admit, PRESET_ADMIT) != 0 && !keeps_quotas(s);
	case BY_QUOTA:
		return keeps_quotas(s);
	case BY_DOWN:
		return s->down.n > 0;
	case BY_DRAINED:
		return s->drained.n > 0;
	case BY_AVOID:
		return job->navoid > 0;
	case BY_HOST:
		return job->cpus > 0 || job->mem_bytes > 0;
	case BY_TYPES:
		return may_add_types(t);
	case BY_DEADLINE:
		return isfinite(job->deadline_s);
	case BY_SHARE:
		return has_company(t);
	case BY_PRIORITY:
		return s->jobs.n > 1 && job->priority <= top_priority(t) && top_priority(t) < INT32_MAX;
	case BY_LENGTH:
		return job_run_s(job) > 1 && job->work_est - job->done > job->nominal_rate;
	case BY_SIZE:
		return job->gpus > 1 || job->max_gpus > 1;
	case BY_QUEUE:
		return others_wait(t);
	case BY_BUSY:
		return s->nrunning > 0;
	default:
		return false;
	}
}

/* Of a tenant that nobody else is of. */
static void to_new_tenant(struct trial *t)
{
	const struct names *have = &t->from->tenant_names;
	static const char alone[] = "\001alone";

	if (!t->names.n) {
		names_copy(have, &t->names);
		names_add(&t->names, alone, sizeof(alone) - 1);
	}
	t->view.tenant_names = t->names;
	trial_job(t)->tenant = t->names.n - 1;
}

static void remove_others(struct trial *t, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		if (i != t->job)
			trial_remove(t, i);
	}
}

void trial_lift(struct trial *t, enum constraint c)
{
	struct snapshot_job *one = &t->view.jobs.at[t->job];
	struct job *job = &one->job;

	switch (c) {
	case BY_HOLD:
	case BY_BEGIN:
		one->opens_s = -INFINITY;
		break;
	case BY_DEPENDENCY:
		one->nafter = 0;
		break;
	case BY_ADMISSION:
	case BY_QUOTA:
		t->view.admit = NULL;
		break;
	case BY_DOWN:
		t->view.down.n = 0;
		break;
	case BY_DRAINED:
		t->view.drained.n = 0;
		break;
	case BY_AVOID:
		job->navoid = 0;
		break;
	case BY_HOST:
		job->cpus = 0;
		job->mem_bytes = 0;
		break;
	case BY_TYPES:
		job->types = t->types;
		break;
	case BY_DEADLINE:
		job->deadline_s = INFINITY;
		break;
	case BY_SHARE:
		to_new_tenant(t);
		break;
	case BY_PRIORITY:
		job->priority = top_priority(t) + 1;
		break;
	case BY_LENGTH:
		job->work_est = job->done + job->nominal_rate;
		break;
	case BY_SIZE:
		job->gpus = job->min_gpus = job->max_gpus = 1;
		job->gpus_by_type = NULL;
		break;
	case BY_QUEUE:
		remove_others(t, t->from->nrunning, (uint32_t)t->from->jobs.n);
		break;
	case BY_BUSY:
		remove_others(t, 0, t->from->nrunning);
		break;
	default:
		break;
	}
}

int trial_run(struct trial *t, struct err *err)
{
	struct future_config config = {
		.from = &t->view,
		.work = t->work,
		.until_s = t->until_s,
		.seed = t->from->seed,
	};

	t->tries++;
	if (future_run(&config, t->out, err) < 0)
		return err->code;
	return t->out[t->job].start_s <= t->until_s;
}
