/*
 * The daemon is asked for its cluster; where none answers, devices are looked for as it would.
 */
#include "cli/at_hand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/setup.h"
#include "cli/ui.h"
#include "io/cluster_io.h"
#include "live/local/discover.h"

/* What a daemon would find here: GPUs, else CPU slots. */
static int find_here(struct at_hand *out, struct err *err)
{
	struct machine_options options = { .slots = 0 };
	struct machine machine;
	uint32_t *device_of;
	int rc = machine_discover(&options, &machine, err);

	if (rc == 0 && !machine.has_gpus) {
		machine_fini(&machine);
		options.slots = -1;
		rc = machine_discover(&options, &machine, err);
	}
	if (rc < 0)
		return rc;
	snprintf(out->host, sizeof(out->host), "%s", machine.host);
	out->shape = machine.shape;
	rc = machine_cluster(&machine, &out->cluster, &device_of, err);
	if (rc == 0)
		free(device_of);
	machine_fini(&machine);
	return rc;
}

static uint32_t number(const json_t *shape, const char *key)
{
	double n = live_number(shape, key);

	return n > 0 ? (uint32_t)n : 0;
}

static int ask_daemon(const struct args *args, struct at_hand *out, struct err *err)
{
	const json_t *shape;
	const char *yaml, *host;
	json_t *reply;
	int rc = live_get(args, "/v1/nodes", &reply, err);

	if (rc)
		return rc;
	yaml = live_text(reply, "cluster");
	host = live_text(reply, "host");
	shape = json_object_get(reply, "host_shape");
	if (!yaml)
		rc = err_set(err, ERR_FORMAT,
			"the daemon is older than this program and does not tell its links; restart it");
	else
		rc = cluster_read_yaml("the daemon's cluster", yaml, strlen(yaml), &out->cluster, err);
	if (rc == 0) {
		snprintf(out->host, sizeof(out->host), "%s", host ? host : "this machine");
		out->cluster.spec = arena_strdup(&out->cluster.memory, out->host);
		out->shape = (struct host_shape){ number(shape, "sockets"),
			number(shape, "numa_nodes"), number(shape, "cores"), number(shape, "threads") };
		out->daemon = true;
	}
	json_decref(reply);
	return rc;
}

int at_hand_find(const struct args *args, struct at_hand *out, struct err *err)
{
	int rc;

	*out = (struct at_hand){ 0 };
	rc = ask_daemon(args, out, err);
	if (rc != ERR_UNREACHABLE || args->socket)
		return rc;
	return find_here(out, err);
}

int at_hand_cluster(const struct args *args, const char *question, struct cluster *out, struct err *err)
{
	struct at_hand found;
	struct err why = { 0 };
	int rc;

	if (args->cluster)
		return setup_cluster(args->cluster, out, err);
	rc = at_hand_find(args, &found, &why);
	if (rc && args->socket)
		return err_set(err, rc, "%s", why.text);
	if (rc)
		return err_set(err, ERR_USAGE,
			"%s give --cluster, such as --cluster 16x8:v100 or a YAML file (%.200s)",
			question, why.text);
	if (!args->quiet)
		ui_err("no --cluster: %s%s is meant, %u %s\n",
			found.daemon ? "the daemon's cluster on " : "no daemon answers, this machine ",
			found.host, found.cluster.devices,
			found.cluster.devices == 1 ? "device" : "devices");
	*out = found.cluster;
	return 0;
}
