/*
 * The cells of a cluster: as its file says, else device, node and rack, and what fast links
 * join inside a node.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/cell_promises.h"
#include "model/cluster.h"

struct deriver {
	const struct cluster *cluster;
	struct cell_design *design;
	bool *done;          /* by node: it is in a chain */
	VEC(uint32_t) nodes; /* of the chain that is being made, by rack and number */
	struct err *err;
};

/* ---- levels */

static int add_level(struct deriver *d, struct cell_chain *chain, const char *name, uint32_t of)
{
	uint64_t leaves = chain->nlevels ? (uint64_t)of * chain->levels[chain->nlevels - 1].leaves : 1;

	if (chain->nlevels == CELL_LEVELS_MAX || leaves > CELL_LEAVES_MAX)
		return err_set(d->err, ERR_FORMAT,
			"a cell \"%s\" would have more than %d devices or levels", name,
			CELL_LEAVES_MAX);
	chain->levels[chain->nlevels] = (struct cell_level){ arena_strdup(&d->design->memory, name),
		chain->nlevels ? of : 0, (uint32_t)leaves };
	chain->nlevels++;
	return 0;
}

static uint32_t rack_at(const struct deriver *d, size_t i)
{
	return d->cluster->nodes[d->nodes.at[i]].rack;
}

/* Cells of so many nodes must not cut a rack in two: inside racks, or made of whole ones. */
static int check_racks(struct deriver *d, const char *name, uint32_t nodes)
{
	for (size_t i = 0; i < d->nodes.n; i += nodes) {
		size_t last = i + nodes - 1;
		bool spans = rack_at(d, i) != rack_at(d, last);
		bool cut = spans &&
			((i > 0 && rack_at(d, i) == rack_at(d, i - 1)) ||
				(last + 1 < d->nodes.n && rack_at(d, last) == rack_at(d, last + 1)));
		uint32_t rack = i > 0 && rack_at(d, i) == rack_at(d, i - 1) ? rack_at(d, i)
									    : rack_at(d, last);

		if (cut)
			return err_set(d->err, ERR_FORMAT,
				"a cell \"%s\" of %u nodes would cut rack %s in two; "
				"change how many make one",
				name, nodes, d->cluster->racks[rack].name);
	}
	return 0;
}

static int check_whole(struct deriver *d, const struct cell_chain *chain)
{
	uint32_t per_node = chain->levels[chain->node_level].leaves;
	int rc = 0;

	for (uint32_t level = chain->node_level + 1; level < chain->nlevels && !rc; level++) {
		uint32_t nodes = chain->levels[level].leaves / per_node;

		if (d->nodes.n % nodes)
			return err_set(d->err, ERR_FORMAT,
				"%zu nodes of %s (%s) do not make whole cells \"%s\" of %u "
				"nodes: %zu are left over",
				d->nodes.n, d->cluster->types[chain->type].name,
				d->cluster->nodes[d->nodes.at[0]].name, chain->levels[level].name,
				nodes, d->nodes.n % nodes);
		rc = check_racks(d, chain->levels[level].name, nodes);
	}
	return rc;
}

/* ---- links */

/* What of the devices belongs together when links of at least so much count: the lowest device of each group. */
static void join(const struct topology *t, double least_Bps, uint8_t *group)
{
	for (uint32_t i = 0; i < t->devices; i++)
		group[i] = (uint8_t)i;
	for (bool more = true; more;) {
		more = false;
		for (uint32_t i = 0; i < t->devices; i++) {
			for (uint32_t k = 0; k < t->devices; k++) {
				if (i == k || t->Bps[i * t->devices + k] < least_Bps ||
					group[k] <= group[i])
					continue;
				group[k] = group[i];
				more = true;
			}
		}
	}
}

/* How many devices each group has, if all have as many; else 0. */
static uint32_t size_of_groups(const uint8_t *group, uint32_t devices)
{
	uint32_t n[NODE_DEVICES_MAX] = { 0 };

	for (uint32_t i = 0; i < devices; i++)
		n[group[i]]++;
	for (uint32_t i = 0; i < devices; i++) {
		if (n[i] && n[i] != n[0])
			return 0;
	}
	return n[0];
}

static double next_speed(const struct topology *t, double below)
{
	double best = 0;

	for (uint32_t i = 0; i < t->devices * t->devices; i++) {
		if (t->Bps[i] < below && t->Bps[i] > best)
			best = t->Bps[i];
	}
	return best;
}

/* Sorts devices by group, so that groups follow each other; those of one group keep their order. */
static void gather(uint8_t *order, const uint8_t *group, uint32_t devices)
{
	uint8_t sorted[NODE_DEVICES_MAX] = { 0 };
	uint32_t n = 0;

	for (uint32_t g = 0; g < devices; g++) {
		for (uint32_t i = 0; i < devices; i++) {
			if (group[order[i]] == g)
				sorted[n++] = order[i];
		}
	}
	memcpy(order, sorted, devices);
}

