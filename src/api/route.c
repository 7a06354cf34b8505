/*
 * Patterns, escapes and typed parameters.
 */
#include "api/route.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { PARAMS_MAX = 128, BODY_DEPTH_MAX = 64 };

/* ---- escapes */

static int hex_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool url_decode(struct slice text, bool plus_is_space, struct buf *out)
{
	buf_clear(out);
	for (size_t i = 0; i < text.n; i++) {
		char c = text.at[i];

		if (c == '%') {
			int high = i + 2 < text.n ? hex_of(text.at[i + 1]) : -1;
			int low = i + 2 < text.n ? hex_of(text.at[i + 2]) : -1;

			if (high < 0 || low < 0)
				return false;
			c = (char)(high << 4 | low);
			i += 2;
		} else if (c == '+' && plus_is_space) {
			c = ' ';
		}
		if (!c)
			return false;
		buf_char(out, c);
	}
	buf_add(out, "", 0);
	return true;
}

void url_encode(const char *text, struct buf *out)
{
	for (; *text; text++) {
		if (isalnum((unsigned char)*text) || strchr("-._~", *text))
			buf_char(out, *text);
		else
			buf_printf(out, "%%%02X", (unsigned char)*text);
	}
}

struct target target_of(const char *raw)
{
	struct target target = { .query = slice_of(raw) };

	target.path = slice_cut(&target.query, '?');
	return target;
}

/* ---- patterns */

static bool is_hole(struct slice word)
{
	return word.n > 2 && word.at[0] == '{' && word.at[word.n - 1] == '}';
}

/* Number of words that are equal, or -1 if the path does not match. */
static int match(const char *pattern, struct slice path)
{
	struct slice rest = slice_of(pattern);
	int equal = 0;

	while (rest.n || path.n) {
		struct slice want = slice_cut(&rest, '/'), got = slice_cut(&path, '/');
		bool same = want.n == got.n && !memcmp(want.at, got.at, want.n);

		if (!same && (!is_hole(want) || !got.n))
			return -1;
		equal += same;
		if (!rest.n != !path.n)
			return -1;
	}
	return equal;
}

/* A path that ends in a slash is another path. */
static bool ends_in_slash(struct slice path)
{
	return path.n > 1 && path.at[path.n - 1] == '/';
}

struct search {
	const char *method;
	struct slice path;
	const struct verb *best; /* of any method */
	int equal;               /* of the best */
	const struct verb *found;
};

static void look_at(struct search *s, const struct verb *verb)
{
	int equal = match(verb->path, s->path);

	if (equal < 0 || equal < s->equal)
		return;
	if (equal > s->equal)
		s->found = NULL;
	s->equal = equal;
	s->best = verb;
	if (!strcmp(verb->method, s->method))
		s->found = verb;
}

static void walk(const struct routes *routes, void (*see)(void *ctx, const struct verb *), void *ctx)
{
	for (const struct verb *v = routes->verbs; v && v->name; v++)
		see(ctx, v);
	for (const struct verb *v = routes->own; v && v->name; v++)
		see(ctx, v);
}

static void see_match(void *ctx, const struct verb *verb)
{
	look_at(ctx, verb);
}

struct allowed {
	const char *path;
	struct buf *allow;
};

static void see_method(void *ctx, const struct verb *verb)
{
	struct allowed *a = ctx;

	if (!strcmp(verb->path, a->path))
		buf_printf(a->allow, "%s%s", a->allow->n ? ", " : "", verb->method);
}

int route_find(const struct routes *routes, const char *method, struct slice path,
	const struct verb **out, struct buf *allow)
{
	struct search search = { .method = method, .path = path, .equal = -1 };

	if (!path.n || path.at[0] != '/' || ends_in_slash(path))
		return 404;
	walk(routes, see_match, &search);
	if (!search.best)
		return 404;
	if (!search.found) {
		struct allowed allowed = { search.best->path, allow };

		walk(routes, see_method, &allowed);
		return 405;
	}
	*out = search.found;
	return 200;
}

/* ---- parameters */

static const struct param *param_of(const struct verb *verb, bool in_path, const char *name)
{
	for (const struct param *p = verb->params; p && p->name; p++) {
		if (p->in_path == in_path && !strcmp(p->name, name))
			return p;
	}
	return NULL;
}

