#include "report/capacity_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "report/html_parts.h"
#include "report/html_sections.h"
#include "report/svg.h"
#include "report/table.h"
#include "report/textplot.h"
#include "report/units.h"

static const char *plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

void capacity_option_fini(struct capacity_option *option)
{
	vec_fini(&option->points);
	free(option->type);
	free(option->why);
	*option = (struct capacity_option){ 0 };
}

struct capacity_point *capacity_add(struct capacity_option *option, const struct capacity_point *point)
{
	size_t at = option->points.n;

	vec_push(&option->points, *point);
	for (; at > 0 && option->points.at[at - 1].nodes > point->nodes; at--)
		option->points.at[at] = option->points.at[at - 1];
	option->points.at[at] = *point;
	return &option->points.at[at];
}

const struct capacity_point *capacity_at(const struct capacity_option *option, uint32_t nodes)
{
	for (size_t i = 0; i < option->points.n; i++) {
		if (option->points.at[i].nodes == nodes)
			return &option->points.at[i];
	}
	return NULL;
}

static double cost_of(const struct capacity_option *o)
{
	return o->price_per_h > 0 ? (double)o->nodes * o->per_node * o->price_per_h : NAN;
}

/* By cost; where that is unknown of either, by devices. */
static bool is_better(const struct capacity_option *a, const struct capacity_option *b)
{
	double x = cost_of(a), y = cost_of(b);

	if (a->nodes == 0 || b->nodes == 0 || isnan(x) || isnan(y))
		return a->nodes * a->per_node < b->nodes * b->per_node;
	return x < y;
}

int capacity_cheapest(const struct capacity_report *r)
{
	int best = -1;

	for (size_t i = 0; i < r->noptions; i++) {
		if (r->options[i].found && (best < 0 || is_better(&r->options[i], &r->options[best])))
			best = (int)i;
	}
	return best;
}

static void targets_text(const struct capacity_report *r, struct buf *out)
{
	for (size_t i = 0; i < r->ntargets; i++)
		buf_printf(out, "%s%s", i ? " and " : "", r->targets[i].text);
}

void capacity_lead(const struct capacity_report *r, struct buf *out)
{
	int best = capacity_cheapest(r);
	const struct capacity_option *o = best >= 0 ? &r->options[best] : NULL;

	if (!o) {
		targets_text(r, out);
		buf_printf(out, " cannot be reached with %s",
			r->noptions == 1 ? r->options[0].type : "any of the types");
		return;
	}
	if (!o->nodes) {
		buf_str(out, "What is there is enough for ");
		targets_text(r, out);
		return;
	}
	buf_printf(out, "%u%s node%s of %u %s: %u devices", o->nodes, r->keep ? " more" : "",
		plural(o->nodes), o->per_node, o->type, o->nodes * o->per_node);
	if (o->price_per_h > 0)
		buf_printf(out, " for %.2f per hour", cost_of(o));
	buf_str(out, " meet ");
	targets_text(r, out);
}

/* ---- text */

static void put_row(struct table *table, const struct capacity_report *r,
	const struct capacity_option *o, bool best)
{
	const struct capacity_point *p = capacity_at(o, o->nodes);
	struct buf text = { 0 };

	table_cell(table, o->type);
	if (best)
		table_strong(table);
	if (o->found) {
		table_cellf(table, "%ux%u", o->nodes, o->per_node);
		table_cellf(table, "%u", o->nodes * o->per_node);
	} else {
		table_cell(table, "-");
		table_cell(table, "-");
	}
	if (o->found && o->price_per_h > 0)
		table_cellf(table, "%.2f", cost_of(o));
	else
		table_cell(table, "-");
	for (size_t i = 0; i < r->ntargets; i++) {
		buf_clear(&text);
		if (p && isfinite(p->counts[i]))
			unit_text(metrics[r->targets[i].metric].unit, p->counts[i], &text);
		table_cell(table, text.n ? text.at : "-");
	}
	table_cell(table, o->found ? best ? "cheapest" : "" : o->why);
	buf_fini(&text);
}

