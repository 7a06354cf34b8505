/*
 * Clusters: built piece by piece or from the short form.
 */
#include "model/cluster.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "model/catalogue.h"
#include "model/links.h"

enum { RINGS_KEPT = 16 }; /* of how many devices every set has a place for its answer */

void cluster_fini(struct cluster *cluster)
{
	arena_fini(&cluster->memory);
	*cluster = (struct cluster){ 0 };
}

/*
 * Room for one more element of an array of `n`: sizes are powers of two, so that `n` tells when it
 * is full.  What is outgrown stays in the arena, at most as much again.
 */
static void *room(struct cluster *cluster, void *at, uint32_t n, size_t size)
{
	void *bigger;

	if (n & (n - 1))
		return at;
	if (n && n < 4)
		return at;
	bigger = arena_alloc(&cluster->memory, (n ? (size_t)n * 2 : 4) * size);
	if (n)
		memcpy(bigger, at, n * size);
	return bigger;
}

/* A copy of an array with as much room as room() expects there to be. */
static void *copy_array(struct cluster *out, const void *at, uint32_t n, size_t size)
{
	size_t cap = 4;
	void *copy;

	if (n == 0)
		return NULL;
	while (cap < n)
		cap *= 2;
	copy = arena_alloc(&out->memory, cap * size);
	memcpy(copy, at, n * size);
	return copy;
}

static const char *copy_text(struct cluster *out, const char *text)
{
	return text ? arena_strdup(&out->memory, text) : NULL;
}

static struct topology new_topology(struct cluster *cluster, const char *name, uint32_t devices)
{
	size_t n = (size_t)devices * devices;
	struct topology t = {
		.name = copy_text(cluster, name),
		.devices = devices,
		.Bps = arena_array(&cluster->memory, double, n),
		.links = arena_array(&cluster->memory, uint8_t, n),
		.near = arena_array(&cluster->memory, uint8_t, n),
	};

	memset(t.links, LINKS_UNSAID, n);
	if (devices <= RINGS_KEPT)
		t.rings = arena_alloc(&cluster->memory, sizeof(*t.rings) << devices);
	return t;
}

static void copy_topology(struct cluster *out, struct topology *topology)
{
	struct topology t = new_topology(out, topology->name, topology->devices);

	topology_copy_links(topology, &t);
	*topology = t;
}

void cluster_add_ladder(struct cluster *cluster, const struct cell_ladder *ladder)
{
	struct cell_ladder *all = arena_array(&cluster->memory, struct cell_ladder,
		cluster->nladders + 1);
	struct cell_rung *rungs = arena_array(&cluster->memory, struct cell_rung, ladder->nrungs);

	for (uint32_t i = 0; i < ladder->nrungs; i++)
		rungs[i] = (struct cell_rung){ copy_text(cluster, ladder->rungs[i].name),
			ladder->rungs[i].of };
	for (uint32_t i = 0; i < cluster->nladders; i++)
		all[i] = cluster->ladders[i];
	all[cluster->nladders++] = (struct cell_ladder){ ladder->type, rungs, ladder->nrungs };
	cluster->ladders = all;
}

void cluster_copy(const struct cluster *from, struct cluster *out)
{
	struct cluster c = *from;

	c.memory = (struct arena){ 0 };
	c.types = copy_array(&c, from->types, from->ntypes, sizeof(*c.types));
	c.nodes = copy_array(&c, from->nodes, from->nnodes, sizeof(*c.nodes));
	c.racks = copy_array(&c, from->racks, from->nracks, sizeof(*c.racks));
	c.topologies = copy_array(&c, from->topologies, from->ntopologies, sizeof(*c.topologies));
	for (uint32_t i = 0; i < c.ntypes; i++)
		c.types[i].name = copy_text(&c, c.types[i].name);
	for (uint32_t i = 0; i < c.nnodes; i++)
		c.nodes[i].name = copy_text(&c, c.nodes[i].name);
	for (uint32_t i = 0; i < c.nracks; i++)
		c.racks[i].name = copy_text(&c, c.racks[i].name);
	for (uint32_t i = 0; i < c.ntopologies; i++)
		copy_topology(&c, &c.topologies[i]);
	c.nladders = 0;
	for (uint32_t i = 0; i < from->nladders; i++)
		cluster_add_ladder(&c, &from->ladders[i]);
	c.spec = copy_text(&c, from->spec);
	*out = c;
}

