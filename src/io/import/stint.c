/*
 * Stint's own trace: CSV with a header, a column per property of a job, all
 * but the arrival and the work optional (doc/formats.md).
 *
 * Its columns, and reading them; stint_write.c writes them.  This is the reader
 * whose speed is felt (a million jobs): a single pass over the fields that are
 * there, no allocation but for the texts that are kept.
 */
#include "io/import/stint.h"

#include <math.h>
#include <string.h>

const struct column stint_columns[] = {
	[C_ID] = { .name = "id", .aliases = "job_id|job" },
	[C_NAME] = { .name = "name", .aliases = "job_name|jobname" },
	[C_TENANT] = { .name = "tenant", .aliases = "user|account" },
	[C_MODEL] = { .name = "model", .aliases = "model_name" },
	[C_GPUS] = { .name = "gpus", .aliases = "num_gpus|num_gpu" },
	[C_MIN_GPUS] = { .name = "min_gpus" },
	[C_MAX_GPUS] = { .name = "max_gpus" },
	[C_TYPES] = { .name = "types", .aliases = "type|gpu_type" },
	[C_GPUS_BY_TYPE] = { .name = "gpus_by_type" },
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
	[C_SHARE] = { .name = "share", .aliases = "gpu_share" },
	[C_GPU_MEM] = { .name = "gpu_mem", .aliases = "gpu_mem_bytes|gpu_memory" },
	[C_UTIL] = { .name = "util", .aliases = "gpu_util" },
	[C_MOVES] = { .name = "moves_Bps" },
	[C_CALLS] = { .name = "calls_ps" },
	[C_STAYS] = { .name = "stays" },
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

const struct field stint_fields[NCOLUMNS] = {
	[C_ID] = { LABEL, 0, 0, 0, 0 },
	[C_NAME] = { NAME, 0, 0, 0, 0 },
	[C_TENANT] = { TENANT, 0, 0, 0, 0 },
	[C_MODEL] = { MODEL, 0, 0, 0, 0 },
	[C_GPUS] = { INT, AT(gpus), 0, 1e6, 1 },
	[C_MIN_GPUS] = { INT, AT(min_gpus), 1, 1e6, 0 },
	[C_MAX_GPUS] = { INT, AT(max_gpus), 1, 1e6, 0 },
	[C_TYPES] = { TYPES, 0, 0, 0, 0 },
	[C_GPUS_BY_TYPE] = { GANGS, 0, 1, UINT16_MAX, 0 },
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
	[C_SHARE] = { DOUBLE, AT(share), 0, 1, 0 },
	[C_GPU_MEM] = { BYTES, AT(gpu_mem_bytes), 0, 0, 0 },
	[C_UTIL] = { DOUBLE, AT(util), 0, 1, 0 },
	[C_MOVES] = { DOUBLE, AT(moves_Bps), 0, 1e15, 0 },
	[C_CALLS] = { DOUBLE, AT(calls_ps), 0, 1e12, 0 },
	[C_STAYS] = { INT, AT(stays), 0, 1, 0 },
	[C_BATCH] = { INT, AT(batch), 0, INT32_MAX, 0 },
	[C_EPOCHS] = { DOUBLE, AT(epochs), 0, 1e12, 0 },
	[C_AFTER] = { AFTER, 0, 0, 0, 0 },
	[C_START_COST] = { SECONDS, AT(start_cost_s), 0, 1e9, 0 },
	[C_RESUME_COST] = { SECONDS, AT(resume_cost_s), 0, 1e9, 0 },
	[C_RESIZE_COST] = { SECONDS, AT(resize_cost_s), 0, 1e9, 0 },
	[C_CHECKPOINT] = { SECONDS, AT(checkpoint_every_s), 0, 1e9, 0 },
	[C_MEASURED_ON] = { MEASURED_ON, 0, 0, 0, 0 },
};

const char *const stint_classes[NCLASSES] = {
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
	const struct field *field = &stint_fields[column];

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

/* Splits "a100:4"; either piece may come out empty. */
static struct slice cut_number(struct slice word, struct slice *number)
{
	size_t n = word.n;

	while (n > 0 && word.at[n - 1] != ':')
		n--;
	*number = (struct slice){ word.at + n, word.n - n };
	return (struct slice){ word.at, n ? n - 1 : 0 };
}

static void read_gang(struct rows *rows, int column, struct slice word, uint16_t gangs[TYPES_MAX])
{
	static const char fix[] = "write types and numbers of GPUs, as in a100:1 v100:4";
	struct slice number, type = cut_number(word, &number);
	uint32_t bit = type.n ? row_type(rows, column, type) : 0;
	double x = 0;

	if (!bit || !slice_double(number, &x) || x != floor(x))
		row_bad(rows, column, word, "is not a type and a number of GPUs", fix);
	else if (gangs[__builtin_ctz(bit)])
		row_bad(rows, column, word, "names a type again", fix);
	else
		ranged(rows, column, word, x);
	if (rows->fate != ROW_BAD)
		gangs[__builtin_ctz(bit)] = (uint16_t)x;
}

/* Words with blanks between them. */
static void read_gangs(struct rows *rows, int column, struct slice list, struct job *job)
{
	uint16_t gangs[TYPES_MAX] = { 0 };

	for (list = slice_trim(list); list.n && rows->fate != ROW_BAD; list = slice_trim(list))
		read_gang(rows, column, slice_cut(&list, ' '), gangs);
	job->gpus_by_type = trace_gangs(rows->out, gangs);
}

static uint32_t read_class(struct rows *rows, struct slice text)
{
	for (uint32_t i = 0; i < NCLASSES; i++)
		if (slice_is_nocase(text, stint_classes[i]))
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
	void *to = (char *)job + stint_fields[column].offset;

	switch (stint_fields[column].kind) {
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
	case GANGS:
		read_gangs(rows, column, text, job);
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

static int32_t largest_gang(const struct job *job)
{
	int32_t most = 0;

	for (uint32_t t = 0; job->gpus_by_type && t < TYPES_MAX; t++)
		most = job->gpus_by_type[t] > most ? job->gpus_by_type[t] : most;
	return most;
}

static void set_gpus(struct rows *rows, struct job *job)
{
	if (!row_text(rows, C_GPUS).n && job->max_gpus)
		job->gpus = job->max_gpus;
	else if (!row_text(rows, C_GPUS).n && job->min_gpus)
		job->gpus = job->min_gpus;
	else if (!row_text(rows, C_GPUS).n && job->gpus_by_type)
		job->gpus = largest_gang(job);
	if (job->gpus == 0)
		row_drop(rows, C_GPUS, "is 0: a job without GPUs", NULL);
	if (job->min_gpus > job->gpus)
		row_bad(rows, C_MIN_GPUS, row_text(rows, C_MIN_GPUS), "is more than gpus", NULL);
	if (job->max_gpus && job->max_gpus < job->gpus)
		row_bad(rows, C_MAX_GPUS, row_text(rows, C_MAX_GPUS), "is less than gpus", NULL);
	if (job->gpus_by_type &&
		((job->min_gpus && job->min_gpus != job->gpus) ||
			(job->max_gpus && job->max_gpus != job->gpus)))
		row_bad(rows, C_GPUS_BY_TYPE, row_text(rows, C_GPUS_BY_TYPE),
			"is given of an elastic job",
			"leave min_gpus and max_gpus empty: what it needs on each type is fixed");
}

static void read_row(struct rows *rows, struct job *job)
{
	struct work work = { NAN, NAN, NAN, NAN, NAN, -1 };

	for (size_t i = 0; i < rows->csv.n; i++) {
		struct slice text = csv_text(rows->csv.fields[i]);

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
	if (!row_has(rows, C_GPUS) && !row_has(rows, C_MAX_GPUS) && !row_has(rows, C_MIN_GPUS) &&
		!row_has(rows, C_GPUS_BY_TYPE))
		notes_add(rows->notes, NOTE_ASSUMED, 1, "gpus", NULL, "not given: 1 GPU for every job");
	return 0;
}

static const struct table table = {
	.style = CSV_COMMAS,
	.columns = stint_columns,
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
		known += header_has(head, stint_columns[i].name);
	return arrival ? 50 : known >= 2 ? 10 : known ? 3 : 0;
}

const struct importer importer_stint = {
	.name = "stint",
	.summary = "Stint's own: a header with arrival_s, duration_s or steps, gpus, tenant, …",
	.origin = "doc/formats.md",
	.recognise = recognise,
	.table = &table,
};
