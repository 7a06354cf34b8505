/*
 * A comparison and a run as tables for people.
 */
#include "report/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/units.h"

/* The signs that carry the meaning, with and without UTF-8. */
struct signs {
	const char *best, *differs, *plus_minus, *none;
};

static const struct signs unicode_signs = { "*", "†", "±", "–" };
static const struct signs ascii_signs = { "*", "+", "+-", "-" };

static const struct signs *signs_for(const struct term *term)
{
	return term->utf8 ? &unicode_signs : &ascii_signs;
}

/* ---- a column of figures */

struct column {
	const struct metric *metric;
	size_t index;        /* in metrics[] */
	struct scale scale;
	size_t half_width;   /* of the widest interval, 0: none has one */
	size_t marks;        /* width of the widest marks */
};

static const struct compare_figure *figure_of(const struct comparison *c, uint32_t policy,
	const struct column *column)
{
	return &c->policies[policy].figures[column->index];
}

/* A column that says nothing (zero or unknown everywhere) only takes room. */
static bool says_something(const struct comparison *c, size_t metric)
{
	for (uint32_t i = 0; i < c->npolicies; i++) {
		double mean = c->policies[i].figures[metric].value.mean;

		if (isfinite(mean) && mean != 0)
			return true;
	}
	return false;
}

static size_t marks_width(const struct compare_figure *f)
{
	return (size_t)f->best + (size_t)f->differs;
}

static struct column column_of(const struct comparison *c, size_t metric, const struct term *term)
{
	struct column col = { .metric = &metrics[metric], .index = metric };
	struct buf half = { 0 };
	double largest = 0;

	for (uint32_t i = 0; i < c->npolicies; i++)
		largest = fmax(largest, fabs(figure_of(c, i, &col)->value.mean));
	col.scale = scale_for(col.metric->unit, largest);
	for (uint32_t i = 0; i < c->npolicies; i++) {
		const struct compare_figure *f = figure_of(c, i, &col);
		size_t width;

		if (marks_width(f) > col.marks)
			col.marks = marks_width(f);
		if (!isfinite(f->value.half))
			continue;
		buf_clear(&half);
		scale_number(&col.scale, f->value.half, &half);
		width = half.n + text_columns(signs_for(term)->plus_minus) + 1;
		if (width > col.half_width)
			col.half_width = width;
	}
	buf_fini(&half);
	return col;
}

static void pad(struct buf *out, size_t n)
{
	while (n--)
		buf_char(out, ' ');
}

/* " ±1.2", or as many blanks, so that numbers stay below each other. */
static void put_half(struct buf *out, const struct column *col, double half, const struct signs *signs)
{
	struct buf text = { 0 };
	size_t width;

	if (isfinite(half)) {
		buf_str(&text, signs->plus_minus);
		scale_number(&col->scale, half, &text);
	}
	width = text.n ? text_columns(text.at) : 0;
	if (col->half_width) {
		buf_char(out, ' ');
		if (text.n)
			buf_str(out, text.at);
		pad(out, col->half_width - 1 - width);
	}
	buf_fini(&text);
}

static void add_cell(struct table *table, const struct column *col, const struct compare_figure *f,
	const struct signs *signs)
{
	struct buf text = { 0 };

	if (isfinite(f->value.mean))
		scale_number(&col->scale, f->value.mean, &text);
	else
		buf_str(&text, signs->none);
	put_half(&text, col, f->value.half, signs);
	if (f->best)
		buf_str(&text, signs->best);
	if (f->differs)
		buf_str(&text, signs->differs);
	pad(&text, col->marks - marks_width(f));
	table_cell(table, text.at);
	if (f->best)
		table_strong(table);
	buf_fini(&text);
}

static bool wanted(const struct comparison *c, size_t metric, bool timings)
{
	const struct metric *m = &metrics[metric];

	return m->rank && (!m->timing || timings) && says_something(c, metric);
}

static void build(const struct comparison *c, bool timings, const struct term *term,
	struct table *table)
{
	struct column *columns;
	size_t n = 0;

	for (size_t m = 0; metrics[m].key; m++)
		n++;
	columns = mem_alloc(mem_array_size(n, sizeof(*columns)));
	n = 0;
	table_column(table, "policy", ALIGN_LEFT, 0);
	for (size_t m = 0; metrics[m].key; m++) {
		if (!wanted(c, m, timings))
			continue;
		columns[n] = column_of(c, m, term);
		table_column(table, metrics[m].title, ALIGN_RIGHT, metrics[m].rank);
		table_unit(table, columns[n++].scale.name);
	}
	for (uint32_t i = 0; i < c->npolicies; i++) {
		table_cell(table, c->policies[i].label);
		for (size_t k = 0; k < n; k++)
			add_cell(table, &columns[k], figure_of(c, i, &columns[k]), signs_for(term));
	}
	free(columns);
}

