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

static int begin(struct rows *rows, struct err *err)
{
	(void)err;
	notes_add(rows->notes, NOTE_PROBLEM, 0, "application",
		"convert it and fill in duration_s or steps; goodput profiles are not read yet",
		"no run times: they follow from goodput profiles, which this format leaves out");
	notes_add(rows->notes, NOTE_ASSUMED, 1, "num_replicas", NULL,
		"jobs keep the number of GPUs they ask for");
	if (row_has(rows, CATEGORY))
		notes_add(rows->notes, NOTE_DROPPED, 1, "category", NULL,
			"which jobs may change their GPUs or batch size is not used");
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
	return header_match(head, "name|time|application|num_replicas") > 0 ? 95 : 0;
}

const struct importer importer_sia = {
	.name = "sia",
	.summary = "Sia and Pollux: name,time,application,num_replicas,batch_size (no run times)",
	.origin = "Jayaram Subramanya et al., SOSP 2023; Qiao et al., OSDI 2021",
	.recognise = recognise,
	.table = &table,
};
