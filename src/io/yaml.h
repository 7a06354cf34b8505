/*
 * YAML read by a libcyaml schema, with errors that name line, field and remedy.
 *
 * libcyaml checks and loads; libyaml's document is kept beside it, because
 * only that knows on which line a value stands.  A reader that finds a value
 * wrong later says so with yaml_fail() and the value's path.
 */
#ifndef IO_YAML_H
#define IO_YAML_H

#include <cyaml/cyaml.h>
#include <stddef.h>
#include <stdint.h>
#include <yaml.h>

#include "base/err.h"

struct yaml {
	const char *where; /* names the text in messages; borrowed */
	yaml_document_t document;
	const cyaml_schema_value_t *schema;
	void *data; /* as the schema says; NULL where the text is empty */
};

/* One step into a document: a field, or (key NULL) an entry of a list, from 0. */
struct yaml_step {
	const char *key;
	uint32_t entry;
};

enum { YAML_DEPTH_MAX = 8 };

/*
 * What a text may have at most.  libyaml takes time that grows with the square of its nesting, anchors and
 * directives: 100,000 opening brackets took it 25 s.
 */
enum {
	YAML_BYTES_MAX = 64 << 20,
	YAML_NESTING_MAX = 64,
	YAML_ANCHORS_MAX = 1000,
	YAML_DIRECTIVES_MAX = 16,
};

/* Checks these bounds without building anything; every reader calls it first.  Leaves other errors to the parser. */
int yaml_bound(const char *where, const char *text, size_t n, struct err *err);

/* A path ends with a step whose key is NULL and whose entry is YAML_END. */
#define YAML_END UINT32_MAX
#define YAML_PATH(...) ((const struct yaml_step[]){ __VA_ARGS__, { NULL, YAML_END } })

/* Keeps `where` and `schema` (a pointer to a mapping).  Release with yaml_fini(). */
int yaml_open(struct yaml *yaml, const char *where, const char *text, size_t n,
	const cyaml_schema_value_t *schema, struct err *err);
void yaml_fini(struct yaml *yaml);

/* The line of a value, from 1; of what is as far down the path as the document goes. */
uint32_t yaml_line(struct yaml *yaml, const struct yaml_step *path);
/* What stands at the path, for values that no schema can say; NULL: nothing does. */
yaml_node_t *yaml_at(struct yaml *yaml, const struct yaml_step *path);

/* ERR_FORMAT: "WHERE:LINE: FIELD: …". */
int yaml_fail(struct yaml *yaml, const struct yaml_step *path, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
