/*
 * The curve over round lengths as text, JSON, SVG and a page.
 */
#include "report/rounds_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "report/html_parts.h"
#include "report/html_sections.h"
#include "report/svg.h"
#include "report/textplot.h"

static const double close_enough = 0.01;  /* of the least: a flat part of the curve */
static const double least_chance = 0.05;  /* above this it may be chance */
static const double least_gain = 0.00005; /* would be shown as 0.0 % */

/* What the table shows, by key of metrics[]. */
static const char *const columns[] = { "jct_mean_s", "makespan_s", "preemptions", "overhead_gpu_s",
	"utilisation", "useful", "ftf_mean", "jain" };
enum { COLUMNS = sizeof(columns) / sizeof(*columns) };

/* ---- figures */

double rounds_idle(const struct outcome *o)
{
	double sum = 0;

	for (uint32_t i = 0; i < o->nsamples; i++) {
		const struct sample *s = &o->samples[i];

		sum += fmin(fmax(s->up_gpus - s->busy_gpus, 0), s->pending) * o->step_s;
	}
	return sum;
}

static double mean_of(const struct rounds_report *r, uint32_t i, const char *key)
{
	return compare_mean(r->result, i, key);
}

static double jct_of(const struct rounds_report *r, uint32_t i)
{
	return mean_of(r, i, "jct_mean_s");
}

static double idle_of(const struct rounds_report *r, uint32_t i)
{
	return stats_mean(&r->idle_gpu_s[(size_t)i * r->result->nseeds], r->result->nseeds);
}

/* ---- which is best */

static uint32_t least_of(const struct rounds_report *r, const char *key)
{
	uint32_t best = r->own;

	for (uint32_t i = 0; i < r->result->npolicies; i++) {
		double x = mean_of(r, i, key), least = mean_of(r, best, key);

		if (x < least || (isnan(least) && !isnan(x)))
			best = i;
	}
	return best;
}

static double chance(const struct rounds_report *r, uint32_t best)
{
	uint32_t n = r->result->nseeds;
	double *own = mem_alloc(mem_array_size(n, sizeof(double)));
	double *other = mem_alloc(mem_array_size(n, sizeof(double)));
	double p;

	for (uint32_t k = 0; k < n; k++) {
		own[k] = r->result->policies[r->own].cells[k].summary.jct_mean_s;
		other[k] = r->result->policies[best].cells[k].summary.jct_mean_s;
	}
	p = stats_paired_t(own, other, n).p;
	free(own);
	free(other);
	return fmin(1, p * fmax(r->result->npolicies - 1.0, 1));
}

static bool is_close(const struct rounds_report *r, uint32_t i, uint32_t best)
{
	return jct_of(r, i) <= jct_of(r, best) * (1 + close_enough);
}

struct rounds_best rounds_report_best(const struct rounds_report *r)
{
	struct rounds_best b = { .best = least_of(r, "jct_mean_s"), .p = NAN };

	b.from = b.to = b.best;
	while (b.from > 0 && is_close(r, b.from - 1, b.best))
		b.from--;
	while (b.to + 1 < r->result->npolicies && is_close(r, b.to + 1, b.best))
		b.to++;
	if (b.best == r->own)
		return b;
	b.gain = 1 - jct_of(r, b.best) / jct_of(r, r->own);
	if (r->result->nseeds > 1 && !r->result->same_seeds)
		b.p = chance(r, b.best);
	return b;
}

/* ---- sentences */

static void put_length(double round_s, struct buf *out)
{
	buf_double(out, round_s);
	buf_str(out, round_s > 0 ? " s" : " s (at every event)");
}

static void put_caveat(const struct rounds_report *r, const struct rounds_best *b, struct buf *out)
{
	if (b->best == r->own)
		return;
	if (isnan(b->p))
		buf_str(out, "; one workload cannot tell this from chance, --seeds 10 may");
	else if (b->p >= least_chance)
		buf_printf(out, "; over %u workloads this may be chance (p = %.2g)",
			r->result->nseeds, b->p);
	else
		buf_printf(out, "; over %u workloads this is hardly chance (p = %.2g)",
			r->result->nseeds, b->p);
}

