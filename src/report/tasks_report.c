#include "report/tasks_report.h"

#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "report/html.h"
#include "report/units.h"

static void put_lead(const struct tasks_report *r, struct buf *out)
{
	const struct mono_config *c = r->config;
	const struct mono_load *load = c->load;
	char size[32];

	buf_printf(out, "%s: %u job%s, %u stages, %llu tasks; %u worker%s with", load->source,
		load->njobs, load->njobs == 1 ? "" : "s", load->nstages,
		(unsigned long long)load->ntasks, c->workers, c->workers == 1 ? "" : "s");
	for (int i = 0; i < MONO_RESOURCES; i++)
		if (c->worker.slots[i])
			buf_printf(out, " %u %s,", c->worker.slots[i], mono_resource_names[i]);
	buf_printf(out, " %s; decisions every %g s, EPT %g s, %s%s\n\n",
		text_size(c->worker.mem_bytes, size), c->interval_s, c->ept_s,
		c->order == MONO_EJF ? "earliest job first" : "least remaining first",
		c->strict ? ", strict" : "");
}

static void put_number(struct table *table, enum table_form form, const struct scale *scale, double x)
{
	struct buf text = { 0 };

	if (form == TABLE_CSV && isfinite(x))
		buf_double(&text, x);
	else if (form != TABLE_CSV)
		scale_number(scale, x, &text);
	table_cell(table, text.n ? text.at : "");
	buf_fini(&text);
}

static void put_rows(const struct tasks_report *r, enum table_form form, struct table *table)
{
	struct scale share = scale_for(UNIT_SHARE, 1), time;
	double longest = 0;

	for (size_t i = 0; i < r->n; i++)
		longest = fmax(longest, r->rows[i].result.makespan_s);
	time = scale_for(UNIT_SECONDS, longest);
	table_column(table, "scheduler", ALIGN_LEFT, 0);
	table_column(table, form == TABLE_CSV ? "makespan_s" : "makespan", ALIGN_RIGHT, 0);
	table_unit(table, form == TABLE_CSV ? NULL : time.name);
	table_column(table, form == TABLE_CSV ? "mean_jct_s" : "mean JCT", ALIGN_RIGHT, 0);
	table_unit(table, form == TABLE_CSV ? NULL : time.name);
	for (int k = 0; k < MONO_RESOURCES; k++) {
		table_column(table, mono_resource_names[k], ALIGN_RIGHT, 1);
		table_unit(table, form == TABLE_CSV ? NULL : share.name);
	}
	for (size_t i = 0; i < r->n; i++) {
		const struct mono_result *one = &r->rows[i].result;

		table_cell(table, mono_scheduler_names[r->rows[i].scheduler]);
		put_number(table, form, &time, one->makespan_s);
		put_number(table, form, &time, one->mean_jct_s);
		for (int k = 0; k < MONO_RESOURCES; k++)
			put_number(table, form, &share, one->utilisation[k]);
	}
}

void tasks_report_text(const struct tasks_report *r, enum table_form form, const struct term *term,
	struct buf *out)
{
	struct table table = { 0 };

	if (form == TABLE_TEXT)
		put_lead(r, out);
	put_rows(r, form, &table);
	table_write(&table, form, term, out, NULL);
	table_fini(&table);
}

static void put_json(const struct tasks_report *r, const struct tasks_row *row, struct json *j)
{
	json_begin_object(j, NULL);
	json_str(j, "scheduler", mono_scheduler_names[row->scheduler]);
	json_double(j, "makespan_s", row->result.makespan_s);
	json_double(j, "mean_jct_s", row->result.mean_jct_s);
	json_int(j, "monotasks", (int64_t)row->result.monotasks);
	json_int(j, "decisions", (int64_t)row->result.decisions);
	json_begin_object(j, "utilisation");
	for (int k = 0; k < MONO_RESOURCES; k++)
		json_double(j, mono_resource_names[k], row->result.utilisation[k]);
	json_end(j, '}');
	json_begin_array(j, "jobs");
	for (uint32_t i = 0; i < r->config->load->njobs; i++) {
		json_begin_object(j, NULL);
		json_str(j, "name", r->config->load->jobs[i].name);
		json_double(j, "jct_s", row->result.jct_s[i]);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
}

void tasks_report_json(const struct tasks_report *r, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "tasks/1");
	json_str(&j, "load", r->config->load->source);
	json_int(&j, "workers", r->config->workers);
	json_double(&j, "interval_s", r->config->interval_s);
	json_double(&j, "ept_s", r->config->ept_s);
	json_begin_array(&j, "schedulers");
	for (size_t i = 0; i < r->n; i++)
		put_json(r, &r->rows[i], &j);
	json_end(&j, ']');
	json_end(&j, '}');
}

