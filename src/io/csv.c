/*
 * Splitting CSV into rows and fields without copying.
 */
#include "io/csv.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void csv_init(struct csv *csv, struct slice text, struct csv_style style)
{
	*csv = (struct csv){ .style = style, .begin = text.at, .at = text.at };
	csv->end = text.at + text.n;
}

void csv_fini(struct csv *csv)
{
	free(csv->fields);
	arena_fini(&csv->unescaped);
	*csv = (struct csv){ 0 };
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/*
 * The first `a` or newline at or after `at`.  Eight bytes at a time: fields are short, and a loop over
 * bytes mispredicts its end each time.
 */
static inline const char *find_end(const char *at, const char *end, char a)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
	const uint64_t as = ones * (unsigned char)a, newlines = ones * '\n';

	for (; end - at >= 8; at += 8) {
		uint64_t bytes, x, y, found;

		memcpy(&bytes, at, sizeof(bytes));
		x = bytes ^ as;
		y = bytes ^ newlines;
		found = (((x - ones) & ~x) | ((y - ones) & ~y)) & highs;
		if (found)
			return at + (__builtin_ctzll(found) >> 3);
	}
#endif
	while (at < end && *at != a && *at != '\n')
		at++;
	return at;
}

static inline struct slice trimmed(const char *at, const char *end)
{
	while (end > at && is_blank(end[-1]))
		end--;
	while (at < end && is_blank(*at))
		at++;
	return (struct slice){ at, (size_t)(end - at) };
}

static int grow(struct csv *csv, struct err *err)
{
	if (csv->n >= CSV_FIELDS_MAX)
		return err_set(err, ERR_FORMAT, "more than %d fields in a row; is this a trace?",
			CSV_FIELDS_MAX);
	csv->cap = csv->cap ? csv->cap * 2 : 32;
	csv->fields = mem_resize(csv->fields, csv->cap * sizeof(*csv->fields));
	return 0;
}

static inline int push(struct csv *csv, struct slice field, struct err *err)
{
	int rc = csv->n == csv->cap ? grow(csv, err) : 0;

	if (rc)
		return rc;
	csv->fields[csv->n++] = field;
	return 0;
}

/* The text between quotes with doubled ones made single. */
static struct slice unescape(struct csv *csv, const char *at, const char *end)
{
	char *copy = arena_alloc(&csv->unescaped, (size_t)(end - at));
	size_t n = 0;

	while (at < end) {
		if (*at == '"')
			at++;
		copy[n++] = *at++;
	}
	return (struct slice){ copy, n };
}

/* Reads a quoted field; csv->at stands behind its opening quote and then behind its closing one. */
static int quoted(struct csv *csv, struct slice *field, struct err *err)
{
	const char *start = csv->at, *at = start;
	bool doubled = false;

	for (; at < csv->stop; at++) {
		if (*at == '\n')
			csv->newlines++;
		if (*at != '"')
			continue;
		if (at + 1 == csv->end || at[1] != '"')
			break;
		doubled = true;
		at++;
	}
	if (at >= csv->stop && csv->stop < csv->end)
		return err_set(err, ERR_FORMAT,
			"a quote opens here and does not close for %d MiB; is one missing?",
			CSV_ROW_MAX >> 20);
	if (at >= csv->stop)
		return err_set(err, ERR_FORMAT,
			"a quote opens here and never closes; double the quotes inside a field (\"\")");
	csv->at = at + 1;
	*field = doubled ? unescape(csv, start, at) : (struct slice){ start, (size_t)(at - start) };
	return 0;
}

/* After a closing quote only blanks may come before the separator. */
static int pass_blanks(struct csv *csv, struct err *err)
{
	const char *end = find_end(csv->at, csv->stop, csv->style.separator);

	if (trimmed(csv->at, end).n)
		return err_set(err, ERR_FORMAT,
			"text behind a closing quote; double the quotes inside a field (\"\")");
	csv->at = end;
	return 0;
}

/* Reads one field; csv->at stands at the separator, newline or end behind it afterwards. */
static inline int next_field(struct csv *csv, struct slice *field, struct err *err)
{
	const char *end = find_end(csv->at, csv->stop, csv->style.separator);
	int rc;

	*field = trimmed(csv->at, end);
	if (!csv->style.quotes || !field->n || *field->at != '"') {
		csv->at = end;
		return 0;
	}
	csv->at = field->at + 1;
	rc = quoted(csv, field, err);
	return rc ? rc : pass_blanks(csv, err);
}

