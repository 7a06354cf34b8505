/*
 * stint cluster: what a cluster spec means.
 */
#include <math.h>

#include "base/json.h"
#include "cli/command.h"
#include "cli/setup.h"
#include "cli/speeds.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "io/cluster_io.h"
#include "report/table.h"

/* 0 is "unknown" in a cluster; in JSON that is null. */
static void known(struct json *j, const char *key, double value)
{
	json_double(j, key, value > 0 ? value : NAN);
}

static double price_per_h(const struct cluster *c)
{
	double sum = 0;

	for (uint32_t i = 0; i < c->ntypes; i++)
		sum += c->types[i].price_per_h * c->types[i].devices;
	return sum;
}

static void type_json(const struct device_type *t, struct json *j)
{
	json_begin_object(j, NULL);
	json_str(j, "name", t->name);
	json_int(j, "nodes", t->nodes);
	json_int(j, "devices", t->devices);
	json_int(j, "max_per_node", t->max_per_node);
	known(j, "mem_bytes", (double)t->mem_bytes);
	known(j, "flops", t->flops);
	known(j, "mem_Bps", t->mem_Bps);
	known(j, "link_Bps", t->link_Bps);
	known(j, "price_per_h", t->price_per_h);
	json_end(j, '}');
}

static void node_json(const struct cluster *c, const struct node *n, struct json *j)
{
	json_begin_object(j, NULL);
	json_str(j, "name", n->name);
	json_str(j, "type", c->types[n->type].name);
	json_int(j, "devices", n->devices);
	json_str(j, "rack", n->rack < c->nracks ? c->racks[n->rack].name : NULL);
	known(j, "cpus", n->cpus);
	known(j, "mem_bytes", (double)n->mem_bytes);
	json_end(j, '}');
}

static void cluster_json(const struct cluster *c, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "cluster/1");
	json_str(&j, "spec", c->spec);
	json_int(&j, "devices", c->devices);
	json_int(&j, "racks", c->nracks);
	known(&j, "net_Bps", c->net_Bps);
	known(&j, "price_per_h", price_per_h(c));
	json_begin_array(&j, "types");
	for (uint32_t i = 0; i < c->ntypes; i++)
		type_json(&c->types[i], &j);
	json_end(&j, ']');
	json_begin_array(&j, "nodes");
	for (uint32_t i = 0; i < c->nnodes; i++)
		node_json(c, &c->nodes[i], &j);
	json_end(&j, ']');
	json_end(&j, '}');
	buf_char(out, '\n');
}

/* "16 GB", "125 T", "900 G": one figure with a power of a thousand; "?" if it is not known. */
static void scaled_cell(struct table *table, double value, const char *unit)
{
	static const char *const powers[] = { "", "k", "M", "G", "T", "P" };
	int power = 0;

	if (!(value > 0)) {
		table_cell(table, "?");
		return;
	}
	while (value >= 1000 && power < 5) {
		value /= 1000;
		power++;
	}
	table_cellf(table, "%.3g %s%s", value, powers[power], unit);
}

static void type_row(const struct device_type *t, struct table *table)
{
	char size[32];

	table_cell(table, t->name);
	table_cellf(table, "%u", t->nodes);
	table_cellf(table, "%u", t->devices);
	table_cellf(table, "%u", t->max_per_node);
	table_cell(table, t->mem_bytes ? text_size((double)t->mem_bytes, size) : "?");
	scaled_cell(table, t->flops, "flop/s");
	scaled_cell(table, t->link_Bps, "B/s");
	if (t->price_per_h > 0)
		table_cellf(table, "%.2f", t->price_per_h);
	else
		table_cell(table, "?");
}

static void cluster_text(const struct cluster *c, struct buf *out)
{
	struct term term = term_of_stdout();
	struct table table = { 0 };

	buf_printf(out, "%s: %u device%s on %u node%s in %u rack%s", c->spec, c->devices,
		c->devices == 1 ? "" : "s", c->nnodes, c->nnodes == 1 ? "" : "s", c->nracks,
		c->nracks == 1 ? "" : "s");
	if (c->net_Bps > 0)
		buf_printf(out, ", %.3g GB/s between nodes", c->net_Bps / 1e9);
	if (price_per_h(c) > 0)
		buf_printf(out, ", about %.0f an hour", price_per_h(c));
	buf_str(out, "\n\n");
	table_column(&table, "type", ALIGN_LEFT, 0);
	table_column(&table, "nodes", ALIGN_RIGHT, 0);
	table_column(&table, "devices", ALIGN_RIGHT, 0);
	table_column(&table, "per node", ALIGN_RIGHT, 0);
	table_column(&table, "memory", ALIGN_RIGHT, 1);
	table_column(&table, "peak", ALIGN_RIGHT, 2);
	table_column(&table, "link", ALIGN_RIGHT, 3);
	table_column(&table, "price/h", ALIGN_RIGHT, 1);
	for (uint32_t i = 0; i < c->ntypes; i++)
		type_row(&c->types[i], &table);
	table_write(&table, TABLE_TEXT, &term, out, NULL);
	table_fini(&table);
	if (!(c->net_Bps > 0))
		buf_str(out,
			"\nNo network speed is given: spreading a job over nodes costs it nothing.\n");
}

static int run(const struct args *args, struct err *err)
{
	struct cluster cluster = { 0 };
	struct buf text = { 0 };
	int rc;

	if (args->json && args->yaml)
		return err_set(err, ERR_USAGE, "--json and --yaml: give one");
	rc = setup_cluster(args->operands.at[0], &cluster, err);
	if (rc)
		return rc;
	speeds_check_types(args, &cluster);
	if (args->json)
		cluster_json(&cluster, &text);
	else if (args->yaml)
		cluster_write_yaml(&cluster, &text);
	else
		cluster_text(&cluster, &text);
	rc = ui_print(&text, err);
	buf_fini(&text);
	cluster_fini(&cluster);
	return rc;
}

static const struct flag flags[] = {
	SWITCH(json, "as JSON, node by node"),
	SWITCH(yaml, "as a YAML file to start from"),
	{ 0 },
};

static const struct flag_group flags_output = {
	.title = "output",
	.flags = flags,
	.aside = true,
};

static const char *const examples[] = {
	"stint cluster 16x8:v100,4x4:a100",
	"stint cluster 16x8:v100 --yaml > cluster.yaml",
	"stint cluster cluster.yaml",
	NULL,
};

const struct command command_cluster = {
	.name = "cluster",
	.summary = "what a cluster spec means",
	.operands = "SPEC",
	.min_operands = 1,
	.max_operands = 1,
	.groups = { &flags_output },
	.about = "SPEC is NODESxDEVICES:TYPE, several with commas, or a YAML file.",
	.examples = examples,
	.run = run,
};
