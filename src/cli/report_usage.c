/*
 * GPU hours as a table or as CSV.
 */
#include "cli/report_usage.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "report/table.h"

struct view {
	const json_t *by, *rows, *total;
	bool csv, gpus, slots, priced; /* which columns */
	double hours;                  /* of all, GPUs and slots */
	struct table table;
};

static double number_of(const json_t *row, const char *name)
{
	double x = live_number(row, name);

	return isnan(x) ? 0 : x;
}

static double hours_of(const json_t *row)
{
	return number_of(row, "gpu_hours") + number_of(row, "slot_hours");
}

/* "user" as USER for people. */
static void key_column(struct view *v, const char *word)
{
	struct buf title = { 0 };

	for (const char *c = word; *c; c++)
		buf_char(&title, v->csv ? *c : (char)toupper((unsigned char)*c));
	table_column(&v->table, title.at, ALIGN_LEFT, 0);
	buf_fini(&title);
}

static void columns(struct view *v)
{
	for (size_t i = 0; i < json_array_size(v->by); i++)
		key_column(v, json_string_value(json_array_get(v->by, i)));
	table_column(&v->table, v->csv ? "jobs" : "JOBS", ALIGN_RIGHT, 0);
	if (v->gpus)
		table_column(&v->table, v->csv ? "gpu_hours" : "GPU-HOURS", ALIGN_RIGHT, 0);
	if (v->slots)
		table_column(&v->table, v->csv ? "slot_hours" : "SLOT-HOURS", ALIGN_RIGHT, 0);
	if (!v->csv)
		table_column(&v->table, "SHARE", ALIGN_RIGHT, 1);
	if (v->priced)
		table_column(&v->table, v->csv ? "cost" : "COST", ALIGN_RIGHT, 0);
}

static void hours_cell(struct view *v, double hours)
{
	if (v->csv)
		table_cellf(&v->table, "%.6f", hours);
	else
		table_cellf(&v->table, hours < 10 ? "%.2f" : "%.1f", hours);
}

/* A name that nobody gave is "-" for people and empty in CSV. */
static void key_cell(struct view *v, const char *word)
{
	table_cell(&v->table, !v->csv && (!word || !*word) ? "-" : word);
}

static void sum_cells(struct view *v, const json_t *row)
{
	table_cellf(&v->table, "%.0f", number_of(row, "jobs"));
	if (v->gpus)
		hours_cell(v, number_of(row, "gpu_hours"));
	if (v->slots)
		hours_cell(v, number_of(row, "slot_hours"));
	if (!v->csv)
		table_cellf(&v->table, "%.1f%%", v->hours > 0 ? hours_of(row) / v->hours * 100 : 0);
	if (v->priced)
		table_cellf(&v->table, "%.2f", number_of(row, "cost"));
}

static void fill(struct view *v)
{
	const json_t *row;
	size_t i;

	columns(v);
	json_array_foreach(v->rows, i, row)
	{
		for (size_t k = 0; k < json_array_size(v->by); k++)
			key_cell(v, live_text(row, json_string_value(json_array_get(v->by, k))));
		sum_cells(v, row);
	}
	if (v->csv || json_array_size(v->rows) < 2)
		return;
	for (size_t k = 0; k < json_array_size(v->by); k++)
		table_cell(&v->table, k ? "" : "total");
	sum_cells(v, v->total);
}

static int print_usage(const struct args *args, const json_t *reply, struct err *err)
{
	struct view v = {
		.by = json_object_get(reply, "by"),
		.rows = json_object_get(reply, "rows"),
		.total = json_object_get(reply, "total"),
		.csv = args->csv,
		.priced = args->price.n > 0,
	};
	double unpriced = number_of(v.total, "unpriced_hours");
	struct term term = term_of_stdout();
	char text[DURATION_SIZE];
	struct buf out = { 0 };
	int rc;

	v.slots = v.csv || number_of(v.total, "slot_hours") > 0;
	v.gpus = v.csv || number_of(v.total, "gpu_hours") > 0 || !v.slots;
	v.hours = hours_of(v.total);
	if (!json_array_size(v.rows) && !v.csv) {
		ui_err("no job ran in the last %s\n", live_duration(args->since, text));
		return 0;
	}
	fill(&v);
	table_write(&v.table, v.csv ? TABLE_CSV : TABLE_TEXT, &term, &out, NULL);
	rc = ui_print(&out, err);
	if (!rc && v.priced && unpriced > 0)
		ui_err("%.4g hours are of types without a price and not in COST: stint report usage --by type shows them\n",
			unpriced);
	table_fini(&v.table);
	buf_fini(&out);
	return rc;
}

static char *path_of(const struct args *args)
{
	struct buf path = { 0 }, price = { 0 };

	for (size_t i = 0; i < args->price.n; i++)
		buf_printf(&price, "%s%s", i ? "," : "", args->price.at[i]);
	buf_str(&path, "/v1/usage");
	live_query_number(&path, "since_s", args->since);
	live_query(&path, "by", args->by);
	live_query(&path, "price", price.n ? price.at : NULL);
	buf_fini(&price);
	return path.at;
}

int report_usage(const struct args *args, struct err *err)
{
	char *path = path_of(args);
	json_t *reply;
	int rc = live_get(args, path, &reply, err);

	free(path);
	if (rc)
		return rc;
	rc = args->json ? live_print_json(reply, err) : print_usage(args, reply, err);
	json_decref(reply);
	return rc;
}
