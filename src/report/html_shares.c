/*
 * Shares as a heat map, alone and in a page.
 *
 * One hue from light to dark (dark to light on a dark screen), so that the
 * order of the shares survives any kind of colour vision and grey print; the
 * numbers stand in the cells.
 */
#include "report/shares_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/csv.h"
#include "report/html_parts.h"
#include "report/svg_draw.h"
#include "report/table.h"

enum {
	STEPS = 8,
	ROW = 22,
	HEAD = 42,
	FOOT = 78,
	CELL_LEAST = 76,
	CELL_MOST = 110,
	LEAST_WIDTH = 420
};

/* Fits a page with its own style as well as a file that stands alone. */
static const char heat_style[] =
	"<style>svg.heat{--k0:#f1f3f5;--k1:#e3eef8;--k2:#c9dff1;--k3:#a6cbe7;--k4:#7bb3da;--k5:#4f98ca;"
	"--k6:#2f6fab;--k7:#1d5690;--k8:#0c3b6e;--low:#10161c;--high:#fff;--ink:#1a1f24;--dim:#57606a;"
	"--paper:#fff;font:12px system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif;"
	"font-variant-numeric:tabular-nums}"
	"@media screen and (prefers-color-scheme:dark){svg.heat{--k0:#1e2327;--k1:#16293a;--k2:#173a57;"
	"--k3:#1a4d76;--k4:#1f6296;--k5:#3377ad;--k6:#6aaadb;--k7:#9ccbee;--k8:#d0e8fa;--low:#fff;"
	"--high:#10161c;--ink:#e4e7ea;--dim:#9ba5ae;--paper:#14171a}}"
	"svg.heat{display:block}"
	"svg.heat rect.paper{fill:var(--paper)}svg.heat text{fill:var(--ink);font-size:12px}"
	"svg.heat text.dim{fill:var(--dim)}svg.heat text.head{font-weight:600}"
	"svg.heat text.low{fill:var(--low)}svg.heat text.high{fill:var(--high)}"
	"svg.heat text.mark{font-weight:600}"
	"svg.heat .k0{fill:var(--k0)}svg.heat .k1{fill:var(--k1)}svg.heat .k2{fill:var(--k2)}"
	"svg.heat .k3{fill:var(--k3)}svg.heat .k4{fill:var(--k4)}svg.heat .k5{fill:var(--k5)}"
	"svg.heat .k6{fill:var(--k6)}svg.heat .k7{fill:var(--k7)}svg.heat .k8{fill:var(--k8)}"
	"</style>\n";

/* 0: nothing; 1 to 8 by eighths. */
static int step_of(double x)
{
	int step = (int)ceil(x * STEPS - 1e-9);

	return step < 0 ? 0 : step > STEPS ? STEPS : step;
}

