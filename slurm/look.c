/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the cluster is: the controller, partitions and nodes.
 */
#include <string.h>
#include <unistd.h>

#include "bridge.h"

/* The last part of a plugin's name: "jobcomp/filetxt" is "filetxt". */
static json_t *plugin(const char *name)
{
	const char *slash = name ? strrchr(name, '/') : NULL;

	return reply_text(slash ? slash + 1 : name && *name ? name : "none");
}

static void put_conf(json_t *answer, const slurm_conf_t *conf)
{
	uid_t uid = getuid();

	put(answer, "protocol", json_integer(BRIDGE_PROTOCOL));
	put(answer, "slurm", reply_text(conf->version));
	put(answer, "cluster", reply_text(conf->cluster_name));
	put(answer, "uid", json_integer(uid));
	put(answer, "operator", json_boolean(uid == 0 || uid == conf->slurm_user_id));
	put(answer, "kill_wait_s", json_integer(conf->kill_wait));
	put(answer, "min_job_age_s", json_integer(conf->min_job_age));
	put(answer, "accounting", plugin(conf->accounting_storage_type));
	put(answer, "jobcomp", plugin(conf->job_comp_type));
	put(answer, "jobcomp_loc", reply_text(conf->job_comp_loc));
}

bool look_hello(const json_t *request, json_t *answer, struct failure *f)
{
	slurm_conf_t *conf = NULL;
	long long protocol = number_of(request, "protocol", BRIDGE_PROTOCOL);

	if (protocol != BRIDGE_PROTOCOL)
		return fail(f, "protocol", 0, "this bridge speaks protocol %d, not %lld",
			BRIDGE_PROTOCOL, protocol);
	if (!controller_ready(f) || !controller_result(slurm_load_ctl_conf(0, &conf), f))
		return false;
	put_conf(answer, conf);
	slurm_free_ctl_conf(conf);
	return true;
}

bool look_ping(const json_t *request, json_t *answer, struct failure *f)
{
	(void)request;
	(void)answer;
	/* Being ready may have asked already; what counts is now. */
	return controller_ready(f) && controller_ping(f);
}

/* ---- partitions */

static json_t *names_in(const char *hosts)
{
	json_t *names = json_array();
	hostlist_t list = slurm_hostlist_create(hosts ? hosts : "");
	char *name;

	while (list && (name = slurm_hostlist_shift(list))) {
		json_array_append_new(names, reply_text(name));
		free(name);
	}
	if (list)
		slurm_hostlist_destroy(list);
	return names;
}

static json_t *partition_json(const partition_info_t *p)
{
	json_t *o = json_object();

	put(o, "name", reply_text(p->name));
	put(o, "up", json_boolean(p->state_up == PARTITION_UP));
	put(o, "nodes", names_in(p->nodes));
	put(o, "default", json_boolean(p->flags & PART_FLAG_DEFAULT));
	return o;
}

bool look_partitions(const json_t *request, json_t *answer, struct failure *f)
{
	partition_info_msg_t *found = NULL;
	json_t *list;

	(void)request;
	if (!controller_ready(f) || !controller_result(slurm_load_partitions(0, &found, SHOW_ALL), f))
		return false;
	list = json_array();
	for (uint32_t i = 0; i < found->record_count; i++)
		json_array_append_new(list, partition_json(&found->partition_array[i]));
	put(answer, "partitions", list);
	slurm_free_partition_info_msg(found);
	return true;
}

/* ---- nodes */

/* With any of these nothing new is started. */
#define NODE_UNUSABLE \
	(NODE_STATE_DRAIN | NODE_STATE_FAIL | NODE_STATE_NO_RESPOND | NODE_STATE_MAINT | \
		NODE_STATE_RES | NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_DOWN | \
		NODE_STATE_POWER_DOWN | NODE_STATE_POWERING_UP | NODE_STATE_REBOOT_REQUESTED | \
		NODE_STATE_REBOOT_ISSUED | NODE_STATE_INVALID_REG | NODE_STATE_POWER_DRAIN)

static const char *node_state(uint32_t state)
{
	static const char *const names[] = {
		[NODE_STATE_UNKNOWN] = "UNKNOWN",
		[NODE_STATE_DOWN] = "DOWN",
		[NODE_STATE_IDLE] = "IDLE",
		[NODE_STATE_ALLOCATED] = "ALLOCATED",
		[NODE_STATE_ERROR] = "ERROR",
		[NODE_STATE_MIXED] = "MIXED",
		[NODE_STATE_FUTURE] = "FUTURE",
	};

	state &= NODE_STATE_BASE;
	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "UNKNOWN";
}

static bool node_usable(uint32_t state)
{
	uint32_t base = state & NODE_STATE_BASE;

	return (base == NODE_STATE_IDLE || base == NODE_STATE_ALLOCATED || base == NODE_STATE_MIXED) &&
		!(state & NODE_UNUSABLE);
}

static json_t *gpus_json(const char *gres)
{
	json_t *list = json_array();
	struct gpus gpus;
	const char *next;

	for (; gres && *gres; gres = next) {
		if (!gres_next(gres, &gpus, &next) || !gpus.count)
			continue;
		json_t *o = json_object();
		put(o, "type", reply_text(gpus.type));
		put(o, "count", json_integer(gpus.count));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *node_json(const node_info_t *n)
{
	json_t *o = json_object();

	put(o, "name", reply_text(n->name));
	put(o, "state", json_string(node_state(n->node_state)));
	put(o, "usable", json_boolean(node_usable(n->node_state)));
	put(o, "drained", json_boolean(n->node_state & NODE_STATE_DRAIN));
	put(o, "reason", reply_text(n->reason));
	put(o, "cpus", json_integer(n->cpus));
	put(o, "mem_mb", json_integer((json_int_t)n->real_memory));
	put(o, "gpus", gpus_json(n->gres));
	put(o, "used", json_integer(gres_sum(n->gres_used).count));
	put(o, "features", reply_text(n->features_act ? n->features_act : n->features));
	put(o, "addr", reply_text(n->node_addr));
	return o;
}

bool look_nodes(const json_t *request, json_t *answer, struct failure *f)
{
	node_info_msg_t *found = NULL;
	long long since = number_of(request, "since", 0);
	json_t *list = json_array();

	if (!controller_ready(f)) {
		json_decref(list);
		return false;
	}
	if (!controller_result(
		    slurm_load_node((time_t)since, &found, SHOW_ALL | SHOW_DETAIL | SHOW_MIXED), f)) {
		if (f->code != SLURM_NO_CHANGE_IN_DATA) {
			json_decref(list);
			return false;
		}
		*f = (struct failure){ 0 };
	}
	for (uint32_t i = 0; found && i < found->record_count; i++) {
		if (found->node_array[i].name)
			json_array_append_new(list, node_json(&found->node_array[i]));
	}
	put(answer, "stamp", json_integer(found ? (json_int_t)found->last_update : since));
	put(answer, "changed", json_boolean(found));
	put(answer, "nodes", list);
	if (found)
		slurm_free_node_info_msg(found);
	return true;
}
