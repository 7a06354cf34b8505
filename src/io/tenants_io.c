/*
 * Reading tenants from YAML (doc/formats.md).
 *
 * Every value is loaded as text and read here, so that a wrong one is told with
 * its line and what is allowed.  Names first, then parents: a tenant may stand
 * below one that comes later in the file.
 */
#include "io/tenants_io.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/plain.h"
#include "base/text.h"
#include "io/tenants_cells.h"
#include "io/tenants_quota.h"
#include "io/yaml.h"
#include "model/quota.h"

/* ---- the file as it is written: NULL where a value is left out or empty */

struct tenant_text {
	char *name, *parent, *weight, *within;
	struct tenant_cell_text *cells;
	uint32_t ncells;
};

struct tenants_text {
	struct tenant_text *tenants;
	uint32_t ntenants;
};

#define TEXT_FLAGS (CYAML_FLAG_POINTER_NULL_STR | CYAML_FLAG_OPTIONAL)
#define TEXT(field) \
	CYAML_FIELD_STRING_PTR(#field, TEXT_FLAGS, struct tenant_text, field, 0, CYAML_UNLIMITED)

static const cyaml_schema_field_t tenant_fields[] = {
	TEXT(name),
	TEXT(parent),
	TEXT(weight),
	TEXT(within),
	CYAML_FIELD_SEQUENCE_COUNT("cells", TEXT_FLAGS, struct tenant_text, cells, ncells,
		&tenant_cell_schema, 0, CYAML_UNLIMITED),
	QUOTA_FIELDS,
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t tenant_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tenant_text, tenant_fields),
};

static const cyaml_schema_field_t tenants_fields[] = {
	CYAML_FIELD_SEQUENCE_COUNT("tenants", TEXT_FLAGS, struct tenants_text, tenants, ntenants,
		&tenant_schema, 0, CYAML_UNLIMITED),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t tenants_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct tenants_text, tenants_fields),
};

/* ---- one tenant */

struct reader {
	struct yaml yaml;
	struct tenants *tenants;
	const struct cluster *cluster;   /* that shall keep what is promised, or NULL: not known */
	struct quota_conflict *conflict; /* gets what cannot be kept, or NULL */
	struct err *err;
};

#define PATH(entry, key) YAML_PATH({ "tenants", 0 }, { NULL, entry }, { key, 0 })

static int read_name(struct reader *r, uint32_t entry, const char *name)
{
	if (!name)
		return yaml_fail(&r->yaml, YAML_PATH({ "tenants", 0 }, { NULL, entry }), r->err,
			"a tenant needs its name, as the trace calls it");
	if (!text_is_plain(name))
		return yaml_fail(&r->yaml, PATH(entry, "name"), r->err,
			"a name has no line ends, tabs or other control characters");
	if (tenants_add(r->tenants, name, strlen(name)) == TENANT_NONE)
		return yaml_fail(&r->yaml, PATH(entry, "name"), r->err,
			"tenant \"%.80s\" is given twice; keep one", name);
	return 0;
}

static int read_weight(struct reader *r, uint32_t entry, const char *text, double *out)
{
	const char *name = r->tenants->at[entry].name;
	double x;

	if (!text)
		return 0;
	if (!slice_double(slice_of(text), &x))
		return yaml_fail(&r->yaml, PATH(entry, "weight"), r->err,
			"\"%.80s\" is not a number; write one above 0, such as 2 or 0.5", text);
	if (x == 0)
		return yaml_fail(&r->yaml, PATH(entry, "weight"), r->err,
			"with weight 0 tenant \"%.80s\" would never run; give it a small one, such as 0.01, "
			"or leave its jobs out of the trace",
			name);
	if (x < 0)
		return yaml_fail(&r->yaml, PATH(entry, "weight"), r->err,
			"%.80s is negative; a weight is above 0: twice the weight is twice the share",
			text);
	if (x < TENANT_WEIGHT_MIN || x > TENANT_WEIGHT_MAX)
		return yaml_fail(&r->yaml, PATH(entry, "weight"), r->err,
			"%.80s is out of range; a weight is from %g to %g", text, TENANT_WEIGHT_MIN,
			TENANT_WEIGHT_MAX);
	*out = x;
	return 0;
}

static int read_within(struct reader *r, uint32_t entry, const char *text, enum within *out)
{
	for (int i = 0; text && within_names[i]; i++) {
		if (!strcmp(text, within_names[i])) {
			*out = (enum within)i;
			return 0;
		}
	}
	if (!text)
		return 0;
	return yaml_fail(&r->yaml, PATH(entry, "within"), r->err,
		"\"%.80s\" is not a way to share; write fair (jobs of the tenant are alike) or fifo "
		"(in order of arrival)",
		text);
}

