/*
 * The Standard Workload Format of the Parallel Workloads Archive: 18 numbers
 * in a row, -1 for what is not known.  Processors stand for GPUs, so that
 * these logs can be replayed at all.
 */
#include <string.h>

#include "io/rows.h"

enum {
	ID,
	SUBMIT,
	WAIT,
	RUN,
	ALLOCATED,
	CPU_TIME,
	MEM_USED,
	REQUESTED,
	TIME_REQUESTED,
	MEM_REQUESTED,
	STATUS,
	USER,
	GROUP,
	EXECUTABLE,
	QUEUE,
	PARTITION,
	PRECEDING,
	THINK,
	FIELDS
};

static const struct column columns[] = {
	[ID] = { .name = "job number" },
	[SUBMIT] = { .name = "submit time" },
	[WAIT] = { .name = "wait time" },
	[RUN] = { .name = "run time" },
	[ALLOCATED] = { .name = "allocated processors" },
	[CPU_TIME] = { .name = "average CPU time" },
	[MEM_USED] = { .name = "used memory" },
	[REQUESTED] = { .name = "requested processors" },
	[TIME_REQUESTED] = { .name = "requested time" },
	[MEM_REQUESTED] = { .name = "requested memory" },
	[STATUS] = { .name = "status" },
	[USER] = { .name = "user" },
	[GROUP] = { .name = "group" },
	[EXECUTABLE] = { .name = "executable" },
	[QUEUE] = { .name = "queue" },
	[PARTITION] = { .name = "partition" },
	[PRECEDING] = { .name = "preceding job" },
	[THINK] = { .name = "think time" },
	{ 0 },
};

/* A number, or `unknown` for -1. */
static double known(struct rows *rows, int column, double unknown)
{
	double x = row_number(rows, column, -1, -1, 1e12);

	return x < 0 ? unknown : x;
}

static void read_memory(struct rows *rows, struct job *job)
{
	double kib = known(rows, MEM_REQUESTED, known(rows, MEM_USED, 0));

	if (kib * job->gpus < 1e14)
		job->mem_bytes = (int64_t)(kib * 1024 * job->gpus);
}

/* -1 is not known, and 1 as it should be. */
static struct slice status_of(struct slice number)
{
	static const char *const names[] = { "failed", "completed", "partial", "partial", "partial",
		"cancelled" };
	int64_t i;

	if (!slice_int(number, &i) || i < 0 || i >= (int64_t)(sizeof(names) / sizeof(*names)))
		return (struct slice){ "", 0 };
	return slice_of(names[i]);
}

static void read_row(struct rows *rows, struct job *job)
{
	double gpus = known(rows, ALLOCATED, 0), run_s = known(rows, RUN, NAN);
	double asked_s = known(rows, TIME_REQUESTED, 0);

	row_label(rows, job, row_text(rows, ID));
	if (gpus == 0)
		gpus = known(rows, REQUESTED, 0);
	job->gpus = row_gpus_of(rows, ALLOCATED, gpus);
	job->arrival_s = row_number(rows, SUBMIT, 0, 0, 1e12);
	if (isnan(run_s))
		row_drop(rows, RUN, "is not known", NULL);
	else if (run_s < 1e-6)
		row_drop(rows, RUN, "is 0: a job without work", NULL);
	rows->work = run_s;
	if (asked_s >= 1 && asked_s < 1e12)
		job->work_est = asked_s;
	if (known(rows, USER, -1) >= 0)
		job->tenant = row_name(&rows->out->tenants, row_text(rows, USER));
	read_memory(rows, job);
	if (known(rows, PRECEDING, 0) > 0)
		row_note(rows, NOTE_DROPPED, PRECEDING,
			"the job before and the think time are not used", NULL);
	row_ended(rows, STATUS, status_of(row_text(rows, STATUS)), "completed");
}

static const struct remark remarks[] = {
	{ NOTE_ASSUMED, ALLOCATED, "each processor counts as one GPU" },
	{ NOTE_DROPPED, WAIT,
		"waiting and CPU time, group, executable, queue and partition are not used" },
	{ 0 },
};

static const struct table table = {
	.style = { .separator = ' ', .comment = ';' },
	.headless = true,
	.columns = columns,
	.row = read_row,
	.remarks = remarks,
};

static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n >= m && strcmp(path + n - m, end) == 0;
}

/* A long comment may leave no row in the head: then its name and the first ';' must do. */
static int recognise(struct slice head, const char *path)
{
	bool named = ends_with(path, ".swf") || ends_with(path, ".swf.gz");
	bool commented = head.n && *head.at == ';', numbers;
	struct csv csv;
	double x;

	numbers = csv_peek(&csv, head, table.style) && csv.n == FIELDS;
	for (size_t i = 0; numbers && i < csv.n; i++)
		numbers = slice_double(csv.fields[i], &x);
	csv_fini(&csv);
	if (numbers)
		return 90;
	return named || commented ? 30 : 0;
}

const struct importer importer_swf = {
	.name = "swf",
	.summary = "Standard Workload Format: 18 numbers in a row, comments with ;",
	.origin = "Feitelson's Parallel Workloads Archive",
	.recognise = recognise,
	.table = &table,
};
