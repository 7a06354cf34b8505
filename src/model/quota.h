/*
 * What tenants are promised, and whether it can be kept.
 *
 * A quota has three numbers of devices:
 *
 *	guaranteed  what the tenant gets whenever it asks, from whoever has borrowed it
 *	borrow      what it may have beyond that while nobody who it belongs to wants it
 *	lend        how much of what it is guaranteed others may have while it idles
 *
 * `guaranteed` is of any type, or by type.  A tenant that says nothing is promised what
 * those below it are promised together, nothing if there are none.  What a tenant is
 * promised contains what those below it are; the rest is its own jobs', and theirs
 * before anybody else's.
 */
#ifndef MODEL_QUOTA_H
#define MODEL_QUOTA_H

#include "base/err.h"
#include "base/names.h"
#include "base/text.h"
#include "model/cell_design.h"
#include "model/cluster.h"
#include "model/tenant.h"

/* What one tenant is promised. */
struct promise {
	uint64_t any;    /* devices of any type */
	uint64_t *typed; /* by type: of the table, or of a cluster */
	uint64_t total;  /* together */
};

/* By tenant of a table. */
struct promises {
	struct promise *of;
	uint32_t n, ntypes;
	bool cells; /* those of cells are among them */
	uint64_t *memory;
};

/* By types of the table; or of `cluster`, where types it does not have count for nothing.  The parents form a tree. */
void promises_make(const struct tenants *tenants, const struct cluster *cluster, struct promises *out);
/*
 * Where a rule of placement keeps cells, who is promised some is promised their devices: inside of what was said of
 * it, or beside that where it is too little.  `promises` are of the cluster's types.
 */
void promises_add_cells(const struct tenants *tenants, const struct cell_design *cells,
	struct promises *promises);
void promises_fini(struct promises *promises);

/*
 * The types that devices of any type may be of, as bits: slots of CPUs beside accelerators are only counted where
 * somebody is promised some by name.
 */
uint32_t quota_types(const struct tenants *tenants, const struct cluster *cluster);

/* Whether anybody is promised or denied anything: else a table is about weights alone. */
bool quota_is_set(const struct tenants *tenants);

/* Promises that cannot be kept together, of as few tenants as was found. */
struct quota_conflict {
	struct names who; /* their names */
	uint32_t above; /* the one of them that does not hold what is below it, or TENANT_NONE: the cluster does not */
	struct buf text; /* as a sentence */
};

/*
 * Whether what is promised cannot be kept: below a tenant more is promised than to itself, or (where `cluster` is given)
 * more than the cluster has or of a type that it does not have.  Devices by type count as such wherever they
 * are promised, also inside of devices of any type; those of cells are promised, too (NULL: no cells).  `out` gets a
 * smallest conflict of all these, counted in tenants; release it with quota_conflict_fini().
 */
bool quota_conflicts(const struct tenants *tenants, const struct cluster *cluster,
	const struct cell_design *cells, struct quota_conflict *out);
void quota_conflict_fini(struct quota_conflict *conflict);

/* The same as an error: ERR_REFUSED. */
int quota_check(const struct tenants *tenants, const struct cluster *cluster, struct err *err);
/* The same, and beside quotas the cells are to be kept (NULL: none). */
int quota_check_with_cells(const struct tenants *tenants, const struct cluster *cluster,
	const struct cell_design *cells, struct err *err);

#endif
