/*
 * JSON as a stream: commas, nesting and escaping.
 */
#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { DEPTH_MAX = sizeof(((struct json *)0)->comma) / sizeof(bool) };

void json_init(struct json *j, struct buf *out, bool pretty)
{
	*j = (struct json){ .out = out, .pretty = pretty };
}

static void new_line(struct json *j)
{
	if (!j->pretty)
		return;
	buf_char(j->out, '\n');
	for (int i = 0; i < j->depth; i++)
		buf_add(j->out, "  ", 2);
}

/* What comes before any value: comma, line and key. */
static void start_value(struct json *j, const char *key)
{
	if (j->depth) { /* values at the top stand alone */
		if (j->comma[j->depth])
			buf_char(j->out, ',');
		j->comma[j->depth] = true;
		new_line(j);
	}
	if (key) {
		json_quote(j->out, key);
		buf_str(j->out, j->pretty ? ": " : ":");
	}
}

static void open_level(struct json *j, const char *key, char opening)
{
	assert(j->depth + 1 < DEPTH_MAX);
	start_value(j, key);
	buf_char(j->out, opening);
	j->comma[++j->depth] = false;
}

void json_begin_object(struct json *j, const char *key)
{
	open_level(j, key, '{');
}

void json_begin_array(struct json *j, const char *key)
{
	open_level(j, key, '[');
}

void json_raw(struct json *j, const char *key, const char *text, size_t n)
{
	start_value(j, key);
	buf_add(j->out, text, n);
}

void json_end(struct json *j, char closing)
{
	bool empty = !j->comma[j->depth];

	assert(j->depth > 0);
	j->depth--;
	if (!empty)
		new_line(j);
	buf_char(j->out, closing);
}

void json_str(struct json *j, const char *key, const char *value)
{
	start_value(j, key);
	if (value)
		json_quote(j->out, value);
	else
		buf_str(j->out, "null");
}

void json_double(struct json *j, const char *key, double value)
{
	start_value(j, key);
	if (isfinite(value))
		buf_double(j->out, value);
	else
		buf_str(j->out, "null");
}

void json_int(struct json *j, const char *key, int64_t value)
{
	start_value(j, key);
	buf_int(j->out, value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	start_value(j, key);
	buf_str(j->out, value ? "true" : "false");
}

/* Bytes of the UTF-8 character at `at`, or 0 if it is none (cut short, overlong, surrogate, too large). */
static int utf8_length(const unsigned char *at)
{
	unsigned char low = 0x80, high = 0xbf;
	int n;

	if (at[0] >= 0xc2 && at[0] <= 0xdf)
		n = 2;
	else if (at[0] >= 0xe0 && at[0] <= 0xef)
		n = 3;
	else if (at[0] >= 0xf0 && at[0] <= 0xf4)
		n = 4;
	else
		return 0;
	if (at[0] == 0xe0)
		low = 0xa0;
	else if (at[0] == 0xed)
		high = 0x9f;
	else if (at[0] == 0xf0)
		low = 0x90;
	else if (at[0] == 0xf4)
		high = 0x8f;
	if (at[1] < low || at[1] > high)
		return 0;
	for (int i = 2; i < n; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	}
	return n;
}

static void quote_special(struct buf *out, unsigned char c)
{
	static const char names[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* the byte, then its letter */

	for (size_t i = 0; i < sizeof(names) - 1; i += 2) {
		if (names[i] == (char)c) {
			char escape[2] = { '\\', names[i + 1] };

			buf_add(out, escape, 2);
			return;
		}
	}
	buf_printf(out, "\\u%04x", c);
}

/* Bytes that are not UTF-8 become U+FFFD: one bad name in a trace must not spoil a whole report. */
void json_quote(struct buf *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	buf_char(out, '"');
	while (*at) {
		const unsigned char *plain = at;
		int n;

		while (*at >= 0x20 && *at < 0x80 && *at != '"' && *at != '\\')
			at++;
		buf_add(out, (const char *)plain, (size_t)(at - plain));
		if (!*at)
			break;
		if (*at < 0x80) {
			quote_special(out, *at++);
		} else if ((n = utf8_length(at)) > 0) {
			buf_add(out, (const char *)at, (size_t)n);
			at += n;
		} else {
			buf_str(out, "\xef\xbf\xbd");
			at++;
		}
	}
	buf_char(out, '"');
}
