/*
 * Tables of measured steps.
 */
#include "io/goodput_samples.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "io/csv.h"
#include "io/header.h"

enum {
	MODEL,
	TYPE,
	NODES,
	REPLICAS,
	PLACEMENT,
	LOCAL,
	STEP,
	SYNC,
	ACCUM,
	GRAD_SQR,
	GRAD_VAR,
	BATCH,
};

static const struct column columns[] = {
	[MODEL] = { .name = "model", .aliases = "application" },
	[TYPE] = { .name = "type", .aliases = "gpu|gpu_type" },
	[NODES] = { .name = "nodes", .aliases = "num_nodes" },
	[REPLICAS] = { .name = "replicas", .aliases = "num_replicas|gpus|devices" },
	[PLACEMENT] = { .name = "placement" },
	[LOCAL] = { .name = "local_bsz", .aliases = "local_batch|atomic", .required = true },
	[STEP] = { .name = "step_time", .aliases = "step_s", .required = true },
	[SYNC] = { .name = "sync_time", .aliases = "sync_s", .required = true },
	[ACCUM] = { .name = "accum", .aliases = "accum_steps" },
	[GRAD_SQR] = { .name = "grad_sqr" },
	[GRAD_VAR] = { .name = "grad_var" },
	[BATCH] = { .name = "batch", .aliases = "initial_batch" },
	{ 0 },
};
enum { COLUMNS = sizeof(columns) / sizeof(*columns) - 1 };

#define COUNT_MAX 1e6
#define LOCAL_MAX 1e9
#define SECONDS_MAX 1e9

struct reader {
	const char *path;
	struct csv csv;
	int where[COLUMNS];
	size_t width;
	uint32_t model, type; /* where there is no column */
	struct goodput_samples *out;
	struct err *err;
};

/* ---- header */

static int unknown_column(struct reader *r, struct slice field)
{
	int near = columns_nearest(columns, r->where, field);
	int n = field.n > 60 ? 60 : (int)field.n;

	if (near >= 0)
		return err_set(r->err, ERR_FORMAT, "unknown column '%.*s'; did you mean %s?", n,
			field.at, columns[near].name);
	return err_set(r->err, ERR_FORMAT,
		"unknown column '%.*s'; a table of samples has model, type, nodes, replicas (or placement), "
		"local_bsz, step_time, sync_time, accum, grad_sqr, grad_var, batch",
		n, field.at);
}

static int read_header(struct reader *r)
{
	for (int i = 0; i < COLUMNS; i++)
		r->where[i] = -1;
	r->width = r->csv.n;
	for (size_t i = 0; i < r->csv.n; i++) {
		int column = columns_find(columns, r->csv.fields[i]);

		if (column < 0)
			return unknown_column(r, r->csv.fields[i]);
		if (r->where[column] >= 0)
			return err_set(r->err, ERR_FORMAT, "column %s is there twice",
				columns[column].name);
		r->where[column] = (int)i;
	}
	for (int i = 0; i < COLUMNS; i++)
		if (columns[i].required && r->where[i] < 0)
			return err_set(r->err, ERR_FORMAT, "the header has no column %s",
				columns[i].name);
	if (r->where[PLACEMENT] < 0 && r->where[REPLICAS] < 0)
		return err_set(r->err, ERR_FORMAT,
			"the header has neither a column replicas (and nodes) nor a column placement");
	return 0;
}

/* ---- rows */

static struct slice field(const struct reader *r, int column)
{
	return r->where[column] < 0 ? (struct slice){ "", 0 } : r->csv.fields[r->where[column]];
}

static int bad(struct reader *r, int column, const char *what)
{
	struct slice text = field(r, column);

	if (text.n == 0)
		return err_set(r->err, ERR_FORMAT, "%s is empty", columns[column].name);
	return err_set(r->err, ERR_FORMAT, "%s '%.*s' %s", columns[column].name,
		text.n > 60 ? 60 : (int)text.n, text.at, what);
}

