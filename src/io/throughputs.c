/*
 * Measured speeds: Gavel's JSON (the format of the OSDI 2020 artifact) and CSV.
 *
 * A file may speak of types that the cluster does not have; those are passed
 * over.  Nothing reaches the profile before the whole file was understood.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "io/cluster_io.h"
#include "io/csv.h"

/* One measurement: of `model` alone, or beside another. */
struct speed {
	uint32_t model, type, gpus, nodes;
	uint32_t beside; /* NAME_NONE: alone */
	double steps_per_s, beside_steps_per_s;
};

struct reader {
	const struct cluster *cluster;
	struct names *models;
	VEC(struct speed) speeds;
	struct buf passed_over; /* types that the cluster does not have */
	struct err *err;
};

enum {
	GPUS_MAX = 65535,
	SPEEDS_BYTES_MAX = 64 << 20, /* a hundred times Gavel's */
};

static uint32_t model_of(struct reader *r, struct slice name)
{
	return names_add(r->models, name.at, name.n);
}

static void note_passed_over(struct reader *r, const char *type)
{
	if (r->passed_over.n < 200)
		buf_printf(&r->passed_over, "%s%.40s", r->passed_over.n ? ", " : "", type);
}

static void apply(const struct reader *r, struct profile *out)
{
	for (size_t i = 0; i < r->speeds.n; i++) {
		const struct speed *s = &r->speeds.at[i];

		if (s->beside == NAME_NONE)
			profile_add(out, s->model, s->type, s->gpus, s->nodes, s->steps_per_s);
		else
			profile_add_pair(out, s->type, s->gpus, s->model, s->steps_per_s, s->beside,
				s->beside_steps_per_s);
	}
}

static int check_any(const struct reader *r)
{
	struct buf types = { 0 };

	if (r->speeds.n)
		return 0;
	if (!r->passed_over.n)
		return err_set(r->err, ERR_FORMAT, "no speeds in it");
	for (uint32_t i = 0; i < r->cluster->ntypes; i++)
		buf_printf(&types, "%s%s", i ? ", " : "", r->cluster->types[i].name);
	err_set(r->err, ERR_FORMAT,
		"speeds of %s only, and the cluster has %.200s; name the cluster's types alike",
		r->passed_over.at, types.at ? types.at : "no types");
	buf_fini(&types);
	return ERR_FORMAT;
}

/* ---- Gavel: {type: {"('model', gpus)": {"null": speed, other key: [speed, speed]}}} */

struct gavel_key {
	struct slice model;
	uint32_t gpus;
};

/* Python's way to print a pair: ('ResNet-18 (batch size 16)', 4) */
static bool gavel_key(const char *text, struct gavel_key *out)
{
	const char *end = text + strlen(text);
	const char *comma = strrchr(text, ',');
	int64_t gpus;

	if (end - text < 7 || text[0] != '(' || end[-1] != ')' || !comma || comma - text < 3)
		return false;
	if ((text[1] != '\'' && text[1] != '"') || comma[-1] != text[1])
		return false;
	if (!slice_int((struct slice){ comma + 1, (size_t)(end - 1 - (comma + 1)) }, &gpus))
		return false;
	*out = (struct gavel_key){ { text + 2, (size_t)(comma - 1 - (text + 2)) }, (uint32_t)gpus };
	return gpus >= 1 && gpus <= GPUS_MAX && out->model.n > 0;
}

static bool gavel_speed(const json_t *value, double *out)
{
	if (!json_is_number(value))
		return false;
	*out = json_number_value(value);
	return isfinite(*out) && *out >= 0;
}

/* `value` is what the file says under `other` in the table of `key`. */
static int gavel_value(struct reader *r, uint32_t type, struct gavel_key key, const char *other,
	const json_t *value)
{
	struct speed s = { .model = model_of(r, key.model), .type = type, .gpus = key.gpus };
	struct gavel_key beside;

	s.beside = NAME_NONE;
	if (!strcmp(other, "null")) {
		if (!gavel_speed(value, &s.steps_per_s))
			return err_set(r->err, ERR_FORMAT,
				"\"null\": a speed must be a number, 0 or more");
		vec_push(&r->speeds, s);
		return 0;
	}
	if (!gavel_key(other, &beside))
		return err_set(r->err, ERR_FORMAT,
			"\"%.80s\": write a job as ('MODEL', GPUS), or null for alone", other);
	if (!json_is_array(value) || json_array_size(value) != 2 ||
		!gavel_speed(json_array_get(value, 0), &s.steps_per_s) ||
		!gavel_speed(json_array_get(value, 1), &s.beside_steps_per_s))
		return err_set(r->err, ERR_FORMAT, "\"%.80s\": a pair has two speeds, 0 or more",
			other);
	if (beside.gpus != key.gpus) /* cannot share the same devices */
		return 0;
	s.beside = model_of(r, beside.model);
	vec_push(&r->speeds, s);
	return 0;
}

