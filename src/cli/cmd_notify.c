/*
 * stint notify check, stint notify test: rules of notifications before a daemon
 * has them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/ui.h"
#include "hook/deliver.h"
#include "hook/event.h"
#include "hook/hook.h"

/* ---- check */

static void list(const char *const *words, const char *between, struct buf *out)
{
	for (size_t i = 0; words[i]; i++)
		buf_printf(out, "%s%s", i ? between : "", words[i]);
}

static void add_of(const char *what, const char *value, struct buf *out)
{
	if (value)
		buf_printf(out, ", of %s %s", what, value);
}

static void check_text(const struct hook *hook, uint32_t number, struct buf *out)
{
	buf_printf(out, "rule %u: on ", number);
	list(hook->on, ", ", out);
	add_of("tenant", hook->tenant, out);
	add_of("user", hook->user, out);
	add_of("jobs named", hook->name, out);
	if (hook->webhook) {
		buf_str(out, "\n  posts to ");
		hook_receiver(hook, out);
		buf_str(out, hook->secret ? ", signed" : ", not signed: give it a secret_file");
	} else {
		buf_str(out, "\n  runs, as whoever runs the daemon: ");
		list(hook->command, " ", out);
	}
	buf_printf(out, "\n  %g s for each try, %d retr%s\n", hook->timeout_s, hook->retries,
		hook->retries == 1 ? "y" : "ies");
	for (size_t i = 0; i < hook->non; i++) {
		const char *about = event_about(hook->on[i]);

		buf_printf(out, "  %s: %s\n", hook->on[i],
			about ? about
			      : "not known by name; told if 'stint events' ever shows that kind");
	}
}

static void json_words(struct json *j, const char *key, const char *const *words)
{
	json_begin_array(j, key);
	for (size_t i = 0; words && words[i]; i++)
		json_str(j, NULL, words[i]);
	json_end(j, ']');
}

static void check_json(const struct hook *hook, uint32_t number, struct json *j)
{
	struct buf to = { 0 };

	hook_receiver(hook, &to);
	json_begin_object(j, NULL);
	json_int(j, "rule", number);
	json_words(j, "on", hook->on);
	json_begin_array(j, "unknown");
	for (size_t i = 0; i < hook->non; i++) {
		if (!event_is_known(hook->on[i]))
			json_str(j, NULL, hook->on[i]);
	}
	json_end(j, ']');
	json_str(j, "tenant", hook->tenant);
	json_str(j, "user", hook->user);
	json_str(j, "name", hook->name);
	json_str(j, "kind", hook->webhook ? "webhook" : "command");
	json_str(j, "receiver", to.at);
	json_bool(j, "signed", hook->secret != NULL);
	json_int(j, "retries", hook->retries);
	json_double(j, "timeout_s", hook->timeout_s);
	json_end(j, '}');
	buf_fini(&to);
}

static void begin_json(struct json *j, struct buf *out, const char *schema, const char *members)
{
	json_init(j, out, true);
	json_begin_object(j, NULL);
	json_str(j, "schema", schema);
	json_begin_array(j, members);
}

static void end_json(struct json *j)
{
	json_end(j, ']');
	json_end(j, '}');
}

static int check(const struct args *args, struct err *err)
{
	struct hooks hooks;
	struct buf out = { 0 };
	struct json j;
	int rc = hooks_read(args->operands.at[0], &hooks, err);

	if (rc < 0)
		return rc;
	if (args->json)
		begin_json(&j, &out, "notify-check/1", "rules");
	for (uint32_t i = 0; i < hooks.n; i++) {
		if (args->json)
			check_json(&hooks.at[i], i + 1, &j);
		else
			check_text(&hooks.at[i], i + 1, &out);
	}
	if (args->json)
		end_json(&j);
	rc = ui_print(&out, err);
	buf_fini(&out);
	hooks_fini(&hooks);
	return rc;
}

/* ---- test */

static const char *kind_of(const char *name)
{
	for (const struct event_name *e = event_names; e->name; e++) {
		if (!strcmp(e->name, name))
			return e->kind;
	}
	return name;
}

/* A job that the rule wants, as far as one can make it up. */
static void make_sample(const struct hook *hook, struct delivery *out)
{
	const char *event = strcmp(hook->on[0], EVENT_ALL) ? hook->on[0] : "ended";
	json_t *members = json_pack("{s:b,s:f,s:s,s:i,s:s,s:s,s:s}", "test", 1, "at",
		clock_real_s(), "kind", kind_of(event), "job", 1, "name", "sample", "tenant",
		hook->tenant ? hook->tenant : "sample", "user", hook->user ? hook->user : "sample");
	struct buf body = { 0 };

	delivery_number(out->id);
	event_body(event, members, "test", out->id, &body);
	out->event = mem_strdup(event);
	out->body = body.at;
	json_decref(members);
}

