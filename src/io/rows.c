/*
 * Rows of a published table into jobs: columns by name, values checked, problems noted.
 */
#include "io/rows.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	MANY_JOBS = 8192,
	AHEAD = MANY_JOBS,
};

#define LATEST_S 4e11   /* the year 14,000: a number beyond is no time */
#define LEAST_WORK 1e-6 /* seconds or steps */

static const char leave_out[] = "correct it, or leave such rows out with --lenient";

/* "job `job` comes after the job with id `id`", to be resolved when all ids are known. */
struct dep {
	uint32_t job;
	uint32_t line;
	struct slice id; /* in the text, or in the trace's */
};

/* ---- columns ---- */

/* Calls for each name of "a|b|c". */
static bool next_name(const char **list, struct slice *name)
{
	if (!*list || !**list)
		return false;
	*name = (struct slice){ *list, strcspn(*list, "|") };
	*list += name->n + ((*list)[name->n] == '|');
	return true;
}

static bool names_it(const struct column *column, struct slice field)
{
	const char *aliases = column->aliases;
	struct slice alias;

	if (slice_is_nocase(field, column->name))
		return true;
	while (next_name(&aliases, &alias))
		if (alias.n == field.n && strncasecmp(alias.at, field.at, field.n) == 0)
			return true;
	return false;
}

static int find_column(const struct table *table, struct slice field)
{
	for (int i = 0; table->columns[i].name; i++)
		if (names_it(&table->columns[i], field))
			return i;
	return -1;
}

/* The nearest of the table's columns that the header does not have, or NULL. */
static const char *meant_column(const struct rows *rows, struct slice field)
{
	const char *free_names[COLUMNS_MAX];
	char word[64];
	size_t n = 0;
	int near;

	for (int i = 0; rows->table->columns[i].name; i++)
		if (rows->where[i] < 0)
			free_names[n++] = rows->table->columns[i].name;
	snprintf(word, sizeof(word), "%.*s", (int)(field.n < 63 ? field.n : 63), field.at);
	near = text_nearest(word, free_names, n);
	return near >= 0 ? free_names[near] : NULL;
}

static void note_unknown(struct rows *rows, struct slice field)
{
	const char *meant = meant_column(rows, field);
	char name[64], fix[128];

	snprintf(name, sizeof(name), "%.*s", (int)(field.n < 63 ? field.n : 63), field.at);
	snprintf(fix, sizeof(fix), "did you mean '%s'?", meant ? meant : "");
	notes_add(rows->notes, NOTE_DROPPED, rows->csv.line, name, meant ? fix : NULL,
		"a column that %s traces do not have; it does not count", rows->importer->name);
}

static int map_header(struct rows *rows, struct err *err)
{
	for (size_t i = 0; i < rows->csv.n; i++) {
		struct slice field = rows->csv.fields[i];
		int column = find_column(rows->table, field);

		rows->column_of[i] = column;
		if (column < 0)
			continue;
		if (rows->where[column] >= 0)
			return err_set(err, ERR_FORMAT,
				"field '%s': two columns of the header mean this; remove one",
				rows->table->columns[column].name);
		rows->where[column] = (int)i;
	}
	return 0;
}

static int check_required(struct rows *rows, struct err *err)
{
	for (int i = 0; rows->table->columns[i].name; i++) {
		const struct column *column = &rows->table->columns[i];

		if (!column->required || rows->where[i] >= 0)
			continue;
		for (size_t f = 0; f < rows->csv.n; f++) {
			struct slice field = rows->csv.fields[f];
			const char *meant;

			meant = rows->column_of[f] < 0 ? meant_column(rows, field) : NULL;
			if (meant == column->name)
				return err_set(err, ERR_FORMAT,
					"field '%s': not in the header; did you mean it by '%.*s'?",
					column->name, (int)(field.n < 40 ? field.n : 40), field.at);
		}
		return err_set(err, ERR_FORMAT,
			"field '%s': not in the header, and %s traces need it; add the column or name another format with --format",
			column->name, rows->importer->name);
	}
	return 0;
}

