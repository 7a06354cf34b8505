/*
 * Tenants from a YAML file (doc/formats.md).
 */
#ifndef IO_TENANTS_IO_H
#define IO_TENANTS_IO_H

#include "base/err.h"
#include "base/text.h"
#include "io/notes.h"
#include "model/cluster.h"
#include "model/quota.h"
#include "model/tenant.h"
#include "model/trace.h"

/*
 * Reads a table that is not bound yet; its parents form a tree.  Errors name line, field and
 * what to do; ERR_REFUSED: all is well written, but more is promised below a tenant than to itself.
 * Release with tenants_fini().
 */
int tenants_read(const char *path, struct tenants *out, struct err *err);
/*
 * The same, and what the cluster cannot keep is ERR_REFUSED, too; the smallest conflict of all is named.  With
 * ERR_REFUSED it is in `conflict`, to be released by the caller; NULL: nobody asks for it.
 */
int tenants_read_for(const struct cluster *cluster, const char *path, struct tenants *out,
	struct quota_conflict *conflict, struct err *err);
/* The same from memory; `where` names it in messages. */
int tenants_read_yaml(const char *where, const char *text, size_t n, struct tenants *out,
	struct err *err);

/* YAML that reads back as an equal table. */
void tenants_write_yaml(const struct tenants *tenants, struct buf *out);

/*
 * Notes where table (not bound) and trace do not meet: tenants of the trace that are not in the
 * table, jobs without a tenant, and tenants, without others below them, that no job has.
 */
void tenants_note(const struct tenants *tenants, const struct trace *trace, struct notes *notes);

#endif
