/*
 * A comparison as a table for people.
 */
#include "report/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

static size_t count_metrics(void)
{
	size_t n = 0;

	while (metrics[n].key)
		n++;
	return n;
}

/* ---- a column of figures */

struct column {
	const struct metric *metric;
	size_t index; /* in metrics[] */
	struct scale scale;
	size_t half_width; /* of the widest interval, 0: none has one */
	size_t marks;      /* width of the widest marks */
};

static const struct compare_figure *figure_of(const struct comparison *c, uint32_t policy,
	const struct column *column)
{
	return &c->policies[policy].figures[column->index];
}

static bool is_best(const struct comparison *c, uint32_t policy, const struct column *column)
{
	return comparison_best(c, column->index, policy);
}

static size_t marks_width(const struct comparison *c, uint32_t policy, const struct column *column)
{
	return (size_t)is_best(c, policy, column) + (size_t)figure_of(c, policy, column)->differs;
}

static struct column column_of(const struct comparison *c, size_t metric, const struct term *term)
{
	struct column col = { .metric = &metrics[metric], .index = metric };
	struct buf half = { 0 };

	col.scale = comparison_scale(c, metric);
	for (uint32_t i = 0; i < c->npolicies; i++) {
		const struct compare_figure *f = figure_of(c, i, &col);
		struct scale cell;
		size_t width;

		if (marks_width(c, i, &col) > col.marks)
			col.marks = marks_width(c, i, &col);
		if (!isfinite(f->value.half))
			continue;
		buf_clear(&half);
		cell = comparison_cell_scale(c, metric, i);
		scale_number(&cell, f->value.half, &half);
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

/* "12.3 ±1.2*†", then blanks to the widest of the column, so that numbers stay below each other. */
static void add_cell(struct table *table, const struct comparison *c, uint32_t policy,
	const struct column *col, const struct signs *signs)
{
	const struct compare_figure *f = figure_of(c, policy, col);
	struct scale scale = comparison_cell_scale(c, col->index, policy);
	bool best = is_best(c, policy, col);
	struct buf text = { 0 }, after = { 0 };

	if (isfinite(f->value.mean))
		scale_number(&scale, f->value.mean, &text);
	else
		buf_str(&text, signs->none);
	if (isfinite(f->value.half)) {
		buf_printf(&after, " %s", signs->plus_minus);
		scale_number(&scale, f->value.half, &after);
	}
	buf_printf(&after, "%s%s", best ? signs->best : "", f->differs ? signs->differs : "");
	pad(&after, col->half_width + col->marks - text_columns(after.at));
	buf_str(&text, after.at);
	table_cell(table, text.at);
	if (best)
		table_strong(table);
	buf_fini(&text);
	buf_fini(&after);
}

/* Fills the table; `columns` has room for every metric.  Returns how many there are. */
static size_t build(const struct comparison *c, bool timings, const struct term *term,
	struct table *table, struct column *columns)
{
	size_t n = 0;

	table_column(table, c->what ? c->what : "policy", ALIGN_LEFT, 0);
	for (size_t m = 0; metrics[m].key; m++) {
		if (!metrics[m].rank || !comparison_shows(c, m, timings))
			continue;
		columns[n] = column_of(c, m, term);
		table_column(table, metrics[m].title, ALIGN_RIGHT, metrics[m].rank);
		table_unit(table, columns[n++].scale.name);
	}
	for (uint32_t i = 0; i < c->npolicies; i++) {
		table_cell(table, c->policies[i].label);
		for (size_t k = 0; k < n; k++)
			add_cell(table, c, i, &columns[k], signs_for(term));
	}
	for (uint32_t i = 0; i < c->nfailed; i++) {
		table_cell(table, c->failed[i].label);
		for (size_t k = 0; k < n; k++)
			table_cell(table, k ? signs_for(term)->none : "failed");
	}
	return n;
}

/* ---- what the signs mean */

/* The signs that the table shows. */
struct used {
	bool best, interval, by_t, by_rank;
};

static struct used used_in(const struct comparison *c, const struct table *table,
	const struct column *columns, size_t n)
{
	struct used used = { 0 };

	for (size_t k = 0; k < n; k++) {
		if (table->columns[k + 1].left_out)
			continue;
		for (uint32_t i = 0; i < c->npolicies; i++) {
			const struct compare_figure *f = figure_of(c, i, &columns[k]);

			used.best |= is_best(c, i, &columns[k]);
			used.interval |= isfinite(f->value.half);
			used.by_t |= f->differs && f->against_first.test == PAIRED_T;
			used.by_rank |= f->differs && f->against_first.test == PAIRED_WILCOXON;
		}
	}
	return used;
}

static void legend(const struct comparison *c, struct used used, const struct signs *signs,
	const char *end, struct buf *out)
{
	const char *first = c->npolicies ? c->policies[0].label : "";

	if (used.best)
		buf_printf(out, "%s best of its column%s", signs->best, end);
	if (used.interval)
		buf_printf(out, "%s half of the 95 %% confidence interval of the mean over %u seeds%s",
			signs->plus_minus, (unsigned)c->nseeds, end);
	if (used.by_t)
		buf_printf(out, "%s differs from %s, p < 0.05 (paired t over %u seeds)%s",
			signs->differs, first, (unsigned)c->nseeds, end);
	if (used.by_rank)
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
	for (uint32_t i = 0; i < c->nfailed; i++) {
		table_cell(table, c->failed[i].label);
		for (const struct metric *m = metrics; m->key; m++) {
			if (m->timing && !timings)
				continue;
			plain_cell(table, NAN);
			plain_cell(table, NAN);
		}
	}
}

static void for_people(const struct comparison *c, const struct compare_style *style,
	const struct term *term, struct buf *out)
{
	struct column *columns = mem_alloc(mem_array_size(count_metrics(), sizeof(*columns)));
	struct buf left_out = { 0 }, signs = { 0 };
	struct table table = { 0 };
	size_t n = build(c, style->timings, term, &table, columns);

	table_write(&table, style->form, term, out, &left_out);
	legend(c, used_in(c, &table, columns, n), signs_for(term),
		style->form == TABLE_MARKDOWN ? "  \n" : "\n", &signs);
	comparison_failures(c, "", style->form == TABLE_MARKDOWN ? "  \n" : "\n", &signs);
	if (signs.n)
		buf_printf(out, "\n%s", signs.at);
	if (left_out.n)
		buf_printf(out, "no room for: %s\n", left_out.at);
	buf_fini(&left_out);
	buf_fini(&signs);
	table_fini(&table);
	free(columns);
}

void comparison_table(const struct comparison *c, const struct compare_style *style,
	const struct term *term, struct buf *out)
{
	struct table table = { 0 };

	if (style->form != TABLE_CSV) {
		for_people(c, style, term, out);
		return;
	}
	build_plain(c, style->timings, &table);
	table_write(&table, TABLE_CSV, term, out, NULL);
	table_fini(&table);
}
