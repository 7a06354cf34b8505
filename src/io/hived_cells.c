/*
 * Physical cells and virtual clusters of HiveD's configuration.
 *
 * A chain is the type of a top cell; its trees are the top cells of that type, in the order of
 * the file.  Cells need not be written out below the node.
 */
#include <string.h>

#include "base/text.h"
#include "io/hived_parts.h"
#include "model/cluster.h"

/* ---- chains */

/* The levels of a type from the top down, turned round. */
static int set_levels(struct hived *h, const yaml_node_t *at, const char *top, struct cell_chain *chain)
{
	const char *names[CELL_LEVELS_MAX], *name = top;
	const struct cell_kind *kinds[CELL_LEVELS_MAX], *kind;
	uint32_t n = 0;
	uint64_t leaves = 1;

	for (kind = hived_kind(h, name); n < CELL_LEVELS_MAX; kind = hived_kind(h, name)) {
		names[n] = name;
		kinds[n++] = kind;
		if (!kind)
			break;
		name = kind->child;
	}
	if (kind)
		return hived_fail(h, at, "cell type \"%.80s\" has more than %d levels", top,
			CELL_LEVELS_MAX);
	chain->nlevels = n;
	chain->node_level = CELL_NONE;
	for (uint32_t level = 0; level < n; level++) {
		kind = kinds[n - 1 - level];
		leaves *= kind ? kind->split : 1;
		if (leaves > CELL_LEAVES_MAX)
			return hived_fail(h, at, "a cell \"%.80s\" would have more than %d devices",
				top, CELL_LEAVES_MAX);
		chain->levels[level] =
			(struct cell_level){ arena_strdup(&h->design->memory, names[n - 1 - level]),
				kind ? kind->split : 0, (uint32_t)leaves };
		if (!kind || !kind->is_node)
			continue;
		if (chain->node_level != CELL_NONE)
			return hived_fail(h, at,
				"cell type \"%.80s\": both \"%.80s\" and \"%.80s\" are node level; "
				"keep one",
				top, chain->levels[chain->node_level].name, chain->levels[level].name);
		chain->node_level = level;
	}
	if (chain->node_level == CELL_NONE)
		return hived_fail(h, at,
			"cell type \"%.80s\" has no node level; say isNodeLevel: true of one "
			"of the types in it",
			top);
	if (chain->levels[chain->node_level].leaves > NODE_DEVICES_MAX)
		return hived_fail(h, at, "a node \"%.80s\" has %u devices, at most %d are possible",
			chain->levels[chain->node_level].name,
			chain->levels[chain->node_level].leaves, NODE_DEVICES_MAX);
	chain->type = names_add(&h->design->types, chain->levels[0].name,
		strlen(chain->levels[0].name));
	return 0;
}

static int chain_of(struct hived *h, yaml_node_t *cell, uint32_t *out)
{
	yaml_node_t *type = hived_field(h, cell, "cellType");
	const char *name = hived_text(type);
	struct cell_chain chain = { 0 };
	int near, rc;

	if (!name || !*name)
		return hived_fail(h, cell, "physicalCells: a top cell needs its cellType");
	*out = cell_chain_find(h->design, name);
	if (*out != CELL_NONE)
		return 0;
	if (!hived_kind(h, name)) {
		near = text_nearest(name, h->kinds.at, h->kinds.n);
		return hived_fail(h, type, "physicalCells: there is no cell type \"%.80s\"%s%.80s%s",
			name, near >= 0 ? "; did you mean \"" : " in cellTypes",
			near >= 0 ? h->kinds.at[near] : "", near >= 0 ? "\"?" : "");
	}
	if (h->design->chains.n == CELL_CHAINS_MAX)
		return hived_fail(h, type, "there are more than %d types of top cells",
			CELL_CHAINS_MAX);
	rc = set_levels(h, type, name, &chain);
	if (rc)
		return rc;
	chain.name = arena_strdup(&h->design->memory, name);
	*out = (uint32_t)h->design->chains.n;
	vec_push(&h->design->chains, chain);
	return 0;
}

/* ---- one cell */