/* ---- types */

static int find_exactly(const struct cluster *cluster, const char *name)
{
	for (uint32_t i = 0; i < cluster->ntypes; i++) {
		if (!strcasecmp(cluster->types[i].name, name))
			return (int)i;
	}
	return -1;
}

/* The only type that the catalogue takes for the same accelerator as `name`. */
static int find_same_accelerator(const struct cluster *cluster, const char *name)
{
	const struct accelerator *wanted = catalogue_accelerator(name);
	int found = -1;

	if (!wanted)
		return -1;
	for (uint32_t i = 0; i < cluster->ntypes; i++) {
		if (catalogue_accelerator(cluster->types[i].name) != wanted)
			continue;
		if (found >= 0)
			return -1;
		found = (int)i;
	}
	return found;
}

int cluster_find_type(const struct cluster *cluster, const char *name)
{
	int i = find_exactly(cluster, name);

	return i >= 0 ? i : find_same_accelerator(cluster, name);
}

bool device_type_is_cpu(const struct device_type *type)
{
	return !strcmp(type->name, "cpu");
}

static struct device_type type_facts(const char *name)
{
	const struct accelerator *a = catalogue_accelerator(name);
	struct device_type type = { 0 };

	if (!a)
		return type;
	type.mem_bytes = a->mem_bytes;
	type.flops = a->half_flops;
	type.mem_Bps = a->mem_Bps;
	type.link_Bps = a->link_Bps;
	type.price_per_h = a->price_per_h;
	return type;
}

uint32_t cluster_add_type(struct cluster *cluster, const char *name)
{
	int known = find_exactly(cluster, name);
	uint32_t i = cluster->ntypes;

	if (known >= 0)
		return (uint32_t)known;
	assert(i < TYPES_MAX);
	cluster->types = room(cluster, cluster->types, i, sizeof(*cluster->types));
	cluster->types[i] = type_facts(name);
	cluster->types[i].name = arena_strdup(&cluster->memory, name);
	cluster->ntypes++;
	return i;
}

/* ---- racks, nodes */

uint32_t cluster_add_rack(struct cluster *cluster, const char *name, double up_Bps)
{
	uint32_t i = cluster->nracks;

	cluster->racks = room(cluster, cluster->racks, i, sizeof(*cluster->racks));
	cluster->racks[i].name = name ? arena_strdup(&cluster->memory, name)
				      : arena_printf(&cluster->memory, "r%u", i);
	cluster->racks[i].up_Bps = up_Bps;
	cluster->nracks++;
	return i;
}

uint32_t cluster_add_node(struct cluster *cluster, struct node node)
{
	struct device_type *type = &cluster->types[node.type];
	uint32_t i = cluster->nnodes;

	assert(node.type < cluster->ntypes && node.devices <= NODE_DEVICES_MAX);
	if (!cluster->nracks)
		cluster_add_rack(cluster, NULL, 0);
	assert(node.rack < cluster->nracks);
	node.name = node.name ? arena_strdup(&cluster->memory, node.name)
			      : arena_printf(&cluster->memory, "n%u", i);
	cluster->nodes = room(cluster, cluster->nodes, i, sizeof(*cluster->nodes));
	cluster->nodes[i] = node;
	cluster->nnodes++;
	cluster->devices += node.devices;
	type->devices += node.devices;
	type->nodes++;
	if (node.devices > type->max_per_node)
		type->max_per_node = node.devices;
	return i;
}

