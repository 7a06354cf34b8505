#include "model/cluster_change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "model/catalogue.h"
#include "model/links.h"

struct known {
	const char **at;
	size_t n, cap;
};

enum { USUAL_DEVICES = 8 }; /* in a node of a type that is not here yet */

static const char *plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

/* ---- reading */

static bool take_count(struct slice text, uint32_t most, uint32_t *out)
{
	int64_t n;

	if (!slice_int(text, &n) || n < 1 || n > most)
		return false;
	*out = (uint32_t)n;
	return true;
}

static int parse_numbers(struct slice numbers, struct cluster_change *c)
{
	const char *x = numbers.n ? memchr(numbers.at, 'x', numbers.n) : NULL;
	struct slice nodes;

	if (!x)
		return take_count(numbers, NODES_MAX, &c->devices) ? 0 : -1;
	nodes = slice_cut(&numbers, 'x');
	return take_count(nodes, NODES_MAX, &c->nodes) &&
			take_count(numbers, NODE_DEVICES_MAX, &c->devices)
		? 0
		: -1;
}

int cluster_change_parse(struct slice text, struct cluster_change *out, struct err *err)
{
	struct cluster_change c = { 0 };
	struct slice rest = slice_trim(text), numbers = slice_cut(&rest, ':');

	rest = slice_trim(rest);
	if (parse_numbers(slice_trim(numbers), &c) || rest.n >= sizeof(c.type) ||
		!cluster_is_type_name(rest))
		return err_set(err, ERR_USAGE,
			"'%.*s' is not DEVICES:TYPE, such as 4:a100, or NODESxDEVICES:TYPE, such as 2x8:a100 "
			"(a node has up to %d devices)",
			text.n > 80 ? 80 : (int)text.n, text.at, NODE_DEVICES_MAX);
	memcpy(c.type, rest.at, rest.n);
	*out = c;
	return 0;
}

/* ---- copying */

static void copy_type(const struct device_type *from, struct cluster *to)
{
	uint32_t i = cluster_add_type(to, from->name);
	struct device_type *type = &to->types[i];

	type->mem_bytes = from->mem_bytes;
	type->flops = from->flops;
	type->mem_Bps = from->mem_Bps;
	type->link_Bps = from->link_Bps;
	type->price_per_h = from->price_per_h;
}

static void copy_topology(const struct topology *from, struct cluster *to)
{
	uint32_t i = cluster_add_topology(to, from->name, from->devices);

	topology_copy_links(from, &to->topologies[i]);
}

/* Nodes without a name of their own are named by their place. */
static bool is_numbered(const struct node *node, uint32_t i)
{
	char name[16];

	snprintf(name, sizeof(name), "n%u", i);
	return !strcmp(node->name, name);
}

static bool all_numbered(const struct cluster *cluster)
{
	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		if (!is_numbered(&cluster->nodes[i], i))
			return false;
	}
	return true;
}

static void copy_node(const struct cluster *from, uint32_t i, uint32_t devices, bool numbered,
	struct cluster *to)
{
	struct node node = from->nodes[i];

	/* Half a node has half of everything, but links are of whole nodes. */
	if (devices != node.devices) {
		node.topology = TOPOLOGY_NONE;
		node.cpus = node.cpus * devices / node.devices;
		node.mem_bytes = node.mem_bytes / node.devices * devices;
	}
	node.devices = devices;
	node.type = cluster_add_type(to, from->types[node.type].name);
	node.name = numbered ? NULL : node.name;
	cluster_add_node(to, node);
}

/* How cells are made up, of the types that are still there. */
static void copy_ladders(const struct cluster *from, struct cluster *out)
{
	for (uint32_t i = 0; i < from->nladders; i++) {
		struct cell_ladder ladder = from->ladders[i];
		int type = ladder.type < TYPES_MAX
			? cluster_find_type(out, from->types[ladder.type].name)
			: TYPES_MAX;

		if (type < 0)
			continue;
		ladder.type = (uint32_t)type;
		cluster_add_ladder(out, &ladder);
	}
}

