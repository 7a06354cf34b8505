/*
 * Any bytes as a configuration of HiveD: read or refused with a text; what was read is checked, and
 * if its promises can be kept, its cells are sound before and after a few operations.
 */
#include <assert.h>
#include <string.h>

#include "io/hived_io.h"
#include "placement/cell_check.h"
#include "../support/cell_ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static uint64_t size_of(const struct cell_design *design)
{
	uint64_t n = 0;

	for (size_t i = 0; i < design->chains.n; i++)
		n += cell_count(&design->chains.at[i], 0);
	for (size_t i = 0; i < design->promises.n; i++)
		n += design->promises.at[i].count;
	return n;
}

static void operate(const struct cell_design *design)
{
	struct ops ops;

	ops_init(&ops, cells_create(design), 1);
	assert(cells_audit(ops.cells, NULL));
	for (int i = 0; i < 20 && design->vcs.n; i++)
		ops_step(&ops);
	assert(cells_audit(ops.cells, NULL));
	cells_destroy(ops.cells);
	ops_fini(&ops);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct cell_design design;
	struct err err = { 0 };
	int rc = hived_read_yaml("fuzz", (const char *)bytes, n, &design, &err);

	if (rc) {
		assert(rc == ERR_FORMAT && err.code == rc && strlen(err.text) > 5);
		return 0;
	}
	assert(design.chains.n > 0);
	if (size_of(&design) < 100000) {
		rc = cell_check_err(&design, &err);
		assert(rc == 0 || rc == ERR_REFUSED);
		if (rc == 0)
			operate(&design);
	}
	cell_design_fini(&design);
	return 0;
}
