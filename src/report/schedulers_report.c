/*
 * Parallel schedulers as a table, JSON and a page.
 */
#include "report/schedulers_report.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "report/html_parts.h"
#include "report/html_sections.h"
#include "report/stats.h"
#include "report/svg.h"

static const double lag = 0.01; /* of the tasks that came: so many waiting are a queue that grows */

/* ---- figures */

void schedulers_row_init(struct schedulers_row *row, const struct schedulers_config *config,
	struct schedulers_result *result)
{
	uint64_t requests = result->granted + result->refused;
	double *x = result->latency_s.at;
	size_t n = result->latency_s.n;

	stats_sort(x, n);
	*row = (struct schedulers_row){
		.mode = config->mode,
		.mean_s = stats_mean(x, n),
		.p50_s = stats_percentile(x, n, 50),
		.p90_s = stats_percentile(x, n, 90),
		.p99_s = stats_percentile(x, n, 99),
		.max_s = stats_percentile(x, n, 100),
		.conflicts = requests ? (double)result->refused / (double)requests : NAN,
		.retries = result->granted ? (double)result->refused / (double)result->granted : NAN,
		.refreshes = (double)result->refreshes / config->duration_s,
		.rows = (double)result->rows / config->duration_s,
		.result = *result,
	};
	*result = (struct schedulers_result){ 0 };
}

void schedulers_row_fini(struct schedulers_row *row)
{
	schedulers_result_fini(&row->result);
}

bool schedulers_row_lags(const struct schedulers_row *row)
{
	return (double)row->result.waiting > lag * (double)row->result.arrived;
}

double schedulers_load(const struct schedulers_config *c)
{
	return c->rate * c->task_s / c->machines / c->slots;
}

/* What the table and the page show, and CSV by key. */
static const struct column {
	const char *key, *title;
	enum unit unit;
	size_t offset;
	int rank;
} columns[] = {
#define FIGURE(key, title, unit, field, rank) \
	{ \
		key, title, unit, offsetof(struct schedulers_row, field), rank \
	}
	FIGURE("latency_mean_s", "mean latency", UNIT_SECONDS, mean_s, 0),
	FIGURE("latency_p90_s", "p90", UNIT_SECONDS, p90_s, 0),
	FIGURE("latency_p99_s", "p99", UNIT_SECONDS, p99_s, 3),
	FIGURE("conflicts", "conflicts", UNIT_SHARE, conflicts, 0),
	FIGURE("retries_mean", "retries", UNIT_RATIO, retries, 2),
	FIGURE("quality", "quality", UNIT_RATIO, result.score, 0),
	FIGURE("utilisation", "util", UNIT_SHARE, result.utilisation, 1),
	FIGURE("latency_first", "latency-first", UNIT_SHARE, result.latency_first, 4),
	FIGURE("refreshes_per_s", "syncs/s", UNIT_COUNT, refreshes, 2),
#undef FIGURE
};
enum { COLUMNS = sizeof(columns) / sizeof(*columns) };

static double value_of(const struct schedulers_row *row, const struct column *column)
{
	const void *at = (const char *)row + column->offset;

	return *(const double *)at;
}

/* ---- sentences */

void schedulers_report_lead(const struct schedulers_report *r, struct buf *out)
{
	const struct schedulers_config *c = r->config;
	char task[32], duration[32], usual[32];

	buf_printf(out,
		"%u machines of %u slot%s, %u scheduler%s, %u partition%s refreshed in %g s; %g tasks/s of %s, "
		"load %.0f %%, for %s; a task that meets nobody takes %s",
		c->machines, c->slots, c->slots == 1 ? "" : "s", c->plan.schedulers,
		c->plan.schedulers == 1 ? "" : "s", c->plan.partitions,
		c->plan.partitions == 1 ? "" : "s", c->plan.period_s, c->rate,
		text_duration(c->task_s, task), 100 * schedulers_load(c),
		text_duration(c->duration_s, duration), text_duration(schedulers_usual_s(c), usual));
}