static int unknown(const struct verb *verb, const char *name, struct err *err)
{
	const char *known[PARAMS_MAX];
	size_t n = 0;
	int near;

	for (const struct param *p = verb->params; p && p->name && n < PARAMS_MAX; p++) {
		if (!p->in_path)
			known[n++] = p->name;
	}
	near = text_nearest(name, known, n);
	if (near >= 0)
		return err_set(err, ERR_FORMAT, "there is no parameter '%.64s'; did you mean '%s'?",
			name, known[near]);
	return err_set(err, ERR_FORMAT,
		"there is no parameter '%.64s' here; GET /v1/openapi.json lists them", name);
}

static const char *const kinds[] = {
	[PARAM_INT] = "a whole number",
	[PARAM_NUMBER] = "a number",
	[PARAM_TEXT] = "text",
	[PARAM_BOOL] = "true or false",
	[PARAM_OBJECT] = "an object or a list",
};

static int wrong_kind(const struct param *param, struct err *err)
{
	return err_set(err, ERR_FORMAT, "'%s' must be %s", param->name, kinds[param->kind]);
}

static json_t *bool_of(struct slice text)
{
	if (slice_is(text, "1") || slice_is(text, "true"))
		return json_true();
	return slice_is(text, "0") || slice_is(text, "false") ? json_false() : NULL;
}

/* NULL if the text is not of that kind. */
static json_t *value_of(const struct param *param, const struct buf *text)
{
	struct slice s = { text->at ? text->at : "", text->n };
	int64_t whole;
	double number;

	if (param->kind == PARAM_TEXT)
		return json_stringn(s.at, s.n);
	if (param->kind == PARAM_BOOL)
		return bool_of(s);
	if (slice_trim(s).n != s.n)
		return NULL;
	if (param->kind == PARAM_INT && slice_int(s, &whole))
		return json_integer(whole);
	if (param->kind == PARAM_NUMBER && slice_double(s, &number))
		return json_real(number);
	return NULL;
}

static int add_text(json_t *args, const struct param *param, struct slice escaped, bool plus,
	struct err *err)
{
	struct buf text = { 0 };
	json_t *value = url_decode(escaped, plus, &text) ? value_of(param, &text) : NULL;

	buf_fini(&text);
	if (!value)
		return wrong_kind(param, err);
	json_object_set_new(args, param->name, value);
	return 0;
}

static int path_args(const struct verb *verb, struct slice path, json_t *args, struct err *err)
{
	struct slice rest = slice_of(verb->path);

	while (rest.n) {
		struct slice want = slice_cut(&rest, '/'), got = slice_cut(&path, '/');
		const struct param *param;
		char name[64];

		if (!is_hole(want) || want.n - 2 >= sizeof(name))
			continue;
		memcpy(name, want.at + 1, want.n - 2);
		name[want.n - 2] = '\0';
		param = param_of(verb, true, name);
		if (!param)
			return err_set(err, ERR_FORMAT, "the route has no parameter '%s'", name);
		if (add_text(args, param, got, false, err) < 0)
			return err->code;
	}
	return 0;
}

static int query_arg(const struct verb *verb, struct slice pair, json_t *args, struct err *err)
{
	struct slice value = pair, key = slice_cut(&value, '=');
	const struct param *param;
	struct buf name = { 0 };
	int rc;

	if (!url_decode(key, true, &name)) {
		buf_fini(&name);
		return err_set(err, ERR_FORMAT, "the query has a broken escape");
	}
	param = param_of(verb, false, name.at ? name.at : "");
	if (!param || !strcmp(param->name, "*"))
		rc = unknown(verb, name.at ? name.at : "", err);
	else if (json_object_get(args, param->name))
		rc = err_set(err, ERR_FORMAT, "'%s' is given twice", param->name);
	else
		rc = add_text(args, param, value, true, err);
	buf_fini(&name);
	return rc;
}

static int query_args(const struct verb *verb, struct slice query, json_t *args, struct err *err)
{
	while (query.n) {
		struct slice pair = slice_cut(&query, '&');

		if (pair.n && query_arg(verb, pair, args, err) < 0)
			return err ? err->code : ERR_FORMAT;
	}
	return 0;
}

