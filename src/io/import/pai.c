/*
 * Alibaba's PAI trace of 2020 as its simulator reads it: a row per job of
 * `num_inst` equal instances, each with a fraction of a GPU or several GPUs.
 */
#include "io/rows.h"

enum { ID, USER, INSTANCES, SUBMIT, CPUS, GPUS, TYPE, DURATION };

static const struct column columns[] = {
	[ID] = { .name = "job_id", .required = true },
	[USER] = { .name = "user" },
	[INSTANCES] = { .name = "num_inst", .required = true },
	[SUBMIT] = { .name = "submit_time", .required = true },
	[CPUS] = { .name = "num_cpu" },
	[GPUS] = { .name = "num_gpu", .required = true },
	[TYPE] = { .name = "gpu_type" },
	[DURATION] = { .name = "duration", .required = true },
	{ 0 },
};

/* Whole GPUs for all instances together. */
static int32_t read_gpus(struct rows *rows, double instances)
{
	double gpus = row_number(rows, GPUS, 0, 0, 1e6) * instances;

	/* 0.1 + 0.2 must not become one GPU more. */
	if (fabs(gpus - round(gpus)) < 1e-6)
		gpus = round(gpus);
	if (gpus != floor(gpus))
		row_note(rows, NOTE_ASSUMED, GPUS, "a fraction of a GPU counts as a whole one", NULL);
	return row_gpus_of(rows, GPUS, ceil(gpus));
}

/* The type asked for is also the one it ran on. */
static void read_type(struct rows *rows, struct job *job)
{
	struct slice type = row_text(rows, TYPE);

	if (slice_is_nocase(type, "MISC")) {
		row_note(rows, NOTE_ASSUMED, TYPE,
			"MISC (older GPUs of several kinds): the job may run on any", NULL);
		return;
	}
	if (slice_is_nocase(type, "CPU"))
		return;
	job->types = row_type(rows, TYPE, type);
	row_measured_on(rows, TYPE, type);
}

static void read_row(struct rows *rows, struct job *job)
{
	double instances = row_number(rows, INSTANCES, 1, 1, 1e6);

	row_label(rows, job, row_text(rows, ID));
	job->tenant = row_name(&rows->out->tenants, row_text(rows, USER));
	job->arrival_s = row_time(rows, SUBMIT);
	job->gpus = read_gpus(rows, instances);
	job->cpus = row_number(rows, CPUS, 0, 0, 1e6) * instances;
	rows->work = row_duration(rows, DURATION);
	read_type(rows, job);
}

static const struct remark remarks[] = {
	{ NOTE_ASSUMED, INSTANCES,
		"all instances of a job start together: it is one gang of num_inst x num_gpu GPUs" },
	{ 0 },
};

static const struct table table = {
	.style = CSV_COMMAS,
	.columns = columns,
	.row = read_row,
	.remarks = remarks,
};

const struct importer importer_pai = {
	.name = "pai",
	.summary = "Alibaba PAI 2020 (simulator CSV): job_id,num_inst,submit_time,num_cpu,num_gpu,…",
	.origin = "Weng et al., NSDI 2022",
	.dated = true,
	.header = "job_id|num_inst|submit_time|num_gpu|duration",
	.table = &table,
};