static int read_tenant(struct reader *r, uint32_t entry, const struct tenant_text *text)
{
	struct tenant *tenant;
	int rc = read_name(r, entry, text->name);

	if (rc)
		return rc;
	tenant = &r->tenants->at[entry];
	rc = read_weight(r, entry, text->weight, &tenant->weight);
	if (!rc)
		rc = read_within(r, entry, text->within, &tenant->within);
	if (!rc)
		rc = tenants_read_cells(&r->yaml, entry, text->cells, text->ncells, r->tenants, r->err);
	return rc ? rc : tenants_quota_read(&r->yaml, r->tenants, entry, r->err);
}

/* ---- the tree */

static int read_parent(struct reader *r, uint32_t entry, const char *name)
{
	const struct names *names = &r->tenants->names;
	uint32_t parent = name ? tenants_find(r->tenants, name, strlen(name)) : TENANT_NONE;
	int near;

	r->tenants->at[entry].parent = parent;
	if (!name || parent != TENANT_NONE)
		return 0;
	near = text_nearest(name, names->at, names->n);
	return yaml_fail(&r->yaml, PATH(entry, "parent"), r->err,
		"there is no tenant \"%.80s\" in this file%s%.80s%s", name,
		near >= 0 ? "; did you mean \"" : "; add it, or leave parent out",
		near >= 0 ? names->at[near] : "", near >= 0 ? "\"?" : "");
}

/* "a below b below a": as much of it as a message should have. */
static void tell_cycle(const struct tenants *tenants, uint32_t from, struct buf *out)
{
	enum { SHOWN_MAX = 5 };
	uint32_t at = from, shown = 0;

	buf_printf(out, "\"%.40s\"", tenants->at[at].name);
	do {
		at = tenants->at[at].parent;
		if (shown++ < SHOWN_MAX || at == from)
			buf_printf(out, " below %s\"%.40s\"", shown > SHOWN_MAX + 1 ? "... " : "",
				tenants->at[at].name);
	} while (at != from);
}

static int check_tree(struct reader *r)
{
	uint32_t at = tenants_cycle(r->tenants);
	struct buf text = { 0 };
	int rc;

	if (at == TENANT_NONE)
		return 0;
	if (r->tenants->at[at].parent == at)
		return yaml_fail(&r->yaml, PATH(at, "parent"), r->err,
			"\"%.80s\" is its own parent; leave parent out", r->tenants->at[at].name);
	tell_cycle(r->tenants, at, &text);
	rc = yaml_fail(&r->yaml, PATH(at, "parent"), r->err,
		"parents go round in a circle (%s); leave one of them out", text.at);
	buf_fini(&text);
	return rc;
}

/* Below nobody is more promised than above, and by the cluster no more than it has: else the file is well, but refused. */
static int check_promises(struct reader *r)
{
	struct quota_conflict found;

	if (!quota_conflicts(r->tenants, r->cluster, NULL, &found))
		return 0;
	if (found.above == TENANT_NONE)
		err_set(r->err, ERR_REFUSED, "%s: %s", r->yaml.where, found.text.at);
	else
		yaml_fail(&r->yaml, PATH(found.above, "guaranteed"), r->err, "%s", found.text.at);
	if (r->conflict)
		*r->conflict = found;
	else
		quota_conflict_fini(&found);
	return r->err->code = ERR_REFUSED;
}

/* ---- the file */

static int read_tenants(struct reader *r, const struct tenants_text *in)
{
	int rc = 0;

	if (!in || !in->ntenants)
		return err_set(r->err, ERR_FORMAT,
			"%s: no tenants; a file needs at least one, such as\ntenants:\n"
			"  - {name: vision, weight: 2}",
			r->yaml.where);
	for (uint32_t i = 0; i < in->ntenants && !rc; i++)
		rc = read_tenant(r, i, &in->tenants[i]);
	for (uint32_t i = 0; i < in->ntenants && !rc; i++)
		rc = read_parent(r, i, in->tenants[i].parent);
	if (!rc)
		rc = check_tree(r);
	return rc ? rc : check_promises(r);
}

static int read_for(const struct cluster *cluster, const char *where, const char *text, size_t n,
	struct tenants *out, struct quota_conflict *conflict, struct err *err)
{
	struct tenants tenants = { .hash = hash_bytes(HASH_START, text, n) };
	struct reader r = { .tenants = &tenants, .cluster = cluster, .conflict = conflict, .err = err };
	int rc = yaml_open(&r.yaml, where, text, n, &tenants_schema, err);

