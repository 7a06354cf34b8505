/*
 * Reading HiveD's configuration.
 *
 * Its types and virtual clusters are mappings whose keys are names, which schemas do not
 * know; so this walks libyaml's document itself.
 */
#include "io/hived_io.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/text.h"
#include "io/hived_parts.h"
#include "io/yaml.h"

/* ---- the document */

int hived_fail(struct hived *h, const yaml_node_t *node, const char *fmt, ...)
{
	char what[700];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	return err_set(h->err, ERR_FORMAT, "%s:%zu: %s", h->where,
		node ? node->start_mark.line + 1 : (size_t)1, what);
}

yaml_node_t *hived_field(struct hived *h, yaml_node_t *map, const char *name)
{
	if (!map || map->type != YAML_MAPPING_NODE)
		return NULL;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		yaml_node_t *key = yaml_document_get_node(&h->document, p->key);

		if (key->type == YAML_SCALAR_NODE && !strcmp((char *)key->data.scalar.value, name))
			return yaml_document_get_node(&h->document, p->value);
	}
	return NULL;
}

const char *hived_text(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

int hived_number(struct hived *h, yaml_node_t *map, const char *name, int64_t min, int64_t max,
	int64_t *out)
{
	yaml_node_t *node = hived_field(h, map, name);
	const char *text = hived_text(node);

	if (!text || !slice_int(slice_of(text), out) || *out < min || *out > max)
		return hived_fail(h, node ? node : map, "%s: write a whole number from %lld to %lld",
			name, (long long)min, (long long)max);
	return 0;
}

bool hived_is_empty(const yaml_node_t *node)
{
	const char *text = hived_text(node);

	return !node || (text && (!*text || !strcmp(text, "null") || !strcmp(text, "~")));
}

uint32_t hived_length(const yaml_node_t *list)
{
	if (!list || list->type != YAML_SEQUENCE_NODE)
		return 0;
	return (uint32_t)(list->data.sequence.items.top - list->data.sequence.items.start);
}

yaml_node_t *hived_entry(struct hived *h, const yaml_node_t *list, uint32_t i)
{
	return yaml_document_get_node(&h->document, list->data.sequence.items.start[i]);
}

/* Aliases make one node several, and a page of them a cluster of billions. */
static int refuse_aliases(struct hived *h)
{
	int n = (int)(h->document.nodes.top - h->document.nodes.start), rc = 0;
	uint8_t *seen = mem_alloc((size_t)n + 1);

	for (int i = 1; i <= n && !rc; i++) {
		const yaml_node_t *node = yaml_document_get_node(&h->document, i);

		for (uint32_t k = 0; k < hived_length(node) && !rc; k++) {
			if (seen[node->data.sequence.items.start[k]]++)
				rc = hived_fail(h, node,
					"aliases (*name) are not supported; write the value out");
		}
		for (yaml_node_pair_t *p =
				node->type == YAML_MAPPING_NODE ? node->data.mapping.pairs.start : NULL;
			p && p < node->data.mapping.pairs.top && !rc; p++) {
			if (seen[p->value]++)
				rc = hived_fail(h, node,
					"aliases (*name) are not supported; write the value out");
		}
	}
	free(seen);
	return rc;
}

static int open_document(struct hived *h, const char *text, size_t n)
{
	yaml_parser_t parser;
	int rc = yaml_bound(h->where, text, n, h->err);

	if (rc < 0)
		return rc;
	if (!yaml_parser_initialize(&parser))
		return err_set(h->err, ERR_IO, "%s: no memory", h->where);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
	if (!yaml_parser_load(&parser, &h->document)) {
		rc = err_set(h->err, ERR_FORMAT, "%s:%zu: not valid YAML: %s", h->where,
			parser.problem_mark.line + 1, parser.problem ? parser.problem : "unreadable");
		memset(&h->document, 0, sizeof(h->document));
	}
	yaml_parser_delete(&parser);
	return rc;
}

/* ---- types */

static int add_type(struct hived *h, yaml_node_t *key, yaml_node_t *value)
{
	struct cell_kind kind = { .node = value };
	yaml_node_t *child = hived_field(h, value, "childCellType");
	const char *name = hived_text(key), *is_node;
	uint32_t before = h->kinds.n;
	int64_t split;
	int rc;

	if (!name || !*name || strlen(name) > 200)
		return hived_fail(h, key, "cellTypes: a type needs a name of at most 200 letters");
	if (!hived_text(child) || !*hived_text(child))
		return hived_fail(h, value,
			"cellTypes %.100s: childCellType: name what it is made of", name);
	rc = hived_number(h, value, "childCellNumber", 1, 1 << 20, &split);
	if (rc)
		return rc;
	is_node = hived_text(hived_field(h, value, "isNodeLevel"));
	kind.child = hived_text(child);
	kind.split = (uint32_t)split;
	kind.is_node = is_node && !strcmp(is_node, "true");
	names_add(&h->kinds, name, strlen(name));
	if (h->kinds.n == before)
		return hived_fail(h, key, "cellTypes: type \"%.100s\" is given twice; keep one", name);
	vec_push(&h->kind, kind);
	return 0;
}

const struct cell_kind *hived_kind(const struct hived *h, const char *name)
{
	uint32_t i = names_find(&h->kinds, name, strlen(name));

	return i == NAME_NONE ? NULL : &h->kind.at[i];
}

/* A type that contains itself: says which circle. */
static int check_circle(struct hived *h, uint32_t from)
{
	const char *at = h->kinds.at[from];
	struct buf text = { 0 };
	int rc = 0;

	buf_printf(&text, "\"%.60s\"", at);
	for (uint32_t steps = 0; steps <= h->kinds.n; steps++) {
		const struct cell_kind *kind = hived_kind(h, at);

		if (!kind)
			break;
		at = kind->child;
		if (steps < 8)
			buf_printf(&text, " of \"%.60s\"", at);
		if (!strcmp(at, h->kinds.at[from])) {
			rc = hived_fail(h, h->kind.at[from].node,
				"cellTypes go round in a circle (%s); one of them must be a device, "
				"which has no entry here",
				text.at);
			break;
		}
	}
	buf_fini(&text);
	return rc;
}

static int read_types(struct hived *h, yaml_node_t *types)
{
	int rc = 0;

	if (!types || types->type != YAML_MAPPING_NODE)
		return hived_fail(h, types,
			"physicalCluster: cellTypes is missing: NAME: {childCellType: "
			"…, childCellNumber: …, isNodeLevel: true}");
	for (yaml_node_pair_t *p = types->data.mapping.pairs.start;
		p < types->data.mapping.pairs.top && !rc; p++)
		rc = add_type(h, yaml_document_get_node(&h->document, p->key),
			yaml_document_get_node(&h->document, p->value));
	for (uint32_t i = 0; i < h->kinds.n && !rc; i++)
		rc = check_circle(h, i);
	return rc;
}

/* ---- the file */

bool hived_looks_like(const char *text, size_t n)
{
	static const char word[] = "physicalCluster:";
	const char *at = memmem(text, n, word, strlen(word));

	return at && (at == text || at[-1] == '\n');
}

static int read_all(struct hived *h)
{
	yaml_node_t *root = yaml_document_get_root_node(&h->document);
	yaml_node_t *physical = hived_field(h, root, "physicalCluster");
	int rc = refuse_aliases(h);

	if (!rc && !physical)
		rc = hived_fail(h, root,
			"physicalCluster is missing: this is no configuration of HiveD");
	if (!rc)
		rc = read_types(h, hived_field(h, physical, "cellTypes"));
	if (!rc)
		rc = hived_read_physical(h, hived_field(h, physical, "physicalCells"));
	return rc ? rc : hived_read_virtual(h, hived_field(h, root, "virtualClusters"));
}

int hived_read_yaml(const char *where, const char *text, size_t n, struct cell_design *out,
	struct err *err)
{
	struct cell_design design = { 0 };
	struct hived h = { .where = where, .design = &design, .err = err };
	int rc = open_document(&h, text, n);

	if (!rc)
		rc = read_all(&h);
	yaml_document_delete(&h.document);
	names_fini(&h.kinds);
	names_fini(&h.hosts);
	vec_fini(&h.kind);
	if (rc)
		cell_design_fini(&design);
	else
		*out = design;
	return rc;
}
