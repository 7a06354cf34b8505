/*
 * Profiles of hosts: rows of CSV gathered into tables, and Synergy's matrices.
 */
#include "io/hosting_io.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "io/csv.h"
#include "io/header.h"

enum {
	GPUS_MAX = 65535,
	HOSTING_BYTES_MAX = 16 << 20,
};

static const double GB = 1024.0 * 1024 * 1024;

/* One table in the making. */
struct draft {
	char *model;
	uint32_t gpus;
	bool whole_memory; /* its rows name no memory */
	double epoch_s, dataset_bytes, storage_Bps;
	size_t line;
	struct host_table table;
};

struct reader {
	VEC(struct draft *) drafts;
	struct notes *notes;
	struct err *err;
};

static struct draft *draft_of(struct reader *r, struct slice model, uint32_t gpus)
{
	struct draft *one;

	for (size_t i = 0; i < r->drafts.n; i++) {
		if (r->drafts.at[i]->gpus == gpus && slice_is(model, r->drafts.at[i]->model))
			return r->drafts.at[i];
	}
	one = mem_alloc(sizeof(*one));
	one->model = mem_printf("%.*s", (int)model.n, model.at);
	one->gpus = gpus;
	for (uint32_t c = 0; c < HOST_AXIS_MAX; c++) {
		for (uint32_t m = 0; m < HOST_AXIS_MAX; m++)
			one->table.speed[c][m] = NAN;
	}
	vec_push(&r->drafts, one);
	return one;
}

static void reader_fini(struct reader *r)
{
	for (size_t i = 0; i < r->drafts.n; i++) {
		free(r->drafts.at[i]->model);
		free(r->drafts.at[i]);
	}
	vec_fini(&r->drafts);
}

/* ---- Synergy: [{"profile": "model_gpus", "tput": [[…]], …}] */

static const double synergy_cpus[] = { 1, 2, 3, 4, 5, 6, 9, 12, 24 };
static const double synergy_gb[] = { 20.83, 62.5, 125, 187.5, 250 };

enum { SYNERGY_CPUS = 9, SYNERGY_MEMS = 5 };

