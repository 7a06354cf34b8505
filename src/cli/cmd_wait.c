/*
 * stint wait: returns when jobs have ended.
 */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/ui.h"

static int tell(const struct args *args, const char *word, const json_t *job, struct err *err)
{
	const char *state = live_text(job, "state"), *text = live_ending(job);
	char ran[DURATION_SIZE];
	struct buf line = { 0 };
	int rc;

	if (args->json)
		return live_print_json(job, err);
	if (args->quiet)
		return 0;
	buf_printf(&line, "job %s: %s", word, state ? state : "?");
	if (live_number(job, "run_s") > 0)
		buf_printf(&line, " after %s", live_duration(live_number(job, "run_s"), ran));
	if (text && *text)
		buf_printf(&line, ": %s", text);
	rc = ui_print(&line, err);
	buf_fini(&line);
	return rc;
}

static int run(const struct args *args, struct err *err)
{
	double until_s = isnan(args->timeout) ? INFINITY : clock_wall_s() + args->timeout;
	int code = 0, rc = 0;

	for (size_t i = 0; i < args->operands.n && !rc; i++)
		rc = live_check_job(args->operands.at[i], err);
	for (size_t i = 0; i < args->operands.n && !rc; i++) {
		json_t *job;

		rc = live_wait(args, args->operands.at[i], until_s, &job, err);
		if (rc)
			return rc;
		rc = tell(args, args->operands.at[i], job, err);
		code = code ? code : live_exit_code(job);
		json_decref(job);
	}
	return rc ? rc : code;
}

static const struct flag flags[] = {
	NUMBER(timeout, FLAG_SECONDS, "TIME", NAN, 0, 1e9, "give up after this time, with exit code 7"),
	SWITCH(quiet, "print nothing"),
	SWITCH(json, "print the jobs as JSON"),
	{ 0 },
};

static const struct flag_group flags_wait = { .title = "waiting", .flags = flags, .aside = true };
static const char *const examples[] = { "stint wait 7", "stint wait --timeout 1h 7 8 9", NULL };

const struct command command_wait = {
	.name = "wait",
	.summary = "wait until jobs have ended",
	.operands = "JOB...",
	.min_operands = 1,
	.max_operands = 100000,
	.live = true,
	.groups = { &flags_wait, &flags_daemon },
	.about = "Returns the exit code of the first of them that did not complete: its own, 128+n if\n"
		 "signal n killed it.",
	.examples = examples,
	.run = run,
};