static int separated_row(struct csv *csv, struct err *err)
{
	for (;;) {
		struct slice field;
		int rc = next_field(csv, &field, err);

		if (!rc)
			rc = push(csv, field, err);
		if (rc)
			return rc;
		if (csv->at == csv->stop || *csv->at == '\n')
			return 0;
		csv->at++;
	}
}

static int blank_row(struct csv *csv, struct err *err)
{
	const char *end = find_end(csv->at, csv->stop, '\n');

	while (csv->at < end) {
		const char *start;

		while (csv->at < end && is_blank(*csv->at))
			csv->at++;
		start = csv->at;
		while (csv->at < end && !is_blank(*csv->at))
			csv->at++;
		if (csv->at > start) {
			int rc = push(csv, (struct slice){ start, (size_t)(csv->at - start) }, err);

			if (rc)
				return rc;
		}
	}
	return 0;
}

/* Passes blank lines and comments; false at the end of the text. */
static bool skip_lines(struct csv *csv)
{
	while (csv->at < csv->end) {
		const char *at = csv->at;

		while (at < csv->end && is_blank(*at))
			at++;
		if (at < csv->end && csv->style.comment && *at == csv->style.comment)
			at = find_end(at, csv->end, '\n');
		else if (at < csv->end && *at != '\n')
			return true;
		csv->at = at < csv->end ? at + 1 : at;
		csv->newlines++;
	}
	return false;
}

int csv_next(struct csv *csv, struct err *err)
{
	int rc;

	if (csv->unescaped.used)
		arena_reset(&csv->unescaped);
	csv->n = 0;
	if (!skip_lines(csv)) {
		csv->line = csv->newlines;
		return 0;
	}
	csv->line = csv->newlines + 1;
	csv->stop = csv->end - csv->at > CSV_ROW_MAX ? csv->at + CSV_ROW_MAX + 1 : csv->end;
	rc = csv->style.separator == ' ' ? blank_row(csv, err) : separated_row(csv, err);
	if (rc)
		return rc;
	if (csv->at == csv->stop && csv->stop < csv->end)
		return err_set(err, ERR_FORMAT, "a row of more than %d MiB; is this a trace?",
			CSV_ROW_MAX >> 20);
	if (csv->at < csv->end) {
		csv->at++;
		csv->newlines++;
	}
	return 1;
}

bool csv_peek(struct csv *csv, struct slice head, struct csv_style style)
{
	csv_init(csv, head, style);
	return csv_next(csv, NULL) == 1;
}

void csv_write(struct buf *out, const char *field)
{
	size_t n = strlen(field);

	if (n && !strpbrk(field, ",\"\n\r") && !is_blank(*field) && !is_blank(field[n - 1])) {
		buf_add(out, field, n);
		return;
	}
	if (!n)
		return;
	buf_char(out, '"');
	for (; *field; field++) {
		if (*field == '"')
			buf_char(out, '"');
		buf_char(out, *field);
	}
	buf_char(out, '"');
}

/* Whether, after any number of apostrophes, it begins as a formula does. */
static bool begins_formula(struct slice field)
{
	size_t i = 0;

	while (i < field.n && field.at[i] == '\'')
		i++;
	return i < field.n && memchr("=+-@\t\r", field.at[i], 6);
}

/* "-5", "+1.5", "-3 %", and "-" for nothing. */
static bool is_number(struct slice field)
{
	double number;

	if (slice_is(field, "-"))
		return true;
	if (field.n && field.at[field.n - 1] == '%')
		field.n--;
	if (field.n && field.at[0] == '+')
		field = (struct slice){ field.at + 1, field.n - 1 };
	return slice_double(field, &number);
}

void csv_write_text(struct buf *out, const char *field)
{
	struct buf guarded = { 0 };

	if (!begins_formula(slice_of(field)) || is_number(slice_of(field))) {
		csv_write(out, field);
		return;
	}
	buf_char(&guarded, '\'');
	buf_str(&guarded, field);
	csv_write(out, guarded.at);
	buf_fini(&guarded);
}

struct slice csv_text(struct slice field)
{
	if (!field.n || field.at[0] != '\'' || !begins_formula(field))
		return field;
	return (struct slice){ field.at + 1, field.n - 1 };
}