static double number_of(const json_t *profile, const char *key)
{
	const json_t *value = json_object_get(profile, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Matrices without the smallest memory have a column less; a speed of 0 was not measured. */
static int synergy_matrix(struct reader *r, const json_t *rows, struct host_table *out)
{
	size_t n = json_array_size(rows), columns = json_array_size(json_array_get(rows, 0));
	size_t missing = SYNERGY_MEMS - columns;

	if (n == 0 || n > SYNERGY_CPUS || columns == 0 || columns > SYNERGY_MEMS)
		return err_set(r->err, ERR_FORMAT,
			"tput: a matrix of up to %d rows (CPUs) and %d columns (memory) belongs here",
			SYNERGY_CPUS, SYNERGY_MEMS);
	out->ncpus = (uint32_t)n;
	out->nmems = (uint32_t)columns;
	for (size_t m = 0; m < columns; m++)
		out->mem_bytes[m] = synergy_gb[missing + m] * GB;
	for (size_t c = 0; c < n; c++) {
		out->cpus[c] = synergy_cpus[c];
		for (size_t m = 0; m < columns; m++) {
			const json_t *cell = json_array_get(json_array_get(rows, c), m);
			double speed = json_is_number(cell) ? json_number_value(cell) : NAN;

			if (!(speed >= 0 && speed <= 1e6))
				return err_set(r->err, ERR_FORMAT,
					"tput: row %zu, column %zu is not a speed", c + 1, m + 1);
			out->speed[c][m] = speed > 0 ? speed : NAN;
		}
	}
	return 0;
}

/* "alexnet_2": the model and its devices. */
static bool synergy_name(const char *text, struct slice *model, uint32_t *gpus)
{
	const char *bar = strrchr(text, '_');
	int64_t n;

	if (!bar || bar == text || !slice_int(slice_of(bar + 1), &n) || n < 1 || n > GPUS_MAX)
		return false;
	*model = (struct slice){ text, (size_t)(bar - text) };
	*gpus = (uint32_t)n;
	return true;
}

static int synergy_profile(struct reader *r, const json_t *profile)
{
	const char *name = json_string_value(json_object_get(profile, "profile"));
	const char *set = json_string_value(json_object_get(profile, "set"));
	double split = number_of(profile, "placement_penalty"), cpus = number_of(profile, "cpus");
	double gb = number_of(profile, "mem"), step_s = number_of(profile, "iter_time");
	struct slice model;
	struct draft *draft;
	uint32_t gpus;

	if (!name || !synergy_name(name, &model, &gpus))
		return err_set(r->err, ERR_FORMAT, "profile: write MODEL_GPUS, such as \"res18_1\"");
	if (set && strcmp(set, "models") != 0) {
		/* The same measurements relative to servers with more CPUs. */
		notes_add(r->notes, NOTE_DROPPED, 0, "set", NULL,
			"profiles of the set '%.40s' repeat those of 'models' for other servers", set);
		return 0;
	}
	draft = draft_of(r, model, gpus);
	if (synergy_matrix(r, json_object_get(profile, "tput"), &draft->table) < 0)
		return err_prefix(r->err, "%.60s", name);
	draft->table.split = split > 0 && split <= 1 ? split : 0;
	draft->table.step_s = step_s > 0 && step_s < 1e9 ? step_s : 0;
	if (cpus > 0 && cpus < 1e6 && gb > 0 && gb < 1e9)
		draft->table.best = (struct host_share){ cpus, gb * GB };
	return 0;
}

static int read_json(struct reader *r, const char *where, struct slice text)
{
	json_error_t problem;
	json_t *root = json_loadb(text.at, text.n, JSON_REJECT_DUPLICATES, &problem);
	int rc = 0;

	if (!root)
		return err_set(r->err, ERR_FORMAT, "%s:%d: not valid JSON: %s", where, problem.line,
			problem.text);
	if (!json_is_array(root))
		rc = err_set(r->err, ERR_FORMAT, "a list of profiles belongs here, as Synergy has it");
	for (size_t i = 0; rc == 0 && i < json_array_size(root); i++)
		rc = synergy_profile(r, json_array_get(root, i));
	json_decref(root);
	return rc < 0 ? err_prefix(r->err, "%s", where) : 0;
}

/* ---- CSV: a measured point in each row */

enum { MODEL, GPUS, CPUS, MEMORY, SPEED, SPLIT, STEP, DATASET, STORAGE, EPOCH, COLUMNS };

static const struct column columns[] = {
	[MODEL] = { .name = "model", .required = true },
	[GPUS] = { .name = "gpus" },
	[CPUS] = { .name = "cpus", .required = true },
	[MEMORY] = { .name = "memory", .aliases = "mem" },
	[SPEED] = { .name = "speed", .required = true },
	[SPLIT] = { .name = "split" },
	[STEP] = { .name = "step_s" },
	[DATASET] = { .name = "dataset" },
	[STORAGE] = { .name = "storage" },
	[EPOCH] = { .name = "epoch_s" },
	{ 0 },
};

static int read_header(struct reader *r, struct csv *csv, int where[COLUMNS])
{
	int rc = csv_next(csv, r->err);

	for (int c = 0; c < COLUMNS; c++)
		where[c] = -1;
	for (size_t i = 0; rc > 0 && i < csv->n; i++) {
		struct slice name = csv->fields[i];
		int c = columns_find(columns, name), near;

		if (c >= 0) {
			where[c] = (int)i;
			continue;
		}
		near = columns_nearest(columns, where, name);
		return err_set(r->err, ERR_FORMAT,
			"no column \"%.*s\" is known%s%s%s; there are model, gpus, cpus, memory, speed, split, "
			"step_s, dataset, storage and epoch_s",
			name.n > 60 ? 60 : (int)name.n, name.at, near >= 0 ? " (did you mean " : "",
			near >= 0 ? columns[near].name : "", near >= 0 ? "?)" : "");
	}
	for (int c = 0; rc > 0 && c < COLUMNS; c++) {
		if (columns[c].required && where[c] < 0)
			return err_set(r->err, ERR_FORMAT,
				"the header must name model, cpus and speed");
	}
	return rc < 0 ? rc : 0;
}

/* A field as a number from above 0 (bytes where it is a size); 0 where it is empty. */
static int row_number(struct reader *r, const struct csv *csv, const int where[COLUMNS], int column,
	double *out)
{
	bool bytes = column == MEMORY || column == DATASET || column == STORAGE;
	struct slice s = slice_of("");
	int64_t size = 0;

	*out = 0;
	if (where[column] >= 0 && (size_t)where[column] < csv->n)
		s = csv->fields[where[column]];
	if (s.n == 0)
		return 0;
	if (bytes && slice_bytes(s, &size))
		*out = (double)size;
	else if (!bytes && !slice_double(s, out))
		*out = 0;
	if (*out > 0 && (bytes || *out <= 1e9))
		return 0;
	return err_set(r->err, ERR_FORMAT, "%s: \"%.*s\" is not %s above 0", columns[column].name,
		s.n > 60 ? 60 : (int)s.n, s.at, bytes ? "a size such as 62.5G" : "a number");
}

/* The number of a point of an axis, put in its place if it is new; -1: there is no room for it. */
static int axis_point(struct host_table *t, bool cpus, double x)
{
	double *axis = cpus ? t->cpus : t->mem_bytes;
	uint32_t *n = cpus ? &t->ncpus : &t->nmems, at = 0;

	while (at < *n && axis[at] < x)
		at++;
	if (at < *n && axis[at] == x)
		return (int)at;
	if (*n == HOST_AXIS_MAX)
		return -1;
	for (uint32_t i = *n; i > at; i--)
		axis[i] = axis[i - 1];
	axis[at] = x;
	/* The speeds behind it move along. */
	for (uint32_t i = HOST_AXIS_MAX - 1; i > at; i--) {
		for (uint32_t k = 0; k < HOST_AXIS_MAX; k++) {
			if (cpus)
				t->speed[i][k] = t->speed[i - 1][k];
			else
				t->speed[k][i] = t->speed[k][i - 1];
		}
	}
	for (uint32_t k = 0; k < HOST_AXIS_MAX; k++)
		*(cpus ? &t->speed[at][k] : &t->speed[k][at]) = NAN;
	(*n)++;
	return (int)at;
}

static void keep_if_said(double value, double *out)
{
	if (value > 0)
		*out = value;
}

static int put_point(struct reader *r, struct draft *d, const double *x)
{
	double memory = x[MEMORY] > 0 ? x[MEMORY] : INFINITY; /* all it could use */
	int c = axis_point(&d->table, true, x[CPUS]), m;

	if ((x[MEMORY] > 0) == d->whole_memory && d->table.nmems > 0)
		return err_set(r->err, ERR_FORMAT,
			"memory: every row of model %.60s on %u devices names it, or none does",
			d->model, d->gpus);
	d->whole_memory = !(x[MEMORY] > 0);
	m = axis_point(&d->table, false, memory);
	if (c < 0 || m < 0)
		return err_set(r->err, ERR_FORMAT, "more than %d values of %s for model %.60s",
			HOST_AXIS_MAX, c < 0 ? "cpus" : "memory", d->model);
	d->table.speed[c][m] = x[SPEED];
	keep_if_said(fmin(x[SPLIT], 1), &d->table.split);
	keep_if_said(x[STEP], &d->table.step_s);
	keep_if_said(x[DATASET], &d->dataset_bytes);
	keep_if_said(x[STORAGE], &d->storage_Bps);
	keep_if_said(x[EPOCH], &d->epoch_s);
	return 0;
}

static int read_row(struct reader *r, const struct csv *csv, const int where[COLUMNS])
{
	struct slice model = slice_of("");
	struct draft *draft;
	double x[COLUMNS];

	if ((size_t)where[MODEL] < csv->n)
		model = csv->fields[where[MODEL]];
	if (!model.n)
		return err_set(r->err, ERR_FORMAT, "model: empty; name the model");
	for (int c = GPUS; c < COLUMNS; c++) {
		if (row_number(r, csv, where, c, &x[c]) < 0)
			return ERR_FORMAT;
	}
	if (!(x[CPUS] > 0) || !(x[SPEED] > 0))
		return err_set(r->err, ERR_FORMAT, "%s: empty; every row has cpus and speed",
			x[CPUS] > 0 ? "speed" : "cpus");
	if (x[GPUS] > GPUS_MAX || x[GPUS] != floor(x[GPUS]))
		return err_set(r->err, ERR_FORMAT, "gpus: not a whole number up to %d", GPUS_MAX);
	draft = draft_of(r, model, x[GPUS] > 0 ? (uint32_t)x[GPUS] : 1);
	draft->line = draft->line ? draft->line : csv->line;
	return put_point(r, draft, x);
}

/* Where memory is not named its axis comes of the data set, or there is none. */
static int finish_draft(struct reader *r, struct draft *d)
{
	int said = (d->dataset_bytes > 0) + (d->storage_Bps > 0) + (d->epoch_s > 0);

	if (!d->whole_memory)
		return 0;
	if (said == 3)
		host_table_fill_memory(&d->table, d->gpus, d->epoch_s, d->dataset_bytes,
			d->storage_Bps);
	else if (said > 0)
		return err_set(r->err, ERR_FORMAT,
			"model %.60s: dataset, storage (bytes per second) and epoch_s belong together",
			d->model);
	else
		d->table.mem_bytes[0] = 1; /* any */
	return 0;
}

static int read_csv(struct reader *r, const char *where, struct slice text)
{
	int at[COLUMNS], rc;
	struct csv csv;
	size_t line;

	csv_init(&csv, text, (struct csv_style){ .separator = ',', .comment = '#', .quotes = true });
	rc = read_header(r, &csv, at);
	while (rc == 0 && (rc = csv_next(&csv, r->err)) > 0)
		rc = read_row(r, &csv, at);
	line = csv.line;
	for (size_t i = 0; rc == 0 && i < r->drafts.n; i++) {
		line = r->drafts.at[i]->line;
		rc = finish_draft(r, r->drafts.at[i]);
	}
	csv_fini(&csv);
	return rc < 0 ? err_prefix(r->err, "%s:%zu", where, line) : 0;
}

/* ---- either */

static void apply(const struct reader *r, const struct cluster *cluster, struct names *models,
	struct hosting *out, struct profile *speeds)
{
	for (size_t i = 0; i < r->drafts.n; i++) {
		const struct draft *d = r->drafts.at[i];
		uint32_t model = names_add(models, d->model, strlen(d->model));

		hosting_add(out, model, d->gpus, &d->table);
		for (uint32_t type = 0; d->table.step_s > 0 && type < cluster->ntypes; type++)
			profile_add(speeds, model, type, d->gpus, 0, 1 / d->table.step_s);
	}
}

static int settle(struct reader *r, const char *where)
{
	if (r->drafts.n == 0)
		return err_set(r->err, ERR_FORMAT, "%s: no profiles in it", where);
	for (size_t i = 0; i < r->drafts.n; i++) {
		if (!host_table_settle(&r->drafts.at[i]->table))
			return err_set(r->err, ERR_FORMAT, "%s: model %.60s has no speed above 0",
				where, r->drafts.at[i]->model);
	}
	return 0;
}

int hosting_read_text(const char *where, struct slice text, const struct cluster *cluster,
	struct names *models, struct hosting *out, struct profile *speeds, struct notes *notes,
	struct err *err)
{
	struct reader r = { .notes = notes, .err = err };
	struct slice begin = slice_trim(text);
	int rc;

	if (begin.n && (begin.at[0] == '[' || begin.at[0] == '{'))
		rc = read_json(&r, where, text);
	else
		rc = read_csv(&r, where, text);
	if (rc == 0)
		rc = settle(&r, where);
	if (rc == 0)
		apply(&r, cluster, models, out, speeds);
	reader_fini(&r);
	return rc;
}

int hosting_read(const char *path, const struct cluster *cluster, struct names *models,
	struct hosting *out, struct profile *speeds, struct notes *notes, struct err *err)
{
	struct file file;
	int rc = file_read_upto(path, HOSTING_BYTES_MAX, &file, err);

	if (rc < 0)
		return rc;
	rc = hosting_read_text(path, (struct slice){ file.at, file.n }, cluster, models, out,
		speeds, notes, err);
	file_fini(&file);
	return rc;
}
