/*
 * Promised cells in YAML: cells: [{cell: node, type: v100, count: 4}, {cell: pair, pinned: "n3:2"}]
 */
#include "io/tenants_cells.h"

#include <stdlib.h>

#include "base/json.h"
#include "model/cell_design.h"

#define TEXT_FLAGS (CYAML_FLAG_POINTER_NULL_STR | CYAML_FLAG_OPTIONAL)
#define TEXT(field) \
	CYAML_FIELD_STRING_PTR(#field, TEXT_FLAGS, struct tenant_cell_text, field, 0, CYAML_UNLIMITED)

static const cyaml_schema_field_t fields[] = {
	TEXT(cell),
	TEXT(type),
	TEXT(count),
	TEXT(pinned),
	CYAML_FIELD_END,
};

const cyaml_schema_value_t tenant_cell_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tenant_cell_text, fields),
};

#define ENTRY(tenant, i) YAML_PATH({ "tenants", 0 }, { NULL, tenant }, { "cells", 0 }, { NULL, i })
#define PATH(tenant, i, key) \
	YAML_PATH({ "tenants", 0 }, { NULL, tenant }, { "cells", 0 }, { NULL, i }, { key, 0 })

static bool is_clean(const char *text)
{
	for (; text && *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 127)
			return false;
	}
	return true;
}

static int read_cell(struct yaml *yaml, uint32_t tenant, uint32_t i,
	const struct tenant_cell_text *text, struct tenant_cell *out, struct err *err)
{
	int64_t count = 1;

	if (!text->cell)
		return yaml_fail(yaml, ENTRY(tenant, i), err,
			"which cells? write cell: node, or another level of the cluster");
	if (!is_clean(text->cell) || !is_clean(text->type) || !is_clean(text->pinned))
		return yaml_fail(yaml, ENTRY(tenant, i), err,
			"a name has no line ends, tabs or other control characters");
	if (text->count && text->pinned)
		return yaml_fail(yaml, PATH(tenant, i, "count"), err,
			"a pinned cell is one; leave count or pinned out");
	if (text->count &&
		(!slice_int(slice_of(text->count), &count) || count < 1 || count > CELL_LEAVES_MAX))
		return yaml_fail(yaml, PATH(tenant, i, "count"), err,
			"\"%.80s\" is not a whole number from 1 to %d", text->count, CELL_LEAVES_MAX);
	*out = (struct tenant_cell){ text->cell, text->type, text->pinned, (uint32_t)count,
		yaml_line(yaml, ENTRY(tenant, i)) };
	return 0;
}

int tenants_read_cells(struct yaml *yaml, uint32_t tenant, const struct tenant_cell_text *text,
	uint32_t n, struct tenants *out, struct err *err)
{
	struct tenant_cell *cells = mem_alloc(mem_array_size((size_t)n + 1, sizeof(*cells)));
	int rc = 0;

	for (uint32_t i = 0; i < n && !rc; i++)
		rc = read_cell(yaml, tenant, i, &text[i], &cells[i], err);
	if (!rc)
		tenants_set_cells(out, tenant, cells, n);
	free(cells);
	return rc;
}

static void write_cell(const struct tenant_cell *cell, struct buf *out)
{
	buf_str(out, "      - {cell: ");
	json_quote(out, cell->cell);
	if (cell->type) {
		buf_str(out, ", type: ");
		json_quote(out, cell->type);
	}
	if (cell->pinned) {
		buf_str(out, ", pinned: ");
		json_quote(out, cell->pinned);
	} else {
		buf_printf(out, ", count: %u", cell->count);
	}
	buf_str(out, "}\n");
}

void tenants_write_cells(const struct tenant *tenant, struct buf *out)
{
	if (tenant->ncells)
		buf_str(out, "    cells:\n");
	for (uint32_t i = 0; i < tenant->ncells; i++)
		write_cell(&tenant->cells[i], out);
}
