/*
 * The table of stint queue.
 */
#include "cli/jobs_table.h"

#include <math.h>
#include <string.h>

#include "cli/array_fold.h"
#include "cli/live_print.h"

enum { NAME_COLUMNS = 24, NAME_NARROW = 12, REASON_COLUMNS = 20 };

static void cell_of(struct table *table, struct buf *text)
{
	table_cell(table, text->n ? text->at : "");
	buf_clear(text);
}

/* Why it waits, how it ended, or beside whom it runs. */
static void put_reason(const struct fold_row *row, struct buf *out)
{
	fold_reason(row, out);
	if (!out->n && live_ending(row->job))
		buf_str(out, live_ending(row->job));
	if (!out->n)
		live_guest(row->job, out);
}

static double time_of(const json_t *job)
{
	double run_s = live_number(job, "run_s");
	const char *state = live_text(job, "state");

	return state && !strcmp(state, "PENDING") ? live_number(job, "wait_s") : run_s;
}

static void put_row(struct table *table, const struct fold_row *row, bool slurm, const struct term *term)
{
	const json_t *job = row->job;
	const char *state = live_text(job, "state");
	char duration[DURATION_SIZE];
	struct buf text = { 0 };

	fold_label(row, &text);
	cell_of(table, &text);
	if (slurm)
		table_cell(table, live_text(job, "alias"));
	live_cut(live_text(job, "name"),
		!term->width               ? 0
			: term->width > 80 ? NAME_COLUMNS
					   : NAME_NARROW,
		term, &text);
	cell_of(table, &text);
	live_who(job, &text);
	cell_of(table, &text);
	table_cell(table, state);
	table_style(table, live_state_style(state));
	table_cell(table, live_duration(time_of(job), duration));
	live_gpus(job, &text);
	cell_of(table, &text);
	if (slurm)
		table_cell(table, live_text(job, "node"));
	live_devices(json_object_get(job, "devices"), &text);
	cell_of(table, &text);
	live_progress(job, &text);
	cell_of(table, &text);
	table_cell(table,
		isnan(live_number(job, "eta_s")) ? ""
						 : live_duration(live_number(job, "eta_s"), duration));
	put_reason(row, &text);
	cell_of(table, &text);
	buf_fini(&text);
}

/* Jobs of a cluster have another number there, and nodes are to be told apart. */
static bool any_alias(const json_t *jobs)
{
	for (size_t i = 0; i < json_array_size(jobs); i++) {
		if (live_text(json_array_get(jobs, i), "alias"))
			return true;
	}
	return false;
}

void jobs_table(const json_t *jobs, bool expand, const struct term *term, struct buf *out)
{
	static const struct {
		const char *title;
		enum align align;
		int rank;
		bool slurm; /* only then */
	} columns[] = {
		{ "JOBID", ALIGN_RIGHT, 0, false },
		{ "SLURM", ALIGN_RIGHT, 0, true },
		{ "NAME", ALIGN_LEFT, 1, false },
		{ "USER", ALIGN_LEFT, 7, false },
		{ "STATE", ALIGN_LEFT, 0, false },
		{ "TIME", ALIGN_RIGHT, 2, false },
		{ "GPUS", ALIGN_RIGHT, 4, false },
		{ "NODE", ALIGN_LEFT, 4, true },
		{ "DEVICES", ALIGN_LEFT, 8, false },
		{ "PROGRESS", ALIGN_RIGHT, 6, false },
		{ "ETA", ALIGN_RIGHT, 5, false },
		{ "REASON", ALIGN_LEFT, 3, false },
	};
	bool slurm = any_alias(jobs);
	struct table table = { 0 };
	struct fold fold;

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		if (slurm || !columns[i].slurm)
			table_column(&table, columns[i].title, columns[i].align, columns[i].rank);
	}
	table_rest(&table, REASON_COLUMNS);
	fold_init(&fold, jobs, expand);
	for (size_t i = 0; i < fold.rows.n; i++)
		put_row(&table, &fold.rows.at[i], slurm, term);
	fold_fini(&fold);
	table_write(&table, TABLE_TEXT, term, out, NULL);
	table_fini(&table);
}
