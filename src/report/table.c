/*
 * Tables as text, Markdown and CSV.
 */
#include "report/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plain.h"
#include "base/vec.h"
#include "io/csv.h"

enum { GAP = 2, WRAP_MIN = 16 };

void table_fini(struct table *table)
{
	for (size_t i = 0; i < table->ncolumns; i++) {
		free(table->columns[i].title);
		free(table->columns[i].unit);
	}
	for (size_t i = 0; i < table->ncells; i++)
		free(table->cells[i]);
	free(table->columns);
	free(table->cells);
	free(table->strong);
	free(table->styles);
	*table = (struct table){ 0 };
}

void table_column(struct table *table, const char *title, enum align align, int rank)
{
	size_t size = mem_array_size(table->ncolumns + 1, sizeof(*table->columns));

	table->columns = mem_resize(table->columns, size);
	table->columns[table->ncolumns++] =
		(struct table_column){ .title = mem_strdup(title), .align = align, .rank = rank };
}

void table_unit(struct table *table, const char *unit)
{
	struct table_column *last = &table->columns[table->ncolumns - 1];

	free(last->unit);
	last->unit = unit && *unit ? mem_strdup(unit) : NULL;
}

void table_rest(struct table *table, size_t least)
{
	table->columns[table->ncolumns - 1].least = least;
}

/* Names in cells are other people's text. */
static char *plain_copy(const char *text)
{
	struct buf out = { 0 };

	if (text_is_plain(text))
		return mem_strdup(text);
	text_escape(&out, text);
	return out.at;
}

void table_cell(struct table *table, const char *text)
{
	if (table->ncells == table->cap) {
		table->cap = table->cap ? table->cap * 2 : 64;
		table->cells = mem_resize(table->cells, mem_array_size(table->cap, sizeof(char *)));
		table->strong = mem_resize(table->strong, mem_array_size(table->cap, sizeof(bool)));
		table->styles = mem_resize(table->styles, mem_array_size(table->cap, sizeof(char *)));
	}
	table->styles[table->ncells] = NULL;
	table->strong[table->ncells] = false;
	table->cells[table->ncells++] = text ? plain_copy(text) : NULL;
	table->nrows = (table->ncells + table->ncolumns - 1) / table->ncolumns;
}

void table_cellf(struct table *table, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	table_cell(table, text);
}

void table_strong(struct table *table)
{
	table->strong[table->ncells - 1] = true;
}

void table_style(struct table *table, const char *sgr)
{
	table->styles[table->ncells - 1] = sgr;
}

