/*
 * Shockwave: Gavel's columns, how the batch size adapts (mode), and the run
 * time as profiled, from which the nominal speed and deadlines follow.
 */
#include "io/import/gavel.h"

enum {
	TYPE,
	COMMAND,
	DIRECTORY,
	STEPS_ARG,
	NEEDS_DATA,
	STEPS,
	GPUS,
	MODE,
	WEIGHT,
	SLO,
	DURATION,
	ARRIVAL
};

static const struct column columns[] = {
	[TYPE] = { .name = "job type" },
	[COMMAND] = { .name = "command" },
	[DIRECTORY] = { .name = "working directory" },
	[STEPS_ARG] = { .name = "steps argument" },
	[NEEDS_DATA] = { .name = "needs data dir" },
	[STEPS] = { .name = "total steps" },
	[GPUS] = { .name = "scale factor" },
	[MODE] = { .name = "mode" },
	[WEIGHT] = { .name = "priority weight" },
	[SLO] = { .name = "SLO" },
	[DURATION] = { .name = "duration" },
	[ARRIVAL] = { .name = "arrival time" },
	{ 0 },
};

static const struct remark remarks[] = {
	{ NOTE_DROPPED, COMMAND, "command, directory, steps argument and data flag are not used" },
	{ NOTE_ASSUMED, DURATION, "tells the speed: steps / duration on the GPUs asked for" },
	{ 0 },
};

static const struct gavel_layout layout = {
	.steps = STEPS,
	.gpus = GPUS,
	.weight = WEIGHT,
	.slo = SLO,
	.duration = DURATION,
	.arrival = ARRIVAL,
};

static void read_row(struct rows *rows, struct job *job)
{
	gavel_row(rows, job, &layout);
	if (!slice_is(row_text(rows, MODE), "static"))
		row_note(rows, NOTE_DROPPED, MODE,
			"the batch size adapts while the job runs; it is taken as fixed", NULL);
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
	return gavel_looks(head, 12, &layout) ? 95 : 0;
}

const struct importer importer_shockwave = {
	.name = "shockwave",
	.summary = "Shockwave: Gavel's columns with mode and duration, 12 in all",
	.origin = "Zheng et al., NSDI 2023",
	.recognise = recognise,
	.table = &table,
};
