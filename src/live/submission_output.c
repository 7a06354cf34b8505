/*
 * Names of output files.
 */
#include "live/submission.h"

#include <string.h>

static void add_number(struct buf *out, uint32_t number, int width)
{
	buf_printf(out, "%0*u", width, number);
}

/* A name must not lead into other directories. */
static void add_name(struct buf *out, const char *name)
{
	for (name = name ? name : ""; *name; name++)
		buf_char(out, *name == '/' ? '_' : *name);
}

static void add_sign(struct buf *out, char sign, int width, const struct output_words *words)
{
	switch (sign) {
	case 'j':
	case 'J':
		add_number(out, words->id, width);
		break;
	case 'A':
		add_number(out, words->array_id ? words->array_id : words->id, width);
		break;
	case 'a':
		add_number(out, words->index >= 0 ? (uint32_t)words->index : 0, width);
		break;
	case 'n': /* the first node and the first task: there is no other */
	case 't':
		add_number(out, 0, width);
		break;
	case 'x':
		add_name(out, words->name);
		break;
	case 'u':
		add_name(out, words->user);
		break;
	case 'N':
		add_name(out, words->node);
		break;
	case 's':
		buf_str(out, "batch");
		break;
	case '%':
		buf_char(out, '%');
		break;
	}
}

bool submission_output_is_own(const char *pattern)
{
	for (const char *c = pattern; *c; c++) {
		if (*c != '%')
			continue;
		c += 1 + strspn(c + 1, "0123456789");
		if (!*c)
			return false;
		if (strchr("jJa", *c))
			return true;
	}
	return false;
}

void submission_output(const char *pattern, const char *cwd, const struct output_words *words,
	struct buf *out)
{
	if (*pattern != '/')
		buf_printf(out, "%s%s", cwd, cwd[strlen(cwd) - 1] == '/' ? "" : "/");
	for (const char *c = pattern; *c; c++) {
		int width = 0;

		if (*c != '%') {
			buf_char(out, *c);
			continue;
		}
		for (c++; *c >= '0' && *c <= '9'; c++)
			width = width < 10 ? width * 10 + (*c - '0') : width;
		if (!*c)
			return;
		add_sign(out, *c, width > 20 ? 20 : width, words);
	}
}