double node_price_per_h(const struct cluster *cluster, uint32_t node)
{
	const struct node *n = &cluster->nodes[node];

	return n->price_per_h > 0 ? n->price_per_h : n->devices * cluster->types[n->type].price_per_h;
}

uint32_t cluster_add_topology(struct cluster *cluster, const char *name, uint32_t devices)
{
	uint32_t i = cluster->ntopologies;

	assert(devices && devices <= NODE_DEVICES_MAX);
	cluster->topologies = room(cluster, cluster->topologies, i, sizeof(*cluster->topologies));
	cluster->topologies[i] = new_topology(cluster, name, devices);
	cluster->ntopologies++;
	return i;
}

/* ---- the short form */

static const char FORM[] = "write NODESxDEVICES:TYPE[,...], such as 16x8:v100,4x4:a100";

struct group {
	int64_t nodes, devices;
	struct slice type;
};

static struct slice cut(struct slice *rest, char at)
{
	return slice_trim(slice_cut(rest, at));
}

static bool has(struct slice s, char c)
{
	return s.n && memchr(s.at, c, s.n);
}

bool cluster_is_type_name(struct slice s)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+";

	for (size_t i = 0; i < s.n; i++) {
		if (!memchr(letters, s.at[i], sizeof(letters) - 1))
			return false;
	}
	return s.n > 0;
}

static int check_group(const struct group *g, struct err *err)
{
	if (g->nodes < 1 || g->nodes > NODES_MAX)
		return err_set(err, ERR_USAGE, "the number of nodes must be from 1 to %d", NODES_MAX);
	if (g->devices < 1)
		return err_set(err, ERR_USAGE, "a node has at least 1 device");
	if (g->devices > NODE_DEVICES_MAX && g->devices <= (int64_t)NODES_MAX * 8 / g->nodes)
		return err_set(err, ERR_USAGE,
			"a node has at most %d devices; for more, use more nodes: %lldx8",
			NODE_DEVICES_MAX, (long long)((g->nodes * g->devices + 7) / 8));
	if (g->devices > NODE_DEVICES_MAX)
		return err_set(err, ERR_USAGE, "a node has at most %d devices", NODE_DEVICES_MAX);
	if (!cluster_is_type_name(g->type))
		return err_set(err, ERR_USAGE, "a type name is made of letters, digits and . - _ +");
	return 0;
}

/* One piece: "16x8:v100", "2x4", "8" (one node), "8:v100". */
static int parse_group(struct slice piece, struct group *out, struct err *err)
{
	struct group g = { .nodes = 1, .type = slice_of("gpu") };
	bool typed = has(piece, ':');
	struct slice numbers = cut(&piece, ':');

	if (typed)
		g.type = slice_trim(piece);
	if (has(numbers, 'x') || has(numbers, 'X')) {
		struct slice nodes = cut(&numbers, has(numbers, 'x') ? 'x' : 'X');

		if (!slice_int(nodes, &g.nodes))
			return err_set(err, ERR_USAGE, "\"%.*s\" is not a number of nodes; %s",
				(int)nodes.n, nodes.at, FORM);
	}
	if (!slice_int(numbers, &g.devices))
		return err_set(err, ERR_USAGE, "\"%.*s\" is not a number of devices; %s",
			(int)numbers.n, numbers.at, FORM);
	*out = g;
	return check_group(&g, err);
}

static int add_group(struct cluster *cluster, const struct group *g, struct err *err)
{
	char name[64];
	uint32_t type;

	if (g->type.n >= sizeof(name))
		return err_set(err, ERR_USAGE, "a type name has at most %zu letters", sizeof(name) - 1);
	memcpy(name, g->type.at, g->type.n);
	name[g->type.n] = '\0';
	if (find_exactly(cluster, name) < 0 && cluster->ntypes == TYPES_MAX)
		return err_set(err, ERR_USAGE, "a cluster has at most %d types", TYPES_MAX);
	if (cluster->nnodes + g->nodes > NODES_MAX)
		return err_set(err, ERR_USAGE, "a cluster has at most %d nodes", NODES_MAX);
	type = cluster_add_type(cluster, name);
	for (int64_t i = 0; i < g->nodes; i++)
		cluster_add_node(cluster,
			(struct node){ .type = type,
				.devices = (uint32_t)g->devices,
				.topology = TOPOLOGY_NONE });
	return 0;
}

