/*
 * stint logs: what a job has printed.
 *
 * Each stream of the job goes to the same stream here, so that a pipe or a file gets exactly the bytes of one of
 * them, and a terminal both: there the lines of standard error are marked.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/log_follow.h"
#include "cli/term.h"
#include "cli/ui.h"

/* Standard output and standard error. */
enum { OUT, ERRORS, STREAMS };

struct logs {
	const struct args *args;
	struct log_sink sinks[STREAMS];
	struct log_follow streams[STREAMS];
	bool wanted[STREAMS];
	bool over; /* nothing more will be written */
};

static const char *mark_for(int fd)
{
	if (!isatty(fd))
		return NULL;
	return term_has_colour(fd) ? "\033[31m!\033[0m " : "! ";
}

static void prepare(struct logs *logs, const struct args *args)
{
	bool both = args->outputs == args->errors;

	*logs = (struct logs){ .args = args,
		.sinks = { { .to = STDOUT_FILENO },
			{ .to = both ? STDERR_FILENO : STDOUT_FILENO,
				.mark = both ? mark_for(STDERR_FILENO) : NULL } },
		.wanted = { both || args->outputs, both || args->errors } };
	for (int i = 0; i < STREAMS; i++)
		logs->streams[i] = (struct log_follow){ .args = args,
			.job = args->operands.at[0],
			.errors = i == ERRORS,
			.sink = &logs->sinks[i],
			.attempt = (int)args->attempt,
			.tail = args->tail };
}

/* Where it is, as the daemon says. */
static int print_place(const struct logs *logs, struct err *err)
{
	const struct log_follow *f = &logs->streams[logs->wanted[OUT] ? OUT : ERRORS];
	json_t *reply;
	int rc = log_place_ask(f, f->attempt, &reply, err);

	if (rc)
		return rc;
	rc = live_print_json(reply, err);
	json_decref(reply);
	return rc;
}

static bool is_over(const json_t *place)
{
	return json_is_true(json_object_get(place, "started")) &&
		json_is_true(json_object_get(place, "ended"));
}

/* A file that the job named for both streams is shown once. */
static int look(struct logs *logs, struct err *err)
{
	json_t *places[STREAMS] = { NULL };
	const char *paths[STREAMS];
	int rc = 0;

	for (int i = 0; !rc && i < STREAMS; i++) {
		rc = log_place_ask(&logs->streams[i], logs->streams[i].attempt, &places[i], err);
		paths[i] = live_text(places[i], "path");
	}
	if (!rc && logs->wanted[OUT] && paths[OUT] && paths[ERRORS] &&
		!strcmp(paths[OUT], paths[ERRORS]))
		logs->wanted[ERRORS] = false;
	logs->over = !rc && is_over(places[OUT]);
	for (int i = 0; i < STREAMS; i++)
		json_decref(places[i]);
	return rc;
}

/* ---- copying */

/* A stream that is not there does not hide the other. */
static int copy_all(struct logs *logs, struct err *err)
{
	struct err missing = { 0 };
	int rc = 0, copied = 0;

	for (int i = 0; (!rc || rc == ERR_MISSING) && i < STREAMS; i++) {
		if (!logs->wanted[i])
			continue;
		rc = log_copy(&logs->streams[i], &missing);
		copied += !rc;
		/* A mark begins a line, also behind output that ends within one. */
		if (i == OUT && logs->sinks[OUT].inside && isatty(STDOUT_FILENO))
			(void)!write(STDOUT_FILENO, "\n", 1);
	}
	if (rc == ERR_MISSING && copied)
		rc = 0;
	if (rc)
		*err = missing;
	return rc;
}

struct follower {
	const struct log_follow *f;
	struct err err;
	int rc;
};

static void *follow_one(void *ctx)
{
	struct follower *follower = ctx;

	follower->rc = log_follow(follower->f, &follower->err);
	return NULL;
}

