/*
 * stint nodes: the devices there are and who has them; draining them, giving them back, and forgetting those that are gone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/nodes_topology.h"
#include "cli/term.h"
#include "cli/ui.h"

static bool has(const json_t *list, json_int_t id)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (json_integer_value(json_array_get(list, i)) == id)
			return true;
	}
	return false;
}

/* "7" or "7_3"; a daemon of an earlier version tells numbers only. */
static void put_job(const json_t *device, size_t i, struct buf *out)
{
	const char *name = json_string_value(json_array_get(json_object_get(device, "job_names"), i));
	const json_t *id = json_array_get(json_object_get(device, "jobs"), i);

	if (name)
		buf_str(out, name);
	else
		buf_printf(out, "%lld", (long long)json_integer_value(id));
}

/* "7,9", and those that have what others leave after them: "7 guest 8". */
static void jobs_of(const json_t *device, struct buf *out)
{
	const json_t *jobs = json_object_get(device, "jobs"),
		     *guests = json_object_get(device, "guests");
	bool first = true;

	for (size_t i = 0; i < json_array_size(jobs); i++) {
		if (has(guests, json_integer_value(json_array_get(jobs, i))))
			continue;
		buf_str(out, out->n ? "," : "");
		put_job(device, i, out);
	}
	for (size_t i = 0; i < json_array_size(jobs); i++) {
		if (!has(guests, json_integer_value(json_array_get(jobs, i))))
			continue;
		buf_str(out, !first ? "," : out->n ? " guest " : "guest ");
		first = false;
		put_job(device, i, out);
	}
}

static const char *state_of(const json_t *device)
{
	const json_t *jobs = json_object_get(device, "jobs");

	if (json_is_false(json_object_get(device, "up")))
		return "down";
	if (json_is_true(json_object_get(device, "drained")))
		return json_array_size(jobs) ? "draining" : "drained";
	if (json_is_true(json_object_get(device, "idle")))
		return "idle";
	return json_array_size(jobs) ? "busy" : "free";
}

static const char *style_of(const char *state)
{
	if (!strcmp(state, "busy"))
		return "32";
	if (!strcmp(state, "free"))
		return NULL;
	return !strcmp(state, "down") ? "31" : "33";
}

static void device_row(struct table *table, const json_t *node, const json_t *device)
{
	const char *state = state_of(device), *reason = live_text(device, "reason");
	const char *why = live_text(device, "why");
	double bytes = live_number(device, "mem_bytes");
	struct buf jobs = { 0 };
	char size[32];

	jobs_of(device, &jobs);
	table_cell(table, live_text(node, "name"));
	table_cellf(table, "%.0f", live_number(device, "index"));
	table_cell(table,
		live_text(device, "type") ? live_text(device, "type") : live_text(node, "type"));
	table_cell(table, bytes > 0 ? text_size(bytes, size) : "-");
	table_cell(table, state);
	table_style(table, style_of(state));
	table_cell(table, jobs.n ? jobs.at : "");
	table_cell(table, reason ? reason : why ? why : "");
	table_cell(table, live_text(device, "uuid"));
	buf_fini(&jobs);
}

static void put_nodes(const json_t *reply, const struct term *term, struct buf *out)
{
	const json_t *nodes = json_object_get(reply, "nodes");
	struct table table = { 0 };

	live_line(out, "host", live_text(reply, "host"));
	live_line(out, "driver", live_text(reply, "driver"));
	live_line(out, "cgroups", live_text(reply, "cgroups"));
	if (live_text(reply, "degraded"))
		live_line(out, "degraded", live_text(reply, "degraded"));
	buf_char(out, '\n');
	table_column(&table, "NODE", ALIGN_LEFT, 0);
	table_column(&table, "DEVICE", ALIGN_RIGHT, 0);
	table_column(&table, "TYPE", ALIGN_LEFT, 2);
	table_column(&table, "MEMORY", ALIGN_RIGHT, 3);
	table_column(&table, "STATE", ALIGN_LEFT, 0);
	table_column(&table, "JOBS", ALIGN_LEFT, 1);
	table_column(&table, "WHY", ALIGN_LEFT, 1);
	table_column(&table, "UUID", ALIGN_LEFT, 4);
	for (size_t n = 0; n < json_array_size(nodes); n++) {
		const json_t *node = json_array_get(nodes, n),
			     *devices = json_object_get(node, "devices");

		for (size_t d = 0; d < json_array_size(devices); d++)
			device_row(&table, node, json_array_get(devices, d));
	}
	table_write(&table, TABLE_TEXT, term, out, NULL);
	table_fini(&table);
}

/* ---- changes */

/* The name before the colon; without one, that of the daemon's machine.  malloc'ed, NULL with why not. */
static char *node_named(const struct args *args, struct slice name, struct err *err)
{
	json_t *reply;
	char *host;

	if (name.n)
		return mem_printf("%.*s", (int)name.n, name.at);
	if (live_get(args, "/v1/nodes", &reply, err))
		return NULL;
	host = mem_strdup(live_text(reply, "host") ? live_text(reply, "host") : "");
	json_decref(reply);
	return host;
}