/* A copy whose nodes have `devices[i]` devices; those with none are not there, nor is a type that lost all. */
static void copy_with(const struct cluster *from, const uint32_t *devices, struct cluster *out)
{
	bool numbered = all_numbered(from), gone[TYPES_MAX] = { false };

	*out = (struct cluster){ .net_Bps = from->net_Bps };
	for (uint32_t i = 0; i < from->nnodes; i++)
		gone[from->nodes[i].type] = true;
	for (uint32_t i = 0; i < from->nnodes; i++)
		gone[from->nodes[i].type] &= !devices[i];
	for (uint32_t i = 0; i < from->ntypes; i++) {
		if (!gone[i])
			copy_type(&from->types[i], out);
	}
	for (uint32_t i = 0; i < from->nracks; i++)
		cluster_add_rack(out, from->racks[i].name, from->racks[i].up_Bps);
	for (uint32_t i = 0; i < from->ntopologies; i++)
		copy_topology(&from->topologies[i], out);
	for (uint32_t i = 0; i < from->nnodes; i++) {
		if (devices[i])
			copy_node(from, i, devices[i], numbered, out);
	}
	copy_ladders(from, out);
}

static uint32_t *devices_of(const struct cluster *cluster)
{
	uint32_t *devices = mem_alloc(mem_array_size(cluster->nnodes + 1u, sizeof(*devices)));

	for (uint32_t i = 0; i < cluster->nnodes; i++)
		devices[i] = cluster->nodes[i].devices;
	return devices;
}

/* ---- more */

/* Every name and alias that would have been understood. */
static void known_names(const struct cluster *cluster, struct arena *memory, struct known *out)
{
	for (uint32_t i = 0; i < cluster->ntypes; i++)
		vec_push(out, cluster->types[i].name);
	for (const struct accelerator *a = catalogue_accelerators; a->name; a++) {
		struct slice rest = slice_of(a->aliases ? a->aliases : "");

		vec_push(out, a->name);
		while (rest.n) {
			struct slice alias = slice_cut(&rest, ' ');

			vec_push(out, arena_strndup(memory, alias.at, alias.n));
		}
	}
}

static int unknown_type(const struct cluster *cluster, const char *type, struct err *err)
{
	struct arena memory = { 0 };
	struct known known = { 0 };
	int nearest;

	known_names(cluster, &memory, &known);
	nearest = text_nearest(type, known.at, known.n);
	if (nearest >= 0)
		err_set(err, ERR_USAGE,
			"type '%s' is neither in this cluster nor in the catalogue; did you mean %s?",
			type, known.at[nearest]);
	else
		err_set(err, ERR_USAGE,
			"type '%s' is neither in this cluster nor in the catalogue; name one such as a100, "
			"or state its facts under types: in the cluster's YAML file",
			type);
	vec_fini(&known);
	arena_fini(&memory);
	return ERR_USAGE;
}

/* The largest node of the type, or NULL. */
static const struct node *like(const struct cluster *cluster, uint32_t type)
{
	const struct node *best = NULL;

	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		const struct node *node = &cluster->nodes[i];

		if (node->type == type && (!best || node->devices > best->devices))
			best = node;
	}
	return best;
}

static bool name_is_taken(const struct cluster *cluster, const char *name)
{
	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		if (!strcmp(cluster->nodes[i].name, name))
			return true;
	}
	return false;
}

/* A node of so many devices, like `found` (may be NULL). */
static struct node node_like(const struct cluster *cluster, const struct node *found, uint32_t type,
	uint32_t devices)
{
	struct node node = found ? *found
				 : (struct node){ .topology = TOPOLOGY_NONE,
					   .rack = cluster->nracks ? cluster->nracks - 1 : 0 };

	if (found && found->devices != devices) {
		node.topology = TOPOLOGY_NONE;
		node.cpus = node.cpus * devices / node.devices;
		node.mem_bytes = node.mem_bytes / node.devices * devices;
	}
	node.type = type;
	node.devices = devices;
	return node;
}

