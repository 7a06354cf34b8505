/*
 * Slurm's accounting: `sacct --parsable2` with a header.  Steps (123.batch)
 * and jobs that have not ended are left out; GPUs come from the trackable
 * resources, the limit of the run time is what the user believed.  When and
 * where jobs ran is kept, so that Slurm itself can be compared with others.
 * Rows with one id (sacct -D) are the runs of a job that was requeued.
 */
#include <string.h>

#include "io/import/slurm.h"

enum {
	ID,
	ID_RAW,
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
	NODES,
	NODE_LIST,
	PRIORITY
};

static const struct column columns[] = {
	[ID] = { .name = "JobID" },
	[ID_RAW] = { .name = "JobIDRaw" },
	[NAME] = { .name = "JobName" },
	[USER] = { .name = "User" },
	[ACCOUNT] = { .name = "Account" },
	[STATE] = { .name = "State" },
	[SUBMIT] = { .name = "Submit" },
	[START] = { .name = "Start" },
	[END] = { .name = "End" },
	[ELAPSED] = { .name = "Elapsed" },
	[ELAPSED_RAW] = { .name = "ElapsedRaw" },
	[LIMIT] = { .name = "Timelimit" },
	[LIMIT_RAW] = { .name = "TimelimitRaw" },
	[ALLOC_TRES] = { .name = "AllocTRES", .aliases = "AllocGRES" },
	[REQ_TRES] = { .name = "ReqTRES", .aliases = "ReqGRES" },
	[NODES] = { .name = "NNodes", .aliases = "AllocNodes" },
	[NODE_LIST] = { .name = "NodeList" },
	[PRIORITY] = { .name = "Priority" },
	{ 0 },
};

static void set_resources(struct rows *rows, struct job *job)
{
	struct tres got = tres_read(row_text(rows, ALLOC_TRES));
	struct tres asked = tres_read(row_text(rows, REQ_TRES));
	const struct tres *by = got.gpus > 0 || !(asked.gpus > 0) ? &got : &asked;
	double nodes = 0;

	slice_double(row_text(rows, NODES), &nodes);
	job->gpus = row_gpus_of(rows, row_has(rows, ALLOC_TRES) ? ALLOC_TRES : REQ_TRES,
		tres_gpus(by, nodes, rows->options));
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
	struct slice raw = row_text(rows, LIMIT_RAW);
	double s;

	if (raw.n)
		slurm_limit(raw, job);
	else if (slice_seconds(row_text(rows, LIMIT), &s) && s >= 1 && s < 1e12)
		job->work_est = s;
}

static void set_run(struct rows *rows, const struct job *job)
{
	double end_s = NAN;

	if (!slurm_time(row_text(rows, END), &end_s))
		end_s = NAN;
	slurm_ran(rows, row_text(rows, START), end_s, row_text(rows, NODE_LIST), job);
}

/* ---- rows ---- */

static bool has_ended(struct slice state)
{
	static const char *const open[] = { "PENDING", "RUNNING", "SUSPENDED", "RESIZING",
		"CONFIGURING", "COMPLETING" };

	for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
		if (slice_is_nocase(state, open[i]))
			return false;
	return true;
}

static void read_row(struct rows *rows, struct job *job)
{
	int which = row_has(rows, ID) ? ID : ID_RAW;
	struct slice id = row_text(rows, which), account = row_text(rows, ACCOUNT);

	if (id.n && memchr(id.at, '.', id.n)) {
		row_drop(rows, which, "a step of a job", NULL);
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
	set_run(rows, job);
	row_ended(rows, STATE, row_text(rows, STATE), "COMPLETED");
}

#define COMMAND \
	"TZ=UTC sacct -a -D -X -S 2024-01-01 --parsable2 --format=JobID,JobName,User,Account,Partition," \
	"State,Submit,Start,End,ElapsedRaw,TimelimitRaw,NNodes,NodeList,AllocTRES,ReqTRES"

static bool begins(struct slice s, const char *text)
{
	return s.n >= strlen(text) && !memcmp(s.at, text, strlen(text));
}

/* What people have in the file instead of a table, by its first line. */
static int no_table(const struct rows *rows, struct err *err)
{
	struct slice first = rows->csv.fields[0];
	double number;

	if (begins(first, "Slurm accounting storage is disabled"))
		return err_set(err, ERR_FORMAT,
			"this is not a history but sacct saying that Slurm keeps none: accounting storage is "
			"disabled. Its log of ended jobs (JobCompType=jobcomp/filetxt) can be read with "
			"--from-jobcomp FILE");
	if (begins(first, "sacct: ") || begins(first, "slurm"))
		return err_set(err, ERR_FORMAT, "this is an error of sacct, not a history: %.*s",
			(int)(first.n < 200 ? first.n : 200), first.at);
	if (rows->csv.n == 1 && begins(first, "JobID"))
		return err_set(err, ERR_FORMAT,
			"a table for people; let sacct write it with --parsable2: " COMMAND);
	if (first.n && slice_double((struct slice){ first.at, 1 }, &number))
		return err_set(err, ERR_FORMAT,
			"no header; let sacct write one (without --noheader): " COMMAND);
	return err_set(err, ERR_FORMAT, "field 'JobID': not in the header; use " COMMAND);
}

static int missing(const char *field, const char *more, struct err *err)
{
	return err_set(err, ERR_FORMAT, "field '%s': not in the header%s; use " COMMAND, field, more);
}

static int begin(struct rows *rows, struct err *err)
{
	if (!row_has(rows, ID) && !row_has(rows, ID_RAW))
		return no_table(rows, err);
	if (!row_has(rows, SUBMIT))
		return missing("Submit", "", err);
	if (!row_has(rows, ALLOC_TRES) && !row_has(rows, REQ_TRES))
		return missing("AllocTRES", ", and it tells the GPUs", err);
	if (!row_has(rows, ELAPSED) && !row_has(rows, ELAPSED_RAW) &&
		!(row_has(rows, START) && row_has(rows, END)))
		return missing("ElapsedRaw", ", nor Elapsed, nor Start and End", err);
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
	.reruns = true,
	.spills = NAME,
	.none = SLURM_TELLS_GPUS,
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
	looks = csv_peek(&csv, head, table.style) && csv.n >= 2 &&
		(has(&csv, "JobID") || has(&csv, "JobIDRaw"));
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
