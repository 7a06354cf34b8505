/*
 * Clusters in files: which format, Tiresias' one-line CSV, and writing YAML.
 * Reading YAML is in cluster_yaml.c.
 */
#include "io/cluster_io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "io/cluster_cells.h"
#include "io/csv.h"
#include "io/topology.h"

/* A million nodes of which no two are alike; reading YAML takes five times as much memory. */
enum { CLUSTER_BYTES_MAX = 64 << 20 };

/* ---- Tiresias: one line of numbers under a header */

enum tiresias_column { SWITCHES, NODES, DEVICES, CPUS, MEMORY, TIRESIAS_COLUMNS };

static const struct {
	const char *name;
	int64_t min, max;
} tiresias_columns[TIRESIAS_COLUMNS] = {
	[SWITCHES] = { "num_switch", 1, NODES_MAX },
	[NODES] = { "num_node_p_switch", 1, NODES_MAX },
	[DEVICES] = { "num_gpu_p_node", 1, NODE_DEVICES_MAX },
	[CPUS] = { "num_cpu_p_node", 0, 1000000 },
	[MEMORY] = { "mem_p_node", 0, 1000000000 },
};

static bool is_tiresias(const char *text, size_t n)
{
	static const char begin[] = "num_switch";

	return n > strlen(begin) && !memcmp(text, begin, strlen(begin));
}

static int tiresias_field(const struct csv *csv, int where, enum tiresias_column c, int64_t *out,
	struct err *err)
{
	struct slice s = where >= 0 && (size_t)where < csv->n ? csv->fields[where] : slice_of("");

	if (slice_int(s, out) && *out >= tiresias_columns[c].min && *out <= tiresias_columns[c].max)
		return 0;
	return err_set(err, ERR_FORMAT, "%s: \"%.*s\" is not a whole number from %lld to %lld",
		tiresias_columns[c].name, s.n > 80 ? 80 : (int)s.n, s.at,
		(long long)tiresias_columns[c].min, (long long)tiresias_columns[c].max);
}

static int tiresias_header(struct csv *csv, int where[TIRESIAS_COLUMNS], struct err *err)
{
	int rc = csv_next(csv, err);

	if (rc < 0)
		return rc;
	for (int c = 0; c < TIRESIAS_COLUMNS; c++) {
		where[c] = -1;
		for (size_t i = 0; rc > 0 && i < csv->n; i++) {
			if (slice_is(csv->fields[i], tiresias_columns[c].name))
				where[c] = (int)i;
		}
		if (where[c] < 0)
			return err_set(err, ERR_FORMAT, "the header has no column %s",
				tiresias_columns[c].name);
	}
	return 0;
}

static int tiresias_numbers(struct csv *csv, int64_t x[TIRESIAS_COLUMNS], struct err *err)
{
	int where[TIRESIAS_COLUMNS];
	int rc = tiresias_header(csv, where, err);

	if (rc < 0)
		return rc;
	rc = csv_next(csv, err);
	if (rc < 0)
		return rc;
	if (!rc)
		return err_set(err, ERR_FORMAT, "a row of numbers is missing under the header");
	for (int c = 0; c < TIRESIAS_COLUMNS; c++) {
		rc = tiresias_field(csv, where[c], (enum tiresias_column)c, &x[c], err);
		if (rc < 0)
			return rc;
	}
	if (x[SWITCHES] * x[NODES] > NODES_MAX)
		return err_set(err, ERR_FORMAT, "%s times %s is more than %d nodes",
			tiresias_columns[SWITCHES].name, tiresias_columns[NODES].name, NODES_MAX);
	return 0;
}

static void tiresias_build(const int64_t x[TIRESIAS_COLUMNS], struct cluster *cluster)
{
	struct node node = {
		.type = cluster_add_type(cluster, "gpu"),
		.devices = (uint32_t)x[DEVICES],
		.topology = TOPOLOGY_NONE,
		.cpus = (double)x[CPUS],
		.mem_bytes = x[MEMORY] << 30,
	};

	for (int64_t i = 0; i < x[SWITCHES]; i++) {
		node.rack = cluster_add_rack(cluster, NULL, 0);
		for (int64_t j = 0; j < x[NODES]; j++)
			cluster_add_node(cluster, node);
	}
}

