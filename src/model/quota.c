/*
 * Sums of promises up the tree, and the fewest tenants whose promises are too much.
 */
#include "model/quota.h"

#include <stdlib.h>
#include <string.h>

enum { NAMED_MAX = 6 };

/* ---- sums */

/* Parents after those below them, so that sums go upwards in one walk; release with free(). */
static uint32_t *upwards(const struct tenants *tenants)
{
	uint32_t *order = mem_alloc(mem_array_size(tenants->n + 1u, sizeof(*order)));
	uint32_t *below = mem_alloc(mem_array_size(tenants->n + 1u, sizeof(*below)));
	uint32_t n = 0;

	for (uint32_t i = 0; i < tenants->n; i++) {
		if (tenants->at[i].parent != TENANT_NONE)
			below[tenants->at[i].parent]++;
	}
	for (uint32_t i = 0; i < tenants->n; i++) {
		if (below[i] == 0)
			order[n++] = i;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t parent = tenants->at[order[i]].parent;

		if (parent != TENANT_NONE && --below[parent] == 0)
			order[n++] = parent;
	}
	free(below);
	return order;
}

static void add(struct promise *to, const struct promise *from, uint32_t ntypes)
{
	to->any += from->any;
	to->total += from->total;
	for (uint32_t k = 0; k < ntypes; k++)
		to->typed[k] += from->typed[k];
}

/* As it was said, in place of what those below it add up to. */
static void state(const struct tenants *tenants, const struct tenant *t,
	const struct cluster *cluster, uint32_t ntypes, struct promise *out)
{
	out->any = t->nparts ? 0 : t->guaranteed;
	out->total = out->any;
	memset(out->typed, 0, ntypes * sizeof(*out->typed));
	for (uint32_t i = 0; i < t->nparts; i++) {
		const char *name = tenants->types.at[t->parts[i].type];
		int k = cluster ? cluster_find_type(cluster, name) : (int)t->parts[i].type;

		if (k < 0)
			continue;
		out->typed[k] += t->parts[i].guaranteed;
		out->total += t->parts[i].guaranteed;
	}
}

void promises_make(const struct tenants *tenants, const struct cluster *cluster, struct promises *out)
{
	uint32_t *order = upwards(tenants);
	uint32_t ntypes = cluster ? cluster->ntypes : tenants->types.n;

	*out = (struct promises){ .n = tenants->n, .ntypes = ntypes };
	out->of = mem_alloc(mem_array_size(tenants->n + 1u, sizeof(*out->of)));
	out->memory = mem_alloc(mem_array_size((size_t)tenants->n * ntypes + 1, sizeof(uint64_t)));
	for (uint32_t i = 0; i < tenants->n; i++)
		out->of[i].typed = out->memory + (size_t)i * ntypes;
	for (uint32_t i = 0; i < tenants->n; i++) {
		const struct tenant *t = &tenants->at[order[i]];
		struct promise *p = &out->of[order[i]];

		if (t->promised)
			state(tenants, t, cluster, ntypes, p);
		if (t->parent != TENANT_NONE)
			add(&out->of[t->parent], p, ntypes);
	}
	free(order);
}

/* ---- with cells */

/* Devices of the cells that one tenant is promised, by type. */
static void count_cells(const struct cell_design *cells, uint32_t tenant, uint64_t *typed)
{
	for (size_t i = 0; i < cells->promises.n; i++) {
		const struct cell_promise *p = &cells->promises.at[i];
		const struct cell_chain *chain = &cells->chains.at[p->chain];

		if (p->vc == tenant)
			typed[chain->type] += (uint64_t)p->count * chain->levels[p->level].leaves;
	}
}

/* At least so many of each type: of those that may be of any, and beside them. */
static void contain(struct promise *p, const uint64_t *typed, uint32_t ntypes)
{
	for (uint32_t k = 0; k < ntypes; k++) {
		uint64_t lacks = typed[k] > p->typed[k] ? typed[k] - p->typed[k] : 0;
		uint64_t of_any = lacks < p->any ? lacks : p->any;

		p->typed[k] += lacks;
		p->any -= of_any;
		p->total += lacks - of_any;
	}
}

/* Nothing was said of it: its cells come to what those below it are promised. */
static void add_typed(struct promise *p, const uint64_t *typed, uint32_t ntypes)
{
	for (uint32_t k = 0; k < ntypes; k++) {
		p->typed[k] += typed[k];
		p->total += typed[k];
	}
}

