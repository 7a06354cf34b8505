/*
 * The ledger: sums up the tree with every change.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "placement/quota_parts.h"

/* ---- making it */

enum { VECTORS = 7 }; /* by type, of each node */

static void place_vectors(struct quota *q)
{
	size_t k = q->ntypes;

	q->vectors = mem_alloc(mem_array_size((size_t)q->n * k * VECTORS, sizeof(*q->vectors)));
	for (uint32_t i = 0; i < q->n; i++) {
		int64_t *at = q->vectors + (size_t)i * k * VECTORS;

		q->at[i].typed = at;
		q->at[i].lend_typed = at + k;
		q->at[i].held = at + 2 * k;
		q->at[i].keeps = at + 3 * k;
		q->at[i].below = at + 4 * k;
		q->at[i].idle_keeps = at + 5 * k;
		q->at[i].idle_below = at + 6 * k;
		for (size_t t = 0; t < k; t++)
			q->at[i].lend_typed[t] = NO_LIMIT;
	}
}

static int64_t limit_of(uint32_t devices)
{
	return devices == QUOTA_ALL ? NO_LIMIT : devices * DEVICE;
}

static void fill_node(struct quota *q, uint32_t i, const struct promise *p)
{
	const struct tenant *t = &q->tenants->at[i];
	struct quota_node *node = &q->at[i];

	node->parent = t->parent == TENANT_NONE ? q->n - 1 : t->parent;
	node->leaf = i;
	node->weight = t->weight;
	node->any = (int64_t)p->any * DEVICE;
	node->total = (int64_t)p->total * DEVICE;
	node->borrow = limit_of(t->borrow);
	node->lend = limit_of(t->lend);
	for (uint32_t k = 0; k < q->ntypes; k++)
		node->typed[k] = (int64_t)p->typed[k] * DEVICE;
	for (uint32_t k = 0; k < t->nparts; k++) {
		int type = cluster_find_type(q->cluster, q->tenants->types.at[t->parts[k].type]);

		if (type >= 0)
			node->lend_typed[type] = limit_of(t->parts[k].lend);
	}
}

/* The own jobs of a tenant with others below it are promised what these leave. */
static void add_own(struct quota *q, uint32_t own, uint32_t parent)
{
	struct quota_node *node = &q->at[own], *above = &q->at[parent];

	*node = (struct quota_node){
		.parent = parent,
		.leaf = own,
		.weight = 1,
		.any = above->any,
		.total = above->total,
		.borrow = NO_LIMIT,
		.lend = NO_LIMIT,
		.typed = node->typed,
		.lend_typed = node->lend_typed,
		.held = node->held,
		.keeps = node->keeps,
		.below = node->below,
		.idle_keeps = node->idle_keeps,
		.idle_below = node->idle_below,
	};
	above->leaf = own;
	memcpy(node->typed, above->typed, q->ntypes * sizeof(*node->typed));
	for (uint32_t i = 0; i < q->tenants->n; i++) {
		if (q->at[i].parent != parent)
			continue;
		node->any -= q->at[i].any;
		node->total -= q->at[i].total;
		for (uint32_t k = 0; k < q->ntypes; k++)
			node->typed[k] -= q->at[i].typed[k];
	}
	/* Where those below are promised by type what it is promised of any, the rest is of any. */
	for (uint32_t k = 0; k < q->ntypes; k++) {
		if (node->typed[k] < 0) {
			node->any += node->typed[k];
			node->typed[k] = 0;
		}
	}
}

static uint32_t depth_of(const struct quota *q, uint32_t i)
{
	uint32_t depth = 0;

	for (; q->at[i].parent != TENANT_NONE; i = q->at[i].parent)
		depth++;
	return depth;
}

/* How much of an idle amount is not lent. */
static int64_t kept(int64_t idle, int64_t lend)
{
	return idle > 0 && lend < idle ? idle - lend : 0;
}

/* What must stay free for a node, from what it holds and what those below it keep; the node above hears of it. */
static void keep(struct quota *q, struct quota_node *node)
{
	struct quota_node *above = &q->at[node->parent];
	int64_t any = kept(node->any - node->loose, node->lend), deeper = 0;

	for (uint32_t k = 0; k < q->ntypes; k++) {
		int64_t own = kept(node->typed[k] - node->held[k], node->lend_typed[k]);
		int64_t now = most_of(own, node->below[k]);

		deeper += now - own;
		above->below[k] += now - node->keeps[k];
		node->keeps[k] = now;
	}
	any = most_of(node->below_any, any - deeper);
	above->below_any += any - node->keeps_any;
	node->keeps_any = any;
}

