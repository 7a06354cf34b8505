/*
 * Cells: how devices lie together, and who was promised which.
 *
 * A chain is one kind of tree: a cell of level k is made of `split` cells of level
 * k - 1, down to level 0, a device.  All trees of a chain are alike, so that cells need
 * no pointers: cell i of a level lies in cell i / split of the next, and everything
 * about it is arithmetic.  One level is the node: its cells are whole hosts.
 *
 * A virtual cluster is promised so many cells of a level, any of them, or one in
 * particular (a pin).  A design is plain data: placement/cell_check.h says whether the
 * promises can be kept, placement/cells.h keeps them.
 */
#ifndef MODEL_CELL_DESIGN_H
#define MODEL_CELL_DESIGN_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "base/vec.h"

struct cluster;
struct tenants;

enum {
	CELL_LEVELS_MAX = 12,
	CELL_CHAINS_MAX = 255,
	CELL_LEAVES_MAX = 1 << 24, /* devices of one design */
};

#define CELL_NONE UINT32_MAX

struct cell_level {
	const char *name;
	uint32_t split;  /* cells of the level below in one of this; 0 for a device */
	uint32_t leaves; /* devices in it */
};

struct cell_chain {
	const char *name;
	uint32_t type; /* of its devices: of the cluster, or of design.types */
	uint32_t nlevels, node_level;
	struct cell_level levels[CELL_LEVELS_MAX];
	uint32_t ntops;      /* trees */
	uint32_t first_host; /* in design.hosts; one for each cell of the node level, in their order */
};

/* A cell of the node level. */
struct cell_host {
	const char *name;
	uint32_t node;          /* of the cluster; else its place in design.hosts */
	const uint8_t *devices; /* by leaf: which device of the node; NULL: in order */
};

/* A certain cell by a name. */
struct cell_pin {
	const char *name;
	uint32_t chain, level, index; /* the index-th cell of the level in its chain */
	uint32_t promise;             /* who has it, or CELL_NONE */
};

struct cell_promise {
	uint32_t vc, chain, level, count;
	uint32_t pin;  /* the very cell, count is then 1; or CELL_NONE: any */
	uint32_t line; /* of the file that says so; 0: unknown */
};

/* A zeroed design is valid and empty. */
struct cell_design {
	struct arena memory; /* of names and lists */
	struct names types;  /* of devices, where there is no cluster */
	struct names vcs;
	VEC(struct cell_chain) chains;
	VEC(struct cell_host) hosts;
	VEC(struct cell_pin) pins;
	VEC(struct cell_promise) promises;
};

void cell_design_fini(struct cell_design *design);

/* Cells of a level in a chain. */
static inline uint32_t cell_count(const struct cell_chain *chain, uint32_t level)
{
	return chain->ntops * (chain->levels[chain->nlevels - 1].leaves / chain->levels[level].leaves);
}

/* By name, or CELL_NONE. */
uint32_t cell_chain_find(const struct cell_design *design, const char *name);
uint32_t cell_level_find(const struct cell_chain *chain, const char *name);
/* What a person calls a cell: "n3", "n3 pair 1", "rack 2". */
void cell_name(const struct cell_design *design, uint32_t chain, uint32_t level, uint32_t index,
	struct buf *out);

/*
 * The cells of a cluster, as its file says or as its racks and links suggest, and what
 * its tenants were promised.  ERR_FORMAT: levels that nodes do not make up whole, cells that nobody
 * knows, pins of nothing.  Virtual clusters have the indices of `tenants`; NULL: none.
 * Release with cell_design_fini().
 */
int cell_design_of(const struct cluster *cluster, const struct tenants *tenants,
	struct cell_design *out, struct err *err);

#endif
