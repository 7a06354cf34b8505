/*
 * stint report: how the last days went; stint report usage: who had how many device hours.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/report_usage.h"
#include "cli/ui.h"

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && !strcmp(text + n - m, end);
}

static bool is_part(const char *name)
{
	return !strcmp(name, "utilisation") || ends_in(name, "_share") || ends_in(name, "_fraction");
}

/* "jct_mean_s" as "jct mean", with its value as the name's end says. */
static void put_figure(const char *name, double value, struct buf *out)
{
	char text[DURATION_SIZE];
	struct buf title = { 0 };
	size_t n = strlen(name) - (ends_in(name, "_s") ? 2 : 0);

	for (size_t i = 0; i < n; i++)
		buf_char(&title, name[i] == '_' ? ' ' : name[i]);
	while (title.n < 24)
		buf_char(&title, ' ');
	buf_str(out, title.at);
	if (ends_in(name, "_s"))
		buf_str(out, live_duration(value, text));
	else if (is_part(name))
		buf_printf(out, "%.1f %%", value * 100);
	else
		buf_printf(out, "%.6g", value);
	buf_char(out, '\n');
	buf_fini(&title);
}

static void put_report(json_t *reply, const struct term *term, struct buf *out)
{
	double from = live_number(reply, "from"), to = live_number(reply, "to");
	char text[DURATION_SIZE];
	const char *name;
	json_t *value;

	(void)term;
	buf_printf(out, "the last %s\n\n", live_duration(to - from, text));
	json_object_foreach(reply, name, value)
	{
		if (json_is_number(value) && strcmp(name, "from") != 0 && strcmp(name, "to") != 0)
			put_figure(name, json_number_value(value), out);
	}
}

static int run(const struct args *args, struct err *err)
{
	if (!args->operands.n) {
		if (args->by || args->price.n || args->csv)
			return err_set(err, ERR_USAGE,
				"--by, --price and --csv are of 'stint report usage'");
		return live_look_back(args, "/v1/report", put_report, err);
	}
	if (strcmp(args->operands.at[0], "usage") != 0)
		return err_set(err, ERR_USAGE, "stint report has no '%s'; there is usage",
			args->operands.at[0]);
	return report_usage(args, err);
}

static const struct flag flags[] = {
	NUMBER(since, FLAG_SECONDS, "TIME", 7 * 86400, 1, 1e10, "look back this far (default 7d)"),
	SWITCH(json, "print the daemon's answer"),
	{ 0 },
};

static const struct flag usage_flags[] = {
	TEXT(by, "LIST", "one row for each: user, tenant, model, name, type, day, month (default user)"),
	LIST(price, "TYPE=PER_HOUR",
		"price of a device and hour, for a column with the cost; may be given several times"),
	SWITCH(csv, "print comma-separated values"),
	{ 0 },
};

static const struct flag_group flags_report = { .title = "report", .flags = flags, .aside = true };
static const struct flag_group flags_usage = { .title = "report usage", .flags = usage_flags };
static const char *const examples[] = {
	"stint report",
	"stint report --since 24h",
	"stint report usage --by user,month --since 90d",
	"stint report usage --by tenant --price a100=2.5 --price v100=1 --csv >usage.csv",
	NULL,
};

const struct command command_report = {
	.name = "report",
	.summary = "how the last days went: times, use, preemptions; GPU hours by user and month",
	.operands = "[usage]",
	.max_operands = 1,
	.live = true,
	.groups = { &flags_report, &flags_usage, &flags_daemon },
	.about = "usage: GPU hours (devices held times hours, from launch to end, every attempt counted) of jobs that\n"
		 "ran in that time, also of those that still run.  Jobs that run past midnight or the end of a\n"
		 "month are divided there, in the local time of the daemon.",
	.examples = examples,
	.run = run,
};
