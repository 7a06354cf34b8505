/*
 * Shockwave: Gavel's columns, how the batch size adapts (mode), and the run
 * time as profiled, from which the nominal speed and deadlines follow.
 *
 * A job that adapts goes through several job types: the one in the trace and
 * those that differ from it by their batch size.
 */
#include "io/import/gavel.h"

#include "model/regime.h"

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
	{ NOTE_ASSUMED, MODE,
		"batch sizes change at the epochs measured for Shockwave, where speeds at them are given" },
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

/* The job types it goes through, by name. */
static void name_regimes(struct rows *rows, struct slice type, struct adaptation *a)
{
	struct buf name = { 0 };

	for (uint32_t i = 0; i < a->nregimes; i++) {
		buf_clear(&name);
		adaptation_name(a, type, i, &name);
		a->regime[i].model = names_add(&rows->out->models, name.at, name.n);
	}
	buf_fini(&name);
}

static void read_mode(struct rows *rows, struct job *job)
{
	struct slice word = row_text(rows, MODE), type = row_text(rows, TYPE);
	enum adapting how = adapting_of(word);
	struct adaptation a;

	if (how == ADAPTING_COUNT) {
		row_bad(rows, MODE, word, "is no mode", "write static, accordion or gns");
		return;
	}
	if (!adaptation_init(&a, type, (uint32_t)job->gpus, how, rows->work)) {
		if (how != ADAPTING_NOT)
			row_note(rows, NOTE_DROPPED, MODE,
				"how the batch of such a model adapts is not known; it is taken as fixed",
				NULL);
		return;
	}
	name_regimes(rows, type, &a);
	job->adapts = arena_new(&rows->out->text, struct adaptation);
	*(struct adaptation *)job->adapts = a;
}

static void read_row(struct rows *rows, struct job *job)
{
	gavel_row(rows, job, &layout);
	if (rows->fate == ROW_GOOD)
		read_mode(rows, job);
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
