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

static const struct remark remarks[] = {
	{ NOTE_ASSUMED, DURATION, "times are milliseconds" },
	{ NOTE_DROPPED, ITERATIONS,
		"iterations and interval are not used: the run time is the duration" },
	{ NOTE_DROPPED, RESOURCE_0, "what an iteration needs of each resource is not used" },
	{ 0 },
};

static const struct table table = {
	.style = CSV_COMMAS,
	.columns = columns,
	.row = read_row,
	.remarks = remarks,
};

const struct importer importer_muri = {
	.name = "muri",
	.summary = "Muri: Tiresias' columns in milliseconds, with resource_time_0..2",
	.origin = "Zhao et al., SIGCOMM 2022",
	.header = "job_id|num_gpu|submit_time|duration|resource_time_0",
	.table = &table,
};
