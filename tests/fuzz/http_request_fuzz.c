/*
 * Any method, target and body as a request: refused with a text, or arguments
 * that are what the table says.  "METHOD TARGET\n", then the body.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/openapi.h"
#include "api/server.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const struct param typed[] = {
	{ "id", PARAM_TEXT, true, true, "a text in the path" },
	{ "whole", PARAM_INT, false, true, "a whole number" },
	{ "number", PARAM_NUMBER, false, false, "a number" },
	{ "text", PARAM_TEXT, false, false, "a text" },
	{ "flag", PARAM_BOOL, false, false, "yes or no" },
	{ "object", PARAM_OBJECT, false, false, "an object" },
	{ 0 },
};

static const struct param numbered[] = {
	{ "a", PARAM_INT, true, true, "a number in the path" },
	{ "b", PARAM_NUMBER, true, true, "another" },
	{ 0 },
};

static const struct verb table[] = {
	{ "free", "POST", "/v1/jobs", "any body", NEEDS_USER, NULL, "a/1", false },
	{ "list", "GET", "/v1/jobs", "nothing", NEEDS_USER, NULL, "a/1", false },
	{ "typed", "POST", "/v1/jobs/{id}", "a body", NEEDS_USER, typed, "a/1", false },
	{ "query", "GET", "/v1/jobs/{id}", "a query", NEEDS_USER, typed, "a/1", false },
	{ "numbers", "GET", "/v1/{a}/x/{b}", "numbers", NEEDS_USER, numbered, "a/1", false },
	{ 0 },
};

static bool fits(const struct param *p, const json_t *value)
{
	switch (p->kind) {
	case PARAM_INT:
		return json_is_integer(value);
	case PARAM_NUMBER:
		return json_is_number(value);
	case PARAM_TEXT:
		return json_is_string(value);
	case PARAM_BOOL:
		return json_is_boolean(value);
	default:
		return json_is_object(value) || json_is_array(value);
	}
}

static void check(const struct verb *verb, const json_t *args)
{
	size_t known = 0;

	assert(json_is_object(args));
	for (const struct param *p = verb->params; p && p->name; p++) {
		const json_t *value = json_object_get(args, p->name);

		assert(value ? fits(p, value) : !p->required);
		known += value != NULL;
	}
	assert(!verb->params || known == json_object_size(args));
}

static void serve(const char *method, const char *raw, struct slice body)
{
	struct routes routes = { table, server_routes };
	struct target target = target_of(raw);
	const struct verb *verb = NULL;
	struct buf allow = { 0 };
	struct err err = { 0 };
	int found = route_find(&routes, method, target.path, &verb, &allow);
	json_t *args = NULL;

	assert(found == 200 || found == 404 || found == 405);
	assert((found == 200) == (verb != NULL) && (found == 405) == (allow.n > 0));
	if (verb && route_args(verb, &target, body, &args, &err) == 0)
		check(verb, args);
	else
		assert(!args && (!verb || (err.code == ERR_FORMAT && strlen(err.text) > 10)));
	json_decref(args);
	buf_fini(&allow);
}

/* What is escaped reads back. */
static void escape(const char *text)
{
	struct buf escaped = { 0 }, again = { 0 };

	url_encode(text, &escaped);
	assert(url_decode((struct slice){ escaped.at, escaped.n }, true, &again));
	assert(again.n == strlen(text) && !memcmp(again.n ? again.at : "", text, again.n));
	buf_fini(&escaped);
	buf_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const char *text = (const char *)bytes;
	const char *end = n ? memchr(text, '\n', n) : NULL;
	size_t head = end ? (size_t)(end - text) : n;
	char *line = mem_strndup(text, head), *space = strchr(line, ' ');
	/* A copy of its own: nothing beyond it may be read. */
	size_t rest = end ? n - head - 1 : 0;
	char *body = mem_alloc(rest + !rest);

	if (rest)
		memcpy(body, end + 1, rest);
	if (space)
		*space = '\0';
	serve(line, space ? space + 1 : "", (struct slice){ body, rest });
	escape(space ? space + 1 : line);
	free(body);
	free(line);
	return 0;
}