/* ---- bodies */

/* A table that says nothing but "structure" leaves it to the verb what is in it. */
static bool body_is_free(const struct verb *verb)
{
	for (const struct param *p = verb->params; p && p->name; p++) {
		if (!p->in_path && !strcmp(p->name, "*"))
			return true;
	}
	for (const struct param *p = verb->params; p && p->name; p++) {
		if (!p->in_path && p->kind != PARAM_OBJECT)
			return false;
	}
	return true;
}

static bool of_kind(const struct param *param, const json_t *value)
{
	switch (param->kind) {
	case PARAM_INT:
		return json_is_integer(value);
	case PARAM_NUMBER:
		return json_is_number(value);
	case PARAM_TEXT:
		return json_is_string(value);
	case PARAM_BOOL:
		return json_is_boolean(value);
	case PARAM_OBJECT:
		return json_is_object(value) || json_is_array(value);
	}
	return false;
}

static int body_arg(const struct verb *verb, const char *key, json_t *value, bool is_free,
	json_t *args, struct err *err)
{
	const struct param *param = param_of(verb, false, key);

	if (param_of(verb, true, key))
		return err_set(err, ERR_FORMAT, "'%s' is named by the path", key);
	if (!param && !is_free)
		return unknown(verb, key, err);
	if (json_is_null(value) && !is_free)
		return 0;
	if (param && !json_is_null(value) && !of_kind(param, value))
		return wrong_kind(param, err);
	json_object_set(args, key, value);
	return 0;
}

/* Deeper than anything means; whoever walks the value may do so by recursion. */
static bool too_deep(struct slice text)
{
	bool quoted = false;
	int depth = 0;

	for (size_t i = 0; i < text.n; i++) {
		char c = text.at[i];

		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && (c == '{' || c == '['))
			depth++;
		else if (!quoted && (c == '}' || c == ']'))
			depth--;
		if (depth > BODY_DEPTH_MAX)
			return true;
	}
	return false;
}

static int body_args(const struct verb *verb, struct slice body, json_t *args, struct err *err)
{
	bool is_free = body_is_free(verb);
	json_error_t why;
	const char *key;
	json_t *value, *got;
	int rc = 0;

	if (!body.n)
		return 0;
	if (too_deep(body))
		return err_set(err, ERR_FORMAT, "the body is nested too deeply");
	got = json_loadb(body.at, body.n, JSON_REJECT_DUPLICATES, &why);
	if (!got)
		return err_set(err, ERR_FORMAT, "the body is not JSON: %s (line %d)", why.text,
			why.line);
	if (!json_is_object(got)) {
		json_decref(got);
		return err_set(err, ERR_FORMAT, "the body must be a JSON object");
	}
	json_object_foreach(got, key, value)
	{
		rc = body_arg(verb, key, value, is_free, args, err);
		if (rc < 0)
			break;
	}
	json_decref(got);
	return rc;
}

static int all_required(const struct verb *verb, const json_t *args, struct err *err)
{
	for (const struct param *p = verb->params; p && p->name; p++) {
		if (p->required && strcmp(p->name, "*") != 0 && !json_object_get(args, p->name))
			return err_set(err, ERR_FORMAT, "'%s' is missing: %s", p->name,
				p->help ? p->help : kinds[p->kind]);
	}
	return 0;
}

int route_args(const struct verb *verb, const struct target *target, struct slice body,
	json_t **out, struct err *err)
{
	bool get = !strcmp(verb->method, "GET");
	json_t *args = json_object();
	struct err own = { 0 };
	int rc = path_args(verb, target->path, args, &own);

	if (!rc && get && body.n)
		rc = err_set(&own, ERR_FORMAT, "a GET has no body");
	if (!rc && !get && target->query.n)
		rc = err_set(&own, ERR_FORMAT, "a %s takes its parameters from the body", verb->method);
	if (!rc)
		rc = get ? query_args(verb, target->query, args, &own)
			 : body_args(verb, body, args, &own);
	if (!rc)
		rc = all_required(verb, args, &own);
	if (rc < 0) {
		json_decref(args);
		return err_set(err, ERR_FORMAT, "%s", own.text);
	}
	*out = args;
	return 0;
}
