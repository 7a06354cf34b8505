/*
 * Submissions as JSON: a table of the plain members, and the four that are not.
 */
#include "live/submission.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum kind { TEXT, INT, NUMBER, BYTES, BOOL };

struct member {
	const char *name;
	enum kind kind;
	size_t offset;
};

#define MEMBER(name_, kind_, field) \
	{ \
		.name = (name_), .kind = (kind_), .offset = offsetof(struct submission, field) \
	}

static const struct member members[] = {
	MEMBER("name", TEXT, name),
	MEMBER("cwd", TEXT, cwd),
	MEMBER("script", TEXT, script),
	MEMBER("output", TEXT, out),
	MEMBER("error", TEXT, err_out),
	MEMBER("tenant", TEXT, tenant),
	MEMBER("model", TEXT, model),
	MEMBER("key", TEXT, key),
	MEMBER("comment", TEXT, comment),
	MEMBER("gpus", INT, gpus),
	MEMBER("min_gpus", INT, min_gpus),
	MEMBER("max_gpus", INT, max_gpus),
	MEMBER("nodes", INT, nodes),
	MEMBER("types", TEXT, types),
	MEMBER("share", NUMBER, share),
	MEMBER("gpu_mem_bytes", BYTES, gpu_mem_bytes),
	MEMBER("cpus", NUMBER, cpus),
	MEMBER("mem_bytes", BYTES, mem_bytes),
	MEMBER("mem_auto", INT, mem_auto),
	MEMBER("mem_most", BYTES, mem_most),
	MEMBER("time_s", NUMBER, time_s),
	MEMBER("estimate_s", NUMBER, estimate_s),
	MEMBER("deadline", NUMBER, deadline_s),
	MEMBER("begin", NUMBER, begin_s),
	MEMBER("submitted", NUMBER, submitted_s),
	MEMBER("hold", BOOL, hold),
	MEMBER("weight", NUMBER, weight),
	MEMBER("priority", INT, priority),
	MEMBER("opportunistic", BOOL, opportunistic),
	MEMBER("grace_s", NUMBER, grace_s),
	MEMBER("checkpoint", TEXT, checkpoint),
	MEMBER("requeue", BOOL, requeue),
	MEMBER("retries", INT, retries),
	MEMBER("allow_idle", BOOL, allow_idle),
};

enum { MEMBERS = sizeof(members) / sizeof(*members) };

/* Members with a form of their own: a reader each, and a writer that says nothing where nothing differs. */
struct special {
	const char *name;
	int (*read)(struct submission *s, const json_t *value, struct err *err);
	json_t *(*write)(const struct submission *s);
};

bool submission_travels(const char *text)
{
	json_t *json = json_string(text);

	json_decref(json);
	return json;
}

/* ---- reading */

/* Text inside must be text: a NUL would cut it short. */
static const char *text_of(const json_t *value)
{
	const char *text = json_string_value(value);

	return text && strlen(text) == json_string_length(value) ? text : NULL;
}

static int wrong(const char *name, const char *want, struct err *err)
{
	return err_set(err, ERR_USAGE, "%s: must be %s", name, want);
}

static int read_command(struct submission *s, const json_t *value, struct err *err)
{
	size_t n = json_array_size(value);
	const char **words = arena_array(&s->memory, const char *, n + 1);

	if (!json_is_array(value))
		return wrong("command", "a list of words, such as [\"python\", \"train.py\"]", err);
	for (size_t i = 0; i < n; i++) {
		const char *word = text_of(json_array_get(value, i));

		if (!word)
			return wrong("command", "a list of words, each a text without \\u0000", err);
		words[i] = arena_strdup(&s->memory, word);
	}
	s->argv = words;
	return 0;
}

static int read_env(struct submission *s, const json_t *value, struct err *err)
{
	const char **env = arena_array(&s->memory, const char *, json_object_size(value) + 1);
	json_t *object = (json_t *)value; /* jansson walks no const object */
	const char *name;
	json_t *text;
	size_t n = 0;

	if (!json_is_object(value))
		return wrong("env", "an object, such as {\"SEED\": \"1\"}", err);
	json_object_foreach(object, name, text)
	{
		if (!text_of(text))
			return err_set(err, ERR_USAGE, "env: %.80s must be a text", name);
		if (!*name || strchr(name, '='))
			return err_set(err, ERR_USAGE, "env: '%.80s' is no name of a variable", name);
		env[n++] = arena_printf(&s->memory, "%s=%s", name, text_of(text));
	}
	s->env = env;
	return 0;
}