static int follow_all(struct logs *logs, struct err *err)
{
	struct follower errors = { .f = &logs->streams[ERRORS] }, out = { .f = &logs->streams[OUT] };
	bool both = logs->wanted[OUT] && logs->wanted[ERRORS];
	pthread_t thread;

	if (both && pthread_create(&thread, NULL, follow_one, &errors))
		return err_set(err, ERR_IO, "cannot start a thread");
	if (logs->wanted[OUT])
		follow_one(&out);
	else
		follow_one(&errors);
	if (both)
		pthread_join(thread, NULL);
	if (out.rc || errors.rc)
		*err = out.rc ? out.err : errors.err;
	return out.rc ? out.rc : errors.rc;
}

/* ---- remarks */

/* The number of an array is that of its first element, too. */
static void tell_element(const struct logs *logs)
{
	const char *word = logs->args->operands.at[0];
	char *path = live_job_path(word, NULL);
	struct err ignored = { 0 };
	json_t *job = NULL;

	if (!strchr(word, '_') && live_get(logs->args, path, &job, &ignored) == 0 &&
		live_number(job, "array_id") == live_number(job, "id"))
		ui_err("stint logs: job %s is an array; this is its element %s_%.0f\n", word, word,
			live_number(job, "array_index"));
	json_decref(job);
	free(path);
}

static void tell_nothing(const struct logs *logs)
{
	const char *job = logs->args->operands.at[0];
	int shown = logs->wanted[OUT] ? OUT : ERRORS;
	struct err ignored = { 0 };
	json_t *other = NULL;

	if (logs->sinks[OUT].bytes || logs->sinks[ERRORS].bytes || !logs->args->tail)
		return;
	if (logs->args->outputs == logs->args->errors) {
		ui_err("stint logs: job %s has written nothing\n", job);
		return;
	}
	ui_err("stint logs: job %s has written nothing to %s", job,
		shown == OUT ? "standard output" : "standard error");
	if (log_place_ask(&logs->streams[!shown], logs->streams[!shown].attempt, &other, &ignored) == 0 &&
		live_number(other, "size") > 0)
		ui_err("; there is something in the other stream: stint logs --%s %s",
			shown == OUT ? "stderr" : "stdout", job);
	ui_err("\n");
	json_decref(other);
}

static int run(const struct args *args, struct err *err)
{
	struct logs logs;
	int rc = live_check_job(args->operands.at[0], err);

	if (rc)
		return rc;
	prepare(&logs, args);
	if (args->json)
		return print_place(&logs, err);
	rc = look(&logs, err);
	if (rc)
		return rc;
	tell_element(&logs);
	rc = args->follow && !logs.over ? follow_all(&logs, err) : copy_all(&logs, err);
	if (!rc)
		tell_nothing(&logs);
	return rc;
}

static const struct flag flags[] = {
	FLAG_OF(follow, FLAG_SWITCH, .letter = 'f', .help = "follow the output until the job has ended"),
	{
		.name = "stdout",
		.kind = FLAG_SWITCH,
		.offset = offsetof(struct args, outputs),
		.help = "only standard output",
	},
	{
		.name = "stderr",
		.kind = FLAG_SWITCH,
		.offset = offsetof(struct args, errors),
		.help = "only standard error, on standard output",
	},
	NUMBER(attempt, FLAG_INT, "N", 0, 1, 1e9, "attempt to show (default: the last)"),
	FLAG_OF(tail, FLAG_INT, .letter = 'n', .value = "N", .preset = -1, .min = 0, .max = 1e6,
		.help = "only the last N lines of each stream"),
	SWITCH(json, "print where it is: path, attempt and size"),
	{ 0 },
};

static const struct flag_group flags_logs = { .title = "which part", .flags = flags, .aside = true };

static const char *const examples[] = {
	"stint logs 7",
	"stint logs -f 7",
	"stint logs 7 2>&1 | less",
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
	.about = "What the job wrote to standard output goes to standard output, what it wrote to standard\n"
		 "error to standard error; on a terminal those lines are marked with '! '.  2>&1 sends both\n"
		 "into a pipe.  With -f it goes on through the job's further attempts, if there are any, and\n"
		 "returns when the job has ended.  The number of an array shows its first element; 7_3 is\n"
		 "another one.",
	.examples = examples,
	.run = run,
};
