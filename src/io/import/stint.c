/*
 * Stint's own trace: CSV with a header, a column per property of a job, all
 * but the arrival and the work optional (doc/formats.md).
 *
 * One table drives reading and writing.  The reader is the one whose speed is
 * felt (a million jobs): a single pass over the fields that are there, no
 * allocation but for the texts that are kept.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "io/rows.h"

enum kind {
	LABEL,
	NAME,
	TENANT,
	MODEL,
	TYPES,
	MEASURED_ON,
	CLASS,
	AFTER,
	INT, /* int32_t at `offset` */
	DOUBLE,
	SECONDS, /* double */
	COST,    /* float, seconds */
	BYTES,   /* int64_t */
	WORK,    /* one of the columns that together say how much work it is */
};

struct field {
	enum kind kind;
	size_t offset;
	double min, max, preset; /* of numbers */
};

enum {
	C_ID,
	C_NAME,
	C_TENANT,
	C_MODEL,
	C_GPUS,
	C_MIN_GPUS,
	C_MAX_GPUS,
	C_TYPES,
	C_ARRIVAL,
	C_DURATION,
	C_STEPS,
	C_RATE,
	C_EST_S,
	C_EST_STEPS,
	C_WEIGHT,
	C_PRIORITY,
	C_CLASS,
	C_DEADLINE,
	C_CPUS,
	C_MEM,
	C_BATCH,
	C_EPOCHS,
	C_AFTER,
	C_START_COST,
	C_RESUME_COST,
	C_RESIZE_COST,
	C_CHECKPOINT,
	C_MEASURED_ON,
	NCOLUMNS
};

static const struct column columns[] = {
	[C_ID] = { .name = "id", .aliases = "job_id|job" },
	[C_NAME] = { .name = "name", .aliases = "job_name|jobname" },
	[C_TENANT] = { .name = "tenant", .aliases = "user|account" },
	[C_MODEL] = { .name = "model", .aliases = "model_name" },
	[C_GPUS] = { .name = "gpus", .aliases = "num_gpus|num_gpu" },
	[C_MIN_GPUS] = { .name = "min_gpus" },
	[C_MAX_GPUS] = { .name = "max_gpus" },
	[C_TYPES] = { .name = "types", .aliases = "type|gpu_type" },
	[C_ARRIVAL] = { .name = "arrival_s", .aliases = "arrival|submit_s|submit", .required = true },
	[C_DURATION] = { .name = "duration_s", .aliases = "duration|run_s" },
	[C_STEPS] = { .name = "steps" },
	[C_RATE] = { .name = "rate", .aliases = "steps_per_s" },
	[C_EST_S] = { .name = "est_s" },
	[C_EST_STEPS] = { .name = "est_steps" },
	[C_WEIGHT] = { .name = "weight" },
	[C_PRIORITY] = { .name = "priority" },
	[C_CLASS] = { .name = "class" },
	[C_DEADLINE] = { .name = "deadline_s", .aliases = "deadline" },
	[C_CPUS] = { .name = "cpus" },
	[C_MEM] = { .name = "mem", .aliases = "mem_bytes|memory" },
	[C_BATCH] = { .name = "batch", .aliases = "batch_size" },
	[C_EPOCHS] = { .name = "epochs" },
	[C_AFTER] = { .name = "after", .aliases = "dependencies|depends" },
	[C_START_COST] = { .name = "start_cost_s" },
	[C_RESUME_COST] = { .name = "resume_cost_s" },
	[C_RESIZE_COST] = { .name = "resize_cost_s" },
	[C_CHECKPOINT] = { .name = "checkpoint_every_s" },
	[C_MEASURED_ON] = { .name = "measured_on" },
	{ 0 },
};

#define AT(member) offsetof(struct job, member)

#define TINY 1e-30 /* "more than 0" */