size_t text_columns(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

static const char *cell(const struct table *table, size_t row, size_t column)
{
	size_t i = row * table->ncolumns + column;

	return i < table->ncells && table->cells[i] ? table->cells[i] : "";
}

/* ---- text */

struct layout {
	const struct table *table;
	const struct term *term;
	size_t *widths;
	bool *shown;
	bool units;
	struct buf *out;
};

static size_t max(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t natural_width(const struct table *table, size_t column)
{
	const struct table_column *c = &table->columns[column];
	size_t width = max(text_columns(c->title), c->unit ? text_columns(c->unit) : 0);

	for (size_t row = 0; row < table->nrows; row++)
		width = max(width, text_columns(cell(table, row, column)));
	return width;
}

static size_t total_width(const struct layout *l)
{
	size_t total = 0;

	for (size_t i = 0; i < l->table->ncolumns; i++) {
		if (l->shown[i])
			total += l->widths[i] + (total ? GAP : 0);
	}
	return total;
}

/* The column to go next: largest rank, the last of equals; ncolumns if all must stay. */
static size_t least_important(const struct layout *l)
{
	const struct table *table = l->table;
	size_t found = table->ncolumns;
	int rank = 1;

	for (size_t i = 0; i < table->ncolumns; i++) {
		if (l->shown[i] && table->columns[i].rank >= rank) {
			rank = table->columns[i].rank;
			found = i;
		}
	}
	return found;
}

/* Columns that say nothing make room for the one that takes what is left. */
static void hide_empty(struct layout *l)
{
	for (size_t i = 1; i < l->table->ncolumns; i++) {
		bool empty = l->table->columns[i].rank > 0;

		for (size_t row = 0; row < l->table->nrows && empty; row++)
			empty = !*cell(l->table, row, i);
		l->shown[i] &= !empty;
	}
}

/* The column that takes what is left; ncolumns: there is none. */
static size_t rest_column(const struct table *table)
{
	size_t i = 0;

	while (i < table->ncolumns && !table->columns[i].least)
		i++;
	return i;
}

static void leave_out(struct layout *l, size_t width)
{
	size_t column;

	while (total_width(l) > width && (column = least_important(l)) < l->table->ncolumns)
		l->shown[column] = false;
}

/* It begins with its least; what the others leave is added to that. */
static void fit_rest(struct layout *l, size_t rest, size_t width)
{
	const struct table_column *column = &l->table->columns[rest];
	size_t wanted = l->widths[rest], least = max(column->least, text_columns(column->title)), used;

	if (total_width(l) > width)
		hide_empty(l);
	if (wanted > least)
		l->widths[rest] = least;
	leave_out(l, width);
	used = total_width(l);
	if (used < width && wanted > l->widths[rest])
		l->widths[rest] = wanted - l->widths[rest] < width - used
			? wanted
			: l->widths[rest] + width - used;
}

static void fit(struct layout *l)
{
	size_t width = (size_t)l->term->width, wrapped, rest = rest_column(l->table);

	for (size_t i = 0; i < l->table->ncolumns; i++) {
		l->shown[i] = true;
		l->units |= l->table->columns[i].unit != NULL;
		l->widths[i] = natural_width(l->table, i);
	}
	if (!width)
		return;
	/* A long first column wraps rather than push figures out. */
	wrapped = max(WRAP_MIN, width / 3);
	if (total_width(l) > width && l->widths[0] > wrapped)
		l->widths[0] = wrapped;
	if (rest < l->table->ncolumns)
		fit_rest(l, rest, width);
	else
		leave_out(l, width);
}

static void pad(struct buf *out, size_t n)
{
	while (n--)
		buf_char(out, ' ');
}

static void put_cell(const struct layout *l, size_t column, const char *text, const char *style)
{
	size_t width = text_columns(text),
	       room = l->widths[column] > width ? l->widths[column] - width : 0;
	bool left = l->table->columns[column].align == ALIGN_LEFT;
	bool last = column + 1 == l->table->ncolumns;

	if (column)
		pad(l->out, GAP);
	if (!left)
		pad(l->out, room);
	if (style && l->term->colour)
		buf_printf(l->out, "\033[%sm", style);
	buf_str(l->out, text);
	if (style && l->term->colour)
		buf_str(l->out, "\033[0m");
	if (left && !last)
		pad(l->out, room);
}

/* As many of its characters as fit, with a mark for the rest. */
static void put_cut_cell(const struct layout *l, size_t column, const char *text, const char *style)
{
	const char *mark = l->term->utf8 ? "…" : "...";
	size_t room = l->widths[column], marked = text_columns(mark), at = 0, n = 0;
	struct buf cut = { 0 };

	if (text_columns(text) <= room || room <= marked) {
		put_cell(l, column, text, style);
		return;
	}
	for (; text[at]; at++) {
		if ((text[at] & 0xc0) != 0x80 && n++ == room - marked)
			break;
	}
	buf_add(&cut, text, at);
	buf_str(&cut, mark);
	put_cell(l, column, cut.at, style);
	buf_fini(&cut);
}

/* How much of `text` goes on this line: up to a place to break, or just as much as fits. */
static size_t line_length(const char *text, size_t width)
{
	size_t at = 0, columns = 0, good = 0;

	while (text[at]) {
		if ((text[at] & 0xc0) != 0x80 && columns++ == width)
			return good ? good : at;
		if (strchr(",:; ", text[at]))
			good = at + 1;
		at++;
	}
	return at;
}

/* Lines end without blanks, so that they can be compared and pasted. */
static void end_line(struct buf *out)
{
	while (out->n && out->at[out->n - 1] == ' ')
		out->n--;
	buf_char(out, '\n');
}

static const char *style_of(const struct table *table, size_t row, size_t column)
{
	size_t at = row * table->ncolumns + column;

	if (at >= table->ncells)
		return NULL;
	if (table->styles[at])
		return table->styles[at];
	if (!table->strong[at])
		return NULL;
	return column == 0 ? "1" : "1;32";
}

static void put_row(const struct layout *l, size_t row)
{
	const char *rest = cell(l->table, row, 0);
	size_t n = line_length(rest, l->widths[0]);
	char *line;

	for (size_t i = 0; i < l->table->ncolumns; i++) {
		const char *style = style_of(l->table, row, i);

		if (i == 0) {
			line = mem_strndup(rest, n);
			put_cell(l, 0, line, style);
			free(line);
		} else if (l->shown[i] && l->table->columns[i].least) {
			put_cut_cell(l, i, cell(l->table, row, i), style);
		} else if (l->shown[i]) {
			put_cell(l, i, cell(l->table, row, i), style);
		}
	}
	end_line(l->out);
	for (rest += n; *rest; rest += n) {
		n = line_length(rest, l->widths[0] - 2);
		line = mem_strndup(rest, n);
		buf_str(l->out, "  ");
		buf_str(l->out, line);
		free(line);
		end_line(l->out);
	}
}

static void put_heading(const struct layout *l)
{
	for (size_t i = 0; i < l->table->ncolumns; i++) {
		if (l->shown[i])
			put_cell(l, i, l->table->columns[i].title, "1");
	}
	end_line(l->out);
	for (size_t i = 0; l->units && i < l->table->ncolumns; i++) {
		const char *unit = l->table->columns[i].unit;

		if (l->shown[i])
			put_cell(l, i, unit ? unit : "", "2");
	}
	if (l->units)
		end_line(l->out);
}

static void write_text(struct table *table, const struct term *term, struct buf *out,
	struct buf *left_out)
{
	struct layout l = {
		.table = table,
		.term = term,
		.widths = mem_alloc(mem_array_size(table->ncolumns, sizeof(size_t))),
		.shown = mem_alloc(table->ncolumns),
		.out = out,
	};

	fit(&l);
	put_heading(&l);
	for (size_t row = 0; row < table->nrows; row++)
		put_row(&l, row);
	for (size_t i = 0; i < table->ncolumns; i++) {
		table->columns[i].left_out = !l.shown[i];
		if (left_out && !l.shown[i])
			buf_printf(left_out, "%s%s", left_out->n ? ", " : "", table->columns[i].title);
	}
	free(l.widths);
	free(l.shown);
}

/* ---- Markdown and CSV */

static void put_markdown(struct buf *out, const char *text)
{
	buf_char(out, ' ');
	for (; *text; text++) {
		if (strchr("|\\`<", *text))
			buf_char(out, '\\');
		buf_char(out, *text == '\n' ? ' ' : *text);
	}
	buf_str(out, " |");
}

static void write_markdown(const struct table *table, struct buf *out)
{
	buf_char(out, '|');
	for (size_t i = 0; i < table->ncolumns; i++) {
		const struct table_column *c = &table->columns[i];

		put_markdown(out, c->title);
		if (c->unit) {
			out->n -= 2; /* before the bar */
			buf_printf(out, " (%s) |", c->unit);
		}
	}
	buf_str(out, "\n|");
	for (size_t i = 0; i < table->ncolumns; i++)
		buf_str(out, table->columns[i].align == ALIGN_LEFT ? "---|" : "--:|");
	for (size_t row = 0; row < table->nrows; row++) {
		buf_str(out, "\n|");
		for (size_t i = 0; i < table->ncolumns; i++)
			put_markdown(out, cell(table, row, i));
	}
	buf_char(out, '\n');
}

static void write_csv(const struct table *table, struct buf *out)
{
	for (size_t i = 0; i < table->ncolumns; i++) {
		if (i)
			buf_char(out, ',');
		csv_write_text(out, table->columns[i].title);
	}
	buf_char(out, '\n');
	for (size_t row = 0; row < table->nrows; row++) {
		for (size_t i = 0; i < table->ncolumns; i++) {
			if (i)
				buf_char(out, ',');
			csv_write_text(out, cell(table, row, i));
		}
		buf_char(out, '\n');
	}
}

void table_write(struct table *table, enum table_form form, const struct term *term,
	struct buf *out, struct buf *left_out)
{
	if (!table->ncolumns)
		return;
	switch (form) {
	case TABLE_TEXT:
		write_text(table, term, out, left_out);
		break;
	case TABLE_MARKDOWN:
		write_markdown(table, out);
		break;
	case TABLE_CSV:
		write_csv(table, out);
		break;
	}
}
