/*
 * Where links are asked for, and how they are shown.
 */
#include "cli/nodes_topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/setup.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "io/cluster_io.h"
#include "live/local/discover.h"
#include "report/topology_report.h"

struct view {
	struct cluster cluster;
	struct topology_host host;
	char name[256];
};

static void set_host(struct view *v, const char *name, struct host_shape shape)
{
	snprintf(v->name, sizeof(v->name), "%s", name);
	v->host = (struct topology_host){ v->name, shape.sockets, shape.numa_nodes, shape.cores,
		shape.threads };
}

/* The machine that the command runs on: what a daemon would find. */
static int view_here(struct view *v, struct err *err)
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
	set_host(v, machine.host, machine.shape);
	rc = machine_cluster(&machine, &v->cluster, &device_of, err);
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

static int view_daemon(const struct args *args, struct view *v, struct err *err)
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
		rc = cluster_read_yaml("the daemon's cluster", yaml, strlen(yaml), &v->cluster, err);
	if (rc == 0) {
		v->cluster.spec = arena_strdup(&v->cluster.memory, host ? host : "this machine");
		set_host(v, host ? host : "this machine",
			(struct host_shape){ number(shape, "sockets"), number(shape, "numa_nodes"),
				number(shape, "cores"), number(shape, "threads") });
	}
	json_decref(reply);
	return rc;
}

static int look(const struct args *args, struct view *v, struct err *err)
{
	int rc;

	if (args->cluster)
		return setup_cluster(args->cluster, &v->cluster, err);
	rc = view_daemon(args, v, err);
	if (rc != ERR_UNREACHABLE || args->socket)
		return rc;
	if (!args->quiet)
		fprintf(stderr, "no daemon answers; this machine is looked at itself\n");
	return view_here(v, err);
}

int nodes_topology(const struct args *args, struct err *err)
{
	struct term term = term_of_stdout();
	struct view view = { 0 };
	struct buf text = { 0 };
	int rc = look(args, &view, err);

	if (rc)
		return rc;
	if (args->svg) {
		topology_svg(&view.cluster, &text);
		rc = file_write(args->svg, text.at, text.n, err);
		text.n = 0;
	}
	if (rc == 0 && args->json)
		topology_json(&view.cluster, &view.host, &text);
	else if (rc == 0 && !args->svg)
		topology_text(&view.cluster, &view.host, &term, &text);
	if (rc == 0 && text.n)
		rc = ui_print(&text, err);
	buf_fini(&text);
	cluster_fini(&view.cluster);
	return rc;
}
