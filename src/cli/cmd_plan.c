/*
 * stint plan: what would become of a submission, and of others because of it.
 */
#include <math.h>
#include <string.h>

#include "cli/draft.h"
#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/ui.h"

enum { TOLD_MAX = 10 };

/* ---- what a person reads */

static void put_interval(const char *what, const json_t *moments, double now, struct buf *out)
{
	buf_printf(out, "  %-10s", what);
	live_interval(moments, now, out);
	buf_char(out, '\n');
}

static void put_where(const json_t *where, struct buf *out)
{
	double nodes = live_number(where, "nodes"), gpus = live_number(where, "gpus");

	if (!json_is_object(where))
		return;
	buf_printf(out, "  where     %.0f x %s on %s", gpus, live_text(where, "type"),
		live_text(where, "node"));
	if (nodes > 1)
		buf_printf(out, " and %.0f more", nodes - 1);
	buf_char(out, '\n');
}

static void put_name(const json_t *other, struct buf *out)
{
	buf_str(out, "job ");
	live_job_name(other, out);
	if (live_text(other, "name"))
		buf_printf(out, " %s", live_text(other, "name"));
	if (live_text(other, "user"))
		buf_printf(out, " (%s)", live_text(other, "user"));
}

static void put_preempts(const json_t *list, struct buf *out)
{
	for (size_t i = 0; i < json_array_size(list) && i < TOLD_MAX; i++) {
		const json_t *other = json_array_get(list, i);

		buf_str(out, i ? "            " : "  preempts  ");
		put_name(other, out);
		buf_printf(out, " in %.0f %% of the futures\n", 100 * live_number(other, "share"));
	}
}

static void put_delays(const json_t *answer, struct buf *out)
{
	const json_t *list = json_object_get(answer, "delays");
	double all = live_number(answer, "delayed");

	for (size_t i = 0; i < json_array_size(list) && i < TOLD_MAX; i++) {
		const json_t *other = json_array_get(list, i), *by = json_object_get(other, "by_s");
		char middle[32], most[32];

		buf_str(out, i ? "            " : "  delays    ");
		put_name(other, out);
		buf_printf(out, " by %s, at most about %s\n",
			text_lasts(fmax(0, live_number(by, "p50")), middle),
			isnan(live_number(by, "p90")) ? "30d"
						      : text_lasts(live_number(by, "p90"), most));
	}
	if (all > TOLD_MAX)
		buf_printf(out, "            and %.0f more: --json\n", all - TOLD_MAX);
	if (all == 0 && !json_array_size(json_object_get(answer, "preempts")))
		buf_printf(out, "  delays    nobody%s\n",
			live_number(answer, "left_out") > 0 ? " among the first of the queue" : "");
}

static void put_answer(const json_t *answer, struct buf *out)
{
	double now = live_number(answer, "at"), jobs = live_number(answer, "jobs");
	double never = live_number(answer, "never");
	char stamp[32];

	snprintf(stamp, sizeof(stamp), "%.0f", live_number(answer, "stamp"));
	buf_printf(out, "%s; nothing is submitted\n",
		json_is_true(json_object_get(answer, "starts_now"))
			? (jobs > 1 ? "the first would start now" : "it would start now")
			: (jobs > 1 ? "they would wait" : "it would wait"));
	if (json_object_get(answer, "not_before")) {
		live_bound(answer, out);
	} else {
		put_interval(jobs > 1 ? "first" : "starts", json_object_get(answer, "start"), now, out);
		put_interval(jobs > 1 ? "all ended" : "ends", json_object_get(answer, "finish"),
			now, out);
	}
	if (never > 0)
		buf_printf(out, "  never     in %.0f %% of the futures, within 30 days\n", 100 * never);
	put_where(json_object_get(answer, "where"), out);
	buf_printf(out, "  cost      %.3g GPU-hours\n", live_number(answer, "gpu_hours"));
	put_preempts(json_object_get(answer, "preempts"), out);
	put_delays(answer, out);
	buf_printf(out,
		"  %.0f futures; to submit if nothing changes: stint submit --if-unchanged %s ...\n",
		live_number(answer, "futures"), stamp);
	live_few_futures(answer, "  ", out);
}

/* ---- asking */

static int tell(const struct args *args, const struct args *submit, struct err *err)
{
	json_t *body = draft_body(submit, err), *reply;
	struct buf text = { 0 };
	int rc;

	if (!body)
		return err->code;
	rc = live_post(args, "/v1/plan", body, &reply, err);
	if (rc)
		return rc;
	if (args->json) {
		rc = live_print_json(reply, err);
	} else {
		put_answer(reply, &text);
		rc = ui_print(&text, err);
	}
	buf_fini(&text);
	json_decref(reply);
	return rc;
}

/* The words after "--" are a command line of submit's own. */
static int run(const struct args *args, struct err *err)
{
	const struct words *words = &args->operands;
	char **argv = (char **)words->at;
	const struct command *command;
	bool help = false;
	struct args submit;
	int rc, named;

	if (strcmp(argv[0], "submit") != 0)
		return err_set(err, ERR_USAGE,
			"what shall be planned? write the submission after --: stint plan -- submit --gpus 4 -- COMMAND");
	command = command_find((int)words->n, argv, &named, err);
	if (!command)
		return err->code;
	rc = args_parse(command, (int)words->n - named, argv + named, &submit, &help, err);
	if (rc)
		return rc;
	if (help)
		rc = err_set(err, ERR_USAGE, "for the help of submit: stint help submit");
	else
		rc = tell(args, &submit, err);
	args_fini(&submit);
	return rc;
}

/* What follows is the submission's, with or without "--" before it. */
static bool takes_rest(const char *operand)
{
	return !strcmp(operand, "submit");
}

static const struct flag flags[] = { SWITCH(json, "print the daemon's answer"), { 0 } };
static const struct flag_group flags_plan = { .title = "output", .flags = flags, .aside = true };
static const char *const examples[] = {
	"stint plan -- submit --gpus 4 --time 2h -- python train.py",
	"stint plan --json -- submit job.yaml",
	NULL,
};

const struct command command_plan = {
	.name = "plan",
	.summary = "a submission tried out: when it would start, where, and whom it would delay",
	.operands = "[--] submit ...",
	.min_operands = 1,
	.max_operands = 1 << 20,
	.takes_rest = takes_rest,
	.live = true,
	.groups = { &flags_plan, &flags_daemon },
	.about = "The submission is checked as 'stint submit' does it.  Then the policy is run forward over\n"
		 "60 futures, each with it and without: what differs is its doing.  Nothing is submitted.\n"
		 "'stint submit --if-unchanged STAMP' submits only if nothing that matters has happened\n"
		 "since; what jobs report of their progress does not count.",
	.examples = examples,
	.run = run,
};
