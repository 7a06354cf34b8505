/*
 * stint cancel, hold, release, requeue and signal: what changes jobs.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/change_jobs.h"
#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/tell_change.h"
#include "cli/ui.h"
#include "live/submission.h"

/* ---- which jobs */

/* Numbers of jobs, each malloc'ed. */
struct job_list {
	char **at;
	size_t n, cap;
};

static void job_list_fini(struct job_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->at[i]);
	vec_fini(list);
}

/* Those of the caller that have not ended, all or of a name. */
static int find_own(const struct args *args, struct job_list *out, struct err *err)
{
	struct buf path = { 0 };
	json_t *reply;
	const json_t *jobs;
	int rc;

	buf_str(&path, "/v1/jobs");
	live_query(&path, "user", live_user());
	live_query(&path, "name", args->name);
	live_query_number(&path, "limit", LIVE_LIMIT_MAX);
	rc = live_get(args, path.at, &reply, err);
	buf_fini(&path);
	if (rc)
		return rc;
	jobs = json_object_get(reply, "jobs");
	for (size_t i = 0; i < json_array_size(jobs); i++) {
		struct buf name = { 0 };

		live_job_name(json_array_get(jobs, i), &name);
		vec_push(out, name.at);
	}
	json_decref(reply);
	return 0;
}

static int find_jobs(const struct args *args, size_t first, struct job_list *out, struct err *err)
{
	bool found = args->all || args->name;

	if (!found && args->operands.n <= first)
		return err_set(err, ERR_USAGE,
			"which jobs? write their numbers, such as 7 8 7_3, or --all");
	if (found && args->operands.n > first)
		return err_set(err, ERR_USAGE, "'%s' and %s: name jobs, or say which are meant",
			args->operands.at[first], args->all ? "--all" : "--name");
	for (size_t i = first; i < args->operands.n; i++) {
		if (live_check_job(args->operands.at[i], err))
			return ERR_USAGE;
		vec_push(out, mem_strdup(args->operands.at[i]));
	}
	return found ? find_own(args, out, err) : 0;
}

/* ---- one change for all of them */

struct change {
	const struct args *args;
	const char *verb;   /* of the daemon */
	const json_t *body; /* borrowed; sent for each */
};

static int change_one(const struct change *c, const char *job, struct err *err)
{
	char *path = live_job_path(job, c->verb);
	json_t *reply;
	int rc = live_post(c->args, path, json_deep_copy(c->body), &reply, err);

	free(path);
	if (rc)
		return rc;
	if (c->args->json)
		rc = live_print_json(reply, err);
	else if (!c->args->quiet)
		tell_changed(c->args, reply);
	json_decref(reply);
	return rc;
}

/* Goes on after a job that cannot be changed; the first failure is what is returned. */
static int change_all(const struct change *c, const struct job_list *jobs, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < jobs->n; i++) {
		struct err cause = { 0 };
		int one = change_one(c, jobs->at[i], &cause);

		if (!one)
			continue;
		if (one == ERR_UNREACHABLE)
			return err_set(err, one, "%s", cause.text);
		if (rc) /* main() tells the first */
			ui_err("stint %s: %s\n", c->args->command->name, cause.text);
		else
			rc = err_set(err, one, "%s", cause.text);
	}
	return rc;
}

int change_jobs(const struct args *args, size_t first, const json_t *body, struct err *err)
{
	struct change c = { .args = args, .verb = args->command->name, .body = body };
	struct job_list jobs = { 0 };
	int rc = find_jobs(args, first, &jobs, err);

	if (!rc && !jobs.n)
		ui_say(args, "no such jobs of yours wait or run");
	if (!rc)
		rc = change_all(&c, &jobs, err);
	job_list_fini(&jobs);
	return rc;
}

static json_t *reason_of(const struct args *args, struct err *err)
{
	json_t *body = args->reason ? json_pack("{s:s}", "reason", args->reason) : json_object();

	if (!body)
		err_set(err, ERR_USAGE, "--reason: is not UTF-8");
	else if (args->stop)
		json_object_set_new(body, "stop", json_true());
	return body;
}

static int run(const struct args *args, struct err *err)
{
	json_t *body = reason_of(args, err);
	int rc;

	if (!body)
		return err->code;
	rc = change_jobs(args, 0, body, err);
	json_decref(body);
	return rc;
}

/* ---- many at once: one request, whatever their number */

static bool is_filtered(const struct args *args)
{
	return args->all || args->name || args->state || args->tenant || args->user;
}

/* "10-20". */
static bool is_range(const char *word)
{
	size_t n = strspn(word, "0123456789"),
	       m = word[n] == '-' ? strspn(word + n + 1, "0123456789") : 0;

	return n && n < 11 && m && m < 11 && !word[n + 1 + m];
}

