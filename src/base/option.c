/*
 * Option tables: defaults, parsing, and values and ranges as text.
 */
#include "base/option.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

enum { NAMES_MAX = 64 };

/* A value that was read and checked, but not stored yet. */
struct value {
	double number;
	struct slice text;
};

static void *field(const struct option *option, void *self)
{
	return (char *)self + option->offset;
}

static const void *const_field(const struct option *option, const void *self)
{
	return (const char *)self + option->offset;
}

static void store(const struct option *option, void *self, struct value value)
{
	char *text = field(option, self);

	switch (option->kind) {
	case OPTION_DOUBLE:
		*(double *)field(option, self) = value.number;
		break;
	case OPTION_INT:
	case OPTION_CHOICE:
		*(int *)field(option, self) = (int)value.number;
		break;
	case OPTION_BOOL:
		*(bool *)field(option, self) = value.number != 0;
		break;
	case OPTION_TEXT:
		assert(value.text.n < OPTION_TEXT_MAX);
		memset(text, 0, OPTION_TEXT_MAX);
		memcpy(text, value.text.at, value.text.n);
		break;
	}
}

void option_defaults(const struct option *table, void *self)
{
	for (const struct option *o = table; o && o->name; o++)
		store(o, self, (struct value){ o->preset, slice_of(o->text ? o->text : "") });
}

/* ---- words about options ---- */

/* 2500000000 as 2.5e9: long rows of zeros are hard to read, and both forms are accepted. */
static void add_number(struct buf *out, double x)
{
	double mantissa = fabs(x);
	struct buf digits = { 0 };
	int zeros = 0;

	while (mantissa >= 10 && mantissa < 1e22 && fmod(mantissa, 10) == 0) {
		mantissa /= 10;
		zeros++;
	}
	if (zeros < 5 || mantissa >= 1e15) {
		buf_double(out, x);
		return;
	}
	buf_double(&digits, mantissa);
	buf_printf(out, "%s%c%s%se%zu", x < 0 ? "-" : "", digits.at[0], digits.n > 1 ? "." : "",
		digits.at + 1, digits.n - 1 + (size_t)zeros);
	buf_fini(&digits);
}

static void add_joined(struct buf *out, const char *const *names, size_t n, const char *between)
{
	for (size_t i = 0; i < n; i++) {
		buf_str(out, i ? between : "");
		buf_str(out, names[i]);
	}
}

static size_t count(const char *const *names)
{
	size_t n = 0;

	while (names[n])
		n++;
	return n;
}

static void add_value(const struct option *option, struct value value, struct buf *out)
{
	switch (option->kind) {
	case OPTION_DOUBLE:
		add_number(out, value.number);
		break;
	case OPTION_INT:
	case OPTION_BOOL:
		buf_double(out, value.number);
		break;
	case OPTION_CHOICE:
		buf_str(out, option->choices[(int)value.number]);
		break;
	case OPTION_TEXT:
		buf_add(out, value.text.at, value.text.n);
		break;
	}
}

static struct value load(const struct option *option, const void *self)
{
	switch (option->kind) {
	case OPTION_DOUBLE:
		return (struct value){ .number = *(const double *)const_field(option, self) };
	case OPTION_INT:
	case OPTION_CHOICE:
		return (struct value){ .number = *(const int *)const_field(option, self) };
	case OPTION_BOOL:
		return (struct value){ .number = *(const bool *)const_field(option, self) };
	case OPTION_TEXT:
		break;
	}
	return (struct value){ .text = slice_of(const_field(option, self)) };
}

const char *option_file(const struct option *option, const void *self)
{
	const char *path = option->kind == OPTION_TEXT && option->file ? const_field(option, self) : "";

	return *path ? path : NULL;
}

void option_value(const struct option *option, const void *self, struct buf *out)
{
	add_value(option, load(option, self), out);
}

void option_preset(const struct option *option, struct buf *out)
{
	add_value(option,
		(struct value){ option->preset, slice_of(option->text ? option->text : "") }, out);
}

void option_range(const struct option *option, struct buf *out)
{
	switch (option->kind) {
	case OPTION_DOUBLE:
	case OPTION_INT:
		add_number(out, option->min);
		buf_str(out, "..");
		add_number(out, option->max);
		break;
	case OPTION_BOOL:
		buf_str(out, "0|1");
		break;
	case OPTION_CHOICE:
		add_joined(out, option->choices, count(option->choices), "|");
		break;
	case OPTION_TEXT:
		buf_str(out, "text");
		break;
	}
}

