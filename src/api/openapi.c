/*
 * One pass over the tables for each path.
 */
#include "api/openapi.h"

#include <ctype.h>
#include <string.h>

#include "base/json.h"

static const char *const types[] = {
	[PARAM_INT] = "integer",
	[PARAM_NUMBER] = "number",
	[PARAM_TEXT] = "string",
	[PARAM_BOOL] = "boolean",
};

/* An object may also be a list: no type says "any". */
static void write_schema(struct json *j, const char *key, const struct param *param, bool help)
{
	json_begin_object(j, key);
	if (param->kind != PARAM_OBJECT)
		json_str(j, "type", types[param->kind]);
	if (help && param->help)
		json_str(j, "description", param->help);
	json_end(j, '}');
}

static void write_parameters(struct json *j, const struct verb *verb)
{
	bool get = !strcmp(verb->method, "GET");

	json_begin_array(j, "parameters");
	for (const struct param *p = verb->params; p && p->name; p++) {
		if (!p->in_path && !get)
			continue;
		json_begin_object(j, NULL);
		json_str(j, "name", p->name);
		json_str(j, "in", p->in_path ? "path" : "query");
		json_bool(j, "required", p->in_path || p->required);
		if (p->help)
			json_str(j, "description", p->help);
		write_schema(j, "schema", p, false);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void write_required(struct json *j, const struct verb *verb)
{
	bool any = false;

	for (const struct param *p = verb->params; p && p->name; p++) {
		if (p->in_path || !p->required || !strcmp(p->name, "*"))
			continue;
		if (!any)
			json_begin_array(j, "required");
		any = true;
		json_str(j, NULL, p->name);
	}
	if (any)
		json_end(j, ']');
}

static void write_body(struct json *j, const struct verb *verb)
{
	json_begin_object(j, "requestBody");
	json_begin_object(j, "content");
	json_begin_object(j, "application/json");
	json_begin_object(j, "schema");
	json_str(j, "type", "object");
	write_required(j, verb);
	json_begin_object(j, "properties");
	for (const struct param *p = verb->params; p && p->name; p++) {
		if (!p->in_path && strcmp(p->name, "*") != 0)
			write_schema(j, p->name, p, true);
	}
	for (int i = 0; i < 5; i++)
		json_end(j, '}');
}

/* The schema of an answer is a name and a version ("jobs/1"); other contents are named by their type. */
static const char *content_of(const struct verb *verb)
{
	const char *slash = verb->schema ? strchr(verb->schema, '/') : NULL;

	return slash && !isdigit((unsigned char)slash[1]) ? verb->schema : "application/json";
}

static void write_answer(struct json *j, const char *status, const char *what, const char *content,
	const char *schema)
{
	json_begin_object(j, status);
	json_str(j, "description", what);
	json_begin_object(j, "content");
	json_begin_object(j, content);
	json_begin_object(j, "schema");
	if (schema)
		json_str(j, "$ref", schema);
	for (int i = 0; i < 4; i++)
		json_end(j, '}');
}

static void write_verb(struct json *j, const struct verb *verb)
{
	static const char *const needs[] = {
		[NEEDS_READ] = "read",
		[NEEDS_USER] = "user",
		[NEEDS_OWNER] = "the job's owner, or an operator who changes it, or admin",
		[NEEDS_OPERATOR] = "operator",
		[NEEDS_ADMIN] = "admin",
	};
	char method[16] = "";

	for (size_t i = 0; i < sizeof(method) - 1 && verb->method[i]; i++)
		method[i] = (char)tolower((unsigned char)verb->method[i]);
	json_begin_object(j, method);
	json_str(j, "operationId", verb->name);
	json_str(j, "summary", verb->summary);
	json_str(j, "x-needs", needs[verb->needs]);
	write_parameters(j, verb);
	if (strcmp(verb->method, "GET") != 0)
		write_body(j, verb);
	json_begin_object(j, "responses");
	write_answer(j, "2XX", verb->schema ? verb->schema : "done", content_of(verb), NULL);
	write_answer(j, "default", "what is wrong", "application/problem+json",
		"#/components/schemas/problem");
	json_end(j, '}');
	json_end(j, '}');
}

/* ---- paths: each is written where it is met first, with all its methods */

struct at {
	struct json *j;
	const struct routes *routes;
	const char *path;
	const struct verb *first;
};

static void see_same(struct at *at, const struct verb *verb,
	void (*see)(struct at *, const struct verb *))
{
	if (!strcmp(verb->path, at->path))
		see(at, verb);
}

static void each(struct at *at, void (*see)(struct at *, const struct verb *), const char *path)
{
	at->path = path;
	for (const struct verb *v = at->routes->verbs; v && v->name; v++)
		path ? see_same(at, v, see) : see(at, v);
	for (const struct verb *v = at->routes->own; v && v->name; v++)
		path ? see_same(at, v, see) : see(at, v);
}

static void note_first(struct at *at, const struct verb *verb)
{
	if (!at->first)
		at->first = verb;
}

static void write_method(struct at *at, const struct verb *verb)
{
	write_verb(at->j, verb);
}

static void write_path(struct at *at, const struct verb *verb)
{
	struct at inner = { at->j, at->routes, NULL, NULL };

	each(&inner, note_first, verb->path);
	if (inner.first != verb)
		return;
	json_begin_object(at->j, verb->path);
	each(&inner, write_method, verb->path);
	json_end(at->j, '}');
}

static void write_problem(struct json *j)
{
	static const struct {
		const char *name, *type;
	} members[] = {
		{ "type", "string" },
		{ "title", "string" },
		{ "status", "integer" },
		{ "detail", "string" },
		{ "exit", "integer" },
		{ "limit", "string" },
		{ "retry_after_s", "number" },
	};

	json_begin_object(j, "schemas");
	json_begin_object(j, "problem");
	json_str(j, "type", "object");
	json_begin_object(j, "properties");
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		json_begin_object(j, members[i].name);
		json_str(j, "type", members[i].type);
		json_end(j, '}');
	}
	for (int i = 0; i < 3; i++)
		json_end(j, '}');
}

static void write_security(struct json *j)
{
	json_begin_object(j, "securitySchemes");
	json_begin_object(j, "token");
	json_str(j, "type", "http");
	json_str(j, "scheme", "bearer");
	json_str(j, "description",
		"over TCP: STATE/token (admin) or STATE/token.read (read); the unix socket knows its peer and needs none, as does /healthz");
	json_end(j, '}');
	json_end(j, '}');
}

void openapi_write(const struct routes *routes, struct buf *out)
{
	struct json j;
	struct at at = { &j, routes, NULL, NULL };

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "openapi", "3.0.3");
	json_begin_object(&j, "info");
	json_str(&j, "title", "Stint");
	json_str(&j, "version", STINT_VERSION);
	json_end(&j, '}');
	json_begin_array(&j, "security");
	json_begin_object(&j, NULL);
	json_begin_array(&j, "token");
	json_end(&j, ']');
	json_end(&j, '}');
	json_end(&j, ']');
	json_begin_object(&j, "paths");
	each(&at, write_path, NULL);
	json_end(&j, '}');
	json_begin_object(&j, "components");
	write_security(&j);
	write_problem(&j);
	json_end(&j, '}');
	json_end(&j, '}');
	buf_char(out, '\n');
}