static const struct field fields[NCOLUMNS] = {
	[C_ID] = { LABEL, 0, 0, 0, 0 },
	[C_NAME] = { NAME, 0, 0, 0, 0 },
	[C_TENANT] = { TENANT, 0, 0, 0, 0 },
	[C_MODEL] = { MODEL, 0, 0, 0, 0 },
	[C_GPUS] = { INT, AT(gpus), 0, 1e6, 1 },
	[C_MIN_GPUS] = { INT, AT(min_gpus), 1, 1e6, 0 },
	[C_MAX_GPUS] = { INT, AT(max_gpus), 1, 1e6, 0 },
	[C_TYPES] = { TYPES, 0, 0, 0, 0 },
	[C_ARRIVAL] = { SECONDS, AT(arrival_s), 0, 1e12, NAN },
	[C_DURATION] = { WORK, 0, TINY, 1e12, 0 },
	[C_STEPS] = { WORK, 0, TINY, 1e18, 0 },
	[C_RATE] = { WORK, 0, TINY, 1e60, 0 },
	[C_EST_S] = { WORK, 0, TINY, 1e12, 0 },
	[C_EST_STEPS] = { WORK, 0, TINY, 1e80, 0 },
	[C_WEIGHT] = { DOUBLE, AT(weight), TINY, 1e12, 1 },
	[C_PRIORITY] = { INT, AT(priority), INT32_MIN, INT32_MAX, 0 },
	[C_CLASS] = { CLASS, 0, 0, 0, 0 },
	[C_DEADLINE] = { SECONDS, AT(deadline_s), 0, 1e30, INFINITY },
	[C_CPUS] = { DOUBLE, AT(cpus), 0, 1e15, 0 },
	[C_MEM] = { BYTES, AT(mem_bytes), 0, 0, 0 },
	[C_BATCH] = { INT, AT(batch), 0, INT32_MAX, 0 },
	[C_EPOCHS] = { DOUBLE, AT(epochs), 0, 1e12, 0 },
	[C_AFTER] = { AFTER, 0, 0, 0, 0 },
	[C_START_COST] = { COST, AT(start_cost_s), 0, 1e9, 0 },
	[C_RESUME_COST] = { COST, AT(resume_cost_s), 0, 1e9, 0 },
	[C_RESIZE_COST] = { COST, AT(resize_cost_s), 0, 1e9, 0 },
	[C_CHECKPOINT] = { COST, AT(checkpoint_every_s), 0, 1e9, 0 },
	[C_MEASURED_ON] = { MEASURED_ON, 0, 0, 0, 0 },
};

static const char *const class_names[] = {
	[JOB_GUARANTEED] = "guaranteed",
	[JOB_OPPORTUNISTIC] = "opportunistic",
};

/* ---- reading ---- */

/* What the columns of kind WORK said; NAN where nothing. */
struct work {
	double duration_s, steps, rate, est_s, est_steps;
	int unknown; /* the column that says "?": somebody else will have to tell; -1: none */
};

static double ranged(struct rows *rows, int column, struct slice text, double x)
{
	const struct field *field = &fields[column];

	if (x >= field->min && x <= field->max)
		return x;
	if (x <= 0)
		row_bad(rows, column, text, x < 0 ? "is negative" : "is 0", NULL);
	else
		row_bad(rows, column, text, x < field->min ? "is too small" : "is too large", NULL);
	return x;
}

static double read_double(struct rows *rows, int column, struct slice text)
{
	double x;

	if (slice_double(text, &x))
		return ranged(rows, column, text, x);
	row_bad(rows, column, text, not_a_number(text), NULL);
	return 0;
}

/* A unit may follow ("1.5h"). */
static double read_seconds(struct rows *rows, int column, struct slice text)
{
	double x;

	if (slice_double(text, &x) || slice_seconds(text, &x))
		return ranged(rows, column, text, x);
	row_bad(rows, column, text, "is not a time", "write seconds, or a number with s, m, h or d");
	return 0;
}

static int32_t read_int(struct rows *rows, int column, struct slice text)
{
	double x;

	if (text.n == 1 && *text.at > '0' && *text.at <= '9')
		return *text.at - '0'; /* nearly always */
	x = read_double(rows, column, text);
	if (rows->fate == ROW_BAD)
		return 0;
	if (x != floor(x))
		row_bad(rows, column, text, "is not a whole number", NULL);
	return (int32_t)x;
}

static int64_t read_bytes(struct rows *rows, int column, struct slice text)
{
	int64_t x = 0;

	if (!slice_bytes(text, &x))
		row_bad(rows, column, text, "is not a size",
			"write bytes, or a number with K, M, G or T");
	else if (x < 0)
		row_bad(rows, column, text, "is negative", NULL);
	return x;
}