void option_help(const struct option *table, struct buf *out)
{
	for (const struct option *o = table; o->name; o++) {
		buf_printf(out, "  %-20s %s (", o->name, o->help);
		option_range(o, out);
		buf_str(out, "; default ");
		option_preset(o, out);
		buf_str(out, ")\n");
	}
}

/* An empty text is left out: it cannot be given, so it can only be the default. */
void option_format(const struct option *table, const void *self, struct buf *out)
{
	const char *between = "";

	for (const struct option *o = table; o && o->name; o++) {
		if (o->kind == OPTION_TEXT && !*(const char *)const_field(o, self))
			continue;
		buf_printf(out, "%s%s=", between, o->name);
		option_value(o, self, out);
		between = ",";
	}
}

/* ---- reading ---- */

/* Who reads what: for messages. */
struct reading {
	const struct option *table;
	const char *owner;
	struct err *err;
};

/* "tiresias: queues=99: WHAT (allowed: 1..16)". */
static int refuse(const struct reading *r, const struct option *option, struct slice text,
	const char *what)
{
	struct buf range = { 0 };
	int rc;

	option_range(option, &range);
	rc = err_set(r->err, ERR_USAGE, "%s: %s=%.*s: %s (allowed: %s)", r->owner, option->name,
		(int)(text.n < 80 ? text.n : 80), text.at, what, range.at);
	buf_fini(&range);
	return rc;
}

static bool is_duration(const struct option *option)
{
	size_t n = strlen(option->name);

	return n > 2 && !strcmp(option->name + n - 2, "_s");
}

static int read_number(const struct reading *r, const struct option *option, struct slice text,
	double *out)
{
	bool whole = option->kind == OPTION_INT, duration = is_duration(option);
	double x;

	if (!whole && slice_is_nocase(text, "inf"))
		x = INFINITY; /* in range only where the table says so */
	else if (!whole && duration && !slice_seconds(text, &x))
		return refuse(r, option, text, "not a duration such as 90, 30m, 1.5h or 1:30:00");
	else if ((whole || !duration) && !slice_double(text, &x))
		return refuse(r, option, text, whole ? "not a whole number" : "not a number");
	if (whole && x != floor(x))
		return refuse(r, option, text, "not a whole number");
	if (x < option->min || x > option->max || (whole && (x < INT_MIN || x > INT_MAX)))
		return refuse(r, option, text, "out of range");
	*out = x;
	return 0;
}

static int read_bool(const struct reading *r, const struct option *option, struct slice text,
	double *out)
{
	static const char *const words[] = { "0", "1", "false", "true", "no", "yes", "off", "on" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (slice_is_nocase(text, words[i])) {
			*out = i % 2;
			return 0;
		}
	}
	return refuse(r, option, text, "neither yes nor no");
}

static int read_choice(const struct reading *r, const struct option *option, struct slice text,
	double *out)
{
	size_t n = count(option->choices);
	char *word, *what;
	int near, rc;

	for (size_t i = 0; i < n; i++) {
		if (slice_is(text, option->choices[i])) {
			*out = (double)i;
			return 0;
		}
	}
	word = mem_strndup(text.at, text.n);
	near = text_nearest(word, option->choices, n);
	what = near < 0
		? mem_strdup("not one of the choices")
		: mem_printf("not one of the choices; did you mean %s?", option->choices[near]);
	rc = refuse(r, option, text, what);
	free(what);
	free(word);
	return rc;
}

static int read_value(const struct reading *r, const struct option *option, struct slice text,
	struct value *out)
{
	switch (option->kind) {
	case OPTION_DOUBLE:
	case OPTION_INT:
		return read_number(r, option, text, &out->number);
	case OPTION_BOOL:
		return read_bool(r, option, text, &out->number);
	case OPTION_CHOICE:
		return read_choice(r, option, text, &out->number);
	case OPTION_TEXT:
		break;
	}
	if (text.n >= OPTION_TEXT_MAX)
		return refuse(r, option, text, "too long");
	out->text = text;
	return 0;
}

