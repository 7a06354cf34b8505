/*
 * Microsoft's Philly log as Sia and Pollux carry it: one row per job, dates,
 * not in order of time.
 */
#include "io/rows.h"

enum { SUBMIT, DURATION, GPUS, GPU_TIME, CLUSTER };

static const struct column columns[] = {
	[SUBMIT] = { .name = "timestamp", .required = true },
	[DURATION] = { .name = "duration", .required = true },
	[GPUS] = { .name = "num_gpus", .required = true },
	[GPU_TIME] = { .name = "gpu_time" },
	[CLUSTER] = { .name = "cluster" },
	{ 0 },
};

static void read_row(struct rows *rows, struct job *job)
{
	job->arrival_s = row_time(rows, SUBMIT);
	rows->work = row_duration(rows, DURATION);
	job->gpus = row_gpus(rows, GPUS);
	job->tenant = row_name(&rows->out->tenants, row_text(rows, CLUSTER));
}

static const struct remark remarks[] = {
	{ NOTE_ASSUMED, CLUSTER, "tenants are virtual clusters, not users" },
	{ NOTE_DROPPED, GPU_TIME, "is duration x GPUs and not used" },
	{ 0 },
};

static const struct table table = {
	.style = CSV_COMMAS,
	.columns = columns,
	.row = read_row,
	.remarks = remarks,
};

const struct importer importer_philly_csv = {
	.name = "philly-csv",
	.summary = "Philly as in Sia and Pollux: timestamp,duration,num_gpus,gpu_time,cluster",
	.origin = "Jeon et al., ATC 2019; Qiao et al., OSDI 2021",
	.dated = true,
	.header = "timestamp|duration|num_gpus",
	.table = &table,
};
