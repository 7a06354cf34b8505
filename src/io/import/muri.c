/*
 * Muri's simulator: Tiresias' columns in milliseconds, with the time that an
 * iteration needs of each resource (for policies that interleave jobs).
 */
#include "io/rows.h"

enum {
	ID,
	GPUS,
	SUBMIT,
	ITERATIONS,
	MODEL,
	BATCH,
	DURATION,
	INTERVAL,
	ITERATION_TIME,
	RESOURCE_0,
	RESOURCE_1,
	RESOURCE_2,
	PRIORITY
};

static const struct column columns[] = {
	[ID] = { .name = "job_id", .required = true },
	[GPUS] = { .name = "num_gpu", .required = true },
	[SUBMIT] = { .name = "submit_time", .required = true },
	[ITERATIONS] = { .name = "iterations" },
	[MODEL] = { .name = "model_name" },
	[BATCH] = { .name = "batch_size" },
	[DURATION] = { .name = "duration", .required = true },
	[INTERVAL] = { .name = "interval" },
	[ITERATION_TIME] = { .name = "iteration_time" },
	[RESOURCE_0] = { .name = "resource_time_0", .required = true },
	[RESOURCE_1] = { .name = "resource_time_1" },
	[RESOURCE_2] = { .name = "resource_time_2" },
	[PRIORITY] = { .name = "priority" },
	{ 0 },
};

static const double ms = 1000;

static void read_row(struct rows *rows, struct job *job)
{
	row_label(rows, job, row_text(rows, ID));
	job->gpus = row_gpus(rows, GPUS);
	job->arrival_s = row_number(rows, SUBMIT, 0, 0, 1e15) / ms;
	job->model = row_name(&rows->out->models, row_text(rows, MODEL));
	job->batch = row_int(rows, BATCH, 0, 0, INT32_MAX);
	job->priority = row_int(rows, PRIORITY, 0, INT32_MIN, INT32_MAX);
	rows->work = row_duration(rows, DURATION) / ms;
}

static int begin(struct rows *rows, struct err *err)
{
	(void)err;
	notes_add(rows->notes, NOTE_ASSUMED, 1, "duration", NULL, "times are milliseconds");
	notes_add(rows->notes, NOTE_DROPPED, 1, "resource_time_0", NULL,
		"what an iteration needs of each resource is not used");
	return 0;
}

static const struct table table = {
	.style = { .separator = ',', .quotes = true },
	.columns = columns,
	.row = read_row,
	.begin = begin,
};

static int recognise(struct slice head, const char *path)
{
	(void)path;
	return header_match(head, "job_id|num_gpu|submit_time|duration|resource_time_0") > 0 ? 95 : 0;
}

const struct importer importer_muri = {
	.name = "muri",
	.summary = "Muri: Tiresias' columns in milliseconds, with resource_time_0..2",
	.origin = "Zhao et al., SIGCOMM 2022",
	.recognise = recognise,
	.table = &table,
};
