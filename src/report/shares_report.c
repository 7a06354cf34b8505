/*
 * Shares as a table for terminals and as JSON.
 */
#include "report/shares_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "report/table.h"
#include "report/units.h"

enum { HEAT_STEPS = 8 };

/* Smaller shares are rounding of the solver. */
static const double least_share = 1e-6;

/* ---- copying */

/* Likewise of prices, beside the value. */
static double clean_price(double price, double value)
{
	return fabs(price) < 1e-9 * (1 + fabs(value)) ? 0 : price;
}

static void take_types(struct shares_report *r, const struct program *p, const struct shares *s)
{
	r->ntypes = p->types;
	r->types = arena_array(&r->memory, struct share_type, p->types);
	for (uint32_t w = 0; w < p->types; w++)
		r->types[w] = (struct share_type){
			.name = arena_strdup(&r->memory, p->round->cluster->types[p->type[w]].name),
			.devices = p->capacity[w],
			.price = s->price ? clean_price(s->price[w], s->value) : NAN,
		};
}

static const double *take_row(struct shares_report *r, const double *from)
{
	double *x = arena_array(&r->memory, double, r->ntypes);

	for (uint32_t w = 0; w < r->ntypes; w++)
		x[w] = isfinite(from[w]) && from[w] > least_share ? from[w] : 0;
	return x;
}

static const char *model_name(const struct trace *trace, uint32_t model)
{
	return model < trace->models.n ? trace->models.at[model] : NULL;
}

static void take_job(struct shares_report *r, const struct program *p, const struct shares *s,
	const struct trace *trace, uint32_t row)
{
	const struct job *job = &p->round->jobs[p->id[row]];
	const char *model = model_name(trace, job->model);
	struct share_job *out = &r->jobs[r->njobs++];

	*out = (struct share_job){
		.label = arena_strdup(&r->memory, job->label),
		.model = model ? arena_strdup(&r->memory, model) : NULL,
		.gpus = p->gang[row],
		.weight = p->weight[row],
		.x = take_row(r, &s->x[(size_t)row * p->types]),
		.level = s->level ? s->level[row] : NAN,
		.tight = s->tight && s->tight[row],
	};
	for (uint32_t w = 0; w < r->ntypes; w++) {
		out->sum += out->x[w];
		r->types[w].used += p->config_rows > 0 ? program_used(p, s, row, w)
						       : out->gpus * out->x[w];
	}
}

static void take_pair(struct shares_report *r, const struct program *p, const struct shares *s,
	uint32_t at)
{
	const double *from = &s->pair_x[(size_t)at * p->types], *x;
	struct program_pair pair = shares_pair(p, s, at);
	struct share_job *a = &r->jobs[pair.a], *b = &r->jobs[pair.b];
	double sum = 0;

	for (uint32_t w = 0; w < p->types; w++)
		sum += from[w] > least_share ? from[w] : 0;
	if (!(sum > 0))
		return;
	x = take_row(r, from);
	r->pairs[r->npairs++] = (struct share_pair){ pair.a, pair.b, x };
	a->paired += sum;
	a->sum += sum;
	b->paired += sum;
	b->sum += sum;
	for (uint32_t w = 0; w < r->ntypes; w++)
		r->types[w].used += a->gpus * x[w];
}

void shares_report_init(struct shares_report *r, const struct program *p, const struct shares *s,
	const struct trace *trace)
{
	bool valued = s->level || s->price || s->tight || s->value != 0;

	*r = (struct shares_report){
		.value = valued && p->jobs > 0 ? s->value : NAN,
		.has_tight = s->tight != NULL,
		.last_end_s = NAN,
		.next_start_s = NAN,
	};
	if (s->fallback)
		r->fallback = arena_strdup(&r->memory, s->fallback);
	take_types(r, p, s);
	r->jobs = arena_array(&r->memory, struct share_job, p->jobs);
	for (uint32_t i = 0; i < p->jobs; i++)
		take_job(r, p, s, trace, i);
	if (!s->pair_x)
		return;
	r->pairs = arena_array(&r->memory, struct share_pair, shares_pairs(p, s));
	for (uint32_t i = 0; i < shares_pairs(p, s); i++)
		take_pair(r, p, s, i);
}

void shares_report_fini(struct shares_report *report)
{
	arena_fini(&report->memory);
	*report = (struct shares_report){ 0 };
}