/* Levels below the node as links suggest: equal groups whose inner links are faster than those between them. */
static int add_linked(struct deriver *d, const struct topology *t, struct cell_chain *chain,
	uint8_t *order)
{
	uint32_t size = 1;
	int rc = 0;

	for (uint32_t i = 0; i < t->devices; i++)
		order[i] = (uint8_t)i;
	for (double Bps = next_speed(t, 1e300); Bps > 0 && !rc; Bps = next_speed(t, Bps)) {
		uint8_t group[NODE_DEVICES_MAX];
		uint32_t n;
		char name[32];

		join(t, Bps, group);
		n = size_of_groups(group, t->devices);
		if (n <= size || n >= t->devices || n % size)
			continue;
		snprintf(name, sizeof(name), "group-%u", n);
		rc = add_level(d, chain, n == 2 ? "pair" : n == 4 ? "quad" : name, n / size);
		gather(order, group, t->devices);
		size = n;
	}
	return rc;
}

/* ---- chains */

/* "v100", or "v100-8" where the type has several chains. */
static const char *chain_name(struct deriver *d, const struct node *node)
{
	struct arena *memory = &d->design->memory;
	const char *name = arena_strdup(memory, d->cluster->types[node->type].name);

	if (cell_chain_find(d->design, name) != CELL_NONE)
		name = arena_printf(memory, "%s-%u", d->cluster->types[node->type].name, node->devices);
	for (uint32_t i = 2; cell_chain_find(d->design, name) != CELL_NONE; i++)
		name = arena_printf(memory, "%s-%u-%u", d->cluster->types[node->type].name,
			node->devices, i);
	return name;
}

static int finish_chain(struct deriver *d, struct cell_chain *chain, const uint8_t *order)
{
	const struct node *first = &d->cluster->nodes[d->nodes.at[0]];
	uint32_t per_node = chain->levels[chain->node_level].leaves;
	uint8_t *devices = NULL;
	int rc = check_whole(d, chain);

	if (rc)
		return rc;
	if (d->design->chains.n == CELL_CHAINS_MAX)
		return err_set(d->err, ERR_FORMAT, "there are more than %d kinds of nodes",
			CELL_CHAINS_MAX);
	if (order) {
		devices = arena_array(&d->design->memory, uint8_t, first->devices);
		memcpy(devices, order, first->devices);
	}
	chain->name = chain_name(d, first);
	chain->first_host = (uint32_t)d->design->hosts.n;
	chain->ntops = (uint32_t)(d->nodes.n * per_node / chain->levels[chain->nlevels - 1].leaves);
	for (size_t i = 0; i < d->nodes.n; i++) {
		uint32_t node = d->nodes.at[i];

		d->done[node] = true;
		vec_push(&d->design->hosts,
			(struct cell_host){
				arena_strdup(&d->design->memory, d->cluster->nodes[node].name),
				node, devices });
	}
	vec_push(&d->design->chains, *chain);
	return 0;
}

static bool same_kind(const struct node *a, const struct node *b)
{
	return a->type == b->type && a->devices == b->devices && a->topology == b->topology;
}

