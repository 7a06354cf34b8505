/*
 * Fitted goodput models as text, JSON, SVG and a page.
 */
#include "report/fit_report.h"

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

static const double devices[] = { 1, 2, 4, 8, 16 };
/* Total batches that efficiency is told of, over the initial one. */
static const double times[] = { 1, 2, 4, 8, 16, 32 };
enum {
	DEVICES = sizeof(devices) / sizeof(*devices),
	TIMES = sizeof(times) / sizeof(*times),
	CURVES_MAX = 3,
	CHART_HEIGHT = 320,
	LINE_POINTS = 64,
};

/* In the order of struct goodput_params, which people read from computing outwards. */
static const struct parameter {
	const char *name, *meaning;
	size_t offset;
} parameters[] = {
	{ "alpha_c", "computing, once (s)", offsetof(struct goodput_params, alpha_c) },
	{ "beta_c", "computing, each sample (s)", offsetof(struct goodput_params, beta_c) },
	{ "alpha_r", "synchronising in a node, once (s)", offsetof(struct goodput_params, alpha_r) },
	{ "beta_r", "in a node, each device beyond two (s)", offsetof(struct goodput_params, beta_r) },
	{ "alpha_n", "synchronising over nodes, once (s)", offsetof(struct goodput_params, alpha_n) },
	{ "beta_n", "over nodes, each device beyond two (s)", offsetof(struct goodput_params, beta_n) },
	{ "gamma", "overlap: 1 none, 10 nearly all", offsetof(struct goodput_params, gamma) },
};
enum { PARAMETERS = sizeof(parameters) / sizeof(*parameters) };

static double parameter_of(const struct fit_group *g, int i)
{
	double x;

	memcpy(&x, (const char *)&g->fit.params + parameters[i].offset, sizeof(x));
	return x;
}

/* ---- figures */

static struct goodput_shape shape_of(const struct goodput_sample *s)
{
	return (struct goodput_shape){ s->nodes, s->replicas };
}

struct fit_errors fit_group_errors(const struct fit_group *g)
{
	struct fit_errors e = { 0 };

	for (uint32_t i = 0; i < g->n; i++) {
		const struct goodput_sample *s = &g->samples[i];
		double step_s = goodput_step_s(&g->fit.params, shape_of(s), s->atomic);
		double grad = log(goodput_grad_s(&g->fit.params, s->atomic) / (s->step_s - s->sync_s));

		e.grad += grad * grad / g->n;
		e.step += log(step_s / s->step_s) * log(step_s / s->step_s) / g->n;
		if (fabs(step_s / s->step_s - 1) > fabs(e.worst)) {
			e.worst = step_s / s->step_s - 1;
			e.worst_at = i;
		}
	}
	e.grad = sqrt(e.grad);
	e.step = sqrt(e.step);
	return e;
}

struct fit_range fit_group_range(const struct fit_group *g)
{
	struct fit_range r = { .min_local = INFINITY };

	for (uint32_t i = 0; i < g->n; i++) {
		const struct goodput_sample *s = &g->samples[i];

		r.min_local = fmin(r.min_local, s->atomic);
		r.max_local = fmax(r.max_local, s->atomic);
		r.replicas = fmax(r.replicas, s->replicas);
		r.nodes = fmax(r.nodes, s->nodes);
		r.per_node = fmax(r.per_node, ceil(s->replicas / s->nodes));
	}
	return r;
}

struct goodput_shape fit_group_shape(const struct fit_group *g, double replicas)
{
	return (struct goodput_shape){ ceil(replicas / fit_group_range(g).per_node), replicas };
}

static double throughput(const struct fit_group *g, double replicas, double local)
{
	return replicas * local / goodput_step_s(&g->fit.params, fit_group_shape(g, replicas), local);
}

static bool has_gradient(const struct fit_group *g)
{
	return g->gradient.sqr > 0 && g->initial > 0;
}

static double noise_scale(const struct fit_group *g)
{
	return g->initial * g->gradient.var / g->gradient.sqr;
}

static double efficiency(const struct fit_group *g, double batch)
{
	return goodput_efficiency(g->gradient, batch, g->initial);
}

