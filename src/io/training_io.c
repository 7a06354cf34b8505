/*
 * Profile folders, file by file.  Only what the trace and the cluster need is
 * read: a folder may hold any number of other models and types.
 */
#include "io/training_io.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/vec.h"
#include "io/csv.h"
#include "model/catalogue.h"

enum {
	FILE_BYTES_MAX = 64 << 20, /* a thousand times the published ones */
	PLACEMENT_MAX = 256,       /* nodes in one */
	DEVICES_MAX = 65535,
};

/* ---- what is known of the published folders beside their files */

struct suffix {
	const char *suffix;
	const char *names[4];    /* types of these names */
	const char *accelerator; /* and whatever the catalogue takes for this */
	uint32_t widest;         /* nodes that were really profiled at most */
};

static const struct suffix suffixes[] = {
	{ "aws", { "aws", "t4" }, "t4", 16 },
	{ "dgx-ext", { "dgx-ext", "dgx", "a100" }, "a100", 2 },
	{ "rtx", { "rtx", "rtx2080ti", "2080ti" }, "rtx2080ti", 3 },
	{ "quad", { "quad", "rtx6000" }, "rtx6000", 1 },
	{ "azure", { "azure", "v100" }, "v100", 5 },
};

static const struct suffix *suffix_of(const char *type)
{
	const struct accelerator *sought = catalogue_accelerator(type);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		const struct suffix *s = &suffixes[i];

		for (size_t k = 0; k < 4 && s->names[k]; k++) {
			if (!strcasecmp(s->names[k], type))
				return s;
		}
	}
	for (size_t i = 0; sought && i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		if (catalogue_accelerator(suffixes[i].accelerator) == sought)
			return &suffixes[i];
	}
	return NULL;
}

const char *training_suffix(const char *type)
{
	const struct suffix *known = suffix_of(type);

	return known ? known->suffix : type;
}

struct known_model {
	const char *name;
	uint32_t epochs;
	double restart_s, restart_believed_s, slowdown;
	double osdi21_max_local, osdi21_batch;
	struct {
		const char *suffix;
		double value;
	} cap, unit[2]; /* largest local batch; devices of a pipeline */
};

/* Constants of the published simulators that are in no file of theirs. */
static const struct known_model known_models[] = {
	{ "cifar10", 100, 50, 30, 1.8, 0, 0, { 0 }, { { 0 } } },
	{ "deepspeech2", 80, 25, 25, 1.2, 0, 0, { "rtx", 57 }, { { 0 } } },
	{ "bert", 2, 120, 120, 1.2, 0, 0, { 0 }, { { 0 } } },
	{ "yolov3", 50, 80, 45, 1.2, 8, 0, { 0 }, { { 0 } } },
	{ "imagenet", 90, 250, 250, 1.2, 0, 0, { 0 }, { { 0 } } },
	{ "ncf", 10, 15, 30, 1.5, 0, 32768, { 0 }, { { 0 } } },
	{ "gpt_pmp", 2, 30, 30, 1.0, 0, 0, { 0 }, { { "rtx", 8 }, { "dgx-ext", 2 } } },
};

static const struct known_model *known_model(const char *name)
{
	for (size_t i = 0; i < sizeof(known_models) / sizeof(*known_models); i++) {
		if (!strcmp(known_models[i].name, name))
			return &known_models[i];
	}
	return NULL;
}

/* ---- one file */

struct reader {
	struct training *out;
	struct err *err;
	uint32_t model, type;
	double batch;
	struct training_model *facts;
	/* the row before */
	struct training_epoch last;
	uint32_t rows;
};

enum { COLUMNS_MAX = 5 };

struct sheet {
	const char *columns[COLUMNS_MAX]; /* that must be there; others do not matter */
	int (*row)(struct reader *r, const struct slice *fields);
};

static int shown(struct slice s)
{
	return s.n > 60 ? 60 : (int)s.n;
}

static int number(struct reader *r, const char *name, struct slice text, double least, double most,
	double *out)
{
	if (slice_double(text, out) && *out >= least && *out <= most)
		return 0;
	if (isinf(most))
		return err_set(r->err, ERR_FORMAT, "%s: \"%.*s\" is not a number of %g or more",
			name, shown(text), text.at, least);
	return err_set(r->err, ERR_FORMAT, "%s: \"%.*s\" is not a number from %g to %.0f", name,
		shown(text), text.at, least, most);
}