static int unknown(const struct reading *r, struct slice name)
{
	const char *names[NAMES_MAX];
	char *word = mem_strndup(name.at, name.n < 80 ? name.n : 80);
	struct buf known = { 0 };
	size_t n = 0;
	int near, rc;

	for (const struct option *o = r->table; o && o->name && n < NAMES_MAX; o++)
		names[n++] = o->name;
	near = text_nearest(word, names, n);
	add_joined(&known, names, n, ", ");
	if (!n)
		rc = err_set(r->err, ERR_USAGE, "%s takes no options, but was given '%s'", r->owner,
			word);
	else if (near >= 0)
		rc = err_set(r->err, ERR_USAGE,
			"%s: unknown option '%s'; did you mean '%s'? (known: %s)", r->owner, word,
			names[near], known.at);
	else
		rc = err_set(r->err, ERR_USAGE, "%s: unknown option '%s' (known: %s)", r->owner,
			word, known.at);
	buf_fini(&known);
	free(word);
	return rc;
}

static const struct option *find(const struct option *table, struct slice name)
{
	for (const struct option *o = table; o && o->name; o++) {
		if (slice_is(name, o->name))
			return o;
	}
	return NULL;
}

/* Everything before the first c; `rest` is what follows it, with at == NULL if there is no c. */
static struct slice cut(struct slice s, char c, struct slice *rest)
{
	const char *found = s.n ? memchr(s.at, c, s.n) : NULL;

	*rest = (struct slice){ 0 };
	if (!found)
		return s;
	*rest = (struct slice){ found + 1, s.n - (size_t)(found + 1 - s.at) };
	return (struct slice){ s.at, (size_t)(found - s.at) };
}

/* One "name=value" or bare bool name. */
static int read_item(const struct reading *r, struct slice item, const struct option **option,
	struct value *value)
{
	struct slice text, name = slice_trim(cut(item, '=', &text));

	*option = find(r->table, name);
	if (!*option)
		return unknown(r, name);
	if (!text.at && (*option)->kind == OPTION_BOOL)
		text = slice_of("1");
	text = slice_trim(text);
	if (!text.n)
		return refuse(r, *option, slice_of(""), "a value is missing");
	return read_value(r, *option, text, value);
}

/* Reads all of the text; stores only if `self` is not NULL. */
static int read_all(const struct reading *r, const char *text, void *self)
{
	struct slice rest = slice_of(text);

	while (rest.at) {
		struct slice item = slice_trim(cut(rest, ',', &rest));
		const struct option *option;
		struct value value = { 0 };
		int rc;

		if (!item.n)
			return err_set(r->err, ERR_USAGE,
				"%s: empty option in '%.200s' (a comma too many?)", r->owner, text);
		rc = read_item(r, item, &option, &value);
		if (rc < 0)
			return rc;
		if (self)
			store(option, self, value);
	}
	return 0;
}

int option_parse(const struct option *table, void *self, const char *owner, const char *text,
	struct err *err)
{
	struct reading r = { table, owner, err };
	int rc;

	if (!text || !slice_trim(slice_of(text)).n)
		return 0;
	rc = read_all(&r, text, NULL); /* all or nothing */
	return rc < 0 ? rc : read_all(&r, text, self);
}

/* ---- lists ---- */

/* Whether "x=1" after "name:..." belongs to it, rather than starting an item. */
static bool continues(struct slice item, struct slice next)
{
	const char *equals = next.n ? memchr(next.at, '=', next.n) : NULL;
	const char *colon = next.n ? memchr(next.at, ':', next.n) : NULL;

	return item.n && memchr(item.at, ':', item.n) && equals && (!colon || equals < colon);
}

size_t option_split_list(const char *text, char ***items)
{
	VEC(char *) found = { 0 };
	struct slice rest = slice_of(text);

	if (!rest.n)
		rest.at = NULL;
	while (rest.at) {
		struct slice item = cut(rest, ',', &rest), after, trimmed;

		while (rest.at) {
			struct slice next = cut(rest, ',', &after);

			if (!continues(item, next))
				break;
			item.n = (size_t)(next.at + next.n - item.at);
			rest = after;
		}
		trimmed = slice_trim(item);
		vec_push(&found, mem_strndup(trimmed.at, trimmed.n));
	}
	*items = found.at;
	return found.n;
}
