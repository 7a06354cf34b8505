/*
 * stint show: everything about a job.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "cli/draft.h"
#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/live_tell.h"
#include "live/submission.h"

/* ---- lines */

/* "3m12s ago", "in 2h05m". */
static void moment_line(struct buf *out, const char *title, double at_s, double now_s)
{
	char text[DURATION_SIZE];

	if (!(at_s > 0))
		return;
	if (at_s <= now_s)
		live_linef(out, title, "%s ago", live_duration(now_s - at_s, text));
	else
		live_linef(out, title, "in %s", live_duration(at_s - now_s, text));
}

static void duration_line(struct buf *out, const char *title, double seconds)
{
	char text[DURATION_SIZE];

	if (seconds > 0)
		live_line(out, title, live_duration(seconds, text));
}

static void count_line(struct buf *out, const char *title, double n)
{
	if (n > 0)
		live_linef(out, title, "%.0f", n);
}

/* ---- parts */

static void put_state(const json_t *job, const struct term *term, struct buf *out)
{
	const json_t *reason = json_object_get(job, "reason");
	const char *state = live_text(job, "state"), *style = live_state_style(state);
	double cause = live_number(reason, "job");
	struct buf text = { 0 };

	state = state ? state : "?";
	if (term->colour && style)
		buf_printf(out, "%-14s\033[%sm%s\033[0m\n", "state", style, state);
	else
		live_line(out, "state", state);
	if (live_text(reason, "text")) {
		buf_str(&text, live_text(reason, "text"));
		if (cause > 0)
			buf_printf(&text, " (job %.0f)", cause);
		live_line(out, "why", text.at);
	}
	live_line(out, "promise", live_text(job, "promise"));
	live_line(out, "ended", live_ending(job));
	buf_fini(&text);
}

/* Of one that has not ended it is that of an attempt before. */
static void put_code(const json_t *job, struct buf *out)
{
	double code = live_number(job, "exit_code");
	int number = live_signal(job);
	bool over = live_number(job, "end") > 0;

	if (number > 0)
		live_linef(out, over ? "signal" : "last attempt", "%s%s", over ? "" : "ended by ",
			signal_name(number));
	else if (!isnan(code) && code >= 0)
		live_linef(out, over ? "exit code" : "last attempt", "%s%.0f",
			over ? "" : "exit code ", code);
}

static void put_words(const json_t *job, struct buf *out)
{
	const json_t *command = json_object_get(job, "command");
	struct buf text = { 0 };

	for (size_t i = 0; i < json_array_size(command); i++) {
		const char *word = json_string_value(json_array_get(command, i));
		bool plain = word && *word && !strpbrk(word, " \t\n'\"\\$`|&;<>()*?[]#~!{}");

		buf_printf(&text, plain ? "%s%s" : "%s'%s'", i ? " " : "", word ? word : "");
	}
	if (json_is_true(json_object_get(job, "script")))
		live_linef(out, "command", "(a script)%s%s", text.n ? " " : "", text.n ? text.at : "");
	else
		live_line(out, "command", text.n ? text.at : NULL);
	if (json_is_true(json_object_get(job, "pruned")))
		live_line(out, "pruned",
			"this is a summary; its command, its events and its output were deleted");
	live_line(out, "directory", live_text(job, "cwd"));
	buf_fini(&text);
}

/* What it has of its hosts, where that is not as it asked. */
static void put_host(const json_t *job, struct buf *out)
{
	double cpus = live_number(job, "held_cpus"), bytes = live_number(job, "held_mem_bytes");
	struct buf text = { 0 };
	char size[32];

	if (cpus > 0)
		buf_printf(&text, "%g CPU%s", cpus, cpus == 1 ? "" : "s");
	if (bytes > 0)
		buf_printf(&text, "%s%s of memory", cpus > 0 ? " and " : "", text_size(bytes, size));
	live_line(out, "host", text.n ? text.at : NULL);
	buf_fini(&text);
}