/* More than `above` and at most `most`. */
static int number(struct reader *r, int column, double above, double most, double *out)
{
	if (!slice_double(field(r, column), out))
		return bad(r, column, "is not a finite number");
	if (*out < 0)
		return bad(r, column, "is negative");
	if (!(*out > above))
		return bad(r, column, "is too small");
	return *out <= most ? 0 : bad(r, column, "is too large");
}

static int whole(struct reader *r, int column, double above, double most, double *out)
{
	int rc = number(r, column, above, most, out);

	return rc || *out == floor(*out) ? rc : bad(r, column, "is not a whole number");
}

/* "244": two devices on a node and four on each of two others. */
static int read_placement(struct reader *r, struct goodput_sample *out)
{
	struct slice text = field(r, PLACEMENT);

	for (size_t i = 0; i < text.n; i++) {
		if (text.at[i] < '1' || text.at[i] > '9')
			return bad(r, PLACEMENT,
				"is not a list of devices by node, a digit from 1 to 9 each");
		out->replicas += text.at[i] - '0';
	}
	out->nodes = (double)text.n;
	return text.n ? 0 : bad(r, PLACEMENT, "");
}

static int read_shape(struct reader *r, struct goodput_sample *out)
{
	int rc;

	if (r->where[REPLICAS] < 0)
		return read_placement(r, out);
	rc = whole(r, REPLICAS, 0, COUNT_MAX, &out->replicas);
	out->nodes = 1;
	if (!rc && r->where[NODES] >= 0)
		rc = whole(r, NODES, 0, COUNT_MAX, &out->nodes);
	if (!rc && out->nodes > out->replicas)
		return err_set(r->err, ERR_FORMAT, "%g devices cannot be on %g nodes",
			out->replicas, out->nodes);
	return rc;
}

/* With accumulation the time is that of all passes; the model wants that of the one that synchronises. */
static int read_times(struct reader *r, struct goodput_sample *out)
{
	double whole_s, accum = 0;
	int rc = number(r, STEP, 0, SECONDS_MAX, &whole_s);

	if (!rc)
		rc = number(r, SYNC, -1, SECONDS_MAX, &out->sync_s);
	if (!rc && field(r, ACCUM).n)
		rc = whole(r, ACCUM, -1, COUNT_MAX, &accum);
	if (rc)
		return rc;
	if (out->sync_s >= whole_s)
		return err_set(r->err, ERR_FORMAT,
			"sync_time %g is not less than step_time %g: no time is left to compute",
			out->sync_s, whole_s);
	out->step_s = (whole_s - out->sync_s) / (accum + 1) + out->sync_s;
	return 0;
}

static int read_gradient(struct reader *r, struct goodput_measure *out)
{
	bool sqr = field(r, GRAD_SQR).n > 0, var = field(r, GRAD_VAR).n > 0;
	int rc = 0;

	if (sqr != var)
		return err_set(r->err, ERR_FORMAT,
			"grad_sqr and grad_var belong together, and %s is empty",
			sqr ? "grad_var" : "grad_sqr");
	if (sqr)
		rc = number(r, GRAD_SQR, 0, INFINITY, &out->gradient.sqr);
	if (!rc && var)
		rc = number(r, GRAD_VAR, -1, INFINITY, &out->gradient.var);
	if (!rc && field(r, BATCH).n)
		rc = number(r, BATCH, 0, LOCAL_MAX, &out->initial);
	if (!rc && sqr && !(out->initial > 0))
		return err_set(r->err, ERR_FORMAT,
			"gradient statistics need the column batch: the total batch that the variance is of");
	return rc;
}

static uint32_t name_of(const struct reader *r, int column, struct names *names, uint32_t missing)
{
	struct slice text = field(r, column);

	return text.n ? names_add(names, text.at, text.n) : missing;
}

