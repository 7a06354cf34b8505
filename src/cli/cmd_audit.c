/*
 * stint audit: who came in, who was refused, and who changed what.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "report/table.h"

static void put_cell(struct table *table, const json_t *event, const char *name)
{
	const char *text = live_text(event, name);

	table_cell(table, text ? text : "");
}

static void event_row(struct table *table, const json_t *event)
{
	time_t at = (time_t)floor(live_number(event, "at"));
	const json_t *status = json_object_get(event, "status"),
		     *count = json_object_get(event, "count");
	const char *user = live_text(event, "user"), *by = live_text(event, "by");
	struct tm local;
	char text[32];

	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", localtime_r(&at, &local));
	table_cell(table, text);
	put_cell(table, event, "what");
	table_cell(table, user ? user : by ? by : "");
	put_cell(table, event, "role");
	put_cell(table, event, "from");
	put_cell(table, event, "verb");
	if (status)
		table_cellf(table, "%lld", (long long)json_integer_value(status));
	else
		table_cell(table, "");
	table_cellf(table, "%lld", count ? (long long)json_integer_value(count) : 1LL);
	put_cell(table, event, "detail");
}

static void put_events(json_t *reply, const struct term *term, struct buf *out)
{
	static const char *const titles[] = { "WHEN", "WHAT", "WHO", "ROLE", "FROM", "VERB",
		"STATUS", "COUNT", "DETAIL" };
	const json_t *events = json_object_get(reply, "events");
	struct table table = { 0 };

	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		table_column(&table, titles[i], i == 6 || i == 7 ? ALIGN_RIGHT : ALIGN_LEFT, (int)i);
	/* The answer has the newest first, people read down. */
	for (size_t i = json_array_size(events); i-- > 0;)
		event_row(&table, json_array_get(events, i));
	table_write(&table, TABLE_TEXT, term, out, NULL);
	table_fini(&table);
	if (json_is_true(json_object_get(reply, "more")))
		buf_str(out, "only the last 1000 are shown; 'stint db export' has all of them\n");
}

static int run(const struct args *args, struct err *err)
{
	return live_look_back(args, "/v1/audit", put_events, err);
}

static const struct flag flags[] = {
	NUMBER(since, FLAG_SECONDS, "TIME", 7 * 86400, 1, 1e10, "look back this far (default 7d)"),
	SWITCH(json, "print the daemon's answer"),
	{ 0 },
};
static const struct flag_group flags_audit = { .title = "output", .flags = flags };
static const char *const examples[] = { "stint audit", "stint audit --since 24h",
	"stint audit --json | jq '.events[] | select(.what == \"denied\")'", NULL };

const struct command command_audit = {
	.name = "audit",
	.summary = "who came in, who was refused, and who changed the rules (administrators)",
	.operands = "",
	.live = true,
	.groups = { &flags_audit, &flags_daemon },
	.about = "Logins, refused calls, uses of a token, changes that need an operator or an administrator, and their\n"
		 "changes of other users' jobs, with who and from where, as the record has them.  What repeats is counted for ten minutes and told once.",
	.examples = examples,
	.run = run,
};