struct where {
	uint32_t chain, level, index;
	uint32_t host; /* of design.hosts, below the node */
};

static int add_pin(struct hived *h, yaml_node_t *cell, struct where w)
{
	yaml_node_t *node = hived_field(h, cell, "pinnedCellId");
	const char *name = hived_text(node);

	if (hived_is_empty(node))
		return 0;
	if (!name || strlen(name) > 200)
		return hived_fail(h, node, "pinnedCellId: write a name of at most 200 letters");
	for (size_t i = 0; i < h->design->pins.n; i++) {
		if (!strcmp(h->design->pins.at[i].name, name))
			return hived_fail(h, node,
				"pinnedCellId \"%.80s\" is given twice; keep one", name);
	}
	vec_push(&h->design->pins,
		(struct cell_pin){ arena_strdup(&h->design->memory, name), w.chain, w.level,
			w.index, CELL_NONE });
	return 0;
}

static int add_host(struct hived *h, yaml_node_t *cell, struct where *w)
{
	yaml_node_t *node = hived_field(h, cell, "cellAddress");
	const char *name = hived_text(node);
	uint32_t before = h->hosts.n;
	char key[600];
	int n;

	if (!name || !*name || strlen(name) > 200)
		return hived_fail(h, node ? node : cell,
			"physicalCells: a cell \"%.80s\" is a node and needs its "
			"name: cellAddress: NAME",
			h->design->chains.at[w->chain].levels[w->level].name);
	n = snprintf(key, sizeof(key), "%u %s", h->design->chains.at[w->chain].type, name);
	names_add(&h->hosts, key, (size_t)n);
	if (h->hosts.n == before)
		return hived_fail(h, node,
			"physicalCells: two nodes with devices \"%.80s\" are called \"%.80s\"",
			h->design->types.at[h->design->chains.at[w->chain].type], name);
	w->host = (uint32_t)h->design->hosts.n;
	vec_push(&h->design->hosts,
		(struct cell_host){ .name = arena_strdup(&h->design->memory, name), .node = w->host });
	return 0;
}

/* A device by a number of its own: the host's devices are no longer in order. */
static int set_device(struct hived *h, yaml_node_t *cell, struct where w)
{
	struct cell_host *host = &h->design->hosts.at[w.host];
	const struct cell_chain *chain = &h->design->chains.at[w.chain];
	uint32_t leaves = chain->levels[chain->node_level].leaves;
	uint8_t *devices = (uint8_t *)host->devices;
	int64_t number;
	int rc;

	if (hived_is_empty(hived_field(h, cell, "cellAddress")))
		return 0;
	rc = hived_number(h, cell, "cellAddress", 0, NODE_DEVICES_MAX - 1, &number);
	if (rc)
		return rc;
	if (!devices) {
		devices = arena_array(&h->design->memory, uint8_t, leaves);
		for (uint32_t i = 0; i < leaves; i++)
			devices[i] = (uint8_t)i;
		host->devices = devices;
	}
	devices[w.index % leaves] = (uint8_t)number;
	return 0;
}

static int check_devices(struct hived *h, const yaml_node_t *cell, const struct where *w)
{
	const struct cell_host *host = &h->design->hosts.at[w->host];
	const struct cell_chain *chain = &h->design->chains.at[w->chain];
	uint64_t seen = 0;

	for (uint32_t i = 0; host->devices && i < chain->levels[chain->node_level].leaves; i++) {
		if (seen >> host->devices[i] & 1)
			return hived_fail(h, cell, "node \"%.80s\" has device %u twice", host->name,
				host->devices[i]);
		seen |= UINT64_C(1) << host->devices[i];
	}
	return 0;
}

static int read_cell(struct hived *h, yaml_node_t *cell, struct where w);