/* A cluster that is emptier than it should be offers better machines: no merit of the mode. */
static void put_lag(const struct schedulers_report *r, const struct schedulers_row *row, struct buf *out)
{
	bool emptier = row->result.utilisation < 0.95 * fmin(schedulers_load(r->config), 1);

	buf_printf(out,
		"%s does not keep up: %llu tasks wait at the end, and latency grows with --duration%s\n",
		schedulers_mode_names[row->mode], (unsigned long long)row->result.waiting,
		emptier ? "; its quality is that of an emptier cluster" : "");
}

/* ---- the table */

static struct scale scale_of(const struct schedulers_report *r, const struct column *column)
{
	struct scale scale;
	double most = 0;

	/* Who lags would set the unit for all others. */
	for (size_t i = 0; i < r->n; i++)
		if (!schedulers_row_lags(&r->rows[i]) && isfinite(value_of(&r->rows[i], column)))
			most = fmax(most, value_of(&r->rows[i], column));
	if (column->unit == UNIT_RATIO)
		return (struct scale){ 1, "", 3 };
	if (column->unit != UNIT_SECONDS)
		return scale_for(column->unit, most);
	scale = scale_for(column->unit, most > 0 ? most : schedulers_usual_s(r->config));
	scale.decimals = 2; /* the usual delay and what is a little more must differ */
	return scale;
}

static void put_head(const struct schedulers_report *r, enum table_form form, struct table *table)
{
	table_column(table, "mode", ALIGN_LEFT, 0);
	for (int k = 0; k < COLUMNS; k++) {
		const struct column *column = &columns[k];
		struct scale scale = scale_of(r, column);

		table_column(table, form == TABLE_CSV ? column->key : column->title, ALIGN_RIGHT,
			column->rank);
		if (form != TABLE_CSV)
			table_unit(table, scale.name);
	}
}

static void put_row(const struct schedulers_report *r, const struct schedulers_row *row,
	enum table_form form, struct table *table)
{
	table_cell(table, schedulers_mode_names[row->mode]);
	for (int k = 0; k < COLUMNS; k++) {
		struct scale scale = scale_of(r, &columns[k]);
		double x = value_of(row, &columns[k]);
		struct buf text = { 0 };

		if (form != TABLE_CSV)
			scale_number(&scale, x, &text);
		else if (isfinite(x))
			buf_double(&text, x);
		table_cell(table, text.at);
		buf_fini(&text);
	}
}

void schedulers_report_text(const struct schedulers_report *r, enum table_form form,
	const struct term *term, struct buf *out)
{
	struct table table = { 0 };

	if (form == TABLE_TEXT) {
		schedulers_report_lead(r, out);
		buf_str(out, "\n\n");
	}
	put_head(r, form, &table);
	for (size_t i = 0; i < r->n; i++)
		put_row(r, &r->rows[i], form, &table);
	table_write(&table, form, term, out, NULL);
	table_fini(&table);
	for (size_t i = 0; i < r->n && form == TABLE_TEXT; i++)
		if (schedulers_row_lags(&r->rows[i]))
			put_lag(r, &r->rows[i], out);
}

/* ---- JSON */

static void config_json(struct json *j, const struct schedulers_config *c)
{
	json_int(j, "machines", c->machines);
	json_int(j, "slots", c->slots);
	json_int(j, "schedulers", c->plan.schedulers);
	json_int(j, "partitions", c->plan.partitions);
	json_double(j, "period_s", c->plan.period_s);
	json_int(j, "levels", c->levels);
	json_int(j, "classes", c->classes);
	json_double(j, "rate", c->rate);
	json_double(j, "hot", c->hot);
	json_double(j, "task_s", c->task_s);
	json_double(j, "load", schedulers_load(c));
	json_double(j, "decision_s", c->decision_s);
	json_double(j, "rtt_s", c->rtt_s);
	json_double(j, "usual_s", schedulers_usual_s(c));
	json_double(j, "warm_up_s", c->warm_up_s);
	json_double(j, "duration_s", c->duration_s);
	json_int(j, "seed", (int64_t)c->seed);
}

