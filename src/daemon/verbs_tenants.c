/*
 * Tenants: their weights, what they have and what they have used.
 */
#include <math.h>
#include <string.h>

#include "base/scan.h"
#include "daemon/library.h"
#include "daemon/verbs_run.h"

struct uses {
	VEC(struct desk_use) at;
	struct arena *names;
};

/* How far back use is counted, and of how many ended jobs at most. */
enum { USE_DAYS = 7, USE_JOBS = 20000 };

static struct desk_use *use_of(struct uses *uses, const char *name)
{
	for (size_t i = 0; i < uses->at.n; i++) {
		if (!strcmp(uses->at.at[i].name, name))
			return &uses->at.at[i];
	}
	vec_push(&uses->at, (struct desk_use){ .name = arena_strdup(uses->names, name) });
	return &uses->at.at[uses->at.n - 1];
}

static int see_use(void *ctx, const struct record_job *row)
{
	struct scan s = scan_of(slice_of(row->status));
	struct slice key, value;
	double served_s = 0;

	while (scan_member(&s, &key, &value)) {
		if (scan_is(key, "served_s"))
			slice_double(value, &served_s);
	}
	use_of(ctx, row->tenant ? row->tenant : "")->used_gpu_s += served_s;
	return 0;
}

static void count_ended(struct record *record, double now_s, struct uses *uses)
{
	struct record_filter filter = {
		.uid = UINT32_MAX,
		.limit = USE_JOBS,
		.ended_since_s = now_s - USE_DAYS * 86400.0,
	};
	struct err ignored = { 0 };

	record_ended_jobs(record, &filter, see_use, uses, &ignored);
}

/* Of live jobs, onto the desk. */
static void count_live(struct daemon *d, struct desk *desk)
{
	const struct tenants *stated = core_tenants(d->core);
	struct uses uses = { .names = &desk->words };
	size_t n;
	const struct live_job *const *jobs = core_jobs(d->core, &n);

	for (uint32_t i = 0; i < stated->n; i++)
		use_of(&uses, stated->at[i].name);
	for (size_t i = 0; i < n; i++) {
		const struct job *seen = core_engine_job(d->core, jobs[i]);
		struct desk_use *use = use_of(&uses, jobs[i]->tenant ? jobs[i]->tenant : "");

		use->running += jobs[i]->state != LIVE_PENDING;
		use->pending += jobs[i]->state == LIVE_PENDING;
		use->gpus += seen->grant ? seen->grant->gpus : 0;
		use->used_gpu_s += job_served_s(seen, desk->now_s);
	}
	desk->nuses = uses.at.n;
	desk->uses = arena_array(&desk->words, struct desk_use, uses.at.n + 1);
	if (uses.at.n)
		memcpy(desk->uses, uses.at.at, uses.at.n * sizeof(*desk->uses));
	vec_fini(&uses.at);
}

static double weight_of(const struct desk *desk, const char *name)
{
	for (uint32_t i = 0; i < desk->ntenants; i++) {
		if (!strcmp(desk->tenants[i].name, name))
			return desk->tenants[i].weight;
	}
	return 1;
}

static void put_uses(const struct desk *desk, const struct uses *uses, const char *only, struct json *j)
{
	double weights = 0;

	for (size_t i = 0; i < uses->at.n; i++)
		weights += weight_of(desk, uses->at.at[i].name);
	json_begin_array(j, "tenants");
	for (size_t i = 0; i < uses->at.n; i++) {
		const struct desk_use *use = &uses->at.at[i];

		if (only && strcmp(only, use->name) != 0)
			continue;
		json_begin_object(j, NULL);
		json_str(j, "name", use->name);
		json_double(j, "weight", weight_of(desk, use->name));
		json_double(j, "share", weight_of(desk, use->name) / weights);
		json_int(j, "running", use->running);
		json_int(j, "pending", use->pending);
		json_int(j, "running_gpus", use->gpus);
		json_double(j, "used_gpu_s", use->used_gpu_s);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void answer_quota(struct record *record, const struct desk *desk, struct call *call,
	const char *only)
{
	struct arena names = { 0 };
	struct uses uses = { .names = &names };
	struct json j;

	for (size_t i = 0; i < desk->nuses; i++)
		vec_push(&uses.at, desk->uses[i]);
	count_ended(record, desk->now_s, &uses);
	call_begin(call, &j);
	json_str(&j, "policy", desk->policy);
	json_int(&j, "devices", desk->ndevices);
	json_int(&j, "use_days", USE_DAYS);
	put_uses(desk, &uses, only, &j);
	json_end(&j, '}');
	vec_fini(&uses.at);
	arena_fini(&names);
}

static void read_quota(struct record *record, const struct desk *desk, struct call *call)
{
	answer_quota(record, desk, call, member_text(call->args, "tenant"));
}

void verb_quota(struct daemon *d, struct call *call)
{
	library_ask(d, call, read_quota);
	count_live(d, call->desk);
}

/* After a change, which is answered by the loop once it is durable. */
static void answer_changed(struct daemon *d, struct call *call)
{
	struct desk *desk = desk_create(d);

	count_live(d, desk);
	answer_quota(d->record, desk, call, NULL);
	desk_destroy(desk);
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
		answer_changed(d, call);
	} else {
		tenants_fini(&d->epoch.tenants);
		d->epoch.tenants = before;
		call_fail(call, err.code, err.text);
	}
}