static void forget(struct promise *p, uint32_t ntypes)
{
	p->any = p->total = 0;
	memset(p->typed, 0, ntypes * sizeof(*p->typed));
}

void promises_add_cells(const struct tenants *tenants, const struct cell_design *cells,
	struct promises *p)
{
	size_t size = (size_t)p->n * p->ntypes;
	uint64_t *own = mem_alloc(mem_array_size(2 * size + 1, sizeof(*own))), *all = own + size;
	uint32_t *order = upwards(tenants);

	p->cells = true;
	for (uint32_t i = 0; i < tenants->n; i++) {
		count_cells(cells, i, own + (size_t)i * p->ntypes);
		if (!tenants->at[i].promised)
			forget(&p->of[i], p->ntypes);
	}
	memcpy(all, own, size * sizeof(*own));
	for (uint32_t i = 0; i < tenants->n; i++) {
		uint32_t at = order[i], parent = tenants->at[at].parent;
		size_t first = (size_t)at * p->ntypes;

		if (tenants->at[at].promised)
			contain(&p->of[at], all + first, p->ntypes);
		else
			add_typed(&p->of[at], own + first, p->ntypes);
		if (parent == TENANT_NONE)
			continue;
		if (!tenants->at[parent].promised)
			add(&p->of[parent], &p->of[at], p->ntypes);
		for (uint32_t k = 0; k < p->ntypes; k++)
			all[(size_t)parent * p->ntypes + k] += all[first + k];
	}
	free(order);
	free(own);
}

void promises_fini(struct promises *promises)
{
	free(promises->of);
	free(promises->memory);
	*promises = (struct promises){ 0 };
}

static bool is_named(const struct tenants *tenants, const struct cluster *cluster, uint32_t type)
{
	for (uint32_t i = 0; tenants && i < tenants->types.n; i++) {
		if (cluster_find_type(cluster, tenants->types.at[i]) == (int)type)
			return true;
	}
	return false;
}

uint32_t quota_types(const struct tenants *tenants, const struct cluster *cluster)
{
	uint32_t counted = 0;

	for (uint32_t k = 0; k < cluster->ntypes; k++) {
		if (!device_type_is_cpu(&cluster->types[k]) || is_named(tenants, cluster, k))
			counted |= UINT32_C(1) << k;
	}
	return counted ? counted : UINT32_MAX;
}

bool quota_is_set(const struct tenants *tenants)
{
	for (uint32_t i = 0; i < tenants->n; i++) {
		const struct tenant *t = &tenants->at[i];

		if (t->promised || t->borrow != QUOTA_ALL || t->lend != QUOTA_ALL)
			return true;
	}
	return false;
}

/* ---- too much */

struct claim {
	uint32_t tenant;
	uint64_t devices;
};

struct claims {
	struct claim *at;
	uint32_t n;
};

/* Of one type, or of all (TENANT_NONE). */
static uint64_t claimed(const struct promises *p, uint32_t tenant, uint32_t type)
{
	return type == TENANT_NONE ? p->of[tenant].total : p->of[tenant].typed[type];
}

/* Whether it is promised anything itself: else it stands for those below it. */
static bool claims_own(const struct tenants *tenants, const struct promises *p, uint32_t i)
{
	return tenants->at[i].promised || (p->cells && tenants->at[i].ncells > 0);
}

/*
 * Whether what it is promised of the type (or of all) contains what those below it are: a number of any type says
 * nothing of one, unless cells do.
 */
static bool contains(const struct tenants *tenants, const struct promises *p, uint32_t i, uint32_t type)
{
	return claims_own(tenants, p, i) &&
		(type == TENANT_NONE || tenants->at[i].nparts > 0 || p->of[i].typed[type] > 0);
}

/*
 * Who is promised what right below `parent` (TENANT_NONE: at the top).  In place of those who are promised only
 * because of others below them, these.
 */
static void list_claims(const struct tenants *tenants, const struct promises *p, uint32_t parent,
	uint32_t type, struct claims *out)
{
	for (uint32_t i = 0; i < tenants->n; i++) {
		uint32_t up = tenants->at[i].parent;

		if (!claims_own(tenants, p, i) || claimed(p, i, type) == 0)
			continue;
		while (up != parent && up != TENANT_NONE && !contains(tenants, p, up, type))
			up = tenants->at[up].parent;
		if (up == parent)
			out->at[out->n++] = (struct claim){ i, claimed(p, i, type) };
	}
}

