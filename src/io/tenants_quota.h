/*
 * The quota of a tenant in YAML: `guaranteed`, `borrow`, `lend`.  Part of tenants_io.c.
 */
#ifndef IO_TENANTS_QUOTA_H
#define IO_TENANTS_QUOTA_H

#include "base/text.h"
#include "io/yaml.h"
#include "model/tenant.h"

/* A number or one for each type: no schema says that, so they are read from the document. */
#define QUOTA_FIELDS \
	CYAML_FIELD_IGNORE("guaranteed", CYAML_FLAG_OPTIONAL), \
		CYAML_FIELD_IGNORE("borrow", CYAML_FLAG_OPTIONAL), \
		CYAML_FIELD_IGNORE("lend", CYAML_FLAG_OPTIONAL)

/* Of the entry of that number, which is in the table. */
int tenants_quota_read(struct yaml *yaml, struct tenants *tenants, uint32_t entry, struct err *err);
/* Lines of the entry, where anything was said. */
void tenants_quota_write(const struct tenants *tenants, const struct tenant *tenant, struct buf *out);

/*
 * Words of a command line, of one tenant: "8", "v100:8,a100:4" or "none" (as if nothing had been said); what it lends
 * "4", "all" or, where it is guaranteed by type, "v100:2".  ERR_USAGE.
 */
int quota_say_guaranteed(struct tenants *tenants, uint32_t tenant, const char *text, struct err *err);
int quota_say_lend(struct tenants *tenants, uint32_t tenant, const char *text, struct err *err);
/* A tenant of the table, or "none": at the top.  ERR_MISSING: there is no such, ERR_REFUSED: it stands below already. */
int quota_say_parent(struct tenants *tenants, uint32_t tenant, const char *parent, struct err *err);
/*
 * The length of the tenant's name in "vision=2" or "vision:guaranteed=v100:8,a100:4,borrow=4,lend=2,weight=2,parent=labs";
 * 0: it is neither.
 */
size_t quota_word_tenant(const char *word);
/* Such a word: the first is a weight.  A tenant that is not in the table is added.  ERR_USAGE, or as above. */
int quota_say(struct tenants *tenants, const char *word, struct err *err);
/* As these read it: "v100:8,a100:4". */
void quota_tell_guaranteed(const struct tenants *tenants, const struct tenant *tenant, struct buf *out);

/* "8", or "all" (QUOTA_ALL) where that can be said.  False: it is neither. */
bool quota_number(const char *text, bool all, uint32_t *out);

#endif
