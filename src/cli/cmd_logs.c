/*
 * stint logs: what a job has printed.
 */
#include <unistd.h>

#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/log_follow.h"

/* Where it is, as the daemon says. */
static int print_place(const struct args *args, struct err *err)
{
	char *base = live_job_path(args->operands.at[0], "log");
	struct buf path = { 0 };
	json_t *reply;
	int rc;

	buf_str(&path, base);
	free(base);
	live_query(&path, "stream", args->errors ? "stderr" : "stdout");
	if (args->attempt)
		live_query_number(&path, "attempt", (double)args->attempt);
	rc = live_get(args, path.at, &reply, err);
	buf_fini(&path);
	if (rc)
		return rc;
	rc = live_print_json(reply, err);
	json_decref(reply);
	return rc;
}

static int run(const struct args *args, struct err *err)
{
	const struct log_follow f = {
		.args = args,
		.job = args->operands.at[0],
		.errors = args->errors,
		.to = STDOUT_FILENO,
		.attempt = (int)args->attempt,
		.tail = args->tail,
	};
	int rc = live_check_job(f.job, err);

	if (rc)
		return rc;
	if (args->json)
		return print_place(args, err);
	return args->follow ? log_follow(&f, err) : log_copy(&f, err);
}

static const struct flag flags[] = {
	FLAG_OF(follow, FLAG_SWITCH, .letter = 'f', .help = "follow the output until the job has ended"),
	{
		.name = "stderr",
		.kind = FLAG_SWITCH,
		.offset = offsetof(struct args, errors),
		.help = "standard error instead of standard output",
	},
	NUMBER(attempt, FLAG_INT, "N", 0, 1, 1e9, "attempt to show (default: the last)"),
	FLAG_OF(tail, FLAG_INT, .letter = 'n', .value = "N", .preset = -1, .min = 0, .max = 1e6,
		.help = "only the last N lines"),
	SWITCH(json, "print where it is: path, attempt and size"),
	{ 0 },
};

static const struct flag_group flags_logs = { .title = "which part", .flags = flags, .aside = true };

static const char *const examples[] = {
	"stint logs 7",
	"stint logs -f 7",
	"stint logs --stderr --tail 50 7",
	"stint logs --attempt 1 7",
	NULL,
};

const struct command command_logs = {
	.name = "logs",
	.summary = "what a job prints",
	.operands = "JOB",
	.min_operands = 1,
	.max_operands = 1,
	.live = true,
	.groups = { &flags_logs, &flags_daemon },
	.about = "With -f it goes on through the job's further attempts, if there are any, and returns when\n"
		 "the job has ended.",
	.examples = examples,
	.run = run,
};