static int read_row(struct reader *r)
{
	struct goodput_measure m = { 0 };
	int rc;

	if (r->csv.n != r->width)
		return err_set(r->err, ERR_FORMAT, "%zu fields, the header has %zu", r->csv.n,
			r->width);
	m.model = name_of(r, MODEL, &r->out->models, r->model);
	m.type = name_of(r, TYPE, &r->out->types, r->type);
	rc = read_shape(r, &m.sample);
	if (!rc)
		rc = number(r, LOCAL, 0, LOCAL_MAX, &m.sample.atomic);
	if (!rc)
		rc = read_times(r, &m.sample);
	if (!rc)
		rc = read_gradient(r, &m);
	if (!rc)
		vec_push(r->out, m);
	return rc;
}

/* ---- names from the path */

static struct slice stem_of(const char *path)
{
	struct slice stem = slice_of(path_base(path));
	const char *dot = memchr(stem.at, '.', stem.n);

	return dot && dot > stem.at ? (struct slice){ stem.at, (size_t)(dot - stem.at) } : stem;
}

static bool slice_after(struct slice text, const char *prefix, struct slice *rest)
{
	size_t n = strlen(prefix);

	if (text.n <= n || memcmp(text.at, prefix, n) != 0)
		return false;
	*rest = (struct slice){ text.at + n, text.n - n };
	return true;
}

/* The folder's name in "DIR/MODEL/FILE"; nothing if there is none. */
static struct slice folder_of(const char *path)
{
	const char *end = path_base(path), *at;

	if (end == path)
		return (struct slice){ "", 0 };
	end--;
	for (at = end; at > path && at[-1] != '/'; at--)
		;
	return (struct slice){ at, (size_t)(end - at) };
}

static void name_by_path(struct reader *r)
{
	struct slice stem = stem_of(r->path), type = { "any", 3 }, model = stem, folder;

	if (slice_after(stem, "placements-", &type) || slice_after(stem, "scalability-", &type)) {
		folder = folder_of(r->path);
		if (folder.n > 0)
			model = folder;
	}
	r->model = NAME_NONE;
	r->type = NAME_NONE;
	if (r->where[MODEL] < 0)
		r->model = names_add(&r->out->models, model.at, model.n);
	if (r->where[TYPE] < 0)
		r->type = names_add(&r->out->types, type.at, type.n);
}

static int check_names(struct reader *r, const struct goodput_measure *m)
{
	if (m->model == NAME_NONE)
		return bad(r, MODEL, "");
	return m->type == NAME_NONE ? bad(r, TYPE, "") : 0;
}

/* ---- the whole */

static int read_rows(struct reader *r)
{
	size_t before = r->out->n;
	int rc = csv_next(&r->csv, r->err);

	if (rc == 0)
		return err_set(r->err, ERR_FORMAT, "the file is empty; a table begins with a header");
	if (rc > 0)
		rc = read_header(r);
	if (rc < 0)
		return rc;
	name_by_path(r);
	while ((rc = csv_next(&r->csv, r->err)) > 0) {
		rc = read_row(r);
		if (!rc)
			rc = check_names(r, &r->out->at[r->out->n - 1]);
		if (rc)
			return rc;
	}
	if (rc == 0 && r->out->n == before)
		return err_set(r->err, ERR_FORMAT, "there are no rows below the header");
	return rc;
}

int goodput_samples_read_text(const char *path, const char *text, size_t n,
	struct goodput_samples *out, struct err *err)
{
	struct reader r = { .path = path, .out = out, .err = err };
	int rc;

	csv_init(&r.csv, (struct slice){ text, n }, (struct csv_style)CSV_COMMAS);
	rc = read_rows(&r);
	if (rc)
		err_prefix(err, "%s:%zu", path, r.csv.line ? r.csv.line : 1);
	csv_fini(&r.csv);
	return rc;
}

int goodput_samples_read(const char *path, struct goodput_samples *out, struct err *err)
{
	struct file file;
	int rc = file_read(path, &file, err);

	if (rc)
		return rc;
	rc = goodput_samples_read_text(path, file.at, file.n, out, err);
	file_fini(&file);
	return rc;
}

void goodput_samples_fini(struct goodput_samples *samples)
{
	names_fini(&samples->models);
	names_fini(&samples->types);
	vec_fini(samples);
}