/* ---- the picture */

enum { LANE = 12, GAP = 4, LEFT = 110, WIDTH = 1000, TOP = 30 };

/* After Okabe and Ito. */
static const char *const colours[] = { "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9",
	"#d55e00", "#f0e442", "#666666" };

/* Lanes above one: a worker has one for each slot of what it has, unless these are many. */
static uint32_t lanes_of(const struct mono_worker *w, int r)
{
	return w->slots[r] > 4 ? 4 : w->slots[r];
}

static uint32_t lane_at(const struct mono_config *c, uint32_t worker, int r)
{
	uint32_t each = 0, before = 0;

	for (int k = 0; k < MONO_RESOURCES; k++) {
		each += lanes_of(&c->worker, k);
		before += k < r ? lanes_of(&c->worker, k) : 0;
	}
	return worker * each + before;
}

static void put_labels(const struct mono_config *c, struct buf *out)
{
	for (uint32_t w = 0; w < c->workers; w++)
		for (int r = 0; r < MONO_RESOURCES; r++)
			if (c->worker.slots[r])
				buf_printf(out,
					"<text x=\"4\" y=\"%u\" font-size=\"10\">w%u %s</text>\n",
					TOP + lane_at(c, w, r) * LANE + LANE - 2, w,
					mono_resource_names[r]);
}

/* A span lies on the lane of its slot that is free first; which slot it was nobody told. */
static void put_spans(const struct mono_config *c, const struct mono_span *spans, size_t n,
	double makespan_s, struct buf *out)
{
	uint32_t lanes = lane_at(c, c->workers, 0);
	double *until = mem_alloc(mem_array_size(lanes + 1, sizeof(*until)));
	double scale = makespan_s > 0 ? (WIDTH - LEFT - 10) / makespan_s : 0;

	for (size_t i = 0; i < n; i++) {
		const struct mono_span *s = &spans[i];
		uint32_t first = lane_at(c, s->worker, s->resource), lane = first;

		for (uint32_t k = 0; k < lanes_of(&c->worker, s->resource); k++)
			if (until[first + k] < until[lane])
				lane = first + k;
		until[lane] = s->end_s;
		buf_printf(out,
			"<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"%s\"><title>",
			LEFT + s->start_s * scale, TOP + lane * LANE,
			fmax(0.3, (s->end_s - s->start_s) * scale), LANE - 2,
			colours[s->job % (sizeof(colours) / sizeof(*colours))]);
		html_text(out, c->load->jobs[s->job].name);
		buf_char(out, ' ');
		html_text(out, c->load->stages[s->stage].name);
		buf_printf(out, " task %u, %s %.3g s</title></rect>\n", s->task,
			mono_resource_names[s->resource], s->end_s - s->start_s);
	}
	free(until);
}

void tasks_svg(const struct mono_config *c, const struct mono_span *spans, size_t n,
	double makespan_s, struct buf *out)
{
	uint32_t height = TOP + lane_at(c, c->workers, 0) * LANE + GAP;

	buf_printf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" font-family=\"sans-serif\" "
		"role=\"img\">\n<title>Monotasks by worker and resource under %s</title>\n"
		"<rect width=\"%d\" height=\"%u\" fill=\"#fff\"/>\n"
		"<text x=\"4\" y=\"16\" font-size=\"13\">%s: %g s, a colour for each job</text>\n",
		WIDTH, height, mono_scheduler_names[c->scheduler], WIDTH, height,
		mono_scheduler_names[c->scheduler], makespan_s);
	put_labels(c, out);
	put_spans(c, spans, n, makespan_s, out);
	buf_str(out, "</svg>\n");
}
