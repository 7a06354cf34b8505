/*
 * Reading job files.  Every plain field is loaded as text and read as a flag
 * would be; command and env, which can look in more than one way, are read
 * from the document itself.
 */
#include "live/job_yaml.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "io/yaml.h"

/* ---- what there is */

struct job_text {
#define FIELD(name, letter, value, help) char *name;
#define SWITCH(name, letter, help) char *name;
#include "live/submission_fields.def"
#undef FIELD
#undef SWITCH
};

enum { OPTIONAL = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL };

static const cyaml_schema_field_t fields[] = {
	CYAML_FIELD_IGNORE("command", CYAML_FLAG_OPTIONAL),
	CYAML_FIELD_IGNORE("env", CYAML_FLAG_OPTIONAL),
#define FIELD(name, letter, value, help) \
	CYAML_FIELD_STRING_PTR(#name, OPTIONAL, struct job_text, name, 0, CYAML_UNLIMITED),
#define SWITCH(name, letter, help) FIELD(name, letter, NULL, help)
#include "live/submission_fields.def"
#undef FIELD
#undef SWITCH
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct job_text, fields),
};

static const size_t offsets[] = {
#define FIELD(name, letter, value, help) offsetof(struct job_text, name),
#define SWITCH(name, letter, help) offsetof(struct job_text, name),
#include "live/submission_fields.def"
#undef FIELD
#undef SWITCH
};

/* ---- plain fields */

/* The text of an error without the "name: " that yaml_fail() says itself. */
static const char *after_name(const struct err *err, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(err->text, name, n) && err->text[n] == ':' ? err->text + n + 2 : err->text;
}

static int read_fields(struct yaml *yaml, struct submission *s,
	const struct submission_context *context, struct err *err)
{
	for (size_t i = 0; submission_fields[i].name; i++) {
		const char *name = submission_fields[i].name;
		const char *text = *(char *const *)((const char *)yaml->data + offsets[i]);
		struct err cause = { 0 };

		if (text && submission_set(s, name, text, context, &cause))
			return yaml_fail(yaml, YAML_PATH({ name, 0 }), err, "%s",
				after_name(&cause, name));
	}
	return 0;
}

/* ---- command and env */

static yaml_node_t *node_of(struct yaml *yaml, const char *name)
{
	yaml_document_t *document = &yaml->document;
	yaml_node_t *root = yaml_document_get_root_node(document);

	for (yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top;
		p++) {
		yaml_node_t *key = yaml_document_get_node(document, p->key);

		if (key->type == YAML_SCALAR_NODE && !strcmp((const char *)key->data.scalar.value, name))
			return yaml_document_get_node(document, p->value);
	}
	return NULL;
}

/* The text of a scalar; NULL for lists and fields, and for what has a NUL in it. */
static const char *scalar(const yaml_node_t *node)
{
	const char *text;

	if (!node || node->type != YAML_SCALAR_NODE)
		return NULL;
	text = (const char *)node->data.scalar.value;
	return strlen(text) == node->data.scalar.length ? text : NULL;
}

/* "python train.py" runs in a shell, and is called what its first word is. */
static void take_shell(struct submission *s, const char *text)
{
	const char **argv = arena_array(&s->memory, const char *, 4);
	size_t n = strcspn(text, " \t\n;|&<>(){}$`'\"\\");

	argv[0] = "/bin/sh";
	argv[1] = "-c";
	argv[2] = arena_strdup(&s->memory, text);
	s->argv = argv;
	s->script = NULL;
	if (!s->name && n && n < 100) {
		const char *word = path_base(arena_strndup(&s->memory, text, n));

		s->name = *word ? word : NULL;
	}
}

static int read_command(struct yaml *yaml, struct submission *s, struct err *err)
{
	static const char want[] =
		"write a text for the shell, or a list of words such as [python, train.py]";
	yaml_node_t *node = node_of(yaml, "command");
	const char *text = scalar(node), **argv;
	yaml_node_item_t *items;
	size_t n;

	if (!node)
		return 0;
	if (text && *text) {
		take_shell(s, text);
		return 0;
	}
	if (node->type != YAML_SEQUENCE_NODE)
		return yaml_fail(yaml, YAML_PATH({ "command", 0 }), err, "%s", want);
	items = node->data.sequence.items.start;
	n = (size_t)(node->data.sequence.items.top - items);
	argv = arena_array(&s->memory, const char *, n + 1);
	for (size_t i = 0; i < n; i++) {
		text = scalar(yaml_document_get_node(&yaml->document, items[i]));
		if (!text)
			return yaml_fail(yaml, YAML_PATH({ "command", 0 }, { NULL, (uint32_t)i }),
				err, "%s", want);
		argv[i] = arena_strdup(&s->memory, text);
	}
	s->argv = argv;
	return 0;
}

static int read_env(struct yaml *yaml, struct submission *s, struct err *err)
{
	yaml_node_t *node = node_of(yaml, "env");
	yaml_node_pair_t *pairs;
	const char **env;
	size_t n;

	if (!node)
		return 0;
	if (node->type != YAML_MAPPING_NODE)
		return yaml_fail(yaml, YAML_PATH({ "env", 0 }), err, "write NAME: value, a line each");
	pairs = node->data.mapping.pairs.start;
	n = (size_t)(node->data.mapping.pairs.top - pairs);
	env = arena_array(&s->memory, const char *, n + 1);
	for (size_t i = 0; i < n; i++) {
		const char *name = scalar(yaml_document_get_node(&yaml->document, pairs[i].key));
		const char *value = scalar(yaml_document_get_node(&yaml->document, pairs[i].value));

		if (!name || !*name || strchr(name, '='))
			return yaml_fail(yaml, YAML_PATH({ "env", 0 }), err,
				"'%.80s' is no name of a variable", name ? name : "");
		if (!value)
			return yaml_fail(yaml, YAML_PATH({ "env", 0 }, { name, 0 }), err,
				"a variable has a single value; quote it if it must be so");
		env[i] = arena_printf(&s->memory, "%s=%s", name, value);
	}
	s->env = env;
	return 0;
}

int job_yaml_read(struct submission *s, const char *where, const char *text, size_t n,
	const struct submission_context *context, struct err *err)
{
	struct yaml yaml;
	int rc = yaml_open(&yaml, where, text, n, &schema, err);

	if (rc)
		return rc;
	if (!yaml.data)
		rc = err_set(err, ERR_FORMAT, "%s: is empty; a job needs at least its command", where);
	if (!rc)
		rc = read_fields(&yaml, s, context, err);
	if (!rc)
		rc = read_command(&yaml, s, err);
	if (!rc)
		rc = read_env(&yaml, s, err);
	yaml_fini(&yaml);
	return rc;
}