/* With batches up to what the devices hold in one pass, or the initial one where that is more. */
static bool best_of(const struct fit_group *g, double replicas, struct goodput_choice *out)
{
	struct fit_range r = fit_group_range(g);
	double max = fmax(g->initial, r.max_local * replicas);
	struct batch_limits limits = { .initial = g->initial,
		.max = max,
		.min_local = r.min_local,
		.max_local = r.max_local };

	return has_gradient(g) &&
		goodput_best(&g->fit.params, g->gradient, &limits, fit_group_shape(g, replicas),
			max, 0, out);
}

/* ---- sentences */

static void assumption(struct buf *out, bool seen, const char *text)
{
	if (!seen)
		buf_printf(out, "%s%s", out->n ? "; " : "", text);
}

/* Nothing if all was seen. */
static void put_assumptions(const struct fit_group *g, struct buf *out)
{
	struct goodput_seen seen = goodput_seen(g->samples, g->n);

	assumption(out, seen.sizes,
		"one batch size only, so half of computing is taken not to depend on it");
	if (!seen.replicas && !seen.nodes) {
		assumption(out, false, "one device only, so any number is taken to scale perfectly");
		return;
	}
	assumption(out, seen.replicas,
		"no several devices of one node, so they are taken to synchronise at no cost");
	assumption(out, seen.nodes,
		"no several nodes, so they are taken to cost a tenth more than one");
	assumption(out, seen.growth,
		"no more than two devices, so more are taken to cost as much as two");
}

static void put_shape(const struct goodput_sample *s, struct buf *out)
{
	buf_printf(out, "%g device%s on %g node%s, %g samples each", s->replicas,
		s->replicas == 1 ? "" : "s", s->nodes, s->nodes == 1 ? "" : "s", s->atomic);
}

static void put_title(const struct fit_group *g, struct buf *out)
{
	buf_printf(out, "%s on %s", g->model, g->type);
}

static void put_lead(const struct fit_report *r, struct buf *out)
{
	double worst = 0;
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		worst = fmax(worst, fit_group_errors(&r->groups[i]).step);
		n += r->groups[i].n;
	}
	buf_printf(out, "%zu sample%s, %zu fit%s; steps are met within %.1f %% (root mean square)%s",
		n, n == 1 ? "" : "s", r->n, r->n == 1 ? "" : "s", 100 * worst,
		r->n == 1 ? "" : " or better");
}

/* ---- text */

static void names_columns(struct table *t)
{
	table_column(t, "model", ALIGN_LEFT, 0);
	table_column(t, "type", ALIGN_LEFT, 0);
}

static void names_cells(struct table *t, const struct fit_group *g)
{
	table_cell(t, g->model);
	table_cell(t, g->type);
}

static void write_table(struct table *t, const struct term *term, struct buf *out)
{
	struct buf left_out = { 0 };

	table_write(t, TABLE_TEXT, term, out, &left_out);
	if (left_out.n)
		buf_printf(out, "(no room for %s)\n", left_out.at);
	buf_fini(&left_out);
	table_fini(t);
}

static void parameter_table(const struct fit_report *r, const struct term *term, struct buf *out)
{
	static const char *const errors[] = { "compute error", "step error", "worst" };
	struct table t = { 0 };

	names_columns(&t);
	for (int k = 0; k < PARAMETERS; k++) {
		table_column(&t, parameters[k].name, ALIGN_RIGHT, 0);
		table_unit(&t, k + 1 < PARAMETERS ? "s" : "");
	}
	for (size_t k = 0; k < 3; k++) {
		table_column(&t, errors[k], ALIGN_RIGHT, (int)(3 - k));
		table_unit(&t, "%");
	}
	for (size_t i = 0; i < r->n; i++) {
		struct fit_errors e = fit_group_errors(&r->groups[i]);

		names_cells(&t, &r->groups[i]);
		for (int k = 0; k < PARAMETERS; k++)
			table_cellf(&t, "%.4g", parameter_of(&r->groups[i], k));
		table_cellf(&t, "%.2f", 100 * e.grad);
		table_cellf(&t, "%.2f", 100 * e.step);
		table_cellf(&t, "%+.2f", 100 * e.worst);
	}
	write_table(&t, term, out);
}