static void add_nodes(struct cluster *cluster, uint32_t type, uint32_t nodes, uint32_t devices,
	struct buf *said)
{
	struct node node = node_like(cluster, like(cluster, type), type, devices);
	bool numbered = all_numbered(cluster);
	char name[32];
	uint32_t number = 1;

	for (uint32_t i = 0; i < nodes; i++) {
		do
			snprintf(name, sizeof(name), "new%u", number++);
		while (!numbered && name_is_taken(cluster, name));
		node.name = numbered ? NULL : name;
		cluster_add_node(cluster, node);
	}
	buf_printf(said, "%s%u node%s of %u %s", said->n ? " and " : "", nodes, plural(nodes),
		devices, cluster->types[type].name);
}

static uint32_t usual_devices(const struct cluster *cluster, uint32_t type, uint32_t devices)
{
	const struct node *found = like(cluster, type);

	if (found)
		return found->devices;
	return devices < USUAL_DEVICES ? devices : USUAL_DEVICES;
}

static int type_to_add(struct cluster *cluster, const char *name, uint32_t *out, struct err *err)
{
	int type = cluster_find_type(cluster, name);

	if (type < 0 && !catalogue_accelerator(name))
		return unknown_type(cluster, name, err);
	if (type < 0 && cluster->ntypes == TYPES_MAX)
		return err_set(err, ERR_USAGE, "a cluster has at most %d types", TYPES_MAX);
	*out = type < 0 ? cluster_add_type(cluster, name) : (uint32_t)type;
	return 0;
}

int cluster_grow(struct cluster *cluster, const struct cluster_change *change, struct buf *said,
	struct err *err)
{
	uint32_t type = 0, per = change->devices, nodes = change->nodes, rest = 0;
	int rc = type_to_add(cluster, change->type, &type, err);

	if (rc)
		return rc;
	if (!nodes) {
		per = usual_devices(cluster, type, change->devices);
		nodes = change->devices / per;
		rest = change->devices % per;
	}
	if (nodes + 1 > NODES_MAX - cluster->nnodes)
		return err_set(err, ERR_USAGE, "a cluster has at most %d nodes", NODES_MAX);
	cluster->spec = NULL;
	if (nodes)
		add_nodes(cluster, type, nodes, per, said);
	if (rest)
		add_nodes(cluster, type, 1, rest, said);
	return 0;
}

/* The next node of the type and size after place *at of `model`; NULL: there is none. */
static const struct node *next_like(const struct cluster *model, int type, uint32_t devices,
	uint32_t *at)
{
	while (*at < model->nnodes) {
		const struct node *node = &model->nodes[(*at)++];

		if ((int)node->type == type && node->devices == devices)
			return node;
	}
	return NULL;
}

int cluster_only(const struct cluster *model, const struct cluster_change *change,
	struct cluster *out, struct err *err)
{
	struct cluster c = { .net_Bps = model->net_Bps };
	int known = cluster_find_type(model, change->type);
	const struct node *usual = known >= 0 ? like(model, (uint32_t)known) : NULL;
	uint32_t type, at = 0;

	if (known < 0 && !catalogue_accelerator(change->type))
		return unknown_type(model, change->type, err);
	if (known >= 0)
		copy_type(&model->types[known], &c);
	type = cluster_add_type(&c, known >= 0 ? model->types[known].name : change->type);
	for (uint32_t i = 0; i < model->nracks; i++)
		cluster_add_rack(&c, model->racks[i].name, model->racks[i].up_Bps);
	for (uint32_t i = 0; i < model->ntopologies; i++)
		copy_topology(&model->topologies[i], &c);
	for (uint32_t i = 0; i < change->nodes; i++) {
		const struct node *same = next_like(model, known, change->devices, &at);
		struct node node = node_like(&c, same ? same : usual, type, change->devices);

		node.name = NULL;
		cluster_add_node(&c, node);
	}
	*out = c;
	return 0;
}

/* ---- fewer */

static int type_to_remove(const struct cluster *cluster, const char *name, uint32_t *out,
	struct err *err)
{
	int type = cluster_find_type(cluster, name);
	struct buf list = { 0 };