/* ---- what the signs mean */

static bool any_figure(const struct comparison *c, bool (*is)(const struct compare_figure *f))
{
	for (uint32_t i = 0; i < c->npolicies; i++) {
		for (size_t m = 0; metrics[m].key; m++) {
			if (metrics[m].rank && is(&c->policies[i].figures[m]))
				return true;
		}
	}
	return false;
}

static bool is_best(const struct compare_figure *f)
{
	return f->best;
}

static bool has_interval(const struct compare_figure *f)
{
	return isfinite(f->value.half);
}

static bool differs_by_t(const struct compare_figure *f)
{
	return f->differs && f->against_first.test == PAIRED_T;
}

static bool differs_by_rank(const struct compare_figure *f)
{
	return f->differs && f->against_first.test == PAIRED_WILCOXON;
}

static void legend(const struct comparison *c, const struct signs *signs, const char *end,
	struct buf *out)
{
	const char *first = c->npolicies ? c->policies[0].label : "";

	if (any_figure(c, is_best))
		buf_printf(out, "%s best of its column%s", signs->best, end);
	if (any_figure(c, has_interval))
		buf_printf(out, "%s half of the 95 %% confidence interval of the mean over %u seeds%s",
			signs->plus_minus, (unsigned)c->nseeds, end);
	if (any_figure(c, differs_by_t))
		buf_printf(out, "%s differs from %s, p < 0.05 (paired t over %u seeds)%s",
			signs->differs, first, (unsigned)c->nseeds, end);
	if (any_figure(c, differs_by_rank))
		buf_printf(out,
			"%s differs from %s, p < 0.05 (Wilcoxon signed rank over the jobs of one run)%s",
			signs->differs, first, end);
	if (c->same_seeds)
		buf_printf(out, "all %u seeds gave the same run: nothing in it is random%s",
			(unsigned)c->nseeds, end);
}

/* ---- CSV: every figure, in plain units */

static void plain_cell(struct table *table, double x)
{
	struct buf text = { 0 };

	if (isfinite(x))
		buf_double(&text, x);
	table_cell(table, text.at);
	buf_fini(&text);
}

static void build_plain(const struct comparison *c, bool timings, struct table *table)
{
	char title[80];

	table_column(table, "policy", ALIGN_LEFT, 0);
	for (const struct metric *m = metrics; m->key; m++) {
		if (m->timing && !timings)
			continue;
		table_column(table, m->key, ALIGN_RIGHT, 0);
		snprintf(title, sizeof(title), "%s_ci95", m->key);
		table_column(table, title, ALIGN_RIGHT, 0);
	}
	for (uint32_t i = 0; i < c->npolicies; i++) {
		table_cell(table, c->policies[i].label);
		for (size_t m = 0; metrics[m].key; m++) {
			const struct interval *v = &c->policies[i].figures[m].value;

			if (metrics[m].timing && !timings)
				continue;
			plain_cell(table, v->mean);
			plain_cell(table, v->half);
		}
	}
}

void comparison_table(const struct comparison *c, const struct compare_style *style,
	const struct term *term, struct buf *out)
{
	struct buf left_out = { 0 };
	struct table table = { 0 };

	if (style->form == TABLE_CSV)
		build_plain(c, style->timings, &table);
	else
		build(c, style->timings, term, &table);
	table_write(&table, style->form, term, out, &left_out);
	if (style->form != TABLE_CSV) {
		buf_char(out, '\n');
		legend(c, signs_for(term), style->form == TABLE_MARKDOWN ? "  \n" : "\n", out);
	}
	if (left_out.n)
		buf_printf(out, "no room for: %s\n", left_out.at);
	buf_fini(&left_out);
	table_fini(&table);
}

/* ---- one run */

/* Figures that belong on one line. */
struct line {
	const char *name;
	const char *keys[5];
	bool always; /* even where all are zero */
};

