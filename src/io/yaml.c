/*
 * libcyaml's verdicts as sentences, and the lines of values.
 */
#include "io/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* ---- places */

struct place {
	struct yaml_step steps[YAML_DEPTH_MAX + 1];
	size_t n;
};

static void place_end(struct place *place)
{
	place->steps[place->n] = (struct yaml_step){ NULL, YAML_END };
}

static bool is_end(const struct yaml_step *step)
{
	return !step->key && step->entry == YAML_END;
}

/* The value of a field of a mapping and, in `key`, the field itself; the last one if it is there twice. */
static yaml_node_t *field_of(yaml_document_t *document, yaml_node_t *node, const char *name,
	yaml_node_t **key)
{
	yaml_node_t *found = NULL;

	if (node->type != YAML_MAPPING_NODE)
		return NULL;
	for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top;
		p++) {
		yaml_node_t *k = yaml_document_get_node(document, p->key);

		if (k->type != YAML_SCALAR_NODE || strcmp((const char *)k->data.scalar.value, name))
			continue;
		*key = k;
		found = yaml_document_get_node(document, p->value);
	}
	return found;
}

static yaml_node_t *entry_of(yaml_document_t *document, yaml_node_t *node, uint32_t entry)
{
	yaml_node_item_t *items;

	if (node->type != YAML_SEQUENCE_NODE)
		return NULL;
	items = node->data.sequence.items.start;
	if (entry >= (size_t)(node->data.sequence.items.top - items))
		return NULL;
	return yaml_document_get_node(document, items[entry]);
}

/* The line of what is as far down the path as the document goes. */
static size_t line_of(yaml_document_t *document, const struct yaml_step *path)
{
	yaml_node_t *node = yaml_document_get_root_node(document);
	size_t line = node ? node->start_mark.line : 0;

	for (; node && !is_end(path); path++) {
		yaml_node_t *key = NULL;

		node = path->key ? field_of(document, node, path->key, &key)
				 : entry_of(document, node, path->entry);
		if (node)
			line = key ? key->start_mark.line : node->start_mark.line;
	}
	return line + 1;
}

yaml_node_t *yaml_at(struct yaml *yaml, const struct yaml_step *path)
{
	yaml_node_t *node = yaml_document_get_root_node(&yaml->document);

	for (; node && !is_end(path); path++) {
		yaml_node_t *key = NULL;

		node = path->key ? field_of(&yaml->document, node, path->key, &key)
				 : entry_of(&yaml->document, node, path->entry);
	}
	return node;
}

/* "nodes #2 devices" for people, who count from one. */
static void name_place(const struct yaml_step *path, struct buf *out)
{
	for (const struct yaml_step *s = path; !is_end(s); s++) {
		if (s != path)
			buf_char(out, ' ');
		if (s->key)
			buf_str(out, s->key);
		else
			buf_printf(out, "#%u", s->entry + 1);
	}
}

uint32_t yaml_line(struct yaml *yaml, const struct yaml_step *path)
{
	return (uint32_t)line_of(&yaml->document, path);
}

int yaml_fail(struct yaml *yaml, const struct yaml_step *path, struct err *err, const char *fmt, ...)
{
	struct buf field = { 0 };
	char what[700];
	va_list args;
	int rc;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	name_place(path, &field);
	rc = err_set(err, ERR_FORMAT, "%s:%zu: %.200s%s%s", yaml->where,
		line_of(&yaml->document, path), field.n ? field.at : "", field.n ? ": " : "", what);
	buf_fini(&field);
	return rc;
}

/* ---- what libcyaml says */

struct complaint {
	struct buf text; /* what is wrong, then the backtrace, a line each */
};

static void listen(cyaml_log_t level, void *ctx, const char *fmt, va_list args)
{
	struct complaint *complaint = ctx;
	char line[512];

	if (level < CYAML_LOG_ERROR)
		return;
	vsnprintf(line, sizeof(line), fmt, args);
	for (char *c = line; *c; c++) {
		if ((unsigned char)*c < ' ' && *c != '\n')
			*c = '?';
	}
	buf_str(&complaint->text, line);
}

