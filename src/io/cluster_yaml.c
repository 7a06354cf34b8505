/*
 * Reading clusters from YAML (doc/formats.md).
 *
 * Every value is loaded as text and read here, so that sizes may carry units
 * and a wrong one is told with its line and what is allowed.
 */
#include "io/cluster_io.h"

#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "io/cluster_cells.h"
#include "io/cluster_text.h"
#include "io/topology.h"
#include "io/units.h"
#include "io/yaml.h"
#include "model/links.h"

/* ---- values */

/* What is read, where, and the first error: after one, the getters return at once. */
struct reader {
	struct yaml yaml;
	struct cluster *cluster;
	struct names racks; /* the number of a name is its rack */
	struct names nodes; /* "name type", to find a name given twice */
	struct err *err;
	int rc;
};

/* A value's place: field `key` of entry `entry` of `list`. */
struct at {
	const char *list;
	uint32_t entry;
};

#define PATH(at, key) YAML_PATH({ (at).list, 0 }, { NULL, (at).entry }, { key, 0 })
#define NETWORK(key) YAML_PATH({ "network", 0 }, { key, 0 })
#define POOLING(key) YAML_PATH({ "pooling", 0 }, { key, 0 })
#define RENTING(key) YAML_PATH({ "renting", 0 }, { key, 0 })

static bool read_number(struct slice s, double *out)
{
	return slice_double(s, out) && *out >= 0;
}

/* One kind of value: how it is read, and what to write when it is not one. */
struct kind {
	bool (*read)(struct slice s, double *out);
	const char *help;
};

static const struct kind kind_speed = { unit_speed,
	"write a speed such as 25GB/s, 100Gb/s or bytes per second" };
static const struct kind kind_flops = { unit_flops,
	"write operations per second such as 125TFLOPS or 125e12" };
static bool read_seconds(struct slice s, double *out)
{
	return slice_seconds(s, out) && *out >= 0;
}

static bool read_flag(struct slice s, double *out)
{
	*out = slice_is(s, "true") || slice_is(s, "yes");
	return *out > 0 || slice_is(s, "false") || slice_is(s, "no");
}

static const struct kind kind_seconds = { read_seconds, "write a time such as 0.1ms, 30s or 1h" };
static const struct kind kind_flag = { read_flag, "write true or false" };
static const struct kind kind_number = { read_number, "write a number, 0 or more" };

static void get(struct reader *r, const char *text, const struct yaml_step *path,
	const struct kind *kind, double *out)
{
	if (r->rc || !text || kind->read(slice_of(text), out))
		return;
	r->rc = yaml_fail(&r->yaml, path, r->err, "\"%.80s\" is not understood; %s", text, kind->help);
}

static void get_bytes(struct reader *r, const char *text, const struct yaml_step *path, int64_t *out)
{
	if (r->rc || !text || slice_bytes(slice_of(text), out))
		return;
	r->rc = yaml_fail(&r->yaml, path, r->err,
		"\"%.80s\" is not understood; write a size such as 64GiB or a number of bytes", text);
}

enum { NAME_LETTERS_MAX = 100 };

/* Names end up in messages, reports and files: what cannot be seen has no place in them. */
static void check_text(struct reader *r, const char *text, const struct yaml_step *path)
{
	size_t n = text ? strlen(text) : 0;
	bool good = n <= NAME_LETTERS_MAX;

	if (r->rc || !text)
		return;
	for (size_t i = 0; i < n; i++)
		good = good && text[i] >= ' ' && text[i] <= '~';
	if (!good)
		r->rc = yaml_fail(&r->yaml, path, r->err,
			"a name is at most %d letters, digits and signs of ASCII", NAME_LETTERS_MAX);
}

static void check_type_name(struct reader *r, const char *name, const struct yaml_step *path)
{
	check_text(r, name, path);
	if (!r->rc && name && !cluster_is_type_name(slice_of(name)))
		r->rc = yaml_fail(&r->yaml, path, r->err,
			"\"%.80s\": a type name is made of letters, digits and . - _ +", name);
}