static void put_table(const struct capacity_report *r, const struct term *term, struct buf *out)
{
	int best = capacity_cheapest(r);
	struct table table = { 0 };

	table_column(&table, "type", ALIGN_LEFT, 0);
	table_column(&table, r->keep ? "more nodes" : "nodes", ALIGN_RIGHT, 0);
	table_column(&table, "devices", ALIGN_RIGHT, 0);
	table_column(&table, "cost/h", ALIGN_RIGHT, 0);
	for (size_t i = 0; i < r->ntargets; i++)
		table_column(&table, r->targets[i].name, ALIGN_RIGHT, 0);
	table_column(&table, "", ALIGN_LEFT, 0);
	for (size_t i = 0; i < r->noptions; i++)
		put_row(&table, r, &r->options[i], (int)i == best && r->noptions > 1);
	table_write(&table, TABLE_TEXT, term, out, NULL);
	table_fini(&table);
}

/* The first target against size, a bar for each size that was tried. */
static void put_curve(const struct capacity_report *r, const struct capacity_option *o,
	const struct term *term, struct buf *out)
{
	size_t n = o->points.n;
	char(*names)[32] = mem_alloc(mem_array_size(n + 1, sizeof(*names)));
	const char **labels = mem_alloc(mem_array_size(n + 1, sizeof(*labels)));
	double *values = mem_alloc(mem_array_size(n + 1, sizeof(*values))), most = 0;
	struct scale scale;

	for (size_t i = 0; i < n; i++)
		most = isfinite(o->points.at[i].counts[0]) ? fmax(most, o->points.at[i].counts[0])
							   : most;
	scale = scale_for(metrics[r->targets[0].metric].unit, most);
	for (size_t i = 0; i < n; i++) {
		const struct capacity_point *p = &o->points.at[i];

		snprintf(names[i], sizeof(names[i]), "%6u%s", p->nodes,
			p->ok             ? " ok"
				: p->left ? " jobs left"
					  : "");
		labels[i] = names[i];
		values[i] = isfinite(p->counts[0]) ? p->counts[0] / scale.per : 0;
	}
	buf_printf(out, "\n%s: %s%s%s by nodes of %u%s\n", o->type, r->targets[0].name,
		*scale.name ? ", " : "", scale.name, o->per_node, r->keep ? " more" : "");
	textplot_bars(labels, values, n, term, out);
	free(names);
	free(labels);
	free(values);
}

static void put_doubts(const struct capacity_option *o, struct buf *out)
{
	if (o->found && o->by_luck)
		buf_printf(out,
			"%s: %u nodes met it as well, but a larger size did not: chance, not capacity\n",
			o->type, o->by_luck);
	else if (o->found && !o->monotone)
		buf_printf(out,
			"%s: sizes near the answer contradict each other; more --seeds would tell\n",
			o->type);
}

void capacity_text(const struct capacity_report *r, const struct term *term, struct buf *out)
{
	put_table(r, term, out);
	buf_char(out, '\n');
	capacity_lead(r, out);
	buf_printf(out, "\n(in nine of ten of %u seeds; every job must run and finish)\n",
		(unsigned)r->nseeds);
	if (r->present && !r->keep)
		buf_printf(out, "there is now: %s, %u devices for %.2f per hour\n", r->present,
			r->present_devices, r->present_per_h);
	for (size_t i = 0; i < r->noptions; i++)
		put_doubts(&r->options[i], out);
	for (size_t i = 0; i < r->noptions; i++)
		put_curve(r, &r->options[i], term, out);
}

/* ---- JSON */