static cyaml_config_t config_for(struct complaint *complaint)
{
	return (cyaml_config_t){
		.log_fn = listen,
		.log_ctx = complaint,
		.log_level = CYAML_LOG_ERROR,
		.mem_fn = cyaml_mem,
		.flags = CYAML_CFG_NO_ALIAS, /* a page of aliases can unfold to gigabytes */
	};
}

/* Text between quotes in a line of the backtrace, cut out in place; NULL if there is none. */
static char *quoted(char *line)
{
	char *from = strchr(line, '\'');
	char *to = from ? strchr(from + 1, '\'') : NULL;

	if (!to)
		return NULL;
	*to = '\0';
	return from + 1;
}

/* Reads the backtrace, innermost first, into a path; it borrows the names from `trace`. */
static void read_backtrace(char *trace, struct place *place)
{
	struct yaml_step reversed[YAML_DEPTH_MAX];
	size_t n = 0;

	for (char *next; trace && n < YAML_DEPTH_MAX; trace = next) {
		bool is_field = !strncmp(trace, "  in mapping field '", 20);
		bool is_entry = !strncmp(trace, "  in sequence entry '", 21);
		char *name;

		next = strchr(trace, '\n');
		if (next)
			*next++ = '\0';
		name = is_field || is_entry ? quoted(trace) : NULL;
		if (name && is_field)
			reversed[n++] = (struct yaml_step){ name, 0 };
		else if (name)
			reversed[n++] = (struct yaml_step){ NULL,
				(uint32_t)strtoul(name, NULL, 10) - 1 };
	}
	place->n = n;
	for (size_t i = 0; i < n; i++)
		place->steps[i] = reversed[n - 1 - i];
	place_end(place);
}

/* ---- fields that there are */

static const cyaml_schema_field_t *find_field(const cyaml_schema_value_t *schema, const char *key)
{
	if (schema->type != CYAML_MAPPING)
		return NULL;
	for (const cyaml_schema_field_t *f = schema->mapping.fields; f->key; f++) {
		if (!strcmp(f->key, key))
			return f;
	}
	return NULL;
}

static const cyaml_schema_value_t *schema_at(const cyaml_schema_value_t *schema,
	const struct place *place)
{
	for (size_t i = 0; schema && i < place->n; i++) {
		if (place->steps[i].key) {
			const cyaml_schema_field_t *f = find_field(schema, place->steps[i].key);

			schema = f ? &f->value : NULL;
		} else {
			schema = schema->type == CYAML_SEQUENCE || schema->type == CYAML_SEQUENCE_FIXED
				? schema->sequence.entry
				: NULL;
		}
	}
	return schema && schema->type == CYAML_MAPPING ? schema : NULL;
}

enum { FIELDS_MAX = 64 };

static int unknown_field(struct yaml *yaml, struct place *place, const char *key, struct err *err)
{
	const cyaml_schema_value_t *mapping = schema_at(yaml->schema, place);
	const char *known[FIELDS_MAX];
	struct buf hint = { 0 };
	size_t n = 0;
	int near, rc;

	for (const cyaml_schema_field_t *f = mapping ? mapping->mapping.fields : NULL;
		f && f->key && n < FIELDS_MAX; f++)
		known[n++] = f->key;
	near = text_nearest(key, known, n);
	if (near >= 0)
		buf_printf(&hint, " (did you mean \"%s\"?)", known[near]);
	buf_str(&hint, n ? "; there are " : "");
	for (size_t i = 0; i < n; i++)
		buf_printf(&hint, "%s%s", i ? ", " : "", known[i]);
	if (place->n < YAML_DEPTH_MAX) {
		place->steps[place->n++] = (struct yaml_step){ key, 0 };
		place_end(place);
	}
	rc = yaml_fail(yaml, place->steps, err, "no such field%s", hint.n ? hint.at : "");
	buf_fini(&hint);
	return rc;
}

/* ---- the verdicts */

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static const char *expected(const char *kind)
{
	if (starts(kind, "SEQUENCE"))
		return "a list";
	if (starts(kind, "MAPPING"))
		return "fields (name: value)";
	return "a single value";
}

static const char *got(const char *event)
{
	if (starts(event, "SEQUENCE"))
		return "a list";
	if (starts(event, "MAPPING"))
		return "fields";
	return "a single value";
}