/* From the deepest up, while all idles. */
static void keep_all(struct quota *q)
{
	uint32_t deepest = 0;

	for (uint32_t i = 0; i < q->n; i++) {
		q->at[i].depth = depth_of(q, i);
		deepest = q->at[i].depth > deepest ? q->at[i].depth : deepest;
	}
	for (uint32_t depth = deepest; depth > 0; depth--) {
		for (uint32_t i = 0; i < q->n; i++) {
			if (q->at[i].depth == depth)
				keep(q, &q->at[i]);
		}
	}
	for (uint32_t i = 0; i < q->n; i++) {
		struct quota_node *node = &q->at[i];

		node->idle_keeps_any = node->keeps_any;
		node->idle_below_any = node->below_any;
		memcpy(node->idle_keeps, node->keeps, q->ntypes * sizeof(*node->keeps));
		memcpy(node->idle_below, node->below, q->ntypes * sizeof(*node->below));
		node->reserves = node->below_any > 0;
		for (uint32_t k = 0; k < q->ntypes; k++)
			node->reserves |= node->below[k] > 0;
	}
}

/* Whether what it is promised by type is inside of what another is. */
static bool is_typed_above(const struct quota *q, uint32_t tenant)
{
	for (uint32_t i = q->tenants->at[tenant].parent; i != TENANT_NONE;
		i = q->tenants->at[i].parent) {
		if (q->tenants->at[i].nparts)
			return true;
	}
	return false;
}

/* What is promised in all, and of it by type, wherever that is. */
static void fill_root(struct quota *q, struct quota_node *root)
{
	for (uint32_t i = 0; i < q->tenants->n; i++) {
		if (q->at[i].parent == q->n - 1)
			root->total += q->at[i].total;
		if (!q->tenants->at[i].nparts || is_typed_above(q, i))
			continue;
		for (uint32_t k = 0; k < q->ntypes; k++)
			root->typed[k] += q->at[i].typed[k];
	}
}

static void fill(struct quota *q, const struct cell_design *cells, const bool *parents)
{
	struct quota_node *root = &q->at[q->n - 1];
	uint32_t own = q->tenants ? q->tenants->n : 0;
	struct promises p;

	root->parent = TENANT_NONE;
	root->leaf = q->n - 1;
	root->borrow = root->lend = NO_LIMIT;
	root->weight = 1;
	if (!q->tenants)
		return;
	promises_make(q->tenants, q->cluster, &p);
	if (cells)
		promises_add_cells(q->tenants, cells, &p);
	for (uint32_t i = 0; i < q->tenants->n; i++)
		fill_node(q, i, &p.of[i]);
	for (uint32_t i = 0; i < q->tenants->n; i++) {
		if (parents[i])
			add_own(q, own++, i);
	}
	promises_fini(&p);
	fill_root(q, root);
	keep_all(q);
}

int quota_create(const struct cluster *cluster, const struct tenants *tenants,
	const struct cell_design *cells, struct quota **out, struct err *err)
{
	uint32_t n = tenants ? tenants->n : 0, own = 0;
	bool *parents = mem_alloc(n + 1u);
	struct quota *q;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t parent = tenants->at[i].parent;

		if (parent != TENANT_NONE && !parents[parent]) {
			parents[parent] = true;
			own++;
		}
	}
	if (tenants && quota_check_with_cells(tenants, cluster, cells, err) < 0) {
		free(parents);
		return err->code;
	}
	q = mem_alloc(sizeof(*q));
	*q = (struct quota){ .cluster = cluster, .tenants = tenants, .ntypes = cluster->ntypes };
	q->counted = quota_types(tenants, cluster);
	q->n = n + own + 1;
	q->at = mem_alloc(mem_array_size(q->n, sizeof(*q->at)));
	place_vectors(q);
	fill(q, cells, parents);
	quota_nobody_outside(q);
	free(parents);
	*out = q;
	return 0;
}

void quota_destroy(struct quota *q)
{
	if (!q)
		return;
	free(q->at);
	free(q->vectors);
	free(q);
}

/* ---- keeping it */

uint32_t quota_tenant(const struct quota *q, const struct job *job)
{
	return q->tenants ? tenants_of_name(q->tenants, job->tenant) : 0;
}

uint32_t quota_leaf(const struct quota *q, const struct job *job)
{
	return q->at[quota_tenant(q, job)].leaf;
}

int64_t quota_width(const struct job *job, uint32_t gpus)
{
	return job_is_fraction(job) ? (int64_t)(job->share * SHARE_WHOLE + 0.5) * gpus : gpus * DEVICE;
}

int64_t quota_above(const struct quota_node *node, uint32_t type, int64_t more)
{
	int64_t before = most_of(0, node->held[type] - node->typed[type]);
	int64_t after = most_of(0, node->held[type] + more - node->typed[type]);

	return most_of(0, node->loose - before + after - node->any);
}

/* What is kept below for others, and for the one who gets more what is left of it then. */
static int64_t reserved(int64_t below, int64_t own, int64_t more)
{
	return below - own + most_of(0, own - more);
}