static int parse_groups(struct cluster *cluster, const char *spec, struct err *err)
{
	struct slice rest = slice_of(spec);

	if (!slice_trim(rest).n)
		return err_set(err, ERR_USAGE, "the cluster is empty; %s", FORM);
	for (int number = 1; rest.n; number++) {
		bool more = has(rest, ',');
		struct slice piece = cut(&rest, ',');
		struct group g = { 0 };

		if (!piece.n || (more && !rest.n))
			return err_set(err, ERR_USAGE,
				"cluster \"%.200s\": a piece is missing around comma %d; %s", spec,
				piece.n ? number : number - (number > 1), FORM);
		if (parse_group(piece, &g, err) < 0 || add_group(cluster, &g, err) < 0)
			return err_prefix(err, "cluster \"%.200s\": piece %d \"%.*s\"", spec,
				number, piece.n > 80 ? 80 : (int)piece.n, piece.at);
	}
	return 0;
}

int cluster_parse(const char *spec, struct cluster *out, struct err *err)
{
	struct cluster cluster = { 0 };
	struct err local; /* the helpers read the code back */
	int rc = parse_groups(&cluster, spec, err ? err : &local);

	if (rc < 0) {
		cluster_fini(&cluster);
		return rc;
	}
	cluster.spec = arena_strdup(&cluster.memory, spec);
	*out = cluster;
	return 0;
}

/* ---- saying it in short, and in a number */

static bool same_facts(const struct device_type *type)
{
	struct device_type usual = type_facts(type->name);

	return type->mem_bytes == usual.mem_bytes && type->flops == usual.flops &&
		type->mem_Bps == usual.mem_Bps && type->link_Bps == usual.link_Bps &&
		type->price_per_h == usual.price_per_h;
}

static bool plain_node(const struct node *node, uint32_t i)
{
	char name[16];

	snprintf(name, sizeof(name), "n%u", i);
	return node->topology == TOPOLOGY_NONE && node->cpus == 0 && node->mem_bytes == 0 &&
		!strcmp(node->name, name);
}

/* Whether cluster_parse() would give the same from the short form. */
static bool is_plain(const struct cluster *cluster)
{
	if (cluster->even || cluster->net_Bps != 0 || cluster->ntopologies || cluster->nracks > 1)
		return false;
	if (cluster->nracks && (cluster->racks[0].up_Bps != 0 || strcmp(cluster->racks[0].name, "r0")))
		return false;
	for (uint32_t i = 0; i < cluster->ntypes; i++) {
		if (!cluster->types[i].nodes || !same_facts(&cluster->types[i]))
			return false;
	}
	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		if (!plain_node(&cluster->nodes[i], i))
			return false;
	}
	return true;
}

static void format_groups(const struct cluster *cluster, struct buf *out)
{
	for (uint32_t i = 0, n; i < cluster->nnodes; i += n) {
		const struct node *first = &cluster->nodes[i];

		for (n = 1; i + n < cluster->nnodes; n++) {
			const struct node *next = &cluster->nodes[i + n];

			if (next->type != first->type || next->devices != first->devices)
				break;
		}
		buf_printf(out, "%s%ux%u:%s", i ? "," : "", n, first->devices,
			cluster->types[first->type].name);
	}
}

void cluster_format(const struct cluster *cluster, struct buf *out)
{
	const char *slash;

	if (is_plain(cluster) || !cluster->spec) {
		format_groups(cluster, out);
		return;
	}
	slash = strrchr(cluster->spec, '/');
	buf_str(out, slash ? slash + 1 : cluster->spec);
}

