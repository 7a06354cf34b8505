/*
 * Cells (HiveD): a tenant's guaranteed jobs run within its cells and always get them.
 *
 * The books (placement/cells.h) follow the plan: every slot that it hands out is held
 * through a claim of the job's tenant, or on loan.  Opportunistic jobs, and those of tenants without
 * cells, have everything on loan, from devices that nobody claims or uses just now, and give way
 * to whoever claims them.  A tenant below others uses the cells of the next one above that has some.
 *
 * A guaranteed job that fits its tenant's cells, but not without somebody giving way, is first told
 * that there is no room; the plan then takes back what stands where it shall go (`reclaim` below),
 * and it gets the very devices that were chosen before.
 */
#include "placement/hived.h"

#include "placement/cell_check.h"
#include "placement/hived_parts.h"

static const struct option options[] = {
	OPT_BOOL(struct hived, spill, 0,
		"guaranteed jobs that find their tenant's cells full run on loan"),
	{ 0 },
};

/* ---- beginning */

static const struct cell_design *hived_cells(const void *self)
{
	return &((const struct hived *)self)->design;
}

static void hived_fini(void *self)
{
	struct hived *h = self;

	cells_destroy(h->books);
	cells_destroy(h->empty);
	cell_design_fini(&h->design);
	arena_fini(&h->memory);
	vec_fini(&h->vc);
	vec_fini(&h->hidden);
	cell_answer_fini(&h->answer);
	vec_fini(&h->trial);
	for (uint32_t i = 0; i < TYPES_MAX; i++) {
		vec_fini(&h->promises[i].slots);
		vec_fini(&h->promises[i].bonds);
	}
	*h = (struct hived){ .spill = h->spill };
}

/* The tenant itself or the next above it with cells. */
static uint32_t cells_owner(const struct tenants *tenants, uint32_t tenant)
{
	while (tenant != TENANT_NONE && tenants->at[tenant].ncells == 0)
		tenant = tenants->at[tenant].parent;
	return tenant == TENANT_NONE ? CELL_NONE : tenant;
}

static void index_nodes(struct hived *h)
{
	h->first = arena_array(&h->memory, uint32_t, h->cluster->nnodes + 1);
	h->place = arena_array(&h->memory, const uint8_t *, h->cluster->nnodes + 1);
	for (size_t c = 0; c < h->design.chains.n; c++) {
		const struct cell_chain *kind = &h->design.chains.at[c];

		for (uint32_t i = 0; i < cell_count(kind, kind->node_level); i++) {
			const struct cell_host *host = &h->design.hosts.at[kind->first_host + i];
			uint8_t *place = NULL;

			h->first[host->node] = cells_first_leaf(h->books,
				h->books->chains[c].base[kind->node_level] + i);
			if (host->devices)
				place = arena_array(&h->memory, uint8_t, NODE_DEVICES_MAX);
			for (uint32_t k = 0; place && k < kind->levels[kind->node_level].leaves; k++)
				place[host->devices[k]] = (uint8_t)k;
			h->place[host->node] = place;
		}
	}
}

static int hived_begin(void *self, const struct cluster *cluster, const struct tenants *tenants,
	struct err *err)
{
	struct hived *h = self;
	int rc;

	hived_fini(h);
	rc = cell_design_of(cluster, tenants, &h->design, err);
	if (!rc)
		rc = cell_check_err(&h->design, err);
	if (rc)
		return rc;
	h->cluster = cluster;
	h->changes = 1;
	h->books = cells_create(&h->design);
	h->empty = cells_create(&h->design);
	for (uint32_t i = 0; tenants && i < tenants->nnames; i++)
		vec_push(&h->vc, cells_owner(tenants, tenants_of_name(tenants, i)));
	for (uint32_t i = 0; i < TYPES_MAX; i++)
		h->promises[i].job = JOB_NONE;
	index_nodes(h);
	return 0;
}

/* ---- devices and jobs in the books */

struct cell_user hived_user(const struct hived *h, const struct job *job)
{
	bool claims = job->class_ == JOB_GUARANTEED && job->tenant < h->vc.n;

	return (struct cell_user){ claims ? h->vc.at[job->tenant] : CELL_NONE, job->id, 0 };
}

uint32_t hived_leaf(const struct hived *h, uint32_t node, uint32_t device)
{
	return h->first[node] + (h->place[node] ? h->place[node][device] : device);
}

uint32_t hived_leaves(const struct hived *h, struct slot slot, uint32_t leaves[NODE_DEVICES_MAX])
{
	uint32_t n = 0;

	for (uint64_t left = slot.devices; left; left &= left - 1)
		leaves[n++] = hived_leaf(h, slot.node, (uint32_t)__builtin_ctzll(left));
	return n;
}

static void hived_took(void *self, const struct job *job, struct slot slot)
{
	struct hived *h = self;
	const struct promise *p = &h->promises[h->cluster->nodes[slot.node].type];
	uint32_t leaves[NODE_DEVICES_MAX], n = hived_leaves(h, slot, leaves);

	h->changes++;
	cells_take(h->books, hived_user(h, job), leaves, n, p->bonds.at,
		p->job == job->id ? (uint32_t)p->bonds.n : 0);
}

static void hived_gave(void *self, const struct job *job, struct slot slot)
{
	struct hived *h = self;
	uint32_t leaves[NODE_DEVICES_MAX], n = hived_leaves(h, slot, leaves);

	h->changes++;
	cells_give(h->books, job->id, leaves, n);
}

static void hived_turned(void *self, uint32_t node, uint64_t down)
{
	struct hived *h = self;

	h->changes++;
	for (uint32_t i = 0; i < h->cluster->nodes[node].devices; i++)
		cells_set_bad(h->books, hived_leaf(h, node, i), down >> i & 1);
}

const struct cells *hived_books(const void *placer_state)
{
	return ((const struct hived *)placer_state)->books;
}

const struct placer placer_hived = {
	.name = "hived",
	.summary = "each tenant within its cells, which it always gets; the rest on loan",
	.origin = "Zhao et al., OSDI 2020",
	.options = options,
	.state_size = sizeof(struct hived),
	.particular = true,
	.by_tenant = true,
	.counts_nodes = true,
	.takes_back = true,
	.reclaim = &hived_reclaim,
	.begin = hived_begin,
	.cells = hived_cells,
	.fini = hived_fini,
	.took = hived_took,
	.gave = hived_gave,
	.turned = hived_turned,
	.suits = hived_suits,
	.choose = hived_choose,
};
