/*
 * stint explain: why a job waits, and what would start it now.
 */
#include <math.h>
#include <stdlib.h>

#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/live_tell.h"

static void put_cause(const json_t *cause, struct buf *out)
{
	const json_t *evidence = json_object_get(cause, "evidence");
	bool alone = json_is_true(json_object_get(cause, "alone"));
	const char *word = live_text(cause, "cause"), *text = live_text(cause, "text");

	buf_printf(out, "%3.0f. %-12s %s%s\n", live_number(cause, "rank"), word ? word : "?",
		text ? text : "", alone ? "; without this it would start" : "");
	for (size_t i = 0; i < json_array_size(evidence); i++) {
		text = live_text(json_array_get(evidence, i), "text");
		buf_printf(out, "     %12s - %s\n", "", text ? text : "");
	}
}

static void put_change(const json_t *change, struct buf *out)
{
	const char *text = live_text(change, "text"), *command = live_text(change, "command");
	const char *resubmit = live_text(change, "resubmit");

	buf_printf(out, "  - %s", text ? text : "");
	if (command)
		buf_printf(out, ": %s", command);
	else if (resubmit)
		buf_printf(out, ": resubmit with %s", resubmit);
	buf_char(out, '\n');
}

void live_put_explanation(const json_t *answer, const struct term *term, struct buf *out)
{
	const json_t *causes = json_object_get(answer, "causes");
	const json_t *changes = json_object_get(answer, "changes");
	const char *state = live_text(answer, "state"), *verdict = live_text(answer, "verdict");

	(void)term;
	buf_str(out, "job ");
	live_job_name(answer, out);
	buf_printf(out, ", %s: %s\n", state ? state : "?", verdict ? verdict : "?");
	if (json_array_size(causes))
		buf_str(out, "\nwhat keeps it waiting\n");
	for (size_t i = 0; i < json_array_size(causes); i++)
		put_cause(json_array_get(causes, i), out);
	if (json_array_size(changes))
		buf_str(out, "\nwhat would start it now, each by itself\n");
	for (size_t i = 0; i < json_array_size(changes); i++)
		put_change(json_array_get(changes, i), out);
	if (json_array_size(causes) && !json_array_size(changes))
		buf_str(out, "\nno single change that was tried would start it now\n");
}

static int run(const struct args *args, struct err *err)
{
	return live_tell_jobs(args, "explain", live_put_explanation, err);
}

static const struct flag flags[] = { SWITCH(json, "print the daemon's answer"), { 0 } };
static const struct flag_group flags_explain = { .title = "output", .flags = flags, .aside = true };
static const char *const examples[] = { "stint explain 7", "stint explain 7_3 --json", NULL };

const struct command command_explain = {
	.name = "explain",
	.summary = "why a job waits, and what would start it now",
	.operands = "JOB...",
	.min_operands = 1,
	.max_operands = 100,
	.live = true,
	.groups = { &flags_explain, &flags_daemon },
	.about = "Causes are ranked and come with their evidence.  They, and the changes that would start the\n"
		 "job, are found by letting the policy decide again with one thing different: each change\n"
		 "that is listed does start the job as things are at this moment, and no smaller one of its\n"
		 "kind does.",
	.examples = examples,
	.run = run,
};