static int read_tiresias(const char *where, const char *text, size_t n, struct cluster *out,
	struct err *err)
{
	int64_t x[TIRESIAS_COLUMNS];
	struct csv csv;
	size_t line;
	int rc;

	csv_init(&csv, (struct slice){ text, n }, (struct csv_style){ .separator = ',' });
	rc = tiresias_numbers(&csv, x, err);
	line = csv.line;
	csv_fini(&csv);
	if (rc < 0)
		return err_prefix(err, "%s:%zu", where, line);
	*out = (struct cluster){ 0 };
	tiresias_build(x, out);
	out->spec = arena_strdup(&out->memory, where);
	return 0;
}

int cluster_read(const char *spec, struct cluster *out, struct err *err)
{
	const char *where = strcmp(spec, "-") ? spec : "standard input";
	struct file file;
	int rc;

	if (strcmp(spec, "-") && !file_exists(spec)) {
		const char *dot = strrchr(spec, '.');

		if (strchr(spec, '/') ||
			(dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml") || !strcmp(dot, ".csv"))))
			return err_set(err, ERR_MISSING, "cluster %s: no such file", spec);
		return cluster_parse(spec, out, err);
	}
	rc = file_read_upto(spec, CLUSTER_BYTES_MAX, &file, err);
	if (rc < 0)
		return rc;
	if (is_tiresias(file.at, file.n))
		rc = read_tiresias(where, file.at, file.n, out, err);
	else
		rc = cluster_read_yaml(where, file.at, file.n, out, err);
	file_fini(&file);
	return rc;
}

/* ---- writing */

/* Always quoted: a name may look like a number, a list or a comment. */
static void write_slice(struct buf *out, struct slice text)
{
	buf_char(out, '"');
	for (size_t i = 0; i < text.n; i++) {
		if (text.at[i] == '"' || text.at[i] == '\\')
			buf_char(out, '\\');
		buf_char(out, text.at[i]);
	}
	buf_char(out, '"');
}

static void write_text(struct buf *out, const char *text)
{
	write_slice(out, slice_of(text));
}

static void write_number(struct buf *out, const char *key, double x)
{
	buf_printf(out, ", %s: ", key);
	buf_double(out, x);
}

static void write_types(const struct cluster *cluster, struct buf *out)
{
	buf_str(out, "types:\n");
	for (uint32_t i = 0; i < cluster->ntypes; i++) {
		const struct device_type *type = &cluster->types[i];

		if (!type->nodes)
			continue;
		buf_str(out, "  - {name: ");
		write_text(out, type->name);
		buf_printf(out, ", mem: %lld", (long long)type->mem_bytes);
		write_number(out, "flops", type->flops);
		write_number(out, "mem_bandwidth", type->mem_Bps);
		write_number(out, "link_bandwidth", type->link_Bps);
		write_number(out, "price_per_h", type->price_per_h);
		buf_str(out, "}\n");
	}
}

static void write_racks(const struct cluster *cluster, struct buf *out)
{
	buf_str(out, "racks:\n");
	for (uint32_t i = 0; i < cluster->nracks; i++) {
		buf_str(out, "  - {name: ");
		write_text(out, cluster->racks[i].name);
		write_number(out, "uplink", cluster->racks[i].up_Bps);
		buf_str(out, "}\n");
	}
}

static void write_topology(const struct topology *t, struct buf *out)
{
	buf_str(out, "  - name: ");
	write_text(out, t->name);
	buf_printf(out, "\n    devices: %u\n    links:\n", t->devices);
	for (uint32_t i = 0; i < t->devices; i++) {
		for (uint32_t j = i + 1; j < t->devices; j++) {
			buf_str(out, "      - ");
			topology_write_link(t, i, j, out);
			buf_char(out, '\n');
		}
	}
	if (t->grouped) {
		buf_str(out, "    groups: [");
		topology_write_groups(t, out);
		buf_str(out, "]\n");
	}
}

/* Length of the number behind a name that counting up would give again, 0 if there is none. */
static size_t number_at_end(const char *name)
{
	size_t n = strlen(name), k = 0;

	while (k < n && k < 9 && name[n - 1 - k] >= '0' && name[n - 1 - k] <= '9')
		k++;
	while (k > 1 && name[n - k] == '0')
		k--;
	return k < n ? k : 0;
}

/* Whether `b` is `a` in all but its name, which is the next one. */
static bool follows(const struct node *a, const struct node *b, uint32_t steps)
{
	size_t digits = number_at_end(a->name), prefix = strlen(a->name) - digits;
	char next[32];

	if (!digits || a->type != b->type || a->devices != b->devices || a->rack != b->rack ||
		a->topology != b->topology || a->cpus != b->cpus || a->mem_bytes != b->mem_bytes ||
		a->price_per_h != b->price_per_h || a->rentable != b->rentable || a->spot != b->spot)
		return false;
	snprintf(next, sizeof(next), "%llu", strtoull(a->name + prefix, NULL, 10) + steps);
	return !strncmp(a->name, b->name, prefix) && !strcmp(b->name + prefix, next);
}

static void write_group(const struct cluster *cluster, const struct node *node, uint32_t count,
	struct buf *out)
{
	size_t prefix = strlen(node->name) - number_at_end(node->name);

	buf_str(out, "  - {name: ");
	write_slice(out, (struct slice){ node->name, prefix });
	if (node->name[prefix])
		buf_printf(out, ", count: %u, first: %s", count, node->name + prefix);
	buf_str(out, ", type: ");
	write_text(out, cluster->types[node->type].name);
	buf_printf(out, ", devices: %u, rack: ", node->devices);
	write_text(out, cluster->racks[node->rack].name);
	write_number(out, "cpus", node->cpus);
	buf_printf(out, ", mem: %lld", (long long)node->mem_bytes);
	if (node->topology != TOPOLOGY_NONE) {
		buf_str(out, ", topology: ");
		write_text(out, cluster->topologies[node->topology].name);
	}
	if (node->price_per_h > 0)
		write_number(out, "price_per_h", node->price_per_h);
	if (node->rentable)
		buf_str(out, ", rentable: true");
	if (node->spot)
		buf_str(out, ", spot: true");
	buf_str(out, "}\n");
}

/* What devices of others and nodes by the hour cost, where that was said. */
static void write_prices(const struct cluster *cluster, struct buf *out)
{
	const struct pooling *pooling = &cluster->pooling;
	const struct renting *renting = &cluster->renting;

	if (pooling->rtt_s > 0 || pooling->pcie_Bps > 0 || pooling->attach_s > 0 ||
		pooling->detach_s > 0) {
		buf_str(out, "pooling: {rtt: ");
		buf_double(out, pooling->rtt_s);
		write_number(out, "pcie", pooling->pcie_Bps);
		write_number(out, "attach", pooling->attach_s);
		write_number(out, "detach", pooling->detach_s);
		buf_str(out, "}\n");
	}
	if (renting->boot_s > 0 || renting->period_s > 0) {
		buf_str(out, "renting: {boot: ");
		buf_double(out, renting->boot_s);
		write_number(out, "period", renting->period_s);
		buf_str(out, "}\n");
	}
}

static void write_nodes(const struct cluster *cluster, struct buf *out)
{
	buf_str(out, "nodes:\n");
	for (uint32_t i = 0, n; i < cluster->nnodes; i += n) {
		const struct node *first = &cluster->nodes[i];

		for (n = 1; i + n < cluster->nnodes; n++) {
			if (!follows(first, first + n, n))
				break;
		}
		write_group(cluster, first, n, out);
	}
}

void cluster_write_yaml(const struct cluster *cluster, struct buf *out)
{
	write_types(cluster, out);
	write_racks(cluster, out);
	if (cluster->ntopologies)
		buf_str(out, "topologies:\n");
	for (uint32_t i = 0; i < cluster->ntopologies; i++)
		write_topology(&cluster->topologies[i], out);
	if (cluster->net_Bps > 0) {
		buf_str(out, "network: {node_link: ");
		buf_double(out, cluster->net_Bps);
		buf_str(out, "}\n");
	}
	if (cluster->even)
		buf_str(out, "gangs: even\n");
	write_prices(cluster, out);
	write_nodes(cluster, out);
	cluster_write_cells(cluster, out);
}