/* "guaranteed", "opportunistic, guest beside 7", "guaranteed, 2 of 4 devices on loan". */
static void put_class(const json_t *job, struct buf *out)
{
	const char *class = live_text(job, "class");
	double lent = live_number(job, "on_loan_gpus"), held = live_number(job, "held_gpus");
	struct buf text = { 0 }, guest = { 0 };

	live_guest(job, &guest);
	buf_str(&text, class ? class : "?");
	if (guest.n)
		buf_printf(&text, ", %s", guest.at);
	else if (lent > 0 && lent < held)
		buf_printf(&text, ", %.0f of %.0f devices on loan", lent, held);
	else if (lent > 0)
		buf_str(&text, ", on loan");
	live_line(out, "class", class ? text.at : NULL);
	buf_fini(&guest);
	buf_fini(&text);
}

static void put_gpus(const json_t *job, struct buf *out)
{
	double gpus = live_number(job, "gpus"), share = live_number(job, "share");
	double min = live_number(job, "min_gpus"), max = live_number(job, "max_gpus");
	struct buf text = { 0 };

	buf_printf(&text, "%.0f", gpus);
	if (gpus > 0 && min < max)
		buf_printf(&text, ", from %.0f to %.0f", min, max);
	if (share < 1)
		buf_printf(&text, ", %.0f%% of each", share * 100);
	if (live_text(job, "types"))
		buf_printf(&text, ", type %s", live_text(job, "types"));
	live_line(out, "gpus", text.at);
	buf_clear(&text);
	live_devices(json_object_get(job, "devices"), &text);
	if (text.n && live_text(job, "node"))
		buf_printf(&text, " of %s", live_text(job, "node"));
	live_line(out, "devices", text.n ? text.at : NULL);
	put_host(job, out);
	buf_fini(&text);
}

static void put_progress(const json_t *job, double now_s, struct buf *out)
{
	const json_t *progress = json_object_get(job, "progress");
	double step = live_number(progress, "step"), total = live_number(progress, "total");
	double per_s = live_number(progress, "per_s"), at = live_number(progress, "at");
	struct buf text = { 0 };
	char ago[DURATION_SIZE];

	if (isnan(step) && isnan(live_number(progress, "fraction")))
		return;
	live_progress(job, &text);
	if (total > 0)
		buf_printf(&text, ", step %.0f of %.0f", step, total);
	if (per_s > 0)
		buf_printf(&text, ", %.3g a second", per_s);
	if (at > 0)
		buf_printf(&text, ", %s ago", live_duration(now_s - at, ago));
	live_line(out, "progress", text.at);
	buf_fini(&text);
}

static void put_idle(const json_t *job, struct buf *out)
{
	const json_t *idle = json_object_get(job, "idle");
	char lasted[DURATION_SIZE];

	if (idle)
		live_linef(out, "idle", "for %s%s", live_duration(live_number(idle, "for_s"), lasted),
			json_is_true(json_object_get(idle, "warned")) ? ", which was warned of" : "");
}

/* Where it failed, and where it will not go again. */
static void put_failed_on(const json_t *job, struct buf *out)
{
	const json_t *failed = json_object_get(job, "failed_on");
	struct buf text = { 0 };

	for (size_t i = 0; i < json_array_size(failed); i++) {
		const json_t *one = json_array_get(failed, i);
		double times = live_number(one, "times");

		buf_printf(&text, "%sdevice %s, %.0f time%s%s", i ? "; " : "",
			live_text(one, "device") ? live_text(one, "device") : "?", times,
			times == 1 ? "" : "s",
			json_is_true(json_object_get(one, "avoided")) ? " (avoided)" : "");
	}
	live_line(out, "failed on", text.n ? text.at : NULL);
	buf_fini(&text);
}

/* By type and number of devices; the daemon tells them as they were measured. */
static int by_size(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	const char *of_x = live_text(x, "type"), *of_y = live_text(y, "type");
	int type = strcmp(of_x ? of_x : "", of_y ? of_y : "");
	double fewer = live_number(x, "gpus") - live_number(y, "gpus");

	if (type)
		return type;
	if (fewer == 0)
		fewer = live_number(x, "batch") - live_number(y, "batch");
	return fewer < 0 ? -1 : fewer > 0;
}