	if (type >= 0 && cluster->types[type].devices) {
		*out = (uint32_t)type;
		return 0;
	}
	for (uint32_t i = 0; i < cluster->ntypes; i++)
		buf_printf(&list, "%s%u %s", i ? ", " : "", cluster->types[i].devices,
			cluster->types[i].name);
	err_set(err, ERR_USAGE, "there is no %s to remove: the cluster has %s", name,
		list.n ? list.at : "nothing");
	buf_fini(&list);
	return ERR_USAGE;
}

/* Whole nodes of the size; how many could be taken. */
static uint32_t take_nodes(const struct cluster *cluster, uint32_t type,
	const struct cluster_change *change, uint32_t *devices)
{
	uint32_t taken = 0;

	for (uint32_t i = cluster->nnodes; i-- > 0 && taken < change->nodes;) {
		const struct node *node = &cluster->nodes[i];

		if (node->type != type || node->devices != change->devices)
			continue;
		devices[i] = 0;
		taken++;
	}
	return taken;
}

/* So many devices; there are enough.  Returns of how many nodes. */
static uint32_t take_devices(const struct cluster *cluster, uint32_t type, uint32_t n, uint32_t *devices)
{
	uint32_t nodes = 0;

	for (uint32_t i = cluster->nnodes; i-- > 0 && n;) {
		uint32_t here = devices[i] < n ? devices[i] : n;

		if (cluster->nodes[i].type != type)
			continue;
		devices[i] -= here;
		n -= here;
		nodes++;
	}
	return nodes;
}

/* Sets what is left in `devices`. */
static int take(const struct cluster *cluster, const struct cluster_change *change,
	uint32_t *devices, struct buf *said, struct err *err)
{
	const struct device_type *type;
	uint32_t index = 0, n, all;
	int rc = type_to_remove(cluster, change->type, &index, err);

	if (rc)
		return rc;
	type = &cluster->types[index];
	all = change->nodes ? change->nodes * change->devices : change->devices;
	if (all >= cluster->devices && all <= type->devices)
		return err_set(err, ERR_USAGE, "nothing would be left of the cluster's %u device%s",
			cluster->devices, plural(cluster->devices));
	if (all > type->devices)
		return err_set(err, ERR_USAGE, "%u %s cannot be removed: there %s %u", all,
			type->name, type->devices == 1 ? "is" : "are", type->devices);
	if (!change->nodes) {
		n = take_devices(cluster, index, all, devices);
		buf_printf(said, "%s%u %s from %u node%s", said->n ? " and " : "", all, type->name,
			n, plural(n));
		return 0;
	}
	n = take_nodes(cluster, index, change, devices);
	if (n < change->nodes)
		return err_set(err, ERR_USAGE,
			"%u nodes of %u %s cannot be removed: there %s %u of that size; say %u:%s for devices "
			"of any node",
			change->nodes, change->devices, type->name, n == 1 ? "is" : "are", n, all,
			type->name);
	buf_printf(said, "%s%u node%s of %u %s", said->n ? " and " : "", n, plural(n),
		change->devices, type->name);
	return 0;
}

int cluster_shrink(struct cluster *cluster, const struct cluster_change *change, struct buf *said,
	struct err *err)
{
	uint32_t *devices = devices_of(cluster);
	struct cluster left;
	int rc = take(cluster, change, devices, said, err);

	if (!rc) {
		copy_with(cluster, devices, &left);
		cluster_fini(cluster);
		*cluster = left;
	}
	free(devices);
	return rc;
}

/* ---- saying it */

bool cluster_is_short(const struct cluster *cluster)
{
	struct buf text = { 0 };
	struct cluster again = { 0 };
	bool is = false;

	cluster_format(cluster, &text);
	if (cluster_parse(text.at, &again, NULL) == 0)
		is = cluster_hash(&again) == cluster_hash(cluster);
	cluster_fini(&again);
	buf_fini(&text);
	return is;
}

double cluster_price_per_h(const struct cluster *cluster)
{
	double sum = 0;

	for (uint32_t i = 0; i < cluster->ntypes; i++)
		sum += cluster->types[i].devices * cluster->types[i].price_per_h;
	return sum;
}
