/*
 * Slurm's accounting: `sacct --parsable2` with a header.  Steps (123.batch)
 * and jobs that have not ended are left out; GPUs come from the trackable
 * resources, the limit of the run time is what the user believed.
 */
#include <string.h>

#include "io/rows.h"

enum {
	ID,
	NAME,
	USER,
	ACCOUNT,
	STATE,
	SUBMIT,
	START,
	END,
	ELAPSED,
	ELAPSED_RAW,
	LIMIT,
	LIMIT_RAW,
	ALLOC_TRES,
	REQ_TRES,
	PRIORITY
};

static const struct column columns[] = {
	[ID] = { .name = "JobID", .required = true },
	[NAME] = { .name = "JobName" },
	[USER] = { .name = "User" },
	[ACCOUNT] = { .name = "Account" },
	[STATE] = { .name = "State" },
	[SUBMIT] = { .name = "Submit", .required = true },
	[START] = { .name = "Start" },
	[END] = { .name = "End" },
	[ELAPSED] = { .name = "Elapsed" },
	[ELAPSED_RAW] = { .name = "ElapsedRaw" },
	[LIMIT] = { .name = "Timelimit" },
	[LIMIT_RAW] = { .name = "TimelimitRaw" },
	[ALLOC_TRES] = { .name = "AllocTRES", .aliases = "AllocGRES" },
	[REQ_TRES] = { .name = "ReqTRES", .aliases = "ReqGRES" },
	[PRIORITY] = { .name = "Priority" },
	{ 0 },
};

/* ---- trackable resources ---- */

/* "billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1" */
struct tres {
	double gpus, cpus;
	int64_t mem_bytes;
	struct slice type; /* of the GPUs, empty if not said */
};

static bool takes(struct slice *s, const char *prefix)
{
	size_t n = strlen(prefix);

	if (s->n < n || memcmp(s->at, prefix, n) != 0)
		return false;
	*s = (struct slice){ s->at + n, s->n - n };
	return true;
}

/* The count without a type is the sum of those with one. */
static void read_gpus(struct tres *tres, struct slice key, double count, double *typed)
{
	if (key.n == 0)
		tres->gpus = count;
	if (!takes(&key, ":"))
		return;
	tres->type = key;
	*typed += count;
}

static struct tres read_tres(struct slice list)
{
	struct tres tres = { 0 };
	double typed = 0;

	while (list.n) {
		const char *comma = memchr(list.at, ',', list.n);
		size_t n = comma ? (size_t)(comma - list.at) : list.n;
		struct slice key = { list.at, n }, value = { "", 0 };
		const char *equals = memchr(key.at, '=', key.n);
		double x = 0;

		list = (struct slice){ list.at + n + (comma != NULL), list.n - n - (comma != NULL) };
		if (equals) {
			value = (struct slice){ equals + 1, (size_t)(key.at + key.n - equals - 1) };
			key.n = (size_t)(equals - key.at);
		}
		if (slice_is(key, "mem"))
			slice_bytes(value, &tres.mem_bytes);
		if (!slice_double(value, &x) || x < 0 || x > 1e9)
			continue;
		if (slice_is(key, "cpu"))
			tres.cpus = x;
		else if (takes(&key, "gres/gpu"))
			read_gpus(&tres, key, x, &typed);
	}
	if (tres.gpus == 0)
		tres.gpus = typed;
	return tres;
}

static void set_resources(struct rows *rows, struct job *job)
{
	struct tres got = read_tres(row_text(rows, ALLOC_TRES));
	struct tres asked = read_tres(row_text(rows, REQ_TRES));

	job->gpus = row_gpus_of(rows, row_has(rows, ALLOC_TRES) ? ALLOC_TRES : REQ_TRES,
		got.gpus > 0 ? got.gpus : asked.gpus);
	job->cpus = got.cpus > 0 ? got.cpus : asked.cpus;
	job->mem_bytes = got.mem_bytes > 0 ? got.mem_bytes : asked.mem_bytes;
	job->types = row_type(rows, REQ_TRES, asked.type);
	row_measured_on(rows, ALLOC_TRES, got.type);
}

/* ---- times ---- */

static double read_elapsed(struct rows *rows)
{
	double s, start_s, end_s;

	if (slice_double(row_text(rows, ELAPSED_RAW), &s) || slice_seconds(row_text(rows, ELAPSED), &s))
		return s;
	if (slice_timestamp(row_text(rows, START), &start_s) &&
		slice_timestamp(row_text(rows, END), &end_s))
		return end_s - start_s;
	return NAN;
}

