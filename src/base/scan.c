/*
 * Strings are jumped over by their quotes, values by their brackets.
 */
#include "base/scan.h"

#include <jansson.h>
#include <string.h>

static void skip_space(struct slice *s)
{
	while (s->n && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t' || *s->at == '\r')) {
		s->at++;
		s->n--;
	}
}

static void skip(struct slice *s, size_t n)
{
	s->at += n;
	s->n -= n;
}

static bool take(struct slice *s, char c)
{
	skip_space(s);
	if (!s->n || *s->at != c)
		return false;
	skip(s, 1);
	return true;
}

/* The length of the string that begins here, with its quotes; all that is left if it does not end. */
static size_t string_length(struct slice s)
{
	for (size_t i = 1; i < s.n; i++) {
		if (s.at[i] == '\\')
			i++;
		else if (s.at[i] == '"')
			return i + 1;
	}
	return s.n;
}

static size_t nested_length(struct slice s)
{
	int depth = 0;

	for (size_t i = 0; i < s.n; i++) {
		char c = s.at[i];

		if (c == '"')
			i += string_length((struct slice){ s.at + i, s.n - i }) - 1;
		else if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && --depth == 0)
			return i + 1;
	}
	return s.n;
}

static bool ends_word(char c)
{
	return c == ',' || c == '}' || c == ']' || c <= ' ';
}

static size_t word_length(struct slice s)
{
	size_t i = 0;

	while (i < s.n && !ends_word(s.at[i]))
		i++;
	return i;
}

static bool take_value(struct slice *s, struct slice *value)
{
	size_t n;

	skip_space(s);
	if (!s->n)
		return false;
	n = *s->at == '"'                        ? string_length(*s)
		: *s->at == '{' || *s->at == '[' ? nested_length(*s)
						 : word_length(*s);
	*value = (struct slice){ s->at, n };
	skip(s, n);
	take(s, ',');
	return n > 0;
}

struct scan scan_of(struct slice text)
{
	struct scan scan = { text };

	if (!take(&scan.left, '{') && !take(&scan.left, '['))
		scan.left.n = 0;
	return scan;
}

bool scan_member(struct scan *scan, struct slice *key, struct slice *value)
{
	struct slice *s = &scan->left;
	size_t n;

	skip_space(s);
	if (!s->n || *s->at != '"')
		return false;
	n = string_length(*s);
	*key = (struct slice){ s->at + 1, n > 2 ? n - 2 : 0 };
	skip(s, n);
	return take(s, ':') && take_value(s, value);
}

bool scan_element(struct scan *scan, struct slice *value)
{
	return take_value(&scan->left, value);
}

const char *scan_text(struct slice value, struct arena *memory)
{
	const char *copy = NULL;
	json_t *text;

	if (value.n < 2 || *value.at != '"')
		return NULL;
	if (!memchr(value.at, '\\', value.n))
		return arena_strndup(memory, value.at + 1, value.n - 2);
	text = json_loadb(value.at, value.n, JSON_DECODE_ANY, NULL);
	if (text)
		copy = arena_strdup(memory, json_string_value(text));
	json_decref(text);
	return copy;
}
