/*
 * SenseTime's Helios logs (cluster_log.csv).  A tenant is a virtual cluster;
 * jobs that failed or were cancelled held their GPUs too and count.
 */
#include "io/rows.h"

enum { ID, USER, VC, NAME, GPUS, CPUS, NODES, STATE, SUBMIT, START, END, DURATION, QUEUE };

static const struct column columns[] = {
	[ID] = { .name = "job_id" },
	[USER] = { .name = "user" },
	[VC] = { .name = "vc" },
	[NAME] = { .name = "jobname", .aliases = "job_name" },
	[GPUS] = { .name = "gpu_num", .required = true },
	[CPUS] = { .name = "cpu_num" },
	[NODES] = { .name = "node_num" },
	[STATE] = { .name = "state" },
	[SUBMIT] = { .name = "submit_time", .required = true },
	[START] = { .name = "start_time" },
	[END] = { .name = "end_time" },
	[DURATION] = { .name = "duration", .required = true },
	[QUEUE] = { .name = "queue" },
	{ 0 },
};

static void read_row(struct rows *rows, struct job *job)
{
	row_label(rows, job, row_text(rows, ID));
	job->name = row_kept(rows, NAME);
	job->tenant = row_name(&rows->out->tenants, row_text(rows, VC));
	job->gpus = row_gpus(rows, GPUS);
	job->cpus = row_number(rows, CPUS, 0, 0, 1e9);
	job->arrival_s = row_time(rows, SUBMIT);
	rows->work = row_duration(rows, DURATION);
	row_ended(rows, STATE, row_text(rows, STATE), "COMPLETED");
}

static const struct remark remarks[] = {
	{ NOTE_ASSUMED, VC, "tenants are virtual clusters, not users" },
	{ NOTE_DROPPED, START,
		"start, end, queue and node_num are not used: the run decides when and where" },
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
	if (header_match(head, "gpu_num|submit_time|duration") < 0)
		return 0;
	return header_match(head, "state|vc") > 0 ? 90 : 40;
}

const struct importer importer_helios = {
	.name = "helios",
	.summary = "Helios: cluster_log.csv",
	.origin = "Hu et al., SC 2021",
	.dated = true,
	.recognise = recognise,
	.table = &table,
};
