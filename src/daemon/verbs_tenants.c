/*
 * Tenants: their weights, what they have and what they have used.
 */
#include <math.h>
#include <string.h>

#include "daemon/verbs_run.h"

struct use {
	const char *name;
	uint32_t running, pending, gpus;
	double used_gpu_s;
};

struct uses {
	VEC(struct use) at;
	struct arena names;
};

/* How far back use is counted, and of how many ended jobs at most. */
enum { USE_DAYS = 7, USE_JOBS = 20000 };

static struct use *use_of(struct uses *uses, const char *name)
{
	for (size_t i = 0; i < uses->at.n; i++) {
		if (!strcmp(uses->at.at[i].name, name))
			return &uses->at.at[i];
	}
	vec_push(&uses->at, (struct use){ .name = arena_strdup(&uses->names, name) });
	return &uses->at.at[uses->at.n - 1];
}

static int see_use(void *ctx, const struct record_job *row)
{
	json_t *status = json_loads(row->status, 0, NULL);

	use_of(ctx, row->tenant ? row->tenant : "")->used_gpu_s += member_number(status, "served_s", 0);
	json_decref(status);
	return 0;
}

static void count_ended(struct daemon *d, struct uses *uses)
{
	struct record_filter filter = {
		.uid = UINT32_MAX,
		.limit = USE_JOBS,
		.ended_since_s = daemon_now_s(d) - USE_DAYS * 86400.0,
	};
	struct err ignored = { 0 };

	record_ended_jobs(d->record, &filter, see_use, uses, &ignored);
}

static void count_uses(struct daemon *d, struct uses *uses)
{
	const struct tenants *stated = core_tenants(d->core);
	double now_s = daemon_now_s(d);
	size_t n;
	const struct live_job *const *jobs = core_jobs(d->core, &n);

	for (uint32_t i = 0; i < stated->n; i++)
		use_of(uses, stated->at[i].name);
	for (size_t i = 0; i < n; i++) {
		const struct job *seen = core_engine_job(d->core, jobs[i]);
		struct use *use = use_of(uses, jobs[i]->tenant ? jobs[i]->tenant : "");

		use->running += jobs[i]->state != LIVE_PENDING;
		use->pending += jobs[i]->state == LIVE_PENDING;
		use->gpus += seen->grant ? seen->grant->gpus : 0;
		use->used_gpu_s += job_served_s(seen, now_s);
	}
}

static double weight_of(const struct daemon *d, const char *name)
{
	const struct tenants *stated = core_tenants(d->core);
	uint32_t i = stated->n ? tenants_find(stated, name, strlen(name)) : TENANT_NONE;

	return i == TENANT_NONE ? 1 : stated->at[i].weight;
}

static void answer_quota(struct daemon *d, struct call *call, const char *only)
{
	struct uses uses = { 0 };
	double weights = 0;
	struct json j;

	count_uses(d, &uses);
	count_ended(d, &uses);
	for (size_t i = 0; i < uses.at.n; i++)
		weights += weight_of(d, uses.at.at[i].name);
	call_begin(call, &j);
	json_str(&j, "policy", core_rules(d->core)->policy);
	json_int(&j, "devices", d->epoch.cluster.devices);
	json_int(&j, "use_days", USE_DAYS);
	json_begin_array(&j, "tenants");
	for (size_t i = 0; i < uses.at.n; i++) {
		const struct use *use = &uses.at.at[i];

		if (only && strcmp(only, use->name) != 0)
			continue;
		json_begin_object(&j, NULL);
		json_str(&j, "name", use->name);
		json_double(&j, "weight", weight_of(d, use->name));
		json_double(&j, "share", weight_of(d, use->name) / weights);
		json_int(&j, "running", use->running);
		json_int(&j, "pending", use->pending);
		json_int(&j, "running_gpus", use->gpus);
		json_double(&j, "used_gpu_s", use->used_gpu_s);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_end(&j, '}');
	vec_fini(&uses.at);
	arena_fini(&uses.names);
}

void verb_quota(struct daemon *d, struct call *call)
{
	answer_quota(d, call, member_text(call->args, "tenant"));
}

/* Everybody who has jobs is in the table from then on. */
static void state_tenants(struct daemon *d)
{
	size_t n;
	const struct live_job *const *jobs = core_jobs(d->core, &n);

	for (size_t i = 0; i < n; i++) {
		if (jobs[i]->tenant)
			tenants_add(&d->epoch.tenants, jobs[i]->tenant, strlen(jobs[i]->tenant));
	}
}

void verb_set_quota(struct daemon *d, struct call *call)
{
	const char *tenant = member_text(call->args, "tenant");
	double weight = member_number(call->args, "weight", NAN);
	struct tenants before;
	struct err err = { 0 };
	uint32_t i;

	if (!tenant || !*tenant) {
		call_problem(call, 400, 2, "tenant: a name is needed");
		return;
	}
	if (!(weight >= TENANT_WEIGHT_MIN && weight <= TENANT_WEIGHT_MAX)) {
		call_problem(call, 400, 2, "weight: a number from %g to %g is needed",
			TENANT_WEIGHT_MIN, TENANT_WEIGHT_MAX);
		return;
	}
	tenants_copy(&d->epoch.tenants, &before);
	state_tenants(d);
	tenants_add(&d->epoch.tenants, tenant, strlen(tenant));
	i = tenants_find(&d->epoch.tenants, tenant, strlen(tenant));
	d->epoch.tenants.at[i].weight = weight;
	if (daemon_new_epoch(d, "tenants", &err) == 0) {
		tenants_fini(&before);
		answer_quota(d, call, NULL);
	} else {
		tenants_fini(&d->epoch.tenants);
		d->epoch.tenants = before;
		call_fail(call, err.code, err.text);
	}
}