static int read_header(struct rows *rows, struct err *err)
{
	int rc = csv_next(&rows->csv, err);

	if (rc == 0)
		return err_set(err, ERR_FORMAT, "empty; a %s trace begins with a header row",
			rows->importer->name);
	if (rc < 0)
		return rc;
	rows->width = rows->csv.n;
	rc = map_header(rows, err);
	if (!rc)
		rc = check_required(rows, err);
	if (rc)
		return rc;
	for (size_t i = 0; !rows->table->open && i < rows->csv.n; i++)
		if (rows->column_of[i] < 0 && rows->csv.fields[i].n)
			note_unknown(rows, rows->csv.fields[i]);
	return 0;
}

static void columns_in_order(struct rows *rows)
{
	int i;

	for (i = 0; rows->table->columns[i].name; i++) {
		rows->where[i] = i;
		rows->column_of[i] = i;
	}
	rows->width = (size_t)i;
}

/* ---- what is wrong with a row ---- */

static const char *field_name(const struct rows *rows, int column)
{
	return column < 0 ? NULL : rows->table->columns[column].name;
}

void row_bad(struct rows *rows, int column, struct slice value, const char *problem, const char *fix)
{
	size_t n = value.n < sizeof(rows->value) - 1 ? value.n : sizeof(rows->value) - 1;

	if (rows->fate == ROW_BAD)
		return;
	rows->fate = ROW_BAD;
	rows->field = field_name(rows, column);
	rows->problem = problem;
	rows->fix = fix ? fix : leave_out;
	for (size_t i = 0; i < n; i++)
		rows->value[i] = (unsigned char)value.at[i] < ' ' ? '?' : value.at[i];
	rows->value[n] = '\0';
}

void row_drop(struct rows *rows, int column, const char *why, const char *fix)
{
	if (rows->fate != ROW_GOOD)
		return;
	rows->fate = ROW_DROPPED;
	rows->field = field_name(rows, column);
	rows->problem = why;
	rows->fix = fix;
}

void row_note(struct rows *rows, enum note_level level, int column, const char *text, const char *fix)
{
	notes_add(rows->notes, level, rows->line, field_name(rows, column), fix, "%s", text);
}

static int refuse(struct rows *rows, struct err *err)
{
	const char *open = rows->field ? "field '" : "", *close = rows->field ? "': " : "";
	const char *field = rows->field ? rows->field : "", *quote = rows->value[0] ? "\"" : "";
	const char *problem = rows->exactly[0] ? rows->exactly : rows->problem;

	err_set(err, ERR_FORMAT, "%s%s%s%s%s%s%s%s; %s", open, field, close, quote, rows->value,
		quote, rows->value[0] ? " " : "", problem, rows->fix);
	if (!rows->line)
		return err_prefix(err, "%s", rows->out->source);
	return err_prefix(err, "%s:%zu", rows->out->source, rows->line);
}

/* Notes count equal texts: what differs from row to row stands in the remedy of the first. */
static void note_bad(struct rows *rows)
{
	char fix[256];

	if (rows->exactly[0])
		snprintf(fix, sizeof(fix), "%s; %s", rows->exactly, rows->fix);
	else if (rows->value[0])
		snprintf(fix, sizeof(fix), "here it is \"%s\"; %s", rows->value, rows->fix);
	else
		snprintf(fix, sizeof(fix), "%s", rows->fix);
	notes_add(rows->notes, NOTE_PROBLEM, rows->line, rows->field, fix,
		"%s; the row is left out", rows->problem);
}