static void sent_text(const struct hook *hook, uint32_t number, const struct delivery *d,
	const struct reception *o, struct buf *out)
{
	buf_printf(out, "rule %u: %s to ", number, d->event);
	hook_receiver(hook, out);
	buf_str(out, o->verdict == DELIVERED ? ": delivered" : ": failed");
	if (o->status && o->verdict == DELIVERED)
		buf_printf(out, ", status %d", o->status);
	if (o->why.n)
		buf_printf(out, ", %s", o->why.at);
	if (hook->webhook && o->verdict == NEVER)
		buf_str(out, " (the daemon would not try again)");
	buf_char(out, '\n');
	if (o->answer.n && (o->verdict == DELIVERED || hook->webhook))
		buf_printf(out, "  it said: %s%s", o->answer.at,
			o->answer.at[o->answer.n - 1] == '\n' ? "" : "\n");
}

static void sent_json(const struct hook *hook, uint32_t number, const struct delivery *d,
	const struct reception *o, struct json *j)
{
	struct buf to = { 0 };

	hook_receiver(hook, &to);
	json_begin_object(j, NULL);
	json_int(j, "rule", number);
	json_str(j, "receiver", to.at);
	json_str(j, "event", d->event);
	json_str(j, "delivery", d->id);
	json_bool(j, "delivered", o->verdict == DELIVERED);
	if (o->status)
		json_int(j, "status", o->status);
	json_str(j, "why", o->why.n ? o->why.at : NULL);
	json_str(j, "answer", o->answer.n ? o->answer.at : NULL);
	json_raw(j, "sent", d->body, strlen(d->body));
	json_end(j, '}');
	buf_fini(&to);
}

/* Whether it was delivered.  Once: whoever tests wants to know now. */
static bool try_rule(const struct args *args, const struct hook *hook, uint32_t number,
	struct json *j, struct buf *out)
{
	struct delivery d = { 0 };
	struct reception o;
	bool fine;

	make_sample(hook, &d);
	deliver(hook, &d, NULL, &o);
	if (args->json)
		sent_json(hook, number, &d, &o, j);
	else
		sent_text(hook, number, &d, &o, out);
	fine = o.verdict == DELIVERED;
	reception_fini(&o);
	delivery_fini(&d);
	return fine;
}

static int try_all(const struct args *args, const struct hooks *hooks, struct err *err)
{
	struct buf out = { 0 };
	bool fine = true;
	struct json j;
	int rc;

	if (args->json)
		begin_json(&j, &out, "notify-test/1", "sent");
	for (uint32_t i = 0; i < hooks->n; i++) {
		if (!args->rule || args->rule == i + 1)
			fine &= try_rule(args, &hooks->at[i], i + 1, &j, &out);
	}
	if (args->json)
		end_json(&j);
	rc = ui_print(&out, err);
	buf_fini(&out);
	return rc ? rc : fine ? EXIT_OK : EXIT_FAILED;
}

static int test(const struct args *args, struct err *err)
{
	struct hooks hooks;
	int rc = hooks_read(args->operands.at[0], &hooks, err);

	if (rc < 0)
		return rc;
	if (args->rule > hooks.n)
		rc = err_set(err, ERR_MISSING, "%s has %u rule%s, no rule %lld", args->operands.at[0],
			hooks.n, hooks.n == 1 ? "" : "s", (long long)args->rule);
	else
		rc = try_all(args, &hooks, err);
	hooks_fini(&hooks);
	return rc;
}

/* ---- commands */

static const struct flag check_flags[] = {
	SWITCH(json, "the rules as JSON"),
	{ 0 },
};
static const struct flag test_flags[] = {
	NUMBER(rule, FLAG_INT, "N", 0, 1, HOOKS_MAX, "this rule only, counted from 1"),
	SWITCH(json, "what was sent and what came back, as JSON"),
	{ 0 },
};
static const struct flag_group group_check = { .title = "output", .flags = check_flags };
static const struct flag_group group_test = { .title = "which, and output", .flags = test_flags };
static const char *const check_examples[] = { "stint notify check notify.yaml", NULL };
static const char *const test_examples[] = { "stint notify test notify.yaml --rule 2", NULL };

static void list_events(struct buf *out)
{
	buf_str(out, "events:\n");
	for (const struct event_name *e = event_names; e->name; e++)
		buf_printf(out, "  %-24s %s\n", e->name, e->about);
	buf_printf(out, "  %-24s %s\n", EVENT_ALL, event_about(EVENT_ALL));
	buf_str(out, "  and every kind that 'stint events' shows, by its name there\n");
}

const struct command command_notify_check = {
	.name = "notify check",
	.summary = "read rules of notifications and say what each does",
	.operands = "FILE",
	.min_operands = 1,
	.max_operands = 1,
	.live = true,
	.groups = { &group_check },
	.about = "The rules of 'stint daemon --notify FILE': which events are told to whom.  Secrets and\n"
		 "programs that they name are looked at; nothing is sent.  doc/notify.md has the format.",
	.examples = check_examples,
	.more = list_events,
	.run = check,
};

const struct command command_notify_test = {
	.name = "notify test",
	.summary = "send a sample event to the receivers of notifications",
	.operands = "FILE",
	.min_operands = 1,
	.max_operands = 1,
	.live = true,
	.groups = { &group_test },
	.about = "Each receiver gets one event made up for it, with \"test\": true, and what it answers is\n"
		 "shown.  It is tried once.  The exit code is 1 if somebody could not be told.  Commands run as\n"
		 "you do, and not as whoever runs the daemon.",
	.examples = test_examples,
	.run = test,
};
