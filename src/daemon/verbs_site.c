/*
 * The machine, its tenants, its rules and its figures.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "daemon/verbs_run.h"

/* ---- nodes */

static bool holds(const struct attempt *a, uint32_t node, uint32_t device)
{
	for (uint32_t i = 0; i < a->grant->nslots; i++) {
		if (a->grant->slots[i].node == node && a->grant->slots[i].devices >> device & 1)
			return true;
	}
	return false;
}

static void put_device(struct daemon *d, uint32_t node, uint32_t device, struct json *j)
{
	const struct machine_device *m =
		&d->machine.devices[d->device_of[node * NODE_DEVICES_MAX + device]];
	size_t n;
	const struct attempt *const *attempts = core_attempts(d->core, &n);

	json_begin_object(j, NULL);
	json_int(j, "index", m->index);
	json_str(j, "uuid", m->uuid);
	json_str(j, "type", m->type);
	json_str(j, "title", m->title);
	json_int(j, "mem_bytes", m->mem_bytes);
	json_bool(j, "up", m->up);
	json_begin_array(j, "jobs");
	for (size_t i = 0; i < n; i++) {
		if (attempts[i]->phase != PHASE_OVER && attempts[i]->phase != PHASE_WAITING &&
			holds(attempts[i], node, device))
			json_int(j, NULL, attempts[i]->job);
	}
	json_end(j, ']');
	json_end(j, '}');
}

