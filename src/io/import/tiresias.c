/*
 * Tiresias' simulator: integer seconds, relative; the run time is the same on
 * any placement, so iterations and interval say nothing more.
 */
#include "io/rows.h"

enum { ID, GPUS, SUBMIT, ITERATIONS, MODEL, DURATION, INTERVAL };

static const struct column columns[] = {
	[ID] = { .name = "job_id", .required = true },
	[GPUS] = { .name = "num_gpu", .required = true },
	[SUBMIT] = { .name = "submit_time", .required = true },
	[ITERATIONS] = { .name = "iterations" },
	[MODEL] = { .name = "model_name" },
	[DURATION] = { .name = "duration", .required = true },
	[INTERVAL] = { .name = "interval" },
	{ 0 },
};

static void read_row(struct rows *rows, struct job *job)
{
	row_label(rows, job, row_text(rows, ID));
	job->gpus = row_gpus(rows, GPUS);
	job->arrival_s = row_number(rows, SUBMIT, 0, 0, 1e12);
	job->model = row_name(&rows->out->models, row_text(rows, MODEL));
	rows->work = row_duration(rows, DURATION);
}

static const struct remark remarks[] = {
	{ NOTE_DROPPED, ITERATIONS,
		"iterations and interval are not used: the run time is the duration" },
	{ 0 },
};

static const struct table table = {
	.style = CSV_COMMAS,
	.columns = columns,
	.row = read_row,
	.remarks = remarks,
};

static int recognise(struct slice head, const char *path)
{
	(void)path;
	if (header_match(head, "job_id|num_gpu|submit_time|iterations|duration") < 0)
		return 0;
	return header_has(head, "resource_time_0") ? 20 : 95;
}

const struct importer importer_tiresias = {
	.name = "tiresias",
	.summary = "Tiresias: job_id,num_gpu,submit_time,iterations,model_name,duration,interval",
	.origin = "Gu et al., NSDI 2019",
	.recognise = recognise,
	.table = &table,
};