static void throughput_table(const struct fit_report *r, const struct term *term, struct buf *out)
{
	struct table t = { 0 };

	buf_str(out,
		"\nsamples per second at the largest batch measured (~ beyond what was measured)\n");
	names_columns(&t);
	table_column(&t, "batch", ALIGN_RIGHT, 0);
	table_unit(&t, "a device");
	for (int k = 0; k < DEVICES; k++) {
		char title[32];

		snprintf(title, sizeof(title), "%g GPU%s", devices[k], devices[k] > 1 ? "s" : "");
		table_column(&t, title, ALIGN_RIGHT, 0);
	}
	for (size_t i = 0; i < r->n; i++) {
		struct fit_range range = fit_group_range(&r->groups[i]);

		names_cells(&t, &r->groups[i]);
		table_cellf(&t, "%g", range.max_local);
		for (int k = 0; k < DEVICES; k++)
			table_cellf(&t, "%s%.4g", devices[k] > range.replicas ? "~" : "",
				throughput(&r->groups[i], devices[k], range.max_local));
	}
	write_table(&t, term, out);
}

static void goodput_table(const struct fit_report *r, const struct term *term, struct buf *out)
{
	struct table t = { 0 };
	size_t rows = 0;

	names_columns(&t);
	table_column(&t, "noise scale", ALIGN_RIGHT, 0);
	for (int k = 0; k < DEVICES; k++) {
		char title[32];

		snprintf(title, sizeof(title), "%g GPU%s (batch)", devices[k],
			devices[k] > 1 ? "s" : "");
		table_column(&t, title, ALIGN_RIGHT, 0);
	}
	for (size_t i = 0; i < r->n; i++) {
		const struct fit_group *g = &r->groups[i];
		struct goodput_choice c;

		if (!has_gradient(g))
			continue;
		rows++;
		names_cells(&t, g);
		table_cellf(&t, "%.4g", noise_scale(g));
		for (int k = 0; k < DEVICES; k++) {
			if (best_of(g, devices[k], &c))
				table_cellf(&t, "%.4g (%g)", c.goodput * g->initial, c.batch);
			else
				table_cell(&t, "no batch fits");
		}
	}
	if (rows)
		buf_str(out,
			"\ngoodput at the best batch: samples per second, worth as much as at the initial "
			"batch\n");
	if (rows)
		write_table(&t, term, out);
	else
		table_fini(&t);
}

static bool any_gradient(const struct fit_report *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (has_gradient(&r->groups[i]))
			return true;
	return false;
}

static void efficiency_table(const struct fit_report *r, const struct term *term, struct buf *out)
{
	struct table t = { 0 };

	if (!any_gradient(r))
		return;
	buf_str(out,
		"\nefficiency by total batch: what a sample is worth beside one of the initial batch\n");
	names_columns(&t);
	table_column(&t, "initial batch", ALIGN_RIGHT, 0);
	for (int k = 0; k < TIMES; k++) {
		char title[32];

		snprintf(title, sizeof(title), "x %g", times[k]);
		table_column(&t, title, ALIGN_RIGHT, 0);
		table_unit(&t, "%");
	}
	for (size_t i = 0; i < r->n; i++) {
		const struct fit_group *g = &r->groups[i];

		if (!has_gradient(g))
			continue;
		names_cells(&t, g);
		table_cellf(&t, "%g", g->initial);
		for (int k = 0; k < TIMES; k++)
			table_cellf(&t, "%.1f", 100 * efficiency(g, g->initial * times[k]));
	}
	write_table(&t, term, out);
}

static void remarks(const struct fit_report *r, struct buf *out)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct fit_group *g = &r->groups[i];
		struct fit_errors e = fit_group_errors(g);
		struct buf assumed = { 0 };

		put_title(g, out);
		buf_printf(out, ": %u sample%s", g->n, g->n == 1 ? "" : "s");
		if (g->n > 1) {
			buf_str(out, ", the worst of ");
			put_shape(&g->samples[e.worst_at], out);
		}
		put_assumptions(g, &assumed);
		if (assumed.n)
			buf_printf(out, ".\n  Assumed: %s", assumed.at);
		buf_str(out, ".\n");
		buf_fini(&assumed);
	}
}

void fit_report_text(const struct fit_report *r, const struct term *term, struct buf *out)
{
	put_lead(r, out);
	buf_str(out, ".\n\n");
	parameter_table(r, term, out);
	throughput_table(r, term, out);
	goodput_table(r, term, out);
	efficiency_table(r, term, out);
	buf_char(out, '\n');
	remarks(r, out);
}

