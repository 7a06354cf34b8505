/*
 * stint nodes: the devices there are and who has them.
 */
#include <stdio.h>
#include <string.h>

#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/term.h"
#include "cli/ui.h"

static void jobs_of(const json_t *device, struct buf *out)
{
	const json_t *jobs = json_object_get(device, "jobs");

	for (size_t i = 0; i < json_array_size(jobs); i++)
		buf_printf(out, "%s%lld", i ? "," : "",
			(long long)json_integer_value(json_array_get(jobs, i)));
}

static void device_row(struct table *table, const json_t *node, const json_t *device)
{
	bool down = json_is_false(json_object_get(device, "up"));
	double bytes = live_number(device, "mem_bytes");
	struct buf jobs = { 0 };
	char size[32];

	jobs_of(device, &jobs);
	table_cell(table, live_text(node, "name"));
	table_cellf(table, "%.0f", live_number(device, "index"));
	table_cell(table,
		live_text(device, "type") ? live_text(device, "type") : live_text(node, "type"));
	table_cell(table, bytes > 0 ? text_size(bytes, size) : "-");
	table_cell(table, down ? "down" : jobs.n ? "busy" : "free");
	table_style(table, down ? "31" : jobs.n ? "32" : NULL);
	table_cell(table, jobs.n ? jobs.at : "");
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
	buf_char(out, '\n');
	table_column(&table, "NODE", ALIGN_LEFT, 0);
	table_column(&table, "DEVICE", ALIGN_RIGHT, 0);
	table_column(&table, "TYPE", ALIGN_LEFT, 2);
	table_column(&table, "MEMORY", ALIGN_RIGHT, 3);
	table_column(&table, "STATE", ALIGN_LEFT, 0);
	table_column(&table, "JOBS", ALIGN_LEFT, 1);
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

static int run(const struct args *args, struct err *err)
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

static const struct flag flags[] = { SWITCH(json, "print the daemon's answer"), { 0 } };
static const struct flag_group flags_nodes = { .title = "output", .flags = flags, .aside = true };
static const char *const examples[] = { "stint nodes", "stint nodes --json", NULL };

const struct command command_nodes = {
	.name = "nodes",
	.summary = "devices, and which jobs have them",
	.operands = "",
	.live = true,
	.groups = { &flags_nodes, &flags_daemon },
	.examples = examples,
	.run = run,
};