static int whole(struct reader *r, const char *name, struct slice text, double most, double *out)
{
	if (number(r, name, text, 1, most, out))
		return ERR_FORMAT;
	if (*out == floor(*out))
		return 0;
	return err_set(r->err, ERR_FORMAT, "%s: \"%.*s\" is not a whole number", name, shown(text),
		text.at);
}

/* Times of one row; a pipeline's sync_time is no part of its step_time, which is one stage's. */
static int times(struct reader *r, struct slice step, struct slice sync, struct pass *out)
{
	bool pipeline = r->facts->unit[r->type];

	if (number(r, "step_time", step, 0, 1e9, &out->step_s) ||
		number(r, "sync_time", sync, 0, 1e9, &out->sync_s))
		return ERR_FORMAT;
	if (!(out->step_s > 0))
		return err_set(r->err, ERR_FORMAT, "step_time: a step takes more than 0 seconds");
	if (out->sync_s > out->step_s && !pipeline)
		return err_set(r->err, ERR_FORMAT,
			"sync_time: %g s is more than the whole step of %g s, which it is a part of",
			out->sync_s, out->step_s);
	return 0;
}

/* "244" or, where nodes have more than nine devices, "12-16-16". */
static int placement(struct reader *r, struct slice text, uint16_t *on_node, uint32_t *nodes)
{
	bool dashes = memchr(text.at, '-', text.n);
	struct slice rest = text;
	int64_t devices;

	for (*nodes = 0; rest.n; (*nodes)++) {
		struct slice one = dashes ? slice_cut(&rest, '-') : (struct slice){ rest.at, 1 };

		if (!dashes)
			rest = (struct slice){ rest.at + 1, rest.n - 1 };
		if (!slice_int(one, &devices) || devices < 1 || devices > DEVICES_MAX ||
			*nodes == PLACEMENT_MAX)
			break;
		on_node[*nodes] = (uint16_t)devices;
	}
	if (*nodes && !rest.n && devices >= 1 && devices <= DEVICES_MAX)
		return 0;
	return err_set(r->err, ERR_FORMAT,
		"placement: \"%.*s\" does not say how many devices are on each node; write 244 or "
		"12-16-16",
		shown(text), text.at);
}

static int placements_row(struct reader *r, const struct slice *fields)
{
	uint16_t on_node[PLACEMENT_MAX];
	struct pass pass;
	uint32_t nodes;
	double batch;

	if (whole(r, "local_bsz", fields[0], TRAINING_LOCAL_MAX, &batch) ||
		times(r, fields[1], fields[2], &pass) || placement(r, fields[3], on_node, &nodes))
		return ERR_FORMAT;
	training_add_pass(r->out, r->model, r->type, (struct lay){ on_node, nodes }, batch, pass);
	return 0;
}

static int scalability_row(struct reader *r, const struct slice *fields)
{
	double batch, nodes, replicas;
	struct pass pass;

	if (whole(r, "local_bsz", fields[0], TRAINING_LOCAL_MAX, &batch) ||
		times(r, fields[1], fields[2], &pass) ||
		whole(r, "num_nodes", fields[3], TRAINING_NODES_MAX, &nodes) ||
		whole(r, "num_replicas", fields[4], DEVICES_MAX, &replicas))
		return ERR_FORMAT;
	if (replicas < nodes)
		return err_set(r->err, ERR_FORMAT, "num_replicas: %g devices cannot be on %g nodes",
			replicas, nodes);
	training_add_scaled(r->out, r->model, r->type, (uint32_t)nodes, (uint32_t)replicas, batch,
		pass);
	return 0;
}

static int validation_row(struct reader *r, const struct slice *fields)
{
	struct training_epoch e;

	if (number(r, "progress", fields[0], 0, INFINITY, &e.progress) ||
		number(r, "iteration", fields[1], 0, INFINITY, &e.iteration) ||
		number(r, "grad_sqr", fields[2], 0, INFINITY, &e.gradient.sqr) ||
		number(r, "grad_var", fields[3], 0, INFINITY, &e.gradient.var))
		return ERR_FORMAT;
	if (!(e.gradient.sqr + e.gradient.var > 0))
		return err_set(r->err, ERR_FORMAT,
			"grad_sqr, grad_var: both are 0, which says nothing of any batch");
	if (e.progress <= r->last.progress || e.iteration < r->last.iteration)
		return err_set(r->err, ERR_FORMAT,
			"progress: epoch %u does not go on from the one before (%g after %g); an epoch "
			"may be missing or out of order",
			r->rows + 1, e.progress, r->last.progress);
	r->last = e;
	training_add_epoch(r->out, r->model, r->batch, e);
	return 0;
}

