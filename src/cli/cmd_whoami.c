/*
 * stint whoami: as whom the daemon knows the caller, and what the caller may do.
 */
#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "report/table.h"

static void put_rules(const json_t *rules, struct buf *out)
{
	static const char *const titles[] = { "ROLE", "WHO", "NUMBER" };
	struct term term = term_of_stdout();
	struct table table = { 0 };
	const json_t *rule;
	size_t i;

	for (i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		table_column(&table, titles[i], i == 2 ? ALIGN_RIGHT : ALIGN_LEFT, (int)i);
	json_array_foreach(rules, i, rule)
	{
		const json_t *uid = json_object_get(rule, "uid"), *gid = json_object_get(rule, "gid");
		const json_t *id = uid ? uid : gid;

		table_cell(&table, live_text(rule, "role"));
		table_cell(&table, live_text(rule, "who"));
		if (id)
			table_cellf(&table, "%lld", (long long)json_integer_value(id));
		else
			table_cell(&table, "");
	}
	buf_str(out, "\nrules of --roles:\n");
	table_write(&table, TABLE_TEXT, &term, out, NULL);
	table_fini(&table);
}

static void put_caller(const json_t *reply, struct buf *out)
{
	const json_t *rules = json_object_get(reply, "roles");

	buf_printf(out, "user    %s (uid %.0f)\n", live_text(reply, "user"), live_number(reply, "uid"));
	buf_printf(out, "role    %s: %s\n", live_text(reply, "role"), live_text(reply, "meaning"));
	buf_printf(out, "from    %s\n", live_text(reply, "because"));
	if (json_array_size(rules))
		put_rules(rules, out);
}

static int run(const struct args *args, struct err *err)
{
	struct buf text = { 0 };
	json_t *reply;
	int rc = live_get(args, "/v1/whoami", &reply, err);

	if (rc)
		return rc;
	if (args->json) {
		rc = live_print_json(reply, err);
	} else {
		put_caller(reply, &text);
		rc = ui_print(&text, err);
	}
	buf_fini(&text);
	json_decref(reply);
	return rc;
}

static const struct flag flags[] = {
	SWITCH(json, "print the daemon's answer, with the verbs that the role allows"),
	{ 0 },
};
static const struct flag_group flags_whoami = { .title = "output", .flags = flags };
static const char *const examples[] = { "stint whoami", "stint whoami --json | jq .may", NULL };

const struct command command_whoami = {
	.name = "whoami",
	.summary = "your role, where it comes from, and what it allows",
	.operands = "",
	.live = true,
	.groups = { &flags_whoami, &flags_daemon },
	.about = "The kernel tells the daemon which user calls; the rules of 'stint daemon --roles' say which role that\n"
		 "user has: read, user, operator or admin.  Administrators see all rules.",
	.examples = examples,
	.run = run,
};
