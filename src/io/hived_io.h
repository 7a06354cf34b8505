/*
 * HiveD's own configuration: cell types, physical cells and virtual clusters (doc/cells.md).
 */
#ifndef IO_HIVED_IO_H
#define IO_HIVED_IO_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "model/cell_design.h"

/* Whether a text has a physicalCluster at its top, and is thus not one of ours. */
bool hived_looks_like(const char *text, size_t n);

/*
 * Reads cell types, physical cells and virtual clusters; other settings are passed over.  Errors name line,
 * cell and what to do: types that contain themselves, unknown ones, trees that are not whole, cells
 * without a node, pins that there are twice or not at all.  Release with cell_design_fini().
 */
int hived_read_yaml(const char *where, const char *text, size_t n, struct cell_design *out,
	struct err *err);

#endif
