#include "cli/tell_change.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/live_print.h"
#include "cli/ui.h"
#include "live/submission.h"

/* ---- what was done to a job */

/* A verb that is a participle: "held". */
static const char *participle(const char *verb)
{
	static const char *const words[][2] = {
		{ "cancel", "cancelled" },
		{ "hold", "held" },
		{ "release", "released" },
		{ "requeue", "requeued" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!strcmp(words[i][0], verb))
			return words[i][1];
	}
	return "changed";
}

static void put_said(const struct said *said, struct buf *out)
{
	static const char *const words[][2] = {
		{ "time", "time limit" },
		{ "gpus", "GPUs" },
		{ "min_gpus", "fewest GPUs" },
		{ "max_gpus", "most GPUs" },
		{ "cpus_per_task", "CPUs" },
		{ "mem", "memory" },
	};
	const char *called = said->name;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!strcmp(words[i][0], said->name))
			called = words[i][1];
	}
	buf_printf(out, "%s%s %s", out->n ? ", " : "", called, *said->value ? said->value : "none");
}

/* " held", ": sent USR1", ": time limit 10m, priority 3". */
static void put_done(const struct args *args, struct buf *out)
{
	const char *verb = args->command->name;
	struct buf said = { 0 };

	if (!strcmp(verb, "signal")) {
		buf_printf(out, ": sent %s", signal_name(signal_of_name(args->operands.at[0])));
		return;
	}
	for (size_t i = 0; i < args->said.n; i++)
		put_said(&args->said.at[i], &said);
	if (said.n)
		buf_printf(out, ": %s", said.at);
	else
		buf_printf(out, " %s", participle(verb));
	buf_fini(&said);
}

/* Whether the verb stops jobs, and the state says that one has not gone yet. */
static bool is_stopping(const struct args *args, const char *state)
{
	static const char *const verbs[] = { "cancel", "hold", "requeue" };

	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (!strcmp(args->command->name, verbs[i]))
			return state && !strcmp(state, "COMPLETING");
	}
	return false;
}

/* ---- many */

static void tell_count(const char *done, double n, bool stopping)
{
	if (!(n > 0))
		return;
	ui_out("%.0f job%s%s", n, n == 1 ? "" : "s", done);
	if (stopping)
		ui_out("; %s stopping", n == 1 ? "it is" : "they are");
	ui_out("\n");
}

static void tell_counts(const struct args *args, const char *done, const json_t *jobs)
{
	size_t n = json_array_size(jobs), stopping = 0;

	for (size_t i = 0; i < n; i++)
		stopping += is_stopping(args, live_text(json_array_get(jobs, i), "state"));
	tell_count(done, (double)(n - stopping), false);
	tell_count(done, (double)stopping, true);
}

static void tell_states(const struct args *args, const char *done, json_t *states)
{
	double rest = 0, stopping = 0;
	const char *state;
	json_t *n;

	json_object_foreach(states, state, n)
	{
		if (is_stopping(args, state))
			stopping += json_number_value(n);
		else
			rest += json_number_value(n);
	}
	tell_count(done, rest, false);
	tell_count(done, stopping, true);
}

static void tell_jobs(const struct args *args, const char *done, const json_t *jobs)
{
	for (size_t i = 0; i < json_array_size(jobs); i++) {
		const json_t *job = json_array_get(jobs, i);
		struct buf name = { 0 };

		live_job_name(job, &name);
		ui_out("job %s%s%s\n", name.at, done,
			is_stopping(args, live_text(job, "state")) ? "; it is stopping" : "");
		buf_fini(&name);
	}
}

/* Of an array: those that the verb did not touch because they run. */
static void tell_left(const struct args *args, double n)
{
	bool one = n == 1, hold = !strcmp(args->command->name, "hold");

	if (!(n > 0))
		return;
	ui_say(args, "%.0f job%s of the array %s running and %s left alone%s", n, one ? "" : "s",
		one ? "is" : "are", one ? "was" : "were",
		!hold         ? ""
			: one ? "; --stop stops it"
			      : "; --stop stops them");
}

void tell_changed(const struct args *args, const json_t *reply)
{
	const json_t *jobs = json_object_get(reply, "jobs");
	struct buf done = { 0 };

	put_done(args, &done);
	if (json_array_size(jobs) > TELL_LINES_MAX)
		tell_counts(args, done.at, jobs);
	else
		tell_jobs(args, done.at, jobs);
	tell_left(args, live_number(reply, "left_running"));
	buf_fini(&done);
}

static void tell_skipped(const struct args *args, const json_t *reasons)
{
	for (size_t i = 0; i < json_array_size(reasons); i++) {
		const json_t *one = json_array_get(reasons, i);
		double n = live_number(one, "jobs");

		ui_err("stint %s: %.0f job%s skipped: job %s%s %s\n", args->command->name, n,
			n == 1 ? " is" : "s are", live_text(one, "first"),
			n > 1 ? ", for one," : "", live_text(one, "reason"));
	}
}

void tell_changed_many(const struct args *args, const json_t *reply)
{
	struct buf done = { 0 };

	put_done(args, &done);
	if (!(live_number(reply, "matched") > 0))
		ui_say(args, "no such jobs of yours wait or run");
	else if (live_number(reply, "changed") <= TELL_LINES_MAX)
		tell_jobs(args, done.at, json_object_get(reply, "jobs"));
	else
		tell_states(args, done.at, json_object_get(reply, "states"));
	tell_skipped(args, json_object_get(reply, "reasons"));
	buf_fini(&done);
}
