/*
 * Gavel's older traces (traces/msr): 7 columns, no weight and no SLO.
 */
#include "io/import/gavel.h"

enum { TYPE, COMMAND, STEPS_ARG, NEEDS_DATA, STEPS, ARRIVAL, GPUS };

static const struct column columns[] = {
	[TYPE] = { .name = "job type" },
	[COMMAND] = { .name = "command" },
	[STEPS_ARG] = { .name = "steps argument" },
	[NEEDS_DATA] = { .name = "needs data dir" },
	[STEPS] = { .name = "total steps" },
	[ARRIVAL] = { .name = "arrival time" },
	[GPUS] = { .name = "scale factor" },
	{ 0 },
};

static const struct remark remarks[] = {
	{ NOTE_DROPPED, COMMAND, "command, steps argument and data flag are not used" },
	{ NOTE_ASSUMED, TYPE, "the format has no weights: all jobs weigh the same" },
	{ 0 },
};

static const struct gavel_layout layout = {
	.steps = STEPS,
	.gpus = GPUS,
	.weight = -1,
	.slo = -1,
	.duration = -1,
	.arrival = ARRIVAL,
};

static void read_row(struct rows *rows, struct job *job)
{
	gavel_row(rows, job, &layout);
}

static const struct table table = {
	.style = GAVEL_STYLE,
	.headless = true,
	.columns = columns,
	.remarks = remarks,
	.row = read_row,
	.misfit = gavel_misfit,
};

static int recognise(struct slice head, const char *path)
{
	(void)path;
	return gavel_looks(head, 7, &layout) ? 95 : 0;
}

const struct importer importer_gavel7 = {
	.name = "gavel7",
	.summary = "Gavel's older traces: 7 columns separated by tabs, no header",
	.origin = "Narayanan et al., OSDI 2020",
	.recognise = recognise,
	.table = &table,
};