static int gavel_job(struct reader *r, uint32_t type, const char *text, json_t *table)
{
	struct gavel_key key;
	const char *other;
	json_t *value;

	if (!gavel_key(text, &key))
		return err_set(r->err, ERR_FORMAT, "\"%.80s\": write a job as ('MODEL', GPUS)", text);
	if (!json_is_object(table))
		return err_set(r->err, ERR_FORMAT, "\"%.80s\": a table of speeds belongs here", text);
	json_object_foreach(table, other, value)
	{
		if (gavel_value(r, type, key, other, value) < 0)
			return err_prefix(r->err, "\"%.80s\"", text);
	}
	return 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && !strcmp(text + n - k, end);
}

static int gavel_type(struct reader *r, const char *name, json_t *jobs)
{
	int type = cluster_find_type(r->cluster, name);
	const char *text;
	json_t *table;

	if (!json_is_object(jobs))
		return err_set(r->err, ERR_FORMAT, "\"%.80s\": a table of jobs belongs here", name);
	/* Speeds on one device per machine; Gavel's own simulator does not use them either. */
	if (ends_with(name, "_unconsolidated"))
		return 0;
	if (type < 0) {
		note_passed_over(r, name);
		return 0;
	}
	json_object_foreach(jobs, text, table)
	{
		if (gavel_job(r, (uint32_t)type, text, table) < 0)
			return err_prefix(r->err, "\"%.80s\"", name);
	}
	return 0;
}

static int gavel_read(struct reader *r, json_t *root)
{
	const char *name;
	json_t *jobs;

	if (!json_is_object(root))
		return err_set(r->err, ERR_FORMAT, "a table of types belongs here");
	json_object_foreach(root, name, jobs)
	{
		if (gavel_type(r, name, jobs) < 0)
			return ERR_FORMAT;
	}
	return check_any(r);
}

static int read_json(struct reader *r, const char *where, struct slice text)
{
	json_error_t problem;
	json_t *root = json_loadb(text.at, text.n, JSON_REJECT_DUPLICATES, &problem);
	int rc;

	if (!root)
		return err_set(r->err, ERR_FORMAT, "%s:%d: not valid JSON: %s", where, problem.line,
			problem.text);
	rc = gavel_read(r, root);
	json_decref(root);
	return rc < 0 ? err_prefix(r->err, "%s", where) : 0;
}

/* ---- CSV */

enum column { MODEL, TYPE, GPUS, NODES, SPEED, BESIDE, BESIDE_SPEED, COLUMNS };

static const char *const column_names[COLUMNS] = { "model", "type", "gpus", "nodes", "steps_per_s",
	"beside", "beside_steps_per_s" };

struct header {
	int where[COLUMNS]; /* field of each column, -1: not there */
};

static int column_of(struct slice name)
{
	for (int c = 0; c < COLUMNS; c++) {
		if (slice_is_nocase(name, column_names[c]))
			return c;
	}
	return -1;
}

static int unknown_column(struct reader *r, struct slice name)
{
	char word[64];
	int near;

	snprintf(word, sizeof(word), "%.*s", name.n > 60 ? 60 : (int)name.n, name.at);
	near = text_nearest(word, column_names, COLUMNS);
	return err_set(r->err, ERR_FORMAT,
		"no column \"%s\" is known%s%s%s; there are model, type, "
		"gpus, nodes, steps_per_s, beside, beside_steps_per_s",
		word, near >= 0 ? " (did you mean \"" : "", near >= 0 ? column_names[near] : "",
		near >= 0 ? "\"?)" : "");
}

static int read_header(struct reader *r, struct csv *csv, struct header *header)
{
	int rc = csv_next(csv, r->err);

	if (rc < 0)
		return rc;
	for (int c = 0; c < COLUMNS; c++)
		header->where[c] = -1;
	for (size_t i = 0; rc > 0 && i < csv->n; i++) {
		int c = column_of(csv->fields[i]);

		if (c < 0)
			return unknown_column(r, csv->fields[i]);
		if (header->where[c] >= 0)
			return err_set(r->err, ERR_FORMAT, "column %s is there twice", column_names[c]);
		header->where[c] = (int)i;
	}
	if (header->where[MODEL] < 0 || header->where[TYPE] < 0 || header->where[SPEED] < 0)
		return err_set(r->err, ERR_FORMAT, "the header must name model, type and steps_per_s");
	return 0;
}

