/*
 * The fields of manifest.json, for its reader and its writer.
 */
#ifndef STORE_MANIFEST_FIELDS_H
#define STORE_MANIFEST_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "store/run_dir.h"

#define MANIFEST_SCHEMA "manifest/1"

enum manifest_kind { TEXT, NUMBER, WHOLE, FLAG, HASH };

struct manifest_field {
	const char *key; /* NULL ends the table */
	enum manifest_kind kind;
	size_t offset;
	bool needed; /* nothing can be run again without it */
};

extern const struct manifest_field manifest_fields[];

#endif