uint32_t *shares_report_order(const struct shares_report *r, uint32_t top, struct arena *memory)
{
	uint32_t *order = arena_array(memory, uint32_t, r->njobs);
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->njobs; i++)
		if (r->njobs <= top || r->jobs[i].tight)
			order[n++] = i;
	for (uint32_t i = 0; r->njobs > top && i < r->njobs; i++)
		if (!r->jobs[i].tight)
			order[n++] = i;
	return order;
}

/* ---- sentences */

/* "7260 s (2.0 h)": as it can be given back, and for people. */
static void put_time(double s, struct buf *out)
{
	buf_double(out, s);
	buf_str(out, " s");
	if (s < 120)
		return;
	buf_str(out, " (");
	unit_text(UNIT_SECONDS, s, out);
	buf_char(out, ')');
}

static const char *plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

void shares_report_nobody(const struct shares_report *r, struct buf *out)
{
	buf_str(out, "no job is active at ");
	put_time(r->at_s, out);
	if (r->held)
		buf_printf(out, "; %u %s held back by admission or dependencies", r->held,
			r->held == 1 ? "is" : "are");
	if (isfinite(r->last_end_s)) {
		buf_str(out, "; the last one before ended at ");
		put_time(r->last_end_s, out);
	}
	if (isfinite(r->next_start_s)) {
		buf_str(out, "; the next one arrives at ");
		put_time(r->next_start_s, out);
	} else {
		buf_str(out, "; none arrives later");
	}
}

static uint32_t count_tight(const struct shares_report *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->njobs; i++)
		n += r->jobs[i].tight;
	return n;
}

void shares_report_lead(const struct shares_report *r, struct buf *out)
{
	uint32_t tight = count_tight(r);

	buf_printf(out, "%u job%s active at ", r->njobs, plural(r->njobs));
	put_time(r->at_s, out);
	if (r->fullest)
		buf_str(out, ", when most are");
	if (isfinite(r->value))
		buf_printf(out, "; objective %.6g", r->value);
	if (tight && tight == r->njobs)
		buf_str(out, tight == 1 ? ", held down by it" : ", held down by all of them");
	else if (tight)
		buf_printf(out, ", held down by %u job%s", tight, plural(tight));
}

/* ---- text */

/* One hue, light to dark, the text chosen for contrast; the number says it all without. */
static const char *const heat_colours[HEAT_STEPS] = {
	"48;5;195;38;5;16",
	"48;5;153;38;5;16",
	"48;5;117;38;5;16",
	"48;5;75;38;5;16",
	"48;5;39;38;5;16",
	"48;5;26;38;5;231",
	"48;5;20;38;5;231",
	"48;5;18;38;5;231",
};

static int heat_of(double x)
{
	int step = (int)(x * HEAT_STEPS);

	return step < HEAT_STEPS ? step : HEAT_STEPS - 1;
}

static void share_cell(struct table *table, double x, const struct term *term)
{
	static const char *const blocks[HEAT_STEPS] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };

	if (x <= 0) {
		table_cell(table, term->utf8 ? "· " : ".");
		return;
	}
	if (term->utf8)
		table_cellf(table, "%.1f %s", 100 * x, blocks[heat_of(x)]);
	else
		table_cellf(table, "%.1f", 100 * x);
	table_style(table, heat_colours[heat_of(x)]);
}

static void number_cell(struct table *table, double x)
{
	if (isfinite(x))
		table_cellf(table, "%.4g", x);
	else
		table_cell(table, "-");
}

static bool any_level(const struct shares_report *r)
{
	for (uint32_t i = 0; i < r->njobs; i++)
		if (isfinite(r->jobs[i].level))
			return true;
	return false;
}

static bool any_model(const struct shares_report *r)
{
	for (uint32_t i = 0; i < r->njobs; i++)
		if (r->jobs[i].model)
			return true;
	return false;
}

/* Types are ranked so that a narrow terminal keeps the job, its sum and the mark. */
static void type_columns(struct table *table, const struct shares_report *r)
{
	for (uint32_t w = 0; w < r->ntypes; w++) {
		table_column(table, r->types[w].name, ALIGN_RIGHT, 2);
		table_unit(table, "%");
	}
}