void verb_nodes(struct daemon *d, struct call *call)
{
	const struct cluster *cluster = &d->epoch.cluster;
	const char *type = member_text(call->args, "type");
	struct json j;

	call_begin(call, &j);
	json_str(&j, "host", d->machine.host);
	json_str(&j, "driver", d->machine.driver);
	json_str(&j, "cgroups", hands_cgroups(d->hands));
	json_int(&j, "cpus", d->machine.cpus);
	json_int(&j, "mem_bytes", d->machine.mem_bytes);
	json_begin_array(&j, "nodes");
	for (uint32_t node = 0; node < cluster->nnodes; node++) {
		const struct node *n = &cluster->nodes[node];

		if (type && strcmp(type, cluster->types[n->type].name) != 0)
			continue;
		json_begin_object(&j, NULL);
		json_str(&j, "name", n->name);
		json_str(&j, "type", cluster->types[n->type].name);
		json_str(&j, "state", "up");
		json_begin_array(&j, "devices");
		for (uint32_t i = 0; i < n->devices; i++)
			put_device(d, node, i, &j);
		json_end(&j, ']');
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_end(&j, '}');
}

/* ---- tenants */

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

/* ---- rules */

void verb_policy(struct daemon *d, struct call *call)
{
	const struct rule_specs *rules = core_rules(d->core);
	struct json j;

	call_begin(call, &j);
	json_str(&j, "policy", rules->policy);
	json_str(&j, "placer", rules->placer);
	json_str(&j, "admit", rules->admit);
	json_int(&j, "decisions", (int64_t)core_decisions(d->core));
	json_end(&j, '}');
}

/* Tried on their own before anything changes. */
static int try_rules(const struct rule_specs *rules, struct err *err)
{
	struct engine_config trial = { 0 };
	int rc = rules_choose(rules, &trial, err);

	rules_release(&trial);
	return rc;
}

static char *pick(const struct call *call, const char *key, const char *now)
{
	const char *said = member_text(call->args, key);

	return mem_strdup(said ? said : now);
}

void verb_set_policy(struct daemon *d, struct call *call)
{
	struct rule_specs before = d->epoch.rules,
			  next = {
				  .policy = pick(call, "policy", before.policy),
				  .placer = pick(call, "placer", before.placer),
				  .admit = pick(call, "admit", before.admit),
			  };
	struct err err = { 0 };
	bool changed = false;

	if (try_rules(&next, &err) == 0) {
		d->epoch.rules = next;
		changed = daemon_new_epoch(d, "policy", &err) == 0;
	}
	if (changed) {
		log_notice(d->log, "policy %s, placer %s, admission %s from now on", next.policy,
			next.placer, next.admit);
		next = before;
		verb_policy(d, call);
	} else {
		d->epoch.rules = before;
		call_fail(call, err.code, err.text);
	}
	free((char *)next.policy);
	free((char *)next.placer);
	free((char *)next.admit);
}

/* ---- figures */

struct figures {
	struct daemon *d;
	VEC(double) jct, wait;
	uint32_t finished, failed, cancelled, other, preemptions;
	double gpu_s, lost_s;
};

static int see_ended(void *ctx, const struct record_job *row)
{
	struct figures *f = ctx;
	json_t *status = json_loads(row->status, 0, NULL);
	double jct_s = row->end_s - row->arrival_s;
	bool fine = !strcmp(row->state, "COMPLETED");

	f->finished += fine;
	f->failed += !strcmp(row->state, "FAILED") || !strcmp(row->state, "TIMEOUT");
	f->cancelled += !strcmp(row->state, "CANCELLED");
	f->preemptions += (uint32_t)member_int(status, "preemptions", 0);
	f->gpu_s += member_number(status, "served_s", 0);
	f->lost_s += member_number(status, "lost_s", 0);
	if (fine) {
		vec_push(&f->jct, jct_s);
		vec_push(&f->wait, fmax(0, jct_s - member_number(status, "used_s", 0)));
	}
	json_decref(status);
	return 0;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double mean(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / (double)n : NAN;
}

static double quantile(const double *sorted, size_t n, double q)
{
	return n ? sorted[(size_t)fmin((double)n - 1, floor(q * (double)n))] : NAN;
}

void verb_report(struct daemon *d, struct call *call)
{
	double since_s = member_number(call->args, "since_s", 86400), now_s = daemon_now_s(d);
	struct record_filter filter = {
		.uid = UINT32_MAX,
		.limit = 1000000,
		.ended_since_s = fmax(0, now_s - since_s),
	};
	struct figures f = { .d = d };
	struct err err = { 0 };
	double span_s = fmin(since_s, now_s);
	size_t live;
	struct json j;

	if (record_ended_jobs(d->record, &filter, see_ended, &f, &err) < 0) {
		call_fail(call, err.code, err.text);
		return;
	}
	core_jobs(d->core, &live);
	if (f.jct.n) {
		qsort(f.jct.at, f.jct.n, sizeof(double), ascending);
		qsort(f.wait.at, f.wait.n, sizeof(double), ascending);
	}
	call_begin(call, &j);
	json_double(&j, "from", d->born_s + fmax(0, now_s - since_s));
	json_double(&j, "to", d->born_s + now_s);
	json_str(&j, "policy", core_rules(d->core)->policy);
	json_int(&j, "jobs_live", (int64_t)live);
	json_int(&j, "jobs_finished", f.finished);
	json_int(&j, "jobs_failed", f.failed);
	json_int(&j, "jobs_cancelled", f.cancelled);
	json_double(&j, "jct_mean_s", mean(f.jct.at, f.jct.n));
	json_double(&j, "jct_p50_s", quantile(f.jct.at, f.jct.n, 0.5));
	json_double(&j, "jct_p95_s", quantile(f.jct.at, f.jct.n, 0.95));
	json_double(&j, "wait_mean_s", mean(f.wait.at, f.wait.n));
	json_double(&j, "wait_p95_s", quantile(f.wait.at, f.wait.n, 0.95));
	json_int(&j, "preemptions", f.preemptions);
	json_double(&j, "served_gpu_s", f.gpu_s);
	json_double(&j, "lost_s", f.lost_s);
	json_double(&j, "utilisation",
		span_s > 0 ? f.gpu_s / (span_s * d->epoch.cluster.devices) : NAN);
	json_end(&j, '}');
	vec_fini(&f.jct);
	vec_fini(&f.wait);
}