static const char *const fact_names[] = { "epochs", "restart_s", "restart_believed_s", "slowdown",
	"max_batch", "max_local", "unit" };

/* "unit-aws": of files with this suffix only; the types of the cluster that have it. */
static int fact_by_type(struct reader *r, struct slice name, struct slice suffix, double value)
{
	const struct cluster *cluster = training_cluster(r->out);

	for (uint32_t type = 0; type < cluster->ntypes; type++) {
		if (!slice_is(suffix, training_suffix(cluster->types[type].name)) &&
			!slice_is_nocase(suffix, cluster->types[type].name))
			continue;
		if (slice_is(name, "unit"))
			r->facts->unit[type] = (uint32_t)value;
		else
			training_cap_local(r->out, r->model, type, value);
	}
	return 0;
}

/* A name that there is, with a value that makes no sense. */
static int check_fact(struct reader *r, struct slice name, struct slice text, double value)
{
	bool whole = slice_is(name, "epochs") || slice_is(name, "unit");
	bool one = whole || slice_is(name, "max_batch") || slice_is(name, "max_local");
	const char *must = NULL;

	if (slice_is(name, "slowdown") && !(value > 0))
		must = "more than 0";
	else if (whole && value != floor(value))
		must = "a whole number";
	else if (one && !(value >= 1))
		must = "1 or more";
	if (!must)
		return 0;
	return err_set(r->err, ERR_FORMAT, "value: %.*s is %.*s, but must be %s", shown(name),
		name.at, shown(text), text.at, must);
}

static int facts_row(struct reader *r, const struct slice *fields)
{
	struct slice suffix = fields[0], name = slice_cut(&suffix, '-');
	double value;
	int near;
	char word[64];

	if (number(r, "value", fields[1], 0, 1e9, &value))
		return ERR_FORMAT;
	if (check_fact(r, name, fields[1], value))
		return ERR_FORMAT;
	if ((slice_is(name, "unit") || slice_is(name, "max_local")) && suffix.n)
		return fact_by_type(r, name, suffix, value);
	if (slice_is(fields[0], "restart_s"))
		r->facts->restart_s = value;
	else if (slice_is(fields[0], "restart_believed_s"))
		r->facts->restart_believed_s = value;
	else if (slice_is(fields[0], "slowdown"))
		r->facts->slowdown = value;
	else if (slice_is(fields[0], "max_batch"))
		r->facts->max_batch = value;
	else if (slice_is(fields[0], "epochs"))
		r->facts->epochs = (uint32_t)value;
	else {
		snprintf(word, sizeof(word), "%.*s", shown(name), name.at);
		near = text_nearest(word, fact_names, sizeof(fact_names) / sizeof(*fact_names));
		return err_set(r->err, ERR_FORMAT,
			"name: \"%.*s\" with %g says nothing%s%s%s; there are epochs, restart_s, "
			"restart_believed_s, slowdown, max_batch, max_local-TYPE and unit-TYPE",
			shown(fields[0]), fields[0].at, value, near >= 0 ? " (did you mean \"" : "",
			near >= 0 ? fact_names[near] : "", near >= 0 ? "\"?)" : "");
	}
	return 0;
}

static const struct sheet sheets[] = {
	[TRAINING_PLACEMENTS] = { { "local_bsz", "step_time", "sync_time", "placement" },
		placements_row },
	[TRAINING_SCALABILITY] = { { "local_bsz", "step_time", "sync_time", "num_nodes", "num_replicas" },
		scalability_row },
	[TRAINING_VALIDATION] = { { "progress", "iteration", "grad_sqr", "grad_var" }, validation_row },
	[TRAINING_FACTS] = { { "name", "value" }, facts_row },
};

static int read_header(struct reader *r, struct csv *csv, const struct sheet *sheet,
	int where[COLUMNS_MAX])
{
	int rc = csv_next(csv, r->err);

	if (rc < 0)
		return rc;
	if (rc == 0)
		return err_set(r->err, ERR_FORMAT, "empty; a header belongs here");
	for (int c = 0; c < COLUMNS_MAX && sheet->columns[c]; c++) {
		where[c] = -1;
		for (size_t i = 0; i < csv->n; i++) {
			if (!slice_is_nocase(csv->fields[i], sheet->columns[c]))
				continue;
			if (where[c] >= 0)
				return err_set(r->err, ERR_FORMAT, "column %s is there twice",
					sheet->columns[c]);
			where[c] = (int)i;
		}
		if (where[c] < 0)
			return err_set(r->err, ERR_FORMAT, "the header has no column %s",
				sheet->columns[c]);
	}
	return 0;
}