static uint32_t read_class(struct rows *rows, struct slice text)
{
	for (uint32_t i = 0; i < sizeof(class_names) / sizeof(class_names[0]); i++)
		if (slice_is_nocase(text, class_names[i]))
			return i;
	row_bad(rows, C_CLASS, text, "is not a class", "write guaranteed or opportunistic");
	return 0;
}

static void read_work(struct rows *rows, int column, struct slice text, struct work *work)
{
	if ((column == C_DURATION || column == C_STEPS) && slice_is(text, "?")) {
		work->unknown = column;
		return;
	}
	switch (column) {
	case C_DURATION:
		work->duration_s = read_seconds(rows, column, text);
		break;
	case C_STEPS:
		work->steps = read_double(rows, column, text);
		break;
	case C_RATE:
		work->rate = read_double(rows, column, text);
		break;
	case C_EST_S:
		work->est_s = read_seconds(rows, column, text);
		break;
	case C_EST_STEPS:
		work->est_steps = read_double(rows, column, text);
		break;
	}
}

static void read_field(struct rows *rows, int column, struct slice text, struct job *job,
	struct work *work)
{
	void *to = (char *)job + fields[column].offset;

	switch (fields[column].kind) {
	case LABEL:
		row_label(rows, job, text);
		break;
	case NAME:
		job->name = trace_text(rows->out, text.at, text.n);
		break;
	case TENANT:
		job->tenant = row_name(&rows->out->tenants, text);
		break;
	case MODEL:
		job->model = row_name(&rows->out->models, text);
		break;
	case TYPES:
		job->types = row_types(rows, column, text);
		break;
	case MEASURED_ON:
		row_measured_on(rows, column, text);
		break;
	case CLASS:
		job->class_ = read_class(rows, text);
		break;
	case AFTER:
		rows->after = text;
		break;
	case INT:
		*(int32_t *)to = read_int(rows, column, text);
		break;
	case DOUBLE:
		*(double *)to = read_double(rows, column, text);
		break;
	case SECONDS:
		*(double *)to = read_seconds(rows, column, text);
		break;
	case COST:
		*(float *)to = (float)read_seconds(rows, column, text);
		break;
	case BYTES:
		*(int64_t *)to = read_bytes(rows, column, text);
		break;
	case WORK:
		read_work(rows, column, text, work);
		break;
	}
}

/* Work in steps if any are given; the run time as asked then tells the speed. */
static void set_work(struct rows *rows, struct job *job, const struct work *work)
{
	job->by_steps = !isnan(work->steps) || work->unknown == C_STEPS;
	if (job->by_steps && !isnan(work->rate))
		job->nominal_rate = work->rate;
	else if (job->by_steps && !isnan(work->duration_s))
		job->nominal_rate = work->steps / work->duration_s;
	else if (!isnan(work->rate))
		row_bad(rows, C_RATE, row_text(rows, C_RATE), "is a speed without steps",
			"give the column steps");
	rows->work = job->by_steps ? work->steps : work->duration_s;

	if (!isnan(work->est_steps))
		job->work_est = work->est_steps;
	else if (!isnan(work->est_s))
		job->work_est = work->est_s * job->nominal_rate;

	if (!isnan(rows->work))
		return;
	if (work->unknown < 0)
		row_bad(rows, row_has(rows, C_DURATION) ? C_DURATION : C_STEPS,
			(struct slice){ "", 0 }, "is missing: how long the job runs is not known",
			"give duration_s or steps, or ? if a profile will tell");
}

static void set_gpus(struct rows *rows, struct job *job)
{
	if (!row_text(rows, C_GPUS).n && job->max_gpus)
		job->gpus = job->max_gpus;
	else if (!row_text(rows, C_GPUS).n && job->min_gpus)
		job->gpus = job->min_gpus;
	if (job->gpus == 0)
		row_drop(rows, C_GPUS, "is 0: a job without GPUs", NULL);
	if (job->min_gpus > job->gpus)
		row_bad(rows, C_MIN_GPUS, row_text(rows, C_MIN_GPUS), "is more than gpus", NULL);
	if (job->max_gpus && job->max_gpus < job->gpus)
		row_bad(rows, C_MAX_GPUS, row_text(rows, C_MAX_GPUS), "is less than gpus", NULL);
}

