/*
 * The table of verbs, who may use them, and how they fail.
 */
#include "daemon/verbs.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/members.h"
#include "base/plain.h"
#include "daemon/daemon_state.h"
#include "daemon/roles.h"
#include "daemon/verbs_run.h"

#define PARAMS(...) ((const struct param[]){ __VA_ARGS__, { 0 } })
#define ID \
	{ \
		"id", PARAM_TEXT, true, true, "job number, or ARRAY_INDEX" \
	}

const struct verb verbs[] = {
#define VERB(name_, method_, path_, needs_, schema_, waits_, summary_, ...) \
	{ \
		.name = #name_, \
		.method = method_, \
		.path = path_, \
		.needs = needs_, \
		.schema = schema_, \
		.waits = waits_, \
		.summary = summary_, \
		.params = PARAMS(__VA_ARGS__), \
	},
#include "daemon/verbs.def"
#undef VERB
	{ 0 },
};

static const struct {
	const char *name;
	void (*run)(struct daemon *d, struct call *call);
} runs[] = {
#define VERB(name_, ...) { #name_, verb_##name_ },
#include "daemon/verbs.def"
#undef VERB
};

const struct verb *verb_find(const char *name)
{
	for (const struct verb *verb = verbs; verb->name; verb++) {
		if (!strcmp(verb->name, name))
			return verb;
	}
	return NULL;
}

bool verb_is_submit(const struct verb *verb)
{
	return !strcmp(verb->name, "submit");
}

/* ---- roles */

static enum role role_of(const struct caller *caller)
{
	return caller->admin ? ROLE_ADMIN : caller->role;
}

const char *caller_role(const struct caller *caller)
{
	return role_name(role_of(caller));
}

static enum role role_needed(const struct verb *verb)
{
	switch (verb->needs) {
	case NEEDS_READ:
		return ROLE_READ;
	case NEEDS_OWNER:
		/* Jobs of a user who only looks by now are still that user's to see. */
		return strcmp(verb->method, "GET") != 0 ? ROLE_USER : ROLE_READ;
	case NEEDS_OPERATOR:
		return ROLE_OPERATOR;
	case NEEDS_ADMIN:
		return ROLE_ADMIN;
	default:
		return ROLE_USER;
	}
}

bool verb_allows(const struct verb *verb, const struct caller *caller)
{
	return role_rank(role_of(caller)) >= role_rank(role_needed(verb));
}

const char *verb_denial(const struct verb *verb)
{
	switch (role_needed(verb)) {
	case ROLE_ADMIN:
		return "only an administrator may do that: root, the daemon's own user, or the role admin ('stint whoami' shows yours)";
	case ROLE_OPERATOR:
		return "only an operator or an administrator may do that: root gives roles with 'stint daemon --roles', and 'stint whoami' shows yours";
	case ROLE_USER:
		return "the role read sees and changes nothing: root gives another one with 'stint daemon --roles', and 'stint whoami' shows where it comes from";
	default:
		return "this user has no role here";
	}
}

bool verb_allows_job(const struct verb *verb, const struct caller *caller, uid_t owner)
{
	enum role role = role_of(caller);

	return role == ROLE_ADMIN || caller->uid == owner ||
		(role == ROLE_OPERATOR && strcmp(verb->method, "GET") != 0);
}

void call_destroy(struct call *call)
{
	verb_drop_made(call);
	if (call->task)
		call->task->destroy(call->task);
	call_list_destroy(call->list);
	json_decref(call->args);
	free(call);
}

static const char *title_of(int status)
{
	switch (status) {
	case 400:
		return "Bad request";
	case 403:
		return "Not allowed";
	case 404:
		return "Not found";
	case 409:
		return "Refused";
	case 413:
		return "Too large";
	case 422:
		return "Can never run";
	case 429:
		return "Too many at once";
	case 503:
		return "Not available";
	case 507:
		return "No room on disk";
	default:
		return "Failed";
	}
}