/* Of an elastic job: how long its steps took on how many devices. */
static void put_speeds(const json_t *job, struct buf *out)
{
	const json_t *speeds = json_object_get(job, "speeds");
	size_t n = json_array_size(speeds);
	const json_t **sorted = mem_alloc(mem_array_size(n + 1, sizeof(*sorted)));
	struct buf text = { 0 };

	for (size_t i = 0; i < n; i++)
		sorted[i] = json_array_get(speeds, i);
	qsort(sorted, n, sizeof(*sorted), by_size);
	for (size_t i = 0; i < n; i++) {
		buf_printf(&text, "%s%.3g s on %.0f", i ? ", " : "",
			live_number(sorted[i], "step_s"), live_number(sorted[i], "gpus"));
		if (live_number(sorted[i], "batch") > 0)
			buf_printf(&text, " (batch %.0f)", live_number(sorted[i], "batch"));
	}
	live_line(out, "steps took", text.n ? text.at : NULL);
	buf_fini(&text);
	free(sorted);
}

/* And what is expected of it. */
static void put_belief(const json_t *job, struct buf *out)
{
	const json_t *believed = json_object_get(job, "believed");
	struct buf text = { 0 };

	for (size_t i = 0; i < json_array_size(believed); i++) {
		const json_t *one = json_array_get(believed, i);

		buf_printf(&text, "%s%.3g%s on %.0f", i ? ", " : "", live_number(one, "per_s"),
			i ? "" : " steps a second", live_number(one, "gpus"));
	}
	live_line(out, "believed", text.n ? text.at : NULL);
	buf_fini(&text);
}

static void put_after(const json_t *job, struct buf *out)
{
	const json_t *after = json_object_get(job, "after");
	struct buf text = { 0 };

	for (size_t i = 0; i < json_array_size(after); i++) {
		const json_t *one = json_array_get(after, i);

		buf_printf(&text, "%s%s:%.0f", i ? ", " : "",
			live_text(one, "kind") ? live_text(one, "kind") : "?",
			live_number(one, "job"));
	}
	live_line(out, "waits for", text.n ? text.at : NULL);
	buf_fini(&text);
}

static void put_who(const json_t *job, struct buf *out)
{
	struct buf text = { 0 };

	live_job_name(job, &text);
	if (live_number(job, "array_id") > 0)
		buf_printf(&text, " (number %.0f)", live_number(job, "id"));
	live_line(out, "job", text.at);
	buf_fini(&text);
	live_line(out, "name", live_text(job, "name"));
	live_line(out, "user", live_text(job, "user"));
	live_line(out, "tenant", live_text(job, "tenant"));
	live_line(out, "model", live_text(job, "model"));
	live_line(out, "key", live_text(job, "key"));
	live_line(out, "comment", live_text(job, "comment"));
}

static void put_when(const json_t *job, double now_s, struct buf *out)
{
	moment_line(out, "submitted", live_number(job, "submit"), now_s);
	moment_line(out, "started", live_number(job, "start"), now_s);
	moment_line(out, "finished", live_number(job, "end"), now_s);
	moment_line(out, "deadline", live_number(job, "deadline"), now_s);
	duration_line(out, "waited", live_number(job, "wait_s"));
	duration_line(out, "ran", live_number(job, "run_s"));
	duration_line(out, "time limit", live_number(job, "time_limit_s"));
	duration_line(out, "left", live_number(job, "eta_s"));
	count_line(out, "preemptions", live_number(job, "preemptions"));
	count_line(out, "resizes", live_number(job, "resizes"));
	count_line(out, "failures", live_number(job, "failures"));
	if (live_number(job, "priority") != 0)
		live_linef(out, "priority", "%.0f", live_number(job, "priority"));
	if (live_number(job, "weight") != 1)
		live_linef(out, "weight", "%g", live_number(job, "weight"));
}

