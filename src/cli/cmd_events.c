/*
 * stint events: whatever happens, as it happens.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/live.h"
#include "cli/ui.h"

/* What the daemon sends is a JSON object of one line, with its number and kind inside. */
static int see(void *ctx, uint64_t id, const char *kind, const char *data)
{
	struct buf line = { 0 };
	struct err ignored = { 0 };
	int rc;

	(void)ctx;
	(void)id;
	(void)kind;
	if (!data || !*data)
		return 0;
	buf_str(&line, data);
	rc = ui_print(&line, &ignored);
	buf_fini(&line);
	return rc;
}

static int run(const struct args *args, struct err *err)
{
	uint64_t after = args->after < 0 ? UINT64_MAX : (uint64_t)args->after;

	return live_events(args, after, see, NULL, err);
}

static const struct flag flags[] = {
	NUMBER(after, FLAG_INT, "SEQ", -1, 0, 9e15, "begin after this number (default: now)"),
	SWITCH(json, "JSON lines, as always"),
	{ 0 },
};

static const struct flag_group flags_events = { .title = "which events", .flags = flags, .aside = true };
static const char *const examples[] = {
	"stint events",
	"stint events --after 0 | jq -c 'select(.kind == \"end\")'",
	NULL,
};

const struct command command_events = {
	.name = "events",
	.summary = "follow what happens, a JSON object in each line",
	.operands = "",
	.live = true,
	.groups = { &flags_events, &flags_daemon },
	.examples = examples,
	.run = run,
};
