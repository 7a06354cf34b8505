/*
 * Synergy's deployment traces: id, model, arrival in seconds, iterations,
 * GPUs; no header.
 */
#include "io/rows.h"

enum { ID, MODEL, ARRIVAL, ITERATIONS, GPUS, FIELDS };

static const struct column columns[] = {
	[ID] = { .name = "id" },
	[MODEL] = { .name = "model" },
	[ARRIVAL] = { .name = "arrival" },
	[ITERATIONS] = { .name = "iterations" },
	[GPUS] = { .name = "GPUs" },
	{ 0 },
};

static void read_row(struct rows *rows, struct job *job)
{
	row_label(rows, job, row_text(rows, ID));
	job->by_steps = true;
	job->model = row_name(&rows->out->models, row_text(rows, MODEL));
	job->arrival_s = row_number(rows, ARRIVAL, 0, 0, 1e12);
	rows->work = row_duration(rows, ITERATIONS);
	job->gpus = row_gpus(rows, GPUS);
}

static const struct remark remarks[] = {
	{ NOTE_ASSUMED, ITERATIONS, "iterations are steps" },
	{ 0 },
};

static const struct table table = {
	.style = { .separator = ',' },
	.headless = true,
	.columns = columns,
	.row = read_row,
	.remarks = remarks,
};

static int recognise(struct slice head, const char *path)
{
	struct csv csv;
	bool looks;
	double x;

	(void)path;
	looks = csv_peek(&csv, head, table.style) && csv.n == FIELDS;
	for (int i = 0; looks && i < FIELDS; i++)
		looks = slice_double(csv.fields[i], &x) == (i != MODEL);
	csv_fini(&csv);
	return looks ? 80 : 0;
}

const struct importer importer_synergy = {
	.name = "synergy",
	.summary = "Synergy: id,model,arrival,iterations,GPUs without a header",
	.origin = "Mohan et al., OSDI 2022",
	.recognise = recognise,
	.table = &table,
};
