/*
 * The figures by model: bars of the completion time, and a table with the
 * policies one below the other.
 */
#include "report/html_sections.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "io/csv.h"
#include "report/compare_models.h"
#include "report/svg.h"

enum { CHARTS_MAX = 12 };

/* ---- bars */

static void put_bars(const char *id, const char *title, const char *summary_of, enum unit unit,
	const struct svg_bar *bars, uint32_t n, struct buf *out)
{
	struct buf summary = { 0 };

	buf_printf(&summary, "%s: ", summary_of);
	for (uint32_t i = 0; i < n; i++) {
		buf_printf(&summary, "%s%s ", i ? ", " : "", bars[i].label);
		unit_text(unit, bars[i].value, &summary);
	}
	html_figure(title, NULL, false, out);
	svg_bars(&(struct svg_chart){ id, title, summary.at, HTML_SMALL, 0 }, unit, bars, n, out);
	html_figure_end(false, out);
	buf_fini(&summary);
}

/* A chart for each model, a bar for each policy. */
static void bars_of_model(const struct comparison *c, const char *model, uint32_t number,
	struct buf *out)
{
	struct svg_bar *bars = mem_alloc(mem_array_size(c->npolicies, sizeof(*bars)));
	struct buf id = { 0 };

	for (uint32_t i = 0; i < c->npolicies; i++)
		bars[i] = (struct svg_bar){ c->policies[i].label,
			comparison_model(c, i, model, MODEL_JCT), NAN, NULL, i };
	buf_printf(&id, "model-%u", (unsigned)number);
	put_bars(id.at, model, "Mean completion time", UNIT_SECONDS, bars, c->npolicies, out);
	buf_fini(&id);
	free(bars);
}

/* A chart for a figure, a bar for each model. */
static void bars_of_figure(const struct comparison *c, enum model_figure figure, const char *title,
	const struct model_sums **models, uint32_t n, struct buf *out)
{
	struct svg_bar *bars = mem_alloc(mem_array_size(n, sizeof(*bars)));
	struct buf id = { 0 };

	for (uint32_t i = 0; i < n; i++)
		bars[i] = (struct svg_bar){ models[i]->name,
			comparison_model(c, 0, models[i]->name, figure), NAN, NULL, 0 };
	buf_printf(&id, "models-%s", model_columns[figure].key);
	put_bars(id.at, title, title, model_columns[figure].unit, bars, n, out);
	buf_fini(&id);
	free(bars);
}

static void all_bars(const struct comparison *c, const struct model_sums **models, uint32_t n,
	struct buf *out)
{
	buf_str(out, "<div class=\"grid\">\n");
	if (c->npolicies == 1) {
		bars_of_figure(c, MODEL_JCT, "Mean completion time", models, n, out);
		bars_of_figure(c, MODEL_GPUS, "Mean number of devices", models, n, out);
		bars_of_figure(c, MODEL_GPU_TIME, "GPU-time", models, n, out);
	}
	for (uint32_t i = 0; c->npolicies > 1 && i < n && i < CHARTS_MAX; i++)
		bars_of_model(c, models[i]->name, i, out);
	buf_str(out, "</div>\n");
}

/* ---- the table */

static void put_cells(const struct comparison *c, uint32_t policy, const char *model, struct buf *out)
{
	for (int k = 0; k < MODEL_FIGURES; k++) {
		struct scale scale = comparison_model_scale(c, (enum model_figure)k);
		double x = comparison_model(c, policy, model, (enum model_figure)k);

		if (!comparison_model_shows(c, (enum model_figure)k))
			continue;
		buf_str(out, "<td>");
		if (isfinite(x))
			scale_number(&scale, x, out);
		else
			buf_str(out, "–");
		buf_str(out, "</td>");
	}
	buf_str(out, "</tr>\n");
}

static void put_model(const struct comparison *c, const char *model, struct buf *out)
{
	if (c->npolicies == 1) {
		html_row(model, out);
		put_cells(c, 0, model, out);
		return;
	}
	for (uint32_t i = 0; i < c->npolicies; i++) {
		buf_str(out, "<tr>");
		if (i == 0) {
			buf_printf(out, "<th scope=\"rowgroup\" rowspan=\"%u\">",
				(unsigned)c->npolicies);
			html_label(model, out);
			buf_str(out, "</th>");
		}
		buf_str(out, "<td class=\"who\">");
		html_label(c->policies[i].label, out);
		buf_str(out, "</td>");
		put_cells(c, i, model, out);
	}
}

static void put_table(const struct comparison *c, const struct model_sums **models, uint32_t n,
	struct buf *out)
{
	buf_str(out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Figures by model\">"
		"<table class=\"models\"><thead><tr><th scope=\"col\">model</th>");
	if (c->npolicies > 1)
		buf_str(out, "<th scope=\"col\" class=\"who\">policy</th>");
	for (int k = 0; k < MODEL_FIGURES; k++) {
		struct scale scale = comparison_model_scale(c, (enum model_figure)k);

		if (comparison_model_shows(c, (enum model_figure)k))
			buf_printf(out, "<th scope=\"col\">%s<small>%s</small></th>",
				model_columns[k].title, scale.name);
	}
	buf_str(out, "</tr></thead>\n");
	for (uint32_t i = 0; i < n; i++) {
		buf_str(out, "<tbody>\n");
		put_model(c, models[i]->name, out);
		buf_str(out, "</tbody>\n");
	}
	buf_str(out, "</table></div>\n");
}

static void models_csv(const struct comparison *c, const struct model_sums **models, uint32_t n,
	struct buf *out)
{
	buf_str(out, "model,policy");
	for (int k = 0; k < MODEL_FIGURES; k++)
		buf_printf(out, ",%s", model_columns[k].key);
	buf_char(out, '\n');
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t p = 0; p < c->npolicies; p++) {
			csv_write_text(out, models[i]->name);
			buf_char(out, ',');
			csv_write_text(out, c->policies[p].label);
			for (int k = 0; k < MODEL_FIGURES; k++)
				csv_short(out,
					comparison_model(c, p, models[i]->name, (enum model_figure)k));
			buf_char(out, '\n');
		}
	}
}

/* ---- the section */

bool models_show(const struct comparison *c)
{
	return c->npolicies && c->policies[0].models.n > 1;
}

void html_models(const struct comparison *c, struct buf *out)
{
	const struct model_sums **models;
	struct buf csv = { 0 };
	uint32_t n;

	if (!models_show(c))
		return;
	models = comparison_models(c, &n);
	html_section("models", "By model",
		c->npolicies > 1 ? "The bars are mean completion times. Means are over the jobs that "
				   "finished, of GPUs over the time that a job held some."
				 : "Means are over the jobs that finished, of GPUs over the time that a "
				   "job held some.",
		out);
	all_bars(c, models, n, out);
	put_table(c, models, n, out);
	models_csv(c, models, n, &csv);
	buf_str(out, "<p class=\"note screen\">In seconds: ");
	html_download("models.csv", &csv, out);
	buf_str(out, "</p>\n");
	html_section_end(out);
	buf_fini(&csv);
	free(models);
}