static void leave_row(struct rows *rows)
{
	if (!rows->dropped++)
		snprintf(rows->why_dropped, sizeof(rows->why_dropped), "line %zu: %s%s%s",
			rows->line, rows->field ? rows->field : "", rows->field ? ": " : "",
			rows->exactly[0] ? rows->exactly : rows->problem);
	if (rows->fate == ROW_BAD)
		note_bad(rows);
	else
		notes_add(rows->notes, NOTE_DROPPED, rows->line, rows->field, rows->fix, "%s",
			rows->problem);
}

/* ---- fields ---- */

double row_number(struct rows *rows, int column, double missing, double min, double max)
{
	struct slice text = row_text(rows, column);
	double x;

	if (!text.n)
		return missing;
	if (!slice_double(text, &x)) {
		row_bad(rows, column, text, "is not a finite number", NULL);
		return missing;
	}
	if (x < min)
		row_bad(rows, column, text, min == 0 ? "is negative" : "is too small", NULL);
	else if (x > max)
		row_bad(rows, column, text, "is too large", NULL);
	return x;
}

int32_t row_int(struct rows *rows, int column, int32_t missing, int32_t min, int32_t max)
{
	double x = row_number(rows, column, missing, min, max);

	if (rows->fate == ROW_BAD)
		return missing;
	if (x != floor(x)) {
		row_bad(rows, column, row_text(rows, column), "is not a whole number", NULL);
		return missing;
	}
	return (int32_t)x;
}

double row_time(struct rows *rows, int column)
{
	struct slice text = row_text(rows, column);
	double x;

	if ((slice_double(text, &x) || slice_timestamp(text, &x)) && fabs(x) < LATEST_S)
		return x;
	row_bad(rows, column, text,
		text.n ? "is not a time (seconds, or a date like 2017-10-09 07:01:55)"
		       : "no time is given",
		NULL);
	return 0;
}

double row_duration(struct rows *rows, int column)
{
	struct slice text = row_text(rows, column);
	double x = row_number(rows, column, NAN, 0, 1e12);

	if (isnan(x))
		row_bad(rows, column, text, "is missing: how long the job runs is not known", NULL);
	else if (x < LEAST_WORK)
		row_drop(rows, column, "is 0: a job without work", NULL);
	return x;
}

int32_t row_gpus_of(struct rows *rows, int column, double gpus)
{
	if (rows->fate == ROW_BAD)
		return 1;
	if (gpus == 0) {
		row_drop(rows, column, "is 0: a job without GPUs", NULL);
		return 1;
	}
	if (gpus < 0 || gpus > 1e6 || gpus != floor(gpus)) {
		row_bad(rows, column, column < 0 ? (struct slice){ "", 0 } : row_text(rows, column),
			"is not a number of GPUs", NULL);
		return 1;
	}
	return (int32_t)gpus;
}

int32_t row_gpus(struct rows *rows, int column)
{
	return row_gpus_of(rows, column, row_number(rows, column, 0, 0, 1e9));
}

uint32_t row_name(struct names *names, struct slice text)
{
	return text.n ? names_add(names, text.at, text.n) : NAME_NONE;
}

void row_label(struct rows *rows, struct job *job, struct slice id)
{
	char number[24];

	id = slice_trim(id); /* a list of ids has blanks around them */
	if (!id.n) {
		snprintf(number, sizeof(number), "%zu", rows->number);
		id = slice_of(number);
	}
	if (memchr(id.at, '|', id.n))
		row_bad(rows, -1, id, "is no id: | separates ids", "rename it");
	job->label = trace_text(rows->out, id.at, id.n);
	rows->label = (struct slice){ job->label, id.n };
}

uint32_t row_type(struct rows *rows, int column, struct slice name)
{
	uint32_t type;

	name = slice_trim(name);
	if (!name.n || slice_is_nocase(name, "any"))
		return 0;
	if (memchr(name.at, '|', name.n)) {
		row_bad(rows, column, name, "is no device type: | separates types", NULL);
		return 0;
	}
	type = row_name(&rows->out->types, name);
	if (type >= TYPES_MAX) {
		row_bad(rows, column, name, "is one device type too many (32 are possible)", NULL);
		return 0;
	}
	return UINT32_C(1) << type;
}

