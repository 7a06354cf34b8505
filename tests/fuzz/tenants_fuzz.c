/*
 * Any bytes as a file of tenants: read or refused with a text; what was read is
 * a tree with good weights, and can be bound to names it has and has not.
 */
#include <assert.h>
#include <string.h>

#include "io/tenants_io.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(const struct tenants *tenants)
{
	for (uint32_t i = 0; i < tenants->n; i++) {
		const struct tenant *t = &tenants->at[i];

		assert(t->weight >= TENANT_WEIGHT_MIN && t->weight <= TENANT_WEIGHT_MAX);
		assert(t->parent == TENANT_NONE || (t->parent < tenants->n && t->parent != i));
		assert(t->within == WITHIN_FAIR || t->within == WITHIN_FIFO);
		assert(!t->name || tenants_find(tenants, t->name, strlen(t->name)) == i);
	}
	assert(tenants_cycle(tenants) == TENANT_NONE);
}

static void bind_to_some(const struct tenants *tenants)
{
	const char *last = tenants->at[tenants->n - 1].name;
	struct names names = { 0 };
	struct tenants bound;

	names_add(&names, "somebody else", 13);
	names_add(&names, last, strlen(last));
	tenants_bind(tenants, &names, &bound);
	check(&bound);
	for (uint32_t i = 0; i < names.n; i++)
		assert(!strcmp(bound.at[tenants_of_name(&bound, i)].name, names.at[i]));
	assert(!bound.at[tenants_of_name(&bound, NAME_NONE)].name);
	tenants_fini(&bound);
	names_fini(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct tenants tenants;
	struct err err = { 0 };
	int rc = tenants_read_yaml("fuzz", (const char *)bytes, n, &tenants, &err);

	if (rc) {
		/* Refused: well written, but more is promised below a tenant than to itself. */
		assert(rc == ERR_FORMAT || rc == ERR_REFUSED);
		assert(err.code == rc && strlen(err.text) > 5);
		return 0;
	}
	assert(tenants.n > 0);
	check(&tenants);
	bind_to_some(&tenants);
	tenants_fini(&tenants);
	return 0;
}