static void put_flat(const struct rounds_report *r, const struct rounds_best *b, struct buf *out)
{
	if (b->from == b->to)
		return;
	buf_str(out, ". Within 1 %: ");
	put_length(r->round_s[b->from], out);
	buf_str(out, " to ");
	put_length(r->round_s[b->to], out);
}

static void put_makespan(const struct rounds_report *r, const struct rounds_best *b, struct buf *out)
{
	uint32_t i = least_of(r, "makespan_s");

	if (i == b->best)
		return;
	buf_str(out, ". The shortest makespan, ");
	unit_text(UNIT_SECONDS, mean_of(r, i, "makespan_s"), out);
	buf_str(out, ", comes with rounds of ");
	put_length(r->round_s[i], out);
}

void rounds_report_lead(const struct rounds_report *r, struct buf *out)
{
	struct rounds_best b = rounds_report_best(r);

	if (!isfinite(jct_of(r, b.best))) {
		buf_str(out, "No job finished");
		return;
	}
	buf_str(out, "Rounds of ");
	put_length(r->round_s[b.best], out);
	buf_str(out, " give the least mean completion time, ");
	unit_text(UNIT_SECONDS, jct_of(r, b.best), out);
	if (b.best == r->own) {
		buf_str(out, ": the policy's own");
	} else {
		if (b.gain < least_gain)
			buf_str(out, ": hardly less than with the policy's own ");
		else
			buf_printf(out, ": %.1f %% less than with the policy's own ", 100 * b.gain);
		put_length(r->round_s[r->own], out);
	}
	put_caveat(r, &b, out);
	put_flat(r, &b, out);
	put_makespan(r, &b, out);
	buf_char(out, '.');
}

/* ---- text */

static void put_columns(const struct rounds_report *r, const struct scale *idle, struct table *table)
{
	table_column(table, "round", ALIGN_RIGHT, 0);
	table_unit(table, "s");
	for (int k = 0; k < COLUMNS; k++) {
		const struct metric *m = metric_find(columns[k]);
		struct scale scale = comparison_scale(r->result, metric_index(columns[k]));

		table_column(table, m->title, ALIGN_RIGHT, k < 2 ? 0 : k < 4 ? 1 : 2 + k);
		table_unit(table, scale.name);
		if (!strcmp(columns[k], "overhead_gpu_s")) {
			table_column(table, "idle, jobs wait", ALIGN_RIGHT, 2);
			table_unit(table, idle->name);
		}
	}
	table_column(table, "", ALIGN_LEFT, 0);
}

static void put_number(struct table *table, const struct scale *scale, double x)
{
	struct buf text = { 0 };

	scale_number(scale, x, &text);
	table_cell(table, text.at);
	buf_fini(&text);
}

static const char *mark_of(const struct rounds_report *r, const struct rounds_best *b, uint32_t i)
{
	if (i == b->best)
		return i == r->own ? "best, own" : "best";
	return i == r->own ? "own" : "";
}

static void put_row(const struct rounds_report *r, const struct rounds_best *b,
	const struct scale *idle, uint32_t i, struct table *table)
{
	struct buf length = { 0 };

	buf_double(&length, r->round_s[i]);
	table_cell(table, length.at);
	for (int k = 0; k < COLUMNS; k++) {
		struct scale scale = comparison_scale(r->result, metric_index(columns[k]));

		put_number(table, &scale, mean_of(r, i, columns[k]));
		if (k == 0 && i == b->best)
			table_strong(table);
		if (!strcmp(columns[k], "overhead_gpu_s"))
			put_number(table, idle, idle_of(r, i));
	}
	table_cell(table, mark_of(r, b, i));
	buf_fini(&length);
}

static struct scale idle_scale(const struct rounds_report *r)
{
	double most = 0;

	for (uint32_t i = 0; i < r->result->npolicies; i++)
		most = fmax(most, idle_of(r, i));
	return scale_for(UNIT_GPU_SECONDS, most);
}