/* Takes the first item off "a|b|c", without blanks around it. */
static struct slice take_item(struct slice *list)
{
	const char *bar = memchr(list->at, '|', list->n);
	struct slice item = { list->at, bar ? (size_t)(bar - list->at) : list->n };
	size_t passed = item.n + (bar != NULL);

	*list = (struct slice){ list->at + passed, list->n - passed };
	return slice_trim(item);
}

uint32_t row_types(struct rows *rows, int column, struct slice list)
{
	uint32_t types = 0;

	while (list.n)
		types |= row_type(rows, column, take_item(&list));
	return types;
}

void row_measured_on(struct rows *rows, int column, struct slice name)
{
	uint32_t bit = row_type(rows, column, name);

	rows->measured_on = bit ? (uint32_t)__builtin_ctz(bit) : NAME_NONE;
}

/* ---- rows ---- */

void rows_init(struct rows *rows, const struct importer *importer,
	const struct import_options *options, struct trace *out, struct notes *notes)
{
	*rows = (struct rows){ .importer = importer, .table = importer->table };
	rows->options = options;
	rows->out = out;
	rows->notes = notes;
	rows->last_arrival_s = -INFINITY;
	job_init(&rows->fresh);
	for (int i = 0; i < COLUMNS_MAX; i++)
		rows->where[i] = -1;
}

void rows_fini(struct rows *rows)
{
	csv_fini(&rows->csv);
	ids_fini(&rows->ids);
	free(rows->deps);
	free(rows->lines);
	*rows = (struct rows){ 0 };
}

void rows_start(struct rows *rows, size_t line, struct job *job)
{
	rows->work = NAN;
	rows->measured_on = NAME_NONE;
	rows->after = (struct slice){ "", 0 };
	rows->fate = ROW_GOOD;
	rows->line = line;
	rows->value[0] = rows->exactly[0] = '\0';
	*job = rows->fresh;
}

static void add_deps(struct rows *rows)
{
	struct slice list = rows->after;

	while (list.n) {
		struct slice id = take_item(&list);

		if (!id.n)
			continue;
		if (rows->ndeps == rows->deps_cap) {
			rows->deps_cap = rows->deps_cap ? rows->deps_cap * 2 : 64;
			rows->deps = mem_resize(rows->deps, rows->deps_cap * sizeof(*rows->deps));
		}
		/* Copied: a quoted field is gone with its row. */
		id.at = trace_text(rows->out, id.at, id.n);
		rows->deps[rows->ndeps++] = (struct dep){ rows->out->njobs, (uint32_t)rows->line, id };
	}
}

static void add_line(struct rows *rows)
{
	if (!rows->notes)
		return;
	if (rows->out->njobs == rows->lines_cap) {
		rows->lines_cap = rows->lines_cap ? rows->lines_cap * 2 : 64;
		rows->lines = mem_resize(rows->lines, rows->lines_cap * sizeof(*rows->lines));
	}
	rows->lines[rows->out->njobs] = (uint32_t)rows->line;
}

/*
 * Makes room for all jobs at once when the first of them tell how many there may be, and for some
 * jobs' memory ahead: for a million jobs the page faults else take as long as the reading.
 */
static void reserve(struct rows *rows)
{
	struct trace *out = rows->out;
	double left = (double)(rows->csv.end - rows->csv.at);
	double passed = (double)(rows->csv.at - rows->csv.begin);
	double jobs = out->njobs * (1.02 + 1.02 * left / (passed + 1));

	if (out->njobs != MANY_JOBS || jobs <= out->cap || jobs > (double)(JOB_NONE / 2))
		return;
	trace_reserve(out, (uint32_t)jobs);
}

