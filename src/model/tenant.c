/*
 * A table of tenants, and binding it to a trace.
 */
#include "model/tenant.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *const within_names[] = {
	[WITHIN_FAIR] = "fair",
	[WITHIN_FIFO] = "fifo",
	NULL,
};

void tenants_fini(struct tenants *tenants)
{
	names_fini(&tenants->names);
	free(tenants->at);
	free(tenants->of_name);
	*tenants = (struct tenants){ 0 };
}

void tenant_init(struct tenant *tenant)
{
	*tenant = (struct tenant){ .parent = TENANT_NONE, .weight = 1, .within = WITHIN_FAIR };
}

static uint32_t append(struct tenants *tenants, struct tenant tenant)
{
	if (tenants->n == tenants->cap) {
		tenants->cap = tenants->cap ? tenants->cap * 2 : 8;
		tenants->at = mem_resize(tenants->at,
			mem_array_size(tenants->cap, sizeof(*tenants->at)));
	}
	tenants->at[tenants->n] = tenant;
	return tenants->n++;
}

uint32_t tenants_add(struct tenants *tenants, const char *name, size_t n)
{
	struct tenant tenant;
	uint32_t number = names_add(&tenants->names, name, n);

	if (number < tenants->n)
		return TENANT_NONE;
	tenant_init(&tenant);
	tenant.name = tenants->names.at[number];
	tenant.stated = true;
	return append(tenants, tenant);
}

uint32_t tenants_find(const struct tenants *tenants, const char *name, size_t n)
{
	return names_find(&tenants->names, name, n);
}

/*
 * From each tenant upwards, leaving its mark.  Who meets its own mark has come round; who meets
 * another's stands below somebody already cleared.
 */
uint32_t tenants_cycle(const struct tenants *tenants)
{
	uint32_t *mark = mem_alloc(mem_array_size(tenants->n, sizeof(*mark)));
	uint32_t found = TENANT_NONE;

	for (uint32_t i = 0; i < tenants->n && found == TENANT_NONE; i++) {
		uint32_t at = i;

		for (; at != TENANT_NONE && !mark[at]; at = tenants->at[at].parent)
			mark[at] = i + 1;
		if (at != TENANT_NONE && mark[at] == i + 1)
			found = at;
	}
	free(mark);
	return found;
}

/* ---- binding */

static void copy(const struct tenants *from, struct tenants *out)
{
	for (uint32_t i = 0; i < from->n; i++) {
		const struct tenant *tenant = &from->at[i];
		uint32_t added = tenants_add(out, tenant->name, strlen(tenant->name));
		const char *name = out->at[added].name;

		out->at[added] = *tenant;
		out->at[added].name = name;
	}
	out->hash = from->hash;
}

static uint32_t find_or_add(struct tenants *tenants, const char *name)
{
	uint32_t i = tenants_find(tenants, name, strlen(name));

	if (i == TENANT_NONE) {
		i = tenants_add(tenants, name, strlen(name));
		tenants->at[i].stated = false;
	}
	return i;
}

void tenants_copy(const struct tenants *from, struct tenants *out)
{
	assert(!from->of_name);
	*out = (struct tenants){ 0 };
	copy(from, out);
}

void tenants_bind(const struct tenants *from, const struct names *names, struct tenants *out)
{
	struct tenant unnamed;

	assert(!from->of_name && tenants_cycle(from) == TENANT_NONE);
	*out = (struct tenants){ .nnames = names->n };
	copy(from, out);
	out->of_name = mem_alloc(mem_array_size((size_t)names->n + 1, sizeof(*out->of_name)));
	for (uint32_t i = 0; i < names->n; i++)
		out->of_name[i] = find_or_add(out, names->at[i]);
	tenant_init(&unnamed);
	out->unnamed = append(out, unnamed);
}

uint32_t tenants_of_name(const struct tenants *tenants, uint32_t name)
{
	if (name == NAME_NONE)
		return tenants->unnamed;
	assert(name < tenants->nnames);
	return tenants->of_name[name];
}

const struct tenant *tenants_of_job(const struct tenants *tenants, const struct job *job)
{
	return &tenants->at[tenants_of_name(tenants, job->tenant)];
}
