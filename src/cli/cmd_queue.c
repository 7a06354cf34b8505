/*
 * stint queue: the jobs there are.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/jobs_table.h"
#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/term.h"
#include "cli/ui.h"

static void path_of(const struct args *args, struct buf *out)
{
	buf_str(out, "/v1/jobs");
	live_query(out, "state", args->state ? args->state : args->all ? "all" : NULL);
	live_query(out, "user", args->mine ? live_user() : NULL);
	live_query(out, "tenant", args->tenant);
	live_query(out, "name", args->name);
	live_query_number(out, "limit", (double)args->limit);
	if (args->after > 0)
		live_query_number(out, "after", (double)args->after);
}

static bool is_filtered(const struct args *args)
{
	return args->state || args->mine || args->tenant || args->name || args->after > 0;
}

static void none(const struct args *args)
{
	if (is_filtered(args))
		ui_say(args, "no such jobs");
	else if (args->all)
		ui_say(args, "no jobs yet; submit one: stint submit --gpus 1 -- python train.py");
	else
		ui_say(args,
			"no jobs wait or run; submit one: stint submit --gpus 1 -- python train.py\n"
			"(stint queue --all lists those that have ended)");
}

/* On standard error, after the table, so that a list that was cut does not look whole. */
static void tell_more(const struct args *args, const json_t *reply)
{
	double total = live_number(reply, "total"), shown = live_number(reply, "shown");

	if (json_is_false(json_object_get(reply, "total_exact")))
		ui_say(args,
			"only the first %.0f jobs are shown, and more have ended; --limit N shows more, --state, --name or --tenant fewer",
			shown);
	else if (total > shown && total <= LIVE_LIMIT_MAX)
		ui_say(args, "only the first %.0f of %.0f jobs are shown; --limit %.0f shows all",
			shown, total, total);
	else if (total > shown)
		ui_say(args,
			"only the first %.0f of %.0f jobs are shown; --state, --name or --tenant show fewer",
			shown, total);
	else if (json_is_true(json_object_get(reply, "more")))
		ui_say(args, "only the first %.0f are shown and there are more; --limit N shows more",
			shown);
}

static void tell_trouble(const struct args *args, const json_t *reply)
{
	const char *trouble = json_string_value(json_object_get(reply, "trouble"));
	const char *degraded = json_string_value(json_object_get(reply, "degraded"));

	if (degraded)
		ui_say(args, "%s", degraded);
	if (trouble)
		ui_say(args,
			"the daemon cannot write its record (%s): it takes and starts nothing new; what runs goes on",
			trouble);
}

static int show(const struct args *args, const json_t *reply, struct err *err)
{
	const json_t *jobs = json_object_get(reply, "jobs");
	struct term term = term_of_stdout();
	struct buf text = { 0 };
	int rc;

	if (args->json)
		return live_print_json(reply, err);
	tell_trouble(args, reply);
	if (!json_array_size(jobs)) {
		none(args);
		return 0;
	}
	jobs_table(jobs, args->expand, &term, &text);
	rc = ui_print(&text, err);
	buf_fini(&text);
	if (!rc)
		tell_more(args, reply);
	return rc;
}

static int run(const struct args *args, struct err *err)
{
	struct buf path = { 0 };
	json_t *reply;
	int rc;

	path_of(args, &path);
	do {
		rc = live_get(args, path.at, &reply, err);
		if (rc)
			break;
		if (args->watch && isatty(STDOUT_FILENO))
			fputs("\033[H\033[2J", stdout);
		rc = show(args, reply, err);
		json_decref(reply);
		if (!rc && args->watch)
			live_pause(1);
	} while (!rc && args->watch);
	buf_fini(&path);
	return rc;
}

static const struct flag flags[] = {
	FLAG_OF(all, FLAG_SWITCH, .letter = 'a', .help = "also jobs that have ended"),
	SWITCH(mine, "only yours"),
	TEXT(state, "STATE[,...]", "only in these states: pending, running, failed, ..., ended"),
	TEXT(tenant, "NAME", "only of this tenant"),
	TEXT(name, "NAME", "only with this name"),
	NUMBER(limit, FLAG_INT, "N", 1000, 1, LIVE_LIMIT_MAX, "list at most N jobs (default 1000)"),
	NUMBER(after, FLAG_INT, "ID", 0, 0, 4294967295., "only jobs with a larger number"),
	FLAG_OF(expand, FLAG_SWITCH, .letter = 'r', .help = "one row for each element of an array"),
	{
		.name = "array",
		.kind = FLAG_SWITCH,
		.offset = offsetof(struct args, expand),
		.help = "the same, as squeue calls it",
	},
	SWITCH(watch, "refresh every second, until Ctrl-C"),
	SWITCH(quiet, "no remarks"),
	SWITCH(json, "print the daemon's answer"),
	{ 0 },
};

static const struct flag_group flags_queue = { .title = "which jobs", .flags = flags, .aside = true };

static const char *const examples[] = {
	"stint queue",
	"stint queue --mine --watch",
	"stint queue --state failed,timeout --limit 20",
	"stint queue --json | jq '.jobs[].id'",
	NULL,
};

const struct command command_queue = {
	.name = "queue",
	.summary = "jobs that run and wait",
	.operands = "",
	.live = true,
	.groups = { &flags_queue, &flags_daemon },
	.about = "Those that run come first, then those that wait, by number, then, with --all, those that\n"
		 "have ended, newest first.  TIME is how long a job has run, or waited if it is PENDING; ETA is\n"
		 "when it is expected to be done; REASON is why it waits, how it ended, or of a\n"
		 "guest, which has what others leave of the same devices, beside whom it runs.\n"
		 "\n"
		 "Elements of an array that wait for the same reason are one row, 25_[3-11%3]; %3 is the limit\n"
		 "of the array, three at a time.",
	.examples = examples,
	.run = run,
};