static int by_claim(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	if (x->devices != y->devices)
		return x->devices > y->devices ? -1 : 1;
	return x->tenant < y->tenant ? -1 : x->tenant > y->tenant;
}

/* The largest first: as few as can be are more than `have`. */
static uint32_t fewest(struct claims *claims, uint64_t have, uint64_t *sum)
{
	uint32_t n = 0;

	qsort(claims->at, claims->n, sizeof(*claims->at), by_claim);
	for (*sum = 0; n < claims->n && *sum <= have; n++)
		*sum += claims->at[n].devices;
	return n;
}

/* "vision (8) and speech (6) are promised 14 a100". */
static void name_claims(const struct tenants *tenants, const struct claims *claims, uint32_t n,
	uint64_t sum, const char *type, struct buf *out)
{
	for (uint32_t i = 0; i < n && i < NAMED_MAX; i++)
		buf_printf(out, "%s\"%.40s\"",
			i == 0               ? ""
				: i + 1 == n ? " and "
					     : ", ",
			tenants->at[claims->at[i].tenant].name);
	if (n > NAMED_MAX)
		buf_printf(out, " and %u more", n - NAMED_MAX);
	buf_printf(out, " %s promised ", n == 1 ? "is" : "are");
	for (uint32_t i = 0; n > 1 && i < n && i < NAMED_MAX; i++)
		buf_printf(out, "%s%llu", i ? " + " : "", (unsigned long long)claims->at[i].devices);
	buf_printf(out, "%s%llu %.40s%s",
		n > NAMED_MAX   ? " + ... = "
			: n > 1 ? " = "
				: "",
		(unsigned long long)sum, type ? type : "device", type || sum == 1 ? "" : "s");
}

static void name(const struct tenants *tenants, uint32_t tenant, struct quota_conflict *out)
{
	const char *text = tenants->at[tenant].name;

	names_add(&out->who, text, strlen(text));
}

/* Whether a conflict of so many is smaller than what was found; then it is to be written anew. */
static bool is_smaller(struct quota_conflict *worst, uint32_t named, uint32_t above)
{
	if (worst->who.n && worst->who.n <= named)
		return false;
	quota_conflict_fini(worst);
	worst->above = above;
	return true;
}

/* If what is promised right below `parent` is more than `have`. */
static void too_much(const struct tenants *tenants, const struct promises *p, uint32_t parent,
	uint32_t type, const char *type_name, uint64_t have, struct quota_conflict *worst)
{
	bool at_top = parent == TENANT_NONE;
	struct claims claims = { 0 };
	uint64_t sum = 0;
	uint32_t n;

	claims.at = mem_alloc(mem_array_size(tenants->n + 1u, sizeof(*claims.at)));
	list_claims(tenants, p, parent, type, &claims);
	n = fewest(&claims, have, &sum);
	if (sum > have && is_smaller(worst, n + !at_top, parent)) {
		for (uint32_t i = 0; i < n; i++)
			name(tenants, claims.at[i].tenant, worst);
		name_claims(tenants, &claims, n, sum, type_name, &worst->text);
		buf_printf(&worst->text, ", and %s%.40s%s has %llu", at_top ? "the cluster" : "\"",
			at_top ? "" : tenants->at[parent].name, at_top ? "" : "\" above",
			(unsigned long long)have);
		if (!at_top)
			name(tenants, parent, worst);
	}
	free(claims.at);
}

/* ---- the tree */

/* One below it that is promised devices of any type, where it has them by type; or TENANT_NONE. */
static uint32_t untyped_below(const struct tenants *tenants, uint32_t above)
{
	for (uint32_t i = 0; i < tenants->n; i++) {
		const struct tenant *t = &tenants->at[i];
		uint32_t up = t->parent;

		if (!t->promised || t->nparts || t->guaranteed == 0)
			continue;
		while (up != TENANT_NONE && up != above)
			up = tenants->at[up].parent;
		if (up == above)
			return i;
	}
	return TENANT_NONE;
}