static void row_json(struct json *j, const struct schedulers_row *row)
{
	const struct schedulers_result *r = &row->result;

	json_begin_object(j, NULL);
	json_str(j, "mode", schedulers_mode_names[row->mode]);
	for (int k = 0; k < COLUMNS; k++)
		json_double(j, columns[k].key, value_of(row, &columns[k]));
	json_double(j, "latency_p50_s", row->p50_s);
	json_double(j, "latency_max_s", row->max_s);
	json_double(j, "rows_per_s", row->rows);
	json_double(j, "fleet_quality", r->fleet_score);
	json_int(j, "arrived", (int64_t)r->arrived);
	json_int(j, "granted", (int64_t)r->granted);
	json_int(j, "refused", (int64_t)r->refused);
	json_int(j, "most_tries", r->most_tries);
	json_int(j, "stuck", (int64_t)r->stuck);
	json_int(j, "refreshes", (int64_t)r->refreshes);
	json_int(j, "waiting", (int64_t)r->waiting);
	json_bool(j, "keeps_up", !schedulers_row_lags(row));
	json_end(j, '}');
}

void schedulers_report_json(const struct schedulers_report *r, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "schedulers/1");
	config_json(&j, r->config);
	json_begin_array(&j, "modes");
	for (size_t i = 0; i < r->n; i++)
		row_json(&j, &r->rows[i]);
	json_end(&j, ']');
	json_end(&j, '}');
	buf_char(out, '\n');
}

/* ---- page */

static void draw(const struct schedulers_report *r, const struct column *column, const char *title,
	const char *summary, struct buf *out)
{
	struct svg_bar bars[SCHEDULERS_MODES];

	for (size_t i = 0; i < r->n; i++)
		bars[i] = (struct svg_bar){
			.label = schedulers_mode_names[r->rows[i].mode],
			.value = value_of(&r->rows[i], column),
			.half = NAN,
			.sign = schedulers_row_lags(&r->rows[i]) ? " (grows)" : NULL,
			.look = i,
		};
	html_figure(title, summary, false, out);
	svg_bars(&(struct svg_chart){ column->key, title, summary, HTML_SMALL, 0 }, column->unit,
		bars, r->n, out);
	html_figure_end(false, out);
}

static const struct column *column_of(const char *key)
{
	int k = 0;

	while (strcmp(columns[k].key, key) != 0)
		k++;
	return &columns[k];
}

static void draw_all(const struct schedulers_report *r, struct buf *out)
{
	html_section("figures", "Side by side", NULL, out);
	draw(r, column_of("latency_mean_s"), "Mean latency",
		"From a task's arrival to the answer that grants it a machine.", out);
	draw(r, column_of("latency_p90_s"), "Latency of nine in ten",
		"Nine in ten tasks have their machine after so long.", out);
	draw(r, column_of("conflicts"), "Conflicts",
		"Share of requests for a machine that another scheduler had filled.", out);
	draw(r, column_of("quality"), "Quality",
		"Mean score of the machines that tasks got, up to 1.", out);
	html_section_end(out);
}

static void page_table(const struct schedulers_report *r, struct buf *out)
{
	struct term wide = { 0 };
	struct buf csv = { 0 };

	html_section("table", "All figures", NULL, out);
	buf_str(out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Figures\"><table><thead><tr>"
		"<th scope=\"col\">mode</th>");
	for (int k = 0; k < COLUMNS; k++)
		buf_printf(out, "<th scope=\"col\">%s</th>", columns[k].title);
	buf_str(out, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < r->n; i++) {
		html_row(schedulers_mode_names[r->rows[i].mode], out);
		for (int k = 0; k < COLUMNS; k++)
			html_cell(columns[k].unit, value_of(&r->rows[i], &columns[k]), out);
		buf_str(out, "</tr>\n");
	}
	buf_str(out, "</tbody></table></div>\n");
	schedulers_report_text(r, TABLE_CSV, &wide, &csv);
	html_download("schedulers.csv", &csv, out);
	html_section_end(out);
	buf_fini(&csv);
}

void schedulers_report_html(const struct schedulers_report *r, const struct html_info *info,
	struct buf *out)
{
	struct buf lead = { 0 };

	schedulers_report_lead(r, &lead);
	html_begin(info, lead.at, out);
	draw_all(r, out);
	page_table(r, out);
	html_end(info, NULL, out);
	buf_fini(&lead);
}