static void put_table(const struct rounds_report *r, const struct rounds_best *b,
	const struct term *term, struct buf *out)
{
	struct scale idle = idle_scale(r);
	struct table table = { 0 };
	struct buf left_out = { 0 };

	put_columns(r, &idle, &table);
	for (uint32_t i = 0; i < r->result->npolicies; i++)
		put_row(r, b, &idle, i, &table);
	table_write(&table, TABLE_TEXT, term, out, &left_out);
	if (left_out.n)
		buf_printf(out, "(no room for %s)\n", left_out.at);
	buf_fini(&left_out);
	table_fini(&table);
}

/* Bars from zero would all look alike: what stands above the least is shown. */
static void put_curve(const struct rounds_report *r, const struct rounds_best *b,
	const struct term *term, struct buf *out)
{
	uint32_t n = r->result->npolicies;
	char **labels = mem_alloc(mem_array_size(n, sizeof(*labels)));
	double *above = mem_alloc(mem_array_size(n, sizeof(*above)));

	for (uint32_t i = 0; i < n; i++) {
		struct buf label = { 0 };

		put_length(r->round_s[i], &label);
		labels[i] = label.at;
		/* to a hundredth, which is more than the figure is worth */
		above[i] = round(1e4 * (jct_of(r, i) / jct_of(r, b->best) - 1)) / 100;
	}
	buf_str(out, "\nmean completion time above the least, in %\n");
	textplot_bars((const char *const *)labels, above, n, term, out);
	for (uint32_t i = 0; i < n; i++)
		free(labels[i]);
	free(labels);
	free(above);
}

void rounds_report_text(const struct rounds_report *r, const struct term *term, struct buf *out)
{
	struct rounds_best b = rounds_report_best(r);

	buf_printf(out, "%s on %s; %s\n", r->policy, r->cluster, r->source);
	if (r->note)
		buf_printf(out, "%s\n", r->note);
	buf_char(out, '\n');
	put_table(r, &b, term, out);
	put_curve(r, &b, term, out);
	buf_char(out, '\n');
	rounds_report_lead(r, out);
	buf_char(out, '\n');
}

/* ---- JSON */

static void point_json(struct json *j, const struct rounds_report *r, uint32_t i)
{
	const struct compare_policy *policy = &r->result->policies[i];

	json_begin_object(j, NULL);
	json_double(j, "round_s", r->round_s[i]);
	json_str(j, "policy", policy->policy);
	for (size_t m = 0; metrics[m].key; m++) {
		if (metrics[m].timing)
			continue;
		json_begin_object(j, metrics[m].key);
		json_double(j, "mean", policy->figures[m].value.mean);
		json_double(j, "ci95", policy->figures[m].value.half);
		json_end(j, '}');
	}
	json_double(j, "idle_gpu_s", idle_of(r, i));
	json_end(j, '}');
}

static void best_json(struct json *j, const struct rounds_report *r)
{
	struct rounds_best b = rounds_report_best(r);

	json_begin_object(j, "best");
	json_double(j, "round_s", r->round_s[b.best]);
	json_double(j, "gain", b.gain);
	json_double(j, "p", b.p);
	json_double(j, "close_from_s", r->round_s[b.from]);
	json_double(j, "close_to_s", r->round_s[b.to]);
	json_double(j, "makespan_round_s", r->round_s[least_of(r, "makespan_s")]);
	json_end(j, '}');
}

void rounds_report_json(const struct rounds_report *r, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "rounds/1");
	json_str(&j, "policy", r->policy);
	json_str(&j, "cluster", r->cluster);
	json_str(&j, "trace", r->source);
	json_begin_array(&j, "seeds");
	for (uint32_t k = 0; k < r->result->nseeds; k++)
		json_seed(&j, NULL, r->result->seeds[k]);
	json_end(&j, ']');
	json_double(&j, "own_round_s", r->round_s[r->own]);
	best_json(&j, r);
	json_begin_array(&j, "rounds");
	for (uint32_t i = 0; i < r->result->npolicies; i++)
		point_json(&j, r, i);
	json_end(&j, ']');
	json_end(&j, '}');
	buf_char(out, '\n');
}

/* ---- pictures */

/* Lengths above 0, which a logarithmic axis can show, and some figures of them. */
struct lines {
	double *x, *y[2];
	size_t n;
};

