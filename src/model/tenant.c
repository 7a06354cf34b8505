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
	for (uint32_t i = 0; i < tenants->n; i++)
		free(tenants->at[i].parts);
	names_fini(&tenants->names);
	arena_fini(&tenants->memory);
	names_fini(&tenants->types);
	free(tenants->at);
	free(tenants->of_name);
	*tenants = (struct tenants){ 0 };
}

void tenant_init(struct tenant *tenant)
{
	*tenant = (struct tenant){
		.parent = TENANT_NONE,
		.weight = 1,
		.within = WITHIN_FAIR,
		.borrow = QUOTA_ALL,
		.lend = QUOTA_ALL,
	};
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

void tenants_promise(struct tenants *tenants, uint32_t tenant, uint32_t guaranteed)
{
	struct tenant *t = &tenants->at[tenant];

	free(t->parts);
	t->parts = NULL;
	t->nparts = 0;
	t->promised = guaranteed != QUOTA_ALL;
	t->guaranteed = t->promised ? guaranteed : 0;
}

bool tenants_promise_part(struct tenants *tenants, uint32_t tenant, const char *type,
	uint32_t guaranteed, uint32_t lend)
{
	struct tenant *t = &tenants->at[tenant];
	uint32_t number = names_add(&tenants->types, type, strlen(type));

	for (uint32_t i = 0; i < t->nparts; i++) {
		if (t->parts[i].type == number)
			return false;
	}
	t->parts = mem_resize(t->parts, mem_array_size(t->nparts + 1, sizeof(*t->parts)));
	t->parts[t->nparts++] = (struct tenant_part){ number, guaranteed, lend };
	t->guaranteed = t->nparts == 1 ? guaranteed : t->guaranteed + guaranteed;
	t->promised = true;
	return true;
}

uint32_t tenants_find(const struct tenants *tenants, const char *name, size_t n)
{
	return names_find(&tenants->names, name, n);
}

static const char *keep(struct tenants *tenants, const char *text)
{
	return text ? arena_strdup(&tenants->memory, text) : NULL;
}

void tenants_set_cells(struct tenants *tenants, uint32_t tenant, const struct tenant_cell *cells,
	uint32_t n)
{
	struct tenant_cell *copy = n ? arena_array(&tenants->memory, struct tenant_cell, n) : NULL;

	for (uint32_t i = 0; i < n; i++)
		copy[i] = (struct tenant_cell){ keep(tenants, cells[i].cell),
			keep(tenants, cells[i].type), keep(tenants, cells[i].pinned),
			cells[i].count, cells[i].line };
	tenants->at[tenant].cells = copy;
	tenants->at[tenant].ncells = n;
}

bool tenants_have_cells(const struct tenants *tenants)
{
	for (uint32_t i = 0; i < tenants->n; i++) {
		if (tenants->at[i].ncells)
			return true;
	}
	return false;
}

static uint32_t way_round(const struct tenants *tenants, uint32_t from)
{
	uint32_t n = 1;

	for (uint32_t at = tenants->at[from].parent; at != from; at = tenants->at[at].parent)
		n++;
	return n;
}

/*
 * From each tenant upwards, leaving its mark.  Who meets its own mark has come round; who meets
 * another's stands below somebody already cleared.
 */
uint32_t tenants_cycle(const struct tenants *tenants)
{
	uint32_t *mark = mem_alloc(mem_array_size(tenants->n, sizeof(*mark)));
	uint32_t found = TENANT_NONE, shortest = UINT32_MAX;

	for (uint32_t i = 0; i < tenants->n; i++) {
		uint32_t at = i;

		for (; at != TENANT_NONE && !mark[at]; at = tenants->at[at].parent)
			mark[at] = i + 1;
		if (at == TENANT_NONE || mark[at] != i + 1 || way_round(tenants, at) >= shortest)
			continue;
		found = at;
		shortest = way_round(tenants, at);
	}
	free(mark);
	return found;
}

/* ---- binding */

static struct tenant_part *copy_parts(const struct tenant *tenant)
{
	struct tenant_part *parts = NULL;

	if (tenant->nparts) {
		parts = mem_alloc(mem_array_size(tenant->nparts, sizeof(*parts)));
		memcpy(parts, tenant->parts, tenant->nparts * sizeof(*parts));
	}
	return parts;
}

static void copy(const struct tenants *from, struct tenants *out)
{
	names_copy(&from->types, &out->types);
	for (uint32_t i = 0; i < from->n; i++) {
		const struct tenant *tenant = &from->at[i];
		uint32_t added = tenants_add(out, tenant->name, strlen(tenant->name));
		const char *name = out->at[added].name;

		out->at[added] = *tenant;
		out->at[added].name = name;
		tenants_set_cells(out, added, tenant->cells, tenant->ncells);
		out->at[added].parts = copy_parts(tenant);
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