struct range {
	int64_t min, max;
};

static int64_t get_int(struct reader *r, const char *text, const struct yaml_step *path,
	int64_t missing, struct range range)
{
	int64_t x = missing;

	if (r->rc || !text)
		return missing;
	if (slice_int(slice_of(text), &x) && x >= range.min && x <= range.max)
		return x;
	r->rc = yaml_fail(&r->yaml, path, r->err, "\"%.80s\" is not a whole number from %lld to %lld",
		text, (long long)range.min, (long long)range.max);
	return missing;
}

/* ---- types */

static void read_type(struct reader *r, const struct type_text *text, struct at at)
{
	struct device_type *type;
	uint32_t index;

	if (!text->name) {
		r->rc = yaml_fail(&r->yaml, YAML_PATH({ at.list, 0 }, { NULL, at.entry }), r->err,
			"a type needs its name, such as v100");
		return;
	}
	if (r->cluster->ntypes == TYPES_MAX)
		r->rc = yaml_fail(&r->yaml, PATH(at, "name"), r->err, "there are at most %d types",
			TYPES_MAX);
	check_type_name(r, text->name, PATH(at, "name"));
	if (r->rc)
		return;
	index = cluster_add_type(r->cluster, text->name);
	type = &r->cluster->types[index];
	get_bytes(r, text->mem, PATH(at, "mem"), &type->mem_bytes);
	get(r, text->flops, PATH(at, "flops"), &kind_flops, &type->flops);
	get(r, text->mem_bandwidth, PATH(at, "mem_bandwidth"), &kind_speed, &type->mem_Bps);
	get(r, text->link_bandwidth, PATH(at, "link_bandwidth"), &kind_speed, &type->link_Bps);
	get(r, text->price_per_h, PATH(at, "price_per_h"), &kind_number, &type->price_per_h);
}

static void read_types(struct reader *r, const struct cluster_text *in)
{
	for (uint32_t i = 0; i < in->ntypes && !r->rc; i++) {
		struct at at = { "types", i };
		uint32_t before = r->cluster->ntypes;

		read_type(r, &in->types[i], at);
		if (!r->rc && r->cluster->ntypes == before)
			r->rc = yaml_fail(&r->yaml, PATH(at, "name"), r->err,
				"type \"%.80s\" is given twice; keep one", in->types[i].name);
	}
}

/* Facts of a type that no node has are most often facts of a misspelt one. */
static void check_types_used(struct reader *r, const struct cluster_text *in)
{
	for (uint32_t i = 0; i < in->ntypes && !r->rc; i++) {
		if (!r->cluster->types[i].nodes)
			r->rc = yaml_fail(&r->yaml, PATH(((struct at){ "types", i }), "name"), r->err,
				"no nodes have type \"%.80s\"; correct the name or leave it out",
				in->types[i].name);
	}
}

/* ---- racks */

static uint32_t add_rack(struct reader *r, const char *name, double up_Bps)
{
	names_add(&r->racks, name, strlen(name));
	return cluster_add_rack(r->cluster, name, up_Bps);
}

/* "name" alone, or with a count "name0", "name1", … */
static void read_rack(struct reader *r, const struct rack_text *text, struct at at, double up_Bps)
{
	int64_t count = get_int(r, text->count, PATH(at, "count"), 1, (struct range){ 1, NODES_MAX });

	check_text(r, text->name, PATH(at, "name"));
	get(r, text->uplink, PATH(at, "uplink"), &kind_speed, &up_Bps);
	for (int64_t i = 0; i < count && !r->rc; i++) {
		bool numbered = text->count || !text->name;
		uint32_t number = text->count ? (uint32_t)i : r->cluster->nracks;
		char name[128];

		if (numbered)
			snprintf(name, sizeof(name), "%s%u", text->name ? text->name : "r", number);
		else
			snprintf(name, sizeof(name), "%s", text->name);
		if (r->cluster->nracks >= NODES_MAX)
			r->rc = yaml_fail(&r->yaml, PATH(at, "count"), r->err,
				"there are at most %d racks", NODES_MAX);
		else if (names_find(&r->racks, name, strlen(name)) != NAME_NONE)
			r->rc = yaml_fail(&r->yaml, PATH(at, "name"), r->err,
				"two racks are called \"%s\"; give them different names", name);
		else
			add_rack(r, name, up_Bps);
	}
}