static const struct line lines[] = {
	{ "completion time", { "jct_mean_s", "jct_p50_s", "jct_p95_s", "jct_p99_s", "jct_max_s" }, true },
	{ "waiting", { "wait_mean_s", "wait_p50_s", "wait_p95_s", "wait_p99_s" }, true },
	{ "makespan", { "makespan_s" }, true },
	{ "GPU-time", { "utilisation", "useful" }, true },
	{ "fairness", { "ftf_mean", "ftf_max", "jain" }, true },
	{ "deadlines", { "deadline_met" }, false },
	{ "disturbed", { "preemptions", "migrations", "resizes", "failures" }, false },
	{ "spent", { "overhead_gpu_s", "lost_gpu_s" }, false },
};

static const char *short_title(const struct metric *m)
{
	if (strstr(m->key, "_mean"))
		return "mean";
	if (!strncmp(m->title, "wait ", 5))
		return m->title + 5;
	if (!strcmp(m->key, "jct_max_s"))
		return "max";
	if (!strcmp(m->key, "ftf_max"))
		return "worst";
	if (!strcmp(m->key, "utilisation"))
		return "held";
	return m->title;
}

static void put_line(const struct line *line, const struct summary *s, struct buf *out)
{
	bool alone = !line->keys[1], first = true;

	for (size_t i = 0; i < 5 && line->keys[i]; i++) {
		const struct metric *m = metric_find(line->keys[i]);
		double value = metric_value(m, s);

		if (!isfinite(value) || (!line->always && value == 0))
			continue;
		if (first)
			buf_printf(out, "%-16s ", line->name);
		else
			buf_str(out, ", ");
		first = false;
		if (!alone)
			buf_printf(out, "%s ", short_title(m));
		unit_text(m->unit, value, out);
	}
	if (!first)
		buf_char(out, '\n');
}

static void put_jobs(const struct summary *s, struct buf *out)
{
	buf_printf(out, "%-16s %u submitted, %u finished", "jobs", (unsigned)s->jobs_submitted,
		(unsigned)s->jobs_finished);
	if (s->jobs_rejected)
		buf_printf(out, ", %u rejected", (unsigned)s->jobs_rejected);
	if (s->jobs_unfinished)
		buf_printf(out, ", %u unfinished", (unsigned)s->jobs_unfinished);
	buf_char(out, '\n');
}

static void put_waits(const struct summary *s, struct buf *out)
{
	double total = 0;
	bool first = true;

	for (int w = 0; w < WHY_COUNT; w++)
		total += s->waited_by_why_s[w];
	for (int w = 0; total > 0 && w < WHY_COUNT; w++) {
		double share = s->waited_by_why_s[w] / total;

		if (share < 0.001)
			continue;
		buf_printf(out, first ? "%-16s " : "", "waited because");
		buf_printf(out, "%s%s %.1f %%", first ? "" : ", ", why_name(w), share * 100);
		first = false;
	}
	if (!first)
		buf_char(out, '\n');
}

static void put_timings(const struct summary *s, struct buf *out)
{
	buf_printf(out, "%-16s %llu decisions in ", "scheduler",
		(unsigned long long)s->decisions);
	unit_text(UNIT_SECONDS, s->decision_cpu_s, out);
	buf_str(out, " of CPU time, the whole run ");
	unit_text(UNIT_SECONDS, s->cpu_s, out);
	if (s->rss_bytes > 0) {
		buf_str(out, ", memory ");
		unit_text(UNIT_BYTES, (double)s->rss_bytes, out);
	}
	buf_char(out, '\n');
}

static void summary_text(const struct summary *s, bool timings, struct buf *out)
{
	put_jobs(s, out);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		put_line(&lines[i], s, out);
	put_waits(s, out);
	if (timings)
		put_timings(s, out);
}

void summary_table(const struct summary *s, const struct compare_style *style,
	const struct term *term, struct buf *out)
{
	struct table table = { 0 };

	if (style->form == TABLE_TEXT) {
		summary_text(s, style->timings, out);
		return;
	}
	table_column(&table, "figure", ALIGN_LEFT, 0);
	table_column(&table, "value", ALIGN_RIGHT, 0);
	for (const struct metric *m = metrics; m->key; m++) {
		struct buf text = { 0 };

		if (m->timing && !style->timings)
			continue;
		if (style->form == TABLE_MARKDOWN)
			unit_text(m->unit, metric_value(m, s), &text);
		else if (isfinite(metric_value(m, s)))
			buf_double(&text, metric_value(m, s));
		table_cell(&table, style->form == TABLE_MARKDOWN ? m->title : m->key);
		table_cell(&table, text.at);
		buf_fini(&text);
	}
	table_write(&table, style->form, term, out, NULL);
	table_fini(&table);
}