static void lines_init(struct lines *l, const struct rounds_report *r)
{
	size_t size = mem_array_size(r->result->npolicies, sizeof(double));

	*l = (struct lines){ .x = mem_alloc(size), .y = { mem_alloc(size), mem_alloc(size) } };
}

static void lines_fini(struct lines *l)
{
	free(l->x);
	free(l->y[0]);
	free(l->y[1]);
}

/* How far completion times and makespans are above the least of all. */
static void draw_above(const struct rounds_report *r, int width, struct buf *out)
{
	static const char *const keys[2] = { "jct_mean_s", "makespan_s" };
	struct lines l;
	struct buf summary = { 0 };
	struct svg_lines chart = {
		.chart = { "above", "Completion times by length of rounds", NULL, width, 340 },
		.x = { "length of rounds (logarithmic)", UNIT_SECONDS, true, false, NAN, NAN },
		.y = { "above the least", UNIT_SHARE, false, false, 0, NAN },
	};

	lines_init(&l, r);
	for (uint32_t i = 0; i < r->result->npolicies; i++) {
		if (!(r->round_s[i] > 0))
			continue;
		l.x[l.n] = r->round_s[i];
		for (int k = 0; k < 2; k++)
			l.y[k][l.n] =
				mean_of(r, i, keys[k]) / mean_of(r, least_of(r, keys[k]), keys[k]) - 1;
		l.n++;
	}
	rounds_report_lead(r, &summary);
	chart.chart.summary = summary.at;
	svg_lines(&chart,
		(struct svg_series[]){ { "mean completion time", l.x, l.y[0], l.n, 0 },
			{ "makespan", l.x, l.y[1], l.n, 1 } },
		2, out);
	buf_fini(&summary);
	lines_fini(&l);
}

/* What short rounds cost, and what long ones. */
static void draw_costs(const struct rounds_report *r, struct buf *out)
{
	struct lines l;
	struct svg_lines chart = {
		.chart = { "costs", "GPU-time lost by length of rounds",
			"GPU-time spent on starting, stopping and resuming, and GPU-time of devices that "
			"were idle while jobs waited.",
			HTML_WIDE, 260 },
		.x = { "length of rounds (logarithmic)", UNIT_SECONDS, true, false, NAN, NAN },
		.y = { "GPU-hours", UNIT_COUNT, false, false, 0, NAN },
	};

	lines_init(&l, r);
	for (uint32_t i = 0; i < r->result->npolicies; i++) {
		if (!(r->round_s[i] > 0))
			continue;
		l.x[l.n] = r->round_s[i];
		l.y[0][l.n] = mean_of(r, i, "overhead_gpu_s") / 3600;
		l.y[1][l.n] = idle_of(r, i) / 3600;
		l.n++;
	}
	svg_lines(&chart,
		(struct svg_series[]){ { "costs", l.x, l.y[0], l.n, 0 },
			{ "idle while jobs wait", l.x, l.y[1], l.n, 1 } },
		2, out);
	lines_fini(&l);
}

/* What a page has for all its charts. */
static const char file_style[] =
	"<style>svg.chart{--fg:#1a1f24;--rule:#d4d9de;--c0:#0072b2;--c1:#d55e00;background:#fff;"
	"font:12px system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif}"
	"@media screen and (prefers-color-scheme:dark){svg.chart{--fg:#e4e7ea;--rule:#363c42;--c0:#4aa3df;"
	"--c1:#f0803c;background:#14171a}}"
	"svg.chart text{fill:var(--fg)}.grid{stroke:var(--rule);fill:none}"
	".line{fill:none;stroke-width:2}.s0{stroke:var(--c0)}.s1{stroke:var(--c1)}"
	".d1{stroke-dasharray:7 3}.t0{fill:var(--c0)}.t1{fill:var(--c1)}</style>";

/* The colours' names, where there is no page around that has a legend. */
static void file_legend(struct buf *out)
{
	buf_str(out,
		"<path class=\"line s0 d0\" d=\"M370 8H404\"/><text x=\"410\" y=\"12\">mean completion "
		"time</text><path class=\"line s1 d1\" d=\"M560 8H594\"/><text x=\"600\" "
		"y=\"12\">makespan</text>");
}