static void set_run_time(struct rows *rows)
{
	double s = read_elapsed(rows);
	int column = row_has(rows, ELAPSED_RAW) ? ELAPSED_RAW
		: row_has(rows, ELAPSED)        ? ELAPSED
						: END;

	if (isnan(s))
		row_bad(rows, column, row_text(rows, column), "is not a run time", NULL);
	else if (s < 0 || s > 1e12)
		row_bad(rows, column, row_text(rows, column),
			s < 0 ? "is negative" : "is too large", NULL);
	else if (s < 1e-6)
		row_drop(rows, column, "is 0: the job never ran", NULL);
	rows->work = s;
}

/* UNLIMITED and Partition_Limit say nothing. */
static void set_estimate(struct rows *rows, struct job *job)
{
	double s;

	if (slice_double(row_text(rows, LIMIT_RAW), &s))
		s *= 60;
	else if (!slice_seconds(row_text(rows, LIMIT), &s))
		return;
	if (s >= 1 && s < 1e12)
		job->work_est = s;
}

/* ---- rows ---- */

static bool has_ended(struct slice state)
{
	static const char *const open[] = { "PENDING", "RUNNING", "SUSPENDED", "REQUEUED",
		"RESIZING", "CONFIGURING", "COMPLETING" };

	for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
		if (slice_is_nocase(state, open[i]))
			return false;
	return true;
}

static void read_row(struct rows *rows, struct job *job)
{
	struct slice id = row_text(rows, ID), account = row_text(rows, ACCOUNT);

	if (memchr(id.at, '.', id.n)) {
		row_drop(rows, ID, "a step of a job", NULL);
		return;
	}
	if (!has_ended(row_text(rows, STATE))) {
		row_drop(rows, STATE, "the job has not ended: its run time is not known", NULL);
		return;
	}
	row_label(rows, job, id);
	job->name = row_kept(rows, NAME);
	job->tenant = row_name(&rows->out->tenants, account.n ? account : row_text(rows, USER));
	job->arrival_s = row_time(rows, SUBMIT);
	job->priority = row_int(rows, PRIORITY, 0, 0, INT32_MAX);
	set_resources(rows, job);
	set_run_time(rows);
	set_estimate(rows, job);
	row_ended(rows, STATE, row_text(rows, STATE), "COMPLETED");
}

static int begin(struct rows *rows, struct err *err)
{
	if (!row_has(rows, ALLOC_TRES) && !row_has(rows, REQ_TRES))
		return err_set(err, ERR_FORMAT,
			"field 'AllocTRES': not in the header, and it tells the GPUs; "
			"use sacct --parsable2 --format=JobID,JobName,User,Account,State,Submit,Start,End,ElapsedRaw,Timelimit,AllocTRES,ReqTRES");
	if (!row_has(rows, ELAPSED) && !row_has(rows, ELAPSED_RAW) &&
		!(row_has(rows, START) && row_has(rows, END)))
		return err_set(err, ERR_FORMAT,
			"field 'ElapsedRaw': not in the header, nor Elapsed, nor Start and End; add one to sacct --format");
	return 0;
}

static const struct remark remarks[] = {
	{ NOTE_ASSUMED, ACCOUNT, "tenants are accounts; users where there is none" },
	{ NOTE_ASSUMED, ALLOC_TRES,
		"GPUs are those that the job had, or those it asked for if that is not told" },
	{ NOTE_ASSUMED, LIMIT, "what users believe of run times is the time limit" },
	{ 0 },
};

static const struct table table = {
	.style = { .separator = '|' },
	.open = true,
	.columns = columns,
	.row = read_row,
	.begin = begin,
	.remarks = remarks,
};

static bool has(const struct csv *csv, const char *name)
{
	for (size_t i = 0; i < csv->n; i++)
		if (slice_is_nocase(csv->fields[i], name))
			return true;
	return false;
}

static int recognise(struct slice head, const char *path)
{
	struct csv csv;
	bool looks;

	(void)path;
	looks = csv_peek(&csv, head, table.style) && csv.n >= 2 && has(&csv, "JobID");
	csv_fini(&csv);
	return looks ? 90 : 0;
}

const struct importer importer_sacct = {
	.name = "sacct",
	.summary = "Slurm: sacct --parsable2 with JobID, Submit, ElapsedRaw, AllocTRES, …",
	.origin = "SchedMD Slurm",
	.dated = true,
	.recognise = recognise,
	.table = &table,
};