static void torn_at(const struct tenants *tenants, const struct promises *p, uint32_t i,
	struct quota_conflict *worst)
{
	const struct tenant *t = &tenants->at[i];
	uint32_t loose = t->nparts ? untyped_below(tenants, i) : TENANT_NONE;

	if (!t->promised)
		return;
	if (loose != TENANT_NONE && is_smaller(worst, 2, i)) {
		buf_printf(&worst->text,
			"\"%.40s\" is promised devices by type, \"%.40s\" below it %llu of any type; "
			"say of which",
			t->name, tenants->at[loose].name, (unsigned long long)p->of[loose].any);
		name(tenants, loose, worst);
		name(tenants, i, worst);
	}
	for (uint32_t k = 0; t->nparts && k < p->ntypes; k++)
		too_much(tenants, p, i, k, tenants->types.at[k], p->of[i].typed[k], worst);
	too_much(tenants, p, i, TENANT_NONE, NULL, p->of[i].total, worst);
}

static void find_torn(const struct tenants *tenants, struct quota_conflict *worst)
{
	struct promises p;

	promises_make(tenants, NULL, &p);
	for (uint32_t i = 0; i < tenants->n; i++)
		torn_at(tenants, &p, i, worst);
	promises_fini(&p);
}

/* ---- the cluster */

static void unknown_type(const struct tenants *tenants, const struct cluster *cluster,
	uint32_t tenant, struct quota_conflict *worst)
{
	const struct tenant *t = &tenants->at[tenant];

	for (uint32_t k = 0; k < t->nparts; k++) {
		const char *type = tenants->types.at[t->parts[k].type];
		const char *known[TYPES_MAX];
		int near;

		if (cluster_find_type(cluster, type) >= 0 || !is_smaller(worst, 1, TENANT_NONE))
			continue;
		for (uint32_t i = 0; i < cluster->ntypes; i++)
			known[i] = cluster->types[i].name;
		near = text_nearest(type, known, cluster->ntypes);
		buf_printf(&worst->text,
			"tenant \"%.40s\" is promised %u %.40s, and the cluster has none%s%.40s%s",
			t->name, t->parts[k].guaranteed, type, near >= 0 ? "; did you mean " : "",
			near >= 0 ? known[near] : "", near >= 0 ? "?" : "");
		name(tenants, tenant, worst);
	}
}

static void find_beyond(const struct tenants *tenants, const struct cluster *cluster,
	const struct cell_design *cells, struct quota_conflict *worst)
{
	uint32_t counted = quota_types(tenants, cluster), devices = 0;
	struct promises p;

	for (uint32_t i = 0; i < tenants->n; i++)
		unknown_type(tenants, cluster, i, worst);
	promises_make(tenants, cluster, &p);
	if (cells)
		promises_add_cells(tenants, cells, &p);
	for (uint32_t k = 0; k < cluster->ntypes; k++) {
		too_much(tenants, &p, TENANT_NONE, k, cluster->types[k].name,
			cluster->types[k].devices, worst);
		devices += counted >> k & 1 ? cluster->types[k].devices : 0;
	}
	too_much(tenants, &p, TENANT_NONE, TENANT_NONE, NULL, devices, worst);
	promises_fini(&p);
}

bool quota_conflicts(const struct tenants *tenants, const struct cluster *cluster,
	const struct cell_design *cells, struct quota_conflict *out)
{
	*out = (struct quota_conflict){ .above = TENANT_NONE };
	find_torn(tenants, out);
	if (cluster)
		find_beyond(tenants, cluster, cells, out);
	return out->who.n > 0;
}

void quota_conflict_fini(struct quota_conflict *conflict)
{
	names_fini(&conflict->who);
	buf_fini(&conflict->text);
	*conflict = (struct quota_conflict){ .above = TENANT_NONE };
}

int quota_check(const struct tenants *tenants, const struct cluster *cluster, struct err *err)
{
	return quota_check_with_cells(tenants, cluster, NULL, err);
}

int quota_check_with_cells(const struct tenants *tenants, const struct cluster *cluster,
	const struct cell_design *cells, struct err *err)
{
	struct quota_conflict conflict;
	int rc = 0;

	if (quota_conflicts(tenants, cluster, cells, &conflict))
		rc = err_set(err, ERR_REFUSED, "%s", conflict.text.at);
	quota_conflict_fini(&conflict);
	return rc;
}