static void read_row(struct rows *rows, struct job *job)
{
	struct work work = { NAN, NAN, NAN, NAN, NAN, -1 };

	for (size_t i = 0; i < rows->csv.n; i++) {
		struct slice text = rows->csv.fields[i];

		if (rows->column_of[i] >= 0 && text.n)
			read_field(rows, rows->column_of[i], text, job, &work);
	}
	if (!row_text(rows, C_ARRIVAL).n)
		row_bad(rows, C_ARRIVAL, (struct slice){ "", 0 }, "is missing", NULL);
	set_gpus(rows, job);
	set_work(rows, job, &work);
}

static int begin(struct rows *rows, struct err *err)
{
	bool worked = row_has(rows, C_DURATION) || row_has(rows, C_STEPS);
	struct slice field;

	if (!worked && rows_meant(rows, C_DURATION, &field))
		return err_set(err, ERR_FORMAT,
			"field 'duration_s': not in the header; did you mean it by '%.*s'?",
			(int)(field.n < 40 ? field.n : 40), field.at);
	if (!worked)
		return err_set(err, ERR_FORMAT,
			"field 'duration_s': neither it nor 'steps' is in the header; add one of them");
	if (!row_has(rows, C_GPUS) && !row_has(rows, C_MAX_GPUS) && !row_has(rows, C_MIN_GPUS))
		notes_add(rows->notes, NOTE_ASSUMED, 1, "gpus", NULL, "not given: 1 GPU for every job");
	return 0;
}

static const struct table table = {
	.style = CSV_COMMAS,
	.columns = columns,
	.row = read_row,
	.begin = begin,
};

/* A header that is nearly right is ours too: reading it says what is wrong. */
static int recognise(struct slice head, const char *path)
{
	bool arrival = header_has(head, "arrival_s"), work;
	int known = 0;

	(void)path;
	work = header_has(head, "duration_s") || header_has(head, "steps");
	if (arrival && work)
		return 100;
	for (int i = 0; i < NCOLUMNS; i++)
		known += header_has(head, columns[i].name);
	return arrival ? 50 : known >= 2 ? 10 : known ? 3 : 0;
}

const struct importer importer_stint = {
	.name = "stint",
	.summary = "Stint's own: a header with arrival_s, duration_s or steps, gpus, tenant, …",
	.origin = "doc/formats.md",
	.recognise = recognise,
	.table = &table,
};

/* ---- writing ---- */

static double number_at(const struct job *job, const struct field *field)
{
	const void *at = (const char *)job + field->offset;

	switch (field->kind) {
	case INT:
		return *(const int32_t *)at;
	case COST:
		return *(const float *)at;
	case BYTES:
		return (double)*(const int64_t *)at;
	default:
		return *(const double *)at;
	}
}

/* Shortest decimal that reads back as the same float. */
static void write_float(struct buf *out, float x)
{
	char text[32];

	for (int digits = 6; digits <= 9; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, (double)x);
		if ((float)strtod(text, NULL) == x)
			break;
	}
	buf_str(out, text);
}

static void write_number(struct buf *out, const struct job *job, const struct field *field)
{
	const void *at = (const char *)job + field->offset;

	if (field->kind == COST)
		write_float(out, *(const float *)at);
	else if (field->kind == BYTES)
		buf_printf(out, "%lld", (long long)*(const int64_t *)at);
	else
		buf_double(out, number_at(job, field));
}

/* In the order of the alphabet: which type was named first is an accident. */
static void write_types(struct buf *out, const struct trace *trace, uint32_t types)
{
	struct buf list = { 0 };

	while (types) {
		uint32_t least = (uint32_t)__builtin_ctz(types);

		for (uint32_t i = least + 1; i < trace->types.n && i < TYPES_MAX; i++)
			if ((types >> i & 1) && strcmp(trace->types.at[i], trace->types.at[least]) < 0)
				least = i;
		buf_printf(&list, "%s%s", list.n ? "|" : "", trace->types.at[least]);
		types &= ~(UINT32_C(1) << least);
	}
	csv_write(out, list.at);
	buf_fini(&list);
}

