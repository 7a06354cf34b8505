/*
 * A tree of tenants for one decision.
 */
#include "policy/fair/tenant_tree.h"

#define NOBODY UINT32_MAX

static void hang(struct tenant_tree *tree, uint32_t branch, uint32_t parent)
{
	tree->at[branch].parent = parent;
	tree->at[branch].next = tree->at[parent].child;
	tree->at[parent].child = branch;
}

static uint32_t grow(struct tenant_tree *tree)
{
	tree->at[tree->n] = (struct tenant_branch){
		.parent = NOBODY,
		.child = NOBODY,
		.next = NOBODY,
		.weight = 1,
	};
	return tree->n++;
}

static void grow_flat(struct tenant_tree *tree)
{
	for (uint32_t i = 0; i < tree->naccounts; i++) {
		tree->leaf_of[i] = grow(tree);
		hang(tree, tree->leaf_of[i], 0);
	}
}

/* A branch for each tenant, and a leaf for the own jobs of those that others stand below. */
static void grow_tree(struct tenant_tree *tree, const struct tenants *tenants)
{
	for (uint32_t i = 0; i < tenants->n; i++) {
		uint32_t branch = grow(tree);

		tree->at[branch].weight = tenants->at[i].weight;
	}
	for (uint32_t i = 0; i < tenants->n; i++)
		hang(tree, 1 + i, tenants->at[i].parent == TENANT_NONE ? 0 : 1 + tenants->at[i].parent);
	for (uint32_t i = 0; i < tree->naccounts && i <= tenants->nnames; i++) {
		uint32_t name = i == 0 ? NAME_NONE : i - 1;
		uint32_t branch = 1 + tenants_of_name(tenants, name);

		tree->leaf_of[i] = branch;
		if (tree->at[branch].child != NOBODY) {
			tree->leaf_of[i] = grow(tree);
			tree->at[tree->leaf_of[i]].own = true;
			hang(tree, tree->leaf_of[i], branch);
		}
	}
}

void tenant_tree_make(struct tenant_tree *tree, const struct round *round, size_t naccounts, bool flat)
{
	uint32_t tenants = round->tenants ? round->tenants->n : 0;

	*tree = (struct tenant_tree){ .naccounts = (uint32_t)naccounts };
	tree->at = arena_array(round->scratch, struct tenant_branch, naccounts + tenants + 1);
	tree->leaf_of = arena_array(round->scratch, uint32_t, naccounts + 1);
	grow(tree);
	if (flat || !tenants)
		grow_flat(tree);
	else
		grow_tree(tree, round->tenants);
}

static void add(struct tenant_tree *tree, uint32_t leaf, const double more[TREE_USES])
{
	for (uint32_t i = leaf; i != NOBODY; i = tree->at[i].parent) {
		for (int k = 0; k < TREE_USES; k++)
			tree->at[i].used[k] += more[k];
	}
}

void tenant_tree_put(struct tenant_tree *tree, size_t account, double weight,
	const double used[TREE_USES], struct tenant_queue *queue)
{
	uint32_t leaf = tree->leaf_of[account], left = queue->end - queue->next;
	bool alive = left > 0;

	for (int k = 0; k < TREE_USES; k++)
		alive |= used[k] > 0;
	tree->at[leaf].queue = queue;
	tree->at[leaf].account = account;
	if (!tree->at[leaf].own) /* whose weight is against others beside its tenant */
		tree->at[leaf].weight = weight;
	for (uint32_t i = leaf; i != NOBODY; i = tree->at[i].parent) {
		tree->at[i].left += left;
		tree->at[i].alive |= alive;
	}
	add(tree, leaf, used);
}

void tenant_tree_use(struct tenant_tree *tree, size_t account, const double more[TREE_USES])
{
	add(tree, tree->leaf_of[account], more);
}

void tenant_tree_tried(struct tenant_tree *tree, size_t account)
{
	const struct tenant_branch *leaf = &tree->at[tree->leaf_of[account]];
	uint32_t gone = leaf->left - (leaf->queue->end - leaf->queue->next);

	for (uint32_t i = tree->leaf_of[account]; i != NOBODY; i = tree->at[i].parent)
		tree->at[i].left -= gone;
}

/* The job that came first of those to be tried. */
static uint32_t first_of(const struct tenant_tree *tree, uint32_t branch, const uint32_t *jobs)
{
	const struct tenant_branch *b = &tree->at[branch];
	uint32_t first = JOB_NONE;

	if (b->queue && b->queue->next < b->queue->end)
		return jobs[b->queue->next];
	for (uint32_t i = b->child; i != NOBODY; i = tree->at[i].next) {
		uint32_t job = tree->at[i].left ? first_of(tree, i, jobs) : JOB_NONE;

		first = job < first ? job : first;
	}
	return first;
}

static uint32_t poorest_below(const struct tenant_tree *tree, uint32_t branch, const uint32_t *jobs,
	poorer_fn *poorer, const void *self)
{
	uint32_t best = NOBODY;

	for (uint32_t i = tree->at[branch].child; i != NOBODY; i = tree->at[i].next) {
		double by;

		if (!tree->at[i].left)
			continue;
		by = best == NOBODY ? -1 : poorer(self, &tree->at[i], &tree->at[best]);
		if (by < 0 || (by == 0 && first_of(tree, i, jobs) < first_of(tree, best, jobs)))
			best = i;
	}
	return best;
}

size_t tenant_tree_next(const struct tenant_tree *tree, const uint32_t *jobs, poorer_fn *poorer,
	const void *self)
{
	uint32_t branch = 0;

	if (!tree->at[0].left)
		return SIZE_MAX;
	while (tree->at[branch].child != NOBODY)
		branch = poorest_below(tree, branch, jobs, poorer, self);
	return tree->at[branch].account;
}

double tenant_tree_part(const struct tenant_tree *tree, size_t account)
{
	double part = 1;

	for (uint32_t i = tree->leaf_of[account]; i != 0; i = tree->at[i].parent) {
		double weights = 0;

		for (uint32_t k = tree->at[tree->at[i].parent].child; k != NOBODY; k = tree->at[k].next)
			weights += tree->at[k].alive || k == i ? tree->at[k].weight : 0;
		part *= tree->at[i].weight / weights;
	}
	return part;
}