void call_problem(struct call *call, int status, int exit_code, const char *fmt, ...)
{
	char text[2048];
	struct json j;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	call->status = status;
	buf_clear(&call->body);
	json_init(&j, &call->body, false);
	json_begin_object(&j, NULL);
	json_str(&j, "type", "about:blank");
	json_str(&j, "title", title_of(status));
	json_int(&j, "status", status);
	json_str(&j, "detail", text);
	json_int(&j, "exit", exit_code);
	if (call->retry_s != 0)
		json_double(&j, "retry_after_s",
			call->retry_s > 0 ? call->retry_s : INFINITY); /* null: never */
	json_end(&j, '}');
}

void call_fail(struct call *call, int rc, const char *text)
{
	switch (rc) {
	case ERR_USAGE:
	case ERR_FORMAT:
		call_problem(call, 400, 2, "%s", text);
		break;
	case ERR_MISSING:
		call_problem(call, 404, 3, "%s", text);
		break;
	case ERR_REFUSED:
		call_problem(call, 409, 4, "%s", text);
		break;
	case LIMIT_QUEUED:
		call_problem(call, 403, 4, "%s", text);
		break;
	case LIMIT_BYTES:
		call_problem(call, 413, 4, "%s", text);
		break;
	case LIMIT_RATE:
		call_problem(call, 429, 4, "%s", text);
		break;
	case ERR_NEVER:
		call_problem(call, 422, 5, "%s", text);
		break;
	default:
		call_problem(call, 500, 1, "%s", text);
		break;
	}
}

/* Questions and trials are welcome. */
static bool changes_something(const struct verb *verb)
{
	return strcmp(verb->method, "GET") != 0 && strcmp(verb->name, "plan") != 0 &&
		strcmp(verb->name, "whatif") != 0;
}

bool verb_refuse_change(const struct daemon *d, struct call *call)
{
	if (!d->config.observe || call->caller.outside || !changes_something(call->verb))
		return false;
	call_problem(call, 409, 4,
		"this daemon looks on at Slurm and changes nothing: use Slurm's own commands (sbatch, scancel, scontrol), or drive the partition with 'stint daemon --driver slurm'");
	return true;
}

enum { REASON_MAX_BYTES = 4000 };

/* Names and reasons of a change are plain; a table of tenants has lines, and its reader looks at its names. */
static bool refuse_text(struct call *call)
{
	struct err err = { 0 };

	for (const struct param *p = call->verb->params; p->name; p++) {
		const char *text = p->kind == PARAM_TEXT ? member_text(call->args, p->name) : NULL;

		if (!text || !strcmp(p->name, "yaml"))
			continue;
		if (text_check_plain(p->name, text, &err) == 0 && strlen(text) > REASON_MAX_BYTES &&
			!strcmp(p->name, "reason"))
			err_set(&err, ERR_USAGE, "%s: has %zu bytes; at most %d are allowed",
				p->name, strlen(text), REASON_MAX_BYTES);
		if (err.code) {
			call_fail(call, err.code, err.text);
			return true;
		}
	}
	return false;
}

/* A job that fills the disk can be stopped. */
static bool works_without_disk(const struct verb *verb)
{
	return !strcmp(verb->method, "GET") || !strncmp(verb->name, "cancel", strlen("cancel"));
}

void verb_run(struct daemon *d, struct call *call)
{
	size_t i = (size_t)(call->verb - verbs);

	if (verb_refuse_change(d, call))
		return;
	if (!verb_allows(call->verb, &call->caller)) {
		call_problem(call, 403, 4, "%s", verb_denial(call->verb));
		return;
	}
	if (d->trouble[0] && !works_without_disk(call->verb) &&
		!(!strcmp(call->verb->name, "prune") && daemon_use_reserve(d))) {
		call_problem(call, 507, 1,
			"the daemon cannot write its record (%s), so it changes nothing; what runs goes on.  Make room and try again",
			d->trouble);
		return;
	}
	if (changes_something(call->verb) && refuse_text(call))
		return;
	runs[i].run(d, call);
}
