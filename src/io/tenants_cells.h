/*
 * The cells that a file of tenants promises.
 */
#ifndef IO_TENANTS_CELLS_H
#define IO_TENANTS_CELLS_H

#include "base/text.h"
#include "io/yaml.h"
#include "model/tenant.h"

/* As it is written: NULL where a value is left out or empty. */
struct tenant_cell_text {
	char *cell, *type, *count, *pinned;
};

extern const cyaml_schema_value_t tenant_cell_schema;

/* Of entry `tenant` of the list, which is the tenant of that number; which cells there are is not looked at. */
int tenants_read_cells(struct yaml *yaml, uint32_t tenant, const struct tenant_cell_text *text,
	uint32_t n, struct tenants *out, struct err *err);
void tenants_write_cells(const struct tenant *tenant, struct buf *out);

#endif