static void job_columns(struct table *table, const struct shares_report *r)
{
	table_column(table, "job", ALIGN_LEFT, 0);
	if (any_model(r))
		table_column(table, "model", ALIGN_LEFT, 4);
	table_column(table, "GPUs", ALIGN_RIGHT, 3);
	table_column(table, "weight", ALIGN_RIGHT, 5);
	type_columns(table, r);
	if (r->npairs) {
		table_column(table, "paired", ALIGN_RIGHT, 2);
		table_unit(table, "%");
	}
	table_column(table, "sum", ALIGN_RIGHT, 1);
	table_unit(table, "%");
	if (any_level(r))
		table_column(table, "level", ALIGN_RIGHT, 1);
	if (r->has_tight)
		table_column(table, "", ALIGN_LEFT, 0);
}

static void job_row(struct table *table, const struct shares_report *r, const struct share_job *job,
	const struct term *term)
{
	table_cell(table, job->label);
	if (any_model(r))
		table_cell(table, job->model ? job->model : "-");
	table_cellf(table, "%.0f", job->gpus);
	table_cellf(table, "%g", job->weight);
	for (uint32_t w = 0; w < r->ntypes; w++)
		share_cell(table, job->x[w], term);
	if (r->npairs)
		share_cell(table, job->paired, term);
	table_cellf(table, "%.1f", 100 * job->sum);
	if (any_level(r))
		number_cell(table, job->level);
	if (r->has_tight)
		table_cell(table, job->tight ? "bottleneck" : "");
}

static void write_table(struct table *table, const struct term *term, struct buf *out)
{
	struct buf left_out = { 0 };

	table_write(table, TABLE_TEXT, term, out, &left_out);
	if (left_out.n)
		buf_printf(out, "(no room for %s)\n", left_out.at);
	buf_fini(&left_out);
	table_fini(table);
}

static void put_jobs(const struct shares_report *r, uint32_t top, const struct term *term,
	struct buf *out)
{
	uint32_t shown = r->njobs < top ? r->njobs : top, hidden_tight = 0;
	struct table table = { 0 };
	struct arena memory = { 0 };
	uint32_t *order = shares_report_order(r, top, &memory);

	job_columns(&table, r);
	for (uint32_t i = 0; i < shown; i++)
		job_row(&table, r, &r->jobs[order[i]], term);
	for (uint32_t i = shown; i < r->njobs; i++)
		hidden_tight += r->jobs[order[i]].tight;
	write_table(&table, term, out);
	if (r->njobs > shown) {
		buf_printf(out, "... and %u more job%s", r->njobs - shown, plural(r->njobs - shown));
		if (hidden_tight)
			buf_printf(out, ", %u of them bottlenecks", hidden_tight);
		buf_str(out, "; --all shows every one\n");
	}
	arena_fini(&memory);
}

static void put_pairs(const struct shares_report *r, uint32_t top, const struct term *term,
	struct buf *out)
{
	uint32_t shown = r->npairs < top ? r->npairs : top;
	struct table table = { 0 };

	if (!r->npairs)
		return;
	table_column(&table, "pair on the same devices", ALIGN_LEFT, 0);
	table_column(&table, "GPUs", ALIGN_RIGHT, 3);
	type_columns(&table, r);
	for (uint32_t i = 0; i < shown; i++) {
		const struct share_pair *pair = &r->pairs[i];

		table_cellf(&table, "%.100s + %.100s", r->jobs[pair->a].label, r->jobs[pair->b].label);
		table_cellf(&table, "%.0f", r->jobs[pair->a].gpus);
		for (uint32_t w = 0; w < r->ntypes; w++)
			share_cell(&table, pair->x[w], term);
	}
	buf_char(out, '\n');
	write_table(&table, term, out);
	if (r->npairs > shown)
		buf_printf(out, "... and %u more pair%s; --all shows every one\n",
			r->npairs - shown, plural(r->npairs - shown));
}

static void put_types(const struct shares_report *r, const struct term *term, struct buf *out)
{
	struct table table = { 0 };

	table_column(&table, "type", ALIGN_LEFT, 0);
	table_column(&table, "devices", ALIGN_RIGHT, 0);
	table_column(&table, "used", ALIGN_RIGHT, 0);
	table_column(&table, "used", ALIGN_RIGHT, 1);
	table_unit(&table, "%");
	table_column(&table, "price", ALIGN_RIGHT, 0);
	for (uint32_t w = 0; w < r->ntypes; w++) {
		const struct share_type *type = &r->types[w];

		table_cell(&table, type->name);
		table_cellf(&table, "%.0f", type->devices);
		table_cellf(&table, "%.2f", type->used);
		table_cellf(&table, "%.1f", type->devices > 0 ? 100 * type->used / type->devices : 0);
		number_cell(&table, type->price);
	}
	buf_char(out, '\n');
	write_table(&table, term, out);
}