static uint64_t hash_text(uint64_t h, const char *text)
{
	return hash_bytes(h, text, strlen(text) + 1);
}

static uint64_t hash_type(uint64_t h, const struct device_type *type)
{
	h = hash_text(h, type->name);
	h = hash_u64(h, (uint64_t)type->mem_bytes);
	h = hash_double(h, type->flops);
	h = hash_double(h, type->mem_Bps);
	h = hash_double(h, type->link_Bps);
	return hash_double(h, type->price_per_h);
}

static uint64_t hash_node(uint64_t h, const struct node *node)
{
	h = hash_u64(h, (uint64_t)node->type << 32 | node->devices);
	h = hash_u64(h, (uint64_t)node->rack << 32 | node->topology);
	h = hash_double(h, node->cpus);
	return hash_u64(h, (uint64_t)node->mem_bytes);
}

static uint64_t hash_topology(uint64_t h, const struct topology *topology)
{
	h = hash_u64(h, topology->devices);
	for (uint32_t i = 0; i < topology->devices * topology->devices; i++)
		h = hash_double(h, topology->Bps[i]);
	for (uint32_t i = 0; i < topology->devices * topology->devices; i++) {
		if (topology->grouped)
			h = hash_u64(h, topology->near[i]);
		/* What the speeds say by themselves is no news. */
		if (topology->links[i] != LINKS_UNSAID &&
			topology->links[i] != links_of_speed(topology->Bps[i]))
			h = hash_u64(h, (uint64_t)i << 8 | topology->links[i]);
	}
	return h;
}

static uint64_t hash_ladder(uint64_t h, const struct cell_ladder *ladder)
{
	h = hash_u64(h, (uint64_t)ladder->type << 32 | ladder->nrungs);
	for (uint32_t i = 0; i < ladder->nrungs; i++)
		h = hash_u64(hash_text(h, ladder->rungs[i].name), ladder->rungs[i].of);
	return h;
}

/* What most clusters say nothing of, and then it adds nothing. */
static uint64_t hash_prices(uint64_t h, const struct cluster *cluster)
{
	const double facts[] = { cluster->pooling.rtt_s, cluster->pooling.pcie_Bps,
		cluster->pooling.attach_s, cluster->pooling.detach_s, cluster->renting.boot_s,
		cluster->renting.period_s };

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		h = facts[i] > 0 ? hash_double(hash_u64(h, i), facts[i]) : h;
	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		const struct node *node = &cluster->nodes[i];

		if (node->price_per_h > 0 || node->rentable || node->spot)
			h = hash_double(hash_u64(h,
						(uint64_t)i << 2 | (uint64_t)node->rentable << 1 |
							node->spot),
				node->price_per_h);
	}
	return h;
}

uint64_t cluster_hash(const struct cluster *cluster)
{
	uint64_t h = hash_u64(HASH_START, cluster->ntypes);

	for (uint32_t i = 0; i < cluster->ntypes; i++)
		h = hash_type(h, &cluster->types[i]);
	h = hash_u64(h, cluster->nnodes);
	for (uint32_t i = 0; i < cluster->nnodes; i++)
		h = hash_node(h, &cluster->nodes[i]);
	h = hash_u64(h, cluster->nracks);
	for (uint32_t i = 0; i < cluster->nracks; i++)
		h = hash_double(h, cluster->racks[i].up_Bps);
	h = hash_u64(h, cluster->ntopologies);
	for (uint32_t i = 0; i < cluster->ntopologies; i++)
		h = hash_topology(h, &cluster->topologies[i]);
	for (uint32_t i = 0; i < cluster->nladders; i++)
		h = hash_ladder(h, &cluster->ladders[i]);
	h = hash_double(h, cluster->net_Bps);
	h = hash_prices(h, cluster);
	return cluster->even ? hash_double(h, 1) : h;
}
