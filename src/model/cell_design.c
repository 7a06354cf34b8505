/*
 * Designs of cells: names and numbers.
 */
#include "model/cell_design.h"

#include <string.h>

#include "base/text.h"

void cell_design_fini(struct cell_design *design)
{
	arena_fini(&design->memory);
	names_fini(&design->types);
	names_fini(&design->vcs);
	vec_fini(&design->chains);
	vec_fini(&design->hosts);
	vec_fini(&design->pins);
	vec_fini(&design->promises);
	*design = (struct cell_design){ 0 };
}

uint32_t cell_chain_find(const struct cell_design *design, const char *name)
{
	for (uint32_t i = 0; i < design->chains.n; i++) {
		if (!strcmp(design->chains.at[i].name, name))
			return i;
	}
	return CELL_NONE;
}

uint32_t cell_level_find(const struct cell_chain *chain, const char *name)
{
	for (uint32_t i = 0; i < chain->nlevels; i++) {
		if (!strcmp(chain->levels[i].name, name))
			return i;
	}
	return CELL_NONE;
}

void cell_name(const struct cell_design *design, uint32_t chain, uint32_t level, uint32_t index,
	struct buf *out)
{
	const struct cell_chain *c = &design->chains.at[chain];
	uint32_t per_node = c->levels[c->node_level].leaves / c->levels[level].leaves;

	if (level > c->node_level) {
		buf_printf(out, "%s %u", c->levels[level].name, index);
		return;
	}
	buf_str(out, design->hosts.at[c->first_host + index / per_node].name);
	if (level < c->node_level)
		buf_printf(out, " %s %u", c->levels[level].name, index % per_node);
}