/* "Expecting STRING, got event: SEQUENCE_START" */
static int wrong_kind(struct yaml *yaml, const struct place *place, const char *what, struct err *err)
{
	static const char between[] = ", got event: ";
	const char *event = strstr(what, between);

	return yaml_fail(yaml, place->steps, err, "%s expected here, not %s",
		expected(what + strlen("Expecting ")), event ? got(event + strlen(between)) : "this");
}

static int judge(struct yaml *yaml, cyaml_err_t verdict, char *text, struct err *err)
{
	static const char prefix[] = "Load: ";
	char *trace = strchr(text, '\n');
	struct place place;

	if (trace)
		*trace++ = '\0';
	read_backtrace(trace, &place);
	if (verdict == CYAML_ERR_ALIAS)
		return yaml_fail(yaml, place.steps, err,
			"aliases (*name) are not supported; write the value out");
	if (starts(text, prefix))
		text += strlen(prefix);
	if (starts(text, "Unexpected key: "))
		return unknown_field(yaml, &place, text + strlen("Unexpected key: "), err);
	if (starts(text, "Mapping field already seen: "))
		return yaml_fail(yaml, place.steps, err, "given twice; keep one");
	if (starts(text, "Expecting "))
		return wrong_kind(yaml, &place, text, err);
	return yaml_fail(yaml, place.steps, err, "%.200s", *text ? text : cyaml_strerror(verdict));
}

static int load(struct yaml *yaml, const char *text, size_t n, struct err *err)
{
	struct complaint complaint = { 0 };
	cyaml_config_t config = config_for(&complaint);
	cyaml_err_t verdict = cyaml_load_data((const uint8_t *)text, n, &config, yaml->schema,
		(cyaml_data_t **)&yaml->data, NULL);
	int rc = 0;

	if (verdict != CYAML_OK) {
		buf_char(&complaint.text, '\n');
		rc = judge(yaml, verdict, complaint.text.at, err);
		yaml->data = NULL;
	}
	buf_fini(&complaint.text);
	return rc;
}

static int syntax_error(const struct yaml *yaml, const yaml_parser_t *parser, struct err *err)
{
	return err_set(err, ERR_FORMAT, "%s:%zu: not valid YAML: %s%s%s", yaml->where,
		parser->problem_mark.line + 1, parser->problem ? parser->problem : "unreadable",
		parser->context ? " " : "", parser->context ? parser->context : "");
}

/* What comes after the first document must be nothing. */
static int parse_end(const struct yaml *yaml, yaml_parser_t *parser, struct err *err)
{
	yaml_document_t second;
	yaml_node_t *root;
	int rc = 0;

	if (!yaml_parser_load(parser, &second))
		return syntax_error(yaml, parser, err);
	root = yaml_document_get_root_node(&second);
	if (root)
		rc = err_set(err, ERR_FORMAT,
			"%s:%zu: a second document (after ---); there is one only", yaml->where,
			root->start_mark.line + 1);
	yaml_document_delete(&second);
	return rc;
}

static int parse(struct yaml *yaml, const char *text, size_t n, struct err *err)
{
	yaml_parser_t parser;
	int rc;

	if (!yaml_parser_initialize(&parser))
		return err_set(err, ERR_IO, "%s: no memory", yaml->where);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
	if (yaml_parser_load(&parser, &yaml->document)) {
		rc = parse_end(yaml, &parser, err);
	} else {
		rc = syntax_error(yaml, &parser, err);
		memset(&yaml->document, 0, sizeof(yaml->document));
	}
	yaml_parser_delete(&parser);
	return rc;
}

int yaml_open(struct yaml *yaml, const char *where, const char *text, size_t n,
	const cyaml_schema_value_t *schema, struct err *err)
{
	int rc;

	*yaml = (struct yaml){ .where = where, .schema = schema };
	rc = yaml_bound(where, text, n, err);
	if (!rc)
		rc = parse(yaml, text, n, err);
	if (!rc)
		rc = load(yaml, text, n, err);
	if (rc)
		yaml_fini(yaml);
	return rc;
}

void yaml_fini(struct yaml *yaml)
{
	cyaml_config_t config = config_for(NULL);

	config.log_fn = NULL;
	if (yaml->data)
		cyaml_free(&config, yaml->schema, yaml->data, 0);
	yaml_document_delete(&yaml->document);
	memset(yaml, 0, sizeof(*yaml));
}
