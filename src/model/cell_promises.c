/*
 * Promises: which cells of a design the words of a tenant mean, any of a kind or a certain one.
 */
#include "model/cell_promises.h"

#include <string.h>

#include "base/text.h"
#include "model/cluster.h"
#include "model/tenant.h"

struct promiser {
	const struct cluster *cluster;
	struct cell_design *design;
	struct err *err;
};

static bool chain_meets(const struct promiser *p, const struct cell_chain *chain, const char *type)
{
	return !type || !strcmp(chain->name, type) ||
		(int)chain->type == cluster_find_type(p->cluster, type);
}

/* "device, node, rack" of every chain that the type allows. */
static void name_levels(const struct promiser *p, const char *type, struct buf *out)
{
	struct names seen = { 0 };

	for (size_t i = 0; i < p->design->chains.n; i++) {
		const struct cell_chain *chain = &p->design->chains.at[i];

		for (uint32_t k = 0; k < chain->nlevels && chain_meets(p, chain, type); k++) {
			uint32_t before = seen.n;

			names_add(&seen, chain->levels[k].name, strlen(chain->levels[k].name));
			if (seen.n > before)
				buf_printf(out, "%s%s", before ? ", " : "", chain->levels[k].name);
		}
	}
	if (!seen.n)
		buf_str(out, "none of that type");
	names_fini(&seen);
}

static int find_cell(const struct promiser *p, const struct tenant_cell *cell, struct cell_promise *out)
{
	struct buf known = { 0 };
	uint32_t first = CELL_NONE;

	for (uint32_t i = 0; i < p->design->chains.n; i++) {
		const struct cell_chain *chain = &p->design->chains.at[i];
		uint32_t level = cell_level_find(chain, cell->cell);

		if (level == CELL_NONE || !chain_meets(p, chain, cell->type))
			continue;
		if (first != CELL_NONE)
			return err_set(p->err, ERR_FORMAT,
				"cell \"%.60s\" may be of %s or of %s; say which with type",
				cell->cell, p->design->chains.at[first].name, chain->name);
		first = out->chain = i;
		out->level = level;
	}
	if (first != CELL_NONE)
		return 0;
	name_levels(p, cell->type, &known);
	err_set(p->err, ERR_FORMAT, "there is no cell \"%.60s\"%s%.60s; there are %.300s",
		cell->cell, cell->type ? " of type " : "", cell->type ? cell->type : "", known.at);
	buf_fini(&known);
	return ERR_FORMAT;
}

/* The position of a device among those of its node, in the order of cells. */
static uint32_t position_of(const struct cell_host *host, uint32_t devices, uint32_t device)
{
	for (uint32_t i = 0; host->devices && i < devices; i++) {
		if (host->devices[i] == device)
			return i;
	}
	return device;
}

/* NODE or NODE:DEVICE: the cell of the level that holds it. */
static int find_pin(const struct promiser *p, const char *text, const struct cell_promise *promise,
	uint32_t *index)
{
	const struct cell_chain *chain = &p->design->chains.at[promise->chain];
	uint32_t per_node = chain->levels[chain->node_level].leaves,
		 hosts = cell_count(chain, chain->node_level);
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : strlen(text);
	int64_t device = 0;

	if (promise->level < chain->node_level && !colon)
		return err_set(p->err, ERR_FORMAT,
			"pinned: a \"%s\" is less than a node; say which with NODE:DEVICE, "
			"such as %.60s:0",
			chain->levels[promise->level].name, text);
	if (colon && (!slice_int(slice_of(colon + 1), &device) || device < 0 || device >= per_node))
		return err_set(p->err, ERR_FORMAT,
			"pinned: \"%.80s\" is not NODE:DEVICE with a device from 0 to %u", text,
			per_node - 1);
	for (uint32_t i = 0; i < hosts; i++) {
		const struct cell_host *host = &p->design->hosts.at[chain->first_host + i];

		if (strlen(host->name) != n || memcmp(host->name, text, n))
			continue;
		*index = (i * per_node + position_of(host, per_node, (uint32_t)device)) /
			chain->levels[promise->level].leaves;
		return 0;
	}
	return err_set(p->err, ERR_FORMAT, "pinned: %s has no node \"%.*s\"", chain->name,
		(int)(n < 80 ? n : 80), text);
}

static int add_promise(const struct promiser *p, uint32_t vc, const struct tenant_cell *cell)
{
	struct cell_promise promise = { .vc = vc,
		.count = cell->count,
		.pin = CELL_NONE,
		.line = cell->line };
	int rc = find_cell(p, cell, &promise);

	if (!rc && cell->pinned) {
		struct cell_pin pin = { arena_strdup(&p->design->memory, cell->pinned),
			promise.chain, promise.level, 0, (uint32_t)p->design->promises.n };

		rc = find_pin(p, cell->pinned, &promise, &pin.index);
		promise.pin = (uint32_t)p->design->pins.n;
		promise.count = 1;
		if (!rc)
			vec_push(&p->design->pins, pin);
	}
	if (!rc)
		vec_push(&p->design->promises, promise);
	return rc;
}

int cell_promises_add(const struct cluster *cluster, const struct tenants *tenants,
	struct cell_design *design, struct err *err)
{
	const struct promiser promiser = { cluster, design, err }, *p = &promiser;

	for (uint32_t i = 0; tenants && i < tenants->n; i++) {
		const struct tenant *t = &tenants->at[i];
		const char *name = t->name ? t->name : "";

		names_add(&p->design->vcs, name, strlen(name));
		for (uint32_t k = 0; k < t->ncells; k++) {
			if (add_promise(p, i, &t->cells[k]) == 0)
				continue;
			err_prefix(p->err, "tenant %s: cells #%u", name, k + 1);
			return t->cells[k].line ? err_prefix(p->err, "line %u", t->cells[k].line)
						: ERR_FORMAT;
		}
	}
	return 0;
}
