/*
 * Gavel's current traces: 10 columns.  Command, directory, the name of the
 * steps argument and the data flag say nothing to a simulation.
 */
#include "io/import/gavel.h"

/* ---- shared with gavel7 and shockwave ---- */

static double optional(struct rows *rows, int column, double missing, double min)
{
	return column < 0 ? missing : row_number(rows, column, missing, min, 1e12);
}

/* A deadline is a multiple of the run time, which only some layouts tell. */
static void set_deadline(struct rows *rows, struct job *job, const struct gavel_layout *layout,
	double duration_s)
{
	double slo = optional(rows, layout->slo, -1, -1e12);

	if (slo <= 0)
		return;
	if (isnan(duration_s))
		row_note(rows, NOTE_DROPPED, layout->slo,
			"a multiple of a run time that is not given: no deadline", NULL);
	else
		job->deadline_s = job->arrival_s + slo * duration_s;
}

void gavel_row(struct rows *rows, struct job *job, const struct gavel_layout *layout)
{
	double duration_s;

	job->by_steps = true;
	job->model = row_name(&rows->out->models, row_text(rows, 0));
	if (job->model == NAME_NONE)
		row_bad(rows, 0, row_text(rows, 0), "no job type is given", NULL);
	rows->work = row_duration(rows, layout->steps);
	job->gpus = row_gpus(rows, layout->gpus);
	job->arrival_s = row_number(rows, layout->arrival, 0, 0, 1e12);
	job->weight = optional(rows, layout->weight, 1, 0);
	if (job->weight < 1e-9)
		row_bad(rows, layout->weight, row_text(rows, layout->weight), "is no weight", NULL);
	duration_s = optional(rows, layout->duration, NAN, 0);
	if (duration_s >= 1e-3)
		job->nominal_rate = rows->work / duration_s;
	set_deadline(rows, job, layout, duration_s);
}

static bool is_number(const struct csv *csv, int field)
{
	double x;

	return field < 0 || slice_double(csv->fields[field], &x);
}

bool gavel_looks(struct slice head, size_t n, const struct gavel_layout *layout)
{
	struct csv csv;
	bool looks;

	looks = csv_peek(&csv, head, (struct csv_style)GAVEL_STYLE) && csv.n == n;
	looks = looks && is_number(&csv, layout->steps) && is_number(&csv, layout->gpus) &&
		is_number(&csv, layout->weight) && is_number(&csv, layout->slo) &&
		is_number(&csv, layout->duration) && is_number(&csv, layout->arrival);
	csv_fini(&csv);
	return looks;
}

const char *gavel_misfit(size_t n)
{
	switch (n) {
	case 7:
		return "this is the older layout, use --format gavel7";
	case 10:
		return "this is the current layout of Gavel, use --format gavel";
	case 12:
		return "this is Shockwave's layout, use --format shockwave";
	default:
		return "columns are separated by tabs; name the format with --format";
	}
}

/* ---- the format ---- */

enum { TYPE, COMMAND, DIRECTORY, STEPS_ARG, NEEDS_DATA, STEPS, GPUS, WEIGHT, SLO, ARRIVAL };

static const struct column columns[] = {
	[TYPE] = { .name = "job type" },
	[COMMAND] = { .name = "command" },
	[DIRECTORY] = { .name = "working directory" },
	[STEPS_ARG] = { .name = "steps argument" },
	[NEEDS_DATA] = { .name = "needs data dir" },
	[STEPS] = { .name = "total steps" },
	[GPUS] = { .name = "scale factor" },
	[WEIGHT] = { .name = "priority weight" },
	[SLO] = { .name = "SLO" },
	[ARRIVAL] = { .name = "arrival time" },
	{ 0 },
};

static const struct remark remarks[] = {
	{ NOTE_DROPPED, COMMAND, "command, directory, steps argument and data flag are not used" },
	{ 0 },
};

static const struct gavel_layout layout = {
	.steps = STEPS,
	.gpus = GPUS,
	.weight = WEIGHT,
	.slo = SLO,
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

/* Some other number of columns may still be meant for this: its error says what is wrong. */
static bool has_tabs(struct slice head)
{
	struct csv csv;
	bool has = csv_peek(&csv, head, (struct csv_style)GAVEL_STYLE) && csv.n >= 5;

	csv_fini(&csv);
	return has;
}

static int recognise(struct slice head, const char *path)
{
	(void)path;
	if (gavel_looks(head, 10, &layout))
		return 95;
	return has_tabs(head) ? 5 : 0;
}

const struct importer importer_gavel = {
	.name = "gavel",
	.summary = "Gavel: 10 columns separated by tabs, no header",
	.origin = "Narayanan et al., OSDI 2020",
	.recognise = recognise,
	.table = &table,
};
