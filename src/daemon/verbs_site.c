/*
 * The machine and who has it, and the rules that decide.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "daemon/verbs_run.h"
#include "io/cluster_io.h"

/* ---- nodes */

static bool holds(const struct attempt *a, uint32_t node, uint32_t device)
{
	for (uint32_t i = 0; i < a->grant->nslots; i++) {
		if (a->grant->slots[i].node == node && a->grant->slots[i].devices >> device & 1)
			return true;
	}
	return false;
}

static bool has_it(const struct attempt *a, uint32_t node, uint32_t device)
{
	return a->phase != PHASE_OVER && a->phase != PHASE_WAITING && holds(a, node, device);
}

static bool is_idle(const struct daemon *d, uint32_t id)
{
	const struct live_job *job = core_job(d->core, id);
	struct idle_state state;

	return job && daemon_is_idle(d, job, d->last_s, &state);
}

static void put_health(const struct daemon *d, uint32_t node, uint32_t device, struct json *j)
{
	const struct health_device *h = health_find(core_health(d->core), node, device);

	if (h && h->drained) {
		json_bool(j, "drained", true);
		json_str(j, "reason", h->drained);
		json_bool(j, "drained_by_itself", h->by_itself);
		json_double(j, "drained_since", daemon_wall_s(d, h->since_s));
	}
	if (!h || !h->failed.n)
		return;
	json_begin_array(j, "failed_jobs");
	for (size_t i = 0; i < h->failed.n; i++)
		json_int(j, NULL, h->failed.at[i].job);
	json_end(j, ']');
}

/* Of those that have the device, whoever has only what the others leave. */
static void put_guests(const struct daemon *d, uint32_t node, uint32_t device, struct json *j)
{
	size_t n;
	const struct attempt *const *attempts = core_attempts(d->core, &n);
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (!has_it(attempts[i], node, device) || !daemon_is_guest(d, attempts[i]->job))
			continue;
		if (!any)
			json_begin_array(j, "guests");
		any = true;
		json_int(j, NULL, attempts[i]->job);
	}
	if (any)
		json_end(j, ']');
}

/* What people call the jobs of "jobs", in the same order: elements of arrays have other names than numbers. */
static void put_names(struct daemon *d, uint32_t node, uint32_t device, struct json *j)
{
	size_t n;
	const struct attempt *const *attempts = core_attempts(d->core, &n);
	char name[LIVE_NAME_SIZE];

	json_begin_array(j, "job_names");
	for (size_t i = 0; i < n; i++) {
		const struct live_job *job = core_job(d->core, attempts[i]->job);

		if (!has_it(attempts[i], node, device))
			continue;
		if (job)
			live_name(job, name);
		else
			snprintf(name, sizeof(name), "%u", attempts[i]->job);
		json_str(j, NULL, name);
	}
	json_end(j, ']');
}

static void put_device(struct daemon *d, uint32_t node, uint32_t device, struct json *j)
{
	const struct machine_device *m =
		&d->machine.devices[d->device_of[node * NODE_DEVICES_MAX + device]];
	size_t n;
	const struct attempt *const *attempts = core_attempts(d->core, &n);
	bool idle = false;

	json_begin_object(j, NULL);
	json_int(j, "index", m->index);
	json_str(j, "uuid", m->uuid);
	json_str(j, "type", m->type);
	json_str(j, "title", m->title);
	json_int(j, "mem_bytes", m->mem_bytes);
	json_bool(j, "up", m->up);
	if (!m->up && m->why[0])
		json_str(j, "why", m->why);
	put_health(d, node, device, j);
	json_begin_array(j, "jobs");
	for (size_t i = 0; i < n; i++) {
		if (has_it(attempts[i], node, device)) {
			json_int(j, NULL, attempts[i]->job);
			idle |= is_idle(d, attempts[i]->job);
		}
	}
	json_end(j, ']');
	put_names(d, node, device, j);
	if (core_traits(d->core) & POLICY_SHARES)
		put_guests(d, node, device, j);
	if (idle)
		json_bool(j, "idle", true);
	json_end(j, '}');
}

/* What most of its devices would say if asked how they are. */
static const char *state_of(const struct daemon *d, uint32_t node)
{
	uint64_t drained = health_drained(core_health(d->core), node);

	return (uint32_t)__builtin_popcountll(drained) == d->epoch.cluster.nodes[node].devices
		? "drained"
		: "up";
}

/* How the machine is built; not where others run the jobs. */
static void put_host_shape(const struct daemon *d, struct json *j)
{
	struct host_shape shape = d->machine.shape;

	if (shape.cores == 0)
		return;
	json_begin_object(j, "host_shape");
	json_int(j, "sockets", shape.sockets);
	json_int(j, "numa_nodes", shape.numa_nodes);
	json_int(j, "cores", shape.cores);
	json_int(j, "threads", shape.threads);
	json_end(j, '}');
}

/* As YAML, with all its links: what simulations can be given. */
static void put_cluster(const struct cluster *cluster, struct json *j)
{
	struct buf yaml = { 0 };

	cluster_write_yaml(cluster, &yaml);
	json_str(j, "cluster", yaml.at);
	buf_fini(&yaml);
}

void verb_nodes(struct daemon *d, struct call *call)
{
	const struct cluster *cluster = &d->epoch.cluster;
	const char *type = member_text(call->args, "type");
	struct json j;

	call_begin(call, &j);
	json_str(&j, "host", d->machine.host);
	json_str(&j, "driver", d->machine.driver);
	json_str(&j, "cgroups", hands_kind(d->hands));
	if (d->degraded[0])
		json_str(&j, "degraded", d->degraded);
	json_int(&j, "cpus", d->machine.cpus);
	json_int(&j, "mem_bytes", d->machine.mem_bytes);
	put_host_shape(d, &j);
	put_cluster(cluster, &j);
	json_begin_array(&j, "nodes");
	for (uint32_t node = 0; node < cluster->nnodes; node++) {
		const struct node *n = &cluster->nodes[node];

		if (type && strcmp(type, cluster->types[n->type].name) != 0)
			continue;
		json_begin_object(&j, NULL);
		json_str(&j, "name", n->name);
		json_str(&j, "type", cluster->types[n->type].name);
		json_str(&j, "state", state_of(d, node));
		json_begin_array(&j, "devices");
		for (uint32_t i = 0; i < n->devices; i++)
			put_device(d, node, i, &j);
		json_end(&j, ']');
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_end(&j, '}');
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

	if (rc == 0)
		rc = rules_live(&trial, err);
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
		daemon_tell_promises(d);
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