static void touch_ahead(const struct trace *out)
{
#ifdef MADV_POPULATE_WRITE
	const uintptr_t page = 4096;
	uintptr_t from = (uintptr_t)(out->jobs + out->njobs), to = from + AHEAD * sizeof(struct job);

	if (out->njobs + AHEAD <= out->cap)
		madvise((void *)(from & ~(page - 1)), (to & ~(page - 1)) - (from & ~(page - 1)),
			MADV_POPULATE_WRITE);
#else
	(void)out;
#endif
}

static void add_job(struct rows *rows, const struct job *job)
{
	struct trace *out = rows->out;

	if (out->njobs % MANY_JOBS == 0 && out->njobs) {
		reserve(rows);
		touch_ahead(out);
	}
	if (job->arrival_s < rows->last_arrival_s) {
		rows->unsorted = true;
		notes_add(rows->notes, rows->importer->dated ? NOTE_ASSUMED : NOTE_WARNING,
			rows->line, NULL, NULL,
			"arrives before the row above it; jobs are put in order of arrival");
	}
	rows->last_arrival_s = job->arrival_s;
	if (rows->after.n)
		add_deps(rows);
	add_line(rows);
	if (out->njobs == out->cap)
		trace_add(out);
	else
		out->njobs++;
	out->jobs[out->njobs - 1] = *job;
	out->work[out->njobs - 1] = rows->work;
	if (rows->measured_on != NAME_NONE)
		trace_measured(out, rows->measured_on);
}

int rows_end(struct rows *rows, struct job *job, struct err *err)
{
	if (rows->fate == ROW_GOOD && !job->label)
		row_label(rows, job, (struct slice){ "", 0 });
	rows->number++;
	if (rows->fate == ROW_GOOD && !ids_add(&rows->ids, rows->out, rows->label))
		row_bad(rows, -1, rows->label, "is the id of an earlier job too",
			"ids must differ: rename or remove one");
	if (rows->fate == ROW_GOOD)
		add_job(rows, job);
	else if (rows->fate == ROW_BAD && !rows->options->lenient)
		return refuse(rows, err);
	else
		leave_row(rows);
	return 0;
}

static void check_width(struct rows *rows)
{
	const char *fix = NULL;

	if (rows->csv.n == rows->width)
		return;
	if (rows->table->headless && rows->table->misfit)
		fix = rows->table->misfit(rows->csv.n);
	row_bad(rows, -1, (struct slice){ "", 0 }, "another number of fields than the format has", fix);
	snprintf(rows->exactly, sizeof(rows->exactly), "%zu columns where %s has %zu", rows->csv.n,
		rows->table->headless ? rows->importer->name : "the header", rows->width);
}

static int read_row(struct rows *rows, struct err *err)
{
	struct job job;

	rows_start(rows, rows->csv.line, &job);
	check_width(rows);
	if (rows->fate == ROW_GOOD)
		rows->table->row(rows, &job);
	return rows_end(rows, &job, err);
}

/* ---- the end ---- */

static int resolve(struct rows *rows, const struct dep *dep, struct err *err)
{
	uint32_t other = ids_find(&rows->ids, rows->out, dep->id);

	if (other != JOB_NONE && other != dep->job) {
		trace_add_dep(rows->out, dep->job, other);
		return 0;
	}
	if (!rows->options->lenient) {
		err_set(err, ERR_FORMAT, "field 'after': \"%.60s\" is %s; correct or remove it",
			dep->id.at, other == JOB_NONE ? "not the id of a job" : "the job itself");
		return err_prefix(err, "%s:%u", rows->out->source, dep->line);
	}
	notes_add(rows->notes, NOTE_PROBLEM, dep->line, "after", "correct or remove it",
		"names a job that is not here, or itself; the dependency does not count");
	return 0;
}

struct place {
	double arrival_s;
	uint32_t position;
};

static int by_arrival(const void *a_, const void *b_)
{
	const struct place *a = a_, *b = b_;

	if (a->arrival_s != b->arrival_s)
		return a->arrival_s < b->arrival_s ? -1 : 1;
	return a->position < b->position ? -1 : a->position > b->position;
}