struct quota_place quota_place(const struct quota *q, uint32_t i, uint32_t from, uint32_t type,
	int64_t more)
{
	const struct quota_node *node = &q->at[i];
	const struct quota_node *who = from == TENANT_NONE ? NULL : &q->at[from];
	struct quota_place place = {
		.of_type = node->held[type] + more - node->typed[type],
		.above = quota_above(node, type, more),
	};

	if (!node->reserves)
		return place;
	place.above = reserved(node->below_any, who ? who->keeps_any : 0, more) - node->any;
	for (uint32_t k = 0; k < q->ntypes; k++) {
		int64_t taken = k == type ? more : 0;
		int64_t beyond = node->held[k] + taken - node->typed[k] +
			reserved(node->below[k], who ? who->keeps[k] : 0, taken);

		place.above += most_of(0, beyond);
		if (k == type)
			place.of_type = beyond;
	}
	return place;
}

bool quota_covers(const struct quota *q, uint32_t i, uint32_t from, uint32_t type, int64_t more)
{
	struct quota_place place = quota_place(q, i, from, type, more);

	return place.of_type <= 0 || place.above <= 0;
}

int64_t quota_held(const struct quota *q, const struct quota_node *node)
{
	int64_t held = 0;

	for (uint32_t k = 0; k < q->ntypes; k++)
		held += node->held[k];
	return held;
}

bool quota_is_over(const struct quota_node *node)
{
	return node->loose - node->any > 0 && node->loose - node->any > node->borrow;
}

static void move(struct quota *q, uint32_t leaf, uint32_t type, int64_t more)
{
	for (uint32_t i = leaf; i != TENANT_NONE; i = q->at[i].parent) {
		struct quota_node *node = &q->at[i];
		int64_t before = most_of(0, node->held[type] - node->typed[type]);

		q->exceeded -= quota_is_over(node);
		node->held[type] += more;
		node->loose += most_of(0, node->held[type] - node->typed[type]) - before;
		q->exceeded += quota_is_over(node);
		if (node->parent != TENANT_NONE)
			keep(q, node);
	}
}

static void count(struct quota *q, const struct job *job, const struct grant *grant, int sign)
{
	struct grant_part parts[TYPES_MAX];
	uint32_t n = grant_parts(grant, q->cluster, parts);

	for (uint32_t i = 0; i < n; i++) {
		if (quota_counts(q, parts[i].type))
			move(q, quota_leaf(q, job), parts[i].type,
				sign * quota_width(job, parts[i].gpus));
	}
}

void quota_take(struct quota *q, const struct job *job, const struct grant *grant)
{
	count(q, job, grant, 1);
}

void quota_give(struct quota *q, const struct job *job, const struct grant *grant)
{
	count(q, job, grant, -1);
}

static void ask(struct quota *q, const struct job *job, int sign)
{
	int64_t more = sign * quota_width(job, (uint32_t)job->gpus);

	if (!quota_concerns(q, job))
		return;
	for (uint32_t i = quota_leaf(q, job); i != TENANT_NONE; i = q->at[i].parent) {
		q->at[i].asked += more;
		if (q->settled)
			q->at[i].late += more;
	}
}

void quota_ask(struct quota *q, const struct job *job)
{
	ask(q, job, 1);
}

void quota_unask(struct quota *q, const struct job *job)
{
	ask(q, job, -1);
}

void quota_settle(struct quota *q, bool settled)
{
	q->settled = settled;
	for (uint32_t i = 0; i < q->n && !settled; i++)
		q->at[i].late = 0;
}

uint32_t quota_first_outside(const struct quota *q, const struct job *job)
{
	return q->at[quota_leaf(q, job)].outside;
}

void quota_outside(struct quota *q, const struct job *job)
{
	struct quota_node *node = &q->at[quota_leaf(q, job)];

	if (job->id < node->outside)
		node->outside = job->id;
}

void quota_nobody_outside(struct quota *q)
{
	for (uint32_t i = 0; i < q->n; i++)
		q->at[i].outside = JOB_NONE;
}

/* ---- what it says */

bool quota_exceeded(const struct quota *q)
{
	return q->exceeded > 0;
}

bool quota_exceeds(const struct quota *q, const struct job *job)
{
	for (uint32_t i = quota_leaf(q, job); i != TENANT_NONE; i = q->at[i].parent) {
		if (quota_is_over(&q->at[i]))
			return true;
	}
	return false;
}

static double devices(int64_t amount)
{
	return amount == NO_LIMIT ? INFINITY : (double)amount / SHARE_WHOLE;
}

struct quota_standing quota_standing(const struct quota *q, uint32_t tenant)
{
	const struct quota_node *node = &q->at[tenant];
	struct quota_standing s = {
		.guaranteed = devices(node->total),
		.borrow = devices(node->borrow),
		.lend = devices(node->lend),
		.held = devices(quota_held(q, node)),
		.borrowed = devices(most_of(0, node->loose - node->any)),
		.asked = devices(node->asked),
	};

	for (uint32_t k = 0; k < q->ntypes && q->tenants && tenant < q->tenants->n; k++) {
		/* By type: what can be said in one number is the sum, where there is a limit at all. */
		if (node->lend_typed[k] != NO_LIMIT)
			s.lend = (isinf(s.lend) ? 0 : s.lend) + devices(node->lend_typed[k]);
	}
	return s;
}
