/*
 * Lucid's simulator: a Helios log joined with profiled training
 * configurations.  A tenant is a virtual cluster.
 */
#include "io/rows.h"

enum {
	ID,
	USER,
	VC,
	NAME,
	GPUS,
	CPUS,
	STATE,
	SUBMIT,
	DURATION,
	DATASET,
	MODEL,
	BATCH,
	AMP,
	SPEED,
	GPU_UTIL,
	GMEM_UTIL,
	GMEM
};

static const struct column columns[] = {
	[ID] = { .name = "job_id" },
	[USER] = { .name = "user" },
	[VC] = { .name = "vc" },
	[NAME] = { .name = "jobname", .aliases = "job_name" },
	[GPUS] = { .name = "gpu_num", .required = true },
	[CPUS] = { .name = "cpu_num" },
	[STATE] = { .name = "state" },
	[SUBMIT] = { .name = "submit_time", .required = true },
	[DURATION] = { .name = "duration", .required = true },
	[DATASET] = { .name = "dataset" },
	[MODEL] = { .name = "model", .required = true },
	[BATCH] = { .name = "batchsize" },
	[AMP] = { .name = "amp" },
	[SPEED] = { .name = "speed" },
	[GPU_UTIL] = { .name = "gpu_util" },
	[GMEM_UTIL] = { .name = "gmem_util" },
	[GMEM] = { .name = "gmem" },
	{ 0 },
};

static void read_row(struct rows *rows, struct job *job)
{
	row_label(rows, job, row_text(rows, ID));
	job->name = row_kept(rows, NAME);
	job->tenant = row_name(&rows->out->tenants, row_text(rows, VC));
	job->model = row_name(&rows->out->models, row_text(rows, MODEL));
	job->gpus = row_gpus(rows, GPUS);
	job->cpus = row_number(rows, CPUS, 0, 0, 1e9);
	job->batch = row_int(rows, BATCH, 0, 0, INT32_MAX);
	job->arrival_s = row_time(rows, SUBMIT);
	rows->work = row_duration(rows, DURATION);
	row_ended(rows, STATE, row_text(rows, STATE), "COMPLETED");
}

static const struct remark remarks[] = {
	{ NOTE_ASSUMED, VC, "tenants are virtual clusters, not users" },
	{ NOTE_DROPPED, GPU_UTIL, "dataset, amp, speed, utilisation and device memory are not used" },
	{ 0 },
};

static const struct table table = {
	.style = CSV_COMMAS,
	.columns = columns,
	.row = read_row,
	.remarks = remarks,
};

const struct importer importer_lucid = {
	.name = "lucid",
	.summary = "Lucid: a Helios log with dataset, model, batchsize, amp, speed, …",
	.origin = "Hu et al., ASPLOS 2023",
	.dated = true,
	.header = "gpu_num|submit_time|duration|model|batchsize",
	.table = &table,
};