static void point_json(struct json *j, const struct capacity_report *r, const struct capacity_point *p)
{
	json_begin_object(j, NULL);
	json_int(j, "nodes", p->nodes);
	json_int(j, "devices", p->devices);
	json_bool(j, "ok", p->ok);
	json_int(j, "jobs_left", p->left);
	json_begin_array(j, "counts");
	for (size_t i = 0; i < r->ntargets; i++)
		json_double(j, NULL, p->counts[i]);
	json_end(j, ']');
	json_begin_array(j, "mean");
	for (size_t i = 0; i < r->ntargets; i++)
		json_double(j, NULL, p->mean[i]);
	json_end(j, ']');
	json_end(j, '}');
}

static void option_json(struct json *j, const struct capacity_report *r,
	const struct capacity_option *o)
{
	json_begin_object(j, NULL);
	json_str(j, "type", o->type);
	json_int(j, "per_node", o->per_node);
	json_double(j, "price_per_h", o->price_per_h > 0 ? o->price_per_h : NAN);
	json_bool(j, "found", o->found);
	if (o->found) {
		json_int(j, "nodes", o->nodes);
		json_int(j, "devices", (int64_t)o->nodes * o->per_node);
		json_double(j, "cost_per_h", cost_of(o));
		json_bool(j, "monotone", o->monotone);
	}
	json_str(j, "why", o->why);
	json_begin_array(j, "points");
	for (size_t i = 0; i < o->points.n; i++)
		point_json(j, r, &o->points.at[i]);
	json_end(j, ']');
	json_end(j, '}');
}

static void targets_json(struct json *j, const struct capacity_report *r)
{
	json_begin_array(j, "targets");
	for (size_t i = 0; i < r->ntargets; i++) {
		json_begin_object(j, NULL);
		json_str(j, "text", r->targets[i].text);
		json_str(j, "metric", metrics[r->targets[i].metric].key);
		json_double(j, "value", r->targets[i].value);
		json_end(j, '}');
	}
	json_end(j, ']');
}

void capacity_json(const struct capacity_report *r, struct buf *out)
{
	int best = capacity_cheapest(r);
	struct buf lead = { 0 };
	struct json j;

	capacity_lead(r, &lead);
	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "capacity/1");
	json_str(&j, "verdict", lead.at);
	json_str(&j, "history", r->history);
	json_int(&j, "jobs", r->njobs);
	json_str(&j, "policy", r->policy);
	json_int(&j, "seeds", r->nseeds);
	json_bool(&j, "keep", r->keep);
	json_str(&j, "present", r->present);
	targets_json(&j, r);
	json_str(&j, "cheapest", best >= 0 ? r->options[best].type : NULL);
	json_begin_array(&j, "options");
	for (size_t i = 0; i < r->noptions; i++)
		option_json(&j, r, &r->options[i]);
	json_end(&j, ']');
	json_end(&j, '}');
	buf_char(out, '\n');
	buf_fini(&lead);
}

/* ---- page */

/* Devices against what counts, of one option; false: too few points for a line. */
static struct svg_series series_of(const struct capacity_option *o, size_t target, size_t look)
{
	double *x = mem_alloc(mem_array_size(o->points.n + 1, sizeof(*x)));
	double *y = mem_alloc(mem_array_size(o->points.n + 1, sizeof(*y)));
	size_t n = 0;

	for (size_t i = 0; i < o->points.n; i++) {
		if (!isfinite(o->points.at[i].counts[target]))
			continue;
		x[n] = o->points.at[i].devices;
		y[n++] = o->points.at[i].counts[target];
	}
	return (struct svg_series){ o->type, x, y, n, look };
}

