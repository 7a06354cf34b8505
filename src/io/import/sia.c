/*
 * Workloads of Sia and Pollux: which application, how many GPUs and which
 * batch size the user asked for.  How long a job runs follows from profiles of
 * the application (--profiles), which are not in the file: its work is unknown
 * here.  Jobs are elastic up to what the published simulators allow.
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

enum { ELASTIC_MAX = 64 };

/* How free the job is: "adaptive" (or not said) and "scale-gpus" in their devices, "rigid" not at all. */
static void read_category(struct rows *rows, struct job *job)
{
	struct slice category = row_text(rows, CATEGORY);

	if (slice_is_nocase(category, "rigid"))
		return;
	if (category.n && !slice_is_nocase(category, "adaptive") &&
		!slice_is_nocase(category, "scale-gpus")) {
		row_bad(rows, CATEGORY, category, "is no category",
			"write adaptive, scale-gpus or rigid");
		return;
	}
	job->min_gpus = 1;
	job->max_gpus = job->gpus > ELASTIC_MAX ? job->gpus : ELASTIC_MAX;
}

static void read_row(struct rows *rows, struct job *job)
{
	row_label(rows, job, row_text(rows, NAME));
	job->by_steps = true;
	job->arrival_s = row_number(rows, TIME, 0, 0, 1e12);
	job->model = row_name(&rows->out->models, row_text(rows, APPLICATION));
	job->gpus = row_gpus(rows, REPLICAS);
	job->batch = row_int(rows, BATCH, 0, 0, INT32_MAX);
	read_category(rows, job);
}

static const struct remark remarks[] = {
	{ NOTE_ASSUMED, APPLICATION,
		"how long jobs run follows from profiles of the application, which --profiles names" },
	{ NOTE_ASSUMED, REPLICAS,
		"num_replicas is what users asked for; elastic policies may give a job 1 to 64 GPUs unless its category is rigid" },
	{ NOTE_ASSUMED, CATEGORY, "jobs of category scale-gpus may tune their batch size too" },
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
	.summary = "Sia and Pollux: name,time,application,num_replicas,batch_size (run times: --profiles)",
	.origin = "Jayaram Subramanya et al., SOSP 2023; Qiao et al., OSDI 2021",
	.header = "name|time|application|num_replicas",
	.table = &table,
};
