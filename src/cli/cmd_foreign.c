/*
 * stint foreign: what runs on this machine below the daemon's directory and is not its record's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lineage.h"
#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/term.h"
#include "cli/ui.h"

static void put_attempts(const json_t *reply, const struct term *term, struct buf *out)
{
	const json_t *list = json_object_get(reply, "attempts");
	struct table table = { 0 };

	if (!json_array_size(list)) {
		buf_str(out, "nothing runs here that is not this record's\n");
		return;
	}
	table_column(&table, "JOB/ATTEMPT", ALIGN_LEFT, 0);
	table_column(&table, "RECORD", ALIGN_LEFT, 0);
	table_column(&table, "GENERATION", ALIGN_RIGHT, 1);
	table_column(&table, "UID", ALIGN_RIGHT, 1);
	table_column(&table, "GUARD", ALIGN_RIGHT, 0);
	table_column(&table, "DEVICES", ALIGN_LEFT, 0);
	table_column(&table, "REASON", ALIGN_LEFT, 1);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);
		const char *record = live_text(one, "record");

		table_cellf(&table, "%.0f/%.0f", live_number(one, "job"), live_number(one, "attempt"));
		table_cellf(&table, "%.*s", LINEAGE_SHOWN, record ? record : "-");
		if (record)
			table_cellf(&table, "%.0f", live_number(one, "generation"));
		else
			table_cell(&table, "-");
		if (json_object_get(one, "uid"))
			table_cellf(&table, "%.0f", live_number(one, "uid"));
		else
			table_cell(&table, "-");
		table_cellf(&table, "%.0f", live_number(one, "guard"));
		table_cell(&table, live_text(one, "devices"));
		table_cell(&table, live_text(one, "reason"));
	}
	table_write(&table, TABLE_TEXT, term, out, NULL);
	table_fini(&table);
}

static int show(const struct args *args, struct err *err)
{
	struct term term = term_of_stdout();
	struct buf text = { 0 };
	json_t *reply;
	int rc = live_get(args, "/v1/foreign", &reply, err);

	if (rc)
		return rc;
	if (args->json) {
		rc = live_print_json(reply, err);
	} else {
		put_attempts(reply, &term, &text);
		rc = ui_print(&text, err);
	}
	buf_fini(&text);
	json_decref(reply);
	return rc;
}

static int change(const struct args *args, struct err *err)
{
	const char *action = args->operands.at[0], *which;
	unsigned int job, attempt;
	json_t *reply;
	int rc, n = 0;

	if (strcmp(action, "end") != 0 && strcmp(action, "adopt") != 0)
		return err_set(err, ERR_USAGE, "'%s' is not understood; list, end or adopt", action);
	which = args->operands.n > 1 ? args->operands.at[1] : "";
	if (sscanf(which, "%u/%u%n", &job, &attempt, &n) != 2 || which[n])
		return err_set(err, ERR_USAGE,
			"which attempt? write: stint foreign %s JOB/ATTEMPT, as 'stint foreign' lists them",
			action);
	rc = live_post(args, "/v1/foreign",
		json_pack("{s:I,s:I,s:s,s:b}", "job", (json_int_t)job, "attempt",
			(json_int_t)attempt, "action", action, "now", args->now),
		&reply, err);
	if (rc)
		return rc;
	if (args->json)
		rc = live_print_json(reply, err);
	else
		ui_out("attempt %u of job %u %s\n", attempt, job,
			!strcmp(action, "end") ? "is asked to end" : "is this record's from now on");
	json_decref(reply);
	return rc;
}

static int run(const struct args *args, struct err *err)
{
	if (args->operands.n == 1 && !strcmp(args->operands.at[0], "list"))
		return show(args, err);
	return args->operands.n ? change(args, err) : show(args, err);
}

static const struct flag flags[] = {
	SWITCH(now, "end: kill it without its signal and grace"),
	SWITCH(json, "print the daemon's answer"),
	{ 0 },
};
static const struct flag_group flags_foreign = { .title = "foreign", .flags = flags };
static const char *const examples[] = {
	"stint foreign",
	"stint foreign end 12/1",
	"stint foreign adopt 7/2",
	NULL,
};

const struct command command_foreign = {
	.name = "foreign",
	.summary = "what runs here and is not this record's; end it or take it over",
	.operands = "[list | end JOB/ATTEMPT | adopt JOB/ATTEMPT]",
	.max_operands = 2,
	.live = true,
	.groups = { &flags_foreign, &flags_daemon },
	.about = "After a backup was put back (stint db restore) or a record was begun anew (stint db new), attempts may\n"
		 "still run that the record does not know; in a copy of a state directory, attempts of the original.\n"
		 "REASON says which.  They keep their devices until they end, and nothing of\n"
		 "theirs is shown as the result of another job.  end stops one as a cancel would.  adopt takes one\n"
		 "over where the record has its job and the attempt is the job's present or next one: the job then\n"
		 "has the devices that it runs on.  Only root and the daemon's user may do this.",
	.examples = examples,
	.run = run,
};
