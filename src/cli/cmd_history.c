/*
 * stint history: what happened to a job, and who decided it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/live_tell.h"

static void put_moment(struct table *table, double at_s)
{
	time_t at = (time_t)floor(at_s);
	struct tm local;
	char text[32];

	strftime(text, sizeof(text), "%m-%d %H:%M:%S", localtime_r(&at, &local));
	table_cell(table, text);
}

static void event_row(struct table *table, const json_t *event)
{
	const char *rule = live_text(event, "rule");
	double attempt = live_number(event, "attempt");

	put_moment(table, live_number(event, "at"));
	table_cell(table, live_text(event, "kind"));
	if (attempt > 0)
		table_cellf(table, "%.0f", attempt);
	else
		table_cell(table, "");
	table_cell(table, live_text(event, "who"));
	table_cell(table, live_text(event, "text"));
	table_cell(table, rule ? rule : "");
}

static void put_history(const json_t *answer, const struct term *term, struct buf *out)
{
	static const char *const titles[] = { "WHEN", "WHAT", "ATTEMPT", "WHO", "TEXT", "RULE" };
	const json_t *events = json_object_get(answer, "events");
	struct table table = { 0 };

	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		table_column(&table, titles[i], i == 2 ? ALIGN_RIGHT : ALIGN_LEFT, (int)i);
	for (size_t i = 0; i < json_array_size(events); i++)
		event_row(&table, json_array_get(events, i));
	table_write(&table, TABLE_TEXT, term, out, NULL);
	table_fini(&table);
	if (json_is_true(json_object_get(answer, "pruned")))
		buf_str(out,
			"the job was pruned: this is its summary, the other events were deleted\n");
}

/* As long as it has not ended. */
static void put_waits(const json_t *answer, const struct term *term, struct buf *out)
{
	const json_t *waits = json_object_get(answer, "waits");
	struct table table = { 0 };

	if (!json_array_size(waits))
		return;
	table_column(&table, "SINCE", ALIGN_LEFT, 0);
	table_column(&table, "REASON", ALIGN_LEFT, 1);
	table_column(&table, "TEXT", ALIGN_LEFT, 2);
	for (size_t i = 0; i < json_array_size(waits); i++) {
		const json_t *wait = json_array_get(waits, i);
		const char *reason = live_text(wait, "reason"), *text = live_text(wait, "text");

		put_moment(&table, live_number(wait, "at"));
		table_cell(&table, reason ? reason : "none");
		table_cell(&table, reason && text ? text : "it waits for nothing");
	}
	buf_str(out, "\nwhy it waited\n");
	table_write(&table, TABLE_TEXT, term, out, NULL);
	table_fini(&table);
}

static void put_answer(const json_t *answer, const struct term *term, struct buf *out)
{
	put_history(answer, term, out);
	put_waits(answer, term, out);
}

static int run(const struct args *args, struct err *err)
{
	return live_tell_jobs(args, "history", put_answer, err);
}

static const struct flag flags[] = { SWITCH(json, "print the daemon's answer, inputs and all"), { 0 } };
static const struct flag_group flags_history = { .title = "output", .flags = flags, .aside = true };
static const char *const examples[] = { "stint history 7",
	"stint history 7 --json | jq '.events[] | select(.kind == \"preempt\")'", NULL };

const struct command command_history = {
	.name = "history",
	.summary = "what happened to a job: who did what, by which rule",
	.operands = "JOB",
	.min_operands = 1,
	.max_operands = 1,
	.live = true,
	.groups = { &flags_history, &flags_daemon },
	.examples = examples,
	.run = run,
};