static int by_rack(const void *a, const void *b, void *ctx)
{
	const uint32_t *x = a, *y = b;
	const struct node *nodes = ctx;

	if (nodes[*x].rack != nodes[*y].rack)
		return nodes[*x].rack < nodes[*y].rack ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/* Nodes that are in no chain yet and like `first`, by rack. */
static void list_nodes(struct deriver *d, const struct node *first, bool any_links)
{
	d->nodes.n = 0;
	for (uint32_t i = 0; i < d->cluster->nnodes; i++) {
		const struct node *n = &d->cluster->nodes[i];

		if (!d->done[i] && n->devices &&
			(any_links ? n->type == first->type && n->devices == first->devices
				   : same_kind(n, first)))
			vec_push(&d->nodes, i);
	}
	qsort_r(d->nodes.at, d->nodes.n, sizeof(*d->nodes.at), by_rack, d->cluster->nodes);
}

/* Nodes of the list in each rack that has some, if everywhere as many and there are several; else 0. */
static uint32_t nodes_per_rack(const struct deriver *d)
{
	uint32_t each = 0, run = 0, racks = 0;

	for (size_t i = 0; i < d->nodes.n; i++) {
		run++;
		if (i + 1 < d->nodes.n && rack_at(d, i) == rack_at(d, i + 1))
			continue;
		if (each && run != each)
			return 0;
		each = run;
		run = 0;
		racks++;
	}
	return racks > 1 && each > 1 ? each : 0;
}

static int derive_chain(struct deriver *d, const struct node *first)
{
	struct cell_chain chain = { .type = first->type };
	uint8_t order[NODE_DEVICES_MAX];
	bool linked = first->topology != TOPOLOGY_NONE;
	uint32_t racked;
	int rc = add_level(d, &chain, "device", 1);

	list_nodes(d, first, false);
	if (!rc && linked)
		rc = add_linked(d, &d->cluster->topologies[first->topology], &chain, order);
	if (!rc)
		rc = add_level(d, &chain, "node",
			first->devices / chain.levels[chain.nlevels - 1].leaves);
	chain.node_level = chain.nlevels - 1;
	racked = nodes_per_rack(d);
	if (!rc && racked)
		rc = add_level(d, &chain, "rack", racked);
	return rc ? rc : finish_chain(d, &chain, linked ? order : NULL);
}

/* ---- as it is written */

/* The level whose cells have as many devices as a node, the highest of equals; 0: there is none. */
static uint32_t node_rung(const struct cell_ladder *ladder, uint32_t devices)
{
	uint64_t leaves = 1;
	uint32_t found = 0;

	for (uint32_t i = 0; i < ladder->nrungs && leaves <= devices && devices; i++) {
		leaves *= ladder->rungs[i].of;
		if (leaves == devices)
			found = i + 1;
	}
	return found;
}

static int follow_ladder(struct deriver *d, const struct cell_ladder *ladder, const struct node *first)
{
	struct cell_chain chain = { .type = first->type,
		.node_level = node_rung(ladder, first->devices) };
	int rc = add_level(d, &chain, "device", 1);

	list_nodes(d, first, true);
	for (uint32_t i = 0; i < ladder->nrungs && !rc; i++)
		rc = add_level(d, &chain, ladder->rungs[i].name, ladder->rungs[i].of);
	return rc ? rc : finish_chain(d, &chain, NULL);
}

static bool ladder_meets(const struct cell_ladder *ladder, const struct node *node)
{
	return ladder->type == TYPES_MAX || ladder->type == node->type;
}

static const struct cell_ladder *ladder_of(const struct deriver *d, const struct node *node)
{
	for (uint32_t i = 0; i < d->cluster->nladders; i++) {
		if (ladder_meets(&d->cluster->ladders[i], node) &&
			node_rung(&d->cluster->ladders[i], node->devices))
			return &d->cluster->ladders[i];
	}
	return NULL;
}

/* It reaches no node of its type, or only such as another has reached before. */
static int unused_ladder(struct deriver *d, const struct cell_ladder *ladder)
{
	const struct node *met = NULL;

	for (uint32_t k = 0; k < d->cluster->nnodes; k++) {
		const struct node *node = &d->cluster->nodes[k];

		if (!ladder_meets(ladder, node))
			continue;
		met = node;
		if (node_rung(ladder, node->devices))
			return err_set(d->err, ERR_FORMAT,
				"the cells of %s are described twice, from \"%s\" and from \"%s\" up; keep one",
				node->name, ladder_of(d, node)->rungs[0].name, ladder->rungs[0].name);
	}
	return err_set(d->err, ERR_FORMAT,
		"no level of \"%s\" and above has as many devices as a node%s%s; "
		"one must: (product of `of` from below) = devices of the node",
		ladder->rungs[0].name, met ? ", such as " : "", met ? met->name : "");
}

/* Every ladder of a type must reach some node of it. */
static int check_ladders(struct deriver *d)
{
	for (uint32_t i = 0; i < d->cluster->nladders; i++) {
		const struct cell_ladder *ladder = &d->cluster->ladders[i];
		bool used = false;

		for (uint32_t k = 0; k < d->cluster->nnodes && !used; k++)
			used = ladder_of(d, &d->cluster->nodes[k]) == ladder;
		if (!used)
			return unused_ladder(d, ladder);
	}
	return 0;
}

static int derive_chains(struct deriver *d)
{
	int rc = check_ladders(d);

	for (uint32_t i = 0; i < d->cluster->nnodes && !rc; i++) {
		const struct node *node = &d->cluster->nodes[i];
		const struct cell_ladder *ladder = ladder_of(d, node);

		/* A node without devices is in no cell. */
		if (!d->done[i] && node->devices)
			rc = ladder ? follow_ladder(d, ladder, node) : derive_chain(d, node);
	}
	return rc;
}

int cell_design_of(const struct cluster *cluster, const struct tenants *tenants,
	struct cell_design *out, struct err *err)
{
	struct cell_design design = { 0 };
	struct deriver d = { .cluster = cluster, .design = &design, .err = err };
	int rc;

	d.done = mem_alloc(cluster->nnodes + 1);
	rc = derive_chains(&d);
	if (!rc)
		rc = cell_promises_add(cluster, tenants, &design, err);
	free(d.done);
	vec_fini(&d.nodes);
	if (rc)
		cell_design_fini(&design);
	else
		*out = design;
	return rc;
}