static void read_gangs(struct reader *r, const struct cluster_text *in)
{
	if (!in->gangs || !*in->gangs || !strcmp(in->gangs, "any"))
		return;
	r->cluster->even = !strcmp(in->gangs, "even");
	if (!r->cluster->even)
		r->rc = yaml_fail(&r->yaml, YAML_PATH({ "gangs", 0 }), r->err,
			"\"%s\" is not known: any, or even (as many devices on each node of a job)",
			in->gangs);
}

static void read_racks(struct reader *r, const struct cluster_text *in)
{
	double up_Bps = 0;

	get(r, in->network.node_link, NETWORK("node_link"), &kind_speed, &r->cluster->net_Bps);
	get(r, in->network.rack_uplink, NETWORK("rack_uplink"), &kind_speed, &up_Bps);
	read_gangs(r, in);
	for (uint32_t i = 0; i < in->nracks && !r->rc; i++)
		read_rack(r, &in->racks[i], (struct at){ "racks", i }, up_Bps);
}

/* Devices of other nodes, and nodes that can be rented. */
static void read_prices(struct reader *r, const struct cluster_text *in)
{
	struct pooling *pooling = &r->cluster->pooling;
	struct renting *renting = &r->cluster->renting;

	get(r, in->pooling.rtt, POOLING("rtt"), &kind_seconds, &pooling->rtt_s);
	get(r, in->pooling.pcie, POOLING("pcie"), &kind_speed, &pooling->pcie_Bps);
	get(r, in->pooling.attach, POOLING("attach"), &kind_seconds, &pooling->attach_s);
	get(r, in->pooling.detach, POOLING("detach"), &kind_seconds, &pooling->detach_s);
	get(r, in->renting.boot, RENTING("boot"), &kind_seconds, &renting->boot_s);
	get(r, in->renting.period, RENTING("period"), &kind_seconds, &renting->period_s);
}

/* The rack of that name.  Where the file lists racks it must be one of them, else it is new. */
static uint32_t find_rack(struct reader *r, const struct cluster_text *in, const char *name,
	const struct yaml_step *path)
{
	uint32_t i = names_find(&r->racks, name, strlen(name));
	int near;

	if (r->rc || i != NAME_NONE)
		return r->rc ? 0 : i;
	check_text(r, name, path);
	if (!in->nracks && !r->rc) {
		double up_Bps = 0;

		get(r, in->network.rack_uplink, NETWORK("rack_uplink"), &kind_speed, &up_Bps);
		return add_rack(r, name, up_Bps);
	}
	if (r->rc)
		return 0;
	near = text_nearest(name, r->racks.at, r->racks.n);
	r->rc = yaml_fail(&r->yaml, path, r->err, "there is no rack \"%.80s\" under racks%s%.80s%s",
		name, near >= 0 ? "; did you mean \"" : "; add it there",
		near >= 0 ? r->racks.at[near] : "", near >= 0 ? "\"?" : "");
	return 0;
}

/* ---- topologies */

static const double OTHERS_BPS = 10e9; /* through the host: PCIe 3.0, as measured */

enum { KNOWN_MAX = 40 }; /* as many as a message can name */