static bool has_range(const struct args *args)
{
	for (size_t i = 0; i < args->operands.n; i++) {
		if (is_range(args->operands.at[i]))
			return true;
	}
	return false;
}

static int put_ids(const struct args *args, json_t *body, struct err *err)
{
	struct buf ids = { 0 };
	int rc = 0;

	for (size_t i = 0; i < args->operands.n && !rc; i++) {
		if (!is_range(args->operands.at[i]))
			rc = live_check_job(args->operands.at[i], err);
		buf_printf(&ids, "%s%s", i ? "," : "", args->operands.at[i]);
	}
	if (!rc && ids.n)
		json_object_set_new(body, "ids", json_string(ids.at));
	buf_fini(&ids);
	return rc;
}

int change_put_text(json_t *body, const char *key, const char *value, struct err *err)
{
	json_t *text = value ? json_string(value) : NULL;

	if (value && !text)
		return err_set(err, ERR_USAGE, "--%s: is not UTF-8", key);
	if (text)
		json_object_set_new(body, key, text);
	return 0;
}

/* Without a user it is about one's own, except where jobs are named. */
static int put_filter(const struct args *args, json_t *body, struct err *err)
{
	const char *user = args->user ? args->user : args->operands.n ? NULL : live_user();

	if (put_ids(args, body, err) || change_put_text(body, "name", args->name, err) ||
		change_put_text(body, "state", args->state, err) ||
		change_put_text(body, "tenant", args->tenant, err) ||
		change_put_text(body, "user", user && strcmp(user, "all") != 0 ? user : NULL, err))
		return err->code;
	if (user && !strcmp(user, "all"))
		json_object_set_new(body, "all", json_true());
	return 0;
}

/* Whether all that was skipped is not there any more, or never was. */
static bool is_gone(const json_t *reply)
{
	const json_t *reasons = json_object_get(reply, "reasons");

	for (size_t i = 0; i < json_array_size(reasons); i++) {
		const char *why = live_text(json_array_get(reasons, i), "reason");

		if (!why || (strcmp(why, "has ended") != 0 && strcmp(why, "does not exist") != 0))
			return false;
	}
	return true;
}

/* Whether a filter found jobs and every one of them was refused, as the verb of one job would be. */
static bool is_all_refused(const json_t *reply)
{
	const json_t *reasons = json_object_get(reply, "reasons");

	for (size_t i = 0; i < json_array_size(reasons); i++) {
		const char *why = live_text(json_array_get(reasons, i), "reason");

		if (!why ||
			(strcmp(why, "belongs to another user") != 0 && strcmp(why, "is running") != 0 &&
				strcmp(why, "cannot be changed now") != 0))
			return false;
	}
	return live_number(reply, "skipped") > 0 && !(live_number(reply, "changed") > 0);
}

/*
 * Jobs that were named and could not be changed are a failure; what a filter leaves alone is not, unless it changed
 * nothing because all was refused.
 */
static int rate(const struct args *args, const json_t *reply, struct err *err)
{
	if (!args->operands.n && (!args->all || args->user) && is_all_refused(reply))
		return err_set(err, ERR_REFUSED, "no job was changed");
	if (!args->operands.n || !(live_number(reply, "skipped") > 0))
		return 0;
	return err_set(err, is_gone(reply) ? ERR_MISSING : ERR_REFUSED,
		"%.0f of %.0f jobs were not changed", live_number(reply, "skipped"),
		live_number(reply, "matched"));
}

static int change_many(const struct args *args, struct err *err)
{
	json_t *body = reason_of(args, err), *reply;
	char *path;
	int rc;

	if (!body)
		return err->code;
	if (put_filter(args, body, err)) {
		json_decref(body);
		return err->code;
	}
	path = mem_printf("/v1/jobs/%s", args->command->name);
	rc = live_post(args, path, body, &reply, err);
	free(path);
	if (rc)
		return rc;
	if (args->json)
		rc = live_print_json(reply, err);
	else if (!args->quiet)
		tell_changed_many(args, reply);
	if (!rc)
		rc = rate(args, reply, err);
	json_decref(reply);
	return rc;
}

static int run_many(const struct args *args, struct err *err)
{
	size_t named = args->operands.n;

	if (named && (args->all || args->name))
		return err_set(err, ERR_USAGE, "'%s' and %s: name jobs, or say which are meant",
			args->operands.at[0], args->all ? "--all" : "--name");
	if (is_filtered(args) || named > TELL_LINES_MAX || has_range(args))
		return change_many(args, err);
	return run(args, err);
}

