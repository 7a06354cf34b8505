/*
 * Muri's simulator: Tiresias' columns in milliseconds, with the time that an
 * iteration needs of each resource (for policies that interleave jobs).
 */
#include "io/rows.h"

enum {
	ID, GPUS, SUBMIT, ITERATIONS, MODEL, BATCH, DURATION, INTERVAL, ITERATION_TIME, RESOURCE_0,
	RESOURCE_1, RESOURCE_2, PRIORITY
};

static const struct column columns[] = {
	[ID] = { "job_id", NULL, .required = true },
	[GPUS] = { "num_gpu", NULL, .required = true },
	[SUBMIT] = { "submit_time", NULL, .required = true },
	[ITERATIONS] = { "iterations", NULL, .ignored = true },
	[MODEL] = { "model_name", NULL },
	[BATCH] = { "batch_size", NULL },
	[DURATION] = { "duration", NULL, .required = true },
	[INTERVAL] = { "interval", NULL, .ignored = true },
	[ITERATION_TIME] = { "iteration_time", NULL, .ignored = true },
	[RESOURCE_0] = { "resource_time_0", NULL, .required = true },
	[RESOURCE_1] = { "resource_time_1", NULL, .ignored = true },
	[RESOURCE_2] = { "resource_time_2", NULL, .ignored = true },
	[PRIORITY] = { "priority", NULL },
	{ 0 }
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
