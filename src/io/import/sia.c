/*
 * Workloads of Sia and Pollux: which application, how many GPUs and which
 * batch size the user asked for.  How long a job runs follows from goodput
 * profiles, which are not in the file: its work is unknown here.
 */
#include "io/rows.h"

enum { NAME, TIME, APPLICATION, REPLICAS, BATCH, CATEGORY };

static const struct column columns[] = {
	[NAME] = { .name = "name", .required = true },
	[TIME] = { .name = "time", .required = true },
	[APPLICATION] = { .name = "application", .required = true },
	[REPLICAS] = { .name = "num_replicas", .required = true },
	[BATCH] = { .name = "batch_size" },
	[CATEGORY] = { .name = "category" },
	{ 0 },
};

static void read_row(struct rows *rows, struct job *job)
{
	row_label(rows, job, row_text(rows, NAME));
	job->by_steps = true;
	job->arrival_s = row_number(rows, TIME, 0, 0, 1e12);
	job->model = row_name(&rows->out->models, row_text(rows, APPLICATION));
	job->gpus = row_gpus(rows, REPLICAS);
	job->batch = row_int(rows, BATCH, 0, 0, INT32_MAX);
}

static const struct remark remarks[] = {
	{ NOTE_DROPPED, APPLICATION,
		"run times follow from goodput profiles, which the format leaves out and Stint does not read yet" },
	{ NOTE_ASSUMED, REPLICAS, "jobs keep the number of GPUs they ask for" },
	{ NOTE_DROPPED, CATEGORY, "which jobs may change their GPUs or batch size is not used" },
	{ 0 },
};

static const struct table table = {
	.style = CSV_COMMAS,
	.columns = columns,
	.row = read_row,
	.remarks = remarks,
};

const struct importer importer_sia = {
	.name = "sia",
	.summary = "Sia and Pollux: name,time,application,num_replicas,batch_size (no run times)",
	.origin = "Jayaram Subramanya et al., SOSP 2023; Qiao et al., OSDI 2021",
	.header = "name|time|application|num_replicas",
	.table = &table,
};