	if (rc)
		return rc;
	rc = read_tenants(&r, r.yaml.data);
	yaml_fini(&r.yaml);
	if (rc)
		tenants_fini(&tenants);
	else
		*out = tenants;
	return rc;
}

int tenants_read_yaml(const char *where, const char *text, size_t n, struct tenants *out,
	struct err *err)
{
	return read_for(NULL, where, text, n, out, NULL, err);
}

static const size_t FILE_MAX = 64 << 20;

int tenants_read_for(const struct cluster *cluster, const char *path, struct tenants *out,
	struct quota_conflict *conflict, struct err *err)
{
	struct file file;
	int rc = file_read_upto(path, FILE_MAX, &file, err);

	if (rc)
		return rc;
	rc = read_for(cluster, path, file.at, file.n, out, conflict, err);
	file_fini(&file);
	return rc;
}

int tenants_read(const char *path, struct tenants *out, struct err *err)
{
	return tenants_read_for(NULL, path, out, NULL, err);
}

/* ---- where file and trace do not meet */

enum { NAMED_MAX = 5 };

/* A list of names, the first few and how many more. */
struct name_list {
	struct buf text;
	uint32_t n;
};

static void list_add(struct name_list *list, const char *name)
{
	if (list->n++ < NAMED_MAX)
		buf_printf(&list->text, "%s%.60s", list->n > 1 ? ", " : "", name);
}

static const char *list_end(struct name_list *list)
{
	if (list->n > NAMED_MAX)
		buf_printf(&list->text, " and %u more", list->n - NAMED_MAX);
	return list->text.at;
}

static void note_strangers(const struct tenants *tenants, const struct trace *trace, struct notes *notes)
{
	struct name_list list = { 0 };

	for (uint32_t i = 0; i < trace->tenants.n; i++) {
		const char *name = trace->tenants.at[i];

		if (tenants_find(tenants, name, strlen(name)) == TENANT_NONE)
			list_add(&list, name);
	}
	if (list.n)
		notes_add(notes, NOTE_ASSUMED, 0, NULL, "add what has another weight or a parent",
			"weight 1 at the top for what the trace has besides: %s", list_end(&list));
	buf_fini(&list.text);
}

static void note_unnamed(const struct trace *trace, struct notes *notes)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < trace->njobs; i++)
		n += trace->jobs[i].tenant == NAME_NONE;
	if (n)
		notes_add(notes, NOTE_ASSUMED, 0, NULL, NULL,
			"weight 1 at the top for the %u job%s without a tenant%s", n,
			n == 1 ? "" : "s", n == 1 ? "" : ", all together");
}

/* Of a parent nothing need be there: others may stand below it for its sake. */
static void note_idle(const struct tenants *tenants, const struct trace *trace, struct notes *notes)
{
	bool *needed = mem_alloc(mem_array_size(tenants->n, sizeof(*needed)));
	struct name_list list = { 0 };

	for (uint32_t i = 0; i < tenants->n; i++) {
		if (tenants->at[i].parent != TENANT_NONE)
			needed[tenants->at[i].parent] = true;
	}
	for (uint32_t i = 0; i < tenants->n; i++) {
		const char *name = tenants->at[i].name;

		if (!needed[i] && names_find(&trace->tenants, name, strlen(name)) == NAME_NONE)
			list_add(&list, name);
	}
	if (list.n)
		notes_add(notes, NOTE_DROPPED, 0, NULL, NULL, "no job of the trace is of %s",
			list_end(&list));
	buf_fini(&list.text);
	free(needed);
}

void tenants_note(const struct tenants *tenants, const struct trace *trace, struct notes *notes)
{
	note_strangers(tenants, trace, notes);
	note_unnamed(trace, notes);
	note_idle(tenants, trace, notes);
}

/* ---- writing */

void tenants_write_yaml(const struct tenants *tenants, struct buf *out)
{
	buf_str(out, "tenants:\n");
	for (uint32_t i = 0; i < tenants->n; i++) {
		const struct tenant *t = &tenants->at[i];

		buf_str(out, "  - name: ");
		json_quote(out, t->name);
		buf_str(out, "\n    weight: ");
		buf_double(out, t->weight);
		buf_printf(out, "\n    within: %s\n", within_names[t->within]);
		tenants_quota_write(tenants, t, out);
		if (t->parent != TENANT_NONE) {
			buf_str(out, "    parent: ");
			json_quote(out, tenants->at[t->parent].name);
			buf_char(out, '\n');
		}
		tenants_write_cells(t, out);
	}
}