static int run_signal(const struct args *args, struct err *err)
{
	int number = signal_of_name(args->operands.at[0]);
	json_t *body;
	int rc;

	if (!number)
		return err_set(err, ERR_USAGE, "there is no signal '%s'; write USR1, TERM or 10",
			args->operands.at[0]);
	body = json_pack("{s:s}", "signal", signal_name(number));
	rc = change_jobs(args, 1, body, err);
	json_decref(body);
	return rc;
}

/* ---- the commands */

static const struct flag flags[] = {
	SWITCH(all, "all of yours that have not ended"),
	TEXT(name, "NAME", "all of yours with this name"),
	TEXT(reason, "TEXT", "text kept with the job"),
	SWITCH(quiet, "print nothing"),
	SWITCH(json, "print the daemon's answers"),
	{ 0 },
};

static const struct flag many_flags[] = {
	SWITCH(all, "all of yours that have not ended"),
	TEXT(name, "NAME", "all of yours with this name"),
	TEXT(state, "STATE[,...]", "of these, only jobs in these states: pending, running"),
	TEXT(tenant, "NAME", "of these, only jobs of this tenant"),
	TEXT(user, "NAME", "of this user instead of yours; all: of every user, as far as you may"),
	TEXT(reason, "TEXT", "text kept with the job"),
	SWITCH(quiet, "print nothing"),
	SWITCH(json, "print the daemon's answers"),
	{ 0 },
};

static const struct flag hold_flags[] = {
	SWITCH(stop, "also jobs that run: each gets its signal and its grace, and waits then"),
	{ 0 },
};

static const struct flag_group flags_which = { .title = "which jobs", .flags = flags };
static const struct flag_group flags_many = { .title = "which jobs", .flags = many_flags };
static const struct flag_group flags_hold = { .title = "jobs that run", .flags = hold_flags };

static const char *const cancel_examples[] = {
	"stint cancel 7 8 7_3",
	"stint cancel 100-200",
	"stint cancel --name sweep --state pending",
	"stint cancel --all",
	NULL,
};
static const char *const hold_examples[] = {
	"stint hold 7",
	"stint hold --name sweep",
	"stint hold --stop 7",
	NULL,
};
static const char *const release_examples[] = { "stint release 7", "stint release --all", NULL };
static const char *const requeue_examples[] = { "stint requeue 7", NULL };
static const char *const signal_examples[] = { "stint signal USR1 7", NULL };
const struct command command_cancel = {
	.name = "cancel",
	.summary = "end jobs, whether they run or wait",
	.operands = "[JOB...]",
	.max_operands = CHANGE_JOBS_MAX,
	.live = true,
	.groups = { &flags_many, &flags_daemon },
	.about = "A job that runs gets its signal and its grace first.  The first number of an array is the\n"
		 "whole array; 7_3 is one element, 100-200 are all with these numbers.  What --all, --name,\n"
		 "--state, --tenant and --user choose is one request and one commit of the record, whatever\n"
		 "their number.",
	.examples = cancel_examples,
	.run = run_many,
};

const struct command command_hold = {
	.name = "hold",
	.summary = "keep waiting jobs from starting",
	.operands = "[JOB...]",
	.max_operands = CHANGE_JOBS_MAX,
	.live = true,
	.groups = { &flags_hold, &flags_many, &flags_daemon },
	.about = "A job that waits does not start until it is released.  A job that runs is left alone: named by\n"
		 "its number it is refused with exit code 4, and a filter skips it.  With --stop it is stopped\n"
		 "first: it gets its signal and its grace to save what it can, and waits then.  The first\n"
		 "number of an array is all of it that waits; 7_3 is one element.",
	.examples = hold_examples,
	.run = run_many,
};

const struct command command_release = {
	.name = "release",
	.summary = "let held jobs start",
	.operands = "[JOB...]",
	.max_operands = CHANGE_JOBS_MAX,
	.live = true,
	.groups = { &flags_many, &flags_daemon },
	.examples = release_examples,
	.run = run_many,
};

const struct command command_requeue = {
	.name = "requeue",
	.summary = "stop jobs and let them wait again",
	.operands = "[JOB...]",
	.max_operands = CHANGE_JOBS_MAX,
	.live = true,
	.groups = { &flags_which, &flags_daemon },
	.about = "A job that has ended waits again, too.  The first number of an array is all of it that has\n"
		 "not ended; when the whole array has ended it is that element alone, and the others are\n"
		 "named one by one: 7_1 7_2.",
	.examples = requeue_examples,
	.run = run,
};

const struct command command_signal = {
	.name = "signal",
	.summary = "send a signal to jobs that run",
	.operands = "SIGNAL [JOB...]",
	.min_operands = 1,
	.max_operands = CHANGE_JOBS_MAX,
	.live = true,
	.groups = { &flags_which, &flags_daemon },
	.examples = signal_examples,
	.run = run_signal,
};