/* What the words of the tables mean, where they occur. */
static void put_meanings(const struct shares_report *r, struct buf *out)
{
	bool priced = false;

	for (uint32_t w = 0; w < r->ntypes; w++)
		priced |= isfinite(r->types[w].price);
	if (any_level(r) || priced)
		buf_char(out, '\n');
	if (any_level(r))
		buf_str(out, "level: what the objective compares between jobs\n");
	if (priced)
		buf_str(out, "price: by how much one more device would better the objective\n");
}

void shares_report_text(const struct shares_report *r, uint32_t top, const struct term *term,
	struct buf *out)
{
	buf_printf(out, "%s on %s; %s\n", r->policy, r->cluster, r->source);
	if (!r->njobs) {
		shares_report_nobody(r, out);
		buf_char(out, '\n');
		put_types(r, term, out);
		return;
	}
	shares_report_lead(r, out);
	buf_char(out, '\n');
	if (r->fallback)
		buf_printf(out, "not the objective itself: %s\n", r->fallback);
	buf_char(out, '\n');
	put_jobs(r, top, term, out);
	put_pairs(r, top, term, out);
	put_types(r, term, out);
	put_meanings(r, out);
}

/* ---- JSON */

static void types_json(struct json *j, const struct shares_report *r)
{
	json_begin_array(j, "types");
	for (uint32_t w = 0; w < r->ntypes; w++) {
		json_begin_object(j, NULL);
		json_str(j, "name", r->types[w].name);
		json_double(j, "devices", r->types[w].devices);
		json_double(j, "used", r->types[w].used);
		json_double(j, "price", r->types[w].price);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void row_json(struct json *j, const struct shares_report *r, const double *x)
{
	json_begin_object(j, "x");
	for (uint32_t w = 0; w < r->ntypes; w++)
		json_double(j, r->types[w].name, x[w]);
	json_end(j, '}');
}

static void jobs_json(struct json *j, const struct shares_report *r)
{
	json_begin_array(j, "jobs");
	for (uint32_t i = 0; i < r->njobs; i++) {
		const struct share_job *job = &r->jobs[i];

		json_begin_object(j, NULL);
		json_str(j, "id", job->label);
		json_str(j, "model", job->model);
		json_double(j, "gpus", job->gpus);
		json_double(j, "weight", job->weight);
		row_json(j, r, job->x);
		json_double(j, "paired", job->paired);
		json_double(j, "sum", job->sum);
		json_double(j, "level", job->level);
		if (r->has_tight)
			json_bool(j, "bottleneck", job->tight);
		else
			json_str(j, "bottleneck", NULL);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void pairs_json(struct json *j, const struct shares_report *r)
{
	json_begin_array(j, "pairs");
	for (uint32_t i = 0; i < r->npairs; i++) {
		json_begin_object(j, NULL);
		json_begin_array(j, "jobs");
		json_str(j, NULL, r->jobs[r->pairs[i].a].label);
		json_str(j, NULL, r->jobs[r->pairs[i].b].label);
		json_end(j, ']');
		row_json(j, r, r->pairs[i].x);
		json_end(j, '}');
	}
	json_end(j, ']');
}

void shares_report_json(const struct shares_report *r, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "shares/1");
	json_str(&j, "policy", r->policy);
	json_str(&j, "cluster", r->cluster);
	json_str(&j, "trace", r->source);
	json_double(&j, "at_s", r->at_s);
	json_int(&j, "active", r->njobs);
	json_int(&j, "held", r->held);
	json_double(&j, "last_end_s", r->last_end_s);
	json_double(&j, "next_arrival_s", r->next_start_s);
	json_double(&j, "objective", r->value);
	json_str(&j, "fallback", r->fallback);
	types_json(&j, r);
	jobs_json(&j, r);
	pairs_json(&j, r);
	json_end(&j, '}');
	buf_char(out, '\n');
}