/* Where things stand. */
struct heat {
	const struct shares_report *r;
	const uint32_t *order;
	uint32_t rows;
	bool paired, levels;
	size_t name_room, model_room; /* characters */
	double name_x, gpus_x, cells_x, cell, sum_x, level_x, mark_x;
	int width, height;
	struct buf *out;
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void measure(struct heat *h)
{
	size_t columns = h->r->ntypes + h->paired, widest = 4;
	double x;

	h->name_room = 3;
	for (uint32_t i = 0; i < h->rows; i++) {
		const struct share_job *job = &h->r->jobs[h->order[i]];

		if (text_columns(job->label) > h->name_room)
			h->name_room = least(text_columns(job->label), 22);
		if (job->model && text_columns(job->model) > h->model_room)
			h->model_room = least(text_columns(job->model), 24);
		h->levels |= isfinite(job->level);
	}
	for (uint32_t w = 0; w < h->r->ntypes; w++)
		widest = text_columns(h->r->types[w].name) > widest
			? text_columns(h->r->types[w].name)
			: widest;
	x = 8 + 7.0 * (double)h->name_room + 10;
	h->name_x = x;
	x += h->model_room ? 7.0 * (double)h->model_room + 8 : 0;
	h->gpus_x = x + 34;
	h->cells_x = h->gpus_x + 10;
	h->cell = fmax(CELL_LEAST, fmin(CELL_MOST, 8.0 * (double)least(widest, 14) + 10));
	h->sum_x = h->cells_x + h->cell * (double)columns + 60;
	h->level_x = h->sum_x + (h->levels ? 70 : 0);
	h->mark_x = h->level_x + 12;
	h->width = (int)fmax(LEAST_WIDTH, h->mark_x + (h->r->has_tight ? 90 : 4));
	h->height = HEAD + (int)h->rows * ROW + FOOT;
}

static void put_text(const struct heat *h, double x, double y, const char *class_name,
	const char *anchor, const char *text)
{
	svg_text(&(struct svg_text){ x, y, class_name, anchor, 0 }, text, h->out);
}

static void put_number(const struct heat *h, double x, double y, const char *class_name,
	const char *anchor, const char *fmt, double value)
{
	struct buf text = { 0 };

	if (isfinite(value))
		buf_printf(&text, fmt, value);
	else
		buf_char(&text, '-');
	put_text(h, x, y, class_name, anchor, text.at);
	buf_fini(&text);
}

static void put_rect(const struct heat *h, double x, double y, double width, double height, int step)
{
	buf_printf(h->out, "<rect class=\"k%d\" x=\"", step);
	svg_put(h->out, x);
	buf_str(h->out, "\" y=\"");
	svg_put(h->out, y);
	buf_str(h->out, "\" width=\"");
	svg_put(h->out, width);
	buf_str(h->out, "\" height=\"");
	svg_put(h->out, height);
	buf_str(h->out, "\"/>");
}

static double cell_x(const struct heat *h, uint32_t column)
{
	return h->cells_x + h->cell * column;
}

/* One share; who points at it reads the whole of it. */
static void put_share(const struct heat *h, const struct share_job *job, const char *where,
	uint32_t column, double y, double x)
{
	int step = step_of(x);
	double left = cell_x(h, column);

	buf_str(h->out, "<g><title>job ");
	html_text(h->out, job->label);
	buf_str(h->out, ", ");
	html_text(h->out, where);
	buf_printf(h->out, ": %.2f %%</title>", 100 * x);
	put_rect(h, left + 1, y + 1, h->cell - 2, ROW - 2, step);
	if (step)
		put_number(h, left + h->cell / 2, y + 15, step > 5 ? "high" : "low", "middle",
			"%.1f %%", 100 * x);
	else
		put_text(h, left + h->cell / 2, y + 15, "dim", "middle", "·");
	buf_str(h->out, "</g>");
}

static void put_row(const struct heat *h, uint32_t row)
{
	const struct share_job *job = &h->r->jobs[h->order[row]];
	double y = HEAD + (double)row * ROW;

	svg_text(&(struct svg_text){ 8, y + 15, NULL, NULL, h->name_room }, job->label, h->out);
	if (job->model)
		svg_text(&(struct svg_text){ h->name_x, y + 15, "dim", NULL, h->model_room },
			job->model, h->out);
	put_number(h, h->gpus_x, y + 15, "dim", "end", "%.0f", job->gpus);
	for (uint32_t w = 0; w < h->r->ntypes; w++)
		put_share(h, job, h->r->types[w].name, w, y, job->x[w]);
	if (h->paired)
		put_share(h, job, "beside another", h->r->ntypes, y, job->paired);
	put_number(h, h->sum_x, y + 15, NULL, "end", "%.1f %%", 100 * job->sum);
	if (h->levels)
		put_number(h, h->level_x, y + 15, NULL, "end", "%.4g", job->level);
	if (job->tight)
		put_text(h, h->mark_x, y + 15, "mark", NULL, "◀ bottleneck");
	buf_char(h->out, '\n');
}

static void put_heading(const struct heat *h)
{
	put_text(h, 8, 32, "head", NULL, "job");
	if (h->model_room)
		put_text(h, h->name_x, 32, "head", NULL, "model");
	put_text(h, h->gpus_x, 32, "head", "end", "GPUs");
	for (uint32_t w = 0; w < h->r->ntypes; w++) {
		double middle = cell_x(h, w) + h->cell / 2;

		svg_text(&(struct svg_text){ middle, 17, "head", "middle", 14 },
			h->r->types[w].name, h->out);
		put_number(h, middle, 32, "dim", "middle",
			h->r->types[w].devices == 1 ? "%.0f GPU" : "%.0f GPUs",
			h->r->types[w].devices);
	}
	if (h->paired)
		put_text(h, cell_x(h, h->r->ntypes) + h->cell / 2, 32, "head", "middle", "paired");
	put_text(h, h->sum_x, 32, "head", "end", "sum");
	if (h->levels)
		put_text(h, h->level_x, 32, "head", "end", "level");
	buf_char(h->out, '\n');
}

static bool priced(const struct shares_report *r)
{
	for (uint32_t w = 0; w < r->ntypes; w++)
		if (isfinite(r->types[w].price))
			return true;
	return false;
}

/* Below the columns: how full each type is and what one more device is worth. */
static void put_totals(const struct heat *h)
{
	double y = HEAD + (double)h->rows * ROW + 18;
	bool prices = priced(h->r);

	put_text(h, h->gpus_x, y, "head", "end", "in use");
	if (prices)
		put_text(h, h->gpus_x, y + 18, "head", "end", "price");
	for (uint32_t w = 0; w < h->r->ntypes; w++) {
		const struct share_type *type = &h->r->types[w];
		double middle = cell_x(h, w) + h->cell / 2;

		put_number(h, middle, y, NULL, "middle", "%.0f %%",
			type->devices > 0 ? 100 * type->used / type->devices : NAN);
		if (prices)
			put_number(h, middle, y + 18, NULL, "middle", "%.3g", type->price);
	}
	buf_char(h->out, '\n');
}

static void put_legend(const struct heat *h)
{
	double y = h->height - 24.0, x = 8;

	put_text(h, x, y + 12, "dim", NULL, "share of time: 0");
	x += 98;
	for (int step = 0; step <= STEPS; step++, x += 18)
		put_rect(h, x, y + 2, 18, 12, step);
	put_text(h, x + 6, y + 12, "dim", NULL, "100 %");
	buf_char(h->out, '\n');
}

/* The text alternative: what a person would say of the picture. */
static void describe(const struct shares_report *r, uint32_t rows, struct buf *out)
{
	shares_report_lead(r, out);
	buf_str(out, ". ");
	for (uint32_t w = 0; w < r->ntypes; w++) {
		const struct share_type *type = &r->types[w];

		buf_printf(out, "%s%s: %.0f devices, %.0f %% in use", w ? "; " : "", type->name,
			type->devices, type->devices > 0 ? 100 * type->used / type->devices : 0);
		if (isfinite(type->price))
			buf_printf(out, ", price %.3g", type->price);
	}
	buf_str(out, ".");
	if (rows < r->njobs)
		buf_printf(out, " %u of %u jobs are shown.", rows, r->njobs);
}

/* Of its own size, so that letters stay as large as those around it; what is wider than a screen scrolls. */
static void begin(const struct heat *h, const char *space, struct buf *out)
{
	struct buf summary = { 0 }, tag = { 0 };
	struct svg_chart chart = { "heat", "Shares of time by job and type", NULL, 0, 0 };

	describe(h->r, h->rows, &summary);
	chart.summary = summary.at;
	chart.width = h->width;
	svg_begin(&chart, h->height, "heat", &tag);
	buf_printf(out, "<svg%s width=\"%d\" height=\"%d\"%s", space, h->width, h->height,
		tag.at + strlen("<svg"));
	buf_str(out, heat_style);
	buf_printf(out, "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", h->width, h->height);
	buf_fini(&summary);
	buf_fini(&tag);
}

/* `space` is what a file that stands alone has in its first tag. */
static void draw(const struct shares_report *r, uint32_t top, const char *space, struct buf *out)
{
	struct arena memory = { 0 };
	struct heat h = {
		.r = r,
		.order = shares_report_order(r, top, &memory),
		.rows = r->njobs < top ? r->njobs : top,
		.paired = r->npairs > 0,
		.out = out,
	};

	measure(&h);
	begin(&h, space, out);
	put_heading(&h);
	for (uint32_t i = 0; i < h.rows; i++)
		put_row(&h, i);
	put_totals(&h);
	put_legend(&h);
	svg_end(out);
	arena_fini(&memory);
}

void shares_report_svg(const struct shares_report *r, uint32_t top, struct buf *out)
{
	draw(r, top, " xmlns=\"http://www.w3.org/2000/svg\"", out);
}

/* ---- the page */

static void put_cell(const char *fmt, double x, struct buf *out)
{
	buf_str(out, "<td>");
	if (isfinite(x))
		buf_printf(out, fmt, x);
	else
		buf_char(out, '-');
	buf_str(out, "</td>");
}

static void put_types(const struct shares_report *r, struct buf *out)
{
	html_section("types", "Types",
		priced(r) ? "The price is by how much one more device would better the objective." : NULL,
		out);
	buf_str(out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Types\"><table><thead><tr>"
		"<th scope=\"col\">type</th><th scope=\"col\">devices</th><th scope=\"col\">used</th>"
		"<th scope=\"col\">used, %</th><th scope=\"col\">price</th></tr></thead><tbody>\n");
	for (uint32_t w = 0; w < r->ntypes; w++) {
		const struct share_type *type = &r->types[w];

		html_row(type->name, out);
		put_cell("%.0f", type->devices, out);
		put_cell("%.2f", type->used, out);
		put_cell("%.1f", type->devices > 0 ? 100 * type->used / type->devices : NAN, out);
		put_cell("%.6g", type->price, out);
		buf_str(out, "</tr>\n");
	}
	buf_str(out, "</tbody></table></div>\n");
	html_section_end(out);
}

static void put_pair(const struct shares_report *r, const struct share_pair *pair, struct buf *out)
{
	struct buf label = { 0 };

	buf_printf(&label, "%s + %s", r->jobs[pair->a].label, r->jobs[pair->b].label);
	html_row(label.at, out);
	put_cell("%.0f", r->jobs[pair->a].gpus, out);
	for (uint32_t w = 0; w < r->ntypes; w++)
		put_cell("%.2f", 100 * pair->x[w], out);
	buf_str(out, "</tr>\n");
	buf_fini(&label);
}

static void put_pairs(const struct shares_report *r, uint32_t top, struct buf *out)
{
	struct buf note = { 0 };

	if (!r->npairs)
		return;
	buf_str(&note, "Jobs that share devices, and for how much of the time, in %.");
	if (r->npairs > top)
		buf_printf(&note, " %u of %u pairs are shown.", top, r->npairs);
	html_section("pairs", "Pairs", note.at, out);
	buf_str(out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Pairs\"><table><thead><tr>"
		"<th scope=\"col\">jobs</th><th scope=\"col\">GPUs</th>");
	for (uint32_t w = 0; w < r->ntypes; w++) {
		buf_str(out, "<th scope=\"col\">");
		html_text(out, r->types[w].name);
		buf_str(out, "</th>");
	}
	buf_str(out, "</tr></thead><tbody>\n");
	for (uint32_t i = 0; i < r->npairs && i < top; i++)
		put_pair(r, &r->pairs[i], out);
	buf_str(out, "</tbody></table></div>\n");
	html_section_end(out);
	buf_fini(&note);
}

static void csv_number(struct buf *out, double x)
{
	buf_char(out, ',');
	if (isfinite(x))
		buf_double(out, x);
}

static void csv_of(const struct shares_report *r, struct buf *out)
{
	buf_str(out, "id,model,gpus,weight");
	for (uint32_t w = 0; w < r->ntypes; w++) {
		buf_char(out, ',');
		csv_write_text(out, r->types[w].name);
	}
	buf_str(out, ",paired,sum,level,bottleneck\n");
	for (uint32_t i = 0; i < r->njobs; i++) {
		const struct share_job *job = &r->jobs[i];

		csv_write_text(out, job->label);
		buf_char(out, ',');
		csv_write_text(out, job->model ? job->model : "");
		csv_number(out, job->gpus);
		csv_number(out, job->weight);
		for (uint32_t w = 0; w < r->ntypes; w++)
			csv_number(out, job->x[w]);
		csv_number(out, job->paired);
		csv_number(out, job->sum);
		csv_number(out, job->level);
		buf_printf(out, ",%s\n", !r->has_tight ? "" : job->tight ? "yes" : "no");
	}
}

static void put_map(const struct shares_report *r, uint32_t top, struct buf *out)
{
	struct buf note = { 0 }, csv = { 0 };

	buf_str(&note, "The share of time that each job shall spend on each type.");
	if (r->njobs > top)
		buf_printf(&note, " %u of %u jobs are shown%s.", top, r->njobs,
			r->has_tight ? ", those that hold the objective down first" : "");
	html_section("shares", "Shares", NULL, out);
	html_figure("Jobs by type", note.at, true, out);
	draw(r, top, "", out);
	html_figure_end(true, out);
	csv_of(r, &csv);
	buf_str(out, "<p>Every job and number: ");
	html_download("shares.csv", &csv, out);
	buf_str(out, "</p>\n");
	html_section_end(out);
	buf_fini(&note);
	buf_fini(&csv);
}

/* As a sentence of its own. */
static void capitalise(struct buf *text)
{
	if (text->n && text->at[0] >= 'a' && text->at[0] <= 'z')
		text->at[0] = (char)(text->at[0] - 'a' + 'A');
	buf_char(text, '.');
}

void shares_report_html(const struct shares_report *r, uint32_t top, const struct html_info *info,
	struct buf *out)
{
	struct buf lead = { 0 };

	if (r->njobs)
		shares_report_lead(r, &lead);
	else
		shares_report_nobody(r, &lead);
	capitalise(&lead);
	if (r->fallback)
		buf_printf(&lead, " Not the objective itself was used: %s.", r->fallback);
	html_begin(info, lead.at, out);
	if (r->njobs)
		put_map(r, top, out);
	put_pairs(r, top, out);
	put_types(r, out);
	html_end(info, NULL, out);
	buf_fini(&lead);
}