static int unknown_topology(struct reader *r, const char *name, const struct yaml_step *path)
{
	const struct cluster *c = r->cluster;
	const char *known[KNOWN_MAX] = { 0 };
	struct buf list = { 0 };
	size_t n = 0;
	int near, rc;

	for (size_t i = 0; topology_presets[i].name && n < KNOWN_MAX; i++)
		known[n++] = topology_presets[i].name;
	for (uint32_t i = 0; i < c->ntopologies && n < KNOWN_MAX; i++)
		known[n++] = c->topologies[i].name;
	near = text_nearest(name, known, n);
	for (size_t i = 0; i < n; i++)
		buf_printf(&list, "%s%.40s", i ? ", " : "", known[i]);
	rc = yaml_fail(&r->yaml, path, r->err,
		"there is no topology \"%.80s\"%s%.80s%s; there are %.300s", name,
		near >= 0 ? " (did you mean \"" : "", near >= 0 ? known[near] : "",
		near >= 0 ? "\"?)" : "", list.at);
	buf_fini(&list);
	return rc;
}

static uint32_t find_topology(const struct cluster *cluster, const char *name)
{
	for (uint32_t i = 0; i < cluster->ntopologies; i++) {
		if (!strcmp(cluster->topologies[i].name, name))
			return i;
	}
	return TOPOLOGY_NONE;
}

static void read_links(struct reader *r, struct topology *t, const struct topology_text *text,
	struct at at)
{
	uint64_t seen[NODE_DEVICES_MAX] = { 0 };
	double others_Bps = OTHERS_BPS;
	struct buf why = { 0 };

	get(r, text->others, PATH(at, "others"), &kind_speed, &others_Bps);
	if (!text->preset || text->others)
		topology_link_all(t, others_Bps);
	for (uint32_t i = 0; i < text->nlinks && !r->rc; i++) {
		if (!topology_read_link(t, slice_of(text->links[i]), seen, &why))
			r->rc = yaml_fail(&r->yaml,
				YAML_PATH({ at.list, 0 }, { NULL, at.entry }, { "links", 0 },
					{ NULL, i }),
				r->err, "\"%.80s\" %.200s", text->links[i], why.at);
	}
	buf_fini(&why);
}

static void read_groups(struct reader *r, struct topology *t, const struct topology_text *text,
	struct at at)
{
	uint64_t seen = 0;
	struct buf why = { 0 };

	if (text->ngroups)
		topology_begin_groups(t);
	for (uint32_t i = 0; i < text->ngroups && !r->rc; i++) {
		if (!topology_read_group(t, slice_of(text->groups[i]), &seen, &why))
			r->rc = yaml_fail(&r->yaml,
				YAML_PATH({ at.list, 0 }, { NULL, at.entry }, { "groups", 0 },
					{ NULL, i }),
				r->err, "\"%.80s\": %s", text->groups[i], why.at);
	}
	buf_fini(&why);
}

static void read_topology(struct reader *r, const struct topology_text *text, struct at at)
{
	const struct topology_preset *preset = text->preset ? topology_preset_find(text->preset) : NULL;
	int64_t devices = get_int(r, text->devices, PATH(at, "devices"),
		preset ? preset->devices : 0, (struct range){ 1, NODE_DEVICES_MAX });
	uint32_t index;

	check_text(r, text->name, PATH(at, "name"));
	if (r->rc)
		return;
	if (text->preset && !preset)
		r->rc = unknown_topology(r, text->preset, PATH(at, "preset"));
	else if (!text->name || !devices)
		r->rc = yaml_fail(&r->yaml, YAML_PATH({ at.list, 0 }, { NULL, at.entry }), r->err,
			"a topology needs its name, and devices or a preset");
	else if (find_topology(r->cluster, text->name) != TOPOLOGY_NONE)
		r->rc = yaml_fail(&r->yaml, PATH(at, "name"), r->err,
			"topology \"%.80s\" is given twice; keep one", text->name);
	else if (preset && devices != preset->devices)
		r->rc = yaml_fail(&r->yaml, PATH(at, "devices"), r->err,
			"the preset \"%s\" has %u devices; leave this out", preset->name,
			preset->devices);
	if (r->rc)
		return;
	index = preset ? topology_preset_add(preset, r->cluster, text->name)
		       : cluster_add_topology(r->cluster, text->name, (uint32_t)devices);
	read_links(r, &r->cluster->topologies[index], text, at);
	read_groups(r, &r->cluster->topologies[index], text, at);
}

