/*
 * Bounds of a YAML text, checked before it is parsed.
 *
 * libyaml's events are read one after the other and nothing is kept, so that the
 * check ends at the first event beyond a bound.  Its scanner looks 1,024
 * characters ahead at most, which bounds what one event costs.
 */
#include <string.h>

#include "base/text.h"
#include "io/yaml.h"

/* Lines that begin with '%', outside of which there are no directives. */
static bool has_many_directives(const char *text, size_t n)
{
	struct slice left = { text, n };
	int found = 0;

	while (left.n) {
		struct slice line = slice_cut(&left, '\n');

		if (line.n && line.at[0] == '%' && ++found > YAML_DIRECTIVES_MAX)
			return true;
	}
	return false;
}

struct seen {
	int depth, anchors;
};

/* What is wrong with the event, or NULL. */
static const char *look(const yaml_event_t *event, struct seen *seen)
{
	const yaml_char_t *anchor = NULL;

	switch (event->type) {
	case YAML_SEQUENCE_START_EVENT:
		anchor = event->data.sequence_start.anchor;
		seen->depth++;
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = event->data.mapping_start.anchor;
		seen->depth++;
		break;
	case YAML_SCALAR_EVENT:
		anchor = event->data.scalar.anchor;
		break;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		seen->depth--;
		break;
	default:
		break;
	}
	seen->anchors += anchor != NULL;
	if (seen->depth > YAML_NESTING_MAX)
		return "nested more than 64 levels deep";
	if (seen->anchors > YAML_ANCHORS_MAX)
		return "more than 1000 anchors (&name)";
	return NULL;
}

_Static_assert(YAML_NESTING_MAX == 64 && YAML_ANCHORS_MAX == 1000, "the sentences above say so");

static int walk(yaml_parser_t *parser, const char *where, struct err *err)
{
	struct seen seen = { 0 };
	bool ended = false;

	while (!ended) {
		const char *wrong;
		yaml_event_t event;
		size_t line;

		if (!yaml_parser_parse(parser, &event))
			return 0; /* the parser says what is wrong, and where */
		wrong = look(&event, &seen);
		line = event.start_mark.line + 1;
		ended = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
		if (wrong)
			return err_set(err, ERR_FORMAT, "%s:%zu: %s; write it flatter", where, line,
				wrong);
	}
	return 0;
}

int yaml_bound(const char *where, const char *text, size_t n, struct err *err)
{
	yaml_parser_t parser;
	int rc;

	if (n > YAML_BYTES_MAX)
		return err_set(err, ERR_FORMAT, "%s: has %zu bytes; YAML of at most %d MiB is read",
			where, n, YAML_BYTES_MAX >> 20);
	if (has_many_directives(text, n))
		return err_set(err, ERR_FORMAT,
			"%s: more than %d directives (lines that begin with %%); leave them out",
			where, YAML_DIRECTIVES_MAX);
	if (!yaml_parser_initialize(&parser))
		return err_set(err, ERR_IO, "%s: no memory", where);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
	rc = walk(&parser, where, err);
	yaml_parser_delete(&parser);
	return rc;
}