static void write_after(struct buf *out, const struct trace *trace, const struct job *job)
{
	struct buf list = { 0 };

	for (uint32_t i = 0; i < job->ndeps; i++) {
		uint32_t other = trace->deps[job->first_dep + i];

		buf_printf(&list, "%s%s", i ? "|" : "", trace->jobs[other].label);
	}
	csv_write(out, list.at);
	buf_fini(&list);
}

/* The number in a column of kind WORK; 0 if the job leaves it empty, NAN for "?". */
static double work_at(const struct trace *trace, uint32_t i, int column)
{
	const struct job *job = &trace->jobs[i];
	bool known = job->work_est == trace->work[i] || isnan(job->work_est);

	switch (column) {
	case C_DURATION:
		return job->by_steps ? 0 : trace->work[i];
	case C_STEPS:
		return job->by_steps ? trace->work[i] : 0;
	case C_RATE:
		return job->by_steps && job->nominal_rate != 1 ? job->nominal_rate : 0;
	case C_EST_S:
		return job->by_steps || known ? 0 : job->work_est;
	default:
		return !job->by_steps || known ? 0 : job->work_est;
	}
}

/* Whether the column says anything of the job that its absence would not. */
static bool says(const struct trace *trace, uint32_t i, int column)
{
	const struct job *job = &trace->jobs[i];
	double x;

	switch (fields[column].kind) {
	case LABEL:
		return true;
	case NAME:
		return job->name && *job->name;
	case TENANT:
		return job->tenant != NAME_NONE;
	case MODEL:
		return job->model != NAME_NONE;
	case TYPES:
		return job->types != 0;
	case MEASURED_ON:
		return trace->measured_on && trace->measured_on[i];
	case CLASS:
		return job->class_ != JOB_GUARANTEED;
	case AFTER:
		return job->ndeps > 0;
	case WORK:
		return work_at(trace, i, column) != 0;
	default:
		x = number_at(job, &fields[column]);
		if (column == C_MIN_GPUS || column == C_MAX_GPUS)
			return x != 0 && x != job->gpus;
		return x != fields[column].preset;
	}
}

static void write_field(struct buf *out, const struct trace *trace, uint32_t i, int column)
{
	const struct job *job = &trace->jobs[i];
	double x;

	switch (fields[column].kind) {
	case LABEL:
		csv_write(out, job->label);
		break;
	case NAME:
		csv_write(out, job->name);
		break;
	case TENANT:
		csv_write(out, trace->tenants.at[job->tenant]);
		break;
	case MODEL:
		csv_write(out, trace->models.at[job->model]);
		break;
	case TYPES:
		write_types(out, trace, job->types);
		break;
	case MEASURED_ON:
		csv_write(out, trace->types.at[trace->measured_on[i] - 1]);
		break;
	case CLASS:
		buf_str(out, class_names[job->class_]);
		break;
	case AFTER:
		write_after(out, trace, job);
		break;
	case WORK:
		x = work_at(trace, i, column);
		if (isnan(x))
			buf_char(out, '?');
		else
			buf_double(out, x);
		break;
	default:
		write_number(out, job, &fields[column]);
		break;
	}
}

/* The columns that some job needs, and those that a reader of the file expects to see. */
static size_t used_columns(const struct trace *trace, int used[NCOLUMNS])
{
	size_t n = 0;

	for (int column = 0; column < NCOLUMNS; column++) {
		bool use = column == C_ID || column == C_GPUS || column == C_ARRIVAL;

		for (uint32_t i = 0; !use && i < trace->njobs; i++)
			use = says(trace, i, column);
		if (use)
			used[n++] = column;
	}
	return n;
}

void trace_write(const struct trace *trace, struct buf *out)
{
	int used[NCOLUMNS];
	size_t n = used_columns(trace, used);

	for (size_t c = 0; c < n; c++)
		buf_printf(out, "%s%s", c ? "," : "", columns[used[c]].name);
	buf_char(out, '\n');
	for (uint32_t i = 0; i < trace->njobs; i++) {
		for (size_t c = 0; c < n; c++) {
			if (c)
				buf_char(out, ',');
			if (used[c] == C_GPUS || says(trace, i, used[c]))
				write_field(out, trace, i, used[c]);
		}
		buf_char(out, '\n');
	}
}
