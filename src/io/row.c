/*
 * The fields of a row: read, checked, and what is wrong with the first that is.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/rows.h"

#define LATEST_S 4e11   /* the year 14,000: a number beyond is no time */
#define LEAST_WORK 1e-6 /* seconds or steps */

/* ---- what is wrong with it ---- */

/* The user's text in a message: cut, and without what a terminal would obey. */
static void copy_shown(struct slice text, char *out, size_t size)
{
	size_t n = text.n < size - 1 ? text.n : size - 1;

	for (size_t i = 0; i < n; i++)
		out[i] = (unsigned char)text.at[i] < ' ' ? '?' : text.at[i];
	out[n] = '\0';
}

static const char *field_name(const struct rows *rows, int column)
{
	return column < 0 ? NULL : rows->table->columns[column].name;
}

void row_bad(struct rows *rows, int column, struct slice value, const char *problem, const char *fix)
{
	if (rows->fate == ROW_BAD)
		return;
	rows->fate = ROW_BAD;
	rows->field = field_name(rows, column);
	rows->problem = problem;
	rows->fix = fix;
	copy_shown(value, rows->value, sizeof(rows->value));
}

void row_drop(struct rows *rows, int column, const char *why, const char *fix)
{
	if (rows->fate != ROW_GOOD)
		return;
	rows->fate = ROW_DROPPED;
	rows->field = field_name(rows, column);
	rows->problem = why;
	rows->fix = fix;
}

void row_note(struct rows *rows, enum note_level level, int column, const char *text, const char *fix)
{
	notes_add(rows->notes, level, rows->line, field_name(rows, column), fix, "%s", text);
}

/* ---- fields ---- */

const char *row_kept(const struct rows *rows, int column)
{
	struct slice text = row_text(rows, column);

	return text.n ? trace_text(rows->out, text.at, text.n) : NULL;
}

const char *not_a_number(struct slice text)
{
	char copy[32], *end;
	double x;

	snprintf(copy, sizeof(copy), "%.*s", (int)(text.n < 31 ? text.n : 31), text.at);
	x = strtod(copy, &end);
	return end > copy && !*end && !isfinite(x) ? "is not a finite number" : "is not a number";
}

double row_number(struct rows *rows, int column, double missing, double min, double max)
{
	struct slice text = row_text(rows, column);
	double x;

	if (!text.n)
		return missing;
	if (!slice_double(text, &x)) {
		row_bad(rows, column, text, not_a_number(text), NULL);
		return missing;
	}
	if (x < min)
		row_bad(rows, column, text, min == 0 ? "is negative" : "is too small", NULL);
	else if (x > max)
		row_bad(rows, column, text, "is too large", NULL);
	return x;
}

int32_t row_int(struct rows *rows, int column, int32_t missing, int32_t min, int32_t max)
{
	double x = row_number(rows, column, missing, min, max);

	if (rows->fate == ROW_BAD)
		return missing;
	if (x != floor(x)) {
		row_bad(rows, column, row_text(rows, column), "is not a whole number", NULL);
		return missing;
	}
	return (int32_t)x;
}

double row_time(struct rows *rows, int column)
{
	struct slice text = row_text(rows, column);
	double x;

	if ((slice_double(text, &x) || slice_timestamp(text, &x)) && fabs(x) < LATEST_S)
		return x;
	row_bad(rows, column, text,
		text.n ? "is not a time (seconds, or a date like 2017-10-09 07:01:55)"
		       : "no time is given",
		NULL);
	return 0;
}

double row_duration(struct rows *rows, int column)
{
	struct slice text = row_text(rows, column);
	double x = row_number(rows, column, NAN, 0, 1e12);

	if (isnan(x))
		row_bad(rows, column, text, "is missing: how long the job runs is not known", NULL);
	else if (x < LEAST_WORK)
		row_drop(rows, column, "is 0: a job without work", NULL);
	return x;
}

int32_t row_gpus_of(struct rows *rows, int column, double gpus)
{
	if (rows->fate == ROW_BAD)
		return 1;
	if (gpus == 0) {
		row_drop(rows, column, "is 0: a job without GPUs", NULL);
		return 1;
	}
	if (gpus < 0 || gpus > 1e6 || gpus != floor(gpus)) {
		row_bad(rows, column, column < 0 ? (struct slice){ "", 0 } : row_text(rows, column),
			"is not a number of GPUs", NULL);
		return 1;
	}
	return (int32_t)gpus;
}

int32_t row_gpus(struct rows *rows, int column)
{
	return row_gpus_of(rows, column, row_number(rows, column, 0, 0, 1e9));
}

uint32_t row_name(struct names *names, struct slice text)
{
	return text.n ? names_add(names, text.at, text.n) : NAME_NONE;
}

enum { DIGITS_MAX = 24 };

/* In decimal; printf takes a tenth of the time of reading a short row. */
static struct slice written(size_t x, char out[DIGITS_MAX])
{
	size_t at = DIGITS_MAX;

	do
		out[--at] = (char)('0' + x % 10);
	while (x /= 10);
	return (struct slice){ out + at, DIGITS_MAX - at };
}

void row_label(struct rows *rows, struct job *job, struct slice id)
{
	char number[DIGITS_MAX];

	id = slice_trim(id); /* a list of ids has blanks around them */
	if (!id.n) {
		id = written(rows->number, number);
	}
	if (memchr(id.at, '|', id.n))
		row_bad(rows, -1, id, "is no id: | separates ids", "rename it");
	job->label = trace_text(rows->out, id.at, id.n);
	rows->label = (struct slice){ job->label, id.n };
}

uint32_t row_type(struct rows *rows, int column, struct slice name)
{
	uint32_t type;

	name = slice_trim(name);
	if (!name.n || slice_is_nocase(name, "any"))
		return 0;
	if (memchr(name.at, '|', name.n)) {
		row_bad(rows, column, name, "is no device type: | separates types", NULL);
		return 0;
	}
	type = row_name(&rows->out->types, name);
	if (type >= TYPES_MAX) {
		row_bad(rows, column, name, "is one device type too many", NULL);
		return 0;
	}
	return UINT32_C(1) << type;
}

uint32_t row_types(struct rows *rows, int column, struct slice list)
{
	uint32_t types = 0;

	while (list.n)
		types |= row_type(rows, column, slice_cut(&list, '|'));
	return types;
}

void row_measured_on(struct rows *rows, int column, struct slice name)
{
	uint32_t bit = row_type(rows, column, name);

	rows->measured_on = bit ? (uint32_t)__builtin_ctz(bit) : NAME_NONE;
}

void row_ended(struct rows *rows, int column, struct slice state, const char *good)
{
	struct slice word = slice_cut(&state, ' '); /* "CANCELLED by 1000" */
	char name[40];

	if (rows->fate != ROW_GOOD || !word.n || slice_is_nocase(word, good))
		return;
	copy_shown(word, name, sizeof(name));
	notes_add(rows->notes, NOTE_ASSUMED, rows->line, field_name(rows, column), NULL,
		"a job that ended as %s counts with the time it ran", name);
}
