/*
 * Ladders of cells in YAML:
 *
 *	cells:
 *	  - type: v100
 *	    levels: [{name: pair, of: 2}, {name: node, of: 4}, {name: rack, of: 16}]
 */
#include "io/cluster_cells.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/cell_design.h"

#define PATH(entry, key) YAML_PATH({ "cells", 0 }, { NULL, entry }, { key, 0 })
#define LEVEL(entry, level, key) \
	YAML_PATH({ "cells", 0 }, { NULL, entry }, { "levels", 0 }, { NULL, level }, { key, 0 })

static bool is_name(const char *name)
{
	if (!name || !*name || strlen(name) > 60)
		return false;
	for (const char *c = name; *c; c++) {
		if (*c <= ' ' || *c > '~')
			return false;
	}
	return true;
}

static int read_level(struct yaml *yaml, const struct cells_text *text, uint32_t entry, uint32_t i,
	struct cell_rung *out, struct err *err)
{
	const struct level_text *level = &text->levels[i];
	int64_t of = 0;

	if (!is_name(level->name))
		return yaml_fail(yaml, LEVEL(entry, i, "name"), err,
			"a level needs a name of at most 60 letters, such as pair, node or rack");
	for (uint32_t k = 0; k < i; k++) {
		if (!strcmp(level->name, text->levels[k].name))
			return yaml_fail(yaml, LEVEL(entry, i, "name"), err,
				"two levels are called \"%s\"; change one", level->name);
	}
	if (!strcmp(level->name, "device"))
		return yaml_fail(yaml, LEVEL(entry, i, "name"), err,
			"the lowest level is a device already; begin with what devices make up");
	if (!level->of || !slice_int(slice_of(level->of), &of) || of < 1 || of > 1000000)
		return yaml_fail(yaml, LEVEL(entry, i, "of"), err,
			"write how many cells of the level below make one of these, from 1 to 1000000");
	*out = (struct cell_rung){ level->name, (uint32_t)of };
	return 0;
}

static int read_ladder(struct yaml *yaml, const struct cells_text *text, uint32_t entry,
	struct cluster *cluster, struct err *err)
{
	struct cell_rung rungs[CELL_LEVELS_MAX];
	struct cell_ladder ladder = { TYPES_MAX, rungs, text->nlevels };
	int type = text->type ? cluster_find_type(cluster, text->type) : TYPES_MAX, rc = 0;

	if (type < 0)
		return yaml_fail(yaml, PATH(entry, "type"), err,
			"no node has devices of type \"%.80s\"; leave type out to mean all",
			text->type);
	if (!text->nlevels || text->nlevels >= CELL_LEVELS_MAX)
		return yaml_fail(yaml, PATH(entry, "levels"), err,
			"give 1 to %d levels from below, such as [{name: node, of: 8}, {name: rack, of: 4}]",
			CELL_LEVELS_MAX - 1);
	for (uint32_t i = 0; i < text->nlevels && !rc; i++)
		rc = read_level(yaml, text, entry, i, &rungs[i], err);
	ladder.type = (uint32_t)type;
	if (!rc)
		cluster_add_ladder(cluster, &ladder);
	return rc;
}

int cluster_read_cells(struct yaml *yaml, const struct cluster_text *in, struct cluster *out,
	struct err *err)
{
	struct cell_design design;
	int rc = 0;

	for (uint32_t i = 0; i < in->ncells && !rc; i++)
		rc = read_ladder(yaml, &in->cells[i], i, out, err);
	if (rc || !in->ncells)
		return rc;
	/* Whether nodes make up whole cells is seen at once. */
	if (cell_design_of(out, NULL, &design, err) < 0) {
		struct err why = *err;

		return yaml_fail(yaml, YAML_PATH({ "cells", 0 }), err, "%.600s", why.text);
	}
	cell_design_fini(&design);
	return 0;
}

void cluster_write_cells(const struct cluster *cluster, struct buf *out)
{
	if (cluster->nladders)
		buf_str(out, "cells:\n");
	for (uint32_t i = 0; i < cluster->nladders; i++) {
		const struct cell_ladder *ladder = &cluster->ladders[i];

		buf_str(out, "  - {");
		if (ladder->type < TYPES_MAX) {
			buf_str(out, "type: ");
			json_quote(out, cluster->types[ladder->type].name);
			buf_str(out, ", ");
		}
		buf_str(out, "levels: [");
		for (uint32_t k = 0; k < ladder->nrungs; k++) {
			buf_str(out, k ? ", {name: " : "{name: ");
			json_quote(out, ladder->rungs[k].name);
			buf_printf(out, ", of: %u}", ladder->rungs[k].of);
		}
		buf_str(out, "]}\n");
	}
}