/* ---- nodes */

/* A group's common part, and where its nodes go. */
struct group {
	struct node node;
	const struct nodes_text *text;
	struct at at;
	uint32_t count;
	int64_t first; /* number of the first in its name */
};

static uint32_t group_type(struct reader *r, const struct cluster_text *in, struct group *g)
{
	const char *name = g->text->type;

	if (!name)
		name = in->ntypes == 1 ? in->types[0].name : "gpu";
	if (r->cluster->ntypes < TYPES_MAX || cluster_find_type(r->cluster, name) >= 0)
		return cluster_add_type(r->cluster, name);
	r->rc = yaml_fail(&r->yaml, PATH(g->at, "type"), r->err, "there are at most %d types",
		TYPES_MAX);
	return 0;
}

static uint32_t group_topology(struct reader *r, struct group *g)
{
	const char *name = g->text->topology;
	const struct topology_preset *preset;
	uint32_t i;

	if (r->rc || !name)
		return TOPOLOGY_NONE;
	i = find_topology(r->cluster, name);
	preset = i == TOPOLOGY_NONE ? topology_preset_find(name) : NULL;
	if (preset)
		i = topology_preset_add(preset, r->cluster, name);
	if (i == TOPOLOGY_NONE) {
		r->rc = unknown_topology(r, name, PATH(g->at, "topology"));
		return i;
	}
	if (r->cluster->topologies[i].devices != g->node.devices)
		r->rc = yaml_fail(&r->yaml, PATH(g->at, "topology"), r->err,
			"\"%.80s\" is for nodes of %u devices, these have %u", name,
			r->cluster->topologies[i].devices, g->node.devices);
	return i;
}

/* Number `k` of the racks that the group names. */
static uint32_t rack_named(struct reader *r, const struct cluster_text *in, const struct group *g,
	uint32_t k)
{
	return find_rack(r, in, g->text->racks[k],
		YAML_PATH({ g->at.list, 0 }, { NULL, g->at.entry }, { "racks", 0 }, { NULL, k }));
}

/*
 * Node `i` of a group lies in the rack named, or the group is spread in equal runs over the racks
 * named, or over all that the file lists.
 */
static uint32_t rack_of(struct reader *r, const struct cluster_text *in, const struct group *g,
	uint32_t i)
{
	const struct nodes_text *text = g->text;

	if (text->rack)
		return find_rack(r, in, text->rack, PATH(g->at, "rack"));
	if (text->nracks)
		return rack_named(r, in, g, (uint32_t)((uint64_t)i * text->nracks / g->count));
	if (!in->nracks)
		return find_rack(r, in, "r0", PATH(g->at, "rack"));
	return (uint32_t)((uint64_t)i * r->cluster->nracks / g->count);
}

static void check_name(struct reader *r, const struct group *g, const char *name)
{
	uint32_t before = r->nodes.n;
	char key[256];
	int n = snprintf(key, sizeof(key), "%s %u", name, g->node.type);

	names_add(&r->nodes, key, (size_t)n);
	if (r->nodes.n == before)
		r->rc = yaml_fail(&r->yaml, PATH(g->at, "name"), r->err,
			"two nodes of this type are called \"%.80s\"; change name or first", name);
}

static void add_nodes(struct reader *r, const struct cluster_text *in, const struct group *g)
{
	for (uint32_t i = 0; i < g->count && !r->rc; i++) {
		struct node node = g->node;
		char name[160];

		node.rack = rack_of(r, in, g, i);
		if (g->text->name && (g->text->count || g->text->first))
			snprintf(name, sizeof(name), "%s%lld", g->text->name,
				(long long)(g->first + i));
		else if (g->text->name)
			snprintf(name, sizeof(name), "%s", g->text->name);
		else
			snprintf(name, sizeof(name), "n%u", r->cluster->nnodes);
		node.name = name;
		check_name(r, g, name);
		if (!r->rc)
			cluster_add_node(r->cluster, node);
	}
}

