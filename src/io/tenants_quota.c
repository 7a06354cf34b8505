/*
 * Numbers of devices, of any type or by type.
 */
#include "io/tenants_quota.h"

#include <string.h>

#include "base/json.h"
#include "model/cluster.h"

struct quota_reader {
	struct yaml *yaml;
	struct tenants *tenants;
	uint32_t entry;
	struct err *err;
};

#define AT(r, key) YAML_PATH({ "tenants", 0 }, { NULL, (r)->entry }, { key, 0 })
#define BELOW(r, key, type) \
	YAML_PATH({ "tenants", 0 }, { NULL, (r)->entry }, { key, 0 }, { type, 0 })

bool quota_number(const char *text, bool all, uint32_t *out)
{
	uint64_t n = 0;

	if (all && !strcmp(text, "all")) {
		*out = QUOTA_ALL;
		return true;
	}
	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		n = n * 10 + (uint64_t)(*text - '0');
		if (n > QUOTA_MAX)
			return false;
	}
	*out = (uint32_t)n;
	return true;
}

static const char *scalar(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

/* Whether something was said: an empty value is none. */
static bool is_said(const yaml_node_t *node)
{
	return node && !(node->type == YAML_SCALAR_NODE && node->data.scalar.length == 0);
}

static int read_number(struct quota_reader *r, const struct yaml_step *path,
	const yaml_node_t *node, bool all, uint32_t *out)
{
	const char *text = scalar(node);

	if (!text)
		return yaml_fail(r->yaml, path, r->err, "a number of devices expected here");
	if (quota_number(text, all, out))
		return 0;
	return yaml_fail(r->yaml, path, r->err,
		"\"%.80s\" is not a number of devices; write a whole one, such as 8%s", text,
		all ? ", or all" : "");
}

typedef int each_fn(struct quota_reader *r, const char *type, const yaml_node_t *value);

static int for_each_type(struct quota_reader *r, const char *field, const yaml_node_t *node,
	each_fn *each)
{
	yaml_document_t *document = &r->yaml->document;
	int rc = 0;

	for (yaml_node_pair_t *p = node->data.mapping.pairs.start;
		p < node->data.mapping.pairs.top && !rc; p++) {
		const char *type = scalar(yaml_document_get_node(document, p->key));

		if (!type || !cluster_is_type_name(slice_of(type)))
			return yaml_fail(r->yaml, AT(r, field), r->err,
				"types of devices expected here, such as {v100: 8}");
		rc = each(r, type, yaml_document_get_node(document, p->value));
	}
	return rc;
}

static int read_part(struct quota_reader *r, const char *type, const yaml_node_t *value)
{
	uint32_t n;
	int rc = read_number(r, BELOW(r, "guaranteed", type), value, false, &n);

	if (!rc && !tenants_promise_part(r->tenants, r->entry, type, n, QUOTA_ALL))
		rc = yaml_fail(r->yaml, BELOW(r, "guaranteed", type), r->err, "given twice; keep one");
	return rc;
}

static int read_guaranteed(struct quota_reader *r)
{
	const yaml_node_t *node = yaml_at(r->yaml, AT(r, "guaranteed"));
	uint32_t n;
	int rc;

	if (!is_said(node))
		return 0;
	if (node->type == YAML_MAPPING_NODE) {
		if (node->data.mapping.pairs.start == node->data.mapping.pairs.top)
			return yaml_fail(r->yaml, AT(r, "guaranteed"), r->err,
				"no type is named; write {v100: 8}, or 0");
		return for_each_type(r, "guaranteed", node, read_part);
	}
	rc = read_number(r, AT(r, "guaranteed"), node, false, &n);
	if (!rc)
		tenants_promise(r->tenants, r->entry, n);
	return rc;
}

static int read_lent_part(struct quota_reader *r, const char *type, const yaml_node_t *value)
{
	struct tenant *t = &r->tenants->at[r->entry];
	uint32_t number = names_find(&r->tenants->types, type, strlen(type));

	for (uint32_t i = 0; i < t->nparts; i++) {
		if (t->parts[i].type == number)
			return read_number(r, BELOW(r, "lend", type), value, true, &t->parts[i].lend);
	}
	return yaml_fail(r->yaml, BELOW(r, "lend", type), r->err,
		"it is guaranteed no %.40s by type, so there are none to lend", type);
}

/* Of a promise by type so many of each; nothing of any can be said in one word. */
static int read_lend(struct quota_reader *r)
{
	struct tenant *t = &r->tenants->at[r->entry];
	const yaml_node_t *node = yaml_at(r->yaml, AT(r, "lend"));
	int rc;

	if (!is_said(node))
		return 0;
	if (node->type == YAML_MAPPING_NODE)
		return for_each_type(r, "lend", node, read_lent_part);
	rc = read_number(r, AT(r, "lend"), node, true, &t->lend);
	if (rc || !t->nparts)
		return rc;
	if (t->lend != 0 && t->lend != QUOTA_ALL)
		return yaml_fail(r->yaml, AT(r, "lend"), r->err,
			"it is guaranteed devices by type; say of which it lends, such as {%.40s: %u}",
			r->tenants->types.at[t->parts[0].type], t->lend);
	for (uint32_t i = 0; i < t->nparts; i++)
		t->parts[i].lend = t->lend;
	t->lend = QUOTA_ALL;
	return 0;
}

int tenants_quota_read(struct yaml *yaml, struct tenants *tenants, uint32_t entry, struct err *err)
{
	struct quota_reader r = { yaml, tenants, entry, err };
	const yaml_node_t *borrow = yaml_at(yaml, AT(&r, "borrow"));
	int rc = read_guaranteed(&r);

	if (!rc && is_said(borrow))
		rc = read_number(&r, AT(&r, "borrow"), borrow, true, &tenants->at[entry].borrow);
	return rc ? rc : read_lend(&r);
}

/* ---- writing */

static void write_parts(const struct tenants *tenants, const struct tenant *t, bool lend,
	struct buf *out)
{
	bool any = false;

	for (uint32_t i = 0; i < t->nparts; i++) {
		uint32_t n = lend ? t->parts[i].lend : t->parts[i].guaranteed;

		if (lend && n == QUOTA_ALL)
			continue;
		buf_str(out, any ? ", " : lend ? "    lend: {" : "    guaranteed: {");
		json_quote(out, tenants->types.at[t->parts[i].type]);
		buf_printf(out, ": %u", n);
		any = true;
	}
	if (any)
		buf_str(out, "}\n");
}

void tenants_quota_write(const struct tenants *tenants, const struct tenant *t, struct buf *out)
{
	if (t->promised && !t->nparts)
		buf_printf(out, "    guaranteed: %u\n", t->guaranteed);
	write_parts(tenants, t, false, out);
	if (t->borrow != QUOTA_ALL)
		buf_printf(out, "    borrow: %u\n", t->borrow);
	if (t->lend != QUOTA_ALL)
		buf_printf(out, "    lend: %u\n", t->lend);
	write_parts(tenants, t, true, out);
}

/* ---- words of a command line */

/* The next "type:number" of a list; 0: the end, -1: it is none. */
static int next_pair(const char **text, bool all, char type[64], uint32_t *n)
{
	const char *colon, *end;
	char count[32] = { 0 };

	if (!**text)
		return 0;
	end = strchr(*text, ',');
	end = end ? end : *text + strlen(*text);
	colon = memchr(*text, ':', (size_t)(end - *text));
	if (!colon || colon == *text || colon - *text > 63 || end - colon > 31)
		return -1;
	memset(type, 0, 64);
	memcpy(type, *text, (size_t)(colon - *text));
	memcpy(count, colon + 1, (size_t)(end - colon - 1));
	*text = *end ? end + 1 : end;
	return quota_number(count, all, n) && cluster_is_type_name(slice_of(type)) ? 1 : -1;
}

int quota_say_guaranteed(struct tenants *tenants, uint32_t tenant, const char *text, struct err *err)
{
	const char *at = text;
	char type[64];
	uint32_t n;
	int rc;

	if (!strcmp(text, "none") || quota_number(text, false, &n)) {
		tenants_promise(tenants, tenant, strcmp(text, "none") ? n : QUOTA_ALL);
		return 0;
	}
	tenants_promise(tenants, tenant, QUOTA_ALL);
	tenants->at[tenant].lend = QUOTA_ALL; /* each part has its own from now on */
	while ((rc = next_pair(&at, false, type, &n)) > 0) {
		if (!tenants_promise_part(tenants, tenant, type, n, QUOTA_ALL))
			return err_set(err, ERR_USAGE, "guaranteed: %s is given twice", type);
	}
	if (rc < 0 || at == text)
		return err_set(err, ERR_USAGE,
			"guaranteed: \"%.80s\" is not a number of devices; write 8, v100:8,a100:4 or none",
			text);
	return 0;
}

int quota_say_lend(struct tenants *tenants, uint32_t tenant, const char *text, struct err *err)
{
	struct tenant *t = &tenants->at[tenant];
	const char *at = text;
	char type[64];
	uint32_t n;
	int rc = 1;

	if (quota_number(text, true, &n) && (!t->nparts || n == 0 || n == QUOTA_ALL)) {
		t->lend = t->nparts ? QUOTA_ALL : n;
		for (uint32_t i = 0; i < t->nparts; i++)
			t->parts[i].lend = n;
		return 0;
	}
	while (t->nparts && (rc = next_pair(&at, true, type, &n)) > 0) {
		uint32_t number = names_find(&tenants->types, type, strlen(type)), i = 0;

		while (i < t->nparts && t->parts[i].type != number)
			i++;
		if (i == t->nparts)
			return err_set(err, ERR_USAGE, "lend: it is guaranteed no %s", type);
		t->parts[i].lend = n;
	}
	if (rc != 0 || at == text)
		return err_set(err, ERR_USAGE, "lend: \"%.80s\" is not %s", text,
			t->nparts ? "of the types it is guaranteed; write v100:2, 0 or all"
				  : "a number of devices; write 4, or all");
	return 0;
}

int quota_say_parent(struct tenants *tenants, uint32_t tenant, const char *parent, struct err *err)
{
	uint32_t above = TENANT_NONE;

	if (*parent && strcmp(parent, "none") != 0) {
		above = tenants_find(tenants, parent, strlen(parent));
		if (above == TENANT_NONE)
			return err_set(err, ERR_MISSING,
				"parent: there is no tenant \"%.80s\"; "
				"give it a quota first",
				parent);
	}
	if (above == tenant)
		return err_set(err, ERR_REFUSED, "parent: \"%.80s\" cannot be its own parent", parent);
	tenants->at[tenant].parent = above;
	if (tenants_cycle(tenants) != TENANT_NONE)
		return err_set(err, ERR_REFUSED, "parent: \"%.80s\" stands below \"%.80s\" already",
			parent, tenants->at[tenant].name);
	return 0;
}

/* ---- all of a tenant in one word */

static int say_weight(struct tenants *tenants, uint32_t tenant, const char *text, struct err *err)
{
	double weight;

	if (!slice_double(slice_of(text), &weight) || weight < TENANT_WEIGHT_MIN ||
		weight > TENANT_WEIGHT_MAX)
		return err_set(err, ERR_USAGE,
			"weight: \"%.80s\" is not a number above 0, such as 2", text);
	tenants->at[tenant].weight = weight;
	return 0;
}

static int say_borrow(struct tenants *tenants, uint32_t tenant, const char *text, struct err *err)
{
	if (quota_number(text, true, &tenants->at[tenant].borrow))
		return 0;
	return err_set(err, ERR_USAGE,
		"borrow: \"%.80s\" is not a number of devices; write 4, or all", text);
}

/* In the order in which they can be said: what is lent depends on what is guaranteed. */
static const struct quota_key {
	const char *name;
	int (*say)(struct tenants *tenants, uint32_t tenant, const char *text, struct err *err);
} quota_keys[] = {
	{ "guaranteed", quota_say_guaranteed },
	{ "borrow", say_borrow },
	{ "lend", quota_say_lend },
	{ "weight", say_weight },
	{ "parent", quota_say_parent },
};

enum { QUOTA_KEYS = sizeof(quota_keys) / sizeof(quota_keys[0]) };

/* Which key "borrow=4" begins with; -1: none. */
static int key_of(const char *text)
{
	for (int i = 0; i < QUOTA_KEYS; i++) {
		size_t n = strlen(quota_keys[i].name);

		if (!strncmp(text, quota_keys[i].name, n) && text[n] == '=')
			return i;
	}
	return -1;
}

size_t quota_word_tenant(const char *word)
{
	const char *colon = strchr(word, ':'), *equals = strrchr(word, '=');

	for (; colon; colon = strchr(colon + 1, ':')) {
		if (key_of(colon + 1) >= 0)
			return (size_t)(colon - word);
	}
	return equals ? (size_t)(equals - word) : 0;
}

/* Where the value ends that begins there: values may have commas of their own. */
static const char *end_of_value(const char *text)
{
	const char *comma = strchr(text, ',');

	while (comma && key_of(comma + 1) < 0)
		comma = strchr(comma + 1, ',');
	return comma ? comma : text + strlen(text);
}

static int say_all(struct tenants *tenants, uint32_t tenant, const char *text, struct err *err)
{
	char *values[QUOTA_KEYS] = { 0 };
	int rc = 0;

	while (*text && !rc) {
		int key = key_of(text);
		const char *value = key < 0 ? NULL : text + strlen(quota_keys[key].name) + 1;
		const char *end = value ? end_of_value(value) : text;

		if (key < 0 || values[key])
			rc = err_set(err, ERR_USAGE,
				key < 0 ? "\"%.80s\" is none of guaranteed=, borrow=, lend=, weight=, parent="
					: "\"%.80s\": that was said before",
				text);
		else
			values[key] = mem_strndup(value, (size_t)(end - value));
		text = *end ? end + 1 : end;
	}
	for (int i = 0; i < QUOTA_KEYS; i++) {
		if (!rc && values[i])
			rc = quota_keys[i].say(tenants, tenant, values[i], err);
		free(values[i]);
	}
	return rc;
}

int quota_say(struct tenants *tenants, const char *word, struct err *err)
{
	size_t n = quota_word_tenant(word);
	uint32_t i;
	int rc;

	if (!n)
		return err_set(err, ERR_USAGE,
			"'%s' is not TENANT=WEIGHT, such as vision=2, or TENANT:guaranteed=8,borrow=4",
			word);
	i = tenants_find(tenants, word, n);
	if (i == TENANT_NONE)
		i = tenants_add(tenants, word, n);
	rc = (word[n] == ':' ? say_all : say_weight)(tenants, i, word + n + 1, err);
	return rc ? err_prefix(err, "%.*s", (int)n, word) : 0;
}

void quota_tell_guaranteed(const struct tenants *tenants, const struct tenant *t, struct buf *out)
{
	if (t->promised && !t->nparts)
		buf_printf(out, "%u", t->guaranteed);
	for (uint32_t i = 0; i < t->nparts; i++)
		buf_printf(out, "%s%s:%u", i ? "," : "", tenants->types.at[t->parts[i].type],
			t->parts[i].guaranteed);
}
