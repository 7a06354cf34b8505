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

enum { MANY_JOBS = 8192 };

/* ---- the header ---- */

static void note_unknown(struct rows *rows, struct slice field)
{
	int meant = columns_nearest(rows->table->columns, rows->where, field);
	char name[64], fix[128];

	snprintf(name, sizeof(name), "%.*s", (int)(field.n < 63 ? field.n : 63), field.at);
	snprintf(fix, sizeof(fix), "did you mean '%s'?",
		meant >= 0 ? rows->table->columns[meant].name : "");
	notes_add(rows->notes, NOTE_DROPPED, rows->csv.line, name, meant >= 0 ? fix : NULL,
		"a column that %s traces do not have; it does not count", rows->importer->name);
}

/* What becomes of columns that the table does not list. */
static void note_others(struct rows *rows)
{
	for (size_t i = 0; i < rows->csv.n; i++) {
		if (rows->column_of[i] >= 0 || !rows->csv.fields[i].n)
			continue;
		if (rows->table->open)
			notes_add(rows->notes, NOTE_DROPPED, rows->csv.line, NULL, NULL,
				"a column that is not used");
		else
			note_unknown(rows, rows->csv.fields[i]);
	}
}

static int map_header(struct rows *rows, struct err *err)
{
	for (size_t i = 0; i < rows->csv.n; i++) {
		struct slice field = rows->csv.fields[i];
		int column = columns_find(rows->table->columns, field);

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

bool rows_meant(const struct rows *rows, int column, struct slice *field)
{
	for (size_t i = 0; i < rows->csv.n; i++) {
		*field = rows->csv.fields[i];
		if (rows->column_of[i] < 0 &&
			columns_nearest(rows->table->columns, rows->where, *field) == column)
			return true;
	}
	return false;
}

static int missing_column(const struct rows *rows, int column, struct err *err)
{
	const char *name = rows->table->columns[column].name;
	struct slice field;

	if (rows_meant(rows, column, &field))
		return err_set(err, ERR_FORMAT,
			"field '%s': not in the header; did you mean it by '%.*s'?", name,
			(int)(field.n < 40 ? field.n : 40), field.at);
	return err_set(err, ERR_FORMAT,
		"field '%s': not in the header, and %s traces need it; add the column or name another format with --format",
		name, rows->importer->name);
}

static int check_required(const struct rows *rows, struct err *err)
{
	for (int i = 0; rows->table->columns[i].name; i++)
		if (rows->table->columns[i].required && rows->where[i] < 0)
			return missing_column(rows, i, err);
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
	note_others(rows);
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

/* ---- what becomes of a row that is not good ---- */

static int refuse(struct rows *rows, struct err *err)
{
	const char *open = rows->field ? "field '" : "", *close = rows->field ? "': " : "";
	const char *field = rows->field ? rows->field : "", *quote = rows->value[0] ? "\"" : "";
	const char *problem = rows->exactly[0] ? rows->exactly : rows->problem;

	err_set(err, ERR_FORMAT, "%s%s%s%s%s%s%s%s; %s", open, field, close, quote, rows->value,
		quote, rows->value[0] ? " " : "", problem,
		rows->fix ? rows->fix : "correct it, or leave such rows out with --lenient");
	if (!rows->line)
		return err_prefix(err, "%s", rows->out->source);
	return err_prefix(err, "%s:%zu", rows->out->source, rows->line);
}

/* Notes count equal texts: what differs from row to row stands in the remedy of the first. */
static void note_bad(struct rows *rows)
{
	const char *usual = rows->fix ? rows->fix : "correct it";
	char fix[256];

	if (rows->exactly[0])
		snprintf(fix, sizeof(fix), "%s; %s", rows->exactly, usual);
	else if (rows->value[0])
		snprintf(fix, sizeof(fix), "here it is \"%s\"; %s", rows->value, usual);
	else
		snprintf(fix, sizeof(fix), "%s", usual);
	notes_add(rows->notes, NOTE_PROBLEM, rows->line, rows->field, fix,
		"%s; the row does not count", rows->problem);
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

void rows_remark(struct rows *rows)
{
	for (const struct remark *r = rows->table->remarks; r && r->text; r++)
		if (rows->table->headless || row_has(rows, r->column))
			notes_add(rows->notes, r->level, rows->csv.line,
				rows->table->columns[r->column].name, NULL, "%s", r->text);
}

void rows_start(struct rows *rows, size_t line, struct job *job)
{
	rows->work = NAN;
	rows->measured_on = NAME_NONE;
	rows->run = (struct past_run){ .start_s = NAN, .type = NAME_NONE };
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
		struct slice id = slice_trim(slice_cut(&list, '|'));

		if (!id.n)
			continue;
		if (rows->ndeps == rows->deps_cap) {
			rows->deps_cap = rows->deps_cap ? rows->deps_cap * 2 : 64;
			rows->deps = mem_resize(rows->deps, rows->deps_cap * sizeof(*rows->deps));
		}
		/* Copied: a quoted field is gone with its row. */
		id.at = trace_text(rows->out, id.at, id.n);
		rows->deps[rows->ndeps++] = (struct row_dep){ rows->out->njobs,
			(uint32_t)rows->line, id, JOB_NONE };
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
 * Makes room for all jobs at once when the first of them tell how many there may be, in large pages:
 * for a million jobs the page faults else take as long as the reading.
 */
static void reserve(struct rows *rows)
{
	struct trace *out = rows->out;
	double left = (double)(rows->csv.end - rows->csv.at);
	double passed = (double)(rows->csv.at - rows->csv.begin);
	double jobs = out->njobs * (1.02 + 1.02 * left / (passed + 1));

	if (jobs <= out->cap || jobs > (double)(JOB_NONE / 2))
		return;
	trace_reserve(out, (uint32_t)jobs);
#ifdef MADV_HUGEPAGE
	const uintptr_t page = 4096;

	madvise((void *)((uintptr_t)out->jobs & ~(page - 1)), out->cap * sizeof(*out->jobs),
		MADV_HUGEPAGE);
#endif
}

static void add_run(struct rows *rows, uint32_t job)
{
	if (isnan(rows->run.start_s))
		return;
	rows->run.job = job;
	trace_add_past(rows->out, rows->run);
}

static void add_job(struct rows *rows, const struct job *job)
{
	struct trace *out = rows->out;

	if (out->njobs == MANY_JOBS)
		reserve(rows);
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
	add_run(rows, out->njobs - 1);
}

/* The job began anew: it arrived when it first did, and its last run says how long it takes. */
static void add_rerun(struct rows *rows, const struct job *job)
{
	uint32_t id = ids_find(&rows->ids, rows->out, rows->label);
	struct job *known = &rows->out->jobs[id];
	double arrival_s = fmin(known->arrival_s, job->arrival_s);

	rows->unsorted |= arrival_s < known->arrival_s;
	*known = *job;
	known->arrival_s = arrival_s;
	rows->out->work[id] = rows->work;
	if (rows->out->measured_on && rows->measured_on != NAME_NONE)
		rows->out->measured_on[id] = (uint8_t)(rows->measured_on + 1);
	add_run(rows, id);
	notes_add(rows->notes, NOTE_ASSUMED, rows->line, NULL, NULL,
		"a further run of a job that was requeued: the last one counts as its work, and earlier ones as lost");
}

int rows_end(struct rows *rows, struct job *job, struct err *err)
{
	if (rows->fate == ROW_GOOD && !job->label)
		row_label(rows, job, (struct slice){ "", 0 });
	rows->number++;
	if (rows->fate == ROW_GOOD && !ids_add(&rows->ids, rows->out, rows->label)) {
		if (rows->table->reruns) {
			add_rerun(rows, job);
			return 0;
		}
		row_bad(rows, -1, rows->label, "is the id of an earlier job too",
			"ids must differ: rename or remove one");
	}
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

/* Joins what one column's text was cut into. */
static void join_spilt(struct rows *rows)
{
	int at = rows->table->spills ? rows->where[rows->table->spills] : -1;
	size_t more = rows->csv.n - rows->width;
	struct slice *fields = rows->csv.fields;

	if (at < 0 || rows->csv.n <= rows->width)
		return;
	fields[at].n = (size_t)(fields[at + (int)more].at + fields[at + (int)more].n - fields[at].at);
	memmove(&fields[at + 1], &fields[at + 1 + (int)more],
		(rows->width - (size_t)at - 1) * sizeof(*fields));
	rows->csv.n = rows->width;
}

static int read_row(struct rows *rows, struct err *err)
{
	struct job job;

	rows_start(rows, rows->csv.line, &job);
	join_spilt(rows);
	check_width(rows);
	if (rows->fate == ROW_GOOD)
		rows->table->row(rows, &job);
	return rows_end(rows, &job, err);
}

/* ---- the end ---- */

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

/* A few rows may all be bad; that many are no accident. */
enum { ALL_BY_ACCIDENT = 10 };

static int no_jobs(struct rows *rows, struct err *err)
{
	const char *none = rows->table->none ? rows->table->none : "";
	char doubt[64] = "";

	if (rows->dropped >= ALL_BY_ACCIDENT && !*none)
		snprintf(doubt, sizeof(doubt), "; is it really %s?", rows->importer->name);
	if (rows->dropped == 1)
		err_set(err, ERR_FORMAT, "no job is left: the only row does not count (%s)%s%s",
			rows->why_dropped, *none ? "; " : "", none);
	else if (rows->dropped)
		err_set(err, ERR_FORMAT, "no job is left: none of the %zu rows counts (%s)%s%s%s",
			rows->dropped, rows->why_dropped, doubt, *none ? "; " : "", none);
	else
		err_set(err, ERR_FORMAT, "no jobs: %s",
			rows->table->headless ? "the file is empty"
					      : "there is a header and nothing below it");
	return err_prefix(err, "%s", rows->out->source);
}

int rows_finish(struct rows *rows, struct err *err)
{
	if (!rows->out->njobs)
		return no_jobs(rows, err);
	if (rows_link(rows, err) < 0)
		return err->code;
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
	if (!rc)
		rows_remark(rows);
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