static void read_group(struct reader *r, const struct cluster_text *in, uint32_t entry)
{
	struct group g = { .text = &in->nodes[entry], .at = { "nodes", entry } };
	const struct nodes_text *text = g.text;
	int64_t left = NODES_MAX - r->cluster->nnodes;
	double rentable = 0, spot = 0;

	g.count = (uint32_t)get_int(r, text->count, PATH(g.at, "count"), 1, (struct range){ 1, left });
	g.first = get_int(r, text->first, PATH(g.at, "first"), 0, (struct range){ 0, INT32_MAX });
	g.node.devices = (uint32_t)get_int(r, text->devices, PATH(g.at, "devices"), 8,
		(struct range){ 0, NODE_DEVICES_MAX });
	get(r, text->cpus, PATH(g.at, "cpus"), &kind_number, &g.node.cpus);
	get_bytes(r, text->mem, PATH(g.at, "mem"), &g.node.mem_bytes);
	get(r, text->price_per_h, PATH(g.at, "price_per_h"), &kind_number, &g.node.price_per_h);
	get(r, text->rentable, PATH(g.at, "rentable"), &kind_flag, &rentable);
	get(r, text->spot, PATH(g.at, "spot"), &kind_flag, &spot);
	g.node.rentable = rentable > 0;
	g.node.spot = spot > 0;
	check_text(r, text->name, PATH(g.at, "name"));
	check_type_name(r, text->type, PATH(g.at, "type"));
	if (!r->rc && text->rack && text->nracks)
		r->rc = yaml_fail(&r->yaml, PATH(g.at, "racks"), r->err,
			"give rack or racks, not both");
	for (uint32_t i = 0; i < text->nracks && in->nracks && !r->rc; i++) /* more of them than nodes, too */
		rack_named(r, in, &g, i);
	if (!r->rc)
		g.node.type = group_type(r, in, &g);
	g.node.topology = group_topology(r, &g);
	add_nodes(r, in, &g);
}

/* ---- the file */

static void read_cluster(struct reader *r, const struct cluster_text *in)
{
	if (!in || !in->nnodes) {
		r->rc = err_set(r->err, ERR_FORMAT,
			"%s: no nodes; a cluster needs at least one group, such as\nnodes:\n"
			"  - {count: 16, type: v100, devices: 8}",
			r->yaml.where);
		return;
	}
	read_types(r, in);
	read_racks(r, in);
	read_prices(r, in);
	for (uint32_t i = 0; i < in->ntopologies && !r->rc; i++)
		read_topology(r, &in->topologies[i], (struct at){ "topologies", i });
	for (uint32_t i = 0; i < in->nnodes && !r->rc; i++)
		read_group(r, in, i);
	check_types_used(r, in);
	if (!r->rc)
		r->rc = cluster_read_cells(&r->yaml, in, r->cluster, r->err);
	if (!r->rc && r->cluster->devices == 0)
		r->rc = yaml_fail(&r->yaml, YAML_PATH({ "nodes", 0 }), r->err,
			"no node has a device; hosts with devices: 0 use those of others, so some must have one");
}

int cluster_read_yaml(const char *where, const char *text, size_t n, struct cluster *out,
	struct err *err)
{
	struct cluster cluster = { 0 };
	struct reader r = { .cluster = &cluster, .err = err };

	r.rc = yaml_open(&r.yaml, where, text, n, &cluster_schema, err);
	if (r.rc)
		return r.rc;
	read_cluster(&r, r.yaml.data);
	yaml_fini(&r.yaml);
	names_fini(&r.racks);
	names_fini(&r.nodes);
	if (r.rc) {
		cluster_fini(&cluster);
		return r.rc;
	}
	cluster.spec = arena_strdup(&cluster.memory, where);
	*out = cluster;
	return 0;
}