static int read_row(struct reader *r, const struct csv *csv, const struct sheet *sheet,
	const int where[COLUMNS_MAX])
{
	struct slice fields[COLUMNS_MAX];

	for (int c = 0; c < COLUMNS_MAX && sheet->columns[c]; c++) {
		if ((size_t)where[c] >= csv->n)
			return err_set(r->err, ERR_FORMAT, "%s: missing; the row has %zu fields",
				sheet->columns[c], csv->n);
		fields[c] = csv->fields[where[c]];
	}
	if (sheet->row(r, fields))
		return ERR_FORMAT;
	r->rows++;
	return 0;
}

static int read_rows(struct reader *r, struct csv *csv, const struct sheet *sheet)
{
	int where[COLUMNS_MAX];
	int rc = read_header(r, csv, sheet, where);

	if (rc < 0)
		return rc;
	while ((rc = csv_next(csv, r->err)) > 0) {
		if (read_row(r, csv, sheet, where))
			return ERR_FORMAT;
	}
	if (!rc && !r->rows)
		return err_set(r->err, ERR_FORMAT, "no rows in it");
	return rc;
}

int training_read_text(enum training_file kind, struct training_text text, uint32_t model,
	uint32_t type, double batch, struct training *out, struct err *err)
{
	struct reader r = { .out = out, .err = err, .model = model, .type = type, .batch = batch };
	struct csv csv;
	size_t line;
	int rc;

	r.facts = training_add_model(out, model);
	csv_init(&csv, (struct slice){ text.at, text.n },
		(struct csv_style){ .separator = ',', .comment = '#', .quotes = true });
	rc = read_rows(&r, &csv, &sheets[kind]);
	line = csv.line ? csv.line : 1;
	csv_fini(&csv);
	return rc < 0 ? err_prefix(err, "%s:%zu", text.where, line) : 0;
}

/* ---- a model's folder */

struct folder {
	const char *dir;
	const struct cluster *cluster;
	struct training *out;
	struct notes *notes;
	uint64_t hash;
	struct err *err;
	/* of the model at hand */
	const char *name;
	char *path;
	uint32_t model;
	double smallest; /* of validation-BATCH.csv */
};

static int read_file(struct folder *f, enum training_file kind, const char *name, uint32_t type,
	double batch)
{
	char *path = path_join(f->path, name);
	struct file file;
	int rc = file_read_upto(path, FILE_BYTES_MAX, &file, f->err);

	if (!rc) {
		f->hash = hash_bytes(f->hash, name, strlen(name));
		f->hash = hash_bytes(f->hash, file.at, file.n);
		rc = training_read_text(kind, (struct training_text){ path, file.at, file.n },
			f->model, type, batch, f->out, f->err);
		file_fini(&file);
	}
	free(path);
	return rc;
}

/* 1: read; 0: there is no such file. */
static int read_if_there(struct folder *f, enum training_file kind, const char *name, uint32_t type)
{
	char *path = path_join(f->path, name);
	bool there = file_exists(path);
	int rc;

	free(path);
	if (!there)
		return 0;
	rc = read_file(f, kind, name, type, 0);
	return rc < 0 ? rc : 1;
}

/* placements-SUFFIX.csv and what goes with it. */
static int read_suffix(struct folder *f, const char *suffix, uint32_t type)
{
	char *name = mem_printf("placements-%s.csv", suffix);
	int rc = read_if_there(f, TRAINING_PLACEMENTS, name, type);

	free(name);
	if (rc <= 0)
		return rc;
	name = mem_printf("scalability-%s.csv", suffix);
	rc = read_if_there(f, TRAINING_SCALABILITY, name, type);
	free(name);
	return rc < 0 ? rc : 1;
}