/* Title and description stay first, for those who listen; then comes what a page would have around it. */
void rounds_report_svg(const struct rounds_report *r, struct buf *out)
{
	struct buf chart = { 0 };
	const char *tag, *body;

	draw_above(r, HTML_WIDE, &chart);
	tag = strstr(chart.at, "<svg") + strlen("<svg");
	body = strstr(tag, "</desc>") + strlen("</desc>");
	buf_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"340\"%.*s",
		HTML_WIDE, (int)(body - tag), tag);
	buf_str(out, file_style);
	file_legend(out);
	buf_str(out, body);
	buf_fini(&chart);
}

/* ---- the page */

static void put_legend(const char *first, const char *second, struct buf *out)
{
	buf_str(out, "<ul class=\"legend\">\n<li>");
	svg_line_sample(0, out);
	buf_printf(out, "<span>%s</span></li>\n<li>", first);
	svg_line_sample(1, out);
	buf_printf(out, "<span>%s</span></li>\n</ul>\n", second);
}

static void html_rows(const struct rounds_report *r, struct buf *out)
{
	struct rounds_best b = rounds_report_best(r);

	for (uint32_t i = 0; i < r->result->npolicies; i++) {
		struct buf label = { 0 };

		put_length(r->round_s[i], &label);
		if (*mark_of(r, &b, i))
			buf_printf(&label, " (%s)", mark_of(r, &b, i));
		html_row(label.at, out);
		for (int k = 0; k < COLUMNS; k++)
			html_cell(metric_find(columns[k])->unit, mean_of(r, i, columns[k]), out);
		html_cell(UNIT_GPU_SECONDS, idle_of(r, i), out);
		buf_str(out, "</tr>\n");
		buf_fini(&label);
	}
}

static void csv_of(const struct rounds_report *r, struct buf *out)
{
	buf_str(out, "round_s");
	for (int k = 0; k < COLUMNS; k++)
		buf_printf(out, ",%s", columns[k]);
	buf_str(out, ",idle_gpu_s\n");
	for (uint32_t i = 0; i < r->result->npolicies; i++) {
		buf_double(out, r->round_s[i]);
		for (int k = 0; k < COLUMNS; k++)
			csv_short(out, mean_of(r, i, columns[k]));
		csv_short(out, idle_of(r, i));
		buf_char(out, '\n');
	}
}

static void html_table(const struct rounds_report *r, struct buf *out)
{
	struct buf csv = { 0 };

	html_section("table", "Figures", r->note, out);
	buf_str(out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Figures\"><table><thead><tr>"
		"<th scope=\"col\">rounds of</th>");
	for (int k = 0; k < COLUMNS; k++) {
		buf_str(out, "<th scope=\"col\">");
		html_text(out, metric_find(columns[k])->title);
		buf_str(out, "</th>");
	}
	buf_str(out, "<th scope=\"col\">idle while jobs wait, at most</th></tr></thead><tbody>\n");
	html_rows(r, out);
	buf_str(out, "</tbody></table></div>\n");
	csv_of(r, &csv);
	html_download("rounds.csv", &csv, out);
	html_section_end(out);
	buf_fini(&csv);
}

void rounds_report_html(const struct rounds_report *r, const struct html_info *info, struct buf *out)
{
	struct buf lead = { 0 };

	rounds_report_lead(r, &lead);
	html_begin(info, lead.at, out);
	html_section("curve", "The curve", NULL, out);
	put_legend("mean completion time", "makespan", out);
	html_figure("How far above the least", "Lower is better.", true, out);
	draw_above(r, HTML_WIDE, out);
	html_figure_end(true, out);
	put_legend("starting, stopping, resuming", "idle while jobs wait, at most", out);
	html_figure("GPU-time lost",
		"Short rounds spend it on moving jobs, long ones may leave devices idle.", true, out);
	draw_costs(r, out);
	html_figure_end(true, out);
	html_section_end(out);
	html_table(r, out);
	html_end(info, NULL, out);
	buf_fini(&lead);
}
