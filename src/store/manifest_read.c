/*
 * Reading manifest.json.
 */
#include "store/manifest_fields.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

/* Absent numbers: "from the trace" for costs, "none" elsewhere. */
static void set_defaults(struct manifest *m)
{
	*m = (struct manifest){ .start_cost_s = NAN, .resume_cost_s = NAN, .resize_cost_s = NAN };
}

static bool read_digits(const json_t *value, int base, uint64_t *out)
{
	const char *text = json_string_value(value);
	const char *digits = base == 16 ? "0123456789abcdef" : "0123456789";

	if (!text || !*text || text[strspn(text, digits)])
		return false;
	errno = 0;
	*out = strtoull(text, NULL, base);
	return !errno;
}

static bool read_whole(const json_t *value, uint64_t *out)
{
	if (!json_is_integer(value))
		return read_digits(value, 10, out);
	if (json_integer_value(value) < 0)
		return false;
	*out = (uint64_t)json_integer_value(value);
	return true;
}

/* False if the value is of the wrong kind. */
static bool read_field(const struct manifest_field *f, const json_t *value, struct manifest *m)
{
	void *at = (char *)m + f->offset;

	switch (f->kind) {
	case TEXT:
		if (json_is_string(value))
			*(char **)at = mem_strdup(json_string_value(value));
		return json_is_string(value);
	case NUMBER:
		if (json_is_number(value))
			*(double *)at = json_number_value(value);
		return json_is_number(value);
	case WHOLE:
		return read_whole(value, at);
	case FLAG:
		*(bool *)at = json_is_true(value);
		return json_is_boolean(value);
	case HASH:
		return read_digits(value, 16, at);
	}
	return false;
}

static int read_fields(const json_t *root, struct manifest *m, struct err *err)
{
	for (const struct manifest_field *f = manifest_fields; f->key; f++) {
		const json_t *value = json_object_get(root, f->key);

		if (!value || json_is_null(value)) {
			if (f->needed)
				return err_set(err, ERR_FORMAT, "\"%s\" is missing", f->key);
			continue;
		}
		if (!read_field(f, value, m))
			return err_set(err, ERR_FORMAT, "\"%s\" has a value of the wrong kind", f->key);
	}
	return 0;
}

static int check_schema(const json_t *root, struct err *err)
{
	const char *schema = json_string_value(json_object_get(root, "schema"));

	if (!schema)
		return err_set(err, ERR_FORMAT,
			"it has no \"schema\", so it is not a manifest of a run");
	if (strcmp(schema, MANIFEST_SCHEMA))
		return err_set(err, ERR_FORMAT,
			"its schema is \"%s\" and this version of Stint reads \"%s\"", schema,
			MANIFEST_SCHEMA);
	return 0;
}

int manifest_parse(struct slice text, struct manifest *out, struct err *err)
{
	json_error_t why;
	json_t *root = json_loadb(text.at, text.n, JSON_REJECT_DUPLICATES, &why);
	struct manifest m;
	int rc;

	if (!root)
		return err_set(err, ERR_FORMAT, "line %d, column %d: %s", why.line, why.column,
			why.text);
	set_defaults(&m);
	rc = check_schema(root, err);
	if (!rc)
		rc = read_fields(root, &m, err);
	json_decref(root);
	if (rc < 0)
		manifest_fini(&m);
	else
		*out = m;
	return rc;
}

static int missing(const char *dir, struct err *err)
{
	if (!file_exists(dir))
		return err_set(err, ERR_MISSING, "no run at %s: there is no such directory", dir);
	return err_set(err, ERR_MISSING,
		"%s is not a run: it has no " RUN_MANIFEST " (stint sim … --out DIR writes one)", dir);
}

int manifest_read(const char *dir, struct manifest *out, struct err *err)
{
	char *path = path_join(dir, RUN_MANIFEST);
	struct file file = { 0 };
	int rc;

	if (!file_exists(path)) {
		free(path);
		return missing(dir, err);
	}
	rc = file_read(path, &file, err);
	if (!rc) {
		rc = manifest_parse((struct slice){ file.at, file.n }, out, err);
		if (rc < 0)
			rc = err_prefix(err,
				"cannot use %s (run the simulation again to write it anew)", path);
	}
	file_fini(&file);
	free(path);
	return rc;
}
