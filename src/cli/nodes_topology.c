/*
 * Where links are asked for, and how they are shown.
 */
#include "cli/nodes_topology.h"

#include <stdio.h>

#include "base/file.h"
#include "cli/at_hand.h"
#include "cli/setup.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "report/topology_report.h"

struct view {
	struct cluster cluster;
	struct topology_host host;
	char name[256];
};

static int look(const struct args *args, struct view *v, struct err *err)
{
	struct at_hand found;
	int rc;

	if (args->cluster)
		return setup_cluster(args->cluster, &v->cluster, err);
	rc = at_hand_find(args, &found, err);
	if (rc)
		return rc;
	if (!found.daemon && !args->quiet)
		ui_err("no daemon answers; this machine is looked at itself\n");
	v->cluster = found.cluster;
	snprintf(v->name, sizeof(v->name), "%s", found.host);
	v->host = (struct topology_host){ v->name, found.shape.sockets, found.shape.numa_nodes,
		found.shape.cores, found.shape.threads };
	return 0;
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