static bool plain_name(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

/* Of files that hold for every type without its own, as `stint fit` makes them of samples that name none. */
static const char any_type[] = "any";

static int read_type(struct folder *f, uint32_t type)
{
	const char *own = f->cluster->types[type].name;
	const struct suffix *known = suffix_of(own);
	int rc = known ? read_suffix(f, known->suffix, type) : 0;

	if (rc > 0 && known)
		training_set_widest(f->out, type, known->widest);
	if (!rc && plain_name(own) && (!known || strcmp(known->suffix, own)))
		rc = read_suffix(f, own, type);
	return rc ? rc : read_suffix(f, any_type, type);
}

static void known_facts(struct folder *f)
{
	struct training_model *facts = training_add_model(f->out, f->model);
	const struct known_model *known = known_model(f->name);

	if (!known)
		return;
	facts->epochs = known->epochs;
	facts->restart_s = known->restart_s;
	facts->restart_believed_s = known->restart_believed_s;
	facts->slowdown = known->slowdown;
	facts->osdi21_max_local = known->osdi21_max_local;
	facts->osdi21_batch = known->osdi21_batch;
	for (uint32_t type = 0; type < f->cluster->ntypes; type++) {
		const char *suffix = training_suffix(f->cluster->types[type].name);

		for (size_t i = 0; i < 2 && known->unit[i].suffix; i++) {
			if (!strcmp(suffix, known->unit[i].suffix))
				facts->unit[type] = (uint32_t)known->unit[i].value;
		}
		if (known->cap.suffix && !strcmp(suffix, known->cap.suffix))
			training_cap_local(f->out, f->model, type, known->cap.value);
	}
}

/* ---- validation files */

struct batches {
	double *at;
	size_t n, cap;
};

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Of "validation-640.csv"; false: it is another file. */
static bool batch_in_name(const char *name, double *out)
{
	static const char prefix[] = "validation-", suffix[] = ".csv";
	size_t n = strlen(name), head = sizeof(prefix) - 1, tail = sizeof(suffix) - 1;
	int64_t batch;

	if (n <= head + tail || strncmp(name, prefix, head) || strcmp(name + n - tail, suffix))
		return false;
	if (name[head] == '0' || !slice_int((struct slice){ name + head, n - head - tail }, &batch))
		return false;
	*out = (double)batch;
	return batch >= 1 && batch <= INT32_MAX;
}

static int list_batches(struct folder *f, struct batches *out)
{
	DIR *in = opendir(f->path);
	struct dirent *entry;
	double batch;

	if (!in)
		return err_set(f->err, ERR_IO, "%s: %s", f->path, strerror(errno));
	while ((entry = readdir(in))) {
		if (batch_in_name(entry->d_name, &batch))
			vec_push(out, batch);
	}
	closedir(in);
	if (!out->n)
		return err_set(f->err, ERR_MISSING,
			"%s: no validation-BATCH.csv, which tell how much training it needs at each "
			"batch size",
			f->path);
	qsort(out->at, out->n, sizeof(*out->at), compare_doubles);
	return 0;
}

static int read_validations(struct folder *f, const struct batches *batches)
{
	for (size_t i = 0; i < batches->n; i++) {
		char *name = mem_printf("validation-%.0f.csv", batches->at[i]);
		int rc = read_file(f, TRAINING_VALIDATION, name, 0, batches->at[i]);

		free(name);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Every batch has every epoch. */
static int check_epochs(struct folder *f, const struct batches *batches)
{
	struct training_model *facts = training_add_model(f->out, f->model);
	uint32_t most = 0;

	for (size_t i = 0; i < batches->n; i++) {
		uint32_t n = training_epochs_read(f->out, f->model, batches->at[i]);

		most = n > most ? n : most;
	}
	if (!facts->epochs)
		facts->epochs = most;
	for (size_t i = 0; i < batches->n; i++) {
		uint32_t n = training_epochs_read(f->out, f->model, batches->at[i]);

		if (n < facts->epochs)
			return err_set(f->err, ERR_FORMAT,
				"%s/validation-%.0f.csv: epoch %u is missing; training takes %u",
				f->path, batches->at[i], n + 1, facts->epochs);
	}
	facts->initial_batch = batches->at[0];
	if (!(facts->max_batch > 0))
		facts->max_batch = batches->at[batches->n - 1];
	if (facts->max_batch < facts->initial_batch)
		return err_set(f->err, ERR_FORMAT,
			"%s/model.csv: max_batch %g is below the smallest, %g", f->path,
			facts->max_batch, facts->initial_batch);
	return 0;
}

static int read_epochs(struct folder *f)
{
	struct batches batches = { 0 };
	int rc = list_batches(f, &batches);

	if (!rc)
		rc = read_validations(f, &batches);
	if (!rc)
		rc = check_epochs(f, &batches);
	vec_fini(&batches);
	return rc;
}

/* ---- what is there fits together */

static int check_table(struct folder *f, uint32_t type)
{
	struct batch_limits limits = training_limits(f->out, f->model, type);
	char lone[128];
	double batch;

	if (training_lone_batch(f->out, f->model, type, lone, &batch))
		return err_set(f->err, ERR_FORMAT,
			"%s/placements-%s.csv: placement %s was measured at one batch (%g) only; measure "
			"two or more, between which times can be told",
			f->path, training_suffix(f->cluster->types[type].name), lone, batch);
	if (limits.min_local > limits.max || limits.min_local > limits.max_local)
		return err_set(f->err, ERR_FORMAT,
			"%s: no batch is possible on %s: the smallest local one is %g, the largest %g, and "
			"%g in all",
			f->path, f->cluster->types[type].name, limits.min_local, limits.max_local,
			limits.max);
	return 0;
}

static void note_missing(struct folder *f, const char *missing, const char *there)
{
	notes_add(f->notes, NOTE_WARNING, 0, NULL,
		"add the files, or leave the type out of the cluster for them",
		"model %s has no profile for %s; jobs of it run on %s only", f->name, missing, there);
}

static int read_types(struct folder *f)
{
	struct buf missing = { 0 }, there = { 0 };
	int rc = 0;

	for (uint32_t type = 0; rc >= 0 && type < f->cluster->ntypes; type++) {
		const char *name = f->cluster->types[type].name;

		rc = read_type(f, type);
		if (!rc)
			buf_printf(&missing, "%stype %.40s (placements-%.40s.csv)",
				missing.n ? ", " : "", name, name);
		else if (rc > 0)
			buf_printf(&there, "%s%.40s", there.n ? ", " : "", name);
	}
	if (rc >= 0 && !there.n)
		rc = err_set(f->err, ERR_MISSING,
			"%s: model %s has no profile for any type of the cluster; looked for %.600s, and placements-any.csv",
			f->path, f->name, missing.n ? missing.at : "nothing");
	else if (rc >= 0 && missing.n)
		note_missing(f, missing.at, there.at);
	buf_fini(&missing);
	buf_fini(&there);
	return rc < 0 ? rc : 0;
}

static int check_tables(struct folder *f)
{
	for (uint32_t type = 0; type < f->cluster->ntypes; type++) {
		if (training_knows(f->out, f->model, type) && check_table(f, type))
			return ERR_FORMAT;
	}
	return 0;
}

static int read_model(struct folder *f)
{
	int rc;

	f->hash = hash_bytes(f->hash, f->name, strlen(f->name));
	known_facts(f);
	rc = read_if_there(f, TRAINING_FACTS, "model.csv", 0);
	if (rc >= 0)
		rc = read_epochs(f);
	if (rc >= 0)
		rc = read_types(f);
	if (rc >= 0)
		rc = check_tables(f);
	return rc < 0 ? rc : 0;
}

static int no_model(const char *dir, const struct names *models, struct err *err)
{
	struct buf names = { 0 };
	int rc;

	for (uint32_t i = 0; i < models->n && names.n < 200; i++)
		buf_printf(&names, "%s%.60s", i ? ", " : "", models->at[i]);
	if (!models->n)
		rc = err_set(err, ERR_MISSING,
			"%s: no job names a model, so no profile is of any use", dir);
	else
		rc = err_set(err, ERR_MISSING,
			"%s: no folder for any model of the trace (%s); there must be %s/MODEL/placements-TYPE.csv",
			dir, names.at, dir);
	buf_fini(&names);
	return rc;
}

int training_read(const char *dir, const struct cluster *cluster, const struct names *models,
	struct training *out, struct notes *notes, uint64_t *hash, struct err *err)
{
	struct folder f = { .dir = dir, .cluster = cluster, .out = out, .notes = notes, .err = err };
	uint32_t found = 0;
	int rc = 0;

	f.hash = HASH_START;
	if (!file_is_dir(dir))
		return err_set(err, ERR_MISSING, "%s: no such folder of profiles", dir);
	for (f.model = 0; !rc && f.model < models->n; f.model++) {
		f.name = models->at[f.model];
		if (!plain_name(f.name))
			continue;
		f.path = path_join(dir, f.name);
		if (file_is_dir(f.path)) {
			rc = read_model(&f);
			found++;
		}
		free(f.path);
	}
	if (!rc && !found)
		rc = no_model(dir, models, err);
	if (rc)
		return rc;
	training_finish(out);
	*hash = f.hash;
	return 0;
}