static int read_signal(struct submission *s, const json_t *value, struct err *err)
{
	const char *name = text_of(value);
	int number = name ? signal_of_name(name) : 0;

	if (json_is_integer(value) && json_integer_value(value) > 0 && json_integer_value(value) < 65)
		number = (int)json_integer_value(value);
	if (!number)
		return wrong("signal", "the name of a signal, such as \"TERM\"", err);
	s->stop_signal = number;
	return 0;
}

static int read_pty(struct submission *s, const json_t *value, struct err *err)
{
	const json_t *rows = json_object_get(value, "rows"), *cols = json_object_get(value, "cols");
	json_int_t most = UINT16_MAX;

	if (json_object_size(value) != 2 || json_integer_value(rows) < 1 ||
		json_integer_value(rows) > most || json_integer_value(cols) < 1 ||
		json_integer_value(cols) > most)
		return wrong("pty", "the size of a terminal, such as {\"rows\": 24, \"cols\": 80}",
			err);
	s->pty_rows = (int32_t)json_integer_value(rows);
	s->pty_cols = (int32_t)json_integer_value(cols);
	return 0;
}

static int read_array(struct submission *s, const json_t *value, struct err *err)
{
	const char *text = text_of(value);

	if (!text)
		return wrong("array", "a text, such as \"0-9%2\"", err);
	return submission_set_array(s, text, err) ? err_prefix(err, "array") : 0;
}

static int read_one_after(const json_t *value, struct dependency *out, struct err *err)
{
	static const char want[] = "a list, such as [{\"kind\": \"afterok\", \"job\": 7}]";
	const char *kind = text_of(json_object_get(value, "kind"));
	json_int_t job = json_integer_value(json_object_get(value, "job"));

	if (!kind || job < 1 || job >= UINT32_MAX || json_object_size(value) != 2)
		return wrong("after", want, err);
	for (int i = AFTER_OK; i <= AFTER_START; i++) {
		if (!strcmp(kind, dependency_name((enum dependency_kind)i))) {
			*out = (struct dependency){ (enum dependency_kind)i, (uint32_t)job };
			return 0;
		}
	}
	return err_set(err, ERR_USAGE,
		"after: there is no kind '%.40s'; there are afterok, afterany, afternotok and after",
		kind);
}

static int read_after(struct submission *s, const json_t *value, struct err *err)
{
	size_t n = json_array_size(value);
	struct dependency *after = arena_array(&s->memory, struct dependency, n);
	int rc = 0;

	if (!json_is_array(value))
		return wrong("after", "a list", err);
	for (size_t i = 0; i < n && !rc; i++)
		rc = read_one_after(json_array_get(value, i), &after[i], err);
	s->after = after;
	s->nafter = (uint32_t)n;
	return rc;
}

/* ---- writing */

static json_t *write_command(const struct submission *s)
{
	json_t *list = s->argv ? json_array() : NULL;

	for (const char *const *word = s->argv; word && *word; word++)
		json_array_append_new(list, json_string(*word));
	return list;
}

static json_t *write_env(const struct submission *s)
{
	json_t *object = s->env ? json_object() : NULL;

	for (const char *const *pair = s->env; pair && *pair; pair++) {
		size_t n = strcspn(*pair, "=");
		char *name = mem_strndup(*pair, n);

		json_object_set_new(object, name, json_string((*pair)[n] ? *pair + n + 1 : ""));
		free(name);
	}
	return object;
}

static json_t *write_signal(const struct submission *s)
{
	struct submission preset;

	submission_init(&preset);
	return s->stop_signal == preset.stop_signal ? NULL : json_string(signal_name(s->stop_signal));
}

static json_t *write_pty(const struct submission *s)
{
	return s->pty_rows ? json_pack("{s:i, s:i}", "rows", s->pty_rows, "cols", s->pty_cols) : NULL;
}

static json_t *write_array(const struct submission *s)
{
	struct buf text = { 0 };
	json_t *json;

	if (!s->array)
		return NULL;
	submission_array_text(s, &text);
	json = json_string(text.at);
	buf_fini(&text);
	return json;
}

static json_t *write_after(const struct submission *s)
{
	json_t *list = s->nafter ? json_array() : NULL;

	for (uint32_t i = 0; i < s->nafter; i++)
		json_array_append_new(list,
			json_pack("{s:s, s:I}", "kind", dependency_name(s->after[i].kind), "job",
				(json_int_t)s->after[i].job));
	return list;
}

static const struct special specials[] = {
	{ "command", read_command, write_command },
	{ "env", read_env, write_env },
	{ "signal", read_signal, write_signal },
	{ "pty", read_pty, write_pty },
	{ "array", read_array, write_array },
	{ "after", read_after, write_after },
};

enum { SPECIALS = sizeof(specials) / sizeof(*specials) };

/* ---- the plain ones */