static int read_children(struct hived *h, yaml_node_t *cell, struct where w)
{
	yaml_node_t *list = hived_field(h, cell, "cellChildren");
	const struct cell_chain *chain = &h->design->chains.at[w.chain];
	const struct cell_level *level = &chain->levels[w.level];
	uint32_t split = level->split;
	int rc = 0;

	if (hived_is_empty(list) && w.level <= chain->node_level)
		return 0;
	if (hived_length(list) != split)
		return hived_fail(h, list ? list : cell,
			"physicalCells: a cell \"%.80s\" has %u children \"%.80s\", "
			"here are %u",
			level->name, split, chain->levels[w.level ? w.level - 1 : 0].name,
			hived_length(list));
	for (uint32_t i = 0; i < split && !rc; i++)
		rc = read_cell(h, hived_entry(h, list, i),
			(struct where){ w.chain, w.level - 1, w.index * split + i, w.host });
	return rc;
}

static int read_cell(struct hived *h, yaml_node_t *cell, struct where w)
{
	const struct cell_chain *chain = &h->design->chains.at[w.chain];
	bool is_node = w.level == chain->node_level;
	int rc;

	if (cell->type != YAML_MAPPING_NODE)
		return hived_fail(h, cell,
			"physicalCells: a cell is written as fields, such as cellAddress: NAME");
	rc = add_pin(h, cell, w);
	if (!rc && is_node)
		rc = add_host(h, cell, &w);
	if (!rc && w.level == 0 && !is_node)
		rc = set_device(h, cell, w);
	if (!rc && w.level > 0)
		rc = read_children(h, cell, w);
	return !rc && is_node ? check_devices(h, cell, &w) : rc;
}

/* ---- all of them */

/* Hosts of a chain follow each other, so chain by chain. */
static int read_chain(struct hived *h, yaml_node_t *cells, uint32_t chain)
{
	uint32_t top = h->design->chains.at[chain].nlevels - 1;
	uint64_t leaves = h->design->chains.at[chain].levels[top].leaves;
	int rc = 0;

	h->design->chains.at[chain].first_host = (uint32_t)h->design->hosts.n;
	for (uint32_t i = 0; i < hived_length(cells) && !rc; i++) {
		yaml_node_t *cell = hived_entry(h, cells, i);
		const char *type = hived_text(hived_field(h, cell, "cellType"));

		if (strcmp(type, h->design->chains.at[chain].name))
			continue;
		h->leaves += leaves;
		if (h->leaves > CELL_LEAVES_MAX)
			return hived_fail(h, cell, "there are more than %d devices", CELL_LEAVES_MAX);
		rc = read_cell(h, cell,
			(struct where){ chain, top, h->design->chains.at[chain].ntops++, CELL_NONE });
	}
	return rc;
}

int hived_read_physical(struct hived *h, yaml_node_t *cells)
{
	int rc = 0;

	if (!hived_length(cells))
		return hived_fail(h, cells,
			"physicalCluster: physicalCells is missing: a list such as "
			"- {cellType: NODE-TYPE, cellAddress: NAME}");
	for (uint32_t i = 0; i < hived_length(cells) && !rc; i++) {
		uint32_t chain;

		rc = chain_of(h, hived_entry(h, cells, i), &chain);
	}
	for (uint32_t i = 0; i < h->design->chains.n && !rc; i++)
		rc = read_chain(h, cells, i);
	return rc;
}

/* ---- virtual clusters */

/* "4-NODE.2-NODE.NODE": the chain, then a level below it with each name. */
static int find_level(struct hived *h, const yaml_node_t *at, const char *path, uint32_t *chain_out,
	uint32_t *level_out)
{
	struct slice rest = slice_of(path), first = slice_cut(&rest, '.');
	char name[256];

	snprintf(name, sizeof(name), "%.*s", (int)(first.n < 255 ? first.n : 255), first.at);
	*chain_out = cell_chain_find(h->design, name);
	if (*chain_out == CELL_NONE)
		return hived_fail(h, at,
			"cellType \"%.80s\": no physical cell is of type \"%.80s\"; it begins "
			"with one that physicalCells has at the top",
			path, name);
	*level_out = h->design->chains.at[*chain_out].nlevels - 1;
	while (rest.n) {
		const struct cell_chain *chain = &h->design->chains.at[*chain_out];
		struct slice part = slice_cut(&rest, '.');

		if (*level_out == 0 || !slice_is(part, chain->levels[*level_out - 1].name))
			return hived_fail(h, at,
				"cellType \"%.80s\": \"%.80s\" is not made of \"%.*s\"%s%.80s%s", path,
				chain->levels[*level_out].name, (int)(part.n < 80 ? part.n : 80),
				part.at, *level_out ? ", but of \"" : "",
				*level_out ? chain->levels[*level_out - 1].name : "",
				*level_out ? "\"" : "");
		--*level_out;
	}
	return 0;
}