static struct slice field(const struct csv *csv, const struct header *header, enum column c)
{
	int i = header->where[c];

	return i >= 0 && (size_t)i < csv->n ? csv->fields[i] : slice_of("");
}

static int row_int(struct reader *r, const struct csv *csv, const struct header *header,
	enum column c, int64_t missing, uint32_t *out)
{
	struct slice s = field(csv, header, c);
	int64_t x = missing;

	if (s.n && (!slice_int(s, &x) || x < missing || x > GPUS_MAX))
		return err_set(r->err, ERR_FORMAT,
			"%s: \"%.*s\" is not a whole number from %lld to %d", column_names[c],
			s.n > 80 ? 80 : (int)s.n, s.at, (long long)missing, GPUS_MAX);
	*out = (uint32_t)x;
	return 0;
}

static int row_speed(struct reader *r, const struct csv *csv, const struct header *header,
	enum column c, double *out)
{
	struct slice s = field(csv, header, c);

	if (slice_double(s, out) && *out >= 0)
		return 0;
	return err_set(r->err, ERR_FORMAT,
		"%s: \"%.*s\" is not a speed; write steps per second, 0 or more", column_names[c],
		s.n > 80 ? 80 : (int)s.n, s.at);
}

static int read_row(struct reader *r, const struct csv *csv, const struct header *header)
{
	struct slice name = field(csv, header, MODEL), beside = field(csv, header, BESIDE);
	struct slice kind = field(csv, header, TYPE);
	struct speed s = { .beside = NAME_NONE };
	char type[64];
	int found;

	if (csv->n > COLUMNS)
		return err_set(r->err, ERR_FORMAT, "%zu fields, and there are %d columns", csv->n,
			COLUMNS);
	if (!name.n)
		return err_set(r->err, ERR_FORMAT, "model: empty; name the model");
	snprintf(type, sizeof(type), "%.*s", kind.n < sizeof(type) ? (int)kind.n : 0, kind.at);
	found = cluster_find_type(r->cluster, type);
	if (row_int(r, csv, header, GPUS, 1, &s.gpus) < 0 ||
		row_int(r, csv, header, NODES, 0, &s.nodes) < 0 ||
		row_speed(r, csv, header, SPEED, &s.steps_per_s) < 0)
		return ERR_FORMAT;
	if (beside.n && row_speed(r, csv, header, BESIDE_SPEED, &s.beside_steps_per_s) < 0)
		return ERR_FORMAT;
	if (found < 0) {
		note_passed_over(r, type);
		return 0;
	}
	s.type = (uint32_t)found;
	s.model = model_of(r, name);
	if (beside.n)
		s.beside = model_of(r, beside);
	vec_push(&r->speeds, s);
	return 0;
}

static int read_rows(struct reader *r, struct csv *csv)
{
	struct header header;
	int rc = read_header(r, csv, &header);

	if (rc < 0)
		return rc;
	while ((rc = csv_next(csv, r->err)) > 0) {
		rc = read_row(r, csv, &header);
		if (rc < 0)
			return rc;
	}
	return rc < 0 ? rc : check_any(r);
}

static int read_csv(struct reader *r, const char *where, struct slice text)
{
	struct csv csv;
	size_t line;
	int rc;

	csv_init(&csv, text, (struct csv_style){ .separator = ',', .comment = '#', .quotes = true });
	rc = read_rows(r, &csv);
	line = csv.line;
	csv_fini(&csv);
	return rc < 0 ? err_prefix(r->err, "%s:%zu", where, line) : 0;
}

/* ---- either */

int profile_read_text(const char *where, const char *text, size_t n, const struct cluster *cluster,
	struct names *models, struct profile *out, struct err *err)
{
	struct reader r = { .cluster = cluster, .models = models, .err = err };
	struct slice all = { text, n };
	struct slice begin = slice_trim(all);
	int rc;

	if (!begin.n)
		return err_set(err, ERR_FORMAT, "%s: empty; no speeds in it", where);
	if (begin.at[0] == '{' || begin.at[0] == '[')
		rc = read_json(&r, where, all);
	else
		rc = read_csv(&r, where, all);
	if (!rc)
		apply(&r, out);
	vec_fini(&r.speeds);
	buf_fini(&r.passed_over);
	return rc;
}

int profile_read(const char *path, const struct cluster *cluster, struct names *models,
	struct profile *out, struct err *err)
{
	struct file file;
	int rc = file_read_upto(path, SPEEDS_BYTES_MAX, &file, err);

	if (rc < 0)
		return rc;
	rc = profile_read_text(path, file.at, file.n, cluster, models, out, err);
	file_fini(&file);
	return rc;
}