static int read_whole(const struct member *m, const json_t *value, void *field, struct err *err)
{
	json_int_t x = json_integer_value(value);

	if (!json_is_integer(value))
		return wrong(m->name, "a whole number", err);
	if (m->kind == BYTES) {
		*(int64_t *)field = x;
		return 0;
	}
	/* -1 stands for what is not said, and nobody needs to say it. */
	if (x < INT32_MIN || x > INT32_MAX || (x < 0 && strstr(m->name, "gpus")))
		return err_set(err, ERR_USAGE, "%s: %lld is out of range", m->name, (long long)x);
	*(int32_t *)field = (int32_t)x;
	return 0;
}

static int read_member(struct submission *s, const struct member *m, const json_t *value,
	struct err *err)
{
	void *field = (char *)s + m->offset;

	switch (m->kind) {
	case TEXT:
		if (!text_of(value))
			return wrong(m->name, "a text without \\u0000", err);
		*(const char **)field = arena_strdup(&s->memory, text_of(value));
		return 0;
	case INT:
	case BYTES:
		return read_whole(m, value, field, err);
	case NUMBER:
		if (!json_is_number(value))
			return wrong(m->name, "a number", err);
		*(double *)field = json_number_value(value);
		return 0;
	case BOOL:
		if (!json_is_boolean(value))
			return wrong(m->name, "true or false", err);
		*(bool *)field = json_is_true(value);
		return 0;
	}
	return 0;
}

static json_t *write_member(const struct submission *s, const struct member *m,
	const struct submission *preset)
{
	const void *field = (const char *)s + m->offset, *as_set = (const char *)preset + m->offset;
	const char *text;

	switch (m->kind) {
	case TEXT:
		text = *(const char *const *)field;
		return text ? json_string(text) : NULL;
	case INT:
		if (*(const int32_t *)field == *(const int32_t *)as_set)
			return NULL;
		return json_integer(*(const int32_t *)field);
	case BYTES:
		if (*(const int64_t *)field == *(const int64_t *)as_set)
			return NULL;
		return json_integer(*(const int64_t *)field);
	case NUMBER:
		if (*(const double *)field == *(const double *)as_set)
			return NULL;
		return json_real(*(const double *)field);
	case BOOL:
		if (*(const bool *)field == *(const bool *)as_set)
			return NULL;
		return json_boolean(*(const bool *)field);
	}
	return NULL;
}

static int unknown(const char *name, struct err *err)
{
	const char *known[MEMBERS + SPECIALS];
	int near;

	for (size_t i = 0; i < MEMBERS; i++)
		known[i] = members[i].name;
	for (size_t i = 0; i < SPECIALS; i++)
		known[MEMBERS + i] = specials[i].name;
	near = text_nearest(name, known, MEMBERS + SPECIALS);
	return err_set(err, ERR_USAGE, "%.80s: a submission has no such member%s%s%s", name,
		near >= 0 ? "; did you mean " : "", near >= 0 ? known[near] : "",
		near >= 0 ? "?" : "");
}

static int read_any(struct submission *s, const char *name, const json_t *value, struct err *err)
{
	if (!strcmp(name, "schema")) {
		const char *schema = json_string_value(value);

		return schema && !strcmp(schema, "submission/1")
			? 0
			: wrong("schema", "\"submission/1\"", err);
	}
	for (size_t i = 0; i < MEMBERS; i++)
		if (!strcmp(name, members[i].name))
			return json_is_null(value) ? 0 : read_member(s, &members[i], value, err);
	for (size_t i = 0; i < SPECIALS; i++)
		if (!strcmp(name, specials[i].name))
			return json_is_null(value) ? 0 : specials[i].read(s, value, err);
	return unknown(name, err);
}

int submission_from_json(struct submission *out, const json_t *json, struct err *err)
{
	json_t *object = (json_t *)json;
	struct submission s;
	const char *name;
	json_t *value;
	int rc;

	if (!json_is_object(json))
		return err_set(err, ERR_USAGE,
			"a submission is a JSON object, such as "
			"{\"command\": [\"python\", \"train.py\"], \"gpus\": 1}");
	submission_init(&s);
	json_object_foreach(object, name, value)
	{
		rc = read_any(&s, name, value, err);
		if (rc) {
			submission_fini(&s);
			return rc;
		}
	}
	*out = s;
	return 0;
}

json_t *submission_to_json(const struct submission *s)
{
	json_t *json = json_pack("{s:s}", "schema", "submission/1"), *value;
	struct submission preset;

	submission_init(&preset);
	for (size_t i = 0; i < MEMBERS; i++) {
		value = write_member(s, &members[i], &preset);
		if (value)
			json_object_set_new(json, members[i].name, value);
	}
	for (size_t i = 0; i < SPECIALS; i++) {
		value = specials[i].write(s);
		if (value)
			json_object_set_new(json, specials[i].name, value);
	}
	return json;
}