static int read_promise(struct hived *h, yaml_node_t *entry, uint32_t vc)
{
	yaml_node_t *type = hived_field(h, entry, "cellType");
	struct cell_promise promise = { .vc = vc, .pin = CELL_NONE };
	int64_t count;
	int rc;

	if (!hived_text(type))
		return hived_fail(h, entry,
			"virtual cluster \"%.80s\": virtualCells need a cellType and a "
			"cellNumber",
			h->design->vcs.at[vc]);
	rc = find_level(h, type, hived_text(type), &promise.chain, &promise.level);
	if (!rc)
		rc = hived_number(h, entry, "cellNumber", 0, CELL_LEAVES_MAX, &count);
	if (rc)
		return rc;
	promise.count = (uint32_t)count;
	promise.line = (uint32_t)entry->start_mark.line + 1;
	if (count)
		vec_push(&h->design->promises, promise);
	return 0;
}

static int read_pinned(struct hived *h, yaml_node_t *entry, uint32_t vc)
{
	yaml_node_t *id = hived_field(h, entry, "pinnedCellId");
	const char *name = hived_text(id);

	for (uint32_t i = 0; name && i < h->design->pins.n; i++) {
		struct cell_pin *pin = &h->design->pins.at[i];

		if (strcmp(pin->name, name))
			continue;
		if (pin->promise != CELL_NONE)
			return hived_fail(h, id,
				"cell \"%.80s\" is promised to both \"%.80s\" and \"%.80s\"", name,
				h->design->vcs.at[h->design->promises.at[pin->promise].vc],
				h->design->vcs.at[vc]);
		pin->promise = (uint32_t)h->design->promises.n;
		vec_push(&h->design->promises,
			(struct cell_promise){ vc, pin->chain, pin->level, 1, i,
				(uint32_t)entry->start_mark.line + 1 });
		return 0;
	}
	return hived_fail(h, id ? id : entry,
		"virtual cluster \"%.80s\": no physical cell has pinnedCellId \"%.80s\"",
		h->design->vcs.at[vc], name ? name : "");
}

static int read_cluster(struct hived *h, yaml_node_t *key, yaml_node_t *value)
{
	yaml_node_t *cells = hived_field(h, value, "virtualCells");
	yaml_node_t *pinned = hived_field(h, value, "pinnedCells");
	const char *name = hived_text(key);
	uint32_t vc, before = h->design->vcs.n;
	int rc = 0;

	if (!name || !*name || strlen(name) > 200)
		return hived_fail(h, key,
			"virtualClusters: a cluster needs a name of at most 200 letters");
	vc = names_add(&h->design->vcs, name, strlen(name));
	if (h->design->vcs.n == before)
		return hived_fail(h, key, "virtualClusters: \"%.80s\" is given twice; keep one", name);
	for (uint32_t i = 0; i < hived_length(cells) && !rc; i++)
		rc = read_promise(h, hived_entry(h, cells, i), vc);
	for (uint32_t i = 0; i < hived_length(pinned) && !rc; i++)
		rc = read_pinned(h, hived_entry(h, pinned, i), vc);
	return rc;
}

int hived_read_virtual(struct hived *h, yaml_node_t *clusters)
{
	int rc = 0;

	if (!clusters || clusters->type != YAML_MAPPING_NODE)
		return hived_fail(h, clusters,
			"virtualClusters is missing: NAME: {virtualCells: [{cellType: "
			"…, cellNumber: …}]}");
	for (yaml_node_pair_t *p = clusters->data.mapping.pairs.start;
		p < clusters->data.mapping.pairs.top && !rc; p++)
		rc = read_cluster(h, yaml_document_get_node(&h->document, p->key),
			yaml_document_get_node(&h->document, p->value));
	return rc;
}
