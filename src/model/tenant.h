/*
 * Tenants: who shares the cluster, with which weight, in which tree.
 *
 * A table is made once, from a file or by hand, and knows nothing of a workload.
 * Each run binds a copy to the names of its trace; from then on every tenant of
 * the trace is in it, and policies find a job's tenant by index:
 *
 *	const struct tenant *t = tenants_of_job(round->tenants, job);
 *	share += t->weight;
 *
 * A tenant that others stand below may have jobs of its own as well.
 *
 * What a tenant has is a field each, with the value that changes nothing in
 * tenant_init().  Quotas count devices; what they mean is said in model/quota.h.
 */
#ifndef MODEL_TENANT_H
#define MODEL_TENANT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "model/job.h"

#define TENANT_NONE UINT32_MAX

#define TENANT_WEIGHT_MIN 1e-9
#define TENANT_WEIGHT_MAX 1e9

/* How the jobs of one tenant share what it has. */
enum within {
	WITHIN_FAIR, /* all alike, or by their own weights */
	WITHIN_FIFO, /* in order of arrival */
};

extern const char *const within_names[]; /* by enum within; NULL after the last */

/* Cells promised to a tenant, as they are written: model/cell_design.h makes sense of them. */
struct tenant_cell {
	const char *cell;   /* the level: "node" */
	const char *type;   /* of device, or a chain; NULL: there is only one that has such cells */
	const char *pinned; /* NODE[:DEVICE] that lies in the very cell; NULL: any */
	uint32_t count;
	uint32_t line; /* of its file, 0: none */
};

#define QUOTA_ALL UINT32_MAX  /* borrow, lend: as many as there are */
#define QUOTA_MAX 1000000000u /* devices that a quota may speak of */

/* What a tenant is promised of one type of device. */
struct tenant_part {
	uint32_t type; /* number of its name in tenants.types */
	uint32_t guaranteed;
	uint32_t lend; /* of these, while they idle; or QUOTA_ALL */
};

struct tenant {
	const char *name; /* the table's; NULL: of the jobs that name no tenant */
	uint32_t parent;  /* index in the table; TENANT_NONE: it stands at the top */
	double weight;    /* against the others below the same parent; WEIGHT_MIN..WEIGHT_MAX */
	enum within within;
	const struct tenant_cell *cells; /* the table's; NULL: none */
	uint32_t ncells;
	bool promised; /* `guaranteed` was said; else it is what those below it are promised together */
	uint32_t guaranteed; /* devices of any type; with parts, their sum */
	uint32_t borrow;     /* beyond that, or QUOTA_ALL */
	uint32_t lend; /* of its guaranteed devices, while they idle, or QUOTA_ALL; with parts each has its own */
	struct tenant_part *parts; /* by type, where it was said so; the table's */
	uint32_t nparts;
	bool stated; /* false: only the trace knows it, all else is as tenant_init() leaves it */
};

/* A zeroed table is valid and empty. */
struct tenants {
	struct tenant *at; /* as stated, then those that only the trace has, then the unnamed one */
	uint32_t n, cap;
	struct names names;  /* the number of a name is its index in `at` */
	struct arena memory; /* of cells */
	struct names types;  /* that parts speak of, as they were written */
	uint64_t hash;       /* of the bytes it was read from; 0: of none */

	/* set by tenants_bind() */
	uint32_t *of_name; /* by tenant of the trace: index in `at` */
	uint32_t nnames;
	uint32_t unnamed; /* index in `at` */
};

void tenants_fini(struct tenants *tenants);

/* One nothing is known of: at the top, weight 1, jobs fair within, not stated. */
void tenant_init(struct tenant *tenant);

/*
 * Adds a stated tenant, else as tenant_init() leaves it, and returns its index: `at[index]` is
 * the caller's to fill.  TENANT_NONE if there is one of that name.
 */
uint32_t tenants_add(struct tenants *tenants, const char *name, size_t n);
/* Of so many devices of any type, or with QUOTA_ALL of none that were said: what it is promised anew, without parts. */
void tenants_promise(struct tenants *tenants, uint32_t tenant, uint32_t guaranteed);
/* One part more; false: there is one of that type already.  `lend` as in the part. */
bool tenants_promise_part(struct tenants *tenants, uint32_t tenant, const char *type,
	uint32_t guaranteed, uint32_t lend);
/* By name, or TENANT_NONE. */
uint32_t tenants_find(const struct tenants *tenants, const char *name, size_t n);
/* Whether anybody is promised cells. */
bool tenants_have_cells(const struct tenants *tenants);
/* Copies a list of cells into the table, as those of one of its tenants. */
void tenants_set_cells(struct tenants *tenants, uint32_t tenant, const struct tenant_cell *cells,
	uint32_t n);
/* A tenant that stands below itself, in a shortest circle; or TENANT_NONE: then parents form a tree. */
uint32_t tenants_cycle(const struct tenants *tenants);

/* A copy that is not bound. */
void tenants_copy(const struct tenants *from, struct tenants *out);

/*
 * Copies `from`, whose parents form a tree, and binds the copy to the names of a trace.  Names
 * it has not, and jobs without one, become tenants as tenant_init() says; tenants without jobs stay.
 * Release with tenants_fini().
 */
void tenants_bind(const struct tenants *from, const struct names *names, struct tenants *out);

/* ---- of a bound table */

/* The index in `at` of one of the names it was bound to, or of the unnamed tenant for NAME_NONE. */
uint32_t tenants_of_name(const struct tenants *tenants, uint32_t name);
/* The job's tenant; never NULL. */
const struct tenant *tenants_of_job(const struct tenants *tenants, const struct job *job);

#endif
