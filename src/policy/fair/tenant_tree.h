/*
 * Who goes next, down the tree of tenants: at each tenant that others stand below, these and its
 * own jobs (with weight 1) share what it gets, and nobody further down counts.
 *
 * The tree is made for one decision.  A leaf is an account (tenant_number()); what leaves
 * use is added up towards the root.
 */
#ifndef POLICY_FAIR_TENANT_TREE_H
#define POLICY_FAIR_TENANT_TREE_H

#include "policy/fair/tenant_queues.h"

enum { TREE_USES = 4 }; /* kinds of use that are added up */

struct tenant_branch {
	uint32_t parent, child,
		next; /* the first below it, and the next below the same parent; UINT32_MAX: none */
	double weight;
	double used[TREE_USES];
	struct tenant_queue *queue; /* of a leaf */
	uint32_t left;              /* jobs not tried yet, of all leaves below */
	size_t account;             /* likewise */
	bool own;                   /* the own jobs of a tenant above others */
	bool alive;                 /* has, or wants, anything */
};

struct tenant_tree {
	struct tenant_branch *at; /* the first is the root */
	uint32_t n;
	uint32_t *leaf_of; /* by account */
	uint32_t naccounts;
};

/* In the round's scratch.  Without tenants, or if `flat`, every account stands at the top. */
void tenant_tree_make(struct tenant_tree *tree, const struct round *round, size_t naccounts, bool flat);
/* What the account has used, its weight, and its queue, which is the caller's. */
void tenant_tree_put(struct tenant_tree *tree, size_t account, double weight,
	const double used[TREE_USES], struct tenant_queue *queue);
/* So much more, from now on. */
void tenant_tree_use(struct tenant_tree *tree, size_t account, const double more[TREE_USES]);
/* The next of the account's jobs has been tried, or all have. */
void tenant_tree_tried(struct tenant_tree *tree, size_t account);

/* Below 0: `a` is further below its share than `b`; 0: as far. */
typedef double poorer_fn(const void *self, const struct tenant_branch *a,
	const struct tenant_branch *b);

/*
 * The account that comes next: from the root always the poorest that has a job to try; between equals the job that
 * came first decides.  SIZE_MAX: nobody has any.
 */
size_t tenant_tree_next(const struct tenant_tree *tree, const uint32_t *jobs, poorer_fn *poorer,
	const void *self);

/* The part of the whole that weights give to the account among those that have or want anything. */
double tenant_tree_part(const struct tenant_tree *tree, size_t account);

#endif