static int post_change(const struct args *args, const char *verb, const char *operand,
	json_t **reply, struct err *err)
{
	struct slice devices = slice_of(operand), name = slice_cut(&devices, ':');
	char *node = node_named(args, name, err), *path;
	json_t *body = json_object();
	int rc;

	if (!node) {
		json_decref(body);
		return err->code;
	}
	if (devices.n)
		json_object_set_new(body, "devices", json_stringn(devices.at, devices.n));
	if (args->types)
		json_object_set_new(body, "type", json_string(args->types));
	if (args->reason && !strcmp(verb, "drain"))
		json_object_set_new(body, "reason", json_string(args->reason));
	path = mem_printf("/v1/nodes/%s/%s", node, verb);
	rc = live_post(args, path, body, reply, err);
	free(path);
	free(node);
	return rc;
}

/* What became of the devices. */
static const char *const changes[][2] = {
	{ "drain", "drained" },
	{ "resume", "back in use" },
	{ "forget", "forgotten from the next start of the daemon on" },
};

static const char *change_of(const char *verb)
{
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		if (!strcmp(verb, changes[i][0]))
			return changes[i][1];
	}
	return NULL;
}

static void tell_change(const char *verb, const json_t *reply)
{
	const json_t *devices = json_object_get(reply, "devices");
	const char *node = live_text(reply, "node");
	size_t n = json_array_size(devices);

	ui_out("%zu device%s of %s %s:", n, n == 1 ? "" : "s", node ? node : "?", change_of(verb));
	for (size_t i = 0; i < n; i++)
		ui_out("%s%lld", i ? "," : " ",
			(long long)json_integer_value(json_array_get(devices, i)));
	putchar('\n');
}

static int change(const struct args *args, struct err *err)
{
	const char *verb = args->operands.at[0];
	json_t *reply;
	int rc;

	if (!change_of(verb))
		return err_set(err, ERR_USAGE, "'%s' is not understood; drain, resume or forget", verb);
	if (args->operands.n != 2)
		return err_set(err, ERR_USAGE,
			"which devices? write: stint nodes %s NODE:0,2-3, or :0,2-3 for this machine",
			verb);
	rc = post_change(args, verb, args->operands.at[1], &reply, err);
	if (rc)
		return rc;
	if (args->json)
		rc = live_print_json(reply, err);
	else
		tell_change(verb, reply);
	json_decref(reply);
	return rc;
}

static int show(const struct args *args, struct err *err)
{
	struct term term = term_of_stdout();
	struct buf text = { 0 };
	json_t *reply;
	int rc = live_get(args, "/v1/nodes", &reply, err);

	if (rc)
		return rc;
	if (args->json) {
		rc = live_print_json(reply, err);
	} else {
		put_nodes(reply, &term, &text);
		rc = ui_print(&text, err);
	}
	buf_fini(&text);
	json_decref(reply);
	return rc;
}

static int run(const struct args *args, struct err *err)
{
	if (args->operands.n && args->topology)
		return err_set(err, ERR_USAGE, "--topology shows links; leave '%s' out",
			args->operands.at[0]);
	if (args->topology)
		return nodes_topology(args, err);
	if (args->cluster || args->svg)
		return err_set(err, ERR_USAGE, "%s goes with --topology",
			args->cluster ? "--cluster" : "--svg");
	return args->operands.n ? change(args, err) : show(args, err);
}

static const struct flag flags[] = {
	TEXT(reason, "TEXT", "reason; shown to jobs that wait for these devices"),
	{
		.name = "type",
		.kind = FLAG_TEXT,
		.offset = offsetof(struct args, types),
		.value = "NAME",
		.help = "devices of this type, where numbers mean several",
	},
	SWITCH(topology, "how devices are linked: tree, matrix and rings"),
	TEXT(cluster, "SPEC|FILE", "with --topology: of this cluster, without a daemon"),
	TEXT(svg, "FILE", "with --topology: as a picture"),
	SWITCH(json, "print the daemon's answer; with --topology the links"),
	{ 0 },
};
static const struct flag_group flags_nodes = { .title = "nodes", .flags = flags };
static const char *const examples[] = {
	"stint nodes",
	"stint nodes --json",
	"stint nodes --topology",
	"stint nodes --topology --cluster cluster.yaml --svg links.svg",
	"stint nodes drain :1 --reason 'the fan is loud'",
	"stint nodes resume :1",
	"stint nodes forget :1",
	NULL,
};

const struct command command_nodes = {
	.name = "nodes",
	.summary = "devices, and which jobs have them",
	.operands = "[drain|resume|forget NODE[:DEVICES]]",
	.max_operands = 2,
	.live = true,
	.groups = { &flags_nodes, &flags_daemon },
	.about = "A drained device goes to nobody new; the job that has it keeps it until it ends.  Devices on which\n"
		 "different jobs fail one after the other are drained by themselves.  resume gives them back, and\n"
		 "jobs that failed there may go there again.  NODE may be left out: ':0,2-3' is of the daemon's\n"
		 "machine; without DEVICES all of the node are meant.  A GPU that is gone stays known as down over\n"
		 "restarts, until it is back or another is there instead; forget is for one that will not come\n"
		 "back.  Only root and the daemon's user may do any of this.",
	.examples = examples,
	.run = run,
};
