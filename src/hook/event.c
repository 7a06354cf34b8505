/*
 * Names, what fits them, and what is told.
 */
#include "hook/event.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/members.h"
#include "base/plain.h"
#include "live/core.h"

const struct event_name event_names[] = {
	{ "submitted", "submit", NULL, NULL, "a job was accepted" },
	{ "started", "begun", NULL, NULL, "a job began to run, for the first time or again" },
	{ "preempted", "stop", "why", "preempt", "a job was asked to make room for another" },
	{ "finished", "end", "state", "COMPLETED", "a job ended well" },
	{ "failed", "end", "state", "FAILED TIMEOUT NODE_FAIL PREEMPTED",
		"a job ended otherwise, and nobody had asked for that" },
	{ "cancelled", "end", "state", "CANCELLED", "a user ended a job" },
	{ "ended", "end", NULL, NULL, "a job ended, however" },
	{ "device-down", "devices", "up", "false", "devices are gone" },
	{ "device-up", "devices", "up", "true", "devices are back" },
	{ "idle", "idle_warned", NULL, NULL, "a job holds devices and does nothing (--idle)" },
	{ "reclaimed", "reclaim", NULL, NULL, "its devices were taken back for that" },
	{ "device-drained", "drained", NULL, NULL,
		"devices go to nobody new, by hand or after failures" },
	{ "device-resumed", "resumed", NULL, NULL, "they do again" },
	{ 0 },
};

/* ---- what there is */

static const struct event_name *find(const char *name)
{
	for (const struct event_name *e = event_names; e->name; e++) {
		if (!strcmp(e->name, name))
			return e;
	}
	return NULL;
}

bool event_is_known(const char *name)
{
	return find(name) || !strcmp(name, EVENT_ALL) || !strcmp(name, "epoch") ||
		core_is_input(name) || note_kind_of(name) >= 0;
}

enum { NAMES_MAX = 96 };

const char *event_near(const char *name)
{
	const char *names[NAMES_MAX] = { EVENT_ALL };
	size_t n = 1;
	int near;

	for (const struct event_name *e = event_names; e->name && n < NAMES_MAX; e++)
		names[n++] = e->name;
	for (int i = 0; i < NOTE_KINDS && n < NAMES_MAX; i++)
		names[n++] = note_name((enum note_kind)i);
	for (size_t i = 0; core_input_name(i) && n < NAMES_MAX; i++)
		names[n++] = core_input_name(i);
	near = text_nearest(name, names, n);
	return near < 0 ? NULL : names[near];
}

const char *event_about(const char *name)
{
	const struct event_name *e = find(name);

	if (e)
		return e->about;
	if (!strcmp(name, EVENT_ALL))
		return "anything, progress reports too";
	return event_is_known(name) ? "as 'stint events' has it" : NULL;
}

/* ---- what fits */

static bool is_word_of(const char *word, const char *words)
{
	struct slice rest = slice_of(words);

	while (rest.n) {
		if (slice_is(slice_cut(&rest, ' '), word))
			return true;
	}
	return false;
}

static bool has_value(const json_t *members, const char *member, const char *values)
{
	const json_t *value = json_object_get(members, member);
	const char *text = json_string_value(value);

	if (json_is_boolean(value))
		text = json_is_true(value) ? "true" : "false";
	return text && is_word_of(text, values);
}

static bool is_called(const char *name, const char *kind, const json_t *members)
{
	const struct event_name *e = find(name);

	if (!e)
		return !strcmp(name, kind) || !strcmp(name, EVENT_ALL);
	return !strcmp(e->kind, kind) && (!e->member || has_value(members, e->member, e->values));
}

static bool is_of(const char *want, const json_t *members, const char *member)
{
	const char *is = member_text(members, member);

	return !want || (is && !strcmp(want, is));
}

static bool is_named(const char *pattern, const json_t *members)
{
	const char *name = member_text(members, "name");

	return !pattern || (name && fnmatch(pattern, name, 0) == 0);
}

const char *hook_wants(const struct hook *hook, const char *kind, const json_t *members)
{
	if (!is_of(hook->tenant, members, "tenant") || !is_of(hook->user, members, "user") ||
		!is_named(hook->name, members))
		return NULL;
	for (size_t i = 0; i < hook->non; i++) {
		if (is_called(hook->on[i], kind, members))
			return strcmp(hook->on[i], EVENT_ALL) ? hook->on[i] : kind;
	}
	return NULL;
}

/* ---- what is told */

void event_sentence(const char *name, const json_t *members, const char *host, struct buf *out)
{
	const char *called = member_text(members, "name"), *user = member_text(members, "user");
	const char *reason = member_text(members, "reason");
	int64_t job = member_int(members, "job", 0), code = member_int(members, "exit_code", -1);
	int64_t signal = member_int(members, "signal_number", 0);

	if (job)
		buf_printf(out, "job %lld", (long long)job);
	else
		buf_str(out, host);
	if (job && called) {
		buf_str(out, " (");
		text_escape(out, called);
		buf_char(out, ')');
	}
	if (job && user) {
		buf_str(out, " of ");
		text_escape(out, user);
	}
	buf_printf(out, ": %s", name);
	if (signal)
		buf_printf(out, ", signal %lld", (long long)signal);
	else if (code >= 0)
		buf_printf(out, ", exit code %lld", (long long)code);
	if (reason) {
		buf_str(out, ", ");
		text_escape(out, reason);
	}
}

void event_body(const char *name, const json_t *members, const char *host, const char *delivery,
	struct buf *out)
{
	char *rest = json_dumps(members, JSON_COMPACT);
	struct buf text = { 0 };
	struct json j;

	event_sentence(name, members, host, &text);
	json_init(&j, out, false);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "notification/1");
	json_str(&j, "event", name);
	json_str(&j, "delivery", delivery);
	json_str(&j, "host", host);
	json_str(&j, "text", text.at);
	/* The stream's own members, without their braces. */
	if (rest && strlen(rest) > 2) {
		buf_char(out, ',');
		buf_add(out, rest + 1, strlen(rest) - 2);
	}
	json_end(&j, '}');
	buf_fini(&text);
	free(rest);
}