/* ---- JSON */

static void predictions_json(struct json *j, const struct fit_group *g)
{
	struct fit_range range = fit_group_range(g);

	json_begin_array(j, "predictions");
	for (int k = 0; k < DEVICES; k++) {
		struct goodput_choice c;

		json_begin_object(j, NULL);
		json_int(j, "replicas", (int64_t)devices[k]);
		json_int(j, "nodes", (int64_t)fit_group_shape(g, devices[k]).nodes);
		json_double(j, "local_bsz", range.max_local);
		json_double(j, "samples_per_s", throughput(g, devices[k], range.max_local));
		json_bool(j, "measured", devices[k] <= range.replicas);
		if (best_of(g, devices[k], &c)) {
			json_double(j, "goodput_samples_per_s", c.goodput * g->initial);
			json_double(j, "batch", c.batch);
			json_double(j, "efficiency", efficiency(g, c.batch));
		}
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void efficiency_json(struct json *j, const struct fit_group *g)
{
	json_double(j, "noise_scale", noise_scale(g));
	json_double(j, "initial_batch", g->initial);
	json_begin_array(j, "efficiency");
	for (int k = 0; k < TIMES; k++) {
		json_begin_object(j, NULL);
		json_double(j, "batch", g->initial * times[k]);
		json_double(j, "efficiency", efficiency(g, g->initial * times[k]));
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void group_json(struct json *j, const struct fit_group *g)
{
	struct goodput_seen seen = goodput_seen(g->samples, g->n);
	struct fit_errors e = fit_group_errors(g);
	const struct goodput_sample *worst = &g->samples[e.worst_at];

	json_begin_object(j, NULL);
	json_str(j, "model", g->model);
	json_str(j, "type", g->type);
	json_int(j, "samples", g->n);
	json_begin_object(j, "parameters");
	for (int k = 0; k < PARAMETERS; k++)
		json_double(j, parameters[k].name, parameter_of(g, k));
	json_end(j, '}');
	json_double(j, "objective", g->fit.objective);
	json_double(j, "compute_error", e.grad);
	json_double(j, "step_error", e.step);
	json_begin_object(j, "worst");
	json_double(j, "error", e.worst);
	json_double(j, "nodes", worst->nodes);
	json_double(j, "replicas", worst->replicas);
	json_double(j, "local_bsz", worst->atomic);
	json_end(j, '}');
	json_begin_object(j, "seen");
	json_bool(j, "batch_sizes", seen.sizes);
	json_bool(j, "devices_of_a_node", seen.replicas);
	json_bool(j, "nodes", seen.nodes);
	json_bool(j, "more_than_two", seen.growth);
	json_end(j, '}');
	if (has_gradient(g))
		efficiency_json(j, g);
	predictions_json(j, g);
	json_end(j, '}');
}

void fit_report_json(const struct fit_report *r, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "fit-goodput/1");
	json_str(&j, "source", r->source);
	json_begin_array(&j, "fits");
	for (size_t i = 0; i < r->n; i++)
		group_json(&j, &r->groups[i]);
	json_end(&j, ']');
	json_end(&j, '}');
	buf_char(out, '\n');
}

/* ---- pictures */

/* Local batches to draw: least, middle and largest of what was measured. */
static size_t curve_batches(const struct fit_group *g, double *out)
{
	double *all = mem_alloc(mem_array_size(g->n, sizeof(*all)));
	size_t n = 0, curves;

	for (uint32_t i = 0; i < g->n; i++) {
		size_t k = n;

		while (k > 0 && all[k - 1] > g->samples[i].atomic)
			k--;
		if (k > 0 && all[k - 1] == g->samples[i].atomic)
			continue;
		memmove(&all[k + 1], &all[k], (n - k) * sizeof(*all));
		all[k] = g->samples[i].atomic;
		n++;
	}
	curves = n < CURVES_MAX ? n : CURVES_MAX;
	for (size_t i = 0; i < curves; i++)
		out[i] = all[curves == 1 ? 0 : i * (n - 1) / (curves - 1)];
	free(all);
	return curves;
}

/* Fitted lines and measured dots of one batch size. */
struct fit_curve {
	double *x, *y, *dot_x, *dot_y;
	size_t n, ndots;
	char label[48], dot_label[48];
};

static void fit_curve_init(struct fit_curve *c, const struct fit_group *g, double local)
{
	double most = fmax(fit_group_range(g).replicas, devices[DEVICES - 1]);
	size_t points = (size_t)fmin(most, 1024);

	*c = (struct fit_curve){ .x = mem_alloc(mem_array_size(points, sizeof(double))),
		.y = mem_alloc(mem_array_size(points, sizeof(double))),
		.dot_x = mem_alloc(mem_array_size(g->n, sizeof(double))),
		.dot_y = mem_alloc(mem_array_size(g->n, sizeof(double))) };
	snprintf(c->label, sizeof(c->label), "%g samples a device, fitted", local);
	snprintf(c->dot_label, sizeof(c->dot_label), "%g samples a device, measured", local);
	for (c->n = 0; c->n < points; c->n++) {
		c->x[c->n] = (double)c->n + 1;
		c->y[c->n] = throughput(g, (double)c->n + 1, local);
	}
	for (uint32_t i = 0; i < g->n; i++) {
		const struct goodput_sample *s = &g->samples[i];

		if (s->atomic != local)
			continue;
		c->dot_x[c->ndots] = s->replicas;
		c->dot_y[c->ndots++] = s->replicas * s->atomic / s->step_s;
	}
}

static void fit_curve_fini(struct fit_curve *c)
{
	free(c->x);
	free(c->y);
	free(c->dot_x);
	free(c->dot_y);
}

static void draw(const struct fit_group *g, size_t number, struct buf *out)
{
	double locals[CURVES_MAX];
	size_t n = curve_batches(g, locals);
	struct fit_curve curves[CURVES_MAX];
	struct svg_series series[2 * CURVES_MAX];
	struct buf title = { 0 }, summary = { 0 };
	char id[32];

	snprintf(id, sizeof(id), "fit%zu", number);
	put_title(g, &title);
	buf_printf(&summary,
		"Samples per second by number of devices: lines as fitted with full nodes, dots as "
		"measured; steps are met within %.1f %%.",
		100 * fit_group_errors(g).step);
	for (size_t i = 0; i < n; i++) {
		fit_curve_init(&curves[i], g, locals[i]);
		series[i] = (struct svg_series){ curves[i].label, curves[i].x, curves[i].y,
			curves[i].n, i };
		series[n + i] = (struct svg_series){ curves[i].dot_label, curves[i].dot_x,
			curves[i].dot_y, curves[i].ndots, i };
	}
	svg_lines(
		&(struct svg_lines){
			.chart = { id, title.at, summary.at, HTML_WIDE, CHART_HEIGHT },
			.x = { "devices (logarithmic)", UNIT_COUNT, true, false, 1, NAN },
			.y = { "samples per second (logarithmic)", UNIT_COUNT, true, false, NAN, NAN },
			.dotted = n,
		},
		series, 2 * n, out);
	for (size_t i = 0; i < n; i++)
		fit_curve_fini(&curves[i]);
	buf_fini(&title);
	buf_fini(&summary);
}

/* What a sample is worth, by total batch. */
static void draw_efficiency(const struct fit_group *g, size_t number, struct buf *out)
{
	double x[LINE_POINTS], y[LINE_POINTS], last = times[TIMES - 1];
	struct buf title = { 0 }, summary = { 0 }, axis = { 0 };
	char id[32];

	snprintf(id, sizeof(id), "efficiency%zu", number);
	put_title(g, &title);
	buf_printf(&summary,
		"What a sample is worth by total batch: with a noise scale of %.4g it falls to %.0f %% at %g "
		"times the initial batch of %g.",
		noise_scale(g), 100 * efficiency(g, last * g->initial), last, g->initial);
	buf_printf(&axis, "total batch over the initial one of %g (logarithmic)", g->initial);
	for (int i = 0; i < LINE_POINTS; i++) {
		x[i] = pow(last, i / (LINE_POINTS - 1.0));
		y[i] = efficiency(g, x[i] * g->initial);
	}
	svg_lines(
		&(struct svg_lines){
			.chart = { id, title.at, summary.at, HTML_WIDE, CHART_HEIGHT },
			.x = { axis.at, UNIT_COUNT, true, false, 1, NAN },
			.y = { "efficiency", UNIT_SHARE, false, false, 0, 1 },
		},
		&(struct svg_series){ "efficiency", x, y, LINE_POINTS, 0 }, 1, out);
	buf_fini(&title);
	buf_fini(&summary);
	buf_fini(&axis);
}

/* What a page has for all its charts. */
static const char file_style[] =
	"<style>svg{--fg:#1a1f24;--rule:#d4d9de;--c0:#0072b2;--c1:#d55e00;--c2:#009e73;background:#fff;"
	"font:12px system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif}"
	"@media screen and (prefers-color-scheme:dark){svg{--fg:#e4e7ea;--rule:#363c42;--c0:#4aa3df;"
	"--c1:#f0803c;--c2:#2fc79a;background:#14171a}}"
	"text{fill:var(--fg)}.head{font-weight:600}.grid{stroke:var(--rule);fill:none}"
	".line{fill:none;stroke-width:2}.s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}"
	".d1{stroke-dasharray:7 3}.d2{stroke-dasharray:2 3}"
	".dots{fill:none;stroke-width:6;stroke-linecap:round;opacity:.6}</style>\n";

enum { HEAD = 24 };

static void file_head(const struct fit_group *g, const char *what, int y, struct buf *out)
{
	buf_printf(out, "<text class=\"head\" x=\"4\" y=\"%d\">%s of ", y, what);
	html_text(out, g->model);
	buf_str(out, " on ");
	html_text(out, g->type);
	buf_str(out, "</text>");
}

static void file_legend(const struct fit_group *g, double y, struct buf *out)
{
	double locals[CURVES_MAX];
	size_t n = curve_batches(g, locals);

	for (size_t i = 0; i < n; i++) {
		double x = HTML_WIDE - 150.0 * (double)(n - i);

		buf_printf(out,
			"<path class=\"line s%zu d%zu\" d=\"M%g %gh30\"/><text x=\"%g\" y=\"%g\">%g a "
			"device</text>",
			i, i, x, y - 4, x + 36, y, locals[i]);
	}
}

/* A chart at that height of the file; returns where the next one begins. */
static int file_chart(const struct buf *chart, int y, struct buf *out)
{
	buf_printf(out, "\n<svg y=\"%d\" width=\"%d\" height=\"%d\"%s", y + HEAD, HTML_WIDE,
		CHART_HEIGHT, strstr(chart->at, "<svg") + strlen("<svg"));
	return y + HEAD + CHART_HEIGHT;
}

static int file_group(const struct fit_group *g, size_t number, int y, struct buf *out)
{
	struct buf chart = { 0 };

	file_head(g, "Throughput", y + 16, out);
	file_legend(g, y + 16, out);
	draw(g, number, &chart);
	y = file_chart(&chart, y, out);
	if (has_gradient(g)) {
		buf_clear(&chart);
		file_head(g, "Efficiency", y + 16, out);
		draw_efficiency(g, number, &chart);
		y = file_chart(&chart, y, out);
	}
	buf_fini(&chart);
	return y;
}

void fit_report_svg(const struct fit_report *r, struct buf *out)
{
	struct buf charts = { 0 };
	int height = 0;

	for (size_t i = 0; i < r->n; i++)
		height = file_group(&r->groups[i], i, height, &charts);
	buf_printf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">",
		HTML_WIDE, height, HTML_WIDE, height);
	buf_printf(out, "<title>Fitted throughput by number of devices%s</title>\n",
		any_gradient(r) ? ", and efficiency by batch" : "");
	buf_str(out, file_style);
	buf_str(out, charts.n ? charts.at : "");
	buf_str(out, "</svg>\n");
	buf_fini(&charts);
}

/* ---- the page */

static void html_legend(const struct fit_group *g, struct buf *out)
{
	double locals[CURVES_MAX];
	size_t n = curve_batches(g, locals);

	buf_str(out, "<ul class=\"legend\">\n");
	for (size_t i = 0; i < n; i++) {
		buf_str(out, "<li>");
		svg_line_sample(i, out);
		buf_printf(out, "<span>%g samples a device</span></li>\n", locals[i]);
	}
	buf_str(out, "</ul>\n");
}

static void html_row_of(const char *name, const char *meaning, double x, struct buf *out)
{
	buf_printf(out, "<tr><th scope=\"row\">%s</th><td>%.4g</td><td>%s</td></tr>\n", name, x,
		meaning);
}

/* What so many devices do, and at which batch they learn most. */
static void html_devices(const struct fit_group *g, struct buf *out)
{
	double local = fit_group_range(g).max_local;

	buf_str(out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"By devices\"><table><thead><tr>"
		"<th scope=\"col\">devices</th><th scope=\"col\">samples/s</th>");
	if (has_gradient(g))
		buf_str(out,
			"<th scope=\"col\">goodput, samples/s</th><th scope=\"col\">at batch</th>"
			"<th scope=\"col\">efficiency, %</th>");
	buf_str(out, "</tr></thead><tbody>\n");
	for (int k = 0; k < DEVICES; k++) {
		struct goodput_choice c;

		buf_printf(out, "<tr><th scope=\"row\">%g</th><td>%.4g</td>", devices[k],
			throughput(g, devices[k], local));
		if (best_of(g, devices[k], &c))
			buf_printf(out, "<td>%.4g</td><td>%g</td><td>%.1f</td>",
				c.goodput * g->initial, c.batch, 100 * efficiency(g, c.batch));
		else if (has_gradient(g))
			buf_str(out, "<td>–</td><td>no batch fits</td><td>–</td>");
		buf_str(out, "</tr>\n");
	}
	buf_str(out, "</tbody></table></div>\n");
}

static void html_efficiency(const struct fit_group *g, size_t number, struct buf *out)
{
	html_figure("Efficiency", "What a sample is worth beside one of the initial batch.", true, out);
	draw_efficiency(g, number, out);
	html_figure_end(true, out);
	buf_str(out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Efficiency\"><table><thead><tr>"
		"<th scope=\"col\">total batch</th>");
	for (int k = 0; k < TIMES; k++)
		buf_printf(out, "<th scope=\"col\">%g</th>", g->initial * times[k]);
	buf_str(out, "</tr></thead><tbody><tr><th scope=\"row\">efficiency, %</th>");
	for (int k = 0; k < TIMES; k++)
		buf_printf(out, "<td>%.1f</td>", 100 * efficiency(g, g->initial * times[k]));
	buf_str(out, "</tr></tbody></table></div>\n");
}

static void html_group(const struct fit_group *g, size_t number, struct buf *out)
{
	struct fit_errors e = fit_group_errors(g);
	struct buf title = { 0 }, note = { 0 }, id = { 0 };

	put_title(g, &title);
	put_assumptions(g, &note);
	buf_printf(&id, "group%zu", number);
	if (note.n) {
		struct buf text = { 0 };

		buf_printf(&text, "Assumed: %s.", note.at);
		html_section(id.at, title.at, text.at, out);
		buf_fini(&text);
	} else {
		html_section(id.at, title.at, NULL, out);
	}
	html_legend(g, out);
	html_figure("Throughput", "Dots were measured, lines are fitted for full nodes.", true, out);
	draw(g, number, out);
	html_figure_end(true, out);
	html_devices(g, out);
	if (has_gradient(g))
		html_efficiency(g, number, out);
	buf_str(out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Parameters\"><table><thead><tr><th scope=\"col\">parameter</th>"
		"<th scope=\"col\">value</th><th scope=\"col\">what it is</th></tr></thead><tbody>\n");
	for (int k = 0; k < PARAMETERS; k++)
		html_row_of(parameters[k].name, parameters[k].meaning, parameter_of(g, k), out);
	html_row_of("compute error", "root mean square, %", 100 * e.grad, out);
	html_row_of("step error", "root mean square, %", 100 * e.step, out);
	html_row_of("worst step", "%", 100 * e.worst, out);
	if (has_gradient(g))
		html_row_of("noise scale", "total batch at which a sample is worth about half",
			noise_scale(g), out);
	buf_str(out, "</tbody></table></div>\n");
	html_section_end(out);
	buf_fini(&title);
	buf_fini(&note);
	buf_fini(&id);
}

void fit_report_html(const struct fit_report *r, const struct html_info *info, struct buf *out)
{
	struct buf lead = { 0 };

	put_lead(r, &lead);
	buf_char(&lead, '.');
	html_begin(info, lead.at, out);
	for (size_t i = 0; i < r->n; i++)
		html_group(&r->groups[i], i, out);
	html_end(info, NULL, out);
	buf_fini(&lead);
}