static void draw(const struct capacity_report *r, size_t target, struct buf *out)
{
	const struct target *t = &r->targets[target];
	struct svg_series *series = mem_alloc(mem_array_size(r->noptions + 1, sizeof(*series)));
	double level[2] = { t->value, t->value }, ends[2] = { INFINITY, 0 };
	char id[32];
	struct svg_lines chart = {
		.chart = { id, t->text, "The figure by number of devices, and the target.",
			HTML_WIDE, 300 },
		.x = { "devices", UNIT_COUNT, false, false, NAN, NAN },
		.y = { t->name, metrics[t->metric].unit, false, false, 0, NAN },
		.labels = true,
	};

	snprintf(id, sizeof(id), "target%zu", target);
	for (size_t i = 0; i < r->noptions; i++) {
		series[i] = series_of(&r->options[i], target, i);
		for (size_t k = 0; k < series[i].n; k++) {
			ends[0] = fmin(ends[0], series[i].x[k]);
			ends[1] = fmax(ends[1], series[i].x[k]);
		}
	}
	series[r->noptions] = (struct svg_series){ "target", ends, level, ends[1] > ends[0] ? 2 : 0,
		r->noptions };
	svg_lines(&chart, series, r->noptions + 1, out);
	for (size_t i = 0; i < r->noptions; i++) {
		free((void *)series[i].x);
		free((void *)series[i].y);
	}
	free(series);
}

static void legend(const struct capacity_report *r, struct buf *out)
{
	buf_str(out, "<ul class=\"legend\">\n");
	for (size_t i = 0; i <= r->noptions; i++) {
		buf_str(out, "<li>");
		svg_line_sample(i, out);
		buf_str(out, "<span>");
		html_text(out, i < r->noptions ? r->options[i].type : "target");
		buf_str(out, "</span></li>\n");
	}
	buf_str(out, "</ul>\n");
}

static void rows(const struct capacity_report *r, struct buf *out, struct buf *csv)
{
	for (size_t i = 0; i < r->noptions; i++) {
		const struct capacity_option *o = &r->options[i];

		for (size_t k = 0; k < o->points.n; k++) {
			const struct capacity_point *p = &o->points.at[k];

			html_row(o->type, out);
			buf_printf(out, "<td>%u</td><td>%u</td>", p->nodes, p->devices);
			buf_printf(csv, "%s,%u,%u", o->type, p->nodes, p->devices);
			for (size_t m = 0; m < r->ntargets; m++) {
				html_cell(metrics[r->targets[m].metric].unit, p->counts[m], out);
				buf_char(csv, ',');
				if (isfinite(p->counts[m]))
					buf_double(csv, p->counts[m]);
			}
			buf_printf(out, "<td>%s</td></tr>\n",
				p->ok             ? "yes"
					: p->left ? "jobs are left"
						  : "no");
			buf_printf(csv, ",%d\n", p->ok);
		}
	}
}

static void page_table(const struct capacity_report *r, struct buf *out)
{
	struct buf csv = { 0 };

	html_section("sizes", "Sizes that were tried", r->note, out);
	buf_str(out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Sizes\"><table><thead><tr>"
		"<th scope=\"col\">type</th><th scope=\"col\">nodes</th><th scope=\"col\">devices</th>");
	buf_str(&csv, "type,nodes,devices");
	for (size_t i = 0; i < r->ntargets; i++) {
		buf_str(out, "<th scope=\"col\">");
		html_text(out, r->targets[i].name);
		buf_str(out, "</th>");
		buf_printf(&csv, ",%s", metrics[r->targets[i].metric].key);
	}
	buf_str(out, "<th scope=\"col\">enough</th></tr></thead><tbody>\n");
	buf_str(&csv, ",enough\n");
	rows(r, out, &csv);
	buf_str(out, "</tbody></table></div>\n");
	html_download("capacity.csv", &csv, out);
	html_section_end(out);
	buf_fini(&csv);
}

void capacity_html(const struct capacity_report *r, const struct html_info *info, struct buf *out)
{
	struct buf lead = { 0 };

	capacity_lead(r, &lead);
	html_begin(info, lead.at, out);
	html_section("curve", "The curve",
		"What nine of ten seeds are at least as good as, by number of devices.", out);
	legend(r, out);
	for (size_t i = 0; i < r->ntargets; i++) {
		html_figure(r->targets[i].text, NULL, true, out);
		draw(r, i, out);
		html_figure_end(true, out);
	}
	html_section_end(out);
	page_table(r, out);
	html_end(info, NULL, out);
	buf_fini(&lead);
}