/* ---- attempts */

static void attempt_row(struct table *table, const json_t *attempt, double now_s)
{
	double begun = live_number(attempt, "begun"), ended = live_number(attempt, "ended");
	double code = live_number(attempt, "code");
	int number = live_signal(attempt);
	char text[DURATION_SIZE];
	struct buf devices = { 0 };

	live_devices(json_object_get(attempt, "devices"), &devices);
	table_cellf(table, "%.0f", live_number(attempt, "attempt"));
	table_cell(table, live_text(attempt, "state"));
	table_cellf(table, "%.0f", live_number(attempt, "gpus"));
	table_cell(table, devices.n ? devices.at : "");
	table_cell(table, begun > 0 ? live_duration(now_s - begun, text) : "-");
	table_cell(table, begun > 0 ? live_duration((ended > 0 ? ended : now_s) - begun, text) : "-");
	if (number > 0)
		table_cellf(table, "SIG%s", signal_name(number));
	else if (ended > 0 && code >= 0)
		table_cellf(table, "%.0f", code);
	else
		table_cell(table, "-");
	table_cell(table, live_text(attempt, "text"));
	buf_fini(&devices);
}

static void put_attempts(const json_t *job, double now_s, const struct term *term, struct buf *out)
{
	static const char *const left[] = { "STATE", "DEVICES", "REMARK" };
	static const char *const titles[] = { "ATTEMPT", "STATE", "GPUS", "DEVICES", "BEGAN AGO",
		"RAN", "EXIT", "REMARK" };
	const json_t *attempts = json_object_get(job, "attempts");
	struct table table = { 0 };

	if (!json_array_size(attempts))
		return;
	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++) {
		enum align align = ALIGN_RIGHT;

		for (size_t k = 0; k < sizeof(left) / sizeof(*left); k++)
			align = strcmp(titles[i], left[k]) ? align : ALIGN_LEFT;
		table_column(&table, titles[i], align, (int)i);
	}
	for (size_t i = 0; i < json_array_size(attempts); i++)
		attempt_row(&table, json_array_get(attempts, i), now_s);
	buf_char(out, '\n');
	table_write(&table, TABLE_TEXT, term, out, NULL);
	table_fini(&table);
}

static void put_files(const json_t *job, struct buf *out)
{
	const json_t *attempts = json_object_get(job, "attempts");
	const json_t *last = json_array_get(attempts, json_array_size(attempts) - 1);

	live_line(out, "stdout", live_text(last, "stdout"));
	live_line(out, "stderr", live_text(last, "stderr"));
}

void live_put_job(const json_t *job, const struct term *term, struct buf *out)
{
	double now_s = isnan(live_number(job, "now")) ? draft_now() : live_number(job, "now");

	put_who(job, out);
	put_state(job, term, out);
	put_code(job, out);
	put_words(job, out);
	put_gpus(job, out);
	put_class(job, out);
	put_progress(job, now_s, out);
	put_idle(job, out);
	put_failed_on(job, out);
	put_speeds(job, out);
	put_belief(job, out);
	put_after(job, out);
	put_when(job, now_s, out);
	put_files(job, out);
	put_attempts(job, now_s, term, out);
}

static int run(const struct args *args, struct err *err)
{
	return live_tell_jobs(args, NULL, live_put_job, err);
}

static const struct flag flags[] = { SWITCH(json, "print the daemon's answer"), { 0 } };
static const struct flag_group flags_show = { .title = "output", .flags = flags, .aside = true };
static const char *const examples[] = { "stint show 7", "stint show 7_3 --json", NULL };

const struct command command_show = {
	.name = "show",
	.summary = "everything about a job, and why it waits",
	.operands = "JOB...",
	.min_operands = 1,
	.max_operands = 10000,
	.live = true,
	.groups = { &flags_show, &flags_daemon },
	.examples = examples,
	.run = run,
};
