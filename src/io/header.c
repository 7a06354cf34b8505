/*
 * Columns by name.
 */
#include "io/header.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/csv.h"

enum { NAMES_MAX = 4 * COLUMNS_MAX, NAME_LETTERS_MAX = 64 };

static bool same(struct slice a, struct slice b)
{
	return a.n == b.n && strncasecmp(a.at, b.at, a.n) == 0;
}

static bool names_it(const struct column *column, struct slice field)
{
	struct slice aliases = slice_of(column->aliases ? column->aliases : "");

	if (slice_is_nocase(field, column->name))
		return true;
	while (aliases.n)
		if (same(slice_cut(&aliases, '|'), field))
			return true;
	return false;
}

int columns_find(const struct column *columns, struct slice field)
{
	for (int i = 0; columns[i].name; i++)
		if (names_it(&columns[i], field))
			return i;
	return -1;
}

/* Names as text_nearest() wants them, and whose they are. */
struct candidates {
	char text[NAMES_MAX][NAME_LETTERS_MAX];
	const char *at[NAMES_MAX];
	int column[NAMES_MAX];
	size_t n;
};

static void add_candidate(struct candidates *c, struct slice name, int column)
{
	if (c->n == NAMES_MAX || name.n >= NAME_LETTERS_MAX)
		return;
	memcpy(c->text[c->n], name.at, name.n);
	c->text[c->n][name.n] = '\0';
	c->at[c->n] = c->text[c->n];
	c->column[c->n++] = column;
}

int columns_nearest(const struct column *columns, const int *where, struct slice field)
{
	struct candidates c;
	char word[NAME_LETTERS_MAX];
	int near;

	c.n = 0;
	for (int i = 0; columns[i].name; i++) {
		struct slice aliases = slice_of(columns[i].aliases ? columns[i].aliases : "");

		if (where && where[i] >= 0)
			continue;
		add_candidate(&c, slice_of(columns[i].name), i);
		while (aliases.n)
			add_candidate(&c, slice_cut(&aliases, '|'), i);
	}
	if (field.n >= sizeof(word))
		return -1;
	snprintf(word, sizeof(word), "%.*s", (int)field.n, field.at);
	near = text_nearest(word, c.at, c.n);
	return near >= 0 ? c.column[near] : -1;
}

/* ---- recognising ---- */

static bool peek(struct csv *csv, struct slice head)
{
	return csv_peek(csv, head, (struct csv_style)CSV_COMMAS);
}

static bool row_includes(const struct csv *csv, struct slice name)
{
	for (size_t i = 0; i < csv->n; i++)
		if (same(csv->fields[i], name))
			return true;
	return false;
}

int header_match(struct slice head, const char *names)
{
	struct slice rest = slice_of(names);
	struct csv csv;
	int n = 0;

	if (!peek(&csv, head))
		n = -1;
	while (n >= 0 && rest.n)
		n = row_includes(&csv, slice_cut(&rest, '|')) ? n + 1 : -1;
	csv_fini(&csv);
	return n;
}

bool header_has(struct slice head, const char *name)
{
	return header_match(head, name) == 1;
}

static bool has_numbers(const struct csv *csv)
{
	double x;

	for (size_t i = 0; i < csv->n; i++)
		if (slice_double(csv->fields[i], &x))
			return true;
	return false;
}

/* For each column the field that seems to mean it; whether one that must be there is among them. */
static bool map_nearest(const struct csv *csv, const struct column *columns, int where[COLUMNS_MAX])
{
	bool required = false;

	for (int i = 0; i < COLUMNS_MAX; i++)
		where[i] = -1;
	for (size_t i = 0; i < csv->n; i++) {
		int column = columns_nearest(columns, where, csv->fields[i]);

		if (column < 0)
			continue;
		where[column] = (int)i;
		required |= columns[column].required;
	}
	return required;
}

void header_meant(struct slice head, const struct column *columns, struct buf *out)
{
	int where[COLUMNS_MAX];
	const char *comma = "";
	struct csv csv;

	if (peek(&csv, head) && csv.n > 1 && !has_numbers(&csv) && map_nearest(&csv, columns, where)) {
		for (int i = 0; columns[i].name; i++) {
			if (where[i] < 0)
				continue;
			buf_printf(out, "%s%s", comma, columns[i].name);
			comma = ", ";
		}
	}
	csv_fini(&csv);
}