/* Lines by position become lines by id: trace_finish() will put jobs in this very order. */
static void sort_lines(struct rows *rows)
{
	const struct trace *out = rows->out;
	uint32_t *sorted = mem_alloc(mem_array_size(out->njobs, sizeof(*sorted)));
	struct place *order = mem_alloc(mem_array_size(out->njobs, sizeof(*order)));

	for (uint32_t i = 0; i < out->njobs; i++)
		order[i] = (struct place){ out->jobs[i].arrival_s, i };
	qsort(order, out->njobs, sizeof(*order), by_arrival);
	for (uint32_t i = 0; i < out->njobs; i++)
		sorted[i] = rows->lines[order[i].position];
	free(order);
	free(rows->lines);
	rows->lines = sorted;
}

static void give_lines(struct rows *rows)
{
	if (!rows->notes)
		return;
	if (rows->unsorted)
		sort_lines(rows);
	free(rows->notes->lines);
	rows->notes->lines = rows->lines;
	rows->notes->nlines = rows->out->njobs;
	rows->lines = NULL;
}

int rows_finish(struct rows *rows, struct err *err)
{
	if (!rows->out->njobs && rows->dropped) {
		err_set(err, ERR_FORMAT,
			"no job is left: all %zu rows were left out (%s); is it really %s?",
			rows->dropped, rows->why_dropped, rows->importer->name);
		return err_prefix(err, "%s", rows->out->source);
	}
	if (!rows->out->njobs) {
		err_set(err, ERR_FORMAT, "no jobs: %s",
			rows->table->headless ? "the file is empty"
					      : "there is a header and nothing below it");
		return err_prefix(err, "%s", rows->out->source);
	}
	for (size_t i = 0; i < rows->ndeps; i++) {
		int rc = resolve(rows, &rows->deps[i], err);

		if (rc)
			return rc;
	}
	give_lines(rows);
	return 0;
}

static int read_all(struct rows *rows, struct err *err)
{
	int rc = 0;

	if (rows->table->headless)
		columns_in_order(rows);
	else
		rc = read_header(rows, err);
	if (!rc && rows->table->begin)
		rc = rows->table->begin(rows, err);
	if (rc)
		return err_prefix(err, "%s:%zu", rows->out->source,
			rows->csv.line ? rows->csv.line : 1);

	for (;;) {
		rc = csv_next(&rows->csv, err);
		if (rc < 0)
			return err_prefix(err, "%s:%zu", rows->out->source, rows->csv.line);
		if (rc == 0)
			return rows_finish(rows, err);
		rc = read_row(rows, err);
		if (rc)
			return rc;
	}
}

int rows_read(const struct importer *importer, struct slice text,
	const struct import_options *options, struct trace *out, struct notes *notes, struct err *err)
{
	struct rows rows;
	int rc;

	rows_init(&rows, importer, options, out, notes);
	csv_init(&rows.csv, text, importer->table->style);
	rc = read_all(&rows, err);
	rows_fini(&rows);
	return rc;
}

/* ---- recognising ---- */

static bool row_includes(const struct csv *csv, struct slice name)
{
	for (size_t i = 0; i < csv->n; i++)
		if (csv->fields[i].n == name.n && strncasecmp(csv->fields[i].at, name.at, name.n) == 0)
			return true;
	return false;
}

int header_match(struct slice head, const char *names)
{
	struct slice name;
	struct csv csv;
	int n = 0;

	if (!csv_peek(&csv, head, (struct csv_style){ .separator = ',', .quotes = true }))
		n = -1;
	while (n >= 0 && next_name(&names, &name))
		n = row_includes(&csv, name) ? n + 1 : -1;
	csv_fini(&csv);
	return n;
}

bool header_has(struct slice head, const char *name)
{
	return header_match(head, name) == 1;
}
